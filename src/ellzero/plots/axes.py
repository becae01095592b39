"""Axes to draw on, and labels that do not overlap; matplotlib is imported when something is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ellzero.base.imports import whole_imports
from ellzero.base.quoting import shown
from ellzero.problem.model import feature_name
from ellzero.tables.optional import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LONGEST_LABEL", "axes_for", "far_apart", "feature_label", "legend_beside", "log_axis", "shades"]

LONGEST_LABEL = 40
"""A name with more characters would leave little room for the picture."""


def axes_for(ax: Axes | None, width: float = 8.0, height: float = 4.5) -> Axes:
    """Return the given axes, or those of a new figure of that size in inches."""
    if ax is not None:
        return ax
    return need("matplotlib.pyplot", "plot").subplots(figsize=(width, height), layout="constrained")[1]


def legend_beside(ax: Axes, handles: Sequence[Any] | None = None, labels: Sequence[str] | None = None, **more: Any) -> None:
    """Draw the legend to the right of the picture, where it lies on no line."""
    given = () if handles is None else (handles, labels)
    ax.legend(*given, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small", **more)


def shades(ax: Axes, count: int) -> list[Any]:
    """Return colours for an ordered set of lines that can be told apart on the background of the axes, light or dark."""
    with whole_imports():
        from matplotlib import colormaps  # optional, and slow to import
        from matplotlib.colors import to_rgb

    if count < 2:
        return ["C0"]
    low, high = (0.0, 0.85) if sum(to_rgb(ax.get_facecolor())) > 1.5 else (0.35, 1.0)
    return [colormaps["viridis"](share) for share in np.linspace(low, high, count)]


def log_axis(ax: Axes) -> None:
    """Make the x axis logarithmic, with plain numbers at 1, 2 and 5."""
    with whole_imports():
        from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter  # optional, and slow to import

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def feature_label(names: Sequence[str] | None, j: int) -> str:
    """Return the name of feature j as a label: a dollar begins no formula, and an underscore does not hide it from a legend."""
    name = shown(feature_name(names, j), LONGEST_LABEL).replace("$", r"\$")
    return f" {name}" if name.startswith("_") else name


def far_apart(places: Iterable[float], spacing: float) -> list[int]:
    """Return indices of places (which increase) that are at least `spacing` from each other; the last one is always there."""
    ordered, shown = list(places), list[int]()
    for k in reversed(range(len(ordered))):
        if not shown or ordered[shown[-1]] - ordered[k] >= spacing:
            shown.append(k)
    return shown[::-1]
