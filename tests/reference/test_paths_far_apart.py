"""Paths where sizes are far apart: models that lose their digits, losses that are flat, numbers beyond float64."""

import warnings

import numpy as np
import pytest

import ellzero as ez

SEED = 7


def labelled(n=24, p=2):
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n, p))
    return X, np.where(X[:, 0] + rng.standard_normal(n) > 0.5, 1, -1)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_a_model_that_loses_its_digits_has_not_converged(loss):
    """A constant column is held away from zero; no intercept makes up for it exactly, unless it is of ordinary size."""
    X, y = labelled()
    for size, converges in ((1.0, True), (1e30, False), (1e117, False)):
        Z = np.column_stack([X, np.full(len(X), size)])
        held = {"lower": [-9.0, -9.0, 0.3], "upper": [9.0, 9.0, 0.7], "unpenalized": [2]}
        path = ez.fit_path(Z, y, loss=loss, lambda_0=[0.01], lambda_2=1e-3, **held)
        assert path.converged[0] == converges, (loss, size)
        model = path[0]
        report = ez.check_stationarity(
            Z, y, model.coef, model.intercept, loss=loss, lambda_0=0.01, lambda_2=1e-3, tol=1e-5, **held
        )
        assert bool(report) == converges, (loss, size, report)


@pytest.mark.parametrize("far", [1.0, 1e60, 1e100, 1e120])
def test_hard_thresholding_of_columns_far_apart(far):
    """The step is as short as the largest column wants it: in units of that, the coefficient of a tiny one is huge."""
    X, y = labelled()
    Z = X * [1.0 / far, far]
    settings = {"loss": "hinge", "lambda_0": [6.0], "fit_intercept": False, "unpenalized": [0]}
    path, other = (ez.fit_path(Z, y, algorithm=name, **settings) for name in ("iht", "cd"))
    assert np.isfinite(path.coef.toarray()).all()
    assert path.cost[0] == pytest.approx(other.cost[0], rel=1e-5)


@pytest.mark.parametrize("name", ["lambda_1", "lambda_2"])
def test_an_automatic_grid_of_next_to_nothing(name):
    X, y = labelled()
    weight = np.where(y > 0, 1.0, 1e-322)
    Z = X if name == "lambda_1" else X * 1e-162
    with pytest.raises(ez.InvalidInputError, match="no grid"):
        ez.fit_grid(Z, y, loss="hinge", sample_weight=weight, n_lambda=3, **{name: "auto"})


@pytest.mark.parametrize("lambda_0", [0.0, 5e-324, 1e290])
@pytest.mark.parametrize("loss", ["logistic", "squared_error"])
def test_reports_beyond_float64_come_without_warnings(loss, lambda_0):
    X, y = labelled()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = ez.check_stationarity(X, y, [1e200, 0.0], 0.0, loss=loss, lambda_0=lambda_0, lambda_1=1e-40, lambda_2=1e290)
        assert not report
        assert ez.objective(X, y, [1e200, 0.0], 0.0, loss=loss, lambda_2=1e290) == np.inf
        assert ez.check_stationarity(X * 1e-150, y, [0.0, 0.0], 0.0, loss=loss, lambda_0=lambda_0).decrease >= 0.0


@pytest.mark.parametrize("seed", [188, 251])
def test_a_flat_loss_is_minimised(seed):
    """The classes are separable and the penalty is small: the loss is so flat that small slopes are worth much."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((11, 6)) * 10.0 ** rng.uniform(0.5, 2.5, 6)
    y = np.where(np.arange(11) < 5, 1, -1)
    lambda_1 = 10.0 ** rng.uniform(-5.0, -3.0)
    cost, best = (ez.fit_path(X, y, lambda_0=[0.0], lambda_1=lambda_1, tol=tol).cost[0] for tol in (1e-6, 1e-10))
    assert cost <= best * (1.0 + 1e-6)


@pytest.mark.parametrize("algorithm", ["cd", "iht", "local_search"])
def test_columns_too_far_apart_for_any_unit(algorithm):
    """No unit makes the squares of all columns numbers; models are finite, whatever becomes of the smallest column."""
    X, y = labelled(p=4)
    Z = X * [1e-160, 1.0, 1e99, 1e140]
    weight = np.where(np.arange(len(y)) % 3 == 0, 1.0, 1e-175)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        path = ez.fit_path(Z, y, lambda_1=0.03, unpenalized=[0, 2], sample_weight=weight, algorithm=algorithm, n_lambda=5)
    assert np.isfinite(path.coef.toarray()).all()
    assert np.isfinite(path.cost).all()
