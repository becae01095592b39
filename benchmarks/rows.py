"""Tables with many rows: seconds, memory and objectives of ours and of what people use instead; writes a Markdown table.

python -m benchmarks.rows [--quick] [--large] [--only SECTION] [--again TOOL] [--recorded] [--limit SECONDS] [--most ROWS]
                         [--out FILE]

ELLZERO_DATA names the folder with FICO and COMPAS. Every fit is recorded in build/rows, so that a run that was stopped goes on;
--again measures the tools whose names contain this text once more; --recorded measures nothing, and shows what is there.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import ellzero as ez
from benchmarks.cases import Case
from benchmarks.exact_runs import ROOT
from benchmarks.path import HEADER as PATH_HEADER
from benchmarks.path import Plan
from benchmarks.path import measure as measure_path
from benchmarks.rows_data import Shape, load_table, save_store, save_table
from benchmarks.rows_figure import draw
from benchmarks.rows_precision import precision
from benchmarks.rows_tools import LAMBDA_2
from benchmarks.sections import Report, Section, arguments_of
from experiments.measurement.markdown import table, three_digits
from experiments.measurement.timing import call_in_process

RECORDS = ROOT / "build" / "rows"
FIGURE = ROOT / "benchmarks" / "results" / "rows.png"
SECONDS = 600.0
NOT_MEASURED = "not measured"
ROUNDS = 2
SHORT = 20.0  # seconds: what takes longer runs once
SAMPLE, PATH_POINTS, PATH_FEATURES = 10_000, 100, 20
PATH_TOOLS = (("ellzero", 1), ("ellzero", 2), ("fastsparsegams", 1), ("L0Learn", 1), ("glmnet", 1))
SOME_ROWS = 30_000  # tools that would take hours on more stay out
INTRODUCTION = """# Many rows

Drawn tables have neighbouring columns with a correlation of 0.5, ten of which matter; "0/1" cuts all columns at 0.5, "mixed"
has thirds of Gaussian, 0/1 (some rarely 1) and heavy-tailed columns. lambda_2 = 0.0001 throughout, on unscaled columns.
Each fit runs in a separate process. The tools of a table take turns, twice where that is short, and the best time counts.
"1" and "2" are threads. Seconds of one thread are those of the processor, so that other work on the machine hardly matters;
seconds of two are those of the clock. "Memory" is the growth of the largest resident memory during the fit, as a share of X.

