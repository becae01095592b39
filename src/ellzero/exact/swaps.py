"""Swaps of any size (Algorithm 2 with m >= 1): make the best swap until a proof shows that none improves the model.

In the paper's swap problem the other coefficients keep their values; here all are fitted again. So more swaps are improvements,
and a proof that none is left holds for the paper's problem too.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ellzero import _core
from ellzero.base.errors import InvalidInputError
from ellzero.base.progress import ProgressCallback
from ellzero.base.signatures import arguments_of, passes_on
from ellzero.base.validation import as_count
from ellzero.exact.assumed_bounds import check_bounded, has_proved_bound, with_bounds
from ellzero.exact.incumbent import Found, as_start, find_incumbent
from ellzero.exact.options import ExactSettings, SearchOptions, SwapNeighbourhood, search_options
from ellzero.exact.search import search_for
from ellzero.exact.solution import ExactSolution
from ellzero.exact.status import Status
from ellzero.problem.making import make_problem
from ellzero.problem.model import Model, evaluate
from ellzero.problem.problem import Problem
from ellzero.solvers.paths import PathOptions, solve_path

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = NDArray[np.float64]
GAP = 1e-4  # of the objective: swaps in a path that improve less are left


@passes_on(ExactSettings, make_problem, search_options)
def improve(
    X: object,
    y: ArrayLike,
    start: Model | ArrayLike | Any | None = None,
    *,
    swap_size: int = 2,
    lambda_0: float | None = None,
    **settings: Unpack[ExactSettings],
) -> ExactSolution:
    """Swap up to ``swap_size`` features for as many others while that improves a model, and prove that no such swap is left.

    A swap takes up to ``swap_size`` features out of the model, puts up to ``swap_size`` others in, and fits all coefficients
    again. The best swap is found by an exact search, made, and followed by local search, until the search proves that none
    improves the objective by more than ``gap``: an inescapable minimum (Theorem 2 of the paper), for less than a global optimum
    takes.

    Parameters
    ----------
    X, y, loss, huber_delta, lambda_1, lambda_2, fit_intercept, standardize, sample_weight, lower, upper, unpenalized,
    feature_cost, groups, feature_names, rules :
        The problem, as in :func:`fit_path`.
    start : Model, ExactSolution, fitted estimator or array of p coefficients, optional
        The model to improve; None begins with local search.
    swap_size : int
        The most features that may leave, and the most that may come. At the number of features the result is a global optimum.
    lambda_0 : float
        What each feature pays (times its ``feature_cost``); None takes that of ``start``, if it is a model of a path.
    method, backend, grow, bound, gap, node_limit, n_jobs, progress :
        As in :func:`solve`, for each search.
    time_limit : seconds for all searches together

    Returns
    -------
    ExactSolution
        Its ``lower_bound``, ``gap`` and certificate hold for swaps of at most ``swap_size`` features.

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y, truth = ez.datasets.make_classification(60, 100, 5, correlation="constant", rho=0.9, s=3.0, random_state=2)
    >>> path = ez.fit_path(X, y, lambda_0=[0.02], lambda_2=0.001, algorithm="local_search")
    >>> best = ez.improve(X, y, path[0], swap_size=2, lambda_2=0.001)
    >>> best.status, best.objective <= path[0].objective + 1e-12
    ('optimal', True)
    >>> ez.verify(best.certificate, X, y).valid
    True

    """
    problem = make_problem(X, y, **arguments_of(make_problem, settings))
    start = getattr(start, "model", start)  # of an exact solution
    if lambda_0 is None and isinstance(start, Model):
        lambda_0 = start.lambda_0
    if lambda_0 is None:
        raise InvalidInputError("lambda_0 must be given unless start is a model of a path.")
    options = search_options(lambda_0=lambda_0, **arguments_of(search_options, settings))
    size = as_count("swap_size", swap_size, 1)
    first = None if start is None else as_start(problem, start, options.lambda_0, "start")
    return improve_until_proved(problem, options, first, size)


def improve_until_proved(
    problem: Problem, options: SearchOptions, start: Model | None, size: int, most: int | None = None
) -> ExactSolution:
    """Make the best swap again and again, until a search proves that none improves the model, or is stopped.

    A search that ends with more than `most` features is the last.
    """
    check_bounded(problem, options)
    begin, nodes = time.monotonic(), 0
    # Local search must stay inside the box: the exact search would reject what it finds outside, and this would never end.
    boxed = with_bounds(problem, options.bound) if isinstance(options.bound, float) else problem
    found = Found(start) if start is not None else find_incumbent(boxed, options, [], "local_search", begin)
    while True:
        left = 0.0 if found.ended else max(options.time_limit - (time.monotonic() - begin), 0.0)
        swaps = SwapNeighbourhood(np.sort(problem.penalty.paying(found.model.support)), size)
        # A long search ends with its first better model: the next one starts from that.
        better = found.model.objective * (1.0 - options.gap)
        asked = replace(options, swaps=swaps, time_limit=left, enough=better)
        solution = search_for(problem, asked, [found.model], heuristic=False).solve()
        nodes += solution.nodes
        solution = replace(solution, nodes=nodes, seconds=time.monotonic() - begin)
        if found.ended:
            return with_status(solution, found.ended)
        moved = not np.array_equal(np.sort(problem.penalty.paying(solution.support)), swaps.home)
        if solution.status != "improved" and (solution.status != "optimal" or not moved):
            return solution
        if most is not None and solution.model.size > most:
            return solution
        found = find_incumbent(boxed, options, [solution.model], "local_search", begin, sweep=False)
        if found.ended:
            return with_status(solution, found.ended)


def with_status(solution: ExactSolution, status: Status) -> ExactSolution:
    """Return the solution with another status: that with which the work after its search was stopped."""
    claim = replace(solution.certificate.claim, status=status)
    return replace(solution, certificate=replace(solution.certificate, claim=claim))


@dataclass
class SwapPath:
    """The models of a path, improved until neither a swap of the size asked for nor a coordinate step improves one.

    A model found at one lambda_0 may be the start at another. Searches take nodes in turn, so that the models do not depend on
    the number of threads.
    """

    problem: Problem
    options: PathOptions
    lambda_0: list[float]
    pool: list[Model]  # of any lambda_0, to start from
    progress: ProgressCallback | None = None

    def improve(self, first: _core.Model) -> list[_core.Model]:
        """Return a model for each lambda_0, up to the first that needs more features than are allowed.

        The path does not end before its first point: `first` is its model if the others are too large there.
        """
        found: list[tuple[_core.Model, Model] | None] = [None] * len(self.lambda_0)
        done = 0
        while None in found:
            at = found.index(None)
            new = self.improve_at(self.lambda_0[at])
            if new[1].size > self.most and at == 0:
                new = first, evaluate(self.problem, self.problem.units.coefficients(first), self.lambda_0[0])
            elif new[1].size > self.most:
                del found[at:]
                break
            found[at] = new
            self.pool.append(new[1])
            # Where the new model is better than the one found before, that lambda_0 is searched again.
            for other, known in enumerate(found):
                cost = new[1].objective_at(self.lambda_0[other])
                if known is not None and other != at and cost < known[1].objective_at(self.lambda_0[other]) * (1.0 - GAP):
                    found[other] = None
            done += 1
            if self.progress is not None:
                self.progress(min(done / len(found), 1.0), self.lambda_0[at], new[1].size)
        return [model[0] for model in found if model is not None]

    def improve_at(self, lambda_0: float) -> tuple[_core.Model, Model]:
        """Return the model at one lambda_0, in the core's form and on the scale of X; it may have too many features."""
        bound = None if has_proved_bound(self.problem) else "heuristic"
        options = SearchOptions(lambda_0=lambda_0, k=None, bound=bound, gap=GAP, threads=self.options.threads, in_turn=True)
        start = min(self.pool, key=lambda model: model.objective_at(lambda_0))
        seen: set[bytes] = set()
        while True:
            start = as_start(self.problem, start, lambda_0)
            solution = improve_until_proved(self.problem, options, start, self.options.swap_size, self.most)
            if solution.status == "interrupted":
                raise KeyboardInterrupt
            settled = self.settle(solution.model, lambda_0)
            model = evaluate(self.problem, self.problem.units.coefficients(settled), lambda_0)
            # Descent may go on to another support by what is less than the gap: its swaps are searched in their turn.
            home = model.support.tobytes()
            if home == np.sort(solution.support).tobytes() or home in seen or model.size > self.most:
                return settled, model
            seen.add(home)
            start = model

    def settle(self, model: Model, lambda_0: float) -> _core.Model:
        """Return what descent finds from a model: its coefficients to the path's tolerance, and Theorem 1 for certain."""
        descent = replace(
            self.options, lambda_0=np.array([lambda_0]), max_support=None, algorithm="cd", swaps="ranked", q=None, progress=None
        )
        return solve_path(self.problem, descent, seeds=self.problem.units.core_models([model]), sweep=False).models[0]

    @property
    def most(self) -> int:
        """The number of features that a model may have."""
        return self.problem.penalty.countable(self.options.max_support)
