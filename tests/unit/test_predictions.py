"""Predictions of several models with one read of X: those of each model, whatever the storage and the rows."""

from __future__ import annotations

import numpy as np
import pytest

import ellzero as ez
from ellzero.design import as_design
from ellzero.estimators.scoring import held_out_losses
from ellzero.estimators.training import Training
from ellzero.problem.coefficients import Coefficients
from ellzero.problem.making import make_problem
from ellzero.problem.predictions import product, products
from ellzero.problem.rows import LEAST_ROWS
from tests.support.problems import STORAGES, random_problem, store, target

N = LEAST_ROWS + 200


def models_of(outputs: int, p: int) -> list[Coefficients]:
    rng = np.random.default_rng(outputs)
    supports = [np.arange(0), np.arange(3), np.array([1, p - 1])]
    return [
        Coefficients(support.astype(np.int32), rng.standard_normal((len(support), outputs)), rng.standard_normal(outputs))
        for support in supports
    ]


@pytest.mark.parametrize("storage", STORAGES)
def test_products_on_some_rows(storage: str) -> None:
    X, _, _ = random_problem(1, n=N)
    design, models = as_design(store(X, storage)), models_of(2, X.shape[1])
    for rows in (None, np.array([N - 1, 7, 7, 4100, 0])):
        found = np.full((N if rows is None else len(rows), len(models), 2), np.nan)
        for places, values in products(design, models, rows):
            found[places] = values
        for number, at in enumerate(models):
            expected = product(design, at)
            assert found[:, number] == pytest.approx(expected if rows is None else expected[rows], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge", "squared_error", "huber", "multinomial"])
def test_mean_losses_are_those_of_each_model(loss: str) -> None:
    X, y, weight = random_problem(2, n=N)
    given = np.digitize(y, [-0.5, 0.5]) if loss == "multinomial" else target(y, loss)
    problem = make_problem(X, given, loss=loss, sample_weight=weight)
    models = models_of(problem.outputs, X.shape[1])
    assert problem.mean_losses(models) == pytest.approx([problem.mean_loss(*at) for at in models], rel=1e-12)


def test_held_out_losses_need_no_values_of_all_rows() -> None:
    X, _, weight = random_problem(3, n=N)
    classes = np.digitize(X[:, 0] + 0.1 * X[:, 1], [-1.0, 1.0])
    problem = make_problem(X, classes, loss="multinomial", sample_weight=weight)
    fold = Training.of(problem).without((2,))  # whose rows count for no loss
    own = [[ez.fit_path(X[classes < 2], classes[classes < 2], loss="multinomial", max_support=3)[1]]]
    test = np.arange(0, N, 3)
    whole = -held_out_losses(Training.of(problem), [(slice(None), fold.decision(own, test))], test).mean
    assert -held_out_losses(Training.of(problem), fold.decisions(own, test), test).mean == pytest.approx(whole, rel=1e-12)
    kept = test[classes[test] < 2]
    eta = own[0][0].decision_function(X[kept])
    losses = np.logaddexp(0.0, np.where(classes[kept] == 1, -1.0, 1.0) * (eta[:, 1] - eta[:, 0]))
    assert whole == pytest.approx(np.average(losses, weights=problem.w[kept]), rel=1e-12)
