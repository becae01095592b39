"""The growth of IGA's set and bound from iteration to iteration."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import N, gaussian
from benchmarks.exact import LAMBDA_2, LAMBDAS_0
from benchmarks.exact_runs import GAP, Job, Outcome, outcome_of, percent, seconds_shown, timed_solve, warm_up
from benchmarks.sections import Section
from experiments.measurement.markdown import table

__all__ = ["ITERATIONS_LIMIT", "iterations"]

ITERATIONS_LIMIT = 60.0
GROW = (10, 1, 0.3)
NAMES = {"builtin": "built-in", "highs": "HiGHS"}
ROWS = 8  # of one run, in the table
TEXT = """Hinge loss, n = {n:,}, p = {p:,}, lambda_0 = {lambda_0:g}, lambda_2 = {lambda_2:g}, no assumption on the
coefficients, `gap={gap:g}`, `n_jobs=2`, at most {limit:g} s. `grow`: how many features join the set at a time, or which share
z they must have (at least one joins). Of long runs some iterations are left out. The built-in method keeps one tree over all
iterations; on a MIP solver the cuts are kept. Seconds are those at the iteration's end.

![Objective and lower bound over time]({plot})"""
HEADER = ["backend", "grow", "iteration", "set", "lower bound", "objective", "gap", "seconds", "nodes", "status"]


def some(steps: Sequence[dict[str, float]]) -> list[int]:
    """Return the iterations that are shown: the first, the last, and some between."""
    return np.unique(np.rint(np.linspace(0, len(steps) - 1, min(ROWS, len(steps)))).astype(int)).tolist()


def step_rows(backend: str, grow: float, result: Outcome) -> list[list[str]]:
    rows = []
    for at in some(result.steps):
        step = result.steps[at]
        last = at == len(result.steps) - 1
        numbers = [
            f"{step['lower_bound']:.6f}",
            f"{step['objective']:.6f}",
            percent(step["gap"]),
            seconds_shown(step["seconds"]),
        ]
        place = [NAMES[backend], f"{grow:g}", str(at + 1), str(step["integral"])]
        rows.append([*place, *numbers, f"{step['nodes']:,}", result.status if last else ""])
    return rows


def draw(solutions: dict[tuple[str, float], Any], path: Path) -> None:
    """Draw one panel for each backend and each of the two values of `grow` that differ most."""
    from matplotlib.figure import Figure

    backends = list(dict.fromkeys(backend for backend, _ in solutions))
    figure = Figure(figsize=(11.0, 3.8 * len(backends)), layout="constrained")
    panels = figure.subplots(len(backends), 2, squeeze=False, sharey=True)
    for row, backend in zip(panels, backends, strict=True):
        for ax, grow in zip(row, GROW[:2], strict=True):
            solutions[backend, grow].plot(ax)
            ax.set_title(f"IGA, {NAMES[backend]}, grow = {grow:g}: {ax.get_title()}", fontsize="medium")
            if ax is not panels[0, 0]:
                ax.get_legend().remove()
            if ax is not row[0]:
                ax.set_ylabel("")
    figure.savefig(path, dpi=120)


def iterations(quick: bool, limit: float, plot: Path) -> Section:
    p = 1_000 if quick else 10_000
    backends = ["builtin", *(["highs"] if importlib.util.find_spec("highspy") else [])]
    options = {"loss": "hinge", "lambda_0": LAMBDAS_0[0], "lambda_2": LAMBDA_2, "gap": GAP, "n_jobs": 2, "time_limit": limit}
    told = {"n": N, "p": p, "limit": limit, "plot": plot.name, **{key: options[key] for key in ("lambda_0", "lambda_2", "gap")}}
    section = Section("IGA's iterations", TEXT.format(**told))
    X, y = gaussian(p)
    rows, solutions = [], {}
    for backend in backends:
        for grow in GROW:
            job = Job({"p": p}, options | {"method": "iga", "backend": backend, "grow": grow, "bound": None})
            warm_up(job.options, X.dtype)
            solution, seconds = timed_solve(X, y, job.options)
            result = outcome_of(solution, seconds, X, y, job.options)
            print(f"{job.name()}: {seconds:.3f} s, {len(result.steps)} iterations, {result.status}", flush=True)
            section.take(job, result)
            solutions[backend, float(grow)] = solution
            rows += step_rows(backend, grow, result)
    draw(solutions, plot)
    section.text += f"\n\n{table(HEADER, rows)}"
    return section
