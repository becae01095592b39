"""The losses f(eta, y), their derivatives and conjugates, written once in NumPy.

This is the reference: plain float64 arrays, no tricks. The compiled core has its own vectorised versions, and tests compare
them with these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp, softmax, xlogy

from ellzero.base.errors import InvalidInputError

__all__ = [
    "ALL_LOSSES",
    "HINGE_SMOOTHING",
    "LOSSES",
    "Hinge",
    "Logistic",
    "Loss",
    "Multinomial",
    "SquaredError",
    "SquaredHinge",
    "get_loss",
    "of_rows",
]

Array = NDArray[np.float64]

HINGE_SMOOTHING = 1e-5
"""The final width of Nesterov's smoothing of the hinge. The conditions of coordinate descent are checked at this width."""


class Loss(Protocol):
    """A convex loss f(eta, y) of one prediction; all methods work elementwise.

    With several outputs, eta and y have a column for each. The multinomial loss is one of whole rows, not of single outputs.
    """

    @property
    def name(self) -> str:
        """The name by which users choose the loss."""

    @property
    def is_classification(self) -> bool:
        """Whether y is a label: -1 or +1, or a one in the column of its class."""

    @property
    def curvature_bound(self) -> float:
        """The supremum of the second derivative in eta."""

    def value(self, eta: Array, y: Array) -> Array:
        """Return f(eta, y)."""

    def gradient(self, eta: Array, y: Array) -> Array:
        """Return the derivative of f in eta."""

    def conjugate(self, u: Array, y: Array) -> Array:
        """Return f*(u, y) = sup over eta of u * eta - f(eta, y); infinite outside the domain."""


@dataclass(frozen=True)
class Logistic:
    """The logistic loss, log(1 + exp(-y eta))."""

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
    """The squared hinge, max(0, 1 - y eta)^2."""

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
    """The hinge, max(0, 1 - y eta), or its smoothing of width tau (`smoothing`).

    The smoothed hinge is quadratic where 0 <= 1 - y eta <= tau, and at most tau / 2 below the hinge.
    """

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
    """The squared error, (y - eta)^2 / 2, for regression."""

    name: str = "squared_error"
    is_classification: bool = False
    curvature_bound: float = 1.0

    def value(self, eta: Array, y: Array) -> Array:
        return (y - eta) ** 2 / 2.0

    def gradient(self, eta: Array, y: Array) -> Array:
        return eta - y

    def conjugate(self, u: Array, y: Array) -> Array:
        return u**2 / 2.0 + u * y


@dataclass(frozen=True)
class Multinomial:
    """The multinomial loss of several classes, log sum_l exp(eta_l) - eta_y; y has a one in the column of the class."""

    name: str = "multinomial"
    is_classification: bool = True
    curvature_bound: float = 0.5

    def value(self, eta: Array, y: Array) -> Array:
        return np.asarray(logsumexp(eta - (eta * y).sum(axis=-1, keepdims=True), axis=-1))

    def gradient(self, eta: Array, y: Array) -> Array:
        return np.asarray(softmax(eta, axis=-1) - y)

    def conjugate(self, u: Array, y: Array) -> Array:
        q = u + y
        inside = (q >= 0.0).all(axis=-1) & (np.abs(q.sum(axis=-1) - 1.0) <= 1e-12)
        return np.where(inside, xlogy(q, np.maximum(q, 0.0)).sum(axis=-1), np.inf)


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Logistic(), SquaredHinge(), Hinge(), SquaredError())}
"""The losses of single outputs."""
ALL_LOSSES: dict[str, Loss] = {**LOSSES, "multinomial": Multinomial()}


def of_rows(values: Array) -> Array:
    """Return the losses of rows: those of their outputs together, if there are several."""
    return values if values.ndim == 1 else values.sum(axis=1)


def get_loss(name: str) -> Loss:
    """Return the loss with a given name."""
    if not isinstance(name, str) or name not in ALL_LOSSES:
        raise InvalidInputError(f"loss must be one of {', '.join(map(repr, ALL_LOSSES))}, got {name!r}.")
    return ALL_LOSSES[name]
