"""Arrays on a device (a GPU): X stays there, and is multiplied there.

Any array of CuPy, PyTorch, JAX or another library of the array API standard is a store. A pass sends some vectors to the
device; what the solvers keep for every column stays there too (device_tables.py), and the only columns that travel are those
that are taken: supports and candidates. Products are sums in float64, whatever the type of X (device_passes.py). Both orders of
memory do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.devices import is_on_device, on_host
from ellzero.base.errors import InvalidInputError
from ellzero.base.imports import import_whole
from ellzero.base.progress import ProgressCallback, as_progress
from ellzero.base.quoting import in_bytes
from ellzero.design.base import Array, as_design
from ellzero.design.device_errors import is_cupy, told
from ellzero.design.device_fused import FusedScreening, FusedSwaps
from ellzero.design.device_passes import PART_BYTES, FusedPasses, passes_of
from ellzero.design.device_tables import Numbers, ScreeningTable, SwapTable
from ellzero.design.store import BLOCK_BYTES, Request

CUDA = 2
"""DLPack's number of CUDA's devices."""
ANSWER_BYTES = 1 << 25
"""Bytes of answers that are brought back together: so few that they stay in the caches of the host."""
HELD = {"float64": "float64", "float32": "float32", "float16": "float32", "bfloat16": "float32", "int8": "int8", "bool": "int8"}
"""The type of the columns that are taken, by the type of X."""


class DeviceStore:
    """The columns of an `array` on a device, with their `names` if they have any."""

    storage = "dense"

    def __init__(self, array: Any, names: list[str] | None = None) -> None:
        array = as_cupy(array)
        self.xp = namespace(array)
        if array.ndim != 2:
            raise InvalidInputError(f"X must have two dimensions, got {array.ndim}.")
        kind = str(array.dtype).rsplit(".", 1)[-1]
        if kind not in HELD:
            raise InvalidInputError(f"X must hold {', '.join(HELD)} on a device, got {kind}; convert it there.")
        self.array, self.names, self.place = array, names, place_of(array)
        if not str(self.xp.zeros(1, dtype=self.xp.float64, device=self.place).dtype).endswith("float64"):
            raise InvalidInputError(
                "JAX makes no float64 arrays, which sums need: call jax.config.update('jax_enable_x64', True)."
            )
        self.shape: tuple[int, int] = (int(array.shape[0]), int(array.shape[1]))
        self.dtype: np.dtype[Any] = np.dtype(HELD[kind])
        self.nbytes = self.shape[0] * self.shape[1] * int(np.dtype(kind).itemsize if kind != "bfloat16" else 2)
        self.by_column = lies_by_column(array)
        self.passes = passes_of(self.xp, array, self.by_column)

    def __repr__(self) -> str:
        n, p = self.shape
        return f"DeviceStore: {n:,} rows, {p:,} columns, {self.dtype}, {in_bytes(self.nbytes)} on {self.place}"

    def send(self, values: NDArray[Any], dtype: Any = np.float64) -> Any:
        """Send `values` to the device, as numbers of type `dtype`."""
        return self.xp.asarray(np.ascontiguousarray(values, dtype=dtype), device=self.place)

    def scan(self, requests: Sequence[Request]) -> Iterator[tuple[int, list[Array]]]:
        """Make one pass for all `requests`, with as many columns at a time as answers are brought back together."""
        sent = Sent(self)
        wide = max(1, ANSWER_BYTES // (8 * 32))
        for first in range(0, self.shape[1], wide):
            block = DeviceBlock(self, sent, first, min(first + wide, self.shape[1]))
            with told(self.array, PART_BYTES):
                answers = [request(block, 1) for request in requests]
            yield first, answers

    def screening_table(
        self, numbers: Numbers, lambda_1: float, steepness: float, ridge: float, directions: int
    ) -> ScreeningTable | None:
        """Return what screening keeps for every column, on the device, for at most `directions` directions.

        The `numbers` of all columns are means, scales, squares and prices (None where there are none); a column gains by
        `lambda_1`, the `steepness` of the loss and the `ridge` as `cpp/include/ellzero/data/tables.hpp` says.
        """
        if not self.writable:
            return None
        table = FusedScreening if isinstance(self.passes, FusedPasses) else ScreeningTable
        with told(self.array, 8 * self.shape[1] * (directions + 11)):
            return table(self, numbers, lambda_1, steepness, ridge, directions)

    def swap_table(self, numbers: Numbers) -> SwapTable | None:
        """Return what the swap model keeps for every column, on the device; `numbers` as for `screening_table`."""
        table = FusedSwaps if isinstance(self.passes, FusedPasses) else SwapTable
        with told(self.array, 8 * self.shape[1] * 5):
            return table(self, numbers)

    @property
    def writable(self) -> bool:
        """Return whether arrays of this library can be changed in place: those of JAX cannot."""
        return not self.xp.__name__.startswith("jax")

    def take(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return the `columns` of these indices (ascending)."""
        with told(self.array, len(columns) * self.shape[0] * self.dtype.itemsize):
            listed = self.send(columns, np.int64)
            found = self.xp.take(self.array.T if self.by_column else self.array, listed, axis=0 if self.by_column else 1)
            host = on_host(self.xp.astype(found, getattr(self.xp, self.dtype.name)))
        return np.asfortranarray(host.T if self.by_column else host, dtype=self.dtype)

    def __getitem__(self, key: Any) -> NDArray[Any]:
        return self.take(np.arange(self.shape[1])[key[1]])


class Sent:
    """What a pass has sent to the device: a vector is sent once, not for every block."""

    def __init__(self, store: DeviceStore) -> None:
        self.store = store
        self.known: dict[int, tuple[Array, Any]] = {}  # with the array itself, whose address is not another's meanwhile

    def __call__(self, array: Array) -> Any:
        """Return an array on the device."""
        if id(array) not in self.known:
            self.known[id(array)] = array, self.store.send(array)
        return self.known[id(array)][1]


