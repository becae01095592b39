"""Regions of a search tree with decisions by chance, for tests of bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ellzero.exact.verifier.regions import Blocks, States
from support.tiny_problems import spent

ANY = 1e6  # an upper bound that implies nothing


class Region:
    """One region alone, of the many that the verifier computes at once; None stands for one in which nothing is left."""

    def __init__(self, problem, states, decided=()):
        self.problem, self.states, self.decided = problem, states, tuple(decided)
        self.index, self.inside, self.low, self.high = states.index, states.inside, states.low, states.high
        self.clauses = [set(self.index[states.clause == number].tolist()) for number in range(len(states.blocks))]
        self.chosen = np.count_nonzero(self.inside & problem.counted[self.index])

    @classmethod
    def root(cls, problem):
        return cls(problem, States.join(np.zeros(1, np.int64), [problem.root()]))

    def left(self, states, decided=None):
        return Region(self.problem, states, self.decided if decided is None else decided) if len(states.node) else None

    def decide(self, block, side):
        decided = (*self.decided, block)
        number = np.array([len(decided) - 1])
        return self.left(self.states.decide(as_blocks(decided), number, np.array([side]), self.problem.home), decided)

    def settle(self):
        return self.left(self.states.settle())

    def cap(self, upper):
        return self.left(self.problem.cap(self.states, upper))

    def keep(self, mask):
        return self.left(self.states.keep(mask))

    def narrow(self, point, upper):
        bounds, states = self.problem.narrow(self.states, [point], upper)
        return bounds[0], self.left(states)


def as_blocks(lists):
    """Blocks of the verifier, of lists of features."""
    sizes = np.array([len(each) for each in lists], dtype=np.int64)
    return Blocks.of(np.concatenate([np.zeros(0, np.int64), *lists]), sizes)


def joined(regions):
    """Several regions as the verifier has them: their blocks are numbered anew."""
    before = np.cumsum([0, *(len(region.decided) for region in regions)])
    parts = []
    for region, first in zip(regions, before, strict=False):
        ((_, part),) = region.states.split()
        parts.append(replace(part, blocks=part.blocks + first))
    return States.join(np.arange(len(parts)), parts), as_blocks([block for region in regions for block in region.decided])


def draw_block(rng, problem, region):
    """Some undecided features outside of home that are in one clause, or in none; or a single feature."""
    undecided = ~region.inside & ~problem.home[region.index]
    places = np.flatnonzero(undecided & (region.states.clause == rng.integers(-1, len(region.clauses))))
    if rng.random() < 0.3 or not len(places):
        places = np.flatnonzero(~region.inside)[:1]
    return region.index[rng.permutation(places)[: rng.integers(1, 4)]]


def nodes_of(rng, problem, fits):
    """The root and some nodes with decisions that leave a model: the region, the values of these models, and the decisions."""
    features = np.flatnonzero(problem.counted)
    for count in [0, *rng.integers(1, len(features) + 1, 8)]:
        region, sides = Region.root(problem), []
        for _ in range(count):
            block = draw_block(rng, problem, region)
            if not len(block):
                break
            sides.append((frozenset(block.tolist()), int(rng.random() < (0.75 if problem.home[block].any() else 0.5))))
            region = region.decide(block, sides[-1][1])
            region = None if region is None else region.settle()
            if region is None:
                break
        models = [S for S in fits if all(bool(S & block) == side for block, side in sides)]
        values = {S: fits[S].value + problem.lambda_0 * spent(problem, S) for S in models}
        assert (region is None or region.cap(ANY) is None) == (not values), sides
        if values:
            yield region, values, sides
