"""Solve the paper's formulation (MIP) as a whole by a MIP solver."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ellzero.exact.mip.formulation import check_size, formulate
from ellzero.exact.mip.mip_run import MipRun, check_tolerance
from ellzero.exact.mip.outer_approximation import solve_program
from ellzero.exact.options import SearchOptions
from ellzero.exact.solution import ExactSolution
from ellzero.exact.status import Status
from ellzero.problem.coefficients import Coefficients
from ellzero.problem.model import Model, evaluate
from ellzero.problem.problem import Problem

__all__ = ["solve_directly"]


def solve_directly(
    problem: Problem, options: SearchOptions, starts: Iterable[Model] = (), heuristic: bool = True
) -> ExactSolution:
    """Return the best solution and the lower bound that the MIP solver finds."""
    check_size(problem.design)  # before any work
    run = MipRun.make(problem, options, starts, heuristic)
    if run.common.ended:
        return run.finish(run.common.ended)
    try:
        return run.finish(*solve_formulation(run))
    except KeyboardInterrupt:
        return run.finish("interrupted")
    except MemoryError:
        n, p = problem.design.shape
        return run.finish("failed", f"the formulation of {n} rows and {p} features does not fit into memory")


def solve_formulation(run: MipRun) -> tuple[Status | None, str]:
    """Solve the formulation, give the run the solution and the bound, and return status and message."""
    options, boxed = run.common.options, run.common.boxed
    switched = ~boxed.penalty.unpenalized
    unit, cost = boxed.units.coefficient, boxed.units.cost
    check_tolerance(run.backend, run.low[switched] / unit, run.high[switched] / unit)
    formulation = formulate(
        boxed,
        lambda_0=options.lambda_0,
        k=options.k,
        budget=options.budget,
        low=run.low,
        high=run.high,
        swaps=options.swaps,
    )
    if not run.common.left():
        return "time_limit", ""
    incumbent = run.common.incumbent
    beta = boxed.penalised(incumbent.support, boxed.penalty.clip(incumbent.support, incumbent.coefficients.values))
    rounds = 0

    def report(lower: float, upper: float) -> None:
        nonlocal rounds
        rounds += 1
        run.raise_bound(lower * cost)
        run.note(rounds)

    found = solve_program(
        run.backend,
        formulation.program,
        start=formulation.point(incumbent.support, beta[:, 0], incumbent.intercept),
        gap=options.gap,
        seconds=run.common.left(),
        threads=options.threads,
        report=report,
    )
    run.nodes += found.nodes
    if run.contradicts(found.lower_bound * cost):
        return "failed", found.message or "the solver's bound is above the objective of a known solution"
    run.raise_bound(found.lower_bound * cost)
    if found.x is not None:
        support, beta, intercept = formulation.solution(found.x)
        run.offer(support)
        values = boxed.penalty.clip(support, (beta / boxed.spread[support])[:, None])
        run.keep(evaluate(boxed, Coefficients(support, values, np.array([intercept])), options.lambda_0))
    return run.status_of(found), found.message
