"""The exact solver: time to a proof, against El0ps, on real data, at scale, in memory; writes Markdown tables and a plot.

python -m benchmarks.exact [--quick] [--only SECTION] [--out FILE]

El0ps needs an environment of its own: ELLZERO_EL0PS_PYTHON names its interpreter. ELLZERO_DATA names the folder with the real
data. Sections that a call leaves out are kept from the last one (build/bench-exact.json).
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ellzero as ez
from benchmarks.cases import N, gaussian
from benchmarks.exact_correlated import family, subsets
from benchmarks.exact_runs import (
    GAP,
    REPEATS,
    SECONDS_FOR_REPEATS,
    Job,
    Outcome,
    bound_shown,
    contradictions,
    load,
    percent,
    relative,
    run_process,
    seconds_shown,
    shown,
)
from benchmarks.sections import Report, Section, arguments_of
from ellzero.measurement.markdown import table

LAMBDA_2 = 0.01
LAMBDAS_0 = (0.07, 0.11)
VERIFIED_UP_TO = 20_000  # features
PAPER_SECONDS = {10_000: "35", 20_000: "80", 30_000: "117", 40_000: "169", 50_000: "297 (gap 0.05 %)"}
TARGETS = {("heuristic", 10_000): 0.5, ("heuristic", 50_000): 3.0, (None, 10_000): 5.0, (None, 50_000): 60.0}
MEAN_SCALED_LAMBDA_2 = 10.0
SIZES = (1, 2, 3, 4)
NOISE_MB = 1.0
DATA_SETS = {"colon": "colon_62x2000.npz", "leukemia": "ALLAML_72x7129.npz"}


# The paper's certification problem.


CERTIFICATION = """Hinge loss, n = {n:,}, five of p independent features, signal-to-noise ratio 10, `gap={gap:g}`,
`n_jobs=2`. The paper's times (12 cores, Gurobi inside its integrality generation algorithm) are for reference: another machine,
not comparable. With `bound="heuristic"` the proof is about models whose coefficients respect a bound taken from the heuristic
model; "none" needs no bound. The objective is the referee's; the lower bound is recomputed from the saved certificate
by `ez.verify` up to p = {verified:,} and the solver's own beyond. lambda_2 = {mean:g} is the other reading of the paper's
lambda_2, with a mean over the samples: the features decouple, and lambda_0 is half of the fifth largest gain of one feature."""


def fifth_gain(X: NDArray[Any], y: NDArray[np.float64]) -> float:
    """Return half of the fifth largest gain v_j^2 / (4 lambda_2), v_j the slope at zero with equal weights of both classes."""
    weight = np.where(y > 0, 1.0 / np.count_nonzero(y > 0), 1.0 / np.count_nonzero(y < 0))
    alpha = weight * min(np.count_nonzero(y > 0), np.count_nonzero(y < 0)) / len(y)  # in [0, 1/n]: dual feasible
    gains = (X.T @ (alpha * y)) ** 2 / (4.0 * MEAN_SCALED_LAMBDA_2)
    return float(f"{np.sort(gains)[-5] / 2.0:.3g}")


def certification_jobs(quick: bool) -> list[tuple[Job, str]]:
    """Return the jobs and their targets."""
    sizes: dict[str | None, tuple[int, ...]] = {
        "heuristic": (1_000, 2_000) if quick else (10_000, 20_000, 30_000, 40_000, 50_000),
        None: (1_000,) if quick else (10_000, 20_000, 50_000),
    }
    base = {"loss": "hinge", "gap": GAP, "n_jobs": 2, "time_limit": 10.0 if quick else 180.0}
    jobs = []
    for bound, ps in sizes.items():
        for p in ps:
            target = TARGETS.get((bound, p))
            for lambda_0 in LAMBDAS_0:
                options = base | {"lambda_0": lambda_0, "lambda_2": LAMBDA_2, "bound": bound}
                jobs.append((Job({"p": p}, options, verify=p <= VERIFIED_UP_TO), "-" if target is None else f"{target:g}"))
    for p in (1_000,) if quick else (10_000, 50_000):
        lambda_0 = fifth_gain(*gaussian(p))
        for bound in sizes:
            options = base | {"lambda_0": lambda_0, "lambda_2": MEAN_SCALED_LAMBDA_2, "bound": bound}
            jobs.append((Job({"p": p}, options, verify=p <= VERIFIED_UP_TO), "2"))
    return jobs


def certification_row(job: Job, target: str, result: Outcome | str) -> list[str]:
    options, p = job.options, int(job.data["p"])
    paper = PAPER_SECONDS.get(p, "-") if options["lambda_2"] == LAMBDA_2 else "-"
    start = [f"{p:,}", shown(options["lambda_2"]), shown(options["lambda_0"]), options["bound"] or "none"]
    if isinstance(result, str):
        return [*start, result, target, paper, *["-"] * 7]
    return [
        *start,
        seconds_shown(result.seconds),
        target,
        paper,
        f"{result.nodes:,}",
        str(result.size),
        f"{result.objective:.6f}",
        bound_shown(result),
        percent(result.gap()),
        result.status,
        seconds_shown(result.verify_seconds),
    ]


CERTIFICATION_HEADER = [
    "p",
    "lambda_2",
    "lambda_0",
    "bound",
    "seconds",
    "target",
    "paper's seconds",
    "nodes",
    "features",
    "objective",
    "lower bound",
    "gap",
    "status",
    "seconds of `verify`",
]


def certification(quick: bool) -> Section:
    section = Section("The paper's certification problem")
    rows = []
    problems: dict[str, list[tuple[str, Outcome]]] = {}
    for job, target in certification_jobs(quick):
        result = section.solve(job)
        rows.append(certification_row(job, target, result))
        if isinstance(result, Outcome):
            name = f"p = {job.data['p']:,}, lambda_0 = {job.options['lambda_0']:g}, lambda_2 = {job.options['lambda_2']:g}"
            problems.setdefault(name, []).append((f"bound={job.options['bound']!r}", result))
    for name, results in problems.items():
        section.checks += contradictions(name, results)
    text = CERTIFICATION.format(n=N, gap=GAP, verified=VERIFIED_UP_TO, mean=MEAN_SCALED_LAMBDA_2)
    section.text = f"{text}\n\n{table(CERTIFICATION_HEADER, rows)}"
    return section


# Against El0ps.


EL0PS = """The same design, n = {n:,}, p = {p:,}, lambda_2 = {lambda_2:g}, `gap={gap:g}`, no intercept on either side.
Both stop after {limit:g} s. El0ps' lower bound is its own, ours is recomputed from the certificate; both gaps are from the
referee's objective. A ratio after ">" is of a run that was stopped."""


