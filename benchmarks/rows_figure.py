"""The figure of the benchmark of many rows: seconds against rows, 50 columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["draw"]

PANELS = {
    "squared": "squared error, sizes 1 to 10",
    "sizes": "logistic, sizes 1 to 10",
    "ten": "one model",
    "cv": "cross-validation",
}
OURS, THEIRS = ("#1f6fd1", "#7fb0e8", "#12407a"), ("#d9822b", "#8a94a0")
COLUMNS = " x 50"


def draw(records: Path, target: Path) -> None:
    """Draw a panel for each kind of work; `records` is the report's file of raw numbers."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    state = json.loads(records.read_text())
    shown = {name: lines_of(state[name]["raw"]) for name in PANELS if name in state}
    shown = {name: lines for name, lines in shown.items() if lines}
    if not shown:
        return
    with plt.rc_context({"font.size": 8.0, "axes.spines.top": False, "axes.spines.right": False}):
        figure, axes = plt.subplots(1, len(shown), figsize=(3.2 * len(shown), 3.0), squeeze=False)
        for ax, (name, lines) in zip(axes.flat, shown.items(), strict=True):
            panel(ax, PANELS[name], lines)
        axes.flat[0].set_ylabel("seconds")
        figure.tight_layout()
        figure.savefig(target, dpi=120)
        plt.close(figure)


def lines_of(raw: list[dict[str, Any]]) -> dict[str, list[tuple[int, float]]]:
    """Seconds against rows of each tool, of tables that differ only in rows."""
    lines: dict[str, list[tuple[int, float]]] = {}
    for entry in raw:
        rows, _, rest = entry["shape"].partition(COLUMNS)
        for tool, threads, record in entry["found"] if not rest and " x " not in rows else ():
            if "seconds" in record:
                name = f"{tool}, {threads} thread{'s' * (threads > 1)}" if tool.startswith("ellzero") else tool
                lines.setdefault(name, []).append((int(rows.replace(",", "")), record["seconds"]))
    return lines


def panel(ax: Any, title: str, lines: dict[str, list[tuple[int, float]]]) -> None:
    ours, theirs = iter(OURS), iter(THEIRS)
    for name, points in lines.items():
        colour = next(ours if name.startswith("ellzero") else theirs)
        ax.plot(*zip(*sorted(points), strict=True), marker="o", markersize=3.5, color=colour, label=name)
    ax.set(xscale="log", yscale="log", xlabel="rows", title=title)
    ax.grid(color="0.93", linewidth=0.7)
    ax.legend(frameon=False, fontsize=7.0)
