"""Models that are nearly as good as the best one: which features each of them uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ellzero.base.imports import whole_imports
from ellzero.plots.axes import axes_for, far_apart, feature_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_alternatives"]

NEGATIVE, UNUSED, POSITIVE = "#b5533c", "#eef2f5", "#2a6f97"
LABEL_SPACING = 0.09  # labels below the matrix are at least this share of its width apart
MOST_EDGES = 40  # squares of more models than that have no edges: these would be all that is seen


def plot_alternatives(
    signs: NDArray[np.float64],
    shares: NDArray[np.float64],
    labels: Sequence[str],
    above: NDArray[np.float64],
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw a row for each feature and a column for each model, and at the right the share of models that use the feature.

    Parameters
    ----------
    signs : (features, models), the sign of each coefficient, zero where a model does not use the feature
    shares : (features,), of all models
    labels : names of the features
    above : (models,), how much worse than the best each model is, in percent, ascending
    title : written above the picture
    ax : where to draw; None makes a figure

    """
    with whole_imports():
        from matplotlib.colors import ListedColormap  # optional, and slow to import
        from matplotlib.patches import Patch

    rows, models = signs.shape
    own = ax is None
    ax = axes_for(ax, 3.4 + 0.22 * min(max(models, 12), 40), 1.7 + 0.26 * max(rows, 3))
    ax.pcolormesh(
        np.arange(models + 1) - 0.5,
        np.arange(rows + 1) - 0.5,
        signs,
        cmap=ListedColormap([NEGATIVE, UNUSED, POSITIVE]),
        vmin=-1.0,
        vmax=1.0,
        edgecolors="white" if models <= MOST_EDGES else "none",
        linewidth=1.5 if models <= MOST_EDGES else 0.0,
    )
    for row, share in enumerate(shares):
        text = "all" if share == 1.0 else f"{100.0 * share:.0f} %" if share >= 0.01 else "< 1 %"
        weight = "bold" if share == 1.0 else "normal"
        ax.annotate(
            text, (1.01, row), xycoords=("axes fraction", "data"), va="center", fontsize="small", color="0.3", weight=weight
        )
    ax.set_yticks(range(rows), [feature_label([label], 0) for label in labels])
    for label, share in zip(ax.get_yticklabels(), shares, strict=True):
        label.set_fontweight("bold" if share == 1.0 else "normal")
    # The best model always has its label, and the others have one where there is room for it.
    kept = [models - 1 - k for k in far_apart((np.arange(models) / max(models - 1, 1)).tolist(), LABEL_SPACING)][::-1]
    ax.set_xticks(kept, [f"{above[k]:.2g}" for k in kept])
    ax.set_xlim(-0.5, max(models, 1) - 0.5)
    ax.invert_yaxis()
    ax.set_xlabel("models, the best at the left: % above the best objective")
    ax.set_title(title, fontsize="medium")
    keys = [(POSITIVE, "positive coefficient", 1.0), (NEGATIVE, "negative coefficient", -1.0)]
    handles = [Patch(color=color, label=word) for color, word, sign in keys if (signs == sign).any()]
    if own:
        ax.figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False, fontsize="small")
    else:  # another figure may have no room outside of the axes
        ax.legend(handles=handles, loc="lower right", fontsize="small")
    ax.tick_params(length=0.0)
    for side in ax.spines.values():
        side.set_visible(False)
    return ax
