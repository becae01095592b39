"""Models of all sizes and measures of their held-out predictions, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ellzero.estimators.choice import Column
from ellzero.estimators.resampling import Split
from ellzero.estimators.targets import class_probabilities
from ellzero.problem.losses import LOSSES
from ellzero.report.held_out import ROC_POINTS, agreement, calibration, confusion, evenly_spread, rates_above, roc

__all__ = ["HeldOut", "brief", "brief_list", "describe_fit", "describe_models", "shown_rows", "tested_rows"]

Array = NDArray[np.float64]

SCATTER_POINTS = 1000
"""At most so many points of predicted against true; more would lie on top of each other."""

FEWEST_ROC_POINTS = 40
"""At least so many points of each class's curve, however many classes share the page."""

DIGITS = 7
"""Significant digits of coefficients and predictions."""


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
    fold, decision = np.full(len(y), -1), np.asarray(column.decision)
    for number, (_, test) in enumerate(splits):
        fold[test] = number
    rows = np.flatnonzero((fold >= 0) & (weight > 0.0) & ~np.isnan(decision).any(axis=(1, 2)))
    return HeldOut(y[rows], weight[rows], fold[rows], decision[rows])


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
