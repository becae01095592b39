"""Paths and models of given sizes, each certified."""

import numpy as np
import pytest
from support.exact_problems import RESPONSE, WEIGHT, X, Y, long_problem
from support.problems import LOSSES, target

import ellzero as ez


def check_certified(certified, problem, points):
    assert len(certified) == len(certified.solutions) == points
    for name in ("objective", "lower_bound", "gap"):
        values = [getattr(sol, name) for sol in certified.solutions]
        np.testing.assert_array_equal(getattr(certified, name), values)
    assert list(certified.status) == [sol.status for sol in certified.solutions]
    assert (certified.lower_bound <= certified.objective).all()
    for sol in certified.solutions:
        report = ez.verify(sol.certificate, *problem)
        assert report.valid, report.reasons
    assert len(certified.to_frame()) == points
    assert len(repr(certified).splitlines()) == points + 1


@pytest.mark.parametrize("loss", LOSSES)
def test_a_path_is_certified(loss):
    y = target(RESPONSE, loss)
    path = ez.fit_path(X, y, loss=loss, lambda_2=0.01, n_lambda=12, lambda_min_ratio=0.05)
    certified = ez.certify_path(path)
    check_certified(certified, (X, y), len(path))
    assert set(certified.status) == {"optimal"}
    assert (certified.gap <= 1e-4).all()
    np.testing.assert_array_equal(certified.lambda_0, path.lambda_0)
    assert (certified.objective <= path.objective * (1.0 + 1e-9)).all()
    middle = len(path) // 2
    alone = ez.solve(X, y, loss=loss, lambda_2=0.01, lambda_0=path.lambda_0[middle])
    assert certified[middle].objective == pytest.approx(alone.objective, rel=2e-4)
    assert certified[middle].lower_bound <= alone.objective
    assert alone.lower_bound <= certified[middle].objective


@pytest.mark.parametrize("loss", LOSSES)
def test_sizes_are_certified(loss):
    y = target(RESPONSE, loss)
    sizes = ez.fit_sizes(X, y, [0, 1, 2, 4], loss=loss, lambda_2=0.01, sample_weight=WEIGHT, standardize=True)
    certified = ez.certify_path(sizes, gap=1e-3)
    check_certified(certified, (X, y), 4)
    assert set(certified.status) == {"optimal"}
    np.testing.assert_array_equal(certified.k, [0, 1, 2, 4])
    assert (certified.objective <= sizes.objective * (1.0 + 1e-9)).all()
    assert (np.diff(certified.objective) <= 0.0).all()
    for k, sol in zip((0, 1, 2, 4), certified.solutions, strict=True):
        assert len(sol.support) <= k


def test_a_path_of_bad_models_is_improved():
    """Certifying finds the best models, whatever it starts from."""
    path = ez.fit_path(X, Y, lambda_2=0.01, algorithm="iht", n_lambda=5, lambda_min_ratio=0.1)
    certified = ez.certify_path(path)
    for lambda_0, value, bound in zip(path.lambda_0, certified.objective, certified.lower_bound, strict=True):
        alone = ez.solve(X, Y, lambda_0=lambda_0, lambda_2=0.01)
        assert value == pytest.approx(alone.objective, rel=2e-4), lambda_0
        assert bound <= alone.objective, lambda_0


def test_certifying_with_limits_and_bounds():
    data, labels = long_problem()
    path = ez.fit_path(data, labels, loss="squared_hinge", lambda_2=0.01, lambda_0=[0.05, 0.01, 0.005])
    certified = ez.certify_path(path, time_limit=0.2, n_jobs=2)
    check_certified(certified, (data, labels), 3)
    assert certified.status[-1] == "time_limit"
    limited = ez.certify_path(path, node_limit=2)
    check_certified(limited, (data, labels), 3)
    assert limited.status[-1] == "node_limit"
    plain = ez.fit_path(X, Y, lambda_0=[0.05, 0.02])
    with pytest.raises(ez.InvalidInputError, match="add, for example, lambda_2=1e-3"):
        ez.certify_path(plain)
    check_certified(ez.certify_path(plain, bound="heuristic"), (X, Y), 2)
    for wrong in (3, None, X):
        with pytest.raises(ez.InvalidInputError, match="path must be what fit_path, fit_sizes or fit_budgets returned"):
            ez.certify_path(wrong)
    with pytest.raises(ez.InvalidInputError, match="max_norm"):
        ez.certify_path(ez.fit_sizes(X, Y, [2], max_norm=1.0))
