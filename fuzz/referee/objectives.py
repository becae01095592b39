"""The objective in long double, from the problem's definition and nothing else.

    P(b, beta) = sum_i w_i f(eta_i, y_i) + lambda_0 sum_G c_G [beta_G != 0] + lambda_1 ||beta||_1 + lambda_2 ||beta||_2^2

with eta = X coef + b, weights that sum to one, features G (columns or groups of them) and their prices, and
beta_j = coef_j spread_j. Coefficients have the shape (outputs, p) everywhere here, intercepts (outputs,); targets and
predictions have one row for each output. Numbers up to 1e4932 do not overflow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzz.problems.problem import Problem

__all__ = ["CURVATURE", "LONG", "Long", "LongProblem", "loss_values"]

LONG = np.longdouble
CURVATURE = {"logistic": 0.25, "squared_hinge": 2.0, "squared_error": 1.0, "multinomial": 0.5}  # bounds of f''
Long = NDArray[Any]  # of long double: NumPy's types have no shorter name for it


def loss_values(loss: str, eta: Long, target: Long) -> Long:
    """Return f(eta, y) of each row of data, for all of its outputs together; these come before the rows in both arrays."""
    if loss == "multinomial":
        return np.logaddexp.reduce(eta - (eta * target).sum(-2, keepdims=True), axis=-2)
    if loss == "squared_error":
        return (np.square(target - eta) / 2).sum(-2)
    if loss == "logistic":
        return np.logaddexp(LONG(0), -target * eta).sum(-2)
    short = np.maximum(LONG(0), 1 - target * eta)
    return (short if loss == "hinge" else np.square(short)).sum(-2)


def worst_eta(loss: str, eta: Long, target: Long, error: Long) -> Long:
    """Return the predictions with the largest loss among those that are off by at most an error."""
    if loss == "multinomial":
        return eta + error * (1 - 2 * target)
    return eta + error * (np.where(eta >= target, LONG(1), LONG(-1)) if loss == "squared_error" else -target)


def encoded(problem: Problem, w: NDArray[np.float64]) -> Long:
    """Return the targets: -1 and +1 for two labels, in their sorted order, 1 in the rows of a class, or numbers."""
    columns = np.atleast_2d(problem.y.T)
    if not problem.is_classification:
        return columns.astype(LONG)
    classes = np.unique(columns[:, w > 0.0])
    if problem.loss == "multinomial":
        return (columns == classes[:, None]).astype(LONG)
    return np.where(columns == classes[-1], LONG(1), LONG(-1))


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
        weight = problem.weights() if w is None else w
        self.problem, self.loss = problem, problem.loss
        self.X, self.w = problem.X.astype(LONG), weight.astype(LONG)
        self.target = encoded(problem, weight) if target is None else target.astype(LONG).reshape(-1, len(weight))
        self.outputs = len(self.target)
        self.lambda_0, self.lambda_1, self.lambda_2 = (
            LONG(value or 0.0) for value in (problem.lambda_0, problem.lambda_1, problem.lambda_2)
        )
        self.counted, self.members, self.price = problem.counted(), problem.members(), problem.prices().astype(LONG)
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
        """Return the root mean square of each column, about its mean if there is an intercept; one for a constant column.

        That of a group is the root of the sum of its columns' squares.
        """
        second, heads = self.w @ np.square(self.X), self.problem.heads()
        square = self.w @ np.square(self.X - self.mean) if self.problem.fit_intercept else second
        square = np.where(square > LONG(1e-26) * second, square, LONG(0))
        total = (heads[:, None] == heads) @ square
        return np.where(total > 0, np.sqrt(total), LONG(1))

    def values(self, coef: Long, intercept: Long) -> Long:
        """Return P of several models: `coef` and `intercept` have one entry for each."""
        coef = np.asarray(coef, dtype=LONG)
        eta = coef @ self.X.T + np.asarray(intercept, dtype=LONG)[..., None]
        return self._losses(eta) + self._penalties(coef)

    def upper_values(self, coef: Long, intercept: Long, unit: float | None = None) -> Long:
        """Return upper bounds of P that hold whatever was lost to rounding, here or in a float64 evaluation (by its `unit`)."""
        coef, intercept = np.asarray(coef, dtype=LONG), np.asarray(intercept, dtype=LONG)[..., None]
        small = LONG(np.finfo(LONG).eps if unit is None else unit)
        eta = coef @ self.X.T + intercept
        error = (coef.shape[-1] + 8) * small * (np.abs(coef) @ np.abs(self.X).T + np.abs(intercept))
        return (self._losses(eta, error) + self._penalties(coef)) * (1 + (len(self.w) + self.outputs + 32) * small)

    def _losses(self, eta: Long, error: Long | None = None) -> Long:
        """Return the weighted sum of losses; the largest one, if each eta may be off by an error."""
        alive = self.w > 0
        at = eta if error is None else worst_eta(self.loss, eta, self.target, error)
        return loss_values(self.loss, at[..., alive], self.target[:, alive]) @ self.w[alive]

    def _penalties(self, coef: Long) -> Long:
        beta, paid = coef * self.spread, self.lambda_0 * self.spent(self.used(coef))
        return paid + self.lambda_1 * np.abs(beta).sum((-2, -1)) + self.lambda_2 * np.square(beta).sum((-2, -1))

    def used(self, coef: Long) -> NDArray[np.bool_]:
        """Return which of the features that pay have a coefficient that is not zero, for each of several models."""
        return ((np.asarray(coef) != 0).any(-2)[..., None, :] & self.members).any(-1)

    def spent(self, used: NDArray[np.bool_]) -> Long:
        """Return the sum of the prices of some features: their number, if none has a price."""
        return used @ self.price

    def allowed(self, used: NDArray[np.bool_], slack: float = 0.0) -> NDArray[np.bool_]:
        """Return whether some features are as few as `k` allows, and no dearer than the budget, up to a share of it."""
        problem = self.problem
        few = used.sum(-1) <= (len(self.price) if problem.k is None else problem.k)
        return few & (self.spent(used) <= (np.inf if problem.budget is None else LONG(problem.budget) * (1 + slack)))

    def shaped(self, coef: Any, intercept: Any) -> tuple[Long, Long]:
        """Return coefficients and intercepts of one model, as the package gives them, in the shapes that are used here."""
        table = np.asarray(coef, dtype=LONG).reshape(self.outputs, self.X.shape[1])
        return table, np.broadcast_to(np.asarray(intercept, dtype=LONG), (self.outputs,))

    def value(self, coef: Any, intercept: Any) -> Any:
        """Return P of one model."""
        coef, intercept = self.shaped(coef, intercept)
        return self.values(coef[None], intercept[None])[0]

    def upper_value(self, coef: Any, intercept: Any, unit: float | None = None) -> Any:
        """Return an upper bound of P of one model, as `upper_values` does."""
        coef, intercept = self.shaped(coef, intercept)
        return self.upper_values(coef[None], intercept[None], unit)[0]

    def outside(self, coef: Long, slack: float = 1e-9) -> bool:
        """Return whether coefficients violate the box by more than a share `slack` of its bounds."""
        coef = np.asarray(coef, dtype=LONG)
        low, high = self.low - slack * np.abs(self.low), self.high + slack * np.abs(self.high)
        return bool(((coef < low) | (coef > high)).any())
