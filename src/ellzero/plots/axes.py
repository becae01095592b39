"""What pictures have in common: axes of sizes and of lambda_0, matrices of squares, labels that do not overlap.

matplotlib is imported when something is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.imports import whole_imports
from ellzero.base.quoting import shown
from ellzero.problem.model import feature_name
from ellzero.tables.optional import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST_LABEL = 40
"""A name with more characters would leave little room for the picture."""

USED, UNUSED = "#2a6f97", "#eef2f5"  # features in a matrix of squares
ZERO = "#8a97a0"  # the line at zero
PANELS_A_ROW, PANEL = 3, (3.4, 2.6)  # inches


def axes_for(ax: Axes | None, width: float = 8.0, height: float = 4.5) -> Axes:
    """Return the given axes, or those of a new figure of that size in inches."""
    return ax or need("matplotlib.pyplot", "plot").subplots(figsize=(width, height), layout="constrained")[1]


def panels(count: int, unit: str) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels for that many pictures, which share the axis of their values."""
    columns = min(PANELS_A_ROW, max(count, 1))
    rows = -(-max(count, 1) // columns)
    figure, grid = need("matplotlib.pyplot", "plot").subplots(
        rows, columns, figsize=(PANEL[0] * columns, PANEL[1] * rows), squeeze=False, sharey=True, layout="constrained"
    )
    for place, ax in enumerate(grid.ravel()):
        ax.set_visible(place < count)
        ax.spines[["top", "right"]].set_visible(False)
        if place % columns == 0:
            ax.set_ylabel(unit)
    return figure, list(grid.ravel()[:count])


def legend_beside(ax: Axes, *entries: Sequence[Any], **more: Any) -> None:
    """Draw the legend to the right of the picture, where it lies on no line; `entries` are handles and their labels."""
    ax.legend(*entries, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small", **more)


def shades(ax: Axes, count: int) -> list[Any]:
    """Return colours for an ordered set of lines that can be told apart on the background of the axes, light or dark."""
    with whole_imports():
        from matplotlib import colormaps  # optional, and slow to import
        from matplotlib.colors import to_rgb

    if count < 2:
        return ["C0"]
    low, high = (0.0, 0.85) if sum(to_rgb(ax.get_facecolor())) > 1.5 else (0.35, 1.0)
    return [colormaps["viridis"](share) for share in np.linspace(low, high, count)]


def size_axis(ax: Axes) -> None:
    """Write whole numbers of features below the picture."""
    with whole_imports():
        from matplotlib.ticker import MaxNLocator  # optional, and slow to import

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("features in the model")


def lambda_axis(ax: Axes, smallest: float) -> None:
    """Write lambda_0 below the picture, decreasing; on a logarithmic axis with plain numbers if all are positive."""
    with whole_imports():
        from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter  # optional, and slow to import

    if smallest > 0.0:
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter(FormatStrFormatter("%g"))
        ax.xaxis.set_minor_formatter(NullFormatter())
    ax.invert_xaxis()
    ax.set_xlabel(r"$\lambda_0$ (decreasing)")


def sizes_above(ax: Axes, lambda_0: NDArray[np.float64], size: NDArray[np.int64], spacing: float) -> None:
    """Write the sizes of a path's models above the picture where they change, and where there is room; the last one always."""
    changes = np.flatnonzero(np.diff(size, prepend=-1))
    place = -np.log(np.maximum(lambda_0, 1e-300)) if lambda_0[-1] > 0.0 else -lambda_0
    width = max(float(place[-1] - place[0]), 1e-300)
    kept = changes[far_apart(place[changes] / width, spacing)]
    top = ax.secondary_xaxis("top")
    top.set_xticks(lambda_0[kept], [str(number) for number in size[kept]])
    top.minorticks_off()
    top.set_xlabel("features in the model")


def squares(
    ax: Axes, values: NDArray[Any], colours: Sequence[str], *, lowest: float = 0.0, edge: float = 0.0, smooth: bool = False
) -> Any:
    """Draw a matrix as squares, the first row on top; values from `lowest` to one have these colours, or `smooth` shades."""
    with whole_imports():
        from matplotlib.colors import LinearSegmentedColormap, ListedColormap  # optional, and slow to import

    rows, columns = values.shape
    shade = LinearSegmentedColormap.from_list("share", colours) if smooth else ListedColormap(colours)
    style: dict[str, Any] = {"edgecolors": "white", "linewidth": edge} if edge else {}
    places = np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
    mesh = ax.pcolormesh(*places, values, cmap=shade, vmin=lowest, vmax=1.0, **style)
    ax.invert_yaxis()
    return mesh


def without_frame(ax: Axes, sides: Sequence[str] = ("top", "right", "left", "bottom")) -> None:
    """Leave out the frame, or some of its sides."""
    ax.spines[list(sides)].set_visible(False)


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
