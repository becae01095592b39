"""All cards of a small problem by brute force: every vector of points, its scale and intercept by root finding."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit, xlogy

from ellzero.problem.rules import Rule
from ellzero.scores.problem import Array, ScoreProblem


def obeys(rule: Rule, support: set[int]) -> bool:
    """Whether a support obeys a rule, as people read it."""
    count, every = len(support & set(rule.features)), len(rule.features)
    if rule.kind == "requires":
        return rule.feature not in support or count >= (every if rule.how == "all" else 1)
    if rule.kind == "together":
        return count in (0, every)
    assert rule.count is not None
    return {"at_most": count <= rule.count, "at_least": count >= rule.count, "exactly": count == rule.count}[rule.kind]


def least_loss(score: Array, P: Any, N: Any, problem: ScoreProblem) -> float:
    """The least loss of one score over its scale and intercept."""

    def loss_at(scale: float, intercept: Any) -> float:
        eta = scale * score[:, None] + intercept
        return float((P @ np.logaddexp(0.0, -eta) + N @ np.logaddexp(0.0, eta)).min())

    def loss(scale: float) -> float:
        def slope(intercept: float) -> float:
            return float(((P + N) * expit(scale * score + intercept) - P).sum())

        reach = scale * np.abs(score).max() + 60.0
        return loss_at(scale, brentq(slope, -reach, reach, xtol=1e-13))

    low, high = problem.min_scale, problem.max_scale
    if problem.whole_intercept:
        return loss_at(low, low * np.arange(problem.low[-1], problem.high[-1] + 1))
    found = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-10}).fun if low < high else np.inf
    return min(found, loss(low), loss(high))


def cards(problem: ScoreProblem, at_most: float | None = None) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield the points and the loss of every card, but for those whose entropy is above `at_most`, or the least loss so far."""
    w = np.full(len(problem.y), 1.0 / len(problem.y)) if problem.weights is None else problem.weights
    p = problem.X.shape[1] - problem.whole_intercept
    X, best = problem.X[:, :p].astype(np.int64), np.inf
    rules = () if problem.rules is None else problem.rules.given
    for points in itertools.product(*(range(a, b + 1) for a, b in zip(problem.low[:p], problem.high[:p], strict=True))):
        support = np.flatnonzero(points)
        if len(support) > problem.k or not all(obeys(rule, set(support.tolist())) for rule in rules):
            continue
        price = problem.price * len(support)
        score, inverse = np.unique(X @ np.array(points), return_inverse=True)
        P, N = (np.bincount(inverse.ravel(), w * side, len(score)) for side in (problem.y > 0.0, problem.y < 0.0))
        least = price + (xlogy(P + N, P + N) - xlogy(P, P) - xlogy(N, N)).sum()
        if least > (best if at_most is None else at_most) + 1e-12:
            continue
        loss = price + least_loss(score.astype(float), P, N, problem)
        best = min(best, loss)
        yield points, loss
