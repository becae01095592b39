"""Estimators from model files."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ellzero.estimators.base import L0Estimator
from ellzero.estimators.single_fit import L0Classifier, L0Regressor
from ellzero.problem.model_file import ModelContent, read_model_file

__all__ = ["load", "read_model"]


def load(path: str | os.PathLike[str]) -> L0Estimator:
    """Read a fitted estimator from a file that `save` wrote.

    Parameters
    ----------
    path : the JSON file

    Returns
    -------
    L0Classifier or L0Regressor

    Examples
    --------
    >>> import os, tempfile
    >>> import ellzero as ez
    >>> X, y, _ = ez.datasets.make_classification(100, 20, 2, s=3.0, random_state=0)
    >>> model = ez.L0Classifier(k=2).fit(X, y)
    >>> file = os.path.join(tempfile.mkdtemp(), "model.json")
    >>> model.save(file)
    >>> bool((ez.load(file).predict(X) == model.predict(X)).all())
    True

    """
    return read_model(path)[0]


def read_model(path: str | os.PathLike[str]) -> tuple[L0Estimator, dict[str, Any] | None]:
    """Read the estimator, and how the command line made its columns from raw data (None for other models)."""
    content = read_model_file(path)
    return fitted_estimator(content), content.preparation


def fitted_estimator(content: ModelContent) -> L0Estimator:
    """Return an estimator that predicts what the model of the file does."""
    coef = content.coef.toarray()
    estimator: Any
    if content.classes is None:
        estimator = L0Regressor(**content.settings.known())
    else:
        probability = content.calibration is not None
        estimator = L0Classifier(content.loss, probability=probability, **content.settings.known())
    settings = dict(vars(estimator))
    if content.classes is None:
        estimator.coef_, estimator.intercept_ = coef[0], float(content.intercept[0])
    else:
        estimator.coef_, estimator.intercept_, estimator.classes_ = coef, content.intercept, content.classes
    estimator.support_ = np.flatnonzero((coef != 0.0).any(axis=0))
    estimator.n_features_in_ = coef.shape[1]
    if content.names is not None:
        estimator.feature_names_in_ = np.array(content.names, dtype=object)
    if content.calibration is not None:
        estimator.calibration_ = content.calibration
    estimator._end_fit(settings)
    return estimator