Objectives are recomputed: those of squared error and logistic models of ten features (without lambda_0) after one solver fitted
the coefficients of each tool's features to many digits. AUC is that of up to 20,000 other rows.
"""


@dataclass(frozen=True)
class Bench:
    """How things are measured: what is recorded already, and for how long a tool may run."""

    quick: bool
    limit: float
    again: str
    recorded: bool = False

    def records(self, shape: Shape, work: str, runs: Sequence[tuple[str, int]]) -> dict[tuple[str, int], dict[str, Any]]:
        """Return the records of tools with threads on one table; those that are missing are measured, in turns."""
        names = {run: self.file_of(shape, f"{work}: {run[0]}", run[1]) for run in runs}
        left = [run for run, file in names.items() if not file.exists()]
        if left and not self.recorded:
            with TableFolder(shape) as folder:
                for run, record in self.in_turns(folder, work, left).items():
                    names[run].parent.mkdir(parents=True, exist_ok=True)
                    names[run].write_text(json.dumps(record))
                    said = record.get("failed") or f"{record['seconds']:.3f} s"
                    print(f"{shape.name}: {work}: {run[0]} x{run[1]}: {said}", flush=True)
        return {run: json.loads(file.read_text()) if file.exists() else {"failed": NOT_MEASURED} for run, file in names.items()}

    def in_turns(self, folder: Path, work: str, runs: Sequence[tuple[str, int]]) -> dict[tuple[str, int], dict[str, Any]]:
        out: dict[tuple[str, int], dict[str, Any]] = {}
        for turn in range(1 if self.quick else ROUNDS):
            for tool, threads in runs:
                before = out.get((tool, threads))
                if turn and (before is None or "failed" in before or before["seconds"] > SHORT):
                    continue
                record = self.measured(folder, f"{work}: {tool}", threads)
                if before is None or ("failed" not in record and record["seconds"] < before["seconds"]):
                    out[tool, threads] = record
        return out

    def measured(self, folder: Path, tool: str, threads: int) -> dict[str, Any]:
        argument = {"folder": str(folder), "tool": tool, "threads": threads}
        try:
            found = call_in_process("benchmarks.rows_tools:measure", argument, self.limit, threads)
        except RuntimeError as error:
            missing = "ModuleNotFoundError" in str(error)
            return {"failed": "not installed" if missing else str(error)[-80:]}
        return {"failed": f"over {self.limit:.0f} s"} if found is None else found

    def file_of(self, shape: Shape, tool: str, threads: int) -> Path:
        name = f"{tool}-{threads}.json".replace(" ", "-").replace("/", "-").replace(":", "")
        return RECORDS / shape.file_name / name

    def forget(self) -> None:
        """Remove the records of the tools that are to be measured again."""
        for file in RECORDS.glob("*/*.json") if self.again else ():
            if self.again.replace(" ", "-") in file.name:
                file.unlink()


class TableFolder:
    """The files of a table, which are there inside a `with` block."""

    def __init__(self, shape: Shape) -> None:
        self.shape, self.folder = shape, RECORDS / shape.file_name / "table"

    def __enter__(self) -> Path:
        self.folder.mkdir(parents=True, exist_ok=True)
        (save_store if self.shape.kind == "float32" else save_table)(self.shape, self.folder)
        return self.folder

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def seconds_text(record: dict[str, Any] | None) -> str:
    if record is None:
        return "-"
    return record.get("failed") or three_digits(record["seconds"])


def ratio_text(first: dict[str, Any], second: dict[str, Any]) -> str:
    known = "seconds" in first and "seconds" in second
    return f"{first['seconds'] / second['seconds']:.2f}" if known else "-"


def memory_text(record: dict[str, Any]) -> str:
    return f"{100 * record['growth']:.0f} %" if "growth" in record else "-"


def shapes_of(quick: bool) -> list[Shape]:
    if quick:
        return [Shape(1_000, 28), Shape(5_000, 28, "mixed")]
    tall = [Shape(n, 50) for n in (1_000, 5_000, 20_000, 100_000, 1_000_000)]
    kinds = [Shape(20_000, 50, kind) for kind in ("0/1", "mixed")] + [Shape(100_000, 50, kind) for kind in ("0/1", "mixed")]
    return [*tall, *kinds, Shape(100_000, 28), Shape(10_000, 300), Shape(50_000, 300)]


# One table for each kind of work: ours with one and two threads, and the peers.


@dataclass(frozen=True)
class Work:
    """Something that people do: our ways and theirs."""

    name: str
    title: str
    ours: tuple[tuple[str, int], ...]
    theirs: tuple[str, ...]
    text: str = ""
    for_some_rows: tuple[str, ...] = ()

    def runs(self, shape: Shape) -> list[tuple[str, int]]:
        peers = [tool for tool in self.theirs if shape.n <= SOME_ROWS or tool not in self.for_some_rows]
        return [*self.ours, *((tool, 1) for tool in peers)]

    def section(self, bench: Bench, shapes: Iterable[Shape]) -> Section:
        out, rows = Section(self.title), []
        for shape in shapes:
            found = bench.records(shape, self.name, self.runs(shape))
            if all(record.get("failed") == NOT_MEASURED for record in found.values()):
                continue
            out.raw.append({"shape": shape.name, "work": self.name, "found": [[*run, record] for run, record in found.items()]})
            rows.append(self.row(shape, found))
        threads = [f"{tool}, {number}" for tool, number in self.ours]
        header = ["table", *threads, *self.theirs, *(f"ours / {tool}" for tool in self.theirs), "memory", "features", "result"]
        out.text = f"{self.text}\n\n{table(header, rows)}".lstrip()
        return out

    def row(self, shape: Shape, found: dict[tuple[str, int], dict[str, Any]]) -> list[str]:
        ours = found[self.ours[0]]
        peers = [found.get((tool, 1)) for tool in self.theirs]
        times = [seconds_text(found[run]) for run in self.ours] + [seconds_text(peer) for peer in peers]
        ratios = ["-" if peer is None else ratio_text(ours, peer) for peer in peers]
        features = " / ".join(str(r["features"]) for r in (ours, *peers) if r and "features" in r)
        return [shape.name, *times, *ratios, memory_text(ours), features, self.result(ours, [p for p in peers if p])]

    def result(self, ours: dict[str, Any], peers: list[dict[str, Any]]) -> str:
        """Our objective less the best other one, relative; or areas under the curve; or a proof."""
        if "status" in ours:
            return f"{ours['status']}, gap {ours['gap']:.1e}, {ours['nodes']:,} nodes"
        others = [peer["objective"] for peer in peers if "objective" in peer]
        if "objective" in ours and others:
            return f"objective {ours['objective'] / min(others) - 1.0:+.1e}"
        areas = [f"{record['auc']:.4f}" for record in (ours, *peers) if "auc" in record]
        return "AUC " + " / ".join(areas) if areas else "-"


BOTH = (("ellzero", 1), ("ellzero", 2))
SIZES = Work(
    "sizes",
    "Logistic models of sizes 1 to 10",
    (*BOTH, ("ellzero, quick", 1)),
    ("abess", "fastsparsegams with swaps"),
    "Local search at its default, thorough, effort. The result is the objective of ten features, ours against the best other.",
    ("fastsparsegams with swaps",),
)
SQUARED = Work("squared error", "Squared error, sizes 1 to 10", BOTH, ("abess", "NumPy's X.T @ X"))
TEN = Work("ten features", "One model: L0Classifier(k=10)", BOTH, ("liblinear l1", "lbfgs"))
CV = Work("cv", "Cross-validation with nothing set", BOTH, ("LogisticRegressionCV l1",))
SOLVE = [
    Work("solve", "solve(k=10), logistic", (("logistic", 1), ("logistic", 2)), ()),
    Work("solve", "solve(k=10), squared error", (("squared error", 1), ("squared error", 2)), ()),
]
COMMANDS = Work(
    "command",
    "From a CSV file",
    (("ellzero cv", 2),),
    ("pyarrow.csv.read_csv",),
    "`ellzero cv FILE` reads the file, cross-validates and prints; its peer only reads. Memory is that of the whole process.",
)
REPORT = Work("command", "A report from a CSV file", (("ellzero report", 2),), ("pyarrow.csv.read_csv",))
STORED = Work(
    "path",
    "11,000,000 x 28, float32",
    (("memory", 2), ("column store", 2)),
    (),
    "A path of all 28 features, from memory and from a column store.",
)


def paths(bench: Bench, shapes: Iterable[Shape]) -> Section:
    """Paths on a given grid, by the protocol of benchmarks/path.py."""
    out, texts = Section("Paths by coordinate descent, logistic"), []
    for shape in shapes:
        file = bench.file_of(shape, "path: all", 0)
        if not file.exists() and bench.recorded:
            continue
        if not file.exists():
            with TableFolder(shape) as folder:
                X, y, _ = load_table(folder)
                case = Case(shape.name, X, y, LAMBDA_2, grid_of(X, y))
                rows = measure_path(case, Plan(partial(replace, case), PATH_TOOLS), folder, bench.limit)
            file.write_text(json.dumps(rows))
        rows = json.loads(file.read_text())
        out.raw.append({"shape": shape.name, "work": "path", "rows": rows})
        texts.append(f"### {shape.name}\n\n{table(PATH_HEADER, rows)}")
    told = (
        f"{PATH_POINTS} values of lambda_0, the same for all, down to a model of {PATH_FEATURES} features on a sample of rows."
    )
    out.text = "\n\n".join([told, *texts])
    return out


def grid_of(X: Any, y: Any) -> Any:
    """Return values of lambda_0 from the null model to one of twenty features, found on a sample of the rows."""
    rows = np.random.default_rng(0).permutation(len(y))[:SAMPLE]
    path = ez.fit_path(np.asfortranarray(X[rows]), y[rows], lambda_2=LAMBDA_2, max_support=PATH_FEATURES)
    return np.geomspace(path.lambda_0[0], path.lambda_0[-1], PATH_POINTS)


PROTOCOL_TOOLS = ("ellzero", "ellzero with swaps", "fastsparsegams", "fastsparsegams with swaps")


def protocol(bench: Bench) -> Section:
    """fastsparsegams' own protocol."""
    out, shape = Section("COMPAS by fastsparsegams' own protocol"), REAL[1]
    found = bench.records(shape, "protocol", [(tool, 1) for tool in PROTOCOL_TOOLS])
    out.raw.append({"shape": shape.name, "work": "protocol", "found": [[*run, record] for run, record in found.items()]})
    rows = [
        [tool, record["failed"], "", ""]
        if "failed" in record
        else [tool, three_digits(record["seconds"]), f"{record['objective']:.6f}", f"{record['held_out']:.6f}"]
        for (tool, _), record in found.items()
    ]
    told = "All thresholds of its columns, five folds, eight lambda_0 from 7 to 0.8 and lambda_2 of 1e-5 and 1e-3 (of the sum)."
    out.text = f"{told}\n\n" + table(["tool", "seconds", "mean objective", "mean held-out loss"], rows)
    return out


