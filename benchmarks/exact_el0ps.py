"""Sections of the exact benchmark against El0ps, whose answers are compared with known models."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ellzero as ez
from benchmarks.cases import N
from benchmarks.exact_data import REAL, load, missing
from benchmarks.exact_runs import (
    GAP,
    REPEATS,
    SECONDS_FOR_REPEATS,
    Job,
    Outcome,
    contradictions,
    percent,
    relative,
    run_process,
    seconds_shown,
    shown,
)
from benchmarks.sections import Section
from experiments.measurement.markdown import table

__all__ = ["against_el0ps", "el0ps_elsewhere"]

LAMBDA_2 = 0.01
SECONDS_TO_COMPILE = 600.0  # half a minute, but for a machine with much else to do
HEADER = [
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
ABSENT = "El0ps takes no part: `ELLZERO_EL0PS_PYTHON` must name an interpreter that can import it."


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


def run_peer(X: NDArray[Any], y: NDArray[np.float64], options: dict[str, Any]) -> Outcome | str:
    """Run El0ps; it has one thread only."""
    words = [options["loss"], *(repr(options[key]) for key in ("lambda_0", "lambda_2", "gap", "time_limit"))]
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "X.npy", X)
        np.save(Path(folder) / "y.npy", y)
        command = [peer_python(), "-m", "benchmarks.el0ps", folder, *words]
        text, problem = run_process(
            command, 1, SECONDS_TO_COMPILE + 2.0 * options["time_limit"] + REPEATS * SECONDS_FOR_REPEATS
        )
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


@dataclass
class Duels:
    """Problems that both tools solve, and how often El0ps called a model optimal that is not."""

    section: Section
    threads: Sequence[int]  # ours
    version: str | None
    optimal: int = 0
    false: int = 0

    def fight(self, job: Job, start: Sequence[str]) -> list[list[str]]:
        """Return the rows of one problem: ours, one for each number of threads, then the peer's."""
        rows: list[list[str]] = []
        reached: list[tuple[str, Outcome]] = []
        ours = np.nan
        for threads in self.threads:
            result = self.section.solve(Job(job.data, job.options | {"n_jobs": threads}, verify=True))
            if isinstance(result, Outcome):
                ours = result.seconds if threads == 1 else ours
                reached.append((f"ellzero x{threads}", result))
            rows.append([*start, "ellzero", str(threads), *cells(result, ours)])
        if self.version is not None:
            label = f"El0ps {self.version}"
            result = run_peer(*load(job.data), job.options)
            self.section.keep(label, job.options | job.data, result)
            told = cells(result, ours)
            if isinstance(result, Outcome):
                told[-1] += self.judged(result, [model.objective for _, model in reached])
                reached.append((label, result))
            rows.append([*start, label, "1", *told])
        self.section.checks += contradictions(job.name(), reached)
        return rows

    def judged(self, result: Outcome, known: Sequence[float]) -> str:
        """Return what is false about the claim that a model is optimal up to the gap; other models refute it."""
        best = min([result.objective, *known])
        above = {
            "its model": result.objective > best * (1.0 + GAP),
            "its bound": result.bound() > best * (1.0 + 1e-9),
        }
        if result.status != "optimal":
            return ""
        self.optimal += 1
        self.false += any(above.values())
        return "".join(f"; false: {what} is above a known one" for what, wrong in above.items() if wrong)

    def summary(self) -> str:
        if self.version is None:
            return ABSENT
        return f'El0ps said "optimal" {self.optimal} times, and {self.false} of these were false.'


def cells(result: Outcome | str, ours: float) -> list[str]:
    if isinstance(result, str):
        return [result, *["-"] * 7]
    stopped = ">" if result.status != "optimal" else ""
    return [
        seconds_shown(result.seconds),
        "-" if np.isnan(ours) else f"{stopped}{result.seconds / ours:.2f}",
        f"{result.nodes:,}",
        str(result.size),
        f"{result.objective:.6f}",
        f"{result.bound():.6f}",
        percent(result.gap()),
        result.status,
    ]


# The paper's design.


