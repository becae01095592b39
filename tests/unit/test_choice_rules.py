"""The rules of cross-validation, one by one: on numbers whose choice is known."""

import numpy as np
import pytest
from scipy import sparse

import ellzero as ez
from ellzero.estimators.choice import Column, choose_mean, choose_point, explain
from ellzero.estimators.choice_rules import (
    FIRST_STEPS,
    GROWTH,
    LADDER,
    largest_by_rows,
    most_averaged,
    next_step,
    shrinkage_values,
    thinned,
)
from ellzero.paths.options import path_options
from ellzero.problem.making import make_problem

LOSS = "negative loss"


def column(scores, sizes, lambda_2=0.1, lambda_0=None):
    """A column of models with these scores, of shape (points, folds), and sizes."""
    scores = np.asarray(scores, dtype=np.float64)
    m = len(scores)
    return Column(
        lambda_1=0.0,
        lambda_2=lambda_2,
        lambda_0=np.full(m, np.nan) if lambda_0 is None else np.asarray(lambda_0),
        size=np.asarray(sizes),
        coef=[sparse.csr_matrix((1, 5))] * m,
        intercept=np.zeros((m, 1)),
        scores=scores,
        fold_size=np.tile(np.asarray(sizes)[:, None], scores.shape[1]),
        fold_supports=[],
    )


# Grids.


def climbed(loss):
    """The steps that are tried if the held-out loss of a step is loss(step)."""
    tried = list(FIRST_STEPS)
    while (step := next_step(tried, min(tried, key=loss))) is not None:
        assert step not in tried
        tried.append(step)
    return sorted(tried)


@pytest.mark.parametrize("best", range(len(LADDER)))
def test_a_valley_of_the_loss_is_climbed_down_to_its_floor(best):
    """Every step up to the best one is tried, and one beyond, so that the best is known to be the best."""
    tried = climbed(lambda step: abs(step - best))
    assert best in tried
    assert tried == list(range(min(tried), max(tried) + 1))
    assert {max(best - 1, 0), min(best + 1, len(LADDER) - 1)} <= set(tried)
    assert len(tried) <= abs(best - FIRST_STEPS[0]) + 3


def test_the_ladder_falls_and_begins_inside():
    assert (np.diff(LADDER) < 0.0).all()
    assert 0 < min(FIRST_STEPS) <= max(FIRST_STEPS) < len(LADDER) - 1
    assert next_step(FIRST_STEPS, FIRST_STEPS[0]) == FIRST_STEPS[0] - 1
    assert next_step([0, 1, 2, 3, 4], 0) is None
    assert next_step([2, 3, 4], 3) is None


@pytest.mark.parametrize(
    ("loss", "curvature"), [("logistic", 0.25), ("squared_error", 1.0), ("squared_hinge", 2.0), ("hinge", 1.0)]
)
def test_shrinkage_is_a_multiple_of_the_curvature(loss, curvature):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5)) * [1.0, 2.0, 3.0, 4.0, 5.0]
    y = np.sign(X[:, 0])
    options = path_options()
    problem = make_problem(X, y, loss=loss, standardize=True)
    np.testing.assert_allclose(shrinkage_values([problem], "lambda_2", options), curvature * np.array(LADDER))
    raw = make_problem(X, y, loss=loss, fit_intercept=False)
    largest = (X**2).mean(axis=0).max()
    np.testing.assert_allclose(shrinkage_values([raw], "lambda_2", options), curvature * largest * np.array(LADDER))
    counted = shrinkage_values([problem], "lambda_2", options, 4)
    np.testing.assert_allclose(counted, np.geomspace(10.0 * curvature, 1e-3 * curvature, 4))


def test_shrinkage_of_constant_columns_is_nothing():
    y = np.tile([-1.0, 1.0], 5)
    for X in (np.zeros((10, 3)), np.ones((10, 3))):
        problem = make_problem(X, y, loss="logistic", standardize=True)
        for name in ("lambda_1", "lambda_2"):
            assert shrinkage_values([problem], name, path_options()).tolist() == [0.0]


def test_the_largest_size_follows_the_rows():
    assert [largest_by_rows(n) for n in (10, 150, 153, 300, 450, 10**6)] == [50, 50, 51, 100, 150, 150]


