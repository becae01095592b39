"""Diagonals: curvature of the squared error that a bound takes from the loss and adds to the ridge of the coefficients.

With D diagonal and (1 - SLACK) Z'WZ - D positive semidefinite on the columns of a region (centred, if there is an intercept),
the loss less beta'D beta / 2 is convex there. docs/certificate.md says how a dual point uses that, and docs/margins.md derives
the margin of the test.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.exact.verifier.data import Refused, dense

Array = NDArray[Any]
Index = NDArray[np.int64]

SLACK = 2.0**-10  # of the curvature that a diagonal leaves in the loss: the price of dual points that are rounded
PRICE = (1.0 / SLACK - 1.0) / 2.0
MOST_COLUMNS = 2000
BLOCK_BYTES = 64 * 2**20


@dataclass(frozen=True)
class PointModel:
    """The coefficients that a dual point was made at, and the diagonal that its bound uses."""

    diagonal: int
    columns: Index
    values: Array


@dataclass(frozen=True)
class Diagonals:
    """The diagonals of a certificate, and the models of the dual points that use them."""

    columns: list[Index]  # of each diagonal
    values: list[Array]  # its entries, in this order
    models: list[PointModel | None]  # of each dual point
    definite: dict[int, bool] = field(default_factory=dict)  # whether a diagonal may be used, once it is known

    def entries(self, number: int, p: int) -> tuple[Array, NDArray[np.bool_]]:
        """Return the entries of a diagonal for all p columns, zero where it has none, and which columns have one."""
        out, covered = np.zeros(p), np.zeros(p, dtype=bool)
        out[self.columns[number]] = self.values[number]
        covered[self.columns[number]] = True
        return out, covered

    def check(self, number: int, problem: Any) -> None:
        """Refuse the certificate if a diagonal takes more curvature than there is."""
        if number not in self.definite:
            arguments = (problem.X, self.columns[number], self.values[number], problem.w, problem.spread, problem.fit_intercept)
            self.definite[number] = problem.arithmetic.leaves_definite(*arguments)
        if not self.definite[number]:
            raise Refused(f"diagonal {number} takes more curvature from the loss than is proved to be there.")


def leaves_definite(X: Any, columns: Index, values: Array, w: Array, spread: Array, centred: bool, unit: float) -> bool:
    """Return whether (1 - SLACK) Z'WZ - D is proved to be positive semidefinite: by a Cholesky factorisation with a margin."""
    n, m = X.shape[0], len(columns)
    sizes, units, gram = np.empty(m), np.empty(m), np.empty((m, m))
    width = max(1, BLOCK_BYTES // (8 * n))
    parts = [slice(start, min(start + width, m)) for start in range(0, m, width)]

    def block(part: slice) -> Array:
        """Read columns, about their means, times the roots of the weights; the size of each before that."""
        z = dense(X[:, columns[part]]) / spread[columns[part]]
        mean = w @ z / w.sum() if centred else np.zeros(z.shape[1])
        sizes[part] = np.sqrt(((z * np.sqrt(w)[:, None]) ** 2).sum(axis=0)) + np.abs(mean) * np.sqrt(w.sum())
        out: Array = (z - mean) * np.sqrt(w)[:, None]
        return out

    with np.errstate(all="ignore"):  # what is not finite is not definite
        for k, part in enumerate(parts):
            mine = block(part)
            gram[part, part] = mine.T @ mine
            for other in parts[:k]:
                gram[part, other] = mine.T @ block(other)
                gram[other, part] = gram[part, other].T
        units = 1.0 / np.sqrt(np.diag(gram))
        relative = np.maximum(sizes * units, 1.0)
        margin = 4.0 * (n + m + 64) * unit * float(np.sum(relative**2))
        scaled = (1.0 - SLACK) * (gram * units * units[:, None]) - np.diag(values * units**2)
        if not (np.isfinite(scaled).all() and np.isfinite(margin) and (values * units**2 <= 1.0).all()):
            return False
        try:
            np.linalg.cholesky(scaled - margin * np.eye(m))
        except np.linalg.LinAlgError:
            return False
    return True
