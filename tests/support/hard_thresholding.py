"""Iterative hard thresholding from a given model, by the core alone."""

from __future__ import annotations

from typing import Any

from ellzero import _core
from ellzero.problem.model import Model, evaluate
from ellzero.problem.problem import Problem
from ellzero.solvers.paths import core_problem

__all__ = ["threshold"]


def threshold(problem: Problem, start: Model, **goal: Any) -> tuple[Model, float]:
    """The fixed point that the iteration reaches from `start`, and the curvature L_hat of its steps.

    The goal is `size` (at most so many features) or `lambda_0` (the penalised form).
    """
    units, lambda_0 = problem.units, goal.get("lambda_0")
    found = _core.hard_thresholding(
        core_problem(problem, 1e-6),
        start=units.core_models([start])[0],
        lambda_0=(lambda_0 or 0.0) / units.lambda_0,
        size=goal.get("size", -1),
        threads=1,
    )
    return evaluate(problem, units.coefficients(found.model), lambda_0), found.step_curvature * units.column**2
