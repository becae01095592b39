"""Coefficients of a given support: a small convex problem, solved to high precision."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ellzero.problem.model import Coefficients, Model, evaluate
from ellzero.problem.problem import Problem, restricted
from ellzero.solvers.paths import PathOptions, solve_path
from ellzero.solvers.scales import to_user_scale

__all__ = ["refit"]


def refit(problem: Problem, columns: NDArray[np.int32], options: PathOptions) -> Model:
    """Minimise the objective, without lambda_0, over the coefficients of these columns."""
    convex = PathOptions(lambda_0=np.zeros(1), algorithm="cd", tol=options.tol, threads=options.threads)
    inside = restricted(problem, columns)
    inside = replace(inside, penalty=replace(inside.penalty, lambda_0=0.0, price=np.zeros(len(columns))))
    support, values, b = to_user_scale(inside, solve_path(inside, convex).models[0])
    return evaluate(problem, Coefficients(columns[support], values, b))
