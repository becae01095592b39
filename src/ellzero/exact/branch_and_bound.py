"""One run of branch and bound on a validated problem: incumbent, bounds on the coefficients, the core's search, the proof."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.errors import InvalidInputError
from ellzero.exact.certificate import Certificate, Claim, fingerprint_design
from ellzero.exact.checkpoint import Checkpoint
from ellzero.exact.search_log import SearchCallback, SearchProgress
from ellzero.exact.solution import ExactSolution, relative_gap
from ellzero.exact.verifier import fingerprint_vector
from ellzero.model import Model
from ellzero.problem import Problem
from ellzero.solvers.packing import make_model, to_core_scale, to_user_scale
from ellzero.solvers.paths import PathOptions, core_problem, solve_path

__all__ = ["SearchOptions", "branch_and_bound"]

Array = NDArray[np.float64]
NO_LIMIT = 2**62
HEURISTIC_FACTOR = 1.2  # the paper's M, times the largest coefficient of the first model
# Unpenalized features that neither a penalty nor bounds hold are assumed to stay below this many times their largest
# coefficient (or one): no dual point is orthogonal to them to the last digit.
FREE_FACTOR = 10.0
TOLERANCE = 1e-8  # of the models that the search starts from
# Local search costs as much as some nodes: problems that end before need none.
NODES_BEFORE_LOCAL_SEARCH = 32


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """What is to be solved beside the problem itself, and for how long."""

    lambda_0: float
    k: int | None
    bound: float | str | None = None
    gap: float = 1e-4
    time_limit: float = np.inf
    node_limit: int = NO_LIMIT
    checkpoint: Any = None
    threads: int = 1
    progress: SearchCallback | None = None


class OutOfTime(Exception):
    """The time limit came before the search."""


def branch_and_bound(
    problem: Problem,
    options: SearchOptions,
    starts: Iterable[Model] = (),
    neighbour: _core.Search | None = None,
    heuristic: bool = True,
) -> tuple[ExactSolution, _core.Search]:
    """The solution, and the search that found it (a later one on a neighbouring problem can start from it).

    `starts` are models to begin with; without `heuristic` nothing else is looked for.
    """
    begin = time.monotonic()
    checkpoint = None if options.checkpoint is None else Checkpoint(options.checkpoint, signature(problem, options))
    saved = None if checkpoint is None else checkpoint.load()
    status = ""
    if saved is None:
        try:
            incumbent = find_incumbent(problem, options, list(starts), "cd" if heuristic else None, begin)
        except (KeyboardInterrupt, OutOfTime) as stopped:
            incumbent = null_model(problem, options)
            status = "time_limit" if isinstance(stopped, OutOfTime) else "interrupted"
        bounds = {"bound": assumed_bound(problem, options, incumbent), "free_bound": free_bound(problem, incumbent)}
        kept: dict[str, Any] = {**bounds, "searched": not heuristic}
    else:
        kept = saved[0]
        incumbent = null_model(problem, options)
    boxed = with_bound(problem, kept["bound"])
    search = _core.Search(
        core_problem(boxed, TOLERANCE),
        lambda_0=options.lambda_0,
        k=problem.design.shape[1] if options.k is None else options.k,
        gap=options.gap,
        free_bound=np.inf if kept["free_bound"] is None else kept["free_bound"],
        incumbent=as_solution(boxed, incumbent),
        threads=options.threads,
    )
    if saved is not None:
        search.restore(saved[1])
    elif neighbour is not None:
        search.start_from(neighbour)
    if not status:
        status = run(boxed, search, options, checkpoint, kept, begin)
    return finish(problem, boxed, options, search, status, kept, begin), search


def run(
    boxed: Problem,
    search: _core.Search,
    options: SearchOptions,
    checkpoint: Checkpoint | None,
    kept: dict[str, Any],
    begin: float,
) -> str:
    """Search until the end or a limit; an interrupt ends it like a limit."""

    def report() -> None:
        if options.progress is not None:
            gap = relative_gap(search.objective, search.lower_bound)
            seconds = time.monotonic() - begin
            options.progress(SearchProgress(search.objective, search.lower_bound, gap, search.nodes, search.open, seconds))
        if checkpoint is not None:
            checkpoint.write_if_due(search, kept)

    def go_on(node_limit: int) -> str:
        left = max(options.time_limit - (time.monotonic() - begin), 0.0)
        return search.run(seconds=left, node_limit=node_limit, report=report)

    try:
        status = "node_limit"
        if not kept["searched"]:
            status = go_on(min(NODES_BEFORE_LOCAL_SEARCH, options.node_limit))
            if status == "node_limit" and options.node_limit > NODES_BEFORE_LOCAL_SEARCH:
                model = to_user_scale(boxed, search.incumbent())[0]
                start = make_model(boxed, *model, options.lambda_0, boxed.objective(*model, options.lambda_0))
                found = find_incumbent(boxed, options, [start], "local_search", begin)
                search.suggest(as_solution(boxed, found))
                kept["searched"] = True
        if kept["searched"]:
            status = go_on(options.node_limit)
    except KeyboardInterrupt:
        status = "interrupted"
    except OutOfTime:
        status = "time_limit"
    if options.progress is not None:
        report()
    if checkpoint is not None:
        if status == "finished":
            checkpoint.remove()
        else:
            checkpoint.write(search, kept)
    return status


def finish(
    problem: Problem,
    boxed: Problem,
    options: SearchOptions,
    search: _core.Search,
    status: str,
    kept: dict[str, Any],
    begin: float,
) -> ExactSolution:
    """The search's result on the user's scale, with its proof."""
    support, values, intercept = to_user_scale(boxed, search.incumbent())[0]
    values = boxed.clip(support, values)
    objective = boxed.objective(support, values, intercept, options.lambda_0)
    at = options.lambda_0 if options.k is None else np.nan
    model = make_model(problem, support, values, intercept, at, objective)
    # No loss or penalty is negative: zero is a bound even before the first node.
    lower_bound = min(max(search.lower_bound, 0.0), objective)
    if relative_gap(objective, lower_bound) <= options.gap:
        status = "optimal"
    elif status == "finished":
        status = "precision"
    claim = Claim(
        lambda_0=options.lambda_0,
        k=options.k,
        bound=kept["bound"],
        free_bound=kept["free_bound"],
        objective=objective,
        lower_bound=lower_bound,
        status=status,
        gap_asked=options.gap,
    )
    certificate = Certificate(problem, claim, model, search.tree())
    return ExactSolution(certificate, search.nodes, time.monotonic() - begin)


def find_incumbent(problem: Problem, options: SearchOptions, starts: list[Model], algorithm: str | None, begin: float) -> Model:
    """The best model that an algorithm finds from `starts`; without one the best of these."""

    def watch(*_: Any) -> None:
        if time.monotonic() - begin > options.time_limit:
            raise OutOfTime

    most = problem.countable() if options.k is None else min(options.k, problem.countable())
    models = [start for start in starts if problem.counted(start.support) <= most]
    if algorithm is not None or not models:
        grid = np.array([options.lambda_0]) if options.k is None else np.zeros(0)
        wanted = PathOptions(lambda_0=grid, algorithm=algorithm or "cd", tol=TOLERANCE, threads=options.threads, progress=watch)
        if options.k is not None:
            wanted = wanted.for_sizes(tuple(range(1, most + 1)) if most else (0,), len(problem.y))
        found = solve_path(problem, wanted, seeds=to_core_scale(problem, starts) if starts else None)
        models += [
            make_model(problem, support, values, b, options.lambda_0, problem.objective(support, values, b, options.lambda_0))
            for packed in (found.models, found.by_size)
            for support, values, b in to_user_scale(problem, packed)
            if problem.counted(support) <= most
        ]
    return min([*models, null_model(problem, options)], key=lambda model: model.objective)


def null_model(problem: Problem, options: SearchOptions) -> Model:
    """No features but those that bounds hold away from zero."""
    every = np.arange(problem.design.shape[1], dtype=np.int32)
    values = problem.clip(every, np.zeros(len(every)))
    support = np.flatnonzero(values).astype(np.int32)
    objective = problem.objective(support, values[support], 0.0, options.lambda_0)
    return make_model(problem, support, values[support], 0.0, options.lambda_0, objective)


def as_solution(problem: Problem, model: Model) -> dict[str, Any]:
    """A model inside the problem's bounds, as the core takes it: with its cost G, without the lambda_0 term."""
    values = problem.clip(model.support, model.values)
    cost = problem.objective(model.support, values, model.intercept, 0.0)
    return to_core_scale(problem, [replace(model, values=values, objective=cost)])


