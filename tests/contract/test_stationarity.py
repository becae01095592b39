"""Every returned solution satisfies Theorem 1: every loss with every penalty, and every storage with every loss and penalty."""

from itertools import cycle

import numpy as np
import pytest
from support.problems import GROUPED, LOSSES, PENALTIES, STORAGES, every_pair, random_problem, store, target

import ellzero as ez
from ellzero.problem.making import make_problem

PENALTIES = PENALTIES | GROUPED
CASES = [(*case, seed) for seed, case in enumerate(every_pair(PENALTIES), start=11)]  # each with numbers of its own
CASES += [
    ("huber", storage, penalty, 211 + j) for j, (penalty, storage) in enumerate(zip(PENALTIES, cycle(STORAGES), strict=False))
]
of_every_pair = pytest.mark.parametrize(("loss", "storage", "penalty", "seed"), CASES)


@of_every_pair
def test_theorem_1_along_the_path(loss, storage, penalty, seed):
    X, y, weight = random_problem(seed)
    stored, y = store(X, storage), target(y, loss)
    settings = {"loss": loss, "sample_weight": weight, **PENALTIES[penalty]}
    path = ez.fit_path(stored, y, n_lambda=20, lambda_min_ratio=1e-2, max_support=12, **settings)
    assert len(path) >= 2
    assert path.converged.all()
    assert (np.diff(path.lambda_0) < 0).all()
    for k in range(len(path)):
        report = ez.check_stationarity(stored, y, path.coef[k], path.intercept[k], lambda_0=path.lambda_0[k], **settings)
        assert report.satisfied, (k, report)
        if "upper" not in settings and "lower" not in settings:
            assert report.smallest >= 1 - 1e-6
            assert report.largest <= 1 + 1e-6
        coef = path.coef[k].toarray().ravel()
        assert coef.min() >= settings.get("lower", -np.inf)
        assert coef.max() <= settings.get("upper", np.inf)


