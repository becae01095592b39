"""Models that a path starts from: they stay as they are, and no coefficient is outside of its bounds afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.problems import LOSSES

from ellzero import _core
from ellzero.paths.options import path_options
from ellzero.problem.making import make_problem
from ellzero.solvers.paths import solve_path


def start_from(X: Any, y: Any, seeds: list[_core.Model], **settings: Any) -> _core.PathResult:
    """The path that has only these models to start from."""
    problem = make_problem(X, y, fit_intercept=False, standardize=False, **settings)
    return solve_path(problem, path_options(lambda_0=[1e-12]), seeds=seeds, sweep=False)


def core_model(support: list[int], beta: list[float]) -> _core.Model:
    """A model on the core's scale."""
    model = _core.Model()
    model.support, model.beta = np.array(support, dtype=np.int32), np.array(beta)
    return model


def test_seeds_keep_their_columns():
    X = sparse.csc_matrix(np.eye(6)[:, [0, 1, 2]] @ np.eye(6)[[1, 3, 4]])  # columns 0, 2 and 5 are empty
    first = start_from(X, [1, 1, -1, 1, -1, -1], [core_model([1, 3, 4], [0.1, 0.2, 0.3])], loss="logistic", lambda_2=0.1)
    before = [(model.support.tolist(), model.beta.tolist()) for model in first.by_size]
    assert before[-1][0] == [1, 3, 4]
    start_from(X, [1, 1, -1, 1, -1, -1], first.by_size, loss="logistic", lambda_2=0.2)
    assert [(model.support.tolist(), model.beta.tolist()) for model in first.by_size] == before


@pytest.mark.parametrize("loss", LOSSES)
def test_seeds_outside_their_bounds(loss):
    X, y = np.array([[1.0], [1.0], [-1.0], [1.0]]), [1, 1, -1, -1]
    for value in (-3.0, 0.25, 3.0):
        found = start_from(X, y, [core_model([0], [value])], loss=loss, lower=-1e-9, upper=1e-159)
        for model in (*found.models, *found.by_size):
            np.testing.assert_array_equal(model.beta, np.clip(model.beta, -1e-9, 1e-159))


@pytest.mark.parametrize("loss", LOSSES)
def test_steps_from_one_bound_to_another_that_is_far_smaller(loss):
    """The step is rounded as the larger bound is: what it leads to may be beyond the smaller one."""
    X, y = np.array([[1.0], [1.0], [-1.0], [1.0]]), [1, 1, -1, -1]
    for upper in 1e-4 * np.linspace(0.4, 2.4, 21):
        found = start_from(X, y, [core_model([0], [-1e12])], loss=loss, lower=-1e12, upper=upper)
        for model in (*found.models, *found.by_size):
            np.testing.assert_array_equal(model.beta, np.clip(model.beta, -1e12, upper))
