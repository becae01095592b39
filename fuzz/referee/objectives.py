"""The objective in long double, from the problem's definition and nothing else.

    P(b, beta) = sum_i w_i f(eta_i, y_i) + lambda_0 ||beta||_0 + lambda_1 ||beta||_1 + lambda_2 ||beta||_2^2,   eta = X coef + b

with weights that sum to one and beta_j = coef_j spread_j. Numbers up to 1e4932 do not overflow here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzz.problems.problem import Problem

__all__ = ["LONG", "Long", "LongProblem", "loss_values"]

LONG = np.longdouble
Long = NDArray[Any]  # of long double: NumPy's types have no shorter name for it


def loss_values(loss: str, eta: Long, target: Long) -> Long:
    """Return f(eta, y)."""
    if loss == "squared_error":
        return np.square(target - eta) / 2
    if loss == "logistic":
        return np.logaddexp(LONG(0), -target * eta)
    short = np.maximum(LONG(0), 1 - target * eta)
    return short if loss == "hinge" else np.square(short)


def normalised_weights(weight: NDArray[np.float64] | None, n: int) -> NDArray[np.float64]:
    """Return the weights divided by their sum, rounded to float64 as the package documents it."""
    if weight is None:
        return np.full(n, 1.0 / n)
    relative = weight / weight.max()
    return relative / relative.sum()


def encoded(problem: Problem, w: NDArray[np.float64]) -> Long:
    """Return the target: -1 and +1 for labels, in their sorted order, or the numbers themselves."""
    if not problem.is_classification:
        return problem.y.astype(LONG)
    classes = np.unique(problem.y[w > 0.0])
    return np.where(problem.y == classes[-1], LONG(1), LONG(-1))


class LongProblem:
    """A problem with all of its numbers in long double."""

    def __init__(
        self,
        problem: Problem,
        w: NDArray[np.float64] | None = None,
        target: NDArray[np.float64] | None = None,
        spread: NDArray[np.float64] | None = None,
    ) -> None:
        """Weights, an encoded target and spreads are computed here, unless a certificate states them."""
        weight = normalised_weights(problem.sample_weight, len(problem.y)) if w is None else w
        self.problem, self.loss = problem, problem.loss
        self.X, self.w = problem.X.astype(LONG), weight.astype(LONG)
        self.target = encoded(problem, weight) if target is None else target.astype(LONG)
        self.lambda_0, self.lambda_1, self.lambda_2 = (
            LONG(value or 0.0) for value in (problem.lambda_0, problem.lambda_1, problem.lambda_2)
        )
        self.counted = problem.counted()
        p = self.X.shape[1]
        self.mean = self.w @ self.X / self.w.sum()
        self.spread = (
            np.ones(p, LONG) if not problem.standardize else self.own_spread() if spread is None else spread.astype(LONG)
        )
        self.low = np.full(p, -np.inf, LONG) if problem.lower is None else problem.lower.astype(LONG)
        self.high = np.full(p, np.inf, LONG) if problem.upper is None else problem.upper.astype(LONG)
        bound, free = (np.inf if value is None else LONG(value) for value in (problem.bound, problem.free_bound))
        reach = np.where(self.counted, bound, free) / self.spread
        self.low, self.high = np.maximum(self.low, -reach), np.minimum(self.high, reach)

    def own_spread(self) -> Long:
        """Return the root mean square of each column, about its mean if there is an intercept; one for a constant column."""
        second = self.w @ np.square(self.X)
        square = self.w @ np.square(self.X - self.mean) if self.problem.fit_intercept else second
        return np.where(square > LONG(1e-26) * second, np.sqrt(square), LONG(1))

    def values(self, coef: Long, intercept: Long) -> Long:
        """Return P of several models: `coef` has one row and `intercept` one entry for each."""
        coef = np.asarray(coef, dtype=LONG)
        eta = coef @ self.X.T + np.asarray(intercept, dtype=LONG)[:, None]
        return self._losses(eta) + self._penalties(coef)

    def upper_values(self, coef: Long, intercept: Long, unit: float | None = None) -> Long:
        """Return upper bounds of P that hold whatever was lost to rounding, here or in a float64 evaluation (by its `unit`)."""
        coef, intercept = np.asarray(coef, dtype=LONG), np.asarray(intercept, dtype=LONG)[:, None]
        small = LONG(np.finfo(LONG).eps if unit is None else unit)
        eta = coef @ self.X.T + intercept
        error = (coef.shape[1] + 8) * small * (np.abs(coef) @ np.abs(self.X).T + np.abs(intercept))
        return (self._losses(eta, error) + self._penalties(coef)) * (1 + (len(self.w) + 32) * small)

    def _losses(self, eta: Long, error: Long | None = None) -> Long:
        """Return the weighted sum of losses; the largest one, if each eta may be off by an error."""
        alive = self.w > 0
        ends = [eta] if error is None else [eta - error, eta + error]  # losses are convex in eta
        worst = np.stack([loss_values(self.loss, at[:, alive], self.target[alive]) for at in ends]).max(0)
        return worst @ self.w[alive]

    def _penalties(self, coef: Long) -> Long:
        beta, size = coef * self.spread, np.count_nonzero((coef != 0) & self.counted, axis=1)
        return self.lambda_0 * size + self.lambda_1 * np.abs(beta).sum(1) + self.lambda_2 * np.square(beta).sum(1)

    def value(self, coef: Long, intercept: float) -> Any:
        """Return P of one model."""
        return self.values(np.asarray(coef)[None], np.array([intercept]))[0]

    def upper_value(self, coef: Long, intercept: float, unit: float | None = None) -> Any:
        """Return an upper bound of P of one model, as `upper_values` does."""
        return self.upper_values(np.asarray(coef)[None], np.array([intercept]), unit)[0]

    def outside(self, coef: Long, slack: float = 1e-9) -> bool:
        """Return whether coefficients violate the box by more than a share `slack` of its bounds."""
        coef = np.asarray(coef, dtype=LONG)
        low, high = self.low - slack * np.abs(self.low), self.high + slack * np.abs(self.high)
        return bool(((coef < low) | (coef > high)).any())
