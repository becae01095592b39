"""Ways to tamper with the dual points and the tree."""

from typing import Any

import numpy as np

from fuzz.certificates.sealed import Arrays, Header
from fuzz.certificates.tampering.changes import COVER, PROVES, Change, array, filled, less, put, scaled

__all__ = ["CATALOGUE", "POINTS_SCALED", "cut", "leaves_of", "leaves_opened", "no_points", "points_of_leaves"]

TREE = ("parent", "branch", "side", "row")
MALFORMED, BLOCKS = "the tree is malformed", "the blocks of the tree are malformed"
POINTS_SCALED = scaled("model_values", 0.3)


def leaves_of(arrays: Arrays) -> Any:
    """Return the nodes without children."""
    return np.setdiff1d(np.arange(len(arrays["parent"])), arrays["parent"])


def points_of_leaves(arrays: Arrays) -> Any:
    """Return the rows of the leaves' dual points."""
    rows = arrays["row"][leaves_of(arrays)]
    return rows[rows >= 0]


def split_leaf(arrays: Arrays) -> int:
    """Return the last leaf that has a sibling."""
    return int(next(leaf for leaf in leaves_of(arrays)[::-1] if arrays["branch"][leaf] >= 0))


def no_points(arrays: Arrays, points: Any) -> None:
    """Make dual points zero."""
    arrays["model_scale"] = arrays.get("model_scale", np.ones(len(arrays["model_ends"])))
    arrays["model_scale"][points] = 0.0


def no_points_at_leaves(header: Header, arrays: Arrays) -> None:
    no_points(arrays, points_of_leaves(arrays))


def points_upside_down(header: Header, arrays: Arrays) -> None:
    arrays["model_scale"] = np.full(len(arrays["model_ends"]), -1.0)


def points_of_the_hinge(header: Header, arrays: Arrays) -> None:
    arrays["alpha"] = np.ones((len(arrays["model_ends"]), header["n"]))


def leaves_opened(header: Header, arrays: Arrays) -> None:
    """Take their dual points from the leaves."""
    arrays["row"][leaves_of(arrays)] = -1


def leaf_missing(header: Header, arrays: Arrays) -> None:
    leaf = split_leaf(arrays)
    for name in TREE:
        arrays[name] = np.delete(arrays[name], leaf)
    arrays["parent"] -= arrays["parent"] > leaf


def cut(nodes: int) -> Change:
    """Return the change that leaves this many nodes."""

    def change(header: Header, arrays: Arrays) -> None:
        for name in TREE:
            arrays[name] = arrays[name][:nodes]

    return change


def side_flipped(header: Header, arrays: Arrays) -> None:
    arrays["side"][split_leaf(arrays)] ^= 1


def all_sides_flipped(header: Header, arrays: Arrays) -> None:
    arrays["side"][arrays["branch"] >= 0] ^= 1


def other_branches(header: Header, arrays: Arrays) -> None:
    made = arrays["branch"] >= 0
    arrays["branch"][made] = (arrays["branch"][made] + 1) % len(arrays["block_ends"])


def other_blocks(header: Header, arrays: Arrays) -> None:
    arrays["block_members"] = (arrays["block_members"] + 7) % header["p"]


def block_of_no_feature(header: Header, arrays: Arrays) -> None:
    arrays["block_members"][0] = header["p"]


def block_that_is_not_there(header: Header, arrays: Arrays) -> None:
    arrays["branch"][1] = len(arrays["block_ends"])


def parent_after_its_child(header: Header, arrays: Arrays) -> None:
    arrays["parent"][1] = len(arrays["parent"]) - 1


CATALOGUE: list[tuple[str, str, Change, str]] = [
    ("weighted box", "points scaled", POINTS_SCALED, PROVES),
    ("weighted box", "no points at leaves", no_points_at_leaves, PROVES),
    (
        "weighted box",
        "other points",
        array("model_values", lambda old: np.random.default_rng(0).standard_normal(old.shape)),
        PROVES,
    ),
    ("weighted box", "point not finite", put("model_values", 3, np.nan), "model_values contains numbers that are not finite"),
    ("weighted box", "fewer intercepts", array("model_intercept", lambda old: old[:-1]), "model_intercept has the wrong shape"),
    ("weighted box", "points too large", scaled("model_values", 1e300), PROVES),
    ("weighted box", "points as large as can be", filled("model_values", 1.7e308), PROVES),
    ("weighted box", "intercepts as large as can be", filled("model_intercept", -1.7e308), PROVES),
    ("weighted box", "points of the other side", array("model_intercept", lambda old: old + 5.0), PROVES),
    ("weighted box", "points upside down", points_upside_down, PROVES),
    ("weighted box", "points of a column twice", array("model_columns", np.zeros_like), "a model lists a feature twice"),
    ("weighted box", "points of no column", put("model_columns", 0, 10**6), "model_columns contains numbers out of range"),
    ("weighted box", "points without models", less("model_values"), "arrays are missing: model_values"),
    ("weighted box", "points of the hinge", points_of_the_hinge, "an array has no use in this certificate: 'alpha'"),
    ("weighted box", "leaf missing", leaf_missing, "has a missing child"),
    ("weighted box", "root missing", cut(0), MALFORMED),
    ("weighted box", "no tree", cut(1), PROVES),
    ("weighted box", "side flipped", side_flipped, COVER),
    ("weighted box", "side of seven", put("side", -1, 7), "side contains numbers out of range"),
    ("weighted box", "all sides flipped", all_sides_flipped, PROVES),
    ("weighted box", "leaves opened", leaves_opened, PROVES),
    ("weighted box", "row out of range", put("row", 0, 10**7), "row contains numbers out of range"),
    ("weighted box", "row below zero", put("row", 0, -9), "row contains numbers out of range"),
    ("weighted box", "other branches", other_branches, PROVES),
    ("weighted box", "branch out of range", put("branch", -1, 77), "branch contains numbers out of range"),
    ("weighted box", "other blocks", other_blocks, PROVES),
    ("weighted box", "block without end", array("block_ends", lambda old: np.append(old[:-1], old[-1] + 1)), BLOCKS),
    ("weighted box", "block that never ends", put("block_ends", -1, 10**15), BLOCKS),
    ("weighted box", "block without members", put("block_ends", 0, 0), BLOCKS),
    ("weighted box", "blocks out of order", array("block_ends", lambda old: old[::-1].copy()), BLOCKS),
    ("weighted box", "block of no feature", block_of_no_feature, "block_members contains numbers out of range"),
    ("weighted box", "block that is not there", block_that_is_not_there, "branch contains numbers out of range"),
    ("weighted box", "parent after its child", parent_after_its_child, MALFORMED),
    ("weighted box", "parent out of range", put("parent", -1, 2**40), "parent contains numbers out of range"),
    ("weighted box", "cycle", put("parent", 0, 0), MALFORMED),
    ("weighted box", "parent of floats", array("parent", lambda old: old.astype(float)), "parent has the wrong shape"),
]
