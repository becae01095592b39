"""Arrays on disk of other libraries (Zarr, HDF5): anything with a shape, a type, chunks, and slices that are arrays."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.imports import import_whole
from ellzero.base.quoting import in_bytes, one_line
from ellzero.base.reading import LEAST_ALLOWED, Malformed, check_shape, most_bytes
from ellzero.base.validation import as_threads
from ellzero.design.base import check_dtype
from ellzero.design.dense import DenseDesign, held_dtype
from ellzero.design.store import BLOCK_BYTES, Array, Request

LARGEST_BLOCK = 1 << 28
"""The most bytes that are read at once. Larger chunks, which hold rows, are read in parts, each several times in a pass."""


class SlicedStore:
    """A store of an array that can be sliced by columns; whole chunks are read at a time."""

    storage = "dense"
    names = None

    def __init__(self, array: Any) -> None:
        if len(array.shape) != 2:
            raise InvalidInputError(f"X must have two dimensions, got {len(array.shape)}.")
        check_dtype(array.dtype)
        self.array = array
        self.shape: tuple[int, int] = (int(array.shape[0]), int(array.shape[1]))
        self.dtype = np.dtype(held_dtype(np.dtype(array.dtype)))
        check_stated_shape(array, self.shape)
        self.nbytes = self.shape[0] * self.shape[1] * np.dtype(array.dtype).itemsize
        self.threads = as_threads(-1)
        column = max(1, self.shape[0] * self.dtype.itemsize)
        chunk = min(max(1, int(np.max((array.chunks or (1, 1))[1]))), max(1, self.shape[1]))
        wide = max(1, BLOCK_BYTES // column)
        self.width = max(chunk, wide // chunk * chunk) if chunk * column <= LARGEST_BLOCK else max(1, LARGEST_BLOCK // column)

    def scan(self, requests: Sequence[Request]) -> Iterator[tuple[int, list[Array]]]:
        """Make one pass, a few chunks at a time."""
        for first in range(0, self.shape[1], self.width):
            design = DenseDesign(self[:, first : first + self.width])
            yield first, [request(design.core, self.threads) for request in requests]

    def take(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return some columns (ascending); those of the same chunks are read together."""
        listed, out = np.asarray(columns), np.empty((self.shape[0], len(columns)), dtype=self.dtype, order="F")
        blocks = listed // self.width
        for block in np.unique(blocks):
            at = np.flatnonzero(blocks == block)
            first, last = int(listed[at[0]]), int(listed[at[-1]]) + 1
            out[:, at] = self[:, first:last][:, listed[at] - first]
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle a dataset of h5py as its file and name, since it cannot be sent to another process."""
        array = self.array
        if type(array).__module__.startswith("h5py"):
            return open_hdf5, (array.file.filename, array.name)
        return SlicedStore, (array,)

    def __getitem__(self, key: Any) -> NDArray[Any]:
        if not isinstance(key[1], slice):
            return self.take(np.arange(self.shape[1])[key[1]])
        try:
            now = tuple(map(int, self.array.shape))
            block = np.asarray(self.array[:, key[1]]) if now == self.shape else None
        except MemoryError:
            raise
        except Exception as error:  # a damaged chunk, a file that is gone: each library fails in its own way
            raise InvalidInputError(f"X cannot be read: {one_line(error) or type(error).__name__}.") from None
        if block is None:
            raise InvalidInputError(f"X had the shape {self.shape} when it was given and has {now} now; give it again.")
        return block


def check_stated_shape(array: Any, shape: tuple[int, int]) -> None:
    """Refuse an array whose shape or chunks claim far more memory than the numbers that are stored: most of it is empty."""
    chunk = math.prod(int(np.max(size)) for size in array.chunks or (1,)) * np.dtype(array.dtype).itemsize
    if max(8 * sum(shape), chunk) <= LEAST_ALLOWED:
        return
    stored = stored_bytes(array)
    try:
        check_shape(shape, stored)
    except Malformed as error:
        raise InvalidInputError(f"X cannot be used: {error}.") from None
    if chunk > max(LARGEST_BLOCK, most_bytes(stored)):
        raise InvalidInputError(
            f"X cannot be used: it has chunks of {in_bytes(chunk)}, which are read whole, and {in_bytes(stored)} of data."
        )


def stored_bytes(array: Any) -> int:
    """Return the bytes that an array takes where it is kept; if that is not known, those of all its numbers."""
    if hasattr(array, "id") and hasattr(array.id, "get_storage_size"):  # h5py
        return int(array.id.get_storage_size())
    stored = getattr(array, "nbytes_stored", None)  # a number in Zarr 2, a function in Zarr 3
    if stored is None:
        return math.prod(map(int, array.shape)) * np.dtype(array.dtype).itemsize
    return int(stored() if callable(stored) else stored)


def open_hdf5(path: str, name: str) -> SlicedStore:
    """Open a dataset of an HDF5 file for reading."""
    return SlicedStore(import_whole("h5py").File(path)[name])
