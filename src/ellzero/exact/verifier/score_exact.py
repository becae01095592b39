"""The bounds of score cards in exact arithmetic: rational numbers, and balls around logarithms. Slow, without any margin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ellzero.exact.verifier.exact_arithmetic import Exact, rational
from ellzero.exact.verifier.score_bounds import Array, Counts, DistinctRows, Limits

ARITHMETIC = Exact()


@dataclass(frozen=True, eq=False)
class ExactRows(DistinctRows):
    """The distinct rows, with rational numbers instead of float64."""

    @staticmethod
    def exactly(X: NDArray[np.uint8], y: Array, weights: Array | None, price: float, ones: int) -> ExactRows:
        """Return the rows of data with labels -1 and +1, with the exact sums of their weights."""
        found = DistinctRows.of(X, y, weights)
        exact = ExactRows(found.X, found.P, found.N, 1.0, False, price, ones)
        w = np.ones(len(y)) if weights is None else weights
        place = {row.tobytes(): i for i, row in enumerate(found.X)}
        places = np.array([place[row.tobytes()] for row in X], dtype=np.int64)
        sides = [exact.sums(places, rational(np.where(side, w, 0.0)), len(found.X)) for side in (y > 0.0, y < 0.0)]
        unit: Any = Fraction(1, len(y)) if weights is None else Fraction(1)
        return replace(exact, P=sides[0], N=sides[1], unit=unit)

    def sums(self, places: NDArray[np.int64], worth: Array, count: int) -> Array:
        """Return the sums of what falls into each place."""
        out = rational(np.zeros(count))
        np.add.at(out, places, worth)
        return out

    def cell_entropy(self, P: Array, N: Array) -> Array:
        """Return H of cells, which stand along the first axis: the float64 numbers below it."""
        out = np.zeros(P.shape[1:])
        for place in np.ndindex(out.shape):
            cells = zip(*(np.moveaxis(side, 0, -1)[place] for side in (P, N)), strict=True)
            out[place] = ARITHMETIC.floor(
                sum(((p + n) * binary(Fraction(p) / (p + n)) for p, n in cells if p and n), Fraction(0))
            )
        return out

    def dual_bounds(
        self, cells: tuple[NDArray[Any], Array, Array], eta: Array, low: Counts, high: Counts, limits: Limits, fixed: int
    ) -> Array:
        """Return D of boxes of points, each with the values of a model in all cells: the float64 numbers below it."""
        Z, shape = rational(np.asarray(cells[0], dtype=np.float64)), eta.shape
        out = np.full(len(eta), -np.inf)
        sides = [np.broadcast_to(each, shape) for each in cells[1:]]
        for i in np.flatnonzero(np.isfinite(eta).all(axis=1)):
            P, N = sides[0][i], sides[1][i]
            up, down = rational(expit(-eta[i])), rational(expit(eta[i]))
            positive, negative = (P * up).sum(), (N * down).sum()
            if self.ones >= 0:
                pass
            elif positive and negative:
                up, down = up * min(Fraction(1), negative / positive), down * min(Fraction(1), positive / negative)
            else:
                up, down = up * 0, down * 0
            worth = sum((p * binary(r) for p, r in [*zip(P, up, strict=True), *zip(N, down, strict=True)] if p), Fraction(0))
            v = (P * up - N * down) @ Z
            gain = [max(a * int(b), a * int(c)) for a, b, c in zip(v, low[i], high[i], strict=True)]
            free = sorted(gain[fixed:], reverse=True)[: max(limits.size - fixed, 0)]
            price = Fraction(self.price)
            S = [
                scale * self.unit * sum(gain[:fixed])
                + sum((max(scale * self.unit * each - price, Fraction(0)) for each in free), Fraction(0))
                for scale in (Fraction(limits.least), Fraction(limits.most))
            ]
            out[i] = ARITHMETIC.floor(self.unit * worth - max(S) + price * (fixed - (self.ones >= 0)))
        return out


def binary(r: Fraction) -> Fraction:
    """Return a lower bound of -r log r - (1 - r) log(1 - r)."""
    return ARITHMETIC.entropy_below(r) + ARITHMETIC.entropy_below(1 - r) if 0 < r < 1 else Fraction(0)
