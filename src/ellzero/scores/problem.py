"""What a score card solves: the data as small whole numbers, the limits of the points, and the loss of a card."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ellzero import _core
from ellzero.exact.verifier.score_bounds import DistinctRows
from ellzero.problem.penalties import Penalty
from ellzero.problem.rules import IN, OPEN, OUT, Rule, Rules, as_rules
from ellzero.solvers.paths import core_rules

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
    loss: float  # and the price of its columns

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
    """The least mean logistic loss of a score, and a price of each column it uses: at most `k`, with points in [low, high].

    Attributes
    ----------
    X : (n, p), zeros and ones, or few whole numbers; the last column is one of ones, if the intercept is a number of points
    y : (n,), -1 and +1; zero in rows without weight
    weights : (n,) that sum to one; None if all rows count the same
    low, high : (p,) limits of the points; zero is between them
    k, max_scale, min_scale : limits of the card
    price : of each column with points
    whole_intercept : whether the intercept is a number of points
    rules : what may, or must, be on a card together
    classes : the labels that -1 and +1 stand for

    """

    X: NDArray[np.uint8]
    y: Array
    weights: Array | None
    low: Ints
    high: Ints
    k: int
    max_scale: float
    rules: Rules | None = None
    classes: NDArray[Any] = field(default_factory=lambda: np.array([-1, 1]))
    min_scale: float = 0.0
    price: float = 0.0
    whole_intercept: bool = False

    @cached_property
    def rows(self) -> DistinctRows:
        """The distinct rows."""
        return DistinctRows.of(self.X, self.y, self.weights, self.price, self.ones)

    @property
    def w(self) -> Array:
        """How much the rows count, relative to each other."""
        return np.ones(len(self.y)) if self.weights is None else self.weights

    @property
    def ones(self) -> int:
        """The place of the column for the intercept, or -1."""
        return self.X.shape[1] - 1 if self.whole_intercept else -1

    @property
    def always(self) -> tuple[int, ...]:
        """The columns that every support has: that of the intercept."""
        return (self.ones,) if self.whole_intercept else ()

    @property
    def size(self) -> int:
        """The largest number of columns of a support."""
        return self.k + len(self.always)

    @property
    def by_size(self) -> bool:
        """Whether supports are those of the cards, each size by itself; else a larger support has the cards of smaller ones."""
        return self.rules is not None or self.price > 0.0

    def possible(self, inside: Iterable[int], maybe: Iterable[int]) -> bool:
        """Return whether the rules may hold for a card with some columns, and perhaps some others."""
        if self.rules is None:
            return True
        known = np.full(self.X.shape[1], OUT, dtype=np.int8)
        known[list(maybe)], known[list(inside)] = OPEN, IN
        return self.rules.propagate(known)

    def obeys(self, support: Any) -> bool:
        """Return whether a card with these columns obeys the rules."""
        inside = np.isin(np.arange(self.X.shape[1]), support)
        return self.rules is None or not self.rules.broken(inside)

    def objective(self, support: Any, points: Any, scale: float, intercept: float) -> float:
        """Return the mean loss of a card and the price of its columns, recomputed from its numbers."""
        rows = self.rows
        eta = scale * (rows.X[:, support] @ np.asarray(points, dtype=np.float64)) + intercept
        losses = np.append(rows.P * np.logaddexp(0.0, -eta), rows.N * np.logaddexp(0.0, eta))
        return rows.unit * math.fsum(losses.tolist()) + self.price * np.count_nonzero(points)

    @cached_property
    def null(self) -> Card:
        """The card without points; the plainest one, if the rules want some."""
        if self.obeys([]):
            return self.blank
        assert self.rules is not None
        least = self.rules.least(np.ones(len(self.rules.known)))
        support = np.flatnonzero(np.zeros(0) if least is None else least)
        points = np.where(self.high[support] > 0, 1, -1)
        scale, intercept = self.blank.scale, self.blank.intercept
        return Card(support, points, scale, intercept, self.objective(support, points, scale, intercept))

    @cached_property
    def blank(self) -> Card:
        """The card without points, whatever the rules say."""
        nothing, share = np.zeros(0, np.int64), math.log(self.rows.P.sum() / self.rows.N.sum())
        near = [share]
        if self.whole_intercept:
            limits = self.low[self.ones], self.high[self.ones]
            near = [self.min_scale * float(np.clip(each(share / self.min_scale), *limits)) for each in (np.floor, np.ceil)]
        cards = [Card(nothing, nothing, self.min_scale, each, self.objective(nothing, nothing, 0.0, each)) for each in near]
        return min(cards, key=lambda card: card.loss)

    def card(self, found: FoundCard | _core.Card) -> Card:
        """Return a card of the core in the fewest points: a common factor of all points goes into the scale."""
        used = [(j, w) for j, w in zip(found.support, found.points, strict=True) if w and j != self.ones]
        if not used or not found.scale:
            return self.null
        support, points = (np.array(each, dtype=np.int64) for each in zip(*sorted(used), strict=True))
        scale, intercept = min(max(found.scale, self.min_scale), self.max_scale), found.intercept
        if self.whole_intercept:
            intercept = scale * dict(zip(found.support, found.points, strict=True))[self.ones]
        common = int(np.gcd.reduce(np.abs(points)))
        factor = max(d for d in range(1, common + 1) if d == 1 or (common % d == 0 and scale * d <= self.max_scale))
        points, scale = points // factor, min(scale * factor, self.max_scale)
        return Card(support, points, scale, intercept, self.objective(support, points, scale, intercept))

    def core(self, threads: int) -> _core.Scores:
        """Return the data and the limits for the core."""
        counted = np.flatnonzero(self.y != 0.0)
        X, y = self.X[counted], self.y[counted]
        w = self.w[counted]
        core = _core.Scores(
            np.ascontiguousarray(X.T),
            y,
            w,
            low=self.low.astype(np.int32),
            high=self.high.astype(np.int32),
            scale=(self.min_scale, self.max_scale),
            price=self.price / self.rows.unit,
            k=self.size,
            ones=self.ones,
            threads=threads,
        )
        if self.rules is not None:
            core.set_rules(core_rules(self.rules, 1))
        for positive in (True, False):
            side = np.flatnonzero((y > 0.0) == positive)
            for worth, rows in layers(w[side]):
                core.add_layer(positive, worth, side[rows].astype(np.int32))
        return core


def score_rules(rules: Iterable[Rule] | None, low: Ints, high: Ints, k: int, names: list[str] | None = None) -> Rules | None:
    """Return the rules on the columns of a card, checked; None if there are none."""
    p = len(low)
    found = as_rules(rules, Penalty.of(p, lower=low.astype(np.float64), upper=high.astype(np.float64)), names, None)
    if not found:
        return None
    found.require_within("k", np.ones(p), k)
    return found


def layers(w: Array) -> list[tuple[float, Ints]]:
    """Return what sets of rows are worth: those of equal weight, or those that have a bit of their weights in common."""
    different = np.unique(w)
    if len(different) <= FEW_WEIGHTS:
        return [(float(each), np.flatnonzero(w == each)) for each in different]
    unit = math.ldexp(1.0, math.frexp(float(different[-1]))[1] - WEIGHT_BITS)
    digits = np.floor(w / unit).astype(np.int64)  # a power of two: nothing is rounded but downwards
    planes = [(unit * 2.0**bit, np.flatnonzero(digits >> bit & 1)) for bit in range(WEIGHT_BITS)]
    return [(worth, rows) for worth, rows in planes if len(rows)]
