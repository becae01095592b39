"""Units do not matter: a large mean of y, small and large numbers and columns far from zero lead to the same models."""

import math

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize_scalar
from support.problems import LOSSES, STORAGES, random_problem, store, target

import ellzero as ez
from ellzero.problem.losses import LOSSES as LOSS_FUNCTIONS
from ellzero.problem.making import make_problem

SEED = 11
X, RESPONSE, WEIGHT = random_problem(SEED, n=50, p=12)
MEANS = (1e6, 1e9, 1e12)
# Powers of two: the same numbers in other units.
SIZES = (2.0**-390, 2.0**-60, 2.0**60, 2.0**390)
PRICE, RIDGE, LENGTH = 0.05, 0.01, 1.0  # lambda_0, lambda_2 and max_norm
MODELS = {
    "path": lambda X, y, price, length, **more: ez.fit_path(X, y, lambda_0=[price], **more)[0],
    "local search": lambda X, y, price, length, **more: ez.fit_path(X, y, lambda_0=[price], algorithm="local_search", **more)[
        0
    ],
    "hard thresholding": lambda X, y, price, length, **more: ez.fit_path(X, y, lambda_0=[price], algorithm="iht", **more)[0],
    "swaps of two": lambda X, y, price, length, **more: ez.fit_path(
        X, y, lambda_0=[price], algorithm="local_search", swap_size=2, **more
    )[0],
    "sizes": lambda X, y, price, length, **more: ez.fit_sizes(X, y, [3], **more)[3],
    "norm": lambda X, y, price, length, **more: ez.fit_sizes(X, y, [3], max_norm=length, **more)[3],
    "solve": lambda X, y, price, length, **more: ez.solve(X, y, k=3, gap=1e-7, **more).model,
    "improve": lambda X, y, price, length, **more: ez.improve(X, y, lambda_0=price, gap=1e-7, **more).model,
    "generation": lambda X, y, price, length, **more: ez.solve(X, y, k=3, gap=1e-7, method="iga", **more).model,
    "certified path": lambda X, y, price, length, **more: ez.certify_path(ez.fit_path(X, y, lambda_0=[price], **more))[0].model,
    "MIP solver": lambda X, y, price, length, **more: (
        ez.solve(X, y, lambda_0=price, gap=1e-6, method="mip", backend="highs", **more).model
    ),
    "generation by a MIP solver": lambda X, y, price, length, **more: (
        ez.solve(X, y, lambda_0=price, gap=1e-6, method="iga", backend="highs", **more).model
    ),
}


def regression(how, y, of_X=1.0, of_y=1.0):
    """The model of y, in units of X and of y."""
    if "MIP" in how:
        pytest.importorskip("highspy")
    settings = {"loss": "squared_error", "lambda_2": RIDGE * of_X**2, "sample_weight": WEIGHT}
    return MODELS[how](X * of_X, y * of_y, PRICE * of_y**2, LENGTH * of_y / of_X, **settings)


@pytest.mark.parametrize("how", MODELS)
def test_a_large_mean_of_y_goes_to_the_intercept(how):
    ordinary = regression(how, RESPONSE)
    assert len(ordinary.support) > 1
    for mean in MEANS:
        model, rounding = regression(how, RESPONSE + mean), 1e-15 * mean  # about that of y and of the intercept
        where = f"seed {SEED}, mean {mean:g}: {model}"
        np.testing.assert_array_equal(model.support, ordinary.support, err_msg=where)
        np.testing.assert_allclose(model.values, ordinary.values, rtol=1e-4, atol=rounding, err_msg=where)
        assert model.cost == pytest.approx(ordinary.cost, rel=1e-6, abs=rounding), where
        settings = {"loss": "squared_error", "lambda_2": RIDGE, "sample_weight": WEIGHT}
        assert ez.objective(X, RESPONSE + mean, model.coef, model.intercept, **settings) == model.cost, where


