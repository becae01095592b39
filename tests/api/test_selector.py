"""`L0Selector`: scikit-learn's interface of feature selection."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ellzero as ez

DATA = load_breast_cancer(as_frame=True)
X, Y = DATA.data, DATA.target


def test_it_keeps_what_the_model_uses():
    model = ez.L0Classifier(k=3).fit(X, Y)
    selector = ez.L0Selector(k=3).fit(X, Y)
    np.testing.assert_array_equal(selector.get_support(indices=True), model.support_)
    np.testing.assert_array_equal(selector.transform(X), X.iloc[:, model.support_])
    assert selector.get_feature_names_out().tolist() == X.columns[model.support_].tolist()
    # What the selector is for: the mean coefficient as a threshold leaves one feature of three.
    assert SelectFromModel(ez.L0Classifier(k=3)).fit(X, Y).get_support().sum() == 1


def test_outputs_frames_and_sparse_matrices():
    selector = ez.L0Selector(k=2).set_output(transform="pandas").fit(X, Y)
    assert selector.transform(X).columns.tolist() == X.columns[selector.get_support()].tolist()
    thin = sparse.csr_matrix(X.to_numpy())
    kept = ez.L0Selector(k=2).fit(thin, Y)
    assert sparse.issparse(kept.transform(thin))
    assert kept.transform(thin).shape == (len(Y), 2)
    back = kept.inverse_transform(kept.transform(thin))
    np.testing.assert_array_equal(back.toarray()[:, kept.get_support()], thin.toarray()[:, kept.get_support()])
    with pytest.raises(ValueError, match="feature names should match"):
        selector.transform(X[X.columns[::-1]])


def test_several_classes_share_k_features():
    iris = load_iris()
    assert ez.L0Selector(k=2).fit(iris.data, iris.target).get_support().sum() == 2


def test_regression_and_its_settings():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((100, 20))
    y = Z[:, 3] - 2.0 * Z[:, 7] + 0.1 * rng.standard_normal(100)
    assert ez.L0Selector(k=2, regression=True).fit(Z, y).get_support(indices=True).tolist() == [3, 7]
    with pytest.raises(ez.InvalidInputError, match="L0Regressor"):
        ez.L0Selector(k=2).fit(Z, y)
    assert ez.L0Selector(regression=True, unpenalized=[5], k=1).fit(Z, y).get_support()[5]


def test_in_a_pipeline_that_chooses_the_size():
    pipeline = make_pipeline(StandardScaler(), ez.L0Selector(), LogisticRegression())
    search = GridSearchCV(pipeline, {"l0selector__k": [1, 4]}, cv=3).fit(X, Y)
    assert search.best_params_ == {"l0selector__k": 4}
    assert clone(search.best_estimator_)[1].k == 4
    assert pd.Series(search.best_estimator_[:-1].get_feature_names_out()).isin(X.columns).all()