def test_a_thinned_path_grows_by_a_fifth():
    every = np.arange(101)
    kept = every[thinned(every)]
    assert kept[:6].tolist() == [0, 1, 2, 3, 4, 5]
    assert (kept[2:] >= (1.0 + GROWTH) * kept[1:-1]).all()
    assert (kept[2:] - 1 < np.maximum((1.0 + GROWTH) * kept[1:-1], kept[1:-1] + 1)).all()  # and by no more than needed
    assert thinned(np.array([0, 3, 3, 2, 4, 9, 8])).tolist() == [0, 1, 4, 5]
    assert thinned(np.array([], dtype=np.int64)).tolist() == []


def test_many_rows_need_no_mean():
    assert (most_averaged(1000), most_averaged(1001)) == (3, 1)


# Choices.

CLOSE = [column([[-0.5], [-0.201], [-0.2]], [1, 4, 9]), column([[-0.4], [-0.2015], [-0.3]], [2, 3, 8], 0.01)]


def test_the_smallest_model_within_a_hundredth():
    assert choose_point(CLOSE, "best", LOSS) == (0, 2)
    assert choose_point(CLOSE, "auto", LOSS) == (1, 1)  # 0.2015 is within 0.202, with three features
    assert choose_point(CLOSE, "auto", "neg_log_loss") == (1, 1)
    assert choose_point(CLOSE, "auto", "roc_auc") == (0, 2)  # nobody knows what a hundredth of it is worth
    spread = [column([[-0.5, -0.5], [-0.3, -0.2], [-0.24, -0.16]], [1, 2, 5])]
    assert choose_point(spread, "one_se", LOSS) == (0, 2)
    wide = [column([[-0.5, -0.5], [-0.3, -0.2], [-0.34, -0.06]], [1, 2, 5])]
    assert choose_point(wide, "one_se", LOSS) == (0, 1)


def test_equal_scores_prefer_the_smaller_model():
    assert choose_point([column([[-0.2], [-0.2]], [7, 3])], "best", LOSS) == (0, 1)


def means_of(decisions, y):
    """The scores of means, by the squared error of one fold; decisions of a column have shape (rows, points)."""

    def rate(places, number):
        known = sum(decisions[c][:, p] for c, p in places)
        mean = (known[:, None] + decisions[number]) / (len(places) + 1)
        return -np.mean((mean - y[:, None]) ** 2, axis=0)[:, None]

    return rate


def test_models_are_averaged_while_that_is_worth_it():
    """Errors of opposite sign cancel; a third model with the same errors adds nothing."""
    rng = np.random.default_rng(0)
    y, error = rng.standard_normal(50), rng.standard_normal(50)
    decisions = [np.column_stack([y + error, y + 3.0 * error]), np.column_stack([y - 0.9 * error, y + error])]
    columns = [
        column(-np.mean((d - y[:, None]) ** 2, axis=0)[:, None], [3, 5], 0.1 ** (k + 1)) for k, d in enumerate(decisions)
    ]
    best = choose_point(columns, "best", LOSS)
    assert best == (1, 0)
    places, scores = choose_mean(columns, best, means_of(decisions, y), 3)
    assert len(places) == 2
    assert places[0] == best
    assert scores[0] == pytest.approx(-np.mean((0.05 * error) ** 2))
    alone, score = choose_mean(columns, best, means_of(decisions, y), 1)
    assert alone == [best]
    assert score.tolist() == columns[1].scores[0].tolist()


def test_no_model_is_averaged_with_itself_or_for_next_to_nothing():
    y = np.arange(20.0)
    decisions = [np.column_stack([y + 1.0, y + 1.001])]
    columns = [column([[-1.0], [-1.002]], [3, 5])]
    assert choose_mean(columns, (0, 0), means_of(decisions, y), 3)[0] == [(0, 0)]
    perfect = [column([[0.0], [-1.0]], [3, 5])]
    assert choose_mean(perfect, (0, 0), means_of([np.column_stack([y, y + 1.0])], y), 3)[0] == [(0, 0)]


# Sentences.


