"""The best model known of each size."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ellzero import _core
from ellzero.base.errors import InvalidInputError
from ellzero.design import is_stored
from ellzero.problem.model import Model, evaluated
from ellzero.problem.problem import Problem
from ellzero.solvers.paths import PathOptions, solve_path

QUICK = 10**9
"""Entries of X times features of the model: up to here, a local search for one size takes about a second at most."""


class ModelsBySize:
    """The best model known of each size; a size without a model is fitted on first use, by one thread at a time."""

    def __init__(self, problem: Problem, options: PathOptions, found: Sequence[_core.Model]) -> None:
        self.problem = problem
        self.options = options
        self.found = found
        self.searched: set[int] = set()  # sizes whose models local search has tried to improve
        self.alone = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        # Evaluated models take the place of the core's, which skops cannot write.
        state = {**vars(self), "models": self.models, "found": ()}
        return {name: value for name, value in state.items() if name != "alone"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, alone=threading.RLock())

    @cached_property
    def models(self) -> dict[int, Model]:
        """The best model of each size, evaluated at the first use; `at` adds to them."""
        return best_by_size(self.problem, self.found)

    def at(self, k: int) -> Model:
        """Return the best model with exactly k features that pay lambda_0."""
        columns = self.problem.penalty.countable()
        if k > columns:
            raise InvalidInputError(f"k must be at most the {columns} features that lambda_0 applies to, got {k}.")
        with self.alone:
            if k not in self.models:
                self._fit_from(k)
            if k not in self.models:
                raise InvalidInputError(
                    f"k = {k} cannot be reached: no further column improves the models of up to {max(self.models)} features."
                )
            self._improve(k)
            return self.models[k]

    def _improve(self, k: int) -> None:
        """Improve the model of size k that coordinate descent met, by local search, where that takes moments.

        A user who asks for one size wants the best model of it: exchanges of features often find a better one.
        """
        n, p = self.problem.design.shape
        if k in self.searched or self.options.algorithm != "cd" or n * p * k > QUICK or is_stored(self.problem.design):
            return
        self.searched.add(k)
        seeds = self.problem.units.core_models([model for size, model in self.models.items() if size <= k])
        wanted = replace(
            self.options, algorithm="local_search", sizes=(k,), lambda_0=np.zeros(0), max_support=None, progress=None
        )
        found = best_by_size(self.problem, solve_path(self.problem, wanted, seeds=seeds, sweep=False).by_size)
        if k in found and found[k].cost < self.models[k].cost:
            self.models[k] = found[k]

    def _fit_from(self, k: int) -> None:
        """Fit models of size k, and of larger sizes met on the way, from the known models."""
        seeds = self.problem.units.core_models(self.models.values())
        wanted = replace(self.options, sizes=(k,), lambda_0=np.zeros(0), max_support=None, progress=None)
        more = best_by_size(self.problem, solve_path(self.problem, wanted, seeds=seeds, sweep=False).by_size)
        self.models.update({size: model for size, model in more.items() if size >= k})


def best_by_size(problem: Problem, models: Iterable[_core.Model]) -> dict[int, Model]:
    """Return the best of some core models of each size, evaluated from the raw data."""
    out: dict[int, Model] = {}
    for model in evaluated(problem, map(problem.units.coefficients, models)):
        if model.size not in out or model.cost < out[model.size].cost:
            out[model.size] = model
    return out
