"""One seed: the certificate of a random problem, verified in float64 and in exact arithmetic.

At every node the float64 bound is computed with its margin and without, and once more in exact arithmetic from the same region.
The margin must be larger than the error.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from itertools import tee
from typing import Any

import numpy as np

import ellzero as ez
from ellzero.exact.verifier.arithmetic import Float64, Point
from ellzero.exact.verifier.bounds import Stated
from ellzero.exact.verifier.claims import check_arrays, hold, read_problem, read_solution, read_tree
from ellzero.exact.verifier.diagonals import Diagonals
from ellzero.exact.verifier.exact_arithmetic import Exact
from ellzero.exact.verifier.models import Models
from ellzero.exact.verifier.regions import States
from fuzz.problems.data import families
from fuzz.problems.drawing import draw_problem
from fuzz.problems.structure import PARTS
from fuzz.records import Record
from fuzz.running.pool import Task

__all__ = ["BOUND", "CERTIFICATES", "COMPARED", "OBJECTIVE", "run"]

CERTIFICATES, COMPARED = "certificates", "finite bounds"  # names of counts
BOUND, OBJECTIVE = "margin / error of a bound", "margin / error of an objective"  # names of ratios
SECONDS = 5.0  # of one search
NODES = 60  # of one search: more certificates tell more than larger ones
FAMILIES = 4  # every so many problems have columns that resemble each other,
STRUCTURED = 2  # and those two seeds later have prices, groups or several outputs
NO_LIMIT = 1e300


@dataclass(frozen=True)
class Measured(Stated):
    """A problem in float64 that compares every bound with its own without margins, and with exact arithmetic."""

    bare: Stated = field(kw_only=True)
    exact: Stated = field(kw_only=True)
    twins: dict[int, tuple[Point, Point]] = field(default_factory=dict, kw_only=True)
    ratios: list[float] = field(default_factory=list, kw_only=True)  # of margin to error

    def points(self, models: Models, rows: Iterable[int], diagonals: Diagonals | None = None) -> Iterator[Point | None]:
        """Yield the dual points, and keep those of the other two arithmetics too."""
        mine, *wanted = tee(rows, 3)
        fresh = [None if diagonals is None else replace(diagonals, definite={}) for _ in range(2)]
        twins = zip((self.bare, self.exact), wanted, fresh, strict=True)
        others = (problem.points(models, each, own) for problem, each, own in twins)
        for point, *twin in zip(super().points(models, mine, diagonals), *others, strict=True):
            if point is not None:
                self.twins[id(point)] = tuple(twin)
            yield point

    def narrow(self, states: States, points: Sequence[Point], upper: Any) -> tuple[Any, States]:
        """Return what the verifier finds, and note by how much the margins exceed the errors."""
        bounds, _ = super().narrow(states, points, NO_LIMIT)
        bare, exact = zip(*(self.twins.pop(id(point)) for point in points), strict=True)
        values, _ = self.bare.narrow(states, bare, NO_LIMIT)
        numbers = self.exact.arithmetic.numbers
        same = replace(states, low=numbers(states.low), high=numbers(states.high))
        truths, _ = self.exact.narrow(same, exact, Fraction(NO_LIMIT))
        for point, bound, value, truth in zip(points, bounds, values, truths, strict=True):
            if math.isfinite(bound) and math.isfinite(value) and not isinstance(truth, float):
                # The price of a diagonal's rounded point is itself rounded up: there only a value above the truth is an error.
                error = abs(Fraction(value) - truth) if point.moved is None else max(Fraction(value) - truth, Fraction(0))
                self.ratios.append(quotient(Fraction(value) - Fraction(bound), error))
        return super().narrow(states, points, upper)


def run(task: Task) -> Record:
    """Draw, solve and verify the problem of a seed."""
    kind = task.seed % FAMILIES
    data, parts = families if kind == 0 else None, PARTS if kind == STRUCTURED else ()
    begin, problem = time.perf_counter(), draw_problem(np.random.default_rng([task.seed, 18]), data=data, parts=parts)
    record = Record(problem.loss, task.seed)
    try:
        solution = ez.solve(
            problem.X, problem.y, **problem.settings(), **problem.form(), time_limit=SECONDS, node_limit=NODES, n_jobs=1
        )
    except ez.InvalidInputError:
        record.count("refused by solve in a sentence")
        return record
    compare(record, solution.certificate, problem.X, problem.y)
    record.seconds = time.perf_counter() - begin
    return record


def compare(record: Record, certificate: Any, X: Any, y: Any) -> None:
    """Verify a certificate in both arithmetics, and find margins that are smaller than errors."""
    report, exactly = (ez.verify(certificate, X, y, arithmetic=name) for name in ("float64", "exact"))
    ratios, objective_ratio = measure(certificate, X, y)
    record.count(CERTIFICATES)
    record.counts[COMPARED] += len(ratios)
    for name, ratio in ((BOUND, min(ratios, default=math.inf)), (OBJECTIVE, objective_ratio)):
        if math.isfinite(ratio):
            record.ratios[name] = ratio
        if ratio < 1.0:
            record.find("margin below the error", "critical", f"{name}: {ratio!r}")
    if exactly.nodes and report.lower_bound > exactly.lower_bound:
        words = f"{report.lower_bound!r} in float64, {exactly.lower_bound!r} in exact arithmetic"
        record.find("float64 bound above the exact one", "critical", words)
    if report.valid and not exactly.valid:
        record.find("valid in float64 only", "high", f"{exactly.reasons}")


def measure(certificate: Any, X: Any, y: Any) -> tuple[list[float], float]:
    """Return the ratios of margin to error of all finite bounds of a certificate, and that of its objective."""
    header = dict(certificate.header)
    with np.errstate(all="ignore"):
        arrays = check_arrays(header, dict(certificate.arrays))
        without = Float64(unit=0.0, round=0.0, tiny=0.0)
        marked, bare, exact = (read_problem(header, arrays, X, y, numbers) for numbers in (Float64(), without, Exact()))
        model = read_solution(header, arrays, marked)
        found, truth = marked.evaluate(*model), exact.evaluate(*model).value
        marked = hold(arrays, marked, found.upper)
        parts = {each.name: getattr(marked, each.name) for each in fields(Stated)}
        measured = Measured(**parts, bare=bare, exact=exact)
        read_tree(arrays, measured).walk(measured, found.upper, -math.inf)
    return measured.ratios, quotient(Fraction(found.upper) - Fraction(found.value), abs(Fraction(found.value) - truth))


def quotient(margin: Fraction, error: Fraction) -> float:
    """Return a margin divided by its error; infinite if there is none, or next to none."""
    try:
        return float(margin / error)
    except (ZeroDivisionError, OverflowError):
        return math.inf
