"""The interface of a design, and the function that makes a design of any X."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero import _core
from ellzero.base.devices import is_on_device
from ellzero.base.errors import InvalidInputError
from ellzero.base.imports import import_whole, whole_imports

Array = NDArray[np.float64]
Reader = Callable[[slice, NDArray[Any] | None], NDArray[Any]]
"""Returns X[rows, columns] for a slice of rows, and all columns for None; several threads may call it."""

SMALL_INTEGERS = (np.bool_, np.int8, np.uint8, np.int16, np.uint16)


class Design(Protocol):
    """X as the solvers use it: columns that can be multiplied and taken."""

    shape: tuple[int, int]
    core: _core.Design
    names: list[str] | None

    @property
    def filled(self) -> NDArray[np.int64]:
        """Return the columns that have entries, or all where leaving out the others would save little."""

    @property
    def entries(self) -> int:
        """Return the number of entries that a pass over X multiplies."""

    def take(self, columns: NDArray[Any]) -> Design:
        """Return a design of some of the columns."""

    def on_rows(self, rows: NDArray[np.int64]) -> Design:
        """Return a design of some of the rows (ascending) in memory."""

    def reader(self) -> Reader | None:
        """Return a function that reads some rows, None if X cannot be read by rows, or is too sparse for it."""

    def gram(self, w: Array, threads: int) -> Array | None:
        """Return X.T @ diag(w) @ X in float64 of an X without a reader, None if that would take long."""

    def stored(self) -> Any:
        """Return X: an array, a sparse matrix or a store."""

    def matvec(self, columns: NDArray[np.int32], coef: Array) -> Array:
        """Return X[:, columns] @ coef in float64."""

    def rmatvec(self, r: Array) -> Array:
        """Return X.T @ r in float64."""


def slices_of(rows: int, at_a_time: int) -> list[slice]:
    """Return slices of `at_a_time` rows that cover all rows.

    >>> slices_of(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + at_a_time, rows)) for start in range(0, rows, at_a_time)]


def float_dtype(dtype: np.dtype[Any]) -> type[np.float64] | type[np.float32]:
    """Return the type in which data of this type is held: float32 where that loses nothing, else float64."""
    if dtype.type in SMALL_INTEGERS or dtype.type in (np.float16, np.float32):
        return np.float32
    return np.float64


def check_dtype(dtype: np.dtype[Any]) -> None:
    """Raise an error if the type does not hold real numbers."""
    if dtype.kind not in "fiub":
        raise InvalidInputError(f"X must hold real numbers, got dtype {dtype}.")


def feature_names(X: object) -> list[str] | None:
    """Return the column names of a data frame, or None if they are not all strings."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "dtypes"):
        return None
    names = list(columns)
    return names if all(isinstance(name, str) for name in names) else None


def all_names(names: list[str] | None, count: int) -> list[str]:
    """Return the names of all columns: x0, x1 and so on, where columns have none."""
    return [f"x{j}" for j in range(count)] if names is None else names


def names_at(names: list[str] | None, columns: NDArray[Any]) -> list[str] | None:
    """Return the names of some columns, where columns have names."""
    return None if names is None else [names[j] for j in columns]


def is_stored(X: object) -> bool:
    """Return whether X is kept outside memory: in a file, on other machines, or in another library's array on disk."""
    if sparse.issparse(X) or isinstance(X, np.ndarray):
        return False
    with whole_imports("ellzero.design.column_store", "ellzero.design.device_array", "ellzero.design.stored"):
        from ellzero.design.column_store import ColumnStore
        from ellzero.design.device_array import DeviceStore
        from ellzero.design.stored import StoredDesign

    return isinstance(X, (ColumnStore, DeviceStore, StoredDesign)) or is_dask(X) or is_on_device(X) or is_sliced(X)


def is_dask(X: object) -> bool:
    """Return whether X is an array of Dask."""
    return type(X).__module__.startswith("dask.array")


def is_sliced(X: object) -> bool:
    """Return whether X is an array on disk of another library (Zarr, HDF5)."""
    try:
        return not hasattr(X, "__array_interface__") and all(
            hasattr(X, name) for name in ("shape", "dtype", "chunks", "__getitem__")
        )
    except (RuntimeError, ValueError) as error:  # h5py, once the file is closed
        raise InvalidInputError(f"X cannot be read; is its file closed? ({error})") from None


STORES = (
    (is_dask, "dask_array", "DaskStore"),
    (is_on_device, "device_array", "DeviceStore"),
    (is_sliced, "sliced", "SlicedStore"),
)


def as_store(X: Any) -> Any:
    """Return the store of an X that is kept outside memory."""
    for known, module, store in STORES:
        if known(X):
            return getattr(import_whole(f"ellzero.design.{module}"), store)(X)
    return X


def as_design(X: object, names: list[str] | None = None) -> Design:
    """Wrap an array, data frame, sparse matrix or store without copying more than once (see the package's docstring).

    `names` are those of the columns, where X itself does not know them.
    """
    with whole_imports("ellzero.design.csc", "ellzero.design.dense", "ellzero.design.stored"):
        from ellzero.design.csc import CscDesign
        from ellzero.design.dense import DenseDesign
        from ellzero.design.stored import StoredDesign

    if isinstance(X, (CscDesign, DenseDesign, StoredDesign)):
        return X
    if is_stored(X):
        return StoredDesign(as_store(X), names)
    if sparse.issparse(X):
        return CscDesign(X, names)
    if isinstance(X, str | os.PathLike):
        raise InvalidInputError(f"X must be an array or a store, got a path; ez.open_columns({os.fspath(X)!r}) opens a store.")
    return DenseDesign(X, names)
