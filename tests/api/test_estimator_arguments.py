"""Bad arguments of the estimators get one sentence that names the argument, before any long work."""

import numpy as np
import pandas as pd
import pytest
from support.problems import random_problem, target

import ellzero as ez

X, Y, W = random_problem(2, n=40, p=6)
LABELS = target(Y, "logistic")
THREE = np.arange(40) % 3

BOTH = {
    "algorithm": ({"algorithm": "magic"}, "algorithm must be one of"),
    "algorithm type": ({"algorithm": None}, "algorithm must be one of"),
    "lambda_0": ({"lambda_0": -1.0}, "lambda_0 must be finite and not negative"),
    "lambda_0 type": ({"lambda_0": "x"}, "lambda_0 must"),
    "max_support": ({"max_support": -1}, "max_support must be an integer of at least 0"),
    "max_support type": ({"max_support": 2.5}, "max_support must be an integer"),
    "tol": ({"tol": 0.0}, "tol must be between 0 and 1"),
    "tol type": ({"tol": "small"}, "tol must be a number"),
    "n_jobs": ({"n_jobs": 0}, "n_jobs must be None or a nonzero integer"),
    "n_jobs type": ({"n_jobs": "two"}, "n_jobs must be None or a nonzero integer"),
    "lower": ({"lower": 0.5}, "lower must be at most 0"),
    "lower shape": ({"lower": np.zeros(5)}, "lower must be a number or have shape"),
    "upper": ({"upper": np.nan}, "upper contains NaN"),
    "crossed": ({"lower": 0.0, "upper": -1.0}, "lower must not exceed upper"),
    "unpenalized": ({"unpenalized": [6]}, "unpenalized has indices outside"),
    "unpenalized names": ({"unpenalized": ["a"]}, "unpenalized must be a boolean mask or a list of feature indices"),
    "gap": ({"algorithm": "exact", "gap": -1.0}, "gap must be finite and not negative"),
    "time_limit": ({"algorithm": "exact", "time_limit": "long"}, "time_limit must be a number"),
    "bound": ({"algorithm": "exact", "bound": 0.0}, "bound must be positive"),
    "progress": ({"progress": 3}, "progress must be True, False or a function, got 3"),
    "progress of a proof": ({"progress": np.ones(2), "algorithm": "exact"}, "progress must be True, False or a function"),
    "bound name": ({"algorithm": "exact", "bound": "loose"}, "bound must be one of"),
}
CLASSIFIERS = {
    "loss": ({"loss": "exponential"}, "loss must be one of"),
    "loss type": ({"loss": ["hinge"]}, "loss must be one of"),
    "class_weight": ({"class_weight": "equal"}, "class_weight must be None, 'balanced' or a dict"),
    "class_weight type": ({"class_weight": [1.0, 2.0]}, "class_weight must be None, 'balanced' or a dict"),
    "unknown class": ({"class_weight": {0: 1.0}}, "class_weight names a class that y does not have: 0"),
    "negative class": ({"class_weight": {1: -1.0}}, "class_weight must be positive"),
    "class without weight": ({"class_weight": {1: 0.0}}, "class_weight must be positive"),
    "nan class": ({"class_weight": {1: np.nan}}, "class_weight contains NaN"),
    "class of text": ({"class_weight": {1: "heavy"}}, "class_weight must hold real numbers"),
}
DIRECT = {
    "k": ({"k": -1}, "k must be an integer of at least 0"),
    "k float": ({"k": 2.0}, "k must be an integer"),
    "k bool": ({"k": True}, "k must be an integer"),
    "lambda_1": ({"lambda_1": -1.0}, "lambda_1 must be finite and not negative"),
    "lambda_2": ({"lambda_2": np.inf}, "lambda_2 must be finite and not negative"),
    "criterion": ({"criterion": "cp"}, "criterion must be one of 'aic', 'bic', 'ebic'"),
}
CROSS_VALIDATED = {
    "penalty": ({"penalty": "l1"}, "penalty must be one of 'auto', 'l0', 'l0l1', 'l0l2'"),
    "select": ({"select": "k"}, "select must be one of 'lambda_0', 'size'"),
    "rule": ({"rule": "1se"}, "rule must be one of 'auto', 'best', 'one_se', 'sparse'"),
    "rising grid": ({"lambda_0": [0.1, 0.2]}, "lambda_0 must be strictly decreasing"),
    "grid of sizes": ({"lambda_0": [0.1], "select": "size"}, "lambda_0 is a grid for select='lambda_0'"),
    "n_lambda": ({"n_lambda": 0}, "n_lambda must be an integer of at least 1"),
    "lambda_min_ratio": ({"lambda_min_ratio": 2.0}, "lambda_min_ratio must be above 0 and at most 1"),
    "shrinkage": ({"shrinkage": [-0.1]}, "shrinkage must be finite and not negative"),
    "shrinkage of l0": ({"penalty": "l0", "shrinkage": [0.1]}, "shrinkage belongs to penalty='l0l1' and 'l0l2'"),
    "n_shrinkage": ({"n_shrinkage": 0}, "n_shrinkage must be an integer of at least 1"),
    "scoring": ({"scoring": "best"}, "scoring must be None, the name of a scorer or a function, got 'best'"),
    "scoring type": ({"scoring": 3}, "scoring must be None, the name of a scorer or a function"),
    "one fold": ({"cv": 1}, "cv must be at least 2 folds, got 1"),
    "cv text": ({"cv": "five"}, "cv must be a number of folds, a splitter or an iterable"),
    "cv float": ({"cv": 5.0}, "cv must be a number of folds, a splitter or an iterable"),
    "no splits": ({"cv": []}, "cv has no splits"),
    "triples": ({"cv": [([0, 1], [2], [3])]}, "cv cannot split the rows"),
    "row too large": ({"cv": [(np.arange(30), np.arange(30, 41))]}, "cv must hold numbers of rows from 0 to 39"),
    "negative row": ({"cv": [(np.arange(-1, 30), np.arange(30, 40))]}, "cv must hold numbers of rows"),
    "rows as numbers": ({"cv": [(np.arange(30.0), np.arange(30, 40))]}, "cv must hold numbers of rows"),
    "mask too short": ({"cv": [(np.ones(39, bool), np.arange(30, 40))]}, "cv must hold numbers of rows"),
    "no training rows": ({"cv": [([], np.arange(30, 40))]}, "cv must give each split at least one training row"),
    "no test rows": ({"cv": [(np.arange(30), [])]}, "cv must give each split at least one training row"),
    "seed": (
        {"random_state": "x"},
        "random_state must be an integer from 0 to 2^32 - 1 or a numpy.random.RandomState, got 'x'",
    ),
    "negative seed": ({"random_state": -1}, "random_state must be an integer from 0 to 2^32 - 1"),
    "too many folds": ({"cv": 41}, "cv"),
}


