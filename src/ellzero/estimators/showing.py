"""Fitted estimators as tables of named coefficients: in text, in notebooks and as data frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ellzero.base.notebook import html_table, some_rows
from ellzero.base.quoting import shown
from ellzero.exact.binding import words_on_rules
from ellzero.problem.model import feature_name
from ellzero.problem.summary import Effects, effect_sizes

MOST_LINES = 40
LONGEST_RULES = 400


def linear_functions(estimator: Any) -> list[Effects]:
    """Return the linear functions: one of the positive of two classes, or one for each of several classes or targets.

    The largest effect of one standard deviation comes first or, of a loaded model, the largest coefficient.
    """
    sign = -1.0 if estimator._reversed else 1.0
    coef = sign * sparse.csr_matrix(estimator.coef_)
    intercept = sign * np.atleast_1d(estimator.intercept_)
    classes = estimator._shown_classes()
    if not classes:
        labels = [None] if coef.shape[0] == 1 else list(range(coef.shape[0]))
    else:
        labels = classes[1:] if coef.shape[0] == 1 else classes
    known, spreads = estimator._feature_names(), getattr(estimator, "_spread", {})
    out = []
    for row, label in enumerate(labels):
        start, stop = coef.indptr[row : row + 2]
        features, values = coef.indices[start:stop].astype(np.int64), coef.data[start:stop]
        features, values = features[values != 0.0], values[values != 0.0]
        spread = np.array([spreads.get(j, np.nan) for j in features.tolist()])
        order = np.argsort(-effect_sizes(values, spread), kind="stable")
        names = [feature_name(known, int(j)) for j in features[order]]
        out.append(Effects(label, features[order], names, values[order], spread[order], float(intercept[row])))
    return out


def heading(estimator: Any, about: str = "") -> str:
    """Return a fitted estimator in a line; `about` says what it is a model of."""
    used, groups = len(estimator.support_), getattr(estimator, "groups_", [])
    size = f"{used} of {estimator.n_features_in_} features"
    if groups:
        count = len({groups[j] for j in estimator.support_})
        size = f"{count} feature{'s' * (count != 1)} of {used} columns"
    return f"{type(estimator).__name__}: {estimator._loss} model{about} with {size}"


class CoefficientTable(NamedTuple):
    """Coefficients of one output, or of several that share their features."""

    title: str  # what it speaks for; empty if there is nothing else to tell it from
    heads: list[str]  # of the columns of numbers; none for a single one
    rows: list[list[str]]  # name and numbers of each feature, the largest ones first, and of the intercept


def tables(estimator: Any) -> list[CoefficientTable]:
    """Return the tables of an estimator."""
    if len(np.atleast_1d(estimator.intercept_)) > 1 and getattr(estimator, "multi_class_", "") != "ovr":
        return [shared_table(estimator)]
    classes, out = estimator._shown_classes(), []
    other = shown(classes[0]) if len(classes) == 2 else "the rest"
    for function in linear_functions(estimator):
        label = shown(function.label)
        title = f"{label} against {other} (positive coefficients make {label} likelier)" if classes else ""
        rows = [[shown(name), f" {value: .6g}"] for name, value in zip(function.names, function.coef, strict=True)]
        out.append(CoefficientTable(title, [], [*rows, ["(intercept)", f" {function.intercept: .6g}"]]))
    return out


def shared_table(estimator: Any) -> CoefficientTable:
    """Return outputs that share their features as one table."""
    coef = sparse.csr_matrix(estimator.coef_)
    columns = np.unique(coef.indices[coef.data != 0.0])
    values = coef[:, columns].toarray()
    known, spreads = estimator._feature_names(), getattr(estimator, "_spread", {})
    spread = np.array([spreads.get(j, np.nan) for j in columns.tolist()])
    order = np.argsort(-effect_sizes(values, spread), kind="stable")
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
        head, *texts, intercept = aligned_rows(heads, rows)
        places = some_rows(len(texts), MOST_LINES)
        lines += [title] if title else []
        lines += [head] if heads else []
        lines += [*("  ..." if place is None else texts[place] for place in places), intercept]
    return "\n".join([*lines, *rule_lines(estimator)])


def rule_lines(estimator: Any) -> list[str]:
    """Return the rules that the model obeys, and those that it pays for; of several classes, those of each."""
    found = getattr(estimator, "binding_rules_", [])
    binding = [rule for part in found for rule in (part if isinstance(part, list) else [part])]
    return [shown(line, LONGEST_RULES) for line in words_on_rules(estimator._as_fitted("rules"), binding)]


def aligned_rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table as lines, the heads of its columns in the first; names are aligned to the left, numbers to the right."""
    width, wide = max(len(name) for name, *_ in rows), max([12, *map(len, heads)]) if heads else 0
    return [" ".join([f"  {name:<{width}}", *(f"{cell:>{wide}}" for cell in cells)]) for name, *cells in (["", *heads], *rows)]


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
