"""Scores of single models on given rows, the larger the better, by the names that scikit-learn has for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.imports import import_whole
from ellzero.base.quoting import quoted
from ellzero.problem.model import Model

Array = NDArray[np.float64]


def roc_auc(eta: Array, y: Array) -> float:
    """Return the share of pairs of one row of each class that are in the right order; ties count half."""
    second = y > 0.0
    n_second, n_first = int(second.sum()), int((~second).sum())
    if not n_second or not n_first:
        raise InvalidInputError("y must have rows of both classes for roc_auc.")
    ranks = float(import_whole("scipy.stats").rankdata(eta)[second].sum())  # a slow import, for this alone
    return (ranks - n_second * (n_second + 1) / 2.0) / (n_second * n_first)


OF_LABELS: dict[str, Callable[[Array, Array], float]] = {  # of decision values and labels -1 and +1
    "roc_auc": roc_auc,
    "accuracy": lambda eta, y: float(((eta > 0.0) == (y > 0.0)).mean()),
    "neg_log_loss": lambda eta, y: -float(np.logaddexp(0.0, -y * eta).mean()),
}
OF_NUMBERS: dict[str, Callable[[Array, Array], float]] = {
    "r2": lambda eta, y: 1.0 - float(((y - eta) ** 2).sum() / ((y - y.mean()) ** 2).sum()),
    "neg_mean_squared_error": lambda eta, y: -float(((y - eta) ** 2).mean()),
}


def score_of(by: str | Callable[[Model, Any, Any], float], model: Model, X: object, y: Any) -> float:
    """Return the score of a model on X and y; a function is called with all three."""
    if callable(by):
        return float(by(model, X, y))
    known = OF_NUMBERS if model.classes is None else OF_LABELS
    if by not in known:
        raise InvalidInputError(f"by must be one of {', '.join(map(repr, known))} or a function, got {quoted(by)}.")
    if by == "neg_log_loss" and (model.loss.couples_outputs or not model.loss.has_probabilities):
        raise InvalidInputError(f"by='neg_log_loss' needs loss='logistic', these models have loss={model.loss.name!r}.")
    if X is None or y is None:
        raise InvalidInputError(f"X and y must be given for by={by!r}.")
    values = np.ravel(np.asarray(y))
    if model.classes is None:
        target = values.astype(np.float64)
    else:
        target = np.where(values == model.classes[1], 1.0, -1.0)
        if not np.isin(values, model.classes).all():
            raise InvalidInputError("y holds labels that the models do not know.")
    eta = model.decision_function(X)
    if len(eta) != len(target):
        raise InvalidInputError(f"y must have {len(eta)} rows as X has, got {len(target)}.")
    return known[by](eta, target)
