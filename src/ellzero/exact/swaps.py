"""Swaps of any size (Algorithm 2 with m >= 1): the best model that a swap leads to, and the proof that none is better.

The paper's swap problem holds the coefficients that stay; here all are fitted anew. So more swaps count as improvements, and a
proof that there is none covers the paper's.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.progress import ProgressCallback
from ellzero.base.signatures import arguments_of, passes_on
from ellzero.base.validation import as_count
from ellzero.exact.assumed_bounds import check_bounded, has_proved_bound, with_bound
from ellzero.exact.incumbent import Found, as_start, find_incumbent
from ellzero.exact.methods import run_method
from ellzero.exact.options import ExactSettings, SearchOptions, SwapNeighbourhood, search_options
from ellzero.exact.solution import ExactSolution
from ellzero.exact.status import Status
from ellzero.problem.making import make_problem
from ellzero.problem.model import Model, evaluate
from ellzero.problem.problem import Problem

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["improve", "improve_models"]

Array = NDArray[np.float64]


@passes_on(ExactSettings, make_problem, search_options)
def improve(
    X: object,
    y: ArrayLike,
    start: Model | ArrayLike | None = None,
    *,
    swap_size: int = 2,
    lambda_0: float | None = None,
    **settings: Unpack[ExactSettings],
) -> ExactSolution:
    """Swap up to ``swap_size`` features for as many others while that improves a model, and prove that no such swap is left.

    A swap takes up to ``swap_size`` features out of the model, puts up to ``swap_size`` others in, and fits all coefficients
    anew. The best swap is found by an exact search, made, and followed by local search, until the search proves that none
    improves the objective by more than ``gap``: an inescapable minimum (Theorem 2 of the paper), for less than a global optimum
    takes.

    Parameters
    ----------
    X, y, loss, lambda_1, lambda_2, fit_intercept, standardize, sample_weight, lower, upper, unpenalized :
        The problem, as in :func:`fit_path`.
    start : Model or array of p coefficients, optional
        The model to improve; None begins with local search.
    swap_size : int
        How many features may leave, and how many may come. At the number of features the result is a global optimum.
    lambda_0 : float
        What each feature costs; None takes that of ``start``, if it is a model of a path.
    method, backend, grow, bound, gap, node_limit, n_jobs, progress :
        As in :func:`solve`, for each search.
    time_limit : seconds for all of it

    Returns
    -------
    ExactSolution
        Its ``lower_bound`` and ``gap`` are over swaps of ``swap_size`` features, and so is its certificate.

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y, truth = ez.datasets.make_classification(60, 100, 5, correlation="constant", rho=0.9, s=3.0, random_state=2)
    >>> path = ez.fit_path(X, y, lambda_0=[0.02], lambda_2=0.001, algorithm="local_search")
    >>> best = ez.improve(X, y, path[0], swap_size=2, lambda_2=0.001)
    >>> best.status, best.objective <= path[0].objective
    ('optimal', True)
    >>> ez.verify(best.certificate, X, y).valid
    True

    """
    problem = make_problem(X, y, **arguments_of(make_problem, settings))
    if lambda_0 is None and isinstance(start, Model):
        lambda_0 = start.lambda_0
    if lambda_0 is None:
        raise InvalidInputError("lambda_0 must be given unless start is a model of a path.")
    options = search_options(lambda_0=lambda_0, **arguments_of(search_options, settings))
    size = as_count("swap_size", swap_size, 1)
    first = None if start is None else as_start(problem, start, options.lambda_0, "start")
    return improve_until_proved(problem, options, first, size)


def improve_until_proved(problem: Problem, options: SearchOptions, start: Model | None, size: int) -> ExactSolution:
    """Make the best swap, again and again; the last search proves that there is none (or was stopped)."""
    check_bounded(problem, options)
    begin, nodes = time.monotonic(), 0
    # Local search must not leave the box: what it finds there is lost again, and found again, and so on.
    boxed = with_bound(problem, options.bound) if isinstance(options.bound, float) else problem
    found = Found(start) if start is not None else find_incumbent(boxed, options, [], "local_search", begin)
    while True:
        left = 0.0 if found.ended else max(options.time_limit - (time.monotonic() - begin), 0.0)
        swaps = SwapNeighbourhood(np.sort(problem.paying(found.model.support)), size)
        solution = run_method(problem, replace(options, swaps=swaps, time_limit=left), [found.model], heuristic=False)
        nodes += solution.nodes
        solution = replace(solution, nodes=nodes, seconds=time.monotonic() - begin)
        if found.ended:
            return with_status(solution, found.ended)
        moved = not np.array_equal(np.sort(problem.paying(solution.support)), swaps.home)
        if solution.status != "improved" and (solution.status != "optimal" or not moved):
            return solution
        found = find_incumbent(boxed, options, [solution.model], "local_search", begin, sweep=False)
        if found.ended:
            return with_status(solution, found.ended)


def with_status(solution: ExactSolution, status: Status) -> ExactSolution:
    """A solution that another search should have followed."""
    claim = replace(solution.certificate.claim, status=status)
    return replace(solution, certificate=replace(solution.certificate, claim=claim))


def improve_models(
    problem: Problem,
    lambda_0: Iterable[float],
    models: Iterable[Model],
    size: int,
    threads: int,
    progress: ProgressCallback | None,
) -> list[Model]:
    """For each lambda_0 a model that no swap improves; what is found at one may be the start at another."""
    bound = None if has_proved_bound(problem) else "heuristic"
    pool = [evaluate(problem, model.coefficients) for model in models]
    grid = list(lambda_0)
    found: list[Model | None] = [None] * len(grid)
    done = 0
    while None in found:
        at = found.index(None)
        options = SearchOptions(lambda_0=grid[at], k=None, bound=bound, threads=threads)
        start = min(pool, key=lambda model: model.objective_at(grid[at]))
        solution = improve_until_proved(problem, options, as_start(problem, start, grid[at]), size)
        if solution.status == "interrupted":
            raise KeyboardInterrupt
        found[at] = solution.model
        pool.append(evaluate(problem, solution.model.coefficients))
        # What is better elsewhere is to be proved there again.
        for other, model in enumerate(found):
            cost = pool[-1].objective_at(grid[other])
            if model is not None and other != at and cost < model.objective * (1.0 - options.gap):
                found[other] = None
        done += 1
        if progress is not None:
            progress(min(done / len(grid), 1.0), grid[at], solution.model.size)
    return [model for model in found if model is not None]
