"""Rows that count, each once: equal rows are merged with their weights, and those without a weight are left out.

    sum_i w_i f(x_i b, y_i) = sum over different rows (x, y) of f(x b, y) times the sum of their w_i

so the problem stays the same. Tables of people have many equal rows, in particular once their columns are cut at thresholds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.design.base import slices_of
from ellzero.design.dense import DenseDesign

if TYPE_CHECKING:
    from ellzero.problem.problem import Problem

Array = NDArray[np.float64]

WORTH = 0.5
"""Fewer rows pay if there are at most this many of them, as a share of all: they are a copy of their part of X."""
FIRST_ROWS = 4
"""If no two of that many times sqrt(n) rows are equal, spread over the table, there are more than n / 2 different ones."""
ROWS_AT_A_TIME = 4096


def different_rows(problem: Problem) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
    """Return one row of each kind and the weight of the kind; None if there are too many kinds, or X is no array in memory."""
    w, n = problem.w, len(problem.w)
    if not isinstance(problem.design, DenseDesign):
        return None
    table = JoinedRows(problem.design.array, problem.y)
    counted = np.flatnonzero(w > 0.0)
    some = counted[:: max(1, len(counted) // math.ceil(FIRST_ROWS * math.sqrt(n)))]
    if len(np.unique(table.keys(some))) == len(some):
        return (counted, w[counted]) if len(counted) <= WORTH * n else None
    _, first, kind = np.unique(table.keys(counted), return_index=True, return_inverse=True)
    if len(first) > WORTH * n:
        return None
    rows = counted[first]
    total: Array = np.bincount(kind, w[counted]).astype(np.float64)
    return (rows, total) if table.are_equal(counted, rows[kind]) else None


@dataclass(frozen=True, eq=False)
class JoinedRows:
    """The rows of [X, y]."""

    X: NDArray[Any]
    y: Array

    def keys(self, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return a number for each of some rows, equal for equal rows and hardly ever for others."""
        columns = self.X.shape[1] + self.y.shape[1]
        factors = np.random.default_rng(0).integers(1, 2**63, columns, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
        out = np.empty(len(rows), dtype=np.uint64)
        for part in slices_of(len(rows), ROWS_AT_A_TIME):
            bits = self.some(rows[part]).view(np.uint64)
            bits ^= bits >> np.uint64(32)  # a number of few digits has its bits at the upper end, where products lose them
            out[part] = (bits * factors).sum(axis=1, dtype=np.uint64)
        return out

    def are_equal(self, rows: NDArray[np.int64], others: NDArray[np.int64]) -> bool:
        """Return whether rows are equal to others, one by one."""
        parts = slices_of(len(rows), ROWS_AT_A_TIME)
        return all(np.array_equal(self.some(rows[part]), self.some(others[part])) for part in parts)

    def some(self, rows: NDArray[np.int64]) -> Array:
        """Return some rows; no zero in them is negative."""
        return np.ascontiguousarray(np.hstack([self.X[rows], self.y[rows]]), dtype=np.float64) + 0.0
