"""Stability selection: the frequencies by brute force, the halves, the bound, the picture."""

import numpy as np
import pandas as pd
import pytest
from support.problems import LOSSES, random_problem, target

import ellzero as ez
from ellzero.estimators.stability import complementary_halves
from ellzero.estimators.training import Training
from ellzero.problem.making import make_problem

X, Y, W = random_problem(41, n=90, p=12)
LABELS = target(Y, "logistic")


def halves_of(y, seed, pairs, loss, w=None):
    """The halves that the seed gives."""
    problem = make_problem(X, y, loss=loss, sample_weight=w)
    training = Training.of(problem)
    rng = np.random.default_rng(seed)
    return [half for _ in range(pairs) for half in complementary_halves(training, rng)]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("how", [{"k": 3}, {"lambda_0": 0.05}, {"k": 3, "lambda_0": 0.05}], ids=str)
def test_frequencies_by_brute_force(loss, how):
    """An estimator on the rows of each half alone."""
    y = target(Y, loss)
    found = ez.stability_selection(X, y, loss=loss, n_subsamples=6, random_state=3, **how)
    make = ez.L0Regressor() if loss == "squared_error" else ez.L0Classifier(loss)
    count, sizes = np.zeros(12), []
    for rows in halves_of(y, 3, 3, loss):
        support = make.set_params(**how).fit(X[rows], y[rows]).support_
        count[support] += 1.0
        sizes.append(len(support))
    np.testing.assert_allclose(found.frequency, count / 6.0)
    assert found.mean_size == pytest.approx(np.mean(sizes))
    assert found.n_subsamples == 6


@pytest.mark.parametrize("seed", range(5))
def test_halves_are_disjoint_and_stratified(seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(90) < 0.2, "rare", "common")
    weight = np.where(rng.random(90) < 0.1, 0.0, 1.0)
    live = weight > 0.0
    for first, second in zip(*[iter(halves_of(y, seed, 4, "logistic", weight))] * 2, strict=True):
        assert not set(first) & set(second)
        assert len(set(first)) == len(first) == len(second)
        for half in (first, second):
            assert live[half].all()
            for label in ("rare", "common"):
                assert (y[half] == label).sum() == (y[live] == label).sum() // 2
    numbers = halves_of(Y, seed, 1, "squared_error")
    assert [len(half) for half in numbers] == [45, 45]
    assert set(numbers[0]) | set(numbers[1]) == set(range(90))


def test_useful_features_come_first():
    Z, y, truth = ez.datasets.make_classification(300, 60, 3, s=3.0, random_state=1)
    stability = ez.stability_selection(Z, y, k=5, n_subsamples=20)
    useful = set(np.flatnonzero(truth).tolist())
    assert set(stability.selected(0.9).tolist()) == useful
    assert set(stability.selected(0.6)) >= useful
    frequency = stability.frequency[stability.selected(0.01)]
    assert (np.diff(frequency) <= 0.0).all()
    assert stability.mean_size == 5.0
    assert stability.frequency.sum() == pytest.approx(5.0)


@pytest.mark.parametrize("threshold", [0.55, 0.6, 0.75, 1.0])
def test_the_bound(threshold):
    stability = ez.stability_selection(X, LABELS, k=3, n_subsamples=4)
    assert stability.false_bound(threshold) == pytest.approx(3.0**2 / ((2.0 * threshold - 1.0) * 12))


def test_the_bound_is_no_bound_up_to_one_half():
    stability = ez.stability_selection(X, LABELS, k=3, n_subsamples=4)
    assert stability.false_bound(0.5) == np.inf
    assert stability.false_bound(0.2) == np.inf


def test_the_bound_holds_for_noise():
    """Useless features that are exchangeable: no more are selected on average than the bound allows."""
    selected, bounds = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        Z, y = rng.standard_normal((60, 40)), rng.integers(0, 2, 60)
        stability = ez.stability_selection(Z, y, k=4, n_subsamples=30, random_state=seed)
        selected.append(len(stability.selected(0.75)))
        bounds.append(stability.false_bound(0.75))
    assert np.mean(selected) <= np.mean(bounds)


