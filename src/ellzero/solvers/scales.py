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

__all__ = ["core_response", "core_scale", "to_core_scale", "to_user_scale"]

Array = NDArray[np.float64]


def core_response(problem: Problem) -> Array:
    """Return y as the core sees it."""
    centre, unit = problem.response.centre, problem.response.unit
    return problem.y if centre == 0.0 and unit == 1.0 else (problem.y - centre) / unit


def core_scale(problem: Problem) -> Array | None:
    """Return the factor of each column; None if columns are not scaled.

    Constant columns beside an intercept get the factor zero: of what centring leaves of them nothing but rounding is not zero.
    """
    if problem.spread is None and problem.column_unit == 1.0 and problem.constant is None:
        return None
    spread = np.ones(problem.design.shape[1]) if problem.spread is None else problem.spread
    scale = 1.0 / spread / problem.column_unit
    return scale if problem.constant is None else np.where(problem.constant, 0.0, scale)


def to_user_scale(problem: Problem, model: _core.Model) -> Coefficients:
    """Return the coefficients of a core model on the scale of X, without explicit zeros."""
    support, values, intercept, response = model.support, model.beta, model.intercept, problem.response
    if problem.coefficient_unit != 1.0 or problem.spread is not None:
        values = values * problem.coefficient_unit
        values = problem.clip(support, values if problem.spread is None else values / problem.spread[support])
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
        core.beta = problem.penalised(model.support, model.values) / problem.coefficient_unit
        shift = 0.0 if problem.mean is None else float(problem.mean[model.support] @ model.values)
        core.intercept = (model.intercept - problem.response.centre + shift) / problem.response.unit
        core.cost = model.cost / problem.response.cost
        out.append(core)
    return out
