"""Measures of held-out predictions: confusion, thresholds, ROC curves, calibration, errors of a regression.

The caller leaves out rows that no fold tested. Weights are those of the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.imports import whole_imports

__all__ = ["THRESHOLDS", "agreement", "calibration", "confusion", "error_quantiles", "evenly_spread", "rates_above", "roc"]

Array = NDArray[np.float64]

ROC_POINTS = 200
"""A curve of so many points differs from the full one by less than a line's width on a screen."""

CALIBRATION_BINS = 10
PERCENTS = [0.1, 0.2, 0.5, *range(1, 100), 99.5, 99.8, 99.9]
THRESHOLDS = [round(percent / 100.0, 4) for percent in PERCENTS]
"""Probabilities above which a row can be called positive; closer together at both ends, where rare classes need it."""

DIGITS = 4
"""Decimal places of shares, which all lie between zero and one."""


def confusion(truth: NDArray[np.int64], decision: Array, weight: Array) -> list[list[float]]:
    """Return the weight of the rows of each true class (rows of the table) that were predicted as each class (columns).

    `decision` has one column (the second of two classes is predicted above zero) or one per class (the largest wins).
    """
    binary = decision.shape[1] == 1
    predicted = (decision[:, 0] > 0.0).astype(np.int64) if binary else np.argmax(decision, axis=1)
    size = 2 if binary else decision.shape[1]
    table = np.zeros((size, size))
    np.add.at(table, (truth, predicted), weight)
    return table.tolist()


def roc(positive: NDArray[np.bool_], decision: Array, weight: Array, points: int = ROC_POINTS) -> dict[str, Any] | None:
    """Return a few points of the ROC curve, and the area under the whole of it; None if only one class is there."""
    with whole_imports():
        from sklearn.metrics import auc, roc_curve  # slow to import

    if not weight[positive].sum() > 0.0 or not weight[~positive].sum() > 0.0:
        return None
    false_rate, true_rate, _ = roc_curve(positive, decision, sample_weight=weight)
    # The sum of both rates grows all along the curve: equal steps of it leave no part without points.
    kept = evenly_spread(false_rate + true_rate, points)
    pairs = np.column_stack([false_rate, true_rate])[kept]
    return {"auc": float(auc(false_rate, true_rate)), "points": np.round(pairs, DIGITS).tolist()}


def evenly_spread(place: Array, most: int) -> NDArray[np.int64]:
    """Return indices of at most `most` places, which increase: evenly spread, with both ends."""
    if len(place) <= most:
        return np.arange(len(place))
    wanted = np.linspace(place[0], place[-1], most)
    return np.unique(np.append(np.searchsorted(place, wanted[:-1]), len(place) - 1))


def calibration(positive: NDArray[np.bool_], probability: Array, weight: Array) -> dict[str, Any]:
    """Return the calibration in bins of about as many rows each, and the Brier score.

    A bin has its mean prediction, the share of the class and the effective number of rows: rows of unequal weight tell as much
    as (sum w)^2 / sum w^2 rows of the same weight.
    """
    edges = np.quantile(probability, np.linspace(0.0, 1.0, CALIBRATION_BINS + 1))
    place = np.searchsorted(edges[1:-1], probability)
    total, predicted, true = (np.bincount(place, weight * part, CALIBRATION_BINS) for part in (1.0, probability, positive))
    held = total > 0.0
    rows = total**2 / np.maximum(np.bincount(place, weight**2, CALIBRATION_BINS), np.finfo(float).tiny)
    bins = np.column_stack([predicted[held] / total[held], true[held] / total[held], rows[held]])
    return {
        "bins": [[round(x, DIGITS), round(y, DIGITS), float(f"{number:.6g}")] for x, y, number in bins.tolist()],
        "brier": float(np.average((probability - positive) ** 2, weights=weight)),
    }


def rates_above(positive: NDArray[np.bool_], probability: Array, weight: Array) -> list[list[float]] | None:
    """Return, for each threshold, which share of the class and which share of the others has a probability above it.

    The first is the sensitivity, the second is one minus the specificity. None if only one class is there.
    """
    out = []
    for group in (positive, ~positive):
        total = weight[group].sum()
        if not total > 0.0:
            return None
        order = np.argsort(probability[group])
        below = np.append(0.0, np.cumsum(weight[group][order]))
        out.append(1.0 - below[np.searchsorted(probability[group][order], THRESHOLDS, side="right")] / total)
    return np.abs(np.round(np.column_stack(out), DIGITS + 1)).tolist()


def agreement(y: Array, predicted: Array, weight: Array) -> dict[str, float]:
    """Return R^2, the root of the mean squared error, and the errors that half, and nine in ten, of the rows stay below."""
    with whole_imports():
        from sklearn.metrics import r2_score  # slow to import

    error = float(np.average((y - predicted) ** 2, weights=weight))
    half, most = error_quantiles(np.abs(y - predicted), weight)
    return {
        "r2": float(r2_score(y, predicted, sample_weight=weight)),
        "rmse": error**0.5,
        "half_within": half,
        "most_within": most,
    }


def error_quantiles(size: Array, weight: Array) -> tuple[float, float]:
    """Return the errors that half, and nine in ten, of the rows (by weight) do not exceed."""
    order = np.argsort(size)
    share = np.cumsum(weight[order]) / weight.sum()
    half, most = size[order][np.minimum(np.searchsorted(share, [0.5 - 1e-12, 0.9 - 1e-12]), len(order) - 1)]
    return float(half), float(most)