def peer_python() -> str:
    return os.environ.get("ELLZERO_EL0PS_PYTHON", sys.executable)


def peer_version() -> str | None:
    """Return El0ps' version, None where it cannot be imported."""
    code = "import el0ps.solver, importlib.metadata as m; print(m.version('el0ps'))"
    try:
        text, problem = run_process([peer_python(), "-c", code], 1, 120.0)
    except OSError:
        return None
    return None if problem else text.strip()


def run_peer(folder: Path, X: NDArray[Any], y: NDArray[np.float64], options: dict[str, Any]) -> Outcome | str:
    """Run El0ps on the saved problem; it has one thread only."""
    words = [options["loss"], *(repr(options[key]) for key in ("lambda_0", "lambda_2", "gap", "time_limit"))]
    command = [peer_python(), "-m", "benchmarks.el0ps", str(folder), *words]
    text, problem = run_process(command, 1, 120.0 + 2.0 * options["time_limit"] + REPEATS * SECONDS_FOR_REPEATS)
    if problem:
        return problem
    out = json.loads(text.strip().splitlines()[-1])
    coef = np.zeros(X.shape[1])
    coef[out["support"]] = out["values"]
    chosen: dict[str, Any] = {key: options[key] for key in ("loss", "lambda_0", "lambda_2")}
    objective = float(ez.objective(X, y, coef, **chosen))
    gap = relative(objective, out["lower_bound"])
    size, bound, reported = len(out["support"]), out["lower_bound"], out["reported"]
    result = Outcome(out["seconds"], out["seconds"], out["nodes"], out["status"], size, objective, reported, bound, gap)
    print(f"El0ps, {options['loss']}, {options['lambda_0']}: {result.seconds:.2f} s, {result.status}", flush=True)
    return result


