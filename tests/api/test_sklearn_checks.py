"""Scikit-learn's own checks of an estimator, without exceptions."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import ellzero as ez

# Some checks give the estimators fewer rows of a class than there are folds, and others more features than rows can tell apart.
pytestmark = [
    pytest.mark.filterwarnings("ignore:cv = . folds instead of 5"),
    pytest.mark.filterwarnings("ignore:the chosen model has max_support"),
]

ESTIMATORS = [
    ez.L0Classifier(),
    ez.L0Regressor(),
    ez.L0ClassifierCV(),
    ez.L0RegressorCV(),
    ez.L0Classifier(loss="squared_hinge"),
    ez.L0Classifier(loss="squared_error", k=3),
    ez.L0Classifier(algorithm="exact", k=3),
    ez.L0Classifier(multi_class="ovr"),
    ez.L0Classifier(multi_class="ovr_shared"),
    # Softmax of five rows that are told apart, with next to no lambda_1 and no ridge, ends at its limit of steps.
    ez.L0ClassifierCV(select="size", penalty="l0l1", n_shrinkage=2, multi_class="ovr"),
    ez.L0Regressor(algorithm="exact", k=3),
    ez.L0Selector(k=3),
    ez.L0Selector(k=3, regression=True),
]


@parametrize_with_checks(ESTIMATORS)
def test_sklearn_check(estimator, check, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # or scikit-learn skips its check of array API input
    check(estimator)
