"""Exact searches where sizes are far apart: columns that penalties hardly hold, tiny penalties, constant columns."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

import ellzero as ez

LOSSES = ("logistic", "squared_hinge", "hinge", "squared_error")


def regression(seed, reach):
    """Columns and a response in any units, and a ridge that matters to some of the columns."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(12, 30)), int(rng.integers(2, 6))
    shape = rng.standard_normal((n, p))
    size, unit = 10.0 ** rng.uniform(-reach, reach, p), 10.0 ** rng.uniform(-reach, reach)
    y = shape @ rng.standard_normal(p) + rng.standard_normal(n) + 10.0 ** rng.uniform(0.0, 6.0)
    ridge = 0.1 * float(np.median(size)) ** 2
    return shape, size, y, unit, ridge, rng


def best_by_enumeration(shape, size, y, ridge, k):
    """The least objective of at most k columns `shape * size`, for a response in units of one: plain linear algebra."""
    n, p = shape.shape
    Z, target = shape - shape.mean(0), y - y.mean()
    best = 0.5 * target @ target / n
    for count in range(1, k + 1):
        for support in map(list, combinations(range(p), count)):
            columns, cost = Z[:, support], 2.0 * ridge / size[support] / size[support]  # of coefficients of `shape`
            coef = np.linalg.solve(columns.T @ columns / n + np.diag(cost), columns.T @ target / n)
            residual = target - columns @ coef
            best = min(best, 0.5 * residual @ residual / n + 0.5 * float(cost @ coef**2))
    return best


@pytest.mark.parametrize("reach", [3.0, 12.0, 100.0])
@pytest.mark.parametrize("seed", range(12))
def test_columns_of_any_size(seed, reach):
    shape, size, y, unit, ridge, rng = regression(seed, reach)
    k = int(rng.integers(1, shape.shape[1] + 1))
    X, target = shape * size, y * unit
    X = sparse.csc_matrix(X) if rng.random() < 0.3 else X
    sol = ez.solve(X, target, loss="squared_error", k=k, lambda_2=ridge, gap=1e-5)
    best = best_by_enumeration(shape, size, y, ridge, k)
    where = f"seed {seed}, reach {reach}: {sol}"
    assert sol.status == "optimal", where
    assert sol.objective / unit / unit == pytest.approx(best, rel=1.1e-5), where
    assert ez.verify(sol.certificate, X, target).valid, where


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("share", [1e-9, 1e-15, 1e-22, 1e-60, 1e-200])
def test_penalties_that_hardly_hold(loss, share):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((40, 4))
    y = X[:, 0] - X[:, 1] + 1.5 * rng.standard_normal(40)
    y = y if loss == "squared_error" else y > 0.0
    assumed = ez.solve(X, y, loss=loss, k=2, bound=20.0)
    for penalty in ({"lambda_2": share}, {"lambda_1": share}):
        sol = ez.solve(X, y, loss=loss, k=2, **penalty)
        where = f"{penalty}: {sol}"
        assert sol.status == "optimal", where
        assert sol.objective == pytest.approx(assumed.objective, rel=2e-4), where
        report = ez.verify(sol.certificate, X, y)
        assert report.valid, (where, report)
        assert not report.conditional, where


@pytest.mark.parametrize("stored", ["dense", "sparse"])
@pytest.mark.parametrize("value", [1.0, 1e-120, 1e33])
def test_a_constant_column_beside_an_intercept_costs_no_proof(value, stored):
    rng = np.random.default_rng(8)
    X = rng.standard_normal((30, 3))
    X[:, 1] = value
    y = X[:, 0] + rng.standard_normal(30) > 0.0
    Z = sparse.csc_matrix(X) if stored == "sparse" else X
    for form in ({"k": 1}, {"lambda_0": 0.01}, {"lambda_0": 0.01, "standardize": True}, {"k": 1, "unpenalized": [1]}):
        sol = ez.solve(Z, y, loss="squared_hinge", lambda_2=1e-30, **form)
        assert sol.status == "optimal", (form, sol)
        assert sol.coef[1] == 0.0, (form, sol)
        for arithmetic in ("float64", "exact"):
            assert ez.verify(sol.certificate, Z, y, arithmetic=arithmetic).valid, (form, arithmetic)


def test_huge_penalties_leave_nothing():
    rng = np.random.default_rng(9)
    X = 1e-50 * rng.standard_normal((20, 3))
    y = rng.integers(0, 2, 20)
    for penalty in ({"lambda_2": 1e290}, {"lambda_1": 1e250}):
        sol = ez.solve(X, y, lambda_0=0.1, unpenalized=[0, 1], **penalty)
        assert sol.status == "optimal", (penalty, sol)
        assert sol.objective == pytest.approx(sol.certificate.problem.null, rel=1e-9), (penalty, sol)


def test_bounds_assumed_of_free_features_hold_while_searching():
    """Two classes that a free feature and another one separate, but only beyond the bound that is assumed of the free one."""
    X = np.array([[-0.74, 0.2, 2.0, 0.4], [-0.036, 0.3, -1.0, 0.007], [0.3, 0.4, -0.4, -0.1], [-0.21, 0.7, -0.3, 0.2]])
    y = np.array([1, 0, 1, 1])
    settings = {"loss": "squared_hinge", "fit_intercept": False, "standardize": True, "unpenalized": [0], "lambda_0": 0.2}
    for bound in (20.0, 100.0):
        sol = ez.solve(X, y, bound=bound, **settings)
        assert sol.status == "optimal", sol
        assert sol.objective == pytest.approx(0.25281, abs=1e-4), sol  # below the null model's and that of the path
        assert ez.verify(sol.certificate, X, y).valid


def test_a_start_that_is_cut_to_an_assumed_bound_keeps_its_intercept_fit():
    X = np.array([[80744.1051132586], [80743.24710449808]])
    sol = ez.solve(X, [1, 0], lambda_0=0.1, bound=3.0, warm_start=np.ones(1))
    assert sol.status == "optimal", sol
    assert sol.objective == pytest.approx(0.1 + np.log1p(np.exp(-1.5 * (X[0, 0] - X[1, 0]))), rel=1e-4), sol


@pytest.mark.parametrize("seed", range(12))
def test_an_outlier_far_away_costs_no_proof_where_a_penalty_holds_the_coefficients(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 4))
    X[2] *= 1e4
    y = rng.permutation(np.repeat([0, 1], 6))
    sol = ez.solve(X, y, lambda_0=1e-4, lambda_1=0.04, lambda_2=4.5e-11)
    assert sol.status == "optimal", (seed, sol)
    assert ez.verify(sol.certificate, X, y).valid, seed
