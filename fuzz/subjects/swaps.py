"""`improve`, whose bound is over swaps, and `certify_path`, which proves every point of a path or every size."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import ellzero as ez
from fuzz.problems.problem import Problem
from fuzz.problems.storages import draw_storage, fitting, stored
from fuzz.records import Case, Record
from fuzz.referee.best import Neighbourhood
from fuzz.subjects.exact import SECONDS, check_solution
from fuzz.subjects.judging import Referee, check_report

__all__ = ["CERTIFY_CALLS", "IMPROVE_CALLS", "draw_certify", "draw_improve", "judge_certify", "judge_improve"]

Generator = np.random.Generator
IMPROVE_CALLS = """
solution = ez.improve(Z, y, swap_size=options["swap_size"], gap=options["gap"], n_jobs=options["n_jobs"], **settings, **form)
print(solution)
print(ez.verify(solution.certificate, Z, y))
"""
CERTIFY_CALLS = """
if options["sizes"] is None:
    path = ez.fit_path(Z, y, n_lambda=options["n_lambda"], **settings)
else:
    path = ez.fit_sizes(Z, y, options["sizes"], **settings)
proofs = ez.certify_path(path, gap=options["gap"], n_jobs=options["n_jobs"], bound=form.get("bound"))
print(proofs)
for solution in proofs.solutions:
    print(ez.verify(solution.certificate, Z, y))
"""


def draw_improve(rng: Generator, problem: Problem) -> tuple[Problem, dict[str, Any]]:
    """Return a problem with a price for each feature, and the options of `improve`."""
    problem, storage = fitting(problem, draw_storage(rng))
    problem = replace(problem, lambda_0=problem.lambda_0 or 0.01, k=None, budget=None)
    options: dict[str, Any] = {"storage": storage, "chunk": int(rng.integers(1, 5)), "swap_size": int(rng.integers(1, 4))}
    options["start"] = str(rng.choice(["none", "path", "zeros", "ones"]))
    options["gap"] = float(rng.choice([1e-4, 1e-6]))
    options["n_jobs"] = int(rng.choice([1, 2]))
    return problem, options


def judge_improve(case: Case, record: Record) -> None:
    """Improve a model, and check the solution and its bound over swaps."""
    problem, options = case.problem, case.options
    search = {"gap": options["gap"], "n_jobs": options["n_jobs"], "time_limit": SECONDS}
    with stored(problem.X, options["storage"], options["chunk"]) as X:
        start = starting_model(problem, X, options["start"])
        solution = ez.improve(
            X, problem.y, start, swap_size=options["swap_size"], **problem.settings(), **problem.form(), **search
        )
        assumed = replace(problem, free_bound=solution.certificate.claim.free_bound)
        referee = Referee(assumed, near=neighbourhood(solution))
        check_solution(record, referee, "improve", solution)
        check_report(record, referee, "verify", ez.verify(solution.certificate, X, problem.y))


def starting_model(problem: Problem, X: Any, kind: str) -> Any:
    """Return the model that is to be improved."""
    shape = problem.coef_shape
    if kind == "path":
        return ez.fit_path(X, problem.y, lambda_0=problem.lambda_0, **problem.settings())[0]
    if kind == "none":
        return None
    return np.clip(np.zeros(shape) if kind == "zeros" else np.ones(shape), problem.lower, problem.upper)


def neighbourhood(solution: ez.ExactSolution) -> Neighbourhood | None:
    """Return the supports that a solution's bound is about; None if that is all of them."""
    claim = solution.certificate.claim
    if claim.swap_size is None or claim.home is None:
        return None
    home = np.zeros(solution.coef.shape[-1], dtype=bool)
    home[claim.home] = True
    return Neighbourhood(home, claim.swap_size)


def draw_certify(rng: Generator, problem: Problem) -> tuple[Problem, dict[str, Any]]:
    """Return a problem and the options of `certify_path`."""
    problem, storage = fitting(problem, draw_storage(rng))
    p = problem.X.shape[1]
    sizes = sorted({int(size) for size in rng.integers(0, p + 1, 3)}) if rng.random() < 0.5 else None
    options = {"storage": storage, "chunk": int(rng.integers(1, 5)), "sizes": sizes, "n_lambda": int(rng.integers(1, 4))}
    return replace(problem, budget=None), {**options, "gap": float(rng.choice([1e-4, 1e-6])), "n_jobs": int(rng.choice([1, 2]))}


def judge_certify(case: Case, record: Record) -> None:
    """Prove the points of a path, or sizes, and check every proof."""
    problem, options = case.problem, case.options
    with stored(problem.X, options["storage"], options["chunk"]) as X:
        path: Any
        if options["sizes"] is None:
            path = ez.fit_path(X, problem.y, n_lambda=options["n_lambda"], **problem.settings())
        else:
            path = ez.fit_sizes(X, problem.y, options["sizes"], **problem.settings())
        proofs = ez.certify_path(
            path, gap=options["gap"], n_jobs=options["n_jobs"], bound=problem.bound, time_limit=SECONDS / 3.0
        )
        if len(proofs) != len(path):
            record.find("points without a proof", "high", f"{len(proofs)} of {len(path)}")
        for at, solution in enumerate(proofs.solutions):
            claim = solution.certificate.claim
            k = None if options["sizes"] is None else options["sizes"][at]
            lambda_0 = float(path.lambda_0[at]) if options["sizes"] is None else None
            referee = Referee(replace(problem, k=k, lambda_0=lambda_0, free_bound=claim.free_bound))
            check_solution(record, referee, f"point {at}", solution)
            check_report(record, referee, f"verify, point {at}", ez.verify(solution.certificate, X, problem.y))
