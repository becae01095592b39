"""Estimators on an X that is not in memory: the same models, and predictions that read the support's columns alone."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from support.stores import KINDS, matrix_of, write_store

import ellzero as ez
from ellzero.estimators.stored_input import StoredRows
from ellzero.report.page import write_report

N, P = 100, 50
NAMES = [f"gene {j}" for j in range(P)]


def dense_of(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)


def response(X, seed=1):
    dense = dense_of(X)
    score = 1.5 * dense[:, 4] - 2.0 * dense[:, 17] + dense[:, 40]
    return score - score.mean() + 0.5 * np.random.default_rng(seed).normal(size=N)


@pytest.fixture(scope="module", params=KINDS)
def data(request, tmp_path_factory):
    """Return the data in memory, and as a store."""
    X = matrix_of(request.param, n=N, p=P)
    folder = write_store(tmp_path_factory.mktemp("store") / "X.columns", X, response(X), names=NAMES, target="y")
    return X, ez.open_columns(folder)


@pytest.fixture
def plain(tmp_path):
    """Return a store without names, and its matrix."""
    X = matrix_of("float64", n=N, p=P)
    return X, ez.open_columns(write_store(tmp_path / "X.columns", X))


def same_model(here, there):
    np.testing.assert_array_equal(there.support_, here.support_)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-6)  # objectives agree to twice the digits
    np.testing.assert_allclose(there.intercept_, here.intercept_, rtol=1e-6)
    np.testing.assert_allclose(there.objective_, here.objective_, rtol=1e-12)


ESTIMATORS = {
    "classifier": ez.L0Classifier(),
    "cd": ez.L0Classifier(lambda_0=0.02, algorithm="cd"),
    "hinge with probabilities": ez.L0Classifier("squared_hinge", k=3, probability=True),
    "exact": ez.L0Classifier(k=2, lambda_2=0.01, algorithm="exact"),
    "regressor": ez.L0Regressor(k=4),
    "classifier by cross-validation": ez.L0ClassifierCV(n_shrinkage=2, cv=2, n_jobs=2, max_support=5),
    "regressor by cross-validation": ez.L0RegressorCV(select="size", max_support=5, cv=2, penalty="l0"),
}


@pytest.mark.filterwarnings("ignore:the chosen model has max_support")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_same_models_and_predictions(data, name):
    from sklearn.base import clone, is_classifier

    X, store = data
    model = ESTIMATORS[name]
    y = response(X)
    y = np.where(y > 0.0, "yes", "no") if is_classifier(model) else y
    weight = np.random.default_rng(3).integers(1, 4, N).astype(float)
    here = clone(model).fit(X, y, sample_weight=weight)
    there = clone(model).fit(store, y, sample_weight=weight)
    same_model(here, there)
    assert there.n_features_in_ == P
    assert there.feature_names_in_.tolist() == NAMES
    assert not hasattr(here, "feature_names_in_")
    read = store.bytes_read
    np.testing.assert_allclose(there._decision_values(store), here._decision_values(X), rtol=1e-6, atol=1e-6)
    if is_classifier(model):
        np.testing.assert_array_equal(there.predict(store), here.predict(X))
    assert there.score(store, y) == pytest.approx(here.score(X, y))
    if hasattr(there, "predict_proba"):
        np.testing.assert_allclose(there.predict_proba(store), here.predict_proba(X), rtol=1e-6)
    # Neighbouring columns are read along (a gap of 64 KB), which at this size is everything; a pass would count.
    assert store.bytes_read - read <= 5 * store.nbytes
    if name == "exact":
        assert ez.verify(there.certificate_, X, y).valid


def test_predictions_read_the_columns_of_the_support(tmp_path):
    n, p = 3000, 400
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(n, p)))
    np.save(tmp_path / "X.npy", X)
    store = ez.open_columns(tmp_path / "X.npy")
    model = ez.L0Regressor(k=2, algorithm="cd").fit(X, X[:, 5] - X[:, 333])
    assert model.support_.tolist() == [5, 333]
    passes = store.passes
    np.testing.assert_allclose(model.predict(store), model.predict(X), rtol=1e-12)
    found = ez.fit_path(X, X[:, 5] - X[:, 333], loss="squared_error", max_support=2, algorithm="cd").at_support(2)
    np.testing.assert_allclose(found.predict(store), found.predict(X), rtol=1e-12)
    assert store.passes == passes
    assert store.bytes_read <= 4 * 8 * n


def test_several_classes(data):
    X, store = data
    y = np.digitize(response(X), [-1.0, 1.0])
    for settings in (
        {"k": 2, "multi_class": "ovr"},
        {"k": 3, "multi_class": "ovr_shared"},
        {"k": 3, "multi_class": "multinomial"},
    ):
        here, there = (ez.L0Classifier(**settings).fit(form, y) for form in (X, store))
        same_model(here, there)
        np.testing.assert_array_equal(here.predict(X), there.predict(store))


def test_one_pass_for_all_classes(plain):
    X, store = plain
    y = np.digitize(response(X), [-1.0, 1.0])
    ez.L0Classifier(k=3, algorithm="cd").fit(store, y > 0)
    of_two = store.passes
    for multi_class in ("ovr_shared", "multinomial"):
        before = store.passes
        ez.L0Classifier(k=3, multi_class=multi_class, algorithm="cd").fit(store, y)
        assert store.passes - before <= 1.5 * of_two


def looks_at_rows(estimator, X, y):
    """A scorer that reads X."""
    rows = np.asarray(X)
    assert rows.shape == X.shape == (len(y), P)
    return float(np.mean(estimator.predict(X) == y)) + 1e-9 * float(rows[0, 1])


@pytest.mark.filterwarnings("ignore:the chosen model has max_support")
@pytest.mark.parametrize("scoring", ["f1", "neg_log_loss", looks_at_rows], ids=["f1", "neg_log_loss", "own"])
def test_scorers(plain, scoring):
    X, store = plain
    y = (response(X) > 0.0).astype(int)
    settings = {"cv": 3, "penalty": "l0", "max_support": 4, "scoring": scoring, "select": "size"}
    here, there = (ez.L0ClassifierCV(**settings).fit(form, y) for form in (X, store))
    np.testing.assert_allclose(there.cv_results_.chosen.scores, here.cv_results_.chosen.scores, rtol=1e-9)
    same_model(here, there)


def test_rows_for_scorers(data):
    X, store = data
    rows = np.array([3, 1, 90])
    some = StoredRows(ez.design.as_design(store), rows)
    assert some.shape == np.shape(some) == (3, P)
    assert len(some) == 3
    np.testing.assert_array_equal(np.asarray(some), dense_of(X)[rows])
    assert np.asarray(some, dtype=np.float32).dtype == np.float32


def test_stability(data):
    X, store = data
    y = response(X) > 0.0
    here, there = (ez.stability_selection(form, y, k=3, n_subsamples=4, n_jobs=2) for form in (X, store))
    np.testing.assert_array_equal(here.frequency, there.frequency)
    assert there.names == NAMES


def test_pickles_refer_to_the_file(plain, tmp_path):
    X, store = plain
    y = response(X) > 0.0
    model = ez.L0Classifier(k=2).fit(store, y)
    results = [model, model.path_, ez.fit_path(store, y, max_support=3), ez.solve(store, y, k=1, lambda_2=0.1).certificate]
    for result in results:
        assert len(pickle.dumps(result)) < store.nbytes / 2
    path = pickle.loads(pickle.dumps(results[2]))
    np.testing.assert_array_equal(path.coef.toarray(), results[2].coef.toarray())
    assert path.problem.design.shape == (N, P)
    assert ez.verify(pickle.loads(pickle.dumps(results[3])), X, y).valid
    text, fitted = pickle.dumps(results[2]), pickle.dumps(model)
    store.path.rename(tmp_path / "elsewhere")
    np.testing.assert_array_equal(pickle.loads(fitted).predict(X), model.predict(X))  # a model is used where the data is not
    with pytest.raises(ez.InvalidInputError, match=r"X\.columns, which this object refers to, is not there"):
        pickle.loads(text).at_support(5)


@pytest.mark.parametrize("kind", ["estimator", "path"])
def test_not_a_number(tmp_path, kind):
    X = matrix_of("float64", n=N, p=P)
    y = response(X)
    model = ez.L0Regressor(k=2).fit(X, y)
    X[7, 17] = np.nan
    store = ez.open_columns(write_store(tmp_path / "X.columns", X))
    with pytest.raises(ez.InvalidInputError, match=r"X contains NaN or infinity \(column 17\)"):
        ez.L0Regressor(k=2).fit(store, y) if kind == "estimator" else ez.fit_path(store, y, loss="squared_error")
    with pytest.raises(ez.InvalidInputError, match="NaN or infinity in a column that the model uses"):
        model.predict(store)


def test_what_does_not_fit(plain, tmp_path):
    X, store = plain
    y = response(X)
    with pytest.raises(ez.InvalidInputError, match=r"y must have shape \(100,\) like the rows of X, got \(99,\)"):
        ez.L0Regressor(k=1).fit(store, y[:-1])
    with pytest.raises(ValueError, match="requires y"):
        ez.L0Regressor(k=1).fit(store, None)
    with pytest.raises(ValueError, match="NaN"):
        ez.L0Regressor(k=1).fit(store, np.where(np.arange(N) == 3, np.nan, y))
    with pytest.raises(ez.InvalidInputError, match="sample_weight"):
        ez.L0Regressor(k=1).fit(store, y, sample_weight=np.ones(3))
    model = ez.L0Regressor(k=1).fit(store, y)
    narrow = ez.open_columns(write_store(tmp_path / "narrow.columns", X[:, :-1]))
    with pytest.raises(ez.InvalidInputError, match="X has 49 features, but L0Regressor is expecting 50 features as input"):
        model.predict(narrow)
    named = ez.open_columns(write_store(tmp_path / "named.columns", X, names=NAMES))
    other = ez.open_columns(write_store(tmp_path / "other.columns", X, names=NAMES[::-1]))
    model.predict(named)  # without names at the fit, columns are found by number
    with pytest.raises(ez.InvalidInputError, match="X must have the columns that the model was fitted on"):
        ez.L0Regressor(k=1).fit(named, y).predict(other)
    again = ez.L0Regressor(k=1).fit(named, y).fit(store, y)
    assert not hasattr(again, "feature_names_in_")


@pytest.mark.filterwarnings("ignore:the chosen model has max_support")
def test_report(data, tmp_path):
    X, store = data
    regression = store.storage == "sparse"
    y = response(X) if regression else response(X) > 0.0
    settings = {"regression": regression, "max_support": 4, "cv": 2, "time_limit": 0.0, "algorithm": "cd", "penalty": "l0"}
    here, there = (write_report(tmp_path / "page.html", form, y, **settings) for form in (X, store))
    assert there["data"]["named"]
    for summary in (here, there):
        del summary["data"]["named"]
    assert here["data"] == there["data"]
    assert here["selection"] == there["selection"]
    assert [model["k"] for model in here["models"]] == [model["k"] for model in there["models"]]
