"""The effects of raw columns in models of yes-or-no questions: a step at every cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero.base.validation import as_count
from ellzero.plots.axes import USED, ZERO, feature_label, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARGIN = 0.08  # of the cuts' range, shown on either side
TAIL = 0.02  # of the cuts on either side, which are left out of that range unless the model uses them
MISSING = "#b3541e"


class StepEffects(NamedTuple):
    """The effect of a column of numbers: zero below the first cut, `effects[i]` from `cuts[i]` on; `missing` for none."""

    name: str
    cuts: NDArray[np.float64]
    effects: NDArray[np.float64]
    missing: float = 0.0

    @property
    def spread(self) -> float:
        """The largest difference between two values of the column."""
        return float(np.ptp(np.append(self.effects, [0.0, self.missing])))


def plot_steps(shapes: Sequence[StepEffects], top: int = 9, unit: str = "effect on the log-odds") -> Figure:
    """Draw the effect of each column as steps, all columns on one scale.

    Parameters
    ----------
    shapes : the columns
    top : the largest number of columns; those with the largest effects are shown
    unit : of the effects

    Returns
    -------
    matplotlib Figure

    """
    shown = sorted((each for each in shapes if each.spread > 0.0), key=lambda each: -each.spread)[: as_count("top", top, 1)]
    figure, axes = panels(len(shown), unit)
    for ax, shape in zip(axes, shown, strict=True):
        used = np.flatnonzero(np.diff(shape.effects, prepend=0.0))
        if len(used):
            cuts, effects = shape.cuts[used], shape.effects[used]
            usual = np.append(np.quantile(shape.cuts, (TAIL, 1.0 - TAIL)), cuts)
            width = float(np.ptp(usual)) or abs(float(cuts[0])) or 1.0
            ends = usual.min() - MARGIN * width, usual.max() + MARGIN * width
            ax.step([ends[0], *cuts, ends[1]], [0.0, *effects, effects[-1]], where="post", color=USED)
        if shape.missing:
            ax.axhline(shape.missing, color=MISSING, linestyle=":", linewidth=1.2)
            ax.annotate(
                "missing", (0.02, shape.missing), xycoords=("axes fraction", "data"), color=MISSING, fontsize=7, va="bottom"
            )
        ax.axhline(0.0, color=ZERO, linewidth=0.8)
        ax.set_title(feature_label([shape.name], 0), fontsize=10)
    return figure