def el0ps_row(options: dict[str, Any], tool: str, threads: int, result: Outcome | str, ours: float) -> list[str]:
    start = [options["loss"], shown(options["lambda_0"]), tool, str(threads)]
    if isinstance(result, str):
        return [*start, result, *["-"] * 7]
    stopped = ">" if result.status != "optimal" else ""
    ratio = "-" if np.isnan(ours) else f"{stopped}{result.seconds / ours:.2f}"
    return [
        *start,
        seconds_shown(result.seconds),
        ratio,
        f"{result.nodes:,}",
        str(result.size),
        f"{result.objective:.6f}",
        f"{result.bound():.6f}",
        percent(result.gap()),
        result.status,
    ]


EL0PS_HEADER = [
    "loss",
    "lambda_0",
    "tool",
    "threads",
    "seconds",
    "/ ours (1 thread)",
    "nodes",
    "features",
    "objective",
    "lower bound",
    "gap",
    "status",
]


def duel(section: Section, job: Job, peer: Callable[[dict[str, Any]], Outcome | str] | None, label: str) -> list[list[str]]:
    """Return the rows of one problem: ours with one and two threads, then the peer."""
    rows, reached = [], []
    ours = np.nan
    for threads in (1, 2):
        result = section.solve(Job(job.data, job.options | {"n_jobs": threads}, verify=True))
        if isinstance(result, Outcome):
            ours = result.seconds if threads == 1 else ours
            reached.append((f"ellzero x{threads}", result))
        rows.append(el0ps_row(job.options, "ellzero", threads, result, ours))
    if peer is not None:
        result = peer(job.options)
        section.keep(label, job.options | job.data, result)
        if isinstance(result, Outcome):
            reached.append((label, result))
        rows.append(el0ps_row(job.options, label, 1, result, ours))
    section.checks += contradictions(job.name(), reached)
    return rows


def against_el0ps(quick: bool) -> Section:
    p, limit = (1_000, 15.0) if quick else (10_000, 250.0)
    cases = [("logistic", value) for value in ((0.05,) if quick else (0.03, 0.05, 0.07))]
    cases += [("squared_hinge", value) for value in ((0.07,) if quick else (0.07, 0.11))]
    base = {"lambda_2": LAMBDA_2, "gap": GAP, "time_limit": limit, "fit_intercept": False}
    section = Section("Against El0ps", EL0PS.format(n=N, p=p, lambda_2=LAMBDA_2, gap=GAP, limit=limit))
    version = peer_version()
    if version is None:
        section.text += "\n\nEl0ps takes no part: `ELLZERO_EL0PS_PYTHON` must name an interpreter that can import it."
    X, y = gaussian(p)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        np.save(Path(name) / "X.npy", X)
        np.save(Path(name) / "y.npy", y)
        peer = None if version is None else partial(run_peer, Path(name), X, y)
        for loss, lambda_0 in cases:
            job = Job({"p": p}, {"loss": loss, "lambda_0": lambda_0, **base})
            rows += duel(section, job, peer, f"El0ps {version}")
    section.text += f"\n\n{table(EL0PS_HEADER, rows)}"
    return section


# Real data.


REAL = """The best models with k features, columns standardised, intercept, no bound, at most {limit:g} s each, `n_jobs=2`,
`gap={gap:g}`. Entries are gap (seconds); the status is named where it is not "optimal". Gaps are of
verified certificates, but for trees above 20,000 nodes."""


def real_entry(result: Outcome | str) -> str:
    if isinstance(result, str):
        return result
    status = "" if result.status == "optimal" else f", {result.status}"
    return f"{percent(result.gap())} ({seconds_shown(result.seconds)} s{status})"


