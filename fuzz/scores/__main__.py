"""Solve small problems of score cards, compare with all cards, verify and forge: `python -m fuzz.scores --cases 500`.

The table of the last run is in benchmarks/results/score-fuzz.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal

import numpy as np

import ellzero as ez
from ellzero.scores.problem import ScoreProblem
from experiments.measurement.markdown import processor, table
from fuzz.scores.brute_force import cards
from fuzz.scores.drawing import draw, draw_variant, solved
from fuzz.scores.tampering import forgeries

AGREEMENT = 1e-9
EXACTLY = 10  # of this many certificates, one is verified in exact arithmetic, too
TEXT = """# Score cards against brute force

`python -m fuzz.scores --cases {cases} --seed {seed}` on {date}, ellzero {version}, {processor}; {seconds:.0f} s.

Problems of up to 6 columns, with points up to 5 and largest scales of 0.2 to 2. Brute force goes through all vectors of points,
with scale and intercept by root finding. Forgeries claim too high a lower bound, too small a loss, or a worse card to be the
best, most of them with a changed proof; each has the right digest but for one.
"""


def kinds_of(problem: ScoreProblem) -> list[str]:
    """Return what a problem has."""
    has = {
        "weights of rows": problem.weights is not None,
        "rules": problem.rules is not None,
        "one-sided points": bool(((problem.low == 0) | (problem.high == 0)).any()),
        "points of 5": bool((np.maximum(-problem.low, problem.high) >= 5).any()),
        "columns that tell the labels apart": not (problem.rows.P * problem.rows.N).any(),
        "columns of numbers above one": int(problem.X.max()) > 1,
        "a price of columns": problem.price > 0.0,
        "a given scale": problem.min_scale > 0.0,
        "an intercept in points": problem.whole_intercept,
    }
    return [name for name, there in has.items() if there]


def run(seed: int, counts: Counter[str], found: list[str]) -> float:
    """Solve, compare and forge the problem of a seed; return how far its loss is from that of brute force."""
    problem = draw(seed) if seed % 2 else draw_variant(seed)
    X = problem.X[:, : problem.X.shape[1] - problem.whole_intercept]
    solution, best = solved(problem), min(loss for _, loss in cards(problem))
    difference = abs(solution.card.loss - best)
    if difference > AGREEMENT or solution.status != "optimal":
        found.append(f"seed {seed}: loss {solution.card.loss!r}, {solution.status}; brute force {best!r}")
    arithmetics: list[Literal["float64", "exact"]] = ["float64", "exact"]
    for arithmetic in arithmetics[: 1 + (seed % EXACTLY == 0)]:
        report = ez.verify(solution.certificate, X, problem.y, arithmetic=arithmetic)
        counts[f"verified, {arithmetic}"] += report.valid
        if not report.valid or report.lower_bound > best + AGREEMENT:
            found.append(f"seed {seed}: {arithmetic} certificate {report.valid}, {report.lower_bound!r}, {report.reasons}")
    for name, forgery in forgeries(problem, solution.certificate, best, seed):
        counts[f"forged: {name}"] += 1
        if ez.verify(forgery, X, problem.y).valid:
            found.append(f"seed {seed}: a forged {name} is found valid")
    counts.update(kinds_of(problem))
    return difference


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 1 if there are findings."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.scores", description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=500, help="number of problems (default 500)")
    parser.add_argument("--seed", type=int, default=0, help="of the first problem")
    parser.add_argument("--out", type=Path, help="Markdown file to write")
    chosen = parser.parse_args(arguments)
    counts, found, largest, start = Counter[str](), list[str](), 0.0, time.perf_counter()
    for seed in range(chosen.seed, chosen.seed + chosen.cases):
        largest = max(largest, run(seed, counts, found))
    forged = sum(count for name, count in counts.items() if name.startswith("forged"))
    rows = [["problems", f"{chosen.cases}"], ["largest difference of the least loss", f"{largest:.1e}"]]
    rows += [[f"certificates {name}", f"{count}"] for name, count in counts.items() if name.startswith("verified")]
    rows += [["forgeries, refused", f"{forged - sum('forged' in each for each in found):,} of {forged:,}"]]
    rows += [[f"problems with {name}", f"{counts[name]}"] for name in sorted(counts) if ":" not in name and "," not in name]
    made = {"date": datetime.now(timezone.utc).date(), "version": ez.__version__, "processor": processor()}
    text = TEXT.format(cases=chosen.cases, seed=chosen.seed, seconds=time.perf_counter() - start, **made)
    findings = "\n".join(f"- {each}" for each in found) or "No findings."
    page = "\n\n".join([text.rstrip(), table(["what", "number"], rows), findings])
    print(page)
    if chosen.out is not None:
        chosen.out.write_text(page + "\n", encoding="utf-8")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
