"""Lower bounds for scores: the entropy of cells, and dual points of them; each is a number below the exact one.

Rows that agree on the columns of a support form a cell, which holds P rows with the label +1 and N with -1 (or their weights).

1. No function of these columns, linear or not, has a loss below

       H = sum of T log T - P log P - N log N over the cells,      T = P + N.

2. For 0 <= r <= 1, log(1 + exp(-t)) >= h(r) - r t with h(r) = -r log r - (1 - r) log(1 - r). Numbers r_i for all rows with
   sum_i w_i r_i y_i = 0 therefore give, with v = sum_i w_i r_i y_i x_i and E = sum_i w_i h(r_i), for any intercept

       loss(beta, c) >= E - v'beta.

   Points w_j in [l_j, u_j] with a scale a in [0, A] have beta = a w, so that the loss is at least

       D = E - A max(0, S),       S = sum_j max(l_j v_j, u_j v_j).

   Of features of which at most so many have points, S takes the largest terms only. The numbers r_i are those of any model:
   r_i = 1 / (1 + exp(y_i eta_i)), with those of one label made smaller by one factor, so that they sum to zero.

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
STEPS = 25  # of Newton's method, at most: any point will do
BATCH = 1 << 21  # numbers at once, of supports with all their cells


def entropy(r: Array) -> Array:
    """Return -r log r - (1 - r) log(1 - r)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = np.where(r < 1.0, (1.0 - r) * np.log1p(-r), 0.0)
    return np.asarray(-xlogy(r, r) - rest)


