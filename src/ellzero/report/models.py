"""Models of all sizes, and measures of their held-out predictions, as plain data.

Rows that no fold tested, or that have no weight, are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from ellzero.base.imports import whole_imports
from ellzero.estimators.choice import Column
from ellzero.estimators.resampling import Split
from ellzero.estimators.targets import class_probabilities
from ellzero.problem.losses import LOSSES

Array = NDArray[np.float64]

ROC_POINTS = 200
"""A curve of that many points differs from the full one by less than a line's width on a screen."""

CALIBRATION_BINS = 10
PERCENTS = [0.1, 0.2, 0.5, *range(1, 100), 99.5, 99.8, 99.9]
THRESHOLDS = [round(percent / 100.0, 4) for percent in PERCENTS]
"""Probabilities above which a row can be called positive; closer together at both ends, where rare classes need it."""

SHARE_DIGITS = 4
"""Decimal places of shares, which all lie between zero and one."""

COUNT_DIGITS = 7  # of shares that the page turns back into counts

SCATTER_POINTS = 1000
"""At most this many points of predicted against true; more would lie on top of each other."""

FEWEST_ROC_POINTS = 40
"""At least this many points of each class's curve, however many classes share the page."""

Z = 1.959964  # of 95 % intervals
NEWTON_STEPS = 100
SMALLEST = 1e-12  # a probability nearer to zero, or to one, counts as that one
LARGEST_CONDITION, LARGEST_LOG_ODDS = 1e12, 1e4

DIGITS = 7
"""Significant digits of coefficients and predictions."""


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
    area = float(auc(false_rate, true_rate))
    interval = auc_interval(area, decision, positive, weight)
    return {"auc": area, "interval": interval, "points": np.round(pairs, SHARE_DIGITS).tolist()}


def auc_interval(area: float, decision: Array, positive: NDArray[np.bool_], weight: Array) -> list[float]:
    """Return the 95 % interval of an area under the ROC curve, by DeLong's variance on the scale of log odds.

    Where every pair is ranked correctly, or none, that variance is zero. Wilson's interval takes its place, with as many rows
    as the rarer class has.
    """
    counted = weight > 0.0
    shares = list[Array]()  # for each row, the share of the other class that it is ranked correctly against
    for own, sign in ((positive & counted, 1.0), (~positive & counted, -1.0)):
        other = counted & (positive != (sign > 0.0))
        order = np.argsort(sign * decision[other])
        known, mass = (sign * decision[other])[order], np.append(0.0, np.cumsum(weight[other][order]))
        below, upto = (mass[np.searchsorted(known, sign * decision[own], side=side)] for side in ("left", "right"))
        shares.append((below + upto) / (2.0 * mass[-1]))
    parts = [weight[positive & counted], weight[~positive & counted]]
    rows = min(effective_rows(part) for part in parts)
    variance = sum(
        float(part**2 @ (share - area) ** 2) / float(part.sum()) ** 2 for part, share in zip(parts, shares, strict=True)
    )
    unit = area * (1.0 - area)
    if unit <= 0.0 or variance <= 0.0:
        middle, reach = area + Z**2 / (2.0 * rows), Z * (unit / rows + Z**2 / (4.0 * rows**2)) ** 0.5
        ends = [(middle + sign * reach) / (1.0 + Z**2 / rows) for sign in (-1.0, 1.0)]
    else:
        ends = expit(logit(area) + np.array([-1.0, 1.0]) * Z * variance**0.5 / unit).tolist()
    return [min(max(end, 0.0), 1.0) for end in ends]


def recalibration(positive: NDArray[np.bool_], decision: Array, weight: Array) -> dict[str, list[float]] | None:
    """Return slope and intercept of the calibration, each with its 95 % interval; None if the classes are separated.

    The slope is that of the log odds on the decision values: below one, predictions are too extreme. The intercept is fitted
    with a slope of one: above zero, probabilities are too low.
    """
    ones = np.ones((len(decision), 1))
    line = fit_log_odds(np.column_stack([decision, ones]), np.zeros(len(decision)), positive, weight)
    level = fit_log_odds(ones, decision, positive, weight)
    if line is None or level is None:
        return None
    return {"slope": line[0], "intercept": level[0]}


def fit_log_odds(A: Array, offset: Array, positive: NDArray[np.bool_], weight: Array) -> list[list[float]] | None:
    """Return the coefficients of a logistic regression without penalty, each with the ends of its 95 % interval.

    Standard errors are robust (sandwich), which weights of any scale leave right. None if there is no finite estimate.
    """
    w, beta = weight / weight.sum(), np.zeros(A.shape[1])
    for _ in range(NEWTON_STEPS):
        share = expit(A @ beta + offset)
        rest = w * (positive - share)
        curvature = A.T @ ((w * share * (1.0 - share))[:, None] * A)
        if np.linalg.cond(curvature) > LARGEST_CONDITION:
            return None
        step = np.linalg.solve(curvature, A.T @ rest)
        beta = beta + step
        if np.abs(beta).max() > LARGEST_LOG_ODDS:
            return None
        if np.abs(step).max() <= 1e-9 * max(1.0, float(np.abs(beta).max())):
            inverse = np.linalg.inv(curvature)
            scores = A * rest[:, None]
            reach = Z * np.sqrt(np.diag(inverse @ (scores.T @ scores) @ inverse))
            return [[float(b), float(b - r), float(b + r)] for b, r in zip(beta, reach, strict=True)]
    return None


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
        "bins": [[round(x, SHARE_DIGITS), round(y, SHARE_DIGITS), float(f"{number:.6g}")] for x, y, number in bins.tolist()],
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
    return np.abs(np.round(np.column_stack(out), COUNT_DIGITS)).tolist()


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


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The rows that folds tested and that have a weight."""

    y: NDArray[Any]  # the class's number, or the response
    weight: Array
    fold: NDArray[np.int64]
    decision: Array  # (rows, sizes, outputs)


def brief(value: float) -> float | None:
    """Return a number with as many digits as a page needs; nan and infinity, which JSON does not have, become None."""
    return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None


def brief_list(values: ArrayLike) -> list[float | None]:
    """Return the numbers with as many digits as a page needs."""
    return [brief(value) for value in np.asarray(values, dtype=np.float64).tolist()]


def tested_rows(splits: Sequence[Split], column: Column, y: NDArray[Any], weight: Array) -> HeldOut:
    """Return the held-out rows that have a weight; `y` holds the classes' numbers, or responses."""
    fold, place, held_out = np.full(len(y), -1), np.zeros(len(y), dtype=np.int64), column.held_out or []
    for number, (_, test) in enumerate(splits):
        fold[test], place[test] = number, np.arange(len(test))
    rows = np.flatnonzero((fold >= 0) & (weight > 0.0))
    decision = np.empty((len(rows), *held_out[0][1].shape[1:]))
    for number, (_, values) in enumerate(held_out):
        own = fold[rows] == number
        decision[own] = values[place[rows[own]]]
    known = ~np.isnan(decision).any(axis=(1, 2))
    return HeldOut(y[rows[known]], weight[rows[known]], fold[rows[known]], decision[known])