class DeviceBlock:
    """Adjacent columns on a device; requests ask it what they ask a design of the core."""

    def __init__(self, store: DeviceStore, sent: Sent, first: int, last: int) -> None:
        self.store, self.sent, self.first, self.last = store, sent, first, last
        self.shape = (store.shape[0], last - first)

    def products(self, vectors: Array, threads: int = 1) -> Array:
        """Return the products of the columns with some vectors, one in a row."""
        return on_host(self.store.passes.products(self.sent(vectors), self.first, self.last))

    def moments(self, weights: Array, threads: int = 1) -> tuple[Array, Array]:
        """Return the means and the variances of the columns."""
        mean, variance = self.store.passes.moments(self.sent(weights), self.first, self.last)
        return on_host(mean), on_host(variance)


def to_device(
    X: Any, device: str = "cuda", *, library: str | None = None, progress: bool | ProgressCallback | None = None
) -> DeviceStore:
    """Move X to a device, a block at a time. Use the result wherever X is accepted.

    Parameters
    ----------
    X : array or column store
        Dense; an X that is already on a device is returned unchanged.
    device : str
        The library's name of it: "cuda", "cuda:1".
    library : {"cupy", "torch"}, optional
        Library whose arrays hold X there; by default the first of these that is installed.
    progress : bool or function, optional
        As in :func:`ellzero.fit_path`; a function is called with the fraction done (and two zeros).

    Returns
    -------
    DeviceStore
        Column by column, in the type of X.

    Raises
    ------
    InvalidInputError
        If X does not fit: the message says how much memory X needs and how much the device has.

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y, truth = ez.datasets.make_classification(200, 1000, 3, s=3.0, random_state=0)
    >>> Xd = ez.to_device(X, "cuda")  # doctest: +SKIP
    >>> ez.fit_path(Xd, y, max_support=5).at_support(3).support.tolist()  # doctest: +SKIP
    [0, 333, 666]

    """
    if isinstance(X, DeviceStore):
        return X
    if is_on_device(X):
        return DeviceStore(X)
    design = as_design(X)
    source = design.stored()
    dtype = np.dtype(source.dtype)
    if sparse.issparse(source) or getattr(source, "storage", "dense") != "dense":
        raise InvalidInputError("X is sparse; only dense arrays are moved to a device.")
    xp = library_for(library)
    (n, p), shown = design.shape, as_progress(progress, "moving X to the device")
    needed = n * p * dtype.itemsize
    free = free_bytes(xp, device)
    if free is not None and needed > free:
        raise InvalidInputError(f"X needs {in_bytes(needed)} on {device}, which has {in_bytes(free)} left.")
    moved = xp.empty((p, n), dtype=getattr(xp, dtype.name), device=device)
    wide = max(1, BLOCK_BYTES // max(1, n * dtype.itemsize))
    for first in range(0, p, wide):
        block = np.ascontiguousarray(np.asarray(source[:, first : first + wide]).T)
        with told(design, needed):
            moved[first : first + wide] = xp.asarray(block, device=device)
        if shown:
            shown(min(1.0, (first + wide) / p), 0.0, 0)
    return DeviceStore(moved.T, design.names)


def library_for(name: str | None) -> Any:
    """Return the functions of the library that holds arrays on devices."""
    for each in ("cupy", "torch") if name is None else (name,):
        try:
            return import_whole(f"array_api_compat.{each}")
        except ImportError:
            continue
    wanted = "CuPy or PyTorch" if name is None else name
    raise InvalidInputError(f"{wanted} is needed to move X to a device, in addition to pip install 'ellzero[gpu]'.")


def free_bytes(xp: Any, device: str) -> int | None:
    """Return the free memory of a device, None if its library does not tell."""
    cuda = getattr(xp, "cuda", None)
    if cuda is None or not device.startswith("cuda"):
        return None
    with told(np.empty((0, 0)), 0):
        if hasattr(cuda, "mem_get_info"):  # PyTorch's
            return int(cuda.mem_get_info(device)[0])
        return int(cuda.runtime.memGetInfo()[0])


def as_cupy(array: Any) -> Any:
    """Return an array on a CUDA device as one of CuPy over the same memory, if CuPy is there: its kernels are faster."""
    if is_cupy(array) or not is_on_device(array) or int(array.__dlpack_device__()[0]) != CUDA:
        return array
    try:
        cupy = import_whole("cupy")
        return cupy.from_dlpack(array.detach() if hasattr(array, "detach") else array)
    except (ImportError, TypeError, ValueError, RuntimeError, BufferError):  # not there, or a type that it does not know
        return array


def namespace(array: Any) -> Any:
    """Return the functions of the array's library, by the names of the array API standard."""
    try:
        array_api_compat = import_whole("array_api_compat")
    except ImportError:
        raise InvalidInputError("X is on a device, which needs another package: pip install 'ellzero[gpu]'.") from None
    try:
        return array_api_compat.array_namespace(array)
    except TypeError:
        raise InvalidInputError(
            f"X must be an array of CuPy, PyTorch, JAX or a library of the array API standard, got {type(array).__name__}."
        ) from None


def place_of(array: Any) -> Any:
    """Return the device of an array."""
    return import_whole("array_api_compat").device(array)


def lies_by_column(array: Any) -> bool:
    """Return whether columns, rather than rows, are contiguous; libraries that do not tell keep rows together."""
    steps = array.stride() if callable(getattr(array, "stride", None)) else getattr(array, "strides", None)
    return steps is not None and abs(steps[0]) < abs(steps[1])
