"""Models and held-out scores at one value of the second penalty."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Column", "standard_error"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Column:
    """Models and scores at one value of the second penalty.

    There are m points (values of lambda_0, or sizes), F folds and C outputs.

    Attributes
    ----------
    lambda_1, lambda_2 : the second penalty
    lambda_0 : (m,), nan where points are sizes
    size : (m,) features of the model of all rows
    coef : list of m CSR matrices of shape (C, p), of the models of all rows
    intercept : (m, C)
    scores : (m, F) held-out scores, greater is better
    fold_size : (m, F) features of the fold's models
    fold_supports : list of F boolean CSR matrices of shape (m, p): the features that a fold's models use
    decision : (n, m, C) held-out decision values (nan for rows that no fold tests), or None

    """

    lambda_1: float
    lambda_2: float
    lambda_0: Array
    size: NDArray[np.int64]
    coef: list[sparse.csr_matrix]
    intercept: Array
    scores: Array
    fold_size: NDArray[np.int64]
    fold_supports: list[sparse.csr_matrix]
    decision: Array | None = None

    def reversed(self) -> Column:
        """Return the column with coefficients and decision values that speak for the first of two classes."""
        decision = None if self.decision is None else -self.decision
        return replace(self, coef=[-rows for rows in self.coef], intercept=-self.intercept, decision=decision)

    @property
    def mean(self) -> Array:
        """(m,) mean score over folds."""
        return np.asarray(self.scores.mean(axis=1))

    @property
    def standard_error(self) -> Array:
        """(m,) standard error of the mean; zero if there is one fold only."""
        return standard_error(self.scores)


def standard_error(scores: Array) -> Array:
    """Return the standard error of the mean over the last axis, the folds; zero if there is one fold only."""
    folds = scores.shape[-1]
    return np.asarray(scores.std(axis=-1, ddof=1) / np.sqrt(folds)) if folds > 1 else np.zeros(scores.shape[:-1])
