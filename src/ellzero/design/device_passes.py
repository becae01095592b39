"""Passes over an array on a device: products and moments of its columns, in float64 whatever the type of X.

On CUDA devices, where CuPy is installed, a kernel of our own reads X once in its own type and sums in float64: nothing else of
the size of X moves, and sixteen vectors are served by one read. Elsewhere a part of X at a time is widened for the product of
the library: nothing of the size of X is made beside it, but a pass moves five times its bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any, Protocol

import numpy as np

from ellzero.base.imports import import_whole
from ellzero.design.device_errors import is_cupy

__all__ = ["FusedPasses", "Passes", "WidenedPasses", "passes_of"]

PART_BYTES = 1 << 27
"""Bytes of the float64 copies that one step of a product makes: long enough to keep a device busy."""
TYPES = {"float64": "double", "float32": "float", "int8": "int8", "bool": "bool"}
"""The types of X that the kernels read, as CUDA names them."""
SIDES = (1, 4, 8, 16)
"""Kernels are made for so many vectors."""
NO_LIST = np.uintp(0)
THREADS = 256
COLUMNS_PER_BLOCK = {"products_by_column": 32, "moments_by_column": 8, "products_by_row": THREADS, "moments_by_row": THREADS}


class Passes(Protocol):
    """What is asked of all columns, or of adjacent ones; vectors and answers are arrays on the device."""

    def products(self, vectors: Any, first: int, last: int) -> Any:
        """Return the products of the columns with some vectors, one in a row."""

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

    def products(self, vectors: Any, first: int, last: int) -> Any:
        """Return the products of the columns with some vectors, one in a row."""
        xp = self.xp
        return xp.concat([xp.matmul(vectors, xp.permute_dims(part, (1, 0))) for part in self.parts(first, last)], axis=1)

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
        self.xp, self.array = xp, array
        self.order = "column" if by_column else "row"
        steps = [step // array.dtype.itemsize for step in array.strides]
        self.stride = steps[1] if by_column else steps[0]

    def launch(self, name: str, sides: int, columns: Any, first: int, count: int, arguments: tuple[Any, ...]) -> None:
        """Run a kernel over listed columns, or over adjacent ones where there is no list."""
        kernel = f"{name}_by_{self.order}"
        blocks = -(-count // COLUMNS_PER_BLOCK[kernel])
        place = (np.int64(self.array.shape[0]), np.int64(self.stride), columns, np.int64(first), np.int64(count))
        compiled(kernel, TYPES[self.array.dtype.name], sides)((blocks,), (THREADS,), (self.array, *place, *arguments))

    def multiply(self, vectors: Any, columns: Any, first: int, count: int) -> Any:
        """Return products with some vectors, as many of them at a time as kernels are made for."""
        out = self.xp.empty((vectors.shape[0], count), dtype=self.xp.float64)
        for start in range(0, vectors.shape[0] if count > 0 else 0, SIDES[-1]):
            some = vectors[start : start + SIDES[-1]]
            sides = some.shape[0]
            made_for = next(known for known in SIDES if known >= sides)
            self.launch("products", made_for, columns, first, count, (some, np.int32(sides), out[start : start + sides]))
        return out

    def products(self, vectors: Any, first: int, last: int) -> Any:
        """Return the products of the columns with some vectors, one in a row."""
        return self.multiply(vectors, NO_LIST, first, last - first)

    def some_products(self, vectors: Any, columns: Any) -> Any:
        """Return the products of listed columns with some vectors, one in a row."""
        return self.multiply(vectors, columns, 0, columns.shape[0])

    def moments(self, weights: Any, first: int, last: int) -> tuple[Any, Any]:
        """Return the weighted means and variances of the columns."""
        out = self.xp.empty((2, last - first), dtype=self.xp.float64)
        if last > first:
            self.launch("moments", 1, NO_LIST, first, last - first, (weights, out))
        return out[0], out[1]


@cache
def compiled(name: str, kind: str, sides: int) -> Any:
    """Return a kernel for a type of X and a number of vectors; CuPy keeps what it has compiled once in a file."""
    cupy = import_whole("cupy")
    source = files("ellzero.design").joinpath("device_kernels.cu").read_text(encoding="utf-8")
    return cupy.RawKernel(source, name, options=("--std=c++14", f"-DENTRY={kind}", f"-DSIDES={sides}"))


def passes_of(xp: Any, array: Any, by_column: bool) -> Passes:
    """Return the fastest passes that there are for an array."""
    ours = is_cupy(array) and array.dtype.name in TYPES
    dense = ours and array.strides[0 if by_column else 1] == array.dtype.itemsize
    return FusedPasses(xp, array, by_column) if dense else WidenedPasses(xp, array, by_column)
