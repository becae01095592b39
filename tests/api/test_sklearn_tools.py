"""The estimators among scikit-learn's tools: pipelines, searches, metadata, frames, copies."""

import copy
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectFromModel
from sklearn.metrics import accuracy_score, get_scorer, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from support.problems import random_problem, target

import ellzero as ez

X, Y, W = random_problem(7, n=90, p=10)
LABELS = target(Y, "logistic")
NAMES = [f"column {j}" for j in range(10)]
FRAME = pd.DataFrame(X, columns=NAMES)
ALL = [
    (ez.L0Classifier(k=3), LABELS),
    (ez.L0ClassifierCV(n_shrinkage=2, cv=3), LABELS),
    (ez.L0Regressor(k=3), Y),
    (ez.L0RegressorCV(n_shrinkage=2, cv=3), Y),
]
each_estimator = pytest.mark.parametrize(("estimator", "y"), ALL, ids=lambda part: type(part).__name__)


def test_a_scaler_before_changes_nothing():
    """Standardisation is inside: what is scaled before gets the same model."""
    plain = ez.L0Classifier(k=3).fit(X, LABELS)
    piped = make_pipeline(StandardScaler(), ez.L0Classifier(k=3)).fit(X, LABELS)
    np.testing.assert_allclose(piped.decision_function(X), plain.decision_function(X), rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(piped[-1].support_, plain.support_)


def test_column_transformer_and_names():
    frame = FRAME.assign(town=np.where(LABELS > 0, "Bonn", "Ulm"))
    encode = ColumnTransformer([("towns", OneHotEncoder(sparse_output=False), ["town"]), ("rest", "passthrough", NAMES)])
    model = make_pipeline(encode.set_output(transform="pandas"), ez.L0Classifier(k=1)).fit(frame, LABELS)
    chosen = model[-1].feature_names_in_[model[-1].support_]
    assert chosen.tolist() in (["towns__town_Bonn"], ["towns__town_Ulm"])
    assert model.score(frame, LABELS) == 1.0


def test_grid_search_over_sizes():
    search = GridSearchCV(ez.L0Classifier(), {"k": [0, 1, 2, 4], "lambda_2": [1e-3, 1e-1]}, cv=3).fit(X, LABELS)
    assert search.best_params_["k"] > 0
    for k, score in zip(search.cv_results_["param_k"], search.cv_results_["mean_test_score"], strict=True):
        assert (score <= 0.6) == (k == 0)
    assert len(search.best_estimator_.support_) <= search.best_params_["k"]
    plain = cross_val_score(ez.L0Classifier(**search.best_params_), X, LABELS, cv=3)
    assert plain.mean() == pytest.approx(search.best_score_)


def test_cross_val_predict_probabilities():
    proba = cross_val_predict(ez.L0Classifier(k=2), X, LABELS, method="predict_proba", cv=3)
    assert proba.shape == (90, 2)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_feature_selection_by_coefficients():
    selector = SelectFromModel(ez.L0Classifier(k=3)).fit(FRAME, LABELS)
    assert selector.get_support().sum() == 3
    assert selector.get_feature_names_out().tolist() == [NAMES[j] for j in selector.estimator_.support_]


@each_estimator
def test_clones_are_unfitted_and_alike(estimator, y):
    fitted = clone(estimator).fit(X, y)
    again = clone(fitted)
    assert not hasattr(again, "coef_")
    assert again.get_params() == fitted.get_params() == estimator.get_params()
    np.testing.assert_array_equal(again.fit(X, y).coef_, fitted.coef_)


@each_estimator
def test_copies_predict_the_same(estimator, y, tmp_path):
    fitted = clone(estimator).set_params(algorithm="exact").fit(FRAME, y)
    joblib.dump(fitted, tmp_path / "model.joblib")
    for twin in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted), joblib.load(tmp_path / "model.joblib")):
        np.testing.assert_array_equal(twin.predict(FRAME), fitted.predict(FRAME))
        assert repr(twin.path_) == repr(fitted.path_)
        assert twin.certificate_.claim == fitted.certificate_.claim
        if hasattr(fitted, "cv_results_"):
            assert repr(twin.cv_results_) == repr(fitted.cv_results_)


@each_estimator
def test_parameters_are_kept_as_given(estimator, y):
    grid = np.array([0.1, 0.01])
    estimator = clone(estimator).set_params(lower=[-5.0] * 10, unpenalized=(1,))
    if hasattr(estimator, "cv"):
        estimator.set_params(lambda_0=grid)
    before = dict(estimator.get_params())
    estimator.fit(X, y)
    assert all(value is before[name] for name, value in estimator.get_params().items())


