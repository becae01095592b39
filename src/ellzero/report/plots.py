"""Plots of paths and of exact searches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ellzero.exact.search_log import SearchProgress
    from ellzero.exact.solution import ExactSolution
    from ellzero.path import Path

__all__ = ["plot_bounds", "plot_path"]

TICK_SPACING = 0.035
"""Sizes are written above the plot at least this share of its width apart."""

LABEL_SPACING = 0.06
"""The same for the sizes of IGA's set."""

LABELLED = 10
"""So many features, the largest at the end of the path, are named in the legend."""


def plot_path(path: Path, ax: Axes | None = None) -> Axes:
    """Coefficients along the path as steps, with the number of features on the upper axis."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    if ax is None:
        _, ax = plt.subplots(figsize=(8.0, 4.5), layout="constrained")
    coef = path.coef.tocsc()
    features = np.flatnonzero(np.diff(coef.indptr))
    # Named are the features that stay in the model over the longest part of the path.
    lasting = np.diff(coef.indptr)[features]
    named = set(features[np.argsort(-lasting, kind="stable")[:LABELLED]].tolist())
    # The last model holds below its lambda_0 too: a little more axis shows it.
    lambda_0 = np.append(path.lambda_0, 0.8 * path.lambda_0[-1])
    for j in features:
        values = coef[:, [j]].toarray().ravel()
        values = np.append(values, values[-1])
        if j in named:
            name = f"x{j}" if path.problem.design.names is None else path.problem.design.names[j]
            ax.step(lambda_0, values, where="post", linewidth=1.8, label=name)
        else:
            ax.step(lambda_0, values, where="post", linewidth=0.7, color="0.75", zorder=1)
    ax.axhline(0.0, color="black", linewidth=0.8, zorder=0)
    if path.lambda_0[-1] > 0.0:
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter(FormatStrFormatter("%g"))
        ax.xaxis.set_minor_formatter(NullFormatter())
    ax.invert_xaxis()
    ax.set_xlabel(r"$\lambda_0$ (decreasing)")
    ax.set_ylabel("coefficient")
    if named:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small", title="feature")
    top = ax.secondary_xaxis("top")
    shown = spaced_changes(path)
    top.set_xticks(path.lambda_0[shown], [str(size) for size in path.support_size[shown]])
    top.minorticks_off()
    top.set_xlabel("features in the model")
    return ax


def plot_bounds(solution: ExactSolution, ax: Axes | None = None) -> Axes:
    """Objective and lower bound over time as steps, the gap between them shaded, with the sizes of IGA's set."""
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=(8.0, 4.5), layout="constrained")
    rows = solution.history
    seconds = np.array([row.seconds for row in rows] + [solution.seconds])
    upper = np.array([row.objective for row in rows] + [solution.objective])
    lower = np.array([row.lower_bound for row in rows] + [solution.lower_bound])
    ax.fill_between(seconds, lower, upper, step="post", color="C0", alpha=0.12, linewidth=0.0)
    ax.step(seconds, upper, where="post", color="C3", label="objective of the best solution")
    ax.step(seconds, lower, where="post", color="C0", label="lower bound")
    iterations = [row for row, later in zip(rows, [*rows[1:], None], strict=False) if ends_iteration(row, later)]
    ends = np.array([row.seconds for row in iterations])
    ax.plot(ends, [row.lower_bound for row in iterations], "o", color="C0", markersize=4.0)
    for at in far_apart(ends / max(solution.seconds, 1e-9), LABEL_SPACING):
        row = iterations[at]
        if row.integral:
            ax.annotate(
                str(row.integral), (row.seconds, row.lower_bound), (0.0, -14.0), textcoords="offset points", ha="center"
            )
    if any(row.integral for row in iterations):
        ax.plot([], [], marker="o", color="C0", linestyle="none", markersize=4.0, label="iteration, with the size of its set")
    scope = "" if solution.swap_size is None else f", swaps of at most {solution.swap_size}"
    ax.set_title(f"{solution.status}, gap {100.0 * solution.gap:.2g} %{scope}", fontsize="medium")
    ax.set_xlim(left=0.0)
    ax.set_xlabel("seconds")
    ax.set_ylabel("objective")
    ax.legend(frameon=False, fontsize="small")
    return ax


def ends_iteration(row: SearchProgress, later: SearchProgress | None) -> bool:
    """Whether a row of the history is the last of an iteration (of IGA, whose first may be number zero, or of cuts)."""
    return bool(row.iteration or row.integral) and (later is None or later.iteration != row.iteration)


def far_apart(places: Iterable[float], spacing: float) -> list[int]:
    """As many of the places (in increasing order) as are at least `spacing` from each other; the last one always."""
    ordered, shown = list(places), list[int]()
    for k in reversed(range(len(ordered))):
        if not shown or ordered[shown[-1]] - ordered[k] >= spacing:
            shown.append(k)
    return shown[::-1]


def spaced_changes(path: Path) -> list[int]:
    """Points where the size changes, as many as can be labelled side by side; the last one always."""
    changes = np.flatnonzero(np.diff(path.support_size, prepend=-1)).tolist()
    place = -np.log(np.maximum(path.lambda_0, 1e-300)) if path.lambda_0[-1] > 0.0 else -path.lambda_0
    width = max(float(place[-1] - place[0]), 1e-300)
    return [changes[k] for k in far_apart(place[changes] / width, TICK_SPACING)]
