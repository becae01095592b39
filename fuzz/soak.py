"""Everything at once for a while, with memory watched: `python -m fuzz.soak --minutes 30`.

Worker processes run random cases in threads, several at a time in each process, with paths, searches, estimators, files and
certificates side by side. Ctrl-C stops the run; the summary is printed all the same.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from experiments.measurement.markdown import table
from fuzz.problems.problem import Array
from fuzz.running.command import single_threaded
from fuzz.running.memory import resident_memory

__all__ = ["main"]

PROCESSES, THREADS = 2, 3
LOOK = 5.0  # seconds between two looks at the memory
SHARES = {"fuzz.subjects.all": 0.8, "fuzz.certificates.running": 0.1, "fuzz.files.running": 0.1}
LARGEST_SLOPE = 1.0  # MB a minute by which a process may still grow in the second half
SETTLING = 100.0  # MB that the memory of a process may lie above its middle


@dataclass
class Tally:
    """Operations, refusals and findings of one process, counted by its threads."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, record: Any) -> None:
        """Count one record."""
        with self.lock:
            self.counts["operations"] += 1
            self.counts[f"operations on {record.subject}"] += 1
            for finding in record.findings:
                if finding.severity in ("critical", "high"):
                    words = finding.words.splitlines()[0] if finding.words else ""
                    self.failures.append(f"{record.subject} {record.seed}: {finding.kind}: {words[:200]}")


def work(tally: Tally, number: int, until: float, stop: threading.Event) -> None:
    """Run random cases, one after another."""
    from importlib import import_module

    from fuzz.running.pool import Task

    rng = np.random.default_rng(number)
    modules, shares = list(SHARES), np.array(list(SHARES.values()))
    while time.monotonic() < until and not stop.is_set():
        module = import_module(str(rng.choice(modules, p=shares / shares.sum())))
        tally.add(module.run(Task("", int(rng.integers(10**9)))))


