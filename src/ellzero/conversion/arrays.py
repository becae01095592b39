"""Readers of NumPy's files: .npy (X alone) and .npz (X with other arrays, or a sparse matrix of scipy)."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.imports import whole_imports
from ellzero.conversion.content import DenseContent, Report, SparseContent, narrowest
from ellzero.conversion.plan import Plan
from ellzero.conversion.transposing import DenseTiles
from ellzero.design.column_files import read_header

__all__ = ["read_npy", "read_npz"]

REFUSED = ("target_file", "drop", "separator", "missing", "drop_unlabelled")


def read_npy(plan: Plan, folder: Path, stack: ExitStack, report: Report) -> DenseContent:
    """Read a matrix; its target is another .npy file."""
    plan.refuse(*REFUSED)
    y = None if plan.target is None else vector_file(plan.target, plan)
    return matrix(plan, stack.enter_context(open(plan.source, "rb")), y, folder, stack, report)


def read_npz(plan: Plan, folder: Path, stack: ExitStack, report: Report) -> DenseContent | SparseContent:
    """Read the array X, with y or the array or .npy file that `target` names; a sparse matrix is read as a whole."""
    plan.refuse(*REFUSED)
    try:
        archive = stack.enter_context(zipfile.ZipFile(plan.source))
    except zipfile.BadZipFile:
        raise InvalidInputError(f"{plan.shown} cannot be read as npz: it is no archive of arrays.") from None
    names = [name.removesuffix(".npy") for name in archive.namelist()]
    y = archive_target(plan, names)
    if "X" in names:
        return matrix(plan, stack.enter_context(archive.open("X.npy")), y, folder, stack, report)
    if "format" not in names:
        raise InvalidInputError(f"{plan.shown} has no array X; it has {', '.join(names) or 'none'}.")
    plan.refuse("impute")
    return sparse_matrix(plan, y)


def archive_target(plan: Plan, names: list[str]) -> NDArray[Any] | None:
    """Return the target from the archive, or from a file of its own."""
    name = plan.target or ("y" if "y" in names else None)
    if name is None:
        return None
    if name not in names:
        if name.endswith(".npy"):
            return vector_file(name, plan)
        has = ", ".join(names)
        raise InvalidInputError(f"target: {plan.shown} has no array {name!r}, it has {has}; name one, or a .npy file.")
    try:
        with np.load(plan.source, allow_pickle=False) as arrays:
            return vector(arrays[name], name, plan)
    except ValueError:
        raise InvalidInputError(f"target: {name!r} of {plan.shown} cannot be read; save numbers or strings.") from None


def vector_file(name: str, plan: Plan) -> NDArray[Any]:
    """Read a target from a .npy file."""
    try:
        return vector(np.load(name, allow_pickle=False), name, plan)
    except ValueError as error:
        if isinstance(error, InvalidInputError):
            raise
        raise InvalidInputError(f"target: {name} cannot be read as an array: {error}.") from None


def vector(values: NDArray[Any], name: str, plan: Plan) -> NDArray[Any]:
    """Return a target as a vector of numbers or strings."""
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.ndim != 1:
        raise InvalidInputError(f"target: {name!r} must be a vector, got shape {values.shape}.")
    if plan.regression and values.dtype.kind not in "fiub":
        raise InvalidInputError(f"target {name!r} must hold numbers, got type {values.dtype}.")
    values = values.astype(str) if values.dtype.kind == "S" else values
    return values.astype(np.float64) if plan.regression else values


def matrix(plan: Plan, file: IO[bytes], y: NDArray[Any] | None, folder: Path, stack: ExitStack, report: Report) -> DenseContent:
    """Return X from its file: columns are read as they come, rows are first written to tiles on the disk."""
    shape, by_columns, dtype = header(file, plan)
    n, p = shape
    native = dtype.newbyteorder("=")

    def read(rows: int, columns: int, order: Any) -> NDArray[Any]:
        data = file.read(rows * columns * dtype.itemsize)
        if len(data) < rows * columns * dtype.itemsize:
            raise InvalidInputError(f"{plan.shown} ends before its last number.")
        return np.frombuffer(data, dtype=dtype).astype(native, copy=False).reshape((rows, columns), order=order)

    def columns(first: int, last: int) -> Iterator[NDArray[Any]]:
        if last - first > 1:
            yield read(n, last - first, "F")
            return
        step = max(1, plan.memory // (4 * dtype.itemsize))
        for start in range(0, n, step):
            yield read(min(step, n - start), 1, "F")

    pieces, scratch_bytes = columns, 0
    if not by_columns:
        tiles = DenseTiles(folder / "rows", p, native, stack)
        step = max(1, plan.memory // (4 * dtype.itemsize * p))
        for start in range(0, n, step):
            tiles.append(read(min(step, n - start), p, "C"))
            report(min(1.0, (start + step) / n))
        pieces, scratch_bytes = tiles.pieces, tiles.size
    return DenseContent(
        source=plan.shown,
        n=n,
        p=p,
        names=None,
        y=y,
        target=plan.target,
        scratch_bytes=scratch_bytes,
        dtype=narrowest([native]),
        pieces=pieces,
    )


def header(file: IO[bytes], plan: Plan) -> tuple[tuple[int, int], bool, np.dtype[Any]]:
    """Read the shape, order and type of the matrix that follows in the file."""
    try:
        shape, by_columns, dtype = read_header(file)
    except ValueError as error:
        raise InvalidInputError(f"{plan.shown} cannot be read as an array: {error}.") from None
    if len(shape) != 2 or dtype.kind not in "fiub" or dtype.itemsize > 8:
        raise InvalidInputError(f"{plan.shown} must hold a matrix of numbers, got shape {shape} of type {dtype}.")
    if not shape[0] or not shape[1]:
        raise InvalidInputError(f"{plan.shown} has no {'columns' if shape[0] else 'rows'}.")
    return shape, by_columns, dtype


def sparse_matrix(plan: Plan, y: NDArray[Any] | None) -> SparseContent:
    """Read a matrix that scipy.sparse.save_npz wrote."""
    with whole_imports():
        from scipy import sparse

    try:
        X = sparse.csc_matrix(sparse.load_npz(plan.source))
    except (ValueError, KeyError) as error:
        raise InvalidInputError(f"{plan.shown} cannot be read as a sparse matrix: {error}.") from None
    X.sum_duplicates()
    n, p = X.shape
    ends = X.indptr[1:]

    def blocks(most: int) -> Iterator[Any]:
        first = 0
        while first < p:
            last = max(first + 1, int(np.searchsorted(ends, X.indptr[first] + most, side="right")))
            yield X[:, first:last]
            first = last

    return SparseContent(source=plan.shown, n=n, p=p, names=None, y=y, target=plan.target, entries=X.nnz, blocks=blocks)
