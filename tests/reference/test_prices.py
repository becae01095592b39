"""Features with prices, with and without a budget, against all supports: each fitted by Clarabel."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from support.oracle import Model
from support.problems import LOSSES, on_disk

import ellzero as ez

SEEDS = range(6)
P = 6


def drawn(loss, seed):
    """A small problem with prices; the seed chooses among boxes, weights, l1, unpenalized features, and prices of all kinds."""
    rng = np.random.default_rng([seed, LOSSES.index(loss)])
    n = 26
    X = rng.normal(size=(n, P)) + (rng.normal(size=(n, 1)) if seed % 2 else 0.0)  # every second one has look-alikes
    signal = X @ (rng.normal(size=P) * (rng.random(P) < 0.7)) + 0.5 * rng.normal(size=n)
    y = signal if loss == "squared_error" else np.where(signal > np.median(signal), 1.0, -1.0)
    cost = rng.integers(1, 6, P).astype(float) if seed % 3 == 0 else np.exp(rng.normal(size=P))
    settings = {"loss": loss, "lambda_2": float(10.0 ** rng.uniform(-2.5, -1.0))}
    if rng.random() < 0.5:
        settings["lambda_1"] = 0.02
    if rng.random() < 0.5:
        settings |= {"lower": -0.4, "upper": 0.7}
    weight = rng.integers(0, 4, n).astype(float) if seed % 4 == 1 else None
    if weight is not None:
        weight[np.argmax(y)], weight[np.argmin(y)] = 1.0, 1.0
    if seed % 3 == 1:
        cost[rng.integers(P)] = 0.0
    return X, y, cost, settings, weight, rng


def all_supports(X, y, cost, settings, weight):
    """G of every support of features that cost anything, and what they cost."""
    free = np.flatnonzero(cost == 0.0).tolist()
    model = Model(X, y, weights=weight, unpenalized=free, **settings)
    paid = [j for j in range(P) if j not in free]
    supports = [frozenset(each) for size in range(len(paid) + 1) for each in combinations(paid, size)]
    return {support: (model.fit(support).value, sum(cost[j] for j in support)) for support in supports}


def limits_of(rng, cost):
    """Ways to ask for few, or cheap, features."""
    some = float(rng.uniform(1.01 * cost[cost > 0.0].min(), 0.8 * cost.sum()))
    whole = float(np.ceil(some))
    price = float(10.0 ** rng.uniform(-3.0, -1.3))
    return [
        {"lambda_0": price},
        {"budget": some},
        {"budget": whole},
        {"lambda_0": price, "budget": some},
        {"k": 2, "lambda_0": price},
    ]


def is_allowed(support, spent, limit):
    return spent <= limit.get("budget", np.inf) * (1.0 + 1e-12) and len(support) <= limit.get("k", P)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("loss", LOSSES)
def test_exact_search_finds_the_best_of_all_supports(loss, seed):
    X, y, cost, settings, weight, rng = drawn(loss, seed)
    known = all_supports(X, y, cost, settings, weight)
    for limit in limits_of(rng, cost):
        price = limit.get("lambda_0", 0.0)
        best = min(value + price * spent for support, (value, spent) in known.items() if is_allowed(support, spent, limit))
        found = ez.solve(X, y, feature_cost=cost, sample_weight=weight, gap=1e-6, **limit, **settings)
        assert found.status in ("optimal", "precision"), (loss, seed, limit)
        assert found.objective == pytest.approx(best, rel=2e-6, abs=1e-9), (loss, seed, limit)
        assert found.lower_bound <= best * (1.0 + 1e-8) + 1e-9, (loss, seed, limit)
        assert found.model.spent <= limit.get("budget", np.inf) * (1.0 + 1e-12)
        stated = {"feature_cost": cost, "sample_weight": weight, **limit, **settings}
        report = ez.verify(found.certificate, X, y, **stated)
        assert report.valid, (loss, seed, limit, report.reasons)
        assert report.lower_bound == pytest.approx(found.lower_bound, rel=1e-8)
        other = {**stated, "feature_cost": cost + (cost == cost.max())}
        assert "feature_cost is not as expected" in ez.verify(found.certificate, X, y, **other).reasons[0]


@pytest.mark.parametrize("loss", LOSSES)
def test_proofs_hold_in_exact_arithmetic(loss):
    pytest.importorskip("flint")
    for seed in (0, 1):
        X, y, cost, settings, weight, rng = drawn(loss, seed)
        for limit in limits_of(rng, cost)[:4]:
            found = ez.solve(X, y, feature_cost=cost, sample_weight=weight, **limit, **settings)
            report = ez.verify(found.certificate, X, y, arithmetic="exact")
            assert report.valid, (loss, seed, limit, report.reasons)


@pytest.mark.parametrize("loss", LOSSES)
def test_paths_and_budgets_find_the_best_of_nearly_all_points(loss):
    missed, points = 0, 0
    for seed in SEEDS:
        X, y, cost, settings, weight, rng = drawn(loss, seed)
        known = all_supports(X, y, cost, settings, weight)
        path = ez.fit_path(X, y, feature_cost=cost, sample_weight=weight, algorithm="local_search", n_lambda=12, **settings)
        for k, price in enumerate(path.lambda_0):
            best = min(value + price * spent for value, spent in known.values())
            assert path.objective[k] >= best * (1.0 - 1e-6) - 1e-9, (loss, seed, k)
            missed, points = missed + (path.objective[k] > best * (1.0 + 1e-4)), points + 1
            at = {"lambda_0": price, "feature_cost": cost, "sample_weight": weight, **settings}
            assert ez.check_stationarity(X, y, path.coef[k], path.intercept[k], **at), (loss, seed, k)
            bare = {name: value for name, value in at.items() if name not in ("lower", "upper")}
            assert ez.objective(X, y, path.coef[k], path.intercept[k], **bare) == pytest.approx(path.objective[k])
        budgets = np.unique(rng.uniform(1.01 * cost[cost > 0.0].min(), cost.sum(), 4))
        models = ez.fit_budgets(X, y, budgets, feature_cost=cost, sample_weight=weight, **settings)
        for budget, model in zip(budgets, models, strict=True):
            best = min(value for value, spent in known.values() if spent <= budget)
            assert model.spent <= budget
            assert model.objective >= best * (1.0 - 1e-6) - 1e-9, (loss, seed, budget)
            missed, points = missed + (model.objective > best * (1.0 + 1e-4)), points + 1
    assert points > 40
    assert missed <= 0.04 * points, (loss, missed, points)


@pytest.mark.parametrize("loss", LOSSES)
def test_prices_times_a_number_are_lambda_0_times_it(loss):
    X, y, cost, settings, weight, _ = drawn(loss, 2)
    grid = np.geomspace(0.1, 1e-3, 6)
    many = {"sample_weight": weight, "algorithm": "local_search", "tol": 1e-8, **settings}
    one = ez.fit_path(X, y, lambda_0=grid, feature_cost=cost, **many)
    for factor in (0.25, 3.0):
        other = ez.fit_path(X, y, lambda_0=grid / factor, feature_cost=factor * cost, **many)
        np.testing.assert_allclose(other.objective, one.objective, rtol=1e-7)
        np.testing.assert_array_equal(other.support_size, one.support_size)
    halves = ez.solve(X, y, lambda_0=0.02, feature_cost=0.5 * cost, **settings)
    assert ez.solve(X, y, lambda_0=0.01, feature_cost=cost, **settings).objective == pytest.approx(halves.objective)


@pytest.mark.parametrize("loss", LOSSES)
def test_prices_of_one_change_nothing(loss):
    X, y, _, settings, _, _ = drawn(loss, 4)
    plain, priced = (ez.fit_path(X, y, algorithm="local_search", feature_cost=cost, **settings) for cost in (None, np.ones(P)))
    np.testing.assert_array_equal(priced.coef.toarray(), plain.coef.toarray())
    np.testing.assert_array_equal(priced.lambda_0, plain.lambda_0)
    free = np.where(np.arange(P) == 3, 0.0, 1.0)
    always = ez.fit_path(X, y, unpenalized=[3], **settings)
    np.testing.assert_array_equal(ez.fit_path(X, y, feature_cost=free, **settings).coef.toarray(), always.coef.toarray())
    sized = ez.solve(X, y, k=3, **settings)
    for other in (ez.solve(X, y, budget=3, **settings), ez.solve(X, y, budget=3.5, feature_cost=np.ones(P), **settings)):
        np.testing.assert_array_equal(other.coef, sized.coef)
        assert other.certificate.header == sized.certificate.header
    # Equal prices other than one take the way of all prices, to the same models.
    twice = ez.solve(X, y, budget=6.5, feature_cost=np.full(P, 2.0), **settings)
    assert twice.objective == pytest.approx(sized.objective, rel=1e-4)
    assert ez.verify(twice.certificate, X, y, budget=6.5, feature_cost=np.full(P, 2.0), **settings).valid


@pytest.mark.parametrize("loss", ["logistic", "squared_error"])
def test_storages_and_threads_agree(loss):
    X, y, cost, settings, _, _ = drawn(loss, 0)
    X = np.where(np.abs(X) < 0.5, 0.0, X).astype(np.float32).astype(np.float64)
    storages = [np.asfortranarray(X), sparse.csc_matrix(X), X.astype(np.float32), on_disk(X)]
    paths = [ez.fit_path(each, y, feature_cost=cost, algorithm="local_search", **settings) for each in storages]
    for path in paths[1:]:
        np.testing.assert_allclose(path.objective, paths[0].objective, rtol=1e-6)
        np.testing.assert_array_equal(path.spent, paths[0].spent)
    for each in storages:
        found = ez.solve(each, y, feature_cost=cost, budget=7, lambda_0=1e-3, **settings)
        assert ez.verify(found.certificate, each, y).valid
        assert found.objective == pytest.approx(
            ez.solve(X, y, feature_cost=cost, budget=7, lambda_0=1e-3, **settings).objective
        )
    threads = ez.fit_path(X, y, feature_cost=cost, algorithm="local_search", n_jobs=2, **settings)
    np.testing.assert_array_equal(threads.coef.toarray(), paths[0].coef.toarray())


@pytest.mark.parametrize("swaps", ["q_best", "exhaustive"])
def test_exact_swaps_leave_no_better_single_move(swaps):
    X, y, cost, settings, _, _ = drawn("logistic", 2)
    grid = np.geomspace(0.05, 2e-3, 5)
    known = all_supports(X, y, cost, settings, None)
    path = ez.fit_path(X, y, lambda_0=grid, feature_cost=cost, algorithm="local_search", swaps=swaps, **settings)
    for k, price in enumerate(path.lambda_0):
        assert path.objective[k] == pytest.approx(min(value + price * spent for value, spent in known.values()), rel=1e-5)


@pytest.mark.parametrize("loss", ["logistic", "squared_error"])
def test_swaps_are_bounded_at_prices(loss):
    X, y, cost, settings, weight, _ = drawn(loss, 2)
    known = all_supports(X, y, cost, settings, weight)
    found = ez.improve(X, y, lambda_0=5e-3, swap_size=2, feature_cost=cost, gap=1e-6, **settings)
    assert ez.verify(found.certificate, X, y).valid
    home = frozenset(int(j) for j in found.support if cost[j] > 0.0)
    near = [s for s in known if len(s - home) <= 2 and len(home - s) <= 2]
    least = min(known[s][0] + 5e-3 * known[s][1] for s in near)
    assert found.lower_bound <= least * (1.0 + 1e-7)
    assert found.objective <= least * (1.0 + 1e-5)


def test_a_certified_path_of_budgets():
    X, y, cost, settings, weight, _ = drawn("logistic", 3)
    known = all_supports(X, y, cost, settings, weight)
    models = ez.fit_budgets(X, y, [5, 8, 11], feature_cost=cost, **settings)
    proofs = ez.certify_path(models, gap=1e-5)
    assert proofs.budget.tolist() == [5.0, 8.0, 11.0]
    assert proofs.status == ["optimal"] * 3
    assert "cost 8" in repr(proofs)
    assert proofs.to_frame()["budget"].tolist() == [5.0, 8.0, 11.0]
    for proof, budget in zip(proofs, (5.0, 8.0, 11.0), strict=False):
        best = min(value for value, spent in known.values() if spent <= budget)
        assert proof.objective == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize(("method", "backend"), [("iga", "builtin"), ("iga", "highs"), ("mip", "highs")])
@pytest.mark.parametrize("loss", ["hinge", "squared_error"])
def test_other_methods_agree(loss, method, backend):
    if backend != "builtin":
        pytest.importorskip("highspy")
    X, y, cost, settings, _, rng = drawn(loss, 5)
    for limit in limits_of(rng, cost)[:4]:
        best = ez.solve(X, y, feature_cost=cost, gap=1e-5, **limit, **settings).objective
        other = ez.solve(X, y, feature_cost=cost, gap=1e-4, method=method, backend=backend, **limit, **settings)
        assert other.objective == pytest.approx(best, rel=2e-4), (method, limit)
        assert other.lower_bound <= best * (1.0 + 1e-5), (method, limit)
        assert other.model.spent <= limit.get("budget", np.inf) * (1.0 + 1e-12)


@pytest.mark.parametrize("budget", [5e9, 1e10, 1e20])
@pytest.mark.parametrize("cost", [[1.0, 2.0, 3.0, 4.0, 5.0], [2.0] * 5, None])
def test_a_budget_of_any_size_is_a_number(budget, cost):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 5))
    y = X[:, 0] + rng.normal(size=20)
    settings = {"loss": "squared_error", "feature_cost": cost, "lambda_0": 0.01, "lambda_2": 0.01}
    plenty, free = ez.solve(X, y, budget=budget, **settings), ez.solve(X, y, **settings)
    assert plenty.objective == pytest.approx(free.objective, rel=1e-12)
    assert ez.verify(plenty.certificate, X, y).valid
