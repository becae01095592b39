"""Exact searches over groups of columns against all sets of groups, each fitted by Clarabel."""

from itertools import combinations

import numpy as np
import pytest
from support.oracle import Model
from support.problems import LOSSES

import ellzero as ez

SEEDS = range(10)
GROUPS = 7


def labels_of(rng):
    """Groups of one to three columns, interleaved; about a third are columns on their own."""
    labels = np.repeat(np.arange(GROUPS), rng.choice([1, 2, 3], GROUPS, p=[0.35, 0.35, 0.3]))
    rng.shuffle(labels)
    return labels


def columns_of(rng, n, labels, kind):
    """Columns of ordinary numbers, of look-alikes, of levels of a variable, or of copies inside a group and across groups."""
    X = rng.normal(size=(n, len(labels)))
    if kind == "alike":
        X += rng.normal(size=(n, 1)) + rng.normal(size=(n, GROUPS))[:, labels]
    if kind == "levels":
        for group in np.unique(labels):
            (members,) = np.nonzero(labels == group)
            X[:, members] = rng.integers(len(members) + (len(members) == 1), size=n)[:, None] == np.arange(len(members))
    if kind == "copies":
        X[:, 1:] = np.where(rng.random(len(labels) - 1) < 0.3, X[:, :1] * rng.choice([-1.0, 0.5, 1.0]), X[:, 1:])
    return X


def drawn(loss, seed):
    """A small problem; the seed chooses among columns, boxes, weights, l1, prices, unpenalized groups and standardisation."""
    rng = np.random.default_rng([seed, LOSSES.index(loss), 7])
    n, labels = int(rng.integers(24, 34)), labels_of(rng)
    p = len(labels)
    X = columns_of(rng, n, labels, ("plain", "alike", "levels", "copies")[seed % 4])
    signal = (X - X.mean(axis=0)) @ (rng.normal(size=p) * (rng.random(GROUPS) < 0.6)[labels]) + 0.5 * rng.normal(size=n)
    y = signal if loss == "squared_error" else np.where(signal > np.median(signal), 1.0, -1.0)
    settings = {"loss": loss, "lambda_2": float(10.0 ** rng.uniform(-3.0, -1.0)), "fit_intercept": bool(rng.random() < 0.7)}
    if rng.random() < 0.4:
        settings["lambda_1"] = 0.02
    if rng.random() < 0.4:
        settings |= {"lower": -rng.uniform(0.05, 1.0, p), "upper": rng.uniform(0.05, 1.0, p)}
    weight = rng.integers(0, 4, n).astype(float) if seed % 3 == 1 else None
    if weight is not None:
        weight[np.argmax(y)], weight[np.argmin(y)] = 1.0, 1.0
    cost = None
    if seed % 3 == 2:
        cost = (rng.integers(1, 6, GROUPS).astype(float) if rng.random() < 0.5 else np.exp(rng.normal(size=GROUPS)))[labels]
    free = np.flatnonzero(labels == rng.integers(GROUPS)) if rng.random() < 0.3 else np.zeros(0, dtype=int)
    if cost is not None:
        cost[free] = 0.0
    return X, y, labels, cost, free, settings, weight, bool(rng.random() < 0.3), rng


def spread_of(X, labels, weight, centred):
    """One number for each group: the root of the sum of its columns' variances."""
    w = np.full(len(X), 1.0 / len(X)) if weight is None else weight / weight.sum()
    square = w @ (X - (w @ X if centred else 0.0)) ** 2
    square = np.where(square <= 1e-24 * (w @ X**2), 0.0, square)
    spread = np.sqrt(np.bincount(labels, weights=square))[labels]
    return np.where(spread > 0.0, spread, 1.0)


