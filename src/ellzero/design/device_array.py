"""Arrays on a device (a GPU): X stays there, and is multiplied there.

Any array of CuPy, PyTorch, JAX or another library of the array API standard is a store. A pass sends some vectors to the device
and brings back one number for each column and vector; the only columns that travel are those that are taken: supports and
candidates. Products are sums in float64, whatever the type of X, and a part of X at a time is widened for them: nothing of the
size of X is made beside it. Both orders of memory do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.devices import is_on_device, on_host
from ellzero.base.errors import EllzeroError, InvalidInputError
from ellzero.base.imports import import_whole, whole_imports
from ellzero.base.progress import ProgressCallback, as_progress
from ellzero.base.quoting import in_words, one_line
from ellzero.design.base import Array, as_design
from ellzero.design.store import BLOCK_BYTES, Request

__all__ = ["DeviceStore", "to_device"]

PART_BYTES = 1 << 27
"""Bytes of the float64 copies that one step of a product makes: long enough to keep a device busy."""
ANSWER_BYTES = 1 << 28
"""Bytes of answers that are brought back together."""
HELD = {"float64": "float64", "float32": "float32", "float16": "float32", "bfloat16": "float32", "int8": "int8", "bool": "int8"}
"""The type of the columns that are taken, by the type of X."""


class DeviceStore:
    """The columns of an `array` on a device, with their `names` if they have any."""

    storage = "dense"

    def __init__(self, array: Any, names: list[str] | None = None) -> None:
        self.xp = namespace(array)
        if array.ndim != 2:
            raise InvalidInputError(f"X must have two dimensions, got {array.ndim}.")
        kind = str(array.dtype).rsplit(".", 1)[-1]
        if kind not in HELD:
            raise InvalidInputError(f"X must hold {', '.join(HELD)} on a device, got {kind}; convert it there.")
        if not str(self.xp.zeros(1, dtype=self.xp.float64, device=place_of(array)).dtype).endswith("float64"):
            raise InvalidInputError(
                "JAX makes no float64 arrays, which sums need: call jax.config.update('jax_enable_x64', True)."
            )
        self.array, self.names = array, names
        self.shape: tuple[int, int] = (int(array.shape[0]), int(array.shape[1]))
        self.dtype: np.dtype[Any] = np.dtype(HELD[kind])
        self.nbytes = self.shape[0] * self.shape[1] * int(np.dtype(kind).itemsize if kind != "bfloat16" else 2)
        # Columns that lie together are rows of the transpose, which is another view of the same memory.
        self.by_column = lies_by_column(array)
        self.width = max(1, PART_BYTES // (8 * max(1, self.shape[0])))

    def __repr__(self) -> str:
        n, p = self.shape
        return f"DeviceStore: {n:,} rows, {p:,} columns, {self.dtype}, {in_words(self.nbytes)} on {place_of(self.array)}"

    def part(self, first: int, last: int) -> Any:
        """Return the columns from `first` up to `last` as rows."""
        return self.array.T[first:last] if self.by_column else self.xp.permute_dims(self.array[:, first:last], (1, 0))

    def scan(self, requests: Sequence[Request]) -> Iterator[tuple[int, list[Array]]]:
        """Make one pass for all `requests`, with as many columns at a time as answers are brought back together."""
        sent = Sent(self)
        wide = max(self.width, ANSWER_BYTES // (8 * 32))
        for first in range(0, self.shape[1], wide):
            block = DeviceBlock(self, sent, first, min(first + wide, self.shape[1]))
            with told(self.array):
                answers = [request(block, 1) for request in requests]
            yield first, answers

    def take(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return the `columns` of these indices (ascending)."""
        with told(self.array):
            listed = self.xp.asarray(np.asarray(columns, dtype=np.int64), device=place_of(self.array))
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
        if id(array) not in self.known:
            xp = self.store.xp
            moved = xp.asarray(np.ascontiguousarray(array), dtype=xp.float64, device=place_of(self.store.array))
            self.known[id(array)] = array, moved
        return self.known[id(array)][1]


