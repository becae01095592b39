"""The figure of the benchmark of choices: scores against features, with the points that each tool chose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["draw"]

COLUMNS = 7
OURS, THEIRS, OTHER = "#1f6fd1", "#d9822b", "#8a94a0"
MARK: dict[str, Any] = {"markersize": 7.0, "markeredgecolor": "white", "zorder": 5, "linestyle": "none"}
TITLES = {"tuned": "tuned on", "once": "looked at once", "regression": "regression"}


def draw(records: Path, target: Path) -> None:
    """Draw a panel for each set that a report has; `records` is its file of raw numbers."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    state = json.loads(records.read_text())
    panels = [(name, entry) for name in TITLES if name in state for entry in state[name]["raw"]]
    rows = -(-len(panels) // COLUMNS)
    with plt.rc_context({"font.size": 8.0, "axes.spines.top": False, "axes.spines.right": False}):
        figure, axes = plt.subplots(rows, COLUMNS, figsize=(2.3 * COLUMNS, 2.2 * rows + 0.7), squeeze=False)
        for ax, (group, entry) in zip(axes.flat, panels, strict=False):
            panel(ax, group, entry)
        for ax in axes.flat[len(panels) :]:
            ax.axis("off")
        handles, labels = axes.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="lower center", ncols=len(labels), frameon=False, fontsize=9.0)
        figure.supxlabel("features in the model", y=0.055, fontsize=9.0)
        figure.supylabel("AUC (R2 of a regression) on other rows", fontsize=9.0)
        figure.tight_layout(rect=(0.008, 0.075, 1.0, 1.0), h_pad=1.2)
        figure.savefig(target, dpi=110)
        plt.close(figure)


def panel(ax: Any, group: str, entry: dict[str, Any]) -> None:
    """Draw one set: the curves of both tools, and what each of them chose, all as means over the splits that have curves."""
    found = entry["found"]
    ax.plot(*stepped([record["curve"] for record in found["curve"] if record["curve"]]), color=OURS, label="L0, by size")
    ax.plot(*paired([record["curve"] for record in found["peer"] if "curve" in record]), color=THEIRS, label="l1, by penalty")
    for rule, colour, marker, label in (
        ("sparse", OTHER, "s", 'L0, rule="sparse"'),
        ("auto", OURS, "o", "L0, its choice"),
        ("peer", THEIRS, "D", "l1, its choice"),
    ):
        same = [record for record, other in zip(found[rule], found["curve"], strict=True) if other["curve"]]
        point = [float(np.mean([record[name] for record in same])) for name in ("features", "score")]
        ax.plot(max(point[0], 1.0), point[1], color=colour, marker=marker, label=label, **MARK)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set_xlim(left=0.9)
    ax.set_title(f"{entry['set']}\n({TITLES[group]})", fontsize=8.5)
    ax.grid(color="0.93", linewidth=0.7)
    ax.set_axisbelow(True)


def stepped(curves: list[list[list[float]]]) -> tuple[list[float], list[float]]:
    """The mean over splits of the score, by the largest number of features."""
    sizes = sorted({size for curve in curves for size, _ in curve if size >= max(c[0][0] for c in curves)})
    at = [[next(score for size, score in reversed(curve) if size <= limit) for curve in curves] for limit in sizes]
    return sizes, [float(np.mean(scores)) for scores in at]


def paired(curves: list[list[list[float]]]) -> tuple[list[float], list[float]]:
    """The mean over splits of features and score at each penalty, counted from the weakest."""
    points = min(map(len, curves))
    stacked = np.array([curve[-points:] for curve in curves]).mean(axis=0)
    return stacked[:, 0].tolist(), stacked[:, 1].tolist()
