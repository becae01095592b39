"""Readers of NumPy's files: .npy (X alone) and .npz (X with other arrays, or a sparse matrix of scipy)."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import quoted
from ellzero.base.reading import Archive, Malformed, NpyHeader, check_shape, open_file, read_array, read_header
from ellzero.conversion.checking import checked_target
from ellzero.conversion.content import DenseContent, Report, SparseContent, narrowest
from ellzero.conversion.plan import Plan
from ellzero.conversion.transposing import DenseTiles
from ellzero.tables.sparse_archive import is_sparse, read_sparse

__all__ = ["read_npy", "read_npz"]

REFUSED = ("target_file", "drop", "separator", "missing", "drop_unlabelled")


def read_npy(plan: Plan, folder: Path, stack: ExitStack, report: Report) -> DenseContent:
    """Read a matrix; its target is another .npy file."""
    plan.refuse(*REFUSED)
    y = None if plan.target is None else vector_file(plan.target, plan)
    with explained(plan, "an array"):
        file = stack.enter_context(open_file(plan.source))
        size = os.fstat(file.fileno()).st_size
        header = read_header(file)
        if size != header.length + header.nbytes:
            raise Malformed(f"it has {size} bytes, its header promises {header.length + header.nbytes}")
        check_matrix(plan, header, size)
    return matrix(plan, file, header, y, folder, stack, report)


def read_npz(plan: Plan, folder: Path, stack: ExitStack, report: Report) -> DenseContent | SparseContent:
    """Read the array X, with y or the array or .npy file that `target` names; a sparse matrix is read as a whole."""
    plan.refuse(*REFUSED)
    with explained(plan, "npz"):
        archive = stack.enter_context(Archive(stack.enter_context(open_file(plan.source))))
        y = archive_target(plan, archive)
        if "X" in archive.members:
            file, header = archive.open("X")
            check_matrix(plan, header, archive.size)
            return matrix(plan, file, header, y, folder, stack, report)
        if not is_sparse(archive):
            raise InvalidInputError(f"{plan.shown} has no array X; it has {archive.listed()}.")
        plan.refuse("impute")
        return sparse_matrix(plan, archive, y)


@contextmanager
def explained(plan: Plan, what: str) -> Iterator[None]:
    """Turn `Malformed` inside a `with` block into a sentence about the file."""
    try:
        yield
    except Malformed as error:
        raise InvalidInputError(f"{plan.shown} cannot be read as {what}: {error}.") from None


def archive_target(plan: Plan, archive: Archive) -> NDArray[Any] | None:
    """Return the target from the archive, or from a file of its own."""
    name = plan.target or ("y" if "y" in archive.members else None)
    if name is None:
        return None
    if name in archive.members:
        return vector(archive.read(name), name, plan)
    if name.endswith(".npy"):
        return vector_file(name, plan)
    has = archive.listed()
    raise InvalidInputError(f"target: {plan.shown} has no array {name!r}, it has {has}; name one, or a .npy file.")


def vector_file(name: str, plan: Plan) -> NDArray[Any]:
    """Read a target from a .npy file."""
    try:
        return vector(read_array(name), name, plan)
    except Malformed as error:
        raise InvalidInputError(f"target: {name} cannot be read as an array: {error}.") from None


def vector(values: NDArray[Any], name: str, plan: Plan) -> NDArray[Any]:
    """Return a target as a vector of numbers or strings."""
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.ndim != 1:
        raise InvalidInputError(f"target: {name!r} must be a vector, got shape {values.shape}.")
    if plan.regression and values.dtype.kind not in "fiub":
        raise InvalidInputError(f"target {name!r} must hold numbers, got type {values.dtype}.")
    if values.dtype.kind == "S":
        try:
            values = values.astype(str)
        except UnicodeDecodeError:
            raise InvalidInputError(f"target {name!r} holds bytes that are no plain text; save strings.") from None
    return values.astype(np.float64) if plan.regression else values


def matrix(
    plan: Plan,
    file: IO[bytes],
    header: NpyHeader,
    y: NDArray[Any] | None,
    folder: Path,
    stack: ExitStack,
    report: Report,
) -> DenseContent:
    """Return X from its file: columns are read as they come, rows are first written to tiles on the disk."""
    (n, p), by_columns, dtype = header.shape, header.fortran, header.dtype
    native = dtype.newbyteorder("=")
    y = None if y is None else checked_target(y, n)  # before X is read

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
        if shutil.disk_usage(folder).free < header.nbytes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # the folder replaces it by a sentence
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


def check_matrix(plan: Plan, header: NpyHeader, size: int) -> None:
    """Check that a file of this size can hold the matrix that a header describes."""
    shape, dtype = header.shape, header.dtype
    if len(shape) != 2 or dtype.kind not in "fiub" or dtype.itemsize > 8:
        raise InvalidInputError(f"{plan.shown} must hold a matrix of numbers, got shape {quoted(shape)} of type {dtype}.")
    if not shape[0] or not shape[1]:
        raise InvalidInputError(f"{plan.shown} has no {'columns' if shape[0] else 'rows'}.")
    check_shape((shape[0], shape[1]), size)


def sparse_matrix(plan: Plan, archive: Archive, y: NDArray[Any] | None) -> SparseContent:
    """Read a matrix that scipy.sparse.save_npz wrote."""
    X = sparse.csc_matrix(read_sparse(archive))
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
