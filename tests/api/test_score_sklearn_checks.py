"""Scikit-learn's own checks of score cards and thresholds. Their tables hold any numbers: those above zero count as ones."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

import ellzero as ez


def above_zero(X, names):
    table = X.toarray() if sparse.issparse(X) else np.asarray(X)
    if not np.isfinite(table).all():
        raise ValueError("Input X contains NaN or infinity.")
    return np.ascontiguousarray(table > 0, dtype=np.uint8)


@parametrize_with_checks([ez.RiskScore(k=2, cv=2), ez.Thresholds()])
def test_sklearn_check(estimator, check, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    monkeypatch.setattr("ellzero.scores.risk_score.questions_only", above_zero)
    check(estimator)


@pytest.mark.parametrize("value", [np.nan, 21.0, -1.0, 0.5])
def test_other_numbers_are_refused_with_a_way_out(value):
    X = np.zeros((10, 2))
    X[:5, 0], X[3, 1] = 1.0, value
    with pytest.raises(ez.InvalidInputError, match=r"column 'x1' of X must hold zeros and ones.*Thresholds"):
        ez.RiskScore().fit(X, np.arange(10) % 2)
