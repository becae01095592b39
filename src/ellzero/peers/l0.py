"""The paper's own proposal, by ellzero: L0 with L1 or L2, Algorithms 1 and 2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ellzero.paths.grid import fit_grid
from ellzero.peers.method import Fit

__all__ = ["L0"]

LARGEST = 100  # features: the limit of the paper's package, and of the sizes that the other L0 methods sweep


@dataclass(frozen=True, eq=False)
class L0:
    """100 lambda_0 that the path chooses, and ten values of the second penalty.

    Without a grid of its own the second penalty takes ten values over four decades, for lambda_1 from where all coefficients
    vanish.
    """

    penalty: Literal["L0L1", "L0L2"]
    algorithm: Literal["cd", "local_search"]
    loss: str = "logistic"
    shrinkage: tuple[float, ...] | None = None  # decreasing
    max_support: int = LARGEST

    @property
    def name(self) -> str:
        """As in the paper's legends."""
        loss = "" if self.loss == "logistic" else f"/{self.loss.replace('_', ' ')}"
        return f"{self.penalty}{loss} ({'CD' if self.algorithm == 'cd' else 'CD w. Local Search'})"

    def missing(self) -> str | None:
        """Nothing is."""
        return None

    def fits(self, X: Any, y: NDArray[np.int64]) -> Iterator[Fit]:
        """The models of the whole grid."""
        second = "lambda_1" if self.penalty == "L0L1" else "lambda_2"
        values: Any = "auto" if self.shrinkage is None else self.shrinkage
        options: dict[str, Any] = {second: values, "algorithm": self.algorithm, "loss": self.loss}
        grid = fit_grid(X, y, max_support=self.max_support, n_jobs=1, **options)
        for value, path in zip(grid.values, grid, strict=True):
            for k in range(len(path)):
                model = path[k]
                settings = {"lambda_0": float(model.lambda_0), second: float(value)}
                yield Fit(model.support.astype(np.int64), model.values, model.intercept, settings)
