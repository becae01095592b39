"""Coefficients along a path; objectives by size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ellzero.plots.axes import axes_for, far_apart, log_axis
from ellzero.problem.model import feature_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ellzero.paths.path import Path
    from ellzero.paths.sizes import Sizes

__all__ = ["plot_path", "plot_sizes"]

TICK_SPACING = 0.035
"""Sizes are written above the plot at least this share of its width apart."""

LABELLED = 10
"""So many features, the largest at the end of the path, are named in the legend."""


def plot_path(path: Path, ax: Axes | None = None) -> Axes:
    """Coefficients along the path as steps, with the number of features on the upper axis."""
    ax = axes_for(ax)
    coef = path.coef.tocsc()
    features = np.flatnonzero(np.diff(coef.indptr))
    # Named are the features that stay in the model over the longest part of the path.
    lasting = np.diff(coef.indptr)[features]
    named = set(features[np.argsort(-lasting, kind="stable")[:LABELLED]].tolist())
    # The last model holds below its lambda_0 too: a little more axis shows it.
    lambda_0 = np.append(path.lambda_0, 0.8 * path.lambda_0[-1])
    for j in features:
        values = coef[:, [j]].toarray().ravel()
        values = np.append(values, values[-1])
        if j in named:
            ax.step(lambda_0, values, where="post", linewidth=1.8, label=feature_name(path.problem.design.names, int(j)))
        else:
            ax.step(lambda_0, values, where="post", linewidth=0.7, color="0.75", zorder=1)
    ax.axhline(0.0, color="black", linewidth=0.8, zorder=0)
    if path.lambda_0[-1] > 0.0:
        log_axis(ax)
    ax.invert_xaxis()
    ax.set_xlabel(r"$\lambda_0$ (decreasing)")
    ax.set_ylabel("coefficient")
    if named:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small", title="feature")
    top = ax.secondary_xaxis("top")
    shown = spaced_changes(path)
    top.set_xticks(path.lambda_0[shown], [str(size) for size in path.support_size[shown]])
    top.minorticks_off()
    top.set_xlabel("features in the model")
    return ax


def plot_sizes(sizes: Sizes, ax: Axes | None = None) -> Axes:
    """Objective against the number of features; hollow where no model of that size is better than a smaller one."""
    from matplotlib.ticker import MaxNLocator

    ax = axes_for(ax)
    reached = sizes.reached
    ax.plot(sizes.sizes, sizes.objective, color="C0", linewidth=1.2, zorder=1)
    ax.plot(sizes.sizes[reached], sizes.objective[reached], "o", color="C0", markersize=5.0)
    if not reached.all():
        label = "not better than a smaller model"
        ax.plot(sizes.sizes[~reached], sizes.objective[~reached], "o", color="C0", markerfacecolor="white", label=label)
        ax.legend(frameon=False, fontsize="small")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("features in the model")
    ax.set_ylabel("objective")
    return ax


def spaced_changes(path: Path) -> list[int]:
    """Points where the size changes, as many as can be labelled side by side; the last one always."""
    changes = np.flatnonzero(np.diff(path.support_size, prepend=-1)).tolist()
    place = -np.log(np.maximum(path.lambda_0, 1e-300)) if path.lambda_0[-1] > 0.0 else -path.lambda_0
    width = max(float(place[-1] - place[0]), 1e-300)
    return [changes[k] for k in far_apart(place[changes] / width, TICK_SPACING)]
