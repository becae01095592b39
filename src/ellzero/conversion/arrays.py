"""Readers of NumPy's files: .npy (X alone) and .npz (X with other arrays, or a sparse matrix of scipy)."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.base.reading import Archive, Malformed, NpyHeader, check_shape, open_file, read_array, read_header
from ellzero.conversion.checking import checked_target
from ellzero.conversion.content import DenseContent, Report, SparseContent, narrowest
from ellzero.conversion.plan import Plan
from ellzero.conversion.transposing import DenseTiles
from ellzero.tables.arrays import check_is_matrix, named_vector, open_archive
from ellzero.tables.sparse_archive import is_sparse, read_sparse
from ellzero.tables.streams import readable

REFUSED = ("target_file", "drop", "separator", "missing", "drop_unlabelled")


def array_of_npy(plan: Plan, folder: Path, stack: ExitStack, report: Report) -> DenseContent:
    """Read a matrix; its target is another .npy file."""
    plan.refuse(*REFUSED)
    y = [vector(plan, name, {}, read_array) for name in plan.targets]
    with readable(plan.shown, "an array"):
        file = stack.enter_context(open_file(plan.source))
        size = os.fstat(file.fileno()).st_size
        header = read_header(file)
        if size != header.length + header.nbytes:
            raise Malformed(f"it has {size} bytes, its header promises {header.length + header.nbytes}")
        check_matrix(plan, header, size)
    return matrix(plan, file, header, y, folder, stack, report)


def array_of_npz(plan: Plan, folder: Path, stack: ExitStack, report: Report) -> DenseContent | SparseContent:
    """Read the array X, with y or the array or .npy file that `target` names; a sparse matrix is read as a whole."""
    plan.refuse(*REFUSED)
    with readable(plan.shown, "npz"):
        archive = open_archive(stack.enter_context(open_file(plan.source)), plan.shown, stack)
        names = plan.targets or [name for name in ("y",) if name in archive.members]
        y = [vector(plan, name, archive.members, archive.read) for name in names]
        if is_sparse(archive):
            plan.refuse("impute")
            return sparse_matrix(plan, archive, y)
        file, header = archive.open("X")
        check_matrix(plan, header, archive.size)
    return matrix(plan, file, header, y, folder, stack, report)


def vector(plan: Plan, name: str, held: Collection[str], read: Callable[[str], NDArray[Any]]) -> NDArray[Any]:
    """Return the target, as numbers for a regression."""
    values = named_vector(name, held, read, plan.shown, "target")
    if plan.regression and values.dtype.kind not in "fiub":
        raise InvalidInputError(f"target {name!r} must hold numbers, got type {values.dtype}.")
    return values.astype(np.float64) if plan.regression else values


def matrix(
    plan: Plan,
    file: IO[bytes],
    header: NpyHeader,
    labels: list[NDArray[Any]],
    folder: Path,
    stack: ExitStack,
    report: Report,
) -> DenseContent:
    """Return X from its file: columns are read as they come, rows are first written to tiles on the disk."""
    (n, p), by_columns, dtype = header.shape, header.fortran, header.dtype
    native = dtype.newbyteorder("=")
    y = next((checked_target(values, n) for values in labels), None)  # checked before X is read

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
    check_is_matrix(header.shape, header.dtype, plan.shown)
    check_shape((header.shape[0], header.shape[1]), size)


def sparse_matrix(plan: Plan, archive: Archive, labels: list[NDArray[Any]]) -> SparseContent:
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

    return SparseContent(
        source=plan.shown, n=n, p=p, names=None, y=next(iter(labels), None), target=plan.target, entries=X.nnz, blocks=blocks
    )
