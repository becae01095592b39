"""Rules on features, as the verifier understands them: statements of one form, and what they imply in a region.

If `feature` is in (always, if it is -1), at least `low` and at most `high` of the members are in. In a region, a statement that
applies puts its undecided members out once `high` are in, and in once no more than `low` are left; one that cannot hold puts
its feature out, or leaves nothing of the region. That is repeated until nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.exact.verifier.data import require, require_all
from ellzero.exact.verifier.regions import Array, Blocks, Index, Mask, States

OUT, OPEN, IN = 0, 1, 2
NAMES = ("rule_feature", "rule_low", "rule_high", "rule_ends", "rule_members")
Statement = tuple[int, int, int, frozenset[int]]


@dataclass(frozen=True)
class StatedRules:
    """The statements, one entry for each; members stand one after the other. Features are those of the larger matrix."""

    feature: Index
    low: Index
    high: Index
    members: Blocks

    @cached_property
    def known(self) -> Index:
        """The features that have a part in any statement, ascending."""
        return np.unique(np.concatenate((self.feature[self.feature >= 0], self.members.members)))

    @cached_property
    def places(self) -> tuple[Index, Index]:
        """Where the feature of each statement is among these (-1: there is none), and each member."""
        feature = np.where(self.feature >= 0, np.searchsorted(self.known, self.feature), -1)
        return feature, np.searchsorted(self.known, self.members.members)

    def hold(self, inside: Mask) -> bool:
        """Return whether a support, of all features, obeys."""
        counts = np.add.reduceat(inside[self.members.members].astype(np.int64), self.members.starts)
        applies = (self.feature < 0) | inside[self.feature]
        return bool((~applies | (counts >= self.low) & (counts <= self.high)).all())

    def propagate(self, states: States) -> States:
        """Return the regions with all that the statements imply there, without those in which nothing is left."""
        place = np.searchsorted(self.known, states.index)
        ours = self.known[np.minimum(place, len(self.known) - 1)] == states.index
        owner, place = states.owner[ours], place[ours]
        at = np.full((len(states.node), len(self.known)), OUT, dtype=np.int8)
        at[owner, place] = np.where(states.inside[ours], IN, OPEN)
        left = self.settle(at)
        found = np.full(len(states.index), OPEN, dtype=np.int8)
        found[ours] = at[owner, place]
        states = replace(states, inside=states.inside | (found == IN))
        return states.keep(found != OUT).only(left)

    def settle(self, at: Array) -> Mask:
        """Decide what follows, one row for each region; return which regions contradict nothing."""
        feature, members = self.places
        left = np.ones(len(at), dtype=bool)
        while True:
            before = at.copy()
            inside, still = (
                np.add.reduceat((at[:, members] == state).astype(np.int64), self.members.starts, axis=1) for state in (IN, OPEN)
            )
            its = np.where(feature >= 0, at[:, feature], IN)
            broken = (inside > self.high) | (inside + still < self.low)
            left &= ~(broken & (its == IN)).any(axis=1)
            for row, statement in np.argwhere(broken & (its == OPEN)):
                at[row, feature[statement]] = OUT
            decided = (its == IN) & ~broken & (still > 0)
            for into, some in ((OUT, decided & (inside == self.high)), (IN, decided & (inside + still == self.low))):
                mine = np.repeat(some, self.members.sizes, axis=1) & (at[:, members] == OPEN)
                row, member = np.nonzero(mine)
                at[row, members[member]] = into
            if np.array_equal(at, before):
                return left


def read_rules(arrays: dict[str, NDArray[Any]], outputs: int) -> StatedRules | None:
    """Return the statements of a certificate, None if it has none; refuse what is no statement about features."""
    if not arrays.keys() & set(NAMES):
        return None
    require(arrays.keys() >= set(NAMES), "some arrays of the rules are missing.")
    feature, low, high, ends, members = (arrays[name] for name in NAMES)
    sizes = np.diff(ends, prepend=0)
    require(len(ends) > 0 and (sizes > 0).all() and ends[-1] == len(members), "rule_ends is not that of the members of rules.")
    require_all((low >= 0) & (low <= high), "rule_low and rule_high are not in order")
    heads = arrays.get("group", np.arange(1 + max(int(members.max()), int(feature.max()))))
    require_all(heads[members] == members, "rule_members names columns that do not head their groups")
    require_all((feature < 0) | (heads[feature] == feature), "rule_feature names columns that do not head their groups")
    blocks = Blocks.of(members * outputs, sizes)
    require(bool((blocks.sizes == sizes).all()), "rule_members names a feature twice in one rule.")
    return StatedRules(np.where(feature < 0, -1, feature * outputs), low, high, blocks)


def claimed_statements(arrays: dict[str, NDArray[Any]]) -> set[Statement]:
    """Return the statements of a certificate, in no order."""
    if "rule_feature" not in arrays:
        return set()
    starts = np.concatenate(([0], arrays["rule_ends"]))
    return {
        (int(feature), int(low), int(high), frozenset(arrays["rule_members"][start:end].tolist()))
        for feature, low, high, start, end in zip(
            arrays["rule_feature"], arrays["rule_low"], arrays["rule_high"], starts[:-1], starts[1:], strict=True
        )
    }


def stated_rules(rules: Iterable[Any], heads: Index, names: list[str], labels: list[Any]) -> set[Statement]:
    """Return what a reader's rules say, each of which has a kind, features, a count and, if it requires, a feature."""
    by_name = {name: j for j, name in enumerate(names)}
    groups = {str(label): j for j, label in reversed(list(enumerate(labels))) if label is not None}

    def place(feature: Any) -> int:
        whole = isinstance(feature, (int, np.integer)) and 0 <= feature < len(heads)
        j = feature if whole and feature not in by_name else groups.get(str(feature), by_name.get(feature))
        if j is None:
            raise InvalidInputError(f"rules names a feature that X does not have: {feature!r:.40}.")
        return int(heads[j])

    out: set[Statement] = set()
    for rule in rules:
        members = [place(feature) for feature in rule.features]
        every = len(members)
        if rule.kind == "requires":
            out.add((place(rule.feature), every if rule.how == "all" else 1, every, frozenset(members)))
        elif rule.kind == "together":
            out |= {(j, 1, 1, frozenset([members[(at + 1) % every]])) for at, j in enumerate(members) if every > 1}
        else:
            least = 0 if rule.kind == "at_most" else rule.count
            out.add((-1, least, every if rule.kind == "at_least" else rule.count, frozenset(members)))
    return out


def describe_rules(arrays: dict[str, NDArray[Any]], longest: int) -> list[str]:
    """Return the statements in words, the first few one by one."""
    lines = []
    found = sorted(claimed_statements(arrays), key=lambda each: (each[0], sorted(each[3]), each[1], each[2]))
    for feature, low, high, members in found[:longest]:
        several = sorted(members)
        shown = ", ".join(map(str, several[:longest])) + (
            f" and {len(several) - longest} more" if len(several) > longest else ""
        )
        most = f"at most {high}" if high < len(several) else ""
        least = f"at least {low}" if low > 0 else ""
        count = f"exactly {low}" if low == high else " and ".join(part for part in (least, most) if part) or "any number"
        lines.append(f"rule: {'' if feature < 0 else f'with feature {feature}, '}{count} of features {shown} in the model")
    if len(found) > longest:
        lines.append(f"and {len(found) - longest} more rules")
    return lines
