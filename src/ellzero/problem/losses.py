"""The losses f(eta, y): one object each, with all that depends on which loss it is.

The calculus is the reference: plain float64 arrays, no tricks. The compiled core has its own vectorised versions, and tests
compare them with these. No other module asks a loss for its name: it asks for what it needs to know.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logsumexp, softmax, xlogy

from ellzero.base.devices import at_hand
from ellzero.base.errors import InvalidInputError
from ellzero.base.validation import as_nonnegative, as_response, refuse_masked

Array = NDArray[np.float64]

HINGE_SMOOTHING = 1e-5
"""The final width of Nesterov's smoothing of the hinge. The conditions of coordinate descent are checked at this width."""
HUBER_DELTA = 1.35
"""The default of `huber_delta`: of normal errors with a spread of one, it costs 5 % of the squared error's efficiency."""
LARGEST_RESPONSE, LARGEST_DELTA = 1e150, 1e100


@dataclass(frozen=True, kw_only=True)
class Slack:
    """A loss as a function of s: linear * s + square * s^2 + softplus * log(1 + exp(s)).

    Of labels, s is offset - y eta; of numbers, it is y - eta.
    """

    offset: float = 0.0
    positive: bool = False  # s is zero where this is negative
    linear: float = 0.0
    square: float = 0.0
    softplus: float = 0.0
    bend: float = math.inf  # the square goes on as a line where |s| is larger than this


@dataclass(frozen=True)
class Loss(ABC):
    """A convex loss f(eta, y) of one prediction; all methods of the calculus work elementwise.

    With several outputs, eta and y have a column for each. A loss that couples its outputs is one of whole rows.
    """

    name: ClassVar[str]
    """The name by which users choose the loss."""
    words: ClassVar[str]
    """What readers of a report call its value."""
    mean_words: ClassVar[str]
    """What they call its mean over rows."""
    is_classification: ClassVar[bool] = True
    """Whether y is a label: -1 or +1, or a one in the column of its class. Otherwise it is a number."""
    has_probabilities: ClassVar[bool] = False
    """Whether eta is the logarithm of odds, so that predictions have probabilities and coefficients odds ratios."""
    likelihood: ClassVar[str] = ""
    """What its value is the negative log-likelihood of: "labels", or "numbers" with normal errors; "" for none."""
    couples_outputs: ClassVar[bool] = False
    """Whether the outputs are classes, of which each row has one, and a row's loss is a function of all of them."""
    has_kink: ClassVar[bool] = False
    """Whether the second derivative has no bound."""
    constant_curvature: ClassVar[bool] = False
    """Whether the second derivative is one everywhere."""
    slack: ClassVar[Slack]
    """The loss as a MIP solver sees it, of one output."""
    shared_classes: ClassVar[str] = "ovr_shared"
    """How more than two classes are learnt on shared features: each against the rest, unless they can be one softmax."""

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        """Whether this is the same loss, or its name: `model.loss == "logistic"`."""
        return self.name == other if isinstance(other, str) else type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def settings(self) -> dict[str, Any]:
        """The loss as arguments of functions and entries of files name it."""
        return {"loss": self.name}

    def in_unit(self, unit: float) -> Loss:
        """Return the loss f' of eta / unit and y / unit with unit^2 f' = f, which labels do not need."""
        return self

    @property
    @abstractmethod
    def curvature_bound(self) -> float:
        """The supremum of the second derivative in eta."""

    @abstractmethod
    def value(self, eta: Array, y: Array) -> Array:
        """Return f(eta, y)."""

    @abstractmethod
    def gradient(self, eta: Array, y: Array) -> Array:
        """Return the derivative of f in eta."""

    @abstractmethod
    def conjugate(self, u: Array, y: Array) -> Array:
        """Return f*(u, y) = sup over eta of u * eta - f(eta, y); infinite outside the domain."""

    def smoothed(self) -> Loss:
        """Return the loss that the conditions of coordinate descent are about: one without a kink."""
        return self

    @abstractmethod
    def encode(self, y: ArrayLike, n: int, w: Array) -> tuple[Array, NDArray[Any] | None]:
        """Return the target as `value` takes it, and the user's labels in the order of -1 and +1, or of the columns, if any."""

    @abstractmethod
    def null_value(self, y: Array, w: Array, fit_intercept: bool) -> float:
        """Return the loss of the best constant, or of zero if there is no intercept: the size of a problem's objective."""

    @abstractmethod
    def best_constant(self, y: Array, w: Array) -> Any:
        """Return the intercept of the best model without features, or those of its outputs."""


