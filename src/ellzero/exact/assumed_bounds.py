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

__all__ = [
    "assumed_bound",
    "assumed_free_bound",
    "check_bounded",
    "has_proved_bound",
    "highest_level",
    "squares_are_numbers",
    "with_bound",
    "with_free_bound",
]

HEURISTIC_FACTOR = 1.2  # the paper's M is this many times the largest coefficient of the first model
# Free features need a bound too: it takes a dual point orthogonal to them, exactly, to prove anything otherwise, and rounding
# allows none. They are assumed to stay below this many times the largest of their coefficients (or of their unit).
FREE_FACTOR = 10.0
SMALLEST_SIZE = 1e-140  # of a column whose curvature can be moved


def check_bounded(problem: Problem, options: SearchOptions) -> Growth | None:
    """Refuse, before any work is done, a search in which nothing limits the coefficients.

    The growth of the loss is returned where the limits rest on it.
    """
    if options.bound is not None:
        return None
    reason = ""
    if problem.loss.is_classification and options.backend == "builtin" and not all_held(problem):
        try:
            return find_growth(problem, options.threads, highest_level(problem, options))
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


def highest_level(problem: Problem, options: SearchOptions) -> float | None:
    """Return an objective that is not below the level of wanted models, None if only the best one is wanted.

    The best model is not worse than that without features, and a support costs no more than its features beside that.
    """
    if options.wanted is None:
        return None
    null = null_model(problem, options.lambda_0).objective
    if options.wanted.within is not None:
        return null + (options.wanted.within + _core.Wanted.equal) * max(null, problem.null)
    dearest = np.sort(problem.penalty.price[np.unique(problem.penalty.heads)])[::-1]
    most = float(dearest[: options.k].sum()) if options.budget is None else options.budget
    return (null + options.lambda_0 * most) + 2.0 * _core.Wanted.equal * max(null, problem.null)


def held_by_loss(problem: Problem, options: SearchOptions) -> bool:
    """Return whether the curvature of the squared error limits all coefficients, in a search that can use it."""
    built_in = options.method == "bnb" and options.backend == "builtin" and options.swaps is None and options.diagonals
    penalised = problem.penalty.lambda_1 > 0.0 or problem.penalty.lambda_2 > 0.0
    n, p = problem.design.shape
    if not problem.loss.constant_curvature or problem.outputs > 1 or not built_in or penalised or p >= n:
        return False
    if not squares_are_numbers(problem):
        return False
    return _core.curvature_holds(core_problem(problem, TOLERANCE), options.threads, None)


def squares_are_numbers(problem: Problem) -> bool:
    """Return whether the curvatures of all columns are in the range of float64, with room for their inverses."""
    sizes = np.sqrt(problem.square[problem.square > 0.0]) * problem.units.column
    return bool(((sizes >= SMALLEST_SIZE) & (sizes <= 1.0 / SMALLEST_SIZE)).all())


def assumed_bound(problem: Problem, options: SearchOptions, incumbent: Model) -> float | None:
    """Return the bound on |beta_j| that is assumed, None if nothing is assumed."""
    if isinstance(options.bound, str):
        beta = np.abs(problem.penalised(incumbent.support, incumbent.coefficients.values))
        return HEURISTIC_FACTOR * float(beta.max(initial=0.0)) or problem.units.coefficient
    return options.bound


def has_proved_bound(problem: Problem) -> bool:
    """Return whether penalties or bounds limit all coefficients that pay lambda_0."""
    penalty = problem.penalty
    if penalty.lambda_1 > 0.0 or penalty.lambda_2 > 0.0 or problem.countable() == 0:
        return True
    return bounded(problem, ~penalty.unpenalized)


def all_held(problem: Problem) -> bool:
    """Return whether penalties or bounds limit all coefficients, also of unpenalized features."""
    penalty = problem.penalty
    return penalty.lambda_1 > 0.0 or penalty.lambda_2 > 0.0 or bounded(problem, np.ones(problem.design.shape[1], dtype=bool))


def bounded(problem: Problem, features: NDArray[np.bool_]) -> bool:
    """Return whether features have finite bounds of their own on both sides."""
    penalty = problem.penalty
    return all(np.isfinite(side[features]).all() for side in (penalty.lower, penalty.upper))


def assumed_free_bound(problem: Problem, options: SearchOptions, incumbent: Model, growth: Growth | None) -> float | None:
    """Return the bound that is assumed of free features (unpenalized, and held by nothing), None without any."""
    penalty = problem.penalty
    if not penalty.unpenalized.any() or growth is not None or penalty.lambda_1 > 0.0 or penalty.lambda_2 > 0.0:
        return None
    if bounded(problem, penalty.unpenalized) or (options.bound is None and held_by_loss(problem, options)):
        return None
    beta = np.abs(problem.penalised(incumbent.support, incumbent.coefficients.values))
    largest = float(beta[penalty.unpenalized[incumbent.support]].max(initial=0.0))
    return FREE_FACTOR * max(largest, problem.units.coefficient)


def with_bound(problem: Problem, bound: float | None) -> Problem:
    """Return the problem with |beta_j| <= bound for the features that pay lambda_0; None adds no bound."""
    if bound is None:
        return problem
    return limited(problem, bound, ~problem.penalty.unpenalized)


def with_free_bound(problem: Problem, free_bound: float | None) -> Problem:
    """Return the problem with |beta_j| <= free_bound for the unpenalized features; None adds no bound."""
    if free_bound is None:
        return problem
    return limited(problem, free_bound, problem.penalty.unpenalized)


def limited(problem: Problem, bound: float, which: NDArray[np.bool_]) -> Problem:
    """Return the problem with |beta_j| <= bound for some features."""
    penalty = problem.penalty
    limit = np.where(which, bound / problem.spread, np.inf)
    low, high = np.maximum(penalty.lower, -limit), np.minimum(penalty.upper, limit)
    return replace(problem, penalty=replace(penalty, lower=low, upper=high))
