"""Coefficients along a path; objectives by size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.imports import whole_imports
from ellzero.plots.axes import axes_for, far_apart, feature_label, legend_beside, log_axis, shades

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_grid", "plot_path", "plot_sizes"]

Array = NDArray[np.float64]

TICK_SPACING = 0.035
"""Sizes are written above the plot at least this share of its width apart."""

LABELLED = 10
"""At most so many features are named in the legend: those that stay in the model over the longest part of the path."""

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
    if lambda_0[-1] > 0.0:
        log_axis(ax)
    ax.invert_xaxis()
    ax.set_xlabel(r"$\lambda_0$ (decreasing)")
    ax.set_ylabel(quantity)
    if named:
        legend_beside(ax, title="feature")
    top = ax.secondary_xaxis("top")
    shown = labelled_changes(lambda_0, support_size)
    top.set_xticks(lambda_0[shown], [str(size) for size in support_size[shown]])
    top.minorticks_off()
    top.set_xlabel("features in the model")
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
    with whole_imports():
        from matplotlib.ticker import MaxNLocator  # optional, and slow to import

    ax = axes_for(ax)
    ax.plot(sizes, objective, color="C0", linewidth=1.2, zorder=1)
    ax.plot(sizes[reached], objective[reached], "o", color="C0", markersize=5.0)
    if not reached.all():
        label = "not better than a smaller model"
        ax.plot(sizes[~reached], objective[~reached], "o", color="C0", markerfacecolor=ax.get_facecolor(), label=label)
        legend_beside(ax)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("features in the model")
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
    with whole_imports():
        from matplotlib.ticker import MaxNLocator  # optional, and slow to import

    ax = axes_for(ax)
    for value, size, cost, shade in zip(values, sizes, costs, shades(ax, len(values)), strict=True):
        ax.plot(size, cost, "o-", markersize=3.5, linewidth=1.2, color=shade, label=f"{value:.3g}")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("features in the model")
    ax.set_ylabel("loss and shrinkage")
    legend_beside(ax, title=f"$\\lambda_{name[-1]}$")
    return ax


def labelled_changes(lambda_0: Array, support_size: NDArray[np.int64]) -> list[int]:
    """Return the points where the size changes, as many as can be labelled side by side; the last one is always there."""
    changes = np.flatnonzero(np.diff(support_size, prepend=-1)).tolist()
    place = -np.log(np.maximum(lambda_0, 1e-300)) if lambda_0[-1] > 0.0 else -lambda_0
    width = max(float(place[-1] - place[0]), 1e-300)
    return [changes[k] for k in far_apart(place[changes] / width, TICK_SPACING)]
