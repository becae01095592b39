"""Rules that a model pays for: how much lower its objective would be without one of them."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from ellzero.exact.incumbent import find_incumbent
from ellzero.exact.options import SearchOptions
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem
from ellzero.problem.rules import Rule, as_list, rules_in_words

MOST_TRIED = 16  # rules that are left out one by one; of more, those that the best model without any rule breaks
MOST_SHOWN = 5  # of more, only their number is printed
LEAST = 1e-6  # of the objective: what differs by less is the same


@dataclass(frozen=True)
class BindingRule:
    """A rule without which a better model is known.

    Attributes
    ----------
    rule : Rule
    objective : of the best model that local search finds without the rule
    share : by how much that is lower, relative to the objective of the model that obeys

    """

    rule: Rule
    objective: float
    share: float

    def __str__(self) -> str:
        return f"without {self.rule} the objective would be {100.0 * self.share:.2g} % lower"


def binding_rules(problem: Problem, options: SearchOptions, model: Model) -> list[BindingRule]:
    """Return the rules that a model pays for, the dearest first; there may be more, as local search may miss models."""
    if not problem.rules:
        return []
    rules = problem.rules

    def best_without(numbers: Collection[int]) -> Model:
        freer = replace(problem, rules=rules.without(numbers))
        return find_incumbent(freer, options, [model], "local_search", time.monotonic()).model

    def share(other: Model) -> float:
        return (model.objective - other.objective) / model.objective if model.objective > 0.0 else 0.0

    numbers = list(range(len(rules.given)))
    if len(numbers) > MOST_TRIED:
        free = best_without(numbers)
        broken = rules.broken(rules.inside(problem.penalty, free.support))
        numbers = [rules.given.index(rule) for rule in broken[:MOST_TRIED]] if share(free) > LEAST else []
    found = [(number, best_without([number])) for number in numbers]
    out = [BindingRule(rules.given[number], other.objective, share(other)) for number, other in found]
    return sorted((each for each in out if each.share > LEAST), key=lambda each: -each.share)


def words_on_rules(rules: Iterable[Rule] | None, binding: Iterable[BindingRule]) -> list[str]:
    """Return the rules that a model obeys, and those that it pays for, as sentences; none without rules."""
    given = as_list(rules)
    if not given:
        return []
    held = f"obeys {rules_in_words(given, ', ')}" if len(given) <= MOST_SHOWN else f"obeys {len(given):,} rules"
    return [held, *(str(each) for each in binding)]
