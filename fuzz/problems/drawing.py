"""Draw a whole problem from a seed: data, scales, loss, penalties relative to the data, boxes, weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzz.problems.data import KINDS, Kind
from fuzz.problems.problem import LOSSES, Array, Problem
from fuzz.problems.structure import (
    draw_budget,
    draw_classes,
    draw_costs,
    draw_groups,
    draw_outputs,
    draw_parts,
    whole_groups,
)

__all__ = ["draw_problem"]

Generator = np.random.Generator
LARGEST = 1e140  # of the entries of X: those above 1e154 cannot be squared and are refused
SMALLEST_POSITIVE = 5e-324


def draw_problem(
    rng: Generator, largest_p: int = 8, largest_n: int = 40, data: Kind | None = None, parts: Sequence[str] = ()
) -> Problem:
    """Return a problem; every choice is made by `rng`, but for the kind of data where it is given.

    It has some of the `parts` (outputs, groups, prices).
    """
    n, p = int(rng.integers(3, largest_n + 1)), int(rng.integers(1, largest_p + 1))
    kind, loss = str(rng.choice(list(KINDS))), str(rng.choice(LOSSES))
    has = draw_parts(rng, parts)
    outputs, p, loss = draw_outputs(rng, n, p, loss) if "outputs" in has else (1, p, loss)
    with np.errstate(all="ignore"):
        shape = (KINDS[kind] if data is None else data)(rng, n, p)
        signals = [draw_signal(rng, shape) for _ in range(outputs)]
        X = scaled(rng, shape)
        y = draw_target(rng, np.column_stack(signals) if outputs > 1 else signals[0], loss)
        weight = draw_weight(rng, n, y, loss)
        fit_intercept, standardize = bool(rng.random() < 0.75), bool(rng.random() < 0.3)
        size = Sizes(X, y, weight, loss, fit_intercept, standardize)
        unpenalized = tuple(sorted(rng.choice(p, int(rng.integers(1, min(p, 3) + 1)), replace=False).tolist()))
        unpenalized = unpenalized if rng.random() < 0.2 else ()
        groups = draw_groups(rng, p) if "groups" in has else None
        unpenalized = whole_groups(unpenalized, groups)
        lower, upper = draw_box(rng, size, p, unpenalized)
        lambda_0, k = draw_form(rng, size, p)
        lambda_1, lambda_2 = draw_shrinkage(rng, size)
        bound = draw_bound(rng, size, lambda_1, lambda_2)
        cost = draw_costs(rng, p, groups) if "prices" in has else None
    drawn = Problem(
        X=X,
        y=y,
        loss=loss,
        lambda_0=lambda_0,
        k=k,
        lambda_1=lambda_1,
        lambda_2=lambda_2,
        fit_intercept=fit_intercept,
        standardize=standardize,
        sample_weight=weight,
        lower=lower,
        upper=upper,
        unpenalized=unpenalized,
        feature_cost=cost,
        groups=groups,
        bound=bound,
        kind=kind if data is None else data.__name__,
    )
    return drawn if cost is None else with_budget(rng, drawn)


def with_budget(rng: Generator, problem: Problem) -> Problem:
    """Return a problem whose lambda_0 fits the prices of its features, often with a budget instead of `k`."""
    prices = problem.prices()
    if not len(prices):
        return problem
    if problem.lambda_0 is not None and rng.random() < 0.8:
        problem = problem.but(lambda_0=clipped(problem.lambda_0 / float(np.median(prices))))
    if rng.random() < 0.5:
        return problem
    return problem.but(k=None, budget=draw_budget(rng, prices), lambda_0=problem.lambda_0 if rng.random() < 0.5 else None)


def power(rng: Generator, low: float, high: float) -> float:
    """Return a power of ten with an exponent between two limits."""
    return float(10.0 ** rng.uniform(low, high))


def draw_signal(rng: Generator, X: Array) -> Array:
    """Return a response of moderate size that depends on a few columns, with little or much noise."""
    n, p = X.shape
    beta = rng.standard_normal(p) * (rng.random(p) < 0.5)
    signal = X @ beta
    largest = np.abs(signal).max(initial=0.0)
    signal = signal / largest if largest > 0.0 else signal
    return signal + rng.choice([0.0, 0.05, 0.5, 5.0]) * rng.standard_normal(n)


def scaled(rng: Generator, X: Array) -> Array:
    """Return X in other units: as a whole, column by column, or both; up to 1e120 and down to 1e-120."""
    wide, some = 120.0, 6.0
    whole = rng.choice(3, p=[0.65, 0.2, 0.15])
    single = rng.choice(3, p=[0.65, 0.2, 0.15])
    if whole:
        X = X * power(rng, -(some, wide)[whole - 1], (some, wide)[whole - 1])
    if single:
        reach = (some, wide)[single - 1]
        X = X * 10.0 ** rng.uniform(-reach, reach, X.shape[1])
    return np.where(np.abs(X) < LARGEST, X, np.sign(X) * LARGEST)


def draw_target(rng: Generator, signal: Array, loss: str) -> NDArray[Any]:
    """Return y for a signal, or for one signal a column: numbers, two labels, or labels of several classes."""
    if loss == "multinomial":
        return draw_classes(rng, signal)
    if loss != "squared_error":
        return draw_labels(rng, signal)
    if signal.ndim == 1 or rng.random() < 0.6:
        return draw_response(rng, signal)
    return np.column_stack([draw_response(rng, column) for column in signal.T])  # each in its own unit


def draw_response(rng: Generator, signal: Array) -> Array:
    """Return numbers in any unit, sometimes with a large mean, sometimes all equal."""
    y = signal * (1.0, power(rng, -9.0, 9.0), power(rng, -60.0, 60.0))[rng.choice(3, p=[0.65, 0.2, 0.15])]
    spread = np.abs(y).max(initial=0.0)
    if rng.random() < 0.2:
        y = y + spread * power(rng, 0.0, 12.0) * rng.choice([-1.0, 1.0])
    if rng.random() < 0.03:
        y = np.full_like(y, y[0])
    return np.round(y / spread * 4.0) * spread / 4.0 if rng.random() < 0.1 and spread > 0.0 else y


def draw_labels(rng: Generator, signal: Array) -> NDArray[Any]:
    """Return two labels of any type, in every column; the share of one of them may be tiny, and they may be separable."""
    up = draw_side(rng, signal) if signal.ndim == 1 else np.column_stack([draw_side(rng, column) for column in signal.T])
    names: tuple[Any, Any] = [(0, 1), (-1, 1), ("no", "yes"), (1.5, 2.5), (False, True)][rng.integers(5)]
    return np.where(up, names[1], names[0])


def draw_side(rng: Generator, signal: Array) -> NDArray[np.bool_]:
    """Return which rows have the second label; some do and some do not."""
    n = len(signal)
    share = rng.choice([0.5, 0.5, 0.2, 1.0 / n])
    cut = np.sort(signal)[min(max(int((1.0 - share) * n), 1), n - 1)]
    up = signal >= cut
    if up.all() or not up.any():  # ties
        up = np.arange(n) < max(1, n // 2)
    return np.asarray(up, dtype=bool)


def draw_weight(rng: Generator, n: int, y: NDArray[Any], loss: str) -> Array | None:
    """Return weights: none, equal, random, with zeros, tiny or denormal ones; at least two classes keep some weight."""
    kind = rng.choice(
        ["none", "equal", "random", "zeros", "tiny", "denormal", "wide"], p=[0.5, 0.05, 0.15, 0.1, 0.1, 0.05, 0.05]
    )
    if kind == "none":
        return None
    weight = rng.uniform(0.1, 2.0, n)
    some = rng.random(n) < 0.4
    if kind == "equal":
        weight = np.full(n, power(rng, -200.0, 200.0))
    elif kind == "zeros":
        weight = np.where(some, 0.0, weight)
    elif kind == "tiny":
        weight = np.where(some, weight * power(rng, -200.0, -8.0), weight)
    elif kind == "denormal":
        weight = np.where(some, SMALLEST_POSITIVE * rng.integers(1, 50, n), weight)
    elif kind == "wide":
        weight = 10.0 ** rng.uniform(-30.0, 30.0, n)
    if rng.random() < 0.1:  # one class weighs next to nothing
        alike = y.reshape(n, -1)[:, 0] == y.reshape(n, -1)[0, 0]
        weight = np.where(alike, weight * power(rng, -300.0, -5.0), weight)
    if loss == "multinomial" and rng.random() < 0.3:  # one class has no weight: it is none
        weight = np.where(y == y[0], 0.0, weight)
    alive = weight / weight.max(initial=SMALLEST_POSITIVE) > 0.0
    if not alive.any():
        return None
    if loss != "squared_error" and min(len(np.unique(column)) for column in y.reshape(n, -1)[alive].T) < 2:
        return None
    return weight


class Sizes:
    """The sizes of a problem's parts, so that penalties and boxes can be drawn relative to them."""

    def __init__(
        self, X: Array, y: NDArray[Any], weight: Array | None, loss: str, fit_intercept: bool, standardize: bool
    ) -> None:
        w = np.ones(len(y)) if weight is None else weight / weight.max()
        w = w / w.sum()
        centre = w @ X if fit_intercept else np.zeros(X.shape[1])
        deviation = X - centre
        self.spread = np.sqrt(w @ np.square(deviation / np.abs(deviation).max(initial=1e-300)))
        self.spread = self.spread * np.abs(deviation).max(initial=1e-300)
        self.spread = np.where(self.spread > 1e-290, self.spread, 1.0)  # of constant columns
        target = y - w @ y if loss == "squared_error" and fit_intercept else y
        self.response = float(np.sqrt(np.sum(w @ np.square(target)))) if loss == "squared_error" else 1.0
        self.response = min(max(self.response, 1e-140), 1e140)
        self.null = self.response**2
        self.coef = self.response / self.spread  # typical coefficients, on the scale of X
        self.penalised = np.where(standardize, self.response, self.coef)  # on the scale that penalties see
        self.typical = float(np.median(self.penalised))


