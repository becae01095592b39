"""The files of a column store in an existing folder, which become a store when all columns are there."""

from __future__ import annotations

import io
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.conversion.checking import Contents, canonical_columns, in_stored_type
from ellzero.design.column_files import ABOUT, FORMAT, SMALL_FILES, TYPES, VERSION
from ellzero.design.store import BLOCK_BYTES

VECTOR_HEADER = 128
"""Bytes of the header of a vector; they are the same for all lengths, so that the header can be rewritten at the end."""


class Files:
    """The files of a store in an existing folder, which becomes a store when `finish` has written about.json."""

    storage: str
    types: tuple[str, ...]

    def __init__(self, folder: Path, contents: Contents) -> None:
        self.folder = folder
        self.contents = contents
        self.done = 0  # columns that are written
        self.open = ExitStack()

    def create(self, name: str) -> IO[bytes]:
        """Open a file for writing, which `finish` or `close` closes."""
        return self.open.enter_context(open(self.folder / name, "wb+"))

    def close(self) -> None:
        """Close all files."""
        self.open.close()

    def advance(self, shape: tuple[int, ...]) -> None:
        """Check the shape of the next block and count its columns."""
        contents = self.contents
        if len(shape) != 2 or shape[0] != contents.n:
            raise InvalidInputError(f"block must have shape ({contents.n}, columns), got {shape}.")
        if self.done + shape[1] > contents.p:
            raise InvalidInputError(f"block goes beyond the {contents.p} columns of the store: {self.done} are there already.")
        self.done += shape[1]

    def finish(self) -> None:
        """Write the files next to the numbers, about.json last."""
        contents = self.contents
        if self.done < contents.p:
            raise InvalidInputError(f"only {self.done} of {contents.p} columns were appended.")
        block_columns, checksums = self.end()
        if contents.y is not None:
            with open(self.folder / "y.npy", "wb") as file:
                np.save(file, contents.y, allow_pickle=False)
                synced(file)
        if contents.names is not None:
            self.write_json("names.json", list(contents.names))
        sizes = {path.name: path.stat().st_size for path in sorted(self.folder.iterdir())}
        about = {
            "format": FORMAT,
            "version": VERSION,
            "storage": self.storage,
            "n": contents.n,
            "p": contents.p,
            "dtype": contents.dtype.name,
            "block_columns": block_columns,
            "crc32": checksums,
            "target": contents.target,
            "files": sizes,
            "checks": {name: zlib.crc32((self.folder / name).read_bytes()) for name in SMALL_FILES if name in sizes},
            "made_by": f"ellzero {version('ellzero')}",
        }
        self.write_json(ABOUT, about)

    def end(self) -> tuple[int, list[int]]:
        """Complete the files of the numbers; return the columns in a block and the checksum of each block."""
        raise NotImplementedError

    def write_json(self, name: str, value: Any) -> None:
        """Write a value as a JSON file."""
        with open(self.folder / name, "wb") as file:
            file.write(json.dumps(value, ensure_ascii=False).encode())
            synced(file)


