"""What limits the coefficients of an exact search: penalties and bounds, the loss itself, or bounds that are assumed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.base.errors import InvalidInputError
from ellzero.exact.growth import Growth, NotProved, find_growth
from ellzero.exact.incumbent import TOLERANCE, null_model
from ellzero.exact.options import SearchOptions
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem
from ellzero.solvers.paths import core_problem

Features = NDArray[np.bool_]

HEURISTIC_FACTOR = 1.2  # the paper's M is this many times the largest coefficient of the first model
# Free features need a bound too: it takes a dual point orthogonal to them, exactly, to prove anything otherwise, and rounding
# allows none. They are assumed to stay below this many times the largest of their coefficients (or of their unit).
FREE_FACTOR = 10.0
SMALLEST_SIZE = 1e-140  # of a column whose curvature can be moved
LARGEST_CENTRE = 1e5  # in standard deviations of the response
WIDER = 1e-9  # relative, of the boxes that the growth of the loss proves


def check_bounded(problem: Problem, options: SearchOptions) -> Growth | None:
    """Refuse, before any work is done, a search in which nothing limits the coefficients.

    The growth of the loss is returned where the limits rest on it.
    """
    if options.bound is not None:
        return None
    reason = ""
    if (
        problem.loss.is_classification
        and options.backend == "builtin"
        and not held(problem, np.ones_like(problem.penalty.unpenalized))
    ):
        try:
            return find_growth(problem, options.threads, highest_level(problem, options) if options.wanted.all else None)
        except NotProved as why:
            reason = f", since {why}"
    if has_proved_bound(problem) or held_by_loss(problem, options):
        return None
    more = " (squared error needs none of these with more rows than columns, of which at most 2,000, and none a combination "
    more += "of others)"
    raise InvalidInputError(
        "lambda_2 must be positive (add, for example, lambda_2=1e-3), or lower and upper finite: nothing else limits "
        f"the coefficients{reason}; bound=M or bound='heuristic' assumes a limit instead of proving one"
        f"{'' if problem.loss.is_classification or problem.outputs > 1 else more}."
    )


def highest_level(problem: Problem, options: SearchOptions) -> float:
    """Return an objective that is not below the level of wanted models.

    The best model is not worse than that without features, and a support costs no more than its features next to that.
    """
    null = null_model(problem, options.lambda_0).objective
    if options.wanted.within is not None:
        return null + (options.wanted.within + _core.Wanted.equal) * max(null, problem.null)
    dearest = np.sort(problem.penalty.price[np.unique(problem.penalty.heads)])[::-1]
    most = float(dearest[: options.k].sum()) if options.budget is None else options.budget
    return (null + options.lambda_0 * most) + 2.0 * _core.Wanted.equal * max(null, problem.null)


def held_by_loss(problem: Problem, options: SearchOptions) -> bool:
    """Return whether the curvature of the squared error limits all coefficients, in a search that can use it."""
    built_in = options.method == "bnb" and options.backend == "builtin" and options.swaps is None and options.diagonals
    n, p = problem.design.shape
    if not problem.loss.constant_curvature or problem.outputs > 1 or not built_in or shrunken(problem) or p >= n:
        return False
    if not squares_are_numbers(problem):
        return False
    return _core.curvature_holds(core_problem(problem, TOLERANCE), options.threads, None)


def squares_are_numbers(problem: Problem) -> bool:
    """Return whether the curvatures of all columns are in the range of float64, with room for their inverses."""
    sizes = np.sqrt(problem.square[problem.square > 0.0]) * problem.units.column
    return bool(((sizes >= SMALLEST_SIZE) & (sizes <= 1.0 / SMALLEST_SIZE)).all())


def centre_is_small(problem: Problem) -> bool:
    """Return whether the mean of a response leaves the verifier enough digits of what varies about it."""
    return bool((np.abs(problem.units.centre) <= LARGEST_CENTRE * np.sqrt(2.0 * problem.null)).all())


def has_proved_bound(problem: Problem) -> bool:
    """Return whether penalties or bounds limit all coefficients that pay lambda_0."""
    return held(problem, ~problem.penalty.unpenalized)


def held(problem: Problem, features: Features) -> bool:
    """Return whether penalties limit the coefficients of some features, or finite bounds of their own on both sides."""
    sides = (problem.penalty.lower, problem.penalty.upper)
    return shrunken(problem) or all(np.isfinite(side[features]).all() for side in sides)


def shrunken(problem: Problem) -> bool:
    """Return whether a penalty limits all coefficients."""
    return problem.penalty.lambda_1 > 0.0 or problem.penalty.lambda_2 > 0.0


def assumed_bounds(
    problem: Problem, options: SearchOptions, incumbent: Model, growth: Growth | None
) -> tuple[float | None, float | None]:
    """Return the bounds on |beta_j| that are assumed of the features that pay lambda_0, and of free ones; None for no bound."""
    sizes, free = np.abs(problem.penalised(incumbent.support, incumbent.coefficients.values)), problem.penalty.unpenalized
    bound, free_bound = options.bound, None
    if isinstance(bound, str):
        bound = HEURISTIC_FACTOR * float(sizes.max(initial=0.0)) or problem.units.coefficient
        bound = min(bound, float(np.finfo(np.float64).max))
    by_penalty_or_growth = held(problem, free) or growth is not None
    if not by_penalty_or_growth and not (options.bound is None and held_by_loss(problem, options)):
        free_bound = FREE_FACTOR * max(float(sizes[free[incumbent.support]].max(initial=0.0)), problem.units.coefficient)
    return bound, free_bound


def with_bounds(
    problem: Problem, bound: float | None, free_bound: float | None = None, growth: Growth | None = None
) -> Problem:
    """Return the problem with assumed bounds on |beta_j|, and with the boxes that the growth of its loss proves."""
    if bound is None and free_bound is None and growth is None:
        return problem
    penalty = problem.penalty
    of_paying, of_free = (np.inf if limit is None else limit for limit in (bound, free_bound))
    limit = np.where(penalty.unpenalized, of_free, of_paying) / problem.spread
    low, high = -limit, limit
    if growth is not None:
        # Rounding must not make a box of the search narrower than that of the verifier.
        proved_low, proved_high = growth.low / problem.spread, growth.high / problem.spread
        low = np.maximum(low, proved_low - WIDER * np.abs(proved_low))
        high = np.minimum(high, proved_high + WIDER * np.abs(proved_high))
    boxed = replace(penalty, lower=np.maximum(penalty.lower, low), upper=np.minimum(penalty.upper, high))
    return replace(problem, penalty=boxed)
