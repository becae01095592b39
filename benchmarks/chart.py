"""Draw the README's chart from the last run of `make bench`.

    python -m benchmarks.chart

reads the seconds in benchmarks/results/path.md and writes docs/assets/path-times.svg. Its letters stay letters, so that
a test can compare them with the table.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "benchmarks" / "results" / "path.md"
CHART = ROOT / "docs" / "assets" / "path-times.svg"
SECTION = "dense float64, n = 1,000, p = 10,000"
OTHERS = {"glmnet": "glmnet (L1)", "abess": "abess (sizes 0 to 60)"}  # tools that solve another problem
OURS, THEIRS, INK = "#3f7fd6", "#9aa3ad", "#7d858e"  # readable on white and on black


def seconds_of(section: str) -> dict[str, float]:
    """Return the seconds of every tool that finished, on one thread, in a section of the table."""
    body = TABLE.read_text().split(f"## {section}\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| ([\w ]+?) \| 1 \| ([\d.]+) \|", body, flags=re.MULTILINE)
    return {tool: float(seconds) for tool, seconds in rows}


def shown(seconds: float) -> str:
    """Write seconds as the README does: two digits."""
    return f"{float(f'{seconds:.2g}'):g} s"


def draw(path: Path) -> None:
    """Write the bar chart."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    times = sorted(seconds_of(SECTION).items(), key=lambda row: -row[1])
    style = {"svg.fonttype": "none", "svg.hashsalt": "ellzero", "font.family": "sans-serif", "font.size": 12}
    with plt.rc_context(style):
        figure, ax = plt.subplots(figsize=(7.6, 2.5))
        ax.barh(range(len(times)), [value for _, value in times], color=[THEIRS] * (len(times) - 1) + [OURS], height=0.62)
        for place, (tool, value) in enumerate(times):
            ours = tool == "ellzero"
            ink = {"color": OURS if ours else INK, "va": "center", "weight": "bold" if ours else "normal"}
            ax.text(-0.12, place, OTHERS.get(tool, tool), ha="right", **ink)
            ax.text(value + 0.12, place, shown(value), ha="left", **ink)
        figure.text(0.025, 0.9, "A path of 100 models: 1,000 rows, 10,000 features, one thread", color=INK)
        ax.set_xlim(0, 1.1 * times[0][1])
        ax.axis("off")
        figure.subplots_adjust(left=0.26, right=0.99, top=0.86, bottom=0.02)
        figure.savefig(path, transparent=True, metadata={"Date": None})
        plt.close(figure)


if __name__ == "__main__":
    draw(CHART)
