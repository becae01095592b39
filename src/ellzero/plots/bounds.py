"""Objective and lower bound of an exact search over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ellzero.plots.axes import axes_for, far_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SearchState", "plot_bounds"]

LABEL_SPACING = 0.06
"""The sizes of IGA's set are written at least this share of the plot's width apart."""


@dataclass(frozen=True)
class SearchState:
    """The bounds of a search at one time.

    Attributes
    ----------
    seconds : since the search began
    objective : of the best solution so far
    lower_bound : no solution is better
    iteration : number of the iteration, 0 for methods without iterations (IGA's first may have the number 0, too)
    set_size : number of features in IGA's set of integral variables, 0 for other methods

    """

    seconds: float
    objective: float
    lower_bound: float
    iteration: int = 0
    set_size: int = 0


def plot_bounds(history: Sequence[SearchState], end: SearchState, title: str = "", ax: Axes | None = None) -> Axes:
    """Draw objective and lower bound over time as steps, with the gap between them shaded.

    The end of an iteration is marked by a dot, with the size of IGA's set below it.

    Parameters
    ----------
    history : the states of the search, in the order of time
    end : the state in which the search ended
    title : written above the plot
    ax : where to draw; None makes a figure

    """
    ax = axes_for(ax)
    states = [*history, end]
    seconds = np.array([state.seconds for state in states])
    upper = np.array([state.objective for state in states])
    lower = np.array([state.lower_bound for state in states])
    ax.fill_between(seconds, lower, upper, step="post", color="C0", alpha=0.12, linewidth=0.0)
    ax.step(seconds, upper, where="post", color="C3", label="objective of the best solution")
    ax.step(seconds, lower, where="post", color="C0", label="lower bound")
    draw_iterations(ax, ends_of_iterations(history), end.seconds)
    ax.set_title(title, fontsize="medium")
    ax.set_xlim(left=0.0)
    ax.set_xlabel("seconds")
    ax.set_ylabel("objective")
    ax.legend(frameon=False, fontsize="small")
    return ax


def draw_iterations(ax: Axes, ends: list[SearchState], seconds: float) -> None:
    """Mark the ends of iterations; the sizes of IGA's set are written where there is room for them."""
    times = np.array([state.seconds for state in ends])
    ax.plot(times, [state.lower_bound for state in ends], "o", color="C0", markersize=4.0)
    for state in (ends[k] for k in far_apart(times / max(seconds, 1e-9), LABEL_SPACING)):
        if state.set_size:
            place = (state.seconds, state.lower_bound)
            ax.annotate(str(state.set_size), place, (0.0, -14.0), textcoords="offset points", ha="center")
    if any(state.set_size for state in ends):
        ax.plot([], [], marker="o", color="C0", linestyle="none", markersize=4.0, label="iteration, with the size of its set")


def ends_of_iterations(history: Sequence[SearchState]) -> list[SearchState]:
    """Return the last state of each iteration (of IGA, or of outer approximation)."""
    following = [*(state.iteration for state in history[1:]), None]
    return [
        state
        for state, later in zip(history, following, strict=False)
        if (state.iteration or state.set_size) and later != state.iteration
    ]
