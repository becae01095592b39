"""The rules of cross-validation, one by one: on numbers whose choice is known."""

import numpy as np
import pytest
from scipy import sparse

import ellzero as ez
from ellzero.estimators.choice import Column, choose_point, explain
from ellzero.estimators.choice_rules import (
    BESIDE_OTHERS,
    GROWTH,
    LASSO_GRID,
    MOST_OF_NETS,
    NETS,
    largest_by_rows,
    shrinkage_values,
    thinned,
)
from ellzero.estimators.choice_rules import RIDGE_LADDER as LADDER
from ellzero.estimators.scoring import Parts
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
        parts=Parts(np.arange(scores.shape[1]), np.ones(scores.shape[1]), scores, np.ones(scores.shape[1])),
        fold_size=np.tile(np.asarray(sizes)[:, None], scores.shape[1]),
        fold_supports=[],
    )


# Grids.


@pytest.mark.parametrize(
    ("loss", "curvature"), [("logistic", 0.25), ("squared_error", 1.0), ("squared_hinge", 2.0), ("hinge", 1.0)]
)
def test_shrinkage_is_a_multiple_of_the_curvature(loss, curvature):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5)) * [1.0, 2.0, 3.0, 4.0, 5.0]
    y = np.sign(X[:, 0])
    options = path_options()
    problem = make_problem(X, y, loss=loss, standardize=True)
    np.testing.assert_allclose(shrinkage_values([problem], "lambda_2", options, 0, LADDER), curvature * np.array(LADDER))
    raw = make_problem(X, y, loss=loss, fit_intercept=False)
    largest = (X**2).mean(axis=0).max()
    np.testing.assert_allclose(shrinkage_values([raw], "lambda_2", options, 0, LADDER), curvature * largest * np.array(LADDER))
    counted = shrinkage_values([problem], "lambda_2", options, 4)
    np.testing.assert_allclose(counted, np.geomspace(10.0 * curvature, 1e-3 * curvature, 4))


def test_shrinkage_of_constant_columns_is_nothing():
    y = np.tile([-1.0, 1.0], 5)
    for X in (np.zeros((10, 3)), np.ones((10, 3))):
        problem = make_problem(X, y, loss="logistic", standardize=True)
        for name in ("lambda_1", "lambda_2"):
            assert shrinkage_values([problem], name, path_options(), 0, LADDER).tolist() == [0.0]


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
    assert thinned(np.array([3, 10, 11, 12, 13]), 10).tolist() == [3]  # goes on from a model of ten features


# Choices.


def test_the_smallest_model_that_is_not_clearly_worse():
    """The difference on the same rows counts, not the error of the score."""
    rng = np.random.default_rng(0)
    hard = rng.standard_normal(200)  # what all models share: it makes scores uncertain, and differences not

    def scores(behind, spread):
        noise = rng.standard_normal(200)
        return -1.0 + hard - behind + spread * (noise - noise.mean()) / noise.std()

    columns = [column([scores(0.6, 0.0), scores(0.04, 0.1), scores(0.015, 0.5), scores(0.0, 0.0)], [0, 2, 5, 9])]
    assert choose_point(columns, "best") == (0, 3)
    assert choose_point(columns, "one_se") == (0, 1)  # 0.04 is less than the error of the score, 0.07
    assert choose_point(columns, "auto") == (0, 2)  # two features are 0.04 +- 0.007 behind, five 0.015 +- 0.035
    wide = [column([scores(0.6, 0.0), scores(0.05, 1.0), scores(0.0, 0.0)], [0, 2, 9])]
    assert choose_point(wide, "auto") == (0, 2)  # 0.05 is not significant, but more than 3 % of what is gained
    assert choose_point(wide, "sparse") == (0, 1)


def test_equal_scores_prefer_the_smaller_model():
    for rule in ("best", "auto", "one_se", "sparse"):
        assert choose_point([column([[-0.2], [-0.2]], [7, 3])], rule) == (0, 1)
        assert choose_point([column([[-0.2, -0.3]] * 3, [4, 0, 3])], rule) == (0, 1)


# Sentences.


