"""Fitted estimators as tables of named coefficients: in text, in notebooks and as data frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.notebook import html_table, some_rows
from ellzero.base.quoting import shown
from ellzero.problem.model import feature_name

__all__ = ["LinearFunction", "estimator_html", "estimator_text", "heading", "linear_functions"]

Array = NDArray[np.float64]
MOST_LINES = 40


@dataclass(frozen=True, eq=False)
class LinearFunction:
    """One output of an estimator: the label, or the number of the target, that it speaks for, and its features.

    A single target has no label. The largest coefficient comes first.
    """

    label: Any
    features: NDArray[np.int64]
    names: list[str]
    values: Array
    intercept: float


def linear_functions(estimator: Any) -> list[LinearFunction]:
    """Return the linear functions: one of the positive of two classes, or one for each of several classes or targets."""
    sign = -1.0 if estimator._reversed else 1.0
    coef = sign * sparse.csr_matrix(estimator.coef_)
    intercept = sign * np.atleast_1d(estimator.intercept_)
    classes = estimator._shown_classes()
    if not classes:
        labels = [None] if coef.shape[0] == 1 else list(range(coef.shape[0]))
    else:
        labels = classes[1:] if coef.shape[0] == 1 else classes
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
    used, groups = len(estimator.support_), getattr(estimator, "groups_", [])
    size = f"{used} of {estimator.n_features_in_} features"
    if groups:
        count = len({groups[j] for j in estimator.support_})
        size = f"{count} feature{'s' * (count != 1)} of {used} columns"
    return f"{type(estimator).__name__}: {estimator._loss} model{about} with {size}"


def about(estimator: Any, function: LinearFunction) -> str:
    """Return which class a linear function speaks for."""
    classes = estimator._shown_classes()
    other = shown(classes[0]) if len(classes) == 2 else "the rest"
    return f"{shown(function.label)} against {other} (positive coefficients speak for {shown(function.label)})"


class CoefficientTable(NamedTuple):
    """Coefficients of one output, or of several that share their features."""

    title: str  # what it speaks for; empty if there is nothing else to tell it from
    heads: list[str]  # of the columns of numbers; none for a single one
    rows: list[list[str]]  # name and numbers of each feature, the largest ones first, and of the intercept


def tables(estimator: Any) -> list[CoefficientTable]:
    """Return the tables of an estimator."""
    if len(np.atleast_1d(estimator.intercept_)) > 1 and getattr(estimator, "multi_class_", "") != "ovr":
        return [shared_table(estimator)]
    return [
        CoefficientTable(
            about(estimator, function) if estimator._shown_classes() else "",
            [],
            [
                *([shown(name), f" {value: .6g}"] for name, value in zip(function.names, function.values, strict=True)),
                ["(intercept)", f" {function.intercept: .6g}"],
            ],
        )
        for function in linear_functions(estimator)
    ]


def shared_table(estimator: Any) -> CoefficientTable:
    """Return outputs that share their features as one table."""
    coef = sparse.csr_matrix(estimator.coef_)
    columns = np.unique(coef.indices[coef.data != 0.0])
    values = coef[:, columns].toarray()
    known, order = estimator._feature_names(), np.argsort(-np.abs(values).max(axis=0, initial=0.0), kind="stable")
    names = [shown(feature_name(known, int(columns[j]))) for j in order]
    labels = estimator._shown_classes() or [f"target {j}" for j in range(len(values))]
    rows = [[name, *(f"{value:.6g}" for value in values[:, j])] for name, j in zip(names, order, strict=True)]
    return CoefficientTable(
        "", list(map(shown, labels)), [*rows, ["(intercept)", *(f"{value:.6g}" for value in estimator.intercept_)]]
    )


def estimator_text(estimator: Any) -> str:
    """Return the tables as lines of text."""
    lines = [heading(estimator)]
    for title, heads, rows in tables(estimator):
        width, wide = max(len(row[0]) for row in rows), max([12, *map(len, heads)]) if heads else 0
        lines += [title] if title else []
        lines += [text_row(["", *heads], width, wide)] if heads else []
        for place in some_rows(len(rows) - 1, MOST_LINES):
            lines.append("  ..." if place is None else text_row(rows[place], width, wide))
        lines.append(text_row(rows[-1], width, wide))
    return "\n".join(lines)


def text_row(row: list[str], width: int, wide: int) -> str:
    """Return a row of a table as a line."""
    return " ".join([f"  {row[0]:<{width}}", *(f"{cell:>{wide}}" for cell in row[1:])])


def estimator_html(estimator: Any) -> str:
    """Return the tables as HTML."""
    return "".join(
        html_table(
            ": ".join(filter(None, [heading(estimator), title])),
            ["feature", *(heads or ["coefficient"])],
            [[text.strip() for text in row] for row in rows],
        )
        for title, heads, rows in tables(estimator)
    )
