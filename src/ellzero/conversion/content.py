"""The content of a data file, as every reader returns it, and its way into a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.conversion.checking import Contents
from ellzero.conversion.folder import NewFolder
from ellzero.conversion.store_files import DenseFiles, SparseFiles

Report = Callable[[float], None]
"""A function that is told the fraction that is done."""

COPIES = 6  # copies of a block in memory: two of the reader, one of whole columns, one in the stored type, and masks
EXACT_IN_FLOAT32 = (np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.float16, np.float32)


@dataclass(frozen=True, kw_only=True)
class Content:
    """Description of a source.

    `dtype` is the narrowest type that holds what the source can hold, `scratch_bytes` the size of the temporary files that the
    reader keeps meanwhile.
    """

    source: str
    n: int
    p: int
    names: Sequence[str] | None
    y: NDArray[Any] | None
    target: str | None
    dtype: str = "float64"
    scratch_bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class DenseContent(Content):
    """Content as dense columns.

    Attributes
    ----------
    pieces : (first, last) -> these columns in pieces of some rows, from top to bottom; called in order, once for each column
    missing : the number that means a missing value, None for NaN

    """

    pieces: Callable[[int, int], Iterator[NDArray[Any]]]
    missing: int | None = None


@dataclass(frozen=True, kw_only=True)
class SparseContent(Content):
    """Content as compressed sparse columns; `blocks(most)` yields blocks of at most `most` entries (or one column)."""

    entries: int
    blocks: Callable[[int], Iterator[Any]]


def narrowest(types: Sequence[np.dtype[Any]]) -> str:
    """Return the name of the stored type that loses nothing of numbers of these types."""
    kinds = {dtype.type for dtype in types}
    if kinds <= {np.bool_, np.int8}:
        return "int8"
    return "float32" if kinds <= set(EXACT_IN_FLOAT32) else "float64"


def part_report(report: Report, start: float, end: float) -> Report:
    """Return a function that reports the progress of one part of the work, which goes from `start` to `end` of the whole."""
    return lambda fraction: report(start + (end - start) * fraction)


def store_dense(
    content: DenseContent, folder: NewFolder, contents: Contents, memory: int, impute: str | None, report: Report
) -> None:
    """Write the columns, as many at a time as memory allows."""
    folder.expect(DenseFiles.size(contents), content.scratch_bytes)
    with closing(DenseFiles(folder.path, contents)) as files:
        column_bytes = COPIES * 8 * contents.n
        width = max(1, memory // column_bytes)
        by_pieces = memory < column_bytes and impute is None and content.missing is None
        for first in range(0, contents.p, width):
            last = min(first + width, contents.p)
            if by_pieces:
                for piece in content.pieces(first, last):
                    files.append_piece(piece)
            else:
                block = whole_columns(content, first, last)
                files.append(with_missing_filled(block, content, contents, first, impute))
            report(last / contents.p)
        files.finish()


def whole_columns(content: DenseContent, first: int, last: int) -> NDArray[Any]:
    """Return the columns first to last - 1, joined from their pieces."""
    pieces = content.pieces(first, last)
    start = next(pieces)
    if len(start) == content.n:
        return start
    block = np.empty((content.n, last - first), dtype=start.dtype, order="F")
    row = len(start)
    block[:row] = start
    for piece in pieces:
        block[row : row + len(piece)] = piece
        row += len(piece)
    return block


def with_missing_filled(
    block: NDArray[Any], content: DenseContent, contents: Contents, first: int, impute: str | None
) -> NDArray[Any]:
    """Return the block with missing values filled by a number of their column; without `impute` they are an error."""
    absent = np.isnan(block) if content.missing is None and block.dtype.kind == "f" else block == content.missing
    if not np.any(absent):
        return block
    columns = np.flatnonzero(absent.any(axis=0))
    if impute is None:
        j = int(columns[0])
        refuse_gap(content.source, contents.label(first + j), int(np.argmax(absent[:, j])))
    block = block.copy(order="F")
    for j in columns.tolist():
        known = block[~absent[:, j], j]
        if not len(known):
            raise InvalidInputError(f"{contents.label(first + j)} of {content.source} has no values at all; leave it out.")
        value = fill_value(known, impute)
        if block.dtype.kind == "i" and value != int(value):
            raise InvalidInputError(
                f"{contents.label(first + j)} of {content.source} has the {impute} {value:g}, which {block.dtype.name} "
                "cannot hold; fill with the mode, or use dtype float32."
            )
        block[absent[:, j], j] = value
    return block


def refuse_gap(source: str, column: str, row: int) -> NoReturn:
    """Raise an error that names a column with missing values, and the first row that has one."""
    raise InvalidInputError(
        f"{column} of {source} has missing values, the first in row {row + 1}; fill them with impute (median, mean or mode), "
        "or drop the column."
    )


def fill_value(known: NDArray[Any], impute: str | None) -> float:
    """Return the number that fills the missing values of a column; of several modes the least."""
    if impute == "median":
        return float(np.median(known))
    if impute == "mean":
        return float(np.mean(known, dtype=np.float64))
    values, counts = np.unique(known, return_counts=True)
    return float(values[np.argmax(counts)])


def store_sparse(content: SparseContent, folder: NewFolder, contents: Contents, memory: int, report: Report) -> None:
    """Write the columns, as many at a time as memory allows."""
    folder.expect(SparseFiles.size(contents, content.entries), content.scratch_bytes)
    with closing(SparseFiles(folder.path, contents)) as files:
        for block in content.blocks(max(1, memory // (8 * 8))):  # an entry takes up to eight numbers of 8 bytes on its way
            files.append(block)
            report(files.done / contents.p)
        files.finish()
