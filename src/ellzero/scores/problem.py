"""What a score card solves: the data as zeros and ones, the limits of the points, and the loss of a card."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ellzero import _core
from ellzero.exact.verifier.score_bounds import Rows

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
FEW_WEIGHTS = 16  # different ones: rows that count the same are counted together
WEIGHT_BITS = 20  # of more weights, which entropies round down


@dataclass(frozen=True, eq=False)
class Card:
    """Points for some columns, and what turns a score into a risk: 1 / (1 + exp(-(scale score + intercept)))."""

    support: Ints
    points: Ints
    scale: float
    intercept: float
    loss: float

    def score(self, X: Any) -> Ints:
        """Return the score of each row."""
        return np.asarray(X[:, self.support] @ self.points.astype(np.float64)).round().astype(np.int64).ravel()

    def risk(self, score: Any) -> Array:
        """Return the risk of a score."""
        return np.asarray(expit(self.scale * np.asarray(score, dtype=np.float64) + self.intercept))


@dataclass(frozen=True)
class FoundCard:
    """A card as the core has it."""

    support: list[int]
    points: list[int]
    scale: float
    intercept: float


@dataclass(frozen=True, eq=False)
class ScoreProblem:
    """The least mean logistic loss of a score: at most `k` columns, with points in [low, high], times a scale.

    Attributes
    ----------
    X : (n, p), zeros and ones
    y : (n,), -1 and +1; zero in rows without weight
    weights : (n,) that sum to one; None if all rows count the same
    low, high : (p,) limits of the points; zero is between them
    k, max_scale : limits of the card
    exclusive : sets of columns of which a card has at most one
    classes : the labels that -1 and +1 stand for

    """

    X: NDArray[np.uint8]
    y: Array
    weights: Array | None
    low: Ints
    high: Ints
    k: int
    max_scale: float
    exclusive: Sequence[Ints] = ()
    classes: NDArray[Any] = field(default_factory=lambda: np.array([-1, 1]))

    @cached_property
    def rows(self) -> Rows:
        """The distinct rows."""
        return Rows.of(self.X, self.y, self.weights)

    @cached_property
    def conflict(self) -> NDArray[np.uint8]:
        """Return which columns exclude each other; empty if none do."""
        p = self.X.shape[1]
        out = np.zeros((p, p) if self.exclusive else (0, 0), dtype=np.uint8)
        for members in self.exclusive:
            out[np.ix_(members, members)] = 1
        np.fill_diagonal(out, 0)
        return out

    def objective(self, support: Any, points: Any, scale: float, intercept: float) -> float:
        """Return the mean loss of a card, recomputed from its numbers."""
        rows = self.rows
        eta = scale * (rows.X[:, support] @ np.asarray(points, dtype=np.float64)) + intercept
        losses = np.append(rows.P * np.logaddexp(0.0, -eta), rows.N * np.logaddexp(0.0, eta))
        return rows.unit * math.fsum(losses.tolist())

    @cached_property
    def null(self) -> Card:
        """The card without points."""
        nothing, share = np.zeros(0, np.int64), math.log(self.rows.P.sum() / self.rows.N.sum())
        return Card(nothing, nothing, 0.0, share, self.objective(nothing, nothing, 0.0, share))

    def card(self, found: FoundCard | _core.Card) -> Card:
        """Return a card of the core in the fewest points: a common factor of all points goes into the scale."""
        used = [(j, w) for j, w in zip(found.support, found.points, strict=True) if w]
        if not used or not found.scale:
            return self.null
        support, points = (np.array(each, dtype=np.int64) for each in zip(*used, strict=True))
        common, scale = int(np.gcd.reduce(np.abs(points))), found.scale
        factor = max(d for d in range(1, common + 1) if d == 1 or (common % d == 0 and scale * d <= self.max_scale))
        points, scale = points // factor, min(scale * factor, self.max_scale)
        order = np.argsort(support)
        support, points = support[order], points[order]
        return Card(support, points, scale, found.intercept, self.objective(support, points, scale, found.intercept))

    def core(self, threads: int) -> _core.Scores:
        """Return the data and the limits for the core."""
        counted = np.flatnonzero(self.y != 0.0)
        X, y = self.X[counted], self.y[counted]
        w = np.ones(len(y)) if self.weights is None else self.weights[counted]
        core = _core.Scores(
            np.ascontiguousarray(X.T),
            y,
            w,
            low=self.low.astype(np.int32),
            high=self.high.astype(np.int32),
            conflict=self.conflict.ravel(),
            most=self.max_scale,
            k=self.k,
            threads=threads,
        )
        for positive in (True, False):
            side = np.flatnonzero((y > 0.0) == positive)
            for worth, rows in layers(w[side]):
                core.add_layer(positive, worth, side[rows].astype(np.int32))
        return core


def layers(w: Array) -> list[tuple[float, Ints]]:
    """Return what sets of rows are worth: those of equal weight, or those that have a bit of their weights in common."""
    different = np.unique(w)
    if len(different) <= FEW_WEIGHTS:
        return [(float(each), np.flatnonzero(w == each)) for each in different]
    unit = math.ldexp(1.0, math.frexp(float(different[-1]))[1] - WEIGHT_BITS)
    digits = np.floor(w / unit).astype(np.int64)  # a power of two: nothing is rounded but downwards
    planes = [(unit * 2.0**bit, np.flatnonzero(digits >> bit & 1)) for bit in range(WEIGHT_BITS)]
    return [(worth, rows) for worth, rows in planes if len(rows)]