def draw_form(rng: Generator, size: Sizes, p: int) -> tuple[float | None, int | None]:
    """Return lambda_0 and k; at least one of them is given."""
    form = rng.choice(["lambda_0", "k", "both"], p=[0.5, 0.35, 0.15])
    exponent = rng.uniform(-4.0, 0.0) if rng.random() < 0.8 else rng.uniform(-14.0, 3.0)
    lambda_0 = 0.0 if rng.random() < 0.05 else size.null * 10.0**exponent
    k = int(rng.integers(0, p + 2)) if rng.random() < 0.2 else int(rng.integers(1, p + 1))
    return (None if form == "k" else clipped(lambda_0)), (None if form == "lambda_0" else k)


def draw_shrinkage(rng: Generator, size: Sizes) -> tuple[float, float]:
    """Return lambda_1 and lambda_2, each often zero, otherwise relative to what the loss pulls with, or of any size."""

    def exponent() -> float:
        return float(rng.uniform(-5.0, 0.5) if rng.random() < 0.75 else rng.uniform(-30.0, 3.0))

    l1 = size.null / size.typical * 10.0 ** exponent() if rng.random() < 0.45 else 0.0
    l2 = size.null / size.typical / size.typical * 10.0 ** exponent() if rng.random() < 0.6 else 0.0
    if rng.random() < 0.02:
        l2 = float(rng.choice([1e-310, SMALLEST_POSITIVE, 1e300, 1e-200]))
    return clipped(l1), clipped(l2)


