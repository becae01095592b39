"""Ways to tamper with the dual points and the tree, and the reason that the verifier gives."""

import numpy as np

from support.certificates import COVER, PROVES, leaves_of, points_of_leaves


def scaled_points(header, arrays):
    arrays["alpha"] *= np.float32(0.7)


def no_points_at_leaves(header, arrays):
    arrays["alpha"][points_of_leaves(arrays)] = 0.0


def other_points(header, arrays):
    arrays["alpha"] = np.random.default_rng(0).random(arrays["alpha"].shape, dtype=np.float32)


def points_not_finite(header, arrays):
    arrays["alpha"][0, 3] = np.nan


def split_leaf(arrays):
    """The last leaf that has a sibling."""
    return int([leaf for leaf in leaves_of(arrays) if arrays["branch"][leaf] >= 0][-1])


def missing_leaf(header, arrays):
    leaf = split_leaf(arrays)
    for name in ("parent", "branch", "side", "row"):
        arrays[name] = np.delete(arrays[name], leaf)
    arrays["parent"] -= arrays["parent"] > leaf


def missing_root(header, arrays):
    for name in ("parent", "branch", "side", "row"):
        arrays[name] = arrays[name][:0]


def side_flipped(header, arrays):
    leaf = split_leaf(arrays)
    arrays["side"][leaf] = 1 - arrays["side"][leaf]


def all_sides_flipped(header, arrays):
    made = arrays["branch"] >= 0
    arrays["side"][made] = 1 - arrays["side"][made]


def leaves_opened(header, arrays):
    arrays["row"][leaves_of(arrays)] = -1


def other_branches(header, arrays):
    made = arrays["branch"] >= 0
    arrays["branch"][made] = (arrays["branch"][made] + 1) % len(arrays["block_ends"])


def other_blocks(header, arrays):
    arrays["block_members"] = (arrays["block_members"] + 7) % header["p"]


def block_without_end(header, arrays):
    arrays["block_ends"][-1] += 1


def block_without_members(header, arrays):
    arrays["block_ends"][0] = 0


def blocks_out_of_order(header, arrays):
    arrays["block_ends"] = arrays["block_ends"][::-1].copy()


def block_of_no_feature(header, arrays):
    arrays["block_members"][0] = header["p"]


def block_that_is_not_there(header, arrays):
    arrays["branch"][1] = len(arrays["block_ends"])


def parents_after_children(header, arrays):
    arrays["parent"][1] = len(arrays["parent"]) - 1


def no_tree(header, arrays):
    for name in ("parent", "branch", "side", "row"):
        arrays[name] = arrays[name][:1]


TAMPERINGS = [
    ("weighted box", scaled_points, PROVES),
    ("weighted box", no_points_at_leaves, PROVES),
    ("weighted box", other_points, PROVES),
    ("weighted box", points_not_finite, "alpha contains numbers that are not finite"),
    ("weighted box", missing_leaf, "has a missing child"),
    ("weighted box", missing_root, "the tree is malformed"),
    ("weighted box", side_flipped, COVER),
    ("weighted box", all_sides_flipped, PROVES),
    ("weighted box", leaves_opened, PROVES),
    ("weighted box", other_branches, PROVES),
    ("weighted box", other_blocks, PROVES),
    ("weighted box", block_without_end, "the blocks of the tree are malformed"),
    ("weighted box", block_without_members, "the blocks of the tree are malformed"),
    ("weighted box", blocks_out_of_order, "the blocks of the tree are malformed"),
    ("weighted box", block_of_no_feature, "block_members contains numbers out of range"),
    ("weighted box", block_that_is_not_there, "branch contains numbers out of range"),
    ("weighted box", parents_after_children, "the tree is malformed"),
    ("weighted box", no_tree, PROVES),
]
