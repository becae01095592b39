"""The best models that brute force finds: an upper bound of the optimum that cannot be wrong.

All supports that `k` or a budget allows are fitted in float64, the most promising once more with care and in long double. Every
model is evaluated in long double, and whatever a fit missed, a value is the objective of some model: a lower bound above it is
false.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzz.problems.problem import Array, Problem
from fuzz.referee.convex import ScaledProblem
from fuzz.referee.objectives import LONG, Long, LongProblem

__all__ = ["Best", "Neighbourhood", "best_model", "convex_fit", "supports"]

LARGEST_P = 10  # brute force looks at all supports up to this size
PROMISING = 4  # supports that are fitted with care
ROUGH, CAREFUL = 12, 40  # steps of their fits


@dataclass(frozen=True, eq=False)
class Best:
    """The best model found: its objective, rounded up, its coefficients (outputs, p) and its intercepts (outputs,)."""

    value: Any
    coef: Long
    intercept: Long

    def plain(self) -> tuple[Any, Any]:
        """Return coefficients and intercept as lists and numbers, in the shapes of the package."""
        coef, intercept = self.coef.astype(float).tolist(), self.intercept.astype(float).tolist()
        return (coef[0], intercept[0]) if len(coef) == 1 else (coef, intercept)

    def better(self, other: Best) -> Best:
        """Return the better of two models."""
        return other if other.value < self.value else self


@lru_cache(maxsize=64)
def supports(p: int, most: int) -> NDArray[np.bool_]:
    """Return all supports of at most `most` of p features, one row for each."""
    masks = (np.arange(2**p)[:, None] >> np.arange(p)) % 2 == 1
    return masks[masks.sum(1) <= most]


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """The supports within one swap of `home`: at most `size` of its features leave and at most `size` others come.

    `home` is a mask of columns, of which one stands for its feature.
    """

    home: NDArray[np.bool_]
    size: int

    def has(self, chosen: NDArray[np.bool_], members: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which sets of features belong to it; `members` are the columns of each feature."""
        home = (members & self.home).any(1)
        come, leave = (chosen & ~home).sum(-1), (home & ~chosen).sum(-1)
        return (come <= self.size) & (leave <= self.size)


def best_model(problem: Problem, long: LongProblem | None = None, near: Neighbourhood | None = None) -> Best:
    """Return the best model of a problem with few features, by brute force over supports, or over those near a given one."""
    long = LongProblem(problem) if long is None else long
    count = len(long.members)
    if count > LARGEST_P:
        raise ValueError(f"brute force is for at most {LARGEST_P} features, got {count}.")
    chosen = supports(count, count if problem.k is None else min(problem.k, count))
    chosen = chosen[long.allowed(chosen)]
    chosen = chosen if near is None else chosen[near.has(chosen, long.members)]
    inside = (chosen @ long.members) | ~long.counted
    with np.errstate(all="ignore"):
        scaled = ScaledProblem(long)
        rough = scaled.fit(inside, ROUGH)
        values = long.values(*scaled.models(rough))
        first = np.argsort(np.nan_to_num(values, nan=np.inf), kind="stable")[:PROMISING]
        careful = ScaledProblem(long, LONG)
        fits = [rough[first], *(each.fit(inside[first], CAREFUL, rough[first]) for each in (scaled, careful))]
        # Near a given support, a feature that must be in pays lambda_0, also if its best coefficient is zero.
        paid = None if near is None else np.tile(chosen[first], (len(fits), 1))
        return _least(long, scaled, np.concatenate(fits), paid)


def convex_fit(problem: Problem, support: NDArray[np.int64], long: LongProblem | None = None) -> Best:
    """Return the best model on one support (unpenalized features are in it too)."""
    long = LongProblem(problem) if long is None else long
    inside = ~long.counted
    inside[support] = True
    with np.errstate(all="ignore"):
        scaled = ScaledProblem(long, LONG)
        return _least(long, scaled, scaled.fit(inside[None], CAREFUL))


def _least(long: LongProblem, scaled: ScaledProblem, beta: Array, paid: NDArray[np.bool_] | None = None) -> Best:
    coef, intercept = scaled.models(beta)
    values = long.upper_values(coef, intercept)
    if paid is not None:
        values = values + long.lambda_0 * long.spent(paid & ~long.used(coef))
    at = int(np.argmin(np.nan_to_num(values, nan=np.inf)))
    return Best(values[at], coef[at], intercept[at])