@of_every_pair
def test_theorem_1_after_local_search(loss, storage, penalty, seed):
    """The same for local search, which is nowhere worse than coordinate descent and keeps bounds and unpenalized features."""
    X, y, weight = random_problem(seed)
    stored, y = store(X, storage), target(y, loss)
    settings = {"loss": loss, "sample_weight": weight, **PENALTIES[penalty]}
    grid = np.geomspace(0.2, 0.005, 8)
    cd = ez.fit_path(stored, y, lambda_0=grid, **settings)
    for swaps in ("ranked", "exhaustive") if storage == "f64" and penalty not in GROUPED else ("ranked",):
        path = ez.fit_path(stored, y, lambda_0=grid, algorithm="local_search", swaps=swaps, **settings)
        assert len(path) == len(grid)
        assert (path.objective <= cd.objective * (1 + 1e-7)).all()
        for k, model in enumerate(path):
            report = ez.check_stationarity(stored, y, model.coef, model.intercept, lambda_0=grid[k], **settings)
            assert report.satisfied or not path.converged[k], (k, report)
            assert model.coef.min() >= settings.get("lower", -np.inf)
            assert model.coef.max() <= settings.get("upper", np.inf)
            assert set(settings.get("unpenalized", [])) <= set(model.support.tolist())
        assert path.converged.all()


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_storages_agree(loss, penalty):
    X, y, weight = random_problem(5 + list(PENALTIES).index(penalty))
    y = target(y, loss)
    settings = {"loss": loss, "sample_weight": weight, "lambda_0": [0.1, 0.03, 0.01], **PENALTIES[penalty]}
    dense = ez.fit_path(X, y, **settings)
    for storage in STORAGES[1:]:
        other = ez.fit_path(store(X, storage), y, **settings)
        np.testing.assert_allclose(other.objective, dense.objective, rtol=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_check_stationarity_can_fail(loss):
    X, y, _ = random_problem(2)
    y = target(y, loss)
    path = ez.fit_path(X, y, loss=loss, lambda_0=0.05, lambda_2=0.01)
    coef, b = path[0].coef, path.intercept[0]
    fine = {"loss": loss, "lambda_0": 0.05, "lambda_2": 0.01}
    assert ez.check_stationarity(X, y, coef, b, **fine)
    moved = coef.copy()
    moved[path[0].support[0]] *= 1.05
    assert not ez.check_stationarity(X, y, moved, b, **fine)
    assert not ez.check_stationarity(X, y, coef, b + 0.05, **fine)
    if loss != "hinge":  # at the hinge's smoothing the entry threshold is out of reach: exact gains decide there
        assert not ez.check_stationarity(X, y, np.zeros_like(coef), 0.0, **fine)
        tiny = coef.copy()
        tiny[path[0].support[0]] = 1e-6
        assert not ez.check_stationarity(X, y, tiny, b, **fine)


def test_slopes_are_those_of_centred_and_scaled_columns():
    """Also of residuals whose sum is not zero, where the intercept is not the best one."""
    X, y, weight = random_problem(3)
    problem = make_problem(X, target(y, "logistic"), sample_weight=weight, standardize=True)
    mean = problem.w @ X
    Z = (X - mean) / np.sqrt(problem.w @ (X - mean) ** 2)
    r = np.random.default_rng(4).normal(1.0, 1.0, (len(X), 2))
    np.testing.assert_allclose(problem.slopes(r), Z.T @ r, rtol=1e-9, atol=1e-9)


def test_scales_and_offsets_do_not_matter():
    """Columns of any size, far from zero, with correlated twins: the same models as with tidy columns."""
    X, y, _ = random_problem(13, density=1.0)
    y = target(y, "logistic")
    X[:, 20] = X[:, 0] + 0.01 * X[:, 21]  # a twin
    tidy = ez.fit_path(X, y, standardize=True, lambda_2=1e-3, max_support=8)
    assert sorted(tidy.sized) == list(range(9))
    scale = 10.0 ** np.linspace(-6, 6, 30)
    wild = ez.fit_path(X * scale + 1e3 * scale, y, standardize=True, lambda_2=1e-3, max_support=8)
    np.testing.assert_allclose(wild.objective, tidy.objective, rtol=1e-6)
    for loss in LOSSES:
        plain = ez.fit_path(X, y, loss=loss, lambda_0=[0.1, 0.01], lambda_2=1e-3)
        shifted = ez.fit_path(X + 100.0, y, loss=loss, lambda_0=[0.1, 0.01], lambda_2=1e-3)
        np.testing.assert_allclose(shifted.objective, plain.objective, rtol=1e-6)


def test_a_repeated_residual_does_not_spoil_the_screening():
    """The same residual twice: its remainder after projection is rounding, and no direction of its own."""
    n = 256
    y, z = np.tile([0.7, -0.7], n // 2), np.tile([0.7, 0.7, -0.7, -0.7], n // 4)
    noise = 1e-3 * np.random.default_rng(0).standard_normal((n, 18))
    X = np.column_stack([y + z, y - 1.1 * z, noise])
    settings = {"loss": "squared_error", "fit_intercept": False}
    path = ez.fit_path(X, y, n_lambda=3, **settings)
    for k in range(len(path)):
        assert ez.check_stationarity(X, y, path.coef[k], lambda_0=path.lambda_0[k], **settings)


def test_zero_weight_rows_may_hold_anything():
    X, y, w = random_problem(14)
    extreme = np.vstack([X, np.full((2, X.shape[1]), 1e8), np.full((1, X.shape[1]), -1e10)])
    weight = np.append(w, [0.0, 0.0, 0.0])
    for loss in LOSSES:
        labels = target(y, loss)
        padded = np.append(labels, [labels[0]] * 3)
        kept = ez.fit_path(X, labels, loss=loss, lambda_0=[0.1, 0.02], sample_weight=w)
        dropped = ez.fit_path(extreme, padded, loss=loss, lambda_0=[0.1, 0.02], sample_weight=weight)
        np.testing.assert_allclose(dropped.objective, kept.objective, rtol=1e-6)


@pytest.mark.parametrize("value", [1.0, 1e10, 1e20, 1e30])
@pytest.mark.parametrize("standardize", [False, True])
def test_a_constant_column_changes_nothing_however_large(value, standardize):
    """Its product with centred residuals is rounding, which must not be taken for a slope."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 5))
    y = X[:, 0] + 0.3 * rng.standard_normal(60) > 0.0
    settings = {"lambda_2": 1e-3, "standardize": standardize}
    alone = ez.fit_path(X, y, **settings)
    beside = ez.fit_path(np.c_[X, np.full(60, value)], y, **settings)
    np.testing.assert_allclose(beside.lambda_0, alone.lambda_0, rtol=1e-6)
    assert beside.support_size.tolist() == alone.support_size.tolist()
