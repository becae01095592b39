"""Ways to tamper with groups of columns, and the reason that the verifier gives."""

import numpy as np

from support.certificates import PROVES
from support.tampering.prices import budget_higher, no_budget, no_prices
from support.tampering.problem import k_higher, k_lower
from support.tampering.tree import leaves_opened, no_tree, scaled_points


def groups_merged(header, arrays):
    arrays["group"][arrays["group"] == 6] = 5


def groups_of_the_solution_merged(header, arrays):
    first, second = np.unique(arrays["group"][arrays["support"]])[:2]
    arrays["group"][arrays["group"] == second] = first


def group_split(header, arrays):
    used = arrays["group"][arrays["support"][0]]
    arrays["group"][np.flatnonzero(arrays["group"] == used)[1:]] = np.flatnonzero(arrays["group"] == used)[1]


def other_group_split(header, arrays):
    used = np.unique(arrays["group"][arrays["support"]])
    heads, sizes = np.unique(arrays["group"], return_counts=True)
    head = next(head for head, size in zip(heads, sizes, strict=True) if size > 1 and head not in used)
    members = np.flatnonzero(arrays["group"] == head)
    arrays["group"][members[1:]] = members[1]


def column_moved(header, arrays):
    arrays["group"][7] = 1


def head_that_is_not_the_first(header, arrays):
    arrays["group"][arrays["group"] == 0] = 7


def head_of_another_group(header, arrays):
    arrays["group"][15] = 8


def group_of_no_column(header, arrays):
    arrays["group"][3] = header["p"]


def group_below_zero(header, arrays):
    arrays["group"][3] = -1


def fewer_groups(header, arrays):
    arrays["group"] = arrays["group"][:-1]


def groups_of_numbers(header, arrays):
    arrays["group"] = arrays["group"].astype(float)


def no_groups(header, arrays):
    del arrays["group"]


def groups_in_a_version_without_them(header, arrays):
    header["version"] = 5


def block_of_a_follower(header, arrays):
    arrays["block_members"][0] = 9


def spread_of_one_column(header, arrays):
    arrays["spread"][7] *= 1.01


def spreads_of_columns(header, arrays):
    arrays["spread"] *= 0.7


def price_of_a_follower(header, arrays):
    arrays["price"][7] = 3.0


def part_of_a_group_unpenalized(header, arrays):
    arrays["unpenalized"] = arrays["unpenalized"][:1]
    arrays["price"][12] = 1.0


def prices_of_groups_lower(header, arrays):
    arrays["price"][arrays["price"] == 1.0] = 0.25


def groups_alone(header, arrays):
    arrays["group"] = np.arange(header["p"])


TAMPERINGS = [
    ("grouped", groups_merged, "spread is not that of the data"),
    ("grouped", groups_of_the_solution_merged, "spread is not that of the data"),
    ("grouped", group_split, "spread is not that of the data"),
    ("grouped", column_moved, "spread is not that of the data"),
    ("grouped", head_that_is_not_the_first, "group does not name the first column"),
    ("grouped", head_of_another_group, "group does not name the first column"),
    ("grouped", group_of_no_column, "group contains numbers out of range"),
    ("grouped", group_below_zero, "group contains numbers out of range"),
    ("grouped", fewer_groups, "group has the wrong shape"),
    ("grouped", groups_of_numbers, "group has the wrong shape"),
    ("grouped", no_groups, "arrays are missing: group"),
    ("grouped", groups_in_a_version_without_them, "arrays are missing: price"),
    ("grouped", block_of_a_follower, "the tree splits what cannot be split"),
    ("grouped", spread_of_one_column, "spread is not that of the data"),
    ("grouped", spreads_of_columns, "spread is not that of the data"),
    ("grouped", k_lower, "the solution uses 2 features, k allows 1"),
    ("grouped", k_higher, PROVES),
    ("grouped", scaled_points, PROVES),
    ("grouped", leaves_opened, PROVES),
    ("grouped", no_tree, PROVES),
    ("priced groups", groups_alone, "the solution's features cost"),
    ("priced groups", groups_of_the_solution_merged, "price differs inside a group"),
    ("priced groups", group_split, "the solution's features cost"),
    ("priced groups", other_group_split, PROVES),
    ("priced groups", groups_in_a_version_without_them, "an array has no use in this certificate: 'group'"),
    ("priced groups", price_of_a_follower, "price differs inside a group"),
    ("priced groups", part_of_a_group_unpenalized, "unpenalized lists a part of a group"),
    ("priced groups", prices_of_groups_lower, PROVES),
    ("priced groups", no_prices, "arrays are missing: price"),
    ("priced groups", no_budget, PROVES),
    ("priced groups", budget_higher, PROVES),
]
