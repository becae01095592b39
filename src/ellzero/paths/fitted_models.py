"""What lists of models, one for each limit that was asked for, have in common."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.problem.model import Model, coefficient_rows
from ellzero.problem.problem import Problem

__all__ = ["FittedModels"]

Array = NDArray[np.float64]


class FittedModels:
    """Models of one problem, as columns of numbers."""

    models: list[Model]
    problem: Problem

    @property
    def coef(self) -> sparse.csr_matrix:
        """All coefficients, one row per model."""
        return coefficient_rows([model.coefficients for model in self.models], self.problem.design.shape[1])

    @property
    def intercept(self) -> Array:
        """One intercept per model."""
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