# The targets.


def targets(bench: Bench, large: bool) -> Section:
    """The table of targets and results."""
    out = Section("Asked and reached")

    def seconds(shape: Shape, work: Work, run: tuple[str, int], of: str = "seconds") -> float:
        return float(bench.records(shape, work.name, work.runs(shape))[run].get(of, np.nan))

    def ratio(shape: Shape, work: Work, peer: str) -> float:
        return seconds(shape, work, work.ours[0]) / seconds(shape, work, (peer, 1))

    def row(what: str, asked: float, reached: float, unit: str, most: bool = True) -> list[str]:
        met = reached <= asked if most else reached >= asked
        wanted = f"{'at most' if most else 'at least'} {three_digits(asked)} {unit}"
        if np.isnan(reached):
            return [what, wanted, NOT_MEASURED, "-"]
        return [what, wanted, f"{three_digits(reached)} {unit}", "yes" if met else "**no**"]

    one, ten, hundred, million = Shape(20_000, 50), Shape(100_000, 50), Shape(1_000_000, 50), ("ellzero", 1)
    rows = [
        row("squared error, sizes 1 to 10, 100,000 x 50", 0.1, seconds(ten, SQUARED, million), "s"),
        row("the same, 1,000,000 x 50", 2.0, ratio(hundred, SQUARED, "NumPy's X.T @ X"), "of NumPy's X.T @ X"),
    ]
    for shape, asked in ((one, 0.4), (ten, 0.7), (hundred, 4.0)):
        rows.append(row(f"logistic, sizes 1 to 10, {shape.name}", asked, seconds(shape, SIZES, million), "s"))
    for shape in (one, ten):
        lines = [line for raw in paths(bench, [shape]).raw for line in raw["rows"]]
        times = {(line[0], line[1]): float(line[2].split()[0]) for line in lines if line[2][0].isdigit()}
        speed = times.get(("fastsparsegams", "1"), np.nan) / times.get(("ellzero", "1"), np.nan)
        rows.append(row(f"path by coordinate descent, {shape.name}", 5.0, speed, "times fastsparsegams' speed", most=False))
    rows.append(row("L0Classifier(k=10), 100,000 x 50", 2.0, ratio(ten, TEN, "liblinear l1"), "of liblinear's time"))
    rows.append(row("L0ClassifierCV(), 20,000 x 50", 0.2, ratio(one, CV, CV.theirs[0]), "of LogisticRegressionCV's time"))
    for shape in (ten, hundred):
        gain = seconds(shape, SIZES, million, "clock") / seconds(shape, SIZES, ("ellzero", 2), "clock")
        rows.append(row(f"two threads, sizes 1 to 10, {shape.name}, by the clock", 1.7, gain, "times as fast", most=False))
    growth = seconds(hundred, SIZES, million, "growth")
    rows.append(row("memory, sizes 1 to 10, 1,000,000 x 50", 0.25, growth, "of X"))
    if large:
        for where in ("memory", "column store"):
            reached = seconds(LARGE, STORED, (where, 2))
            rows.append(row(f"a path of 28 sizes, 11,000,000 x 28, {where}, two threads", 60.0, reached, "s"))
    rows.append(row("report, 50,000 x 40", 60.0, seconds(Shape(50_000, 40), REPORT, REPORT.ours[0]), "s"))
    out.text = table(["", "asked", "reached", "met"], rows)
    out.raw = [{"rows": rows}]
    return out