def test_set_output_is_for_transformers_only():
    model = make_pipeline(StandardScaler(), ez.L0Classifier(k=2)).set_output(transform="pandas").fit(FRAME, LABELS)
    assert model[-1].feature_names_in_.tolist() == NAMES
    assert isinstance(model.predict(FRAME), np.ndarray)


@each_estimator
def test_frames(estimator, y):
    plain = clone(estimator).fit(X, y)
    framed = clone(estimator).fit(FRAME, pd.Series(y, index=range(1000, 1090)))
    np.testing.assert_array_equal(framed.coef_, plain.coef_)
    assert framed.feature_names_in_.tolist() == NAMES
    assert not hasattr(plain, "feature_names_in_")
    np.testing.assert_array_equal(framed.predict(FRAME), plain.predict(X))
    with pytest.raises(ValueError, match="must be in the same order"):
        framed.predict(FRAME[NAMES[::-1]])
    with pytest.raises(ValueError, match="unseen at fit time"):
        framed.predict(FRAME.rename(columns={"column 3": "kolumne 3"}))
    with pytest.raises(ValueError, match="missing"):
        framed.predict(FRAME[NAMES[:-1]])
    with pytest.raises(ValueError, match="10 features"):
        plain.predict(X[:, :-1])
    # Fitted anew on an array, it forgets the names.
    assert not hasattr(framed.fit(X, y), "feature_names_in_")


@each_estimator
def test_unpenalized_features_by_name(estimator, y):
    named = clone(estimator).set_params(unpenalized=["column 9", "column 5"]).fit(FRAME, y)
    numbered = clone(estimator).set_params(unpenalized=[5, 9]).fit(FRAME, y)
    masked = clone(estimator).set_params(unpenalized=np.isin(np.arange(10), [5, 9])).fit(X, y)
    assert {5, 9} <= set(named.support_)
    np.testing.assert_array_equal(named.coef_, numbered.coef_)
    np.testing.assert_array_equal(named.coef_, masked.coef_)
    if hasattr(estimator, "k"):
        assert len(named.support_) == 5  # they are not counted
    with pytest.raises(ez.InvalidInputError, match="unpenalized has a name that is not a column of X: 'column 10'"):
        clone(estimator).set_params(unpenalized=["column 10"]).fit(FRAME, y)


def test_duplicate_and_missing_values_in_frames():
    with pytest.raises(ValueError, match="NaN"):
        ez.L0Classifier().fit(FRAME.where(FRAME > -1.0), LABELS)
    with pytest.raises(ValueError, match="X must hold real numbers, got 'Bonn' in column 'town'"):
        ez.L0Classifier().fit(FRAME.assign(town="Bonn"), LABELS)


@each_estimator
@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array, sparse.csr_array])
def test_sparse_input(estimator, y, form):
    dense, stored = clone(estimator).fit(X, y), clone(estimator).fit(form(X), y)
    np.testing.assert_allclose(stored.coef_, dense.coef_, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(stored.predict(form(X)), dense.predict(X), atol=1e-8)
    np.testing.assert_allclose(dense.predict(form(X)), dense.predict(X), atol=1e-8)


@each_estimator
def test_float32_and_integers(estimator, y):
    """float32 holds the data of this problem exactly; integers are numbers, too."""
    double, single = clone(estimator).fit(X, y), clone(estimator).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.coef_, double.coef_, rtol=1e-6, atol=1e-9)
    whole = np.round(4.0 * X)
    expected = clone(estimator).fit(whole, y)
    for dtype in (np.int8, np.int16, np.int64, np.float16):
        found = clone(estimator).fit(whole.astype(dtype), y)
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found.predict(whole.astype(dtype)), expected.predict(whole), atol=1e-6)


@each_estimator
def test_read_only_and_strided_arrays(estimator, y):
    frozen = np.repeat(X, 2, axis=1)[:, ::2]
    frozen.flags.writeable = False
    np.testing.assert_array_equal(clone(estimator).fit(frozen, y).coef_, clone(estimator).fit(X, y).coef_)


@each_estimator
def test_fit_leaves_the_callers_data_alone(estimator, y):
    data, weight, labels = np.asfortranarray(X), W.copy(), np.array(y)
    clone(estimator).fit(data, labels, sample_weight=weight)
    np.testing.assert_array_equal(data, X)
    np.testing.assert_array_equal(weight, W)
    np.testing.assert_array_equal(labels, y)


