"""Passes over an array on a device: products and moments of its columns, in float64 whatever the type of X.

On CUDA devices, where CuPy is installed, a kernel of our own reads X once in its own type and sums in float64: nothing else of
the size of X moves, and sixteen vectors are served by one read, by the matrix arithmetic that devices have for float64.
Elsewhere a part of X at a time is widened for the product of the library: nothing of the size of X is made, but a
pass moves five times its bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any, Protocol

import numpy as np

from ellzero.base.imports import import_whole
from ellzero.design.device_errors import is_cupy

PART_BYTES = 1 << 27
"""Bytes of the float64 copies that one step of a product makes: long enough to keep a device busy."""
TYPES = {"float64": "double", "float32": "float", "int8": "int8", "bool": "bool"}
"""The types of X that the kernels read, as CUDA names them."""
FEW, MANY = (1, 4), (1, 8, 16)
"""Kernels are made for these numbers of vectors; those for more than four need float64 matrix arithmetic."""
MATRICES = 80
"""The compute capability from which on devices have it."""
NOTHING = np.uintp(0)
"""A null pointer."""
HEAD = 4
"""Numbers before the columns of a list: how many these are, as an integer, and three for the use of those who make lists."""
THREADS = 256
LISTED_BLOCKS = 2048
COLUMNS_PER_BLOCK = {
    ("products_by_column", False): 32,
    ("products_by_column", True): 128,
    ("products_by_row", False): THREADS,
    ("products_by_row", True): THREADS,
    ("moments_by_column", False): 8,
    ("moments_by_row", False): THREADS,
}
"""By kernel, and whether it is for many vectors."""


class DevicePasses(Protocol):
    """What is asked of all columns, or of adjacent ones; vectors and answers are arrays on the device."""

    def products(self, vectors: Any, first: int, last: int, length: int = 0) -> Any:
        """Return the products of the columns with some vectors, one in a row, with zeros up to a length."""

    def some_products(self, vectors: Any, columns: Any) -> Any:
        """Return the products of listed columns with some vectors, one in a row."""

    def moments(self, weights: Any, first: int, last: int) -> tuple[Any, Any]:
        """Return the weighted means and variances of the columns."""


class WidenedPasses:
    """Passes by the functions of the array API standard."""

    def __init__(self, xp: Any, array: Any, by_column: bool) -> None:
        self.xp, self.array, self.by_column = xp, array, by_column

    @property
    def width(self) -> int:
        """Return the number of columns that are widened together."""
        return max(1, PART_BYTES // (8 * max(1, self.array.shape[0])))

    def parts(self, first: int, last: int) -> Iterator[Any]:
        """Yield the columns as rows in float64, a part at a time."""
        width = self.width
        for start in range(first, last, width):
            end = min(start + width, last)
            # Columns that lie together are rows of the transpose, which is another view of the same memory.
            part = self.array.T[start:end] if self.by_column else self.xp.permute_dims(self.array[:, start:end], (1, 0))
            yield self.xp.astype(part, self.xp.float64, copy=False)

    def products(self, vectors: Any, first: int, last: int, length: int = 0) -> Any:
        """Return the products of the columns with some vectors, one in a row, with zeros up to a length."""
        xp = self.xp
        found = [xp.matmul(vectors, xp.permute_dims(part, (1, 0))) for part in self.parts(first, last)]
        if length > last - first:
            shape = (vectors.shape[0], length - (last - first))
            found.append(xp.zeros(shape, dtype=xp.float64, device=vectors.device))
        return xp.concat(found, axis=1)

    def some_products(self, vectors: Any, columns: Any) -> Any:
        """Return the products of listed columns with some vectors, one in a row."""
        xp, found = self.xp, [self.xp.zeros((vectors.shape[0], 0), dtype=self.xp.float64, device=vectors.device)]
        for start in range(0, columns.shape[0], self.width):
            some = columns[start : min(start + self.width, columns.shape[0])]
            taken = xp.take(self.array.T, some, axis=0).T if self.by_column else xp.take(self.array, some, axis=1)
            found.append(xp.matmul(vectors, xp.astype(taken, xp.float64, copy=False)))
        return xp.concat(found, axis=1)

    def moments(self, weights: Any, first: int, last: int) -> tuple[Any, Any]:
        """Return the weighted means and variances of the columns."""
        xp = self.xp
        means, variances = [], []
        for part in self.parts(first, last):
            mean = xp.matmul(part, weights)
            means.append(mean)
            variances.append(xp.matmul((part - mean[:, None]) ** 2, weights))
        return xp.concat(means), xp.concat(variances)


class FusedPasses:
    """Passes by kernels that read X once, for arrays of CuPy."""

    def __init__(self, xp: Any, array: Any, by_column: bool) -> None:
        self.xp, self.array, self.by_column = xp, array, by_column
        self.steps = [step // array.dtype.itemsize for step in array.strides]
        self.stride = self.steps[1] if by_column else self.steps[0]
        self.made_for = MANY if int(array.device.compute_capability) >= MATRICES else FEW
        self.worth_listing = 1.0 if by_column else 0.125  # the share of X up to which columns are not better read by a pass

    def kernel(self, name: str, sides: int = 1, first: int = 0) -> Any:
        """Return a kernel for this array, from its `first` column on."""
        size = self.array.dtype.itemsize
        together = min(16, 4 * size)  # bytes of four entries, or as many of them as are read together
        begin = self.array.data.ptr + (0 if self.by_column else first * size)
        aligned = begin % together == 0 and self.stride * size % together == 0
        return compiled(name, TYPES[self.array.dtype.name], sides, aligned)

    def launch(self, name: str, sides: int, first: int, count: int, vectors: Any, out: Any) -> None:
        """Run a kernel over adjacent columns."""
        called = f"{name}_by_{'column' if self.by_column else 'row'}"
        made_for = next(known for known in self.made_for if known >= sides)
        blocks = -(-count // COLUMNS_PER_BLOCK[called, made_for > FEW[-1]])
        place = (np.int64(self.array.shape[0]), np.int64(self.stride), np.int64(first), np.int64(count))
        arguments = (self.array, *place, vectors, np.int32(sides), np.int64(out.shape[1]), out)
        self.kernel(called, made_for, first)((blocks,), (THREADS,), arguments)

    def products(self, vectors: Any, first: int, last: int, length: int = 0) -> Any:
        """Return the products of the columns with some vectors, one in a row, with zeros up to a length."""
        sides, count = vectors.shape[0], last - first
        out = self.xp.empty((sides, max(count, length)), dtype=self.xp.float64)
        out[:, count:] = 0.0
        most = self.made_for[-1]
        for start in range(0, sides if count > 0 else 0, most):
            some = vectors[start : start + most]
            self.launch("products", some.shape[0], first, count, some, out[start : start + most])
        return out

    def some_products(self, vectors: Any, columns: Any) -> Any:
        """Return the products of listed columns with some vectors, one in a row."""
        count = columns.shape[0]
        out = self.xp.empty((vectors.shape[0], count), dtype=self.xp.float64)
        listed = self.xp.zeros(HEAD + 2 * count, dtype=self.xp.float64)
        listed[:1].view(np.int64)[:] = count
        listed[HEAD + 1 :: 2] = columns
        for k in range(vectors.shape[0]):
            self.read_listed(vectors[k, :], 0.0, None, None, count, listed)
            out[k, :] = listed[HEAD::2]
        return out

    def read_listed(self, vector: Any, total: float, mean: Any, scale: Any, most: int, listed: Any) -> None:
        """Put the product with a vector (whose sum is `total`) before each column of a list, unless they are more than `most`.

        The list has the columns at every second place after its head. They are centred and scaled where numbers for that are
        given.
        """
        place = (np.int64(self.array.shape[0]), *(np.int64(step) for step in self.steps))
        numbers = (NOTHING if mean is None else mean, NOTHING if scale is None else scale)
        arguments = (self.array, *place, vector, np.float64(total), *numbers, np.int64(most), listed)
        self.kernel("listed_products")((max(1, min(LISTED_BLOCKS, -(-most // 8))),), (THREADS,), arguments)

    def moments(self, weights: Any, first: int, last: int) -> tuple[Any, Any]:
        """Return the weighted means and variances of the columns."""
        out = self.xp.empty((2, last - first), dtype=self.xp.float64)
        if last > first:
            self.launch("moments", 1, first, last - first, weights, out)
        return out[0], out[1]


@cache
def compiled(name: str, kind: str, sides: int, aligned: bool) -> Any:
    """Return a kernel for a type of X and a number of vectors; CuPy keeps what it has compiled once in a file."""
    options = ("--std=c++14", f"-DENTRY={kind}", f"-DSIDES={sides}", f"-DALIGNED={int(aligned)}")
    return import_whole("cupy").RawKernel(source("device_kernels.cu"), name, options=options)


@cache
def source(name: str) -> str:
    """Return the text of a file of kernels."""
    return files("ellzero.design").joinpath(name).read_text(encoding="utf-8")


def passes_of(xp: Any, array: Any, by_column: bool) -> DevicePasses:
    """Return the fastest passes that there are for an array."""
    ours = is_cupy(array) and array.dtype.name in TYPES
    dense = ours and array.strides[0 if by_column else 1] == array.dtype.itemsize
    return FusedPasses(xp, array, by_column) if dense else WidenedPasses(xp, array, by_column)
