"""What an experiment asks of a method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Fit", "Method"]


@dataclass(frozen=True, eq=False)
class Fit:
    """One model of a method's grid, on the scale of X."""

    support: NDArray[np.int64]  # ascending
    values: NDArray[np.float64]
    intercept: float
    settings: dict[str, float]  # where on the grid it is

    def decision(self, X: Any) -> NDArray[np.float64]:
        """X coef + intercept."""
        return X[:, self.support] @ self.values + self.intercept


class Method(Protocol):
    """A method with its tuning grid."""

    @property
    def name(self) -> str:
        """As in the paper's legends."""

    def missing(self) -> str | None:
        """What must be installed, in one sentence, or None if the method can run."""

    def fits(self, X: Any, y: NDArray[np.int64]) -> Iterator[Fit]:
        """The models of the whole grid; y is -1 and +1."""
