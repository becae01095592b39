"""The methods that the paper compares with, each against an implementation that shares nothing with it."""

import os
import sys
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from scipy import optimize, sparse, special

import ellzero as ez
from ellzero.base.errors import EllzeroError
from experiments.peers import nhtp, r_or_skglm, rscript, skglm_path, sparse_logistic
from experiments.peers.grasp import GraSP
from experiments.peers.l1 import L1
from experiments.peers.mcp import MCP
from experiments.peers.nhtp import NHTP
from experiments.peers.sparse_logistic import Data

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")  # skglm's compilation takes half a minute, these problems milliseconds
SKGLM = pytest.param("skglm", marks=pytest.mark.skipif(not skglm_path.has_skglm(), reason="skglm is not installed"))


@pytest.fixture(autouse=True)
def interpreted_skglm(monkeypatch):
    """Let skglm run uncompiled: Numba's type of truth values is not NumPy's then."""
    if skglm_path.has_skglm():
        import skglm.penalties.separable

        monkeypatch.setattr(skglm.penalties.separable, "bool_", np.bool_)


def needs_r(package):
    return pytest.param(package, marks=pytest.mark.skipif(not rscript.has_r_package(package), reason=f"R has no {package}"))


def problem(seed, n=60, p=9, s=1.5, rho=0.5):
    print(f"seed {seed}")
    X, y, _ = ez.datasets.make_classification(n, p, 3, s=s, correlation="exponential", rho=rho, random_state=seed)
    return X + 0.3, np.where(y > 0, 1, -1)


def whole(fit, p):
    coef = np.zeros(p)
    coef[fit.support] = fit.values
    return coef


def referee(X, y, fit):
    return ez.objective(X, y, whole(fit, X.shape[1]), fit.intercept, lambda_2=fit.settings["lambda_2"])


def best_on(X, y, columns, lambda_2):
    """Return the least objective on some columns, by SciPy."""

    def value(w):
        margin = X[:, columns] @ w[1:] + w[0]
        residual = -y * special.expit(-y * margin) / len(y)
        gradient = np.append(residual.sum(), residual @ X[:, columns] + 2.0 * lambda_2 * w[1:])
        return np.mean(np.logaddexp(0.0, -y * margin)) + lambda_2 * w[1:] @ w[1:], gradient

    return optimize.minimize(value, np.zeros(len(columns) + 1), jac=True, method="BFGS", options={"gtol": 1e-7}).fun


@cache
def best_models(seed, sizes, ridges):
    """Return the least objective of each size and lambda_2, by fitting all subsets."""
    X, y = problem(seed, p=7)
    return {
        (k, ridge): min(best_on(X, y, list(columns), ridge) for columns in combinations(range(7), k))
        for k, ridge in product(sizes, ridges)
    }


def test_calculus_against_scipy_and_differences():
    X, y = problem(0)
    data = Data(X, y)
    chosen = np.array([1, 4, 5])
    values, intercept, margin, objective = sparse_logistic.minimise_on(data, chosen, (np.zeros(3), 0.0), 0.01, 1e-12)
    np.testing.assert_allclose(margin, X[:, chosen] @ values + intercept, atol=1e-12)
    assert objective == pytest.approx(best_on(X, y, chosen, 0.01), rel=1e-8)
    slopes = data.slopes([margin])[0]
    np.testing.assert_allclose(slopes[chosen] + 0.02 * values, 0.0, atol=1e-6)
    step = 1e-6
    numeric = [(data.loss(margin + step * X[:, j]) - data.loss(margin - step * X[:, j])) / (2 * step) for j in range(9)]
    np.testing.assert_allclose(slopes, numeric, atol=1e-8)


@pytest.mark.parametrize(("method", "least"), [(NHTP, 0.75), (GraSP, 0.75)])
@pytest.mark.parametrize("warm_start", ["none", "size"])
def test_models_against_enumeration(method, least, warm_start, record_property):
    hits = total = 0
    for seed in range(3):
        X, y = problem(seed, p=7)
        truth = best_models(seed, (1, 2, 4), (1e-3, 0.1))
        for fit in method((1, 2, 4), (1e-3, 0.1), warm_start=warm_start).fits(X, y):
            k, ridge = int(fit.settings["k"]), fit.settings["lambda_2"]
            value = referee(X, y, fit)
            assert len(fit.support) <= k
            assert np.all(np.diff(fit.support) > 0)
            assert value == pytest.approx(best_on(X, y, fit.support, ridge), rel=1e-6)
            assert value >= truth[k, ridge] * (1 - 1e-6)
            hits += value <= truth[k, ridge] * (1 + 1e-6)
            total += 1
    record_property("figure", f"{method().name}, {warm_start}: the best model in {hits} of {total} cases")
    assert total == 18
    assert hits >= least * total


