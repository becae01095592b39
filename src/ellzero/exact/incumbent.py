"""Heuristic solutions from which an exact search starts."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ellzero import _core
from ellzero.base.errors import InvalidInputError
from ellzero.exact.options import SearchOptions
from ellzero.exact.status import Status
from ellzero.problem.coefficients import Coefficients
from ellzero.problem.model import Model, as_intercept, evaluate, evaluated, fitted_parts
from ellzero.problem.problem import Problem
from ellzero.solvers.paths import PathOptions, solve_path

TOLERANCE = 1e-8  # of the models that a search starts from
NEXT_TO_NOTHING = 1e-12  # what a coefficient that is there for the rules alone adds to predictions, relative to their unit


class OutOfTime(Exception):
    """Raised inside a heuristic when the time limit is reached."""


@dataclass(frozen=True)
class Found:
    """The best model of a heuristic, and "time_limit" or "interrupted" if it was stopped early."""

    model: Model
    ended: Status | None = None


def find_incumbent(
    problem: Problem, options: SearchOptions, starts: list[Model], algorithm: str | None, begin: float, sweep: bool = True
) -> Found:
    """Find the best model by an algorithm that starts from a sweep and from `starts`; without `sweep`, from `starts` only.

    Without an algorithm, the best of `starts` is taken. Time counts from `begin`, by the clock of `time.monotonic`.
    """

    def check() -> None:
        if time.monotonic() - begin > options.time_limit:
            raise OutOfTime

    most = problem.penalty.countable(options.k)
    models = [start for start in starts if options.allows(start, problem)]
    ended: Status | None = None
    if algorithm is not None or not models:
        priced = problem.penalty.priced
        grid = np.zeros(0) if options.limited else np.array([options.lambda_0])
        wanted = PathOptions(lambda_0=grid, algorithm=algorithm or "cd", tol=TOLERANCE, threads=options.threads, check=check)
        if options.budget is not None or (options.limited and priced and options.lambda_0 > 0.0):
            budget = float(problem.penalty.price.sum()) if options.budget is None else options.budget
            wanted = wanted.for_budgets((budget,), len(problem.y), paid=options.lambda_0, most=most)
        elif options.k is not None:
            least = max(problem.least_size(), 1)
            wanted = wanted.for_sizes(tuple(range(least, most + 1)) if most else (0,), len(problem.y))
        try:
            found = solve_path(problem, wanted, seeds=problem.units.core_models(starts), sweep=sweep)
            reached = map(problem.units.coefficients, [*found.models, *found.by_size])
            models += [model for model in evaluated(problem, reached, options.lambda_0) if options.allows(model, problem)]
            if found.stopped is not None:
                raise found.stopped
        except OutOfTime:
            ended = "time_limit"
        except KeyboardInterrupt:
            ended = "interrupted"
    return Found(min([*models, null_model(problem, options.lambda_0)], key=lambda model: model.objective), ended)


def null_model(problem: Problem, lambda_0: float) -> Model:
    """Return the model whose coefficients are as near to zero as their bounds allow, with the best intercept for zeros.

    Features that the rules ask for are next to zero.
    """
    every = np.arange(problem.design.shape[1], dtype=np.int32)
    values = np.zeros((len(every), problem.outputs))
    if len(asked := problem.penalty.paying(problem.least_support(problem.penalty.price))):
        asked = np.flatnonzero(np.isin(problem.penalty.heads, asked)).astype(np.int32)
        spread = problem.column_spread(asked)
        little = NEXT_TO_NOTHING / np.where(spread > 0.0, spread, 1.0)
        values[asked] = np.where(problem.penalty.upper[asked] > 0.0, little, -little)[:, None]
    values = problem.penalty.clip(every, values)
    support = np.flatnonzero(values.any(axis=1)).astype(np.int32)
    intercept = problem.loss.best_constant(problem.y, problem.w) if problem.fit_intercept else np.zeros(problem.outputs)
    return evaluate(problem, Coefficients(support, values[support], intercept), lambda_0)


def as_start(problem: Problem, start: Model | ArrayLike | Any, lambda_0: float, name: str = "warm_start") -> Model:
    """Return a caller's model or coefficients as a model, moved inside the problem's bounds and evaluated."""
    start = getattr(start, "model", start)  # of an exact solution
    if isinstance(start, Model):
        if start.n_features != problem.design.shape[1]:
            raise InvalidInputError(f"{name} must have {problem.design.shape[1]} coefficients, got {start.n_features}.")
        if start.outputs != problem.outputs:
            raise InvalidInputError(f"{name} must have {problem.outputs} outputs, got {start.outputs}.")
        support, values, intercept = start.coefficients
    else:
        coef, intercept, _ = fitted_parts(start)
        support, values = problem.split(coef, name)
    at = Coefficients(
        support, problem.penalty.clip(support, values), as_intercept(problem, intercept if problem.fit_intercept else 0.0)
    )
    return evaluate(problem, at, lambda_0)


def as_solution(problem: Problem, model: Model) -> _core.Model:
    """Return a model in the core's form, moved inside the problem's bounds, with its predictions at the means as they are.

    One without features takes its place if that is better: from coefficients that nothing held, the way inside may be long.
    """
    support, values, intercept = model.coefficients
    clipped = problem.penalty.clip(support, values)
    inside = evaluate(problem, Coefficients(support, clipped, intercept + problem.mean[support] @ (values - clipped)))
    if not np.array_equal(values, clipped) or not problem.obeys(support):
        inside = min(
            [*([inside] if problem.obeys(inside.support) else []), null_model(problem, 0.0)], key=lambda each: each.cost
        )
    return problem.units.core_models([inside])[0]