def test_seeds_threads_and_odd_numbers():
    first = ez.stability_selection(X, LABELS, k=3, n_subsamples=9)
    assert first.n_subsamples == 10
    np.testing.assert_array_equal(first.frequency, ez.stability_selection(X, LABELS, k=3, n_subsamples=10, n_jobs=2).frequency)
    generator = ez.stability_selection(X, LABELS, k=3, n_subsamples=10, random_state=np.random.default_rng(0))
    np.testing.assert_array_equal(first.frequency, generator.frequency)
    others = [ez.stability_selection(X, LABELS, k=3, n_subsamples=10, random_state=seed).frequency for seed in range(1, 5)]
    assert any((other != first.frequency).any() for other in others)


def test_names_tables_and_words():
    frame = pd.DataFrame(X, columns=[f"größe {j}" for j in range(12)])
    stability = ez.stability_selection(frame, LABELS, k=3, n_subsamples=6, unpenalized=["größe 7"])
    assert stability.names == frame.columns.tolist()
    assert stability.frequency[7] == 1.0
    assert stability.mean_size == 3.0  # what is always in is not counted
    table = stability.to_frame()
    assert table.columns.tolist() == ["feature", "name", "frequency"]
    assert (table.frequency > 0.0).all()
    assert table.frequency.is_monotonic_decreasing
    assert table.name.tolist() == [f"größe {j}" for j in table.feature]
    assert len(table) == (stability.frequency > 0.0).sum()
    words = repr(stability)
    assert words.startswith("stability over 6 subsamples, models of 3.0 features on average")
    assert "größe 7" in words
    assert "x0" in repr(ez.stability_selection(X, LABELS, k=3, n_subsamples=2))


def test_the_picture():
    stability = ez.stability_selection(X, LABELS, k=3, n_subsamples=6)
    axes = stability.plot(top=4, threshold=0.7)
    assert len(axes.patches) >= 4
    assert axes.get_xlabel() or axes.get_ylabel()
    import matplotlib.pyplot as plt

    own = plt.figure().add_subplot()
    assert stability.plot(own) is own
    plt.close("all")


def test_weights():
    """Rows without weight are in no half, and weights count in the fits."""
    weight = W * (np.arange(90) % 3 > 0)
    found = ez.stability_selection(X, LABELS, k=3, n_subsamples=4, sample_weight=weight)
    count = np.zeros(12)
    for rows in halves_of(LABELS, 0, 2, "logistic", weight):
        count[ez.L0Classifier(k=3).fit(X[rows], LABELS[rows], sample_weight=weight[rows]).support_] += 1.0
    np.testing.assert_allclose(found.frequency, count / 4.0)


def test_progress():
    seen = []
    ez.stability_selection(X, LABELS, k=3, n_subsamples=6, progress=lambda *report: seen.append(report))
    assert [fraction for fraction, _, _ in seen] == pytest.approx(np.arange(1, 7) / 6.0)
    assert all(size == 3 for _, _, size in seen)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "k or lambda_0 must be given"),
        ({"k": -1}, "k must be an integer of at least 0"),
        ({"lambda_0": -0.1}, "lambda_0 must be finite and not negative"),
        ({"k": 3, "n_subsamples": 0}, "n_subsamples must be an integer of at least 1"),
        ({"k": 3, "algorithm": "exact"}, "algorithm must be one of"),
        ({"k": 3, "loss": "none"}, "loss must be one of"),
        ({"k": 3, "lambda_2": -1.0}, "lambda_2 must be finite and not negative"),
        ({"k": 3, "tol": 2.0}, "tol must be between 0 and 1"),
        ({"k": 3, "sample_weight": -W}, "sample_weight must not be negative"),
        ({"k": 3, "random_state": -1}, "random_state must be an integer of at least 0 or a NumPy generator, got -1"),
        ({"k": 3, "random_state": "x"}, "random_state must be an integer of at least 0 or a NumPy generator"),
        ({"k": 3, "progress": 3}, "progress must be True, False or a function, got 3"),
        ({"k": 3, "y": np.arange(90) % 3}, "y must have exactly two classes"),
        ({"k": 3, "y": np.arange(90) == 0}, "y must have at least two rows of each class"),
    ],
)
def test_bad_arguments(settings, message):
    with pytest.raises(ez.InvalidInputError, match=message):
        ez.stability_selection(**{"X": X, "y": LABELS} | settings)


@pytest.mark.parametrize("threshold", [0.0, -0.1, 1.1, np.nan, "much"])
def test_bad_thresholds(threshold):
    stability = ez.stability_selection(X, LABELS, k=3, n_subsamples=2)
    for call in (stability.selected, stability.false_bound):
        with pytest.raises(ez.InvalidInputError, match="threshold must be"):
            call(threshold)
