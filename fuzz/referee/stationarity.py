"""Theorem 1 in long double: how much a step of one feature, or of an intercept, is certain to lower the objective.

Around a model the loss is at most a quadratic function, with L_j = (bound of f'') |G| sum_i w_i z_ij^2 for the columns j of a
group G: |G| times its diagonal bounds the group's part of Z'WZ. Of the multinomial loss, the bound is that of all outputs
together. So the best step against this function lowers the objective by at least as much, whatever the package's own L_j are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.referee.objectives import CURVATURE, LONG, Long, LongProblem

__all__ = ["certain_decrease"]


def certain_decrease(long: LongProblem, coef: Any, intercept: Any) -> Any:
    """Return the largest amount by which one such step lowers P of a model, at the problem's lambda_0; for smooth losses."""
    coef, intercept = long.shaped(coef, intercept)
    bound = LONG(CURVATURE[long.loss])
    pull = long.w * slopes(long, coef @ long.X.T + intercept[:, None])
    Z = (long.X - long.mean if long.problem.fit_intercept else long.X) / long.spread
    heads = long.problem.heads()
    curvature = bound * (heads[:, None] == heads).sum(0) * (long.w @ np.square(Z))
    slope, beta = pull @ Z, coef * long.spread
    steep = np.where(curvature > 0, curvature, LONG(1))
    slope = np.where(curvature > 0, slope, LONG(0))

    def cost(at: Long) -> Long:
        """Return the bound of the loss and the shrinkage of each column, relative to the loss of the model."""
        smooth = slope * (at - beta) + steep / 2 * np.square(at - beta)
        return (smooth + long.lambda_1 * np.abs(at) + long.lambda_2 * np.square(at)).sum(0)

    to = beta * steep - slope
    best = np.sign(to) * np.maximum(np.abs(to) - long.lambda_1, 0) / (steep + 2 * long.lambda_2)
    best = np.clip(best, long.low * long.spread, long.high * long.spread)
    price, used = long.lambda_0 * long.price, long.used(coef)
    now = long.members @ cost(beta) + price * used
    after = np.minimum(long.members @ cost(best) + price, long.members @ cost(np.zeros_like(beta)))
    steps = [*(now - after), *(cost(beta) - cost(best))[~long.counted]]
    if long.problem.fit_intercept:
        steps += list(np.square(pull.sum(1)) / (2 * bound))
    return max(steps, default=LONG(0))


def slopes(long: LongProblem, eta: Long) -> Long:
    """Return the derivatives of a smooth loss in the predictions."""
    y = long.target
    if long.loss == "squared_error":
        return eta - y
    if long.loss == "logistic":
        return -y / (1 + np.exp(y * eta))
    if long.loss == "squared_hinge":
        return -2 * y * np.maximum(0, 1 - y * eta)
    return np.exp(eta - np.logaddexp.reduce(eta, axis=0)) - y