@pytest.mark.parametrize("storage", STORAGES)
def test_a_large_mean_of_y_in_every_storage(storage):
    settings = {"loss": "squared_error", "k": 3, "lambda_2": RIDGE, "gap": 1e-7}
    ordinary, sol = (ez.solve(store(X, storage), RESPONSE + mean, **settings) for mean in (0.0, 1e10))
    assert sol.status == "optimal", SEED
    assert sol.objective == pytest.approx(ordinary.objective, rel=1e-5), SEED
    assert ez.verify(sol.certificate, store(X, storage), RESPONSE + 1e10).valid, SEED


@pytest.mark.parametrize(
    "estimator",
    [ez.L0Regressor(k=3), ez.L0Regressor(k=3, algorithm="exact"), ez.L0Regressor(criterion="bic"), ez.L0RegressorCV(cv=3)],
    ids=["k", "exact", "bic", "cv"],
)
def test_estimators_take_a_large_mean_of_y(estimator):
    coef, predicted = estimator.fit(X, RESPONSE).coef_, estimator.predict(X)
    estimator.fit(X, RESPONSE + 1e9)
    np.testing.assert_allclose(estimator.coef_, coef, rtol=1e-4, atol=1e-6, err_msg=f"seed {SEED}")
    np.testing.assert_allclose(estimator.predict(X) - 1e9, predicted, atol=1e-5, err_msg=f"seed {SEED}")


@pytest.mark.parametrize("how", MODELS)
def test_models_are_those_of_ordinary_units(how):
    ordinary, far = regression(how, RESPONSE), []
    for of_X, of_y in [(1.0, size) for size in SIZES] + [(size, 1.0) for size in SIZES] + [(SIZES[0], SIZES[-1])]:
        model, unit = regression(how, RESPONSE, of_X, of_y), of_y / of_X
        where = f"seed {SEED}, units {of_X:g} and {of_y:g}: {model}"
        np.testing.assert_array_equal(model.support, ordinary.support, err_msg=where)
        np.testing.assert_allclose(model.values / unit, ordinary.values, rtol=1e-4, atol=1e-6, err_msg=where)
        assert model.cost / of_y / of_y == pytest.approx(ordinary.cost, rel=1e-6), where
        far.append((model.values / unit).tobytes())
    # The units of the solvers are powers of two: they round nothing.
    assert len(set(far[:4])) == 1, f"seed {SEED}: units of y change digits"
    assert len(set(far[4:8])) == 1, f"seed {SEED}: units of X change digits"


@pytest.mark.parametrize("form", [{"k": 4}, {"lambda_0": 0.02}], ids=["k", "penalised"])
@pytest.mark.parametrize("loss", LOSSES)
def test_searches_are_those_of_ordinary_units(loss, form):
    y = target(RESPONSE, loss)
    settings = {"loss": loss, "lambda_1": 0.003, "lambda_2": 0.001, "lower": -1.0, "upper": 2.0, "gap": 1e-6, **form}
    ordinary = ez.solve(X, y, **settings)
    assert ordinary.nodes > 1, "too easy to tell anything"
    for of_X, of_y in [(2.0**-390, 1.0), (2.0**390, 1.0), (1.0, 2.0**-390), (1.0, 2.0**390)]:
        of_y = of_y if loss == "squared_error" else 1.0
        far = settings | {"lambda_1": 0.003 * of_X * of_y, "lambda_2": 0.001 * of_X**2}
        far |= {"lower": -1.0 * of_y / of_X, "upper": 2.0 * of_y / of_X}
        if "lambda_0" in form:
            far["lambda_0"] = form["lambda_0"] * of_y**2
        sol = ez.solve(X * of_X, y * of_y if loss == "squared_error" else y, **far)
        where = f"seed {SEED}, units {of_X:g} and {of_y:g}: {sol}"
        assert sol.status == "optimal", where
        np.testing.assert_array_equal(sol.support, ordinary.support, err_msg=where)
        assert sol.objective / of_y / of_y == pytest.approx(ordinary.objective, rel=1e-6), where
        assert sol.gap <= 1e-6, where
        report = ez.verify(sol.certificate, X * of_X, y * of_y if loss == "squared_error" else y)
        assert report.valid, (where, report)
        assert report.gap <= 1.001e-6, (where, report)


