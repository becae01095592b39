"""Tasks for the workers of a Dask cluster.

Joblib sends an array that is an argument of many tasks to the cluster once. Arrays inside of other objects travel with every
task, and back with every result that refers to them; X is inside of a problem inside of a training set. So this module takes
large arrays out of the tasks and passes them as arguments of their own. A result names the arrays that came with its task.

It needs cloudpickle, which Dask brings, and is imported only where a Dask cluster runs the tasks.
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

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]  # joblib's delayed
LARGE = 1 << 14  # bytes: a smaller array costs less inside of its task than as its own argument


def run_on_cluster(parallel: Parallel, calls: Sequence[Call]) -> Iterator[Any]:
    """Run the calls on the cluster; yield their results in the order of the calls."""
    arrays, parcels = [], []
    for call in calls:
        packer = Packer()
        packed = packer.pack(call)
        arrays.append(packer.arrays)
        parcels.append(delayed(run_packed)(packed, *packer.arrays))
    for packed, own in zip(parallel(parcels), arrays, strict=True):
        yield Unpacker(packed, own).load()


def run_packed(packed: bytes, *arrays: NDArray[Any]) -> bytes:
    """Run a call on a worker; return its result, packed without the arrays that came with it."""
    function, arguments, options = Unpacker(packed, arrays).load()
    return Packer(arrays).pack(function(*arguments, **options))


class Packer(cloudpickle.Pickler):
    """A pickler that leaves out large arrays: all of them, or with `known` only these, which the other side has already."""

    def __init__(self, known: Sequence[NDArray[Any]] | None = None) -> None:
        self.file = io.BytesIO()
        super().__init__(self.file)
        self.arrays = list(known or ())
        self.numbers = {memory_key(array): number for number, array in enumerate(self.arrays)}
        self.closed = known is not None

    def pack(self, item: object) -> bytes:
        """Return the item as bytes."""
        self.dump(item)
        return self.file.getvalue()

    def persistent_id(self, item: object) -> int | None:
        """Return the number of an array that is left out, None for an item that is packed."""
        if not isinstance(item, np.ndarray) or item.dtype.hasobject or item.nbytes < LARGE:
            return None
        key = memory_key(item)
        if key not in self.numbers and not self.closed:
            self.numbers[key] = len(self.arrays)
            self.arrays.append(item)
        return self.numbers.get(key)


class Unpacker(pickle.Unpickler):
    """An unpickler that puts back the arrays that were left out."""

    def __init__(self, packed: bytes, arrays: Sequence[NDArray[Any]]) -> None:
        super().__init__(io.BytesIO(packed))
        self.arrays = arrays

    def persistent_load(self, number: int) -> NDArray[Any]:
        """Return the array of this number."""
        return self.arrays[number]


def memory_key(array: NDArray[Any]) -> tuple[Any, ...]:
    """Return a key that arrays share if they show the same memory in the same way."""
    return array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str
