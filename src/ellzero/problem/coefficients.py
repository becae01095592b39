"""The coefficients of one solution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]


class Coefficients(NamedTuple):
    """One solution on the scale of X: the features with a nonzero coefficient, their coefficients, the intercept.

    `values` has a column for each output, and `intercept` a number.
    """

    support: NDArray[np.int32]
    values: Array
    intercept: Array


def coefficient_rows(rows: Sequence[Coefficients], p: int) -> sparse.csr_matrix:
    """Return a sparse matrix over p features with a row for each output of each solution."""
    parts = [(at.support[column != 0.0], column[column != 0.0]) for at in rows for column in at.values.T]
    starts = np.cumsum([0] + [len(support) for support, _ in parts])
    columns = np.concatenate([np.zeros(0, np.int32)] + [support for support, _ in parts])
    values = np.concatenate([np.zeros(0)] + [own for _, own in parts])
    return sparse.csr_matrix((values, columns, starts), shape=(len(parts), p))


def squeezed(values: NDArray[Any]) -> NDArray[Any]:
    """Return the numbers of outputs, which are the last axis, as users see them: one output has no axis."""
    return values[..., 0] if values.shape[-1] == 1 else values
