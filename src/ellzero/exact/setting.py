"""What every exact method begins with: the options, a first solution, and the bounds on the coefficients that are assumed."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.base.errors import InvalidInputError
from ellzero.exact.certificate import Certificate, Claim
from ellzero.exact.search_log import SearchCallback, SearchProgress
from ellzero.exact.solution import ExactSolution, relative_gap
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem
from ellzero.solvers.packing import make_model, to_core_scale, to_user_scale
from ellzero.solvers.paths import PathOptions, core_problem, solve_path

__all__ = [
    "NO_LIMIT",
    "OutOfTime",
    "SearchOptions",
    "Setting",
    "Swaps",
    "as_solution",
    "find_incumbent",
    "null_model",
    "prepare",
]

Array = NDArray[np.float64]
NO_LIMIT = 2**62
HEURISTIC_FACTOR = 1.2  # the paper's M, times the largest coefficient of the first model
# Unpenalized features that neither a penalty nor bounds hold are assumed to stay below this many times their largest
# coefficient (or one): no dual point is orthogonal to them to the last digit.
FREE_FACTOR = 10.0
TOLERANCE = 1e-8  # of the models that a search starts from


@dataclass(frozen=True, eq=False)
class Swaps:
    """Only the models that a swap leads to: at most `size` features of `home` leave, at most `size` others come."""

    home: NDArray[np.int32]
    size: int


@dataclass(frozen=True, kw_only=True, eq=False)
class SearchOptions:
    """What is to be solved beside the problem itself, how, and for how long."""

    lambda_0: float
    k: int | None
    swaps: Swaps | None = None
    method: str = "bnb"
    backend: str = "builtin"
    grow: float = 10  # IGA's set: by so many features, or by those whose z is at least this share
    bound: float | str | None = None
    gap: float = 1e-4
    time_limit: float = np.inf
    node_limit: int = NO_LIMIT
    checkpoint: Any = None
    threads: int = 1
    progress: SearchCallback | None = None


class OutOfTime(Exception):
    """The time limit came before the search."""


@dataclass
class Setting:
    """One run of an exact method: its problem, its options and what is known so far."""

    problem: Problem
    boxed: Problem  # with the assumed bound
    options: SearchOptions
    incumbent: Model
    bound: float | None  # assumed of the features that lambda_0 counts
    free_bound: float | None  # assumed of unpenalized features that nothing else holds
    begin: float
    ended: str = ""  # the status, if the end came before the search
    history: list[SearchProgress] = field(default_factory=list)

    @property
    def most(self) -> int:
        """The largest number of features, as the core takes it."""
        return self.problem.design.shape[1] if self.options.k is None else self.options.k

    def left(self) -> float:
        """Seconds until the time limit."""
        return max(self.options.time_limit - (time.monotonic() - self.begin), 0.0)

    def core(self) -> dict[str, Any]:
        """What the core's searches and relaxations ask for alike."""
        swaps = self.options.swaps
        return {
            "problem": core_problem(self.boxed, TOLERANCE),
            "lambda_0": self.options.lambda_0,
            "k": self.most,
            "free_bound": np.inf if self.free_bound is None else self.free_bound,
            "home": None if swaps is None else swaps.home.tolist(),
            "swap_size": 0 if swaps is None else swaps.size,
            "threads": self.options.threads,
        }

    def search(self, integral: Iterable[int] | None = None) -> _core.Search:
        """Branch and bound from the incumbent; `integral` are the features that may be branched on, all if None."""
        return _core.Search(
            **self.core(),
            gap=self.options.gap,
            incumbent=as_solution(self.boxed, self.incumbent),
            integral=None if integral is None else list(integral),
        )

    def model(self, packed: dict[str, Any]) -> Model:
        """The core's model on the user's scale and inside the bounds, evaluated by the referee."""
        support, values, intercept = to_user_scale(self.boxed, packed)[0]
        return evaluated(self.boxed, self.options.lambda_0, support, self.boxed.clip(support, values), intercept)

    def note(
        self, objective: float, lower_bound: float, nodes: int, still_open: int, iteration: int = 0, integral: int = 0
    ) -> None:
        """Tell the caller where the run stands, and remember it if something changed."""
        gap = relative_gap(objective, lower_bound)
        now = SearchProgress(objective, lower_bound, gap, nodes, still_open, time.monotonic() - self.begin, iteration, integral)
        here = (objective, lower_bound, iteration)
        known = [(row.objective, row.lower_bound, row.iteration) for row in self.history[-1:]]
        if known != [here] or not still_open:
            self.history.append(now)
        if self.options.progress is not None:
            self.options.progress(now)

    def finish(
        self,
        model: Model,
        lower_bound: float,
        status: str,
        *,
        tree: dict[str, NDArray[Any]],
        nodes: int,
        prover: str | None = None,
        message: str = "",
    ) -> ExactSolution:
        """The result with its proof. `status` is "finished" if nothing is left to do."""
        options = self.options
        # No loss or penalty is negative: zero is a bound even before the first node.
        lower_bound = min(max(lower_bound, 0.0), model.objective)
        if relative_gap(model.objective, lower_bound) <= options.gap:
            status = "optimal"
        elif status == "finished":
            status = "precision"
        claim = Claim(
            lambda_0=options.lambda_0,
            k=options.k,
            bound=self.bound,
            free_bound=self.free_bound,
            objective=model.objective,
            lower_bound=lower_bound,
            status=status,
            gap_asked=options.gap,
            swap_size=None if options.swaps is None else options.swaps.size,
            home=None if options.swaps is None else options.swaps.home.astype(np.int64),
            prover=prover,
        )
        at = options.lambda_0 if options.k is None else np.nan
        certificate = Certificate(self.problem, claim, replace(model, lambda_0=at), tree)
        return ExactSolution(certificate, nodes, time.monotonic() - self.begin, self.history, message)