def dual_point(P: Array, N: Array, eta: Array) -> tuple[Array, Array, Array]:
    """Return E, the products w r y of each cell, and the sum of their positive parts, of the point that a model gives.

    Arrays have the cells along their last axis.
    """
    up, down = expit(-eta), expit(eta)
    positive, negative = (P * up).sum(-1, keepdims=True), (N * down).sum(-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        up = up * np.where(positive > negative, negative / positive, 1.0)
        down = down * np.where(negative > positive, positive / negative, 1.0)
    mass = np.minimum(positive, negative)[..., 0]
    return (P * entropy(up) + N * entropy(down)).sum(-1), P * up - N * down, mass


class Limits(NamedTuple):
    """What points may do: the scale is at most `most`; the first `fixed` columns and `room` others have points."""

    most: float
    fixed: int
    room: int


@dataclass(frozen=True, eq=False)
class Rows:
    """The distinct rows of X, with what each weighs of either label.

    Attributes
    ----------
    X : (rows, p), zeros and ones
    P, N : (rows,) counts, or sums of weights
    unit : what a count is worth
    whole : whether P and N are counts

    """

    X: NDArray[np.uint8]
    P: Array
    N: Array
    unit: float
    whole: bool

    @staticmethod
    def of(X: NDArray[np.uint8], y: Array, weights: Array | None) -> Rows:
        """Return the rows of data with labels -1 and +1."""
        packed = np.ascontiguousarray(np.packbits(X, axis=1))
        keys = packed.view(np.dtype((np.void, packed.shape[1])))[:, 0] if packed.shape[1] else np.zeros(len(X), "V1")
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        w, inverse = np.ones(len(y)) if weights is None else weights, inverse.ravel()
        P, N = (np.bincount(inverse, np.where(side, w, 0.0), len(first)).astype(np.float64) for side in (y > 0.0, y < 0.0))
        return Rows(X[first], P, N, 1.0 / len(y) if weights is None else 1.0, weights is None)

    @cached_property
    def total(self) -> float:
        """Return what all rows weigh."""
        return float((self.P + self.N).sum())

    @cached_property
    def terms(self) -> Array:
        """Return n log n of all counts."""
        counts = np.arange(int(self.total) + 1 if self.whole else 0, dtype=np.float64)
        return np.asarray(xlogy(counts, counts))

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
        code = np.zeros(len(self.X), dtype=np.int64)
        for i, j in enumerate(columns):
            code |= self.X[:, j].astype(np.int64) << i
        return code

    def cells(self, columns: Any) -> tuple[Array, Array, Array]:
        """Return the cells of a support: a row of zeros and ones for each, and what they weigh."""
        found, inverse = np.unique(self.codes(columns), return_inverse=True)
        inverse = inverse.ravel()
        Z = (found[:, None] >> np.arange(len(columns)) & 1).astype(np.float64)
        return Z, self.sums(inverse, self.P, len(found)), self.sums(inverse, self.N, len(found))

    def sums(self, places: NDArray[np.int64], worth: Array, count: int) -> Array:
        """Return the sums of what falls into each place."""
        return np.asarray(np.bincount(places, worth, count), dtype=np.float64)

    def dual_bounds(
        self, cells: tuple[NDArray[Any], Array, Array], eta: Array, low: Counts, high: Counts, limits: Limits
    ) -> Array:
        """Return D of boxes of points, each with the values of a model in all cells.

        `cells` are their zeros and ones, and what they weigh of either label, which may differ from box to box.
        """
        Z, P, N = cells
        with np.errstate(all="ignore"):
            worth, theta, mass = dual_point(P, N, eta)
            v = theta @ Z
            gain = np.maximum(v * low, v * high)
            free = np.sort(gain[:, limits.fixed :], axis=1)[:, ::-1]
            S = gain[:, : limits.fixed].sum(axis=1) + free[:, : limits.room].sum(axis=1)
            sizes = np.maximum(np.abs(low), np.abs(high))
            reach = limits.most * sizes.max(axis=1, initial=0) * min(limits.fixed + limits.room, Z.shape[1])
            slack = EPS * ((len(Z) + self.summed + 30) * (worth + 2.0 * mass * reach) + 200.0 * self.total)
            found = self.unit * (worth - limits.most * np.maximum(0.0, S) - slack)
        return np.asarray(np.where(np.isfinite(found), found, -np.inf))

    def boxes_bound(self, columns: Any, points: Array, low: Counts, high: Counts, most: float) -> Array:
        """Return D of boxes of points of one support, each with a model (coefficients and an intercept)."""
        cells = self.cells(columns)
        eta = points[:, :-1] @ cells[0].T + points[:, -1:]
        return self.dual_bounds(cells, eta, low, high, Limits(most, len(columns), 0))

    def region_bound(
        self, model: tuple[Counts, Array, float], inside: Any, maybe: Any, limits: tuple[Counts, Counts, int, float]
    ) -> float:
        """Return D of all supports that hold `inside` and further columns of `maybe`, by a model of the whole table."""
        (used, values, intercept), (low, high, k, most) = model, limits
        eta = self.X[:, used] @ values + intercept
        columns = [*inside, *maybe]
        cells = self.X[:, columns], self.P, self.N
        room = Limits(most, len(inside), max(k - len(inside), 0))
        return float(self.dual_bounds(cells, eta[None, :], low[columns][None, :], high[columns][None, :], room)[0])

    def free_bounds(self, supports: NDArray[np.int64], low: Counts, high: Counts, most: float) -> Array:
        """Return D of supports of the same size, by models that Newton's method finds here."""
        count, size = supports.shape
        cells = 1 << size
        Z = (np.arange(cells)[:, None] >> np.arange(size) & 1).astype(np.float64)
        out = np.empty(count)
        step = max(1, BATCH // cells)
        for start in range(0, count, step):
            part = supports[start : start + step]
            P, N = (np.stack([self.sums(self.codes(each), side, cells) for each in part]) for side in (self.P, self.N))
            eta = fitted(P.astype(np.float64), N.astype(np.float64), np.column_stack([Z, np.ones(cells)]))
            out[start : start + step] = self.dual_bounds((Z, P, N), eta, low[part], high[part], Limits(most, size, 0))
        return out

    def open_supports(
        self, inside: list[int], maybe: list[int], size: int, level: float, conflict: NDArray[np.bool_] | None
    ) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield how many supports of a size were looked at, and those whose entropy is below a level.

        They hold `inside` and columns of `maybe`. Prefixes of all but two columns are taken one by one; the counts of all pairs
        that complete one are products of matrices.
        """
        last = min(2, size - len(inside))
        for chosen in itertools.combinations(range(len(maybe)), size - len(inside) - last):
            prefix = [*inside, *(maybe[i] for i in chosen)]
            rest = np.array(maybe[chosen[-1] + 1 :] if chosen else maybe, dtype=np.int64)
            if conflict is not None:
                if conflict[prefix][:, prefix].any():
                    continue
                rest = rest[~conflict[prefix][:, rest].any(axis=0)]
            if len(rest) < last:
                continue
            found = self.unit * self.completed(prefix, rest, last)
            pairs = np.triu_indices(len(rest), 1) if last == 2 else (np.arange(len(rest)),) * last
            if conflict is not None and last == 2:
                allowed = ~conflict[rest[pairs[0]], rest[pairs[1]]]
                pairs, found = (pairs[0][allowed], pairs[1][allowed]), found[allowed]
            few = np.flatnonzero(~(found >= level))
            ends = [rest[each[few]][:, None] for each in pairs[:last]]
            yield len(found), np.hstack([np.tile(np.array(prefix, dtype=np.int64), (len(few), 1)), *ends])

    def completed(self, prefix: list[int], rest: NDArray[np.int64], last: int) -> Array:
        """Return H of a prefix completed by no column, by each column, or by each pair of columns."""
        code = self.codes(prefix)
        order = np.argsort(code, kind="stable")
        starts = np.flatnonzero(np.diff(code[order], prepend=-1))
        totals = [np.add.reduceat(side[order], starts) for side in (self.P, self.N)]
        mixed = np.flatnonzero((totals[0] > 0.0) & (totals[1] > 0.0))  # a cell of one label has no entropy, nor have its parts
        ends = np.append(starts[1:], len(order))
        if last == 0:
            return self.cell_entropy(totals[0][:, None], totals[1][:, None])
        if not len(mixed):
            return np.zeros(len(rest) * (len(rest) - 1) // 2 if last == 2 else len(rest))
        # Products of counts below 2^24 are exact.
        exact: Any = np.float32 if self.whole and self.total < 2**24 else self.P.dtype
        X = self.X[:, rest].astype(exact)
        counts = []
        first, second = np.triu_indices(len(rest), 1)
        for side, total in zip((self.P, self.N), totals, strict=True):
            parts = []
            for cell in mixed:
                rows = order[starts[cell] : ends[cell]]
                block, w = X[rows], side[rows].astype(exact)
                if last == 1:
                    ones = (w @ block).astype(self.P.dtype)
                    parts.append(np.stack([ones, total[cell] - ones]))
                else:
                    gram = ((block * w[:, None]).T @ block).astype(self.P.dtype)
                    both, single = gram[first, second], np.diag(gram)
                    one, other = single[first], single[second]
                    parts.append(np.stack([both, one - both, other - both, total[cell] - one - other + both]))
            counts.append(np.concatenate(parts))
        return self.cell_entropy(*counts)


def fitted(P: Array, N: Array, Z: Array) -> Array:
    """Return linear functions of cells, one for each row of counts, by a few cautious steps of Newton's method."""
    T, d = P + N, Z.shape[1]
    b = np.zeros((len(P), d))
    products = (Z[:, :, None] * Z[:, None, :]).reshape(len(Z), d * d)
    ridge = 1e-6 * np.eye(d) * np.maximum(T.sum(axis=1), 1e-300)[:, None, None] / len(Z)
    for _ in range(STEPS):
        s = expit(b @ Z.T)
        H = ((T * s * (1.0 - s)) @ products).reshape(len(P), d, d) + ridge
        step = np.linalg.solve(H, ((T * s - P) @ Z)[:, :, None])[:, :, 0]
        longest = np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-300)
        b -= step * np.minimum(1.0, 2.0 / longest)
        if longest.max() < 1e-7:
            break
    return np.asarray(b @ Z.T)
