"""Exact arithmetic: rational numbers, and balls around the logarithms of the logistic loss. Slow, without any rounding margin.

A float64 number is a rational number. So are the products of X with a dual point, which are sums of integers here; sums and
quotients of rational numbers are rational. Logarithms are enclosed to 128 bits (Arb, by python-flint), square roots by
integers, and both are rounded to the disadvantage of the certificate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.exact.verifier.arithmetic import Array, Float64, Objective, Point
from ellzero.exact.verifier.data import dense, narrow_blocks
from ellzero.exact.verifier.diagonals import PRICE, SLACK
from ellzero.exact.verifier.families import Equations
from ellzero.exact.verifier.losses import LossTerms

try:
    import flint
except ImportError as error:
    raise InvalidInputError(
        "arithmetic='exact' needs python-flint: install it with pip install 'ellzero[exact]', or use arithmetic='float64'."
    ) from error

BITS = 128  # of a ball's midpoint, and of a square root


@dataclass(frozen=True)
class Exact(Float64):
    """Rational numbers in arrays of objects; an infinite bound of a box stays a float."""

    def numbers(self, values: Array) -> Array:
        """Return float64 numbers as rational numbers."""
        return rational(values)

    def number(self, value: float) -> Any:
        """Return a float64 number as a rational number."""
        return Fraction(value)

    def finite(self, values: Any) -> NDArray[np.bool_]:
        """Return which numbers are finite."""
        finite = np.frompyfunc(lambda each: not isinstance(each, float) or math.isfinite(each), 1, 1)
        return np.asarray(finite(values), dtype=bool)

    def above(self, value: Any, size: Any) -> Any:
        """Return the number, which is exact."""
        return value

    def below(self, value: Any, size: Any) -> Any:
        """Return the number, which is exact."""
        return value

    def sum_below(self, terms: Array, gauge: Any) -> Any:
        """Return the sum; infinite if a term is."""
        infinite = [term for term in terms if isinstance(term, float)]
        return sum(infinite) if infinite else rational_sum(terms)

    def floor(self, value: Any) -> float:
        """Return the largest float64 number that is not above a number."""
        near = float(value)
        return near if near <= value else math.nextafter(near, -math.inf)

    def objective(
        self, loss: LossTerms, columns: Array, coef: Array, intercept: Array, y: Array, w: Array, penalties: Array
    ) -> Objective:
        """Return the sum of weighted losses and penalties; where the loss has logarithms, an upper bound of it."""
        near = super().objective(loss, columns, coef, intercept, y, w, penalties.astype(np.float64))
        eta = rational_products(coef.T, columns.T) + rational(intercept)[:, None]
        losses = loss.exact_values(eta, rational(y), self)
        value = rational_sum(np.append(rational(w) * np.array([*losses, None], dtype=object)[:-1], penalties))
        return Objective(value, value, near.rounding)

    def points(
        self,
        loss: LossTerms,
        theta: Array,
        y: Array,
        w: Array,
        X: Any,
        spread: Array,
        norm: Array,
        balanced: bool,
        outputs: int = 1,
    ) -> Iterator[Point]:
        """Yield the dual points that are the rows of theta, after one pass over X."""
        (n, p), count = X.shape, len(theta)
        by_column, sides = np.empty((count, p, outputs), dtype=object), theta.reshape(-1, n)
        for part, block in narrow_blocks(X):
            by_column[:, part] = rational_products(sides, dense(block)).reshape(count, outputs, -1).swapaxes(1, 2)
        v = by_column.reshape(count, -1) / rational(spread)
        targets, weights = rational(y), rational(w)
        for row, products in zip(rational(theta), v, strict=True):
            # A dual point that is not balanced, which the float64 sum excludes, would prove nothing.
            stacked = row.reshape(outputs, n)
            sums = [rational_sum(each) for each in stacked] if balanced else []
            sums += [rational_sum(each) for each in stacked.T] if loss.coupled else []
            proper = not any(sums)
            each_row = zip(row, targets, weights, strict=True)
            terms = [loss.exact_term(*each, self) if proper else -math.inf for each in each_row]
            yield Point(np.array([*terms, None], dtype=object)[:-1], 0, products, products)

    def move(
        self,
        point: Point,
        theta: Array,
        y: Array,
        w: Array,
        columns: Array,
        coef: Array,
        spread: Array,
        centred: bool,
        at: Any,
        moved: Array,
    ) -> Point:
        """Return the point with a diagonal, for coefficients of columns of X that are `at`."""
        b, d = rational(coef), rational(moved[at])
        eta = (rational(columns) * (b / rational(spread))).sum(axis=1) if len(b) else rational(np.zeros(len(y)))
        weights, rest = rational(w), rational(y) - eta
        intercept = rational_sum(weights * rest) / rational_sum(weights) if centred else Fraction(0)
        off = rational(theta) - weights * (rest - intercept)
        cost = Fraction(PRICE) * rational_sum(
            np.array([o * o / each for o, each in zip(off, weights, strict=True) if each], object)
        )
        v = point.v_low.copy()
        v[at] += d * b
        terms = np.concatenate((point.terms, d * b * b / 2, np.array([-cost, None], dtype=object)[:1]))
        return point._replace(terms=terms, v_low=v, v_high=v)

    def leaves_definite(self, X: Any, columns: Any, values: Array, w: Array, spread: Array, centred: bool) -> bool:
        """Return whether a diagonal leaves the loss positive definite curvature: an exact matrix, factorised in balls."""
        z, total = dense(X[:, columns]), rational_sum(rational(w))
        gram = rational_gram(z, w)
        if centred:
            means = rational_products(w[None, :], z)[0] / total
            gram = gram - total * means[:, None] * means
        scale = rational(spread[columns])
        rest = (1 - Fraction(SLACK)) * gram / scale / scale[:, None]
        rest[np.diag_indices(len(columns))] -= rational(values)
        return positive_definite(rest)

    def equations(self, X: Any, y: Array, w: Array, spread: Array, centred: bool) -> Equations:
        """Return the normal equations of all columns: rational numbers."""
        p, total = X.shape[1], rational_sum(rational(w))
        z = np.column_stack((dense(X[:, np.arange(p)]), y))
        gram = rational_gram(z, w)
        if centred:
            means = rational_products(w[None, :], z)[0] / total
            gram = gram - total * means[:, None] * means
        scale = rational(np.append(spread, 1.0))
        gram = gram / scale / scale[:, None]
        return Equations(gram[:p, :p], gram[:p, p], gram[p, p], np.zeros(p), 0.0, 0.0)

    def definite(self, matrix: Array, errors: Array, taken: Array) -> bool:
        """Return whether a matrix of rational numbers is positive definite."""
        return positive_definite(matrix)

    def margin(
        self,
        system: Equations,
        at: Any,
        b: Array,
        v: Array,
        form: tuple[Array, Array, Array, Array],
        families: tuple[Array, Array],
        size: Any,
        quadratic: Any,
    ) -> Any:
        """Return nothing: no number is rounded."""
        return Fraction(0)

    def margin_of_supports(self, system: Equations, at: Any, decided: int, more: int, ridge: Any) -> Any:
        """Return nothing: no number is rounded."""
        return Fraction(0)

    def softplus_above(self, exponents: list[Fraction]) -> Fraction:
        """Return an upper bound of log(1 + sum of exp of these numbers), which are not positive."""
        with flint.ctx.workprec(BITS):
            return fraction(flint.arb(sum(ball(each).exp() for each in exponents)).log1p().upper())

    def entropy_below(self, share: Fraction) -> Fraction:
        """Return a lower bound of -share log share, of a number above zero and below one."""
        with flint.ctx.workprec(BITS):
            # A share near one has its digits in what is left of it.
            log = ball(share).log() if 2 * share <= 1 else (-ball(1 - share)).log1p()
            return fraction((-(ball(share) * log)).lower())

    def last_root(self, curve: Any, slope: Any, constant: Any) -> Array:
        """Return a point m >= 0 beyond which curve m^2 + slope m + constant is positive; infinite if there is none."""
        return np.asarray(np.frompyfunc(last_root, 3, 1)(curve, slope, constant), dtype=object)


def positive_definite(matrix: Array) -> bool:
    """Return whether elimination in balls finds all pivots of a symmetric matrix of rational numbers positive."""
    with flint.ctx.workprec(2 * BITS):
        rows = [[ball(each) for each in row] for row in matrix]
        for k, row in enumerate(rows):
            if not row[k] > 0:
                return False
            for other in rows[k + 1 :]:
                factor = other[k] / row[k]
                for j in range(k + 1, len(rows)):
                    other[j] -= factor * row[j]
    return True


def rational(values: Array) -> Array:
    """Return an array of rational numbers; what is infinite stays a float."""
    out = np.empty(values.shape, dtype=object)
    out.ravel()[:] = [Fraction(each) if math.isfinite(each) else each for each in values.ravel().tolist()]
    return out


def rational_sum(terms: Array) -> Fraction:
    """Return the sum of rational numbers; pairs first, so that few sums have large denominators."""
    left = list(terms)
    while len(left) > 1:
        left = [left[k] + left[k + 1] for k in range(0, len(left) - 1, 2)] + ([left[-1]] if len(left) % 2 else [])
    return Fraction(left[0]) if left else Fraction(0)


def integers(values: Array) -> tuple[list[list[int]], int]:
    """Return a matrix as integers times a power of two, and its exponent."""
    parts, exponents = np.frexp(values)
    whole = (parts * 2.0**53).astype(np.int64)
    least = int(exponents[whole != 0].min()) if whole.any() else 0
    rows = zip(whole.tolist(), np.where(whole == 0, 0, exponents - least).tolist(), strict=True)
    return [[number << shift for number, shift in zip(*row, strict=True)] for row in rows], least - 53


def rational_products(theta: Array, block: Array) -> Array:
    """Return theta times a block of columns, as rational numbers."""
    out = np.empty((len(theta), block.shape[1]), dtype=object)
    if not out.size or not block.size:
        out[...] = Fraction(0)
        return out
    (left, a), (right, b) = integers(theta), integers(block)
    product, exponent = flint.fmpz_mat(left) * flint.fmpz_mat(right), a + b
    scale = Fraction(2) ** exponent
    out[...] = [[Fraction(int(each)) * scale for each in row] for row in product.tolist()]
    return out


def rational_gram(z: Array, w: Array) -> Array:
    """Return z'Wz as rational numbers, summed as integers."""
    (columns, a), ([weights], b) = integers(z.T), integers(w[None, :])
    weighted = [[number * weight for number, weight in zip(column, weights, strict=True)] for column in columns]
    product, scale = flint.fmpz_mat(weighted) * flint.fmpz_mat(columns).transpose(), Fraction(2) ** (2 * a + b)
    out = np.empty((len(columns), len(columns)), dtype=object)
    out[...] = [[Fraction(int(each)) * scale for each in row] for row in product.tolist()]
    return out


