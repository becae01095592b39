"""The coefficients of groups of columns, such as bins and categories: one panel for each group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.validation import as_count
from ellzero.plots.axes import USED, ZERO, feature_label, panels
from ellzero.problem.model import Model, feature_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SEPARATORS = "=_ "


class Parts(NamedTuple):
    """What was fitted: coefficients with a column for each output, groups and names of the columns, names of the outputs."""

    coef: NDArray[np.float64]
    groups: Sequence[str]
    names: list[str] | None
    labels: Sequence[object]


class Shape(NamedTuple):
    """The coefficients of one group, with a label for each column; `values` has a column for each output."""

    name: str
    labels: list[str]
    values: NDArray[np.float64]


def plot_groups(model: Model | Any, top: int = 9) -> Figure:
    """Draw the coefficients of each group of a model, all groups on one scale.

    For bins (:func:`ellzero.bins`), this shows the shape of a column's effect; for a categorical variable, the effect of each
    category.

    Parameters
    ----------
    model : a Model, an ExactSolution or an estimator, fitted with ``groups``; each of several classes or targets has its own
        bars
    top : the largest number of groups; those whose coefficients differ most are shown

    Returns
    -------
    matplotlib Figure

    """
    fitted = parts_of_model(model)
    shapes = shapes_of(fitted)[: as_count("top", top, 1)]
    figure, axes = panels(len(shapes), "coefficient")
    for place, (ax, (name, labels, values)) in enumerate(zip(axes, shapes, strict=True)):
        outputs = values.shape[1]
        for output in range(outputs):
            centre = np.arange(len(values)) + 0.92 * ((output + 0.5) / outputs - 0.5)
            color = USED if outputs == 1 else f"C{output}"
            label = feature_label([str(fitted.labels[output])], 0) if place == 0 and outputs > 1 else None
            ax.bar(centre, values[:, output], width=0.92 / outputs, color=color, label=label)
        ax.axhline(0.0, color=ZERO, linewidth=0.8)
        ax.set_title(feature_label([name], 0), fontsize=10)
        ax.set_xticks(
            np.arange(len(values)), [feature_label([label], 0) for label in labels], rotation=60, ha="right", fontsize=7
        )
    if shapes and shapes[0].values.shape[1] > 1:
        figure.legend(loc="outside right upper", fontsize=8, frameon=False)
    return figure


def shapes_of(fitted: Parts) -> list[Shape]:
    """Return the groups, those first whose coefficients differ most from each other, or from zero."""
    coef, groups, names, _ = fitted
    shapes = []
    for name in dict.fromkeys(groups):
        columns = [j for j, own in enumerate(groups) if own == name]
        values = coef[columns]
        if (values != 0.0).any():
            labels = [feature_name(names, j) for j in columns]
            shapes.append(Shape(name, [short(label, name) for label in labels], values))
    return sorted(shapes, key=lambda shape: -float(np.ptp(np.append(shape.values, 0.0))))


def parts_of_model(model: Any) -> Parts:
    """Return what is drawn of a Model, of a result that has one, or of a fitted estimator."""
    fitted = model if isinstance(model, Model) else getattr(model, "model", None)
    if isinstance(fitted, Model):
        out = Parts(np.atleast_2d(fitted.coef).T, fitted.groups or (), fitted.names, fitted.output_labels())
    else:
        coef = np.atleast_2d(model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_)
        coef = -coef.T if model._reversed else coef.T
        labels = list(getattr(model, "classes_", range(coef.shape[1])))
        out = Parts(coef, getattr(model, "groups_", ()), model._feature_names(), labels)
    if not len(out.groups):
        raise InvalidInputError("model must be fitted with groups.")
    return out


def short(label: str, group: str) -> str:
    """Return a column's name without that of its group in front of it."""
    return (label[len(group) :].lstrip(SEPARATORS) or label) if label.startswith(group) else label
