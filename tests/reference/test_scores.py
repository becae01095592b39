"""Score cards against brute force over all points; every certificate is verified."""

import numpy as np
import pytest

import ellzero as ez
from ellzero.scores.problem import ScoreProblem
from fuzz.scores.brute_force import cards
from fuzz.scores.drawing import draw, draw_variant, solved


@pytest.mark.parametrize("seed", range(36))
def test_the_best_card_is_found_and_proved(seed):
    problem = draw(seed)
    found = solved(problem, 1 + seed % 2)
    best = min(loss for _, loss in cards(problem))
    assert found.card.loss == pytest.approx(best, abs=1e-9), f"seed {seed}"
    assert found.status == "optimal"
    assert found.gap <= 1e-6 * (1 + 1e-9)
    report = ez.verify(found.certificate, problem.X, problem.y)
    assert report.valid, (seed, report.reasons)
    assert report.lower_bound <= best + 1e-12
    assert report.lower_bound >= found.lower_bound - 1e-12


@pytest.mark.parametrize("seed", range(16))
def test_prices_given_scales_whole_intercepts_and_numbers(seed):
    problem = draw_variant(seed)
    X = problem.X[:, : problem.X.shape[1] - problem.whole_intercept]
    found = solved(problem)
    best = min(loss for _, loss in cards(problem))
    assert found.card.loss == pytest.approx(best, abs=1e-9), f"seed {seed}"
    assert found.status == "optimal"
    for arithmetic in ("float64", "exact")[: 1 + (seed % 5 == 0)]:
        report = ez.verify(found.certificate, X, problem.y, arithmetic=arithmetic)
        assert report.valid, (seed, report.reasons)
        assert report.lower_bound <= best + 1e-12


@pytest.mark.parametrize("seed", range(0, 20, 2))
def test_lists_of_cards_are_complete(seed):
    problem = draw(seed)
    found = solved(problem, within=0.02)
    assert found.status == "complete"
    threshold = found.certificate.header["threshold"]
    wanted = set()
    for points, loss in cards(problem, threshold):
        if loss < min(found.lower_bound, problem.null.loss) - 1e-9:  # with a scale of zero, any points are the empty card
            wanted.add(tuple(np.array(points) // max(np.gcd.reduce(np.abs(points)), 1)))
    listed = set()
    for card in found.cards:
        points = np.zeros(problem.X.shape[1], dtype=int)
        points[card.support] = card.points
        listed.add(tuple(points // max(np.gcd.reduce(np.abs(points)), 1)))
        assert card.loss <= threshold
        assert card.loss == pytest.approx(problem.objective(card.support, card.points, card.scale, card.intercept))
    assert wanted <= listed, f"seed {seed}"
    report = ez.verify(found.certificate, problem.X, problem.y)
    assert report.valid, report.reasons
    assert report.models >= len(listed)


def test_results_do_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(3)
    X = (rng.random((400, 14)) < 0.4).astype(np.uint8)
    y = np.where(rng.random(400) < 1 / (1 + np.exp(-2.0 * (X[:, 0] + X[:, 1] - X[:, 2]))), 1.0, -1.0)
    problem = ScoreProblem(X, y, None, np.full(14, -3), np.full(14, 3), 4, 2.0)
    one, two = solved(problem, 1), solved(problem, 2)
    assert one.card.points.tolist() == two.card.points.tolist()
    assert one.certificate.header == two.certificate.header


def test_without_time_the_gap_is_that_of_the_root():
    problem = draw(13)
    found = solved(problem, time_limit=1e-6)
    assert found.status == "time_limit"
    assert 0.0 <= found.lower_bound <= found.card.loss
    report = ez.verify(found.certificate, problem.X, problem.y)
    assert report.valid, report.reasons
    assert report.open_leaves == 1


def test_a_leaf_may_be_split_before_it_is_run_through(monkeypatch):
    monkeypatch.setattr("ellzero.scores.proving.SUPPORTS_OF_A_FIT", 0.05)
    for seed in range(0, 24, 3):
        problem = draw(seed)
        found = solved(problem)
        assert found.card.loss == pytest.approx(min(loss for _, loss in cards(problem)), abs=1e-9)
        assert ez.verify(found.certificate, problem.X, problem.y).valid


def test_tables_of_many_columns_have_bounds_too(monkeypatch):
    monkeypatch.setattr("ellzero.scores.proving.NEWTON_COLUMNS", 2)
    problem = draw(7)
    found = solved(problem)
    assert found.status == "optimal"
    assert ez.verify(found.certificate, problem.X, problem.y).valid
