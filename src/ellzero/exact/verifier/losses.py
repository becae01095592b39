"""The losses as the verifier sees them: what their certificates hold, their conjugates, and their forms in both arithmetics.

They are written independently of those that the solvers use, so that a mistake there does not hide here. In float64, `values`
and `dual_terms` have relative errors of a few operations, which the margins of `arithmetic` cover. The exact forms take
rational numbers, and `logs` encloses their logarithms.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlog1py, xlogy

from ellzero.exact.verifier.balancing import balance, class_point

Array = NDArray[Any]
RARE = 2.0**-45  # a class that weighs less than this part of the other: beside it, all rows of the other are the same
LEVELLINGS = 3
LEAST_SHARE = 2.0**-900  # of a row: the logarithm of a smaller one would lose its digits
LARGEST_EXPONENT = Fraction(1000)  # exp(-1000) is far below all float64 numbers: digits further down would cost time only


class Logs(Protocol):
    """Logarithms of rational numbers."""

    def softplus_above(self, exponents: list[Fraction]) -> Fraction:
        """Return an upper bound of log(1 + sum of exp of these numbers), which are not positive."""

    def entropy_below(self, share: Fraction) -> Fraction:
        """Return a lower bound of -share log share, of a number above zero and below one."""


class LossTerms(ABC):
    """A loss f(eta, y); arrays have the rows of one output after those of another."""

    name: ClassVar[str]
    of_numbers: ClassVar[bool] = False  # y is a number, otherwise a label
    coupled: ClassVar[bool] = False  # the outputs are classes, of which each row has one
    constant_curvature: ClassVar[bool] = False  # which diagonals may move
    has_kink: ClassVar[bool] = False  # where its slope is not a number
    parameters: ClassVar[tuple[str, ...]] = ()  # positive numbers of the header
    signs: ClassVar[tuple[float, float]] = (-1.0, 1.0)  # y of rows that do not have a label, and of those that do

    def least(self, y: Array, w: Array, fit_intercept: bool, outputs: int = 1) -> float:
        """Return the least weighted loss of a model without features."""
        each = zip(y.reshape(outputs, -1), w.reshape(outputs, -1), strict=True)
        return sum(self._least(*of_output, fit_intercept) for of_output in each)

    @abstractmethod
    def _least(self, y: Array, w: Array, fit_intercept: bool) -> float:
        """Return the least weighted loss of one output."""

    def points(self, alpha: Array, y: Array, w: Array, balanced: bool, outputs: int) -> Array:
        """Return dual points inside the domain, the rows of theta; balanced ones sum to zero over the rows of each output."""
        theta = self._inside(alpha, y, w)
        if not balanced:
            return theta
        return np.array([balance(row) for row in theta.reshape(-1, len(w) // outputs)]).reshape(theta.shape)

    @abstractmethod
    def _inside(self, alpha: Array, y: Array, w: Array) -> Array:
        """Return the points of the domain that are nearest to w alpha, times y for labels."""

    @abstractmethod
    def slopes(self, eta: Array, y: Array, outputs: int = 1) -> Array:
        """Return alpha of models with these predictions, one in a row: -f'(eta, y), times y for labels; of classes, shares."""

    @abstractmethod
    def levelled(self, alpha: Array, y: Array, w: Array, outputs: int) -> Array:
        """Return alpha of one output, nearly so that w alpha, times y for labels, sums to zero: lowered, or moved."""

    def ends(self, error: Array, y: Array) -> list[Array]:
        """Return the changes of eta, up to `error`, of which one makes the loss largest: it is convex."""
        return [-error, error]

    @abstractmethod
    def values(self, eta: Array, y: Array, outputs: int = 1) -> Array:
        """Return f(eta, y); that of several classes stands where y is one, and is zero elsewhere."""

    @abstractmethod
    def dual_terms(self, theta: Array, y: Array, w: Array) -> tuple[Array, Array]:
        """Return -w f*(-theta / w), row by row, and the sum of the absolute values of its parts."""

    def exact_values(self, eta: Array, y: Array, logs: Logs) -> list[Fraction]:
        """Return f(eta, y) of rational numbers, with a row for each output; where it has logarithms, an upper bound."""
        return [self.exact_value(*each, logs) for each in zip(eta.ravel(), y, strict=True)]

    def exact_value(self, eta: Fraction, y: Fraction, logs: Logs) -> Fraction:
        """Return f(eta, y) or an upper bound of it, of one output."""
        raise NotImplementedError

    def exact_term(self, theta: Fraction, y: Fraction, w: Fraction, logs: Logs) -> Fraction | float:
        """Return -w f*(-theta / w), of several classes the part of one; where it has logarithms, a lower bound of it."""
        size = abs(theta)
        return self._exact_term(theta, size, y, w, logs) if size else Fraction(0)

    def _exact_term(self, theta: Fraction, size: Fraction, y: Fraction, w: Fraction, logs: Logs) -> Fraction | float:
        """Return the term of a theta that is not zero, and of which `size` is the absolute value."""
        raise NotImplementedError


