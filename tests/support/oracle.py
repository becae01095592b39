"""The best subset by enumeration, each convex fit by Clarabel: an oracle that shares nothing with the package.

    minimise  sum_i w_i f(eta_i, y_i) + lambda_0 #{counted nonzeros} + lambda_1 ||b||_1 + lambda_2 ||b||_2^2

with eta = X b + intercept and the weights w normalised to sum one. Features in `unpenalized` are always in and not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import clarabel
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

Array = NDArray[np.float64]
NONE: frozenset[int] = frozenset()
ACCURACY, ZERO = 1e-9, 1e-7  # of a fit's value, relative; a smaller coefficient may stand for zero
SETTINGS = clarabel.DefaultSettings()
SETTINGS.verbose, SETTINGS.max_threads, SETTINGS.presolve_enable = False, 1, False
SETTINGS.tol_gap_abs = SETTINGS.tol_gap_rel = SETTINGS.tol_feas = 1e-12
SETTINGS.tol_ktratio, SETTINGS.min_terminate_step_length = 1e-10, 1e-8
DELTA = 1.35  # of Huber's loss
LOSSES: dict[str, Callable[[Array, Array], Array]] = {
    "logistic": lambda eta, y: np.logaddexp(0.0, -y * eta),
    "squared_hinge": lambda eta, y: np.maximum(0.0, 1.0 - y * eta) ** 2,
    "hinge": lambda eta, y: np.maximum(0.0, 1.0 - y * eta),
    "squared_error": lambda eta, y: (y - eta) ** 2 / 2.0,
    "huber": lambda eta, y: np.where(np.abs(y - eta) < DELTA, (y - eta) ** 2 / 2.0, DELTA * np.abs(y - eta) - DELTA**2 / 2.0),
}


class Fit(NamedTuple):
    """A convex fit: its value without lambda_0, the dual's value, their difference (relative) and the coefficients."""

    value: float
    dual: float
    error: float
    coef: Array
    intercept: float


@dataclass(eq=False)
class Model:
    """The problem without lambda_0, to be solved on one set of features after another."""

    X: Array
    y: Array
    loss: str
    lambda_1: float = 0.0
    lambda_2: float = 0.0
    fit_intercept: bool = True
    weights: ArrayLike | None = None
    lower: ArrayLike | None = None
    upper: ArrayLike | None = None
    unpenalized: Iterable[int] = ()
    bound: float | None = None

    def __post_init__(self) -> None:
        p, w = np.shape(self.X)[1], np.ones(len(self.y)) if self.weights is None else np.asarray(self.weights, dtype=float)
        self.X, self.y, self.w = np.asarray(self.X, dtype=float)[w > 0.0], np.asarray(self.y)[w > 0.0], w[w > 0.0] / w.sum()
        self.always = frozenset(self.unpenalized)
        reach = np.where(np.isin(np.arange(p), list(self.always)), np.inf, np.inf if self.bound is None else self.bound)
        self.low = np.maximum(-reach, -np.inf if self.lower is None else self.lower)
        self.high = np.minimum(reach, np.inf if self.upper is None else self.upper)
        self.counted = frozenset(np.flatnonzero(self.low < self.high).tolist()) - self.always
        self.fit = cache(self.solve)

    def data_cone(self, design: Array) -> tuple[Array, Array, list[Any], Array, Array]:
        """A, h and the cones of h - A x for x = (b, intercept, t[, u]), and P and q of t: the loss is P t^2 / 2 + q t.

        Of Huber's loss, t are the residuals up to delta, and what they are above and below it.
        """
        n, w, E = len(self.y), self.w, np.eye(len(self.y))
        margins, O, no_b = self.y[:, None] * design, np.zeros((n, n)), 0.0 * design
        if self.loss == "squared_error":  # t = y - eta
            return np.block([design, E]), self.y, [clarabel.ZeroConeT(n)], w, 0.0 * w
        if self.loss == "huber":
            A = np.block([[design, E, E, -E], [no_b, O, -E, O], [no_b, O, O, -E]])
            cones = [clarabel.ZeroConeT(n), clarabel.NonnegativeConeT(2 * n)]
            return A, np.r_[self.y, np.zeros(2 * n)], cones, np.r_[w, 0.0 * w, 0.0 * w], DELTA * np.r_[0.0 * w, w, w]
        if self.loss == "logistic":  # (-margin - t, 1, u) and (-t, 1, 1 - u) in the exponential cone
            A = np.block([[margins, E, O], [no_b, O, O], [no_b, O, -E], [no_b, E, O], [no_b, O, O], [no_b, O, E]])
            A = A.reshape(6, n, -1).swapaxes(0, 1).reshape(6 * n, -1)  # sample by sample
            return A, np.tile([0.0, 1.0, 0.0, 0.0, 1.0, 1.0], n), [clarabel.ExponentialConeT()] * (2 * n), 0.0 * w, w
        A, h = np.block([[-margins, -E], [no_b, -E]]), np.repeat([-1.0, 0.0], n)  # t >= 1 - margin and t >= 0
        return A, h, [clarabel.NonnegativeConeT(2 * n)], *((2.0 * w, 0.0 * w) if self.loss == "squared_hinge" else (0.0 * w, w))

    def solve(self, counted: frozenset[int]) -> Fit:
        """The best coefficients on some counted features and those that are always in."""
        inside = sorted(counted | self.always)
        size, low, high = len(inside), self.low[inside], self.high[inside]
        design = np.c_[self.X[:, inside], np.ones((len(self.y), int(self.fit_intercept)))]
        A, h, cones, quadratic, linear = self.data_cone(design)
        width, shrunk = A.shape[1], size if self.lambda_1 else 0  # with lambda_1, |b| makes the last columns
        b, magnitude = np.eye(size, width + shrunk), np.eye(shrunk, width + shrunk, width)
        extra = np.r_[-b[np.isfinite(low)], b[np.isfinite(high)], b[:shrunk] - magnitude, -b[:shrunk] - magnitude]
        A, cones = np.r_[np.pad(A, ((0, 0), (0, shrunk))), extra], [*cones, clarabel.NonnegativeConeT(len(extra))]
        h = np.r_[h, -low[np.isfinite(low)], high[np.isfinite(high)], np.zeros(2 * shrunk)]
        P, q, t = np.zeros(width + shrunk), np.zeros(width + shrunk), slice(design.shape[1], design.shape[1] + len(linear))
        P[:size], P[t], q[t], q[width:] = 2.0 * self.lambda_2, quadratic, linear, self.lambda_1
        program, fits = (sparse.diags(P, format="csc"), q, sparse.csc_matrix(A), h, cones), []
        for SETTINGS.max_step_fraction in (0.9, 0.8, 0.95):  # now and then Clarabel gets stuck before it is accurate
            solution = clarabel.DefaultSolver(*program, SETTINGS).solve()
            coef, x = np.zeros(self.X.shape[1]), np.array(solution.x)
            coef[inside] = x[:size].clip(low, high)
            intercept = float(x[size]) if self.fit_intercept else 0.0
            loss = self.w @ LOSSES[self.loss](self.X @ coef + intercept, self.y)
            value = float(loss + self.lambda_1 * np.abs(coef).sum() + self.lambda_2 * coef @ coef)
            dual = max(float(solution.obj_val_dual), 0.0)
            fits.append(Fit(value, dual, abs(value - dual) / max(value, 1e-3), coef, intercept))
            if fits[-1].error <= ACCURACY / 10.0:
                break
        return min(fits, key=lambda found: found.error)


