"""Scikit-learn's own checks of an estimator, without exceptions."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import ellzero as ez

# Some checks give the estimators fewer rows of a class than there are folds, and others more features than rows can tell apart.
pytestmark = [
    pytest.mark.filterwarnings("ignore:cv = 2 folds instead of 3"),
    pytest.mark.filterwarnings("ignore:the chosen model has max_support"),
]

# What differs in how it takes data and weights; options are for the other tests of estimators.
ESTIMATORS = [
    ez.L0Classifier(),
    ez.L0Regressor(),
    ez.L0ClassifierCV(cv=3),
    ez.L0RegressorCV(cv=3),
    ez.L0Selector(k=3),
    ez.L0Selector(k=3, regression=True),
]


@parametrize_with_checks(ESTIMATORS)
def test_sklearn_check(estimator, check, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # or scikit-learn skips its check of array API input
    check(estimator)
