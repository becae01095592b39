"""Compare the verifier's float64 bounds with exact arithmetic: `python -m fuzz.margins --cases 2000 --out FILE`.

Problems are drawn from seeds over all scales and solved; their certificates are verified in both arithmetics. At every node the
float64 bound is computed with its margin and without, and once more in exact arithmetic from the same region. The margin must
be larger than the error; the table says by which factor, at least.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import ellzero as ez
from ellzero.exact.verifier.arithmetic import Float64, Point
from ellzero.exact.verifier.bounds import Index, Problem, State
from ellzero.exact.verifier.claims import check_arrays, read_problem, read_solution, read_tree
from ellzero.exact.verifier.exact_arithmetic import Exact
from ellzero.measurement.markdown import table
from fuzz.problems.drawing import draw_problem

SECONDS = 5.0  # of one search
NODES = 60  # of one search: more certificates tell more than larger ones
MOST_POINTS = 300  # of one certificate, likewise
NO_LIMIT = 1e300


@dataclass(frozen=True)
class Measured(Problem):
    """A problem in float64 that compares every bound with its own without margins, and with exact arithmetic."""

    bare: Problem = field(kw_only=True)
    exact: Problem = field(kw_only=True)
    twins: dict[int, tuple[Point, Point]] = field(default_factory=dict, kw_only=True)
    ratios: list[float] = field(default_factory=list, kw_only=True)  # of margin to error

    def points(self, alpha: Any, rest: Any, rows: Index) -> Iterator[Point | None]:
        """Yield the dual points, and keep those of the other two arithmetics beside them."""
        others = (problem.points(alpha, rest, rows) for problem in (self.bare, self.exact))
        for point, *twins in zip(super().points(alpha, rest, rows), *others, strict=True):
            if point is not None:
                self.twins[id(point)] = tuple(twins)
            yield point

    def narrow(self, state: State, point: Point, upper: Any) -> tuple[Any, State | None]:
        """Return what the verifier finds, and note by how much the margin exceeds the error."""
        bound, _ = super().narrow(state, point, NO_LIMIT)
        bare, exact = self.twins.pop(id(point))
        value, _ = self.bare.narrow(state, bare, NO_LIMIT)
        numbers = self.exact.arithmetic.numbers
        truth, _ = self.exact.narrow(
            replace(state, low=numbers(state.low), high=numbers(state.high)), exact, Fraction(NO_LIMIT)
        )
        if math.isfinite(bound) and math.isfinite(value) and not isinstance(truth, float):
            error = abs(Fraction(value) - truth)
            self.ratios.append(float((Fraction(value) - Fraction(bound)) / error) if error else math.inf)
        return super().narrow(state, point, upper)


@dataclass(frozen=True)
class Outcome:
    """The comparison of one certificate."""

    seed: int
    loss: str = ""
    status: str = ""
    bounds: int = 0  # finite ones
    ratio: float = math.inf  # the least of a margin to its error
    objective_ratio: float = math.inf  # of the margin of the objective to its error
    valid: bool = False
    valid_exactly: bool = False
    below: bool = True  # the float64 bound is at most the exact one
    left_out: str = ""  # why it was not compared


def compare(seed: int) -> Outcome:
    """Draw, solve and verify the problem of a seed."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    problem = draw_problem(np.random.default_rng([seed, 18]))
    try:
        solution = ez.solve(
            problem.X, problem.y, **problem.settings(), **problem.form(), time_limit=SECONDS, node_limit=NODES, n_jobs=1
        )
    except ez.InvalidInputError as error:
        return Outcome(seed, problem.loss, left_out=str(error))
    certificate, X, y = solution.certificate, problem.X, problem.y
    if len(certificate.arrays["alpha"]) > MOST_POINTS:
        return Outcome(seed, problem.loss, left_out="too many dual points")
    report, exactly = (ez.verify(certificate, X, y, arithmetic=name) for name in ("float64", "exact"))
    measured, objective_ratio = measure(certificate, X, y)
    return Outcome(
        seed,
        problem.loss,
        solution.status,
        len(measured),
        min(measured, default=math.inf),
        objective_ratio,
        report.valid,
        exactly.valid,
        report.lower_bound <= exactly.lower_bound or not exactly.nodes,
    )


