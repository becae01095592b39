"""What lists of models, one for each requested limit, have in common."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.problem.coefficients import coefficient_rows
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem

Array = NDArray[np.float64]


def intercept_columns(problem: Problem, intercept: Array) -> dict[str, Array]:
    """Return the columns of a table that hold intercepts: one or, of several outputs, one for each by its label."""
    if problem.outputs == 1:
        return {"intercept": intercept}
    labels = range(problem.outputs) if problem.classes is None or not problem.is_multinomial else problem.classes.tolist()
    return {f"intercept_{label}": column for label, column in zip(labels, intercept.T, strict=True)}


class FittedModels:
    """Models of one problem, as columns of numbers."""

    models: list[Model]
    problem: Problem

    @property
    def coef(self) -> sparse.csr_matrix:
        """All coefficients, one row per model; of several outputs a row for each, those of a model together."""
        return coefficient_rows([model.coefficients for model in self.models], self.problem.design.shape[1])

    @property
    def intercept(self) -> Array:
        """One intercept per model, or a row of them."""
        return np.array([model.intercept for model in self.models])

    @property
    def objective(self) -> Array:
        """The objective of each model."""
        return np.array([model.objective for model in self.models])

    @property
    def support_size(self) -> NDArray[np.int64]:
        """The number of counted features of each model."""
        return np.array([model.size for model in self.models], dtype=np.int64)

    def __len__(self) -> int:
        return len(self.models)

    def __iter__(self) -> Iterator[Model]:
        return iter(self.models)
