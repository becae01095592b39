"""The regions of nodes: which features are in, out or undecided there, clauses and boxes; and what decisions make of them.

Arrays of many regions stand one after the other, so that one pass of NumPy serves many nodes. A feature is a column, or a group
of columns that is known by its first one; boxes belong to columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Mask = NDArray[np.bool_]
Index = NDArray[np.int64]


def ranges(starts: Index, sizes: Index) -> tuple[Index, Index]:
    """Return the numbers of several ranges, one after the other, and which range each belongs to."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    before = np.cumsum(sizes) - sizes
    return np.arange(len(owner)) + (starts - before)[owner], owner


@dataclass(frozen=True)
class Blocks:
    """The blocks of features that decisions are about, one after the other; ascending, each feature once."""

    members: Index
    starts: Index
    sizes: Index

    @staticmethod
    def of(members: Index, sizes: Index) -> Blocks:
        """Return blocks of these sizes, whose features stand one after the other in any order."""
        width = int(members.max(initial=0)) + 1
        keys = np.unique(np.repeat(np.arange(len(sizes)), sizes) * width + members)
        sizes = np.bincount(keys // width, minlength=len(sizes))
        return Blocks(keys % width, np.cumsum(sizes) - sizes, sizes)

    @staticmethod
    def of_groups(heads: Index) -> Blocks:
        """Return the columns of each group, by the number of its first column; other columns have no members."""
        sizes = np.bincount(heads, minlength=len(heads))
        return Blocks(np.argsort(heads, kind="stable"), np.cumsum(sizes) - sizes, sizes)

    def listed(self, numbers: Index) -> tuple[Index, Index]:
        """Return the features of some blocks, one after the other, and the place of the block of each; -1 is an empty one."""
        known = numbers >= 0
        at, owner = ranges(self.starts[numbers[known]], self.sizes[numbers[known]])
        return self.members[at], np.flatnonzero(known)[owner]


@dataclass(frozen=True)
class State:
    """The region of a node: its undecided features, those that are in, clauses and boxes; all other features are zero there.

    At least one feature of each clause is in. Clauses are blocks without features in common, of undecided features outside of
    `home`; features of the block that are out stay a part of it.
    """

    index: Index  # ascending
    inside: Mask  # in, or unpenalized; the others are undecided
    low: Array  # of each of `columns`
    high: Array
    clause: Index  # the number of each feature's clause, -1 if it has none
    blocks: Index  # the block that each clause is
    members: Blocks | None = None  # the columns of each feature; None: every column is a feature

    @property
    def columns(self) -> Index:
        """The columns of the features, those of the first one first."""
        return self.index if self.members is None else self.members.listed(self.index)[0]

    @property
    def nbytes(self) -> int:
        """The memory that it takes, about."""
        return 3 * int(self.index.nbytes) + 16 * len(self.low)


@dataclass(frozen=True)
class States:
    """The regions of several nodes, in this order; a region in which nothing is left is no longer among them."""

    node: Index  # of each region
    owner: Index  # the region of each entry, ascending; an entry is a feature of a region, and features are ascending
    index: Index
    inside: Mask
    low: Array  # of each of `columns`
    high: Array
    clause: Index  # the number of each entry's clause, -1 if it has none
    holder: Index  # the region of each clause
    blocks: Index  # the block that each clause is
    members: Blocks | None = None  # the columns of each feature; None: every column is a feature

    @cached_property
    def listed(self) -> tuple[Index, Index]:
        """The columns of all entries, one after the other, and the entry that each belongs to; only with `members`."""
        assert self.members is not None
        return self.members.listed(self.index)

    @property
    def columns(self) -> Index:
        """The columns of all entries, one after the other."""
        return self.index if self.members is None else self.listed[0]

    def of_columns(self, values: Array) -> Array:
        """Return for each column the value of its entry."""
        return values if self.members is None else values[self.listed[1]]

    def sums(self, values: Array) -> Array:
        """Return the sum of the values of each entry's columns."""
        if self.members is None or not len(values):
            return values
        sizes = self.sizes
        return np.asarray(np.add.reduceat(values, np.cumsum(sizes) - sizes))

    @property
    def sizes(self) -> Index:
        """The number of columns of each entry."""
        return np.ones(len(self.index), dtype=np.int64) if self.members is None else self.members.sizes[self.index]

    @staticmethod
    def join(nodes: Index, parts: Sequence[State]) -> States:
        """Return regions together."""
        index, inside, low, high, clause, blocks = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("index", "inside", "low", "high", "clause", "blocks")
        )
        owner = np.repeat(np.arange(len(parts)), [len(part.index) for part in parts])
        holder = np.repeat(np.arange(len(parts)), [len(part.blocks) for part in parts])
        first = np.searchsorted(holder, np.arange(len(parts)))  # the first clause of each region
        clause = np.where(clause < 0, -1, clause + first[owner])
        return States(nodes, owner, index, inside, low, high, clause, holder, blocks, parts[0].members)

    def split(self) -> Iterable[tuple[int, State]]:
        """Yield each node and its region."""
        order = np.argsort(self.holder, kind="stable")
        place = np.append(np.argsort(order), -1)
        regions = np.arange(len(self.node) + 1)
        entries, clauses = np.searchsorted(self.owner, regions), np.searchsorted(self.holder[order], regions)
        clause = place[self.clause] - np.where(self.clause < 0, 0, clauses[self.owner])
        blocks = self.blocks[order]
        boxes = entries if self.members is None else np.searchsorted(self.of_columns(self.owner), regions)
        for at, node in enumerate(self.node.tolist()):
            part, own = slice(entries[at], entries[at + 1]), slice(clauses[at], clauses[at + 1])
            box = slice(boxes[at], boxes[at + 1])
            index, inside, low, high, mine = (
                each.copy() for each in (self.index[part], self.inside[part], self.low[box], self.high[box], clause[part])
            )
            yield node, State(index, inside, low, high, mine, blocks[own].copy(), self.members)

    def count(self, mask: Mask) -> Index:
        """Return how many entries of each region a mask holds."""
        return np.bincount(self.owner[mask], minlength=len(self.node))

    def count_columns(self, mask: Mask) -> Index:
        """Return how many columns of each region a mask holds."""
        return np.bincount(self.of_columns(self.owner)[mask], minlength=len(self.node))

    def total(self, values: Array, mask: Mask) -> Array:
        """Return the sum of values of the entries of each region that a mask holds."""
        out = np.zeros(len(self.node), dtype=values.dtype)
        np.add.at(out, self.owner[mask], values[mask])
        return out

    def least_of_clauses(self, values: Array) -> Array:
        """Return the least value of each clause's entries."""
        out = np.full(len(self.blocks), np.inf, dtype=values.dtype)
        member = self.clause >= 0
        np.minimum.at(out, self.clause[member], values[member])
        return out

    def of_regions(self, values: Array) -> Array:
        """Return the sums over each region's clauses of a value for each clause."""
        out = np.zeros(len(self.node), dtype=values.dtype)
        np.add.at(out, self.holder, values)
        return out

    @property
    def clauses(self) -> Index:
        """The number of clauses of each region."""
        return np.bincount(self.holder, minlength=len(self.node))

    def find(self, owner: Index, feature: Index) -> Index:
        """Return the entries of features in regions, -1 for a feature that is out."""
        width = 1 + max(int(self.index.max(initial=0)), int(feature.max(initial=0)))
        return places(self.owner * width + self.index, owner * width + feature)

    def keep(self, mask: Mask) -> States:
        """Return the regions without the entries outside the mask, which become zero."""
        if mask.all():
            return self
        names, box = ("owner", "index", "inside", "clause"), self.of_columns(mask)
        return replace(self, **{name: getattr(self, name)[mask] for name in names}, low=self.low[box], high=self.high[box])

    def only(self, left: Mask) -> States:
        """Return some of the regions."""
        if left.all():
            return self
        kept, held = self.keep(left[self.owner]), left[self.holder]
        number, clause = np.cumsum(left) - 1, np.append(np.where(held, np.cumsum(held) - 1, -1), -1)
        return replace(
            kept,
            node=self.node[left],
            owner=number[kept.owner],
            clause=clause[kept.clause],
            holder=number[self.holder[held]],
            blocks=self.blocks[held],
        )

    def decide(self, blocks: Blocks, number: Index, side: Index, home: Mask) -> States:
        """Return the regions with one more decision each, about the block of this number (-1: none).

        Side 0: no feature of the block is in. Side 1: at least one is. That adds nothing where one is known to be in, nor where
        the block shares features with a clause without being a part of it, or holds several features of which one is at home.
        """
        feature, owner = blocks.listed(number)
        found = self.find(owner, feature)
        here = np.zeros(len(self.index), dtype=bool)
        here[found[found >= 0]] = True
        inside, left = self.count(here & self.inside) > 0, self.count(here)
        out, into = (number >= 0) & (side == 0), (number >= 0) & (side == 1)
        states = replace(self, inside=self.inside | here & (into & (left == 1))[self.owner])
        states = states.claim(blocks, np.where(into & ~inside & (left > 1), number, -1), here, home)
        return states.keep(~(here & out[self.owner])).only(~(out & inside | into & (left == 0)))

    def claim(self, blocks: Blocks, number: Index, here: Mask, home: Mask) -> States:
        """Return the regions with blocks as clauses, as far as they fit; `here` are the entries of the blocks, among others."""
        # Features that are out count here: what is added depends on the blocks alone, not on what was proved about them.
        feature, owner = blocks.listed(number)
        known, clause = blocks.listed(np.where(number[self.holder] >= 0, self.blocks, -1))
        width = len(home)
        keys = self.holder[clause] * width + known
        order = np.argsort(keys)
        shared = np.append(clause[order], -1)[places(keys[order], owner * width + feature)]
        least, most = np.full((2, len(number)), -1)
        least[owner] = shared  # of any member; then the least and the largest of all
        np.minimum.at(least, owner, shared)
        np.maximum.at(most, owner, shared)
        fits = (number >= 0) & (least == most)
        fits[owner[home[feature]]] = False
        fresh = fits & (least < 0)
        target = np.where(fits, least, -1)
        target[fresh] = len(self.blocks) + np.arange(np.count_nonzero(fresh))
        holder, made = np.concatenate((self.holder, np.flatnonzero(fresh))), np.concatenate((self.blocks, number[fresh]))
        made[target[fits]] = number[fits]
        # What a clause loses to a part of it is in no clause.
        mine = np.where(fits & ~fresh, least, -2)[self.owner]
        clause = np.where(self.clause == mine, -1, self.clause)
        return replace(self, clause=np.where(here & fits[self.owner], target[self.owner], clause), holder=holder, blocks=made)

    def settle(self) -> States:
        """Return the regions without satisfied clauses, and with the last feature of a clause in.

        An empty clause leaves nothing.
        """
        if not len(self.blocks):
            return self
        member = self.clause >= 0
        left = np.bincount(self.clause[member], minlength=len(self.blocks))
        inside = self.inside | member & (left[self.clause] == 1)
        satisfied = np.zeros(len(self.blocks), dtype=bool)
        satisfied[self.clause[member & inside]] = True
        number = np.append(np.where(satisfied, -1, np.cumsum(~satisfied) - 1), -1)  # the last one: of no clause
        settled = replace(
            self,
            inside=inside,
            clause=number[self.clause],
            holder=self.holder[~satisfied],
            blocks=self.blocks[~satisfied],
        )
        possible = np.ones(len(self.node), dtype=bool)
        possible[self.holder[left == 0]] = False
        return settled.only(possible)


def places(keys: Index, wanted: Index) -> Index:
    """Return where ascending keys are equal to the wanted ones, -1 where none is."""
    if not len(keys):
        return np.full(len(wanted), -1)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, at, -1)