class DeviceBlock:
    """Adjacent columns on a device; requests ask it what they ask a design of the core."""

    def __init__(self, store: DeviceStore, sent: Sent, first: int, last: int) -> None:
        self.store, self.sent, self.first, self.last = store, sent, first, last
        self.shape = (store.shape[0], last - first)

    def parts(self) -> Iterator[Any]:
        """Yield the columns as rows in float64, a part at a time."""
        store = self.store
        for first in range(self.first, self.last, store.width):
            yield store.xp.astype(store.part(first, min(first + store.width, self.last)), store.xp.float64, copy=False)

    def products(self, vectors: Array, threads: int = 1) -> Array:
        """Return the products of the columns with some vectors, one in a row."""
        xp = self.store.xp
        sides = self.sent(vectors)
        return on_host(xp.concat([xp.matmul(sides, xp.permute_dims(part, (1, 0))) for part in self.parts()], axis=1))

    def moments(self, weights: Array, threads: int = 1) -> tuple[Array, Array]:
        """Return the means and the variances of the columns."""
        xp = self.store.xp
        share = self.sent(weights)
        means, variances = [], []
        for part in self.parts():
            mean = xp.matmul(part, share)
            means.append(mean)
            variances.append(xp.matmul((part - mean[:, None]) ** 2, share))
        return on_host(xp.concat(means)), on_host(xp.concat(variances))


def to_device(
    X: Any, device: str = "cuda", *, library: str | None = None, progress: bool | ProgressCallback = False
) -> DeviceStore:
    """Move X to a device, a block at a time, and return it as a store that is accepted wherever X is.

    Parameters
    ----------
    X : array or column store
        A dense one; what is on a device already stays as it is.
    device : str
        As the library names it: "cuda", "cuda:1".
    library : {"cupy", "torch"}, optional
        Whose arrays hold X there; by default the first of these that is installed.
    progress : bool or callable
        True shows a bar on standard error; a function is called with the fraction done, 0 and 0.

    Returns
    -------
    DeviceStore
        Column by column, in the type of X.

    Raises
    ------
    InvalidInputError
        If X does not fit: the sentence says how much memory X needs and how much the device has.

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
        raise InvalidInputError(f"X needs {in_words(needed)} on {device}, which has {in_words(free)} left.")
    moved = xp.empty((p, n), dtype=getattr(xp, dtype.name), device=device)
    wide = max(1, BLOCK_BYTES // max(1, n * dtype.itemsize))
    for first in range(0, p, wide):
        block = np.ascontiguousarray(np.asarray(source[:, first : first + wide]).T)
        with told(design):
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
    raise InvalidInputError(f"{wanted} is needed to move X to a device, besides pip install 'ellzero[gpu]'.")


def free_bytes(xp: Any, device: str) -> int | None:
    """Return the free memory of a device, None if its library does not tell."""
    cuda = getattr(xp, "cuda", None)
    if cuda is None or not device.startswith("cuda"):
        return None
    with told(np.empty((0, 0))):
        if hasattr(cuda, "mem_get_info"):  # PyTorch's
            return int(cuda.mem_get_info(device)[0])
        return int(cuda.runtime.memGetInfo()[0])


def namespace(array: Any) -> Any:
    """Return the functions of the array's library, by the names of the array API standard."""
    try:
        with whole_imports("array_api_compat"):
            import array_api_compat
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
    with whole_imports("array_api_compat"):
        import array_api_compat

    return array_api_compat.device(array)


def lies_by_column(array: Any) -> bool:
    """Return whether columns, rather than rows, are contiguous; libraries that do not tell keep rows together."""
    steps = array.stride() if callable(getattr(array, "stride", None)) else getattr(array, "strides", None)
    return steps is not None and abs(steps[0]) < abs(steps[1])


@contextmanager
def told(array: Any) -> Iterator[None]:
    """Tell in a sentence what a library says about a device that has no memory left, or is gone."""
    try:
        yield
    except (EllzeroError, MemoryError, TypeError):
        raise
    except RuntimeError as error:
        said = one_line(error)
        if "memory" in said.lower() or "RESOURCE_EXHAUSTED" in said:
            shape = " x ".join(f"{size:,}" for size in array.shape)
            raise InvalidInputError(
                f"the device of X ({shape}) has no memory left beside it for a part of {in_words(PART_BYTES)}: {said}"
            ) from None
        raise InvalidInputError(f"X cannot be read from its device: {said}") from None
