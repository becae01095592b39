"""Models between two scales: the user's columns and the core's, which are centred and scaled."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ellzero import _core
from ellzero.problem.model import Coefficients, Model
from ellzero.problem.problem import Problem

__all__ = ["to_core_scale", "to_user_scale"]


def to_user_scale(problem: Problem, model: _core.Model) -> Coefficients:
    """The coefficients of a model of the core's, without explicit zeros."""
    support, values, intercept = model.support, model.beta, model.intercept
    if problem.spread is not None:
        values = problem.clip(support, values / problem.spread[support])
    if problem.mean is not None:
        intercept = float(intercept - problem.mean[support] @ values)
    kept = values != 0.0
    return Coefficients(support[kept], values[kept], intercept)


def to_core_scale(problem: Problem, models: Iterable[Model]) -> list[_core.Model]:
    """The inverse of `to_user_scale`: models that the core can start from."""
    out = []
    for model in models:
        core = _core.Model()
        core.support = model.support.astype(np.int32)
        core.beta = problem.penalised(model.support, model.values)
        shift = 0.0 if problem.mean is None else float(problem.mean[model.support] @ model.values)
        core.intercept = model.intercept + shift
        core.cost = model.cost
        out.append(core)
    return out
