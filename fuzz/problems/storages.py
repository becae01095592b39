"""The storages of X: arrays in memory of any order and type, sparse matrices, files, and arrays of other libraries."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import ellzero as ez
from fuzz.problems.problem import Array, Problem

__all__ = ["STORAGES", "as_frame", "draw_storage", "fitting", "stored"]

Generator = np.random.Generator
SHARES = {
    "rows": 20,  # C order
    "columns": 20,  # Fortran order
    "single": 12,  # float32
    "csc": 15,
    "csr": 8,
    "csc single": 5,
    "strided": 3,
    "frame": 2,
    "memory map": 3,
    "store": 5,  # a column store
    "store single": 2,
    "store sparse": 3,
    "hdf5": 1,
    "zarr": 1,
    "dask": 1,
}
STORAGES = tuple(SHARES)
NEEDS = {"frame": "pandas", "hdf5": "h5py", "zarr": "zarr", "dask": "dask"}


def draw_storage(rng: Generator) -> str:
    """Return the name of a storage; common ones are drawn more often."""
    share = np.array(list(SHARES.values()), dtype=np.float64)
    return str(rng.choice(STORAGES, p=share / share.sum()))


def fitting(problem: Problem, storage: str) -> tuple[Problem, str]:
    """Return a problem whose numbers the storage can hold, and the storage; another one if it cannot be had here."""
    if storage in NEEDS and importlib.util.find_spec(NEEDS[storage]) is None:
        return problem, "columns"
    if "single" not in storage:
        return problem, storage
    with np.errstate(over="ignore", under="ignore"):
        X = problem.X.astype(np.float32).astype(np.float64)
    if not np.isfinite(X).all() or ((X == 0.0) != (problem.X == 0.0)).any():
        return problem, "csc" if "csc" in storage else "columns"
    return replace(problem, X=X), storage


@contextmanager
def stored(X: Array, storage: str, chunk: int = 3) -> Iterator[Any]:
    """Yield X in a storage; files are removed afterwards. `chunk` is the width of a chunk or block of columns."""
    if storage in IN_MEMORY:
        yield IN_MEMORY[storage](X)
        return
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        yield from on_disk(X, storage, chunk, Path(folder))


def on_disk(X: Array, storage: str, chunk: int, folder: Path) -> Iterator[Any]:
    """Yield X in a file, opened."""
    n, p = X.shape
    if storage == "memory map":
        mapped = np.memmap(folder / "X.bin", dtype=np.float64, mode="w+", shape=X.shape, order="F")
        mapped[:] = X
        yield mapped
    elif storage.startswith("store"):
        yield column_store(X, storage, chunk, folder / "X.columns")
    elif storage == "hdf5":
        import h5py

        with h5py.File(folder / "X.h5", "w") as file:
            yield file.create_dataset("X", data=X, chunks=(n, min(chunk, p)))
    elif storage == "zarr":
        import zarr

        array: Any = zarr.open(str(folder / "X.zarr"), mode="w", shape=X.shape, chunks=(n, min(chunk, p)), dtype="f8")
        array[:] = X
        yield array
    elif storage == "dask":
        import dask.array

        yield dask.array.from_array(X, chunks=(max(1, n // 2), min(chunk, p)))
    else:
        raise ValueError(f"no storage is called {storage!r}.")


def column_store(X: Array, storage: str, chunk: int, path: Path) -> Any:
    """Return X as a column store."""
    sparse_store, dtype = storage == "store sparse", "float32" if "single" in storage else "float64"
    writer = ez.SparseColumnWriter if sparse_store else ez.ColumnWriter
    with writer(path, *X.shape, dtype=dtype) as columns:
        for first in range(0, X.shape[1], chunk):
            part = X[:, first : first + chunk].astype(dtype)
            columns.append(sparse.csc_matrix(part) if sparse_store else part)
    return ez.open_columns(path)


def as_frame(X: Array) -> Any:
    """Return X as a data frame with names."""
    import pandas as pd

    return pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])


IN_MEMORY = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "single": lambda X: np.asfortranarray(X.astype(np.float32)),
    "csc": sparse.csc_matrix,
    "csr": sparse.csr_matrix,
    "csc single": lambda X: sparse.csc_matrix(X.astype(np.float32)),
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "frame": as_frame,
}
