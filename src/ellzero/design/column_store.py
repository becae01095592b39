"""Column stores: X in a file, column after column, which is read in blocks and so can be larger than memory.

A store is a folder (docs/column-store.md describes its files; `ellzero convert` and :class:`ellzero.ColumnWriter` write it)
or a plain ``.npy`` file in Fortran order.
"""

from __future__ import annotations

import json
import os
import queue
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero import _core
from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import shown
from ellzero.base.reading import Malformed, check_shape, parse_array, parse_json
from ellzero.base.validation import as_path, as_threads
from ellzero.design.base import Reader
from ellzero.design.column_files import ABOUT, SMALL_FILES, TYPES, ArrayFile, damaged, file_stamp, read_about
from ellzero.design.store import BLOCK_BYTES, Array, Request

READERS = 2
"""Threads that read ahead; each has its own block in addition to the one in use."""
GAP_BYTES = 1 << 16
"""Columns with a smaller gap between them are read together: skipping the gap would take as long as reading it."""


def open_columns(path: str | os.PathLike[str], *, threads: int | None = None, check: bool = True) -> ColumnStore:
    """Open a column store: an X that is read from its file when needed. Use it wherever X is accepted.

    Parameters
    ----------
    path : a folder that `ellzero convert` wrote, or a ``.npy`` file in Fortran order (float64, float32 or int8)
    threads : number of threads that compute during a pass; None is all processors
    check : bool
        Whether blocks are compared with the checksums of the folder when they are first read.

    Returns
    -------
    ColumnStore

    Examples
    --------
    >>> import ellzero as ez, numpy as np, os, tempfile
    >>> X, y, truth = ez.datasets.make_classification(100, 300, 2, s=3.0, random_state=0)
    >>> file = os.path.join(tempfile.mkdtemp(), "X.npy")
    >>> np.save(file, np.asfortranarray(X))
    >>> store = ez.open_columns(file)
    >>> store
    ColumnStore(X.npy: 100 x 300, float64, dense)
    >>> ez.fit_path(store, y, max_support=2).at_support(2).support.tolist()
    [0, 150]

    """
    return ColumnStore(path, threads=threads, check=check)


class Identity(NamedTuple):
    """The data of a store, as a pickled reference remembers it."""

    shape: tuple[int, int]
    dtype: str
    storage: str
    numbers: int  # a checksum of the checksums


