"""The models that a certificate of alternatives lists: check each, and that the open leaves of the tree are theirs.

A leaf of the tree that is not closed is the leaf of a listed model, whose features are those that are in there, or it is
redundant: whatever features it has beside those of a listed model, they gain nothing.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.exact.verifier.bounds import Stated
from ellzero.exact.verifier.data import Refused, require
from ellzero.exact.verifier.regions import Index, State
from ellzero.exact.verifier.tree import Report, Tree

Array = NDArray[np.float64]
Support = frozenset[int]

EQUAL = 1e-8  # of the scale: a listed model gains more than half of that
NOTHING = 1e-6  # of the scale: what is proved to gain less need not be listed
ROUNDED = 1e-12  # of what features pay: bounds that count it have no more digits
MOST_FAULTS = 5  # that are told one by one


@dataclass(frozen=True)
class Walk:
    """The result of a walk over the tree."""

    least: Any  # of the bounds of all leaves that are neither listed nor redundant
    leaves: int
    unsolved: int  # of these leaves: those without a dual point that are below the threshold
    faults: list[str]


@dataclass
class Listing:
    """The listed models: their nodes, supports and costs, which are objectives without lambda_0; and the redundant nodes."""

    threshold: float
    scale: float
    nodes: dict[int, int]  # the place of each node's model in the list
    redundant: dict[int, int]  # the place of the model to which each node adds nothing
    supports: list[Support]  # counted features; groups by their first columns
    costs: list[float]
    objectives: list[float]
    faults: list[str] = field(default_factory=list)

    @staticmethod
    def of(arrays: dict[str, NDArray[Any]], problem: Stated, threshold: float, scale: float, tolerance: float) -> Listing:
        """Read the list, and compute all objectives from the data."""
        nodes, redundant = arrays["listed_node"].tolist(), arrays["redundant_node"].tolist()
        require(len({*nodes, *redundant}) == len(nodes) + len(redundant), "a node of the tree is listed twice.")
        starts, ends = np.concatenate(([0], arrays["listed_ends"]))[:-1], arrays["listed_ends"]
        whole = (ends >= starts).all() and (ends[-1] if len(ends) else 0) == len(arrays["listed_columns"])
        require(
            whole, "the listed models are malformed: each must end where it begins or later, and the last with the entries."
        )
        out = Listing(
            threshold,
            scale,
            dict(zip(nodes, range(len(nodes)), strict=True)),
            dict(zip(redundant, arrays["redundant_to"].tolist(), strict=True)),
            [],
            [],
            [],
        )
        for place, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            columns, values = arrays["listed_columns"][start:end], arrays["listed_coef"][start:end]
            out.add(place, columns, values, np.atleast_1d(arrays["listed_intercept"][place]), problem, tolerance)
        return out

    def add(self, place: int, columns: Index, values: Array, intercept: Array, problem: Stated, tolerance: float) -> None:
        """Check one model: its features, its bounds, and that it is not above the threshold."""
        require(len(np.unique(columns)) == len(columns), f"model {place} of the list names a feature twice.")
        coef, every = np.zeros(len(problem.counted)), problem.columns(columns)
        coef[every] = values.ravel()
        beta = problem.arithmetic.numbers(coef) * problem.arithmetic.numbers(problem.spread)
        require(problem.obeys(coef), f"model {place} of the list does not obey the rules.")
        inside = (beta >= problem.low) & (beta <= problem.high)
        require(bool(inside.all()), f"model {place} of the list violates lower, upper or the assumed bound.")
        require(
            problem.fit_intercept or not intercept.any(), f"model {place} of the list has an intercept, the problem has none."
        )
        counted = every[problem.counted[every]]
        if not coef[counted].reshape(-1, problem.outputs).any(axis=1).all():
            self.tell(f"model {place} of the list has a coefficient of zero.")
        value = float(problem.evaluate(coef, intercept).value)
        if value > self.threshold + tolerance:
            self.tell(f"model {place} of the list has the objective {value:.15g}, above the threshold {self.threshold:.15g}.")
        features = problem.features(counted).tolist()
        self.supports.append(frozenset(features))
        self.costs.append(value - paid(features, problem))
        self.objectives.append(value)

    def tell(self, fault: str) -> None:
        """Note a fault, of many only the first few."""
        self.faults.append(fault)

    def walk(self, tree: Tree, problem: Stated, upper: Any, enough: float, report: Report | None) -> Walk:
        """Walk the tree: its open leaves must be those of the list, and of supports that add nothing to it."""
        least: Any = math.inf
        leaves = unsolved = 0
        met: dict[Support, int] = {}  # the redundant supports, and the model to which each adds nothing
        seen: set[int] = set()
        for leaf in tree.leaves(problem, upper, report):
            leaves += 1
            if leaf.node in self.nodes:
                seen.add(leaf.node)
                self.check_listed(self.nodes[leaf.node], leaf.bound, leaf.state, problem)
            elif leaf.node in self.redundant:
                seen.add(leaf.node)
                place = self.redundant[leaf.node]
                met |= self.check_redundant(leaf.node, place, leaf.bound, leaf.state, problem)
            else:
                least = min(least, leaf.bound)
                unsolved += not leaf.solved and leaf.bound < enough
        if {*self.nodes, *self.redundant} - seen:
            raise Refused("the list names a node that is no leaf of the tree.")
        self.check_gains(met)
        more = len(self.faults) - MOST_FAULTS
        faults = self.faults[:MOST_FAULTS] + ([f"{more} more faults of listed models."] if more > 0 else [])
        return Walk(least, leaves, unsolved, faults)

    def check_listed(self, place: int, bound: Any, state: State | None, problem: Stated) -> None:
        """Check that the leaf of a model is that of its support, and that no other support there gains anything."""
        if state is None:
            self.tell(f"model {place} of the list is at a leaf that holds no model up to the threshold.")
            return
        inside, all_decided = features_of(state, problem)
        if inside != self.supports[place]:
            self.tell(f"model {place} of the list does not have the features of its leaf.")
        elif not all_decided and not self.nothing_more(place, bound, state, problem):
            self.tell(f"the leaf of model {place} of the list holds other models.")

    def check_redundant(self, node: int, place: int, bound: Any, state: State | None, problem: Stated) -> dict[Support, int]:
        """Check that the supports of a leaf add nothing to a listed model; return the support that is decided there."""
        if state is None:  # nothing is there
            return {}
        inside, all_decided = features_of(state, problem)
        pays = paid(inside, problem)
        bare = float(bound) - pays
        enough = self.costs[place] - NOTHING * self.scale - ROUNDED * pays
        if not self.supports[place] < inside:
            self.tell(f"node {node} does not have the features of model {place} of the list, and others.")
        elif not (bare >= enough if all_decided else self.nothing_more(place, bound, state, problem)):
            self.tell(f"node {node} may hold a model that is better than model {place} of the list, and is not listed.")
        return {inside: place}

    def nothing_more(self, place: int, bound: Any, state: State, problem: Stated) -> bool:
        """Return whether all supports of a region, with whatever undecided features, gain nothing on a model with some of those
        that are in. A bound counts what features cost: it says what they gain only where they cost nothing.
        """
        free = problem.lambda_0 == 0 and not len(state.blocks)
        return bool(free and float(bound) >= self.costs[place] - NOTHING * self.scale)

    def check_gains(self, redundant: dict[Support, int]) -> None:
        """Check that every listed model is better than those with a part of its features."""
        places = {support: place for place, support in enumerate(self.supports)} | redundant
        if len(set(self.supports)) < len(self.supports):
            self.tell("a support is listed twice.")
        for place, support in enumerate(self.supports):
            for j in support:
                part = places.get(support - {j})
                if part is not None and self.costs[part] <= self.costs[place] + 0.5 * EQUAL * self.scale:
                    self.tell(f"model {place} of the list gains nothing on model {part}, which has a part of its features.")
                    break


def paid(features: Collection[int], problem: Stated) -> float:
    """Return what counted features pay: lambda_0 each, or times their prices."""
    prices = len(features) if problem.price is None else math.fsum(float(problem.price[j]) for j in features)
    return float(problem.lambda_0) * prices


def features_of(state: State, problem: Stated) -> tuple[Support, bool]:
    """Return the counted features that are in, and whether all others are out."""
    return frozenset(state.index[state.inside & problem.counted[state.index]].tolist()), bool(state.inside.all())
