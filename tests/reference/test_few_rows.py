"""Squared error on the few rows that stand for all: objectives as on all rows, in every setting and storage."""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import ellzero as ez
from ellzero.problem import rows
from ellzero.problem.making import make_problem
from tests.support.problems import GROUPED, PENALTIES, STORAGES, random_problem, store

SETTINGS = {**PENALTIES, **GROUPED}
N = 5200  # enough rows for the few


@pytest.fixture
def all_rows(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that calls another one while the core takes all rows."""

    def call(function: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(rows, "LEAST_ROWS", 10**12)
            return function()

    return call


def now(function: Any) -> Any:
    """Call a function while nothing is changed."""
    return function()


def few_of(X: Any, y: np.ndarray, threads: int = 1, **settings: Any) -> rows.FewRows:
    """The few rows of a problem, which has some."""
    found = make_problem(X, y, loss="squared_error", **settings).few_rows(threads, thorough=True)
    assert found is not None
    return found


def assert_equal_fits(all_rows: Any, X: Any, y: np.ndarray, rel: float = 1e-9, **settings: Any) -> None:
    """Sizes and paths on few rows have the objectives of those on all."""
    few_of(X, y, **settings)

    def fits() -> list[np.ndarray]:
        sizes = ez.fit_sizes(X, y, range(1, 6), loss="squared_error", **settings)
        path = ez.fit_path(X, y, loss="squared_error", lambda_0=sizes.problem.null * np.array([0.1, 0.01, 0.001]), **settings)
        return [sizes.objective, path.objective]

    for few, whole in zip(fits(), all_rows(fits), strict=True):
        assert few == pytest.approx(whole, rel=rel, abs=0.0)


@pytest.mark.parametrize("setting", SETTINGS)
def test_objectives_are_those_of_all_rows(setting: str, all_rows: Any) -> None:
    X, y, weight = random_problem(3, n=N)
    assert_equal_fits(all_rows, X, y, sample_weight=weight, **SETTINGS[setting])


@pytest.mark.parametrize("storage", STORAGES)
def test_all_storages_have_the_same_few_rows(storage: str) -> None:
    X, y, weight = random_problem(4, n=N, density=0.05 if "csc" in storage else 0.4)
    X = np.where(X != 0.0, X + 3.0, 0.0).astype(np.float32).astype(np.float64)  # with means that are not zero
    found = (few_of(given, y, sample_weight=weight) for given in (store(X, storage), X))
    mine, other = (np.column_stack([few.design.array, few.y]) for few in found)
    assert mine.T @ mine == pytest.approx(other.T @ other, rel=1e-11, abs=1e-9)


@pytest.mark.parametrize("kind", ["row-major", "int8", "bool", "thick sparse", "dask"])
def test_other_kinds_of_x(kind: str, all_rows: Any) -> None:
    rng = np.random.default_rng(5)
    X = rng.random((N, 12)) < 0.3
    y = X[:, :3] @ np.ones(3) + rng.standard_normal(N)
    if kind == "dask":
        given = pytest.importorskip("dask.array").from_array(X.astype(np.float64), chunks=(2000, 5))
    else:
        kinds = {"int8": np.int8, "bool": np.bool_}
        given = sparse.csr_matrix(X, dtype=np.float64) if kind == "thick sparse" else X.astype(kinds.get(kind, np.float64))
    assert_equal_fits(all_rows, given, y)


def test_several_targets_share_the_rows(all_rows: Any) -> None:
    X, y, _ = random_problem(6, n=N)
    Y = np.column_stack([y, X[:, 2] - y**2, np.zeros(N)])
    assert few_of(X, Y).y.shape == (31, 3)
    assert_equal_fits(all_rows, X, Y, lambda_2=1e-3)


def test_iteration_and_bounds_of_norms(all_rows: Any) -> None:
    X, y, _ = random_problem(7, n=N)
    S = {"loss": "squared_error", "lambda_2": 1e-3}
    for fit in (
        lambda: ez.fit_sizes(X, y, [2, 4], algorithm="iht", **S).objective,
        lambda: ez.fit_sizes(X, y, [2, 4], max_norm=1.0, **S).objective,
        lambda: ez.fit_budgets(X, y, [2.0, 4.0], feature_cost={0: 2.0}, **S).objective,
        lambda: ez.fit_path(X, y, algorithm="local_search", max_support=3, swap_size=2, **S).objective,
    ):
        assert fit() == pytest.approx(all_rows(fit), rel=1e-7)


def hard_cases() -> dict[str, tuple[np.ndarray, np.ndarray, dict[str, Any]]]:
    """X that costs a Gram matrix digits, or everything."""
    rng = np.random.default_rng(8)
    X = rng.standard_normal((N, 8))
    y = X[:, :3] @ np.ones(3) + rng.standard_normal(N)
    cases: dict[str, tuple[np.ndarray, np.ndarray, dict[str, Any]]] = {}
    for condition in (1e6, 1e9, 1e12):
        U, V = np.linalg.qr(X)[0], np.linalg.qr(rng.standard_normal((8, 8)))[0]
        bad = np.sqrt(N) * U * np.geomspace(1.0, 1.0 / condition, 8) @ V.T
        cases[f"condition {condition:g}"] = bad, bad @ rng.standard_normal(8) + 0.1 * rng.standard_normal(N), {}
    for distance in (1e-3, 1e-6):
        near = np.hstack([X, X + distance * rng.standard_normal(X.shape)])
        cases[f"columns {distance:g} apart"] = near, (near[:, 0] - near[:, 8]) / distance + rng.standard_normal(N), {}
    zeros = np.where(np.arange(N) < 40, rng.random(N), 0.0)
    return cases | {
        "no noise": (X, X[:, :4] @ np.ones(4) + 1e-7 * y, {}),
        "means of 1e8 spreads": (X + 1e8, y, {}),
        "a response far from zero": (X, y + 1e9, {}),
        "columns twice": (np.hstack([X, X]), y, {}),
        "constant and empty columns": (np.hstack([X, np.ones((N, 2)), np.zeros((N, 1))]), y, {}),
        "constant columns, no intercept": (np.hstack([X, np.ones((N, 2))]), y, {"fit_intercept": False}),
        "one column": (X[:, :1], y, {}),
        "dummies of all levels": (np.eye(6)[rng.integers(0, 6, N)], y, {}),
        "few weights": (X, y, {"sample_weight": zeros}),
        "weights far apart": (X, y, {"sample_weight": 10.0 ** rng.uniform(-20.0, 0.0, N)}),
        "huge": (X * 1e140, y * 1e140, {}),
        "tiny": (X * 1e-140, y * 1e-140, {}),
        "scales far apart": (X * 10.0 ** rng.uniform(-120.0, 120.0, 8), y, {}),
        "standardised scales": (X * 10.0 ** rng.uniform(-120.0, 120.0, 8), y, {"standardize": True, "lambda_2": 1e-3}),
        "constant response": (X, np.full(N, 3.0), {}),
    }


HARD = hard_cases()


@pytest.mark.parametrize("case", HARD)
def test_precision(case: str, all_rows: Any) -> None:
    X, y, settings = HARD[case]

    few_of(X, y, **settings)
    sizes = range(1, min(X.shape[1], 6) + 1)
    found, whole = (call(lambda: ez.fit_sizes(X, y, sizes, loss="squared_error", **settings)) for call in (now, all_rows))
    assert found.objective == pytest.approx(whole.objective, rel=1e-4, abs=1e-300)  # searches may end in other minima
    for mine, other in zip(found, whole, strict=True):
        if not np.array_equal(mine.support, other.support):
            columns, own = X[:, mine.support], {"loss": "squared_error", "lambda_0": 0.0, **settings}
            other = all_rows(partial(ez.fit_path, columns, y, **own))[0]
        assert mine.cost == pytest.approx(other.cost, rel=1e-8, abs=1e-300)


def test_a_gram_matrix_is_used_where_it_is_precise_enough() -> None:
    for case, precise in {"few weights": True, "huge": True, "columns twice": False, "no noise": False}.items():
        X, y, settings = HARD[case]
        table = rows.WeightedTable(make_problem(X, y, loss="squared_error", **settings), 1)
        assert (rows.by_gram(table) is not None) == precise, case
        assert rows.by_blocks(table) is not None, case


def test_both_ways_agree() -> None:
    X, y, weight = random_problem(9, n=N)
    table = rows.WeightedTable(make_problem(X, y, loss="squared_error", sample_weight=weight), 1)
    products = []
    for found in (rows.by_gram(table), rows.by_blocks(table)):
        assert found is not None
        both = np.column_stack(found)
        products.append(both.T @ both)
    assert products[0] == pytest.approx(products[1], rel=1e-12, abs=1e-10)


@pytest.mark.parametrize("case", ["few weights", "columns twice"])
def test_threads_change_nothing(case: str) -> None:
    X, y, settings = HARD[case]
    one, two = (few_of(X, y, threads, **settings) for threads in (1, 2))
    assert np.array_equal(one.design.array, two.design.array)
    assert np.array_equal(one.y, two.y)


def test_problems_of_the_same_rows_share_the_few() -> None:
    X, y, _ = random_problem(10, n=N)
    path = ez.fit_path(X, y, loss="squared_error", max_support=3)
    few = path.problem.few_rows(1, thorough=False)
    grid = ez.fit_grid(X, y, lambda_2=[1e-2, 1e-3], loss="squared_error", max_support=3)
    assert grid[0].problem.few_rows(1, thorough=False) is grid[1].problem.few_rows(1, thorough=False)
    again = pickle.loads(pickle.dumps(path.problem))
    assert np.array_equal(again.few_rows(1, thorough=False).design.array, few.design.array)


def test_few_rows_are_for_many_rows_and_squares() -> None:
    X, y, _ = random_problem(11, n=N)
    for part, loss in ((slice(4000), "squared_error"), (slice(None), "huber"), (slice(None), "logistic")):
        target = y > 0.0 if loss == "logistic" else y
        assert make_problem(X[part], target[part], loss=loss).few_rows(1, thorough=True) is None
