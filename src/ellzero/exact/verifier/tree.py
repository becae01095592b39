"""The tree of decisions: check that its leaves cover all solutions, and find the least of their bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero.exact.verifier.bounds import Index, Problem, State
from ellzero.exact.verifier.data import Refused
from ellzero.exact.verifier.diagonals import Diagonals


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
    blocks: list[Index]
    row: Index
    alpha: NDArray[Any]
    rest: NDArray[Any] | None  # the further digits of alpha
    diagonals: Diagonals | None = None

    def order(self) -> Index:
        """Return the nodes depth first; refuse a tree whose leaves do not cover all solutions."""
        children: list[list[int]] = [[] for _ in self.parent]
        for node, parent in enumerate(self.parent.tolist()[1:], start=1):
            children[parent].append(node)
        for node, below in enumerate(children):
            made = sorted((int(self.branch[child]), int(self.side[child])) for child in below)
            halves = len(made) == 2 and made[0][0] == made[1][0] >= 0 and (made[0][1], made[1][1]) == (0, 1)
            if made and not halves and not (len(made) == 1 and made[0][0] == -1):
                raise Refused(f"node {node} of the tree has a missing child or children that do not cover it.")
        order, stack = [], [0]
        while stack:
            order.append(stack.pop())
            stack.extend(reversed(children[order[-1]]))
        return np.array(order, dtype=np.int64)

    def walk(self, problem: Problem, upper: Any, enough: float) -> tuple[Any, int, int]:
        """Return the least bound of all leaves, and the numbers of leaves and of open ones (no dual point, below `enough`)."""
        least: Any = math.inf
        leaves = unsolved = 0
        for leaf in self.leaves(problem, upper):
            least, leaves = min(least, leaf.bound), leaves + 1
            unsolved += not leaf.solved and leaf.bound < enough
        return least, leaves, unsolved

    def leaves(self, problem: Problem, upper: Any) -> Iterator[Leaf]:
        """Walk the tree, and yield its leaves with what is proved of them."""
        order, waiting = self.order(), np.bincount(self.parent[1:], minlength=len(self.parent))
        points = problem.points(self.alpha, self.rest, self.row[order], self.diagonals)
        states: dict[int, tuple[Any, State | None]] = {-1: (0, problem.root())}  # no loss or penalty is negative
        for node, point in zip(order.tolist(), points, strict=True):
            parent = int(self.parent[node])
            bound, state = states[parent]
            if parent >= 0:
                waiting[parent] -= 1
                if not waiting[parent]:
                    del states[parent]  # keep in memory only the states that later nodes need
            if state is not None and self.branch[node] >= 0:
                state = state.decide(self.blocks[self.branch[node]], int(self.side[node]), problem.home)
            state = None if state is None else problem.cap(state, upper)
            if state is not None and point is not None:
                found, state = problem.narrow(state, point, upper)
                bound = max(bound, found)
            bound = bound if state is not None else math.inf
            if waiting[node]:
                states[node] = bound, state
            else:
                yield Leaf(node, bound, state, point is not None)
