"""The state that all methods with a MIP solver share: backend, boxes of the coefficients, best solution and bound so far."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.base.errors import InvalidInputError
from ellzero.exact.certificate import tree_arrays
from ellzero.exact.limits import BUDGET_SLACK
from ellzero.exact.mip.backends import Backend, MipResult, get_backend
from ellzero.exact.options import SearchOptions
from ellzero.exact.run import Run, begin_run
from ellzero.exact.solution import ExactSolution, size_of
from ellzero.exact.status import Status
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem

__all__ = ["MipRun", "check_tolerance"]

Array = NDArray[np.float64]
# |beta| <= M z: a solver that takes z = tolerance for zero lets |beta| = M * tolerance pass. Above this its bounds are useless.
LARGEST_LEAK = 1e-5
# Boxes hold every solution whose objective is at most this much, relatively, above the incumbent's.
CUTOFF_SLACK = 1e-9
# Where a solver's bound exceeds the root's by less, relatively, the root's is taken, since it can be verified.
NEGLIGIBLE = 1e-9
# Two fits of one support differ by this share.
ROUNDING = 1e-13


@dataclass
class MipRun:
    """One run of a method that calls a MIP solver."""

    common: Run  # the state that all exact methods share
    backend: Backend
    root: _core.Search  # a search of one node, whose bound can be verified whatever the MIP solver does
    relaxations: _core.Relaxations
    excluded: NDArray[np.int32]  # features that are in no better solution, as the root proves
    low: Array  # ends of boxes, on the penalised scale, that hold every solution better than the incumbent
    high: Array
    lower_bound: float
    nodes: int = 0

    @classmethod
    def make(cls, problem: Problem, options: SearchOptions, starts: Iterable[Model], heuristic: bool) -> MipRun:
        """Find a first solution, bound the root, and compute the boxes that follow."""
        backend = get_backend(options.backend)
        common = begin_run(problem, options, starts, "local_search" if heuristic else None)
        root = common.search()
        if not common.ended:
            try:
                root.run(seconds=common.left(), node_limit=1, report=None)
            except KeyboardInterrupt:
                common.ended = "interrupted"
            common.incumbent = common.model(root.incumbent())
        low, high = coefficient_boxes(common)
        excluded = root.fixed_out()
        relaxations = _core.Relaxations(
            common.core_problem(),
            common.core_options(),
            objective=common.incumbent.objective / problem.units.cost,
            excluded=excluded.tolist(),
        )
        run = cls(common, backend, root, relaxations, excluded, low, high, max(common.bounds(root)[1], 0.0))
        run.note(0)
        return run

    @property
    def most(self) -> float:
        """The limit on the features of a solution: their number or, under a budget, their costs."""
        k, budget = self.common.options.k, self.common.options.budget
        if budget is not None:
            return budget * (1.0 + BUDGET_SLACK)
        return self.common.problem.design.shape[1] if k is None else k

    @property
    def objective(self) -> float:
        """The objective of the best solution."""
        return self.common.incumbent.objective

    @property
    def size(self) -> float:
        """The size to which differences of objectives are relative."""
        return size_of(self.objective, self.common.problem.null)

    def offer(self, support: NDArray[np.int32]) -> None:
        """Fit the best model on a support, and make it the incumbent if it is better."""
        self.keep(self.common.model(self.relaxations.refit(support.tolist())))

    def keep(self, model: Model) -> None:
        """Make a model, which must lie inside the boxes, the incumbent if it is better by more than rounding."""
        if model.objective < self.objective - ROUNDING * self.size:
            self.common.incumbent = model

    def raise_bound(self, bound: float) -> None:
        """Take a lower bound of all solutions that are better than the incumbent, if it is higher and not contradictory."""
        if bound > self.lower_bound and not self.contradicts(bound):
            self.lower_bound = bound

    def contradicts(self, bound: float) -> bool:
        """Return whether a lower bound of all solutions is above the incumbent's objective, and therefore wrong."""
        return bound > self.objective + LARGEST_LEAK * self.size

    def note(self, iteration: int, integral: int = 0, still_open: int = 1) -> None:
        """Report the state of the run."""
        bound = min(self.lower_bound, self.objective)
        self.common.note(self.objective, bound, self.nodes, still_open, iteration, integral)

    def status_of(self, found: MipResult) -> Status | None:
        """Return the status of the run that follows from a solver's result; None if nothing is left to do."""
        if found.status in ("optimal", "precision"):
            return None
        return "failed" if found.status == "infeasible" else found.status

    def finish(self, status: Status | None, message: str = "") -> ExactSolution:
        """Return the result; its bound is the solver's, unless the root's is as good."""
        last = self.common.history[-1]
        self.note(last.iteration, last.integral, still_open=0)
        proved = min(max(self.common.bounds(self.root)[1], 0.0), self.objective)  # -inf if there was no time for the root
        bound = min(self.lower_bound, self.objective)
        rests = bound - proved > NEGLIGIBLE * self.size
        bound = bound if rests else proved
        return self.common.finish(
            self.common.incumbent,
            bound,
            status,
            tree=tree_arrays(self.root.tree(), 1),
            nodes=self.nodes,
            prover=f"{self.backend.version} (method {self.common.options.method})" if rests else None,
            message=message,
        )


def coefficient_boxes(run: Run) -> tuple[Array, Array]:
    """Return the ends of boxes, on the penalised scale, that hold every solution not worse than the incumbent.

    lambda_1 |beta_j| + lambda_2 beta_j^2 <= objective - lambda_0 c_j, since no loss is negative and feature j pays that.
    """
    problem, penalty = run.boxed, run.boxed.penalty
    objective = run.incumbent.objective
    room = objective + CUTOFF_SLACK * size_of(objective, problem.null) - run.options.lambda_0 * penalty.price
    reach = largest_affordable(np.maximum(room, 0.0), penalty.lambda_1, penalty.lambda_2)
    if run.free_bound is not None:
        reach = np.where(penalty.unpenalized, np.minimum(reach, run.free_bound), reach)
    low = np.maximum(penalty.lower * problem.spread, -reach)
    high = np.minimum(penalty.upper * problem.spread, reach)
    return np.minimum(low, high), np.maximum(low, high)


def largest_affordable(room: Array, lambda_1: float, lambda_2: float) -> Array:
    """Return the positive root m of lambda_1 m + lambda_2 m^2 = room; infinite without penalties."""
    divisor = lambda_1 + np.hypot(lambda_1, 2.0 * np.sqrt(lambda_2) * np.sqrt(room))
    with np.errstate(divide="ignore", invalid="ignore"):
        root = 2.0 * room / divisor
    return np.where(divisor > 0.0, root, 0.0 if lambda_1 or lambda_2 else np.inf)


def check_tolerance(backend: Backend, low: Array, high: Array) -> None:
    """Refuse boxes so wide that the solver's tolerances make its bounds worthless."""
    widest = float(np.maximum(np.abs(low), np.abs(high)).max(initial=0.0))
    if widest * backend.tolerance > LARGEST_LEAK:
        raise InvalidInputError(
            f"bound: coefficients may be as large as {widest:.3g}, too large for the tolerance {backend.tolerance:g} of "
            f"backend={backend.name!r}; give a smaller bound, more lambda_2, or use backend='builtin'."
        )