def measure(certificate: Any, X: Any, y: Any) -> tuple[list[float], float]:
    """Return the ratios of margin to error of all finite bounds of a certificate, and that of its objective."""
    header = dict(certificate.header)
    with np.errstate(all="ignore"):
        arrays = check_arrays(header, dict(certificate.arrays))
        without = Float64(unit=0.0, round=0.0, tiny=0.0)
        marked, bare, exact = (read_problem(header, arrays, X, y, numbers) for numbers in (Float64(), without, Exact()))
        parts = {each.name: getattr(marked, each.name) for each in fields(Problem)}
        measured = Measured(**parts, bare=bare, exact=exact)
        model = read_solution(header, arrays, marked)
        value, upper = marked.evaluate(*model)
        truth, _ = exact.evaluate(*model)
        error = abs(Fraction(value) - truth)
        read_tree(arrays, measured).walk(measured, upper, -math.inf)
    return measured.ratios, float((Fraction(upper) - Fraction(value)) / error) if error else math.inf


def summary(outcomes: Sequence[Outcome]) -> str:
    """Return the table."""
    rows = []
    for loss in ("logistic", "squared_hinge", "hinge", "squared_error", "all"):
        some = [each for each in outcomes if not each.left_out and loss in (each.loss, "all")]
        rows.append(
            [
                loss,
                str(len(some)),
                str(sum(each.bounds for each in some)),
                f"{min((each.ratio for each in some), default=math.inf):.3g}",
                f"{min((each.objective_ratio for each in some), default=math.inf):.3g}",
                str(sum(not each.below for each in some)),
                str(sum(each.valid and not each.valid_exactly for each in some)),
                str(sum(not each.valid for each in some)),
            ]
        )
    head = ["loss", "certificates", "finite bounds", "least margin / error of a bound", "of an objective"]
    return table([*head, "float64 bound above the exact one", "valid in float64 only", "not valid in float64"], rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 1 if a margin is too small."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.margins", description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=2000, help="number of certificates (default 2000)")
    parser.add_argument("--seed", type=int, default=0, help="the first seed (default 0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one for each processor)")
    parser.add_argument("--out", type=Path, help="Markdown file to write")
    chosen = parser.parse_args(arguments)
    outcomes: list[Outcome] = []
    with ProcessPoolExecutor(chosen.jobs) as pool:
        for outcome in pool.map(compare, range(chosen.seed, chosen.seed + 2 * chosen.cases), chunksize=8):
            outcomes.append(outcome)
            if not outcome.below or outcome.ratio < 1.0 or outcome.objective_ratio < 1.0:
                print(f"seed {outcome.seed}: {outcome}")
            if sum(not each.left_out for each in outcomes) == chosen.cases:
                pool.shutdown(cancel_futures=True)
                break
    last, seed = outcomes[-1].seed, chosen.seed
    left_out = sum(bool(each.left_out) for each in outcomes)
    text = (
        f"Seeds {seed} to {last}; {left_out} problems are left out: `solve` refused them in a sentence, or their certificates "
        f"have more than {MOST_POINTS} dual points, which take minutes in exact arithmetic.\n\n{summary(outcomes)}\n"
    )
    print(text)
    if chosen.out is not None:
        command = f"python -m fuzz.margins --cases {chosen.cases} --seed {seed}"
        chosen.out.write_text(f"# Margins against errors\n\n`{command}`\n\n{text}")
    return int(any(not each.below or each.ratio < 1.0 or each.objective_ratio < 1.0 for each in outcomes))


if __name__ == "__main__":
    raise SystemExit(main())