class TermsOfLabels(LossTerms):
    """A loss of labels -1 and +1, which is a function of y eta."""

    largest: ClassVar[float] = 1.0  # alpha
    at_zero: ClassVar[float] = 1.0
    has_margin: ClassVar[bool] = True  # it is zero where y eta >= 1

    def _least(self, y: Array, w: Array, fit_intercept: bool) -> float:
        if not fit_intercept:
            return self.at_zero
        positive, negative = float(w[y > 0.0].sum()), float(w[y <= 0.0].sum())
        return self._of_share(min(positive, negative) / (positive + negative))  # the smaller one has all its digits

    @abstractmethod
    def _of_share(self, share: float) -> float:
        """Return the least weighted loss where the rarer class has this share of the weight."""

    def levelled(self, alpha: Array, y: Array, w: Array, outputs: int) -> Array:
        sides = [y > 0.0, y <= 0.0]
        weights, sums = [float(w[side].sum()) for side in sides], [alpha[:, side] @ w[side] for side in sides]
        heavy = int(weights[1] > weights[0])
        if self.has_margin and outputs == 1 and 0.0 < weights[1 - heavy] < RARE * weights[heavy]:
            # Of the heavy class, 1 - y eta is nothing but rounding. Without features all its rows have the same share.
            share = np.minimum(sums[1 - heavy] / weights[heavy], 1.0)
            return np.where(sides[heavy], share[:, None], alpha)
        least = np.minimum(*sums)
        up, down = (np.where(total > 0.0, least / total, 1.0)[:, None] for total in sums)
        return alpha * np.where(sides[0], up, down)

    def _inside(self, alpha: Array, y: Array, w: Array) -> Array:
        return np.asarray(y * (w * np.clip(alpha, 0.0, self.largest)))


class LogisticTerms(TermsOfLabels):
    """log(1 + exp(-y eta))."""

    name = "logistic"
    at_zero = math.log(2.0)
    has_margin = False

    def slopes(self, eta: Array, y: Array, outputs: int = 1) -> Array:
        return np.asarray(expit(-y * eta))

    def _inside(self, alpha: Array, y: Array, w: Array) -> Array:
        return super()._inside(np.where(alpha < LEAST_SHARE, 0.0, alpha), y, w)

    def _of_share(self, share: float) -> float:
        return float(-xlogy(share, share) - xlog1py(1.0 - share, -share))

    def values(self, eta: Array, y: Array, outputs: int = 1) -> Array:
        return np.logaddexp(0.0, -y * eta)

    def dual_terms(self, theta: Array, y: Array, w: Array) -> tuple[Array, Array]:
        # The smaller of the two shares has all its digits, and log1p needs no more than that.
        size = np.abs(theta)
        share = np.maximum(np.minimum(size, w - size), 0.0) / divisor(w)
        entropy = -(xlogy(share, share) + xlog1py(1.0 - share, -share))
        return w * entropy, w * (entropy + share)

    def exact_value(self, eta: Fraction, y: Fraction, logs: Logs) -> Fraction:
        # log(1 + exp(-m)) = max(-m, 0) + log(1 + exp(-|m|)); the last part only falls beyond the largest exponent.
        margin = y * eta
        return max(-margin, Fraction(0)) + logs.softplus_above([-min(abs(margin), LARGEST_EXPONENT)])

    def _exact_term(self, theta: Fraction, size: Fraction, y: Fraction, w: Fraction, logs: Logs) -> Fraction | float:
        if size >= w:
            return Fraction(0) if size == w else -math.inf
        return w * (logs.entropy_below(size / w) + logs.entropy_below(1 - size / w))


