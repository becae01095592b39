"""`solve`: the solution, its bound, its certificate; other storages and two threads must agree."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import ellzero as ez
from fuzz.problems.problem import Problem
from fuzz.problems.storages import draw_storage, fitting, stored
from fuzz.records import Case, Record
from fuzz.subjects.judging import Referee, check_bound, check_model, check_report

__all__ = ["SOLVE_CALLS", "draw_solve", "judge_solve"]

SECONDS = 5.0  # of one search
SEARCH = ("gap", "n_jobs", "method", "node_limit")  # the options that `solve` takes unchanged
SOLVE_CALLS = """
search = {name: options[name] for name in ("gap", "n_jobs", "method", "node_limit") if options.get(name) is not None}
if options.get("warm_start"):
    search["warm_start"] = np.clip(np.ones(options["coef_shape"]), settings.get("lower"), settings.get("upper"))
solution = ez.solve(Z, y, **settings, **form, **search)
print(solution)
print(ez.verify(solution.certificate, Z, y))
if options.get("again"):
    other = {"csc": sparse.csc_matrix, "csr": sparse.csr_matrix}.get(options["again"], np.asfortranarray)(X)
    print(options["again"], ez.solve(other, y, **settings, **form, **search))
"""


def draw_solve(rng: np.random.Generator, problem: Problem) -> tuple[Problem, dict[str, Any]]:
    """Return the problem, in numbers that its storage holds, and the options of `solve`."""
    problem, storage = fitting(problem, draw_storage(rng))
    options: dict[str, Any] = {"storage": storage, "chunk": int(rng.integers(1, 5))}
    options["gap"] = float(rng.choice([1e-4, 1e-4, 1e-4, 1e-6, 1e-9, 0.0]))
    options["n_jobs"] = int(rng.choice([1, 1, 1, 2]))
    if rng.random() < 0.1:
        options["method"] = "iga"
    if rng.random() < 0.05:
        options["node_limit"] = int(rng.integers(0, 5))
    options["warm_start"] = bool(rng.random() < 0.1)
    options["again"] = draw_storage(rng) if rng.random() < 0.2 else None  # solve it once more in another storage
    options["file"] = bool(rng.random() < 0.3)  # verify the certificate from a file as well
    return problem, options


def judge_solve(case: Case, record: Record) -> None:
    """Solve, and check the solution and its proof."""
    problem, options = case.problem, case.options
    search = {name: options[name] for name in SEARCH if options.get(name) is not None}
    if options.get("warm_start"):
        search["warm_start"] = np.clip(np.ones(problem.coef_shape), problem.lower, problem.upper)
    arguments = {**problem.settings(), **problem.form(), **search, "time_limit": SECONDS}
    with stored(problem.X, options["storage"], options["chunk"]) as X:
        solution = ez.solve(X, problem.y, **arguments)
        referee = Referee(replace(problem, free_bound=solution.certificate.claim.free_bound))
        check_solution(record, referee, "solve", solution)
        report = ez.verify(solution.certificate, X, problem.y)
        check_report(record, referee, "verify", report)
        if options["file"]:
            check_file(record, solution, report, X, problem.y)
    if options["again"] is not None:
        check_other_storage(record, referee, solution, options, arguments)


def check_solution(record: Record, referee: Referee, what: str, solution: ez.ExactSolution) -> None:
    """Check the model, the bound and the status of an exact solution."""
    asked = solution.certificate.claim.gap_asked
    record.count(f"status {solution.status}" + (", gap asked below 1e-6" if asked < 1e-6 else ""))
    count_means(record, solution.certificate.arrays)
    check_model(record, referee, what, solution.coef, solution.intercept, solution.objective)
    referee.show(solution.coef, solution.intercept)
    if referee.is_beaten():
        record.count("the solver is better than brute force")
    check_bound(record, referee, f"{what} ({solution.status}), lower_bound", solution.lower_bound)
    judge_quality(record, referee, what, solution)
    if solution.lower_bound > solution.objective * (1.0 + 1e-12) + 1e-300:
        words = f"{what}: {solution.lower_bound!r} > {solution.objective!r}"
        record.find("bound above the objective", "high", words)
    if solution.status == "optimal" and not solution.gap <= asked * (1.0 + 1e-6) + 1e-12:
        record.find("optimal with a gap", "high", f"{what}: gap {solution.gap!r}, asked {asked!r}")


def count_means(record: Record, arrays: Mapping[str, Any]) -> None:
    """Count the proofs that use more than dual points and single features."""
    if (np.diff(arrays["block_ends"], prepend=0) > 1).any():
        record.count("proofs with clauses")
    if (arrays.get("point_diagonal", np.zeros(0)) >= 0).any():
        record.count("proofs with diagonals")


def judge_quality(record: Record, referee: Referee, what: str, solution: ez.ExactSolution) -> None:
    """Count solutions without a proof, and find those that are far from the best model known."""
    best = referee.best()
    if best is None or solution.status in ("optimal", "node_limit", "time_limit"):
        return
    worse = np.longdouble(solution.objective) - best.value
    if worse > 1e-2 * abs(best.value) + 1e-9 * referee.zero_loss:
        words = f"{what}: status {solution.status}, objective {solution.objective!r}, a model has {float(best.value)!r}"
        record.find("poor solution", "medium", words)


def check_file(record: Record, solution: ez.ExactSolution, report: ez.VerificationReport, X: Any, y: Any) -> None:
    """Check that a certificate from a file is judged as the one in memory."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = Path(folder) / "proof.npz"
        solution.certificate.save(path)
        again = ez.verify(path, X, y)
    if repr(again) != repr(report):
        record.find("file differs", "high", f"from memory {report!r}\nfrom the file {again!r}")


def check_other_storage(
    record: Record, referee: Referee, solution: ez.ExactSolution, options: dict[str, Any], arguments: dict[str, Any]
) -> None:
    """Solve the problem in another storage; both must be right, and agree if both are optimal."""
    problem, storage = referee.problem, options["again"]
    same, storage = fitting(problem, storage)
    if not np.array_equal(same.X, problem.X):
        return
    with stored(problem.X, storage, options["chunk"]) as X:
        other = ez.solve(X, problem.y, **arguments)
        assumed = replace(problem, free_bound=other.certificate.claim.free_bound)
        check_solution(record, Referee(assumed), f"solve ({storage})", other)
        report = ez.verify(solution.certificate, X, problem.y)
        check_report(record, referee, f"verify ({storage})", report, must_hold=False)
        own = ez.verify(solution.certificate, problem.X, problem.y)
    if own.valid != report.valid:
        record.find("storages differ", "medium", f"verify: {storage} {report.reasons}, dense {own.reasons}")
    if solution.status == other.status == "optimal":
        null = solution.certificate.problem.null  # gaps are relative to it where the objective is mere rounding
        scale = solution.objective if solution.objective > 1e-9 * null else null
        allowed = max(options["gap"], 1e-9) * 2.0
        if abs(other.objective - solution.objective) > allowed * scale + 1e-300:
            words = f"{options['storage']} {solution.objective!r}, {storage} {other.objective!r}"
            record.find("storages differ", "medium", f"solve: {words}")
