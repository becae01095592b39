"""Dask arrays: the blocks of X stay where they are, on the workers of a cluster or behind Dask's graph in this process.

A pass sends the requests to the blocks and brings back one number for each column and request. The only columns of X that
travel are those that are taken: supports and candidates.

The blocks of a persisted X are in the memory of the workers; those of any other X are computed (or read) again for every pass.
The core needs contiguous columns: persisted blocks that are row-major, or of a type that the core does not know, are converted
once, and the copies stay on the workers for as long as the fit lasts, unless these lack the memory. An X that is made
column-major before it is persisted (`X.map_blocks(np.asfortranarray).persist()`) needs no copies.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.base.imports import import_whole
from ellzero.design.base import Array, as_design, check_dtype, float_dtype
from ellzero.design.cluster import Answer, Cluster, Engine, answered, engine_for
from ellzero.design.dense import held_dtype
from ellzero.design.store import Request

Place = tuple[int, int]  # number of a row block, number of a column block
INLINE_BYTES = 1 << 22  # requests of at most this size, over all tasks, travel inside the tasks, which saves a message


class DaskStore:
    """The columns of a Dask array of NumPy arrays or scipy sparse matrices."""

    names: list[str] | None = None

    def __init__(self, X: Any, connect: bool = True) -> None:
        if X.ndim != 2:
            raise InvalidInputError(f"X must have two dimensions, got {X.ndim}.")
        check_dtype(X.dtype)
        if any(np.isnan(size) for sizes in X.chunks for size in sizes):
            raise InvalidInputError("X has chunks of unknown size: call X.compute_chunk_sizes() first.")
        if not (isinstance(X._meta, np.ndarray) or sparse.issparse(X._meta)):
            raise InvalidInputError(
                f"X must be a Dask array of NumPy arrays or scipy sparse matrices, got {type(X._meta).__name__}."
            )
        self.X = X
        self.shape: tuple[int, int] = X.shape
        self.storage = "sparse" if sparse.issparse(X._meta) else "dense"
        self.dtype: np.dtype[Any] = dtype_held(X._meta)
        self.rows = slices(X.chunks[0])
        self.columns = slices(X.chunks[1])
        self.places = [(i, j) for j in self.columns for i in self.rows]
        grid = X.to_delayed()
        self.blocks = {place: grid[place] for place in self.places}
        self.held: dict[Place, Any] = {}  # futures of the blocks that the workers hold
        self.found: Engine | None = None
        if connect:
            self.connect()

    def __reduce__(self) -> tuple[Any, ...]:
        return DaskStore, (self.X, False)  # a model that was fitted on X can be used without the cluster

    @property
    def engine(self) -> Engine:
        """Return the engine that runs tasks on X."""
        return self.found or self.connect()

    def connect(self) -> Engine:
        """Find the cluster of X, or use Dask's scheduler in this process."""
        self.found = engine_for(self.X)
        if isinstance(self.found, Cluster) and (held := persisted(self.X)):
            self.held = {place: held[place] for place in self.places}
            self.keep_converted(self.found)
        return self.found

    @cached_property
    def nbytes(self) -> int:
        """Return the bytes that one pass reads."""
        if self.storage == "dense":
            return int(self.X.nbytes)
        return sum(size for _, size in self.ask(self.places, bytes_of))

    def keep_converted(self, cluster: Cluster) -> None:
        """Keep converted copies of the blocks that the core cannot use, if the workers have room."""
        futures_of = import_whole("distributed").futures_of
        sizes = dict(self.ask(self.places, size_of_copy))
        chosen = [place for place in self.places if sizes[place]]
        if not chosen or sum(sizes.values()) > cluster.room():
            return
        convert = import_whole("dask").delayed(converted, pure=False)
        kept = cluster.client.persist([convert(self.blocks[place]) for place in chosen])
        self.blocks.update(zip(chosen, kept, strict=True))
        self.held.update(zip(chosen, futures_of(kept), strict=True))
        cluster.held += futures_of(kept)

    def scan(self, requests: Sequence[Request]) -> Iterator[tuple[int, list[Array]]]:
        """Make one pass; yield the first column and the answers of each column block, as they come."""
        split = len(self.rows) > 1
        questions = {
            i: self.packed([request.on_rows(rows) if split else request for request in requests])
            for i, rows in self.rows.items()
        }
        parts: defaultdict[int, dict[int, list[Array]]] = defaultdict(dict)
        for (i, j), answers in self.ask(self.places, answers_of, lambda place: (questions[place[0]],)):
            parts[j][i] = answers
            if len(parts[j]) == len(self.rows):
                ordered = [part for _, part in sorted(parts.pop(j).items())]
                joined = [request.join(pieces) for request, pieces in zip(requests, zip(*ordered, strict=True), strict=True)]
                yield self.columns[j].start, joined if split else ordered[0]

    def packed(self, requests: list[Request]) -> Any:
        """Pack the requests for a row of blocks: inside their tasks, or, if large, as data that each worker fetches once."""
        data = pickle.dumps(requests, protocol=5)
        if len(data) * len(self.columns) <= INLINE_BYTES:
            return data
        return import_whole("dask").delayed(data, traverse=False, pure=False)

    def take(self, columns: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """Return some columns (ascending) as a dense array."""
        out = np.empty((self.shape[0], len(columns)), dtype=self.dtype, order="F")
        for rows, target, values in self.gathered(columns, dense_columns_of):
            out[rows, target] = values
        return out

    def __getitem__(self, key: tuple[slice, Any]) -> Any:
        """Return X[:, columns] for a slice or ascending indices: an array, or a CSC matrix if the blocks are sparse."""
        rows, wanted = key
        if rows != slice(None):
            raise InvalidInputError("X can only be read by columns: X[:, columns].")
        columns = np.arange(self.shape[1])[wanted]
        if self.storage == "dense":
            return self.take(columns)
        pieces = {(target.start, rows.start): values for rows, target, values in self.gathered(columns, sparse_columns_of)}
        starts = sorted({start for start, _ in pieces})
        stacks = [sparse.vstack([pieces[start, rows.start] for rows in self.rows.values()], format="csc") for start in starts]
        return sparse.hstack(stacks, format="csc") if stacks else sparse.csc_matrix((self.shape[0], 0), dtype=self.dtype)

    def gathered(self, columns: NDArray[Any], function: Callable[..., Any]) -> Iterator[tuple[slice, slice, Any]]:
        """Yield rows, positions among the columns, and values of each block that holds some of the columns."""
        targets = {j: slice(*np.searchsorted(columns, (block.start, block.stop)).tolist()) for j, block in self.columns.items()}
        places = [(i, j) for i, j in self.places if targets[j].start < targets[j].stop]
        local = {j: columns[targets[j]] - self.columns[j].start for _, j in places}
        dtype = self.dtype.str
        found: dict[Place, Any] = {}
        if isinstance(self.engine, Cluster) and self.held:
            questions = {place: (self.held[place], (local[place[1]], dtype)) for place in places}
            found = self.engine.ask_holders(function, questions)
        others = [place for place in places if place not in found]
        for (i, j), values in chain(found.items(), self.ask(others, function, lambda place: (local[place[1]], dtype))):
            yield self.rows[i], targets[j], values

    def ask(
        self,
        places: Sequence[Place],
        function: Callable[..., Any],
        arguments: Callable[[Place], tuple[Any, ...]] = lambda _: (),
    ) -> Iterator[tuple[Place, Any]]:
        """Yield the function's value for each of these blocks, computed where the block is."""
        task = import_whole("dask").delayed(checked_answer, pure=False)

        def make(some: Sequence[Place]) -> list[Any]:
            return [
                task(
                    function,
                    self.blocks[place],
                    self.shape_at(place),
                    *arguments(place),
                    dask_key_name=f"{function.__name__}-{uuid4().hex}",  # Dask learns how long tasks with this prefix take
                )
                for place in some
            ]

        return self.engine.run(places, make)

    def shape_at(self, place: Place) -> tuple[int, int]:
        """Return the shape of a block by the array's chunks."""
        rows, columns = self.rows[place[0]], self.columns[place[1]]
        return rows.stop - rows.start, columns.stop - columns.start


def slices(sizes: Sequence[int]) -> dict[int, slice]:
    """Return the range of each chunk by its number, without empty ones."""
    ends = np.cumsum(sizes).tolist()
    return {number: slice(end - size, end) for number, (size, end) in enumerate(zip(sizes, ends, strict=True)) if size}


def persisted(X: Any) -> dict[Place, Any]:
    """Return the futures of all blocks if workers hold them or are about to; otherwise none."""
    future = import_whole("distributed").Future
    graph = X.__dask_graph__()
    blocks = {(i, j): graph[key] for i, row in enumerate(X.__dask_keys__()) for j, key in enumerate(row)}
    return blocks if all(isinstance(block, future) for block in blocks.values()) else {}


# The functions below run on the workers.


def checked_answer(function: Callable[..., Any], block: Any, shape: tuple[int, int], *arguments: Any) -> Answer:
    """Return the function's value for a block, with the worker that computed it; the block must have the expected shape."""
    if block.shape != tuple(shape):
        raise InvalidInputError(f"X has a block of shape {block.shape} where its chunks say {tuple(shape)}.")
    return answered(function(block, *arguments))


def answers_of(block: Any, questions: bytes) -> list[Array]:
    """Return the answers of a block to a list of requests."""
    core = as_design(block).core
    return [request(core, 1) for request in pickle.loads(questions)]


def converted(block: Any) -> Any:
    """Return the block as the core uses it."""
    return as_design(block).stored()


def dtype_held(block: Any) -> np.dtype[Any]:
    """Return the type in which the core holds a block."""
    return np.dtype(float_dtype(block.dtype) if sparse.issparse(block) else held_dtype(block.dtype))


def size_of_copy(block: Any) -> int:
    """Return the bytes of the copy that the core needs of a block, 0 if it needs none."""
    dtype = dtype_held(block)
    by_columns = block.format == "csc" if sparse.issparse(block) else block.flags.f_contiguous
    return 0 if by_columns and block.dtype == dtype else bytes_of(block) * dtype.itemsize // block.dtype.itemsize


def bytes_of(block: Any) -> int:
    """Return the bytes of a block."""
    if not sparse.issparse(block):
        return int(block.nbytes)
    matrix = block.tocsc()
    return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)


def dense_columns_of(block: Any, columns: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Return some of a block's columns as an array."""
    part = block[:, columns]
    return np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=dtype, order="F")


def sparse_columns_of(block: Any, columns: NDArray[Any], dtype: str) -> Any:
    """Return some of a block's columns as a sparse matrix."""
    return sparse.csc_matrix(block.tocsc()[:, columns], dtype=dtype)
