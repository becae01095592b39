"""The protocol of a method: its name, what it needs to run, and the models of its grid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Fit", "Method"]


@dataclass(frozen=True, eq=False)
class Fit:
    """One model of a method's grid, in the units of X."""

    support: NDArray[np.int64]  # ascending
    values: NDArray[np.float64]
    intercept: float
    settings: dict[str, float]  # its point on the grid

    def decision(self, X: Any) -> NDArray[np.float64]:
        """Return X coef + intercept."""
        return X[:, self.support] @ self.values + self.intercept


class Method(Protocol):
    """A method with its tuning grid."""

    @property
    def name(self) -> str:
        """Return the name in the paper's legends."""

    def missing(self) -> str | None:
        """Return a sentence on what must be installed, or None if the method can run."""

    def fits(self, X: Any, y: NDArray[np.int64]) -> Iterator[Fit]:
        """Yield the models of the whole grid; y is -1 and +1."""
