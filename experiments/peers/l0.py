"""L0 with L1 or L2 penalties by Algorithms 1 and 2, the paper's own proposal, computed by ellzero."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ellzero.paths.grid import fit_grid
from experiments.peers.method import Fit

__all__ = ["L0"]

LARGEST = 100  # most features: the limit of the paper's package, and the largest size of the other L0 methods


@dataclass(frozen=True, eq=False)
class L0:
    """L0-regularised models on a grid: 100 values of lambda_0 that the path chooses, and ten of the second penalty.

    `shrinkage` is the grid of the second penalty. Without it, ten values over four decades are taken; those of lambda_1 begin
    where all coefficients vanish.
    """

    penalty: Literal["L0L1", "L0L2"]
    algorithm: Literal["cd", "local_search"]
    loss: str = "logistic"
    shrinkage: tuple[float, ...] | None = None  # decreasing
    max_support: int = LARGEST

    @property
    def name(self) -> str:
        """Return the name in the paper's legends."""
        loss = "" if self.loss == "logistic" else f"/{self.loss.replace('_', ' ')}"
        return f"{self.penalty}{loss} ({'CD' if self.algorithm == 'cd' else 'CD w. Local Search'})"

    def missing(self) -> str | None:
        """Return None: nothing else must be installed."""
        return None

    def fits(self, X: Any, y: NDArray[np.int64]) -> Iterator[Fit]:
        """Yield the models of the whole grid."""
        second = "lambda_1" if self.penalty == "L0L1" else "lambda_2"
        values: Any = "auto" if self.shrinkage is None else self.shrinkage
        options: dict[str, Any] = {second: values, "algorithm": self.algorithm, "loss": self.loss}
        grid = fit_grid(X, y, max_support=self.max_support, n_jobs=1, **options)
        for value, path in zip(grid.values, grid, strict=True):
            for lambda_0, model in zip(path.lambda_0, path, strict=True):
                settings = {"lambda_0": float(lambda_0), second: float(value)}
                yield Fit(model.support.astype(np.int64), model.values, model.intercept, settings)
