"""Rules on features: what may, or must, be in a model together.

Whatever a rule is called, it becomes statements of one form, which the solvers, the referee and the verifier read alike: if
`feature` is in (always, if it is -1), at least `low` and at most `high` of its members are in.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import MOST_NAMED, quoted
from ellzero.base.validation import as_choice, as_count
from ellzero.problem.grouping import Grouping
from ellzero.problem.penalties import Penalty

Mask = NDArray[np.bool_]
OPEN, IN, OUT = 0, 1, 2
MOST_TRIED = 20_000
"""Choices that are tried when the least model that obeys is looked for; beyond that the best one found is taken."""


@dataclass(frozen=True)
class Rule:
    """A rule on features, as :func:`at_most`, :func:`at_least`, :func:`exactly`, :func:`requires` and :func:`together` make it.

    Attributes
    ----------
    kind : "at_most", "at_least", "exactly", "requires" or "together"
    features : names or positions of columns, or names of groups
    count : of "at_most", "at_least" and "exactly"
    feature : of "requires", the one that needs the others
    how : of "requires", "all" or "any"

    """

    kind: str
    features: tuple[Any, ...]
    count: int | None = None
    feature: Any = None
    how: str = "all"

    def __str__(self) -> str:
        shown = ", ".join(map(quoted, self.features[:MOST_NAMED])) + (", ..." if len(self.features) > MOST_NAMED else "")
        if self.kind == "requires":
            how = "" if self.how == "all" else f", how={self.how!r}"
            return f"requires({quoted(self.feature)}, [{shown}]{how})"
        return f"{self.kind}([{shown}])" if self.count is None else f"{self.kind}({self.count}, [{shown}])"

    def as_json(self) -> dict[str, Any]:
        """Return the rule as a rules file holds it."""
        feature, *features = (each if isinstance(each, int) else str(each) for each in (self.feature, *self.features))
        if self.kind == "requires":
            return {"requires": feature, self.how: features}
        return {self.kind: features} if self.count is None else {self.kind: self.count, "of": features}


def at_most(count: int, features: Iterable[Any]) -> Rule:
    """Make a rule: at most ``count`` of these features are in the model.

    Parameters
    ----------
    count : int
    features : names or positions of columns, or names of groups

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y, _ = ez.datasets.make_classification(100, 8, 3, random_state=0)
    >>> ez.fit_sizes(X, y, 2, lambda_2=0.01)[2].support.tolist()
    [0, 5]
    >>> ez.fit_sizes(X, y, 2, lambda_2=0.01, rules=[ez.at_most(1, [0, 5])])[2].support.tolist()
    [2, 5]

    """
    return Rule("at_most", as_features(features), as_count("count", count, 0))


def at_least(count: int, features: Iterable[Any]) -> Rule:
    """Make a rule: at least ``count`` of these features are in the model.

    Parameters
    ----------
    count : int
    features : names or positions of columns, or names of groups

    """
    return Rule("at_least", as_features(features), as_count("count", count, 0))


def exactly(count: int, features: Iterable[Any]) -> Rule:
    """Make a rule: exactly ``count`` of these features are in the model.

    Parameters
    ----------
    count : int
    features : names or positions of columns, or names of groups

    """
    return Rule("exactly", as_features(features), as_count("count", count, 0))


def requires(feature: Any, features: Iterable[Any], how: str = "all") -> Rule:
    """Make a rule: ``feature`` is in the model only with others.

    Parameters
    ----------
    feature : name or position of a column, or name of a group
    features : those that it needs
    how : {"all", "any"}
        Whether it needs all of them (strong heredity, where it is an interaction) or one of them (weak heredity).

    Examples
    --------
    >>> import ellzero as ez
    >>> print(ez.requires("age:sex", ["age", "sex"]))
    requires('age:sex', ['age', 'sex'])

    """
    as_choice("how", how, ("all", "any"))
    return Rule("requires", as_features(features), feature=as_features([feature])[0], how=how)


def together(features: Iterable[Any]) -> Rule:
    """Make a rule: all of these features are in the model or none is; each pays lambda_0, unlike a group.

    Parameters
    ----------
    features : names or positions of columns, or names of groups

    """
    return Rule("together", as_features(features))


def as_features(features: Iterable[Any]) -> tuple[Any, ...]:
    """Return the features of a rule, of which there must be one at least."""
    if isinstance(features, str) or not isinstance(features, Iterable):
        raise InvalidInputError(f"features of a rule must be a list of names or positions, got {quoted(features)}.")
    out = tuple(each.item() if isinstance(each, np.generic) else each for each in features)
    if not out:
        raise InvalidInputError("features of a rule must name at least one.")
    return out


def as_list(rules: Iterable[Rule] | Rule | None) -> list[Rule]:
    """Return rules as a list; a single one may stand for itself."""
    return [] if rules is None else [rules] if isinstance(rules, Rule) else list(rules)


def rules_of_json(content: Any) -> list[Rule]:
    """Return the rules that a list of entries of a file describes."""
    if not isinstance(content, list):
        raise InvalidInputError(f"rules in a file are a list, got {quoted(content)}.")
    return [rule_of_json(each) for each in content]


def rule_of_json(content: Any) -> Rule:
    """Return the rule that an entry of a rules file describes.

    >>> print(rule_of_json({"at_most": 1, "of": ["a", "b"]}), rule_of_json({"requires": "a:b", "any": ["a", "b"]}))
    at_most(1, ['a', 'b']) requires('a:b', ['a', 'b'], how='any')
    """
    counted = {"at_most": at_most, "at_least": at_least, "exactly": exactly}
    if isinstance(content, Mapping):
        for name, make in counted.items():
            if set(content) == {name, "of"}:
                return make(content[name], content["of"])
        if set(content) == {"together"}:
            return together(content["together"])
        for how in ("all", "any"):
            if set(content) == {"requires", how}:
                return requires(content["requires"], content[how], how)
    raise InvalidInputError(
        'a rule in a file is {"at_most": 1, "of": [...]} (or at_least, exactly), {"requires": "a", "all": [...]} (or any) or '
        f'{{"together": [...]}}, got {quoted(content)}.'
    )


@dataclass(frozen=True)
class Statement:
    """If `feature` is in (always, if it is -1), at least `low` and at most `high` of the members are in; all are heads."""

    feature: int
    low: int
    high: int
    members: tuple[int, ...]
    rule: int  # the number of the rule that it comes from

    def holds(self, inside: Mask) -> bool:
        """Return whether a support obeys."""
        if self.feature >= 0 and not inside[self.feature]:
            return True
        return self.low <= int(np.count_nonzero(inside[list(self.members)])) <= self.high


@dataclass(frozen=True, eq=False)
class Rules:
    """The rules of a problem, by the numbers of features: the heads of groups, or columns; none are false."""

    given: tuple[Rule, ...]
    statements: tuple[Statement, ...]
    known: NDArray[np.int8]  # of each column: unpenalized features are in, those whose bounds leave only zero are out

    def __bool__(self) -> bool:
        return bool(self.statements)

    @cached_property
    def of(self) -> list[list[int]]:
        """The statements that each feature has a part in."""
        out: list[list[int]] = [[] for _ in self.known]
        for number, statement in enumerate(self.statements):
            for j in {*statement.members, statement.feature} - {-1}:
                out[j].append(number)
        return out

    @cached_property
    def features(self) -> NDArray[np.int64]:
        """The features that have a part in any rule, ascending."""
        return np.array([j for j, numbers in enumerate(self.of) if numbers], dtype=np.int64)

    def inside(self, penalty: Penalty, support: NDArray[Any]) -> Mask:
        """Return which features a model uses: those of its support, and those that are always in."""
        out = self.known == IN
        out[penalty.heads[support]] = True
        return out

    def broken(self, inside: Mask) -> list[Rule]:
        """Return the rules that these features do not obey."""
        numbers = {each.rule for each in self.statements if not each.holds(inside)}
        return [self.given[number] for number in sorted(numbers)]

    def arrays(self) -> dict[str, NDArray[np.int64]]:
        """Return the statements as a certificate holds them."""
        sizes = [len(each.members) for each in self.statements]
        return {
            **{
                f"rule_{name}": np.array([getattr(each, name) for each in self.statements])
                for name in ("feature", "low", "high")
            },
            "rule_ends": np.cumsum(sizes),
            "rule_members": np.array([j for each in self.statements for j in each.members]),
        }

    def without(self, numbers: Collection[int]) -> Rules:
        """Return the rules without those of these numbers."""
        return replace(self, statements=tuple(each for each in self.statements if each.rule not in numbers))

    def on(self, columns: NDArray[Any]) -> Rules:
        """Return the rules among some columns (ascending, whole groups), numbered anew; the others are out."""
        place = np.full(len(self.known), -1)
        place[columns] = np.arange(len(columns))
        kept = [
            replace(each, feature=int(place[each.feature]) if each.feature >= 0 else -1, members=among(place, each.members))
            for each in self.statements
            if each.feature < 0 or place[each.feature] >= 0
        ]
        return Rules(self.given, tuple(kept), self.known[columns])

    def propagate(self, known: NDArray[np.int8], numbers: Iterable[int] | None = None) -> bool:
        """Decide what follows from what is known; return whether that contradicts no rule."""
        waiting = list(range(len(self.statements)) if numbers is None else numbers)
        while waiting:
            each = self.statements[waiting.pop()]
            if each.feature >= 0 and known[each.feature] == OUT:
                continue
            members = np.array(each.members, dtype=np.int64)
            state = known[members]
            inside, still = int(np.count_nonzero(state == IN)), members[state == OPEN]
            applies = each.feature < 0 or known[each.feature] == IN
            new: Sequence[int] = []
            if inside > each.high or inside + len(still) < each.low:
                if applies:
                    return False
                known[each.feature], new = OUT, [each.feature]
            elif applies and len(still) and inside == each.high:
                known[still], new = OUT, still.tolist()
            elif applies and len(still) and inside + len(still) == each.low:
                known[still], new = IN, still.tolist()
            waiting += [number for j in new for number in self.of[j]]
        return True

    def least(self, weight: NDArray[Any]) -> Mask | None:
        """Return the features of a model that obeys, of the least sum of weights; None if no model obeys.

        A set of which more must be in is tried with each member, the lightest first. So many choices may be open that not all
        can be tried: then the result is the best one found.
        """
        known = self.known.copy()
        if not self.propagate(known):
            return None
        best: list[Any] = [math.inf, None]
        tried = 0

        def search(known: NDArray[np.int8]) -> None:
            nonlocal tried
            tried += 1
            total = float(weight[known == IN].sum())
            if total >= best[0] or (tried > MOST_TRIED and best[1] is not None):
                return
            inside = known == IN
            lacking = next((each for each in self.statements if not each.holds(inside)), None)
            if lacking is None:
                best[:] = [total, inside]
                return
            # What lacks is members: too many cannot be in, or propagation had found it.
            known = known.copy()
            for j in sorted((j for j in lacking.members if known[j] == OPEN), key=lambda j: float(weight[j])):
                child = known.copy()
                child[j] = IN
                if self.propagate(child, self.of[j]):
                    search(child)
                known[j] = OUT  # the others are tried without it
                if not self.propagate(known, self.of[j]):
                    return

        search(known)
        return best[1]

    def clash(self, possible: Callable[[Rules], bool]) -> list[Rule]:
        """Return few of the rules with which nothing is possible, each of which it takes; all of them must make it so."""
        left, step = list(range(len(self.given))), len(self.given)
        while step := step // 2:
            for start in range(len(left) - step, -1, -step):
                fewer = left[:start] + left[start + step :]
                if not possible(self.without(set(range(len(self.given))).difference(fewer))):
                    left = fewer
        return [self.given[number] for number in left]

    def require_possible(self) -> None:
        """Refuse rules that no model obeys."""
        none = np.zeros(len(self.known))
        if self.least(none) is None:
            clash = self.clash(lambda some: some.least(none) is not None)
            raise InvalidInputError(f"rules cannot be met together: {rules_in_words(clash)}.")

    def require_within(self, name: str, weight: NDArray[np.float64], most: float) -> None:
        """Refuse a limit of a sum of weights within which no model obeys."""
        least = self.least(weight)
        assert least is not None
        if (needed := float(weight[least].sum())) > most:

            def possible(some: Rules) -> bool:
                found = some.least(weight)
                return found is not None and float(weight[found].sum()) <= most

            raise InvalidInputError(
                f"{name} must be at least {needed:g} for the rules, got {most:g}: {rules_in_words(self.clash(possible))}."
            )


def among(place: NDArray[np.int64], members: tuple[int, ...]) -> tuple[int, ...]:
    """Return the new numbers of members that have one."""
    return tuple(int(place[j]) for j in members if place[j] >= 0)


def rules_in_words(rules: Sequence[Rule], between: str = " and ") -> str:
    """Return some rules as words."""
    shown = [str(rule) for rule in rules[:MOST_NAMED]] + (["..."] if len(rules) > MOST_NAMED else [])
    return between.join(shown)


def as_rules(rules: Iterable[Rule] | None, penalty: Penalty, names: list[str] | None, grouping: Grouping | None) -> Rules:
    """Return the caller's rules, checked, by the numbers of features."""
    given = tuple(as_list(rules))
    for each in given:
        if not isinstance(each, Rule):
            raise InvalidInputError(f"rules must hold what at_most, requires and the like return, got {quoted(each)}.")
    places = Places(penalty, names, grouping)
    statements = [each for number, rule in enumerate(given) for each in statements_of(rule, number, places)]
    free = penalty.by_group((np.maximum(-penalty.lower, penalty.upper) > 0.0).astype(np.float64)) > 0.0
    known = np.where(penalty.unpenalized, IN, np.where(free, OPEN, OUT)).astype(np.int8)
    known[penalty.heads != np.arange(len(known))] = OUT  # a group is known by its head
    out = Rules(given, tuple(statements), known)
    if out:
        out.require_possible()
    return out


