"""Random problems with rules on their features, and the best model of each by enumeration."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

import ellzero as ez
from support.cases import Case
from support.cases import draw as draw_case


@dataclass
class Ruled:
    """A random problem: of its case, with groups, prices, a budget and rules. Features are lists of columns."""

    case: Case
    features: list[list[int]]
    prices: np.ndarray  # of each feature, zero for unpenalized ones
    budget: float | None
    rules: list[ez.Rule]  # by the first columns of features

    @property
    def settings(self):
        """What `ez.solve` takes."""
        out = {**self.case.settings, "rules": self.rules}
        p = self.case.X.shape[1]
        cost = np.zeros(p)
        for columns, price in zip(self.features, self.prices, strict=True):
            cost[columns] = price
        out["unpenalized"] = out["unpenalized"] or None
        if len(self.features) < p:
            out["groups"] = [next(at for at, columns in enumerate(self.features) if j in columns) for j in range(p)]
        if len(np.unique(self.prices[self.prices > 0.0])) > 1 or self.budget is not None:
            out["feature_cost"] = cost
        if self.budget is not None:
            out |= {"k": None, "budget": self.budget}
        return out

    @property
    def words(self):
        rules = " and ".join(map(str, self.rules))
        return f"{self.case.words}, features {self.features}, prices {self.prices.tolist()}, budget {self.budget}: {rules}"

    def allowed(self, inside):
        """Whether features, by a mask, keep to the limits and to the rules."""
        k, chosen = self.case.settings["k"], inside & (self.prices > 0.0)
        if self.budget is not None:
            return float(self.prices[chosen].sum()) <= self.budget * (1.0 + 1e-12) and self.obeys(inside)
        return (k is None or np.count_nonzero(chosen) <= k) and self.obeys(inside)

    def obeys(self, inside):
        """Whether features, by a mask, keep to the rules, which are spelled out here once more."""
        at = {columns[0]: inside[place] for place, columns in enumerate(self.features)}
        for rule in self.rules:
            flags = [at[j] for j in rule.features]
            count = sum(flags)
            good = {
                "at_most": lambda rule=rule, count=count: count <= rule.count,
                "at_least": lambda rule=rule, count=count: count >= rule.count,
                "exactly": lambda rule=rule, count=count: count == rule.count,
                "requires": lambda rule=rule, flags=flags: not at[rule.feature] or (all, any)[rule.how == "any"](flags),
                "together": lambda count=count, flags=flags: count in (0, len(flags)),
            }[rule.kind]
            if not good():
                return False
        return True

    def supports(self):
        """All allowed supports, as masks of features; features that cannot be in because their boxes are zero are not."""
        low, high = self.case.limits()
        free = [bool((np.maximum(-low, high)[columns] > 0.0).any()) for columns in self.features]
        choices = [(True,) if price == 0.0 else (False, True) if able else (False,)
                   for price, able in zip(self.prices, free, strict=True)]  # fmt: skip
        masks = (np.array(mask) for mask in product(*choices))
        return [mask for mask in masks if self.allowed(mask)]

    def used(self, support):
        """The features that a model of these columns uses, as a mask."""
        return np.array([price == 0.0 or bool(set(columns) & set(support)) for columns, price in
                         zip(self.features, self.prices, strict=True)])  # fmt: skip

    def value(self, oracle, mask):
        """The least objective of a support."""
        columns = [j for columns, inside, price in zip(self.features, mask, self.prices, strict=True)
                   if inside and price > 0.0 for j in columns]  # fmt: skip
        return oracle.fit(frozenset(columns)).value + self.case.settings["lambda_0"] * float(self.prices[mask].sum())

    def values(self):
        """The least objective of each allowed support."""
        oracle = self.case.oracle()
        return {tuple(mask.tolist()): self.value(oracle, mask) for mask in self.supports()}


def draw(seed, largest=7):
    """Return a random problem with rules that some model obeys."""
    rng = np.random.default_rng(10_000 + seed)
    at = seed
    while (case := draw_case(at)).X.shape[1] > largest:
        at += 10_007 * 16
    p, unpenalized = case.X.shape[1], case.settings["unpenalized"]
    features = [[j] for j in range(p)]
    if not case.settings["standardize"] and rng.random() < 0.3:
        places = rng.permutation([j for j in range(p) if j not in unpenalized])
        pair = sorted(places[:2].tolist())
        if len(pair) == 2:
            features = [[j] for j in range(p) if j not in pair]
            features.insert(sum(each[0] < pair[0] for each in features), pair)
    prices = np.array([0.0 if columns[0] in unpenalized else 1.0 for columns in features])
    budget = None
    if rng.random() < 0.3:
        prices *= rng.integers(1, 4, len(prices))
        if case.settings["k"] is not None and prices.any():
            budget = float(rng.integers(prices.max(), max(prices.sum(), prices.max() + 1)))
        elif case.settings["k"] is not None:
            prices = np.minimum(prices, 1.0)
    heads = [columns[0] for columns in features]
    while True:
        out = Ruled(case, features, prices, budget, [rule(rng, heads) for _ in range(rng.integers(1, 4))])
        if out.supports():
            return out


def rule(rng, heads):
    """Return a random rule."""
    some = rng.permutation(heads)[: rng.integers(2, max(3, len(heads)))].tolist()
    kind = rng.choice(["at_most", "at_least", "exactly", "requires", "any", "together"])
    if kind == "requires":
        return ez.requires(some[0], some[1:3])
    if kind == "any":
        return ez.requires(some[0], some[1:], how="any")
    if kind == "together":
        return ez.together(some[:3])
    return getattr(ez, kind)(int(rng.integers(0 if kind == "at_most" else 1, min(3, len(some)) + (kind != "at_most"))), some)
