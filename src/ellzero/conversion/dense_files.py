"""The files of a dense store."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import ArrayLike, NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.conversion.checking import Contents, in_stored_type
from ellzero.conversion.store_files import Files, synced
from ellzero.design.store import BLOCK_BYTES

__all__ = ["DenseFiles"]


class DenseFiles(Files):
    """The file X.npy: all columns one after the other, with a checksum for each block of them."""

    storage = "dense"

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