def clipped(penalty: float) -> float:
    """Return a penalty that is a number: those out of range become zero or very large."""
    return 0.0 if np.isnan(penalty) else min(float(penalty), 1e290)


def draw_box(rng: Generator, size: Sizes, p: int, unpenalized: tuple[int, ...]) -> tuple[Array | None, Array | None]:
    """Return lower and upper: none, signs, boxes of typical or any size, some infinite, some with zero at a bound."""
    kind = rng.choice(["none", "nonnegative", "box", "ragged", "any"], p=[0.6, 0.1, 0.1, 0.15, 0.05])
    if kind == "none":
        return None, None
    lower = -size.coef * 10.0 ** rng.uniform(-1.5, 1.0, p)
    upper = size.coef * 10.0 ** rng.uniform(-1.5, 1.0, p)
    if kind == "nonnegative":
        return np.zeros(p), None
    if kind == "ragged":
        lower[rng.random(p) < 0.4] = -np.inf
        upper[rng.random(p) < 0.4] = np.inf
        lower[rng.random(p) < 0.2] = 0.0
        upper[rng.random(p) < 0.2] = 0.0
    if kind == "any":
        lower, upper = -(10.0 ** rng.uniform(-300.0, 300.0, p)), 10.0 ** rng.uniform(-300.0, 300.0, p)
    if unpenalized and rng.random() < 0.3:  # held away from zero
        j = unpenalized[0]
        lower[j], upper[j] = size.coef[j] * 0.3, size.coef[j] * rng.choice([0.3, 2.0])
    return lower, upper


def draw_bound(rng: Generator, size: Sizes, lambda_1: float, lambda_2: float) -> float | None:
    """Return an assumed bound where nothing else limits the coefficients, and now and then elsewhere."""
    if (lambda_1 == 0.0 and lambda_2 == 0.0) or rng.random() < 0.1:
        return float(min(max(np.median(size.penalised) * power(rng, -1.0, 2.0), 1e-290), 1e290))
    return None
