"""Objective and lower bound of an exact search over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ellzero.plots.axes import axes_for, far_apart, lambda_axis, legend_beside, size_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    # A search that ended at its root has no history, or one report at its end: what it proved is then all there is to see.
    short = len(history) < 2
    states = [SearchState(0.0, end.objective, end.lower_bound), end] if short else [*history, end]
    seconds = np.array([state.seconds for state in states])
    upper = np.array([state.objective for state in states])
    lower = np.array([state.lower_bound for state in states])
    ax.fill_between(seconds, lower, upper, step="post", color="C0", alpha=0.12, linewidth=0.0)
    ax.step(seconds, upper, where="post", color="C3", label="objective of the best solution")
    ax.step(seconds, lower, where="post", color="C0", label="lower bound")
    if not short:
        draw_iterations(ax, ends_of_iterations(history), end.seconds)
    ax.set_title(title, fontsize="medium")
    ax.set_xlim(left=0.0)
    ax.set_xlabel("seconds")
    ax.set_ylabel("objective")
    if short:
        show_end(ax, end)
    legend_beside(ax)
    return ax


def show_end(ax: Axes, end: SearchState) -> None:
    """Make room around the two bounds, which lie close together, and write them."""
    room = max(end.objective - end.lower_bound, 1e-3 * abs(end.objective), 1e-300)
    ax.set_ylim(end.lower_bound - 2.0 * room, end.objective + 3.0 * room)
    ax.set_xlim(0.0, max(end.seconds, 1e-6))
    ax.ticklabel_format(axis="y", useOffset=False)
    between = f"The best objective lies between {end.lower_bound:.8g} and {end.objective:.8g}."
    ax.text(0.5, 0.95, f"A short search, without a history to show.\n{between}", transform=ax.transAxes, ha="center", va="top")


def plot_certified(
    places: NDArray[np.float64],
    objective: NDArray[np.float64],
    lower_bound: NDArray[np.float64],
    proved: NDArray[np.bool_],
    ax: Axes | None = None,
    *,
    by_size: bool = True,
) -> Axes:
    """Draw objective and proved lower bound of every point of a path, or of every size; points without a full proof are hollow.

    Parameters
    ----------
    places : (m,) sizes, or values of lambda_0
    objective, lower_bound : (m,)
    proved : (m,) whether the requested gap is proved
    ax : where to draw; None makes a figure
    by_size : whether `places` are sizes

    """
    ax = axes_for(ax)
    order = np.argsort(places)
    ax.fill_between(places[order], lower_bound[order], objective[order], color="C0", alpha=0.15, linewidth=0.0)
    ax.plot(places[order], lower_bound[order], color="C0", linewidth=1.4, label="proved lower bound")
    ax.plot(places[order], objective[order], color="C3", linewidth=1.0, linestyle="--", label="objective of the best model")
    ax.plot(places[proved], objective[proved], "o", color="C3", markersize=5.0, label="proved to be the best, up to the gap")
    if not proved.all():
        open_points = {"color": "C3", "markerfacecolor": ax.get_facecolor(), "linestyle": "none", "marker": "o"}
        ax.plot(places[~proved], objective[~proved], label="the search ended early", **open_points)
    if by_size:
        size_axis(ax)
    else:
        lambda_axis(ax, places.min())
    ax.set_ylabel("objective")
    legend_beside(ax)
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
