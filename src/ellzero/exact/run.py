"""One run of an exact method: its start from a first solution, its reports, and its result with the proof."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.base.errors import InvalidInputError
from ellzero.exact.assumed_bounds import (
    assumed_bound,
    assumed_free_bound,
    check_bounded,
    squares_are_numbers,
    with_bound,
    with_free_bound,
)
from ellzero.exact.certificate import Certificate, Claim
from ellzero.exact.growth import Growth, with_growth, worth_narrowing
from ellzero.exact.incumbent import TOLERANCE, as_solution, find_incumbent
from ellzero.exact.options import SearchOptions, Wanted
from ellzero.exact.search_log import SearchProgress
from ellzero.exact.solution import ExactSolution, relative_gap, size_of
from ellzero.exact.status import Status
from ellzero.exact.verifier import verify
from ellzero.problem.coefficients import Coefficients
from ellzero.problem.model import Model, evaluate
from ellzero.problem.problem import Problem
from ellzero.problem.sizes import has_ordinary_sizes
from ellzero.solvers.fields import core_object
from ellzero.solvers.paths import core_problem

__all__ = ["Run", "begin_run"]

SMALL = 1e-4  # an objective below this part of the null model's loss: rounding counts in gaps relative to it


@dataclass
class Run:
    """The problem and the options of a run, its incumbent, and its history so far."""

    problem: Problem
    options: SearchOptions
    incumbent: Model
    bound: float | None  # assumed of the features that pay lambda_0
    free_bound: float | None  # assumed of free features
    growth: Growth | None  # of the loss, where the proof rests on it
    begin: float  # by the clock of time.monotonic
    ended: Status | None = None  # set if a limit or Ctrl-C ended the run before its search
    history: list[SearchProgress] = field(default_factory=list)
    boxed: Problem = field(init=False)  # the problem with the bounds that are assumed or follow from the growth of the loss

    def __post_init__(self) -> None:
        self.boxed = with_free_bound(with_bound(with_growth(self.problem, self.growth), self.bound), self.free_bound)

    def left(self) -> float:
        """Return the seconds until the time limit."""
        return max(self.options.time_limit - (time.monotonic() - self.begin), 0.0)

    def core_problem(self) -> _core.Problem:
        """Return the problem with all bounds, in the core's form."""
        return core_problem(self.boxed, TOLERANCE)

    def core_options(self, integral: Iterable[int] | None = None) -> _core.SearchOptions:
        """Return the options in the core's form; `integral` are the features that may be branched on, all if None."""
        options, swaps = self.options, self.options.swaps
        return core_object(
            _core.SearchOptions,
            lambda_0=options.lambda_0 / self.problem.units.lambda_0,
            budget=None if options.budget is None else options.budget / self.problem.units.price,
            k=self.problem.design.shape[1] if options.k is None else options.k,
            gap=options.gap,
            narrow=self.growth is not None and worth_narrowing(self.problem),
            null=self.problem.null / self.problem.units.cost,
            free_bound=None if self.free_bound is None else self.free_bound / self.problem.units.coefficient,
            home=None if swaps is None else (swaps.home * self.problem.outputs).tolist(),
            swap_size=None if swaps is None else swaps.size,
            wanted=None if options.wanted is None else self.core_wanted(options.wanted),
            integral=None if integral is None else [j * self.problem.outputs for j in integral],
            alike=options.alike,
            diagonals=options.diagonals and squares_are_numbers(self.problem),
            threads=options.threads,
        )

    def core_wanted(self, wanted: Wanted) -> _core.Wanted:
        """Return which models are wanted in the core's form."""
        level = None if wanted.level is None else wanted.level / self.problem.units.cost
        return core_object(_core.Wanted, all=True, level=level, within=wanted.within, count=wanted.count, most=wanted.most)

    def threshold(self, objective: float) -> float | None:
        """Return the level of models that are wanted, None if only one is; `objective` is that of the best one."""
        wanted = self.options.wanted
        if wanted is None:
            return None
        size = size_of(objective, self.problem.null)
        within = np.inf if wanted.within is None else objective + (wanted.within + _core.Wanted.equal) * size
        return float(min(within, np.inf if wanted.level is None else wanted.level))

    def search(self, integral: Iterable[int] | None = None) -> _core.Search:
        """Return a search by branch and bound that starts from the incumbent; it has not run yet."""
        return _core.Search(self.core_problem(), self.core_options(integral), as_solution(self.boxed, self.incumbent))

    def bounds(self, search: _core.Search) -> tuple[float, float]:
        """Return the objective of the search's incumbent and its lower bound, in the user's units."""
        cost = self.problem.units.cost
        return search.objective * cost, search.lower_bound * cost

    def gap(self, objective: float, lower_bound: float) -> float:
        """Return the relative gap."""
        return relative_gap(objective, lower_bound, self.problem.null)

    def model(self, found: _core.Model) -> Model:
        """Return a core model on the scale of X, moved inside the bounds and evaluated from the raw data."""
        support, values, intercept = self.boxed.units.coefficients(found)
        at = Coefficients(support, self.boxed.penalty.clip(support, values), intercept)
        return evaluate(self.boxed, at, self.options.lambda_0)

    def note(
        self,
        objective: float,
        lower_bound: float,
        nodes: int,
        still_open: int,
        iteration: int = 0,
        integral: int = 0,
        level: float | None = None,
        models: int | None = None,
    ) -> None:
        """Report the state of the run to the caller, and add it to the history if something changed.

        The gap is what is missing to the objective or, where all models up to a level are wanted, to that.
        """
        now = SearchProgress(
            objective,
            lower_bound,
            self.gap(objective if level is None else level * self.problem.units.cost, lower_bound),
            nodes,
            still_open,
            time.monotonic() - self.begin,
            iteration,
            integral,
            models,
        )
        here = (objective, lower_bound, iteration)
        known = [(row.objective, row.lower_bound, row.iteration) for row in self.history[-1:]]
        if known != [here] or not still_open:
            self.history.append(now)
        if self.options.progress is not None:
            self.options.progress(now)

    def finish(
        self,
        model: Model,
        lower_bound: float,
        status: Status | None,
        *,
        tree: dict[str, NDArray[Any]],
        nodes: int,
        prover: str | None = None,
        message: str = "",
    ) -> ExactSolution:
        """Return the result with its proof; `status` is None if nothing is left to search."""
        if not np.isfinite(model.objective):
            raise InvalidInputError(
                "the objective is beyond float64 at the best model found; change the units of X, or move lower and upper."
            )
        # No loss or penalty is negative, so zero is a lower bound even before the first node.
        lower_bound = min(max(lower_bound, 0.0), model.objective)
        if self.gap(model.objective, lower_bound) <= self.options.gap:
            status = "optimal"
        certificate = self.certificate(model, lower_bound, status or "precision", tree, prover)
        if prover is None:
            certificate = self.claiming_what_is_proved(certificate)
        return ExactSolution(certificate, nodes, time.monotonic() - self.begin, self.history, message)

    def certificate(
        self, model: Model, lower_bound: float, status: Status, tree: dict[str, NDArray[Any]], prover: str | None = None
    ) -> Certificate:
        """Return the proof of a lower bound by a tree."""
        options = self.options
        claim = Claim(
            lambda_0=options.lambda_0,
            k=options.k,
            budget=options.budget,
            bound=self.bound,
            free_bound=self.free_bound,
            objective=model.objective,
            lower_bound=lower_bound,
            status=status,
            gap_asked=options.gap,
            swap_size=None if options.swaps is None else options.swaps.size,
            home=None if options.swaps is None else options.swaps.home.astype(np.int64),
            prover=prover,
            threshold=self.threshold(model.objective),
            within=None if options.wanted is None else options.wanted.within,
        )
        if "diagonal_values" in tree:  # powers of two: nothing is rounded
            curvatures = tree["diagonal_values"] * self.problem.units.column**2
            tree = {
                **tree,
                "diagonal_values": curvatures,
                "model_values": tree["model_values"] * self.problem.units.coefficient,
            }
        if self.growth is not None:
            tree = {**tree, **self.growth.arrays()}
        # A model chosen by its size alone has no lambda_0.
        by_size = (options.k is not None or options.budget is not None) and options.lambda_0 == 0.0
        return Certificate(self.problem, claim, replace(model, lambda_0=None if by_size else options.lambda_0), tree)

    def claiming_what_is_proved(self, certificate: Certificate) -> Certificate:
        """Return a certificate that claims no more than the verifier proves.

        The core bounds its rounding errors as the verifier does, but where sizes are far apart it may use a narrower box that
        the verifier does not find, and a gap relative to a small objective may be as small as these errors. So there the
        verifier has the last word.
        """
        claim, small = certificate.claim, certificate.claim.objective < SMALL * self.problem.null
        if claim.lower_bound <= 0.0 or not (small or not has_ordinary_sizes(self.problem)):
            return certificate
        report = verify(certificate, self.problem.design.stored(), self.problem.labels)
        proved, close = max(report.lower_bound, 0.0), report.gap <= claim.gap_asked
        done = claim.status in ("optimal", "complete")
        if proved >= claim.lower_bound and (close or not done):
            return certificate
        status = "precision" if done and not close else claim.status
        return replace(certificate, claim=replace(claim, lower_bound=min(proved, claim.lower_bound), status=status))


def begin_run(problem: Problem, options: SearchOptions, starts: Iterable[Model], algorithm: str | None) -> Run:
    """Find a first solution and the bounds assumed with it; without an `algorithm` it is the best of `starts`."""
    begin = time.monotonic()
    growth = check_bounded(problem, options)
    found = find_incumbent(problem, options, list(starts), algorithm, begin)
    bound, free_bound = assumed_bound(problem, options, found.model), assumed_free_bound(problem, options, found.model, growth)
    return Run(problem, options, found.model, bound, free_bound, growth, begin, found.ended)
