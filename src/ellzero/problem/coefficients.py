"""The coefficients of one solution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Coefficients", "coefficient_rows"]

Array = NDArray[np.float64]


class Coefficients(NamedTuple):
    """One solution on the scale of X: the features with a nonzero coefficient, their coefficients, the intercept.

    Of several outputs, `values` has a column for each, and `intercept` is an array.
    """

    support: NDArray[np.int32]
    values: Array
    intercept: Any


def coefficient_rows(rows: Sequence[Coefficients], p: int) -> sparse.csr_matrix:
    """Return a sparse matrix with the coefficients of one solution in each row, over p features.

    Of several outputs, a solution has a row for each.
    """
    if rows and rows[0].values.ndim == 2:
        rows = [Coefficients(row.support[column != 0.0], column[column != 0.0], 0.0) for row in rows for column in row.values.T]
    starts = np.cumsum([0] + [len(row.support) for row in rows])
    columns = np.concatenate([np.zeros(0, np.int32)] + [row.support for row in rows])
    values = np.concatenate([np.zeros(0)] + [row.values for row in rows])
    return sparse.csr_matrix((values, columns, starts), shape=(len(rows), p))