class SeparableLoss(Loss):
    """A loss that is the sum of those of its outputs."""

    def null_value(self, y: Array, w: Array, fit_intercept: bool) -> float:
        return math.fsum(self._null_value(column, w, fit_intercept) for column in np.atleast_2d(y.T))

    def best_constant(self, y: Array, w: Array) -> Any:
        return np.array([self._best_constant(column, w) for column in y.T]) if y.ndim == 2 else self._best_constant(y, w)

    @abstractmethod
    def _null_value(self, y: Array, w: Array, fit_intercept: bool) -> float:
        """Return the null value of one output."""

    @abstractmethod
    def _best_constant(self, y: Array, w: Array) -> float:
        """Return the best constant of one output."""


class LossOfMargins(SeparableLoss):
    """A loss of labels -1 and +1, which is a function of y eta."""

    at_zero: ClassVar[float] = 1.0

    def encode(self, y: ArrayLike, n: int, w: Array) -> tuple[Array, NDArray[Any] | None]:
        labels = label_array(y, n, axes=2)
        classes, where = distinct_labels(labels, w)
        if len(classes) != 2:
            others = "; loss='squared_error' is for numbers, loss='multinomial' for more classes" if len(classes) > 2 else ""
            raise InvalidInputError(
                f"y must have exactly two classes for loss={self.name!r}, got {len(classes)}{where}{others}."
            )
        signs = np.where(labels == classes[1], 1.0, -1.0)
        for l in range(labels.shape[1] if labels.ndim == 2 else 0):
            if len(np.unique(signs[w > 0.0, l])) != 2:
                raise InvalidInputError(f"y must have both classes in each column, column {l} has one{where}.")
        return signs, classes

    def _null_value(self, y: Array, w: Array, fit_intercept: bool) -> float:
        if not fit_intercept:
            return self.at_zero
        p, q = weights_of_labels(y, w)
        return self._null_of_share(min(p, q) / (p + q))  # the smaller one has all its digits

    def _best_constant(self, y: Array, w: Array) -> float:
        return self._constant_of_weights(*weights_of_labels(y, w))

    @abstractmethod
    def _null_of_share(self, share: float) -> float:
        """Return the null value if the rarer class has this share of the weight."""

    @abstractmethod
    def _constant_of_weights(self, p: float, q: float) -> float:
        """Return the best constant if these are the weights of +1 and -1."""


@dataclass(frozen=True, eq=False)
class Logistic(LossOfMargins):
    """The logistic loss, log(1 + exp(-y eta))."""

    name = "logistic"
    words = "logistic loss"
    mean_words = "the mean logistic loss"
    has_probabilities = True
    likelihood = "labels"
    shared_classes = "multinomial"
    at_zero = math.log(2.0)
    curvature_bound = 0.25
    slack = Slack(softplus=1.0)

    def value(self, eta: Array, y: Array) -> Array:
        return np.logaddexp(0.0, -y * eta)

    def gradient(self, eta: Array, y: Array) -> Array:
        return -y * expit(-y * eta)

    def conjugate(self, u: Array, y: Array) -> Array:
        alpha = -u * y
        inside = (alpha >= 0.0) & (alpha <= 1.0)
        a = np.clip(alpha, 0.0, 1.0)
        return np.where(inside, xlogy(a, a) + xlogy(1.0 - a, 1.0 - a), np.inf)

    def _null_of_share(self, share: float) -> float:
        return -share * math.log(share) - (1.0 - share) * math.log1p(-share) if share > 0.0 else 0.0

    def _constant_of_weights(self, p: float, q: float) -> float:
        return math.log(p) - math.log(q)


@dataclass(frozen=True, eq=False)
class SquaredHinge(LossOfMargins):
    """The squared hinge, max(0, 1 - y eta)^2."""

    name = "squared_hinge"
    words = "squared hinge loss"
    mean_words = "the mean squared hinge loss"
    curvature_bound = 2.0
    slack = Slack(offset=1.0, positive=True, square=1.0)

    def value(self, eta: Array, y: Array) -> Array:
        return np.maximum(0.0, 1.0 - y * eta) ** 2

    def gradient(self, eta: Array, y: Array) -> Array:
        return -2.0 * y * np.maximum(0.0, 1.0 - y * eta)

    def conjugate(self, u: Array, y: Array) -> Array:
        alpha = -u * y
        return np.where(alpha >= 0.0, -alpha + alpha**2 / 4.0, np.inf)

    def _null_of_share(self, share: float) -> float:
        return 4.0 * share * (1.0 - share)

    def _constant_of_weights(self, p: float, q: float) -> float:
        return (p - q) / (p + q)


