"""What all methods with a MIP solver share: backend, boxes of the coefficients, best solution and bound so far."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.exact.assumed_bounds import check_bounded
from ellzero.exact.mip.backends import Backend, MipResult, get_backend
from ellzero.exact.options import BUDGET_SLACK
from ellzero.exact.search import Search
from ellzero.exact.search_log import SearchProgress
from ellzero.exact.solution import ExactSolution, size_of
from ellzero.exact.status import Status
from ellzero.problem.model import Model

Array = NDArray[np.float64]
# |beta| <= M z: a solver that takes z = tolerance for zero lets |beta| = M * tolerance pass. Above this its bounds are useless.
LARGEST_LEAK = 1e-5
# Boxes hold every solution whose objective is at most this much, relatively, above the incumbent's.
CUTOFF_SLACK = 1e-9
# Where a solver's bound exceeds the root's by less, relatively, the root's is taken, since it can be verified.
NEGLIGIBLE = 1e-9
# Two fits of one support differ by this share.
ROUNDING = 1e-13


class MipSearch(Search):
    """A search that a MIP solver explores; a tree of one node has a bound that can be verified, whatever the solver does."""

    nodes, message = 0, ""  # of the solver
    set_size = 0  # of IGA

    def solve(self) -> ExactSolution:
        """Return the best model that was found; its bound is the solver's, unless the root's is as good."""
        status = self.explore()
        self.note(still_open=0)
        proved = min(max(self.bounds()[1], 0.0), self.objective)  # -inf if there was no time for the root
        bound = min(self.lower_bound, self.objective)
        rests = bound - proved > NEGLIGIBLE * self.size
        prover = f"{self.backend.version} (method {self.options.method})" if rests else None
        return self.finish(
            self.incumbent, bound if rests else proved, status, nodes=self.nodes, prover=prover, message=self.message
        )

    def explore(self) -> Status | None:
        """Bound the root, and let the solver search the boxes that follow."""
        self.backend = get_backend(self.options.backend)  # before any work
        self.growth = check_bounded(self.problem, self.options)
        self.find_first_model()
        self.open_tree()
        if not self.ended:
            try:
                self.tree.run(seconds=self.left(), node_limit=1, report=None)
            except KeyboardInterrupt:
                self.ended = "interrupted"
            self.incumbent = self.model(self.tree.incumbent())
        self.lower_bound = max(self.bounds()[1], 0.0)
        self.know(self.tree.fixed_out())
        self.note()
        try:
            return self.ended or self.call_solver()
        except KeyboardInterrupt:
            return "interrupted"

    def call_solver(self) -> Status | None:
        """Search by the solver; every method does so in its own way."""
        raise NotImplementedError

    def know(self, excluded: NDArray[np.int32]) -> None:
        """Set what is known of better models than the incumbent: features that are in none, and the boxes of coefficients.

        The boxes hold every model that is not worse, on the penalised scale. lambda_1 |beta_j| + lambda_2 beta_j^2 <=
        objective - lambda_0 c_j, since no loss is negative and feature j pays that.
        """
        problem, penalty = self.boxed, self.boxed.penalty
        room = self.objective + CUTOFF_SLACK * self.size - self.options.lambda_0 * penalty.price
        reach = largest_affordable(np.maximum(room, 0.0), penalty.lambda_1, penalty.lambda_2)
        if self.free_bound is not None:
            reach = np.where(penalty.unpenalized, np.minimum(reach, self.free_bound), reach)
        low = np.maximum(penalty.lower * problem.spread, -reach)
        high = np.minimum(penalty.upper * problem.spread, reach)
        self.low, self.high = np.minimum(low, high), np.maximum(low, high)
        self.excluded = excluded
        self.convex = self.relaxations(self.objective, excluded.tolist())

    @property
    def most(self) -> float:
        """The limit on the features of a solution: their number or, under a budget, their costs."""
        if self.options.budget is not None:
            return self.options.budget * (1.0 + BUDGET_SLACK)
        return self.problem.design.shape[1] if self.options.k is None else self.options.k

    @property
    def objective(self) -> float:
        """The objective of the best solution."""
        return self.incumbent.objective

    @property
    def size(self) -> float:
        """The size to which differences of objectives are relative."""
        return size_of(self.objective, self.problem.null)

    def offer(self, support: NDArray[np.int32]) -> None:
        """Fit the best model on a support, and make it the incumbent if it is better."""
        self.keep(self.model(self.convex.refit(support.tolist())))

    def keep(self, model: Model) -> None:
        """Make a model, which must lie inside the boxes, the incumbent if it obeys and is better by more than rounding."""
        used = model.support[np.atleast_2d(model.values.T).any(axis=0)]
        if model.objective < self.objective - ROUNDING * self.size and self.problem.obeys(used):
            self.incumbent = model

    def raise_bound(self, bound: float) -> None:
        """Take a lower bound of all solutions that are better than the incumbent, if it is higher and not contradictory."""
        if bound > self.lower_bound and not self.contradicts(bound):
            self.lower_bound = bound

    def contradicts(self, bound: float) -> bool:
        """Return whether a lower bound of all solutions is above the incumbent's objective, and therefore wrong."""
        return bound > self.objective + LARGEST_LEAK * self.size

    def note(self, still_open: int = 1) -> None:
        """Report the state of the search."""
        bound = min(self.lower_bound, self.objective)
        state = (self.gap(self.objective, bound), self.nodes, still_open, self.seconds(), self.iteration, self.set_size)
        self.report(SearchProgress(self.objective, bound, *state))

    def status_of(self, found: MipResult) -> Status | None:
        """Keep a solver's message, and return the status that follows from its result; None if nothing is left to do."""
        self.message = found.message
        if found.status in ("optimal", "precision"):
            return None
        return "failed" if found.status == "infeasible" else found.status


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
