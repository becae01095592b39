"""Equal rows merged with their weights, and rows without weight left out: the models of all rows, in every setting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ellzero as ez
from ellzero.problem import equal_rows
from ellzero.problem.making import make_problem
from tests.support.problems import GROUPED, PENALTIES

SETTINGS = {**PENALTIES, **GROUPED}
LOSSES = ("logistic", "squared_hinge", "hinge", "huber", "multinomial")
N = 5200  # enough rows for the few


def table(seed: int, p: int = 30) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, numbers and weights of rows that repeat themselves."""
    rng = np.random.default_rng(seed)
    kinds = np.round(2.0 * rng.standard_normal((400, p)) * (rng.random((400, p)) < 0.5))
    y = np.round(kinds[:, :4] @ [1.0, -0.8, 0.5, 0.4] + rng.standard_normal(400))
    place = rng.integers(0, 400, N)
    return kinds[place], y[place], rng.integers(0, 3, N).astype(float)


def target(y: np.ndarray, loss: str) -> np.ndarray:
    return y if loss == "huber" else np.digitize(y, [-1.0, 1.0]) if loss == "multinomial" else y > 0.0


def fits(X: Any, y: np.ndarray, loss: str, **settings: Any) -> list[np.ndarray]:
    sizes = ez.fit_sizes(X, y, range(1, 5), loss=loss, **settings)
    grid = sizes.problem.null * np.array([0.1, 0.01])
    path = ez.fit_path(X, y, loss=loss, lambda_0=grid, algorithm="local_search", **settings)
    return [sizes.objective, path.objective]


def assert_equal_fits(monkeypatch: pytest.MonkeyPatch, kinds: int, X: Any, y: np.ndarray, **settings: Any) -> None:
    """The fits on merged rows, of which there are so many at most, have the objectives of those on all."""
    few = make_problem(X, y, **settings).few_rows(1, thorough=True)
    assert few is not None
    assert len(few.w) <= kinds
    assert few.w.sum() == pytest.approx(1.0)
    merged = fits(X, y, **settings)
    monkeypatch.setattr(equal_rows, "WORTH", 0.0)
    for mine, whole in zip(merged, fits(X, y, **settings), strict=True):
        # The search for hinge models may end in another local minimum if sums are rounded in another order.
        assert mine == pytest.approx(whole, rel=1e-3 if settings["loss"] == "hinge" else 1e-5, abs=0.0)


@pytest.mark.parametrize("loss", LOSSES)
def test_losses(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, weight = table(1)
    assert_equal_fits(monkeypatch, 400, X, target(y, loss), loss=loss, sample_weight=weight, lambda_2=1e-3)


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings(setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, weight = table(2)
    assert_equal_fits(monkeypatch, 400, X, y > 0.0, loss="logistic", sample_weight=weight, **SETTINGS[setting])


@pytest.mark.parametrize("kind", [np.int8, np.float32, "row-major"])
def test_kinds_of_x(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = table(3)
    given = np.ascontiguousarray(X) if kind == "row-major" else X.astype(kind)
    assert_equal_fits(monkeypatch, 400, given, y > 0.0, loss="logistic", lambda_2=1e-3)


def test_several_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = table(4)
    Y = np.column_stack([y > 0.0, X[:, 1] > 0.0])
    assert_equal_fits(monkeypatch, 400, X, Y, loss="logistic", lambda_2=1e-3)


def test_rows_without_weight_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((N, 10))
    y = X[:, 0] + rng.standard_normal(N) > 0.0
    weight = np.where(np.arange(N) % 3, 0.0, 1.0)
    assert_equal_fits(monkeypatch, N // 3 + 1, X, y, loss="logistic", sample_weight=weight, lambda_2=1e-3)


def test_rows_stay_where_nothing_is_gained(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    X, y, _ = table(6)
    settings: dict[str, Any] = {"loss": "logistic"}
    for other in (rng.standard_normal((N, 4)), np.where(np.arange(N)[:, None] < N - 700, rng.standard_normal((N, 30)), X)):
        assert make_problem(other, y > 0.0, **settings).few_rows(1, thorough=True) is None
    monkeypatch.setattr(equal_rows.JoinedRows, "keys", lambda self, rows: np.zeros(len(rows), dtype=np.uint64))
    assert make_problem(X, y > 0.0, **settings).few_rows(1, thorough=True) is None  # equal numbers of unequal rows


def test_zeros_have_no_sign() -> None:
    X, y, _ = table(7)
    signs = np.where(np.random.default_rng(7).random(X.shape) < 0.5, -0.0, 0.0)
    few = make_problem(np.where(X == 0.0, signs, X), y > 0.0, loss="logistic").few_rows(1, thorough=True)
    assert few is not None
    assert len(few.w) <= 400
