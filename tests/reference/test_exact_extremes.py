"""Searches at the ends of the numbers: weights next to nothing, responses as large as are allowed, ridges that barely exist."""

from dataclasses import replace

import numpy as np
import pytest
from support.oracle import best_subset
from support.problems import LOSSES, random_problem, target

import ellzero as ez

SEED = 5
X, RESPONSE, _ = random_problem(SEED, n=24, p=5)


@pytest.mark.parametrize("tiny", [1e-150, 1e-200, 1e-300, 1e-320])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_class_that_weighs_next_to_nothing(loss, tiny):
    y = target(RESPONSE, loss)
    weight = np.where(np.median(RESPONSE) < RESPONSE, tiny, 1.0)
    for form in ({"k": 2}, {"lambda_0": 1e-3}):
        solution = ez.solve(X, y, loss=loss, lambda_2=0.01, sample_weight=weight, **form)
        nothing = ez.objective(X, y, np.zeros(X.shape[1]), 0.0, loss=loss, sample_weight=weight)
        assert solution.lower_bound <= solution.objective <= nothing, f"seed {SEED}: {solution}"
        report = ez.verify(solution.certificate, X, y)
        assert report.valid, (SEED, report.reasons)


@pytest.mark.parametrize("tiny", [1e-12, 1e-16, 1e-40, 1e-100, 1e-250])
@pytest.mark.parametrize("rare", [-1, 1])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge"])
def test_a_class_that_weighs_next_to_nothing_costs_no_proof(loss, rare, tiny):
    """The dual points of the other class are as small, far below what single precision holds."""
    y = target(RESPONSE, loss)
    weight = np.where(y == rare, tiny, 1.0)
    solution = ez.solve(X, y, loss=loss, lambda_0=1e-3, lambda_2=0.01, sample_weight=weight)
    assert solution.status == "optimal", f"seed {SEED}: {solution}"
    for arithmetic in ("float64", "exact"):
        report = ez.verify(solution.certificate, X, y, arithmetic=arithmetic)
        assert report.valid, (SEED, report.reasons)
        assert report.lower_bound >= 0.99 * solution.objective


SEARCHES = {
    "solve": lambda y, **more: ez.solve(X, y, loss="squared_error", k=2, **more).model,
    "estimator": lambda y, **more: ez.L0Regressor(k=2, algorithm="exact", **more).fit(X, y).solution_.model,
    "improve": lambda y, **more: ez.improve(X, y, loss="squared_error", lambda_0=1e-3 * np.mean(y**2), **more).model,
    "swaps of two": lambda y, **more: ez.fit_path(
        X, y, loss="squared_error", lambda_0=[1e-3 * np.mean(y**2)], algorithm="local_search", swap_size=2, **more
    )[0],
}


@pytest.mark.parametrize("lambda_2", [0.01, 1e-300])
@pytest.mark.parametrize("how", SEARCHES)
def test_responses_as_large_as_are_allowed(how, lambda_2):
    ordinary = SEARCHES[how](RESPONSE, lambda_2=lambda_2)
    assert len(ordinary.support), "too easy to tell anything"
    for size in (1e39, 1e60, 1e100, 1e149):
        y = RESPONSE / np.abs(RESPONSE).max() * size
        model = SEARCHES[how](y, lambda_2=lambda_2)
        np.testing.assert_array_equal(model.support, ordinary.support, err_msg=f"seed {SEED}, y of {size:g}")
        scaled = model.values / size * np.abs(RESPONSE).max()
        np.testing.assert_allclose(scaled, ordinary.values, rtol=1e-4, err_msg=f"seed {SEED}, y of {size:g}")


@pytest.mark.parametrize("unit", [1.0, 1e10])
@pytest.mark.parametrize("seed", range(8))
def test_a_ridge_next_to_nothing_cuts_no_optimum_off(seed, unit):
    """Features that are zero or one, and labels of which nearly all are equal: boxes end where a quadratic has a root."""
    rng = np.random.default_rng(seed)
    Z = (rng.random((17, 6)) < 0.65).astype(float)
    y = np.where(np.arange(17) < 2, 1, -1)
    settings = {"loss": "hinge", "lambda_0": 6e-4, "lambda_1": 3e-4}
    best = best_subset(Z, y, **settings)[0]
    for ridge in (0.0, 1e-12, 1e-25, 1e-128, 1e-300):
        own = {**settings, "lambda_1": settings["lambda_1"] * unit, "lambda_2": ridge}
        solution = ez.solve(Z * unit, y, **own)
        where = f"seed {seed}, lambda_2 = {ridge:g}: {solution}"
        assert solution.objective <= best * (1.0 + 1e-4) + 1e-9, where
        assert solution.status == "optimal", where
        assert ez.verify(solution.certificate, Z * unit, y).valid, where


@pytest.mark.parametrize("seed", [1, 21, 57, 238])
def test_gaps_relative_to_an_objective_that_is_next_to_nothing(seed):
    """One free feature separates the classes: what is left of the objective is a billionth of the null model's loss."""
    rng = np.random.default_rng(seed)
    Z = 300.0 * (rng.standard_normal((12, 8)) + rng.standard_normal((12, 1)))
    y = np.where(np.arange(12) == 4, 1, -1)
    solution = ez.solve(Z, y, loss="hinge", lambda_0=5e-3, lambda_2=2e-5, unpenalized=[5], gap=1e-6)
    assert solution.objective < 1e-7, (seed, "the fit is too poor to tell anything")
    report = ez.verify(solution.certificate, Z, y)
    assert report.valid, (seed, report.reasons)


@pytest.mark.parametrize("arithmetic", ["float64", "exact"])
@pytest.mark.parametrize("seed", [1, 4, 13, 20])
def test_objectives_in_which_large_means_cancel(seed, arithmetic):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((12, 4)) + 10.0 ** rng.uniform(5.0, 7.5)
    y = Z @ rng.standard_normal(4)
    y = y - y.mean() + 0.1 * rng.standard_normal(12)
    solution = ez.solve(Z, y, loss="squared_error", k=3, lambda_2=1e-3)
    report = ez.verify(solution.certificate, Z, y, arithmetic=arithmetic)
    assert report.valid, (seed, report.reasons)
    claim = solution.certificate.claim
    wrong = replace(solution.certificate, claim=replace(claim, objective=claim.objective * (1.0 + 1e-4)))
    assert not ez.verify(wrong, Z, y, arithmetic=arithmetic).valid, "a claim that is off by more than rounding is refused"


def test_an_objective_beyond_float64_is_told():
    """A free feature is held so far away that its loss is beyond float64."""
    y = target(RESPONSE, "squared_hinge")
    low, high = np.array([-1.0, 3e159, -1.0, -1.0, -1.0]), np.array([1.0, 3e160, 1.0, 1.0, 1.0])
    with pytest.raises(ez.InvalidInputError, match="beyond float64"):
        ez.solve(X, y, loss="squared_hinge", k=2, lower=low, upper=high, unpenalized=[1], fit_intercept=False)
