"""With lambda_0 = 0 the problem is convex and others solve it: scikit-learn, and linear programming for the hinge."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog, minimize
from sklearn import __version__ as sklearn_version
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.svm import LinearSVC
from support.problems import ALL_LOSSES, LOSSES, random_problem, target

import ellzero as ez
from ellzero.problem.losses import get_loss

SEEDS = [0, 1, 2]
# Before 1.8, l1_ratio needs penalty="elasticnet"; since then the argument is deprecated.
ELASTIC_NET = {} if tuple(map(int, sklearn_version.split(".")[:2])) >= (1, 8) else {"penalty": "elasticnet"}


def solve(X, y, **settings):
    path = ez.fit_path(X, y, lambda_0=0.0, **settings)
    assert path.converged.all()
    return path


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("lam", [0.05, 0.005])
def test_lasso(seed, lam):
    X, y, _ = random_problem(seed, n=50, p=80)
    ours = solve(X, y, loss="squared_error", lambda_1=lam)
    theirs = Lasso(alpha=lam, tol=1e-12, max_iter=10**6).fit(X, y)
    reference = ez.objective(X, y, theirs.coef_, theirs.intercept_, loss="squared_error", lambda_1=lam)
    assert ours.objective[0] <= reference * (1 + 1e-6)
    np.testing.assert_allclose(ours.objective[0], reference, rtol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("lam", [0.5, 0.01])
def test_ridge(seed, lam):
    X, y, w = random_problem(seed)
    ours = solve(X, y, loss="squared_error", lambda_2=lam, sample_weight=w)
    # scikit-learn: sum_i w_i (y_i - eta_i)^2 + alpha ||b||^2, twice ours
    theirs = Ridge(alpha=2 * lam, tol=1e-14).fit(X, y, sample_weight=w / w.sum())
    np.testing.assert_allclose(ours[0].coef, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept[0], theirs.intercept_, atol=1e-6)


def test_least_squares():
    X, y, _ = random_problem(4, n=100, p=10)
    ours = solve(X, y, loss="squared_error")
    np.testing.assert_allclose(ours[0].coef, LinearRegression().fit(X, y).coef_, atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("l1", "l2"), [(0.03, 0.0), (0.0, 0.01), (0.01, 0.01)])
def test_logistic(seed, l1, l2):
    X, y, w = random_problem(seed, n=80, p=40)
    y = target(y, "logistic")
    ours = solve(X, y, lambda_1=l1, lambda_2=l2, sample_weight=w)
    # scikit-learn: C sum_i w_i f_i + l1_ratio ||b||_1 + (1 - l1_ratio)/2 ||b||^2, divided by C here
    scale = l1 + 2 * l2
    ratio = l1 / scale
    theirs = LogisticRegression(
        C=1.0 / scale, l1_ratio=ratio, solver="saga", tol=1e-8, max_iter=10**5, random_state=0, **ELASTIC_NET
    ).fit(X, y, sample_weight=w / w.sum())
    reference = ez.objective(X, y, theirs.coef_, theirs.intercept_[0], lambda_1=l1, lambda_2=l2, sample_weight=w)
    np.testing.assert_allclose(ours.objective[0], reference, rtol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("lam", [0.1, 0.003])
def test_linear_svc_squared_hinge(seed, lam):
    X, y, _ = random_problem(seed, n=80, p=40)
    y = target(y, "squared_hinge")
    ours = solve(X, y, loss="squared_hinge", lambda_2=lam, fit_intercept=False)
    # scikit-learn: ||b||^2 / 2 + C sum_i f_i
    theirs = LinearSVC(C=1 / (2 * lam * 80), fit_intercept=False, tol=1e-12, max_iter=10**6).fit(X, y)
    reference = ez.objective(X, y, theirs.coef_, 0.0, loss="squared_hinge", lambda_2=lam)
    np.testing.assert_allclose(ours.objective[0], reference, rtol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("lam", [0.1, 0.003])
def test_linear_svc_hinge(seed, lam):
    X, y, _ = random_problem(seed, n=80, p=10)
    y = target(y, "hinge")
    ours = solve(X, y, loss="hinge", lambda_2=lam, fit_intercept=False)
    theirs = LinearSVC(C=1 / (2 * lam * 80), loss="hinge", fit_intercept=False, tol=1e-10, max_iter=10**6, random_state=0).fit(
        X, y
    )
    reference = ez.objective(X, y, theirs.coef_, 0.0, loss="hinge", lambda_2=lam)
    assert ours.objective[0] <= reference * (1 + 1e-5)
    np.testing.assert_allclose(ours.objective[0], reference, rtol=1e-4)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("l1", [0.05, 0.005])
def test_l1_hinge_is_a_linear_program(seed, l1):
    X, y, w = random_problem(seed, n=60, p=15)
    y = target(y, "hinge").astype(float)
    w = w / w.sum()
    n, p = X.shape
    # variables: b+, b-, intercept, slack
    cost = np.concatenate([np.full(2 * p, l1), [0.0], w])
    rows = np.hstack([-y[:, None] * X, y[:, None] * X, -y[:, None], -np.eye(n)])
    bounds = [(0, None)] * (2 * p) + [(None, None)] + [(0, None)] * n
    reference = linprog(cost, A_ub=rows, b_ub=-np.ones(n), bounds=bounds).fun
    ours = solve(X, y, loss="hinge", lambda_1=l1, sample_weight=w)
    assert ours.objective[0] >= reference - 1e-9
    np.testing.assert_allclose(ours.objective[0], reference, rtol=1e-5)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("size", [0.1, 0.4])
def test_hinge_in_a_box_is_a_linear_program(seed, size):
    """Without penalties, many coefficients end at their bounds; the intercept is then held by few rows."""
    rng = np.random.default_rng(seed)
    X = 0.9 * rng.standard_normal((13, 2))[:, rng.integers(2, size=6)] + 0.4 * rng.standard_normal((13, 6))
    y = np.where(X[:, 0] + rng.standard_normal(13) > 0.5, 1.0, -1.0)
    rows = np.hstack([-y[:, None] * X, -y[:, None], -np.eye(13)])
    bounds = [(-size, size)] * 6 + [(None, None)] + [(0, None)] * 13
    reference = linprog(np.repeat([0.0, 1 / 13], [7, 13]), A_ub=rows, b_ub=-np.ones(13), bounds=bounds).fun
    ours = solve(X, y, loss="hinge", lower=-size, upper=size)
    assert ours.objective[0] >= reference - 1e-9
    np.testing.assert_allclose(ours.objective[0], reference, rtol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("storage", [np.asfortranarray, sparse.csc_matrix])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("own", [1e-4, 1e-6, 1e-8, 1e-9])
def test_nearly_dependent_columns(loss, storage, intercept, own):
    """A column that nearly is a combination of others: what it has of its own spans the same models as a column of size one."""
    rng = np.random.default_rng(17)
    X = rng.standard_normal((40, 5))
    y = target(X @ rng.standard_normal(5) + 2 * rng.standard_normal(40), loss)
    reference = solve(X, y, loss=loss, fit_intercept=intercept).objective[0]
    X[:, 4] = X[:, :4] @ rng.standard_normal(4) + own * X[:, 4]
    ours = solve(storage(X), y, loss=loss, fit_intercept=intercept).objective[0]
    np.testing.assert_allclose(ours, reference, rtol=1e-5)


@pytest.mark.parametrize("loss", ALL_LOSSES)
@pytest.mark.parametrize("seed", SEEDS)
def test_box_constrained(loss, seed):
    """Bounds and unpenalized features against L-BFGS-B (the hinge at a small smoothing)."""
    X, y, w = random_problem(seed, n=60, p=8)
    y, w = target(y, loss).astype(float), w / w.sum()
    lower, upper = np.full(8, -0.2), np.full(8, 0.3)
    lower[2], upper[2] = 0.1, 0.5  # zero is outside, so the feature must be unpenalized
    f = get_loss(loss)
    settings = {"loss": loss, "lambda_2": 0.01, "lower": lower, "upper": upper, "unpenalized": [2], "sample_weight": w}
    ours = solve(X, y, **settings)

    def value(theta, smooth):
        eta = X @ theta[:-1] + theta[-1]
        g = X.T @ (w * smooth.gradient(eta, y)) + 0.02 * theta[:-1]
        total = w @ smooth.value(eta, y) + 0.01 * theta[:-1] @ theta[:-1]
        return total, np.append(g, w @ smooth.gradient(eta, y))

    smooth = type(f)(1e-3) if loss == "hinge" else f
    bounds = [*zip(lower, upper, strict=True), (None, None)]
    start = np.append(np.clip(np.zeros(8), lower, upper), 0.0)
    reference = minimize(
        value, start, args=(smooth,), jac=True, bounds=bounds, options={"maxiter": 20000, "ftol": 1e-15, "gtol": 1e-9}
    )
    slack = 1e-3 if loss == "hinge" else 1e-6
    np.testing.assert_allclose(ours.objective[0], reference.fun, rtol=slack, atol=slack)


@pytest.mark.parametrize("loss", ALL_LOSSES)
@pytest.mark.parametrize("storage", [np.asfortranarray, sparse.csc_matrix])
def test_weights_are_repeated_rows(loss, storage):
    X, y, _ = random_problem(7)
    y = target(y, loss)
    counts = np.random.default_rng(7).integers(0, 4, len(y))
    settings = {"loss": loss, "lambda_0": [0.05, 0.01], "lambda_2": 0.01, "standardize": True}
    weighted = ez.fit_path(storage(X), y, sample_weight=counts, **settings)
    repeated = ez.fit_path(storage(np.repeat(X, counts, axis=0)), np.repeat(y, counts), **settings)
    np.testing.assert_allclose(weighted.objective, repeated.objective, rtol=1e-7)
    np.testing.assert_allclose(weighted.coef.toarray(), repeated.coef.toarray(), atol=1e-4)


@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_lazy_standardisation_is_explicit_standardisation(loss):
    X, y, w = random_problem(8)
    y = target(y, loss)
    mean = np.average(X, axis=0, weights=w)
    spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=w))
    settings = {"loss": loss, "lambda_0": [0.05, 0.01], "lambda_1": 0.001, "lambda_2": 0.01, "sample_weight": w}
    explicit = ez.fit_path((X - mean) / spread, y, **settings)
    for stored in (X, sparse.csc_matrix(X)):
        lazy = ez.fit_path(stored, y, standardize=True, **settings)
        np.testing.assert_allclose(lazy.objective, explicit.objective, rtol=1e-9)
        np.testing.assert_allclose(lazy.coef.toarray() * spread, explicit.coef.toarray(), atol=1e-5)
        again = ez.objective(stored, y, lazy.coef[1], lazy.intercept[1], standardize=True, **{**settings, "lambda_0": 0.01})
        np.testing.assert_allclose(again, lazy.objective[1], rtol=1e-12)
