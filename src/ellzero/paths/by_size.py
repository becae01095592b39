"""The best model known of each size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ellzero import _core
from ellzero.base.errors import InvalidInputError
from ellzero.problem.model import Model, evaluate
from ellzero.problem.problem import Problem
from ellzero.solvers.paths import PathOptions, solve_path
from ellzero.solvers.scales import to_core_scale, to_user_scale

__all__ = ["ModelsBySize", "best_by_size"]


class ModelsBySize:
    """The best model known of each size; a size that has not been met is fitted when it is asked for."""

    def __init__(self, problem: Problem, options: PathOptions, found: Sequence[_core.Model]) -> None:
        self.problem = problem
        self.options = options
        self.found = found

    @cached_property
    def models(self) -> dict[int, Model]:
        """Size by size, evaluated when they are first looked at; `at` adds to them."""
        return best_by_size(self.problem, self.found)

    def at(self, k: int) -> Model:
        """The best model with exactly k features that pay lambda_0."""
        columns = self.problem.countable()
        if k > columns:
            raise InvalidInputError(f"k must be at most the {columns} features that lambda_0 applies to, got {k}.")
        if k not in self.models:
            self._fit_from(k)
        if k not in self.models:
            raise InvalidInputError(
                f"k = {k} cannot be reached: no further column improves the models of up to {max(self.models)} features."
            )
        return self.models[k]

    def _fit_from(self, k: int) -> None:
        """Fit the models of size k and above that the known ones lead to."""
        seeds = to_core_scale(self.problem, self.models.values())
        wanted = replace(self.options, sizes=(k,), lambda_0=np.zeros(0), max_support=None, progress=None)
        more = best_by_size(self.problem, solve_path(self.problem, wanted, seeds=seeds, sweep=False).by_size)
        self.models.update({size: model for size, model in more.items() if size >= k})


def best_by_size(problem: Problem, models: Iterable[_core.Model]) -> dict[int, Model]:
    """The best of the core's models of each size, evaluated by the referee."""
    out: dict[int, Model] = {}
    for found in models:
        model = evaluate(problem, to_user_scale(problem, found))
        if model.size not in out or model.cost < out[model.size].cost:
            out[model.size] = model
    return out
