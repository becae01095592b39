"""What moves one prediction: a bar for each feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ellzero.plots.axes import axes_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOM = 0.35  # inches of height for each bar


def plot_contributions(
    labels: Sequence[str], contributions: Sequence[float], title: str, quantity: str, ax: Axes | None = None
) -> Axes:
    """Draw the contributions as horizontal bars, the first at the top: blue raises the score, orange lowers it."""
    axes = axes_for(ax, height=1.2 + ROOM * max(len(labels), 1))
    places = range(len(labels))
    colours = ["tab:blue" if value >= 0.0 else "tab:orange" for value in contributions]
    axes.barh(places, contributions, color=colours)
    axes.set_yticks(places, labels)
    axes.invert_yaxis()
    axes.axvline(0.0, color="0.6", linewidth=0.8)
    axes.set_xlabel(quantity)
    axes.set_title(title)
    return axes