def assumed_bound(problem: Problem, options: SearchOptions, incumbent: Model) -> float | None:
    """The bound on |beta_j| that is assumed, None if the penalties and bounds prove one."""
    if isinstance(options.bound, str):
        beta = np.abs(problem.penalised(incumbent.support, incumbent.values))
        return HEURISTIC_FACTOR * float(beta.max(initial=0.0)) or 1.0
    if options.bound is not None:
        return options.bound
    penalty = problem.penalty
    if penalty.lambda_1 > 0.0 or penalty.lambda_2 > 0.0 or problem.countable() == 0:
        return None
    counted = np.ones(problem.design.shape[1], dtype=bool) if penalty.unpenalized is None else ~penalty.unpenalized
    finite = all(side is not None and np.isfinite(side[counted]).all() for side in (penalty.lower, penalty.upper))
    if not finite:
        raise InvalidInputError(
            "bound must be a number or 'heuristic' when lambda_1 = lambda_2 = 0 and lower and upper are not finite: "
            "nothing else limits the coefficients."
        )
    return None


def free_bound(problem: Problem, incumbent: Model) -> float | None:
    """The bound that is assumed of unpenalized features that nothing else holds."""
    penalty = problem.penalty
    if penalty.unpenalized is None or penalty.lambda_1 > 0.0 or penalty.lambda_2 > 0.0:
        return None
    held = [side is not None and np.isfinite(side[penalty.unpenalized]).all() for side in (penalty.lower, penalty.upper)]
    if all(held):
        return None
    beta = np.abs(problem.penalised(incumbent.support, incumbent.values))
    largest = float(beta[penalty.unpenalized[incumbent.support]].max(initial=0.0))
    return FREE_FACTOR * max(largest, 1.0)


