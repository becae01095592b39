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

    def __init__(self, problem: Problem) -> None:
        weight = normalised_weights(problem.sample_weight, len(problem.y))
        self.problem, self.loss = problem, problem.loss
        self.X, self.w, self.target = problem.X.astype(LONG), weight.astype(LONG), encoded(problem, weight)
        self.lambda_0, self.lambda_1, self.lambda_2 = (
            LONG(value or 0.0) for value in (problem.lambda_0, problem.lambda_1, problem.lambda_2)
        )
        self.counted = problem.counted()
        p = self.X.shape[1]
        self.mean = self.w @ self.X / self.w.sum()
        self.spread = self._spread() if problem.standardize else np.ones(p, LONG)
        self.low = np.full(p, -np.inf, LONG) if problem.lower is None else problem.lower.astype(LONG)
        self.high = np.full(p, np.inf, LONG) if problem.upper is None else problem.upper.astype(LONG)
        if problem.bound is not None:
            reach = np.where(self.counted, LONG(problem.bound), np.inf) / self.spread
            self.low, self.high = np.maximum(self.low, -reach), np.minimum(self.high, reach)

    def _spread(self) -> Long:
        """Return the root mean square of each column, about its mean if there is an intercept; one for a constant column."""
        second = self.w @ np.square(self.X)
        square = self.w @ np.square(self.X - self.mean) if self.problem.fit_intercept else second
        return np.where(square > LONG(1e-26) * second, np.sqrt(square), LONG(1))

    def values(self, coef: Long, intercept: Long) -> Long:
        """Return P of several models: `coef` has one row and `intercept` one entry for each."""
        coef = np.asarray(coef, dtype=LONG)
        eta = coef @ self.X.T + np.asarray(intercept, dtype=LONG)[:, None]
        alive = self.w > 0
        losses = loss_values(self.loss, eta[:, alive], self.target[alive]) @ self.w[alive]
        beta = coef * self.spread
        size = np.count_nonzero((coef != 0) & self.counted, axis=1)
        return losses + self.lambda_0 * size + self.lambda_1 * np.abs(beta).sum(1) + self.lambda_2 * np.square(beta).sum(1)

    def value(self, coef: Long, intercept: float) -> Any:
        """Return P of one model."""
        return self.values(np.asarray(coef)[None], np.array([intercept]))[0]

    def rounding(self, coef: Long, intercept: float) -> Any:
        """Return a bound of the error that evaluating P of a model in float64 may have."""
        coef = np.asarray(coef, dtype=LONG)
        eta = self.X @ coef + LONG(intercept)
        error = (len(coef) + 8) * LONG(2.0**-52) * (np.abs(self.X) @ np.abs(coef) + abs(LONG(intercept)))
        around = [loss_values(self.loss, eta + side * error, self.target) for side in (-1, 0, 1)]
        alive = self.w > 0
        change = np.maximum(abs(around[0] - around[1]), abs(around[2] - around[1]))[alive] @ self.w[alive]
        return change + (len(self.w) + 16) * LONG(2.0**-52) * self.value(coef, intercept)

    def outside(self, coef: Long, slack: float = 1e-9) -> bool:
        """Return whether coefficients violate the box by more than a share `slack` of its bounds."""
        coef = np.asarray(coef, dtype=LONG)
        low, high = self.low - slack * np.abs(self.low), self.high + slack * np.abs(self.high)
        return bool(((coef < low) | (coef > high)).any())