@pytest.mark.parametrize("warm_start", ["none", "size"])
def test_nhtp_ends_at_stationary_points(warm_start):
    """The gradient is zero on the support, and off it at most the smallest coefficient over some eta that is not tiny."""
    X, y = problem(3, n=100, p=150, rho=0.8)
    method = NHTP(range(1, 20, 3), [1e-3, 1e-1, 10.0], warm_start=warm_start)
    for at in sparse_logistic.sweep(X, y, method.sizes, method.lambda_2, method.advance, warm_start=warm_start, max_looks=200):
        fit = at.fit()
        assert referee(X, y, fit) == pytest.approx(at.objective, rel=1e-10)
        residual = -y / (1.0 + np.exp(y * fit.decision(X))) / len(y)
        gradient = X.T @ residual + 2.0 * at.lambda_2 * whole(fit, 150)
        assert abs(residual.sum()) <= 1e-7
        assert np.abs(gradient[fit.support]).max() <= 1e-7
        outside = np.delete(gradient, fit.support)
        assert at.memory["eta"] > 1e-3 / (1.0 + 2.0 * at.lambda_2)
        assert np.abs(outside).max() <= np.abs(fit.values).min() / at.memory["eta"] + 1e-6


@pytest.mark.parametrize("method", [NHTP, GraSP])
def test_sparse_x_gives_the_same_models(method):
    X, y = problem(4, n=80, p=40)
    X = np.where(np.abs(X) > 1.0, X, 0.0)
    dense = list(method((2, 5), [1e-2]).fits(X, y))
    thin = list(method((2, 5), [1e-2]).fits(sparse.csr_array(X), y))
    for a, b in zip(dense, thin, strict=True):
        np.testing.assert_array_equal(a.support, b.support)
        np.testing.assert_allclose(a.values, b.values, atol=1e-8)


@pytest.mark.parametrize("method", [NHTP, GraSP])
def test_degenerate_data(method):
    X, y = problem(5)
    X[:, 2] = 7.0  # constant
    X[:, 4] = X[:, 3]  # twins
    fits = list(method((1, 5, 9, 30), [1e-3]).fits(X, y))
    assert [fit.settings["k"] for fit in fits] == [1.0, 5.0, 9.0]
    assert referee(X, y, fits[-1]) == pytest.approx(best_on(X, y, range(9), 1e-3), rel=1e-6)

    X[:, 0] = y  # separates the classes: sizes beyond the first are left out
    alone = list(method((1, 2, 3), [0.0]).fits(X, y))
    assert [fit.settings["k"] for fit in alone] == [1.0]
    assert alone[0].support.tolist() == [0]


def test_sweep_of_nhtp_with_warm_starts_is_not_worse(record_property):
    X, y = problem(6, n=200, p=300, rho=0.9)
    mean = {}
    for warm_start in ("none", "size"):
        fits = list(NHTP(range(1, 31, 2), [1e-3, 1e-2, 1e-1], warm_start=warm_start).fits(X, y))
        mean[warm_start] = np.mean([referee(X, y, fit) for fit in fits])
    record_property(
        "figure", f"NHTP, n = 200, p = 300: mean objective {mean['none']:.5f} from zero, {mean['size']:.5f} by size"
    )
    assert mean["size"] <= mean["none"] * (1 + 1e-3)


def l1_violation(X, y, fit):
    """Return how far a model is from the optimality conditions of L1 on standardised columns."""
    scale = X.std(axis=0)
    residual = -y / (1.0 + np.exp(y * fit.decision(X))) / len(y)
    gradient = (X - X.mean(axis=0)).T @ residual / scale
    beyond = np.maximum(np.abs(gradient) - fit.settings["lambda"], 0.0)
    on = np.abs(gradient[fit.support] + fit.settings["lambda"] * np.sign(fit.values))
    beyond[fit.support] = on
    return max(beyond.max(), abs(residual.sum()))


