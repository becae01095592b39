"""What the methods that call a MIP solver share: the backend, boxes of the coefficients, the best solution and bound so far."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.base.errors import InvalidInputError
from ellzero.exact.certificate import tree_arrays
from ellzero.exact.mip.backends import Backend, MipResult, get_backend
from ellzero.exact.options import SearchOptions
from ellzero.exact.run import Run, begin_run
from ellzero.exact.solution import ExactSolution
from ellzero.exact.status import Status
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem

__all__ = ["MipRun", "check_tolerance"]

Array = NDArray[np.float64]
# |beta| <= M z lets M times the solver's tolerance of integrality through: more than this is no bound any more.
LARGEST_LEAK = 1e-5
# The least objective that counts as an improvement on a solution, relative.
CUTOFF_SLACK = 1e-9
# A solver's bound that exceeds the root's by less is rounding: the root's can be verified.
NEGLIGIBLE = 1e-9


@dataclass
class MipRun:
    """One run with a MIP solver."""

    common: Run  # what every method begins with
    backend: Backend
    root: _core.Search  # one node: a bound that can be verified, whatever the MIP solver does
    relaxations: _core.Relaxations
    excluded: NDArray[np.int32]  # features that the root proves to be in no better solution
    low: Array  # boxes on the penalised scale that hold every solution better than the incumbent
    high: Array
    lower_bound: float
    nodes: int = 0

    @classmethod
    def make(cls, problem: Problem, options: SearchOptions, starts: Iterable[Model], heuristic: bool) -> MipRun:
        """Local search, then the bounds that it implies."""
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
            objective=common.incumbent.objective,
            excluded=excluded.tolist(),
        )
        run = cls(common, backend, root, relaxations, excluded, low, high, max(root.lower_bound, 0.0))
        run.note(0)
        return run

    @property
    def most(self) -> int:
        """The largest number of features."""
        k = self.common.options.k
        return self.common.problem.design.shape[1] if k is None else k

    @property
    def objective(self) -> float:
        """The objective of the best solution."""
        return self.common.incumbent.objective

    def offer(self, support: NDArray[np.int32]) -> None:
        """The best model on a support, which becomes the incumbent if it is better."""
        self.keep(self.common.model(self.relaxations.refit(support.tolist())))

    def keep(self, model: Model) -> None:
        """A model inside the boxes, which becomes the incumbent if it is better."""
        if model.objective < self.objective:
            self.common.incumbent = model

    def raise_bound(self, bound: float) -> None:
        """A valid lower bound of all solutions that are better than the incumbent."""
        if bound > self.lower_bound and not self.contradicts(bound):
            self.lower_bound = bound

    def contradicts(self, bound: float) -> bool:
        """Whether a bound of all solutions (infinite: there are none) is above the incumbent: then it is wrong."""
        return bound > self.objective + LARGEST_LEAK * abs(self.objective)

    def note(self, iteration: int, integral: int = 0, still_open: int = 1) -> None:
        """Tell where the run stands."""
        bound = min(self.lower_bound, self.objective)
        self.common.note(self.objective, bound, self.nodes, still_open, iteration, integral)

    def status_of(self, found: MipResult) -> Status | None:
        """The end of the run that a solver's end means; None: nothing is left to do."""
        if found.status in ("optimal", "precision"):
            return None
        return "failed" if found.status == "infeasible" else found.status

    def finish(self, status: Status | None, message: str = "") -> ExactSolution:
        """The result: the bound is the solver's, unless the root's is as good."""
        last = self.common.history[-1]
        self.note(last.iteration, last.integral, still_open=0)
        proved = min(max(self.root.lower_bound, 0.0), self.objective)  # a root that had no time proves nothing
        bound = min(self.lower_bound, self.objective)
        rests = bound - proved > NEGLIGIBLE * abs(self.objective)
        bound = bound if rests else proved
        return self.common.finish(
            self.common.incumbent,
            bound,
            status,
            tree=tree_arrays(self.root.tree()),
            nodes=self.nodes,
            prover=f"{self.backend.version} (method {self.common.options.method})" if rests else None,
            message=message,
        )


def coefficient_boxes(run: Run) -> tuple[Array, Array]:
    """Boxes, on the penalised scale, of the coefficients of every solution that is not worse than the incumbent.

    No loss is negative: lambda_1 |beta| + lambda_2 beta^2 is at most the objective, less lambda_0 of the feature itself.
    """
    problem, penalty = run.boxed, run.boxed.penalty
    p = problem.design.shape[1]
    spread = np.ones(p) if problem.spread is None else problem.spread
    counted = penalty.pays_lambda_0(p)
    room = run.incumbent.objective * (1.0 + CUTOFF_SLACK) - run.options.lambda_0 * counted
    reach = largest_affordable(np.maximum(room, 0.0), penalty.lambda_1, penalty.lambda_2)
    if run.free_bound is not None:
        reach = np.where(counted, reach, np.minimum(reach, run.free_bound))
    low = -reach if penalty.lower is None else np.maximum(penalty.lower * spread, -reach)
    high = reach if penalty.upper is None else np.minimum(penalty.upper * spread, reach)
    return np.minimum(low, high), np.maximum(low, high)


def largest_affordable(room: Array, lambda_1: float, lambda_2: float) -> Array:
    """The positive root of lambda_1 m + lambda_2 m^2 = room."""
    divisor = lambda_1 + np.sqrt(lambda_1**2 + 4.0 * lambda_2 * room)
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
