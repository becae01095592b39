"""Which method solves a problem, with its options checked."""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from ellzero.base.errors import InvalidInputError
from ellzero.base.validation import as_choice, as_count, as_nonnegative, as_threads
from ellzero.exact.branch_and_bound import branch_and_bound
from ellzero.exact.search_log import SearchCallback, as_search_log
from ellzero.exact.setting import NO_LIMIT, SearchOptions, evaluated
from ellzero.exact.solution import ExactSolution
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem

__all__ = ["as_start", "run_method", "search_options"]

METHODS = {"bnb": ("builtin",), "iga": ("builtin", "highs", "scip", "gurobi"), "mip": ("highs", "scip", "gurobi")}


def run_method(problem: Problem, options: SearchOptions, starts: Iterable[Model] = (), heuristic: bool = True) -> ExactSolution:
    """The solution; without `heuristic` nothing but `starts` is looked at before the search."""
    if options.backend == "builtin":
        return branch_and_bound(problem, options, starts, heuristic=heuristic)[0]
    # MIP solvers are optional: whoever does not use one need not load what speaks to them.
    from ellzero.exact.mip.direct import solve_directly
    from ellzero.exact.mip.generation import generate_integrality

    solve = solve_directly if options.method == "mip" else generate_integrality
    return solve(problem, options, starts, heuristic)


def search_options(
    *,
    method: str = "bnb",
    backend: str = "builtin",
    grow: float = 10,
    bound: float | str | None = None,
    gap: float = 1e-4,
    time_limit: float | None = None,
    node_limit: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: bool | SearchCallback = False,
) -> SearchOptions:
    """Validated options, but for what is to be solved."""
    as_choice("method", method, tuple(METHODS))
    as_choice("backend", backend, METHODS["iga"])
    if backend not in METHODS[method]:
        raise InvalidInputError(
            f"backend must be one of {', '.join(map(repr, METHODS[method]))} for method={method!r}, got {backend!r}."
        )
    if backend != "builtin":
        for name, value in (("node_limit", node_limit), ("checkpoint", checkpoint)):
            if value is not None:
                raise InvalidInputError(f"{name} belongs to backend='builtin', got backend={backend!r}.")
    if as_nonnegative("grow", grow) == 0.0 or (grow > 1.0 and grow != int(grow)):
        raise InvalidInputError(f"grow must be a number of features or a share between 0 and 1, got {grow!r}.")
    if isinstance(bound, str):
        as_choice("bound", bound, ("heuristic",))
    elif bound is not None and as_nonnegative("bound", bound) == 0.0:
        raise InvalidInputError("bound must be positive.")
    return SearchOptions(
        lambda_0=0.0,
        k=None,
        method=method,
        backend=backend,
        grow=grow,
        bound=bound if bound is None or isinstance(bound, str) else float(bound),
        gap=as_nonnegative("gap", gap),
        time_limit=np.inf if time_limit is None else as_nonnegative("time_limit", time_limit),
        node_limit=NO_LIMIT if node_limit is None else as_count("node_limit", node_limit, 0),
        checkpoint=checkpoint,
        threads=as_threads(n_jobs),
        progress=as_search_log(progress),
    )


def as_start(problem: Problem, start: Model | ArrayLike, lambda_0: float, name: str = "warm_start") -> Model:
    """A model to begin with, inside the problem's bounds."""
    if isinstance(start, Model):
        if start.n_features != problem.design.shape[1]:
            raise InvalidInputError(f"{name} must have {problem.design.shape[1]} coefficients, got {start.n_features}.")
        support, values, intercept = start.support, start.values, start.intercept
    else:
        support, values = problem.split(start, name)
        intercept = 0.0
    intercept = intercept if problem.fit_intercept else 0.0
    return evaluated(problem, lambda_0, support, problem.clip(support, values), intercept)