def with_bound(problem: Problem, bound: float | None) -> Problem:
    """The problem with |beta_j| <= bound for the features that lambda_0 counts."""
    if bound is None:
        return problem
    penalty, p = problem.penalty, problem.design.shape[1]
    limit = np.full(p, bound) if problem.spread is None else bound / problem.spread
    if penalty.unpenalized is not None:
        limit[penalty.unpenalized] = np.inf
    low = -limit if penalty.lower is None else np.maximum(penalty.lower, -limit)
    high = limit if penalty.upper is None else np.minimum(penalty.upper, limit)
    return replace(problem, penalty=replace(penalty, lower=low, upper=high))


def signature(problem: Problem, options: SearchOptions) -> dict[str, Any]:
    """What a checkpoint must agree in with the call that continues it."""
    penalty = problem.penalty
    sides = {"lower": penalty.lower, "upper": penalty.upper, "unpenalized": penalty.unpenalized, "spread": problem.spread}
    return {
        "lambda_0": options.lambda_0,
        "k": options.k,
        "bound": options.bound,
        "gap": options.gap,
        "loss": problem.loss.name,
        "lambda_1": penalty.lambda_1,
        "lambda_2": penalty.lambda_2,
        "fit_intercept": problem.fit_intercept,
        "X": fingerprint_design(problem)[1],
        "y": fingerprint_vector(problem.y),
        "w": fingerprint_vector(problem.w),
        **{name: None if side is None else fingerprint_vector(side.astype(np.float64)) for name, side in sides.items()},
    }