def all_sets(X, y, labels, cost, free, settings, weight, standardize):
    """G of every set of groups that pay, and what they cost."""
    spread = spread_of(X, labels, weight, settings["fit_intercept"]) if standardize else np.ones(X.shape[1])
    boxes = {name: settings[name] * spread for name in ("lower", "upper") if name in settings}
    model = Model(X / spread, y, weights=weight, unpenalized=free.tolist(), **{**settings, **boxes})
    price = np.ones(GROUPS) if cost is None else np.array([cost[labels == group][0] for group in range(GROUPS)])
    paid = [group for group in range(GROUPS) if not np.isin(free, np.flatnonzero(labels == group)).any()]
    out = {}
    for size in range(len(paid) + 1):
        for chosen in combinations(paid, size):
            columns = frozenset(np.flatnonzero(np.isin(labels, chosen)).tolist())
            out[chosen] = model.fit(columns).value, float(sum(price[list(chosen)]))
    return out


def limits_of(rng, cost):
    price = float(10.0 ** rng.uniform(-3.0, -1.3))
    limits = [{"lambda_0": price}, {"k": int(rng.integers(1, 4))}, {"k": 2, "lambda_0": price / 3.0}]
    if cost is not None:
        each = cost[cost > 0.0]
        limits = [limits[0], {"budget": float(rng.uniform(1.01 * each.min(), 2.5 * each.mean()))}, limits[2]]
    return limits


def stated(labels, cost, free, settings, weight, standardize):
    names = {"groups": labels, "sample_weight": weight, "standardize": standardize, **settings}
    return names | ({"unpenalized": free.tolist() or None} if cost is None else {"feature_cost": cost})


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("loss", LOSSES)
def test_exact_search_finds_the_best_of_all_sets_of_groups(loss, seed):
    X, y, labels, cost, free, settings, weight, standardize, rng = drawn(loss, seed)
    known = all_sets(X, y, labels, cost, free, settings, weight, standardize)
    names = stated(labels, cost, free, settings, weight, standardize)
    for limit in limits_of(rng, cost):
        where = (loss, seed, limit)
        price = limit.get("lambda_0", 0.0)
        best = min(
            value + price * spent
            for chosen, (value, spent) in known.items()
            if spent <= limit.get("budget", np.inf) * (1.0 + 1e-12) and len(chosen) <= limit.get("k", GROUPS)
        )
        found = ez.solve(X, y, gap=1e-8, **limit, **names)
        assert found.status in ("optimal", "precision"), where
        assert found.objective == pytest.approx(best, rel=1e-7, abs=1e-9), where
        assert found.lower_bound <= best * (1.0 + 1e-8) + 1e-10, where
        assert found.gap <= (1e-8 if found.status == "optimal" else 1e-5), where
        paying = np.setdiff1d(labels[found.support], labels[free])
        assert found.model.size == len(paying) <= limit.get("k", GROUPS), where
        assert found.model.spent <= limit.get("budget", np.inf) * (1.0 + 1e-12), where
        report = ez.verify(found.certificate, X, y, **limit, **names)
        assert report.valid, (*where, report.reasons)
        assert report.lower_bound == pytest.approx(found.lower_bound, rel=1e-8, abs=1e-12), where


@pytest.mark.parametrize("loss", LOSSES)
def test_proofs_hold_in_exact_arithmetic(loss):
    pytest.importorskip("flint")
    for seed in (1, 2, 3):
        X, y, labels, cost, free, settings, weight, standardize, rng = drawn(loss, seed)
        for limit in limits_of(rng, cost):
            found = ez.solve(X, y, **limit, **stated(labels, cost, free, settings, weight, standardize))
            report = ez.verify(found.certificate, X, y, arithmetic="exact")
            assert report.valid, (loss, seed, limit, report.reasons)


