"""Estimators from model files."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from ellzero.base.validation import known
from ellzero.estimators.base import L0Estimator
from ellzero.estimators.single_fit import L0Classifier, L0Regressor
from ellzero.problem.losses import Logistic
from ellzero.problem.model_file import ModelContent, read_model_file

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
    coef, given, groups = content.coef, content.settings.known(), content.settings.groups
    coef.eliminate_zeros()
    estimator: Any
    intercept: Any = content.intercept
    if content.classes is None:
        estimator = L0Regressor(**content.loss.settings, **given)
        intercept = intercept if len(intercept) > 1 else float(intercept[0])
    else:
        loss = Logistic.name if content.loss.couples_outputs else content.loss.name
        given |= {"probability": content.calibration is not None, "multi_class": content.multi_class or "auto"}
        estimator = L0Classifier(loss, pos_label=content.pos_label, **given)
    if content.names_given:
        estimator.feature_names = content.names
    settings = dict(vars(estimator))
    learnt = {
        "coef_": coef,
        "intercept_": intercept,
        "support_": np.unique(coef.indices).astype(np.int64),
        "n_features_in_": coef.shape[1],
        "classes_": content.classes,
        "multi_class_": content.multi_class,
        "groups_": groups,
        "feature_names_in_": np.array(content.names, dtype=object) if content.names and not content.names_given else None,
        "calibration_": content.calibration,
    }
    vars(estimator).update(known(learnt))
    if costs := content.settings.feature_cost:
        first = {groups[j] if groups else int(j): int(j) for j in estimator.support_}
        estimator.spent_ = math.fsum(costs[j] for j in first.values())
    if 8 * coef.shape[0] * coef.shape[1] <= LARGEST_DENSE:
        estimator.densify()
    estimator._end_fit(settings)
    return estimator
