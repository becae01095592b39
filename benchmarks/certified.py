"""How often local search finds the proved optimum of hard problems; writes a Markdown table.

python -m benchmarks.certified [--seeds FIRST COUNT] [--only TEXT] [--out FILE]

Each seed of a family and a loss is one problem, with features that resemble each other. `ez.solve` proves its optimum (to a gap
of 1e-4; those that it cannot prove in time are left out), which is kept in build/certified.json: a run that was stopped goes
on, and another build of the package searches the same problems.
"""

from __future__ import annotations

import argparse
import json
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ellzero as ez
from benchmarks.exact_data import load, missing
from experiments.measurement.markdown import processor, table

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
DRAWS_OF_SETTING_2 = range(10, 14)
SIZES_OF_SETTING_2 = (5, 8, 11, 14, 17, 20)
LAMBDA_2_OF_SETTING_2 = 1e-4
TEXT_OF_SETTING_2 = """The paper's Table 2, Setting 2: n = 1,000, p = 100,000, correlation 0.3 between all columns, 20 features
matter, labels almost without noise. Objectives of the best models found (logistic loss, lambda_2 = 0.0001, without lambda_0),
two threads, compared with that of the true features. The search was tuned on draws 0 to 3."""
EFFORTS = ("quick", "thorough")
TEXT = """Problems whose best model of k features `ez.solve` proves to {gap:g} in {limit:g} s (others are left out: {proved} of
{drawn} are proved), n = 60 to 500, p = 100 to 2,000, k = 4 to 8, lambda_2 between 0.003 and 0.1. "All 0.6" and "all 0.9" have
the same correlation between all columns, genes are columns of real data ({genes}) with a response of their own. A model within
{found:g} of the optimum counts as found. Seconds are those of `ez.fit_sizes` on one thread, summed. "Quick" exchanges features,
as all of local search did before; "thorough" is the default. Seeds {first} to {last}; the search was tuned on others."""


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
        seed = int(rng.integers(2**31))
        X = ez.datasets.make_classification(n, p, k, correlation=correlation, rho=rho, random_state=seed)[0]
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


def searched(family: str, loss: str, seed: int, effort: str) -> tuple[float, float]:
    """Return the objective that local search reaches, and its seconds."""
    X, y, problem = drawn(family, loss, seed)
    k = problem.pop("k")
    start = time.perf_counter()
    sizes = ez.fit_sizes(X, y, [k], algorithm="local_search", effort=effort, n_jobs=1, **problem)
    return float(sizes.objective[-1]), time.perf_counter() - start


def cell(family: str, loss: str, seeds: range, known: dict[str, Any]) -> dict[str, Any]:
    """Return how many problems are proved and how many optima each effort finds, with its seconds."""
    found = {seed: proved(family, loss, seed, known) for seed in seeds}
    optima = {seed: value for seed, value in found.items() if value is not None}
    out: dict[str, Any] = {"columns": family, "loss": loss, "proved": len(optima)}
    for effort in EFFORTS:
        results = {seed: searched(family, loss, seed, effort) for seed in optima}
        missed = [seed for seed, (objective, _) in results.items() if objective > optima[seed] * (1.0 + FOUND)]
        out[effort] = len(results) - len(missed)
        out[f"{effort}, s"] = sum(seconds for _, seconds in results.values())
        print(f"{family}, {loss}, {effort}: {out[effort]} of {len(results)}, missed {missed}", flush=True)
    return out


def setting_2(draws: range) -> str:
    """Return the objectives of local search in Setting 2 of the paper's Table 2, and that of the true support."""
    rows = []
    for draw in draws:
        X, y, beta = ez.datasets.make_classification(
            1000, 100_000, 20, s=1000.0, correlation="constant", rho=0.3, random_state=draw
        )
        X = np.asfortranarray(X)
        truth = ez.fit_path(X[:, beta != 0.0], y, lambda_0=0.0, lambda_2=LAMBDA_2_OF_SETTING_2).objective[0]
        for effort in EFFORTS:
            start = time.perf_counter()
            sizes = ez.fit_sizes(X, y, SIZES_OF_SETTING_2, lambda_2=LAMBDA_2_OF_SETTING_2, effort=effort, n_jobs=2)
            seconds = time.perf_counter() - start
            kept = np.count_nonzero(beta[sizes[SIZES_OF_SETTING_2[-1]].support])
            rows.append(
                [str(draw), effort, *(f"{value:.4f}" for value in sizes.objective), f"{truth:.4f}", str(kept), f"{seconds:.1f}"]
            )
            print(" | ".join(rows[-1]), flush=True)
    header = [
        "draw",
        "effort",
        *(f"{size} features" for size in SIZES_OF_SETTING_2),
        "the true 20",
        "true ones of 20",
        "seconds",
    ]
    return f"## Setting 2\n\n{TEXT_OF_SETTING_2}\n\n{table(header, rows)}"


def page(rows: list[dict[str, Any]], seeds: range, command: str, more: str = "") -> str:
    """Return the results as Markdown."""
    total = {name: sum(row[name] for row in rows) for name in rows[0] if name not in ("columns", "loss")}
    rows = [*rows, {"columns": "all", "loss": "", **total}]
    header = list(total)
    cells = [[row["columns"], row["loss"], *(f"{row[h]:.1f}" if ", s" in h else str(row[h]) for h in header)] for row in rows]
    shares = ", ".join(f"{effort} {100.0 * total[effort] / max(total['proved'], 1):.1f} %" for effort in EFFORTS)
    text = TEXT.format(
        gap=GAP,
        limit=SECONDS_TO_PROVE,
        proved=total["proved"],
        drawn=len(seeds) * (len(rows) - 1),
        genes=", ".join(GENES),
        found=FOUND,
        first=seeds[0],
        last=seeds[-1],
    )
    made = f"`{command}` on {datetime.now(timezone.utc).date()}, ellzero {ez.__version__}, {processor()}."
    body = table(["columns", "loss", *header], cells)
    return f"# Local search against proved optima\n\n{made}\n\n{text}\n\n{body}\n\nFound: {shares}.\n{more}"


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs=2, default=(1000, 50), metavar=("FIRST", "COUNT"))
    parser.add_argument("--only", default="", help="cells whose names contain this text")
    parser.add_argument("--out", type=Path, default=OUT)
    chosen = parser.parse_args()
    known = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    first, count = chosen.seeds
    seeds, rows = range(first, first + count), []
    for family in FAMILIES:
        for loss in LOSSES:
            if chosen.only in f"{family}, {loss}":
                rows.append(cell(family, loss, seeds, known))
                command = f'make bench-certified BENCH="--seeds {first} {count}"'
                chosen.out.write_text(page(rows, seeds, command), encoding="utf-8")
    if rows and not chosen.only:
        chosen.out.write_text(page(rows, seeds, command, f"\n{setting_2(DRAWS_OF_SETTING_2)}\n"), encoding="utf-8")


if __name__ == "__main__":
    main()