def why(columns, place, rule="auto", scoring=LOSS, loss="logistic"):
    return explain(columns, place, rule=rule, scoring=scoring, loss=loss).why


def test_the_reason_in_a_sentence():
    columns = [column([[-0.5, -0.5], [-0.3, -0.2], [-0.24, -0.16]], [0, 2, 5], 0.08, [0.2, 0.1, 0.05])]
    assert why(columns, (0, 2)) == (
        "5 features (lambda_0 = 0.05, lambda_2 = 0.08): its held-out logistic loss, 0.2 +- 0.04, is the lowest of 3 models."
    )
    assert why(columns, (0, 2), loss="squared_error").startswith(
        "5 features (lambda_0 = 0.05, lambda_2 = 0.08): its held-out squared error, halved, "
    )
    noisy = [column([[0.5, 0.5], [0.9, 0.8], [0.98, 0.78]], [0, 1, 5], 0.0)]
    assert why(noisy, (0, 1), rule="one_se", scoring="roc_auc") == (
        "1 feature: the smallest of 3 models whose held-out roc auc, 0.85 +- 0.05, is within one standard error (0.1) of the "
        "highest, 0.88 with 5 features."
    )
    assert why(columns, (0, 1)) == (
        "2 features (lambda_0 = 0.1, lambda_2 = 0.08): the smallest of 3 models whose held-out logistic loss, 0.25 +- 0.05, is "
        "not clearly worse than the lowest, 0.2 with 5 features: it is behind by 0.05 +- 0.01 on the same rows."
    )
    close = [column([[-0.5, -0.6], [-0.21, -0.19], [-0.18, -0.21]], [0, 2, 9])]
    assert why(close, (0, 2), rule="best").endswith('of 3 models; 2 features would have 0.2 (rule="sparse").')
    alone = why([column([[-0.7]], [0], 0.0)], (0, 0))
    assert alone == "0 features: its held-out logistic loss, 0.7 +- 0, is the lowest of one model."


def test_scores_with_names_of_many_lines():
    assert "\n" not in why([column([[-0.5], [-0.2]], [1, 9])], (0, 1), scoring="two\nlines")


def test_the_trade_leaves_out_what_smaller_models_do_as_well():
    columns = [column([[-0.7], [-0.5], [-0.51], [-0.3], [-0.29], [-0.2], [-0.4]], [0, 2, 3, 10, 11, 20, 30])]
    choice = explain(columns, (0, 3), rule="auto", scoring=LOSS, loss="logistic")
    assert [each.size for each in choice.trade] == [0, 2, 10, 20]
    assert choice.trade[2] == choice.model
    assert [each.behind for each in choice.trade] == pytest.approx([0.5, 0.3, 0.1, 0.0])


def test_the_rules_are_those_of_the_estimators():
    """Nothing set: what is compared is what the rules say."""
    X, y, _ = ez.datasets.make_classification(120, 200, 4, s=1.0, random_state=3)
    results = ez.L0ClassifierCV().fit(X, y).cv_results_
    curvature = 0.25
    with_price = [each for each in results.columns if each.lasso is None]
    np.testing.assert_allclose([each.lambda_2 for each in with_price[:2]], curvature * np.array(BESIDE_OTHERS["l0l2"]))
    values = [each.lambda_1 for each in with_price[2:]]
    np.testing.assert_allclose(values[1] / values[0], np.divide(*BESIDE_OTHERS["l0l1"][::-1]))
    nets = [each for each in results.columns if each.lasso is not None and not each.refitted]
    np.testing.assert_allclose([each.lambda_2 for each in nets], curvature * np.array(NETS["auto"]))
    for each in nets:
        ratio = each.lasso / (values[0] / BESIDE_OTHERS["l0l1"][0])
        assert all(np.isclose(LASSO_GRID, share).any() for share in ratio)
        assert each.size.max() <= MOST_OF_NETS * 120
    for each in results.columns:
        assert thinned(each.size).tolist() == list(range(len(each.size))) or each.refitted
    assert max(each.size.max() for each in with_price) <= 50
    assert len(results.splits) == 5
