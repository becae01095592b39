"""Sections of the exact benchmark on real data: genes with labels, genes with a response, and questionnaires of credit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.exact_data import load, missing
from benchmarks.exact_runs import GAP, Job, Outcome, bound_shown, percent, seconds_shown
from benchmarks.sections import Section
from experiments.measurement.markdown import table

__all__ = ["credit", "entry", "genes", "regression"]

SIZES = range(1, 7)
# The table of 2026-11-15, before blocks of features were decided together: 10 s a cell, two threads on two cores.
BEFORE = {
    ("colon", "logistic", 0.1): ("9.4e-10 % (0.035 s)", "0.0025 % (4.103 s)", "30 % (10.2 s)", "21 % (10.1 s)"),
    ("colon", "logistic", 1.0): ("2.7e-05 % (0.019 s)", "1.8e-06 % (0.215 s)", "0.008 % (0.477 s)", "0.0092 % (1.038 s)"),
    ("colon", "logistic", 10.0): ("1.5e-06 % (0.006 s)", "5.8e-06 % (0.010 s)", "3.3e-05 % (0.012 s)", "6.8e-05 % (0.010 s)"),
    ("colon", "squared_hinge", 0.1): ("7.2e-12 % (0.028 s)", "85 % (10.2 s)", "91 % (10.2 s)", "73 % (10.1 s)"),
    ("colon", "squared_hinge", 1.0): ("5.8e-12 % (0.017 s)", "2.9e-11 % (7.965 s)", "54 % (10.5 s)", "46 % (10.2 s)"),
    ("colon", "squared_hinge", 10.0): (
        "0.00025 % (0.010 s)",
        "0.00054 % (0.299 s)",
        "0.0099 % (1.346 s)",
        "0.0077 % (5.620 s)",
    ),
    ("leukemia", "logistic", 0.1): ("8.1e-05 % (0.073 s)", "0.0036 % (2.951 s)", "11 % (10.1 s)", "0.0029 % (1.611 s)"),
    ("leukemia", "logistic", 1.0): ("0.00011 % (0.030 s)", "0.00024 % (0.239 s)", "0.0057 % (0.383 s)", "0.00023 % (0.318 s)"),
    ("leukemia", "logistic", 10.0): ("0.00088 % (0.015 s)", "1.4e-06 % (0.019 s)", "0.0018 % (0.051 s)", "2.1e-05 % (0.048 s)"),
    ("leukemia", "squared_hinge", 0.1): ("1.2e-10 % (0.055 s)", "80 % (10.3 s)", "72 % (10.2 s)", "52 % (10.1 s)"),
    ("leukemia", "squared_hinge", 1.0): ("2.6e-06 % (0.050 s)", "23 % (10.1 s)", "51 % (10.2 s)", "34 % (10.0 s)"),
    ("leukemia", "squared_hinge", 10.0): (
        "6.9e-06 % (0.029 s)",
        "1.6e-05 % (0.832 s)",
        "0.0097 % (3.035 s)",
        "0.009 % (1.616 s)",
    ),
}
# Commit 797aad7, one thread, as measured for the design of blocks.
RIBOFLAVIN_BEFORE = {
    (0.1, 3): "closed (6.6 s, 14,170 nodes)",
    (0.1, 5): "closed (34 s, 37,782 nodes)",
    (0.1, 8): "6.3 % (40 s)",
    (0.1, 10): "open",
}
SINGLY = {"alike": 2.0, "diagonals": False}  # the search as it was before


def entry(result: Outcome | str) -> str:
    """Return the gap and the seconds of a result, with its status unless it is optimal."""
    if isinstance(result, str):
        return result
    status = "" if result.status == "optimal" else f", {result.status}"
    return f"{percent(result.gap())} ({seconds_shown(result.seconds)} s{status})"


def closed(results: Sequence[Outcome | str]) -> str:
    """Return how many results are proved, and how long their certificates take."""
    good = [result for result in results if isinstance(result, Outcome)]
    proved = sum(result.status == "optimal" and result.valid is not False for result in good)
    verified = [result.verify_seconds for result in good if result.verify_seconds is not None]
    slowest = f"; the slowest of {len(verified)} verifications took {max(verified):.1f} s" if verified else ""
    return f"Closed: {proved} of {len(results)}{slowest}."


# Genes with labels.


GENES = """The best models with k features, columns standardised, intercept, no bound, at most {limit:g} s each, `n_jobs=2`,
`gap={gap:g}`. Entries are gap (seconds); the status is named where it is not "optimal". Gaps are of verified certificates,
but for trees above 20,000 nodes (the verifier is plain NumPy). "Before" is this table of 2026-11-15, when every feature was
decided on its own: 2 cores, and at most 10 s each."""


def genes(quick: bool) -> Section:
    limit = 2.0 if quick else 30.0
    section = Section("Real data", GENES.format(limit=limit, gap=GAP))
    base = {"standardize": True, "bound": None, "gap": GAP, "time_limit": limit, "n_jobs": 2}
    cells, jobs = [], []
    for name in ("colon", "leukemia"):
        if without := missing(name):
            section.text += f"\n\n{without}"
            continue
        n = len(load({"kind": name})[1])
        cells += [key for key in BEFORE if key[0] == name and (not quick or key[2] == 1.0)]
        for _, loss, shrinkage in (key for key in cells if key[0] == name):
            options = [{"loss": loss, "k": k, "lambda_2": shrinkage / n, **base} for k in SIZES]
            jobs += [Job({"kind": name}, chosen, verify=True) for chosen in options]
    results = section.solve_all(jobs)
    rows = []
    for i, (name, loss, shrinkage) in enumerate(cells):
        before, now = BEFORE[name, loss, shrinkage], results[i * len(SIZES) : (i + 1) * len(SIZES)]
        rows.append([name, loss, f"{shrinkage:g} / n", "before", *before, *["-"] * (len(SIZES) - len(before))])
        rows.append(["", "", "", "now", *map(entry, now)])
    header = ["data", "loss", "lambda_2", "", *(f"k = {k}" for k in SIZES)]
    section.text += f"\n\n{table(header, rows)}\n\n{closed(results)}"
    return section


# Larger models: one row each, after the search that decides every feature on its own.


HEADER = [
    "loss",
    "lambda_2",
    "k",
    "before",
    "features singly",
    "now",
    "nodes",
    "objective",
    "lower bound",
    "MB",
    "verified in",
]


def row(job: Job, n: int, before: str, singly: Outcome | str, now: Outcome | str) -> list[str]:
    start = [
        job.options["loss"],
        f"{n * job.options['lambda_2']:g} / n",
        str(job.options["k"]),
        before,
        entry(singly),
        entry(now),
    ]
    if isinstance(now, str):
        return [*start, *["-"] * 5]
    megabytes = "-" if now.certificate_bytes is None else f"{now.certificate_bytes / 1e6:.1f}"
    cells = [f"{now.nodes:,}", f"{now.objective:.6f}", bound_shown(now), megabytes, seconds_shown(now.verify_seconds)]
    return [*start, *cells]


def larger(section: Section, kind: str, options: Sequence[dict[str, Any]], before: Sequence[str]) -> Section:
    """Solve problems, each also with every feature decided on its own, and add the table; lambda_2 is that of the sum."""
    if without := missing(kind):
        section.text += f"\n\n{without}"
        return section
    n = len(load({"kind": kind})[1])
    jobs = [Job({"kind": kind}, chosen | {"lambda_2": chosen["lambda_2"] / n}, verify=True) for chosen in options]
    singly = [Job(job.data, job.options, repeats=1, internal=SINGLY) for job in jobs]
    results = section.solve_all([*jobs, *singly])
    now, then = results[: len(jobs)], results[len(jobs) :]
    rows = [row(job, n, before[i], then[i], now[i]) for i, job in enumerate(jobs)]
    section.text += f"\n\n{table(HEADER, rows)}\n\n{closed(now)}"
    return section


SINGLY_TEXT = """At most {limit:g} s each, `n_jobs=2`, `gap={gap:g}`. Entries are gap (seconds), and lower bounds are
recomputed from certificates of up to 20,000 nodes. "Features singly" is today's solver without blocks and without diagonals:
every feature is decided on its own."""

REGRESSION = """Riboflavin: 71 rows, 4,088 genes, a response. Squared error, columns and response centred and of unit norm, no
intercept, no bound given: the solver proves one.
{singly}
"Before" is commit 797aad7 with one thread and 40 s, as measured when blocks were designed."""


def regression(quick: bool) -> Section:
    limit = 2.0 if quick else 30.0
    base = {"loss": "squared_error", "fit_intercept": False, "bound": None, "gap": GAP, "time_limit": limit, "n_jobs": 2}
    cells = [(shrinkage, k) for shrinkage in (0.1, 0.01) for k in (3, 5, 8, 10) if not quick or k <= 5]
    section = Section("A regression on genes", REGRESSION.format(singly=SINGLY_TEXT.format(limit=limit, gap=GAP)))
    options = [{"lambda_2": shrinkage, "k": k, **base} for shrinkage, k in cells]
    return larger(section, "riboflavin", options, [RIBOFLAVIN_BEFORE.get(cell, "-") for cell in cells])


CREDIT = """FICO's HELOC data: 10,459 rows, 23 attributes. Each code of a missing value (-7, -8, -9) is its own column,
and so is each tenth of an attribute's other values: {p} columns of zeros and ones. {copies} of them are copies of others (the
same rows miss most attributes), and the columns of an attribute sum to one. Intercept, no bound, unscaled columns.
lambda_2 = 1 / n is about as much as one row says; 10 / n is shown too.
{singly}
There is no record of before."""


def credit(quick: bool) -> Section:
    limit = 3.0 if quick else 30.0
    base = {"bound": None, "gap": GAP, "time_limit": limit, "n_jobs": 2}
    section = Section("Credit")
    if not missing("FICO"):
        X, _ = load({"kind": "FICO"})
        copies = X.shape[1] - np.unique(X, axis=1).shape[1]
        section.text = CREDIT.format(p=X.shape[1], copies=copies, singly=SINGLY_TEXT.format(limit=limit, gap=GAP))
    cells = [(loss, shrinkage, k) for loss in ("logistic", "squared_error") for shrinkage in (1.0, 10.0) for k in (5, 10)]
    options = [{"loss": loss, "lambda_2": shrinkage, "k": k, **base} for loss, shrinkage, k in (cells[:2] if quick else cells)]
    return larger(section, "FICO", options, ["-"] * len(options))
