"""What cross-validation saw: scores, and how the chosen features vary between folds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.validation import as_choice
from ellzero.plots.axes import axes_for, far_apart, log_axis
from ellzero.problem.model import feature_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ellzero.estimators.cross_validation import Column, CrossValidation

__all__ = ["plot_scores", "plot_supports"]

ALL_BARS = 3
"""With more columns than this only the chosen one has error bars: the others would hide it."""

SIZE_SPACING = 0.05
"""Sizes above the plot, and points below the heat map, are written at least this share of its width apart."""

USED, UNUSED = "#2a6f97", "#eef2f5"


def plot_scores(cv: CrossValidation, ax: Axes | None = None, *, against: str | None = None) -> Axes:
    """Held-out score against lambda_0 or size: a line for each value of the second penalty, the chosen point marked.

    Error bars are one standard error over the folds. Under the rule "one_se" a dashed line shows the lowest mean score that
    the rule takes for as good as the best.

    Parameters
    ----------
    cv : CrossValidation
    ax : where to draw; None makes a figure
    against : {"lambda_0", "size"}
        None takes what was selected.

    """
    from matplotlib.ticker import MaxNLocator

    against = as_choice("against", cv.select if against is None else against, ("lambda_0", "size"))
    ax = axes_for(ax)
    at, point = cv.best
    places = [column.size if against == "size" else column.lambda_0 for column in cv.columns]
    colours = shades(len(cv.columns))
    for k, column in enumerate(cv.columns):
        style: dict[str, Any] = {"color": colours[k], "label": column_label(column), "markersize": 3.5, "marker": "o"}
        order = np.argsort(places[k], kind="stable")
        x, mean = places[k][order], column.mean[order]
        if k == at or len(cv.columns) <= ALL_BARS:
            error = column.standard_error[order]
            emphasis: dict[str, Any] = {"linewidth": 1.8, "zorder": 4} if k == at else {"linewidth": 1.2, "zorder": 3}
            ax.errorbar(x, mean, yerr=error, elinewidth=1.0, capsize=2.5, **style, **emphasis)
        else:
            ax.plot(x, mean, linewidth=1.0, alpha=0.8, zorder=2, **style)
    chosen = cv.columns[at]
    mark_choice(ax, places[at][point], chosen.mean[point], int(chosen.size[point]))
    if cv.rule == "one_se":
        draw_threshold(cv, ax)
    if against == "size":
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_xlabel("features in the model")
    else:
        if all(column.lambda_0[-1] > 0.0 for column in cv.columns):
            log_axis(ax)
        ax.invert_xaxis()
        ax.set_xlabel(r"$\lambda_0$ (decreasing)")
        draw_sizes(chosen, ax)
    ax.set_ylabel(f"held-out score ({cv.scoring})")
    ax.grid(axis="y", color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
    list_columns(cv, ax)
    return ax


def plot_supports(cv: CrossValidation, ax: Axes | None = None, *, top: int = 30, along: bool = False) -> Axes:
    """Which features each fold's model uses at the chosen point; the names of those in the final model are bold.

    Parameters
    ----------
    cv : CrossValidation
    ax : where to draw; None makes a figure
    top : at most so many features, those that most folds use
    along : True draws the share of folds that use a feature at every point of the chosen column instead

    """
    at, point = cv.best
    column = cv.columns[at]
    final = np.unique(column.coef[point].tocoo().col)
    features = most_used(column, point, final, along)[:top]
    ax = axes_for(ax, 7.0 if along else 2.6 + 0.45 * len(column.fold_supports), 1.4 + 0.24 * max(len(features), 3))
    if along:
        draw_shares(column, point, features, ax, cv.select)
    else:
        draw_folds(column, point, features, ax)
    ax.set_yticks(range(len(features)), [feature_name(cv.names, int(j)) for j in features])
    for label, j in zip(ax.get_yticklabels(), features, strict=True):
        label.set_fontweight("bold" if j in final else "normal")
    ax.tick_params(length=0.0)
    for side in ax.spines.values():
        side.set_visible(False)
    return ax


def most_used(column: Column, point: int, final: NDArray[np.int64], along: bool) -> NDArray[np.int64]:
    """Features in the order of how many folds use them at the point; of equals, those of the final model first."""
    use = sum(support.astype(np.int64) for support in column.fold_supports)
    weight = use[[point]].toarray().ravel() + 0.5 * np.isin(np.arange(use.shape[1]), final)
    if along:  # features that are used at other points only come last
        everywhere = np.asarray(use.sum(axis=0)).ravel()
        weight = weight + 0.4 * everywhere / max(everywhere.max(initial=0), 1)
    order = np.argsort(-weight, kind="stable")
    return order[weight[order] > 0.0]


def draw_folds(column: Column, point: int, features: NDArray[np.int64], ax: Axes) -> None:
    """Features by folds, one square each, and how many folds use a feature at the right."""
    from matplotlib.colors import ListedColormap

    used = np.stack([support[[point]].toarray().ravel()[features] for support in column.fold_supports], axis=1)
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


def draw_shares(column: Column, point: int, features: NDArray[np.int64], ax: Axes, select: str) -> None:
    """Features by points of the column, shaded by the share of folds, the chosen point outlined."""
    from matplotlib.colors import LinearSegmentedColormap

    share = np.mean([support.toarray()[:, features].T for support in column.fold_supports], axis=0)
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
    ax.axvspan(point - 0.5, point + 0.5, fill=False, edgecolor="C3", linewidth=1.6)
    shown = far_apart(np.arange(points) / max(points - 1, 1), 0.8 * SIZE_SPACING)
    ax.set_xticks(shown, [str(column.size[k]) for k in shown])
    ax.set_xlabel("features in the model" if select == "size" else r"features in the model ($\lambda_0$ decreasing)")
    ax.set_title("share of folds that use a feature", fontsize="medium")
    ax.figure.colorbar(mesh, ax=ax, ticks=[0.0, 0.5, 1.0], shrink=0.6, aspect=15, pad=0.02)


def list_columns(cv: CrossValidation, ax: Axes) -> None:
    """A legend with the columns in their order (matplotlib lists lines with and without bars apart), then the rest."""
    handles, labels = ax.get_legend_handles_labels()
    wanted = [column_label(column) for column in cv.columns]
    order = sorted(range(len(labels)), key=lambda k: wanted.index(labels[k]) if labels[k] in wanted else len(wanted))
    place = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
    ax.legend([handles[k] for k in order], [labels[k] for k in order], frameon=False, fontsize="small", **place)


def mark_choice(ax: Axes, x: float, y: float, size: int) -> None:
    """A ring around the chosen point."""
    ax.plot(
        [x],
        [y],
        linestyle="none",
        marker="o",
        markersize=11.0,
        markerfacecolor="none",
        markeredgecolor="C3",
        markeredgewidth=2.0,
        zorder=6,
        label=f"chosen: {size} {'feature' if size == 1 else 'features'}",
    )


def draw_threshold(cv: CrossValidation, ax: Axes) -> None:
    """One standard error below the best mean score."""
    means = [np.max(column.mean, initial=-np.inf, where=~np.isnan(column.mean)) for column in cv.columns]
    best = cv.columns[int(np.argmax(means))]
    top = int(np.nanargmax(best.mean))
    level = best.mean[top] - best.standard_error[top]
    ax.axhline(level, color="0.35", linestyle="--", linewidth=1.0, zorder=1, label="best less one standard error")


def draw_sizes(column: Column, ax: Axes) -> None:
    """The sizes of the chosen column's models above the plot."""
    changes = np.flatnonzero(np.diff(column.size, prepend=-1))
    place = -np.log(column.lambda_0) if column.lambda_0[-1] > 0.0 else -column.lambda_0
    width = max(float(place[-1] - place[0]), 1e-300)
    shown = changes[far_apart(place[changes] / width, SIZE_SPACING)]
    top = ax.secondary_xaxis("top")
    top.set_xticks(column.lambda_0[shown], [str(size) for size in column.size[shown]])
    top.minorticks_off()
    top.set_xlabel("features in the model")


def shades(count: int) -> list[Any]:
    """Colours from dark to light that stay apart on white, for an ordered set of lines."""
    from matplotlib import colormaps

    return [colormaps["viridis"](share) for share in np.linspace(0.0, 0.85, count)] if count > 1 else ["C0"]


def column_label(column: Column) -> str:
    """The second penalty of a column."""
    parts = [f"$\\lambda_{k}$ = {value:.3g}" for k, value in ((1, column.lambda_1), (2, column.lambda_2)) if value > 0.0]
    return ", ".join(parts) or "no second penalty"