@dataclass(frozen=True, eq=False)
class Hinge(LossOfMargins):
    """The hinge, max(0, 1 - y eta), or its smoothing of width tau (`smoothing`).

    The smoothed hinge is quadratic where 0 <= 1 - y eta <= tau, and at most tau / 2 below the hinge.
    """

    smoothing: float = 0.0
    name = "hinge"
    words = "hinge loss"
    mean_words = "the mean hinge loss"
    has_kink = True
    slack = Slack(offset=1.0, positive=True, linear=1.0)

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

    def smoothed(self) -> Loss:
        return Hinge(HINGE_SMOOTHING)

    def _null_of_share(self, share: float) -> float:
        return 2.0 * share

    def _constant_of_weights(self, p: float, q: float) -> float:
        return math.copysign(1.0, p - q)


class LossOfNumbers(SeparableLoss):
    """A loss of numbers, which is a function of y - eta."""

    is_classification = False

    def encode(self, y: ArrayLike, n: int, w: Array) -> tuple[Array, NDArray[Any] | None]:
        target = as_response(y, n)
        if np.abs(target).max() > LARGEST_RESPONSE:
            raise InvalidInputError("y contains values too large to square.")
        return target, None

    def _null_value(self, y: Array, w: Array, fit_intercept: bool) -> float:
        with np.errstate(under="ignore"):
            return float(w @ self.value(np.zeros(1), y - (self._best_constant(y, w) if fit_intercept else 0.0)))


@dataclass(frozen=True, eq=False)
class SquaredError(LossOfNumbers):
    """The squared error, (y - eta)^2 / 2, for regression."""

    name = "squared_error"
    words = "squared error, halved"
    mean_words = "half the mean squared error"
    constant_curvature = True
    likelihood = "numbers"
    curvature_bound = 1.0
    slack = Slack(square=0.5)

    def value(self, eta: Array, y: Array) -> Array:
        out = np.asarray(y - eta)
        out *= out
        out *= 0.5
        return out

    def gradient(self, eta: Array, y: Array) -> Array:
        return eta - y

    def conjugate(self, u: Array, y: Array) -> Array:
        return u**2 / 2.0 + u * y

    def _best_constant(self, y: Array, w: Array) -> float:
        return weighted_mean(y, w)


@dataclass(frozen=True, eq=False)
class Huber(LossOfNumbers):
    """Huber's loss of residuals r = y - eta: r^2 / 2 up to delta, and delta |r| - delta^2 / 2 beyond."""

    delta: float = HUBER_DELTA
    name = "huber"
    words = "Huber loss"
    mean_words = "the mean Huber loss"
    curvature_bound = 1.0

    @property
    def settings(self) -> dict[str, Any]:
        return {"loss": self.name, "huber_delta": self.delta}

    def in_unit(self, unit: float) -> Loss:
        return Huber(self.delta / unit)

    @property
    def slack(self) -> Slack:  # type: ignore[override]
        return Slack(square=0.5, bend=self.delta)

    def value(self, eta: Array, y: Array) -> Array:
        size = np.abs(y - eta)
        inner = np.minimum(size, self.delta)
        return inner * (size - inner / 2.0)

    def gradient(self, eta: Array, y: Array) -> Array:
        return np.clip(eta - y, -self.delta, self.delta)

    def conjugate(self, u: Array, y: Array) -> Array:
        return np.where(np.abs(u) <= self.delta, u**2 / 2.0 + u * y, np.inf)

    def _best_constant(self, y: Array, w: Array) -> float:
        """Return where the slope is zero: it falls with the constant, and is linear between the ends of the squares."""

        def slope(constant: float) -> float:
            return float(w @ np.clip(y - constant, -self.delta, self.delta))

        ends = np.sort(np.concatenate([y - self.delta, y + self.delta]))
        low, high = 0, len(ends) - 1  # the slope is positive at the first end, and negative at the last one
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if slope(ends[middle]) > 0.0 else (low, middle)
        rise, fall = slope(ends[low]), slope(ends[high])
        best = float(ends[low] + (ends[high] - ends[low]) * (rise / (rise - fall)))
        inside = float(w[np.abs(y - best) <= self.delta].sum())
        return best + slope(best) / inside if inside > 0.0 else best  # makes up for the rounding, as that of a mean


