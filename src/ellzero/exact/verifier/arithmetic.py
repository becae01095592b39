"""Float64 arithmetic whose rounding errors are bounded, always to the disadvantage of a certificate.

docs/margins.md derives every margin. An operation on float64 numbers has a relative error of at most 2^-53, and an absolute
error of at most 2^-1075 where its result underflows. Numbers that overflow become infinite or NaN; a bound made of them proves
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero.exact.verifier.data import column_products
from ellzero.exact.verifier.diagonals import PRICE, leaves_definite
from ellzero.exact.verifier.families import Equations, normal_equations
from ellzero.exact.verifier.losses import LossTerms

Array = NDArray[Any]


class Point(NamedTuple):
    """A dual point as a bound needs it; the true v = Z^T theta lies between `v_low` and `v_high`."""

    terms: Array  # -w_i f*(-theta_i / w_i), row by row
    gauge: Any  # the sum of the absolute values of the parts of these terms
    v_low: Array
    v_high: Array
    moved: Any = None  # the curvature that is in the ridge of each feature instead of the loss; None: none is
    covered: Any = None  # the features that this is about: the point says nothing of a region with others


class Objective(NamedTuple):
    """The objective of a model."""

    value: Any
    upper: Any  # a bound of it that holds despite rounding
    rounding: float  # by which float64 arithmetic, in which claims are made, may miss it


@dataclass(frozen=True)
class Float64:
    """Float64 numbers, and by how much a result can differ from the true one."""

    unit: float = 2.0**-52  # per operation in a sum of products, twice the error of one operation
    round: float = 2.0**-48  # 32 times the error of one operation: covers the few operations of any formula here
    tiny: float = 2.0**-1074  # per operation whose result may underflow, twice its error
    slack: float = 1e-12  # relative; boxes are kept larger by this part

    def numbers(self, values: Array) -> Array:
        """Return float64 numbers as numbers of this arithmetic."""
        return values

    def number(self, value: float) -> Any:
        """Return a float64 number as a number of this arithmetic."""
        return value

    def finite(self, values: Any) -> NDArray[np.bool_]:
        """Return which numbers are finite."""
        return np.asarray(np.isfinite(values))

    def above(self, value: Any, size: Any) -> Any:
        """Return an upper bound of a number that was computed from parts of this total size."""
        return value + (self.round * size + self.tiny)

    def below(self, value: Any, size: Any) -> Any:
        """Return a lower bound of a number that was computed from parts of this total size."""
        return value - (self.round * size + self.tiny)

    def sum_below(self, terms: Array, gauge: float) -> float:
        """Return a lower bound of a sum whose terms were computed from parts of a total size; NaN if it is out of range."""
        size = float(np.abs(terms).sum())
        return exact_sum(terms, size) - (self.round * (gauge + size) + 8.0 * (len(terms) + 1) * self.tiny)

    def floor(self, value: float) -> float:
        """Return the largest float64 number that is not above a number."""
        return value

    def objective(
        self, loss: LossTerms, columns: Array, coef: Array, intercept: Array, y: Array, w: Array, penalties: Array
    ) -> Objective:
        """Return the sum of weighted losses and penalties; not finite if it is out of range.

        `coef` has a column and `intercept` a number for each output, of which the rows stand one after the other in y and w.
        """
        outputs, shift = len(intercept), np.repeat(intercept, len(columns))
        if loss.of_numbers:  # a large mean of y must not cost the residuals digits
            y, shift = y - shift, np.zeros_like(shift)
        parts = columns.shape[1] + 4
        eta = np.concatenate([columns @ each for each in coef.T]) + shift
        size = np.concatenate([np.abs(columns) @ np.abs(each) for each in coef.T])
        size += np.abs(y) if loss.of_numbers else np.abs(shift)
        error = parts * (self.unit * size + self.tiny)
        values, *worst = (loss.values(eta + each, y, outputs) for each in (0.0, *loss.ends(error, y)))
        weighted = [np.where(w > 0.0, w * f, 0.0) for f in (values, np.maximum.reduce(worst))]
        value, upper = (exact_sum(np.append(each, penalties)) for each in weighted)
        upper = upper * (1.0 + (3.0 + outputs) * self.round) + 8.0 * (len(y) + len(penalties) + 1) * self.tiny
        return Objective(value, upper, upper - value)

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
        """Yield the dual points that are the rows of theta, after one pass over X.

        `norm` is sqrt(sum_i w_i z_ij^2), or zero, which says that the product of the column with every theta is zero. If
        `balanced` is set, every row of theta sums to zero, over the rows of each output.
        """
        n, weights = len(w) // outputs, w.reshape(outputs, -1)
        if balanced and loss.of_numbers:
            # A multiple of theta's sum, which is zero: without it, a large mean of y would cost theta y its digits.
            y = y - np.repeat([mine @ each for mine, each in zip(weights, y.reshape(outputs, -1), strict=True)], n)
        terms, parts = loss.dual_terms(theta, y, w)
        # Cauchy-Schwarz: sum_i |theta_i z_ij| <= norm_j * length. A largest entry of one keeps the squares in range.
        stacked = theta.reshape(-1, outputs, n)
        largest = np.abs(stacked).max(axis=2, keepdims=True, initial=0.0)
        ratio = np.abs(stacked / np.where(largest > 0.0, largest, 1.0))
        length = largest[..., 0] * np.sqrt((ratio * (ratio / np.where(weights > 0.0, weights, 1.0))).sum(axis=2))
        v = column_products(theta, X, outputs)
        v /= spread
        v[:, norm == 0.0] = 0.0
        underflow = np.where(norm == 0.0, 0.0, (n + 8) * self.tiny * (1.0 + 1.0 / spread))
        for at, gauge in enumerate(parts.sum(axis=1).tolist()):
            error = np.tile((n + 8) * self.unit * length[at], X.shape[1]) * norm + underflow
            yield Point(terms[at], gauge, v[at] - error, v[at] + error)
        del v  # its name would keep it in memory until the next batch is computed

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
        """Return the point with a diagonal, whose entries are `moved`, for coefficients `coef` of columns of X that are `at`.

        Curvature that is moved costs the bound nothing where theta is w (y - eta) of these coefficients; else PRICE times the
        square of what it is off.
        """
        parts = columns.shape[1] + 4
        eta = columns @ (coef / spread)
        intercept = float(w @ (y - eta)) / float(w.sum()) if centred else 0.0  # any would do; this one is the best
        target = y - intercept
        size = np.abs(columns) @ np.abs(coef / spread) + np.abs(target)
        there = w * (target - eta)
        # Quotients that underflow are off by so much, times the numbers of their columns.
        underflow = self.tiny * (1.0 + np.abs(columns).sum(axis=1))
        off = np.abs(theta - there) + w * (parts * (self.unit * size + underflow))
        off += self.round * (np.abs(theta) + np.abs(there)) + 8.0 * self.tiny
        squares = off * (off / np.where(w > 0.0, w, 1.0))
        cost = PRICE * exact_sum(np.append(squares, 8.0 * len(y) * self.tiny)) * (1.0 + 4.0 * self.round)
        added = moved[at] * coef
        least = np.maximum(self.below(np.abs(added), np.abs(added)), 0.0)  # rounded before it meets a large coefficient
        worth = 0.5 * (np.abs(coef) * least)
        v_low, v_high = point.v_low.copy(), point.v_high.copy()
        error = self.round * np.abs(added) + self.unit * (np.abs(v_low[at]) + np.abs(v_high[at])) + self.tiny
        v_low[at] += added - error
        v_high[at] += added + error
        terms = np.concatenate((point.terms, worth, [-cost]))
        return point._replace(terms=terms, gauge=point.gauge + float(worth.sum()) + cost, v_low=v_low, v_high=v_high)

    def leaves_definite(self, X: Any, columns: Any, values: Array, w: Array, spread: Array, centred: bool) -> bool:
        """Return whether a diagonal is proved to leave the curvature of the loss positive semidefinite."""
        return leaves_definite(X, columns, values, w, spread, centred, self.unit)

    def equations(self, X: Any, y: Array, w: Array, spread: Array, centred: bool) -> Equations:
        """Return the normal equations of all columns."""
        return normal_equations(X, y, w, spread, centred, self.unit)

    def definite(self, matrix: Array, errors: Array, taken: Array) -> bool:
        """Return whether a matrix is proved to be positive semidefinite: by a Cholesky factorisation with a margin.

        Its entry (i, j) is off by at most the root of errors_i errors_j, and by the rounding of parts of size sqrt(taken_i
        taken_j).
        """
        unit, m = self.unit, len(matrix)
        with np.errstate(all="ignore"):  # what is not finite is not definite
            scale = 1.0 / (np.diag(matrix) + taken)
            margin = float(np.sum(errors * scale)) + 8.0 * (m + 64) * unit * m
            scaled = matrix * np.sqrt(scale) * np.sqrt(scale)[:, None]
            if not (np.isfinite(scaled).all() and np.isfinite(margin)):
                return False
            return eliminates(scaled - margin * np.eye(m))

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
        """Return what rounding may add to a bound of a form: to v, to the quadratic, and to the sums of gains."""
        (d, u, e, ridge), (family, total) = form, families
        sizes, m = system.sizes[at], len(at)
        parts, rounding = float(sizes @ np.abs(b)), (m + 64) * self.unit
        drawn = np.zeros(len(total))
        np.add.at(drawn, family, np.abs(d * u * b))
        off = (system.error + rounding) * sizes * (system.size + parts)
        off += rounding * ((e + d) * np.abs(b) + np.abs(d * u) * (drawn / total)[family] + np.abs(v)) + self.tiny
        norm = math.sqrt(float(np.sum(off * (off / ridge)))) * (1.0 + self.round)
        largest = abs(size) * (1.0 + self.round)
        held = float((e + 2.0 * d) @ (b * b))
        whole = system.size + parts
        squares = (system.error + rounding) * (whole * whole) + rounding * (held + abs(quadratic))
        return squares + rounding * largest + 2.0 * math.sqrt(largest) * norm + norm * norm + self.tiny

    def margin_of_supports(self, system: Equations, at: Any, decided: int, more: int, ridge: float) -> Any:
        """Return what rounding may add to the least objective of a support: the decided columns and some more."""
        squares = system.sizes[at] ** 2 + ridge
        most = float(squares[:decided].sum() + np.sort(squares[decided:])[::-1][:more].sum())
        # The coefficients of a best model, and of one that solves slightly other equations: ridge |b|^2 <= y'Wy.
        reach = 2.0 * math.sqrt(most * abs(system.square) / ridge) + system.size
        return (system.error + 4.0 * (decided + more + 32) * self.unit) * reach * reach

    def last_root(self, curve: Any, slope: Any, constant: Any) -> Array:
        """Return a point m >= 0 beyond which curve m^2 + slope m + constant is positive; infinite if there is none."""
        slope, constant = np.asarray(slope, dtype=np.float64), np.asarray(constant, dtype=np.float64)
        squares, product = slope**2, 4.0 * curve * constant
        error = self.round * (squares + np.abs(product)) + 8.0 * self.tiny
        high, low = squares - product + error, squares - product - error
        # Rising: the two parts of the divisor are positive. Falling: so are the two of the numerator. Nothing cancels.
        root = np.where(np.isfinite(low), np.sqrt(np.maximum(low, 0.0)), slope)
        rising = np.where(constant < 0.0, -2.0 * constant / (slope + root) * (1.0 + self.slack) + self.tiny, 0.0)
        divisor = np.where(np.asarray(curve) > 0.0, 2.0 * np.asarray(curve), 1.0)
        last = np.where(np.asarray(curve) > 0.0, (np.sqrt(np.maximum(high, 0.0)) - slope) / divisor, np.inf)
        falling = np.where(high < 0.0, 0.0, last * (1.0 + self.slack) + self.tiny)
        out = np.where(slope > 0.0, rising, np.where(np.isfinite(high), falling, np.inf))
        return np.where(np.isnan(out), np.inf, out)


def eliminates(matrix: Array) -> bool:
    """Return whether elimination finds all pivots of a symmetric matrix positive."""
    for k in range(len(matrix)):
        pivot, column = matrix[k, k], matrix[k + 1 :, k]
        if not pivot > 0.0:
            return False
        matrix[k + 1 :, k + 1 :] -= (column / pivot)[:, None] * column
    return True


def exact_sum(terms: Array, size: float | None = None) -> float:
    """Return the correctly rounded sum, NaN if it is out of range; `size` is the sum of absolute values, if it is known."""
    size = float(np.abs(terms).sum()) if size is None else size
    return math.fsum(terms.tolist()) if size < 1e300 else math.nan
