"""Lower bounds for scores: the entropy of cells, and dual points of them; each is a number below the exact one.

Rows that agree on the columns of a support form a cell, which holds P rows with the label +1 and N with -1 (or their weights).

1. No function of these columns, linear or not, has a loss below

       H = sum of T log T - P log P - N log N over the cells,      T = P + N.

2. For 0 <= r <= 1, log(1 + exp(-t)) >= h(r) - r t with h(r) = -r log r - (1 - r) log(1 - r). Numbers r_i for all rows with
   sum_i w_i r_i y_i = 0 therefore give, with v = sum_i w_i r_i y_i x_i and E = sum_i w_i h(r_i), for any intercept

       loss(beta, c) >= E - v'beta.

   Points w_j in [l_j, u_j] with a scale a in [B, A] have beta = a w, so that the loss is at least

       D = E - max(B S, A S),       S = sum_j max(l_j v_j, u_j v_j).

   Of features of which only some may have points, S takes the largest terms only, less the price of each. The numbers r_i are
   those of any model: r_i = 1 / (1 + exp(y_i eta_i)), with those of one label made smaller by one factor, so that they sum to
   zero. Where the intercept is a number of points, it is the coefficient of a column of ones: then the r_i stay unchanged.

Rounding: the factor exists exactly, and the numbers here are those of that point with few relative errors. What sums over cells
make of these errors is taken off.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
EPS = 2.0**-52
STEPS = 5, 8, 12  # of Newton's method, as many as it takes to close a support: any point will do
LARGEST_CODE = 1 << 48  # of a cell, to which another column may be added
BATCH = 1 << 21  # numbers at once, of supports with all their cells


def entropy(r: Array) -> Array:
    """Return -r log r - (1 - r) log(1 - r)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = np.where(r < 1.0, (1.0 - r) * np.log1p(-r), 0.0)
    return np.asarray(-xlogy(r, r) - rest)


def dual_point(P: Array, N: Array, eta: Array, balanced: bool) -> tuple[Array, Array, Array]:
    """Return E, the products w r y of each cell, and the sum of their positive parts, of the point that a model gives.

    Arrays have the cells along their last axis.
    """
    up, down = expit(-eta), expit(eta)
    positive, negative = (P * up).sum(-1, keepdims=True), (N * down).sum(-1, keepdims=True)
    mass = (np.minimum if balanced else np.maximum)(positive, negative)[..., 0]
    if balanced:
        with np.errstate(divide="ignore", invalid="ignore"):
            up = up * np.where(positive > negative, negative / positive, 1.0)
            down = down * np.where(negative > positive, positive / negative, 1.0)
    return (P * entropy(up) + N * entropy(down)).sum(-1), P * up - N * down, mass


