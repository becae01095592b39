"""Properties of paths on random problems drawn by Hypothesis."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.problems import LOSSES, random_problem, store, target

import ellzero as ez


@st.composite
def problems(draw):
    seed = draw(st.integers(0, 10**6))
    loss = draw(st.sampled_from(LOSSES))
    n, p = draw(st.integers(5, 40)), draw(st.integers(1, 40))
    X, y, w = random_problem(seed, n, max(p, 4), density=draw(st.sampled_from([0.2, 1.0])))
    X, y = X[:, :p], target(y, loss)
    penalty = {
        "lambda_1": draw(st.sampled_from([0.0, 0.0, 1e-3, 0.05])),
        "lambda_2": draw(st.sampled_from([0.0, 1e-3, 0.1])),
        "lower": draw(st.sampled_from([None, 0.0, -0.5])),
        "fit_intercept": draw(st.booleans()),
        "standardize": draw(st.booleans()),
        "sample_weight": draw(st.sampled_from([None, w])),
    }
    return store(X, draw(st.sampled_from(["f64", "f32", "csc64"]))), y, loss, penalty


@settings(max_examples=150, deadline=None, derandomize=True)
@given(problems())
def test_path_is_consistent(problem):
    X, y, loss, penalty = problem
    path = ez.fit_path(X, y, loss=loss, n_lambda=15, lambda_min_ratio=0.05, max_support=10, **penalty)
    assert len(path) == path.coef.shape[0] == len(path.objective)
    assert (np.diff(path.lambda_0) < 0).all()
    # The optimal value falls with lambda_0, and a better value of a fixed model bounds its neighbours.
    assert (np.diff(path.objective) <= 1e-9 + 1e-6 * np.abs(path.objective[:-1])).all()
    # Sizes grow as lambda_0 falls: every point is on the lower envelope of the models seen.
    assert (np.diff(path.support_size) >= 0).all()
    for k in range(len(path)):
        for other in range(len(path)):
            shifted = path.objective[other] + (path.lambda_0[k] - path.lambda_0[other]) * path.support_size[other]
            assert path.objective[k] <= shifted + 1e-7 * max(1.0, abs(shifted))
    bounded = {key: value for key, value in penalty.items() if key != "sample_weight"}
    for k in range(len(path)):
        report = ez.check_stationarity(
            X,
            y,
            path.coef[k],
            path.intercept[k],
            loss=loss,
            lambda_0=path.lambda_0[k],
            sample_weight=penalty["sample_weight"],
            **bounded,
        )
        assert report.satisfied or not path.converged[k], report


@settings(max_examples=40, deadline=None, derandomize=True)
@given(problems())
def test_threads_do_not_change_anything(problem):
    X, y, loss, penalty = problem
    one = ez.fit_path(X, y, loss=loss, n_lambda=8, max_support=6, n_jobs=1, **penalty)
    two = ez.fit_path(X, y, loss=loss, n_lambda=8, max_support=6, n_jobs=2, **penalty)
    np.testing.assert_array_equal(one.lambda_0, two.lambda_0)
    np.testing.assert_array_equal(one.coef.toarray(), two.coef.toarray())
    np.testing.assert_array_equal(one.intercept, two.intercept)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(problems(), st.sampled_from(["ranked", "q_best", "exhaustive"]))
def test_local_search_is_consistent(problem, swaps):
    """Never worse than coordinate descent, on the lower envelope, and the same for any number of threads."""
    X, y, loss, penalty = problem
    common = {"loss": loss, "lambda_0": np.geomspace(0.3, 0.01, 6), **penalty}
    cd = ez.fit_path(X, y, **common)
    one, two = (ez.fit_path(X, y, algorithm="local_search", swaps=swaps, n_jobs=n_jobs, **common) for n_jobs in (1, 2))
    assert (one.objective <= cd.objective * (1 + 1e-6) + 1e-9).all()
    assert (np.diff(one.support_size) >= 0).all()
    np.testing.assert_array_equal(one.coef.toarray(), two.coef.toarray())
    np.testing.assert_array_equal(one.intercept, two.intercept)


@pytest.mark.parametrize("algorithm", ["cd", "local_search"])
def test_threads_do_not_change_a_wide_problem(algorithm):
    X, y, _ = ez.datasets.make_classification(150, 20000, 5, random_state=3)
    one, two = (ez.fit_path(X, y, n_lambda=12, algorithm=algorithm, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.coef.toarray(), two.coef.toarray())
    assert one.reads == two.reads


def test_models_that_are_priced_together_are_not_read_again():
    """There is room for 15 directions, and the sweep has used some of it when up to 19 models are held against all of X."""
    reads = []
    for seed in range(3):
        X, y, _ = ez.datasets.make_classification(500, 4000, 10, s=1.0, correlation="exponential", rho=0.5, random_state=seed)
        reads.append(ez.fit_path(X, y, lambda_2=1e-3, max_support=30).reads)
    assert max(reads) < 25, reads
