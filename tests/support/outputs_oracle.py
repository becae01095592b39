"""The best coefficients of several outputs on given features, by Clarabel: an oracle that shares nothing with the package."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import clarabel
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logsumexp

from support.oracle import ACCURACY, SETTINGS, Model

Array = NDArray[np.float64]


@dataclass(eq=False)
class Softmax:
    """The multinomial problem without lambda_0; y holds classes 0, 1, ..."""

    X: Array
    y: NDArray[np.int64]
    lambda_1: float = 0.0
    lambda_2: float = 0.0
    fit_intercept: bool = True
    weights: Any = None
    lower: Any = None
    upper: Any = None

    def __post_init__(self) -> None:
        w = np.ones(len(self.y)) if self.weights is None else np.asarray(self.weights, dtype=float)
        self.X, self.y, self.w = self.X[w > 0.0], self.y[w > 0.0], w[w > 0.0] / w.sum()
        self.fit = cache(self.solve)

    def solve(self, inside: frozenset[int]) -> float:
        """Return the least value: (eta_l - eta_y - t, 1, u_l) in the exponential cone, the u of a row at most one together."""
        columns, K, n = sorted(inside), int(self.y.max()) + 1, len(self.y)
        size = len(columns) * K
        low, high = (
            np.repeat(np.full(self.X.shape[1], default) if side is None else side, K).reshape(-1, K)[columns].ravel()
            for side, default in ((self.lower, -np.inf), (self.upper, np.inf))
        )
        shrunk = size if self.lambda_1 else 0
        width = size + K * self.fit_intercept + n + n * K + shrunk
        t0, u0 = size + K * self.fit_intercept, size + K * self.fit_intercept + n
        rows, h, cones = [], [], []

        def eta(i: int, l: int) -> Array:
            row = np.zeros(width)
            row[np.arange(len(columns)) * K + l] = self.X[i, columns]
            if self.fit_intercept:
                row[size + l] = 1.0
            return row

        for i in range(n):
            for l in range(K):
                first = eta(i, int(self.y[i])) - eta(i, l)
                first[t0 + i] += 1.0
                last = np.zeros(width)
                last[u0 + i * K + l] = -1.0
                rows += [first, np.zeros(width), last]
                h += [0.0, 1.0, 0.0]
                cones.append(clarabel.ExponentialConeT())
        below = np.zeros((n, width))
        for i in range(n):
            below[i, u0 + i * K : u0 + (i + 1) * K] = 1.0
        b, magnitude = np.eye(size, width), np.eye(shrunk, width, width - shrunk)
        extra = np.r_[below, -b[np.isfinite(low)], b[np.isfinite(high)], b[:shrunk] - magnitude, -b[:shrunk] - magnitude]
        h = np.r_[h, np.ones(n), -low[np.isfinite(low)], high[np.isfinite(high)], np.zeros(2 * shrunk)]
        P, q = np.zeros(width), np.zeros(width)
        P[:size], q[t0:u0], q[width - shrunk :] = 2.0 * self.lambda_2, self.w, self.lambda_1
        A = sparse.csc_matrix(np.r_[np.array(rows), extra])
        found = []
        for SETTINGS.max_step_fraction in (0.9, 0.8, 0.95):
            program = (sparse.diags(P, format="csc"), q, A, h, [*cones, clarabel.NonnegativeConeT(len(extra))], SETTINGS)
            solution = clarabel.DefaultSolver(*program).solve()
            x = np.array(solution.x)
            coef = x[:size].clip(low, high).reshape(-1, K)
            scores = self.X[:, columns] @ coef + (x[size : size + K] if self.fit_intercept else 0.0)
            loss = self.w @ (logsumexp(scores, axis=1) - scores[np.arange(n), self.y])
            value = float(loss + self.lambda_1 * np.abs(coef).sum() + self.lambda_2 * np.square(coef).sum())
            found.append((abs(value - solution.obj_val_dual) / max(value, 1e-3), value))
            if found[-1][0] <= ACCURACY:
                break
        return min(found)[1]


@dataclass(eq=False)
class Targets:
    """The problem of several targets without lambda_0: on given features it falls into one for each target."""

    X: Array
    Y: Array
    settings: dict[str, Any]

    def __post_init__(self) -> None:
        self.models = [Model(self.X, column, **self.settings) for column in self.Y.T]

    def fit(self, inside: Iterable[int]) -> float:
        """Return the least value."""
        return float(sum(model.fit(frozenset(inside)).value for model in self.models))
