"""Consequences of a dual point for one region: lower bounds, fixed features and narrower boxes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

from ellzero.exact.verifier.arithmetic import Array, Float64, Objective, Point
from ellzero.exact.verifier.data import dense, require
from ellzero.exact.verifier.diagonals import Diagonals, Model

Mask = NDArray[np.bool_]
Index = NDArray[np.int64]

# A batch of dual points takes one pass over X, which may be on a disk: larger batches need fewer passes.
PRODUCT_BYTES = 256 * 2**20  # of a batch's products with all columns
BATCH_BYTES = 32 * 2**20  # of a batch's points; their dual objectives need several arrays of this size
LARGEST_BATCH = 1024
NEGLIGIBLE = 1e-9  # an objective below this part of the null model's is mere rounding


def null_loss(name: str, y: Array, w: Array, fit_intercept: bool) -> float:
    """Return the least weighted loss of a model without features."""
    if name == "squared_error":
        return 0.5 * float(w @ (y - (w @ y if fit_intercept else 0.0)) ** 2)
    if not fit_intercept:
        return math.log(2.0) if name == "logistic" else 1.0
    positive, negative = float(w[y > 0.0].sum()), float(w[y <= 0.0].sum())
    share = min(positive, negative) / (positive + negative)  # the smaller one has all its digits
    if name == "logistic":
        return float(-xlogy(share, share) - xlog1py(1.0 - share, -share))
    return 2.0 * share if name == "hinge" else 4.0 * share * (1.0 - share)


def balance(theta: Array) -> Array:
    """Move a dual point towards zero until its sum is exactly zero, as an intercept without penalty requires.

    On a grid of 2^-50 of the total, all sums are exact in float64. Smaller magnitudes stay inside the domain of every loss. A
    point whose total is too small for the grid, or too large, becomes zero, which is a dual point too.
    """
    total = float(np.abs(theta).sum())
    exponent = math.frexp(total)[1]
    if exponent < -900 or not math.isfinite(total):
        return np.zeros_like(theta)
    grid = math.ldexp(1.0, exponent - 50)
    theta = np.trunc(theta / grid) * grid
    excess = float(theta.sum())
    heavy = np.flatnonzero(np.sign(theta) == np.sign(excess))
    heavy = heavy[np.argsort(-np.abs(theta[heavy]), kind="stable")]
    size = np.abs(theta[heavy])
    before = np.cumsum(size) - size
    theta[heavy] = math.copysign(1.0, excess) * (size - np.clip(abs(excess) - before, 0.0, size))
    return theta if theta.sum() == 0.0 else np.zeros_like(theta)


@dataclass(frozen=True)
class State:
    """The region of a node: its undecided features, those that are in, clauses and boxes; all other features are zero there.

    At least one feature of each clause is in. Clauses are disjoint lists of undecided features outside of `home`.
    """

    index: Index  # ascending
    inside: Mask  # in, or unpenalized; the others are undecided
    low: Array
    high: Array
    chosen: int  # counted features that are in
    clause: Index  # the number of each feature's clause, -1 if it has none; of all features, also those that are out
    clauses: int = 0  # their number

    def keep(self, mask: Mask) -> State:
        """Return the state without the features outside the mask, which become zero."""
        rows = {name: getattr(self, name)[mask] for name in ("index", "inside", "low", "high")}
        return replace(self, **rows)

    def decide(self, block: Index, side: int, home: Mask) -> State | None:
        """Return the state with one more decision, None if it contradicts what is known.

        Side 0: no feature of the block is in. Side 1: at least one is. That adds nothing where one is known to be in, nor where
        the block shares features with a clause without being a part of it, or holds several features of which one is at home.
        """
        here = np.isin(self.index, block)
        if not side:
            return None if (here & self.inside).any() else self.keep(~here)
        if not here.any():
            return None
        if (here & self.inside).any():
            return self
        if np.count_nonzero(here) == 1:
            return replace(self, inside=self.inside | here, chosen=self.chosen + 1)
        # Features that are out count here: what is added depends on the blocks alone, not on what was proved about them.
        shared = np.unique(self.clause[block])
        if len(shared) > 1 or home[block].any():
            return self
        fresh = shared[0] < 0
        clause = self.clause.copy() if fresh else np.where(self.clause == shared[0], -1, self.clause)
        clause[block] = self.clauses if fresh else shared[0]
        return replace(self, clause=clause, clauses=self.clauses + int(fresh))

    def settle(self) -> State | None:
        """Return the state without satisfied clauses, and with the last feature of a clause in; None if a clause is empty."""
        if not self.clauses:
            return self
        clause = self.clause[self.index]
        left = np.bincount(clause[clause >= 0], minlength=self.clauses)
        if not left.all():
            return None
        last = (clause >= 0) & (left[clause] == 1) & ~self.inside
        inside = self.inside | last
        satisfied = np.zeros(self.clauses, dtype=bool)
        satisfied[clause[(clause >= 0) & inside]] = True
        number = np.append(np.where(satisfied, -1, np.cumsum(~satisfied) - 1), -1)  # the last one: of no clause
        clause = number[self.clause]
        chosen = self.chosen + np.count_nonzero(last)
        return replace(self, inside=inside, chosen=chosen, clause=clause, clauses=int(np.count_nonzero(~satisfied)))


@dataclass(frozen=True)
class Problem:
    """The problem that certificate and data define; coefficients are on the penalised scale.

    The numbers of the penalty, of boxes and of bounds are those of `arithmetic`; data and dual points are float64.
    """

    loss: str
    lambda_0: Any
    lambda_1: Any
    lambda_2: Any
    k: int  # so many features from outside `home` may be in, and so many of `home` out
    home: Mask  # none, unless the bound is over swaps
    fit_intercept: bool
    X: Any
    y: Array
    w: Array
    spread: Array
    norm: Array  # sqrt(sum_i w_i z_ij^2), for bounds of rounding errors
    counted: Mask
    low: Array
    high: Array
    unit: float | Array = 1.0  # of the dual points, for all rows or for each
    arithmetic: Float64 = field(default_factory=Float64)

    def evaluate(self, coef: Array, intercept: float) -> Objective:
        """Return the objective of a model."""
        support = np.flatnonzero(coef)
        columns = dense(self.X[:, support]) if len(support) else np.zeros((len(self.y), 0))
        numbers = self.arithmetic.numbers
        beta = np.abs(numbers(coef[support]) * numbers(self.spread[support]))
        penalties = np.where(self.counted[support], self.lambda_0, 0) + (self.lambda_1 * beta + self.lambda_2 * beta * beta)
        found = self.arithmetic.objective(self.loss, columns, coef[support], intercept, self.y, self.w, penalties)
        require(all(map(self.arithmetic.finite, found)), "the objective of the solution is not finite.")
        return found

    def scale(self, objective: float) -> float:
        """Return the number that gaps are relative to: the objective or, where that is mere rounding, the null model's."""
        null = null_loss(self.loss, self.y, self.w, self.fit_intercept)
        return objective if objective > NEGLIGIBLE * null else null

    def root(self) -> State:
        """Return the state of the root, where nothing is decided."""
        p = len(self.counted)
        return State(np.arange(p, dtype=np.int64), ~self.counted, self.low, self.high, 0, np.full(p, -1, dtype=np.int64))

    def allowed(self, state: State) -> tuple[int, int]:
        """Return how many features may come from outside `home` beyond one of each clause, and how many of `home` may leave."""
        home = self.home[state.index]
        entered = state.chosen - np.count_nonzero(home & state.inside) + state.clauses
        return self.k - entered, self.k - (np.count_nonzero(self.home) - np.count_nonzero(home))

    def cap(self, state: State, upper: Any) -> State | None:
        """Narrow a state by counts and penalties alone, for solutions not worse than `upper`; None if no solution is left.

        Losses are never negative, so that the penalties of such a solution are at most `upper`.
        """
        settled = state.settle()
        if settled is None:
            return None
        state = settled
        home, (enter, leave) = self.home[state.index], self.allowed(state)
        inside = state.inside | home if leave == 0 else state.inside
        chosen = state.chosen + np.count_nonzero(inside) - np.count_nonzero(state.inside)
        more = max(np.count_nonzero(home & ~inside) - leave, 0)  # whichever leave, so many of the undecided ones are in
        room = upper - self.lambda_0 * (chosen + more + state.clauses)
        if min(enter, leave) < 0 or room < 0:
            return None
        # `room` may have paid the lambda_0 of these already: one of each clause, and the undecided ones of `home`.
        member = state.clause[state.index] >= 0
        paid = inside | member | home if more else inside | member
        # Beyond the last root of lambda_1 m + lambda_2 m^2 - room, the penalty alone exceeds what is left.
        last_root = self.arithmetic.last_root
        large, small = (last_root(self.lambda_2, self.lambda_1, -left).item() for left in (room, max(room - self.lambda_0, 0)))
        reach = np.where(paid, large, small)
        low, high = np.maximum(state.low, -reach), np.minimum(state.high, reach)
        if (low > high).any():
            return None
        possible = paid | (home | (enter > 0)) & (room >= self.lambda_0)
        return replace(state, inside=inside, low=low, high=high, chosen=chosen).keep(possible)

    def points(
        self, alpha: Array, rest: Array | None, rows: Index, diagonals: Diagonals | None = None
    ) -> Iterator[Point | None]:
        """Yield the dual point of each row of alpha, in this order, None for -1; one pass over X serves many rows."""
        known = self._points(alpha, rest, rows[rows >= 0], diagonals)
        for row in rows:
            yield next(known) if row >= 0 else None

    def _points(self, alpha: Array, rest: Array | None, rows: Index, diagonals: Diagonals | None) -> Iterator[Point]:
        n, p = self.X.shape
        step = int(np.clip(min(BATCH_BYTES // (8 * n), PRODUCT_BYTES // (8 * p)), 1, LARGEST_BATCH))
        for start in range(0, len(rows), step):
            used = rows[start : start + step]
            theta = self._theta(alpha[used].astype(np.float64) + (0.0 if rest is None else rest[used].astype(np.float64)))
            points = self.arithmetic.points(
                self.loss, theta, self.y, self.w, self.X, self.spread, self.norm, self.fit_intercept
            )
            for row, at, point in zip(used.tolist(), theta, points, strict=True):
                model = None if diagonals is None else diagonals.models[row]
                yield point if model is None or diagonals is None else self._move(point, at, model, diagonals)

    def _move(self, point: Point, theta: Array, model: Model, diagonals: Diagonals) -> Point:
        """Return a dual point with the diagonal that it uses."""
        diagonals.check(model.diagonal, self)
        moved, covered = diagonals.entries(model.diagonal, len(self.counted))
        idle = self.norm == 0.0  # columns of which the loss says nothing: an intercept, if any, takes their place
        foreign = ~(covered | idle)[model.columns]
        require(not foreign.any(), f"the model of a dual point uses a column that diagonal {model.diagonal} does not have.")
        order = np.argsort(model.columns)  # matrices on a disk want columns in ascending order
        order = order[covered[model.columns[order]]]
        at, coef = model.columns[order], model.values[order]
        columns = dense(self.X[:, at]) if len(at) else np.zeros((len(self.y), 0))
        arguments = columns, coef, self.spread[at], self.fit_intercept, at, moved
        point = self.arithmetic.move(point, theta, self.y, self.w, *arguments)
        return point._replace(moved=self.arithmetic.numbers(moved), covered=covered | idle)

    def _theta(self, alpha: Array) -> Array:
        alpha = alpha * self.unit
        if self.loss == "squared_error":
            theta = self.w * alpha
        else:
            alpha = np.clip(alpha, 0.0, np.inf if self.loss == "squared_hinge" else 1.0)
            theta = self.y * (self.w * alpha)
        return np.array([balance(row) for row in theta]).reshape(theta.shape) if self.fit_intercept else theta

    def narrow(self, state: State, point: Point, upper: Any) -> tuple[Any, State | None]:
        """Return D at a dual point, and the state narrowed by D and `upper`; None if no solution is left below `upper`."""
        if point.covered is not None and not point.covered[state.index].all():
            return -math.inf, state
        v_low, v_high, ridge = point.v_low[state.index], point.v_high[state.index], self._ridge(state, point)
        home, undecided, (enter, leave) = self.home[state.index], ~state.inside, self.allowed(state)
        s = np.maximum(self._support_function(v_low, ridge, state), self._support_function(v_high, ridge, state))  # convex in v
        net = s - np.where(self.counted[state.index], self.lambda_0, 0)
        # By default, undecided features of `home` are in, the best of each clause too, and others are out. A departure is a
        # feature that does the opposite.
        clause = state.clause[state.index]
        top, second = best_of_clauses(net, clause, state.clauses)
        best = np.zeros(len(net), dtype=bool)
        best[top] = True
        coming, going = undecided & ~home & ~best, undecided & home
        rise_in, rise_out = np.zeros((2, len(net)), dtype=net.dtype)
        entered, last, following = best_departures(net[coming], enter)
        rise_in[coming], rise_out[coming] = rises(net[coming], last, following)
        if state.clauses:
            # One that is not the best of its clause comes in its place, or beside it. Where the best is out, the second takes
            # its place, and that of the second, if it had come anyway, another.
            other = (clause >= 0) & ~best
            place = net[top][clause[other]]
            rise_in[other] = np.maximum((np.minimum(place, last) if enter else place) - net[other], 0)
            rise_out[top] = net[top] - (np.minimum(second, following) if enter else second)
            if not enter:
                rise_out[other] = 0
        left, last, following = best_departures(-net[going], leave)
        rise_out[going], rise_in[going] = rises(-net[going], last, following)
        bound = self.arithmetic.sum_below(np.concatenate((point.terms, -net[~coming], -entered, -left)), point.gauge)
        if not self.arithmetic.finite(bound):
            return -math.inf, state
        if bound > upper:
            return math.inf, None
        out, into = bound + rise_in > upper, bound + rise_out > upper
        if (out & into).any():
            return math.inf, None
        # The bound with feature j in, without j's own term.
        rest = self.arithmetic.below(bound + rise_in + s, abs(bound) + rise_in + np.abs(s))
        low, high = self._peel(state, v_low, v_high, ridge, rest, upper)
        chosen = state.chosen + np.count_nonzero(into)
        return bound, self.cap(replace(state, inside=state.inside | into, low=low, high=high, chosen=chosen).keep(~out), upper)

    def _ridge(self, state: State, point: Point) -> Array:
        """Return the ridge of each feature, rounded down: lambda_2, and what a diagonal moves there."""
        ridge = np.full(len(state.index), self.lambda_2)
        if point.moved is None:
            return ridge
        ridge = ridge + point.moved[state.index] / 2
        return np.maximum(self.arithmetic.below(ridge, ridge), self.lambda_2)

    def _support_function(self, v: Array, ridge: Array, state: State) -> Array:
        """Return an upper bound, tight up to rounding, of max v beta - lambda_1 |beta| - ridge beta^2 over the boxes."""
        over = np.maximum(np.abs(v) - self.lambda_1, 0)
        held = ridge > 0
        beta = np.where(held, over / np.where(held, 2 * ridge, 1), np.where(over > 0, np.inf, over))
        beta = np.where(v < 0, -beta, beta)
        beta = np.minimum(np.maximum(beta, state.low), state.high)  # concave: the nearest point to the maximiser outside
        size = np.abs(beta)
        slope = np.where(beta < 0, -v, v) - self.lambda_1
        curve = np.maximum(self.arithmetic.below(ridge * size, 0), 0)  # of a tiny ridge, underflow would be most of it
        value = self.arithmetic.above(size * (slope - curve), size * (np.abs(slope) + curve))
        finite = self.arithmetic.finite
        return np.where(finite(beta) & finite(value), value, np.inf)

    def _peel(self, state: State, v_low: Array, v_high: Array, ridge: Array, rest: Array, upper: Any) -> tuple[Array, Array]:
        """Return the boxes without the outer parts where rest - (v beta - lambda_1 |beta| - ridge beta^2) exceeds `upper`.

        `rest` is a lower bound with feature j in, without j's own term. Zero is never cut off; boxes that exclude zero stay as
        they are.
        """
        around_zero = (state.low <= 0) & (state.high >= 0)
        constant = self.arithmetic.below(rest - upper, np.abs(rest) + upper)
        last_root = self.arithmetic.last_root
        high = np.minimum(state.high, last_root(ridge, self.lambda_1 - v_high, constant))
        low = np.maximum(state.low, -last_root(ridge, self.lambda_1 + v_low, constant))
        return np.where(around_zero, low, state.low), np.where(around_zero, high, state.high)


def best_of_clauses(net: Array, clause: Index, clauses: int) -> tuple[Index, Array]:
    """Return the place of the best feature of each clause, and the value of its second best."""
    members = np.flatnonzero(clause >= 0)
    order = members[np.lexsort((-net[members], clause[members]))]
    first = np.searchsorted(clause[order], np.arange(clauses))
    return order[first], net[order[first + 1]] if clauses else net[:0]  # a clause has at least two features


def best_departures(gain: Array, limit: int) -> tuple[Array, Any, Any]:
    """Return the `limit` largest positive gains, the least of them and the largest of the others; zero if there is none."""
    ranked = np.sort(gain[gain > 0])[::-1]
    last = ranked[limit - 1] if 0 < limit <= len(ranked) else 0
    following = ranked[limit] if limit < len(ranked) else 0
    return ranked[:limit], last, following


def rises(gain: Array, last: Any, following: Any) -> tuple[Array, Array]:
    """Return the loss in the sum of the largest gains if a feature must be, or must not be, among them."""
    return np.maximum(last - gain, 0), np.maximum(gain - following, 0)