class ColumnStore:
    """X in a file, opened by :func:`open_columns` (which explains `path`, `threads` and `check`).

    Attributes
    ----------
    shape : (n, p)
    dtype : of the entries
    storage : "dense" or "sparse"
    names : of the columns, or None
    y : the target that was stored with X, or None
    target : its name, or None
    bytes_read : so far
    passes : over all columns, so far

    """

    def __init__(self, path: str | os.PathLike[str], *, threads: int | None = None, check: bool = True) -> None:
        self.path = Path(as_path("path", path))
        self.threads = as_threads(-1) if threads is None else max(1, int(threads))
        self.check = check
        self.bytes_read = self.passes = 0
        shape: tuple[int, ...]
        if self.path.is_dir():
            about = read_about(self.path)
            self.small_files = {name: about["checks"].get(name) for name in SMALL_FILES if name in about["files"]}
            self.opened = file_stamp(self.path / ABOUT)
            self.storage, self.target = str(about["storage"]), about["target"]
            files = ("X.npy",) if self.storage == "dense" else ("data.npy", "indices.npy")
            self.files = [ArrayFile(self.path / name) for name in files]
            block, checksums, shape = about["block_columns"], about["crc32"], (about["n"], about["p"])
            size = sum(about["files"].values())
        elif self.path.exists():
            self.storage, self.target, self.files = "dense", None, [ArrayFile(self.path)]
            self.small_files, self.opened = {}, None
            block, checksums, shape, size = None, None, self.files[0].shape, self.files[0].nbytes
            if len(shape) != 2:
                raise InvalidInputError(f"{self.path} must hold a matrix, got an array of {len(shape)} dimensions.")
        else:
            raise FileNotFoundError(2, "there is no such file or folder", str(self.path))
        self.dtype = self.files[0].dtype
        if self.dtype.name not in TYPES:
            raise InvalidInputError(f"{self.files[0].path} holds {self.dtype.name}; a store holds {', '.join(TYPES)}.")
        self.shape: tuple[int, int] = (int(shape[0]), int(shape[1]))
        try:
            check_shape(self.shape, size)
        except Malformed as error:
            raise damaged(self.path, str(error)) from None
        self.starts, p = self._starts(), self.shape[1]
        self.block_columns = block or max(1, BLOCK_BYTES // max(1, self.nbytes // max(1, p)))
        self.blocks = -(-p // self.block_columns)
        if checksums is not None and len(checksums) != self.blocks:
            raise damaged(self.path, f"it has {len(checksums)} checksums for {self.blocks} blocks")
        # The checksums of the blocks that have not been read as a whole so far.
        self.checksums: dict[int, int] = dict(enumerate(checksums)) if checksums is not None and check else {}
        numbers = zlib.crc32(json.dumps(checksums).encode())
        self.identity = Identity(self.shape, self.dtype.name, self.storage, numbers)

    def __reduce__(self) -> tuple[Any, ...]:
        return reopened, (os.path.abspath(self.path), self.threads, self.check, self.identity)

    def __repr__(self) -> str:
        return f"ColumnStore({shown(self.path.name)}: {self.shape[0]} x {self.shape[1]}, {self.dtype}, {self.storage})"

    def _starts(self) -> NDArray[np.int64]:
        """Return where the entries of each column begin; raise an error if the files do not fit together."""
        if self.storage == "dense":
            X = self.files[0]
            if X.shape != self.shape:
                raise damaged(self.path, f"X.npy has shape {X.shape}, not {self.shape}")
            if not (X.fortran or 1 in X.shape):
                raise InvalidInputError(f"{X.path} must be a matrix in Fortran order (columns one after another).")
            return np.arange(self.shape[1] + 1, dtype=np.int64) * self.shape[0]
        starts: NDArray[np.int64] = self._small_file("indptr.npy", parse_array)
        lengths = {file.shape for file in self.files}
        good = (
            starts.shape == (self.shape[1] + 1,)
            and starts.dtype == np.int64
            and starts[0] == 0
            and (np.diff(starts) >= 0).all()
        )
        if not good or lengths != {(int(starts[-1]),)} or self.files[1].dtype.name not in ("int32", "int64"):
            raise damaged(self.path, "its arrays do not fit together")
        return starts

    @property
    def nbytes(self) -> int:
        """Return the bytes of all entries, which one pass reads."""
        return sum(file.nbytes for file in self.files)

    @cached_property
    def column_bytes(self) -> NDArray[np.int64] | None:
        """Return the bytes of each column of a sparse store."""
        return None if self.storage == "dense" else np.diff(self.starts) * sum(file.dtype.itemsize for file in self.files)

    @cached_property
    def names(self) -> list[str] | None:
        """Return the names of the columns, None if they have none."""
        if "names.json" not in self.small_files:
            return None
        names = self._small_file("names.json", parse_json)
        if not isinstance(names, list) or len(names) != self.shape[1] or not all(isinstance(name, str) for name in names):
            raise damaged(self.path, f"names.json does not hold {self.shape[1]} names")
        if len(set(names)) < len(names):
            raise damaged(self.path, "names.json has a name twice")
        return names

    @cached_property
    def y(self) -> NDArray[Any] | None:
        """Return the target that was stored with X, None if there is none."""
        if "y.npy" not in self.small_files:
            return None
        y: NDArray[Any] = self._small_file("y.npy", parse_array)
        if y.shape != self.shape[:1]:
            raise damaged(self.path, f"y.npy has shape {y.shape} for {self.shape[0]} rows")
        return y

    def _small_file(self, name: str, parse: Callable[[bytes], Any]) -> Any:
        """Read a small file of the folder, which must still be the one that was opened."""
        if self.opened is None or file_stamp(self.path / ABOUT) != self.opened:
            raise InvalidInputError(f"{self.path} has been moved or replaced since it was opened; open it again.")
        try:
            content = (self.path / name).read_bytes()
        except FileNotFoundError:
            raise damaged(self.path, f"{name} is missing") from None
        if self.check and self.small_files.get(name) not in (None, zlib.crc32(content)):
            raise damaged(self.path, f"{name} does not have the checksum that it was written with")
        try:
            return parse(content)
        except Malformed as error:
            raise damaged(self.path, f"{name} cannot be read: {error}") from None

    # Reading.

    def scan(self, requests: Sequence[Request]) -> Iterator[tuple[int, list[Array]]]:
        """Make one pass over the file, for all `requests`; blocks are read ahead while others are worked on."""
        for block, part in self._read_ahead(range(self.blocks)):
            design = self._design(part)
            yield block * self.block_columns, [request(design, self.threads) for request in requests]
        self.passes += 1

    def _read_ahead(self, blocks: Sequence[int]) -> Iterator[tuple[int, list[NDArray[Any]]]]:
        """Yield the number and the arrays of each block in order; the arrays are reused once the next block is requested."""
        free: queue.SimpleQueue[list[NDArray[np.uint8]]] = queue.SimpleQueue()
        for _ in range(READERS + 1):
            free.put(self._no_buffers())
        with ThreadPoolExecutor(READERS, thread_name_prefix="ellzero-read") as pool:
            coming: deque[tuple[int, Future[list[NDArray[Any]]], list[NDArray[np.uint8]]]] = deque()

            def arrived() -> Iterator[tuple[int, list[NDArray[Any]]]]:
                block, future, buffers = coming.popleft()
                yield block, future.result()
                free.put(buffers)

            for block in blocks:
                if len(coming) > READERS:
                    yield from arrived()
                buffers = free.get()
                coming.append((block, pool.submit(self._read_block, block, buffers), buffers))
            while coming:
                yield from arrived()

    def _no_buffers(self) -> list[NDArray[np.uint8]]:
        """Return memory for a block, which grows when it is read into."""
        return [np.empty(0, dtype=np.uint8) for _ in self.files]

    def _read_block(self, block: int, buffers: list[NDArray[np.uint8]]) -> list[NDArray[Any]]:
        """Read a block and check it against its checksum."""
        first = block * self.block_columns
        last = min(first + self.block_columns, self.shape[1])
        arrays = self._read(first, last, buffers)
        expected = self.checksums.get(block)
        if expected is not None:
            found = 0
            for array in arrays[: len(self.files)]:
                found = zlib.crc32(array.reshape(-1, order="A").data.cast("B"), found)
            if found != expected:
                raise damaged(self.path, f"columns {first} to {last - 1} do not have the checksum that they were written with")
            self.checksums.pop(block, None)  # a pass of another thread may have removed it
        return arrays

    def _read(self, first: int, last: int, buffers: list[NDArray[np.uint8]]) -> list[NDArray[Any]]:
        """Read columns [first, last): one array of them, or, from a sparse store, entries, their rows and starts."""
        n, begin, end = self.shape[0], int(self.starts[first]), int(self.starts[last])
        arrays = []
        for index, file in enumerate(self.files):
            size = (end - begin) * file.dtype.itemsize
            if len(buffers[index]) < size:
                buffers[index] = np.empty(size, dtype=np.uint8)
            target = buffers[index][:size]
            file.read(begin, target)
            self.bytes_read += size
            arrays.append(target.view(file.dtype))
        if self.storage == "dense":
            return [arrays[0].reshape((n, last - first), order="F")]
        if len(arrays[1]) and not 0 <= arrays[1].min() <= arrays[1].max() < n:
            raise damaged(self.path, f"columns {first} to {last - 1} have rows beyond {n - 1}")
        return [*arrays, (self.starts[first : last + 1] - self.starts[first]).astype(arrays[1].dtype)]

    def _design(self, arrays: list[NDArray[Any]]) -> _core.Design:
        """Return the core's view of a block."""
        if self.storage == "dense":
            return _core.dense(arrays[0], stride=self.shape[0])
        return _core.csc(arrays[0], arrays[1], arrays[2], rows=self.shape[0])

    def take(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return the `columns` of these indices (ascending) as a dense array."""
        listed, out = np.asarray(columns), np.zeros((self.shape[0], len(columns)), dtype=self.dtype, order="F")
        for part in self._runs(listed):
            first, last = int(listed[part.start]), int(listed[part.stop - 1])
            for block in range(first // self.block_columns, last // self.block_columns + 1):
                if block in self.checksums:  # a prediction takes columns before any pass has checked their blocks
                    self._read_block(block, self._no_buffers())
            arrays = self._read(first, last + 1, self._no_buffers())
            if self.storage == "dense":
                out[:, part] = arrays[0][:, listed[part] - first]
                continue
            values, rows, starts = arrays
            for position in range(part.start, part.stop):
                entries = slice(*starts[listed[position] - first : listed[position] - first + 2])
                out[rows[entries], position] = values[entries]
        return out

    @property
    def read_rows(self) -> Reader | None:
        """Return a function that reads some rows of a dense store: a piece of each column."""
        return self._read_rows if self.storage == "dense" else None

    def _read_rows(self, rows: slice, columns: NDArray[Any] | None) -> NDArray[Any]:
        listed = range(self.shape[1]) if columns is None else columns
        out = np.empty((rows.stop - rows.start, len(listed)), dtype=self.dtype, order="F")
        for place, j in enumerate(listed):
            self.files[0].read(int(self.starts[j]) + rows.start, out[:, place].view(np.uint8))
        self.bytes_read += out.nbytes
        return out

    def _runs(self, listed: NDArray[Any]) -> Iterator[slice]:
        """Yield groups of listed columns that are near enough to be read together, of a block's size at most."""
        if not len(listed):
            return
        if listed.min() < 0 or listed.max() >= self.shape[1] or (np.diff(listed) <= 0).any():
            raise InvalidInputError("columns must be ascending indices of columns of X.")
        entry = sum(file.dtype.itemsize for file in self.files)
        begin, end = self.starts[listed] * entry, self.starts[listed + 1] * entry
        start = 0
        for at in range(1, len(listed) + 1):
            if at < len(listed) and begin[at] - end[at - 1] <= GAP_BYTES and end[at] - begin[start] <= BLOCK_BYTES:
                continue
            yield slice(start, at)
            start = at

    def __getitem__(self, key: Any) -> Any:
        """Return X[:, columns] for a slice or ascending indices."""
        whole = isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], slice) and key[0] == slice(None)
        if not whole or np.ndim(key[1]) != (0 if isinstance(key[1], slice) else 1):
            raise InvalidInputError("a column store is read by columns: X[:, columns].")
        n, p = self.shape
        if isinstance(key[1], slice) and key[1].step in (None, 1):
            first, last, _ = key[1].indices(p)
            arrays = self._read(first, max(first, last), self._no_buffers())
            shape = (n, max(last - first, 0))
            return arrays[0] if self.storage == "dense" else sparse.csc_matrix(tuple(arrays), shape=shape, copy=False)
        listed = np.arange(p)[key[1]]
        taken = self.take(listed)
        return taken if self.storage == "dense" else sparse.csc_matrix(taken)

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        """Raise an error: a conversion to an array would read the whole file into memory."""
        raise InvalidInputError(f"{self.path.name} is a column store, not an array in memory; X[:, :] reads all of it.")


class LostStore(ColumnStore):
    """A store whose file is gone or has changed since it was pickled; what needs no data, such as a model, still works."""

    def __init__(self, path: str, threads: int, check: bool, identity: Identity, why: str) -> None:
        self.path, self.threads, self.check, self.identity, self.why = Path(path), threads, check, identity, why
        self.shape, self.dtype, self.storage = identity.shape, np.dtype(identity.dtype), identity.storage
        self.bytes_read = self.passes = 0
        self.target, self.files, self.starts, self.checksums = None, [], np.zeros(self.shape[1] + 1, dtype=np.int64), {}
        self.small_files, self.opened = dict.fromkeys(("y.npy",)), None
        self.block_columns, self.blocks = max(1, self.shape[1]), 1

    def _read(self, first: int, last: int, buffers: list[NDArray[np.uint8]]) -> list[NDArray[Any]]:
        raise InvalidInputError(self.why)

    def _small_file(self, name: str, parse: Callable[[bytes], Any]) -> Any:
        raise InvalidInputError(self.why)


def reopened(path: str, threads: int, check: bool, identity: Identity) -> ColumnStore:
    """Open the file of a pickled store, which is only a reference to it; give a :class:`LostStore` if that fails."""
    try:
        store = ColumnStore(path, threads=threads, check=check)
    except (InvalidInputError, OSError) as error:
        why = f"{path}, which this object refers to, is not there."
        return LostStore(path, threads, check, identity, str(error) if os.path.exists(path) else why)
    if store.identity != identity:
        why = f"{path}, which this object refers to, holds other data now."
        return LostStore(path, threads, check, identity, why)
    return store
