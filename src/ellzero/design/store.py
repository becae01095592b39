"""Stores: an X outside memory, the methods that a storage must offer, and the requests that solvers send to all its columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BLOCK_BYTES = 1 << 24
"""Stores are read in blocks of about this size: long enough to be read fast, short enough to hold several in memory."""


class Block(Protocol):
    """Some columns of X where they are: a design of the core, or columns on a device."""

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of rows and columns."""

    def products(self, vectors: Array, *, threads: int = 1) -> Array:
        """Return the products of the columns with some vectors, one in a row."""

    def moments(self, weights: Array, *, threads: int = 1) -> tuple[Array, Array]:
        """Return the weighted means and variances of the columns."""


class Request(Protocol):
    """A question to every column, answered block by block; it is small, and can be sent to where the columns are."""

    def __call__(self, block: Block, threads: int) -> Array:
        """Return the answers for the columns of a block, of shape (k, columns)."""

    def on_rows(self, rows: slice) -> Request:
        """Return the part of the request for blocks that hold only these rows."""

    def join(self, parts: Sequence[Array]) -> Array:
        """Return the answers for whole columns from those of all parts, which are in the order of the rows."""


class Store(Protocol):
    """X, wherever it is kept outside memory."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]  # of the columns that `take` returns: float64, float32 or int8
    storage: str  # "dense" or "sparse"; the checksum of X in a certificate depends on it
    nbytes: int  # bytes that one pass reads

    @property
    def names(self) -> list[str] | None:
        """Return the names of the columns, None if they have none."""

    def scan(self, requests: Sequence[Request]) -> Iterator[tuple[int, list[Array]]]:
        """Make one pass over all columns; yield the first column of each block and its answer to each request, in any order."""

    def take(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return some columns (distinct, ascending) as an array of shape (n, columns) in Fortran order."""

    def __getitem__(self, key: Any) -> Any:
        """Return X[:, columns] for a slice or ascending indices: an array, or a CSC matrix where the storage is sparse."""


@dataclass(frozen=True, eq=False)
class Products:
    """Request for the products of all columns with some vectors."""

    vectors: Array  # one vector of length n in a row

    def __call__(self, block: Block, threads: int) -> Array:
        """Return the products of a block's columns."""
        return block.products(self.vectors, threads=threads)

    def on_rows(self, rows: slice) -> Products:
        """Return the request for the vectors' entries in these rows."""
        return Products(np.ascontiguousarray(self.vectors[:, rows]))

    def join(self, parts: Sequence[Array]) -> Array:
        """Return the sum of the parts."""
        return np.sum(parts, axis=0)


@dataclass(frozen=True, eq=False)
class Moments:
    """Request for the mean and variance of all columns, and the sum of the weights that they are taken over."""

    weights: Array
    partial: bool = False  # whether these are the weights of some rows only, which do not sum to one

    def __call__(self, block: Block, threads: int) -> Array:
        """Return the means, the variances and the sum of the weights."""
        share = float(self.weights.sum()) if self.partial else 1.0
        if share == 0.0:
            return np.zeros((3, block.shape[1]))
        mean, variance = block.moments(self.weights / share if self.partial else self.weights, threads=threads)
        return np.stack([mean, variance, np.full(len(mean), share)])

    def on_rows(self, rows: slice) -> Moments:
        """Return the request for the weights of these rows."""
        return Moments(np.ascontiguousarray(self.weights[rows]), partial=True)

    def join(self, parts: Sequence[Array]) -> Array:
        """Return the moments of all rows: the variance is that within the parts plus that between their means."""
        means, variances, shares = np.stack(parts, axis=1)
        mean = means[0] + (shares * (means - means[0])).sum(axis=0)  # exactly that of the parts, if they agree
        return np.stack([mean, (shares * (variances + (means - mean) ** 2)).sum(axis=0), shares.sum(axis=0)])