def test_a_gap_is_relative_in_small_units():
    settings = {"loss": "squared_error", "k": 4, "gap": 1e-6, "node_limit": 1}
    few, response = X[:12], RESPONSE[:12]  # with more rows than columns the root alone would prove it
    gaps = [ez.solve(few, response * unit, lambda_2=1e-3, **settings).gap for unit in (1.0, 2.0**-10, 2.0**-17, 2.0**-332)]
    assert gaps[0] > 1e-3, "too easy to tell anything"
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-6, err_msg=f"seed {SEED}")


def test_a_perfect_fit_ends_at_once():
    y = X[:, :2] @ [2.0, -1.0] + 3.0
    for unit in (1.0, 1e-8, 1e8):
        sol = ez.solve(X, y * unit, loss="squared_error", k=2, lambda_2=1e-14)
        assert sol.status == "optimal", unit
        assert sol.support.tolist() == [0, 1], unit
        assert sol.objective <= 1e-9 * sol.certificate.problem.null, unit


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_null_loss(loss, fit_intercept):
    y, weight = target(RESPONSE, loss).astype(float), WEIGHT / WEIGHT.sum()
    function = LOSS_FUNCTIONS[loss]
    best = minimize_scalar(lambda b: float(weight @ function.value(np.full(len(y), b), y)), options={"xtol": 1e-12}).fun
    zero = float(weight @ function.value(np.zeros(len(y)), y))
    expected = best if fit_intercept else zero
    assert function.null_value(y, weight, fit_intercept) == pytest.approx(expected, rel=1e-9)


def columns_far_from_zero(n=33):
    """A constant column, and columns far from zero; in the last one the first row, without weight, is far from the others."""
    rng = np.random.default_rng(SEED)
    out = rng.standard_normal((n, 6))
    out[:, 0], out[:, 1], out[:, 2] = 1.0, 0.1, 3.0 * out[:, 2] + 1e4
    out[:, 3], out[0, 4], out[:, 5] = out[:, 3] + 1e6, 1e9, 0.0
    weight = rng.uniform(0.5, 2.0, n)
    weight[0] = 0.0
    return out, weight, rng.integers(0, 2, n)


@pytest.mark.parametrize("storage", [name for name in STORAGES if "32" not in name])
def test_spreads_are_exact(storage):
    Z, weight, y = columns_far_from_zero()
    problem = make_problem(store(Z, storage), y, standardize=True, sample_weight=weight)
    exact = [math.sqrt(math.fsum(problem.w * (Z[:, j] - math.fsum(problem.w * Z[:, j])) ** 2)) for j in range(Z.shape[1])]
    assert (problem.spread[[0, 1, 5]] == 1.0).all(), problem.spread
    np.testing.assert_allclose(problem.spread[2:5], exact[2:5], rtol=1e-10)
    sol = ez.solve(store(Z, storage), y, k=2, lambda_2=0.01, standardize=True, sample_weight=weight)
    for other in ("f64", "csc64"):
        report = ez.verify(sol.certificate, store(Z, other), y)
        assert report.valid, (SEED, report.reasons)


@pytest.mark.parametrize("storage", ["f64", "csc64", "file"])
def test_a_row_of_next_to_no_weight_leaves_the_spread_exact(storage):
    rng = np.random.default_rng(SEED)
    Z = rng.standard_normal((20, 2))
    Z[0] = 1e60, -1e30
    weight = np.ones(20)
    weight[0] = 1e-150
    problem = make_problem(store(Z, storage), rng.integers(0, 2, 20), standardize=True, sample_weight=weight)
    np.testing.assert_allclose(problem.spread, Z[1:].std(axis=0), rtol=1e-9)


