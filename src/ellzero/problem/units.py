"""Units in which the solvers work: powers of two, so that a change of units rounds nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ellzero.problem.losses import Loss

__all__ = ["Response", "column_unit", "null_loss", "response_of", "unit_of", "weighted_mean"]

Array = NDArray[np.float64]
ORDINARY = 10
"""Sizes between 2^-10 and 2^10 are ordinary: there the unit is one."""
WIDEST = 480
"""Columns are kept between 2^-480 and 2^480 of the unit, where possible: their squares are numbers then."""


@dataclass(frozen=True)
class Response:
    """The response y as the solvers see it: (y - centre) / unit; labels are left as they are."""

    centre: float = 0.0
    unit: float = 1.0

    @property
    def cost(self) -> float:
        """The unit of losses, and so of all that is added to them."""
        return self.unit**2


def unit_of(size: float) -> float:
    """Return the power of two next to a size, or one if the size is ordinary (or zero).

    >>> unit_of(3.0), unit_of(3e-6) * 2.0**18, unit_of(0.0)
    (1.0, 1.0, 1.0)
    """
    if not size > 0.0 or not math.isfinite(size):
        return 1.0
    exponent = round(math.log2(size))
    return 1.0 if abs(exponent) <= ORDINARY else math.ldexp(1.0, exponent)


def column_unit(size: Array) -> float:
    """Return the unit of columns of these sizes: that of the middle one, if it is not ordinary."""
    filled = size[size > 0.0]
    if not len(filled):
        return 1.0
    exponents = np.log2(filled)
    middle = float(np.clip(np.median(exponents), exponents.max() - WIDEST, exponents.min() + WIDEST))
    return unit_of(2.0**middle)


def response_of(y: Array, w: Array, loss: Loss, fit_intercept: bool) -> Response:
    """Return the centre and the unit of a response; where there is an intercept, the centre is the weighted mean."""
    if loss.is_classification:
        return Response()
    centre = weighted_mean(y, w) if fit_intercept else 0.0
    with np.errstate(under="ignore"):
        return Response(centre, unit_of(math.sqrt(float(w @ (y - centre) ** 2))))


def weighted_mean(y: Array, w: Array) -> float:
    """Return sum_i w_i y_i; the second pass makes up for the rounding of the first."""
    mean = float(w @ y)
    return mean + float(w @ (y - mean))


def null_loss(y: Array, w: Array, loss: Loss, fit_intercept: bool) -> float:
    """Return the loss of the best constant, or of zero if there is no intercept: the size of a problem's objective."""
    if not loss.is_classification:
        return 0.5 * float(w @ (y - (weighted_mean(y, w) if fit_intercept else 0.0)) ** 2)
    if not fit_intercept:
        return math.log(2.0) if loss.name == "logistic" else 1.0
    p, q = float(w[y > 0.0].sum()), float(w[y <= 0.0].sum())
    if loss.name == "logistic":
        return -sum(share * math.log(share) for share in (p, q) if share > 0.0)
    return 2.0 * min(p, q) if loss.name == "hinge" else 4.0 * p * q