class SquaredHingeTerms(TermsOfLabels):
    """max(0, 1 - y eta)^2."""

    name = "squared_hinge"
    largest = math.inf

    def slopes(self, eta: Array, y: Array, outputs: int = 1) -> Array:
        return np.asarray(2.0 * np.maximum(1.0 - y * eta, 0.0))

    def _of_share(self, share: float) -> float:
        return 4.0 * share * (1.0 - share)

    def values(self, eta: Array, y: Array, outputs: int = 1) -> Array:
        return np.asarray(np.maximum(0.0, 1.0 - y * eta) ** 2)

    def dual_terms(self, theta: Array, y: Array, w: Array) -> tuple[Array, Array]:
        size = np.abs(theta)
        return of_parts(size, size * (size / divisor(w)) / 4.0)

    def exact_value(self, eta: Fraction, y: Fraction, logs: Logs) -> Fraction:
        return max(1 - y * eta, Fraction(0)) ** 2

    def _exact_term(self, theta: Fraction, size: Fraction, y: Fraction, w: Fraction, logs: Logs) -> Fraction | float:
        return size - size * size / (4 * w)


class HingeTerms(TermsOfLabels):
    """max(0, 1 - y eta)."""

    name = "hinge"
    has_kink = True

    def slopes(self, eta: Array, y: Array, outputs: int = 1) -> Array:
        raise NotImplementedError  # its kink has many

    def _of_share(self, share: float) -> float:
        return 2.0 * share

    def values(self, eta: Array, y: Array, outputs: int = 1) -> Array:
        return np.asarray(np.maximum(0.0, 1.0 - y * eta))

    def dual_terms(self, theta: Array, y: Array, w: Array) -> tuple[Array, Array]:
        size = np.abs(theta)
        return size, size

    def exact_value(self, eta: Fraction, y: Fraction, logs: Logs) -> Fraction:
        return max(1 - y * eta, Fraction(0))

    def _exact_term(self, theta: Fraction, size: Fraction, y: Fraction, w: Fraction, logs: Logs) -> Fraction | float:
        return size if size <= w else -math.inf


class SquaredErrorTerms(LossTerms):
    """(y - eta)^2 / 2."""

    name = "squared_error"
    of_numbers = True
    constant_curvature = True

    def slopes(self, eta: Array, y: Array, outputs: int = 1) -> Array:
        return y - eta

    def levelled(self, alpha: Array, y: Array, w: Array, outputs: int) -> Array:
        return np.asarray(alpha - (alpha @ w / w.sum())[:, None])

    def _least(self, y: Array, w: Array, fit_intercept: bool) -> float:
        # The weights of a file need not sum to exactly one, and a mean may be large: both must not pass for a loss.
        centred = y - y[np.argmax(w)] if fit_intercept else y
        return 0.5 * float(w @ (centred - (w @ centred / w.sum() if fit_intercept else 0.0)) ** 2)

    def _inside(self, alpha: Array, y: Array, w: Array) -> Array:
        return np.asarray(w * alpha)

    def values(self, eta: Array, y: Array, outputs: int = 1) -> Array:
        return np.asarray(0.5 * (y - eta) ** 2)

    def dual_terms(self, theta: Array, y: Array, w: Array) -> tuple[Array, Array]:
        size = np.abs(theta)
        return of_parts(theta * y, size * (size / divisor(w)) / 2.0)

    def exact_value(self, eta: Fraction, y: Fraction, logs: Logs) -> Fraction:
        return (y - eta) ** 2 / 2

    def _exact_term(self, theta: Fraction, size: Fraction, y: Fraction, w: Fraction, logs: Logs) -> Fraction | float:
        return theta * y - size * size / (2 * w)


