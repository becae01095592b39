"""Turn numbers and models between two scales: that of the user's data, and the core's.

The core sees the columns (x_j - mean_j) / (spread_j u) and the response (y - centre) / t. The units u and t of the problem are
powers of two that make data of any size look ordinary, and round nothing. A coefficient beta on the scale of the penalty is
beta u / t in the core, and a cost c is c / t^2.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.problem.model import Coefficients, Model
from ellzero.problem.problem import Problem

__all__ = ["coefficient_unit", "core_bounds", "core_penalties", "core_response", "core_scale", "to_core_scale", "to_user_scale"]

Array = NDArray[np.float64]
# A penalty that is beyond these in the core's units is as good as infinite, or as zero. Its square is a number.
LARGEST_PENALTY, SMALLEST_PENALTY = 1e150, 1e-150


def coefficient_unit(problem: Problem) -> float:
    """Return the unit t / u of coefficients on the scale of the penalty."""
    return problem.response.unit / problem.column_unit


def core_response(problem: Problem) -> Array:
    """Return y as the core sees it."""
    centre, unit = problem.response.centre, problem.response.unit
    return problem.y if centre == 0.0 and unit == 1.0 else (problem.y - centre) / unit


def core_scale(problem: Problem) -> Array | None:
    """Return the factor of each column; None if columns are not scaled."""
    if problem.spread is not None:
        return 1.0 / problem.spread / problem.column_unit
    return None if problem.column_unit == 1.0 else np.full(problem.design.shape[1], 1.0 / problem.column_unit)


def core_penalties(problem: Problem) -> tuple[float, float]:
    """Return lambda_1 and lambda_2 in the core's units; what is positive stays positive."""
    t, u, penalty = problem.response.unit, problem.column_unit, problem.penalty
    scaled = penalty.lambda_1 / t / u, penalty.lambda_2 / u / u
    first, second = (
        min(max(inside, SMALLEST_PENALTY), LARGEST_PENALTY) if given > 0.0 else 0.0
        for inside, given in zip(scaled, (penalty.lambda_1, penalty.lambda_2), strict=True)
    )
    return first, second


def core_bounds(problem: Problem) -> tuple[Array | None, Array | None]:
    """Return the bounds of the core's coefficients, None where there are none.

    An unpenalized column that is constant beside an intercept, or zero, changes nothing: its coefficient is held at zero, or as
    near to it as its bounds allow.
    """
    unit, spread, free = coefficient_unit(problem), problem.spread, problem.penalty.unpenalized
    idle = np.flatnonzero(np.zeros(0) if free is None else free & (problem.square == 0.0)).astype(np.int32)
    nearest = problem.clip(idle, np.zeros(len(idle)))

    def inside(bound: Array | None, default: float) -> Array | None:
        if not len(idle) and (bound is None or (spread is None and unit == 1.0)):
            return bound
        out = np.full(problem.design.shape[1], default) if bound is None else bound.copy()
        out[idle] = nearest
        with np.errstate(over="ignore"):
            return np.ascontiguousarray((out if spread is None else out * spread) / unit)

    return inside(problem.penalty.lower, -np.inf), inside(problem.penalty.upper, np.inf)


def to_user_scale(problem: Problem, model: _core.Model) -> Coefficients:
    """Return the coefficients of a core model on the scale of X, without explicit zeros."""
    support, values, intercept, response = model.support, model.beta, model.intercept, problem.response
    if (unit := coefficient_unit(problem)) != 1.0:
        values = problem.clip(support, values * unit)
    if problem.spread is not None:
        values = problem.clip(support, values / problem.spread[support])
    intercept = intercept * response.unit
    if problem.mean is not None:
        intercept = float(intercept - problem.mean[support] @ values)
    kept = values != 0.0
    return Coefficients(support[kept], values[kept], intercept + response.centre)


def to_core_scale(problem: Problem, models: Iterable[Model]) -> list[_core.Model]:
    """Return models in the core's form and scale, so that it can start from them: the inverse of `to_user_scale`."""
    out = []
    for model in models:
        core = _core.Model()
        core.support = model.support.astype(np.int32)
        core.beta = problem.penalised(model.support, model.values) / coefficient_unit(problem)
        shift = 0.0 if problem.mean is None else float(problem.mean[model.support] @ model.values)
        core.intercept = (model.intercept - problem.response.centre + shift) / problem.response.unit
        core.cost = model.cost / problem.response.cost
        out.append(core)
    return out
