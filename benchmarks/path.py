"""Time regularisation paths by the paper's protocol, with a referee, and write a Markdown table.

python -m benchmarks.path [--quick] [--only TEXT] [--out FILE]
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import ellzero as ez
from benchmarks.cases import Case, dense_case, sparse_case
from benchmarks.tools import ATTEMPTS, R_SCRIPTS, REPEATS, Run, run_patiently, save_case, save_for_r
from experiments.measurement.markdown import processor, table

Array = NDArray[np.float64]
NEARLY_SEPARABLE = 30  # models with more features are listed apart
WORSE = 1e-4


@dataclass(frozen=True)
class Plan:
    make: Callable[[], Case]
    tools: tuple[tuple[str, int], ...]  # (tool, threads)


PEERS = (("fastsparsegams", 1), ("L0Learn", 1), ("glmnet", 1), ("abess", 1))
OURS = (("ellzero", 1), ("ellzero", 2))
PLANS = {
    "p = 2,000": Plan(lambda: dense_case(2_000), OURS + PEERS),
    "p = 10,000": Plan(lambda: dense_case(10_000), OURS + PEERS),
    "p = 50,000": Plan(lambda: dense_case(50_000), OURS + PEERS[:3]),
    "sparse": Plan(sparse_case, OURS + PEERS[:3]),
    "p = 1,000,000": Plan(lambda: dense_case(1_000_000, n=500, dtype=np.float32), OURS),
    "1 GB float64": Plan(lambda: dense_case(131_072), OURS[:1]),
    "1 GB float32": Plan(lambda: dense_case(262_144, dtype=np.float32), OURS[:1]),
}
QUICK = ("p = 2,000",)


def referee(case: Case, result: Run) -> tuple[Array, NDArray[np.int64]]:
    """Return the recomputed objective and the size of each point."""
    sizes = np.diff(result.coef.indptr)
    values = np.array(
        [
            ez.objective(
                case.X, case.y, result.coef[k], float(result.intercept[k]), lambda_0=float(case.grid[k]), lambda_2=case.lambda_2
            )
            for k in range(len(sizes))
        ]
    )
    return values, sizes


def compare(ours: tuple[Array, NDArray[np.int64]], theirs: tuple[Array, NDArray[np.int64]]) -> tuple[str, str, str]:
    """Return our objective over theirs minus one: the mean, the worst of the small models, the worst of the large."""
    m = min(len(ours[0]), len(theirs[0]))
    excess = ours[0][:m] / theirs[0][:m] - 1.0
    large = (ours[1][:m] > NEARLY_SEPARABLE) | (theirs[1][:m] > NEARLY_SEPARABLE)

    def worst(part: Array) -> str:
        if not len(part):
            return "-"
        return f"{part.max():+.1e} ({np.count_nonzero(part > WORSE)} of {len(part)} worse)"

    return f"{100 * excess.mean():+.1f} %", worst(excess[~large]), worst(excess[large])


def measure(case: Case, plan: Plan, folder: Path, timeout: float) -> list[list[str]]:
    """Return the table rows of one case."""
    save_case(case, folder)
    if any(tool in R_SCRIPTS for tool, _ in plan.tools):
        save_for_r(case, folder)
    rows: list[list[str]] = []
    reference: tuple[Array, NDArray[np.int64]] | None = None
    seconds = np.nan
    for tool, threads in plan.tools:
        result, note = run_patiently(case, tool, threads, folder, timeout)
        if isinstance(result, str):
            rows.append([tool, str(threads), result, *["-"] * 7])
            continue
        if tool == "ellzero" and threads == 1:
            seconds = result.seconds
        sizes = np.diff(result.coef.indptr)
        mean = small = large = "-"
        if tool not in ("glmnet", "abess"):
            values, sizes = referee(case, result)
            if tool == "ellzero":
                reference = values, sizes
            elif reference is not None:
                mean, small, large = compare(reference, (values, sizes))
        rows.append(
            [
                tool,
                str(threads),
                f"{result.seconds:.3f}{note}",
                f"{result.seconds / seconds:.2f}",
                str(len(sizes)),
                str(sizes.max(initial=0)),
                mean,
                small,
                large,
                "-" if np.isnan(result.reads) else f"{result.reads:.1f} / {100 * result.memory_growth:.1f} %",
            ]
        )
    return rows


HEADER = [
    "tool",
    "threads",
    "seconds",
    "/ ours (1 thread)",
    "points",
    "largest model",
    "our objective: mean difference",
    f"our worst point, up to {NEARLY_SEPARABLE} features",
    f"our worst point, more than {NEARLY_SEPARABLE}",
    "reads of X / memory growth",
]


INTRODUCTION = """# Regularisation paths: time and objective

Made by `{command}` on {date}, ellzero {version}, {processor}.

The paper's timing protocol: n = 1000, independent Gaussian features, k = 5, s = 1, logistic loss, lambda_2 = 1e-7 (of the sum),
100 log-spaced lambda_0 from the closed-form maximum to 0.001 of it, tolerance 1e-6. glmnet computes its own L1 path of 100
points, abess all sizes from 0 to 60: they solve other problems and are here for their time. Every tool runs in a process of its
own; seconds are the best of up to {repeats} fits. Compare within one table only. A tool that crashes is tried again
(fastsparsegams with other values of active_set_num), {attempts} times in all.

A referee recomputes all objectives from the raw data. Differences are ours / theirs - 1 at the same lambda_0: negative is
better for ellzero. Points where either model has more than {large} features, where the data is nearly separable, are listed
apart; a point counts as worse above +{worse:g}. Reads are in units of the whole of X, without the one read that finds column
norms and checks for NaN; memory growth is the peak resident memory during the fit above that with X loaded, as a share of X.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only p = 2,000")
    parser.add_argument("--only", default="", help="only cases whose name contains this text")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds per tool and case")
    parser.add_argument("--out", type=Path, default=None, help="where the table goes")
    arguments = parser.parse_args()
    chosen = [name for name in PLANS if arguments.only in name and (name in QUICK or not arguments.quick)]
    command = "make bench" + (' BENCH="--quick"' if arguments.quick else "")
    parts = [
        INTRODUCTION.format(
            command=command,
            date=datetime.now(timezone.utc).date(),
            version=ez.__version__,
            processor=processor(),
            repeats=REPEATS,
            attempts=ATTEMPTS,
            large=NEARLY_SEPARABLE,
            worse=WORSE,
        )
    ]
    for name in chosen:
        case = PLANS[name].make()
        with tempfile.TemporaryDirectory() as folder:
            rows = measure(case, PLANS[name], Path(folder), arguments.timeout)
        parts.append(f"## {case.name}\n\n{table(HEADER, rows)}\n")
    text = "\n".join(parts)
    print("\n" + text)
    partial = arguments.quick or arguments.only
    out = arguments.out or (None if partial else Path(__file__).parent / "results" / "path.md")
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text)


if __name__ == "__main__":
    main()