def fit(X: Array, y: Array, support: Iterable[int], **options: Any) -> Fit:
    """The convex fit on a support and the unpenalized features; the options are those of `Model`."""
    return Model(X, y, **options).fit(frozenset(support))


def best_subset(
    X: Array, y: Array, *, lambda_0: float = 0.0, k: int | None = None, **options: Any
) -> tuple[float, list[int], Array, float]:
    """The objective, the counted features that are in, the coefficients and the intercept; the options are those of `Model`."""
    model = Model(X, y, **options)
    best, support = np.inf, NONE

    def offer(candidate: frozenset[int], slack: float = 0.0) -> None:
        nonlocal best, support
        value = model.fit(candidate).value + lambda_0 * len(candidate)
        if value < best + slack and (k is None or len(candidate) <= k):
            best, support = value, candidate

    def search(inside: frozenset[int], undecided: frozenset[int]) -> None:
        undecided = NONE if len(inside) == k else undecided
        relaxed = model.fit(inside | undecided)  # no subset of these features fits better
        if min(relaxed.value, relaxed.dual) + lambda_0 * len(inside) >= best:
            return
        offer(inside | undecided)
        if undecided:
            j = max(undecided, key=lambda j: abs(relaxed.coef[j]))
            search(inside | {j}, undecided - {j})
            search(inside, undecided - {j})

    shrinking = model.counted
    while shrinking:  # a good start: drop the smallest coefficient, again and again
        offer(shrinking)
        shrinking -= {min(shrinking, key=lambda j: abs(model.fit(shrinking).coef[j]))}
    search(NONE, model.counted)
    offer(frozenset(j for j in support if abs(model.fit(support).coef[j]) >= ZERO), slack=ACCURACY * best)
    found = model.fit(support)
    if found.error > ACCURACY:  # as where no coefficients are the best: they run off to infinity
        raise ArithmeticError(f"the value {found.value} and the dual's {found.dual} differ")
    return best, sorted(support), found.coef, found.intercept
