"""The files of a sparse store, whose lengths are known only at the end."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from ellzero.base.errors import InvalidInputError
from ellzero.base.imports import whole_imports
from ellzero.conversion.checking import Contents, canonical_columns
from ellzero.conversion.store_files import Files, synced
from ellzero.design.store import BLOCK_BYTES

__all__ = ["SparseFiles"]

VECTOR_HEADER = 128
"""Bytes of the header of a vector; they are the same for all lengths, so that the header can be rewritten at the end."""


class SparseFiles(Files):
    """The files data.npy, indices.npy and indptr.npy: compressed sparse columns."""

    storage = "sparse"

    def __init__(self, folder: Path, contents: Contents) -> None:
        super().__init__(folder, contents)
        self.index_dtype = np.dtype("<i8" if contents.n >= 2**31 else "<i4")
        self.indptr = np.zeros(contents.p + 1, dtype="<i8")
        self.types = {"data.npy": contents.dtype, "indices.npy": self.index_dtype}
        self.files = {name: self.create(name) for name in self.types}
        for name, dtype in self.types.items():
            self.files[name].write(vector_header(dtype, 0))

    @staticmethod
    def size(contents: Contents, entries: int) -> int:
        """Return the bytes of the numbers."""
        return entries * (contents.dtype.itemsize + (8 if contents.n >= 2**31 else 4)) + 8 * (contents.p + 1)

    def append(self, block: Any) -> None:
        """Write the next columns, given as a sparse matrix of any format."""
        with whole_imports():
            from scipy import sparse

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
        for name, dtype in self.types.items():
            self.files[name].seek(0)
            self.files[name].write(vector_header(dtype, entries))
            synced(self.files[name])
        with open(self.folder / "indptr.npy", "wb") as file:
            np.save(file, self.indptr)
            synced(file)
        entry_bytes = sum(dtype.itemsize for dtype in self.types.values())
        blocks = max(1, round(entries * entry_bytes / BLOCK_BYTES))
        block_columns = max(1, -(-self.contents.p // blocks))
        checksums = [self.checksum(first, block_columns) for first in range(0, self.contents.p, block_columns)]
        self.close()
        return block_columns, checksums

    def checksum(self, first: int, count: int) -> int:
        """Return the checksum of a block's values followed by its row numbers."""
        start, stop = (int(self.indptr[j]) for j in (first, min(first + count, self.contents.p)))
        value = 0
        for name, dtype in self.types.items():
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
