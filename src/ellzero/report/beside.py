"""What the held-out figures of the model are compared with: a ridge model of all features, and rows from another file."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.design import Design, as_design, is_stored
from ellzero.estimators.choice import Column
from ellzero.report.models import HeldOut, describe_fit, tested_rows

Array = NDArray[np.float64]
MOST_ENTRIES, MOST_FEATURES = 3_000_000, 2000
"""Of larger X, a model of all features would take longer than all models of few."""

FIGURES = ("accuracy", "r2", "rmse", "half_within", "most_within")


def ridge_of_all(estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Any:
    """Return a model of all features on the same folds, whose shrinkage cross-validation chooses; None if X is large."""
    rows, columns = as_design(X).shape
    if is_stored(X) or rows * columns > MOST_ENTRIES or columns > MOST_FEATURES:
        return None
    settings = estimator.get_params() | {
        "lambda_0": [0.0],
        "select": "lambda_0",
        "penalty": "l0l2",
        "shrinkage": None,
        "rule": "best",
        "algorithm": "cd",
        "max_support": columns,
        "cv": estimator.cv_results_.splits,
        "keep_predictions": True,
        "progress": False,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of many features and few rows, and of sizes: this model is only for comparison
        return type(estimator)(**settings).fit(X, y, sample_weight=sample_weight)


def describe_ridge(ridge: Any, values: NDArray[Any], weight: Array, kind: str, loss: str, size: str) -> dict[str, Any]:
    """Return the held-out figures of the model of all features; `values` are the numbers of the classes, or the response."""
    results = ridge.cv_results_
    column = results.chosen.reversed() if ridge._reversed else results.chosen
    held_out = tested_rows(results.splits, column, values, weight)
    return {
        "title": f"all {size} (ridge)",
        "words": f"Ridge: a model of all {size}, on the same folds, with its best shrinkage.",
        **figures_alone(describe_fit(held_out, int(results.best[1]), kind, loss)),
    }


def figures_alone(fit: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of a description without its curves, which would make the page large."""
    out = {name: fit[name] for name in FIGURES if name in fit}
    if "roc" in fit:
        out["roc"] = [curve and {name: curve[name] for name in ("auc", "interval")} for curve in fit["roc"]]
    if "calibration" in fit:
        out["calibration"] = [{name: part[name] for name in ("brier", "line")} for part in fit["calibration"]]
    return out


def other_rows(X: Any, values: NDArray[Any], column: Column, design: Design) -> HeldOut:
    """Return what the models of all sizes, fitted on all rows, predict for rows that played no part."""
    other = as_design(X)
    if other.shape[1] != design.shape[1]:
        raise InvalidInputError(f"test must have the {design.shape[1]} columns of X, got {other.shape[1]}.")
    if other.names is not None and design.names is not None and other.names != design.names:
        raise InvalidInputError("test must have the columns of X, in the same order.")
    if len(values) != other.shape[0] or not len(values):
        raise InvalidInputError(f"test must have a label for each row, got {other.shape[0]} rows and {len(values)} labels.")
    decision = np.empty((len(values), len(column.coef), column.intercept.shape[1]))
    for point, coef in enumerate(column.coef):
        rows = coef.tocsr()
        used = np.unique(rows.indices).astype(np.int32)
        products = [other.matvec(used, row) for row in rows[:, used].toarray()]
        decision[:, point] = np.column_stack(products) + column.intercept[point]
    if not np.isfinite(decision).all():
        raise InvalidInputError("test contains NaN or infinity in columns that a model uses; fill or drop them.")
    return HeldOut(values, np.ones(len(values)), np.zeros(len(values), dtype=np.int64), decision)
