"""The squared error of many rows as that of few: one read of X, and n matters no more.

Let A = sqrt(W) [X, y], with columns and response centred where there is an intercept, and A = Q [R q; 0 s]. Then

    sum_i w_i (y_i - x_i b)^2 = |q - R b|^2 + s^2    for every b,

so p + 1 rows, those of [R; 0] with the response (q; s), are the same problem. R comes from the Gram matrix A'A by Cholesky's
method, which takes as long as a product of matrices. But a Gram matrix squares the condition of X. Where that would cost
digits, R comes from QR factorisations of blocks of rows; where no blocks of rows can be had, the problem stays unchanged.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, solve_triangular

from ellzero.base.blas import one_thread
from ellzero.design.base import Reader, slices_of
from ellzero.design.dense import DenseDesign
from ellzero.problem.equal_rows import different_rows

if TYPE_CHECKING:
    from ellzero.problem.problem import Problem

Array = NDArray[np.float64]

LEAST_ROWS = 5_000
"""With fewer rows X itself is fast."""
MOST_COLUMNS, MOST_OF_DESCENT = 2_000, 300
"""R takes n p^2 steps. Beyond that many columns local search on X takes fewer, and coordinate descent does much sooner."""
ENTRIES_PER_SQUARE = 8
"""R pays where X has that many times more entries than R."""
ROWS_AT_A_TIME, BLOCK_BYTES = 4096, 1 << 24
"""Blocks of rows are copied to be centred and weighted: products of that many are fast, and they stay in the cache."""
SOUND = 1e-5
"""A Gram matrix will do if the least pivot of Cholesky's method, for columns of length one, times the share of y'y that no
column explains is at least this. Sums of squares are off by about 1e-15 y'y / pivot: nothing next to the least of them."""
BLOCK_ROWS_PER_COLUMN = 4
"""Blocks that are factorised have that many times more rows than columns: their factors are factorised once more."""
NARROW = 256
"""Products of blocks with at most this many columns are too small for the threads of BLAS; those of wider ones gain by them."""
FAR = 100
"""Columns whose size is not within 2^FAR of one are scaled before they are squared."""


@dataclass(frozen=True, eq=False)
class FewRows:
    """Rows that stand for all: columns on the scale of X, and the response as the core sees it, a column for each output."""

    design: DenseDesign
    y: Array
    w: Array
    centred: bool  # the p + 1 rows of the squared error are, so that their intercept is zero

    def on(self, columns: NDArray[Any]) -> FewRows:
        """Return the rows of some columns."""
        return replace(self, design=self.design.take(columns))


class Rows:
    """The rows of a problem, and the few that the core takes in their place: made when first requested, and kept.

    Problems that differ in their penalties share them.
    """

    def __init__(self, problem: Problem) -> None:
        self.key = (problem.design, problem.y, problem.w, problem.fit_intercept)
        self.made: list[FewRows | None] = []
        self.lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, lock=threading.Lock())

    def belong_to(self, problem: Problem) -> bool:
        """Return whether these are the problem's rows."""
        own = (problem.design, problem.y, problem.w, problem.fit_intercept)
        return all(mine is its for mine, its in zip(self.key, own, strict=True))

    def few(self, problem: Problem, threads: int, thorough: bool) -> FewRows | None:
        """Return the few rows of the problem, None if it had better keep all; local search, say, is `thorough`."""
        with self.lock:
            if not self.made and worth_making(problem, MOST_COLUMNS if thorough else MOST_OF_DESCENT):
                self.made.append(few_rows(WeightedTable(problem, threads)))
            elif not self.made and problem.design.shape[0] >= LEAST_ROWS and not problem.loss.constant_curvature:
                self.made.append(merged_rows(problem))
        return self.made[0] if self.made else None

    def on(self, columns: NDArray[Any], part: Problem) -> Rows:
        """Return the rows of a problem of some columns only, which need not be made again."""
        out = Rows(part)
        out.made = [few and few.on(columns) for few in self.made]
        return out


def worth_making(problem: Problem, most_columns: int) -> bool:
    """Return whether the loss is the squared error, and X so much larger than R that making R pays."""
    n, p = problem.design.shape
    tall = n >= LEAST_ROWS and p <= most_columns and problem.design.entries >= ENTRIES_PER_SQUARE * p * p
    return tall and problem.loss.constant_curvature


def merged_rows(problem: Problem) -> FewRows | None:
    """Return one row for equal ones, None if hardly any are equal: the rest of the rows of losses that are no squares."""
    found = different_rows(problem)
    if found is None or not isinstance(problem.design, DenseDesign):
        return None
    rows, w = found
    y = problem.units.core_response(problem.y).reshape(problem.y.shape, order="F")[rows]
    return FewRows(DenseDesign(problem.design.array[rows]), y, w, centred=False)


def few_rows(table: WeightedTable) -> FewRows | None:
    """Make the few rows of a table, None if they would cost too many digits."""
    with one_thread if table.threads > 1 or table.width <= NARROW else nullcontext():
        found = by_gram(table) or by_blocks(table)
    if found is None or not all(np.isfinite(part).all() for part in found):
        return None
    R, y = found
    rows = len(y)
    root = math.sqrt(rows * table.unit)  # the core takes the mean of squares
    return FewRows(DenseDesign(np.asfortranarray(R * (root / table.factor))), y * root, np.full(rows, 1.0 / rows), centred=True)


