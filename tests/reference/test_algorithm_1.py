"""The core's plain coordinate descent is the paper's Algorithm 1, step by step."""

import numpy as np
import pytest
from support.problems import LOSSES, PENALTIES, STORAGES, random_problem, store, target

import ellzero as ez
from ellzero import _core
from ellzero._core import curvature_safety
from ellzero.problem.losses import Hinge, get_loss
from ellzero.problem.making import make_problem
from ellzero.solvers.paths import core_problem

SMOOTHING = 0.5  # wide enough for the hinge's steps to be visible
SETTINGS = {name: value for name, value in PENALTIES.items() if name != "unpenalized"}


def run(stored, y, settings, lambda_0, cycles):
    problem = make_problem(stored, y, **settings)
    return problem, _core.coordinate_descent(core_problem(problem, 1e-6, smoothing=SMOOTHING), lambda_0, cycles)


@pytest.mark.parametrize("penalty", SETTINGS)
@pytest.mark.parametrize("loss", LOSSES)
def test_sufficient_decrease(loss, penalty):
    """Lemma: P(before) - P(after) >= (L_hat_j - L_j) / 2 * step^2, for every step."""
    X, y, w = random_problem(21)
    settings = {**SETTINGS[penalty], "loss": loss, "sample_weight": w}
    lambda_0 = 0.005
    problem, out = run(X, target(y, loss), settings, lambda_0, 15)
    smooth = Hinge(SMOOTHING) if loss == "hinge" else get_loss(loss)
    start = float(problem.w @ smooth.value(np.zeros(len(y)), problem.y[:, 0]))
    objective = np.concatenate([[start], out.objective])
    assert len(objective) > 5
    slack = (curvature_safety - 1) * smooth.curvature_bound * problem.square[out.column] / 2 * out.change**2
    assert (-np.diff(objective) >= slack - 1e-13).all()


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss != "hinge"])
def test_limit_is_a_fixed_point_that_the_fast_solver_does_not_lose_to(loss, storage):
    X, y, w = random_problem(22)
    y, stored, lambda_0 = target(y, loss), store(X, storage), 0.02
    settings = {"loss": loss, "sample_weight": w, "lambda_2": 0.01, "fit_intercept": False}
    _, out = run(stored, y, settings, lambda_0, 3000)
    coef = np.zeros(X.shape[1])
    coef[out.model.support] = out.model.beta
    report = ez.check_stationarity(stored, y, coef, 0.0, lambda_0=lambda_0, **settings)
    assert report.satisfied
    assert report.smallest >= 1 - 1e-6
    assert report.largest <= 1 + 1e-6
    plain = ez.objective(X, y, coef, 0.0, loss=loss, lambda_0=lambda_0, lambda_2=0.01, sample_weight=w)
    assert ez.fit_path(stored, y, lambda_0=lambda_0, **settings).objective[0] <= plain * (1 + 1e-9)
