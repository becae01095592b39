"""Checks of a store's description, and of the numbers that go into it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.validation import as_choice


@dataclass(frozen=True)
class Contents:
    """Description of a store: all that it holds in addition to the numbers of X."""

    n: int
    p: int
    dtype: np.dtype[Any]
    names: Sequence[str] | None = None
    y: NDArray[Any] | None = None
    target: str | None = None

    def label(self, j: int) -> str:
        """Return the name of a column for an error message."""
        return f"column {j}" if self.names is None else f"column {self.names[j]!r}"


def checked_contents(
    n: Any, p: Any, dtype: Any, names: Sequence[str] | None, y: ArrayLike | None, target: str | None, types: tuple[str, ...]
) -> Contents:
    """Return the description of a store, or raise an error that names the argument that cannot be used."""
    for name, value in (("n", n), ("p", p)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise InvalidInputError(f"{name} must be an integer of at least 1, got {value!r}.")
    known = as_choice("dtype", type_name(dtype), types)
    if names is not None:
        names = list(names)
        if len(names) != p or not all(isinstance(name, str) for name in names):
            raise InvalidInputError(f"names must be {p} strings, one for each column.")
        if len(set(names)) < p:
            twice = Counter(names).most_common(1)[0][0]
            raise InvalidInputError(f"names must be different, {twice!r} appears twice.")
    if target is not None and not isinstance(target, str):
        raise InvalidInputError(f"target must be a string, got {target!r}.")
    vector = None if y is None else checked_target(y, int(n))
    return Contents(int(n), int(p), np.dtype(known).newbyteorder("<"), names, vector, target)


def type_name(dtype: Any) -> Any:
    """Return the name of a NumPy type, or what was given if it is not one."""
    try:
        return np.dtype(dtype).name
    except TypeError:
        return dtype


def checked_target(y: ArrayLike, n: int) -> NDArray[Any]:
    """Return a target of numbers or strings in the form in which it is stored."""
    vector = np.asarray(y)
    if vector.dtype == object and all(isinstance(value, str) for value in vector.ravel().tolist()):
        vector = vector.astype(str)
    if vector.shape != (n,):
        raise InvalidInputError(f"y must have shape ({n},), got {vector.shape}.")
    if vector.dtype.kind not in "fiubU":
        raise InvalidInputError(f"y must hold numbers or strings, got type {vector.dtype}.")
    if vector.dtype.kind == "f" and not np.isfinite(vector).all():
        raise InvalidInputError("y contains NaN or infinity.")
    return np.ascontiguousarray(vector, dtype=vector.dtype.newbyteorder("<"))


def in_stored_type(block: NDArray[Any], contents: Contents, first: int = 0, row: int = 0) -> NDArray[Any]:
    """Return a block in the store's type and Fortran order, or raise an error about the first value that does not fit."""
    if block.dtype.kind not in "fiub":
        raise InvalidInputError(f"columns must hold real numbers, got dtype {block.dtype}.")
    dtype = contents.dtype
    with np.errstate(over="ignore", invalid="ignore"):  # such values are found below
        values = np.asfortranarray(block, dtype=dtype)
    if values.dtype == block.dtype and dtype.kind == "i":
        return values
    good = np.isfinite(values) if dtype.kind == "f" else values == block
    if not good.all():
        j = int(np.argmin(good.all(axis=0)))
        i = int(np.argmin(good[:, j]))
        refuse_value(block[i, j], row + i, first + j, contents)
    return values


def canonical_columns(matrix: Any, contents: Contents, first: int) -> Any:
    """Return the matrix in the store's type, its rows sorted, with no entry twice and no zeros."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if matrix.dtype.kind not in "fiub":
        raise InvalidInputError(f"columns must hold real numbers, got dtype {matrix.dtype}.")
    with np.errstate(over="ignore"):
        values = matrix.data.astype(contents.dtype)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        j = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
        refuse_value(matrix.data[bad[0]], int(matrix.indices[bad[0]]), first + j, contents)
    zeros = not values.all()  # tiny numbers may have become zero in the store's type
    matrix = type(matrix)((values, matrix.indices, matrix.indptr), shape=matrix.shape, copy=zeros)
    if zeros:
        matrix.eliminate_zeros()
    return matrix


def refuse_value(value: Any, row: int, column: int, contents: Contents) -> NoReturn:
    """Raise an error that says where a value is and why it cannot be stored."""
    where = contents.label(column)
    if np.isnan(value):
        raise InvalidInputError(f"{where} has a missing value (NaN) in row {row + 1}.")
    if np.isinf(value):
        raise InvalidInputError(f"{where} has an infinite value in row {row + 1}.")
    wider = "float64" if contents.dtype.kind == "f" else "float32 or float64"
    raise InvalidInputError(
        f"{where} has the value {value:g} in row {row + 1}, which {contents.dtype.name} cannot hold; use dtype {wider}."
    )
