"""Several outputs on shared features: exact searches against all sets of features, each fitted by Clarabel."""

from itertools import combinations

import numpy as np
import pytest
from support.outputs_oracle import Softmax, Targets

import ellzero as ez

KINDS = ("multinomial", "squared_error", "logistic", "squared_hinge", "hinge")
SEEDS = range(6)
FEATURES = 6


def drawn(kind, seed):
    """A small problem; the seed chooses among groups, boxes, weights, l1, prices and unpenalized features."""
    rng = np.random.default_rng([seed, KINDS.index(kind), 11])
    K, n = int(rng.integers(3, 5)), int(rng.integers(22, 30))
    labels = np.arange(FEATURES) if seed % 2 else np.sort(np.r_[np.arange(FEATURES), rng.integers(0, FEATURES, 3)])
    p = len(labels)
    X = rng.normal(size=(n, p)) + (rng.normal(size=(n, 1)) if rng.random() < 0.4 else 0.0)
    scores = X @ (rng.normal(size=(p, K)) * (rng.random(FEATURES) < 0.6)[labels][:, None])
    classes = np.argmax(scores + rng.gumbel(size=(n, K)), axis=1)
    classes[:K], classes[K : 2 * K] = np.arange(K), np.arange(K)
    y = classes
    if kind == "squared_error":
        y = scores + 0.5 * rng.normal(size=(n, K))
    elif kind != "multinomial":
        y = np.where(classes[:, None] == np.arange(K), 1, -1)
    settings = {"lambda_2": float(10.0 ** rng.uniform(-2.5, -1.0)), "fit_intercept": bool(rng.random() < 0.7)}
    if rng.random() < 0.3:
        settings["lambda_1"] = 0.01
    if rng.random() < 0.4:
        settings |= {"lower": -rng.uniform(0.05, 1.0, p), "upper": rng.uniform(0.05, 1.0, p)}
    weight = None
    if seed % 3 == 1:
        weight = rng.integers(0, 4, n).astype(float)
        weight[: 2 * K] = 1.0
    cost = rng.integers(1, 6, FEATURES).astype(float) if seed % 3 == 2 else None
    free = labels == rng.integers(FEATURES) if rng.random() < 0.3 else np.zeros(p, dtype=bool)
    return X, y, labels, cost, free, settings, weight, rng


def all_sets(kind, X, y, labels, cost, free, settings, weight):
    """G of every set of features that pay, and what they cost."""
    if kind == "multinomial":
        model = Softmax(X, y, weights=weight, **settings)
    else:
        model = Targets(X, y, {"loss": kind, "weights": weight, **settings})
    price, always = np.ones(FEATURES) if cost is None else cost, frozenset(np.flatnonzero(free).tolist())
    paid = [feature for feature in range(FEATURES) if not free[labels == feature].any()]
    return {
        chosen: (model.fit(frozenset(np.flatnonzero(np.isin(labels, chosen)).tolist()) | always), float(price[list(chosen)].sum()))
        for size in range(len(paid) + 1)
        for chosen in combinations(paid, size)
    }


def limits_of(rng, cost):
    price = float(10.0 ** rng.uniform(-2.5, -1.3))
    limits = [{"lambda_0": price}, {"k": int(rng.integers(1, 4))}]
    return limits if cost is None else [limits[0], {"budget": float(rng.uniform(1.01 * cost.min(), 2.5 * cost.mean()))}]


def names_of(kind, labels, cost, free, settings, weight):
    names = {"loss": kind, "sample_weight": weight, **settings}
    if len(labels) > FEATURES:
        names["groups"] = labels
    if cost is None:
        return names | {"unpenalized": np.flatnonzero(free).tolist() or None}
    return names | {"feature_cost": np.where(free, 0.0, cost[labels])}


def check(kind, seed):
    X, y, labels, cost, free, settings, weight, rng = drawn(kind, seed)
    known = all_sets(kind, X, y, labels, cost, free, settings, weight)
    names = names_of(kind, labels, cost, free, settings, weight)
    for limit in limits_of(rng, cost):
        where, price = (kind, seed, limit), limit.get("lambda_0", 0.0)
        best = min(
            value + price * spent
            for chosen, (value, spent) in known.items()
            if spent <= limit.get("budget", np.inf) * (1.0 + 1e-12) and len(chosen) <= limit.get("k", FEATURES)
        )
        found = ez.solve(X, y, gap=1e-7, **limit, **names)
        assert found.status in ("optimal", "precision"), where
        assert found.objective == pytest.approx(best, rel=2e-7, abs=1e-9), where
        assert found.lower_bound <= best * (1.0 + 1e-8) + 1e-10, where
        assert found.gap <= (1e-7 if found.status == "optimal" else 1e-5), where
        assert found.coef.shape == (y.shape[1] if y.ndim == 2 else y.max() + 1, X.shape[1])
        report = ez.verify(found.certificate, X, y, **limit, **names)
        assert report.valid, (*where, report.reasons)
        assert report.lower_bound == pytest.approx(found.lower_bound, rel=1e-8, abs=1e-12), where


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_exact_search_finds_the_best_of_all_sets(kind, seed):
    check(kind, seed)