@dataclass(frozen=True)
class Places:
    """Where features are, by what a caller calls them."""

    penalty: Penalty
    names: list[str] | None
    grouping: Grouping | None

    @cached_property
    def by_name(self) -> dict[str, int]:
        """The column of each name."""
        return {} if self.names is None else {name: j for j, name in enumerate(self.names)}

    @cached_property
    def repeated(self) -> set[str]:
        """The names that several columns have."""
        return {name for name, count in Counter(self.names or ()).items() if count > 1}

    def of(self, feature: Any, rule: Rule) -> int:
        """Return the head of a feature that a rule names."""
        p = len(self.penalty.heads)
        if isinstance(feature, (int, np.integer)) and not isinstance(feature, bool) and feature not in self.by_name:
            if not 0 <= feature < p:
                raise InvalidInputError(f"rules must name columns of X: {rule} names {feature}, outside 0..{p - 1}.")
            return int(self.penalty.heads[feature])
        if self.grouping is not None and len(columns := self.grouping.columns(feature)):
            return int(columns[0])
        if feature not in self.by_name:
            raise InvalidInputError(f"rules must name columns of X or groups: {rule} names {quoted(feature)}.")
        if feature in self.repeated:
            raise InvalidInputError(f"rules must name one column: several are called {quoted(feature)}; use positions.")
        return int(self.penalty.heads[self.by_name[feature]])


def statements_of(rule: Rule, number: int, places: Places) -> list[Statement]:
    """Return what a rule says."""
    members = [places.of(feature, rule) for feature in rule.features]
    if len(set(members)) < len(members):
        raise InvalidInputError(f"rules must name each feature once: {rule} names one twice (a group is one feature).")
    every, count = len(members), rule.count
    if rule.kind == "requires":
        feature = places.of(rule.feature, rule)
        if feature in members:
            raise InvalidInputError(f"rules must not make a feature need itself: {rule}.")
        return [Statement(feature, every if rule.how == "all" else 1, every, tuple(members), number)]
    if rule.kind == "together":  # each needs the next one
        return [Statement(j, 1, 1, (members[(at + 1) % every],), number) for at, j in enumerate(members) if every > 1]
    assert count is not None
    low, high = 0 if rule.kind == "at_most" else count, every if rule.kind == "at_least" else count
    return [Statement(-1, low, high, tuple(members), number)]
