"""What ez.solve returns, what it refuses, and what it starts from."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from support.exact_problems import EASY, RESPONSE, WEIGHT, X, Y
from support.problems import LOSSES, target

import ellzero as ez


@pytest.mark.parametrize("loss", LOSSES)
def test_attributes(loss):
    y = target(RESPONSE, loss)
    sol = ez.solve(X, y, loss=loss, sample_weight=WEIGHT, **EASY)
    assert sol.coef.shape == (20,)
    assert isinstance(sol.intercept, float)
    np.testing.assert_array_equal(sol.support, np.flatnonzero(sol.coef))
    assert sol.status == "optimal"
    assert sol.gap == (sol.objective - sol.lower_bound) / sol.objective
    assert 0.0 <= sol.gap <= 1e-4
    assert sol.objective == ez.objective(X, y, sol.coef, sol.intercept, loss=loss, sample_weight=WEIGHT, **EASY)
    assert sol.nodes >= 1
    assert sol.seconds > 0.0
    assert sol.bound is None
    assert not sol.certificate.conditional
    assert isinstance(sol.model, ez.Model)
    np.testing.assert_array_equal(sol.model.coef, sol.coef)
    assert sol.model.objective == sol.objective
    np.testing.assert_allclose(sol.model.decision_function(X), X @ sol.coef + sol.intercept, rtol=0, atol=1e-12)
    text = repr(sol)
    assert "optimal" in text
    assert f"{sol.objective:.6g}"[:7] in text
    assert f"{sol.nodes} nodes" in text
    assert f"{len(sol.support)} of 20 features" in text
    assert "assuming" not in text
    assert "lower bound" in repr(sol.certificate)


def test_it_is_no_worse_than_local_search():
    path = ez.fit_path(X, Y, lambda_2=0.01, algorithm="local_search", n_lambda=10)
    for lambda_0, objective in list(zip(path.lambda_0, path.objective, strict=True))[2:8]:
        sol = ez.solve(X, Y, lambda_0=lambda_0, lambda_2=0.01)
        assert sol.objective <= objective * (1.0 + 1e-9), lambda_0
        assert sol.lower_bound <= objective, lambda_0


def test_bounds_are_assumed_and_told():
    sol = ez.solve(X, Y, lambda_0=0.02, bound=0.8)
    assert sol.bound == 0.8
    assert sol.certificate.conditional
    assert np.abs(sol.coef).max() <= 0.8
    assert "assuming bounded coefficients" in repr(sol)
    guessed = ez.solve(X, Y, lambda_0=0.02, bound="heuristic", lambda_2=0.001)
    assert guessed.certificate.conditional
    assert guessed.bound >= np.abs(guessed.coef).max() * (1.0 - 1e-12)
    assert guessed.bound <= 3.0 * np.abs(guessed.coef).max()
    assert guessed.certificate.header["bound"] == guessed.bound
    boxed = ez.solve(X, Y, lambda_0=0.02, lower=-0.8, upper=0.8)
    assert boxed.bound is None
    assert not boxed.certificate.conditional
    assert boxed.objective == pytest.approx(sol.objective, rel=1e-4)


def test_the_bound_is_on_the_penalised_scale():
    scaled = X * np.linspace(0.1, 10.0, 20)
    sol = ez.solve(scaled, Y, lambda_0=0.02, bound=0.5, standardize=True, gap=1e-7)
    same = ez.solve(X, Y, lambda_0=0.02, bound=0.5, standardize=True, gap=1e-7)
    assert sol.objective == pytest.approx(same.objective, rel=1e-6)
    assert np.abs(sol.coef * scaled.std(axis=0)).max() == pytest.approx(0.5)


def test_labels_come_back():
    words = np.where(Y > 0, "yes", "no")
    sol = ez.solve(X, words, **EASY)
    assert set(sol.model.predict(X)) == {"yes", "no"}
    assert np.mean(sol.model.predict(X) == words) > 0.65
    report = ez.verify(sol.certificate, X, words)
    assert report.valid, report.reasons
    assert not ez.verify(sol.certificate, X, words[::-1]).valid
    for labels in (words.astype(object), Y > 0, np.where(Y > 0, 2.5, -1.0)):
        other = ez.solve(X, labels, **EASY)
        assert other.objective == sol.objective
        report = ez.verify(other.certificate, X, labels)
        assert report.valid, report.reasons
        assert set(other.model.predict(X)) == set(labels)


def test_names_come_back():
    frame = pd.DataFrame(X, columns=[f"gene_{j}" for j in range(20)])
    sol = ez.solve(frame, Y, unpenalized=["gene_3"], **EASY)
    assert 3 in sol.support
    assert f"gene_{sol.support[0]}" in repr(sol)
    assert ez.verify(sol.certificate, frame, Y).valid
    np.testing.assert_array_equal(sol.model.predict(frame), sol.model.predict(X))


def test_the_caller_keeps_the_data_as_they_are():
    mine, labels, weight, lower = X.copy(), Y.copy(), WEIGHT.copy(), np.full(20, -0.5)
    ez.solve(mine, labels, sample_weight=weight, lower=lower, **EASY)
    np.testing.assert_array_equal(mine, X)
    np.testing.assert_array_equal(labels, Y)
    np.testing.assert_array_equal(weight, WEIGHT)
    np.testing.assert_array_equal(lower, np.full(20, -0.5))


BAD = {
    "nothing to solve for": ({}, "lambda_0, k or budget must be given"),
    "negative lambda_0": ({"lambda_0": -1.0, "lambda_2": 0.1}, "lambda_0 must be finite and not negative"),
    "infinite lambda_0": ({"lambda_0": np.inf, "lambda_2": 0.1}, "lambda_0 must be finite"),
    "list of lambda_0": ({"lambda_0": [0.1, 0.2], "lambda_2": 0.1}, "lambda_0 must be"),
    "negative k": ({"k": -1, "lambda_2": 0.1}, "k must be an integer of at least 0"),
    "fractional k": ({"k": 2.5, "lambda_2": 0.1}, "k must be an integer"),
    "text k": ({"k": "2", "lambda_2": 0.1}, "k must be an integer"),
    "negative gap": ({**EASY, "gap": -1e-3}, "gap must be finite and not negative"),
    "nan gap": ({**EASY, "gap": np.nan}, "gap must be finite"),
    "text gap": ({**EASY, "gap": "small"}, "gap must be a number"),
    "negative time_limit": ({**EASY, "time_limit": -1.0}, "time_limit must be finite and not negative"),
    "negative node_limit": ({**EASY, "node_limit": -1}, "node_limit must be an integer of at least 0"),
    "fractional node_limit": ({**EASY, "node_limit": 1.5}, "node_limit must be an integer"),
    "no bound": ({"lambda_0": 0.1}, "add, for example, lambda_2=1e-3"),
    "half a box": ({"lambda_0": 0.1, "lower": -1.0}, "add, for example, lambda_2=1e-3"),
    "zero bound": ({"lambda_0": 0.1, "bound": 0.0}, "bound must be positive"),
    "negative bound": ({"lambda_0": 0.1, "bound": -1.0}, "bound must be finite and not negative"),
    "infinite bound": ({"lambda_0": 0.1, "bound": np.inf}, "bound must be finite"),
    "word bound": ({"lambda_0": 0.1, "bound": "guess"}, "bound must be one of"),
    "short warm_start": ({**EASY, "warm_start": np.zeros(19)}, "warm_start must"),
    "nan warm_start": ({**EASY, "warm_start": np.full(20, np.nan)}, "warm_start"),
    "text warm_start": ({**EASY, "warm_start": "best"}, "warm_start"),
    "warm_start of other data": (
        {**EASY, "warm_start": ez.fit_path(X[:, :5], Y)[0]},
        "warm_start must have 20 coefficients, got 5",
    ),
    "checkpoint nowhere": ({**EASY, "checkpoint": "/nowhere/at/all"}, "checkpoint must be a file in an existing folder"),
    "loss": ({**EASY, "loss": "poisson"}, "loss must be one of"),
    "n_jobs": ({**EASY, "n_jobs": 0}, "n_jobs must be"),
    "X": ({**EASY, "X": np.full((60, 20), np.nan)}, "X contains NaN"),
    "y": ({**EASY, "y": np.ones(60)}, "y must have exactly two classes"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    settings, message = BAD[name]
    with pytest.raises(ez.InvalidInputError, match=re.escape(message)) as caught:
        ez.solve(**{"X": X, "y": Y, **settings})
    assert "\n" not in str(caught.value)
    assert str(caught.value).count(". ") == 0


def test_warm_starts():
    cold = ez.solve(X, Y, **EASY)
    vector = np.zeros(20)
    vector[5] = 3.0
    outside = np.full(20, 50.0)
    for start in (cold.model, cold.coef, vector, outside, sparse.csr_matrix(vector), ez.fit_path(X, Y)[3]):
        warm = ez.solve(X, Y, warm_start=start, **EASY)
        assert warm.objective == pytest.approx(cold.objective, rel=1e-4)
        assert warm.lower_bound <= cold.objective
        assert ez.verify(warm.certificate, X, Y).valid
    large = ez.solve(X, Y, k=2, lambda_2=0.01, warm_start=outside)
    assert len(large.support) <= 2
    boxed = ez.solve(X, Y, lower=-0.1, upper=0.1, warm_start=outside, **EASY)
    assert np.abs(boxed.coef).max() <= 0.1


def test_a_warm_start_is_what_is_returned_without_time():
    best = ez.solve(X, Y, **EASY)
    sol = ez.solve(X, Y, node_limit=0, warm_start=best.model, **EASY)
    assert sol.objective <= best.objective * (1.0 + 1e-9)


@pytest.mark.parametrize("settings", [{"k": 5}, {"lambda_0": 0.1}])
def test_a_missing_bound_is_told_before_any_search(settings, monkeypatch):
    def search(*_, **__):
        raise AssertionError("the heuristic ran")

    monkeypatch.setattr("ellzero.exact.search.find_incumbent", search)
    monkeypatch.setattr("ellzero.exact.swaps.find_incumbent", search)
    with pytest.raises(ez.InvalidInputError, match="lambda_2=1e-3"):
        ez.solve(X, Y, **settings)
    with pytest.raises(ez.InvalidInputError, match="lambda_2=1e-3"):
        ez.improve(X, Y, lambda_0=0.1)
