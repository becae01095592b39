"""Scores of a support: how many of the features that matter a model found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError

__all__ = ["SupportScores", "support_scores"]


@dataclass(frozen=True)
class SupportScores:
    """Comparison of a support with the true one.

    Attributes
    ----------
    precision : share of the chosen features that are true; 1 if none is chosen
    recall : share of the true features that are chosen; 1 if there are none
    f1 : 2 |both| / (|chosen| + |true|), the harmonic mean of the two; 1 if both supports are empty
    true_positives, false_positives, false_negatives : correctly chosen, wrongly chosen and missed features

    """

    precision: float
    recall: float
    f1: float
    true_positives: int
    false_positives: int
    false_negatives: int


def support_scores(true_support: Any, support: Any) -> SupportScores:
    """Compare a set of chosen features with the true one.

    Parameters
    ----------
    true_support, support : integers, booleans or floats
        *integers* are indices of features, in any order; *booleans* are a mask of shape (p,);
        *floats* are coefficients of shape (p,), (1, p) or (p, 1), dense or scipy sparse, and their nonzeros count. An empty
        list is an empty support. The two may have different types.

    Returns
    -------
    SupportScores

    Examples
    --------
    >>> import ellzero as ez
    >>> scores = ez.metrics.support_scores([0, 3, 7], [0, 3, 5, 6])
    >>> scores.precision, round(scores.recall, 3), round(scores.f1, 3), scores.false_positives
    (0.5, 0.667, 0.571, 2)
    >>> X, y, truth = ez.datasets.make_classification(200, 1000, 3, s=3.0, random_state=0)
    >>> ez.metrics.support_scores(truth, ez.fit_path(X, y, max_support=3)[-1].coef).f1
    1.0

    """
    true, true_length = as_support("true_support", true_support)
    chosen, length = as_support("support", support)
    if length is not None and true_length is not None and length != true_length:
        raise InvalidInputError(f"support is over {length} features and true_support over {true_length}.")
    p = length if length is not None else true_length
    for name, indices in (("true_support", true), ("support", chosen)):
        if p is not None and len(indices) and indices[-1] >= p:
            raise InvalidInputError(f"{name} has the index {indices[-1]}, the other support is over {p} features.")
    both = len(np.intersect1d(true, chosen, assume_unique=True))
    total = len(true) + len(chosen)
    return SupportScores(
        precision=both / len(chosen) if len(chosen) else 1.0,
        recall=both / len(true) if len(true) else 1.0,
        f1=2.0 * both / total if total else 1.0,
        true_positives=both,
        false_positives=len(chosen) - both,
        false_negatives=len(true) - both,
    )


def as_support(name: str, features: Any) -> tuple[NDArray[np.int64], int | None]:
    """Return the ascending indices of a support, and the number of all features where it is known."""
    values = np.asarray(features.toarray() if sparse.issparse(features) else features)
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    if values.ndim != 1 or (values.size and values.dtype.kind not in "biuf"):
        raise InvalidInputError(f"{name} must be indices, a mask or coefficients of shape (p,), got {features!r}.")
    if values.size == 0:
        return np.zeros(0, dtype=np.int64), None
    if values.dtype.kind in "bf":
        if values.dtype.kind == "f" and np.isnan(values).any():
            raise InvalidInputError(f"{name} contains NaN.")
        return np.flatnonzero(values), len(values)
    indices = np.unique(values).astype(np.int64)
    if indices[0] < 0:
        raise InvalidInputError(f"{name} must hold indices of at least 0, got {indices[0]}.")
    return indices, None