def why(columns, places, size, rule="auto", scoring=LOSS, loss="logistic", scores=None):
    first = columns[places[0][0]].scores[places[0][1]]
    return explain(columns, places, first if scores is None else scores, size, rule=rule, scoring=scoring, loss=loss).why


def test_the_reason_in_a_sentence():
    columns = [column([[-0.5, -0.5], [-0.3, -0.2], [-0.24, -0.16]], [0, 2, 5], 0.08, [0.2, 0.1, 0.05])]
    assert why(columns, [(0, 2)], 5) == (
        "5 features (lambda_0 = 0.05, lambda_2 = 0.08): its held-out logistic loss, 0.2 +- 0.04, is the lowest of 3 models."
    )
    assert why(columns, [(0, 2)], 5, loss="squared_error").startswith(
        "5 features (lambda_0 = 0.05, lambda_2 = 0.08): its held-out squared error, halved, "
    )
    area = [column([[0.5, 0.5], [0.9, 0.8], [0.9, 0.86]], [0, 1, 5], 0.0)]
    assert why(area, [(0, 2)], 5, scoring="roc_auc") == (
        "5 features: its held-out roc auc, 0.88 +- 0.02, is the highest of 3 models."
    )
    noisy = [column([[0.5, 0.5], [0.9, 0.8], [0.98, 0.78]], [0, 1, 5], 0.0)]
    assert why(noisy, [(0, 2)], 5, scoring="roc_auc").endswith(
        'is the highest of 3 models; 1 feature would be within one standard error of that (rule="one_se").'
    )
    assert why(noisy, [(0, 1)], 1, rule="one_se", scoring="roc_auc") == (
        "1 feature: the smallest of 3 models whose held-out roc auc, 0.85 +- 0.05, is within one standard error (0.1) of the "
        "highest, 0.88 with 5 features."
    )
    assert why(CLOSE, [(1, 1)], 3) == (
        "3 features (lambda_2 = 0.01): the smallest of 6 models whose held-out logistic loss, 0.2015 +- 0, is within 1 % of "
        "the lowest, 0.2 with 9 features."
    )
    assert (
        why([column([[-0.7]], [0], 0.0)], [(0, 0)], 0)
        == "0 features: its held-out logistic loss, 0.7 +- 0, is the lowest of one model."
    )


def test_the_reason_for_a_mean():
    sentence = why(CLOSE, [(0, 2), (1, 1)], 10, scores=np.array([-0.19]))
    assert sentence == (
        "The mean of 2 models, of 9 features (lambda_2 = 0.1) and 3 features (lambda_2 = 0.01), which has 10 features: its "
        "held-out logistic loss, 0.19 +- 0, is 5 % better than 0.2, the lowest of 6 models; 9 features would be within one "
        'standard error of that (rule="one_se").'
    )
    chosen = explain(CLOSE, [(0, 2), (1, 1)], np.array([-0.19]), 10, rule="auto", scoring=LOSS, loss="logistic")
    assert (len(chosen.models), chosen.size, chosen.score, str(chosen)) == (2, 10, -0.19, sentence)
    assert [model.size for model in chosen.models] == [9, 3]
    assert chosen.models[0].lambda_0 is None


def test_scores_with_names_of_many_lines():
    assert "\n" not in why(CLOSE, [(0, 2)], 9, scoring="two\nlines")


def test_the_rules_are_those_of_the_estimators():
    """Nothing set: what is compared is what the rules say."""
    X, y, _ = ez.datasets.make_classification(120, 200, 4, s=1.0, random_state=3)
    results = ez.L0ClassifierCV().fit(X, y).cv_results_
    values = [each.lambda_2 for each in results.columns]
    ladder = 0.25 * np.array(LADDER)
    steps = [int(np.abs(ladder - value).argmin()) for value in values]
    np.testing.assert_allclose(values, ladder[steps])
    assert set(FIRST_STEPS) <= set(steps)
    assert next_step(steps, max(steps, key=lambda step: results.columns[steps.index(step)].mean.max())) is None
    for each in results.columns:
        assert thinned(each.size).tolist() == list(range(len(each.size)))
        assert each.size.max() <= 50
    assert len(results.splits) == 5
