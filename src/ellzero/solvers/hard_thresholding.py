"""Iterative hard thresholding from a given model: a thin call into the core."""

from __future__ import annotations

from ellzero import _core
from ellzero.base.errors import InvalidInputError
from ellzero.problem.model import Model, evaluate
from ellzero.problem.problem import Problem
from ellzero.solvers.paths import core_problem, without_intercept

__all__ = ["threshold"]


def threshold(
    problem: Problem,
    start: Model,
    *,
    lambda_0: float | None = None,
    size: int | None = None,
    tol: float = 1e-6,
    threads: int = 1,
) -> tuple[Model, float]:
    """Return the fixed point that the iteration reaches from `start`, and the curvature L_hat of its steps.

    Exactly one of `lambda_0` (the penalised form) and `size` (at most so many features) is given.
    """
    if (lambda_0 is None) == (size is None):
        raise InvalidInputError("either lambda_0 or size must be given.")
    few, begin = problem.few_rows(threads, thorough=False), problem.units.core_models([start])[0]
    found = _core.hard_thresholding(
        core_problem(problem, tol, few=few),
        start=begin if few is None else without_intercept(begin),
        lambda_0=0.0 if lambda_0 is None else lambda_0 / problem.units.lambda_0,
        size=-1 if size is None else size,
        threads=threads,
    )
    return evaluate(problem, problem.units.coefficients(found.model), lambda_0), found.step_curvature * problem.units.column**2