def serve(pipe: Any, first: int, threads: int, seconds: float) -> None:
    """Run the threads of one process, and report memory and counts until the time is over or the pipe is closed."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tally, stop, until = Tally(), threading.Event(), time.monotonic() + seconds
    team = [threading.Thread(target=work, args=(tally, first + t, until, stop), daemon=True) for t in range(threads)]
    for thread in team:
        thread.start()
    while any(thread.is_alive() for thread in team):
        if pipe.poll(min(LOOK, seconds / 8.0)):
            stop.set()
            pipe.recv()
        with tally.lock:
            pipe.send((resident_memory(), dict(tally.counts), list(tally.failures), False))
    pipe.send((resident_memory(), dict(tally.counts), list(tally.failures), True))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 1 if something failed or memory grew."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.soak", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--processes", type=int, default=PROCESSES)
    parser.add_argument("--threads", type=int, default=THREADS, help="in each process")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="Markdown file to write")
    chosen = parser.parse_args(arguments)
    single_threaded()
    print(f"{chosen.processes} processes with {chosen.threads} threads each, {chosen.minutes:g} minutes, seed {chosen.seed}")
    soak = Soak(chosen.processes, chosen.threads, chosen.seed, chosen.minutes * 60.0)
    soak.run()
    print(soak.summary())
    if chosen.out is not None:
        command = f"python -m fuzz.soak --minutes {chosen.minutes:g} --processes {chosen.processes} --threads {chosen.threads}"
        chosen.out.write_text(f"# Soak\n\n`{command} --seed {chosen.seed}`\n\n{soak.page()}\n", encoding="utf-8")
    return int(soak.failed())


class Soak:
    """The processes of a run, and what they have reported."""

    def __init__(self, processes: int, threads: int, seed: int, seconds: float) -> None:
        self.begin, self.seconds, self.minutes = time.monotonic(), seconds, 0.0
        self.memory: list[list[tuple[float, int]]] = [[] for _ in range(processes)]
        self.counts: list[dict[str, int]] = [{} for _ in range(processes)]
        self.failures: list[list[str]] = [[] for _ in range(processes)]
        self.ended = [False] * processes
        context = get_context("spawn")
        self.members = []
        for at in range(processes):
            here, there = context.Pipe()
            first = 1000 * seed + at * threads
            process = context.Process(target=serve, args=(there, first, threads, seconds), daemon=True)
            process.start()
            there.close()
            self.members.append((process, here))

    def run(self) -> None:
        """Listen until all processes have ended; Ctrl-C asks them to end."""
        try:
            self.listen(self.seconds + 120.0)
        except KeyboardInterrupt:
            print("\nstopping", file=sys.stderr)
            for _, pipe in self.members:
                pipe.send("stop")
            self.listen(90.0)
        for process, _ in self.members:
            process.kill()
        self.minutes = (time.monotonic() - self.begin) / 60.0

    def listen(self, seconds: float) -> None:
        """Take reports until all have ended, or this many seconds have passed."""
        until = time.monotonic() + seconds
        said = time.monotonic()
        while not all(self.ended) and time.monotonic() < until:
            for at, (process, pipe) in enumerate(self.members):
                self.take(at, process, pipe)
            if time.monotonic() - said > 60.0:
                said = time.monotonic()
                print(f"{(said - self.begin) / 60.0:.0f} minutes: {self.total('operations')} operations", file=sys.stderr)
        for at, ended in enumerate(self.ended):
            if not ended:
                self.failures[at].append(f"process {at} did not end in time")

    def take(self, at: int, process: Any, pipe: Any) -> None:
        """Take what one process has to say."""
        if self.ended[at]:
            return
        try:
            if pipe.poll(0.2):
                memory, self.counts[at], self.failures[at], self.ended[at] = pipe.recv()
                self.memory[at].append((time.monotonic() - self.begin, memory))
        except (EOFError, ConnectionResetError):
            process.join(5.0)
            self.ended[at] = True
            self.failures[at].append(f"process {at} ended with status {process.exitcode}")

    def total(self, name: str) -> int:
        """Return a count of all processes together."""
        return sum(counts.get(name, 0) for counts in self.counts)

    def slopes(self) -> Iterator[tuple[float, float, float, float]]:
        """Yield memory at the start, in the middle and at the end in MB, and the slope of the second half in MB a minute."""
        for looks in self.memory:
            times, memory = np.array([look[0] for look in looks]) / 60.0, np.array([look[1] for look in looks]) / 1e6
            if not looks:  # it ended before it was asked
                yield float("nan"), float("nan"), float("nan"), 0.0
                continue
            half = len(looks) // 2
            slope = rise(times[half:], memory[half:]) if len(looks) >= 4 else 0.0
            yield float(memory[0]), float(memory[half]), float(memory[-1]), slope

    def failed(self) -> bool:
        """Return whether something failed, or memory grew and grew."""
        grown = any(slope > LARGEST_SLOPE and end - middle > SETTLING for _, middle, end, slope in self.slopes())
        return grown or any(self.failures)

    def outcome(self) -> str:
        """Return operations and failures in words."""
        return f"{self.total('operations'):,} operations in {self.minutes:.1f} minutes, {sum(map(len, self.failures))} failures"

    def operations(self) -> list[tuple[str, int]]:
        """Return the kinds of operations and their numbers."""
        names = sorted({name for counts in self.counts for name in counts if name.startswith("operations on")})
        return [(name.removeprefix("operations on "), self.total(name)) for name in names]

    def page(self) -> str:
        """Return operations, failures and memory as Markdown."""
        memory = [[str(at), *(f"{value:.0f}" for value in look[:3]), f"{look[3]:.2f}"] for at, look in enumerate(self.slopes())]
        head = ["process", "MB at the start", "half way", "at the end", "MB a minute, second half"]
        parts = [f"{self.outcome()}.", table(head, memory)]
        parts += [table(["operation", "number"], [[name, f"{count:,}"] for name, count in self.operations()])]
        told = [f"- {' '.join(failure.split())}" for failures in self.failures for failure in failures]
        return "\n\n".join([*parts, *(["\n".join(["Failures:", "", *told])] if told else [])])

    def summary(self) -> str:
        """Return operations, failures and memory as lines of text."""
        lines = [f"\n{self.outcome()}"]
        lines += [f"{count:8d}  {name}" for name, count in self.operations()]
        lines += [f"{'process':<9}{'MB at first':>12}{'half way':>10}{'at last':>10}{'MB a minute, second half':>26}"]
        for at, (first, middle, last, slope) in enumerate(self.slopes()):
            lines.append(f"{at:<9d}{first:12.0f}{middle:10.0f}{last:10.0f}{slope:26.2f}")
        return "\n".join([*lines, *(failure for failures in self.failures for failure in failures[:20])])


def rise(times: Array, memory: Array) -> float:
    """Return the slope between the medians of two halves: single files that take much for a moment do not count."""
    half = len(times) // 2
    early, late = (np.median([times[part], memory[part]], axis=1) for part in (slice(None, half), slice(half, None)))
    return float((late[1] - early[1]) / (late[0] - early[0]))


if __name__ == "__main__":
    sys.exit(main())
