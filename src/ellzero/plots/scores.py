"""Held-out scores of cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.validation import as_choice
from ellzero.plots.axes import axes_for, lambda_axis, legend_beside, shades, size_axis, sizes_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

ALL_BARS = 3
"""With more lines than this only the chosen one has error bars: the others would hide it."""

WIDE = 12
"""Numbers of features that differ by a larger factor have a logarithmic axis."""

SIZE_SPACING = 0.05
"""Sizes above the plot are written at least this share of its width apart."""


@dataclass(frozen=True, eq=False)
class ScoreLine:
    """Scores of the models that share one value of the second penalty.

    Attributes
    ----------
    lambda_1, lambda_2 : the second penalty; at most one of them is positive
    lambda_0 : (m,) decreasing
    size : (m,) number of features
    mean, standard_error : (m,) of the held-out scores over the folds
    family : what the models are, if lambda_0 did not choose their features

    """

    lambda_1: float
    lambda_2: float
    lambda_0: Array
    size: NDArray[np.int64]
    mean: Array
    standard_error: Array
    family: str = ""

    @property
    def label(self) -> str:
        """The family and the second penalty, for the legend."""
        parts = [self.family] * bool(self.family) + [
            f"$\\lambda_{k}$ = {value:.3g}" for k, value in ((1, self.lambda_1), (2, self.lambda_2)) if value > 0.0
        ]
        return ", ".join(parts) or "no second penalty"


def plot_scores(
    lines: Sequence[ScoreLine],
    chosen: tuple[int, int],
    ax: Axes | None = None,
    *,
    against: str = "size",
    scoring: str = "score",
    one_se: bool = False,
) -> Axes:
    """Draw held-out scores against lambda_0 or size: a line for each value of the second penalty, the chosen point marked.

    Error bars are one standard error over the folds.

    Parameters
    ----------
    lines : one for each value of the second penalty
    chosen : index of a line and of the point on it
    ax : where to draw; None makes a figure
    against : {"size", "lambda_0"}
    scoring : name of the score, for the y axis
    one_se : True draws a dashed line one standard error below the best mean score

    """
    as_choice("against", against, ("lambda_0", "size"))
    ax = axes_for(ax)
    number, point = chosen
    places = [line.size if against == "size" else line.lambda_0 for line in lines]
    draw_lines(ax, lines, places, number)
    best = lines[number]
    mark_choice(ax, float(places[number][point]), float(best.mean[point]), int(best.size[point]))
    if one_se:
        draw_threshold(ax, lines)
    if against == "size":
        size_axis(ax)
    else:
        lambda_axis(ax, min(line.lambda_0[-1] for line in lines))
        sizes_above(ax, best.lambda_0, best.size, SIZE_SPACING)
    ax.set_ylabel(f"held-out score ({scoring})")
    ax.grid(axis="y", color="0.5", alpha=0.2, linewidth=0.8)
    ax.set_axisbelow(True)
    draw_legend(ax, [line.label for line in lines])
    return ax


def draw_lines(ax: Axes, lines: Sequence[ScoreLine], places: Sequence[NDArray[Any]], chosen: int) -> None:
    """Draw each line at its places; the chosen one is the thickest."""
    colours = shades(ax, len(lines))
    for k, line in enumerate(lines):
        style: dict[str, Any] = {"color": colours[k], "label": line.label, "markersize": 3.5, "marker": "o"}
        order = np.argsort(places[k], kind="stable")
        x, mean = places[k][order], line.mean[order]
        if k == chosen or len(lines) <= ALL_BARS:
            error = line.standard_error[order]
            emphasis: dict[str, Any] = {"linewidth": 1.8, "zorder": 4} if k == chosen else {"linewidth": 1.2, "zorder": 3}
            ax.errorbar(x, mean, yerr=error, elinewidth=1.0, capsize=2.5, **style, **emphasis)
        else:
            ax.plot(x, mean, linewidth=1.0, alpha=0.8, zorder=2, **style)


def draw_legend(ax: Axes, wanted: list[str]) -> None:
    """List the lines in their order, which matplotlib would change (lines without error bars first), then the rest."""
    handles, labels = ax.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda k: wanted.index(labels[k]) if labels[k] in wanted else len(wanted))
    legend_beside(ax, [handles[k] for k in order], [labels[k] for k in order])


def mark_choice(ax: Axes, x: float, y: float, size: int) -> None:
    """Draw a ring around the chosen point."""
    ax.plot(
        x,
        y,
        linestyle="none",
        marker="o",
        markersize=11.0,
        markerfacecolor="none",
        markeredgecolor="C3",
        markeredgewidth=2.0,
        zorder=6,
        label=f"chosen: {size} {'feature' if size == 1 else 'features'}",
    )


def plot_trade(
    sizes: Sequence[int], values: Sequence[float], errors: Sequence[float], chosen: int, ax: Axes | None = None, *, label: str
) -> Axes:
    """Draw the best held-out values, called `label`, against numbers of features; the last model is the best of all.

    A bar is the standard error of the difference from the best model on the same rows, so that the best has none.
    """
    ax = axes_for(ax)
    ax.errorbar(sizes, values, yerr=errors, marker="o", markersize=4.0, linewidth=1.5, elinewidth=1.0, capsize=2.5)
    ax.axhline(values[-1], color="0.5", linestyle="--", linewidth=1.0, zorder=1, label=f"the best: {sizes[-1]} features")
    mark_choice(ax, sizes[chosen], values[chosen], sizes[chosen])
    size_axis(ax)
    if max(sizes) > WIDE * max(min(sizes), 1):
        ax.set_xscale("symlog", linthresh=1.0)
        ticks = [size for size in (0, *(base * 10**power for power in range(7) for base in (1, 2, 5))) if size <= max(sizes)]
        ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        ax.minorticks_off()
    ax.set_ylabel(label)
    ax.grid(axis="y", color="0.5", alpha=0.2, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.legend(frameon=False, fontsize="small")
    return ax


def draw_threshold(ax: Axes, lines: Sequence[ScoreLine]) -> None:
    """Draw the score one standard error below the best mean score."""
    best = max(lines, key=lambda line: float(line.mean.max()))
    level = best.mean.max() - best.standard_error[best.mean.argmax()]
    ax.axhline(level, color="0.5", linestyle="--", linewidth=1.0, zorder=1, label="best less one standard error")
