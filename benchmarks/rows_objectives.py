"""Objectives of a search that begins on a sample of the rows, against the same search on all rows; writes a Markdown table.

python -m benchmarks.rows_objectives [--first NUMBER] [--last NUMBER] [--table] [--out FILE]

Problem `number` follows from the number alone. Each is recorded in build/rows-objectives, so that a run may come in parts; with
--table, what is recorded is made a table. Both searches have one thread and the default, thorough, effort.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import ellzero as ez
from benchmarks.exact_runs import ROOT
from benchmarks.rows_data import Shape
from ellzero.problem import sample
from experiments.measurement.markdown import table, three_digits

RECORDS = ROOT / "build" / "rows-objectives"
OUT = ROOT / "benchmarks" / "results" / "rows-objectives.md"
PROBLEMS = 200
KINDS = ("correlated", "very correlated", "0/1", "imbalanced", "mixed", "repeated rows")
LOSSES = ("logistic", "squared_hinge", "multinomial", "hinge")
ROWS = (2_000, 12_500, 16_000, 20_000, 30_000, 50_000)  # mostly; of the hinge, which takes long, fewer
SLOW = {"hinge": 16_000, "multinomial": 20_000}
MANY = 100_000  # of one problem in twenty
SIZES = range(1, 11)
WORSE = 1e-6
INTRODUCTION = f"""# Few rows first: objectives

Models of sizes {SIZES[0]} to {SIZES[-1]}, found from a sample of the rows, and on all rows alone. "Worse" counts sizes whose
objective is more than {WORSE:g} above that of the search on all rows, relative to it; "better" counts those as much below.
Problems have 2,000 to {MANY:,} rows and 20 to 100 columns: Gaussian ones with correlations of 0.5 or more to their neighbours,
0/1, one row in fifty of the smaller class, a mixture with rare and with heavy-tailed columns, and rounded numbers in rows that
are repeated.
"""


@dataclass(frozen=True)
class Task:
    """A problem, by its number."""

    number: int

    @property
    def kind(self) -> str:
        return KINDS[self.number % len(KINDS)]

    @property
    def loss(self) -> str:
        return LOSSES[self.number // len(KINDS) % len(LOSSES)]

    def draw(self) -> tuple[Any, Any, float]:
        """Return X, labels, and lambda_2."""
        rng = np.random.default_rng([20, self.number])
        n = MANY if self.number % 20 == 0 else int(rng.choice(ROWS))
        n, p = min(n, SLOW.get(self.loss, MANY)), int(rng.choice([20, 50, 100]))
        X, y, z = Shape(n, p, self.kind if self.kind in ("0/1", "mixed") else "gaussian").draw(n, self.number)
        if self.kind == "very correlated":
            X[:, 1:] = 0.8 * X[:, :-1] + 0.4 * X[:, 1:]
        if self.kind == "imbalanced":
            y = np.where(z > np.quantile(z, 0.98), 1.0, -1.0)
        if self.kind == "repeated rows":
            rows = rng.choice(n // 10, n)
            X, y, z = np.asfortranarray(np.round(X[rows])), y[rows], z[rows]
        if self.loss == "multinomial":
            y = np.digitize(z, np.quantile(z, [0.3, 0.9])).astype(float)
        return X, y, float(rng.choice([1e-5, 1e-4, 1e-2]))

    def record(self) -> dict[str, Any]:
        """Solve it both ways; return seconds of this process and relative differences of objectives."""
        X, y, lambda_2 = self.draw()
        usual, out = sample.LEAST_SAMPLE, {**asdict(self), "kind": self.kind, "loss": self.loss, "shape": X.shape}
        objectives = []
        for name, least in (("sample", usual), ("all", len(y))):
            sample.LEAST_SAMPLE = least
            start = time.process_time()
            found = ez.fit_sizes(X, y, SIZES, loss=self.loss, lambda_2=lambda_2, n_jobs=1)
            out[name] = time.process_time() - start
            objectives.append(found.objective)
        sample.LEAST_SAMPLE = usual
        return {**out, "difference": (objectives[0] / objectives[1] - 1.0).tolist()}


def lines(records: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Return a row of the table for each loss and kind."""
    out = []
    for loss in LOSSES:
        for kind in KINDS:
            found = [record for record in records if record["loss"] == loss and record["kind"] == kind]
            if found:
                differences = np.array([record["difference"] for record in found])
                times = [record["all"] / record["sample"] for record in found]
                counts = [str(int((sign * differences > WORSE).sum())) for sign in (1, -1)]
                out.append([loss, kind, str(len(found)), *counts, f"{differences.max():.1e}", three_digits(np.median(times))])
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--last", type=int, default=PROBLEMS)
    parser.add_argument("--table", action="store_true", help="only make the table of what is recorded")
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    RECORDS.mkdir(parents=True, exist_ok=True)
    for number in range(arguments.first, 0 if arguments.table else arguments.last):
        file = RECORDS / f"{number}.json"
        if not file.exists():
            record = Task(number).record()
            file.write_text(json.dumps(record))
            print(number, record["loss"], record["kind"], record["shape"], f"{max(record['difference']):.1e}", flush=True)
    records = [json.loads(file.read_text()) for file in sorted(RECORDS.glob("*.json"))]
    header = ["loss", "rows", "problems", "sizes worse", "better", "largest difference", "times as fast (median)"]
    made = f"Made by `python -m benchmarks.rows_objectives` with ellzero {ez.__version__}; {len(records)} problems."
    if arguments.table:
        arguments.out.write_text("\n\n".join([INTRODUCTION.rstrip(), made, table(header, lines(records))]) + "\n")


if __name__ == "__main__":
    main()
