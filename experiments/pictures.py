"""Figures in one style, made without pyplot, whose state is global."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from ellzero.base.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "STYLES", "curve", "figure", "save"]

COLOURS = {
    "L0L2 (CD w. Local Search)": "#c0392b",
    "L0L1 (CD w. Local Search)": "#e67e22",
    "L0L2 (CD)": "#1f5fa8",
    "L0L1 (CD)": "#5dade2",
    "L1": "#1e8449",
    "MCP": "#7d3c98",
    "GraSP": "#7f8c8d",
    "NHTP": "#2c3e50",
}
STYLES = {"GraSP": "--", "NHTP": "--", "L1": "-.", "MCP": "-."}
DPI = 150


def figure(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, Any]:
    """Return a figure of that size in inches, and its axes as an array of rows and columns."""
    from matplotlib.figure import Figure

    out = Figure(figsize=size, layout="constrained")
    axes = out.subplots(rows, columns, squeeze=False)
    for ax in axes.ravel():
        ax.grid(True, color="0.92", linewidth=0.8)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
    return out, axes


def curve(ax: Axes, x: ArrayLike, mean: ArrayLike, error: ArrayLike | None, label: str, colour: str | None = None) -> None:
    """Draw a line through means, with bars of one standard error."""
    ax.errorbar(
        x,
        mean,
        error,
        label=label,
        color=colour or COLOURS.get(label),
        linestyle=STYLES.get(label, "-"),
        linewidth=1.6,
        marker="o",
        markersize=3.5,
        capsize=2.0,
        elinewidth=0.9,
    )


def save(drawn: Figure, path: Path) -> None:
    """Write the figure; the file is complete or not there."""
    with replacing(path) as stream:
        drawn.savefig(stream, format=path.suffix.lstrip("."), dpi=DPI)
