"""Which features models use: those of folds, of subsamples, and those that are nearly as good as the best one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.imports import whole_imports
from ellzero.plots.axes import UNUSED, USED, axes_for, far_apart, feature_label, legend_beside, squares, without_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE_SPACING = 0.04
"""Sizes below the heat map are written at least this share of its width apart."""

USUAL_LABEL, INCHES_PER_LETTER = 16, 0.09
"""A new figure is wider by so much for each letter that the longest name has beyond the usual number."""

NEGATIVE = "#b5533c"  # of a coefficient; positive ones have the colour of used features
MODEL_SPACING = 0.09  # labels below the matrix of models are at least this share of its width apart
MOST_EDGES = 40  # squares of more models than that have no edges: these would be all that is seen


@dataclass(frozen=True, eq=False)
class FoldSupports:
    """Features of the models of F folds at m points (values of lambda_0, or sizes).

    Attributes
    ----------
    folds : list of F boolean CSR matrices of shape (m, p): which features a fold's models use
    size : (m,) number of features of the models of all rows
    chosen : index of the chosen point
    final : indices of the features of the chosen model of all rows
    names : names of the p features; None calls them x0, x1, ...

    """

    folds: list[sparse.csr_matrix]
    size: NDArray[np.int64]
    chosen: int
    final: NDArray[np.int64]
    names: list[str] | None = None


def plot_supports(
    supports: FoldSupports, ax: Axes | None = None, *, top: int = 30, along: bool = False, points: str = "lambda_0"
) -> Axes:
    """Draw which features each fold's model uses at the chosen point; the names of those in the final model are bold.

    Parameters
    ----------
    supports : FoldSupports
    ax : where to draw; None makes a figure
    top : the largest number of features; those that most folds use are shown
    along : True draws the share of folds that use a feature at every point instead
    points : {"lambda_0", "size"}
        What the points differ in, for the x axis with ``along``.

    """
    features = most_used(supports, along)[:top]
    labels = [feature_label(supports.names, int(j)) for j in features]
    long = max(map(len, labels), default=0) - USUAL_LABEL
    width = 7.0 if along else 2.6 + 0.45 * len(supports.folds) + INCHES_PER_LETTER * max(long, 0)
    ax = axes_for(ax, width, 1.4 + 0.24 * max(len(features), 3))
    if along:
        draw_shares(supports, features, ax)
        ax.set_xlabel("features in the model" if points == "size" else r"features in the model ($\lambda_0$ decreasing)")
    else:
        draw_folds(supports, features, ax)
    ax.set_yticks(range(len(features)), labels)
    for label, j in zip(ax.get_yticklabels(), features, strict=True):
        label.set_fontweight("bold" if j in supports.final else "normal")
    ax.tick_params(length=0.0)
    without_frame(ax)
    return ax


def most_used(supports: FoldSupports, along: bool) -> NDArray[np.int64]:
    """Return the features in the order of how many folds use them at the chosen point; of equals, final ones first."""
    use = sum(fold.astype(np.int64) for fold in supports.folds)
    weight = use[[supports.chosen]].toarray().ravel() + 0.5 * np.isin(np.arange(use.shape[1]), supports.final)
    if along:  # features that are used at other points only come last
        everywhere = np.asarray(use.sum(axis=0)).ravel()
        weight = weight + 0.4 * everywhere / max(everywhere.max(initial=0), 1)
    order = np.argsort(-weight, kind="stable")
    return order[weight[order] > 0.0]


def draw_folds(supports: FoldSupports, features: NDArray[np.int64], ax: Axes) -> None:
    """Draw a square for each feature and fold, and at the right how many folds use the feature."""
    used = np.stack([fold[[supports.chosen]].toarray().ravel()[features] for fold in supports.folds], axis=1)
    folds = used.shape[1]
    squares(ax, used, [UNUSED, USED], edge=2.0)
    for row, count in enumerate(used.sum(axis=1)):
        ax.text(folds - 0.3, row, f"{count}/{folds}", va="center", ha="left", fontsize="small", color="0.35")
    ax.set_xticks(range(folds), [str(fold + 1) for fold in range(folds)])
    ax.set_xlim(-0.5, folds + 0.4)
    ax.set_xlabel("fold")
    ax.set_title("features of each fold's model", fontsize="medium")


def draw_shares(supports: FoldSupports, features: NDArray[np.int64], ax: Axes) -> None:
    """Draw features by points, shaded by the share of folds that use the feature; the chosen point is outlined."""
    share = np.mean([fold.toarray()[:, features].T for fold in supports.folds], axis=0)
    points = share.shape[1]
    mesh = squares(ax, share, [UNUSED, USED], smooth=True)
    ax.axvspan(supports.chosen - 0.5, supports.chosen + 0.5, fill=False, edgecolor="C3", linewidth=1.6)
    shown = far_apart(np.arange(points) / max(points - 1, 1), SIZE_SPACING)
    ax.set_xticks(shown, [str(supports.size[k]) for k in shown])
    ax.set_title("share of folds that use a feature", fontsize="medium")
    ax.figure.colorbar(mesh, ax=ax, ticks=[0.0, 0.5, 1.0], shrink=0.6, aspect=15, pad=0.02)


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
    top : the largest number of features

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
    without_frame(ax, ("top", "right", "left"))
    legend_beside(ax)
    return ax


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
        from matplotlib.patches import Patch  # optional, and slow to import

    rows, models = signs.shape
    own = ax is None
    ax = axes_for(ax, 3.4 + 0.22 * min(max(models, 12), 40), 1.7 + 0.26 * max(rows, 3))
    squares(ax, signs, [NEGATIVE, UNUSED, USED], lowest=-1.0, edge=1.5 if models <= MOST_EDGES else 0.0)
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
    kept = [models - 1 - k for k in far_apart((np.arange(models) / max(models - 1, 1)).tolist(), MODEL_SPACING)][::-1]
    ax.set_xticks(kept, [f"{above[k]:.2g}" for k in kept])
    ax.set_xlim(-0.5, max(models, 1) - 0.5)
    ax.set_xlabel("models, the best at the left: % above the best objective")
    ax.set_title(title, fontsize="medium")
    keys = [(USED, "positive coefficient", 1.0), (NEGATIVE, "negative coefficient", -1.0)]
    handles = [Patch(color=color, label=word) for color, word, sign in keys if (signs == sign).any()]
    if own:
        ax.figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False, fontsize="small")
    else:  # another figure may have no room outside of the axes
        ax.legend(handles=handles, loc="lower right", fontsize="small")
    ax.tick_params(length=0.0)
    without_frame(ax)
    return ax
