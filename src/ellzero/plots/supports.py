"""Features that the models of each fold of cross-validation use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.imports import whole_imports
from ellzero.plots.axes import axes_for, far_apart, feature_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FoldSupports", "plot_supports"]

SIZE_SPACING = 0.04
"""Sizes below the heat map are written at least this share of its width apart."""

USUAL_LABEL, INCHES_PER_LETTER = 16, 0.09
"""A new figure is wider by so much for each letter that the longest name has beyond the usual number."""

USED, UNUSED = "#2a6f97", "#eef2f5"


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
    top : at most so many features, those that most folds use
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
    for side in ax.spines.values():
        side.set_visible(False)
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
    with whole_imports():
        from matplotlib.colors import ListedColormap  # optional, and slow to import

    used = np.stack([fold[[supports.chosen]].toarray().ravel()[features] for fold in supports.folds], axis=1)
    folds = used.shape[1]
    ax.pcolormesh(
        np.arange(folds + 1) - 0.5,
        np.arange(len(features) + 1) - 0.5,
        used,
        cmap=ListedColormap([UNUSED, USED]),
        vmin=0.0,
        vmax=1.0,
        edgecolors="white",
        linewidth=2.0,
    )
    for row, count in enumerate(used.sum(axis=1)):
        ax.text(folds - 0.3, row, f"{count}/{folds}", va="center", ha="left", fontsize="small", color="0.35")
    ax.invert_yaxis()
    ax.set_xticks(range(folds), [str(fold + 1) for fold in range(folds)])
    ax.set_xlim(-0.5, folds + 0.4)
    ax.set_xlabel("fold")
    ax.set_title("features of each fold's model", fontsize="medium")


def draw_shares(supports: FoldSupports, features: NDArray[np.int64], ax: Axes) -> None:
    """Draw features by points, shaded by the share of folds that use the feature; the chosen point is outlined."""
    with whole_imports():
        from matplotlib.colors import LinearSegmentedColormap  # optional, and slow to import

    share = np.mean([fold.toarray()[:, features].T for fold in supports.folds], axis=0)
    points = share.shape[1]
    mesh = ax.pcolormesh(
        np.arange(points + 1) - 0.5,
        np.arange(len(features) + 1) - 0.5,
        share,
        cmap=LinearSegmentedColormap.from_list("share", [UNUSED, USED]),
        vmin=0.0,
        vmax=1.0,
    )
    ax.invert_yaxis()
    ax.axvspan(supports.chosen - 0.5, supports.chosen + 0.5, fill=False, edgecolor="C3", linewidth=1.6)
    shown = far_apart(np.arange(points) / max(points - 1, 1), SIZE_SPACING)
    ax.set_xticks(shown, [str(supports.size[k]) for k in shown])
    ax.set_title("share of folds that use a feature", fontsize="medium")
    ax.figure.colorbar(mesh, ax=ax, ticks=[0.0, 0.5, 1.0], shrink=0.6, aspect=15, pad=0.02)
