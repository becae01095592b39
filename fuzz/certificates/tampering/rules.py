"""Ways to tamper with rules on features."""

import numpy as np

from fuzz.certificates.sealed import Arrays, Header
from fuzz.certificates.tampering.changes import PROVES, Change, array, less, put
from fuzz.certificates.tampering.tree import POINTS_SCALED, cut, leaves_opened

__all__ = ["CATALOGUE"]

NAMES = ("rule_feature", "rule_low", "rule_high", "rule_ends", "rule_members")
OBEY, ENDS = "the solution does not obey the rules", "rule_ends is not that of the members of rules"


def no_rules(header: Header, arrays: Arrays) -> None:
    for name in NAMES:
        del arrays[name]


def without_rule(at: int) -> Change:
    """Leave one rule out."""

    def change(header: Header, arrays: Arrays) -> None:
        starts = np.concatenate(([0], arrays["rule_ends"]))
        sizes = np.delete(np.diff(starts), at)
        arrays["rule_members"] = np.delete(arrays["rule_members"], np.arange(starts[at], starts[at + 1]))
        arrays["rule_ends"] = np.cumsum(sizes)
        for name in ("rule_feature", "rule_low", "rule_high"):
            arrays[name] = np.delete(arrays[name], at)

    return change


CHANGES: list[tuple[str, Change, str]] = [
    ("no rules", no_rules, PROVES),
    ("a rule left out", without_rule(0), PROVES),
    ("another rule left out", without_rule(2), PROVES),
    ("at most two instead of one", put("rule_high", 0, 2), PROVES),
    ("at least none", put("rule_low", 2, 0), PROVES),
    ("another feature in a rule", put("rule_members", 1, 9), PROVES),
    ("a rule with a condition", put("rule_feature", 0, 19), PROVES),
    ("at most none", put("rule_high", 0, 0), OBEY),
    ("at least two", put("rule_low", 2, 2), OBEY),
    ("rules of other sizes", put("rule_ends", 2, 7), ENDS),
    ("a rule without members", put("rule_ends", 0, 0), ENDS),
    ("a rule that ends before it begins", put("rule_ends", 1, 2), ENDS),
    ("a rule for two features in one", put("rule_members", 1, 0), "rule_members names a feature twice"),
    ("a rule that none meets", put("rule_low", 0, 2), "rule_low and rule_high are not in order"),
    ("a number below zero", put("rule_low", 0, -1), "rule_low and rule_high are not in order"),
    ("a feature beyond all", put("rule_members", 0, 20), "rule_members contains numbers out of range"),
    ("a condition beyond all", put("rule_feature", 0, 20), "rule_feature contains numbers out of range"),
    ("fewer conditions", array("rule_feature", lambda old: old[:-1]), "has the wrong shape"),
    ("no ends of rules", less("rule_ends"), "arrays are missing: rule_ends"),
    ("rules of fractions", array("rule_low", lambda old: 1.0 * old), "rule_low has the wrong"),
    ("ruled, points scaled", POINTS_SCALED, PROVES),
    ("ruled, leaves opened", leaves_opened, PROVES),
    ("ruled, no tree", cut(1), PROVES),
]
CATALOGUE: list[tuple[str, str, Change, str]] = [("ruled", *change) for change in CHANGES]
