"""Dense designs: column-major arrays of float64, float32 or int8."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import quoted
from ellzero.base.validation import refuse_masked
from ellzero.design.base import Array, Reader, check_dtype, feature_names, float_dtype, names_at
from ellzero.design.faults import refuse_bad_columns

BLOCK_BYTES = 1 << 24
"""Products are computed over blocks whose float64 copies stay below this size."""


class DenseDesign:
    """A dense matrix whose columns are contiguous."""

    def __init__(self, X: object, names: list[str] | None = None) -> None:
        self.names = names or feature_names(X)
        self.array = column_major(X, self.names)
        self.shape: tuple[int, int] = self.array.shape
        self.filled = np.arange(self.shape[1])  # dense columns always have entries
        self.core = _core.dense(self.array, stride=self.array.strides[1] // self.array.itemsize)

    def __reduce__(self) -> tuple[Any, ...]:
        return DenseDesign, (self.array, self.names)  # the core's view of the array cannot be pickled, and is made again

    @property
    def entries(self) -> int:
        """Return the number of entries."""
        return self.array.size

    def reader(self) -> Reader:
        """Return a function that reads some rows."""
        return lambda rows, columns: self.array[rows] if columns is None else self.array[rows, columns]

    def gram(self, w: Array, threads: int) -> None:
        """Return None: there is a reader."""

    def take(self, columns: NDArray[Any]) -> DenseDesign:
        """Return a copy of some of the columns."""
        return DenseDesign(self.array[:, columns], names_at(self.names, columns))

    def on_rows(self, rows: NDArray[np.int64]) -> DenseDesign:
        """Return a copy of some of the rows."""
        return DenseDesign(np.asfortranarray(self.array[rows]), self.names)

    def stored(self) -> NDArray[Any]:
        """Return the array itself."""
        return self.array

    def matvec(self, columns: NDArray[np.int32], coef: Array) -> Array:
        """Return X[:, columns] @ coef, accumulated in float64."""
        n = self.shape[0]
        out = np.zeros(n)
        block = max(1, BLOCK_BYTES // (8 * max(1, len(columns))))
        for start in range(0, n, block):
            out[start : start + block] = self.array[start : start + block, columns].astype(np.float64) @ coef
        return out

    def rmatvec(self, r: Array) -> Array:
        """Return X.T @ r, accumulated in float64."""
        p = self.shape[1]
        out = np.empty(p)
        block = max(1, BLOCK_BYTES // (8 * max(1, self.shape[0])))
        for start in range(0, p, block):
            out[start : start + block] = self.array[:, start : start + block].T.astype(np.float64, copy=False) @ r
        return out


def held_dtype(dtype: np.dtype[Any]) -> type[np.float64] | type[np.float32] | type[np.int8]:
    """Return the type in which dense data of this type is held; int8 and truth values keep one byte an entry."""
    return np.int8 if dtype.type in (np.int8, np.bool_) else float_dtype(dtype)


def column_major(X: object, names: list[str] | None = None) -> NDArray[Any]:
    """Return X as an array with contiguous columns; it is copied only where the type or the order demands it."""
    refuse_masked("X", X)
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise InvalidInputError(f"X must be a two-dimensional array: {error}.") from None
    if array.ndim == 0:
        kinds = "an array, a data frame, a sparse matrix or a store"
        raise InvalidInputError(f"X must have two dimensions: {kinds}, got {quoted(X)}.")
    if array.ndim != 2:
        hint = "; X.reshape(-1, 1) makes it one column" if array.ndim == 1 else ""
        raise InvalidInputError(f"X must have two dimensions, got {array.ndim}{hint}.")
    if array.dtype == object:
        try:
            array = array.astype(np.float64, order="F")
        except (TypeError, ValueError):
            refuse_bad_columns(array, names)
            raise InvalidInputError(f"X must hold real numbers, got entries of type {array.dtype}.") from None
    check_dtype(array.dtype)
    dtype = np.dtype(held_dtype(array.dtype))
    if array.dtype == np.bool_:
        array = array.view(np.int8)
    usable = (
        array.dtype == dtype
        and array.flags.aligned
        and (array.shape[0] <= 1 or array.strides[0] == array.itemsize)
        and array.strides[1] % array.itemsize == 0
    )
    return array if usable else np.asfortranarray(array, dtype=dtype)
