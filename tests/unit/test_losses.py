"""Calculus of the losses: numeric derivatives, Fenchel-Young, and the core against NumPy."""

import numpy as np
import pytest

from ellzero import _core
from ellzero.problem.losses import LOSSES, Hinge, Huber, get_loss

ETA = np.linspace(-6.0, 6.0, 97) + 0.0137  # off the kinks
CASES = [*(loss for loss in LOSSES.values() if not loss.couples_outputs), Hinge(0.3), Huber(0.4)]
IDS = [f"{loss.name}{getattr(loss, 'smoothing', getattr(loss, 'delta', ''))}" for loss in CASES]


def targets(loss):
    return (-1.0, 1.0) if loss.is_classification else (-0.7, 0.0, 1.9)


@pytest.mark.parametrize("loss", CASES, ids=IDS)
def test_gradient_matches_central_differences(loss):
    step = 1e-6
    for y in targets(loss):
        numeric = (loss.value(ETA + step, y) - loss.value(ETA - step, y)) / (2 * step)
        np.testing.assert_allclose(loss.gradient(ETA, y), numeric, atol=1e-8)


@pytest.mark.parametrize("loss", [case for case in CASES if np.isfinite(case.curvature_bound)], ids=str)
def test_curvature_bound_is_reached_and_not_passed(loss):
    fine = np.linspace(-2.0, 2.0, 4001)
    slopes = np.diff(loss.gradient(fine, np.ones_like(fine))) / np.diff(fine)
    assert slopes.max() <= loss.curvature_bound * (1 + 1e-9)
    assert slopes.max() >= 0.99 * loss.curvature_bound


@pytest.mark.parametrize("loss", CASES, ids=IDS)
def test_fenchel_young(loss):
    duals = np.linspace(-3.0, 3.0, 121)
    for y in targets(loss):
        conjugate = loss.conjugate(duals, np.full_like(duals, y))
        gap = loss.value(ETA, y)[:, None] + conjugate[None, :] - ETA[:, None] * duals[None, :]
        assert gap.min() >= -1e-12
        # Equality at the gradient.
        u = loss.gradient(ETA, np.full_like(ETA, y))
        tight = loss.value(ETA, y) + loss.conjugate(u, np.full_like(u, y)) - ETA * u
        np.testing.assert_allclose(tight, 0.0, atol=1e-12)


@pytest.mark.parametrize("tau", [0.5, 1e-2, 1e-5])
def test_smoothed_hinge_is_within_half_tau(tau):
    gap = Hinge().value(ETA, 1.0) - Hinge(tau).value(ETA, 1.0)
    assert gap.min() >= -1e-15
    assert gap.max() <= tau / 2 + 1e-15


@pytest.mark.parametrize("loss", CASES, ids=IDS)
@pytest.mark.parametrize("n", [1, 3, 8, 97])
def test_core_agrees_with_numpy(loss, n):
    rng = np.random.default_rng(n)
    eta = np.concatenate([rng.normal(0, 3, max(n - 2, 0)), [800.0, -800.0]])[-n:]
    y = rng.choice(targets(loss), n)
    w = rng.uniform(0, 1, n)
    smoothing, delta = getattr(loss, "smoothing", 0.0), getattr(loss, "delta", 1.0)
    value, r, d = _core.evaluate_loss(_core.LossKind[loss.name], smoothing, eta, y, w, delta=delta)
    np.testing.assert_allclose(value, w @ loss.value(eta, y), rtol=1e-13, atol=1e-120)
    np.testing.assert_allclose(r, w * loss.gradient(eta, y), rtol=1e-13, atol=1e-120)
    if np.isfinite(loss.curvature_bound):
        step = 1e-5
        numeric = w * (loss.gradient(eta + step, y) - loss.gradient(eta - step, y)) / (2 * step)
        np.testing.assert_allclose(d, numeric, atol=1e-6)


def test_core_logistic_is_accurate_far_out():
    eta = np.array([-700.0, -40.0, -1e-9, 0.0, 1e-9, 40.0, 700.0])
    loss = get_loss("logistic")
    for k in range(len(eta)):
        one = slice(k, k + 1)
        value, r, _ = _core.evaluate_loss(_core.LossKind.logistic, 0.0, eta[one], np.ones(1), np.ones(1))
        np.testing.assert_allclose(value, loss.value(eta[one], 1.0)[0], rtol=1e-14, atol=1e-120)
        np.testing.assert_allclose(r, loss.gradient(eta[one], np.ones(1)), rtol=1e-14, atol=1e-120)


def test_losses_are_equal_to_their_names_and_to_the_same_loss():
    for name, loss in LOSSES.items():
        assert loss == name
        assert {loss: 1}[name] == 1
        assert [other for other in LOSSES if other == loss] == [name]
    assert Huber(0.5) == Huber(0.5)
    assert Huber(0.5) != Huber(0.8)
    assert Hinge() != Hinge(0.1)
