"""Fitted estimators as tables of named coefficients: in text, in notebooks and as data frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.notebook import html_table, some_rows
from ellzero.base.quoting import shown
from ellzero.problem.model import feature_name

__all__ = ["LinearFunction", "as_html", "as_text", "heading", "linear_functions"]

Array = NDArray[np.float64]
MOST_LINES = 40


@dataclass(frozen=True, eq=False)
class LinearFunction:
    """One output of an estimator: the label it speaks for (None for a regression), its features, the largest first."""

    label: Any
    features: NDArray[np.int64]
    names: list[str]
    values: Array
    intercept: float


def linear_functions(estimator: Any) -> list[LinearFunction]:
    """Return the linear functions: one of a regression, one of the second of two classes, or one for each class."""
    coef = sparse.csr_matrix(estimator.coef_)
    intercept = np.atleast_1d(estimator.intercept_)
    classes = getattr(estimator, "classes_", None)
    labels = [None] if classes is None else classes[1:].tolist() if coef.shape[0] == 1 else classes.tolist()
    known = estimator._feature_names()
    out = []
    for row, label in enumerate(labels):
        start, stop = coef.indptr[row : row + 2]
        features, values = coef.indices[start:stop].astype(np.int64), coef.data[start:stop]
        features, values = features[values != 0.0], values[values != 0.0]
        order = np.argsort(-np.abs(values), kind="stable")
        names = [feature_name(known, int(j)) for j in features[order]]
        out.append(LinearFunction(label, features[order], names, values[order], float(intercept[row])))
    return out


def heading(estimator: Any, about: str = "") -> str:
    """Return a fitted estimator in a line; `about` says what it is a model of."""
    used, groups = len(estimator.support_), getattr(estimator, "groups_", None)
    size = f"{used} of {estimator.n_features_in_} features"
    if groups is not None:
        count = len({groups[j] for j in estimator.support_})
        size = f"{count} feature{'s' * (count != 1)} of {used} columns"
    return f"{type(estimator).__name__}: {estimator._loss_name()} model{about} with {size}"


def about(function: LinearFunction, classes: list[Any]) -> str:
    """Return which class a linear function speaks for."""
    other = shown(classes[0]) if len(classes) == 2 else "the rest"
    return f"{shown(function.label)} against {other} (positive coefficients speak for {shown(function.label)})"


def as_text(estimator: Any) -> str:
    """Return the table as lines of text."""
    classes = list(getattr(estimator, "classes_", []))
    lines = [heading(estimator)]
    for function in linear_functions(estimator):
        lines += [about(function, classes)] if function.label is not None else []
        names = [shown(name) for name in function.names]
        width = max(map(len, [*names, "(intercept)"]))
        for place in some_rows(len(names), MOST_LINES):
            lines.append("  ..." if place is None else f"  {names[place]:<{width}}  {function.values[place]: .6g}")
        lines.append(f"  {'(intercept)':<{width}}  {function.intercept: .6g}")
    return "\n".join(lines)


def as_html(estimator: Any) -> str:
    """Return the table as HTML."""
    classes = list(getattr(estimator, "classes_", []))
    parts = []
    for function in linear_functions(estimator):
        title = heading(estimator) if function.label is None else f"{heading(estimator)}: {about(function, classes)}"
        rows = [[shown(name), f"{value:.6g}"] for name, value in zip(function.names, function.values, strict=True)]
        parts.append(html_table(title, ["feature", "coefficient"], [*rows, ["(intercept)", f"{function.intercept:.6g}"]]))
    return "".join(parts)
