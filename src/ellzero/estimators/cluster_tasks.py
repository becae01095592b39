"""Tasks for the workers of a Dask cluster.

Joblib sends an array that is an argument of many tasks once to the cluster; arrays inside of other objects travel with every
task, and back with every result that refers to them. X is inside of a problem inside of a training set. So large arrays are
taken out of the tasks here, to travel as arguments of their own; results name the arrays that came with their task.

Only imported where there is Dask, which brings cloudpickle.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import cloudpickle
import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

__all__ = ["by_parcel"]

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]  # joblib's delayed
LARGE = 1 << 14  # bytes; smaller arrays cost less inside of their tasks


def by_parcel(parallel: Parallel, calls: Sequence[Call]) -> Iterator[Any]:
    """The results of the calls, in the order in which they come."""
    arrays, parcels = [], []
    for number, call in enumerate(calls):
        packer = Packer()
        packed = packer.pack(call)
        arrays.append(packer.arrays)
        parcels.append(delayed(opened)(number, packed, *packer.arrays))
    for number, packed in parallel(parcels):
        yield Unpacker(packed, arrays[number]).load()


def opened(number: int, packed: bytes, *arrays: NDArray[Any]) -> tuple[int, bytes]:
    """The call itself, on a worker; its result without the arrays that came."""
    function, arguments, options = Unpacker(packed, arrays).load()
    return number, Packer(arrays).pack(function(*arguments, **options))


class Packer(cloudpickle.Pickler):
    """Leaves out large arrays: all of them, or those that the other side has."""

    def __init__(self, known: Sequence[NDArray[Any]] | None = None) -> None:
        self.file = io.BytesIO()
        super().__init__(self.file)
        self.arrays = list(known or ())
        self.numbers = {identity(array): number for number, array in enumerate(self.arrays)}
        self.closed = known is not None

    def pack(self, item: object) -> bytes:
        """The item as bytes."""
        self.dump(item)
        return self.file.getvalue()

    def persistent_id(self, item: object) -> int | None:
        """The number of an array that is left out, None for what is packed."""
        if not isinstance(item, np.ndarray) or item.dtype.hasobject or item.nbytes < LARGE:
            return None
        key = identity(item)
        if key not in self.numbers and not self.closed:
            self.numbers[key] = len(self.arrays)
            self.arrays.append(item)
        return self.numbers.get(key)


class Unpacker(pickle.Unpickler):
    """Puts the arrays back."""

    def __init__(self, packed: bytes, arrays: Sequence[NDArray[Any]]) -> None:
        super().__init__(io.BytesIO(packed))
        self.arrays = arrays

    def persistent_load(self, number: int) -> NDArray[Any]:
        """The array of this number."""
        return self.arrays[number]


def identity(array: NDArray[Any]) -> tuple[Any, ...]:
    """The same for an array and its views that show all of it."""
    return array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str
