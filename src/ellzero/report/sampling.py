"""Cross-validation on a sample of many rows: its scores are precise enough, and the page is there in a minute."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ellzero.base.validation import weight_of_rows
from ellzero.estimators.resampling import Split

SAMPLED = 20_000
"""Of more rows, that many are drawn: the standard error of a share is at most a third of a per cent."""


def sampled_splits(y: ArrayLike, sample_weight: ArrayLike | None, folds: Any, *, classes: bool) -> list[Split] | None:
    """Return splits of some rows that have a weight; None if all rows are few enough, or the user says how to split them.

    In the sample and in its folds, classes have the shares that they have in all rows.
    """
    values = np.asarray(y).ravel()
    weight = weight_of_rows(sample_weight, len(values))
    counted = np.flatnonzero(weight > 0.0)
    if len(counted) <= SAMPLED or len(weight) != len(values) or not isinstance(folds, int) or folds < 2:
        return None
    rng = np.random.default_rng(0)
    labels = np.unique(values.astype(str), return_inverse=True)[1] if classes else np.zeros(len(values), dtype=np.int64)

    def shuffled(rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of the classes, one class after the other."""
        rows = rng.permutation(rows)
        return rows[np.argsort(labels[rows], kind="stable")]

    rows = shuffled(shuffled(counted)[np.linspace(0, len(counted) - 1, SAMPLED).astype(np.int64)])
    return [(np.sort(np.delete(rows, np.s_[fold::folds])), np.sort(rows[fold::folds])) for fold in range(folds)]
