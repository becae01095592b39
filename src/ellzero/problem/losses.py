"""The losses f(eta, y), their derivatives and conjugates, written once in NumPy.

This is the reference layer: plain float64 arrays, no tricks. The compiled core has its own vectorised versions; tests hold
them against these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

from ellzero.base.errors import InvalidInputError

__all__ = ["HINGE_SMOOTHING", "LOSSES", "Hinge", "Logistic", "Loss", "SquaredError", "SquaredHinge", "get_loss"]

Array = NDArray[np.float64]

HINGE_SMOOTHING = 1e-5
"""Final width of Nesterov's smoothing of the hinge: coordinate descent's conditions are checked at this smoothing."""


class Loss(Protocol):
    """A convex loss f(eta, y) of one prediction; all methods work elementwise."""

    @property
    def name(self) -> str:
        """How users call it."""

    @property
    def is_classification(self) -> bool:
        """Whether y is a label, -1 or +1."""

    @property
    def curvature_bound(self) -> float:
        """Supremum of the second derivative in eta."""

    def value(self, eta: Array, y: Array) -> Array:
        """f(eta, y)."""

    def gradient(self, eta: Array, y: Array) -> Array:
        """Derivative in eta."""

    def conjugate(self, u: Array, y: Array) -> Array:
        """Sup over eta of u * eta - f(eta, y); infinite outside the domain."""


@dataclass(frozen=True)
class Logistic:
    """log(1 + exp(-y eta))."""

    name: str = "logistic"
    is_classification: bool = True
    curvature_bound: float = 0.25

    def value(self, eta: Array, y: Array) -> Array:
        return np.logaddexp(0.0, -y * eta)

    def gradient(self, eta: Array, y: Array) -> Array:
        return -y * expit(-y * eta)

    def conjugate(self, u: Array, y: Array) -> Array:
        alpha = -u * y
        inside = (alpha >= 0.0) & (alpha <= 1.0)
        a = np.clip(alpha, 0.0, 1.0)
        return np.where(inside, xlogy(a, a) + xlogy(1.0 - a, 1.0 - a), np.inf)


@dataclass(frozen=True)
class SquaredHinge:
    """max(0, 1 - y eta)^2."""

    name: str = "squared_hinge"
    is_classification: bool = True
    curvature_bound: float = 2.0

    def value(self, eta: Array, y: Array) -> Array:
        return np.maximum(0.0, 1.0 - y * eta) ** 2

    def gradient(self, eta: Array, y: Array) -> Array:
        return -2.0 * y * np.maximum(0.0, 1.0 - y * eta)

    def conjugate(self, u: Array, y: Array) -> Array:
        alpha = -u * y
        return np.where(alpha >= 0.0, -alpha + alpha**2 / 4.0, np.inf)


@dataclass(frozen=True)
class Hinge:
    """max(0, 1 - y eta), or its smoothing of width tau: quadratic on 0 <= 1 - y eta <= tau, at most tau / 2 below."""

    smoothing: float = 0.0
    name: str = "hinge"
    is_classification: bool = True

    @property
    def curvature_bound(self) -> float:
        return np.inf if self.smoothing == 0.0 else 1.0 / self.smoothing

    def value(self, eta: Array, y: Array) -> Array:
        z = 1.0 - y * eta
        if self.smoothing == 0.0:
            return np.maximum(0.0, z)
        c = np.clip(z, 0.0, self.smoothing)
        return c * (z - c / 2.0) / self.smoothing

    def gradient(self, eta: Array, y: Array) -> Array:
        z = 1.0 - y * eta
        if self.smoothing == 0.0:
            return np.where(z > 0.0, -y, 0.0)
        return -y * np.clip(z / self.smoothing, 0.0, 1.0)

    def conjugate(self, u: Array, y: Array) -> Array:
        alpha = -u * y
        inside = (alpha >= 0.0) & (alpha <= 1.0)
        return np.where(inside, -alpha + self.smoothing * alpha**2 / 2.0, np.inf)


@dataclass(frozen=True)
class SquaredError:
    """(y - eta)^2 / 2, for regression."""

    name: str = "squared_error"
    is_classification: bool = False
    curvature_bound: float = 1.0

    def value(self, eta: Array, y: Array) -> Array:
        return (y - eta) ** 2 / 2.0

    def gradient(self, eta: Array, y: Array) -> Array:
        return eta - y

    def conjugate(self, u: Array, y: Array) -> Array:
        return u**2 / 2.0 + u * y


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Logistic(), SquaredHinge(), Hinge(), SquaredError())}


def get_loss(name: str) -> Loss:
    """The loss of that name."""
    if not isinstance(name, str) or name not in LOSSES:
        raise InvalidInputError(f"loss must be one of {', '.join(map(repr, LOSSES))}, got {name!r}.")
    return LOSSES[name]
