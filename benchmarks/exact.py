"""The exact solver: time to a proof, against El0ps, on real data, at scale, in memory; writes Markdown tables and a plot.

python -m benchmarks.exact [--quick] [--only SECTION] [--out FILE]

El0ps needs its own environment: ELLZERO_EL0PS_PYTHON names its interpreter. ELLZERO_DATA names the folder with the real
data, ELLZERO_BENCH_AT_ONCE how many problems sections with many of them solve at a time. Sections that a call leaves out are
kept from the last one (build/bench-exact.json).
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.cases import N, gaussian
from benchmarks.exact_correlated import family, subsets
from benchmarks.exact_el0ps import against_el0ps, el0ps_elsewhere
from benchmarks.exact_real import credit, genes, regression
from benchmarks.exact_rules import rules
from benchmarks.exact_runs import (
    GAP,
    REPEATS,
    SECONDS_FOR_REPEATS,
    Job,
    Outcome,
    bound_shown,
    contradictions,
    percent,
    seconds_shown,
    shown,
)
from benchmarks.sections import Report, Section, arguments_of
from experiments.measurement.markdown import table

LAMBDA_2 = 0.01
LAMBDAS_0 = (0.07, 0.11)
VERIFIED_UP_TO = 20_000  # features
PAPER_SECONDS = {10_000: "35", 20_000: "80", 30_000: "117", 40_000: "169", 50_000: "297 (gap 0.05 %)"}
TARGETS = {("heuristic", 10_000): 0.5, ("heuristic", 50_000): 3.0, (None, 10_000): 5.0, (None, 50_000): 60.0}
MEAN_SCALED_LAMBDA_2 = 10.0
NOISE_MB = 1.0


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


# Scale.


SCALE = """Logistic loss, n = {n:,}, float32, k = 5, lambda_2 = 10 / n = {lambda_2:g}, no bound, `gap={gap:g}`,
`n_jobs=2`. Time grows like p to the power {slope}.{picture}"""
HARD = """The same with weaker signals: labels are drawn with P(y = 1) = 1 / (1 + exp(-x.b)), b having five ones (s = 1 of
`make_classification`). The gap after {limit:g} s; 3.8 % was left before, on 16 cores."""


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


SCALE_HEADER = ["p", "threads", "seconds", "target", "nodes", "objective", "lower bound", "gap", "status"]


def scale_row(job: Job, result: Outcome | str) -> list[str]:
    p = job.data["p"]
    target = "60" if p == 200_000 else "-"
    start = [f"{p:,}", str(job.options["n_jobs"])]
    if isinstance(result, str):
        return [*start, result, target, *["-"] * 5]
    cells = [f"{result.nodes:,}", f"{result.objective:.6f}", bound_shown(result), percent(result.gap()), result.status]
    return [*start, seconds_shown(result.seconds), target, *cells]


def scale(quick: bool, plot: Path) -> Section:
    sizes = (1_000, 2_000, 4_000) if quick else (10_000, 25_000, 50_000, 100_000, 200_000)
    limit = 10.0 if quick else 300.0
    options = {"loss": "logistic", "k": 5, "lambda_2": 10.0 / N, "bound": None, "gap": GAP, "n_jobs": 2, "time_limit": limit}
    section = Section("Scale")
    jobs = [Job({"p": p, "dtype": "float32"}, options, verify=p <= VERIFIED_UP_TO) for p in sizes]
    results = [section.solve(job) for job in jobs]
    took = {p: result.seconds for p, result in zip(sizes, results, strict=True) if isinstance(result, Outcome)}
    slope, picture = "?", ""
    if len(took) > 1:
        slope = f"{np.polyfit(np.log(list(took)), np.log(list(took.values())), 1)[0]:.2f}"
        if importlib.util.find_spec("matplotlib"):
            draw(list(took), list(took.values()), plot)
            picture = f"\n\n![Time against p]({plot.name})"
    text = SCALE.format(n=N, lambda_2=10.0 / N, gap=GAP, slope=slope, picture=picture)
    rows = [scale_row(job, result) for job, result in zip(jobs, results, strict=True)]
    section.text = f"{text}\n\n{table(SCALE_HEADER, rows)}\n\n{hard(section, options, quick)}"
    return section


def hard(section: Section, options: dict[str, Any], quick: bool) -> str:
    """Return the text about a million features whose signals are weak, on two threads and on all."""
    p, limit = (20_000, 5.0) if quick else (1_000_000, 60.0)
    data = {"kind": "drawn", "n": N, "p": p, "k": 5, "response": "logistic", "dtype": "float32"}
    rows = []
    for threads in sorted({2, os.cpu_count() or 2}):
        chosen = options | {"n_jobs": threads, "time_limit": limit}
        # The verifier reads all of X for every few nodes: the certificate of one run is enough.
        job = Job(data, chosen, verify=threads == 2, seconds_to_verify=60.0, repeats=1)
        rows.append(scale_row(job, section.solve(job)))
    return f"{HARD.format(limit=limit)}\n\n{table(SCALE_HEADER, rows)}"


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

Made by `make bench-exact`; every section says when and where. Every solve is in a separate process; seconds are the wall time
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
        "el0ps-elsewhere": lambda: el0ps_elsewhere(quick),
        "real": lambda: genes(quick),
        "regression": lambda: regression(quick),
        "credit": lambda: credit(quick),
        "scale": lambda: scale(quick, report.out.with_name("exact_scaling.png")),
        "memory": lambda: memory(quick),
        "correlated": lambda: family(quick),
        "subsets": lambda: subsets(quick),
        "rules": lambda: rules(quick),
    }
    report.write(INTRODUCTION.format(repeats=REPEATS, short=SECONDS_FOR_REPEATS), sections)


if __name__ == "__main__":
    main()