class HuberTerms(LossTerms):
    """r^2 / 2 of residuals r = y - eta up to delta, delta |r| - delta^2 / 2 beyond."""

    name = "huber"
    of_numbers = True
    parameters = ("huber_delta",)

    def __init__(self, delta: float) -> None:
        self.delta = delta

    def slopes(self, eta: Array, y: Array, outputs: int = 1) -> Array:
        return np.clip(y - eta, -self.delta, self.delta)

    def levelled(self, alpha: Array, y: Array, w: Array, outputs: int) -> Array:
        for _ in range(LEVELLINGS):  # what is clipped moves the mean again
            alpha = np.clip(alpha - (alpha @ w / w.sum())[:, None], -self.delta, self.delta)
        return alpha

    def _least(self, y: Array, w: Array, fit_intercept: bool) -> float:
        at = y - y[np.argmax(w)]  # a large mean must not cost the residuals digits
        return (
            float(w @ self.values(np.full(len(y), self._centre(at, w)), at))
            if fit_intercept
            else float(w @ self.values(0.0 * y, y))
        )

    def _centre(self, y: Array, w: Array) -> float:
        """Return the best constant: between the ends of the squares, the slope of the loss is a line."""
        ends = np.unique(np.concatenate((y - self.delta, y + self.delta)))
        first, last = 0, len(ends)
        while first < last:  # the first end at which the slope is not negative
            middle = (first + last) // 2
            first, last = (first, middle) if self._slope(ends[middle], y, w) >= 0.0 else (middle + 1, last)
        left, right = ends[max(first - 1, 0)], ends[min(first, len(ends) - 1)]
        low, high = self._slope(left, y, w), self._slope(right, y, w)
        return float(left if high <= low else left + (right - left) * min(max(-low / (high - low), 0.0), 1.0))

    def _slope(self, constant: float, y: Array, w: Array) -> float:
        """Return the derivative of the loss of a constant."""
        return float(w @ np.clip(constant - y, -self.delta, self.delta))

    def _inside(self, alpha: Array, y: Array, w: Array) -> Array:
        # Rounded down: beyond w delta there is no dual point.
        most = np.nextafter(w * self.delta, 0.0)
        return np.clip(w * alpha, -most, most)

    def values(self, eta: Array, y: Array, outputs: int = 1) -> Array:
        size = np.abs(y - eta)
        inner = np.minimum(size, self.delta)
        return np.asarray(inner * (size - 0.5 * inner))

    def dual_terms(self, theta: Array, y: Array, w: Array) -> tuple[Array, Array]:
        size = np.abs(theta)
        return of_parts(theta * y, size * (size / divisor(w)) / 2.0)

    def exact_value(self, eta: Fraction, y: Fraction, logs: Logs) -> Fraction:
        size, delta = abs(y - eta), Fraction(self.delta)
        return size * size / 2 if size <= delta else delta * (size - delta / 2)

    def _exact_term(self, theta: Fraction, size: Fraction, y: Fraction, w: Fraction, logs: Logs) -> Fraction | float:
        return theta * y - size * size / (2 * w) if size <= w * Fraction(self.delta) else -math.inf


