"""Searches that begin on a sample of the rows: the conditions of a search on all rows hold, and it finds nothing better."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import ellzero as ez
from ellzero.problem import sample
from ellzero.problem.making import make_problem
from ellzero.solvers.paths import PathOptions, solve_path
from tests.support.problems import GROUPED, PENALTIES, STORAGES, random_problem, store, target

SETTINGS = {**PENALTIES, **GROUPED}
N, LEAST = 1500, 400


@pytest.fixture(autouse=True)
def small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "LEAST_SAMPLE", LEAST)
    monkeypatch.setattr(sample, "PER_COLUMN", 1)


@pytest.fixture
def all_rows(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that calls another one without samples."""

    def call(function: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(sample, "LEAST_SAMPLE", 10**12)
            return function()

    return call


def labelled(seed: int, loss: str = "logistic", n: int = N) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y, weight = random_problem(seed, n)
    if loss == "huber":  # with outliers, and far from zero
        return X, y + np.where(np.arange(n) % 30 == 0, 1e3, 50.0), weight
    return X, np.digitize(y, np.quantile(y, [0.3, 0.8])) if loss == "multinomial" else target(y, loss), weight


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_a_path_satisfies_theorem_1_on_all_rows(loss: str, setting: str) -> None:
    X, y, weight = labelled(1, loss)
    settings = {"loss": loss, "sample_weight": weight, **SETTINGS[setting]}
    path = ez.fit_path(X, y, n_lambda=15, max_support=8, **settings)
    assert sample.sample_of(path.problem, 1) is not None
    assert len(path) >= 3
    assert path.converged.all()
    for model, lambda_0 in zip(path, path.lambda_0, strict=True):
        assert ez.check_stationarity(X, y, model.coef, model.intercept, lambda_0=lambda_0, **settings).satisfied


@pytest.mark.parametrize(
    ("loss", "setting"),
    [(loss, setting) for loss in ("logistic", "squared_hinge") for setting in SETTINGS]
    + [("hinge", "l0l2"), ("hinge", "box"), ("multinomial", "l0l2"), ("multinomial", "grouped")]
    + [("huber", "l0l2"), ("huber", "priced"), ("huber", "standardized_box")],
)
def test_sizes_are_as_good_as_those_of_all_rows(loss: str, setting: str, all_rows: Any) -> None:
    X, y, weight = labelled(2, loss)

    def objectives() -> np.ndarray:
        return ez.fit_sizes(X, y, range(1, 7), loss=loss, sample_weight=weight, **SETTINGS[setting]).objective

    assert (objectives() <= all_rows(objectives) * (1.0 + 1e-6)).all()


@pytest.mark.parametrize("setting", ["l0l2", "priced", "grouped_priced"])
def test_a_grid_with_local_search_is_as_good(setting: str, all_rows: Any) -> None:
    X, y, weight = labelled(14)
    grid = np.geomspace(0.05, 0.001, 6)

    def objectives() -> np.ndarray:
        path = ez.fit_path(X, y, lambda_0=grid, algorithm="local_search", sample_weight=weight, **SETTINGS[setting])
        assert len(path) == len(grid)
        return path.objective

    assert (objectives() <= all_rows(objectives) * (1.0 + 1e-6)).all()


@pytest.mark.parametrize("storage", STORAGES)
def test_all_storages_have_the_same_sample(storage: str) -> None:
    X, y, weight = labelled(4)
    first, second = (sample.sample_of(make_problem(given, y, sample_weight=weight), 1) for given in (X, store(X, storage)))
    assert first is not None
    assert second is not None
    columns = np.arange(X.shape[1], dtype=np.int32)
    coef = np.random.default_rng(5).standard_normal(len(columns))
    assert second.design.matvec(columns, coef) == pytest.approx(first.design.matvec(columns, coef), rel=1e-12, abs=1e-12)
    assert np.array_equal(first.y, second.y)
    found, whole = (ez.fit_sizes(given, y, range(1, 4), sample_weight=weight) for given in (store(X, storage), X))
    assert found.objective == pytest.approx(whole.objective, rel=1e-9)


def test_other_kinds_of_x() -> None:
    rng = np.random.default_rng(6)
    X = rng.random((N, 12)) < 0.3
    y = X[:, :3] @ np.ones(3) + rng.standard_normal(N) > 0.9
    whole = ez.fit_sizes(X.astype(np.float64), y, range(1, 4)).objective
    dask = pytest.importorskip("dask.array").from_array(X.astype(np.float64), chunks=(400, 5))
    for given in (X, X.astype(np.int8), sparse.csr_matrix(X, dtype=np.float64), dask):
        assert ez.fit_sizes(given, y, range(1, 4)).objective == pytest.approx(whole, rel=1e-9)


def test_classes_keep_their_weights_and_small_ones_their_rows() -> None:
    X, y, weight = labelled(7)
    y, weight = np.where(np.arange(N) % 50 == 0, 1, -1), np.where(np.arange(N) % 3 == 0, 0.0, weight)
    problem = make_problem(X, y, sample_weight=weight)
    rows, w = sample.drawn(problem, 200)
    assert np.array_equal(rows, sample.drawn(problem, 200)[0])
    assert (problem.w[rows] > 0.0).all()
    assert (np.diff(rows) > 0).all()
    few = problem.y[rows, 0] > 0.0
    assert few.sum() == ((y > 0) & (weight > 0.0)).sum()
    assert 150 < len(rows) <= 200
    assert w[few].sum() == pytest.approx(problem.w[y > 0].sum(), rel=1e-12)
    assert w.sum() == pytest.approx(1.0, rel=1e-12)


def test_a_row_with_most_of_the_weight_is_drawn_once() -> None:
    X, y, _ = labelled(8)
    weight = np.ones(N)
    weight[77] = 1e6
    rows, w = sample.drawn(make_problem(X, y, sample_weight=weight), 200)
    assert w[rows == 77].sum() > 0.9
    assert len(np.unique(rows)) == len(rows)


def test_few_rows_and_squares_have_no_sample() -> None:
    X, y, weight = labelled(9)
    assert sample.sample_of(make_problem(X[:1000], y[:1000]), 1) is None
    assert sample.sample_of(make_problem(X, X[:, 0], loss="squared_error"), 1) is None
    weight[np.arange(N) % 4 > 0] = 0.0
    assert sample.sample_of(make_problem(X, y, sample_weight=weight), 1) is None


def test_a_rare_column_that_the_sample_misses_comes_in() -> None:
    X, y, _ = labelled(10)
    rng = np.random.default_rng(11)
    y = rng.choice([-1, 1], N)
    missed = np.setdiff1d(np.flatnonzero(y > 0), sample.drawn(make_problem(X, y), LEAST)[0])[:40]
    X[:, 5] = 0.0
    X[missed, 5] = 1.0
    model = ez.fit_sizes(X, y, 1, lambda_2=1e-4).models[0]
    assert model.support.tolist() == [5]


def test_a_search_that_is_stopped_on_the_sample_has_models() -> None:
    X, y, _ = labelled(12)
    problem = make_problem(X, y, lambda_2=1e-3)

    def stop(done: float, lambda_0: float, features: int) -> None:
        raise TimeoutError

    options = PathOptions(lambda_0=np.zeros(0), algorithm="local_search", check=lambda: None, progress=stop)
    found = solve_path(problem, options.for_sizes((1, 2, 3), N))
    assert isinstance(found.stopped, TimeoutError)
    assert found.by_size
    assert not found.models


def test_two_threads_find_what_one_finds() -> None:
    X, y, _ = labelled(13)
    first, second = (ez.fit_sizes(X, y, range(1, 6), n_jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(first.coef.toarray(), second.coef.toarray())