@pytest.mark.parametrize("loss", LOSSES)
def test_large_blocks_of_groups(loss, monkeypatch):
    """Groups that hardly resemble each other are decided together: clauses everywhere."""
    from functools import partial

    from ellzero.exact.options import SearchOptions

    monkeypatch.setattr("ellzero.exact.options.SearchOptions", partial(SearchOptions, alike=0.0))
    largest = 0
    for seed in (0, 1, 2, 5):
        X, y, labels, cost, free, settings, weight, standardize, rng = drawn(loss, seed)
        known = all_sets(X, y, labels, cost, free, settings, weight, standardize)
        for limit in limits_of(rng, cost)[:2]:
            best = min(
                value + limit.get("lambda_0", 0.0) * spent
                for chosen, (value, spent) in known.items()
                if spent <= limit.get("budget", np.inf) * (1.0 + 1e-12) and len(chosen) <= limit.get("k", GROUPS)
            )
            names = stated(labels, cost, free, settings, weight, standardize)
            found = ez.solve(X, y, gap=1e-8, **limit, **names)
            assert found.objective == pytest.approx(best, rel=1e-7, abs=1e-9), (loss, seed, limit)
            assert ez.verify(found.certificate, X, y, **limit, **names).valid, (loss, seed, limit)
            largest = max(largest, np.diff(found.certificate.tree["block_ends"], prepend=0).max(initial=0))
    assert largest > 1, "without clauses this would prove little"


@pytest.mark.parametrize("loss", LOSSES)
def test_alternatives_are_all_good_sets_of_groups(loss):
    for seed in (0, 4, 6):
        X, y, labels, cost, free, settings, weight, standardize, _ = drawn(loss, seed)
        known = all_sets(X, y, labels, cost, free, settings, weight, standardize)
        names = stated(labels, cost, free, settings, weight, standardize)
        found = ez.alternatives(X, y, k=2, within=0.2, **names)
        assert found.complete, (loss, seed)
        assert ez.verify(found.certificate, X, y, k=2, **names).valid, (loss, seed)
        values = {chosen: value for chosen, (value, _) in known.items() if len(chosen) <= 2}
        best = min(values.values())
        sets = {tuple(np.setdiff1d(labels[model.support], labels[free]).tolist()): model.objective for model in found.models}
        for chosen, value in values.items():
            if value < best * 1.2 - 1e-6:  # listed, unless a part of it does as well
                parts = [values[tuple(each for each in chosen if each != one)] for one in chosen]
                assert chosen in sets or min(parts) <= value + 1e-6 * best, (loss, seed, chosen)
        for chosen, value in sets.items():
            assert value == pytest.approx(values[chosen], rel=1e-6), (loss, seed, chosen)
            assert value <= best * (1.2 + 1e-6), (loss, seed, chosen)


@pytest.mark.parametrize("loss", LOSSES)
def test_swaps_of_groups(loss):
    for seed in (0, 1, 2):
        X, y, labels, cost, free, settings, weight, standardize, rng = drawn(loss, seed)
        known = all_sets(X, y, labels, cost, free, settings, weight, standardize)
        names, price = stated(labels, cost, free, settings, weight, standardize), limits_of(rng, cost)[0]["lambda_0"]
        found = ez.improve(X, y, lambda_0=price, swap_size=1, **names)
        report = ez.verify(found.certificate, X, y, lambda_0=price, swap_size=1, **names)
        assert report.valid, (loss, seed, report.reasons)
        home = set(np.setdiff1d(labels[found.support], labels[free]).tolist())
        near = [chosen for chosen in known if len(home - set(chosen)) <= 1 and len(set(chosen) - home) <= 1]
        best = min(known[chosen][0] + price * known[chosen][1] for chosen in near)
        assert found.lower_bound <= best * (1.0 + 1e-8), (loss, seed)
        assert found.objective <= best * (1.0 + 2e-4), (loss, seed)


@pytest.mark.parametrize("loss", ["logistic", "squared_error"])
def test_other_methods_agree(loss):
    X, y, labels, cost, free, settings, weight, standardize, _ = drawn(loss, 0)
    names = stated(labels, cost, free, settings, weight, standardize) | {"lambda_2": 0.1, "k": 2, "lambda_0": 0.003}
    want = ez.solve(X, y, gap=1e-7, **names).objective
    assert ez.solve(X, y, method="iga", grow=1, gap=1e-7, **names).objective == pytest.approx(want, rel=1e-6)
    pytest.importorskip("highspy")
    for method in ("iga", "mip") if loss == "squared_error" else ("iga",):
        found = ez.solve(X, y, method=method, backend="highs", gap=1e-4, **names)
        assert found.objective == pytest.approx(want, rel=2e-4), method
        assert found.lower_bound <= want * (1.0 + 1e-6), method
