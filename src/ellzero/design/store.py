"""X that is kept elsewhere: what a storage must offer, and the questions that solvers ask of all its columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ellzero import _core

__all__ = ["BLOCK_BYTES", "Moments", "Products", "Request", "Store"]

Array = NDArray[np.float64]

BLOCK_BYTES = 1 << 24
"""Stores are read in blocks of about this size: long enough to be read fast, short enough to hold several."""


class Request(Protocol):
    """A question to every column, answered block by block. It is small, and can be sent to where the columns are."""

    def __call__(self, block: _core.Design, threads: int) -> Array:
        """The answers for the columns of a block, of shape (k, columns)."""

    def on_rows(self, rows: slice) -> Request:
        """The part of the question for blocks that hold these rows only."""

    def join(self, parts: Sequence[Array]) -> Array:
        """The answers from those of all parts, in the order of the rows."""


class Store(Protocol):
    """X, wherever it is kept."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]  # of the columns that `take` returns: float64, float32 or int8
    storage: str  # "dense" or "sparse": what a certificate's checksum is taken of
    nbytes: int  # that a pass reads

    @property
    def names(self) -> list[str] | None:
        """Of the columns, where they have any."""

    def scan(self, requests: Sequence[Request]) -> Iterator[tuple[int, list[Array]]]:
        """One pass over all columns: the first column of each block and what it answers to each request, in any order."""

    def take(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Some columns (distinct, ascending) as an array of shape (n, columns) in Fortran order."""

    def __getitem__(self, key: Any) -> Any:
        """X[:, columns] for a slice or ascending indices: an array, or a CSC matrix where the storage is sparse."""


@dataclass(frozen=True, eq=False)
class Products:
    """The products of all columns with some vectors."""

    vectors: Array  # (sides, n)

    def __call__(self, block: _core.Design, threads: int) -> Array:
        """The products."""
        return block.products(self.vectors, threads=threads)

    def on_rows(self, rows: slice) -> Products:
        """The part of the rows."""
        return Products(np.ascontiguousarray(self.vectors[:, rows]))

    def join(self, parts: Sequence[Array]) -> Array:
        """The sum."""
        return np.sum(parts, axis=0)


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and variance of all columns, and the share of the weights that these are of: one, or less for a part of the rows."""

    weights: Array
    partial: bool = False  # the weights do not sum to one

    def __call__(self, block: _core.Design, threads: int) -> Array:
        """The means, the variances and the share."""
        share = float(self.weights.sum()) if self.partial else 1.0
        if share == 0.0:
            return np.zeros((3, block.shape[1]))
        mean, variance = block.moments(self.weights / share if self.partial else self.weights, threads=threads)
        return np.stack([mean, variance, np.full(len(mean), share)])

    def on_rows(self, rows: slice) -> Moments:
        """The part of the rows."""
        return Moments(np.ascontiguousarray(self.weights[rows]), partial=True)

    def join(self, parts: Sequence[Array]) -> Array:
        """Means and variances of groups make those of all: the variance within the groups and that between them."""
        means, variances, shares = np.stack(parts, axis=1)
        mean = (shares * means).sum(axis=0)
        return np.stack([mean, (shares * (variances + (means - mean) ** 2)).sum(axis=0), shares.sum(axis=0)])