def cases(*groups):
    merged = {name: case for group in groups for name, case in group.items()}
    return pytest.mark.parametrize(("settings", "message"), merged.values(), ids=merged)


def no_work(*_):
    raise AssertionError("the argument was refused too late")


def refuse(make, y, settings, message):
    late = {"scoring": lambda model, X, y: no_work()} if hasattr(make(), "scoring") else {"progress": no_work}
    with pytest.raises(ez.InvalidInputError) as caught:
        make(**late | settings).fit(X, y)
    assert str(caught.value).startswith(message)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


@cases(BOTH, CLASSIFIERS, DIRECT)
def test_classifier(settings, message):
    refuse(ez.L0Classifier, LABELS, settings, message)


@cases(BOTH, DIRECT)
def test_regressor(settings, message):
    refuse(ez.L0Regressor, Y, settings, message)


@pytest.mark.filterwarnings("ignore:cv = . folds|cv = .. folds")
@cases(BOTH, CLASSIFIERS, {name: case for name, case in CROSS_VALIDATED.items() if name != "too many folds"})
def test_cross_validated_classifier(settings, message):
    refuse(ez.L0ClassifierCV, LABELS, settings, message)


@cases(BOTH, CROSS_VALIDATED)
def test_cross_validated_regressor(settings, message):
    refuse(ez.L0RegressorCV, Y, settings, message)


@pytest.mark.parametrize("make", [ez.L0Classifier, ez.L0ClassifierCV])
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(39), "sample_weight must have shape"),
        (2.0, "sample_weight must have shape"),
        (-np.ones(40), "sample_weight must not be negative"),
        (np.full(40, np.nan), "sample_weight contains NaN"),
        (np.zeros(40), "sample_weight must not be zero everywhere"),
        (["heavy"] * 40, "sample_weight must hold real numbers"),
    ],
)
def test_weights(make, weight, message):
    with pytest.raises(ez.InvalidInputError, match=message):
        make().fit(X, LABELS, sample_weight=weight)


@pytest.mark.parametrize("make", [ez.L0Classifier, ez.L0ClassifierCV, ez.L0Regressor, ez.L0RegressorCV])
@pytest.mark.parametrize(
    ("data", "y", "message"),
    [
        (np.where(X > 1.5, np.nan, X), LABELS, "X contains NaN"),
        (np.where(X > 1.5, np.inf, X), LABELS, "X contains infinity"),
        (np.where(X > 1.5, 1e200, X), LABELS, "X contains values too large"),
        (X[:, 0], LABELS, "Expected 2D array"),
        (X[:, :0], LABELS, "0 feature"),
        (X[:0], LABELS[:0], "0 sample"),
        (X, LABELS[:-1], "inconsistent numbers of samples"),
        (X, None, "requires y to be passed"),
        (X, np.full(40, np.nan), "y contains NaN"),
    ],
)
def test_data(make, data, y, message):
    with pytest.raises(ValueError, match=message):
        make().fit(data, y)


