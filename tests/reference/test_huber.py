"""Huber's loss against enumeration with Clarabel, scikit-learn, scipy, and the squared error that it becomes."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.linear_model import HuberRegressor
from support.oracle import DELTA, Model
from support.problems import random_problem, store

import ellzero as ez
from ellzero.exact.verifier.losses import HuberTerms as Verified
from ellzero.problem.losses import Huber

GROUPS = [0, 0, 1, 2, 2, 3, 4]


def drawn(seed, p=7, n=40):
    """Columns, a response with outliers, and settings; the seed chooses among weights, boxes, l1, prices and groups."""
    rng = np.random.default_rng([seed, 29])
    X = rng.standard_normal((n, p)) + 0.5 * rng.standard_normal((n, 1))
    y = X[:, :3] @ [1.5, -1.0, 0.7] + 0.5 + rng.standard_normal(n)
    y[: n // 8] += rng.choice([-1.0, 1.0], n // 8) * 30.0
    settings = {"loss": "huber", "lambda_2": float(rng.choice([0.003, 0.03])), "fit_intercept": seed % 3 > 0}
    settings |= {"lambda_1": 0.02} if seed % 4 == 1 else {}
    settings |= {"lower": np.full(p, -0.8), "upper": np.full(p, 1.1)} if seed % 4 == 2 else {}
    weight = rng.integers(0, 4, n).astype(float) if seed % 2 else None
    return X, y, settings, weight


def best(model, groups, price, lambda_0, most):
    """The least objective over sets of groups whose prices sum to at most `most`."""
    labels, found = np.asarray(groups), np.inf
    for size in range(labels.max() + 2):
        for chosen in combinations(range(labels.max() + 1), size):
            spent = sum(price[g] for g in chosen)
            if spent <= most + 1e-12:
                columns = frozenset(np.flatnonzero(np.isin(labels, chosen)).tolist())
                found = min(found, model.fit(columns).value + lambda_0 * spent)
    return found


@pytest.mark.parametrize("kind", ["sizes", "penalised", "priced", "grouped"])
@pytest.mark.parametrize("seed", range(4))
def test_exact_against_enumeration(seed, kind):
    X, y, settings, weight = drawn(seed)
    model = Model(X, y, weights=weight, **settings)
    grouped, price = (GROUPS if kind == "grouped" else list(range(7))), np.ones(7)
    limits, lambda_0, most = {"k": 2}, 0.0, 2.0
    if kind == "penalised":
        limits, lambda_0, most = {"lambda_0": 0.05}, 0.05, np.inf
    if kind == "priced":
        price = np.array([3.0, 1.0, 0.5, 1.5, 1.0, 0.25, 2.0])
        limits, most = {"budget": 3.5, "feature_cost": price}, 3.5
    settings |= {"sample_weight": weight, "gap": 1e-7, **limits}
    if kind == "grouped":
        settings |= {"groups": GROUPS}
    solution = ez.solve(X, y, **settings)
    assert solution.objective == pytest.approx(best(model, grouped, price, lambda_0, most), rel=1e-6)
    for arithmetic in ("float64", "exact"):
        report = ez.verify(solution.certificate, X, y, arithmetic=arithmetic)
        assert report.valid, report
        assert report.gap <= 1.1e-7


@pytest.mark.parametrize("seed", range(4))
def test_paths_and_local_search(seed):
    """No model is better than the best of its size, and most are the best."""
    X, y, settings, weight = drawn(seed)
    model, one = Model(X, y, weights=weight, **settings), np.ones(7)
    for algorithm in ("cd", "local_search", "iht"):
        sizes = ez.fit_sizes(X, y, 4, algorithm=algorithm, sample_weight=weight, **settings)
        for found in sizes.models:
            truth = best(model, range(7), one, 0.0, found.size)
            assert found.cost >= truth * (1 - 1e-7)
            assert algorithm != "local_search" or found.cost <= truth * 1.02


def test_convex_fit_is_that_of_scikit_learn():
    """HuberRegressor estimates a scale sigma, too: at that sigma, its coefficients minimise our objective."""
    X, y, _, _ = drawn(2)
    theirs = HuberRegressor(epsilon=1.5, alpha=0.3, tol=1e-12, max_iter=10_000).fit(X, y)
    delta, lambda_2 = 1.5 * theirs.scale_, 0.3 * theirs.scale_ / (2 * len(y))
    ours = ez.fit_path(X, y, loss="huber", huber_delta=delta, lambda_0=0.0, lambda_2=lambda_2, tol=1e-10)
    np.testing.assert_allclose(ours[0].coef, theirs.coef_, atol=1e-4)
    at = {"loss": "huber", "huber_delta": delta, "lambda_2": lambda_2}
    reference = ez.objective(X, y, theirs.coef_, theirs.intercept_, **at)
    assert reference * (1 - 1e-9) <= ours.objective[0] <= reference


@pytest.mark.parametrize("storage", ["f64", "f32", "csc64", "file"])
def test_a_large_delta_is_the_squared_error(storage):
    X, y, weight = random_problem(3)
    X = store(X, storage)
    settings = {"lambda_2": 0.01, "sample_weight": weight, "standardize": True}
    grid, losses = [0.3, 0.1, 0.03], ("huber", "squared_error")
    huber, squared = (ez.fit_path(X, y, loss=loss, huber_delta=1e4, lambda_0=grid, **settings) for loss in losses)
    np.testing.assert_allclose(huber.objective, squared.objective, rtol=1e-9)
    proofs = [ez.solve(X, y, loss=loss, huber_delta=1e4, k=2, **settings) for loss in losses]
    assert proofs[0].objective == pytest.approx(proofs[1].objective, rel=1e-9)


@pytest.mark.parametrize("unit", [2.0**-30, 1e-3, 1e6, 1e40])
def test_units_of_the_response(unit):
    """A response and delta in another unit have the same models; with intercepts, far means cost nothing."""
    X, y, settings, weight = drawn(1)
    settings |= {"k": 2, "sample_weight": weight, "lambda_1": 0.0}
    plain = ez.solve(X, y, **settings)
    scaled = ez.solve(X, unit * (y + 100.0), huber_delta=unit * DELTA, **settings)
    assert scaled.objective / unit / unit == pytest.approx(plain.objective, rel=1e-6)
    assert ez.verify(scaled.certificate, X, unit * (y + 100.0)).valid
    assert scaled.support.tolist() == plain.support.tolist()


def test_several_outputs_share_features():
    X, y, settings, weight = drawn(3)
    Y = np.column_stack([y, X[:, 1] - 2.0 * X[:, 4]])
    settings |= {"k": 2, "sample_weight": weight, "lower": None, "upper": None}
    solution = ez.solve(X, Y, **settings)
    convex = {name: settings[name] for name in ("loss", "lambda_2", "fit_intercept")}
    models = [Model(X, column, weights=weight, **convex) for column in Y.T]
    truth = min(sum(m.fit(frozenset(pair)).value for m in models) for pair in combinations(range(7), 2))
    assert solution.objective == pytest.approx(truth, rel=1e-4)
    assert ez.verify(solution.certificate, X, Y).valid
    assert ez.verify(solution.certificate, X, Y, arithmetic="exact").valid


@pytest.mark.parametrize("method", ["mip", "iga"])
def test_mip_methods(method):
    X, y, settings, weight = drawn(1)
    settings |= {"k": 2, "sample_weight": weight, "gap": 1e-6}
    ours = ez.solve(X, y, **settings)
    theirs = ez.solve(X, y, method=method, backend="highs", bound=10.0, **settings)
    assert theirs.objective == pytest.approx(ours.objective, rel=1e-5)


@pytest.mark.parametrize("delta", [1e-3, 0.3, 1.35, 50.0])
@pytest.mark.parametrize("seed", range(3))
def test_best_constant(seed, delta):
    """Also with rows of no weight, and with two clusters between which every constant is as good."""
    rng = np.random.default_rng(seed)
    y, w = rng.standard_normal(30) + 1e3, rng.integers(0, 3, 30) / 1.0
    y[:4] += 1e5
    y = np.repeat([0.0, 100.0], 15) if seed == 2 else y
    w = np.ones(30) if seed == 2 else w
    w /= w.sum()
    loss = Huber(delta)
    options = {"bounds": (y.min(), y.max()), "method": "bounded", "options": {"xatol": 1e-10}}
    truth = minimize_scalar(lambda b: w @ loss.value(np.full(30, b), y), **options).fun
    assert loss.null_value(y, w, True) == pytest.approx(truth, rel=1e-9)
    assert w @ loss.value(np.full(30, loss.best_constant(y, w)), y) == pytest.approx(truth, rel=1e-9)
    for fit_intercept in (True, False):
        assert Verified(delta).least(y, w, fit_intercept) == pytest.approx(loss.null_value(y, w, fit_intercept), rel=1e-7)


def test_best_constant_of_one_number_is_that_number():
    loss = Huber(0.1)
    assert loss.best_constant(np.full(7, 0.3), np.full(7, 1 / 7)) == pytest.approx(0.3, rel=1e-15)
    assert loss.null_value(np.full(7, 0.3), np.full(7, 1 / 7), True) < 1e-30