class MultinomialTerms(LossTerms):
    """log sum_l exp(eta_l) - eta_y."""

    name = "multinomial"
    coupled = True
    signs = (0.0, 1.0)

    def slopes(self, eta: Array, y: Array, outputs: int = 1) -> Array:
        each = eta.reshape(len(eta), outputs, -1)
        shares = np.exp(each - each.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True)).reshape(eta.shape)

    def levelled(self, alpha: Array, y: Array, w: Array, outputs: int) -> Array:
        raise NotImplementedError  # classes are balanced all together

    def least(self, y: Array, w: Array, fit_intercept: bool, outputs: int = 1) -> float:
        shares = (w * y).reshape(outputs, -1).sum(axis=1)
        return float(-xlogy(shares, shares / shares.sum()).sum()) if fit_intercept else math.log(outputs)

    def _least(self, y: Array, w: Array, fit_intercept: bool) -> float:
        raise NotImplementedError

    def points(self, alpha: Array, y: Array, w: Array, balanced: bool, outputs: int) -> Array:
        shape, weights = (outputs, -1), w[: len(w) // outputs]
        points = (class_point(row.reshape(shape), y.reshape(shape), weights, balanced) for row in alpha)
        return np.array([point.ravel() for point in points]).reshape(alpha.shape)

    def _inside(self, alpha: Array, y: Array, w: Array) -> Array:
        raise NotImplementedError

    def ends(self, error: Array, y: Array) -> list[Array]:
        # It rises with the eta of all classes but that of the row, with which it falls.
        return [np.where(y > 0.0, -error, error)]

    def values(self, eta: Array, y: Array, outputs: int = 1) -> Array:
        own = y.reshape(outputs, -1) > 0.0
        rise = eta.reshape(outputs, -1) - np.where(own, eta.reshape(outputs, -1), 0.0).sum(axis=0)
        top = np.maximum(rise.max(axis=0), 0.0)
        others = np.where(own, 0.0, np.exp(rise - top)).sum(axis=0)
        f = np.where(top > 0.0, top + np.log(np.exp(-top) + others), np.log1p(others))
        return np.where(own, f, 0.0).ravel()

    def dual_terms(self, theta: Array, y: Array, w: Array) -> tuple[Array, Array]:
        # The share of the row's own class is what the others leave; of each share and its complement, the smaller is taken.
        weight, rest = np.where(y > 0.0, w - theta, -theta), np.where(y > 0.0, theta, w + theta)
        share = np.maximum(np.minimum(weight, rest), 0.0) / divisor(w)
        entropy = -np.where(weight <= rest, xlogy(share, share), xlog1py(1.0 - share, -share))
        return w * entropy, w * (entropy + share)

    def exact_values(self, eta: Array, y: Array, logs: Logs) -> list[Fraction]:
        own = y.reshape(eta.shape) > 0
        losses = np.full(eta.shape, Fraction(0), dtype=object)
        for row in np.flatnonzero(own.any(axis=0)):  # a row without a class has no weight, and no loss
            mine = own[:, row]
            rises = sorted([Fraction(0), *(each - eta[mine, row][0] for each in eta[~mine, row])])
            top = rises.pop()
            losses[mine, row] = top + logs.softplus_above([max(each - top, -LARGEST_EXPONENT) for each in rises])
        return list(losses.ravel())

    def exact_term(self, theta: Fraction, y: Fraction, w: Fraction, logs: Logs) -> Fraction | float:
        weight = w * y - theta
        if not 0 <= weight <= w:
            return -math.inf
        return Fraction(0) if weight in (0, w) else w * logs.entropy_below(weight / w)


def divisor(w: Array) -> Array:
    """Return weights to divide by: a theta of a row without weight is zero."""
    return np.where(w > 0.0, w, 1.0)


def of_parts(linear: Array, square: Array) -> tuple[Array, Array]:
    """Return a linear part less a square, and the sum of their absolute values.

    The square is divided first: it could underflow where the quotient does not.
    """
    return linear - square, np.abs(linear) + square


KNOWN: dict[str, LossTerms] = {
    loss.name: loss
    for loss in (LogisticTerms(), SquaredHingeTerms(), HingeTerms(), SquaredErrorTerms(), HuberTerms(1.0), MultinomialTerms())
}


def claimed_loss(header: dict[str, Any]) -> LossTerms:
    """Return the loss of a certificate, whose name is known."""
    loss = KNOWN[header["loss"]]
    return type(loss)(*(float(header[name]) for name in loss.parameters))