@pytest.mark.parametrize("storage", ["f64", "csc64", "file"])
def test_a_zero_of_next_to_no_weight_counts_in_the_spread(storage):
    Z, y = np.array([[0.0, 0.0, 1.0], [0.5, -0.5, 2.0], [0.5, 0.7, 3.0]]), np.array([1, 0, 0])
    weight = np.array([1e-12, 1.0, 2.0])
    sol = ez.solve(
        store(Z, storage), y, loss="squared_hinge", lambda_0=0.002, lambda_2=0.001, standardize=True, sample_weight=weight
    )
    share = weight[0] / weight.sum()
    assert sol.certificate.problem.spread[0] == pytest.approx(0.5 * np.sqrt(share * (1.0 - share)), rel=1e-9)
    report = ez.verify(sol.certificate, store(Z, storage), y)
    assert report.valid, report.reasons


@pytest.mark.parametrize("storage", ["f64", "csc64", "file"])
@pytest.mark.parametrize("intercept", [False, True])
def test_a_column_in_rows_of_denormal_weight_has_an_exact_spread(storage, intercept):
    Z, y = np.array([[2.0, -3.0], [0.0, 2.0], [-2.0, 3.0], [-1.0, 2.0]]), np.array([0, 0, 1, 0])
    weight = np.array([11.0, 0.0, 8.0, 10.0]) * 5e-324
    weight[1] = 1.0
    settings = {"loss": "hinge", "k": 1, "bound": 1.0, "standardize": True, "fit_intercept": intercept, "sample_weight": weight}
    sol = ez.solve(store(Z, storage), y, **settings)
    exact = np.sqrt(86.0 * 2.0**500) / 2.0**250 * np.sqrt(5e-324)
    assert sol.certificate.problem.spread[0] == pytest.approx(exact, rel=1e-9)
    for other in ("f64", "csc64"):
        report = ez.verify(sol.certificate, store(Z, other), y)
        assert report.valid, report.reasons


@pytest.mark.parametrize("storage", ["f64", "csc64", "file"])
def test_columns_whose_squares_underflow(storage):
    Z, y = X * 1e-170, target(RESPONSE, "logistic")
    problem = make_problem(store(Z, storage), y, standardize=True)
    np.testing.assert_allclose(problem.spread * 1e170, X.std(axis=0), rtol=1e-9)
    ordinary = ez.solve(X, y, k=2, lambda_2=0.01, standardize=True)
    sol = ez.solve(store(Z, storage), y, k=2, lambda_2=0.01, standardize=True)
    np.testing.assert_array_equal(sol.support, ordinary.support)
    assert sol.objective == pytest.approx(ordinary.objective, rel=1e-6)
    assert ez.verify(sol.certificate, store(Z, storage), y).valid


def test_iterative_hard_thresholding_of_columns_far_apart():
    Z, y = np.array([[-3e133, 0.0], [0.0, -4e-74], [0.0, 0.0]]), np.array([-0.6, 0.4, 0.6])
    settings = {"loss": "squared_error", "sample_weight": [0.2, 2.0, 0.0]}
    path = ez.fit_path(Z, y, algorithm="iht", n_lambda=3, **settings)
    null = ez.fit_path(Z, y, lambda_0=[1.0], **settings).objective[0]
    assert np.isfinite(path.intercept).all()
    assert (np.array(path.objective) <= null).all(), path