def last_root(curve: Any, slope: Any, constant: Any) -> Any:
    """Return a point m >= 0 beyond which curve m^2 + slope m + constant is positive; infinite if there is none."""
    if isinstance(slope, float) or isinstance(constant, float):
        return math.inf
    square = slope * slope - 4 * curve * constant
    if slope > 0:
        return Fraction(0) if constant >= 0 else outwards(-2 * constant / (slope + root(square)[0]))
    if curve == 0:
        return math.inf
    return Fraction(0) if square < 0 else outwards((root(square)[1] - slope) / (2 * curve))


def root(square: Fraction) -> tuple[Fraction, Fraction]:
    """Return a lower and an upper bound of a square root, to about BITS binary digits."""
    if square == 0:
        return square, square
    # Of a / b times 4^shift, so many digits are taken that the integer root has as many as needed.
    shift = BITS - (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    whole = (square.numerator << 2 * max(shift, 0)) // (square.denominator << 2 * max(-shift, 0))
    below, unit = math.isqrt(whole), Fraction(2) ** -shift
    return below * unit, (below + 1) * unit


def outwards(value: Fraction) -> Fraction | float:
    """Return the next float64 number that is not below a positive number, so that boxes keep few digits."""
    try:
        near = float(value)
    except OverflowError:
        return math.inf
    near = near if near >= value else math.nextafter(near, math.inf)
    return Fraction(near) if math.isfinite(near) else math.inf


def ball(value: Fraction) -> Any:
    """Return a ball that contains a rational number."""
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def fraction(point: Any) -> Fraction:
    """Return the value of a ball without a radius."""
    mantissa, exponent = point.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
