"""Growth: a proof that the loss of labels grows in all directions, so that no good model has large coefficients.

One dual point inside the domain and one diagonal prove a box for all coefficients, where no penalty holds them.
docs/certificate.md says why, and docs/margins.md derives the margins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ellzero.exact.verifier.arithmetic import Array
from ellzero.exact.verifier.balancing import balance
from ellzero.exact.verifier.bounds import Stated
from ellzero.exact.verifier.data import require
from ellzero.exact.verifier.losses import HingeTerms
from ellzero.exact.verifier.regions import Index

LARGEST_SLOPE = 0.24  # of sum_j v_j^2 / d_j: with all that rounding can do to it, it is below 1/4
BELOW = 1.0 - 2.0**-50  # makes a product of two rounded numbers a lower bound of it
SMALLEST_SQUARE = 2.0**-900  # smaller ones, of which rounding may be a large part, count as zero


@dataclass(frozen=True)
class GrowthProof:
    """A dual point, columns, and the entries of a diagonal for them."""

    alpha: Array
    columns: Index
    values: Array

    def held(self, problem: Stated, upper: Any) -> Stated:
        """Return the problem with boxes that hold all solutions not worse than `upper`; refuse a growth that proves none."""
        arithmetic, y, w = problem.arithmetic, problem.y, problem.w
        theta = y * (w * np.clip(self.alpha, 0.0, 1.0))
        theta = balance(theta) if problem.fit_intercept else theta
        # f(eta, y) >= max(-y eta, 0), so that w f >= -theta eta + room |eta| if |theta| - room >= 0 and |theta| + room <= w.
        room = np.minimum(np.abs(theta), w - np.abs(theta))
        square = room * room * BELOW
        square[square < SMALLEST_SQUARE] = 0.0
        proved = arithmetic.leaves_definite(problem.X, self.columns, self.values, square, problem.spread, problem.fit_intercept)
        require(proved, "the loss is not proved to grow as the certificate says.")
        arguments = problem.X, problem.spread, problem.norm, problem.fit_intercept
        (point,) = arithmetic.points(HingeTerms(), theta[None, :], y, w, *arguments)
        slope, entries = np.maximum(abs(point.v_low), abs(point.v_high))[self.columns], arithmetic.numbers(self.values)
        level = arithmetic.finite(point.terms).all() and (slope * (slope / entries)).sum() <= LARGEST_SLOPE
        require(level, "the loss is not proved to grow: the slope of its dual point is too steep.")
        reach = arithmetic.last_root(entries, arithmetic.number(0.0), -self._most(problem, upper))
        low, high = problem.low.copy(), problem.high.copy()
        low[self.columns] = np.maximum(low[self.columns], -reach)
        high[self.columns] = np.minimum(high[self.columns], reach)
        return replace(problem, low=low, high=high)

    def _most(self, problem: Stated, upper: Any) -> Any:
        """Return the largest value that sum_j d_j beta_j^2 can have in a solution that is not worse than `upper`.

        Columns without an entry move the predictions by so much only if their own bounds hold them.
        """
        arithmetic, rest = problem.arithmetic, problem.norm > 0.0  # the others: an intercept, if any, takes their place
        rest[self.columns] = False
        reach = np.maximum(abs(problem.low), abs(problem.high))[rest]
        require(arithmetic.finite(reach).all(), "the growth of the loss leaves out a column that nothing else holds.")
        moved = (reach * arithmetic.numbers(problem.norm[rest])).sum()
        size = 2 * (upper + arithmetic.above(moved, len(reach) * moved) * arithmetic.number(1.0 + 2.0**-20))
        return arithmetic.above(size * size, size * size)
