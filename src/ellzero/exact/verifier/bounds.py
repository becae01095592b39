"""Consequences of a dual point for one region: lower bounds, fixed features and narrower boxes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from ellzero.exact.verifier.data import UNIT, dense, products, require

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Index = NDArray[np.int64]
Point = tuple[Array, float, Array, Array]  # loss terms of D, the size of their parts, v = Z^T theta, rounding errors of v

# A batch of dual points takes one pass over X, which may be on a disk: larger batches need fewer passes.
PRODUCT_BYTES = 256 * 2**20  # of a batch's products with all columns
BATCH_BYTES = 32 * 2**20  # of a batch's points; their dual objectives need several arrays of this size
LARGEST_BATCH = 1024
ROUND = 2.0**-48  # 16 units in the last place: covers the few roundings of any formula here, relative to its inputs
SLACK = 1e-12  # boxes are kept larger by this part, so that rounding in a change of scale cuts off no solution


def loss_values(name: str, eta: Array, y: Array) -> Array:
    """Return f(eta, y)."""
    if name == "squared_error":
        return 0.5 * (y - eta) ** 2
    if name == "logistic":
        return np.logaddexp(0.0, -y * eta)
    short = np.maximum(0.0, 1.0 - y * eta)
    return short if name == "hinge" else short**2


def dual_terms(name: str, theta: Array, y: Array, w: Array) -> tuple[Array, Array]:
    """Return -w f*(-theta / w), row by row, and the sum of the absolute values of its parts."""
    size, divisor = np.abs(theta), np.where(w > 0.0, w, 1.0)
    if name == "hinge":
        return size, size
    if name == "logistic":
        ratio, rest = size / divisor, (w - size) / divisor
        entropy = -w * (xlogy(ratio, ratio) + xlogy(rest, rest))
        return entropy, entropy + w
    linear, square = (theta * y, theta**2 / divisor / 2.0) if name == "squared_error" else (size, size**2 / divisor / 4.0)
    return linear - square, np.abs(linear) + square


def balance(theta: Array) -> Array:
    """Move a dual point towards zero until its sum is exactly zero, as an intercept without penalty requires.

    On a grid of 2^-50 of the total, all sums are exact in float64. Smaller magnitudes stay inside the domain of every loss.
    """
    exponent = math.frexp(float(np.abs(theta).sum()))[1]
    if exponent < -900:
        return np.zeros_like(theta)  # so small that the grid would underflow
    grid = math.ldexp(1.0, exponent - 50)
    theta = np.trunc(theta / grid) * grid
    excess = float(theta.sum())
    heavy = np.flatnonzero(np.sign(theta) == np.sign(excess))
    heavy = heavy[np.argsort(-np.abs(theta[heavy]), kind="stable")]
    size = np.abs(theta[heavy])
    before = np.cumsum(size) - size
    theta[heavy] = math.copysign(1.0, excess) * (size - np.clip(abs(excess) - before, 0.0, size))
    require(theta.sum() == 0.0, "a dual point could not be balanced for the intercept.")
    return theta


@dataclass(frozen=True)
class State:
    """The region of a node: its undecided features, those that are in, and their boxes; all others are zero there."""

    index: Index  # ascending
    inside: Mask  # in, or unpenalized; the others are undecided
    low: Array
    high: Array
    chosen: int  # counted features that are in

    def keep(self, mask: Mask) -> State:
        """Return the state without the features outside the mask, which become zero."""
        return replace(self, index=self.index[mask], inside=self.inside[mask], low=self.low[mask], high=self.high[mask])

    def decide(self, feature: int, side: int) -> State | None:
        """Return the state with one more decision, None if it contradicts what is known."""
        at = int(np.searchsorted(self.index, feature))
        if at == len(self.index) or self.index[at] != feature:
            return None if side else self
        if self.inside[at]:
            return self if side else None
        here = np.arange(len(self.index)) == at
        return replace(self, inside=self.inside | here, chosen=self.chosen + 1) if side else self.keep(~here)


@dataclass(frozen=True)
class Problem:
    """The problem that certificate and data define; coefficients are on the penalised scale."""

    loss: str
    lambda_0: float
    lambda_1: float
    lambda_2: float
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

    def evaluate(self, coef: Array, intercept: float) -> tuple[float, float]:
        """Return the objective of a model, and an upper bound of it that holds despite rounding."""
        support = np.flatnonzero(coef)
        columns = dense(self.X[:, support]) if len(support) else np.zeros((len(self.y), 0))
        eta = columns @ coef[support] + intercept
        error = (len(support) + 4) * UNIT * (np.abs(columns) @ np.abs(coef[support]) + abs(intercept))
        beta = coef[support] * self.spread[support]
        penalty = [self.lambda_0] * int(self.counted[support].sum())
        penalty += (self.lambda_1 * np.abs(beta) + self.lambda_2 * beta**2).tolist()
        worst = np.maximum(
            loss_values(self.loss, eta - error, self.y), loss_values(self.loss, eta + error, self.y)
        )  # f is convex
        values = [exact_sum(np.append(self.w * f, penalty)) for f in (loss_values(self.loss, eta, self.y), worst)]
        require(math.isfinite(values[0] + values[1]), "the objective of the solution is not finite.")
        return values[0], values[1] * (1.0 + 4.0 * ROUND)

    def root(self) -> State:
        """Return the state of the root, where nothing is decided."""
        return State(np.arange(len(self.counted), dtype=np.int64), ~self.counted, self.low, self.high, 0)

    def allowed(self, state: State) -> tuple[int, int]:
        """Return how many more features may come from outside `home`, and how many more of `home` may leave."""
        home = self.home[state.index]
        entered = state.chosen - np.count_nonzero(home & state.inside)
        return self.k - entered, self.k - (np.count_nonzero(self.home) - np.count_nonzero(home))

    def cap(self, state: State, upper: float) -> State | None:
        """Narrow a state by counts and penalties alone, for solutions not worse than `upper`; None if no solution is left.

        Losses are never negative, so that the penalties of such a solution are at most `upper`.
        """
        home, (enter, leave) = self.home[state.index], self.allowed(state)
        inside = state.inside | home if leave == 0 else state.inside
        chosen = state.chosen + np.count_nonzero(inside) - np.count_nonzero(state.inside)
        more = max(np.count_nonzero(home & ~inside) - leave, 0)  # whichever leave, so many of the undecided ones are in
        room = upper - self.lambda_0 * (chosen + more)
        if min(enter, leave) < 0 or room < 0.0:
            return None
        paid = inside | home if more else inside  # `room` may have paid their lambda_0 already
        reach = np.where(paid, self._largest(room), self._largest(max(room - self.lambda_0, 0.0)))
        low, high = np.maximum(state.low, -reach), np.minimum(state.high, reach)
        if (low > high).any():
            return None
        possible = paid | (home | (enter > 0)) & (room >= self.lambda_0)
        return replace(state, inside=inside, low=low, high=high, chosen=chosen).keep(possible)

    def _largest(self, room: float) -> float:
        """Return the root M of lambda_1 M + lambda_2 M^2 = room; infinite without penalties."""
        divisor = self.lambda_1 + math.hypot(self.lambda_1, 2.0 * math.sqrt(self.lambda_2) * math.sqrt(room))
        return 2.0 * room / divisor * (1.0 + SLACK) if divisor > 0.0 else math.inf

    def points(self, alpha: NDArray[Any], rest: NDArray[Any] | None, rows: Index) -> Iterator[Point | None]:
        """Yield the dual point of each row of alpha, in this order, None for -1; one pass over X serves many rows."""
        known = self._points(alpha, rest, rows[rows >= 0])
        for row in rows:
            yield next(known) if row >= 0 else None

    def _points(self, alpha: NDArray[Any], rest: NDArray[Any] | None, rows: Index) -> Iterator[Point]:
        n, p = self.X.shape
        step = int(np.clip(min(BATCH_BYTES // (8 * n), PRODUCT_BYTES // (8 * p)), 1, LARGEST_BATCH))
        for start in range(0, len(rows), step):
            used = rows[start : start + step]
            theta = self._theta(alpha[used].astype(np.float64) + (0.0 if rest is None else rest[used]))
            terms, parts = dual_terms(self.loss, theta, self.y, self.w)
            length = np.sqrt((theta**2 / np.where(self.w > 0.0, self.w, 1.0)).sum(axis=1))
            radius = (n + 8) * UNIT * length  # Cauchy-Schwarz: sum_i |theta_i z_ij| <= norm_j * length
            v = products(theta, self.X)
            v /= self.spread
            for at, gauge in enumerate(parts.sum(axis=1).tolist()):
                yield terms[at], gauge, v[at].copy(), radius[at] * self.norm
            del v  # its name would keep it in memory until the next batch is computed

    def _theta(self, alpha: Array) -> Array:
        if self.loss == "squared_error":
            theta = self.w * alpha
        else:
            alpha = np.clip(alpha, 0.0, np.inf if self.loss == "squared_hinge" else 1.0)
            theta = self.y * (self.w * alpha)
        return np.array([balance(row) for row in theta]).reshape(theta.shape) if self.fit_intercept else theta

    def narrow(self, state: State, point: Point, upper: float) -> tuple[float, State | None]:
        """Return D at a dual point, and the state narrowed by D and `upper`; None if no solution is left below `upper`."""
        terms, gauge, v, error = point[0], point[1], point[2][state.index], point[3][state.index]
        home, undecided, (enter, leave) = self.home[state.index], ~state.inside, self.allowed(state)
        s = np.maximum(self._support_function(v - error, state), self._support_function(v + error, state))  # convex in v
        net = s - self.lambda_0 * self.counted[state.index]
        # By default, undecided features of `home` are in and others are out. A departure is a feature that does the opposite.
        (rise_in, rise_out), coming, going = np.zeros((2, len(net))), undecided & ~home, undecided & home
        entered, rise_in[coming], rise_out[coming] = best_departures(net[coming], enter)
        left, rise_out[going], rise_in[going] = best_departures(-net[going], leave)
        terms = np.concatenate((terms, -net[~coming], -entered, -left))
        bound = exact_sum(terms) - ROUND * (gauge + float(np.abs(terms).sum()))
        if not math.isfinite(bound):
            return -math.inf, state
        if bound > upper:
            return math.inf, None
        out, into = bound + rise_in > upper, bound + rise_out > upper
        if (out & into).any():
            return math.inf, None
        low, high = self._peel(state, v, error, bound + rise_in + s, upper)
        chosen = state.chosen + np.count_nonzero(into)
        return bound, self.cap(replace(state, inside=state.inside | into, low=low, high=high, chosen=chosen).keep(~out), upper)

    def _support_function(self, v: Array, state: State) -> Array:
        """Return an upper bound, tight up to rounding, of max v beta - lambda_1 |beta| - lambda_2 beta^2 over the boxes."""
        over = np.maximum(np.abs(v) - self.lambda_1, 0.0)
        beta = over / (2.0 * self.lambda_2) if self.lambda_2 > 0.0 else np.where(over > 0.0, np.inf, 0.0)
        beta = np.clip(np.copysign(beta, v), state.low, state.high)  # concave: the nearest point to the maximiser outside
        bounded = np.isfinite(beta)
        beta = np.where(bounded, beta, 0.0)
        gain, price = v * beta, self.lambda_1 * np.abs(beta) + self.lambda_2 * beta**2
        return np.where(bounded, gain - price + ROUND * (np.abs(gain) + price), np.inf)

    def _peel(self, state: State, v: Array, error: Array, rest: Array, upper: float) -> tuple[Array, Array]:
        """Return the boxes without the outer parts where rest - (v beta - lambda_1 |beta| - lambda_2 beta^2) exceeds `upper`.

        `rest` is the bound with feature j in, without j's own term. Zero is never cut off; boxes that exclude zero stay as they
        are.
        """
        around_zero = (state.low <= 0.0) & (state.high >= 0.0)
        constant = rest - upper - ROUND * (np.abs(rest) + upper)
        high = np.minimum(state.high, self._last_root(self.lambda_1 - (v + error), constant))
        low = np.maximum(state.low, -self._last_root(self.lambda_1 + (v - error), constant))
        return np.where(around_zero, low, state.low), np.where(around_zero, high, state.high)

    def _last_root(self, slope: Array, constant: Array) -> Array:
        """Return a point m >= 0 beyond which lambda_2 m^2 + slope m + constant is positive; infinite if there is none."""
        squares, product = slope**2, 4.0 * self.lambda_2 * constant
        inner = squares - product + ROUND * (squares + np.abs(product))  # a double root must not be taken for none
        root = np.sqrt(np.maximum(inner, 0.0))
        falling = np.where(inner < 0.0, 0.0, (root - slope) / (2.0 * self.lambda_2)) if self.lambda_2 > 0.0 else np.inf
        last = np.maximum(np.where(slope > 0.0, -2.0 * constant / (slope + root), falling), 0.0) * (1.0 + SLACK)
        return np.where(np.isfinite(inner), last, np.inf)


def best_departures(gain: Array, limit: int) -> tuple[Array, Array, Array]:
    """Return the `limit` largest positive gains, and the loss in their sum if a feature must be, or must not be, among them."""
    ranked = np.sort(gain[gain > 0.0])[::-1]
    last = ranked[limit - 1] if 0 < limit <= len(ranked) else 0.0
    following = ranked[limit] if limit < len(ranked) else 0.0
    return ranked[:limit], np.maximum(last - gain, 0.0), np.maximum(gain - following, 0.0)


def exact_sum(terms: Array) -> float:
    """Return the correctly rounded sum, NaN if it is out of range."""
    return math.fsum(terms.tolist()) if np.abs(terms).sum() < 1e300 else math.nan