def real_rows(section: Section, name: str, file: Path, quick: bool) -> list[list[str]]:
    data = {"file": str(file.resolve())}
    n = len(load(data)[1])
    base = {"standardize": True, "bound": None, "gap": GAP, "time_limit": 2.0 if quick else 10.0, "n_jobs": 2}
    rows = []
    for loss in ("logistic", "squared_hinge"):
        for shrinkage in (1.0,) if quick else (0.1, 1.0, 10.0):
            jobs = [Job(data, {"loss": loss, "k": k, "lambda_2": shrinkage / n, **base}, verify=True) for k in SIZES]
            rows.append([name, loss, f"{shrinkage:g} / n", *(real_entry(section.solve(job)) for job in jobs)])
    return rows


def real_data(quick: bool) -> Section:
    section = Section("Real data", REAL.format(limit=2.0 if quick else 10.0, gap=GAP))
    folder = os.environ.get("ELLZERO_DATA")
    rows: list[list[str]] = []
    for name, file in DATA_SETS.items():
        if folder is None or not (Path(folder) / file).exists():
            section.text += f"\n\nNo {name}: `ELLZERO_DATA` must name a folder with {file}."
        else:
            rows += real_rows(section, name, Path(folder) / file, quick)
    header = ["data", "loss", "lambda_2", *(f"k = {k}" for k in SIZES)]
    section.text += f"\n\n{table(header, rows)}"
    return section


# Scale.


SCALE = """Logistic loss, n = {n:,}, float32, k = 5, lambda_2 = 10 / n = {lambda_2:g}, no bound, `gap={gap:g}`,
`n_jobs=2`. Time grows like p to the power {slope}.

![Time against p]({plot})"""


def draw(sizes: Sequence[int], seconds: Sequence[float], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 4.0), layout="constrained")
    axes = figure.add_subplot()
    axes.loglog(sizes, seconds, "o-", label="ellzero, gap 1e-4")
    axes.loglog(sizes, seconds[0] * np.array(sizes) / sizes[0], "--", color="grey", label="slope 1")
    axes.set_xlabel("p")
    axes.set_ylabel("seconds")
    axes.set_title("Time to a proof: logistic, n = 1,000, k = 5")
    axes.legend()
    axes.grid(visible=True, which="both", alpha=0.3)
    figure.savefig(path, dpi=120)


def scale_row(p: int, result: Outcome | str) -> list[str]:
    target = "60" if p == 200_000 else "-"
    if isinstance(result, str):
        return [f"{p:,}", result, target, *["-"] * 5]
    cells = [f"{result.nodes:,}", f"{result.objective:.6f}", bound_shown(result), percent(result.gap()), result.status]
    return [f"{p:,}", seconds_shown(result.seconds), target, *cells]


def scale(quick: bool, plot: Path) -> Section:
    sizes = (1_000, 2_000, 4_000) if quick else (10_000, 25_000, 50_000, 100_000, 200_000)
    limit = 10.0 if quick else 300.0
    options = {"loss": "logistic", "k": 5, "lambda_2": 10.0 / N, "bound": None, "gap": GAP, "n_jobs": 2, "time_limit": limit}
    section = Section("Scale")
    jobs = {p: Job({"p": p, "dtype": "float32"}, options, verify=p <= VERIFIED_UP_TO) for p in sizes}
    results = {p: section.solve(job) for p, job in jobs.items()}
    took = {p: result.seconds for p, result in results.items() if isinstance(result, Outcome)}
    slope = "?"
    if len(took) > 1:
        slope = f"{np.polyfit(np.log(list(took)), np.log(list(took.values())), 1)[0]:.2f}"
        draw(list(took), list(took.values()), plot)
    text = SCALE.format(n=N, lambda_2=10.0 / N, gap=GAP, slope=slope, plot=plot.name)
    header = ["p", "seconds", "target", "nodes", "objective", "lower bound", "gap", "status"]
    section.text = f"{text}\n\n{table(header, [scale_row(p, result) for p, result in results.items()])}"
    return section


