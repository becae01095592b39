"""The synthetic experiments' data and measures, and the choice among a method's models."""

import numpy as np
import pytest

import ellzero as ez
from experiments.fixed_design import Data, Setting, measure
from experiments.large_instances import verdict
from experiments.peers.l0 import L0
from experiments.peers.method import Fit
from experiments.peers.selection import choose, loss_within, validation_errors, validation_loss
from experiments.sample_sizes import FIG1

RULES = {"loss": validation_loss, "errors": validation_errors, "size": loss_within(1)}
SETTING = Setting(p=12, k=3, s=2.0, correlation="exponential", rho=0.5, new_rows=50)


def fit(*pairs, intercept=0.0):
    support = np.array([j for j, _ in pairs], dtype=np.int64)
    return Fit(support, np.array([value for _, value in pairs], dtype=np.float64), intercept, {})


def test_draws_are_seeded_and_outcomes_independent():
    data, again, other = (Data.draw(SETTING, 400, seed) for seed in ((1, 2), (1, 2), (1, 3)))
    assert np.array_equal(data.X, again.X)
    assert np.array_equal(data.y_choice, again.y_choice)
    assert not np.array_equal(data.X, other.X)
    assert np.flatnonzero(data.coef).tolist() == [0, 4, 8]
    assert data.X_new.shape == (50, 12)
    probability = 1.0 / (1.0 + np.exp(-2.0 * data.X @ data.coef))
    outcomes = (data.y, data.y_choice, data.y_measure)
    for number, y in enumerate(outcomes):
        assert set(y) == {-1, 1}
        assert np.abs(np.mean((y > 0) - probability)) < 0.05
        for z in outcomes[:number]:
            # Given the rows, two outcomes agree as often as independent ones do.
            expected = np.mean(probability**2 + (1.0 - probability) ** 2)
            assert np.mean(y == z) == pytest.approx(expected, abs=0.06)


def test_choice_is_by_loss_or_by_errors():
    X = np.array([[1.0, 0.0], [0.2, 1.0], [-1.0, -1.0], [-0.2, -1.0]])
    y = np.array([1, 1, -1, -1])
    null, right, sure, wrong = fit(), fit((0, 1.0)), fit((0, 5.0), (1, 5.0)), fit((0, -1.0))
    chosen = choose(iter([null, sure, wrong, right]), X, y, "logistic", RULES)
    assert chosen["loss"] is sure  # larger coefficients, smaller loss
    assert chosen["errors"] is right  # as right, with fewer features
    assert chosen["size"] is right
    assert choose([wrong, null], X, y, "logistic", RULES)["loss"] is null
    with pytest.raises(ValueError, match="no model"):
        choose([], X, y, "logistic", RULES)


def test_choice_is_the_least_loss_of_all_models():
    data = Data.draw(SETTING, 100, (7,))
    method = L0("L0L2", "cd", shrinkage=(0.1, 0.001), max_support=6)
    fits = list(method.fits(data.X, data.y))
    losses = [ez.objective(data.X, data.y_choice, coef(one), one.intercept) for one in fits]
    best = choose(fits, data.X, data.y_choice, "logistic", RULES)["loss"]
    assert best is fits[int(np.argmin(losses))]
    record = measure(method, data, "logistic", RULES)["loss"]
    assert record["support_size"] == len(best.support)
    assert record["true_positives"] + record["false_positives"] == record["support_size"]
    assert 0.5 < record["auc"] <= 1.0
    assert record["settings"] == best.settings


def coef(one, p=12):
    out = np.zeros(p)
    out[one.support] = one.values
    return out


@pytest.mark.parametrize("penalty", ["L0L1", "L0L2"])
@pytest.mark.parametrize("algorithm", ["cd", "local_search"])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_our_fits_are_those_of_the_grid(penalty, algorithm, loss):
    data = Data.draw(SETTING, 80, (3,))
    method = L0(penalty, algorithm, loss=loss, shrinkage=(0.02, 0.002), max_support=5)
    assert method.missing() is None
    second = "lambda_1" if penalty == "L0L1" else "lambda_2"
    grid = ez.fit_grid(data.X, data.y, **{second: [0.02, 0.002]}, algorithm=algorithm, loss=loss, max_support=5)
    fits = list(method.fits(data.X, data.y))
    assert len(fits) == sum(len(path) for path in grid)
    expected = np.concatenate([path.coef.toarray() for path in grid])
    assert np.array_equal(np.array([coef(one) for one in fits]), expected)
    assert {one.settings[second] for one in fits} == {0.02, 0.002}


def test_verdicts():
    assert verdict([0, 0, 0], (0.0, 0.0)) == "as the paper"
    assert verdict([10, 12, 11], (11.5, 0.4)) == "as the paper"
    assert verdict([1, 2, 1], (11.5, 0.4)) == "fewer FP than the paper"
    assert verdict([30, 31, 29], (11.5, 0.4)) == "more FP than the paper"


def test_each_penalty_is_compared_by_itself():
    ours, others = "L0L2 (CD w. Local Search)", "L0L1 (CD w. Local Search)"

    def cell(*values):
        return [{"repetition": k, "f1": value, "auc": 0.9} for k, value in enumerate(values)]

    cells = {(ours, 100): cell(0.5, 0.7, 0.9), (others, 100): cell(0.2, 0.3), ("L1", 100): cell(0.4, 0.6)}
    lines = FIG1.comparison(cells, [ours, others, "L1"], [100]).splitlines()[2:]
    assert lines[0] == f"- recovery F1 score, {ours}: in 0 of 1 comparisons a competitor is better."
    assert lines[1].endswith("in 1 of 1 comparisons a competitor is better: L1 at n = 100 (by 0.250 ± 0.050).")
    assert lines[2].endswith("in 0 of 1 comparisons a competitor is better.")  # equal is not better
    alone = FIG1.comparison({(ours, 100): cell(0.5, 0.7), ("L1", 100): cell(0.9)}, [ours, "L1"], [100])
    assert alone.count("nothing to compare yet") == 2  # one repetition has no spread