LARGE = Shape(11_000_000, 28, "float32")
REAL = [Shape(8_325, 1_917, "FICO"), Shape(5_463, 134, "COMPAS")]  # rows to learn from


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("--large", action="store_true", help="also 11,000,000 x 28, which needs some gigabytes")
    parser.add_argument("--again", default="", help="measure tools whose names contain this text again")
    parser.add_argument("--recorded", action="store_true", help="measure nothing, show what is recorded")
    parser.add_argument("--limit", type=float, help=f"seconds for one fit (default: {SECONDS:g})")
    parser.add_argument("--most", type=int, help="leave out tables with more rows")
    arguments = parser.parse_args()
    report = Report("rows", arguments)
    bench = Bench(report.quick, arguments.limit or SECONDS, arguments.again, arguments.recorded)
    bench.forget()
    most = arguments.most or LARGE.n
    shapes = [shape for shape in shapes_of(report.quick) if shape.n <= most]
    some = shapes if report.quick else [Shape(n, 50) for n in (20_000, 100_000, 1_000_000) if n <= most]
    sections: dict[str, Callable[[], Section]] = {} if report.quick else {"targets": partial(targets, bench, arguments.large)}
    sections |= {
        "squared": partial(SQUARED.section, bench, shapes),
        "sizes": partial(SIZES.section, bench, shapes),
        "paths": partial(paths, bench, some[:2]),
        "ten": partial(TEN.section, bench, some),
        "cv": partial(CV.section, bench, some),
        "solve-logistic": partial(SOLVE[0].section, bench, some[:2]),
        "solve-squared": partial(SOLVE[1].section, bench, some),
        "commands": partial(COMMANDS.section, bench, some),
        "report": partial(REPORT.section, bench, some[:1] if report.quick else [Shape(50_000, 40)]),
    }
    if not report.quick:
        sections |= {"precision": precision, "real": partial(SIZES.section, bench, REAL), "protocol": partial(protocol, bench)}
    if arguments.large:
        sections["store"] = partial(STORED.section, bench, [LARGE])
    report.write(INTRODUCTION, sections)
    draw(report.kept, FIGURE if not report.quick else report.kept.with_suffix(".png"))


if __name__ == "__main__":
    main()
