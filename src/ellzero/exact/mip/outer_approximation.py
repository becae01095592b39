"""Outer approximation: convex terms that a solver does not take become tangents, more of them where the solver goes.

Every relaxation's bound holds for the program; every point, lifted to its true cost, is feasible. The continuous relaxation
is cut first, since that is cheap; then each integer assignment that the solver proposes is minimised on, which leaves tangents
that price it exactly, so it is not proposed again unless it is the best.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ellzero.exact.mip.backends import Backend, MipResult, MipStatus
from ellzero.exact.mip.program import Program

__all__ = ["solve_program"]

Array = NDArray[np.float64]
Report = Callable[[float, float], None]
SPREAD = np.array([-4.0, -2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 4.0])
"""Where each term gets its first tangents, as multiples of what is typical for its kind."""
SHARE = 0.25  # of the gap that is asked: what a solver, and what the tangents, may leave open
FEASIBLE = 1e-6  # a start that violates a row by more is not one
CUT_ROUNDS = 40  # of the continuous program at most, before integers are asked for (again)
ROUGH = 0.05  # a relaxation whose error is a smaller part of the gap is known well enough
STALLED = 1e-3  # a round that closes less than this part of the continuous gap is the last


class Ended(Exception):
    """The solver ended for another reason than being done."""

    def __init__(self, result: MipResult) -> None:
        super().__init__(result.message)
        self.result = result


@dataclass(eq=False)
class Approximation:
    """The state of one run."""

    backend: Backend
    program: Program
    terms: Program  # the program with the approximated terms only
    relaxation: Program  # without them, with their tangents
    gap: float
    deadline: float
    threads: int
    x: Array | None = None
    upper: float = np.inf
    lower: float = -np.inf
    nodes: int = 0

    def offer(self, x: Array) -> float:
        """Keep a point if it is the best; its true cost."""
        point = self.program.lifted(x)
        cost = self.program.value(point)
        if cost < self.upper:
            self.x, self.upper = point, cost
        return cost

    def open(self) -> float:
        """The relative gap."""
        return (self.upper - self.lower) / max(abs(self.upper), 1e-300) if np.isfinite(self.upper) else np.inf

    def cut(self, x: Array) -> bool:
        """Add tangents where the terms are violated enough to matter; whether there are such."""
        short = self.terms.shortfall(x)
        worth = SHARE * self.gap * min(abs(self.upper), abs(self.program.value(self.program.lifted(x)))) / max(len(short), 1)
        chosen = short > max(worth, 1e-15)
        if chosen.any():
            self.add_tangents(x, chosen)
        return bool(chosen.any())

    def add_tangents(self, x: Array, chosen: NDArray[np.bool_] | None = None) -> None:
        """Tangents at a point."""
        rows, limit = self.terms.tangents(x, chosen)
        self.relaxation = self.relaxation.with_rows(rows, limit, np.full(len(limit), np.inf))

    def ask(self, program: Program, gap: float, *, proves: bool, whole: bool) -> MipResult:
        """One call of the solver; if it gives up, so does the run.

        `proves` says that its bound holds for the whole program (it does not where integers were fixed), `whole` that its
        points are points of the program (they are not where integers were relaxed).
        """
        left = self.deadline - time.monotonic()
        if left <= 0.0:
            raise Ended(MipResult("time_limit", None, -np.inf))
        start = self.x if program.integer.any() else None
        found = self.backend.solve(program, start=start, gap=gap, seconds=left, threads=self.threads)
        self.nodes += found.nodes
        if found.status != "infeasible":
            self.lower = max(self.lower, found.lower_bound) if proves else self.lower
            if whole and found.x is not None:
                self.offer(found.x)
        if found.status not in ("optimal", "infeasible"):
            raise Ended(found)
        return found

    def cut_continuous(self, change: Callable[[Program], Program], *, fixed: bool) -> None:
        """Cut the relaxation, its integers fixed or relaxed by `change`, until the cost there is known."""
        before = np.inf
        for _ in range(CUT_ROUNDS):
            found = self.ask(change(self.relaxation), SHARE * self.gap, proves=not fixed, whole=fixed)
            if found.x is None:
                return
            cost = self.program.value(change(self.program).lifted(found.x))
            error = cost - found.lower_bound
            # Enough is known of an assignment that is proved worse than the best, and of a relaxation far below it.
            enough = found.lower_bound > self.upper if fixed else error < ROUGH * (self.upper - found.lower_bound)
            if not self.cut(found.x) or enough or error <= SHARE * self.gap * abs(cost) or error > (1.0 - STALLED) * before:
                return
            before = error

    def direct(self, report: Report | None) -> MipResult:
        """One call: the solver takes every term itself."""
        found = self.ask(self.program, self.gap, proves=True, whole=True)
        tell(report, self)
        return found if found.x is None else self.result("optimal")

    def run(self, report: Report | None) -> MipResult:
        """Rounds until the gap is closed."""
        self.cut_continuous(Program.relaxed, fixed=False)
        tell(report, self)
        while True:
            found = self.ask(self.relaxation, SHARE * self.gap, proves=True, whole=True)
            point = found.x
            if point is None:
                return replace(found, nodes=self.nodes)
            moved = self.cut(point)
            if self.open() > self.gap:
                self.cut_continuous(partial(Program.fixed, x=point), fixed=True)
            tell(report, self)
            if self.open() <= self.gap:
                return self.result("optimal")
            if not moved:
                return self.result("precision", "the tolerances of the solver allow no smaller gap")

    def result(self, status: MipStatus, message: str = "") -> MipResult:
        """What is known now."""
        return MipResult(status, self.x, self.lower, self.nodes, message)


def tell(report: Report | None, state: Approximation) -> None:
    """Progress."""
    if report is not None:
        report(state.lower, state.upper)


def first_points(terms: Program, start: Array | None) -> Iterator[tuple[Array, NDArray[np.bool_]]]:
    """Points to begin with, and the terms that deserve a tangent there: the start, and some spread over what a term can be."""
    roots, inner = terms.squares[:, 1], terms.softplus[:, 1]
    if start is not None:
        yield start, np.ones(len(roots) + len(inner), dtype=bool)
    low, high = terms.lower[roots], terms.upper[roots]
    reach = np.maximum(np.abs(low), np.abs(high))
    usual = 1.0 if start is None else max(float(np.abs(start[roots]).max(initial=0.0)) / 2.0, 1e-3)
    unit = np.where(np.isfinite(reach), reach / SPREAD.max(), usual)
    for factor in SPREAD:
        point = np.zeros(terms.size) if start is None else start.copy()
        point[roots], point[inner] = factor * unit, factor
        point[terms.squares[:, 2][terms.squares[:, 2] >= 0]] = 1.0
        inside = (point[roots] >= low) & (point[roots] <= high)
        yield point, np.concatenate([inside, np.ones(len(inner), dtype=bool)])


def solve_program(
    backend: Backend,
    program: Program,
    *,
    start: Array | None = None,
    gap: float = 1e-4,
    seconds: float = np.inf,
    threads: int = 1,
    report: Report | None = None,
) -> MipResult:
    """Solve a program to a relative gap with any backend; the terms that it does not take are approximated.

    `report(lower, upper)` is called after each round. Ctrl-C ends it with status "interrupted" and what is known by then.
    """
    native = backend.takes(program)
    kinds = [kind for kind, terms in (("square", program.squares), ("softplus", program.softplus)) if len(terms)]
    others = [kind for kind in kinds if kind not in native]
    deadline = time.monotonic() + seconds
    terms = program.with_terms(others)
    state = Approximation(backend, program, terms, program.with_terms(native), gap, deadline, threads)
    try:
        if start is not None and program.violation(program.lifted(start)) <= FEASIBLE:
            state.offer(start)
        if not others:
            return state.direct(report)
        for point, chosen in first_points(terms, state.x):
            state.add_tangents(point, chosen)
        return state.run(report)
    except KeyboardInterrupt:
        return state.result("interrupted")
    except Ended as ended:
        return state.result("optimal" if state.open() <= gap else ended.result.status, ended.result.message)