SAME_DESIGN = """The same design, n = {n:,}, p = {p:,}, lambda_2 = {lambda_2:g}, `gap={gap:g}`, no intercept on either side.
Both stop after {limit:g} s. El0ps' lower bound is its own, ours is recomputed from the certificate; both gaps are from the
referee's objective. A ratio after ">" is of a run that was stopped."""


def against_el0ps(quick: bool) -> Section:
    p, limit = (1_000, 15.0) if quick else (10_000, 250.0)
    cases = [("logistic", value) for value in ((0.05,) if quick else (0.03, 0.05, 0.07))]
    cases += [("squared_hinge", value) for value in ((0.07,) if quick else (0.07, 0.11))]
    base = {"lambda_2": LAMBDA_2, "gap": GAP, "time_limit": limit, "fit_intercept": False}
    section = Section("Against El0ps", SAME_DESIGN.format(n=N, p=p, lambda_2=LAMBDA_2, gap=GAP, limit=limit))
    duels = Duels(section, (1, 2), peer_version())
    rows = []
    for loss, lambda_0 in cases:
        rows += duels.fight(Job({"p": p}, {"loss": loss, "lambda_0": lambda_0, **base}), [loss, shown(lambda_0)])
    section.text += f"\n\n{table(HEADER, rows)}\n\n{duels.summary()}"
    return section


# Elsewhere.


ELSEWHERE = """Problems of the other sections in the penalised form, which is El0ps' own: lambda_0 lies between the gains of two
features in a row, so that models have about as many features as there. No intercept and unscaled columns on either side, no
bound, `gap={gap:g}`, one thread each, stopped after {limit:g} s. A claim of El0ps is false if it says "optimal" and a known
model is better than its own by more than the gap, or than its lower bound; objectives are the referee's."""
# The data, the loss, and lambda_2 and lambda_0 of the sum of the losses.
NEIGHBOURS = {"kind": "correlated", "p": 500}
PENALISED: list[tuple[str, dict[str, Any], str, float, float]] = [
    ("colon", {"kind": "colon"}, "logistic", 1.0, 2.0),
    ("colon", {"kind": "colon"}, "logistic", 1.0, 1.3),
    ("colon", {"kind": "colon"}, "squared_hinge", 10.0, 3.0),
    ("leukemia", {"kind": "leukemia"}, "logistic", 1.0, 2.2),
    ("leukemia", {"kind": "leukemia"}, "logistic", 1.0, 0.9),
    ("leukemia", {"kind": "leukemia"}, "squared_hinge", 10.0, 3.0),
    ("riboflavin", {"kind": "riboflavin"}, "squared_error", 0.1, 0.025),
    ("riboflavin", {"kind": "riboflavin"}, "squared_error", 0.1, 0.012),
    ("FICO", {"kind": "FICO"}, "logistic", 10.0, 125.0),
    ("neighbours alike, n = p = 500", NEIGHBOURS | {"response": "linear"}, "squared_error", 0.5, 50.0),
    ("neighbours alike, n = p = 500", NEIGHBOURS | {"response": "logistic"}, "logistic", 1.0, 8.0),
]


def el0ps_elsewhere(quick: bool) -> Section:
    limit = 5.0 if quick else 60.0
    section = Section("Against El0ps on other problems", ELSEWHERE.format(gap=GAP, limit=limit))
    duels = Duels(section, (1,), peer_version())
    rows = []
    for name, data, loss, lambda_2, lambda_0 in PENALISED[:2] if quick else PENALISED:
        if data["kind"] in REAL and (without := missing(data["kind"])):
            section.text += f"\n\n{without}"
            continue
        n = len(load(data)[1])
        options = {"loss": loss, "lambda_0": lambda_0 / n, "lambda_2": lambda_2 / n, "bound": None}
        options |= {"gap": GAP, "time_limit": limit, "fit_intercept": False}
        rows += duels.fight(Job(data, options), [name, f"{lambda_2:g} / n", loss, f"{lambda_0:g} / n"])
    section.text += f"\n\n{table(['data', 'lambda_2', *HEADER], rows)}\n\n{duels.summary()}"
    return section
