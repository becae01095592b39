"""Figures 1 and 2: selection and prediction as n grows, for high and medium correlation."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from experiments.experiment import Experiment, Record, Scale, Task
from experiments.fixed_design import Data, Setting, measure
from experiments.measurement.markdown import folded, mean_with_error_text, table
from experiments.measurement.statistics import grouped, mean_with_error
from experiments.peers.grasp import GraSP
from experiments.peers.l0 import L0
from experiments.peers.l1 import L1
from experiments.peers.mcp import MCP
from experiments.peers.method import Method
from experiments.peers.nhtp import NHTP
from experiments.peers.selection import validation_loss
from experiments.pictures import curve, figure, save

__all__ = ["FIG1", "FIG2", "SampleSizes"]

REPETITIONS = 20
QUICK_REPETITIONS = 3
MEASURES = {
    "f1": ("recovery F1 score", 2),
    "auc": ("AUC on new rows", 3),
    "support_size": ("support size", 1),
    "false_positives": ("false positives", 1),
    "auc_same_rows": ("AUC on the same rows", 3),
}
MAIN = ("f1", "auc", "support_size")
"""The measures whose tables are open; the others are folded away."""
DRAWN = ("auc", "f1", "support_size", "false_positives")


@dataclass(frozen=True)
class SampleSizes:
    """The experiment of one figure: p, k and s fixed, n from 100 to 1000."""

    name: str
    title: str
    rho: float
    serial: bool = False

    def setting(self, quick: bool) -> Setting:
        """Return the paper's setting, p = 1000 and 25 features that matter, or that of a quick run."""
        p, k, new_rows = (200, 8, 1000) if quick else (1000, 25, 2000)
        return Setting(p, k, s=1.0, correlation="exponential", rho=self.rho, new_rows=new_rows)

    def methods(self, quick: bool) -> dict[str, Method]:
        """Return the methods of the figure with the paper's grids, by name; a quick run has coarser ones."""
        shrinkage = tuple(np.geomspace(100.0, 1e-4, 3 if quick else 10).tolist())
        sizes = range(1, 31) if quick else range(1, 101)
        largest = 30 if quick else 100
        second = {"L0L2": shrinkage, "L0L1": None}
        every: list[Method] = [
            L0(penalty, algorithm, shrinkage=second[penalty], max_support=largest)
            for algorithm in ("local_search", "cd")
            for penalty in ("L0L2", "L0L1")
        ]
        every += [L1(), MCP(np.geomspace(1.5, 25.0, 3 if quick else 10)), GraSP(sizes, shrinkage), NHTP(sizes, shrinkage)]
        return {method.name: method for method in every}

    def tasks(self, scale: Scale) -> list[Task]:
        """Return all tasks, repetition by repetition, so that an interrupted run has about equally many of each n."""
        rows = (100, 300) if scale.quick else (100, 200, 400, 600, 800, 1000)
        names = [name for name, method in self.methods(scale.quick).items() if method.missing() is None]
        return [
            {"n": n, "repetition": repetition, "method": name, "quick": scale.quick}
            for repetition in range(scale.repeats(REPETITIONS, QUICK_REPETITIONS))
            for n in rows
            for name in names
        ]

    def run(self, task: Task) -> Record:
        """Run one method on one draw."""
        seed = (round(100 * self.rho), task["n"], task["repetition"])
        data = Data.draw(self.setting(task["quick"]), task["n"], seed)
        method = self.methods(task["quick"])[task["method"]]
        out: Record = measure(method, data, "logistic", {"loss": validation_loss})["loss"]
        return out

    def report(self, records: list[Record], folder: Path, scale: Scale) -> str:
        """Return tables of all measures by n, and the comparison of Algorithm 2 with each competitor; draw the figure."""
        setting = self.setting(scale.quick)
        cells = grouped(records, lambda record: (record["method"], record["n"]))
        methods = [name for name in self.methods(scale.quick) if any(key[0] == name for key in cells)]
        rows = sorted({record["n"] for record in records})
        picture = f"{scale.label(self.name)}.png"
        self.draw(cells, methods, rows, folder / picture, scale.quick)
        counts = sorted({len(cell) for cell in cells.values()})
        repetitions = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        quick = " A quick run: smaller data and coarser grids than the paper's." * scale.quick
        parts = [
            f"Sigma_ij = {self.rho:g}^|i-j|, p = {setting.p}, {setting.k} features matter, s = 1, logistic loss, {repetitions} "
            f"repetition{'s' * (repetitions != '1')}; mean ± standard error.{quick}",
            f"![{self.title}]({picture})",
            self.comparison(cells, methods, rows),
        ]
        for key, (title, digits) in MEASURES.items():
            body = [
                [
                    name,
                    *(
                        mean_with_error_text([record[key] for record in cells[name, n]], digits) if (name, n) in cells else "-"
                        for n in rows
                    ),
                ]
                for name in methods
            ]
            shown = table(["method", *(f"n = {n}" for n in rows)], body)
            parts.append(f"**{title}**\n\n{shown}" if key in MAIN else folded(title, shown))
        absent = [f"{name}: {why}" for name, method in self.methods(scale.quick).items() if (why := method.missing())]
        return "\n\n".join(parts + [f"Left out: {'; '.join(absent)}"] * bool(absent))

    def comparison(self, cells: dict[tuple[str, int], list[Record]], methods: list[str], rows: list[int]) -> str:
        """Return where a competitor is better than Algorithm 2 by more than one standard error of the difference.

        Each penalty is judged by itself: the better of the two at each n would be a choice made after the fact.
        """
        ours = [name for name in methods if name.endswith("Local Search)")]
        theirs = [name for name in methods if not name.startswith("L0")]
        lines = []
        for key, name in product(("f1", "auc"), ours):
            pairs = (
                (n, rival, paired(cells.get((rival, n), []), cells.get((name, n), []), key)) for n in rows for rival in theirs
            )
            known = [(n, rival, *difference) for n, rival, difference in pairs if difference is not None]
            better = [f"{rival} at n = {n} (by {mean:.3f} ± {error:.3f})" for n, rival, mean, error in known if mean > error]
            verdict = (
                f"in {len(better)} of {len(known)} comparisons a competitor is better" if known else "nothing to compare yet"
            )
            lines.append(f"- {MEASURES[key][0]}, {name}: {verdict}{': ' * bool(better)}{', '.join(better)}.")
        note = "Algorithm 2 against the competitors, by repetition; a difference counts if it exceeds its standard error.\n\n"
        return note + "\n".join(lines)

    def draw(
        self, cells: dict[tuple[str, int], list[Record]], methods: list[str], rows: list[int], path: Path, quick: bool
    ) -> None:
        """Draw four panels as in the paper."""
        drawn, axes = figure(2, 2, (11.0, 8.0))
        for ax, key in zip(axes.ravel(), DRAWN, strict=True):
            for name in methods:
                known = [n for n in rows if (name, n) in cells]
                points = [mean_with_error([record[key] for record in cells[name, n]]) for n in known]
                curve(ax, known, [mean for mean, _ in points], [error for _, error in points], name)
            ax.set_xlabel("n")
            ax.set_title(MEASURES[key][0], fontsize="medium")
        for ax in axes[1]:
            ax.set_yscale("symlog", linthresh=10.0)
            ax.set_ylim(bottom=0.0)
            ax.set_yticks([0, 5, 10, 20, 50, 100, 200], ["0", "5", "10", "20", "50", "100", "200"])
        axes[1, 0].axhline(self.setting(quick).k, color="0.4", linewidth=0.8, linestyle=":")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        drawn.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
        save(drawn, path)


def paired(theirs: list[Record], ours: list[Record], key: str) -> tuple[float, float] | None:
    """Return the mean difference over common repetitions, and its standard error; None for fewer than two repetitions."""
    mine = {record["repetition"]: record[key] for record in ours}
    differences = [record[key] - mine[record["repetition"]] for record in theirs if record["repetition"] in mine]
    return mean_with_error(differences) if len(differences) > 1 else None


FIG1: Experiment = SampleSizes("fig1", "Figure 1: high correlation, n from 100 to 1000", 0.9)
FIG2: Experiment = SampleSizes("fig2", "Figure 2: medium correlation, n from 100 to 1000", 0.5)
