"""What each budget buys: the features of the best model for every budget, and how well it fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ellzero.plots.axes import axes_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_budgets"]

Array = NDArray[np.float64]
USED, UNUSED = "#2a6f97", "#eef2f5"


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
    for side in ("top", "right", "left", "bottom"):
        ax.spines[side].set_visible(False)
    return ax
