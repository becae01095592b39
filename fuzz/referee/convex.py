"""Convex fits on many supports at once, in float64 or long double, on columns and responses of size one.

Whoever uses these fits evaluates them in long double, so that a fit that went wrong can only be a bad model, never a wrong
verdict. Smooth losses are minimised by projected Newton steps, for which the orthants of the l1 norm are boxes that change from
step to step; the hinge by an interior-point method. Several outputs are one problem with a copy of the columns, and an
intercept, for each of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from fuzz.problems.problem import Array
from fuzz.referee.objectives import CURVATURE, LONG, Long, LongProblem

__all__ = ["ScaledProblem"]

Masks = NDArray[np.bool_]
SHARES = np.array([0.5, 0.2, 0.05, 0.005, 1e-4])[:, None, None]  # of a Newton step that went too far
LARGEST, FAR, FLAT = 1e250, 1e14, 1e-3


def moderate(values: Long, dtype: Any) -> Any:
    """Return numbers of a type; those out of the range of float64 become very large."""
    return np.clip(np.nan_to_num(values, posinf=np.inf, neginf=-np.inf), -LARGEST, LARGEST).astype(dtype)


class ScaledProblem:
    """The problem with centred columns and responses of size one; of each output, the last coefficient is the intercept."""

    def __init__(self, long: LongProblem, dtype: Any = np.float64) -> None:
        self.dtype, self.unit_roundoff = dtype, 4.0 * np.finfo(dtype).eps
        self.long, self.loss, alive = long, long.loss, long.w > 0
        intercept = long.problem.fit_intercept
        self.centre = long.mean if intercept else np.zeros_like(long.mean)
        deviation = (long.X - self.centre)[alive]
        largest = np.abs(deviation).max(0, initial=LONG(0))
        self.unit = np.where(largest > 0, largest, LONG(1))
        self.offset, self.response = LONG(0), LONG(1)
        target, w, outputs = long.target[:, alive], long.w[alive], long.outputs
        if self.loss == "squared_error":
            self.offset = target @ w / w.sum() if intercept else np.zeros(outputs, LONG)
            self.response = np.abs(target - self.offset[:, None]).max()
            self.response = self.response if self.response > 0 else LONG(1)
            target = (target - self.offset[:, None]) / self.response
        self.outputs, self.w, self.target = outputs, np.tile(moderate(w, dtype), outputs), moderate(target, dtype).ravel()
        Z = np.column_stack([moderate(deviation / self.unit, dtype), np.full(len(w), 1.0 if intercept else 0.0, dtype)])
        self.Z = np.kron(np.eye(outputs, dtype=dtype), Z)
        change = long.spread / self.unit
        self.lambda_1 = self._of_outputs(long.lambda_1 * change / self.response, 0.0)
        self.lambda_2 = self._of_outputs(long.lambda_2 * change * change, 0.0)
        self.low = self._of_outputs(long.low * self.unit / self.response, -np.inf)
        self.high = self._of_outputs(long.high * self.unit / self.response, np.inf)
        # Columns and responses have size one: bounds far above that limit nothing, and those far below it are zero.
        self.low = np.where(self.low < -FAR, -np.inf, np.where(np.abs(self.low) < 1.0 / FAR, 0.0, self.low))
        self.high = np.where(self.high > FAR, np.inf, np.where(np.abs(self.high) < 1.0 / FAR, 0.0, self.high))

    def _of_outputs(self, values: Long, of_intercept: float) -> Array:
        """Return numbers of columns for the coefficients of all outputs, with that of the intercept after each."""
        return np.tile(np.append(moderate(values, self.dtype), self.dtype(of_intercept)), self.outputs)

    def models(self, beta: Array) -> tuple[Long, Long]:
        """Return coefficients on the scale of X, inside their boxes, and intercepts, in long double."""
        beta = beta.reshape(len(beta), self.outputs, -1)
        coef = beta[..., :-1] * self.response / self.unit
        coef = np.clip(coef, self.long.low, self.long.high)
        if not self.long.problem.fit_intercept:
            return coef, np.zeros(coef.shape[:2], LONG)
        return coef, beta[..., -1] * self.response + self.offset - coef @ self.centre

    def fit(self, inside: Masks, steps: int, start: Array | None = None) -> Array:
        """Return the fits on several supports, one for each row of `inside`, after at most `steps` steps."""
        free = np.tile(np.column_stack([inside, np.full(len(inside), self.long.problem.fit_intercept)]), self.outputs)
        free &= self.low < self.high
        if self.loss == "hinge":
            return np.clip(self._hinge_fit(free, steps), self.low, self.high)
        beta = np.zeros(free.shape, self.dtype) if start is None else start.astype(self.dtype)
        beta = np.clip(np.where(free, beta, 0.0), self.low, self.high)
        value, live = self._values(beta), np.arange(len(beta))
        for _ in range(steps):
            moved, lower = self._step(beta[live], free[live], value[live])
            beta[live], drop = moved, value[live] - lower
            value[live] = lower
            live = live[drop > self.unit_roundoff * np.abs(lower)]
            if not len(live):
                break
        return beta

    def _step(self, beta: Array, free: Masks, value: Array) -> tuple[Array, Array]:
        slope, bend = self._derivatives(beta @ self.Z.T)
        pull = slope @ self.Z + 2.0 * self.lambda_2 * beta
        sign = np.where(beta != 0.0, np.sign(beta), -np.sign(pull) * (np.abs(pull) > self.lambda_1))
        has = self.lambda_1 > 0.0
        low = np.where(has & (sign >= 0.0), np.maximum(self.low, 0.0), self.low)
        high = np.where(has & (sign <= 0.0), np.minimum(self.high, 0.0), self.high)
        low, high = np.minimum(low, self.high), np.maximum(high, self.low)
        pull = pull + self.lambda_1 * sign
        moving = free & ~((beta <= low) & (pull >= 0.0)) & ~((beta >= high) & (pull <= 0.0))
        step = -solve_scaled(self._hessian(bend), 2.0 * self.lambda_2, np.where(moving, pull, 0.0), moving)
        tried = np.where(free, np.clip(beta + step, low, high), beta)
        found = self._values(tried)
        failed = np.flatnonzero(~(found < value))
        if len(failed):
            shares = np.clip(beta[failed] + SHARES * step[failed], low[failed], high[failed])
            swept = self._sweep(beta[failed], free[failed])
            shares = np.concatenate([beta[None, failed], swept[None], np.where(free[failed], shares, beta[failed])])
            values = np.nan_to_num(self._values(shares), nan=np.inf)
            best = np.argmin(values, axis=0)
            tried[failed], found[failed] = shares[best, np.arange(len(failed))], values[best, np.arange(len(failed))]
        return tried, found

    def _sweep(self, beta: Array, free: Masks) -> Array:
        """Return the fits after a step of each coefficient in turn: these never get stuck where others change their signs."""
        beta, eta = beta.copy(), beta @ self.Z.T
        curvature = CURVATURE[self.loss] * (self.w @ np.square(self.Z))
        for j in np.flatnonzero(free.any(0) & (curvature > 0.0)):
            to = curvature[j] * beta[:, j] - self._derivatives(eta)[0] @ self.Z[:, j]
            size = np.maximum(np.abs(to) - self.lambda_1[j], 0.0) / (curvature[j] + 2.0 * self.lambda_2[j])
            best = np.where(free[:, j], np.clip(np.sign(to) * size, self.low[j], self.high[j]), beta[:, j])
            eta += (best - beta[:, j])[:, None] * self.Z[:, j]
            beta[:, j] = best
        return beta

    def _hinge_fit(self, free: Masks, steps: int) -> Array:
        """Minimise sum_i w_i max(0, 1 - a_i x) + lambda_1 |x| + lambda_2 x^2 over the box, on several supports at once.

        All terms are w max(0, c - a x): the l1 norm is 2 max(0, x) - x, and a bound has an infinite weight. A primal-dual
        interior-point method keeps the multipliers (shares of the weights) between 0 and 1, and both slacks positive.
        """
        shrunk, above, below = (
            np.flatnonzero(has) for has in (self.lambda_1 > 0.0, np.isfinite(self.low), np.isfinite(self.high))
        )
        margins, unit = self.Z * self.target[:, None], np.eye(free.shape[1], dtype=self.dtype)
        A = np.concatenate([margins, -unit[shrunk], unit[above], -unit[below]])
        c = np.concatenate([np.ones(len(margins)), np.zeros(len(shrunk)), self.low[above], -self.high[below]])
        walls = len(above) + len(below)
        weight = np.concatenate([self.w, 2.0 * self.lambda_1[shrunk], np.ones(walls)])
        limited = np.arange(len(c)) < len(c) - walls  # terms whose multiplier is at most its weight
        x = np.where(free, 0.0, np.clip(0.0, self.low, self.high)).astype(self.dtype)
        short = np.maximum(c, 0.0) + 1.0 + np.zeros((len(x), 1))
        slack, share, active = short - c, np.full(short.shape, 0.5, self.dtype), weight > 0.0
        for _ in range(steps):
            rest = np.where(limited, 1.0 - share, 1.0)
            target = np.where(limited, share * slack + rest * short, share * slack)[:, active].mean(1) * 0.05
            gap_slack = target[:, None] / share - slack
            gap_short = np.where(limited, target[:, None] / rest - short, 0.0)
            missing = x @ A.T - c - slack + np.where(limited, short, 0.0)
            D = slack / share + np.where(limited, short / rest, 0.0)
            pull = 2.0 * self.lambda_2 * x - self.lambda_1 - (share * weight) @ A
            inner = (-missing + gap_slack - gap_short) / D
            matrix = ((weight / D)[:, None, :] * A.T) @ A
            step = solve_scaled(matrix, 2.0 * self.lambda_2, np.where(free, -pull + (weight * inner) @ A, 0.0), free)
            move = inner - (step @ A.T) / D
            slack_move = gap_slack - slack / share * move
            short_move = np.where(limited, gap_short + short / rest * move, 0.0)
            falls = np.stack([-move / share, move / rest * limited, -slack_move / slack, -short_move / short])
            length = np.minimum(1.0, 0.99 / np.maximum(np.nan_to_num(falls[:, :, active]).max((0, 2)), 1e-300))[:, None]
            x, share = x + length * step, share + length * move
            slack, short = slack + length * slack_move, short + length * short_move
        return np.nan_to_num(x)

    def _hessian(self, bend: Array) -> Array:
        """Return Z'DZ; of the multinomial loss, D_i = diag(b_i) - b_i b_i' / w_i couples the outputs of row i.

        A little less is taken off, so that raising all outputs alike, which does not change the loss, is no long way.
        """
        matrix = (bend[:, None, :] * self.Z.T) @ self.Z
        if self.loss != "multinomial":
            return matrix
        rows = len(self.w) // self.outputs
        mixed = (bend[..., None] * self.Z).reshape(len(bend), self.outputs, rows, -1).sum(1)
        return matrix - (1.0 - FLAT) * mixed.transpose(0, 2, 1) @ (mixed / self.w[:rows, None])

    def _by_output(self, values: Array) -> Array:
        return values.reshape(*values.shape[:-1], self.outputs, -1)

    def _derivatives(self, eta: Array) -> tuple[Array, Array]:
        """Return the weighted first derivatives of a smooth loss in eta, and the second ones or what they are made of."""
        y, w = self.target, self.w
        if self.loss == "multinomial":
            table = self._by_output(eta)
            chance = np.exp(table - np.logaddexp.reduce(table, axis=-2, keepdims=True)).reshape(eta.shape)
            return w * (chance - y), w * chance
        if self.loss == "squared_error":
            return w * (eta - y), np.broadcast_to(w, eta.shape)
        if self.loss == "logistic":
            chance = expit(-y * eta)
            return -w * y * chance, w * chance * (1.0 - chance)
        short = 1.0 - y * eta
        return -2.0 * w * y * np.maximum(short, 0.0), 2.0 * w * (short > 0.0)

    def _values(self, beta: Array) -> Array:
        eta, y = beta @ self.Z.T, self.target
        shrinkage = (self.lambda_1 * np.abs(beta) + self.lambda_2 * np.square(beta)).sum(-1)
        if self.loss == "multinomial":
            table, classes = self._by_output(eta), self._by_output(y)
            losses = np.logaddexp.reduce(table - (table * classes).sum(-2, keepdims=True), axis=-2)
            return losses @ self.w[: losses.shape[-1]] + shrinkage
        if self.loss == "squared_error":
            losses = np.square(y - eta) / 2.0
        elif self.loss == "logistic":
            losses = np.logaddexp(0.0, -y * eta)
        else:
            losses = np.square(np.maximum(1.0 - y * eta, 0.0))
        return losses @ self.w + shrinkage


def solve_scaled(matrix: Array, ridge: Array, right: Array, moving: Masks) -> Array:
    """Solve (matrix + diag(ridge)) x = right for a stack of systems, on the coordinates that move; x is zero elsewhere."""
    diagonal = np.einsum("bii->bi", matrix) + ridge
    good = moving & (diagonal > 0.0)
    scale = np.where(good, 1.0 / np.sqrt(np.where(good, diagonal, 1.0)), 0.0)
    matrix = matrix * scale[:, :, None] * scale[:, None, :]
    wide = matrix.dtype == LONG
    np.einsum("bii->bi", matrix)[...] = np.where(good, 1.0 + (1e-17 if wide else 1e-13), 1.0)
    right = (scale * right)[..., None]
    try:
        solution = eliminate(matrix, right) if wide else np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:  # one system that is singular must not cost the others their solution
        solution = eliminate(matrix, right)
    return np.nan_to_num(scale * solution[..., 0])


def eliminate(matrix: Long, right: Long) -> Long:
    """Solve a stack of positive definite systems by elimination, for long double, which LAPACK does not know."""
    matrix, right, size = matrix.copy(), right.copy(), matrix.shape[1]
    for k in range(size):
        factor = matrix[:, k + 1 :, k] / matrix[:, k, k][:, None]
        matrix[:, k + 1 :, k:] -= factor[:, :, None] * matrix[:, k, k:][:, None, :]
        right[:, k + 1 :] -= factor[:, :, None] * right[:, k][:, None, :]
    for k in reversed(range(size)):
        known = (matrix[:, k, k + 1 :, None] * right[:, k + 1 :]).sum(1)
        right[:, k] = (right[:, k] - known) / matrix[:, k, k][:, None]
    return right
