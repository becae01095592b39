"""Inference after selection: estimates are those of ordinary statistics on the other half, and intervals cover."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import t as student

import ellzero as ez
from ellzero.estimators.inference import unpenalised_fit

COVERED, REPETITIONS = 0.95, 60


def linear(seed, n=200, p=30, signal=(1.0, -1.0)):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.arange(1, p + 1) + 3.0
    coef = np.zeros(p)
    coef[: len(signal)] = signal
    return X, X @ coef + rng.standard_normal(n)


def test_least_squares_on_the_rows_that_measure():
    X, y = linear(0)
    found = ez.inference(X, y, k=2, loss="squared_error", split=0.4, random_state=3)
    assert len(found.choosing) == 80
    assert len(found.measuring) == 120
    np.testing.assert_array_equal(np.sort(np.concatenate([found.choosing, found.measuring])), np.arange(200))
    A = np.column_stack([X[found.measuring][:, found.support], np.ones(120)])
    coef, *_ = np.linalg.lstsq(A, y[found.measuring], rcond=None)
    np.testing.assert_allclose([*found.coef, found.intercept], coef, rtol=1e-8)
    inverse = np.linalg.inv(A.T @ A)
    leverage = np.einsum("ij,jk,ik->i", A, inverse, A)
    scores = A * ((y[found.measuring] - A @ coef) / (1.0 - leverage))[:, None]
    np.testing.assert_allclose(found.covariance, inverse @ scores.T @ scores @ inverse, rtol=1e-6)
    half = student(117).ppf(0.975) * found.standard_error
    np.testing.assert_allclose(found.interval, np.column_stack([found.coef - half, found.coef + half]), rtol=1e-9)
    assert (found.p_value <= found.p_adjusted).all()
    mask = np.zeros(200)
    mask[found.choosing] = 1.0
    chosen = ez.L0Regressor(k=2).fit(X, y, sample_weight=mask)
    np.testing.assert_array_equal(found.support, chosen.support_)


def test_logistic_estimates_are_stationary_and_scale_with_the_columns():
    X, y, _ = ez.datasets.make_classification(600, 20, 3, s=2.0, random_state=0)
    labels = np.where(y > 0, "ill", "well")
    found = ez.inference(X, labels, k=3)
    assert found.classes.tolist() == ["ill", "well"]
    rows = found.measuring
    Z = X[rows][:, found.support]
    share = 1.0 / (1.0 + np.exp(-(Z @ found.coef + found.intercept)))
    residual = (labels[rows] == "well") - share
    assert np.abs(Z.T @ residual).max() < 1e-6 * len(rows)
    assert abs(residual.sum()) < 1e-6 * len(rows)
    large = ez.inference(1000.0 * X + 5.0, labels, k=3)
    np.testing.assert_allclose(large.coef, found.coef / 1000.0, rtol=1e-6)
    np.testing.assert_allclose(large.p_value, found.p_value, rtol=1e-5)
    same = ez.inference(sparse.csr_matrix(X), labels, k=3)
    np.testing.assert_allclose(same.coef, found.coef, rtol=1e-8)


@pytest.mark.parametrize("signal", [(), (0.08, -0.05)])  # nothing at all, and weak enough to be missed
def test_intervals_cover_and_naive_ones_do_not(signal):
    covered, naive, total = 0, 0, 0
    for seed in range(REPETITIONS):
        X, y = linear(seed, signal=signal)
        found = ez.inference(X, y, k=3, loss="squared_error", random_state=seed)
        # Columns are independent: the best linear model of any of them has the true coefficients.
        truth = np.array([signal[j] if j < len(signal) else 0.0 for j in found.support])
        covered += int(((found.interval[:, 0] <= truth) & (truth <= found.interval[:, 1])).sum())
        support = ez.L0Regressor(k=3).fit(X, y).support_
        coef, _, covariance = unpenalised_fit(X[:, support], y, "squared_error", [])
        truth = np.array([signal[j] if j < len(signal) else 0.0 for j in support])
        naive += int((np.abs(coef - truth) <= 1.96 * np.sqrt(np.diag(covariance)[:-1])).sum())
        total += len(truth)
    error = np.sqrt(COVERED * (1.0 - COVERED) / total)
    assert abs(covered / total - COVERED) < 4.0 * error
    assert naive / total < COVERED - 4.0 * error


def test_tables(tmp_path):
    X, y, _ = ez.datasets.make_classification(400, 10, 2, s=2.0, random_state=0)
    found = ez.inference(pd.DataFrame(X, columns=[f"<b>{j}" for j in range(10)]), y, k=2)
    frame = found.to_frame()
    assert frame.name.tolist() == ["<b>0", "<b>5"]
    np.testing.assert_allclose(frame.odds_upper, np.exp(found.interval[:, 1]))
    text = str(found)
    assert "chosen on 200 rows, measured on the other 200" in text
    assert "Standard errors are robust (HC3)." in text
    assert "none of this is about causes" in text
    assert "&lt;b&gt;0" in found._repr_html_()
    assert "odds ratio" not in str(ez.inference(*linear(0), k=2, loss="squared_error"))
    assert ez.inference(X, y, k=2, feature_names=[f"gene {j}" for j in range(10)]).to_frame().name[1] == "gene 5"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"split": 1.0}, "split must be above 0 and below 1, got 1.0"),
        ({"split": 0.999}, "split=0.999 leaves too few rows, or too few of a class"),
        ({"level": 95}, "level must be above 0 and below 1, got 95"),
        ({"loss": "hinge"}, "loss must be one of 'logistic', 'squared_error'"),
    ],
)
def test_bad_arguments(settings, message):
    X, y, _ = ez.datasets.make_classification(100, 10, 2, s=2.0, random_state=0)
    with pytest.raises(ez.InvalidInputError, match=message):
        ez.inference(X, y, k=2, **settings)


def test_what_has_no_finite_estimate_is_said():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 4))
    with pytest.raises(ez.InvalidInputError, match="separate the classes \\(nearly\\) perfectly in the rows that measure"):
        ez.inference(X, X[:, 0] > 0.0, k=1)
    nearly = np.where(X[:, 0] > 0.5, 1, (rng.random(100) > 0.5).astype(int))  # above 0.5 only one class
    quasi = np.column_stack([X[:, 0] > 0.5, X[:, 1]]).astype(float)
    with pytest.raises(ez.InvalidInputError, match="have no finite estimate"):
        ez.inference(quasi, nearly, k=2)
    with pytest.raises(ez.InvalidInputError, match="leaves 10 rows to measure"):
        ez.inference(rng.standard_normal((20, 12)), rng.standard_normal(20), k=10, loss="squared_error")


@pytest.mark.parametrize("kind", ["classifier", "hinge", "regressor", "path"])
def test_calls_that_a_summary_recommends_work(kind):
    X, y, _ = ez.datasets.make_classification(200, 30, 4, random_state=0)
    if kind in ("regressor", "path"):
        y = X[:, 0] + np.random.default_rng(0).standard_normal(200)
    fitted = {
        "classifier": lambda: ez.L0Classifier(k=3).fit(X, y),
        "hinge": lambda: ez.L0Classifier("hinge", k=3).fit(X, y),
        "regressor": lambda: ez.L0Regressor(k=3).fit(X, y),
        "path": lambda: ez.fit_path(X, y, loss="squared_error", max_support=3).at_support(3),
    }[kind]()
    call = re.search(r"ez\.inference\(.*?\)", str(fitted.summary())).group()
    assert isinstance(eval(call, {"ez": ez, "X": X, "y": y}), ez.Inference)
