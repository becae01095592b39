"""The options of an exact search: lambda_0, k or a budget, the method, assumptions and limits."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.base.errors import InvalidInputError
from ellzero.base.validation import as_choice, as_count, as_nonnegative, as_threads, if_given
from ellzero.exact.search_log import SearchCallback, as_search_log
from ellzero.problem.making import ProblemSettings
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem

METHODS = {"bnb": ("builtin",), "iga": ("builtin", "highs", "scip", "gurobi"), "mip": ("highs", "scip", "gurobi")}
NO_LIMIT = 2**62
BUDGET_SLACK = _core.budget_slack  # relative: costs that sum to a budget in decimal numbers may exceed it by rounding


@dataclass(frozen=True, eq=False)
class SwapNeighbourhood:
    """The models within one swap of `home`: at most `size` of its features leave and at most `size` others come."""

    home: NDArray[np.int32]
    size: int


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The models that are wanted: the best one, or all up to a level, which is the least of all that are given."""

    all: bool = False
    within: float | None = None  # above the best objective, relative to it
    count: int | None = None  # the objective of the so many-th best support
    level: float | None = None
    most: int = NO_LIMIT  # a search ends when it has found more models


@dataclass(frozen=True, kw_only=True, eq=False)
class SearchOptions:
    """The options of one search, already checked."""

    lambda_0: float
    k: int | None
    budget: float | None = None  # of the sum of costs; k is None then
    swaps: SwapNeighbourhood | None = None  # None: all models
    wanted: Wanted = Wanted()  # the best model
    method: str = "bnb"
    backend: str = "builtin"
    grow: float = 10  # IGA adds so many features at a time or, if below one, those with z >= grow
    bound: float | str | None = None
    gap: float = 1e-4
    time_limit: float = np.inf
    node_limit: int = NO_LIMIT
    enough: float = -np.inf  # a search of more than a few nodes ends with the first model below this objective
    alike: float | None = None  # features with at least this correlation are decided together; None: as the core does
    diagonals: bool = True  # curvature of the squared error may move into the ridge
    checkpoint: Any = None
    threads: int = 1
    in_turn: bool = False  # the threads share one node at a time: what is found does not depend on their number
    progress: SearchCallback | None = None

    @property
    def limited(self) -> bool:
        """Whether the size of a model is limited, or its costs."""
        return self.k is not None or self.budget is not None

    @property
    def swap_size(self) -> int | None:
        """How many features a swap may exchange; None: all models are searched."""
        return None if self.swaps is None else self.swaps.size

    @property
    def home(self) -> NDArray[np.int64] | None:
        """The features that swaps begin with; None: all models are searched."""
        return None if self.swaps is None else self.swaps.home.astype(np.int64)

    def allows(self, model: Model, problem: Problem) -> bool:
        """Return whether a model keeps to the limits, and to the rules."""
        few = self.k is None or model.size <= self.k
        cheap = self.budget is None or model.spent <= self.budget * (1.0 + BUDGET_SLACK)
        return few and cheap and problem.obeys(model.support)


class SearchSettings(TypedDict, total=False):
    """The arguments that control an exact search; `search_options` holds their defaults and checks them."""

    method: str
    backend: str
    grow: float
    bound: float | str | None
    gap: float
    time_limit: float | None
    node_limit: int | None
    n_jobs: int | None
    progress: bool | SearchCallback


class ExactSettings(ProblemSettings, SearchSettings, total=False):
    """The arguments of :func:`ellzero.solve` that other functions take as well."""


def search_options(
    *,
    lambda_0: float | None = None,
    k: int | None = None,
    budget: float | None = None,
    method: str = "bnb",
    backend: str = "builtin",
    grow: float = 10,
    bound: float | str | None = None,
    gap: float = 1e-4,
    time_limit: float | None = None,
    node_limit: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: bool | SearchCallback | None = None,
) -> SearchOptions:
    """Check the arguments of a search, and return its options."""
    check_method(method, backend)
    if k is not None and budget is not None:
        raise InvalidInputError("k and budget cannot both be given: one limits the number of features, the other their costs.")
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
    limit = math.inf if time_limit is None else as_nonnegative("time_limit", time_limit)
    return SearchOptions(
        lambda_0=0.0 if lambda_0 is None else as_nonnegative("lambda_0", lambda_0),
        k=if_given(as_count, "k", k, 0),
        budget=if_given(as_nonnegative, "budget", budget),
        method=method,
        backend=backend,
        grow=grow,
        bound=bound if bound is None or isinstance(bound, str) else float(bound),
        gap=as_nonnegative("gap", gap),
        time_limit=limit,
        node_limit=NO_LIMIT if node_limit is None else as_count("node_limit", node_limit, 0),
        checkpoint=checkpoint,
        threads=as_threads(n_jobs),
        progress=as_search_log(progress, limit),
    )


def check_method(method: str, backend: str) -> None:
    """Check the choice of the method, and that the backend can serve it."""
    as_choice("method", method, tuple(METHODS))
    as_choice("backend", backend, METHODS["iga"])
    if backend not in METHODS[method]:
        raise InvalidInputError(
            f"backend must be one of {', '.join(map(repr, METHODS[method]))} for method={method!r}, got {backend!r}."
        )


def affordable(problem: Problem, options: SearchOptions) -> SearchOptions:
    """Refuse limits that no feature, or no model under the rules, fits; without costs, a budget is a number of features."""
    if options.k is not None:
        problem.require_room("k", options.k)
    if options.budget is None:
        return options
    problem.rules.require_within("budget", problem.penalty.price, options.budget * (1.0 + BUDGET_SLACK))
    if not problem.penalty.priced:
        # A budget may be any number.
        affordable_features = min(options.budget * (1.0 + BUDGET_SLACK), problem.penalty.countable())
        return replace(options, budget=None, k=math.floor(affordable_features))
    require_affordable(problem, options.budget)
    return options


def require_affordable(problem: Problem, budget: float) -> None:
    """Refuse a budget below the cost of the cheapest feature that costs anything."""
    cheapest = float(np.min(problem.penalty.price, initial=np.inf, where=~problem.penalty.unpenalized))
    if budget * (1.0 + BUDGET_SLACK) < cheapest < np.inf:
        raise InvalidInputError(f"budget must be at least {cheapest:g}, the cost of the cheapest feature, got {budget:g}.")
