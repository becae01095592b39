"""Sparse designs: compressed sparse columns, float64 or float32, 32- or 64-bit indices."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero import _core
from ellzero.base.errors import InvalidInputError
from ellzero.design.base import Array, Reader, check_dtype, float_dtype, names_at

SPARSE = 0.1  # with a smaller share of entries, sparse products take less time than those of dense blocks
MOST_FILLED = 0.75  # with more columns than this share in use, leaving out the others saves little


class CscDesign:
    """A sparse matrix stored by columns; it is never made dense."""

    def __init__(self, X: Any, names: list[str] | None = None) -> None:
        if X.ndim != 2:
            raise InvalidInputError(f"X must have two dimensions, got {X.ndim}.")
        check_dtype(X.dtype)
        self.names = names
        # Before duplicates are summed, where small integers would overflow.
        matrix = checked_matrix(X.astype(float_dtype(X.dtype), copy=False).tocsc())
        self.matrix = matrix
        self.shape: tuple[int, int] = matrix.shape
        self.core = _core.csc(matrix.data, matrix.indices, matrix.indptr, rows=matrix.shape[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return CscDesign, (self.matrix, self.names)  # the core's view of the arrays cannot be pickled, and is made again

    @cached_property
    def filled(self) -> NDArray[np.int64]:
        """Return the columns that have entries, or all if nearly all have."""
        columns = np.flatnonzero(np.diff(self.matrix.indptr))
        return columns if len(columns) < MOST_FILLED * self.shape[1] else np.arange(self.shape[1])

    @property
    def entries(self) -> int:
        """Return the number of stored entries."""
        return int(self.matrix.nnz)

    def reader(self) -> Reader | None:
        """Return a function that reads some rows, None if most of them is empty."""
        if self.entries < SPARSE * self.shape[0] * self.shape[1]:
            return None
        by_rows = self.matrix.tocsr()
        return lambda rows, columns: (by_rows[rows] if columns is None else by_rows[rows][:, columns]).toarray()

    def gram(self, w: Array, threads: int) -> Array:
        """Return X.T @ diag(w) @ X in float64."""
        weighted = self.matrix.data * w[self.matrix.indices]  # float64, as w is
        matrix = sparse.csc_matrix((weighted, self.matrix.indices, self.matrix.indptr), shape=self.shape, copy=False)
        return np.asarray((self.matrix.T @ matrix).toarray(), dtype=np.float64)

    def take(self, columns: NDArray[Any]) -> CscDesign:
        """Return a design of some columns (ascending); where only empty columns are left out, the entries are not copied."""
        names = names_at(self.names, columns)
        if np.diff(self.matrix.indptr)[columns].sum() < self.matrix.nnz:
            return CscDesign(self.matrix[:, columns], names)
        indptr = np.append(self.matrix.indptr[columns], self.matrix.indptr[-1:])
        arrays = (self.matrix.data, self.matrix.indices, indptr)
        return CscDesign(sparse.csc_matrix(arrays, shape=(self.shape[0], len(columns)), copy=False), names)

    def on_rows(self, rows: NDArray[np.int64]) -> CscDesign:
        """Return a copy of some of the rows."""
        return CscDesign(self.matrix[rows], self.names)

    def stored(self) -> Any:
        """Return the matrix itself."""
        return self.matrix

    def matvec(self, columns: NDArray[np.int32], coef: Array) -> Array:
        """Return X[:, columns] @ coef in float64."""
        # Without scipy: its slice of a few columns takes longer than their product.
        starts, lengths = self.matrix.indptr[columns], np.diff(self.matrix.indptr)[columns]
        ends = np.cumsum(lengths)
        entries = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)
        values = self.matrix.data[entries].astype(np.float64) * np.repeat(coef, lengths)
        return np.asarray(np.bincount(self.matrix.indices[entries], weights=values, minlength=self.shape[0]), dtype=np.float64)

    def rmatvec(self, r: Array) -> Array:
        """Return X.T @ r in float64."""
        return np.asarray(self.matrix.T @ r, dtype=np.float64)


def checked_matrix(matrix: Any) -> Any:
    """Return the matrix with indices that the core can trust, and no entry stored twice."""
    n, p = matrix.shape
    indptr, indices = matrix.indptr, matrix.indices
    if len(indptr) != p + 1 or indptr[0] != 0 or np.any(np.diff(indptr) < 0) or indptr[-1] > len(indices):
        raise InvalidInputError("X has a malformed index pointer array (indptr).")
    used = indices[: indptr[-1]]
    if used.size and (used.min() < 0 or used.max() >= n):
        raise InvalidInputError(f"X has row indices outside 0..{n - 1}.")
    if len(matrix.data) < indptr[-1]:
        raise InvalidInputError("X has fewer stored values than its index pointer array says.")
    matrix = sparse.csc_matrix((matrix.data, indices, indptr), shape=matrix.shape, copy=False)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix
