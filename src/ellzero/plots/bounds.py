"""How the bounds of an exact search met."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ellzero.plots.axes import axes_for, far_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ellzero.exact.search_log import SearchProgress
    from ellzero.exact.solution import ExactSolution

__all__ = ["plot_bounds"]

LABEL_SPACING = 0.06
"""The sizes of IGA's set are written at least this share of the plot's width apart."""


def plot_bounds(solution: ExactSolution, ax: Axes | None = None) -> Axes:
    """Objective and lower bound over time as steps, the gap between them shaded, with the sizes of IGA's set."""
    ax = axes_for(ax)
    rows = solution.history
    seconds = np.array([row.seconds for row in rows] + [solution.seconds])
    upper = np.array([row.objective for row in rows] + [solution.objective])
    lower = np.array([row.lower_bound for row in rows] + [solution.lower_bound])
    ax.fill_between(seconds, lower, upper, step="post", color="C0", alpha=0.12, linewidth=0.0)
    ax.step(seconds, upper, where="post", color="C3", label="objective of the best solution")
    ax.step(seconds, lower, where="post", color="C0", label="lower bound")
    iterations = [row for row, later in zip(rows, [*rows[1:], None], strict=False) if ends_iteration(row, later)]
    ends = np.array([row.seconds for row in iterations])
    ax.plot(ends, [row.lower_bound for row in iterations], "o", color="C0", markersize=4.0)
    for at in far_apart(ends / max(solution.seconds, 1e-9), LABEL_SPACING):
        row = iterations[at]
        if row.integral:
            ax.annotate(
                str(row.integral), (row.seconds, row.lower_bound), (0.0, -14.0), textcoords="offset points", ha="center"
            )
    if any(row.integral for row in iterations):
        ax.plot([], [], marker="o", color="C0", linestyle="none", markersize=4.0, label="iteration, with the size of its set")
    scope = "" if solution.swap_size is None else f", swaps of at most {solution.swap_size}"
    ax.set_title(f"{solution.status}, gap {100.0 * solution.gap:.2g} %{scope}", fontsize="medium")
    ax.set_xlim(left=0.0)
    ax.set_xlabel("seconds")
    ax.set_ylabel("objective")
    ax.legend(frameon=False, fontsize="small")
    return ax


def ends_iteration(row: SearchProgress, later: SearchProgress | None) -> bool:
    """Whether a row of the history is the last of an iteration (of IGA, whose first may be number zero, or of cuts)."""
    return bool(row.iteration or row.integral) and (later is None or later.iteration != row.iteration)
