"""Checkpoints: a search that is stopped and goes on from its file proves as much as one that was not stopped."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import ellzero as ez
from fuzz.problems.problem import Problem
from fuzz.records import Case, Record
from fuzz.subjects.exact import SECONDS, check_solution
from fuzz.subjects.judging import Referee, check_report

__all__ = ["CHECKPOINT_CALLS", "draw_checkpoint", "judge_checkpoint"]

CHECKPOINT_CALLS = """
import os, tempfile
path = os.path.join(tempfile.mkdtemp(), "search.npz")
for limit in [*options["limits"], None]:
    solution = ez.solve(Z, y, **settings, **form, gap=1e-6, checkpoint=path, node_limit=limit, n_jobs=options["n_jobs"])
    print(solution.status, solution.objective, solution.lower_bound, os.path.exists(path))
print(ez.verify(solution.certificate, Z, y))
"""


def draw_checkpoint(rng: np.random.Generator, problem: Problem) -> tuple[Problem, dict[str, Any]]:
    """Return a problem and the limits at which its search is stopped."""
    limits = np.cumsum(rng.integers(1, 6, int(rng.integers(1, 4)))).tolist()
    return problem, {"limits": limits, "n_jobs": int(rng.choice([1, 1, 2])), "storage": "columns"}


def judge_checkpoint(case: Case, record: Record) -> None:
    """Stop a search a few times, let it go on, and check every part."""
    problem, options = case.problem, case.options
    arguments = {**problem.settings(), **problem.form(), "gap": 1e-6, "n_jobs": options["n_jobs"], "time_limit": SECONDS}
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = Path(folder) / "search.npz"
        for limit in [*options["limits"], None]:
            solution = ez.solve(problem.X, problem.y, checkpoint=path, node_limit=limit, **arguments)
            referee = Referee(replace(problem, free_bound=solution.certificate.claim.free_bound))
            check_solution(record, referee, f"node_limit {limit}", solution)
            check_report(record, referee, f"verify, node_limit {limit}", ez.verify(solution.certificate, problem.X, problem.y))
        record.count("checkpoint left" if path.exists() else "checkpoint removed")
    whole = ez.solve(problem.X, problem.y, **arguments)
    both = whole.status == solution.status == "optimal"
    if both and abs(whole.objective - solution.objective) > 1e-5 * abs(whole.objective) + 1e-300:
        record.find("another result after a stop", "medium", f"{whole.objective!r} and {solution.objective!r}")
