"""Fitted estimators as the content of a model file."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ellzero.base.validation import as_feature_costs
from ellzero.problem.grouping import as_groups
from ellzero.problem.model_file import FitSettings, ModelContent, write_model_file
from ellzero.problem.rules import as_list


def write_model(path: str | os.PathLike[str], estimator: Any, preparation: dict[str, Any] | None = None) -> None:
    """Write a fitted estimator; `preparation` says how the command line made its columns from raw data."""
    write_model_file(path, model_content(estimator, preparation))


def model_content(estimator: Any, preparation: dict[str, Any] | None = None) -> ModelContent:
    """Return what the file of a fitted estimator holds."""
    check_is_fitted(estimator)
    names = estimator._feature_names()
    penalties = ("lambda_0", "lambda_1", "lambda_2")
    groups = getattr(estimator, "groups_", None)
    p, costs = estimator.n_features_in_, estimator._as_fitted("feature_cost")
    if costs is not None:
        grouping = as_groups(groups, p, names)
        costs = as_feature_costs("feature_cost", costs, p, names, grouping.columns if grouping else None).tolist()
    return ModelContent(
        loss=estimator._loss,
        coef=sparse.csr_matrix(estimator.coef_),
        intercept=np.atleast_1d(estimator.intercept_),
        classes=getattr(estimator, "classes_", None),
        multi_class=getattr(estimator, "multi_class_", None),
        pos_label=estimator._as_fitted("pos_label"),
        names=names,
        names_given=names is not None and not hasattr(estimator, "feature_names_in_"),
        settings=FitSettings(
            k=chosen_or_given(estimator, "k"),
            budget=estimator._as_fitted("budget"),
            **{name: chosen_or_given(estimator, name) for name in penalties},
            fit_intercept=estimator._as_fitted("fit_intercept"),
            standardize=estimator._as_fitted("standardize"),
            feature_cost=costs,
            groups=groups,
            rules=as_list(estimator._as_fitted("rules")) or None,
        ),
        calibration=getattr(estimator, "calibration_", None),
        preparation=preparation,
    )


def chosen_or_given(estimator: Any, name: str) -> Any:
    """Return a penalty as cross-validation chose it, or else as the user gave it."""
    return getattr(estimator, f"{name}_", estimator._as_fitted(name))