def test_targets():
    with pytest.raises(ValueError, match="Unknown label type: y has 40 different numbers"):
        ez.L0Classifier().fit(X, Y)
    with pytest.raises(ValueError, match="Unknown label type"):
        ez.L0Classifier().fit(X, np.array([1, "a"] * 20, dtype=object))
    with pytest.raises(ez.InvalidInputError, match="y must have at least two classes, got 1 class"):
        ez.L0Classifier().fit(X, np.ones(40))
    with pytest.raises(ValueError, match="could not convert string to float"):
        ez.L0Regressor().fit(X, np.array(["a"] * 40, dtype=object))
    with pytest.raises(ez.InvalidInputError, match="y contains values too large to square"):
        ez.L0Regressor().fit(X, 1e200 * Y)


@pytest.mark.parametrize(
    "y",
    [
        np.array([None, "b"] * 20, dtype=object),
        pd.Series(["a", "b"] * 20, dtype="string").mask(np.arange(40) == 3),
        pd.Series(pd.Categorical(["a", None] * 20)),
    ],
    ids=["None", "NA", "category"],
)
def test_missing_labels(y):
    for make in (ez.L0Classifier, ez.L0ClassifierCV):
        with pytest.raises(ValueError, match=r"y must hold labels of one type, and no row may lack one|contains NaN"):
            make().fit(X, y)


@pytest.mark.parametrize("make", [ez.L0Classifier, ez.L0Regressor])
def test_masked_targets(make):
    with pytest.raises(ez.InvalidInputError, match="y has masked entries; fill or drop them first"):
        make().fit(X, np.ma.masked_array(LABELS, np.arange(40) == 3))


def test_frames_that_are_no_matrix_of_numbers():
    named = pd.DataFrame(X, columns=list("abcdef"))
    for frame, message in (
        (named.assign(b=pd.date_range("2020", periods=40)), "X must hold real numbers, got "),
        (named.assign(b="text"), "X must hold real numbers, got 'text' in column 'b'|could not convert string to float"),
    ):
        with pytest.raises(ValueError, match=message):
            ez.L0Classifier().fit(frame, LABELS)


@pytest.mark.parametrize("value", ["good", None, {"a": 1.0}, np.zeros(3)])
def test_scores_are_numbers(value):
    with pytest.raises(ez.InvalidInputError, match="scoring must return a number, got "):
        ez.L0ClassifierCV(scoring=lambda model, X, y: value, cv=2).fit(X, LABELS)


def test_flags():
    for settings in ({"fit_intercept": "no"}, {"standardize": 2}, {"probability": None}):
        (name,) = settings
        with pytest.raises(ez.InvalidInputError, match=f"{name} must be True or False, got"):
            ez.L0Classifier(**settings).fit(X, LABELS)
    with pytest.raises(ez.InvalidInputError, match="keep_predictions must be True or False"):
        ez.L0ClassifierCV(keep_predictions="all").fit(X, LABELS)
    np.testing.assert_array_equal(
        ez.L0Classifier(k=2, standardize=1, fit_intercept=np.True_).fit(X, LABELS).coef_,
        ez.L0Classifier(k=2).fit(X, LABELS).coef_,
    )


def test_targets_that_are_no_numbers():
    for make in (ez.L0Regressor, ez.L0RegressorCV):
        with pytest.raises(ez.InvalidInputError, match="y must hold real numbers"):
            make().fit(X, np.array([(1, 2)] * 40, dtype="i4,i4"))


@pytest.mark.parametrize(
    ("scoring", "message"),
    [
        ("neg_log_loss", "scoring needs probabilities, which regressions do not have"),
        ("roc_auc", "scoring='roc_auc' cannot rate these models|scoring needs probabilities, which regressions do not have"),
        ("accuracy", "scoring='accuracy' cannot rate these models: .*continuous"),
        ("f1", "scoring='f1' cannot rate these models"),
    ],
)
def test_scores_of_classifiers_are_not_for_regressions(scoring, message):
    with pytest.raises(ez.InvalidInputError, match=message):
        ez.L0RegressorCV(scoring=scoring, cv=2).fit(X, Y)


def test_a_score_that_needs_other_labels():
    with pytest.raises(ez.InvalidInputError, match="scoring='f1' asks which class is the positive one: pos_label='yes'"):
        ez.L0ClassifierCV(scoring="f1", cv=2).fit(X, np.where(LABELS > 0, "yes", "no"))


def test_unfitted():
    for call in (ez.L0Classifier().predict, ez.L0Classifier().predict_proba, ez.L0Regressor().predict):
        with pytest.raises(ValueError, match="not fitted"):
            call(X)
    with pytest.raises(ValueError, match="not fitted"):
        ez.L0Classifier().sparsify()
