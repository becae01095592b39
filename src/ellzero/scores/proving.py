"""The search for the best card, and its proof: a tree over columns whose leaves are bounded by models or run through.

Every node has a lower bound at every moment: that of the dual point of a model of all columns that are not out. The node with
the least bound is next. It is split by the column that the model needs most or, if it has few supports, exhausted by the core.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ellzero import _core
from ellzero.base.imports import whole_imports
from ellzero.base.progress import ProgressCallback
from ellzero.exact.checkpoint import CheckpointFile
from ellzero.exact.verifier.score_bounds import Limits
from ellzero.exact.verifier.score_check import MOST_CELLS
from ellzero.scores.certificate import Boxes, ScoreCertificate, ScoreClaim, make_certificate
from ellzero.scores.problem import Array, Card, FoundCard, Ints, ScoreProblem
from ellzero.scores.resuming import resume_proof

SUPPORTS_OF_A_FIT = 200  # times the square of all columns: that many are run through in the time of a split
NEWTON_COLUMNS = 400  # up to which models of the whole table have their Hessian
SEARCH_SHARE = 0.3  # of the time limit, for a good card before the proof
RELATIVE = 1e-6  # of the null model's loss: gaps of smaller losses are relative to that one
Model = tuple[Ints, Array, float]


@dataclass(frozen=True, kw_only=True)
class ProofOptions:
    """How to search: a gap that is good enough, seconds, threads, and which cards are listed."""

    gap: float
    time_limit: float
    threads: int
    progress: ProgressCallback | None = None
    within: float | None = None  # list all cards whose loss is at most this share above the best one
    most: int = 10_000  # cards in a list
    checkpoint: Any = None  # the file from which a proof goes on


@dataclass(eq=False)
class Node:
    """A part of the tree: cards that may use the columns inside and some of `maybe`."""

    inside: tuple[int, ...]
    maybe: tuple[int, ...]
    model: Model
    bound: float
    needs: dict[int, float] = field(default_factory=dict)  # how much the model needs each column
    split: int = -1
    children: tuple[Node, ...] = ()
    exhausted: bool = False

    def supports(self, k: int) -> int:
        """Return the number of supports of full size."""
        return math.comb(len(self.maybe), min(k - len(self.inside), len(self.maybe)))


@dataclass(frozen=True, eq=False)
class Solution:
    """The best card found, what is proved of it, and the certificate.

    Attributes
    ----------
    card : the best one
    cards : all that a list has, the best first; of a search, the best one alone
    lower_bound, gap, status : what is proved
    supports : how many were run through
    seconds : of the search for a card, and of the proof

    """

    card: Card
    cards: list[Card]
    lower_bound: float
    gap: float
    status: str
    certificate: ScoreCertificate
    supports: int
    seconds: tuple[float, float]


def solve_scores(problem: ScoreProblem, options: ProofOptions) -> Solution:
    """Find a good card, then prove how good it is until the gap is small enough or time is up."""
    begin = time.monotonic()
    core = problem.core(options.threads)
    first = problem.card(core.search(SEARCH_SHARE * options.time_limit))
    found = time.monotonic()
    card = min(first, problem.null, key=lambda card: card.loss)
    within = options.within
    if within is not None:  # the threshold must be that of the best card, which a first proof finds
        proof = CardProof(problem, core, card, options, begin)
        proof.run()
        if proof.status != "optimal":
            return proof.solution((found - begin, time.monotonic() - found))
        card = proof.card
    proof = CardProof(problem, core, card, options, begin, None if within is None else card.loss * (1.0 + within))
    proof.run()
    return proof.solution((found - begin, time.monotonic() - found))


class CardProof:
    """The tree in the making; with a threshold, all cards up to it are listed."""

    def __init__(
        self,
        problem: ScoreProblem,
        core: _core.Scores,
        card: Card,
        options: ProofOptions,
        begin: float,
        threshold: float | None = None,
    ) -> None:
        self.checkpoint = CheckpointFile(options.checkpoint)
        self.problem, self.core, self.options, self.threshold = problem, core, options, threshold
        self.deadline = begin + options.time_limit
        self.card, self.unit = card, problem.rows.unit
        self.limits = problem.low, problem.high, Limits(problem.min_scale, problem.max_scale, problem.size)
        always = problem.always
        every = tuple(range(problem.X.shape[1] - len(always)))
        # Until there is time for better: the model without columns, whose bound is valid.
        blank = np.zeros(0, np.int64), np.zeros(0), problem.blank.intercept
        self.root = Node(always, every, blank, problem.rows.region_bound(blank, list(always), list(every), self.limits))
        self.heap: list[tuple[float, int, Node]] = []
        self.least = math.inf  # of the bounds in exhausted leaves
        self.listed: list[Boxes] = []
        self.total, self.closed, self.supports, self.made = self.root.supports(problem.size), 0, 0, 0
        self.status = "time_limit"
        self.open_cards = 0

    @property
    def scale(self) -> float:
        """Return what gaps are relative to."""
        return self.card.loss if self.card.loss > RELATIVE * self.problem.blank.loss else self.problem.blank.loss

    @property
    def listing(self) -> bool:
        """Return whether all cards up to a threshold are wanted, not only the best one."""
        return self.threshold is not None

    @property
    def top(self) -> float:
        """Return the loss that the proof is about: that of the card, or the threshold."""
        return self.card.loss if self.threshold is None else self.threshold

    @property
    def level(self) -> float:
        """Return the bound that closes a part; half of the gap is left to the rounding of whoever checks."""
        return self.top if self.listing else self.top - 0.5 * self.options.gap * self.scale

    def seconds_left(self) -> float:
        """Return the seconds until the limit."""
        return self.deadline - time.monotonic()

    def run(self) -> None:
        """Refine the tree until all of it is closed, or time is up."""
        if resumed := self.checkpoint.exists:
            resume_proof(self)
        else:
            self.push(self.root)
        try:
            if not resumed:
                self.fit(self.root)
                self.heap.clear()
                self.push(self.root)
            while self.heap and self.seconds_left() > 0.0:
                if self.heap[0][0] >= self.level:
                    self.heap.clear()
                    break
                node = heapq.heappop(self.heap)[2]
                self.push(node)  # so that it is there if this ends early
                if self.work(node):
                    self.heap = [each for each in self.heap if each[2] is not node]
                    heapq.heapify(self.heap)
                if self.open_cards > self.options.most:
                    self.status = "too_many"
                if self.status != "time_limit":
                    break
                self.checkpoint.write_if_due(self.save)
                if self.options.progress is not None:
                    self.options.progress(min(self.closed / max(self.total, 1), 0.999), 0.0, 0)
            if self.options.progress is not None:
                self.options.progress(1.0, 0.0, 0)
        except KeyboardInterrupt:
            self.status = "interrupted"
        if not self.heap and self.gap() <= self.options.gap * (1.0 + 1e-9) and self.status == "time_limit":
            self.status = "complete" if self.listing else "optimal"
        self.checkpoint.end(self.save, done=self.status == "optimal")

    def push(self, node: Node) -> None:
        """Note a leaf that is open."""
        self.made += 1
        heapq.heappush(self.heap, (node.bound, self.made, node))

    def fit(self, node: Node) -> None:
        """Give a node the model of all its columns, if the bound is better."""
        model, node.needs = model_of_columns(self.problem, (*node.inside, *node.maybe), node.model, self.deadline)
        bound = self.bound(node, model)
        if bound > node.bound:
            node.model, node.bound = model, bound

    def bound(self, node: Node, model: Model) -> float:
        """Return the bound that a model gives for a node."""
        return self.problem.rows.region_bound(model, list(node.inside), list(node.maybe), self.limits)

    def work(self, node: Node) -> bool:
        """Exhaust or split a node; return whether it is no open leaf any more."""
        room = self.problem.size - len(node.inside)
        one = room == 0 or len(node.maybe) <= room
        few = node.supports(self.problem.size) <= SUPPORTS_OF_A_FIT * len(self.problem.low) ** 2
        if self.problem.k <= MOST_CELLS and (one or few or room == 1):
            return self.exhaust(node)
        if one:  # of more columns than can be run through
            self.status = "too_large"
            return False
        self.split(node)
        return True

    def split(self, node: Node) -> None:
        """Split by the column that the model of all columns needs most."""
        if not node.needs:  # of a checkpoint
            self.fit(node)
        inner, outer = self.branch(node, max(node.maybe, key=lambda j: node.needs.get(j, 0.0)))
        inner.bound = max(node.bound, self.bound(inner, node.model))
        outer.bound = self.bound(outer, outer.model)
        self.fit(outer)
        for child in node.children:
            self.place(child)

    def branch(self, node: Node, column: int) -> tuple[Node, Node]:
        """Give a node the children with and without a column."""
        rest = tuple(j for j in node.maybe if j != column)
        inner = Node((*node.inside, column), rest, node.model, node.bound, node.needs)
        outer = Node(node.inside, rest, drop(node.model, column), node.bound)
        node.split, node.children = column, (inner, outer)
        return inner, outer

    def place(self, leaf: Node) -> None:
        """Close a leaf by its bound or by the rules, or note that it is open."""
        leaf.exhausted = not self.problem.possible(leaf.inside, leaf.maybe)
        if leaf.exhausted or leaf.bound >= self.level:
            self.closed += leaf.supports(self.problem.size)
        else:
            self.push(leaf)

    def exhaust(self, node: Node) -> bool:
        """Let the core run through all supports of a node; return whether it finished."""
        top = min(self.problem.size, len(node.inside) + len(node.maybe))
        for size in range(len(node.inside) if self.problem.by_size else top, top + 1):
            cost = self.problem.rows.cost(size)
            found = self.core.exhaust(
                list(node.inside),
                list(node.maybe),
                size=size,
                level=(self.level - cost) / self.unit,
                upper=(self.card.loss - cost) / self.unit,
                share=0.5 * self.options.gap * self.scale / self.card.loss,
                listing=self.listing,
                seconds=max(self.seconds_left(), 0.0),
            )
            self.supports += found.supports
            better = self.problem.card(found.best) if math.isfinite(found.best.loss) else self.card
            if better.loss < self.card.loss:
                self.card = better
            if not found.finished:
                return False
            self.least = min(self.least, found.least * self.unit + cost)
            self.listed += [Boxes.of(support, boxes) for support, boxes in zip(found.listed, found.boxes, strict=True)]
            if self.listing:
                self.open_cards = sum(len(self.single_cards(boxes, self.level)) for boxes in self.listed)
        node.exhausted = True
        self.closed += node.supports(self.problem.size)
        return True

    def lower_bound(self) -> float:
        """Return what is proved; a little less than the bounds that were found, for whoever checks."""
        slack = 0.5 * self.options.gap * self.scale
        opened = min((node.bound for _, _, node in self.heap), default=math.inf)
        return max(0.0, min(self.level - slack, self.least - slack, opened * (1.0 - 1e-12)))

    def gap(self) -> float:
        """Return what the lower bound lacks."""
        return max(0.0, self.top - self.lower_bound()) / self.scale

    def solution(self, seconds: tuple[float, float]) -> Solution:
        """Return the card and the proof."""
        lower, cards = self.lower_bound(), [self.card]
        if self.listing:
            cards = self.cards(self.listed, lower)
        return Solution(self.card, cards, lower, self.gap(), self.status, self.certificate(), self.supports, seconds)

    def certificate(self) -> ScoreCertificate:
        """Return the proof as it stands."""
        claim = ScoreClaim(
            card=self.card,
            lower_bound=self.lower_bound(),
            gap_asked=self.options.gap,
            status=self.status,
            threshold=self.threshold,
        )
        return make_certificate(self.problem, claim, self.root, sorted(self.listed, key=lambda boxes: boxes.support))

    def save(self, path: Path) -> None:
        """Write the proof as it stands to a file, from which another one can go on."""
        self.certificate().save(path)

    def cards(self, listed: list[Boxes], level: float) -> list[Card]:
        """Return the cards below the threshold, each once and in the fewest points, the best first."""
        every = [self.problem.card(each) for boxes in listed for each in self.single_cards(boxes, level)]
        found = {(tuple(card.support), tuple(card.points)): card for card in [self.card, *every]}
        return sorted(found.values(), key=lambda card: (card.loss, card.support.tolist(), card.points.tolist()))

    def single_cards(self, boxes: Boxes, level: float) -> list[FoundCard]:
        """Return the boxes of single cards whose bound is below a level, as cards."""
        out = []
        level = (level - self.problem.rows.cost(len(boxes.support))) / self.unit
        for i in np.flatnonzero((boxes.low == boxes.high).all(axis=1) & (boxes.bounds < level)):
            points, model = boxes.low[i], boxes.models[i]
            place = int(np.argmax(np.abs(points)))
            scale = float(model[place] / points[place]) if points[place] else 0.0
            out.append(FoundCard(boxes.support, points.tolist(), scale, float(model[-1])))
        return out


def drop(model: Model, column: int) -> Model:
    """Return a model without a column."""
    columns, values, intercept = model
    kept = columns != column
    return columns[kept], values[kept], intercept


def model_of_columns(
    problem: ScoreProblem, columns: tuple[int, ...], start: Model, deadline: float
) -> tuple[Model, dict[int, float]]:
    """Return a model of the whole table with these columns, and how much it needs each.

    Any model makes a valid bound: the fit ends where it is when time is up.
    """
    rows, chosen = problem.rows, np.array(sorted(columns), dtype=np.int64)
    b = np.zeros(len(chosen) + 1)
    known = dict(zip(start[0].tolist(), start[1].tolist(), strict=True))
    b[:-1] = [known.get(int(j), 0.0) for j in chosen]
    b[-1] = start[2]
    Z = np.column_stack([rows.X[:, chosen].astype(np.float64), np.ones(len(rows.X))])
    T = rows.P + rows.N
    limit = problem.max_scale * np.maximum(np.abs(problem.low), np.abs(problem.high))[chosen].astype(np.float64)

    def loss(b: Array) -> tuple[float, Array]:
        eta = Z @ b
        value = float(rows.P @ np.logaddexp(0.0, -eta) + rows.N @ np.logaddexp(0.0, eta))
        return value, Z.T @ (T * expit(eta) - rows.P)

    if len(chosen) > NEWTON_COLUMNS:
        with whole_imports():
            from scipy.optimize import minimize
        box = [*zip(-limit, limit, strict=True), (None, None)]
        last = [b]

        def timed(b: Array) -> tuple[float, Array]:
            if time.monotonic() > deadline:
                raise TimeoutError
            last[0] = b.copy()
            return loss(b)

        with suppress(TimeoutError):
            last[0] = minimize(timed, b, jac=True, method="L-BFGS-B", bounds=box, options={"maxiter": 300}).x
        b = last[0]
        worth = np.abs(b[:-1])
    else:
        b, worth = newton(loss, Z, T, b, deadline)
    return (chosen, b[:-1], float(b[-1])), dict(zip(chosen.tolist(), worth.tolist(), strict=True))


def newton(loss: Callable[[Array], Any], Z: Array, T: NDArray[Any], b: Array, deadline: float) -> tuple[Array, Array]:
    """Return the model that Newton's method finds, and the squares of its coefficients by their variances."""
    value, slope = loss(b)
    inverse = np.eye(len(b))
    for _ in range(40):
        if time.monotonic() > deadline:
            break
        s = expit(Z @ b)
        H = (Z * (T * s * (1.0 - s))[:, None]).T @ Z
        H[np.diag_indices_from(H)] += 1e-9 * (np.trace(H) / len(b) + T.sum() * 1e-6)
        inverse = np.linalg.inv(H)
        step = inverse @ slope
        decrease = float(slope @ step)
        if not decrease > 1e-13 * T.sum():
            break
        t = 1.0
        while t > 1e-6:
            following, gradient = loss(b - t * step)
            if following <= value - 1e-4 * t * decrease:
                break
            t *= 0.5
        else:
            break
        b, value, slope = b - t * step, following, gradient
        if np.abs(b).max() > 60.0:  # the rows are separated: the bound is that of no loss at all
            break
    return b, b[:-1] ** 2 / np.maximum(np.diag(inverse)[:-1], 1e-300)
