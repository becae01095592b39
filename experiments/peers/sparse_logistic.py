"""Logistic regression with at most k features and a ridge: the part that GraSP and NHTP share.

The objective is that of the package, mean_i log(1 + exp(-y_i eta_i)) + lambda_2 ||beta||^2 with an unpenalised intercept.

Both methods alternate a look at the gradient of all columns with a computation on few of them. A look reads all of X, which
takes most of the time; so several fits proceed together, and one matrix product serves the looks of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.special import expit

from experiments.peers.method import Fit

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
WarmStart = Literal["none", "size"]  # start at zero, or from the next smaller size at the same lambda_2
SIZES = tuple(range(1, 101))  # the paper's grids
LAMBDA_2 = tuple(float(value) for value in np.geomspace(1e-4, 100.0, 10))
NEGLIGIBLE = 1e-6  # a model with a mean loss below this separates the classes: larger sizes only repeat it
REUSED_BELOW = 0.5  # a Hessian is kept while a step promises at most this share of the decrease of the one before
SIZES_TOGETHER = 10  # sizes that are fitted together: enough for the matrix products; few, since later ones may be left out
BATCH_ENTRIES = 20_000_000  # the most entries of the gradients that are kept at a time: 160 MB


class Data:
    """X, y and the quantities that all fits have in common."""

    def __init__(self, X: Any, y: NDArray[np.int64]):
        self.sparse = sparse.issparse(X)
        # Columns as rows in memory: a few of them are then gathered at the speed of a copy.
        self.columns_first: Any = (
            sparse.csr_matrix(X.T) if self.sparse else np.ascontiguousarray(np.asarray(X, dtype=np.float64).T)
        )
        self.p, self.n = self.columns_first.shape
        self.y = np.asarray(y, dtype=np.float64)
        squares = X.multiply(X).sum() if self.sparse else np.vdot(X, X)
        self.mean_square = float(squares) / (self.n * self.p)
        share = np.clip(np.mean(self.y > 0), 0.5 / self.n, 1.0 - 0.5 / self.n)
        self.null_intercept = float(np.log(share / (1.0 - share)))
        self.null_margin = np.full(self.n, self.null_intercept)
        self.null_slopes = self.slopes([self.null_margin])[0]
        self._dense = np.zeros(self.p)

    def loss(self, margin: Array) -> float:
        """Return the mean logistic loss."""
        return float(np.mean(np.logaddexp(0.0, -self.y * margin)))

    def residual(self, margin: Array) -> Array:
        """Return the loss's derivative by each margin."""
        return -self.y * expit(-self.y * margin) / self.n

    def curvature(self, margin: Array) -> Array:
        """Return the loss's second derivative by each margin."""
        share = expit(margin)
        return share * (1.0 - share) / self.n

    def slopes(self, margins: list[Array]) -> Array:
        """Return the loss's derivative by every coefficient, one row for each margin."""
        residuals = np.array([self.residual(margin) for margin in margins])
        if self.sparse:
            return np.ascontiguousarray((self.columns_first @ residuals.T).T)
        return residuals @ self.columns_first.T

    def rows(self, chosen: Indices) -> Array:
        """Return a row of ones for the intercept, then the chosen columns, each as a row."""
        rows = np.empty((len(chosen) + 1, self.n))
        rows[0] = 1.0
        if self.sparse:
            rows[1:] = self.columns_first[chosen].toarray()
        else:
            np.take(self.columns_first, chosen, axis=0, out=rows[1:])
        return rows

    def spread(self, support: Indices, values: Array, onto: Indices) -> Array:
        """Return the coefficients at other positions, zero where there are none."""
        self._dense[support] = values
        spread = self._dense[onto]
        self._dense[support] = 0.0
        return spread


@dataclass(eq=False)
class Iterate:
    """The present model of one fit, and the state of its method."""

    size: int
    lambda_2: float
    support: Indices
    values: Array
    intercept: float
    margin: Array
    objective: float
    slopes: Array | None  # the loss's derivatives by all coefficients at this margin; None where X must be read for them
    memory: dict[str, Any] = field(default_factory=dict)  # state that a method keeps from one look to the next

    @classmethod
    def at_zero(cls, data: Data, size: int, lambda_2: float) -> Iterate:
        """Return the model without features, whose intercept fits the shares of the classes."""
        margin = data.null_margin
        none = np.zeros(0)
        return cls(
            size, lambda_2, none.astype(np.int64), none, data.null_intercept, margin, data.loss(margin), data.null_slopes
        )

    def neighbour(self, size: int, lambda_2: float) -> Iterate:
        """Return this model as the start of another fit."""
        objective = self.objective + (lambda_2 - self.lambda_2) * float(self.values @ self.values)
        return Iterate(size, lambda_2, self.support, self.values, self.intercept, self.margin, objective, self.slopes)

    def move(self, support: Indices, values: Array, intercept: float, margin: Array, objective: float) -> None:
        """Go to another model, whose gradient is not known yet."""
        self.support, self.values, self.intercept = support, values, intercept
        self.margin, self.objective, self.slopes = margin, objective, None

    def fit(self) -> Fit:
        """Return the present model."""
        used = self.values != 0.0
        return Fit(self.support[used], self.values[used], self.intercept, {"k": float(self.size), "lambda_2": self.lambda_2})


def largest(scores: Array, count: int) -> Indices:
    """Return the ascending positions of the largest absolute entries."""
    if count >= len(scores):
        return np.arange(len(scores))
    return np.sort(np.argpartition(np.abs(scores), len(scores) - count)[len(scores) - count :])