class WeightedTable:
    """A = sqrt(W / unit) [1, X, y] in blocks of rows: the ones of an intercept, X less its means, and y as the core sees it."""

    def __init__(self, problem: Problem, threads: int) -> None:
        w, (n, p) = problem.w, problem.design.shape
        self.design, self.mean, self.threads = problem.design, problem.mean, threads
        self.columns, self.ones = p, int(problem.fit_intercept)
        self.unit = float(w.max())
        self.root = None if (w == w[0]).all() else np.sqrt(w / self.unit)
        self.y = problem.units.core_response(problem.y).reshape(n, -1, order="F")
        size = problem.column_spread(np.arange(p, dtype=np.int32))
        self.used = np.flatnonzero((size > 0.0) & ~problem.constant)  # the others are zero, but for rounding
        exponent = np.zeros(p)
        exponent[self.used] = np.round(np.log2(size[self.used]))
        self.factor = np.exp2(np.where(np.abs(exponent) > FAR, -exponent, 0.0))  # brings squares into range

    @property
    def width(self) -> int:
        """The number of columns of A."""
        return self.ones + self.columns + self.y.shape[1]

    def block(self, rows: slice, read: Reader) -> Array:
        """Return some rows of A, in the order of memory of X."""
        X, y = read(rows, None), self.y[rows]
        first, last = self.ones, self.ones + self.columns
        out = np.empty((len(y), self.width), order="C" if X.strides[0] > X.strides[1] else "F")
        out[:, :first] = 1.0
        np.subtract(X, self.mean, out=out[:, first:last], dtype=np.float64)
        out[:, last:] = y
        if (self.factor != 1.0).any():
            out[:, first:last] *= self.factor
        if self.root is not None:
            out *= self.root[rows, None]
        return out

    def results(self, work: Callable[[Array], Array], read: Reader, rows: int) -> Iterator[Array]:
        """Yield the work's results of all blocks of that many rows, in their order."""
        parts = slices_of(len(self.y), rows)
        if self.threads == 1:
            yield from (work(self.block(part, read)) for part in parts)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                yield from pool.map(lambda part: work(self.block(part, read)), parts)

    def gram(self) -> Array | None:
        """Return A'A, in which X and y have their means if X is not read by rows; None if it cannot be had."""
        if (read := self.design.reader()) is not None:
            rows = max(256, min(ROWS_AT_A_TIME, BLOCK_BYTES // (8 * self.width)))
            return reduce(np.add, self.results(lambda block: block.T @ block, read, rows))
        w = np.ones(len(self.y)) if self.root is None else self.root**2
        if (self.factor != 1.0).any() or (inner := self.design.gram(w, self.threads)) is None:
            return None
        sides = np.hstack([np.ones((len(w), self.ones)), self.y])
        own = sides.T @ (w[:, None] * sides)
        across = np.column_stack([self.design.rmatvec(w * side) for side in sides.T])
        order = [*range(self.ones), *range(sides.shape[1], self.width), *range(self.ones, sides.shape[1])]
        return np.block([[own, across.T], [across, inner]])[np.ix_(order, order)]


def by_gram(table: WeightedTable) -> tuple[Array, Array] | None:
    """Return R and the response by Cholesky's method, None where the Gram matrix is not precise enough."""
    gram, first = table.gram(), table.ones
    if gram is None or not np.isfinite(gram).all():
        return None
    length = np.sqrt(np.diag(gram))
    length[length == 0.0] = 1.0
    gram /= length[:, None]
    gram /= length
    if first:  # centred at last: what rounding left of the means, or the means themselves
        gram -= np.outer(gram[:, 0], gram[0]) / gram[0, 0]
    columns, outputs = first + table.used, slice(first + table.columns, None)
    R, order, rank, _ = lapack.dpstrf(gram[np.ix_(columns, columns)])
    if rank < len(columns):
        return None
    R, order = np.triu(R), columns[order - 1]
    y = solve_triangular(R, gram[order, outputs], trans=1)
    total = np.diag(gram)[outputs]
    rest = total - np.square(y).sum(axis=0)
    if R.diagonal().min(initial=1.0) ** 2 * (rest[total > 0.0] / total[total > 0.0]).min(initial=1.0) < SOUND:
        return None
    out = np.zeros((len(columns) + 1, table.columns))
    out[:-1, order - first] = R * length[order]
    return out, np.vstack([y, np.sqrt(np.maximum(rest, 0.0))]) * length[outputs]


def by_blocks(table: WeightedTable) -> tuple[Array, Array] | None:
    """Return R and the response by QR factorisations of blocks of rows, and of their factors; None if X is not read by rows."""
    if (read := table.design.reader()) is None:
        return None
    factors = table.results(triangle, read, max(ROWS_AT_A_TIME, BLOCK_ROWS_PER_COLUMN * table.width))
    none = np.zeros((table.width, table.width))
    R = reduce(lambda upper, lower: triangle(np.vstack([upper, lower])), factors, none)[table.ones :, table.ones :]
    p, out = table.columns, np.zeros((table.columns + 1, table.columns))
    out[:-1, table.used] = R[:p, table.used]
    rest = np.sqrt(np.square(R[p:, p:]).sum(axis=0))
    return out, np.vstack([R[:p, p:], rest])


def triangle(block: Array) -> Array:
    """Return the R of a QR factorisation."""
    return np.asarray(np.linalg.qr(block, mode="r"))