# Memory.


MEMORY = """Squared hinge loss, n = {n:,}, p = {p:,}, lambda_2 = {lambda_2:g}, no bound, no intercept, `n_jobs=2`, stopped
after {limit:g} s: the problems of the comparison with El0ps, and lambda_0 = 0.02, which takes more nodes. Growth is the peak
resident memory during the call above that with X loaded (X takes {x:.0f} MB). A second run, stopped after a quarter of the
nodes, tells what belongs to the nodes and what is there from the start. The last column extrapolates these two points to 10^5
nodes in a straight line: nobody ran it, and the fewer nodes there were, the rougher it is. Below {noise:g} MB the difference of
two runs is noise."""


def memory_row(lambda_0: float, large: Outcome | str, small: Outcome | str) -> list[str]:
    if isinstance(large, str) or isinstance(small, str):
        return [shown(lambda_0), large if isinstance(large, str) else str(small), *["-"] * 7]
    row = [
        shown(lambda_0),
        seconds_shown(large.seconds),
        large.status,
        f"{large.nodes:,}",
        f"{large.growth / 1e6:.1f} MB",
        f"{large.growth / max(large.nodes, 1) / 1e3:.1f} kB",
        f"{small.nodes:,}: {small.growth / 1e6:.1f} MB",
    ]
    more = large.growth - small.growth
    if large.nodes <= small.nodes or more < 1e6 * NOISE_MB:
        return [*row, "noise", "-"]
    each = more / (large.nodes - small.nodes)
    return [*row, f"{each / 1e3:.1f} kB", f"{(large.growth + each * (1e5 - large.nodes)) / 1e6:,.0f} MB"]


MEMORY_HEADER = [
    "lambda_0",
    "seconds",
    "status",
    "nodes",
    "growth",
    "growth / nodes",
    "a quarter of the nodes",
    "per further node",
    "10^5 nodes (extrapolated)",
]


def memory(quick: bool) -> Section:
    p, limit = (1_000, 5.0) if quick else (10_000, 60.0)
    base = {"loss": "squared_hinge", "lambda_2": LAMBDA_2, "gap": GAP, "fit_intercept": False, "bound": None, "n_jobs": 2}
    section = Section("Memory")
    rows = []
    for lambda_0 in (0.07, 0.11, 0.02):
        options = base | {"lambda_0": lambda_0, "time_limit": limit}
        small = large = section.solve(Job({"p": p}, options, repeats=1))
        if isinstance(large, Outcome):
            small = section.solve(Job({"p": p}, options | {"node_limit": max(1, large.nodes // 4)}, repeats=1))
        rows.append(memory_row(lambda_0, large, small))
    text = MEMORY.format(n=N, p=p, lambda_2=LAMBDA_2, limit=limit, x=8e-6 * N * p, noise=NOISE_MB)
    section.text = f"{text}\n\n{table(MEMORY_HEADER, rows)}"
    return section


# The report.


INTRODUCTION = """# The exact solver: time to a proof

Made by `make bench-exact`; every section says when and where. Every solve is in a process of its own; seconds are the wall time
of the whole call, the best of {repeats} where the first takes less than {short:g} s. A gap is (objective - lower bound) /
objective. Compare within one table only. Under each table stands what a correct solver would not report: an objective other
than the referee's, a bound above what was reached on the same problem, a certificate that does not verify, a wrong status.
"""


def main() -> None:
    report = Report("exact", arguments_of(__doc__).parse_args())
    quick = report.quick
    sections: dict[str, Callable[[], Section]] = {
        "certification": lambda: certification(quick),
        "el0ps": lambda: against_el0ps(quick),
        "real": lambda: real_data(quick),
        "scale": lambda: scale(quick, report.out.with_name("exact_scaling.png")),
        "memory": lambda: memory(quick),
        "correlated": lambda: family(quick),
        "subsets": lambda: subsets(quick),
    }
    report.write(INTRODUCTION.format(repeats=REPEATS, short=SECONDS_FOR_REPEATS), sections)


if __name__ == "__main__":
    main()
