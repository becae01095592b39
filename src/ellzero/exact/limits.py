"""The limit of a search on the features of a model: their number, or the sum of their costs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.exact.options import SearchOptions
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem

__all__ = ["BUDGET_SLACK", "allows", "check_budget", "require_affordable", "weights"]

Array = NDArray[np.float64]
BUDGET_SLACK = 1e-12  # relative: costs that sum to a budget in decimal numbers may exceed it by the rounding of binary ones


def check_budget(problem: Problem, options: SearchOptions) -> SearchOptions:
    """Refuse a budget that no feature fits; without costs, a budget is a number of features."""
    if options.budget is None:
        return options
    if not problem.priced:
        return replace(options, budget=None, k=math.floor(options.budget * (1.0 + BUDGET_SLACK)))
    require_affordable(problem, options.budget)
    return options


def require_affordable(problem: Problem, budget: float) -> None:
    """Refuse a budget below the cost of the cheapest feature that costs anything."""
    cheapest = float(np.min(problem.penalty.price, initial=np.inf, where=~problem.penalty.unpenalized))
    if budget * (1.0 + BUDGET_SLACK) < cheapest < np.inf:
        raise InvalidInputError(f"budget must be at least {cheapest:g}, the cost of the cheapest feature, got {budget:g}.")


def allows(options: SearchOptions, model: Model) -> bool:
    """Return whether a model keeps to the limits."""
    few = options.k is None or model.size <= options.k
    return few and (options.budget is None or model.spent <= options.budget * (1.0 + BUDGET_SLACK))


def weights(problem: Problem, options: SearchOptions) -> Array:
    """Return what each feature takes of the limit: its cost under a budget, otherwise one if it is counted."""
    penalty = problem.penalty
    return (~penalty.unpenalized).astype(np.float64) if options.budget is None else penalty.price