def prepare(problem: Problem, options: SearchOptions, starts: Iterable[Model], algorithm: str | None) -> Setting:
    """A first solution by `algorithm` from `starts` (None: the best of these), and the bounds that are assumed with it."""
    begin = time.monotonic()
    incumbent, ended = find_incumbent(problem, options, list(starts), algorithm, begin)
    bound = assumed_bound(problem, options, incumbent)
    boxed = with_bound(problem, bound)
    return Setting(problem, boxed, options, incumbent, bound, free_bound(problem, incumbent), begin, ended)


def find_incumbent(
    problem: Problem, options: SearchOptions, starts: list[Model], algorithm: str | None, begin: float, sweep: bool = True
) -> tuple[Model, str]:
    """The best model that an algorithm finds, also (without `sweep` only) from `starts`; the best of these without one.

    With it, how it ended if it was stopped, "time_limit" or "interrupted": then the model is the best so far.
    """

    def check() -> None:
        if time.monotonic() - begin > options.time_limit:
            raise OutOfTime

    most = problem.countable() if options.k is None else min(options.k, problem.countable())
    models = [start for start in starts if problem.counted(start.support) <= most]
    ended = ""
    if algorithm is not None or not models:
        grid = np.array([options.lambda_0]) if options.k is None else np.zeros(0)
        wanted = PathOptions(lambda_0=grid, algorithm=algorithm or "cd", tol=TOLERANCE, threads=options.threads, check=check)
        if options.k is not None:
            wanted = wanted.for_sizes(tuple(range(1, most + 1)) if most else (0,), len(problem.y))
        try:
            found = solve_path(problem, wanted, seeds=to_core_scale(problem, starts) if starts else None, sweep=sweep)
            models += [
                evaluated(problem, options.lambda_0, *model)
                for packed in (found.models, found.by_size)
                for model in to_user_scale(problem, packed)
                if problem.counted(model[0]) <= most
            ]
            if found.stopped is not None:
                raise found.stopped
        except OutOfTime:
            ended = "time_limit"
        except KeyboardInterrupt:
            ended = "interrupted"
    return min([*models, null_model(problem, options.lambda_0)], key=lambda model: model.objective), ended


def evaluated(problem: Problem, lambda_0: float, support: NDArray[np.int32], values: Array, intercept: float) -> Model:
    """A model with the objective that the referee gives it."""
    return make_model(problem, support, values, intercept, lambda_0, problem.objective(support, values, intercept, lambda_0))


def null_model(problem: Problem, lambda_0: float) -> Model:
    """No features but those that bounds hold away from zero."""
    every = np.arange(problem.design.shape[1], dtype=np.int32)
    values = problem.clip(every, np.zeros(len(every)))
    support = np.flatnonzero(values).astype(np.int32)
    return evaluated(problem, lambda_0, support, values[support], 0.0)


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
    if has_proved_bound(problem):
        return None
    raise InvalidInputError(
        "bound must be a number or 'heuristic' when lambda_1 = lambda_2 = 0 and lower and upper are not finite: "
        "nothing else limits the coefficients."
    )


def has_proved_bound(problem: Problem) -> bool:
    """Whether penalties or bounds limit all coefficients that lambda_0 counts."""
    penalty = problem.penalty
    if penalty.lambda_1 > 0.0 or penalty.lambda_2 > 0.0 or problem.countable() == 0:
        return True
    counted = penalty.pays_lambda_0(problem.design.shape[1])
    return all(side is not None and np.isfinite(side[counted]).all() for side in (penalty.lower, penalty.upper))


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