@dataclass(frozen=True, eq=False)
class Multinomial(Loss):
    """The multinomial loss of several classes, log sum_l exp(eta_l) - eta_y; y has a one in the column of the class."""

    name = "multinomial"
    words = "multinomial loss"
    mean_words = "the mean multinomial loss"
    has_probabilities = True
    likelihood = "labels"
    couples_outputs = True
    shared_classes = "multinomial"
    curvature_bound = 0.5

    def value(self, eta: Array, y: Array) -> Array:
        return np.asarray(logsumexp(eta - (eta * y).sum(axis=-1, keepdims=True), axis=-1))

    def gradient(self, eta: Array, y: Array) -> Array:
        return np.asarray(softmax(eta, axis=-1) - y)

    def conjugate(self, u: Array, y: Array) -> Array:
        q = u + y
        inside = (q >= 0.0).all(axis=-1) & (np.abs(q.sum(axis=-1) - 1.0) <= 1e-12)
        return np.where(inside, xlogy(q, np.maximum(q, 0.0)).sum(axis=-1), np.inf)

    def encode(self, y: ArrayLike, n: int, w: Array) -> tuple[Array, NDArray[Any] | None]:
        labels = label_array(y, n, axes=1)
        classes, where = distinct_labels(labels, w)
        if len(classes) < 2:
            raise InvalidInputError(f"y must have at least two classes for loss='multinomial', got {len(classes)}{where}.")
        return np.asarray(labels[:, None] == classes, dtype=np.float64), classes

    def null_value(self, y: Array, w: Array, fit_intercept: bool) -> float:
        share = w @ y / w.sum() if fit_intercept else np.full(y.shape[1], 1.0 / y.shape[1])
        return float(-xlogy(share, share).sum())

    def best_constant(self, y: Array, w: Array) -> Any:
        logs = np.log(w @ y)
        return logs - logs.mean()


LOSSES: dict[str, Loss] = {
    loss.name: loss for loss in (Logistic(), SquaredHinge(), Hinge(), SquaredError(), Huber(), Multinomial())
}


def of_rows(values: Array) -> Array:
    """Return the losses of rows: those of their outputs together, if there are several."""
    return values if values.ndim == 1 else values.sum(axis=1)


def get_loss(loss: str | Loss, huber_delta: Any = HUBER_DELTA) -> Loss:
    """Return the loss with a given name; a loss is returned unchanged. Only Huber's has a `huber_delta`."""
    if isinstance(loss, Loss):
        return loss
    if not isinstance(loss, str) or loss not in LOSSES:
        raise InvalidInputError(f"loss must be one of {', '.join(map(repr, LOSSES))}, got {loss!r}.")
    return Huber(as_delta(huber_delta)) if loss == Huber.name else LOSSES[loss]


def as_delta(value: Any) -> float:
    """Return `huber_delta` as a positive number of a size that has squares."""
    delta = as_nonnegative("huber_delta", value)
    if not 1.0 / LARGEST_DELTA <= delta <= LARGEST_DELTA:
        raise InvalidInputError(f"huber_delta must be positive, from 1e-100 to 1e100, got {value!r}.")
    return delta


def weighted_mean(y: Array, w: Array) -> float:
    """Return sum_i w_i y_i; the second pass makes up for the rounding of the first."""
    mean = w @ y
    return float(mean + w @ (y - mean))


def weights_of_labels(y: Array, w: Array) -> tuple[float, float]:
    """Return the sums of the weights of +1 and of -1."""
    return float(w[y > 0.0].sum()), float(w[y <= 0.0].sum())


def label_array(y: ArrayLike, n: int, axes: int) -> NDArray[Any]:
    """Return a column of labels, or a column for each of several targets where there may be two axes."""
    refuse_masked("y", y)
    try:
        labels = np.asarray(at_hand(y))
    except ValueError:  # rows of different lengths
        raise InvalidInputError(f"y must have one label for each of the {n} rows of X.") from None
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape[:1] != (n,) or labels.ndim > axes:
        raise InvalidInputError(f"y must have shape ({n},) like the rows of X, got {labels.shape}.")
    if labels.dtype.kind in "fc" and not np.isfinite(labels).all():
        raise InvalidInputError("y contains NaN or infinity.")
    return labels


def distinct_labels(labels: NDArray[Any], w: Array) -> tuple[NDArray[Any], str]:
    """Return the labels of rows that have weight, in order, and in words which rows these are."""
    try:
        classes = np.unique(labels[w > 0.0])
    except TypeError:
        raise InvalidInputError("y must hold labels of one type, and no row may lack one.") from None
    return classes, "" if (w > 0.0).all() else " with positive sample_weight"
