"""The choice of the method that solves a problem."""

from __future__ import annotations

from collections.abc import Iterable

from ellzero.base.errors import InvalidInputError
from ellzero.base.imports import whole_imports
from ellzero.exact.branch_and_bound import branch_and_bound
from ellzero.exact.options import SearchOptions
from ellzero.exact.solution import ExactSolution
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem

__all__ = ["run_method"]


def run_method(problem: Problem, options: SearchOptions, starts: Iterable[Model] = (), heuristic: bool = True) -> ExactSolution:
    """Solve by the method of the options; without `heuristic`, the search starts from the best of `starts`."""
    if options.backend == "builtin":
        return branch_and_bound(problem, options, starts, heuristic=heuristic)[0]
    if problem.outputs > 1:
        raise InvalidInputError(
            f"backend={options.backend!r} solves problems of one output; use backend='builtin' for several."
        )
    # MIP solvers are optional: this code is loaded only when one is used.
    with whole_imports():
        from ellzero.exact.mip.direct import solve_directly
        from ellzero.exact.mip.generation import generate_integrality

    solve = solve_directly if options.method == "mip" else generate_integrality
    return solve(problem, options, starts, heuristic)
