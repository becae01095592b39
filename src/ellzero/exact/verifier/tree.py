"""The tree of decisions: check that its leaves cover all solutions, and find the least of their bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice, tee
from typing import Any, NamedTuple

import numpy as np

from ellzero.exact.verifier.arithmetic import Point
from ellzero.exact.verifier.bounds import Stated
from ellzero.exact.verifier.data import Refused
from ellzero.exact.verifier.diagonals import Diagonals
from ellzero.exact.verifier.families import Families
from ellzero.exact.verifier.models import Models
from ellzero.exact.verifier.regions import Blocks, Index, State, States

Report = Callable[[float], None]
Proved = tuple[Any, State | None]  # the bound of a node, and what is left of its region: nothing, or a region

MOST_ENTRIES = 2**16  # of the regions that are computed at once: their arrays stay in the processor's memory
WAITING_BYTES = 512 * 2**20  # of regions that later nodes start from


class Leaf(NamedTuple):
    """A leaf of the tree, and what is proved of it."""

    node: int
    bound: Any
    state: State | None  # what is left of its region, for solutions not worse than the known one
    solved: bool  # whether it has a dual point of its own


@dataclass(frozen=True)
class Tree:
    """The tree: parent, decision and dual point of each node, one entry per node."""

    parent: Index
    branch: Index  # one of the blocks, -1 if nothing is decided
    side: Index
    blocks: Blocks
    row: Index  # of the models, -1: none
    models: Models
    diagonals: Diagonals | None = None
    families: Families | None = None

    def speaks_of(self, node: int) -> bool:
        """Return whether there is a proof of a node without a dual point."""
        return self.families is not None and self.families.speaks_of(node)

    def children(self) -> list[list[int]]:
        """Return the children of each node; refuse a tree whose leaves do not cover all solutions."""
        children: list[list[int]] = [[] for _ in self.parent]
        for node, parent in enumerate(self.parent.tolist()[1:], start=1):
            children[parent].append(node)
        branch, side = self.branch.tolist(), self.side.tolist()
        for node, below in enumerate(children):
            made = sorted((branch[child], side[child]) for child in below)
            halves = len(made) == 2 and made[0][0] == made[1][0] >= 0 and (made[0][1], made[1][1]) == (0, 1)
            if made and not halves and not (len(made) == 1 and made[0][0] == -1):
                raise Refused(f"node {node} of the tree has a missing child or children that do not cover it.")
        return children

    def walk(self, problem: Stated, upper: Any, enough: float, report: Report | None = None) -> tuple[Any, int, int]:
        """Return the least bound of all leaves, and the numbers of leaves and of open ones (no dual point, below `enough`)."""
        least: Any = math.inf
        leaves = unsolved = 0
        for leaf in self.leaves(problem, upper, report):
            least, leaves = min(least, leaf.bound), leaves + 1
            unsolved += not leaf.solved and leaf.bound < enough
        return least, leaves, unsolved

    def leaves(self, problem: Stated, upper: Any, report: Report | None = None) -> Iterator[Leaf]:
        """Walk the tree, and yield its leaves with what is proved of them; `report` gets the part of the nodes that is done."""
        children, waiting = self.children(), Waiting(problem.root(), problem.batch)
        # Points are made for many nodes at once, some batches ahead.
        batches, ahead = tee(waiting.batches(children, problem.width))
        rows = (int(self.row[node]) for batch in ahead for node in batch)
        points = problem.points(self.models, rows, self.diagonals)
        done = 0
        for part in (part for batch in batches for part in waiting.parts(batch, self.parent)):
            known = {node: point for node, point in zip(part, islice(points, len(part)), strict=True) if point is not None}
            starts = {node: waiting.take(int(self.parent[node])) for node in part}
            for node, (bound, state) in self.prove(problem, upper, starts, known).items():
                if children[node]:
                    waiting.add(node, len(children[node]), bound, state)
                else:
                    yield Leaf(node, bound, state, node in known or self.speaks_of(node))
            done += len(part)
            if report is not None:
                report(done / len(children))

    def prove(self, problem: Stated, upper: Any, starts: dict[int, Proved], points: dict[int, Point]) -> dict[int, Proved]:
        """Return what is proved of nodes, from what is proved of their parents and from their dual points."""
        regions = {node: state for node, (_, state) in starts.items() if state is not None}
        bounds = {node: bound for node, (bound, _) in starts.items()}
        left: dict[int, State] = {}
        if regions:
            states = States.join(np.array(list(regions)), list(regions.values()))
            states = states.decide(self.blocks, self.branch[states.node], self.side[states.node], problem.home)
            states = problem.cap(states, upper)
            if self.families is not None:
                found_there, states = self.families.narrow(problem, states, upper)
                bounds |= {node: max(bounds[node], bound) for node, bound in found_there.items()}
            solved = np.array([node in points for node in states.node.tolist()], dtype=bool)
            left |= dict(states.only(~solved).split())
            if solved.any():
                states = states.only(solved)
                found, narrowed = problem.narrow(states, [points[node] for node in states.node.tolist()], upper)
                for node, bound in zip(states.node.tolist(), found.tolist(), strict=True):
                    bounds[node] = max(bounds[node], bound)
                left |= dict(narrowed.split())
        return {node: (bounds[node], left[node]) if node in left else (math.inf, None) for node in starts}


class Waiting:
    """The regions that nodes further down start from, and the order of the nodes: parents first, the newest ones next.

    Many nodes come at once, so that NumPy has enough to do. Where regions take too much memory, they come one by one.
    """

    def __init__(self, root: State, ahead: int) -> None:
        self.regions: dict[int, Proved] = {-1: (0, root)}  # no loss or penalty is negative
        self.needed = {-1: 1}  # how many nodes will start from each
        self.bytes = root.nbytes
        self.ahead = ahead  # so many nodes may be chosen before the regions of the first are there

    def add(self, node: int, needed: int, bound: Any, state: State | None) -> None:
        """Keep the region of a node for so many others."""
        self.regions[node], self.needed[node] = (bound, state), needed
        self.bytes += 0 if state is None else state.nbytes

    def take(self, node: int) -> Proved:
        """Return a region for one of those that start from it, and forget it after the last."""
        bound, state = self.regions[node]
        self.needed[node] -= 1
        if not self.needed[node]:
            del self.regions[node], self.needed[node]
            self.bytes -= 0 if state is None else state.nbytes
        return bound, state

    def batches(self, children: list[list[int]], width: int) -> Iterator[list[int]]:
        """Yield nodes that do not depend on each other, parents before children."""
        ready = [0]
        while ready:
            crowded = self.bytes * (1 + self.ahead / max(len(self.regions), 1)) > WAITING_BYTES
            count = 1 if crowded else width
            batch = ready[-count:]
            del ready[-count:]
            ready += [child for node in batch for child in reversed(children[node])]  # the first child is the next one
            yield batch

    def parts(self, batch: list[int], parent: Index) -> Iterator[list[int]]:
        """Yield a batch in parts whose regions have a bounded number of features in all."""
        part: list[int] = []
        entries = 0
        for node in batch:
            state = self.regions[int(parent[node])][1]
            size = 0 if state is None else len(state.index)
            if part and entries + size > MOST_ENTRIES:
                yield part
                part, entries = [], 0
            part.append(node)
            entries += size
        yield part
