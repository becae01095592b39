"""Scores of supports: every way to give one, and the empty ones."""

import numpy as np
import pytest
from scipy import sparse

import ellzero as ez
from ellzero.metrics import support_scores


def test_scores_are_those_of_scikit_learn():
    from sklearn.metrics import precision_recall_fscore_support

    rng = np.random.default_rng(0)
    for _ in range(50):
        true, chosen = rng.random((2, 12)) < 0.4
        if not (true.any() and chosen.any()):
            continue
        scores = support_scores(true, chosen)
        precision, recall, f1, _ = precision_recall_fscore_support(true, chosen, average="binary")
        np.testing.assert_allclose([scores.precision, scores.recall, scores.f1], [precision, recall, f1])
        assert scores.false_positives == (chosen & ~true).sum()
        assert scores.false_negatives == (true & ~chosen).sum()
        assert scores.true_positives == (true & chosen).sum()


WAYS = {
    "indices": [3, 0],
    "repeated": np.array([0, 3, 3], dtype=np.uint8),
    "mask": [True, False, False, True],
    "coefficients": [0.5, 0.0, 0.0, -2.0],
    "row": np.array([[0.5, 0.0, 0.0, -2.0]]),
    "sparse": sparse.csr_matrix([[0.5, 0.0, 0.0, -2.0]]),
    "model": ez.Model(
        np.array([0, 3]),
        np.array([0.5, -2.0]),
        0.0,
        4,
        0.0,
        2,
        0.0,
        0.0,
        "logistic",
        None,
        None,
        np.ones(2),
        2.0,
        None,
        np.zeros(2),
    ).coef,
}


@pytest.mark.parametrize("first", WAYS)
@pytest.mark.parametrize("second", WAYS)
def test_all_ways_to_give_a_support_mean_the_same(first, second):
    assert support_scores(WAYS[first], WAYS[second]) == ez.metrics.SupportScores(1.0, 1.0, 1.0, 2, 0, 0)


@pytest.mark.parametrize("empty", [[], [False] * 4, np.zeros(4), np.zeros(0, dtype=int)])
def test_empty_supports(empty):
    assert support_scores(empty, empty) == ez.metrics.SupportScores(1.0, 1.0, 1.0, 0, 0, 0)
    assert support_scores([1, 2], empty) == ez.metrics.SupportScores(1.0, 0.0, 0.0, 0, 0, 2)
    assert support_scores(empty, [1, 2]) == ez.metrics.SupportScores(0.0, 1.0, 0.0, 0, 2, 0)


@pytest.mark.parametrize(
    ("true", "chosen", "reason"),
    [
        ([-1], [0], "true_support must hold indices of at least 0, got -1"),
        ([0], ["age"], "support must be indices, a mask or coefficients"),
        ([0], np.zeros((2, 2)), "support must be indices, a mask or coefficients"),
        (np.zeros(3), np.zeros(4), "support is over 4 features and true_support over 3"),
        ([4], np.zeros(4), "true_support has the index 4, the other support is over 4 features"),
        (np.zeros(4), [0, 9], "support has the index 9, the other support is over 4 features"),
        ([0], [np.nan, 1.0], "support contains NaN"),
    ],
)
def test_bad_supports(true, chosen, reason):
    with pytest.raises(ez.InvalidInputError, match=reason):
        support_scores(true, chosen)
