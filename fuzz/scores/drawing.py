"""Small problems of score cards, drawn from seeds."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import expit

from ellzero.base.errors import InvalidInputError
from ellzero.problem.rules import Rules, at_least, at_most, exactly, requires, together
from ellzero.scores.problem import Ints, ScoreProblem, score_rules
from ellzero.scores.proving import ProofOptions, Solution, solve_scores
from ellzero.scores.risk_score import with_intercept_in_points


def draw(seed: int) -> ScoreProblem:
    """A problem of at most 6 columns; some have weights, rules, one-sided points or labels that can be separated."""
    rng = np.random.default_rng(seed)
    p, n = int(rng.integers(1, 7)), int(rng.integers(8, 120))
    largest = int(rng.choice([1, 3, 5, 5])) if p <= 3 else int(rng.choice([1, 2])) if p <= 5 else 1
    X = (rng.random((n, p)) < rng.uniform(0.1, 0.9, p)).astype(np.uint8)
    eta = X @ rng.normal(0.0, 2.0, p) * rng.choice([0.5, 1.0, 4.0])
    y = np.where(rng.random(n) < expit(eta - eta.mean()), 1.0, -1.0)
    if seed % 5 == 0:
        y = np.where(eta > np.median(eta), 1.0, -1.0)
    if abs(y.sum()) == n:
        y[0] *= -1.0
    k, most = int(rng.integers(1, p + 1)), float(rng.choice([0.2, 0.5, 2.0]))
    low, high = -rng.integers(0, largest + 1, p), rng.integers(0, largest + 1, p)
    weights = None
    if seed % 3:
        weights = rng.random(n) + 1e-3 if seed % 3 == 1 else np.where(y > 0.0, 3.0, 1.0)
        weights = weights / weights.sum()
    rules = draw_rules(rng, p, low, high, k) if p >= 3 and seed % 2 else None
    return ScoreProblem(X, y, weights, low, high, k, most, rules)


def draw_rules(rng: np.random.Generator, p: int, low: Ints, high: Ints, k: int) -> Rules | None:
    """One or two rules that can be met, most of them sets of which one column at most has points; or none."""
    given = []
    for _ in range(int(rng.integers(1, 3))):
        some = rng.choice(p, size=int(rng.integers(2, p + 1)), replace=False).tolist()
        kinds = [at_most(1, some), at_most(1, some), at_most(2, some), at_least(1, some), exactly(1, some), together(some[:2])]
        kinds += [requires(some[0], some[1:], how) for how in ("all", "any")]
        given.append(kinds[int(rng.integers(len(kinds)))])
    for count in (2, 1):
        with suppress(InvalidInputError):
            return score_rules(given[:count], low, high, k)
    return None


def draw_variant(seed: int) -> ScoreProblem:
    """A problem with a price, a given scale, an intercept in points (RiskSLIM's problem), or columns of small whole numbers."""
    problem, rng = draw(seed), np.random.default_rng([seed, 1])
    numbers, whole, given = seed % 4 == 3, seed % 4 in (1, 2), seed % 4 != 3
    X = rng.integers(0, 4, problem.X.shape).astype(np.uint8) if numbers or seed % 3 == 0 else problem.X
    scale = float(rng.choice([0.5, 1.0])) if given else problem.max_scale
    price = 0.01 if seed % 4 == 0 else float(rng.choice([0.0, 1e-3, 0.02]))
    problem = replace(problem, X=X, price=price, max_scale=scale, min_scale=scale if given else 0.0)
    return with_intercept_in_points(problem) if whole else problem


def solved(problem: ScoreProblem, threads: int = 1, **options: Any) -> Solution:
    """The solution of a problem, proved."""
    return solve_scores(problem, ProofOptions(**({"gap": 1e-6, "time_limit": 60.0, "threads": threads} | options)))
