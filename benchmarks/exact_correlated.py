"""Sections of the exact benchmark where features resemble each other, and best subsets without a penalty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.exact_runs import GAP, Job, Outcome, percent, seconds_shown
from benchmarks.sections import Section
from experiments.measurement.markdown import table

__all__ = ["family", "subsets"]

SEEDS = range(5)
TARGETS = {
    "linear": {500: 1.0, 1_000: 1.5, 4_000: 5.0, 8_000: 15.0, 16_000: 45.0},
    "logistic": {500: 120.0, 1_000: 10.0, 2_000: 10.0, 4_000: 15.0, 16_000: 100.0},
}
LOSSES = {"linear": "squared_error", "logistic": "logistic"}
HEADER = [
    "response",
    "n",
    "p",
    "seconds, median",
    "least to most",
    "target",
    "nodes",
    "gap, most",
    "proved",
    "MB",
    "verified in",
]

FAMILY = """n = p, corr(x_i, x_j) = 0.9^|i-j|, k = 10 evenly spaced coefficients of 1, signal-to-noise ratio 5 or drawn labels,
lambda_2 = 1 in the sum of the losses (of squares, not halves), |beta_j| <= 2, no intercept, `gap={gap:g}`, `n_jobs=2`, seeds 0
to 4, one run each. Objectives, bounds and certificates are recomputed. Targets were set in advance. MB and
the seconds of the verification are those of the largest certificate."""

SUBSETS = """The same columns, without any penalty or bound: best subsets of least squares. The proofs assume nothing. There is
no target."""


def row(response: str, n: int, p: int, target: float | None, results: Sequence[Outcome | str]) -> list[str]:
    """Return the row of one size: medians over the seeds."""
    good = [result for result in results if isinstance(result, Outcome)]
    if not good:
        return [response, f"{n:,}", f"{p:,}", str(results[0]), *["-"] * 7]
    seconds = [result.seconds for result in good]
    sizes = [(result.certificate_bytes or 0, result.verify_seconds) for result in good]
    proved = sum(result.status == "optimal" and result.valid is not False for result in good)
    return [
        response,
        f"{n:,}",
        f"{p:,}",
        seconds_shown(float(np.median(seconds))),
        f"{min(seconds):.2f} to {max(seconds):.2f}",
        "-" if target is None else f"{target:g}",
        f"{int(np.median([result.nodes for result in good])):,}",
        percent(max(result.gap() for result in good)),
        f"{proved} of {len(results)}",
        f"{max(sizes)[0] / 1e6:.1f}",
        seconds_shown(max(sizes)[1]),
    ]


def family(quick: bool) -> Section:
    """Return the section of n = p: the family that recent exact solvers are measured on."""
    section = Section("Correlated columns")
    cells = [(name, p) for name, targets in TARGETS.items() for p in targets if not quick or p <= 1_000]
    jobs = []
    for response, p in cells:
        scale = 1.0 / (2.0 * p) if response == "linear" else 1.0 / p
        limit = 10.0 if quick else 20.0 + 1.5 * TARGETS[response][p]
        options = {"loss": LOSSES[response], "k": 10, "lambda_2": scale, "lower": -2.0, "upper": 2.0, "fit_intercept": False}
        options |= {"gap": GAP, "n_jobs": 2, "time_limit": limit}
        jobs += [
            Job({"kind": "correlated", "p": p, "response": response, "seed": seed}, options, verify=True, repeats=1)
            for seed in SEEDS
        ]
    results = section.solve_all(jobs)
    groups = [results[start : start + len(SEEDS)] for start in range(0, len(results), len(SEEDS))]
    rows = [row(name, p, p, TARGETS[name][p], group) for (name, p), group in zip(cells, groups, strict=True)]
    section.text = f"{FAMILY.format(gap=GAP)}\n\n{table(HEADER, rows)}"
    return section


def subsets(quick: bool) -> Section:
    """Return the section of best subsets without penalties."""
    section = Section("Best subsets without a penalty")
    cells = (
        [(200, 60), (400, 120)] if quick else [(200, 100), (500, 100), (1_000, 100), (1_000, 500), (2_000, 500), (5_000, 1_000)]
    )
    options = {"loss": "squared_error", "k": 10, "gap": GAP, "n_jobs": 2, "time_limit": 10.0 if quick else 60.0}
    jobs = [
        Job({"kind": "correlated", "p": p, "n": n, "response": "linear", "seed": seed}, options, verify=True, repeats=1)
        for n, p in cells
        for seed in SEEDS
    ]
    results = section.solve_all(jobs)
    groups = [results[start : start + len(SEEDS)] for start in range(0, len(results), len(SEEDS))]
    rows = [row("linear", n, p, None, group) for (n, p), group in zip(cells, groups, strict=True)]
    section.text = f"{SUBSETS}\n\n{table(HEADER, rows)}"
    return section