# Metadata routing.


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_weights_are_routed_through_a_pipeline():
    estimator = ez.L0Classifier(k=3).set_fit_request(sample_weight=True)
    scaler = StandardScaler().set_fit_request(sample_weight=True)
    model = make_pipeline(scaler, estimator).fit(X, LABELS, sample_weight=W)
    expected = ez.L0Classifier(k=3).fit(X, LABELS, sample_weight=W).decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-6, atol=1e-8)
    with pytest.raises(ValueError, match="sample_weight"):
        make_pipeline(StandardScaler(), ez.L0Classifier(k=3)).fit(X, LABELS, sample_weight=W)


@pytest.mark.usefixtures("routing")
def test_weights_are_routed_through_a_grid_search():
    estimator = ez.L0Classifier().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    folds = StratifiedKFold(3)
    search = GridSearchCV(estimator, {"k": [1, 3]}, cv=folds).fit(X, LABELS, sample_weight=W)
    train, test = next(folds.split(X, LABELS))
    model = ez.L0Classifier(k=3).fit(X[train], LABELS[train], sample_weight=W[train])
    expected = accuracy_score(LABELS[test], model.predict(X[test]), sample_weight=W[test])
    assert search.cv_results_["split0_test_score"][1] == pytest.approx(expected)


@pytest.mark.usefixtures("routing")
def test_weights_and_groups_are_routed_inside_the_cross_validation():
    groups = np.arange(90) % 9
    scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
    model = ez.L0ClassifierCV(n_shrinkage=2, cv=GroupKFold(3), scoring=scorer)
    model.fit(X, LABELS, sample_weight=W, groups=groups)
    for train, test in model.cv_results_.splits:
        assert not set(groups[train]) & set(groups[test])
    column, (train, test) = model.cv_results_.columns[0], model.cv_results_.splits[1]
    fold = ez.fit_path(
        X[train],
        LABELS[train],
        lambda_0=column.lambda_0,
        lambda_2=column.lambda_2,
        standardize=True,
        sample_weight=W[train],
        max_support=10,
    )
    for point in (0, len(fold) - 1):
        expected = accuracy_score(LABELS[test], fold[point].predict(X[test]), sample_weight=W[test])
        assert column.scores[point, 1] == pytest.approx(expected)


@pytest.mark.usefixtures("routing")
def test_a_scorer_that_does_not_want_weights_gets_none():
    scorer = get_scorer("accuracy").set_score_request(sample_weight=False)
    folds = [(np.arange(30, 90), np.arange(30)), (np.arange(60), np.arange(60, 90))]
    model = ez.L0ClassifierCV(n_shrinkage=2, cv=folds, scoring=scorer).fit(X, LABELS, sample_weight=W)
    right = 30.0 * model.cv_results_.columns[0].scores  # numbers of rows, not of their weights
    np.testing.assert_allclose(right, np.round(right), atol=1e-9)
    with pytest.raises(ValueError, match="sample_weight"):  # neither wanted nor not: scikit-learn asks for a word
        ez.L0ClassifierCV(n_shrinkage=2, scoring="accuracy").fit(X, LABELS, sample_weight=W)


@pytest.mark.usefixtures("routing")
def test_groups_reach_the_inner_folds_of_a_grid_search():
    groups = np.arange(90) % 9
    inner = ez.L0ClassifierCV(cv=GroupKFold(3), n_shrinkage=2)
    search = GridSearchCV(inner, {"penalty": ["l0l2", "l0l1"]}, cv=GroupKFold(3)).fit(X, LABELS, groups=groups)
    for train, test in search.best_estimator_.cv_results_.splits:
        assert not set(groups[train]) & set(groups[test])


@pytest.mark.usefixtures("routing")
def test_metadata_that_nobody_wants_is_refused():
    with pytest.raises(TypeError, match="groups"):
        ez.L0ClassifierCV(n_shrinkage=2).fit(X, LABELS, groups=LABELS)


def test_without_routing_groups_are_passed_on_and_others_refused():
    groups = np.arange(90) % 9
    model = ez.L0ClassifierCV(cv=GroupKFold(3), n_shrinkage=2).fit(X, LABELS, groups=groups)
    for train, test in model.cv_results_.splits:
        assert not set(groups[train]) & set(groups[test])
    with pytest.raises(TypeError, match="'colour'"):
        ez.L0ClassifierCV().fit(X, LABELS, colour="red")
    with pytest.raises(ez.InvalidInputError, match=r"cv cannot split the rows: .*groups"):
        ez.L0ClassifierCV(cv=GroupKFold(3)).fit(X, LABELS)
