"""How often local search finds the proved optimum of hard problems; writes a Markdown table.

python -m benchmarks.certified [--seeds FIRST COUNT] [--only TEXT] [--out FILE]

Each seed of a family and a loss is one problem, with features that resemble each other. `ez.solve` proves its optimum (to a gap
of 1e-4; those that it cannot prove in time are left out), which is kept in build/certified.json: a run that was stopped goes
on, and another build of the package searches the same problems.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ellzero as ez
from benchmarks.exact_data import load, missing
from ellzero.measurement.markdown import processor, table

Array = NDArray[np.float64]
ROOT = Path(__file__).parent.parent
KEPT = ROOT / "build" / "certified.json"
OUT = ROOT / "benchmarks" / "results" / "certified.md"
FAMILIES = {"all 0.6": ("constant", 0.6), "all 0.9": ("constant", 0.9), "0.9^\\|i-j\\|": ("exponential", 0.9), "genes": None}
GENES = ("colon", "leukemia", "lymphoma", "TOX, classes 1 and 2")
LOSSES = ("logistic", "squared_hinge", "hinge", "squared_error")
GAP = 1e-4
FOUND = 2e-4  # a relative distance from the proved optimum that counts as found
SECONDS_TO_PROVE = 15.0
TEXT = """Certified optimum found: problems whose best model of k features `ez.solve` proves to {gap:g} in {limit:g} s (others are
left out), n = 60 to 500, p = 100 to 2,000, k = 4 to 8, lambda_2 between 0.003 and 0.1. "All 0.6" and "all 0.9" have the same
correlation between all columns, genes are columns and rows drawn from real data ({genes}) with a response of their own. A model
within {found:g} of the optimum counts as found. Seconds are those of `ez.fit_sizes` on one thread, medians. Seeds {first} to
{last}; the search was tuned on others."""


def drawn(family: str, loss: str, seed: int) -> tuple[Array, Array, dict[str, Any]]:
    """Return one problem: X, y, and the arguments that define it."""
    rng = np.random.default_rng([seed, list(FAMILIES).index(family), LOSSES.index(loss)])
    n, p = int(np.exp(rng.uniform(np.log(60), np.log(500)))), int(np.exp(rng.uniform(np.log(100), np.log(2000))))
    k, lambda_2 = int(rng.integers(4, 9)), float(10.0 ** rng.uniform(-2.5, -1.0))
    design = FAMILIES[family]
    if design is None:
        X = genes(rng, p)
        n = len(X)
    else:
        correlation, rho = design
        X, _, _ = ez.datasets.make_classification(n, p, k, correlation=correlation, rho=rho, random_state=int(rng.integers(2**31)))
    beta = np.zeros(X.shape[1])
    beta[rng.choice(X.shape[1], k, replace=False)] = rng.choice([-1.0, 1.0], k) * rng.uniform(0.5, 1.5, k)
    signal = X @ beta
    noisy = signal + rng.standard_normal(n) * signal.std() * 0.5
    y = noisy / noisy.std() if loss == "squared_error" else np.where(noisy > np.median(noisy), 1.0, -1.0)
    return np.asfortranarray(X), y, {"loss": loss, "lambda_2": lambda_2, "standardize": True, "k": k}


def genes(rng: np.random.Generator, p: int) -> Array:
    """Return columns of real data."""
    X = load({"kind": str(rng.choice([name for name in GENES if not missing(name)]))})[0]
    X = X[:, rng.choice(X.shape[1], min(p, X.shape[1]), replace=False)]
    return np.asarray(X[:, X.std(axis=0) > 0.0], dtype=np.float64)


def proved(family: str, loss: str, seed: int, known: dict[str, Any]) -> float | None:
    """Return the objective of the proved optimum, None if there is no proof."""
    key = f"{family}, {loss}, {seed}"
    if key not in known:
        X, y, problem = drawn(family, loss, seed)
        solution = ez.solve(X, y, **problem, gap=GAP, time_limit=SECONDS_TO_PROVE, n_jobs=-1)
        known[key] = solution.objective if solution.status == "optimal" else None
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(json.dumps(known, indent=0))
    return known[key]


def searched(family: str, loss: str, seed: int, **options: Any) -> tuple[float, float]:
    """Return the objective that local search reaches, and its seconds."""
    X, y, problem = drawn(family, loss, seed)
    k = problem.pop("k")
    start = time.perf_counter()
    sizes = ez.fit_sizes(X, y, [k], algorithm="local_search", n_jobs=1, **problem, **options)
    return float(sizes.objective[-1]), time.perf_counter() - start


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs=2, default=(1000, 50), metavar=("FIRST", "COUNT"))
    parser.add_argument("--only", default="", help="cells whose names contain this text")
    parser.add_argument("--prove", action="store_true", help="prove optima, search nothing")
    parser.add_argument("--say", action="store_true", help="print the problems whose optimum is missed")
    parser.add_argument("--out", type=Path, default=None)
    chosen = parser.parse_args()
    known = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    first, count = chosen.seeds
    rows, found_in_all, all_of_them, seconds_of_all = [], 0, 0, 0.0
    efforts = [dict(effort=effort) for effort in os.environ.get("EFFORTS", "").split(",") if effort] or [{}]
    for family in FAMILIES:
        for loss in LOSSES:
            if chosen.only not in f"{family}, {loss}":
                continue
            optima = {seed: proved(family, loss, seed, known) for seed in range(first, first + count)}
            seeds = [seed for seed, value in optima.items() if value is not None]
            if chosen.prove:
                print(f"{family}, {loss}: {len(seeds)} of {count} proved", flush=True)
                continue
            results = {seed: searched(family, loss, seed, **efforts[0]) for seed in seeds}
            missed = [seed for seed in seeds if results[seed][0] > optima[seed] * (1.0 + FOUND)]
            if chosen.say and missed:
                print(f"{family}, {loss} missed: {missed}", flush=True)
            seconds = [results[seed][1] for seed in seeds]
            found_in_all, all_of_them = found_in_all + len(seeds) - len(missed), all_of_them + len(seeds)
            seconds_of_all += sum(seconds)
            rows.append([family, loss, f"{len(seeds)} of {count}", f"{len(seeds) - len(missed)}", f"{np.median(seconds):.3f}"])
            print(" | ".join(rows[-1]), flush=True)
    if chosen.prove:
        return
    print(f"found {found_in_all} of {all_of_them}, {seconds_of_all:.1f} s")
    if chosen.out is not None:
        text = TEXT.format(gap=GAP, limit=SECONDS_TO_PROVE, genes=", ".join(GENES), found=FOUND, first=first, last=first + count - 1)
        made = f"`python -m benchmarks.certified --seeds {first} {count}` on {datetime.now(timezone.utc).date()}, ellzero {ez.__version__}, {processor()}."
        header = ["columns", "loss", "proved", "found", "seconds"]
        share = f"Found: {found_in_all} of {all_of_them} ({100 * found_in_all / max(all_of_them, 1):.1f} %)."
        chosen.out.write_text(f"# Local search against proved optima\n\n{made}\n\n{text}\n\n{table(header, rows)}\n\n{share}\n")


if __name__ == "__main__":
    main()