class DenseFiles(Files):
    """The file X.npy: all columns one after the other, with a checksum for each block of them."""

    storage = "dense"
    types = TYPES

    def __init__(self, folder: Path, contents: Contents) -> None:
        super().__init__(folder, contents)
        column_bytes = contents.n * contents.dtype.itemsize
        self.block_columns = max(1, BLOCK_BYTES // column_bytes)
        self.block_bytes = self.block_columns * column_bytes
        self.checksums: list[int] = []
        self.position = 0  # bytes so far in the block that is being written
        self.rows = 0  # rows so far in the column that is being written, if it comes in pieces
        self.file = self.create("X.npy")
        npy.write_array_header_1_0(
            self.file, {"descr": npy.dtype_to_descr(contents.dtype), "fortran_order": True, "shape": (contents.n, contents.p)}
        )

    @staticmethod
    def size(contents: Contents) -> int:
        """Return the bytes of the numbers."""
        return contents.n * contents.p * contents.dtype.itemsize

    def append(self, block: ArrayLike) -> None:
        """Write the next columns."""
        if np.ma.is_masked(block):
            raise InvalidInputError("block has masked entries; fill them first.")
        columns = np.asarray(block)
        first = self.done
        self.advance(columns.shape)
        for start in range(0, columns.shape[1], self.block_columns):  # so that copies in another type stay small
            strip = columns[:, start : start + self.block_columns]
            self.write(in_stored_type(strip, self.contents, first + start))

    def append_piece(self, piece: NDArray[Any]) -> None:
        """Write the next rows of the next column, where a whole column would take too much memory."""
        self.write(in_stored_type(piece.reshape(-1, 1), self.contents, self.done, self.rows))
        self.rows += piece.size
        if self.rows == self.contents.n:
            self.rows = 0
            self.done += 1

    def write(self, columns: NDArray[Any]) -> None:
        """Write columns, or a piece of one, and update the checksum of the block that they belong to."""
        data = memoryview(columns.T.reshape(-1).view(np.uint8))  # the transpose of Fortran order: no copy
        self.file.write(data)
        while len(data):
            part = data[: self.block_bytes - self.position]
            if self.position == 0:
                self.checksums.append(0)
            self.checksums[-1] = zlib.crc32(part, self.checksums[-1])
            self.position = (self.position + len(part)) % self.block_bytes
            data = data[len(part) :]

    def end(self) -> tuple[int, list[int]]:
        """Close the file, and return the columns in a block and the checksum of each block."""
        synced(self.file)
        self.close()
        return self.block_columns, self.checksums


class SparseFiles(Files):
    """The files data.npy, indices.npy and indptr.npy: compressed sparse columns."""

    storage = "sparse"
    types = ("float64", "float32")

    def __init__(self, folder: Path, contents: Contents) -> None:
        super().__init__(folder, contents)
        self.index_dtype = np.dtype("<i8" if contents.n >= 2**31 else "<i4")
        self.indptr = np.zeros(contents.p + 1, dtype="<i8")
        self.vectors = {"data.npy": contents.dtype, "indices.npy": self.index_dtype}
        self.files = {name: self.create(name) for name in self.vectors}
        for name, dtype in self.vectors.items():
            self.files[name].write(vector_header(dtype, 0))

    @staticmethod
    def size(contents: Contents, entries: int) -> int:
        """Return the bytes of the numbers."""
        return entries * (contents.dtype.itemsize + (8 if contents.n >= 2**31 else 4)) + 8 * (contents.p + 1)

    def append(self, block: Any) -> None:
        """Write the next columns, given as a sparse matrix of any format."""
        first = self.done
        if not sparse.issparse(block):
            raise InvalidInputError(f"block must be a sparse matrix, got {type(block).__name__}.")
        self.advance(block.shape)
        matrix = canonical_columns(sparse.csc_matrix(block), self.contents, first)
        self.files["data.npy"].write(np.ascontiguousarray(matrix.data).data)
        self.files["indices.npy"].write(np.ascontiguousarray(matrix.indices, dtype=self.index_dtype).data)
        self.indptr[first + 1 : self.done + 1] = self.indptr[first] + matrix.indptr[1:]

    def end(self) -> tuple[int, list[int]]:
        """Write the lengths into the headers, choose the blocks, and compute their checksums from the files."""
        entries = int(self.indptr[-1])
        for name, dtype in self.vectors.items():
            self.files[name].seek(0)
            self.files[name].write(vector_header(dtype, entries))
            synced(self.files[name])
        with open(self.folder / "indptr.npy", "wb") as file:
            np.save(file, self.indptr)
            synced(file)
        entry_bytes = sum(dtype.itemsize for dtype in self.vectors.values())
        blocks = max(1, round(entries * entry_bytes / BLOCK_BYTES))
        block_columns = max(1, -(-self.contents.p // blocks))
        checksums = [self.checksum(first, block_columns) for first in range(0, self.contents.p, block_columns)]
        self.close()
        return block_columns, checksums

    def checksum(self, first: int, count: int) -> int:
        """Return the checksum of a block's values followed by its row numbers."""
        start, stop = (int(self.indptr[j]) for j in (first, min(first + count, self.contents.p)))
        value = 0
        for name, dtype in self.vectors.items():
            for part in in_pieces(self.files[name], VECTOR_HEADER + start * dtype.itemsize, (stop - start) * dtype.itemsize):
                value = zlib.crc32(part, value)
        return value


def vector_header(dtype: np.dtype[Any], length: int) -> bytes:
    """Return the header of a vector in a .npy file; it has the same size for every length."""
    stream = io.BytesIO()
    npy.write_array_header_1_0(stream, {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": (length,)})
    header = stream.getvalue()
    assert len(header) == VECTOR_HEADER
    return header


def in_pieces(file: IO[bytes], start: int, size: int) -> Iterator[bytes]:
    """Yield some bytes of a file, at most 1 MiB at a time."""
    file.seek(start)
    while size:
        part = file.read(min(size, 1 << 20))
        yield part
        size -= len(part)


def synced(file: IO[bytes]) -> None:
    """Make sure that all of a file is on the disk."""
    file.flush()
    os.fsync(file.fileno())
