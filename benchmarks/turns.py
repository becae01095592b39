"""The speed of two builds of ellzero, measured in turns in one run; prints a Markdown table.

python -m benchmarks.turns BEFORE_SRC AFTER_SRC [--turns N] [--only TEXT] [--out FILE]

BEFORE_SRC and AFTER_SRC are the `src` folders of two checkouts whose compiled core is built in place. Each build has a process
of its own that lives until the end, computes on one thread and is asked in turns: before, after, after, before, and so on. So
whatever else the machine does slows both alike. The problems are those of the path benchmark and of the exact table at
p = 10,000, made by this checkout for both builds.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from benchmarks.processes import one_thread

ROOT = Path(__file__).parent.parent
TURNS = 7  # at least
MOST_TURNS = 41
SECONDS = 15.0  # of a problem: quick ones have more turns than slow ones
SECONDS_OF_A_TURN = 0.1  # shorter calls are repeated, and the best counts
MOST_REPEATS = 20
ALLOWED = 1.03  # a build is to be at most 3 % slower


class Build:
    """One build, in a separate process."""

    def __init__(self, src: Path) -> None:
        self.src = src.resolve()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.timed_build"],
            env=one_thread(PYTHONPATH=str(self.src)),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Build:
        hello = self.answer()
        package = Path(hello["package"])
        if package != self.src / "ellzero":
            raise SystemExit(f"{self.src} was named, but {package} was imported: use a Python without an installed ellzero.")
        self.problems: list[str] = hello["problems"]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.process.kill()
        self.process.wait()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the process of {self.src} ended.")
        return json.loads(line)

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return self.answer()


@dataclass(frozen=True)
class Duel:
    """The times of two builds on one problem, a row for each turn."""

    name: str
    before: list[dict[str, float]]
    after: list[dict[str, float]]
    same: bool  # whether both found the same, to the last bit

    def ratios(self, clock: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.array([b[clock] / a[clock] for a, b in zip(self.before, self.after, strict=True)])

    def row(self) -> list[str]:
        wall, cpu = self.ratios("wall"), self.ratios("cpu")
        seconds = [f"{np.median([turn['wall'] for turn in side]):.3f}" for side in (self.before, self.after)]
        low, high = np.percentile(wall, [25.0, 75.0])
        ratios = [f"{np.median(wall):.3f}", f"{low:.3f} to {high:.3f}", f"{self.of_best():.3f}", f"{np.median(cpu):.3f}"]
        return [self.name, *seconds, *ratios, str(len(wall)), "yes" if self.same else "NO"]

    def of_best(self) -> float:
        """The ratio of the shortest times: those that other programs disturbed least."""
        before, after = (min(turn["wall"] for turn in side) for side in (self.before, self.after))
        return after / before


HEADER = [
    "problem",
    "seconds before",
    "after",
    "after / before",
    "its middle half",
    "of the best times",
    "of processor times",
    "turns",
    "same result",
]


def duel(name: str, before: Build, after: Build, turns: int) -> Duel:
    """Ask both builds in turns, and change the order each time."""
    hashes = [build.ask(make=name)["hash"] for build in (before, after)]
    first = before.ask(measure=1)["wall"]
    repeats = min(MOST_REPEATS, math.ceil(SECONDS_OF_A_TURN / first))
    turns = max(turns, min(MOST_TURNS, int(SECONDS / (2 * repeats * first))))
    after.ask(measure=1)
    times: dict[Build, list[dict[str, float]]] = {before: [], after: []}
    for turn in range(turns):
        for build in (before, after) if turn % 2 == 0 else (after, before):
            times[build].append(build.ask(measure=repeats))
    found = Duel(name, times[before], times[after], hashes[0] == hashes[1])
    print(f"{name}: {np.median(found.ratios('wall')):.3f}", file=sys.stderr, flush=True)
    return found


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="the src folder of the older build")
    parser.add_argument("after", type=Path, help="the src folder of the newer build")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--only", default="", help="only problems whose name contains this text")
    parser.add_argument("--out", type=Path, default=None, help="a file for the table")
    arguments = parser.parse_args()
    with Build(arguments.before) as before, Build(arguments.after) as after:
        duels = [duel(name, before, after, arguments.turns) for name in before.problems if arguments.only in name]
    text = table(HEADER, [found.row() for found in duels])
    text += "\n\nSeconds are the medians of all turns, ratios those of the turns' ratios; one thread."
    if slow := [found.name for found in duels if np.median(found.ratios("wall")) > ALLOWED]:
        text += f" More than {100.0 * (ALLOWED - 1.0):.0f} % slower: {'; '.join(slow)}."
    print(text)
    if arguments.out is not None:
        arguments.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
