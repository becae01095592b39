"""Tiles: rows become columns by way of the disk, and memory holds one tile of rows or one block of columns, never all of X.

A tile holds some rows, and is written with its columns one after the other, so that any block of columns is one contiguous
piece of each tile. With tiles of 20 MB and blocks of 64 MB, 20 GB are read in 300,000 pieces of 64 kB, which is hardly slower
than one long read.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


class DenseTiles:
    """Rows of a dense matrix, written by rows and read by columns.

    The file is removed when `stack` closes it.
    """

    def __init__(self, path: Path, p: int, dtype: np.dtype[Any], stack: ExitStack) -> None:
        self.p = p
        self.dtype = dtype
        self.file = scratch_file(path, stack)
        self.rows: list[int] = []

    @property
    def n(self) -> int:
        """Return the number of rows so far."""
        return sum(self.rows)

    @property
    def size(self) -> int:
        """Return the bytes on the disk."""
        return self.n * self.p * self.dtype.itemsize

    def append(self, rows: NDArray[Any]) -> None:
        """Write the next rows as a tile."""
        self.file.write(np.asfortranarray(rows, dtype=self.dtype).T.data)
        self.rows.append(len(rows))

    def pieces(self, first: int, last: int) -> Iterator[NDArray[Any]]:
        """Yield columns first to last - 1 of each tile, from top to bottom."""
        start = 0
        for rows in self.rows:
            yield numbers_at(self.file, start + first * rows * self.dtype.itemsize, rows * (last - first), self.dtype).reshape(
                (rows, last - first), order="F"
            )
            start += rows * self.p * self.dtype.itemsize


class SparseTiles:
    """Rows of a sparse matrix with an unknown number of columns, read as blocks of compressed sparse columns.

    A tile has three parts on the disk: the columns that have entries in it, with the place of each one's first entry; the rows
    of its entries; their values.
    """

    def __init__(self, path: Path, stack: ExitStack) -> None:
        self.file = scratch_file(path, stack)
        self.n = 0
        self.p = 0
        self.size = 0
        self.tiles: list[tuple[int, int, int]] = []  # where a tile begins, its columns and its entries
        self.counts = np.zeros(0, dtype=np.int64)  # entries of each column

    def append(self, matrix: Any) -> None:
        """Write the next rows, a matrix of compressed sparse rows, as a tile; entries that are zero are left out."""
        tile = matrix.tocsc()
        tile.eliminate_zeros()
        counts = np.diff(tile.indptr).astype(np.int64)
        columns = np.flatnonzero(counts).astype(np.int64)
        self.p = max(self.p, tile.shape[1])
        if self.p > len(self.counts):
            self.counts = np.concatenate(
                [self.counts, np.zeros(max(self.p, 2 * len(self.counts)) - len(self.counts), dtype=np.int64)]
            )
        self.counts[columns] += counts[columns]
        places = np.append(tile.indptr[columns], tile.nnz).astype(np.int64)
        self.tiles.append((self.size, len(columns), tile.nnz))
        for part in (columns, places, tile.indices.astype(np.int64) + self.n, tile.data.astype(np.float64)):
            self.file.write(part.data)
            self.size += part.nbytes
        self.n += tile.shape[0]

    @property
    def entries(self) -> int:
        """Return the number of entries in all rows."""
        return int(self.counts.sum())

    def blocks(self, first: int, most: int) -> Iterator[Any]:
        """Yield all columns from `first` on, in blocks of at most `most` entries (or one column)."""
        ends = np.cumsum(self.counts[: self.p])
        while first < self.p:
            before = ends[first - 1] if first else 0
            last = max(first + 1, int(np.searchsorted(ends, before + most, side="right")))
            yield self.block(first, last)
            first = last

    def block(self, first: int, last: int) -> Any:
        """Return columns first to last - 1; tiles are read from top to bottom, so that the rows of a column are sorted."""
        counts = self.counts[first:last]
        indptr = np.append(0, np.cumsum(counts))
        free = indptr[:-1].copy()  # where the next entry of each column goes
        indices = np.empty(indptr[-1], dtype=np.int64)
        data = np.empty(indptr[-1])
        for start, width, entries in self.tiles:
            low, high = self.search(start, width, first), self.search(start, width, last)
            if low == high:
                continue
            columns = numbers_at(self.file, start + 8 * low, high - low, np.dtype(np.int64)) - first
            places = numbers_at(self.file, start + 8 * (width + low), high - low + 1, np.dtype(np.int64))
            lengths = np.diff(places)
            offset = start + 8 * (2 * width + 1 + int(places[0]))
            count = int(places[-1] - places[0])
            to = np.arange(count) + np.repeat(free[columns] - (places[:-1] - places[0]), lengths)
            indices[to] = numbers_at(self.file, offset, count, np.dtype(np.int64))
            data[to] = numbers_at(self.file, offset + 8 * entries, count, np.dtype(np.float64))
            free[columns] += lengths
        return sparse.csc_matrix((data, indices, indptr), shape=(self.n, last - first))

    def search(self, start: int, width: int, column: int) -> int:
        """Return how many of a tile's columns come before this one, by bisection on the disk, since there may be many."""
        low, high = 0, width
        while low < high:
            middle = (low + high) // 2
            if int(numbers_at(self.file, start + 8 * middle, 1, np.dtype(np.int64))[0]) < column:
                low = middle + 1
            else:
                high = middle
        return low


def scratch_file(path: Path, stack: ExitStack) -> IO[bytes]:
    """Open a temporary file without a name, which is removed when it is closed, even if the process is killed."""
    file = stack.enter_context(path.open("wb+"))
    path.unlink()
    return file


def numbers_at(file: IO[bytes], start: int, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Read numbers from some place of a file."""
    file.seek(start)
    values = np.empty(count, dtype=dtype)
    if file.readinto(values.view(np.uint8)) < values.nbytes:  # type: ignore[attr-defined]
        raise OSError(errno.EIO, "a temporary file has lost its end")
    return values
