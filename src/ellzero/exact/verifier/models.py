"""Dual points as a certificate holds them: sparse models, from whose predictions theta follows.

Whatever the numbers are, theta is a dual point: it is made to lie in the domain of the loss, and to sum to zero if there is an
intercept, in float64 numbers that are exact from then on. docs/certificate.md has the steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.exact.verifier.data import selected
from ellzero.exact.verifier.regions import Index, ranges

if TYPE_CHECKING:
    from ellzero.exact.verifier.bounds import Stated

Array = NDArray[Any]
WHOLE_SHARE = 2.0**15  # of the hinge's alpha in integers


@dataclass(frozen=True)
class Models:
    """The models of dual points, one after the other, on the scale of Z, with an intercept for each output.

    Of several outputs, each has a column in the place of a column of X. What the hinge has is alpha itself: its slope at the
    kink follows from no model.
    """

    ends: Index
    columns: Index
    values: Array
    intercept: Array  # a row for each point
    scale: Array | None = None  # the part of the slopes that is taken; None: all of them
    alpha: Array | None = None

    def model(self, point: int) -> tuple[Index, Array]:
        """Return the columns and coefficients of a point."""
        own = slice(self.ends[point - 1] if point else 0, self.ends[point])
        return self.columns[own], self.values[own]

    def slopes(self, points: list[int], problem: Stated) -> Array:
        """Return a_i of each of some points, rows as in `problem.y`: theta is w a, times y for labels, once it is balanced."""
        y, w, loss, outputs = problem.y, problem.w, problem.loss, problem.outputs
        with np.errstate(all="ignore"):  # what is not finite proves nothing
            if self.alpha is not None:
                given = self.alpha[points].astype(np.float64)
                given = given / WHOLE_SHARE if self.alpha.dtype.kind == "u" else given
            else:
                given = loss.slopes(self.predictions(points, problem), y, outputs)
            if problem.fit_intercept and not loss.coupled:
                each = (len(points), outputs, -1)
                labels, weights = y.reshape(outputs, -1), w.reshape(outputs, -1)
                parts = given.reshape(each).swapaxes(0, 1)
                parts = [loss.levelled(*part, outputs) for part in zip(parts, labels, weights, strict=True)]
                given = np.stack(parts, axis=1).reshape(given.shape)
            return given if self.scale is None else given * self.scale[points, None]

    def predictions(self, points: list[int], problem: Stated) -> Array:
        """Return the predictions of some models, whose columns are centred if there is an intercept."""
        outputs, n = problem.outputs, len(problem.y) // problem.outputs
        used = np.array(points)
        starts = np.append(0, self.ends)[used]
        at, owner = ranges(starts, self.ends[used] - starts)
        atoms, coef = self.columns[at], self.values[at]
        lively = problem.norm[atoms] > 0.0  # an intercept, if any, takes the place of the others
        atoms, coef, owner = atoms[lively], coef[lively], owner[lively]
        out = np.repeat(self.intercept[used].reshape(-1, 1), n, axis=1)
        read, place = np.unique(atoms // outputs, return_inverse=True)
        weights = problem.w[:n] / problem.w[:n].sum()
        for part, block in selected(problem.X, read):
            if problem.fit_intercept:  # before anything is rounded: means may be large
                block = block - weights @ block
            block = block / problem.spread[read[part] * outputs]
            here = (place >= part.start) & (place < part.stop)
            factors = np.zeros((len(out), block.shape[1]))
            factors[owner[here] * outputs + atoms[here] % outputs, place[here] - part.start] = coef[here]
            out += factors @ block.T
        return out.reshape(len(points), -1)
