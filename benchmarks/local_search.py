"""Local search against coordinate descent, hard thresholding, enumeration and its peers; writes a Markdown table.

python -m benchmarks.local_search [--quick] [--only TEXT] [--out FILE]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timezone
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ellzero as ez
from benchmarks.cases import Case, dense_case
from benchmarks.path import compare, referee
from benchmarks.tools import R_SCRIPTS, REPEATS, run_patiently, save_case, save_for_r
from ellzero import _core
from ellzero.problem.making import make_problem
from ellzero.problem.model import Model, evaluate
from ellzero.solvers.paths import PathOptions, core_problem, solve_path
from experiments.measurement.markdown import mean_with_error_text, processor, table
from experiments.peers.l0 import L0
from experiments.peers.l1 import L1
from experiments.peers.mcp import MCP
from experiments.peers.method import Method
from experiments.peers.selection import choose, validation_loss

Array = NDArray[np.float64]
LOSSES = ("logistic", "squared_hinge", "hinge", "squared_error")
SAME = 1e-6  # relative differences of the objective below this do not count
LAMBDA_2 = 1e-3


def correlated(seed: int, n: int, p: int, k: int, loss: str) -> tuple[Array, Array]:
    """Draw the paper's design with exponential correlation 0.9."""
    X, y, beta = ez.datasets.make_classification(n, p, k, s=1.0, correlation="exponential", rho=0.9, random_state=seed)
    if loss == "squared_error":
        return X, X @ beta + np.random.default_rng(seed).standard_normal(n)
    return X, y.astype(np.float64)


def from_zero(X: Array, y: Array, loss: str, lambda_0: float) -> tuple[float, float, float]:
    """Return the objectives of hard thresholding, plain Algorithm 1 and Algorithm 2, all started at zero."""
    problem = make_problem(X, y, loss=loss, lambda_2=LAMBDA_2)
    null = ez.fit_path(X, y, loss=loss, lambda_2=LAMBDA_2, lambda_0=1e9)[0]
    core, units = core_problem(problem, 1e-6), problem.units
    start = units.core_models([null])[0]
    fixed = _core.hard_thresholding(core, start=start, lambda_0=lambda_0 / units.lambda_0, size=-1, threads=1).model
    hard = evaluate(problem, units.coefficients(fixed), lambda_0)
    end = _core.coordinate_descent(core, lambda_0, 300).model
    cyclic = evaluate(problem, problem.units.coefficients(end), lambda_0)

    def polish(model: Model, algorithm: str) -> float:
        options = PathOptions(lambda_0=np.array([lambda_0]), algorithm=algorithm)
        found = solve_path(problem, options, seeds=problem.units.core_models([model]), sweep=False)
        return problem.objective(*problem.units.coefficients(found.models[0]), lambda_0)

    return hard.objective, min(cyclic.objective, polish(cyclic, "cd")), polish(cyclic, "local_search")


def duel(better: Array, worse: Array) -> list[str]:
    """Return how often and by how much the first objective is below the second, and how often above."""
    ratio = better / worse - 1.0
    wins, losses = ratio < -SAME, ratio > SAME
    mean = f"{100 * ratio[wins].mean():.1f} %" if wins.any() else "-"
    return [
        f"{100 * wins.mean():.0f} %",
        mean,
        f"{100 * ratio.min():.1f} %",
        f"{100 * losses.mean():.1f} %",
        f"{ratio.max():+.1e}",
    ]


DUEL = ["how often better", "by, on average", "at most", "how often worse", "worst"]


