"""Ways to tamper with the dual points and the tree."""

from typing import Any

import numpy as np

from fuzz.certificates.sealed import Arrays, Header
from fuzz.certificates.tampering.changes import COVER, PROVES, Change, array, filled, put, scaled

__all__ = ["CATALOGUE", "POINTS_SCALED", "cut", "leaves_of", "leaves_opened", "points_of_leaves"]

TREE = ("parent", "branch", "side", "row")
MALFORMED, BLOCKS = "the tree is malformed", "the blocks of the tree are malformed"
POINTS_SCALED = scaled("alpha", 0.7)


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


def no_points_at_leaves(header: Header, arrays: Arrays) -> None:
    arrays["alpha"][points_of_leaves(arrays)] = 0.0


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
        array("alpha", lambda old: np.random.default_rng(0).random(old.shape, dtype=np.float32)),
        PROVES,
    ),
    ("weighted box", "point not finite", put("alpha", (0, 3), np.nan), "alpha contains numbers that are not finite"),
    ("weighted box", "points of another size", array("alpha", lambda old: old[:, :-1]), "alpha has the wrong shape"),
    ("weighted box", "points too large", scaled("alpha", 1e38), PROVES),
    ("weighted box", "points as large as can be", filled("alpha", 3e38), PROVES),
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
