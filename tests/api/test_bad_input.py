"""Bad input gets one sentence that names the argument; odd but valid input works; the caller's arrays stay as they are."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from support.problems import LOSSES, random_problem, store, target

import ellzero as ez

X, Y, W = random_problem(0, n=30, p=6)
LABELS = target(Y, "logistic")


def with_entry(value):
    bad = X.copy()
    bad[3, 2] = value
    return bad


BAD = {
    "nan": ({"X": with_entry(np.nan)}, "X contains NaN or infinity"),
    "inf": ({"X": with_entry(np.inf)}, "X contains NaN or infinity"),
    "minus inf": ({"X": with_entry(-np.inf)}, "X contains NaN or infinity"),
    "sparse nan": ({"X": sparse.csr_matrix(with_entry(np.nan))}, "X contains NaN or infinity"),
    "huge": ({"X": with_entry(1e200)}, "X contains values too large"),
    "one dimension": ({"X": X[:, 0]}, "X must have two dimensions"),
    "three dimensions": ({"X": X[None]}, "X must have two dimensions"),
    "ragged": ({"X": [[1.0, 2.0], [3.0]]}, "X must"),
    "strings": ({"X": X.astype(object).astype(str)}, "X must hold real numbers"),
    "objects": ({"X": np.where(X > 0, "a", X.astype(object))}, "X must hold real numbers, got 'a' in column "),
    "named objects": (
        {"X": pd.DataFrame({"u": range(30), "v": ["w"] * 30})},
        "X must hold real numbers, got 'w' in column 'v'",
    ),
    "named nan": ({"X": pd.DataFrame({"u": range(30), "v": [np.nan] * 30})}, "X contains NaN or infinity (column 'v')"),
    "complex": ({"X": X.astype(complex)}, "X must hold real numbers"),
    "dates": ({"X": np.full((30, 2), np.datetime64("2020-01-01"))}, "X must hold real numbers"),
    "masked": ({"X": np.ma.masked_less(X, 0.0)}, "X has masked entries"),
    "no columns": ({"X": X[:, :0]}, "X has no columns"),
    "no rows": ({"X": X[:0], "y": LABELS[:0]}, "X has no rows"),
    "bad indices": (
        {"X": sparse.csc_matrix((np.ones(1), np.array([0]), np.array([0, 1, 1])), shape=(30, 2)), "y": LABELS[:29]},
        "y must have shape",
    ),
    "frame of strings": ({"X": pd.DataFrame({"a": ["u"] * 30, "b": range(30)})}, "X must hold real numbers"),
    "one class": ({"y": np.ones(30)}, "y must have exactly two classes"),
    "three classes": ({"y": np.arange(30) % 3}, "y must have exactly two classes"),
    "one class with weight": ({"sample_weight": (LABELS > 0).astype(float)}, "y must have exactly two classes"),
    "y too short": ({"y": LABELS[:-1]}, "y must have shape"),
    "y nan": ({"y": np.where(np.arange(30) == 0, np.nan, LABELS)}, "y contains NaN"),
    "y ragged": ({"y": [[1], [2, 3]] * 15}, "y must have one label for each of the 30 rows of X"),
    "y ragged in regression": ({"y": [[1], [2, 3]] * 15, "loss": "squared_error"}, "y must hold real numbers"),
    "y masked": ({"y": np.ma.masked_array(LABELS, np.arange(30) < 2)}, "y has masked entries; fill or drop them first"),
    "y missing": ({"y": np.array([None, "a"] * 15, dtype=object)}, "y must hold labels of one type, and no row may lack one"),
    "weights masked": ({"sample_weight": np.ma.masked_less(np.arange(30), 3)}, "sample_weight has masked entries"),
    "intercept": ({"fit_intercept": "no"}, "fit_intercept must be True or False, got 'no'"),
    "standardize": ({"standardize": None}, "standardize must be True or False, got None"),
    "y mixed": ({"y": np.array([1, "a"] * 15, dtype=object)}, "y must hold labels of one type"),
    "y strings in regression": ({"y": ["a"] * 30, "loss": "squared_error"}, "y must hold real numbers"),
    "y inf in regression": ({"y": np.full(30, np.inf), "loss": "squared_error"}, "y contains NaN or infinity"),
    "loss": ({"loss": "exponential"}, "loss must be one of"),
    "loss type": ({"loss": None}, "loss must be one of"),
    "algorithm": ({"algorithm": "magic"}, "algorithm must be one of"),
    "swaps": ({"algorithm": "local_search", "swaps": "all"}, "swaps must be one of"),
    "q": ({"algorithm": "local_search", "swaps": "q_best", "q": 0}, "q must be an integer of at least 1"),
    "q for nothing": ({"algorithm": "local_search", "q": 10}, "q is the number of candidates of swaps='q_best'"),
    "improvement": ({"algorithm": "local_search", "improvement": "any"}, "improvement must be one of"),
    "swaps of cd": ({"swaps": "exhaustive"}, "swaps and q belong to algorithm='local_search'"),
    "improvement of ranked": ({"algorithm": "local_search", "improvement": "first"}, "improvement belongs to swaps='q_best'"),
    "huge response": ({"y": np.full(30, 1e200), "loss": "squared_error"}, "y contains values too large"),
    "negative lambda_0": ({"lambda_0": -0.1}, "lambda_0 must be finite and not negative"),
    "nan lambda_0": ({"lambda_0": [np.nan]}, "lambda_0 must be finite"),
    "negative lambda_1": ({"lambda_1": -1}, "lambda_1 must be finite and not negative"),
    "inf lambda_2": ({"lambda_2": np.inf}, "lambda_2 must be finite and not negative"),
    "text lambda_2": ({"lambda_2": "x"}, "lambda_2 must be a number"),
    "empty grid": ({"lambda_0": []}, "lambda_0 must be a number or a non-empty"),
    "unsorted grid": ({"lambda_0": [0.1, 0.2]}, "lambda_0 must be strictly decreasing"),
    "repeated grid": ({"lambda_0": [0.1, 0.1]}, "lambda_0 must be strictly decreasing"),
    "two-dimensional grid": ({"lambda_0": [[0.1]]}, "lambda_0 must be a number or a non-empty"),
    "n_lambda": ({"n_lambda": 0}, "n_lambda must be an integer of at least 1"),
    "n_lambda float": ({"n_lambda": 1.5}, "n_lambda must be an integer"),
    "ratio": ({"lambda_min_ratio": 0.0}, "lambda_min_ratio must be above 0"),
    "max_support": ({"max_support": -1}, "max_support must be an integer of at least 0"),
    "tol": ({"tol": 0.0}, "tol must be between 0 and 1"),
    "progress": ({"progress": 3}, "progress must be True, False or a function, got 3"),
    "progress array": ({"progress": np.array([1, 2])}, "progress must be True, False or a function"),
    "progress text": ({"progress": "no"}, "progress must be True, False or a function, got 'no'"),
    "n_jobs": ({"n_jobs": 0}, "n_jobs must be None or a nonzero integer"),
    "lower above upper": ({"lower": -1.0, "upper": -2.0}, "lower must not exceed upper"),
    "positive lower": ({"lower": 0.5}, "lower must be at most 0"),
    "negative upper": ({"upper": -0.5}, "upper must be at least 0"),
    "nan bound": ({"lower": np.nan}, "lower contains NaN"),
    "bound shape": ({"upper": np.ones(5)}, "upper must be a number or have shape"),
    "bound text": ({"upper": "x"}, "upper must be a number"),
    "negative weight": ({"sample_weight": np.full(30, -1.0)}, "sample_weight must not be negative"),
    "zero weights": ({"sample_weight": np.zeros(30)}, "sample_weight must not be zero everywhere"),
    "weight shape": ({"sample_weight": np.ones(29)}, "sample_weight must have shape"),
    "nan weight": ({"sample_weight": np.full(30, np.nan)}, "sample_weight contains NaN"),
    "unpenalized index": ({"unpenalized": [6]}, "unpenalized has indices outside"),
    "unpenalized mask": ({"unpenalized": [True]}, "unpenalized as a mask"),
    "unpenalized name": ({"unpenalized": ["a"]}, "unpenalized must be"),
    "unpenalized twice": (
        {"X": pd.DataFrame(X, columns=list("aabcde")), "unpenalized": ["a"]},
        "unpenalized names 'a', which several columns of X are called; use indices",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_one_sentence_names_the_argument(case):
    arguments, message = BAD[case]
    settings = {"X": X, "y": LABELS, **arguments}
    with pytest.raises(ez.InvalidInputError) as caught:
        ez.fit_path(settings.pop("X"), settings.pop("y"), **settings)
    text = str(caught.value)
    assert text.startswith(message)
    assert text.endswith(".")
    assert "\n" not in text


def test_malformed_sparse_indices():
    matrix = sparse.csc_matrix(X)
    matrix.indices[0] = 99
    with pytest.raises(ez.InvalidInputError, match="X has row indices outside"):
        ez.fit_path(matrix, LABELS)
    matrix = sparse.csc_matrix(X)
    matrix.indptr[2] = matrix.indptr[1] - 1
    with pytest.raises(ez.InvalidInputError, match="malformed index pointer"):
        ez.fit_path(matrix, LABELS)


GOOD = {
    "list": X.tolist(),
    "read-only": store(X, "f64"),
    "row-major": np.ascontiguousarray(X),
    "non-contiguous": np.repeat(X, 2, axis=0)[::2],
    "frame": pd.DataFrame(X, columns=list("abcdef")),
    "csr": sparse.csr_matrix(X),
    "coo": sparse.coo_matrix(X),
    "lil": sparse.lil_matrix(X),
    "csr_array": sparse.csr_array(X),
    "int64 indices": store(X, "csc_int64"),
    "numeric objects": X.astype(object),
    "unmasked": np.ma.masked_invalid(X),
}
GOOD["read-only"].flags.writeable = False


@pytest.mark.parametrize("case", GOOD)
def test_odd_input_works_alike(case):
    path = ez.fit_path(GOOD[case], LABELS, lambda_0=[0.1, 0.02])
    np.testing.assert_allclose(path.objective, ez.fit_path(X, LABELS, lambda_0=[0.1, 0.02]).objective, rtol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("storage", ["f64", "f32", "csc64"])
def test_nothing_is_written(loss, storage):
    stored, y, w = store(X, storage), target(Y, loss).astype(float), W.copy()
    lower, grid, mask = np.full(6, -1.0), np.array([0.1, 0.01]), np.array([True] + [False] * 5)
    parts = [stored] if not sparse.issparse(stored) else [stored.data, stored.indices, stored.indptr]
    watched = [*parts, y, w, lower, grid, mask]
    before = [part.copy() for part in watched]
    for part in watched:
        part.flags.writeable = False
    ez.fit_path(stored, y, loss=loss, lambda_0=grid, lower=lower, unpenalized=mask, sample_weight=w, standardize=True)
    for part, copy in zip(watched, before, strict=True):
        np.testing.assert_array_equal(part, copy)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("storage", ["f64", "csc64"])
@pytest.mark.parametrize("standardize", [False, True])
def test_degenerate_columns(loss, storage, standardize):
    """Constant, zero, duplicated and opposite columns, and columns of wildly different scale."""
    y = target(Y, loss)
    odd = np.column_stack(
        [np.ones(30), np.zeros(30), X[:, 0], X[:, 0], -X[:, 0], 1e8 * X[:, 1], 1e-8 * X[:, 2], np.full(30, 7e7)]
    )
    path = ez.fit_path(store(odd, storage), y, loss=loss, n_lambda=20, lambda_2=1e-6, standardize=standardize)
    assert np.isfinite(path.objective).all()
    assert (np.diff(path.objective) <= 1e-12).all()
    used = np.unique(path.coef.indices)
    assert not {0, 1, 7} & set(used.tolist())
    assert max(len({2, 3, 4} & set(model.support.tolist())) for model in path) <= 1


@pytest.mark.parametrize("loss", LOSSES)
def test_only_useless_columns(loss):
    path = ez.fit_path(np.ones((30, 3)), target(Y, loss), loss=loss)
    assert path.support_size.tolist() == [0]
    assert path.lambda_0.tolist() == [0.0]
    with pytest.raises(ez.InvalidInputError, match="X has no column that improves"):
        ez.lambda_grid(np.ones((30, 3)), target(Y, loss), loss=loss)


def test_single_row_regression():
    path = ez.fit_path([[1.0, 2.0]], [3.0], loss="squared_error")
    assert path.objective[-1] < 1e-12
    no_intercept = ez.fit_path([[1.0, 2.0]], [3.0], loss="squared_error", fit_intercept=False)
    assert no_intercept.objective[-1] < no_intercept.objective[0] or len(no_intercept) == 1


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge"])
def test_separable_data_without_shrinkage_ends(loss):
    """No minimiser exists for the logistic loss here: the fit must stop all the same."""
    x = np.linspace(-1, 1, 20)[:, None]
    path = ez.fit_path(x, np.sign(x[:, 0]), loss=loss, lambda_0=[0.1, 0.0])
    assert path.objective[0] <= 0.1 + 1e-5
    assert path.objective[1] <= 1e-5


@pytest.mark.parametrize("labels", [["no", "yes"], [0, 1], [False, True], [-1.0, 1.0], [3, 7]])
def test_labels_come_back(labels):
    y = np.array(labels)[(LABELS > 0).astype(int)]
    model = ez.fit_path(X, y, lambda_0=0.01)[0]
    predicted = model.predict(X)
    assert set(predicted.tolist()) <= set(labels)
    assert (predicted == y).mean() > 0.7
    np.testing.assert_array_equal(model.classes, np.array(labels))
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(predicted, model.classes[probabilities.argmax(axis=1)])


def test_unpenalized_by_name_and_frame_names():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    path = ez.fit_path(frame, LABELS, unpenalized=["b"], lambda_0=0.05)
    assert 1 in path[0].support
    assert "b" in repr(path[0])
    with pytest.raises(ez.InvalidInputError, match="not a column of X: 'z'"):
        ez.fit_path(frame, LABELS, unpenalized=["z"])


BAD_SIZES = {
    "none": ([], {}, "sizes must hold at least one"),
    "negative": ([3, -1], {}, "sizes must be an integer of at least 0"),
    "fraction": ([1.5], {}, "sizes must be an integer of at least 0"),
    "text": ("3", {}, "sizes must be an integer of at least 0"),
    "not a list": (None, {}, "sizes must hold integers"),
    "huge": ([10**30], {}, "sizes must be at most"),
    "negative norm": ([1], {"max_norm": -1.0}, "max_norm must be finite and not negative"),
    "norm as text": ([1], {"max_norm": "x"}, "max_norm must be a number"),
    "bounds above the norm": (
        [1],
        {"max_norm": 0.1, "unpenalized": [0], "lower": [1.0] + [-9.0] * 5},
        "max_norm = 0.1 leaves no model",
    ),
    "algorithm": ([1], {"algorithm": "l0"}, "algorithm must be one of"),
    "loss": ([1], {"loss": "l0"}, "loss must be one of"),
}


@pytest.mark.parametrize("case", BAD_SIZES)
def test_bad_sizes(case):
    sizes, settings, message = BAD_SIZES[case]
    with pytest.raises(ez.InvalidInputError, match=message) as caught:
        ez.fit_sizes(X, LABELS, sizes, **settings)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_a_norm_of_zero_leaves_the_intercept():
    models = ez.fit_sizes(X, LABELS, [0, 2], max_norm=0.0)
    assert np.abs(models.coef.toarray()).max(initial=0.0) < 1e-12
