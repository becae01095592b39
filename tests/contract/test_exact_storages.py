"""The exact solver gives the same answer for every storage, and every certificate verifies against every storage."""

import numpy as np
import pytest
from support.problems import STORAGES, every_pair, random_problem, store, target

import ellzero as ez

SEED = 5
FORMS = {
    "penalised": {"lambda_0": 0.03, "lambda_2": 0.03},
    "k": {"k": 3, "lambda_1": 0.02, "standardize": True},
    "bounded": {"lambda_0": 0.05, "bound": 0.5, "fit_intercept": False},
}


@pytest.fixture(scope="module")
def data():
    return random_problem(SEED, n=50, p=15)


@pytest.mark.parametrize(("loss", "storage", "form"), every_pair(FORMS))
def test_storages_agree(loss, storage, form, data):
    X, response, weight = data
    y = target(response, loss)
    settings = {"loss": loss, "sample_weight": weight, "gap": 1e-7, "n_jobs": 1, **FORMS[form]}
    dense = ez.solve(store(X, "f64"), y, **settings)
    sol = ez.solve(store(X, storage), y, **settings)
    where = f"seed {SEED}: {sol.objective!r} against {dense.objective!r}"
    assert sol.objective == pytest.approx(dense.objective, rel=1e-8), where
    assert sol.lower_bound <= dense.objective * (1.0 + 1e-12), where
    assert dense.lower_bound <= sol.objective * (1.0 + 1e-12), where
    assert sol.gap <= 1e-6, where
    np.testing.assert_array_equal(sol.support, dense.support, err_msg=where)
    assert sol.certificate.header["storage"] == ("sparse" if "csc" in storage else "dense")
    for verified_with in (storage, "f64", "csc32"):
        report = ez.verify(sol.certificate, store(X, verified_with), y)
        assert report.valid, (where, verified_with, report.reasons)
        assert report.lower_bound == pytest.approx(sol.lower_bound, rel=1e-8), (where, verified_with)


@pytest.mark.parametrize("storage", STORAGES)
def test_two_threads(storage, data):
    X, response, _ = data
    y = target(response, "logistic")
    one, two = (ez.solve(store(X, storage), y, lambda_0=0.02, lambda_2=0.003, n_jobs=n_jobs, gap=1e-6) for n_jobs in (1, 2))
    assert one.nodes > 1, "too easy to tell anything"
    assert two.objective == pytest.approx(one.objective, rel=1e-9), SEED
    assert ez.verify(two.certificate, X, y).valid, SEED
