"""Mistakes of a first hour in Python: each gets a sentence that names the argument and says what would work."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from support.problems import random_problem, target

import ellzero as ez
from ellzero.base.validation import as_threads
from ellzero.estimators.targets import ordered_labels

X, Y, W = random_problem(4, n=40, p=5)
LABELS = target(Y, "logistic")
MODEL = ez.fit_path(X, LABELS, max_support=3)[-1]

KINDS = "an array, a data frame, a sparse matrix or a store"
MISTAKES = {
    "no X": (lambda: ez.fit_path(None, LABELS), f"X must have two dimensions: {KINDS}, got None."),
    "a dict": (lambda: ez.fit_path({"a": [1]}, LABELS), f"X must have two dimensions: {KINDS}, got {{'a': [1]}}."),
    "X and y swapped": (
        lambda: ez.fit_path(LABELS, X),
        "X must have two dimensions, got 1; X.reshape(-1, 1) makes",
    ),
    "numbers as labels": (
        lambda: ez.fit_path(X, Y),
        "y must have exactly two classes for loss='logistic', got 40; loss='squared_error' is for numbers",
    ),
    "no path to load": (lambda: ez.load(3), "path must be the path of a file or folder, got 3."),
    "no path to save": (lambda: MODEL.save(None), "path must be the path of a file or folder, got None."),
    "no path of a store": (lambda: ez.open_columns(3.5), "path must be the path of a file or folder, got 3.5."),
    "an array to convert": (lambda: ez.convert(None, "x"), "source must be the path of a file or folder, got None."),
    "no place for a store": (lambda: ez.convert("x.csv", None), "out must be the path of a file or folder, got None."),
    "an unknown type": (lambda: ez.convert("x.csv", "y", dtype="int4"), "dtype must be one of "),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_sentence(mistake):
    call, expected = MISTAKES[mistake]
    with pytest.raises(ez.InvalidInputError) as caught:
        call()
    assert str(caught.value).startswith(expected)


def test_threads_are_never_more_than_cores():
    cores = as_threads(10**6)
    assert [as_threads(each) for each in (None, 1, -1, -cores, -cores - 5)] == [1, 1, cores, 1, 1]


def test_a_target_of_many_numbers_is_none_of_classes():
    numbers = np.arange(1000) % 214
    for y, count in ((numbers, "214"), (np.linspace(0.0, 1.0, 50), "50")):
        with pytest.raises(ez.InvalidInputError, match=f"y has {count} different numbers"):
            ordered_labels(y)
    assert len(ordered_labels(numbers.astype(str))) == 214


def test_a_word_that_is_nearly_an_argument():
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'lamda_0'; did you mean 'lambda_0'\?"):
        ez.fit_path(X, LABELS, lamda_0=0.1)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'zzz'$"):
        ez.solve(X, LABELS, zzz=1)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix, lambda values: pd.DataFrame(values, columns=list("abcde"))])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_predictions_of_gaps_are_refused(storage, value):
    """A model called every row with a gap the first class."""
    model = ez.fit_path(storage(X), LABELS, max_support=3)[-1]
    used, unused = int(model.support[0]), next(j for j in range(5) if j not in model.support)
    gap = X.copy()
    gap[3, used] = value
    for predict in (model.predict, model.decision_function, model.predict_proba):
        with pytest.raises(ez.InvalidInputError, match=r"X contains NaN or infinity \(column '(x\d|[a-e])'\); fill"):
            predict(storage(gap))
    gap = X.copy()
    gap[3, unused] = value
    np.testing.assert_array_equal(model.predict(storage(gap)), model.predict(storage(X)))


def test_sums_beyond_all_numbers_are_no_gaps():
    model = ez.fit_path(X, LABELS, max_support=3)[-1]
    far = np.zeros((2, 5))
    far[:, model.support] = 1e308 * np.sign(model.values) * np.array([[1.0], [-1.0]])
    with np.errstate(over="ignore"):
        assert model.predict(far).tolist() == [model.classes[1], model.classes[0]]


def test_progress_without_a_standard_error(monkeypatch):
    """Programs without a console have no standard error."""
    monkeypatch.setattr("sys.stderr", None)
    assert len(ez.fit_path(X, LABELS, max_support=2, progress=True))
    assert ez.solve(X, LABELS, k=1, lambda_2=0.1, progress=True).status == "optimal"
