"""How large numbers are: the powers of two next to them, and sizes at which rounding matters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ellzero.problem.problem import Problem

Array = NDArray[np.float64]
ORDINARY = 10
"""Sizes between 2^-10 and 2^10 are ordinary: there the unit is one."""
WIDEST = 480
"""Columns are kept between 2^-480 and 2^480 of the unit, where possible: their squares are numbers then."""
RARE = 2.0**-45
"""A class with less than this share of the weight is next to nothing: what is left of the other's residuals is rounding."""
FAR_APART = 2.0**20
"""Columns, weights, penalties and bounds that differ by more than this factor from the usual size are far from it."""
FAR_OFF = 2.0**12
"""A mean beyond so many spreads costs the sums of a proof digits that a small gap would need."""


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
    if size.size and size.min() >= 2.0**-ORDINARY and size.max() <= 2.0**ORDINARY:
        return 1.0  # and there is no need to look for the middle one
    filled = size[size > 0.0]
    if not len(filled):
        return 1.0
    exponents = np.log2(filled)
    # If not all squares can be numbers, small ones become zero: large ones would be infinite.
    middle = max(min(float(np.median(exponents)), float(exponents.min()) + WIDEST), float(exponents.max()) - WIDEST)
    return unit_of(2.0**middle)


def heavy_class(y: Array, w: Array) -> float:
    """Return the label of a class beside which the other weighs next to nothing, zero if none does.

    >>> heavy_class(np.array([1.0, -1.0]), np.array([1.0, 2.0**-60])), heavy_class(np.array([1.0, -1.0]), np.array([1.0, 0.1]))
    (1.0, 0.0)
    """
    p, q = float(w[y > 0.0].sum()), float(w[y <= 0.0].sum())
    ratio = min(p, q) / max(p, q)
    return math.copysign(1.0, p - q) if 0.0 < ratio < RARE else 0.0


def has_ordinary_sizes(problem: Problem) -> bool:
    """Return whether all parts of a problem have sizes at which rounding is of no concern."""
    units = problem.units
    if units.response != 1.0 or units.column != 1.0 or np.abs(units.centre).max() > FAR_APART:
        return False
    penalty, usual = problem.penalty, (1.0 / FAR_APART, FAR_APART)
    sizes = [problem.w / problem.w.max(), np.sqrt(problem.square), np.array([penalty.lambda_1, penalty.lambda_2])]
    if problem.standardize and (np.abs(problem.mean) > FAR_OFF * problem.spread).any():
        return False
    limits = [np.abs(bound[np.isfinite(bound)]) for bound in (penalty.lower, penalty.upper)]
    return all(((each == 0.0) | ((each >= usual[0]) & (each <= usual[1]))).all() for each in (*sizes, *limits))