class Limits(NamedTuple):
    """What a card may do: a scale from `least` to `most`, and at most this many columns, that for the intercept included."""

    least: float
    most: float
    size: int


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The distinct rows of X, with what each weighs of either label.

    Attributes
    ----------
    X : (rows, p), zeros and ones, or small whole numbers
    P, N : (rows,) counts, or sums of weights
    unit : what a count is worth
    whole : whether P and N are counts
    price : of each column with points
    ones : the column for the intercept, which is then a number of points; -1: there is none

    """

    X: NDArray[np.uint8]
    P: Array
    N: Array
    unit: float
    whole: bool
    price: float = 0.0
    ones: int = -1

    @staticmethod
    def of(X: NDArray[np.uint8], y: Array, weights: Array | None, price: float = 0.0, ones: int = -1) -> DistinctRows:
        """Return the rows of data with labels -1 and +1."""
        packed = np.ascontiguousarray(np.packbits(X, axis=1) if X.max(initial=0) <= 1 else X)
        keys = packed.view(np.dtype((np.void, packed.shape[1])))[:, 0] if packed.shape[1] else np.zeros(len(X), "V1")
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        w, inverse = np.ones(len(y)) if weights is None else weights, inverse.ravel()
        P, N = (np.bincount(inverse, np.where(side, w, 0.0), len(first)).astype(np.float64) for side in (y > 0.0, y < 0.0))
        return DistinctRows(X[first], P, N, 1.0 / len(y) if weights is None else 1.0, weights is None, price, ones)

    @cached_property
    def total(self) -> float:
        """Return what all rows weigh."""
        return float((self.P + self.N).sum())

    @cached_property
    def terms(self) -> Array:
        """Return n log n of all counts."""
        counts = np.arange(int(self.total) + 1 if self.whole else 0, dtype=np.float64)
        return np.asarray(xlogy(counts, counts))

    @cached_property
    def bases(self) -> list[int]:
        """Return one more than the largest number of each column."""
        return [int(each) + 1 for each in self.X.max(axis=0, initial=1)]

    def cost(self, columns: int) -> float:
        """Return the price of that many columns, that for the intercept included."""
        return self.price * (columns - (self.ones >= 0))

    @property
    def summed(self) -> int:
        """Return the number of roundings in a sum of weights."""
        return 0 if self.whole else len(self.P)

    def x_log_x(self, counts: Array) -> Array:
        """Return n log n."""
        if self.whole:
            return self.terms[counts.astype(np.intp)]
        return np.asarray(xlogy(np.maximum(counts, 0.0), np.maximum(counts, 0.0)))

    def cell_entropy(self, P: Array, N: Array) -> Array:
        """Return H of cells, which stand along the first axis: a lower bound."""
        found = (self.x_log_x(P + N) - self.x_log_x(P) - self.x_log_x(N)).sum(axis=0)
        size = self.total * (np.log(max(self.total, 2.0)) if self.whole else 40.0)
        return np.asarray(found - EPS * (8 * len(P) + 40 + 4 * self.summed) * size)

    def codes(self, columns: Any) -> NDArray[np.int64]:
        """Return the number of each row's cell: bit i says whether it has a one in the i-th of few columns."""
        code, size = np.zeros(len(self.X), dtype=np.int64), 1
        for j in columns:
            if size > LARGEST_CODE:
                found, code = np.unique(code, return_inverse=True)
                code, size = code.ravel(), len(found)
            code = code + size * self.X[:, j].astype(np.int64)
            size *= self.bases[j]
        return code

    def cells(self, columns: Any) -> tuple[Array, Array, Array]:
        """Return the cells of a support: a row of zeros and ones for each, and what they weigh."""
        found, first, inverse = np.unique(self.codes(columns), return_index=True, return_inverse=True)
        inverse = inverse.ravel()
        Z = self.X[np.ix_(first, columns)].astype(np.float64)
        return Z, self.sums(inverse, self.P, len(found)), self.sums(inverse, self.N, len(found))

    def sums(self, places: NDArray[np.int64], worth: Array, count: int) -> Array:
        """Return the sums of what falls into each place."""
        return np.asarray(np.bincount(places, worth, count), dtype=np.float64)

    def dual_bounds(
        self, cells: tuple[NDArray[Any], Array, Array], eta: Array, low: Counts, high: Counts, limits: Limits, fixed: int
    ) -> Array:
        """Return D of boxes of points, each with the values of a model in all cells; the first `fixed` columns have points.

        `cells` are their numbers, and what they weigh of either label, which may differ from box to box.
        """
        Z, P, N = cells
        with np.errstate(all="ignore"):
            worth, theta, mass = dual_point(P, N, eta, self.ones < 0)
            v = theta @ Z
            gain = np.maximum(v * low, v * high)
            room = max(limits.size - fixed, 0)
            free = np.sort(gain[:, fixed:], axis=1)[:, ::-1][:, :room]
            price = self.price / self.unit
            S = [
                scale * gain[:, :fixed].sum(axis=1) + np.maximum(scale * free - price, 0.0).sum(axis=1)
                for scale in (limits.least, limits.most)
            ]
            sizes = np.maximum(np.abs(low), np.abs(high)) * np.asarray(Z).max(axis=0, initial=0)
            reach = limits.most * sizes.max(axis=1, initial=0) * min(fixed + room, Z.shape[1])
            slack = EPS * (
                (len(Z) + self.summed + 30) * (worth + 2.0 * mass * reach + self.cost(limits.size) / self.unit)
                + 200.0 * self.total
            )
            found = self.unit * (worth - np.maximum(*S) - slack) + self.cost(fixed)
        return np.asarray(np.where(np.isfinite(found), found, -np.inf))

    def boxes_bound(self, columns: Any, points: Array, low: Counts, high: Counts, limits: Limits) -> Array:
        """Return D of boxes of points of one support, each with a model (coefficients and an intercept)."""
        cells = self.cells(columns)
        eta = points[:, :-1] @ cells[0].T + points[:, -1:]
        return self.dual_bounds(cells, eta, low, high, limits, len(columns))

    def region_bound(
        self, model: tuple[Counts, Array, float], inside: Any, maybe: Any, limits: tuple[Counts, Counts, Limits]
    ) -> float:
        """Return D of all supports that hold `inside` and further columns of `maybe`, by a model of the whole table."""
        (used, values, intercept), (low, high, asked) = model, limits
        eta = self.X[:, used] @ values + intercept
        columns = [*inside, *maybe]
        cells = self.X[:, columns], self.P, self.N
        return float(
            self.dual_bounds(cells, eta[None, :], low[columns][None, :], high[columns][None, :], asked, len(inside))[0]
        )

    def free_bounds(self, supports: NDArray[np.int64], low: Counts, high: Counts, limits: Limits, level: float) -> Array:
        """Return D of supports of the same size, by models that Newton's method finds here; it ends where D reaches a level."""
        count, size = supports.shape
        if max(self.bases, default=2) > 2:
            return np.concatenate([np.zeros(0), *(self.free_bound(each, low, high, limits) for each in supports)])
        cells = 1 << size
        Z = (np.arange(cells)[:, None] >> np.arange(size) & 1).astype(np.float64)
        table = np.column_stack([Z, np.ones(cells)])
        out = np.empty(count)
        step = max(1, BATCH // max(cells, len(self.X)))
        for start in range(0, count, step):
            part = supports[start : start + step]
            P, N = self.cell_sums(part, cells)
            b, found, todo = np.zeros((len(part), size + 1)), np.full(len(part), -np.inf), np.arange(len(part))
            for steps in STEPS:
                sides = P[todo].astype(np.float64), N[todo].astype(np.float64)
                b[todo] = fitted(*sides, table, b[todo], steps)
                eta = b[todo] @ table.T
                bounds = self.dual_bounds((Z, P[todo], N[todo]), eta, low[part[todo]], high[part[todo]], limits, size)
                found[todo] = np.maximum(found[todo], bounds)
                todo = todo[~(found[todo] >= level)]
            out[start : start + step] = found
        return out

    def cell_sums(self, supports: NDArray[np.int64], cells: int) -> tuple[Array, Array]:
        """Return what the cells of supports weigh of either label: a row for each support."""
        code = np.zeros((len(supports), len(self.X)), dtype=np.int64)
        for i, columns in enumerate(supports.T):
            code |= self.X.T[columns].astype(np.int64) << i
        places = (code + cells * np.arange(len(supports))[:, None]).ravel()
        shape = len(supports), cells
        P, N = (
            self.sums(places, np.tile(side, len(supports)), cells * len(supports)).reshape(shape) for side in (self.P, self.N)
        )
        return P, N

    def free_bound(self, support: NDArray[np.int64], low: Counts, high: Counts, limits: Limits) -> Array:
        """Return D of a support with numbers above one, in an array of one."""
        Z, P, N = self.cells(support)
        table = np.column_stack([Z, np.ones(len(Z))])
        b = fitted(P[None].astype(np.float64), N[None].astype(np.float64), table, np.zeros((1, table.shape[1])), sum(STEPS))
        return self.dual_bounds((Z, P, N), b @ table.T, low[support][None], high[support][None], limits, len(support))

    def open_supports(
        self, inside: list[int], maybe: list[int], size: int, level: float, conflict: NDArray[np.bool_] | None
    ) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield how many supports of a size were looked at, and those whose entropy is below a level.

        They hold `inside` and columns of `maybe`. Where all columns are zeros and ones, prefixes of all but three columns are
        taken one by one; the counts of all pairs that complete one and a further column are products of matrices.
        """
        missing = size - len(inside)
        pairs = missing >= 2 and max(self.bases, default=2) <= 2
        for chosen in itertools.combinations(range(len(maybe)), max(missing - 3, 0) if pairs else missing):
            prefix = [*inside, *(maybe[i] for i in chosen)]
            rest = np.array(maybe[chosen[-1] + 1 :] if chosen else maybe, dtype=np.int64)
            if conflict is not None:
                if conflict[prefix][:, prefix].any():
                    continue
                rest = rest[~conflict[prefix][:, rest].any(axis=0)]
            if not pairs:
                found = self.unit * self.support_entropy(prefix)
                yield 1, np.array([prefix], dtype=np.int64)[~(found >= level)]
                continue
            if len(rest) < min(missing, 3):
                continue
            for head, ends, H in self.completed(prefix, rest, min(missing, 3)):
                allowed = np.ones(len(H), dtype=bool)
                if conflict is not None:
                    allowed = ~(
                        conflict[ends[0], ends[1]] | conflict[ends[0]][:, head].any(1) | conflict[ends[1]][:, head].any(1)
                    )
                few = np.flatnonzero(~(self.unit * H >= level) & allowed)
                begin = np.tile(np.array([*prefix, *head], dtype=np.int64), (len(few), 1))
                yield int(allowed.sum()), np.column_stack([begin, ends[0][few], ends[1][few]])

    def support_entropy(self, support: list[int]) -> Array:
        """Return H of one support."""
        _, P, N = self.cells(np.array(support, dtype=np.int64))
        return self.cell_entropy(P[:, None], N[:, None])

    def completed(
        self, prefix: list[int], rest: NDArray[np.int64], last: int
    ) -> Iterator[tuple[list[int], tuple[NDArray[np.int64], NDArray[np.int64]], Array]]:
        """Yield H of a prefix with pairs of columns, or of each column that follows with all pairs that follow it."""
        blocks = self.blocks(prefix, rest)
        grams = blocks.grams
        if last == 2:
            first, second = np.triu_indices(len(rest), 1)
            yield [], (rest[first], rest[second]), self.pair_entropy(blocks.totals, grams)
            return
        for i in range(len(rest) - 2):
            ones = blocks.grams_with(i)
            more = grams[:, :, i + 1 :, i + 1 :]
            single = grams[:, :, i, i]
            first, second = np.triu_indices(len(rest) - i - 1, 1)
            H = self.pair_entropy(
                np.concatenate([single, blocks.totals - single], axis=1), np.concatenate([ones, more - ones], axis=1)
            )
            yield [int(rest[i])], (rest[i + 1 :][first], rest[i + 1 :][second]), H

    def blocks(self, prefix: list[int], rest: NDArray[np.int64]) -> CellBlocks:
        """Return the rows of the cells of a prefix that have both labels: another cell has no entropy, nor have its parts."""
        code = self.codes(prefix)
        order = np.argsort(code, kind="stable")
        starts = np.flatnonzero(np.diff(code[order], prepend=-1))
        totals = np.stack([np.add.reduceat(side[order], starts) for side in (self.P, self.N)])
        mixed = np.flatnonzero((totals > 0.0).all(axis=0))
        ends = np.append(starts[1:], len(order))
        # Products of counts below 2^24 are exact.
        exact: Any = np.float32 if self.whole and self.total < 2**24 else self.P.dtype
        X, parts = self.X[:, rest], []
        for side in (self.P, self.N):
            for cell in mixed:
                rows = order[starts[cell] : ends[cell]]
                rows = rows[side[rows] > 0.0]
                block = np.ascontiguousarray(X[rows], dtype=exact)
                parts.append(((block * side[rows].astype(exact)[:, None]).T.copy(), block))
        return CellBlocks(totals[:, mixed], parts, len(rest), self.P.dtype)

    def pair_entropy(self, totals: Array, grams: Array) -> Array:
        """Return H of cells cut by all pairs of columns, of which `grams` has the counts: labels, cells, columns, columns."""
        r = grams.shape[-1]
        first, second = np.triu_indices(r, 1)
        flat = grams.reshape(*grams.shape[:2], r * r)
        both, single = flat[:, :, first * r + second], flat[:, :, :: r + 1]
        one, other = single[:, :, first], single[:, :, second]
        counts = np.stack([both, one - both, other - both, totals[:, :, None] - one - other + both], axis=1)
        if self.whole:
            counts = counts.astype(np.intp)
        return self.cell_entropy(*counts.reshape(2, -1, len(first)))


class CellBlocks:
    """Rows of cells as matrices, with the counts of all pairs of columns in each: labels, cells, columns, columns."""

    def __init__(self, totals: Array, parts: list[tuple[Array, Array]], columns: int, dtype: Any) -> None:
        self.totals, self.parts, self.columns, self.dtype = totals, parts, columns, dtype
        self.grams = self.stacked([weighted @ block for weighted, block in parts], columns)

    def stacked(self, grams: list[Array], columns: int) -> Array:
        """Return counts of all cells in an array."""
        return np.array(grams, dtype=self.dtype).reshape(2, len(grams) // 2, columns, columns)

    def grams_with(self, i: int) -> Array:
        """Return the counts of the columns after the i-th in the rows that have the i-th."""
        found = []
        for weighted, block in self.parts:
            here = np.flatnonzero(block[:, i])
            found.append(weighted[i + 1 :, here] @ block[here, i + 1 :])
        return self.stacked(found, self.columns - i - 1)


def fitted(P: Array, N: Array, Z: Array, b: Array, steps: int) -> Array:
    """Return coefficients of linear functions of cells, one for each row of counts, after cautious steps of Newton's method."""
    T, d = P + N, Z.shape[1]
    products = (Z[:, :, None] * Z[:, None, :]).reshape(len(Z), d * d)
    ridge = 1e-6 * np.eye(d) * np.maximum(T.sum(axis=1), 1e-300)[:, None, None] / len(Z)
    for _ in range(steps):
        s = expit(b @ Z.T)
        H = ((T * s * (1.0 - s)) @ products).reshape(len(P), d, d) + ridge
        step = np.linalg.solve(H, ((T * s - P) @ Z)[:, :, None])[:, :, 0]
        longest = np.maximum(np.abs(step).max(axis=1, keepdims=True, initial=0.0), 1e-300)
        b = b - step * np.minimum(1.0, 2.0 / longest)
        if longest.max(initial=0.0) < 1e-7:
            break
    return b