@pytest.mark.parametrize("backend", [needs_r("glmnet"), SKGLM])
def test_l1_is_optimal_and_takes_sparse_x(backend):
    X, y = problem(7, n=80, p=120)
    X = np.where(np.abs(X) > 0.8, X, 0.0)
    fits = list(L1(backend=backend, n_lambda=20).fits(X, y))
    thin = list(L1(backend=backend, n_lambda=20).fits(sparse.csr_matrix(X), y))
    assert len(fits[0].support) == 0
    assert fits[1].settings["lambda"] < fits[0].settings["lambda"]
    assert max(len(fit.support) for fit in fits) > 20
    for fit in fits:
        assert l1_violation(X, y, fit) <= 2e-3 * fits[0].settings["lambda"]
    assert len(fits) == len(thin)
    for a, b in zip(fits, thin, strict=True):
        np.testing.assert_allclose(whole(a, 120), whole(b, 120), atol=0.02)


@pytest.mark.skipif(not (rscript.has_r_package("glmnet") and skglm_path.has_skglm()), reason="needs both back ends")
def test_l1_back_ends_agree():
    X, y = problem(8, n=80, p=120)
    pairs = zip(L1(backend="glmnet").fits(X, y), L1(backend="skglm").fits(X, y), strict=False)
    for a, b in pairs:
        assert a.settings["lambda"] == pytest.approx(b.settings["lambda"], rel=1e-6)
        np.testing.assert_allclose(whole(a, 120), whole(b, 120), atol=0.02)


@pytest.mark.parametrize(("method", "backend"), [(L1, needs_r("glmnet")), (L1, SKGLM), (MCP, needs_r("ncvreg")), (MCP, SKGLM)])
def test_paths_on_separable_data_with_a_constant_column(method, backend):
    X, y = problem(9, n=60, p=100)
    X[:, 0] += 4.0 * y
    X[:, 5] = 2.0
    options = {"gammas": [3.0]} if method is MCP else {}
    fits = list(method(backend=backend, **options).fits(X, y))
    assert 1 < len(fits) <= 100
    assert all(np.all(np.isfinite(fit.values)) and 5 not in fit.support for fit in fits)
    assert max(len(fit.support) for fit in fits) <= 60
    assert np.mean(np.sign(fits[-1].decision(X)) == y) > 0.95


@pytest.mark.parametrize("backend", [needs_r("ncvreg"), SKGLM])
def test_mcp_finds_strong_features_without_shrinking_them(backend):
    X, y, beta = ez.datasets.make_classification(400, 50, 3, s=2.0, random_state=10)
    y = np.where(y > 0, 1, -1)
    fits = list(MCP([2.0, 10.0], backend=backend).fits(X, y))
    assert {fit.settings["gamma"] for fit in fits} == {2.0, 10.0}
    true = np.flatnonzero(beta)
    exact = [fit for fit in fits if np.array_equal(fit.support, true)]
    assert exact
    least = best_on(X, y, true, 0.0)
    assert min(np.mean(np.logaddexp(0.0, -y * fit.decision(X))) for fit in exact) <= least + 1e-4


def test_what_is_missing_is_said(monkeypatch):
    assert NHTP().missing() is None
    assert GraSP().missing() is None
    monkeypatch.setitem(sys.modules, "skglm", None)
    monkeypatch.setattr(r_or_skglm, "has_r_package", lambda name: False)
    assert "glmnet" in L1().missing()
    assert "skglm" in L1().missing()
    assert "glmnet" in L1(backend="glmnet").missing()
    assert "ncvreg" in MCP().missing()


def test_nothing_is_missing_without_rscript(monkeypatch):
    rscript.has_r_package.cache_clear()
    monkeypatch.setattr(rscript.shutil, "which", lambda name: None)
    assert not rscript.has_r_package("glmnet")
    rscript.has_r_package.cache_clear()


@pytest.mark.skipif(not rscript.has_r_package("glmnet"), reason="R has no glmnet")
def test_failures_in_r_are_told():
    X, y = problem(11)
    with pytest.raises(EllzeroError, match=r"glmnet\.R failed in R"):
        list(L1(backend="glmnet").fits(X, np.ones_like(y)))


def test_names_are_those_of_the_legends():
    assert [method().name for method in (L1, MCP, GraSP, NHTP)] == ["L1", "MCP", "GraSP", "NHTP"]
    assert nhtp.NHTP().sizes[-1] == 100
