"""Coefficients along a path; objectives by size; what each budget buys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.plots.axes import (
    UNUSED,
    USED,
    axes_for,
    feature_label,
    lambda_axis,
    legend_beside,
    shades,
    size_axis,
    sizes_above,
    without_frame,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

TICK_SPACING = 0.035
"""Sizes are written above the plot at least this share of its width apart."""

LABELLED = 10
"""The largest number of features in the legend: those that stay in the model over the longest part of the path."""

SHOWN_BELOW = 0.8
"""The axis goes on to this share of the last lambda_0, to show that the last model holds below its lambda_0, too."""


def plot_path(
    lambda_0: Array,
    coef: sparse.csr_matrix,
    support_size: NDArray[np.int64],
    names: list[str] | None = None,
    ax: Axes | None = None,
    *,
    quantity: str = "coefficient",
) -> Axes:
    """Draw the coefficients along a path as steps, with the number of features on the upper axis.

    Parameters
    ----------
    lambda_0 : (m,) decreasing
    coef : (m, p) scipy.sparse matrix
    support_size : (m,) number of features of each model
    names : names of the p features; None calls them x0, x1, ...
    ax : where to draw; None makes a figure
    quantity : what `coef` holds, for the y axis

    """
    ax = axes_for(ax)
    columns = coef.tocsc()
    points_used = np.diff(columns.indptr)
    features = np.flatnonzero(points_used)
    named = set(features[np.argsort(-points_used[features], kind="stable")[:LABELLED]].tolist())
    places = np.append(lambda_0, SHOWN_BELOW * lambda_0[-1])
    for j in features:
        values = columns[:, [j]].toarray().ravel()
        values = np.append(values, values[-1])
        if j in named:
            ax.step(places, values, where="post", linewidth=1.8, label=feature_label(names, int(j)))
        else:
            ax.step(places, values, where="post", linewidth=0.7, color="0.75", zorder=1)
    ax.axhline(0.0, color="0.5", linewidth=0.8, zorder=0)
    lambda_axis(ax, lambda_0[-1])
    ax.set_ylabel(quantity)
    if named:
        legend_beside(ax, title="feature")
    sizes_above(ax, lambda_0, support_size, TICK_SPACING)
    return ax


def plot_sizes(sizes: NDArray[np.int64], objective: Array, reached: NDArray[np.bool_], ax: Axes | None = None) -> Axes:
    """Draw the objective against the number of features.

    Parameters
    ----------
    sizes : (m,) increasing numbers of features
    objective : (m,) of the best model of each size
    reached : (m,) False where no model of that size is better than a smaller one; these points are hollow
    ax : where to draw; None makes a figure

    """
    ax = axes_for(ax)
    ax.plot(sizes, objective, color="C0", linewidth=1.2, zorder=1)
    ax.plot(sizes[reached], objective[reached], "o", color="C0", markersize=5.0)
    if not reached.all():
        label = "not better than a smaller model"
        ax.plot(sizes[~reached], objective[~reached], "o", color="C0", markerfacecolor=ax.get_facecolor(), label=label)
        legend_beside(ax)
    size_axis(ax)
    ax.set_ylabel("objective")
    return ax


def plot_grid(
    name: str, values: Array, sizes: Sequence[NDArray[np.int64]], costs: Sequence[Array], ax: Axes | None = None
) -> Axes:
    """Draw the cost of the models of several paths against their sizes, a line for each value of the second penalty.

    Parameters
    ----------
    name : "lambda_1" or "lambda_2"
    values : (m,) of the second penalty, one for each path
    sizes : of each path, the number of features of its models
    costs : of each path, the loss and the shrinkage of its models, without lambda_0
    ax : where to draw; None makes a figure

    """
    ax = axes_for(ax)
    for value, size, cost, shade in zip(values, sizes, costs, shades(ax, len(values)), strict=True):
        ax.plot(size, cost, "o-", markersize=3.5, linewidth=1.2, color=shade, label=f"{value:.3g}")
    size_axis(ax)
    ax.set_ylabel("loss and shrinkage")
    legend_beside(ax, title=f"$\\lambda_{name[-1]}$")
    return ax


def plot_budgets(
    budgets: Array, used: NDArray[np.bool_], names: Sequence[str], costs: Array, objective: Array, ax: Axes | None = None
) -> Axes:
    """Draw which features the model of each budget uses, and its objective above it.

    Parameters
    ----------
    budgets : (m,) increasing
    used : (m, f) whether the model of a budget uses a feature
    names : of the f features
    costs : (f,) of the features
    objective : (m,) of the models
    ax : where to draw; None makes a figure

    """
    ax = axes_for(ax)
    order = np.lexsort((np.arange(len(costs)), costs))[::-1]
    for row, j in enumerate(order):
        for column in range(len(budgets)):
            color = USED if used[column, j] else UNUSED
            ax.barh(row, 0.92, left=column - 0.46, height=0.86, color=color)
    ax.set_yticks(range(len(order)), [f"{names[j]}  ({costs[j]:g})" for j in order])
    ax.set_xticks(range(len(budgets)), [f"{budget:g}" for budget in budgets])
    for column, value in enumerate(objective):
        ax.text(column, len(order) - 0.35, f"{value:.3g}", ha="center", va="bottom", fontsize="small")
    ax.text(-0.55, len(order) - 0.35, "objective ", ha="right", va="bottom", fontsize="small")
    ax.set_xlim(-0.5, len(budgets) - 0.5)
    ax.set_ylim(-0.5, len(order) + 0.15)
    ax.set_xlabel("budget")
    ax.tick_params(length=0)
    without_frame(ax)
    return ax
