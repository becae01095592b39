"""X without entries, or with an empty first column: every storage gives the model of the intercept, and the same one."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.problems import LOSSES, STORAGES, store, target

import ellzero as ez

Y = np.array([1.5, -0.5, 2.0, 1.0, -1.0, 0.5, 0.7, -2.0, 1.2])
ALGORITHMS: tuple[dict[str, Any], ...] = (
    {"algorithm": "cd"},
    {"algorithm": "iht"},
    {"algorithm": "local_search"},
    {"algorithm": "local_search", "swaps": "exhaustive"},
    {"algorithm": "local_search", "swap_size": 2},
)


@cache
def constant_cost(loss: str) -> float:
    """The least cost of a model without features."""
    none, y = np.zeros((len(Y), 1)), target(Y, loss)
    return min(ez.objective(none, y, np.zeros(1), b, loss=loss) for b in np.linspace(-1.5, 1.5, 301))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("storage", STORAGES)
def test_paths_of_an_x_without_entries(storage: str, loss: str) -> None:
    X, y = store(np.zeros((len(Y), 5)), storage), target(Y, loss)
    want = constant_cost(loss)
    for settings in ALGORITHMS:
        grid = {"lambda_0": [0.1, 0.01]}
        for path in (ez.fit_path(X, y, loss=loss, lambda_2=0.01, **settings, **more) for more in ({}, grid)):
            assert path.support_size.tolist() == [0] * len(path), settings
            np.testing.assert_allclose(path.objective, want, atol=1e-3)
    sizes = ez.fit_sizes(X, y, [0, 1, 3], loss=loss, lambda_2=0.01)
    assert sizes.support_size.tolist() == [0, 0, 0]
    np.testing.assert_allclose(sizes.objective, want, atol=1e-3)
    grid_of_paths = ez.fit_grid(X, y, loss=loss, lambda_2=[0.1, 0.01])
    np.testing.assert_allclose([path.objective[0] for path in grid_of_paths], want, atol=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("storage", STORAGES)
def test_proofs_of_an_x_without_entries(storage: str, loss: str) -> None:
    X, y = store(np.zeros((len(Y), 5)), storage), target(Y, loss)
    found = [
        ez.solve(X, y, loss=loss, k=2, lambda_2=0.01),
        ez.solve(X, y, loss=loss, lambda_0=0.01, lambda_2=0.01),
        ez.improve(X, y, np.zeros(5), loss=loss, lambda_0=0.01, lambda_2=0.01),
        *ez.certify_path(ez.fit_sizes(X, y, [1, 2], loss=loss, lambda_2=0.01)).solutions,
    ]
    for solution in found:
        assert solution.status == "optimal"
        assert not len(solution.support)
        np.testing.assert_allclose(solution.objective, constant_cost(loss), atol=1e-3)
        assert ez.verify(solution.certificate, X, y).valid


EMPTY = ([0], [0, 1, 2, 3], [0, 1, 2, 3, 4])
WHERE = [("f64", empty) for empty in EMPTY] + [(storage, EMPTY[k % 3]) for k, storage in enumerate(STORAGES[1:])]


@pytest.mark.parametrize(("storage", "empty"), WHERE)
def test_estimators_whose_model_has_no_features(storage: str, empty: list[int]) -> None:
    rng = np.random.default_rng(7)
    dense = rng.standard_normal((60, 5)).astype(np.float32).astype(np.float64) * (rng.random((60, 5)) < 0.4)
    dense[:, empty] = 0.0
    X, labels, numbers = store(dense, storage), rng.integers(0, 2, 60), rng.standard_normal(60)
    odds = np.log(labels.mean() / (1.0 - labels.mean()))
    for classifier in (
        ez.L0Classifier(k=0),
        ez.L0Classifier(lambda_0=10.0),
        ez.L0Classifier(k=0, algorithm="exact", lambda_2=1),
    ):
        classifier.fit(X, labels)
        assert not len(classifier.support_)
        np.testing.assert_allclose(classifier.intercept_, odds, atol=1e-6)
    for regressor in (ez.L0Regressor(k=0), ez.L0Regressor(lambda_0=10.0)):
        assert not len(regressor.fit(X, numbers).support_)
        np.testing.assert_allclose(regressor.intercept_, numbers.mean(), atol=1e-9)
    for chosen in (ez.L0Classifier(), ez.L0ClassifierCV(cv=3), ez.L0ClassifierCV(cv=3, select="size")):
        assert not np.isin(chosen.fit(X, labels).support_, empty).any()
    for chosen in (ez.L0Regressor(), ez.L0RegressorCV(cv=3)):
        assert not np.isin(chosen.fit(X, numbers).support_, empty).any()


def test_start_on_empty_columns():
    X = sparse.csc_matrix(np.diag([1.0, 2.0, 0.0, 0.0])[[0, 1, 0, 1, 2, 3]])
    y = np.array([0, 1, 0, 1, 0, 1])
    for start in (np.ones(4), np.array([0.0, 0.0, 1.0, 1.0])):
        solution = ez.solve(X, y, k=2, lambda_2=0.1, warm_start=start)
        assert set(solution.support) <= {0, 1}
        assert ez.verify(solution.certificate, X, y).valid


@pytest.mark.parametrize("name", ["lambda_1", "lambda_2"])
def test_grids_beside_empty_columns(name: str) -> None:
    """Neighbouring paths start from each other's models: as in a dense X, where no column is left out."""
    rng = np.random.default_rng(11)
    dense = np.zeros((40, 6))
    dense[:, [1, 2, 3, 5]] = rng.standard_normal((40, 4))
    dense[:, 1] += 3.0 * dense[:, 2]
    y = target(dense[:, 2] + 0.1 * rng.standard_normal(40), "logistic")
    lower, upper = np.full(6, -0.3), np.full(6, 0.3)
    lower[1], upper[1] = -1e-9, 1e-9
    settings: dict[str, Any] = {name: [0.1, 0.01, 0.001], "n_lambda": 5, "lower": lower, "upper": upper}
    thin, whole = (ez.fit_grid(X, y, **settings) for X in (sparse.csc_matrix(dense), dense))
    for ours, theirs in zip(thin, whole, strict=True):
        np.testing.assert_allclose(ours.objective, theirs.objective, rtol=1e-9)
        coef = ours.coef.toarray()
        np.testing.assert_allclose(coef, theirs.coef.toarray(), atol=1e-6)
        np.testing.assert_array_equal(coef, np.clip(coef, lower, upper))