def factorised_hessian(rows: Array, curvature: Array, lambda_2: float) -> Array | None:
    """Return the upper Cholesky factor of the objective's Hessian on the rows of `Data.rows`; None if it is singular."""
    scaled = rows * np.sqrt(curvature)
    hessian = dsyrk(1.0, scaled.T, trans=1)
    diagonal = np.einsum("ii->i", hessian)
    # Keeps the factor regular: on separable data curvatures underflow, and a constant column equals that of the intercept.
    diagonal += 1e-13 * diagonal.max()
    diagonal[1:] += 2.0 * lambda_2
    factor, failed = dpotrf(hessian, overwrite_a=True, clean=False)
    return None if failed else factor


def solve_factorised(factor: Array | None, right: Array) -> Array | None:
    """Return the Newton direction, None if there is none."""
    if factor is None:
        return None
    direction, _ = dpotrs(factor, right)
    return direction if np.all(np.isfinite(direction)) else None


def minimise_on(
    data: Data, chosen: Indices, start: tuple[Array, float], lambda_2: float, tol: float
) -> tuple[Array, float, Array, float]:
    """Minimise the objective on the chosen columns by damped Newton steps, up to a relative tolerance of the objective.

    A Hessian takes as long as tens of gradients, so it is kept as long as each step promises much less decrease than the one
    before. Returns values, intercept, margin and objective.
    """
    rows = data.rows(chosen)
    point = np.concatenate(([start[1]], start[0]))
    margin = point @ rows
    objective = data.loss(margin) + lambda_2 * float(point[1:] @ point[1:])
    factor: Array | None = None
    last = np.inf
    for _ in range(200):
        gradient = rows @ data.residual(margin)
        gradient[1:] += 2.0 * lambda_2 * point[1:]
        direction = solve_factorised(factor, -gradient)
        if direction is None or -float(gradient @ direction) > REUSED_BELOW * last:
            factor = factorised_hessian(rows, data.curvature(margin), lambda_2)
            direction = solve_factorised(factor, -gradient)
            if direction is None:
                break
        promise = last = -float(gradient @ direction)
        if promise <= tol * objective:
            break
        change = direction @ rows
        step = 1.0
        while step > 1e-6:
            trial = point + step * direction
            value = data.loss(margin + step * change) + lambda_2 * float(trial[1:] @ trial[1:])
            if value <= objective - 1e-4 * step * promise:
                break
            step *= 0.5
        else:
            break
        if step < 1.0:
            factor = None
        point, margin, objective = trial, margin + step * change, value
    return point[1:], float(point[0]), margin, objective


Advance = Callable[[Data, Iterate], bool]


def advance_together(data: Data, iterates: list[Iterate], advance: Advance, max_looks: int) -> None:
    """Advance all fits, one look at a time, until each says that it has ended."""
    active = iterates
    for _ in range(max_looks):
        blind = [iterate for iterate in active if iterate.slopes is None]
        if blind:
            for iterate, slopes in zip(blind, data.slopes([iterate.margin for iterate in blind]), strict=True):
                iterate.slopes = slopes
        active = [iterate for iterate in active if not advance(data, iterate)]
        if not active:
            break


def sweep(
    X: Any,
    y: NDArray[np.int64],
    sizes: Iterable[int],
    lambda_2: Iterable[float],
    advance: Advance,
    *,
    warm_start: WarmStart,
    max_looks: int,
) -> Iterator[Iterate]:
    """Yield the fits of all sizes with all values of lambda_2.

    A size above p counts as p. Once a fit separates the classes (a mean loss below 1e-6), larger sizes at its lambda_2 are left
    out.
    """
    data = Data(X, y)
    wanted = sorted({min(int(size), data.p) for size in sizes})
    ridges = sorted((float(value) for value in lambda_2), reverse=True)
    together = 1 if warm_start == "size" else max(1, min(SIZES_TOGETHER, BATCH_ENTRIES // (data.p * len(ridges))))
    last: dict[float, Iterate] = {}
    for first in range(0, len(wanted), together):
        fits: dict[tuple[int, float], Iterate] = {}
        for at in product(wanted[first : first + together], ridges):
            fits[at] = last[at[1]].neighbour(*at) if warm_start == "size" and last else Iterate.at_zero(data, *at)
        advance_together(data, list(fits.values()), advance, max_looks)
        for (_, ridge), fit in fits.items():
            if ridge in ridges:
                last[ridge] = fit
                yield fit
                if data.loss(fit.margin) <= NEGLIGIBLE:
                    ridges = [other for other in ridges if other != ridge]
        if not ridges:
            break


@dataclass(frozen=True, eq=False)
class Pursuit:
    """Base class of GraSP and NHTP: each iteration looks at the gradient of all columns, then calls `advance`."""

    sizes: Iterable[int] = SIZES
    lambda_2: Iterable[float] = LAMBDA_2
    warm_start: WarmStart = "none"
    max_looks: int = 100

    def missing(self) -> str | None:
        """Return None: nothing else must be installed."""
        return None

    def fits(self, X: Any, y: NDArray[np.int64]) -> Iterator[Fit]:
        """Yield a model for each size and lambda_2."""
        for iterate in sweep(
            X, y, self.sizes, self.lambda_2, self.advance, warm_start=self.warm_start, max_looks=self.max_looks
        ):
            yield iterate.fit()

    def advance(self, data: Data, at: Iterate) -> bool:
        """Do one iteration at the gradient of all columns; return whether it is the last."""
        raise NotImplementedError
