"""Estimators from model files."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from ellzero.estimators.base import L0Estimator
from ellzero.estimators.single_fit import L0Classifier, L0Regressor
from ellzero.problem.losses import Logistic
from ellzero.problem.model_file import ModelContent, read_model_file

__all__ = ["load", "read_model"]

LARGEST_DENSE = 128 << 20
"""Bytes of dense coefficients; a model with more keeps them sparse."""


def load(path: str | os.PathLike[str]) -> L0Estimator:
    """Read a fitted estimator from a file that `save` wrote.

    Parameters
    ----------
    path : the JSON file

    Returns
    -------
    L0Classifier or L0Regressor
        Its ``coef_`` is sparse if a dense one would take more than 128 MB.

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
    """Return an estimator that predicts what the model of the file does.

    A small file may have very many features: then the coefficients stay sparse, as `sparsify` leaves them.
    """
    coef = content.coef
    coef.eliminate_zeros()
    estimator: Any
    if content.classes is None:
        estimator = L0Regressor(**content.loss.settings, **content.settings.known())
    else:
        probability = content.calibration is not None
        loss = Logistic.name if content.loss.couples_outputs else content.loss.name
        estimator = L0Classifier(loss, probability=probability, pos_label=content.pos_label, **content.settings.known())
        if content.multi_class is not None:
            estimator.multi_class = content.multi_class
    if content.names_given:
        estimator.feature_names = content.names
    settings = dict(vars(estimator))
    if content.classes is None:
        estimator.intercept_ = content.intercept if len(content.intercept) > 1 else float(content.intercept[0])
    else:
        if content.multi_class is not None:
            estimator.multi_class_ = content.multi_class
        estimator.intercept_, estimator.classes_ = content.intercept, content.classes
    estimator.coef_ = coef
    estimator.support_ = np.unique(coef.indices).astype(np.int64)
    estimator.n_features_in_ = coef.shape[1]
    if content.settings.groups is not None:
        estimator.groups_ = content.settings.groups
    if content.settings.feature_cost is not None:
        first = {estimator.groups_[j] if content.settings.groups else int(j): int(j) for j in estimator.support_}
        estimator.spent_ = math.fsum(content.settings.feature_cost[j] for j in first.values())
    if 8 * coef.shape[0] * coef.shape[1] <= LARGEST_DENSE:
        estimator.densify()
    if content.names is not None and not content.names_given:
        estimator.feature_names_in_ = np.array(content.names, dtype=object)
    if content.calibration is not None:
        estimator.calibration_ = content.calibration
    estimator._end_fit(settings)
    return estimator
