"""One small problem in every storage that X may have."""

from __future__ import annotations

import atexit
import importlib.util
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import ellzero as ez
from benchmarks.fingerprint.problems import response

__all__ = ["SLOW", "distant", "storages"]

ROWS, COLUMNS, BLOCK = 100, 30, 7
SLOW = ("Dask", "Dask sparse")  # every read of X is a graph of tasks
Problem = tuple[Any, NDArray[Any]]


@lru_cache
def folder() -> Path:
    """A folder for files, which is removed when the program ends."""
    made = tempfile.TemporaryDirectory()
    atexit.register(made.cleanup)
    return Path(made.name)


@lru_cache
def storages(regression: bool) -> dict[str, Problem]:
    """X and y by the name of the storage."""
    X, labels, coef = ez.datasets.make_classification(
        ROWS, COLUMNS, 4, s=1.5, correlation="exponential", rho=0.5, random_state=4
    )
    y: NDArray[Any] = response(X, coef, 4) if regression else labels
    few = np.where(np.abs(X) > 1.0, X, 0.0)  # a third of the entries
    whole = np.clip(np.rint(2.0 * X), -128, 127).astype(np.int8)
    home = folder() / ("numbers" if regression else "labels")
    home.mkdir()
    found = {**dense(X), **integers(whole), **thin(few), **on_disk(X, whole, few, home), **of_others(X, few, home)}
    return {name: (held, y) for name, held in found.items()}


def distant(name: str) -> bool:
    """Whether a storage is read in passes, because X is not in memory."""
    return name in ("HDF5", *SLOW) or "store" in name or "converted" in name


def dense(X: NDArray[np.float64]) -> dict[str, Any]:
    wide = np.zeros((ROWS, 2 * COLUMNS), order="F")
    wide[:, ::2] = X
    return {
        "float64 F": np.asfortranarray(X),
        "float64 C": np.ascontiguousarray(X),
        "float64 with strides": wide[:, ::2],
        "float32 F": np.asfortranarray(X, dtype=np.float32),
        "float32 C": np.ascontiguousarray(X, dtype=np.float32),
    }


def integers(whole: NDArray[np.int8]) -> dict[str, Any]:
    return {
        "int8 F": np.asfortranarray(whole),
        "int8 C": np.ascontiguousarray(whole),
        "int64": np.asfortranarray(whole, dtype=np.int64),
        "bool": np.asfortranarray(whole > 0),
    }


def thin(few: NDArray[np.float64]) -> dict[str, Any]:
    columns = sparse.csc_matrix(few)
    empty = few.copy()
    empty[:, COLUMNS // 3 :] = 0.0  # columns without entries, which the solvers leave out
    long = sparse.csc_matrix(few)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    return {
        "CSC": columns,
        "CSC float32": columns.astype(np.float32),
        "CSC array": sparse.csc_array(few),
        "CSC with long indices": long,
        "CSC with empty columns": sparse.csc_matrix(empty),
        "CSR": sparse.csr_matrix(few),
        "COO": sparse.coo_matrix(few),
    }


def blocks(X: Any) -> Iterator[Any]:
    return (X[:, start : start + BLOCK] for start in range(0, COLUMNS, BLOCK))


def on_disk(X: NDArray[np.float64], whole: NDArray[np.int8], few: NDArray[np.float64], home: Path) -> dict[str, Any]:
    """Memory-mapped arrays, and column stores from every writer."""
    np.save(home / "X.npy", np.asfortranarray(X))
    np.savez(home / "dense.npz", X=X)
    sparse.save_npz(home / "sparse.npz", sparse.csc_matrix(few))
    np.savetxt(home / "X.csv", X, delimiter=",", header=",".join(f"c{j}" for j in range(COLUMNS)), comments="", fmt="%.17g")
    for name, held in (("float64", X), ("float32", X), ("int8", whole)):
        with ez.ColumnWriter(home / f"{name}.columns", ROWS, COLUMNS, dtype=name) as writer:
            for block in blocks(held):
                writer.append(block)
    with ez.SparseColumnWriter(home / "sparse.columns", ROWS, COLUMNS, dtype="float64") as writer:
        for block in blocks(sparse.csc_matrix(few)):
            writer.append(block)
    for source, out in (("dense.npz", "dense"), ("sparse.npz", "thin"), ("X.csv", "csv")):
        ez.convert(home / source, home / f"converted_{out}.columns")

    def opened(name: str) -> Any:
        return ez.open_columns(home / name, threads=1)

    return {
        "memmap": np.load(home / "X.npy", mmap_mode="r"),
        "npy store": opened("X.npy"),
        "store float64": opened("float64.columns"),
        "store float32": opened("float32.columns"),
        "store int8": opened("int8.columns"),
        "store sparse": opened("sparse.columns"),
        "converted npz": opened("converted_dense.columns"),
        "converted sparse npz": opened("converted_thin.columns"),
        "converted csv": opened("converted_csv.columns"),
    }


def of_others(X: NDArray[np.float64], few: NDArray[np.float64], home: Path) -> dict[str, Any]:
    """Arrays of other libraries, where these are installed."""
    out: dict[str, Any] = {}
    if importlib.util.find_spec("pandas"):
        import pandas as pd

        out["data frame"] = pd.DataFrame(X, columns=[f"c{j}" for j in range(COLUMNS)])
    if importlib.util.find_spec("h5py"):
        import h5py

        file = h5py.File(home / "X.h5", "w")
        out["HDF5"] = file.create_dataset("X", data=X, chunks=(ROWS, BLOCK))
    if importlib.util.find_spec("dask"):
        import dask
        import dask.array as da

        dask.config.set(scheduler="synchronous")
        out["Dask"] = da.from_array(X, chunks=(ROWS // 2, COLUMNS // 2))
        out["Dask sparse"] = da.from_array(few, chunks=(ROWS // 2, COLUMNS // 2)).map_blocks(sparse.csc_matrix)
    return out
