"""Ways to tamper with groups of columns."""

import numpy as np

from fuzz.certificates.sealed import Arrays, Header
from fuzz.certificates.tampering.changes import PROVES, Change, array, both, entry, less, put, scaled
from fuzz.certificates.tampering.prices import budget_higher
from fuzz.certificates.tampering.problem import k_changed
from fuzz.certificates.tampering.tree import POINTS_SCALED, cut, leaves_opened

__all__ = ["CATALOGUE"]

SPREAD = "spread is not that of the data"
HEAD = "group does not name the first column"
SHAPE = "group has the wrong shape"
COST = "the solution's features cost"


def groups_of_the_solution_merged(header: Header, arrays: Arrays) -> None:
    first, second = np.unique(arrays["group"][arrays["support"]])[:2]
    arrays["group"][arrays["group"] == second] = first


def split(arrays: Arrays, head: int) -> None:
    members = np.flatnonzero(arrays["group"] == head)
    arrays["group"][members[1:]] = members[1]


def group_split(header: Header, arrays: Arrays) -> None:
    split(arrays, arrays["group"][arrays["support"][0]])


def other_group_split(header: Header, arrays: Arrays) -> None:
    used = np.unique(arrays["group"][arrays["support"]])
    heads, sizes = np.unique(arrays["group"], return_counts=True)
    split(arrays, next(head for head, size in zip(heads, sizes, strict=True) if size > 1 and head not in used))


def group_of_no_column(header: Header, arrays: Arrays) -> None:
    arrays["group"][3] = header["p"]


def groups_alone(header: Header, arrays: Arrays) -> None:
    arrays["group"] = np.arange(header["p"])


GROUPED: list[tuple[str, Change, str]] = [
    ("groups merged", array("group", lambda old: np.where(old == 6, 5, old)), SPREAD),
    ("groups of the solution merged", groups_of_the_solution_merged, SPREAD),
    ("group split", group_split, SPREAD),
    ("column moved", put("group", 7, 1), SPREAD),
    ("head that is not the first", array("group", lambda old: np.where(old == 0, 7, old)), HEAD),
    ("head of another group", put("group", 15, 8), HEAD),
    ("group of no column", group_of_no_column, "group contains numbers out of range"),
    ("group below zero", put("group", 3, -1), "group contains numbers out of range"),
    ("fewer groups", array("group", lambda old: old[:-1]), SHAPE),
    ("groups of numbers", array("group", lambda old: old.astype(float)), SHAPE),
    ("no groups", less("group"), SPREAD),
    ("block of a follower", put("block_members", 0, 9), "the tree splits what cannot be split"),
    ("spread of one column", array("spread", lambda old: np.where(np.arange(len(old)) == 7, 1.01 * old, old)), SPREAD),
    ("spreads of columns", scaled("spread", 0.7), SPREAD),
    ("grouped, k lower", k_changed(-1), "the solution uses 2 features, k allows 1"),
    ("grouped, k higher", k_changed(3), PROVES),
    ("grouped, points scaled", POINTS_SCALED, PROVES),
    ("grouped, leaves opened", leaves_opened, PROVES),
    ("grouped, no tree", cut(1), PROVES),
]
PRICED: list[tuple[str, Change, str]] = [
    ("groups alone", groups_alone, COST),
    ("priced groups of the solution merged", groups_of_the_solution_merged, "price differs inside a group"),
    ("priced group split", group_split, COST),
    ("other group split", other_group_split, PROVES),
    ("price of a follower", put("price", 7, 3.0), "price differs inside a group"),
    (
        "part of a group unpenalized",
        both(array("unpenalized", lambda old: old[:1]), put("price", 12, 1.0)),
        "unpenalized lists a part of a group",
    ),
    ("prices of groups lower", array("price", lambda old: np.where(old == 1.0, 0.25, old)), PROVES),
    ("no prices of groups", less("price"), "arrays are missing: price"),
    ("no budget for groups", entry(budget=None), PROVES),
    ("budget for groups higher", budget_higher, PROVES),
]
CATALOGUE: list[tuple[str, str, Change, str]] = [
    *(("grouped", *change) for change in GROUPED),
    *(("priced groups", *change) for change in PRICED),
]
