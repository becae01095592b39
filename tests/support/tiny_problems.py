"""Tiny problems of the verifier, whose every subset is solved by the oracle, and dual points for them."""

from copy import deepcopy
from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np

from ellzero.exact.verifier.bounds import Stated
from ellzero.exact.verifier.losses import KNOWN
from support.oracle import Model
from support.problems import LOSSES


def tiny(seed, loss, swaps=False, priced=False):
    """A generator, a problem for the verifier, and G of every subset that it allows by the oracle; perhaps with prices."""
    rng, problem, fits = drawn(seed, loss, swaps, priced)
    return deepcopy(rng), problem, fits


@cache
def drawn(seed, loss, swaps, priced):
    rng = np.random.default_rng([seed, LOSSES.index(loss)] + [1] * swaps)
    n, p = int(rng.integers(8, 16)), int(rng.integers(3, 6))
    X = rng.standard_normal((n, p)) + rng.standard_normal(p) * rng.choice([0.0, 2.0])
    signal = X @ (rng.standard_normal(p) * (rng.random(p) < 0.7)) + rng.standard_normal(n)
    y = signal if loss == "squared_error" else np.where(signal > np.median(signal), 1.0, -1.0)
    w = rng.uniform(0.2, 1.0, n) * (rng.random(n) < 0.9)
    w[[np.argmax(y), np.argmin(y)]] = 1.0
    w /= w.sum()
    lambda_1, lambda_2 = float(rng.choice([0.0, 0.03])), float(rng.choice([0.0, 0.03]))
    counted = np.ones(p, dtype=bool)
    low, high = np.full(p, -np.inf), np.full(p, np.inf)
    if lambda_1 == lambda_2 == 0.0 or rng.random() < 0.5:
        low, high = -rng.uniform(0.0, 1.5, p), rng.uniform(0.0, 1.5, p)
    elif rng.random() < 0.5:
        low = np.zeros(p)
    counted[0] = seed % 3 != 0
    problem = Stated(
        loss=KNOWN[loss],
        lambda_0=float(rng.choice([0.0, 0.02, 0.05, 0.1])),
        lambda_1=lambda_1,
        lambda_2=lambda_2,
        k=int(rng.integers(1, 3 if swaps else p + 1)),
        home=counted & (rng.random(p) < 0.6) if swaps else np.zeros(p, dtype=bool),
        fit_intercept=bool(rng.random() < 0.6),
        X=X,
        y=y,
        w=w,
        spread=np.ones(p),
        norm=np.sqrt(w @ X**2),
        counted=counted,
        low=low,
        high=high,
    )
    problem = with_prices(seed, problem, swaps) if priced else problem
    oracle = Model(X, y, loss, lambda_1, lambda_2, problem.fit_intercept, w, low, high, np.flatnonzero(~counted).tolist())
    features, home = np.flatnonzero(counted).tolist(), frozenset(np.flatnonzero(problem.home).tolist())
    subsets = [frozenset(subset) for size in range(len(features) + 1) for subset in combinations(features, size)]
    most = np.inf if problem.budget is None else problem.budget * (1.0 + 1e-12)
    subsets = [subset for subset in subsets if max(len(subset - home), len(home - subset)) <= problem.k]
    fits = {subset: oracle.fit(subset) for subset in subsets if spent(problem, subset) <= most}
    return rng, problem, fits


def with_prices(seed, problem, swaps):
    """The problem with prices, often small whole numbers; where it is not about swaps, often with a budget instead of k."""
    rng = np.random.default_rng([seed, 5])
    p = len(problem.counted)
    price = rng.integers(1, 4, p).astype(float) if rng.random() < 0.5 else np.exp(rng.standard_normal(p))
    price = np.where(problem.counted, price, 0.0)
    if swaps or rng.random() < 0.3:
        return replace(problem, price=price)
    budget = float(rng.integers(1, 8)) if rng.random() < 0.5 else float(rng.uniform(0.3, 1.0) * price.sum())
    return replace(problem, price=price, budget=budget, k=p)


def spent(problem, subset):
    """The sum of the prices of some features."""
    return float(len(subset)) if problem.price is None else sum(problem.price[j] for j in subset)


def residual(problem, fit):
    """Alpha of a solution: the loss's slope there."""
    eta = problem.X @ fit.coef + fit.intercept
    margin = problem.y * eta
    return {
        "squared_error": problem.y - eta,
        "logistic": 1.0 / (1.0 + np.exp(margin)),
        "squared_hinge": 2.0 * np.maximum(0.0, 1.0 - margin),
        "hinge": (margin < 1.0) + 0.0,
    }[problem.loss.name]


def draw_points(rng, problem, fits):
    """Alpha of random dual points: without any sense, and near the residuals of good solutions."""
    n = len(problem.y)
    points = [rng.standard_normal(n) * scale for scale in (0.0, 0.5, 3.0)]
    points += [rng.random(n), np.ones(n)]
    for fit in rng.permutation(len(fits))[:4]:
        found = list(fits.values())[fit]
        slope = residual(problem, found)
        points += [slope, slope + 0.03 * rng.standard_normal(n)]
    return np.array(points, dtype=np.float32)
