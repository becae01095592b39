"""Outer approximation: tangents replace the convex terms that a solver does not take, and more are added round by round.

The bound of every relaxation holds for the program, and every point, lifted to its true cost, is feasible. The continuous
relaxation gets its tangents first, since that is cheap. Then, for each integer assignment that the solver proposes, the
continuous problem that is left is solved. Its tangents make the cost of this assignment exact, so that the solver does not
propose it again unless it is the best.
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

Array = NDArray[np.float64]
Report = Callable[[float, float], None]
SPREAD = np.array([-4.0, -2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 4.0])
"""The points of the first tangents of each term, as multiples of a typical value."""
SHARE = 0.25  # the part of the gap asked for that a solver, and that the tangents, may leave
FEASIBLE = 1e-6  # a start that violates the program by more is not used
CUT_ROUNDS = 40  # the most rounds of tangents on a continuous program before the next mixed integer one
ROUGH = 0.05  # the error of a relaxation, as a part of the gap, at which it is known well enough
STALLED = 1e-3  # a round that reduces the error by less than this part of it is the last


class Ended(Exception):
    """Raised when the solver ends early: at a limit, by an interrupt or a failure."""

    def __init__(self, result: MipResult) -> None:
        super().__init__(result.message)
        self.result = result


@dataclass(eq=False)
class Approximation:
    """The state of one outer approximation."""

    backend: Backend
    program: Program
    terms: Program  # the program with only those convex terms that are approximated
    relaxation: Program  # the program with tangents instead of these terms
    gap: float
    deadline: float
    threads: int
    x: Array | None = None
    upper: float = np.inf
    lower: float = -np.inf
    nodes: int = 0

    def offer(self, x: Array) -> float:
        """Keep a point if it is the best so far; return its true cost."""
        point = self.program.lifted(x)
        cost = self.program.value(point)
        if cost < self.upper:
            self.x, self.upper = point, cost
        return cost

    def open(self) -> float:
        """Return the relative gap."""
        return (self.upper - self.lower) / max(abs(self.upper), 1e-300) if np.isfinite(self.upper) else np.inf

    def cut(self, x: Array) -> bool:
        """Add tangents of the terms that are violated enough to matter; return whether there are any."""
        short = self.terms.shortfall(x)
        worth = SHARE * self.gap * min(abs(self.upper), abs(self.program.value(self.program.lifted(x)))) / max(len(short), 1)
        chosen = short > max(worth, 1e-15)
        if chosen.any():
            self.add_tangents(x, chosen)
        return bool(chosen.any())

    def add_tangents(self, x: Array, chosen: NDArray[np.bool_]) -> None:
        """Add the tangents of the chosen terms at a point."""
        rows, limit = self.terms.tangents(x, chosen)
        self.relaxation = self.relaxation.with_rows(rows, limit, np.full(len(limit), np.inf))

    def ask(self, program: Program, gap: float, *, proves: bool, whole: bool) -> MipResult:
        """Call the solver once; raise `Ended` unless it finds the optimum or proves that there is none.

        `proves` means that its bound holds for the whole program, which is not so where integers are fixed. `whole` means that
        its points are points of the program, which is not so where integers are relaxed.
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
        """Add tangents to the relaxation, its integers fixed or relaxed by `change`, until its optimal cost is known."""
        before = np.inf
        for _ in range(CUT_ROUNDS):
            found = self.ask(change(self.relaxation), SHARE * self.gap, proves=not fixed, whole=fixed)
            if found.x is None:
                return
            cost = self.program.value(change(self.program).lifted(found.x))
            error = cost - found.lower_bound
            # Enough is known of an assignment that is proved worse than the best point, and of a relaxation far below it.
            enough = found.lower_bound > self.upper if fixed else error < ROUGH * (self.upper - found.lower_bound)
            if not self.cut(found.x) or enough or error <= SHARE * self.gap * abs(cost) or error > (1.0 - STALLED) * before:
                return
            before = error

    def direct(self, report: Report) -> MipResult:
        """Solve by a single call, since the solver takes every term itself."""
        found = self.ask(self.program, self.gap, proves=True, whole=True)
        report(self.lower, self.upper)
        return found if found.x is None else self.result("optimal")

    def run(self, report: Report) -> MipResult:
        """Solve relaxations and add tangents until the gap is closed."""
        self.cut_continuous(Program.relaxed, fixed=False)
        report(self.lower, self.upper)
        while True:
            found = self.ask(self.relaxation, SHARE * self.gap, proves=True, whole=True)
            point = found.x
            if point is None:
                return replace(found, nodes=self.nodes)
            moved = self.cut(point)
            if self.open() > self.gap:
                self.cut_continuous(partial(Program.fixed, x=point), fixed=True)
            report(self.lower, self.upper)
            if self.open() <= self.gap:
                return self.result("optimal")
            if not moved:
                return self.result("precision", "the tolerances of the solver allow no smaller gap")

    def result(self, status: MipStatus, message: str = "") -> MipResult:
        """Return the best point and the bound known so far."""
        return MipResult(status, self.x, self.lower, self.nodes, message)


def first_points(terms: Program, start: Array | None) -> Iterator[tuple[Array, NDArray[np.bool_]]]:
    """Yield points for the first tangents (the start, and others spread over the range of each term), and the terms to use."""
    roots, inner = terms.squares[:, 1], terms.softplus[:, 1]
    typical, usual = np.zeros(terms.size), 1.0
    if start is not None:
        yield start, np.ones(len(roots) + len(inner), dtype=bool)
        typical, usual = start, max(float(np.abs(start[roots]).max(initial=0.0)) / 2.0, 1e-3)
    low, high = terms.lower[roots], terms.upper[roots]
    reach = np.maximum(np.abs(low), np.abs(high))
    unit = np.where(np.isfinite(reach), reach / SPREAD.max(), usual)
    for factor in SPREAD:
        point = typical.copy()
        point[roots], point[inner] = factor * unit, factor
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
    report: Report = lambda lower, upper: None,
) -> MipResult:
    """Solve a program to a relative gap by any backend; terms that the backend does not take are approximated.

    `report(lower, upper)` is called after each round. After Ctrl-C, the result has status "interrupted" and holds the best
    point and bound so far.
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