def hierarchy(problems: int) -> str:
    """Compare the three algorithms from the same start, and their paths, at n = 100, p = 200."""
    rows = []
    for loss in LOSSES:
        single: list[tuple[float, float, float]] = []
        paths: list[Array] = []
        count = problems if loss != "hinge" else max(1, problems // 10)
        for seed in range(count):
            X, y = correlated(seed, 100, 200, 10, loss)
            grid = ez.lambda_grid(X, y, loss=loss, lambda_2=LAMBDA_2, n_lambda=20, lambda_min_ratio=0.02)
            if loss != "hinge":  # at the hinge's smoothing neither a coordinate step nor thresholding leaves zero
                single += [from_zero(X, y, loss, float(lambda_0)) for lambda_0 in grid[[4, 9, 14]]]
            settings: dict[str, Any] = {"loss": loss, "lambda_2": LAMBDA_2, "lambda_0": grid}
            paths.append(
                np.array([ez.fit_path(X, y, algorithm=name, **settings).objective for name in ("iht", "cd", "local_search")])
            )
        print(f"hierarchy, {loss}: {count} problems", flush=True)
        along = np.concatenate(paths, axis=1)
        cases = [("paths of 20 lambda_0", along)]
        if single:
            cases.insert(0, ("one lambda_0 from zero", np.array(single).T))
        for name, (hard, cd, search) in cases:
            rows.append([loss, str(count), name, "local search, CD", *duel(search, cd)])
            rows.append([loss, str(count), name, "CD, IHT", *duel(cd, hard)])
    return "## Hierarchy: n = 100, p = 200, k = 10, exponential correlation 0.9\n\n" + table(
        ["loss", "problems", "comparison", "first, second", *DUEL], rows
    )


def enumeration(problems: int) -> str:
    """Count how often each algorithm finds the best of all 220 models with 3 of 12 features, at n = 60."""
    rows = []
    algorithms = ("iht", "cd", "local_search")
    for loss in LOSSES:
        settings: dict[str, Any] = {"loss": loss, "lambda_2": LAMBDA_2}
        hits = dict.fromkeys(algorithms, 0)
        for seed in range(problems):
            X, y = correlated(seed, 60, 12, 3, loss)
            subsets = [list(subset) for subset in combinations(range(12), 3)]
            truth = min(float(ez.fit_path(X[:, subset], y, lambda_0=0.0, **settings).objective[0]) for subset in subsets)
            for name in algorithms:
                hits[name] += bool(ez.fit_sizes(X, y, 3, algorithm=name, **settings).objective[0] <= truth * (1.0 + SAME))
        rows.append([loss, str(problems), *[f"{hits[name]} ({100 * hits[name] / problems:.1f} %)" for name in algorithms]])
        print(f"enumeration, {loss}: {hits}", flush=True)
    return "## The best of all models with 3 of 12 features: n = 60, exponential correlation 0.9\n\n" + table(
        ["loss", "problems", "IHT", "CD", "local search"], rows
    )


def timing(quick: bool) -> str:
    """Time paths with swaps by the protocol of benchmarks/path.py."""
    ours = (("ellzero", 1), ("ellzero, local search", 1), ("ellzero, local search", 2))
    peers = (("fastsparsegams with swaps", 1), ("L0Learn with swaps", 1), (OTHER_PROBLEM, 1))
    cases: list[tuple[Callable[[], Case], tuple[tuple[str, int], ...]]] = [(lambda: dense_case(2_000), ours + peers)]
    if not quick:
        cases.insert(0, (lambda: dense_case(1_000), ours + peers))
        cases += [(lambda: dense_case(10_000), ours + peers), (lambda: dense_case(100_000), ours)]
    parts = []
    for make, tools in cases:
        case = make()
        with tempfile.TemporaryDirectory() as name:
            parts.append(f"## {case.name}\n\n" + timing_table(case, tools, Path(name)))
    return "\n\n".join(parts)


TIMING_HEADER = [
    "tool",
    "threads",
    "seconds",
    "/ our local search",
    "/ our CD",
    "largest model",
    "our local search's objective: mean difference (from our CD in its own row)",
    "worst point, up to 30 features",
    "worst point, more than 30",
    "reads of X / memory growth",
]
OUR_SEARCH = "ellzero, local search"
OTHER_PROBLEM = "glmnet"  # it computes an L1 path, and is here for its time


def timing_table(case: Case, tools: tuple[tuple[str, int], ...], folder: Path) -> str:
    save_case(case, folder)
    if any(tool in R_SCRIPTS for tool, _ in tools):
        save_for_r(case, folder)
    seconds: dict[str, float] = {}
    outcomes: dict[str, tuple[Array, NDArray[np.int64]]] = {}
    rows = []
    for tool, threads in tools:
        result, note = run_patiently(case, tool, threads, folder, 600.0)
        if isinstance(result, str):
            rows.append([tool, str(threads), result, *["-"] * 7])
            continue
        seconds.setdefault(tool, result.seconds)
        values, sizes = referee(case, result)
        if tool != OTHER_PROBLEM:
            outcomes.setdefault(tool, (values, sizes))
        searched = seconds.get(OUR_SEARCH, np.nan)
        rows.append(
            [
                tool,
                str(threads),
                f"{result.seconds:.3f}{note}",
                "-" if np.isnan(searched) else f"{result.seconds / searched:.2f}",
                f"{result.seconds / seconds['ellzero']:.2f}",
                str(sizes.max(initial=0)),
                *against_our_search(tool, threads, outcomes),
                "-" if np.isnan(result.reads) else f"{result.reads:.1f} / {100 * result.memory_growth:.1f} %",
            ]
        )
    return table(TIMING_HEADER, rows)


def against_our_search(tool: str, threads: int, outcomes: dict[str, tuple[Array, NDArray[np.int64]]]) -> tuple[str, str, str]:
    """Compare the objectives of our local search with those of a peer or, in its own row, of our coordinate descent."""
    other = "ellzero" if tool == OUR_SEARCH and threads == 1 else tool
    known = OUR_SEARCH in outcomes and other in outcomes and (other != tool or not tool.startswith("ellzero"))
    return compare(outcomes[OUR_SEARCH], outcomes[other]) if known else ("-", "-", "-")


def recovery(draws: int) -> str:
    """Return F1 scores of the supports at n = p = 1000, k = 25, tuned on a second vector of labels as in the paper."""
    methods = recovery_methods()
    scores: dict[str, list[tuple[float, int, float]]] = {name: [] for name in methods}
    for seed in range(draws):
        X, y, beta = ez.datasets.make_classification(
            1000, 1000, 25, s=1.0, correlation="exponential", rho=0.9, random_state=seed
        )
        y_choice = ez.datasets.draw_labels(X, beta, s=1.0, random_state=10_000 + seed)
        for name, method in methods.items():
            start = time.perf_counter()
            fits = list(method.fits(X, y))
            took = time.perf_counter() - start
            support = choose(fits, X, y_choice, "logistic", {"loss": validation_loss})["loss"].support
            scores[name].append((ez.metrics.support_scores(beta, support).f1, len(support), took))
        told = ", ".join(f"{name} {found[-1][0]:.2f}" for name, found in scores.items())
        print(f"recovery, draw {seed}: {told}", flush=True)
    rows = []
    for name, found in scores.items():
        f1, size, seconds = np.array(found).T
        rows.append([name, str(len(f1)), mean_with_error_text(f1, 3), f"{size.mean():.1f}", f"{seconds.mean():.2f}"])
    return "## Support recovery: n = p = 1000, k = 25, s = 1, exponential correlation 0.9\n\n" + table(
        ["method", "draws", "mean F1 ± standard error", "mean size (25 is right)", "seconds per draw"], rows
    )


def recovery_methods() -> dict[str, Method]:
    """Return our methods, and L1 and MCP if they are installed."""
    shrinkage = tuple(float(value) for value in np.geomspace(100.0, 1e-4, 10) / 1000)
    l1, mcp = L1(), MCP()
    methods: dict[str, Method] = {
        "L0L2, CD": L0("L0L2", "cd", shrinkage=shrinkage),
        "L0L2, local search": L0("L0L2", "local_search", shrinkage=shrinkage),
        f"L1 ({l1.tool})": l1,
        f"MCP ({mcp.tool})": mcp,
    }
    for missing in filter(None, (method.missing() for method in methods.values())):
        print(missing, flush=True)
    return {name: method for name, method in methods.items() if method.missing() is None}


INTRODUCTION = """# Local search

Made by `{command}` on {date}, ellzero {version}, {processor}. All objectives are recomputed from the raw data.

**Timing.** The protocol of `benchmarks/path.py`: 100 lambda_0, logistic loss, independent features; every tool in a process of
its own, the best of up to {repeats} fits. glmnet computes an L1 path of 100 points: it is here for its time.

**Hierarchy.** "One lambda_0 from zero": hard thresholding, Algorithm 1 (full cycles) and Algorithm 2 all start at the null
model, at three lambda_0 of each problem. "Paths": `fit_path` with each algorithm on the same 20 lambda_0; its coordinate
descent has sweeps in both directions and every size to draw on, so that less is left for swaps. Negative differences are better
for the first. The hinge has no rows from zero: at its smoothing neither a coordinate step nor thresholding leaves zero.

**Support recovery.** The paper's protocol: all tuning parameters minimise the log-loss of a second outcome vector at the same
X; L0L2 over 10 values of lambda_2, MCP over 10 of gamma. R's time includes its start.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few problems, small sizes")
    parser.add_argument("--only", default="", help="only parts whose name contains this text")
    parser.add_argument("--out", type=Path, default=None, help="where the tables go")
    arguments = parser.parse_args()
    quick = arguments.quick
    sections: dict[str, Callable[[], str]] = {
        "timing": lambda: timing(quick),
        "hierarchy": lambda: hierarchy(5 if quick else 200),
        "enumeration": lambda: enumeration(10 if quick else 200),
        "recovery": lambda: recovery(2 if quick else 20),
    }
    chosen = [name for name in sections if arguments.only in name]
    command = "make bench-search" + (' BENCH="--quick"' if quick else "")
    introduction = INTRODUCTION.format(
        command=command,
        date=datetime.now(timezone.utc).date(),
        version=ez.__version__,
        processor=processor(),
        repeats=REPEATS,
    )
    text = "\n\n".join([introduction.rstrip(), *(sections[name]() for name in chosen)]) + "\n"
    print("\n" + text)
    out = arguments.out or (None if quick or arguments.only else Path(__file__).parent / "results" / "local_search.md")
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text)


if __name__ == "__main__":
    main()
