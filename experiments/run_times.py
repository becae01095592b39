"""Figure 4: seconds for a path of 100 solutions against the number of features."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.datasets import make_classification
from ellzero.paths.fitting import fit_path, lambda_grid
from experiments.experiment import Experiment, Record, Scale, Task
from experiments.measurement.markdown import folded, processor, range_text, table, three_digits
from experiments.measurement.statistics import grouped, mean_with_error
from experiments.measurement.timing import best_time, call_in_process, run_program
from experiments.peers.nhtp import NHTP
from experiments.peers.rscript import SCRIPTS, has_r_package, write_problem
from experiments.pictures import curve, figure, save

__all__ = ["FIG4", "RunTimes"]

ROWS, TRUE = 1000, 5
LAMBDA_2 = 1e-7 / ROWS  # 1e-7 times a sum over rows; in L0Learn's scaling 1e-7 is more, but has no visible effect either
TOLERANCE = 1e-6
SECONDS_FOR_RUNS = 10.0  # no further run begins after that many seconds
REFERENCE = "glmnet"
OURS = ("ellzero 1", "ellzero 2")
OWN_NHTP = "NHTP (our code)"
TOOLS: dict[str, str | None] = {
    "ellzero 1": None,
    "ellzero 2": None,
    REFERENCE: "glmnet",
    "L0Learn 1": "L0Learn",
    "L0Learn 2": "L0Learn",
    "ncvreg": "ncvreg",
    OWN_NHTP: None,
}
"""Each tool, and the R package that it needs."""
SLOW = ("L0Learn 1", "L0Learn 2", "ncvreg")  # not in quick runs: they take five seconds and more at p = 1,000


@dataclass(frozen=True)
class Size:
    """The size of the experiment: problems, paths and repetitions."""

    features: tuple[int, ...]
    points: int  # solutions on a path, and the largest size of NHTP
    ratio: float  # of the last lambda_0 to the first
    runs: int  # the best of this many counts
    limit: float  # seconds that a fit may take


FULL = Size((1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000), points=100, ratio=1e-3, runs=3, limit=120.0)
QUICK = Size((1_000, 2_000, 4_000), points=30, ratio=0.2, runs=1, limit=20.0)

COLOURS = {
    "ellzero 1": "#1f5fa8",
    "ellzero 2": "#c0392b",
    REFERENCE: "#1e8449",
    "L0Learn 1": "#5dade2",
    "L0Learn 2": "#e67e22",
    "ncvreg": "#7d3c98",
    OWN_NHTP: "#2c3e50",
}

SETTING = """n = {rows:,}, independent features of which {true} matter, s = 1, logistic loss. A path of {points} solutions,
tolerance {tolerance:g}, lambda_0 from its maximum to {ratio:g} of it (the same grid for ellzero and L0Learn), lambda_2 = 1e-7
(ours: 1e-7 / n; too little to matter); glmnet and ncvreg choose their own paths. NHTP is our implementation of it, models of
1 to {points} features. "1" is Algorithm 1 (coordinate descent), "2" Algorithm 2 (with local search, m = 1). One thread each,
a separate process; only the fit is timed (inside R for R's packages), best of {runs}, or of as many as begin in the first
{seconds:g} s. {machine}; {repetitions} to a number. The tools optimise different things: the last table says how large their
models get."""
PAPER = """The paper (6-core i7-8750H, R 4.0.3) prints a picture and few numbers: L0Learn 1 and glmnet are the fastest,
L0Learn 1 slightly the faster of them above p = 40,000; L0Learn 2 needs less than a minute at p = 100,000, GraSP 3,701 s,
everything else less than 70 s."""


@dataclass(frozen=True)
class RunTimes:
    """The experiment of Figure 4: tools that fit paths, on more and more features."""

    name: str = "fig4"
    title: str = "Figure 4: run times of paths against p"
    serial: bool = True

    def tools(self, quick: bool) -> list[str]:
        """Return the tools that take part, in the order of the tables."""
        installed = [name for name, package in TOOLS.items() if package is None or has_r_package(package)]
        return [name for name in installed if not (quick and name in SLOW)]

    def tasks(self, scale: Scale) -> list[Task]:
        """Return all tasks, small problems first."""
        return [
            {"p": p, "repetition": repetition, "method": tool, "quick": scale.quick}
            for repetition in range(scale.repeats(1, 1))
            for p in size_for(scale.quick).features
            for tool in self.tools(scale.quick)
        ]

    def run(self, task: Task) -> Record:
        """Time one tool on one problem; "time" is None where it exceeds the limit."""
        limit = size_for(task["quick"]).limit
        patience = limit + 20.0 + task["p"] / 1000  # making and sending the data takes time, too
        here = TOOLS[task["method"]] is None
        record = call_in_process(f"{__name__}:time_here", task, patience) if here else time_in_r(task, patience)
        if record is None or record["time"] > limit:
            record = (record or {}) | {"time": None}
        return record | {"limit": limit}

    def report(self, records: list[Record], folder: Path, scale: Scale) -> str:
        """Return the seconds, their ratios and the lengths of the paths, with the paper's statements."""
        results = Results(grouped(records, lambda record: (record["p"], record["method"])))
        size = size_for(scale.quick)
        picture = f"{scale.label(self.name)}.png"
        results.draw(folder / picture, f"seconds for a path of {size.points} solutions")
        parts = [
            SETTING.format(
                rows=ROWS,
                true=TRUE,
                points=size.points,
                ratio=size.ratio,
                tolerance=TOLERANCE,
                runs=size.runs,
                seconds=SECONDS_FOR_RUNS,
                machine=processor(),
                repetitions=results.repetitions(),
            ),
            PAPER,
            f"![Seconds against p]({picture})",
            f"Seconds:\n\n{results.table(results.seconds_entry)}",
            f"Seconds divided by those of {REFERENCE}:\n\n{results.table(results.ratio_entry)}",
            folded("Solutions on the path (features of the largest)", results.table(results.path_entry)),
            absent(results.tools, scale.quick),
            "\n".join(f"- {verdict}" for verdict in results.verdicts()),
        ]
        return "\n\n".join(part for part in parts if part)


def size_for(quick: bool) -> Size:
    """Return the size of the paper's experiment, or that of a quick run."""
    return QUICK if quick else FULL


# One measurement.


def draw_problem(task: Task) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw the data, which are the same for all tools."""
    random_state = np.random.default_rng([4, task["p"], task["repetition"]])
    X, y, _ = make_classification(ROWS, task["p"], TRUE, s=1.0, random_state=random_state)
    return X, y


def time_here(task: Task) -> Record:
    """Time a tool that Python can call."""
    X, y = draw_problem(task)
    size, tool = size_for(task["quick"]), task["method"]
    if tool == OWN_NHTP:
        method = NHTP(sizes=range(1, size.points + 1), lambda_2=[LAMBDA_2])
        models, seconds, runs = best_time(lambda: [len(fit.support) for fit in method.fits(X, y)], size.runs, SECONDS_FOR_RUNS)
    else:
        options: dict[str, Any] = {"lambda_0": grid_of(X, y, size), "lambda_2": LAMBDA_2, "tol": TOLERANCE, "n_jobs": 1}
        options["algorithm"] = "cd" if tool == OURS[0] else "local_search"
        models, seconds, runs = best_time(lambda: fit_path(X, y, **options).support_size.tolist(), size.runs, SECONDS_FOR_RUNS)
    return {"time": seconds, "runs": runs, "solutions": len(models), "largest": max(models)}


def grid_of(X: NDArray[np.float64], y: NDArray[np.int64], size: Size) -> NDArray[np.float64]:
    """Return the values of lambda_0."""
    return lambda_grid(X, y, n_lambda=size.points, lambda_min_ratio=size.ratio, lambda_2=LAMBDA_2)


def time_in_r(task: Task, patience: float) -> Record | None:
    """Time an R package inside R, without the time to send the data."""
    X, y = draw_problem(task)
    size = size_for(task["quick"])
    with tempfile.TemporaryDirectory(prefix="ellzero-") as name:
        folder = Path(name)
        write_problem(X, y, folder)
        (ROWS * grid_of(X, y, size)).tofile(folder / "grid.bin")
        del X  # leaves the memory to R
        words = [name, str(size.runs), str(SECONDS_FOR_RUNS), task["method"]]
        command = ["Rscript", "--vanilla", str(SCRIPTS / "run_times.R"), *words]
        text = run_program(command, patience)
    return None if text is None else json.loads(text.splitlines()[-1])


# The report on the measurements.


@dataclass(frozen=True)
class Results:
    """Records by number of features and tool."""

    cells: dict[tuple[int, str], list[Record]]

    @property
    def features(self) -> list[int]:
        """Return the numbers of features, ascending."""
        return sorted({p for p, _ in self.cells})

    @property
    def tools(self) -> list[str]:
        """Return the tools with results."""
        return [tool for tool in TOOLS if any(name == tool for _, name in self.cells)]

    def repetitions(self) -> str:
        """Return how many data sets a number is the mean of."""
        counts = sorted({len(cell) for cell in self.cells.values()})
        return " or ".join(f"{count} data set{'s' * (count > 1)}" for count in counts)

    def times(self, p: int, tool: str) -> list[float]:
        """Return the seconds on all data sets, none if the limit was exceeded on one of them."""
        times = [record["time"] for record in self.cells.get((p, tool), [])]
        return [] if None in times else times

    def mean(self, p: int, tool: str) -> float | None:
        """Return the mean of the seconds, None where there is none."""
        times = self.times(p, tool)
        return float(np.mean(times)) if times else None

    def at_least(self, p: int, tool: str) -> float | None:
        """Return the limit that the tool exceeded, None if it did not or was not run."""
        return max((record["limit"] for record in self.cells.get((p, tool), []) if record["time"] is None), default=None)

    def seconds_entry(self, p: int, tool: str) -> str:
        """Return the seconds, with a standard error where there are several data sets."""
        limit, times = self.at_least(p, tool), self.times(p, tool)
        if limit is not None:
            return f"over {limit:g}"
        if not times:
            return "-"
        mean, error = mean_with_error(times)
        return three_digits(mean) + (f" ± {three_digits(error)}" if len(times) > 1 else "")

    def ratio_entry(self, p: int, tool: str) -> str:
        """Return the seconds divided by those of the reference."""
        reference, limit, mean = self.mean(p, REFERENCE), self.at_least(p, tool), self.mean(p, tool)
        if reference is None or (limit is None and mean is None):
            return "-"
        return f"over {three_digits(limit / reference)}" if limit is not None else three_digits((mean or 0.0) / reference)

    def path_entry(self, p: int, tool: str) -> str:
        """Return the length and the largest model of the path on the first data set."""
        cell = self.cells.get((p, tool), [{}])
        return f"{cell[0]['solutions']} ({cell[0]['largest']})" if "solutions" in cell[0] else "-"

    def table(self, entry: Callable[[int, str], str]) -> str:
        """Return a table with a row for each number of features and a column for each tool."""
        rows = [[f"{p:,}", *(entry(p, tool) for tool in self.tools)] for p in self.features]
        return table(["p", *self.tools], rows)

    def draw(self, path: Path, ylabel: str) -> None:
        """Draw the seconds against p on logarithmic axes."""
        drawn, axes = figure(1, 1, (8.0, 4.4))
        ax = axes[0, 0]
        for tool in self.tools:
            points = [(p, self.times(p, tool)) for p in self.features if self.times(p, tool)]
            if points:
                means, errors = zip(*(mean_with_error(times) for _, times in points), strict=True)
                curve(ax, [p for p, _ in points], means, errors, tool, COLOURS[tool])
        ax.set(xscale="log", yscale="log", xlabel="p", ylabel=ylabel)
        if ax.get_legend_handles_labels()[0]:
            ax.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
        save(drawn, path)

    def verdicts(self) -> list[str]:
        """Return the paper's statements, checked with our numbers where these exist."""
        pairs = [(OURS[0], REFERENCE), (OURS[1], REFERENCE), (OURS[0], "L0Learn 1"), (OURS[1], "L0Learn 2")]
        out = [self.against(tool, other, self.features) for tool, other in pairs]
        large = self.against("L0Learn 1", REFERENCE, [p for p in self.features if p > 40_000])
        out += [f"Above p = 40,000 {large} The paper: slightly faster."] if large else []
        out += [self.within(tool, FULL.features[-1], 60.0 if tool.endswith("2") else 70.0) for tool in self.tools]
        return [sentence for sentence in out if sentence]

    def against(self, tool: str, other: str, features: Sequence[int]) -> str:
        """Return how two tools compare over some numbers of features; empty if there is nothing to compare."""
        ratios = []
        bounded = False
        unfinished = [p for p in features if self.at_least(p, tool) is not None and (p, other) in self.cells]
        late = f"; it ran into the limit at p = {', '.join(f'{p:,}' for p in unfinished)}" if unfinished else ""
        for p in features:
            ours, theirs = self.mean(p, tool), self.mean(p, other)
            if theirs is None and ours is not None and self.at_least(p, other) is not None:
                theirs, bounded = self.at_least(p, other), True
            if ours is not None and theirs is not None:
                ratios.append(theirs / ours)
        if not ratios:
            return f"{tool} is not comparable with {other}{late}." if late else ""
        low, high = min(ratios), max(ratios)
        if low >= 1.0:
            word = f"{range_text(ratios)} times as fast as {other}" + " (or more: it ran into the limit)" * bounded
        elif high <= 1.0:
            word = f"{range_text([1.0 / ratio for ratio in ratios])} times as slow as {other}"
        else:
            word = f"from {three_digits(1.0 / low)} times as slow to {three_digits(high)} times as fast as {other}"
        return f"{tool} is {word}{late}."

    def within(self, tool: str, p: int, most: float) -> str:
        """Return whether a tool keeps the time that the paper names for its kind; empty if it was not run there."""
        mean, limit = self.mean(p, tool), self.at_least(p, tool)
        if mean is None and limit is None:
            return ""
        took = f"{three_digits(mean)} s" if mean is not None else f"over {limit:g} s"
        kept = mean is not None and mean < most
        return f"{tool} at p = {p:,}: {took}, {'within' if kept else 'not within'} the paper's {most:g} s for its kind."


def absent(tools: Sequence[str], quick: bool) -> str:
    """Return which tools took no part, and why."""
    needed = {tool: package for tool, package in TOOLS.items() if package is not None and tool not in tools}
    missing = [tool for tool, package in needed.items() if not has_r_package(package)]
    out = [f"Not installed: {', '.join(missing)} (R packages, called through Rscript)."] if missing else []
    if quick:
        out.append(
            f"A quick run: few features, a short path, and without {', '.join(SLOW)}, which take longer than all others."
        )
    return " ".join(out)


FIG4: Experiment = RunTimes()