def describe_models(column: Column, sizes: Iterable[int]) -> tuple[list[int], list[dict[str, Any]]]:
    """Return the features that any model of all rows or of a fold uses, and the models in terms of these."""
    supports = [point.indices for point in column.coef] + [fold.indices for fold in column.fold_supports]
    used = np.unique(np.concatenate([np.zeros(0, np.int64), *supports]))
    folds = np.sum([fold[:, used].toarray() for fold in column.fold_supports], axis=0, dtype=np.float64)
    share: Array = np.asarray(folds / len(column.fold_supports))
    models = []
    for point, k in enumerate(sizes):
        rows = column.coef[point].tocsr()
        coef = []
        for start, stop in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
            place = np.searchsorted(used, rows.indices[start:stop])
            coef.append([[int(f), brief(value)] for f, value in zip(place, rows.data[start:stop], strict=True)])
        models.append(
            {
                "k": int(k),
                "size": int(column.size[point]),
                "score": brief(column.mean[point]),
                "error": brief(column.standard_error[point]),
                "folds": brief_list(column.scores[point]),
                "coef": coef,
                "intercept": brief_list(column.intercept[point]),
                "use": [[int(f), round(float(share[point, f]), 4)] for f in np.flatnonzero(share[point])],
            }
        )
    return used.tolist(), models


def describe_fit(held_out: HeldOut, point: int, kind: str, loss: str) -> dict[str, Any]:
    """Return measures of how well the models of one size predict rows that they have not seen."""
    decision = held_out.decision[:, point]
    if kind == "regression":
        predicted = decision[:, 0]
        shown = predicted[shown_rows(held_out)]
        return {"predicted": brief_list(shown), **agreement(held_out.y, predicted, held_out.weight)}
    table = confusion(held_out.y, decision, held_out.weight)
    positives = [held_out.y == 1] if kind == "binary" else [held_out.y == c for c in range(decision.shape[1])]
    points = max(FEWEST_ROC_POINTS, ROC_POINTS // len(positives))
    ranked = ranking_decisions(held_out, decision)
    out: dict[str, Any] = {
        "confusion": [[round(mass, 4) for mass in row] for row in table],
        "accuracy": float(np.trace(table) / np.sum(table)),
        "roc": [roc(positive, ranked[:, c], held_out.weight, points) for c, positive in enumerate(positives)],
    }
    if LOSSES[loss].has_probabilities:
        shares = class_probabilities(decision, LOSSES[loss].couples_outputs)
        shares = shares[:, -decision.shape[1] :]  # of two classes that of the second
        out["calibration"] = [calibration(positive, shares[:, c], held_out.weight) for c, positive in enumerate(positives)]
        odds = logit(np.clip(shares, SMALLEST, 1.0 - SMALLEST))
        for c, positive in enumerate(positives):
            told = ranked[:, c].any()  # a constant has no slope
            out["calibration"][c]["line"] = recalibration(positive, odds[:, c], held_out.weight) if told else None
        if kind == "binary":  # of several classes the largest wins, whatever its probability
            out["above"] = rates_above(positives[0], shares[:, 0], held_out.weight)
    return out


def ranking_decisions(held_out: HeldOut, decision: Array) -> Array:
    """Return decision values to rank the rows by: an output that is constant in every fold becomes zero.

    Such a model has no features. Its intercepts differ a little between folds: the more rows of the class a fold holds, the
    fewer are left to learn from, and the lower is the intercept. Pooled, they would rank the rows the wrong way round.
    """
    out = decision.copy()
    for c in range(decision.shape[1]):
        if all(np.ptp(decision[held_out.fold == fold, c]) == 0.0 for fold in np.unique(held_out.fold)):
            out[:, c] = 0.0
    return out


def shown_rows(held_out: HeldOut) -> NDArray[np.int64]:
    """Return the rows of the scatter plot: all, or some that are spread evenly over the responses, with both extremes."""
    order = np.argsort(held_out.y, kind="stable")
    kept = evenly_spread(np.arange(len(order), dtype=np.float64), SCATTER_POINTS)
    return np.sort(order[kept])


def effective_rows(weight: Array) -> float:
    """Return how many rows of the same weight tell as much as these."""
    return float(f"{weight.sum() ** 2 / (weight**2).sum():.6g}")