def test_stationarity_is_judged_in_any_units():
    y = target(RESPONSE, "squared_error")
    for of_X, of_y in [(1.0, 1.0), (2.0**390, 1.0), (2.0**-390, 1.0), (1.0, 2.0**390), (1.0, 2.0**-390)]:
        settings = {"loss": "squared_error", "lambda_2": 0.01 * of_X**2}
        path = ez.fit_path(X * of_X, y * of_y, lambda_0=[0.05 * of_y**2], **settings)
        at = {"lambda_0": 0.05 * of_y**2, **settings}
        report = ez.check_stationarity(X * of_X, y * of_y, path.coef[0], path.intercept[0], **at)
        assert report, (of_X, of_y, report)
        off = ez.check_stationarity(X * of_X, y * of_y, 1.01 * path.coef[0], path.intercept[0], **at)
        assert not off, (of_X, of_y, off)


def test_a_sparse_column_with_few_zeros_has_an_exact_spread():
    rng = np.random.default_rng(SEED)
    Z = rng.standard_normal((40, 3)) + 1e5
    Z[3, 0] = Z[4, 1] = 0.0
    weight = np.ones(40)
    weight[[3, 4]] = 0.0, 1e-9
    dense, stored = (
        make_problem(matrix, RESPONSE[:40] > 0.0, standardize=True, sample_weight=weight).spread
        for matrix in (Z, sparse.csc_matrix(Z))
    )
    np.testing.assert_allclose(stored, dense, rtol=1e-10)


CONSTANT = {
    "path": lambda Z, y, **more: ez.fit_path(Z, y, lambda_0=0.01, **more)[0],
    "local search": lambda Z, y, **more: ez.fit_path(Z, y, lambda_0=0.01, algorithm="local_search", **more)[0],
    "hard thresholding": lambda Z, y, **more: ez.fit_path(Z, y, lambda_0=0.01, algorithm="iht", **more)[0],
    "sizes": lambda Z, y, **more: ez.fit_sizes(Z, y, 2, **more)[2],
    "solve": lambda Z, y, **more: ez.solve(Z, y, lambda_0=0.01, bound=1.3, **more).model,
    "improve": lambda Z, y, **more: ez.improve(Z, y, lambda_0=0.01, bound=1.3, **more).model,
}


@pytest.mark.parametrize("storage", ["f64", "csc64", "file"])
@pytest.mark.parametrize("how", CONSTANT)
@pytest.mark.parametrize("loss", LOSSES)
def test_an_unpenalized_constant_column_leaves_its_work_to_the_intercept(loss, how, storage):
    Z = X.copy()
    Z[:, 0] = 1.7
    y = target(RESPONSE, loss)
    model = CONSTANT[how](store(Z, storage), y, loss=loss, unpenalized=[0])
    without = CONSTANT[how](store(np.where(np.arange(Z.shape[1]) > 0, Z, 0.0), storage), y, loss=loss, unpenalized=[0])
    where = f"seed {SEED}: {model}"
    assert np.isfinite(model.cost), where
    assert model.coef[0] == 0.0, where
    assert model.cost == pytest.approx(without.cost, rel=1e-6), where
    held = CONSTANT[how](
        store(Z, storage), y, loss=loss, unpenalized=[0], lower=np.where(np.arange(Z.shape[1]) > 0, -99.0, 2.0)
    )
    assert held.coef[0] == 2.0, f"seed {SEED}: {held}"
    assert held.cost == pytest.approx(model.cost, rel=1e-3), f"seed {SEED}: {held}"


def test_the_verifiers_null_loss_has_no_part_of_the_mean():
    """Weights that sum to one up to 1e-9, and a mean of 1e10: their product must not pass for a loss."""
    from ellzero.exact.verifier.losses import KNOWN

    rng = np.random.default_rng(0)
    y, w = np.round(rng.standard_normal(50), 3), rng.uniform(size=50)
    w /= w.sum()
    expected = 0.5 * w @ (y - w @ y) ** 2
    assert KNOWN["squared_error"].least(y + 2.0**34, (1.0 + 1e-9) * w, True) == pytest.approx(expected, rel=1e-4)
