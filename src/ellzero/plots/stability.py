"""Selection frequencies of features on subsamples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ellzero.plots.axes import axes_for, feature_label, legend_beside

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_stability"]


def plot_stability(
    frequency: NDArray[np.float64],
    names: list[str] | None = None,
    ax: Axes | None = None,
    *,
    threshold: float = 0.6,
    top: int = 30,
) -> Axes:
    """Draw the selection frequencies as bars, the most frequent features first, with the threshold.

    Parameters
    ----------
    frequency : (p,) share of the subsamples whose model uses the feature
    names : names of the p features; None calls them x0, x1, ...
    ax : where to draw; None makes a figure
    threshold : features that are chosen at least so often are coloured
    top : at most so many features

    """
    features = np.argsort(-frequency, kind="stable")[:top]
    features = features[frequency[features] > 0.0]
    ax = axes_for(ax, 6.5, 1.2 + 0.24 * max(len(features), 3))
    stable = frequency[features] >= threshold
    ax.barh(range(len(features)), frequency[features], height=0.72, color=np.where(stable, "C0", "0.8").tolist())
    ax.axvline(threshold, color="0.5", linestyle="--", linewidth=1.0, label=f"threshold {threshold:g}")
    ax.set_yticks(range(len(features)), [feature_label(names, int(j)) for j in features])
    ax.set_ylim(max(len(features), 1) - 0.4, -0.6)
    ax.set_xlim(0.0, 1.0)
    ax.set_xlabel("share of subsamples that select the feature")
    ax.set_title(f"{int((frequency >= threshold).sum())} of {len(frequency)} features are stable", fontsize="medium")
    ax.tick_params(axis="y", length=0.0)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    legend_beside(ax)
    return ax
