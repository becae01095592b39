"""The core's packed models and the user's: two scales, one meaning."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.problem.model import Model
from ellzero.problem.problem import Problem

__all__ = ["join_models", "make_model", "to_core_scale", "to_user_scale"]

Array = NDArray[np.float64]


def make_model(
    problem: Problem,
    support: NDArray[np.int32],
    values: Array,
    intercept: float,
    lambda_0: float,
    objective: float,
) -> Model:
    """A model that knows its labels and names."""
    names, classes, p = problem.design.names, problem.classes, problem.design.shape[1]
    return Model(support, values, intercept, p, lambda_0, objective, problem.loss.name, classes, names)


def to_user_scale(problem: Problem, models: dict[str, Any]) -> list[tuple[NDArray[np.int32], Array, float]]:
    """Support, coefficients and intercept of each of the core's models, without explicit zeros."""
    out = []
    for k, b in enumerate(models["intercept"]):
        part = slice(models["starts"][k], models["starts"][k + 1])
        support, values = models["columns"][part], models["values"][part]
        if problem.spread is not None:
            values = problem.clip(support, values / problem.spread[support])
        if problem.mean is not None:
            b = b - problem.mean[support] @ values
        kept = values != 0.0
        out.append((support[kept], values[kept], float(b)))
    return out


def to_core_scale(problem: Problem, models: Iterable[Model]) -> dict[str, Any]:
    """The inverse of `to_user_scale`: models that the core can start from."""
    chosen = list(models)
    out: dict[str, Any] = {
        "starts": np.cumsum([0] + [len(model.support) for model in chosen], dtype=np.int64),
        "columns": np.concatenate([np.zeros(0, np.int32)] + [model.support.astype(np.int32) for model in chosen]),
        "values": np.concatenate([np.zeros(0)] + [problem.penalised(model.support, model.values) for model in chosen]),
        "intercept": np.zeros(len(chosen)),
        "cost": np.array([model.objective for model in chosen], dtype=np.float64),
        "converged": np.ones(len(chosen), dtype=np.uint8),
    }
    for k, model in enumerate(chosen):
        shift = 0.0 if problem.mean is None else float(problem.mean[model.support] @ model.values)
        out["intercept"][k] = model.intercept + shift
    return out


def join_models(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    """Two lists of the core's models as one."""
    out = {key: np.concatenate([a[key], b[key]]) for key in a if key != "starts"}
    out["starts"] = np.concatenate([a["starts"], a["starts"][-1] + b["starts"][1:]])
    return out
