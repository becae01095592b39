"""Columns that are zero in all rows that have weight: the loss says nothing of them, and no proof may fail by them."""

import numpy as np
import pytest
from scipy import sparse
from support.certificates import check

import ellzero as ez
from ellzero.exact.verifier.data import fingerprint_matrix

IDLE, WEIGHTLESS = [0, 4], 8  # columns with entries in the first rows only, which have no weight
SQUARED = {"loss": "squared_error", "lambda_0": 0.01, "lambda_2": 1e-4}


def draw(seed):
    rng = np.random.default_rng([seed, 43])
    X, weight = rng.standard_normal((40, 6)), rng.uniform(0.5, 1.5, 40)
    weight[:WEIGHTLESS] = 0.0
    X[WEIGHTLESS:, IDLE] = 0.0
    return X, X[:, 1] - X[:, 2] + 0.3 * rng.standard_normal(40), {"sample_weight": weight, "fit_intercept": False}


def assert_proved(solution, X, y):
    assert solution.status == "optimal"
    for arithmetic in ("float64", "exact"):
        report = ez.verify(solution.certificate, X, y, arithmetic=arithmetic)
        assert report.valid, report.reasons
        assert not report.conditional


@pytest.mark.parametrize("container", [np.asarray, sparse.csc_matrix])
@pytest.mark.parametrize("lambda_2", [0.0, 1e-4])
def test_diagonals_do_not_need_them(lambda_2, container):
    X, y, settings = draw(0)
    solution = ez.solve(container(X), y, **{**SQUARED, "lambda_2": lambda_2}, **settings)
    arrays = solution.certificate.arrays
    assert "form_ends" in arrays if lambda_2 > 0.0 else (arrays["point_diagonal"] >= 0).any()
    assert_proved(solution, container(X), y)


@pytest.mark.parametrize("unpenalized", [None, [0]])
def test_bounds_over_swaps(unpenalized):
    X, y, settings = draw(1)
    solution = ez.improve(X, y, swap_size=2, unpenalized=unpenalized, **SQUARED, **settings)
    assert solution.swap_size == 2
    assert (solution.certificate.arrays["point_diagonal"] >= 0).any()
    assert_proved(solution, X, y)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
def test_the_loss_grows_without_them(loss):
    X, y, settings = draw(2)
    labels = y + 2.0 * np.random.default_rng(2).standard_normal(len(y)) > 0.0
    solution = ez.solve(X, labels, loss=loss, k=2, **settings)
    assert "growth_alpha" in solution.certificate.arrays
    assert_proved(solution, X, labels)


def verified_with_idle_coefficients(certificate, X, y):
    """Give one of these columns a coefficient in the models of all dual points, and verify that, about X."""
    header, arrays = dict(certificate.header), dict(certificate.arrays)
    header["fingerprint_X"] = fingerprint_matrix(X, "dense")
    ends = arrays["model_ends"]
    assert not np.isin(IDLE, arrays["model_columns"]).any()
    arrays["model_columns"] = np.insert(arrays["model_columns"], ends, IDLE[0])
    arrays["model_values"] = np.insert(arrays["model_values"], ends, 1.0)
    arrays["model_ends"] = ends + np.arange(1, len(ends) + 1)
    return check(header, arrays, X, y)


def test_models_may_use_them():
    X, y, settings = draw(3)
    report = verified_with_idle_coefficients(ez.solve(X, y, **{**SQUARED, "lambda_2": 0.0}, **settings).certificate, X, y)
    assert report.valid, report.reasons


@pytest.mark.parametrize("number", [5e-324, 1.0])
@pytest.mark.parametrize("rows", [slice(WEIGHTLESS, WEIGHTLESS + 1), slice(WEIGHTLESS, None)], ids=["one row", "all rows"])
def test_models_may_not_use_columns_with_numbers_in_rows_that_have_weight(rows, number):
    """However small, where squares are zero in float64; and if all are equal, since there is no intercept."""
    X, y, settings = draw(3)
    certificate = ez.solve(X, y, **{**SQUARED, "lambda_2": 0.0}, **settings).certificate
    X[rows, IDLE[0]] = number
    report = verified_with_idle_coefficients(certificate, X, y)
    assert not report.valid
    assert "uses a column that diagonal 0 does not have" in report.reasons[0]
