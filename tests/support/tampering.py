"""Ways to tamper with a certificate: each function changes its parts, and the verifier gives a reason against the result."""

import numpy as np

from support.certificates import COVER, PROVES, VALUE, leaves_of, points_of_leaves


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


def lambda_0_lower(header, arrays):
    header["lambda_0"] *= 0.5


def lambda_0_lower_and_consistent(header, arrays):
    header["lambda_0"] *= 0.5
    header["objective"] -= header["lambda_0"] * len(arrays["support"])


def lambda_1_higher(header, arrays):
    header["lambda_1"] = 0.01


def lambda_2_lower(header, arrays):
    header["lambda_2"] *= 0.5


def lambda_2_lower_and_consistent(header, arrays):
    header["lambda_2"] *= 0.5
    header["objective"] -= header["lambda_2"] * float(np.sum(arrays["coef"] ** 2))
    header["lower_bound"] -= header["lambda_2"] * float(np.sum(arrays["coef"] ** 2))


def k_lower(header, arrays):
    header["k"] -= 1


def k_higher(header, arrays):
    header["k"] += 3


def no_k(header, arrays):
    header["k"] = None


def lower_bound_raised(header, arrays):
    header["lower_bound"] += 1e-7


def objective_lowered(header, arrays):
    header["objective"] -= 1e-7


def coefficients_changed(header, arrays):
    arrays["coef"] = arrays["coef"] * 0.999


def coefficients_outside(header, arrays):
    arrays["coef"] = arrays["coef"] * 10.0


def intercept_changed(header, arrays):
    arrays["intercept"] = arrays["intercept"] + 1e-3


def feature_dropped(header, arrays):
    arrays["support"], arrays["coef"] = arrays["support"][1:], arrays["coef"][1:]


def feature_twice(header, arrays):
    arrays["support"] = np.append(arrays["support"], arrays["support"][0])
    arrays["coef"] = np.append(arrays["coef"], 0.1)


def weights_changed(header, arrays):
    arrays["weights"] = arrays["weights"][::-1]


def weights_not_normalised(header, arrays):
    arrays["weights"] = arrays["weights"] * 1.01


def no_weights(header, arrays):
    del arrays["weights"]


def box_widened(header, arrays):
    arrays["lower"], arrays["upper"] = 3.0 * arrays["lower"], 3.0 * arrays["upper"]


def box_narrowed(header, arrays):
    arrays["lower"], arrays["upper"] = 0.5 * arrays["lower"], 0.5 * arrays["upper"]


def box_of_no_point(header, arrays):
    arrays["lower"], arrays["upper"] = arrays["upper"], arrays["lower"]


def no_intercept(header, arrays):
    header["fit_intercept"] = False


def other_loss(header, arrays):
    header["loss"] = "squared_hinge"


def classes_exchanged(header, arrays):
    arrays["classes"] = arrays["classes"][::-1]


def spread_changed(header, arrays):
    arrays["spread"] = arrays["spread"] * 1.001


def not_standardized(header, arrays):
    header["standardize"] = False
    del arrays["spread"]


def unpenalized_removed(header, arrays):
    del arrays["unpenalized"]


def unpenalized_added(header, arrays):
    arrays["unpenalized"] = np.union1d(arrays["unpenalized"], arrays["block_members"])


def assumption_hidden(header, arrays):
    header["bound"] = None


def assumption_weakened(header, arrays):
    header["bound"] *= 2.0


def assumption_sharpened(header, arrays):
    header["bound"] = 0.5 * float(np.abs(arrays["coef"]).max())


def called_optimal(header, arrays):
    header["status"] = "optimal"


def called_optimal_and_tight(header, arrays):
    header["status"], header["lower_bound"] = "optimal", header["objective"]


def other_version(header, arrays):
    header["version"] = 99


def first_version(header, arrays):
    header["version"] = 1
    del header["swap_size"], header["prover"]


def prover_missing(header, arrays):
    del header["prover"]


def prover_of_two_lines(header, arrays):
    header["prover"] = "SCIP\nCertificate: valid"


def bound_by_scip(header, arrays):
    header["prover"], header["lower_bound"] = "SCIP 9.2 (method mip)", header["objective"]


def prover_removed(header, arrays):
    bound_by_scip(header, arrays)
    header["prover"] = None


def other_format(header, arrays):
    header["format"] = "another certificate"


def no_lambda_0(header, arrays):
    del header["lambda_0"]


def negative_lambda_2(header, arrays):
    header["lambda_2"] = -1e-3


def wrong_type(header, arrays):
    arrays["parent"] = arrays["parent"].astype(float)


def diagonals_larger(header, arrays):
    arrays["diagonal_values"] *= 1.1


def diagonals_far_larger(header, arrays):
    arrays["diagonal_values"] = np.full_like(arrays["diagonal_values"], 1e300)


def diagonals_of_nothing(header, arrays):
    arrays["diagonal_values"] = np.zeros_like(arrays["diagonal_values"])


def one_entry_larger(header, arrays):
    arrays["diagonal_values"][arrays["diagonal_ends"][0] - 1] *= 2.0


def diagonals_below_zero(header, arrays):
    arrays["diagonal_values"][0] = -1e-9


def diagonals_not_finite(header, arrays):
    arrays["diagonal_values"][0] = np.inf


def first_diagonal_without(arrays, column):
    """Take a column out of the first diagonal, and out of the models that use it."""
    place = int(np.flatnonzero(arrays["diagonal_members"] == column)[0])
    assert place < arrays["diagonal_ends"][0]
    for name in ("diagonal_members", "diagonal_values"):
        arrays[name] = np.delete(arrays[name], place)
    arrays["diagonal_ends"] -= 1
    kept = arrays["model_columns"] != column
    arrays["model_ends"] = np.cumsum(kept)[arrays["model_ends"] - 1]
    for name in ("model_columns", "model_values"):
        arrays[name] = arrays[name][kept]


def diagonal_of_fewer_columns(header, arrays):
    assert arrays["point_diagonal"][0] == 0
    first_diagonal_without(arrays, arrays["model_columns"][0])


def diagonal_of_fewer_columns_than_models(header, arrays):
    column, models = (
        arrays["model_columns"][0],
        {name: arrays[name] for name in ("model_columns", "model_values", "model_ends")},
    )
    first_diagonal_without(arrays, column)
    arrays.update(models)


def diagonals_of_other_columns(header, arrays):
    arrays["diagonal_members"] = arrays["diagonal_members"][::-1].copy()


def diagonal_with_a_column_twice(header, arrays):
    arrays["diagonal_members"][1] = arrays["diagonal_members"][0]


def diagonal_of_no_feature(header, arrays):
    arrays["diagonal_members"][arrays["diagonal_ends"][0] - 1] = header["p"]


def diagonal_without_end(header, arrays):
    arrays["diagonal_ends"][-1] += 1


def diagonal_that_ends_before_it_begins(header, arrays):
    arrays["diagonal_ends"] = np.append(arrays["diagonal_ends"] + 3, arrays["diagonal_ends"][-1])


def diagonal_without_columns(header, arrays):
    arrays["diagonal_ends"] = np.append(0, arrays["diagonal_ends"])


def diagonal_that_is_not_there(header, arrays):
    arrays["point_diagonal"][0] = len(arrays["diagonal_ends"])


def diagonal_below_none(header, arrays):
    arrays["point_diagonal"][0] = -2


def points_without_diagonals(header, arrays):
    arrays["point_diagonal"][:] = -1


def fewer_diagonals_of_points(header, arrays):
    arrays["point_diagonal"] = arrays["point_diagonal"][:-1]


def models_larger(header, arrays):
    arrays["model_values"] *= 1.5


def models_of_other_columns(header, arrays):
    arrays["model_columns"] = (arrays["model_columns"] + 1) % header["p"]


def models_not_finite(header, arrays):
    arrays["model_values"][0] = np.nan


def models_beyond_float64(header, arrays):
    arrays["model_values"][:] = 1e300


def model_of_no_feature(header, arrays):
    arrays["model_columns"][0] = -1


def model_with_a_feature_twice(header, arrays):
    first = int(np.flatnonzero(np.diff(arrays["model_ends"], prepend=0) > 1)[0])
    start = arrays["model_ends"][first] - 2
    arrays["model_columns"][start + 1] = arrays["model_columns"][start]


def model_without_end(header, arrays):
    arrays["model_ends"][-1] += 1


def model_that_ends_before_it_begins(header, arrays):
    arrays["model_ends"][0] = arrays["model_ends"][-1] + 1


def models_moved(header, arrays):
    """Each model belongs to another point."""
    lengths = np.roll(np.diff(arrays["model_ends"], prepend=0), 1)
    parts = np.split(np.arange(len(arrays["model_columns"])), arrays["model_ends"][:-1])
    order = np.concatenate([parts[-1], *parts[:-1]])
    arrays["model_ends"] = np.cumsum(lengths)
    for name in ("model_columns", "model_values"):
        arrays[name] = arrays[name][order]


def no_models(header, arrays):
    del arrays["model_values"]


def no_diagonals(header, arrays):
    for name in [name for name in arrays if name.startswith(("diagonal", "model", "point_"))]:
        del arrays[name]


def diagonals_of_another_loss(header, arrays):
    arrays |= {name: np.zeros(0, np.int64) for name in ("diagonal_ends", "diagonal_members", "model_columns")}
    arrays |= {name: np.zeros(0) for name in ("diagonal_values", "model_values")}
    arrays["point_diagonal"] = np.full(len(arrays["alpha"]), -1)
    arrays["model_ends"] = np.zeros(len(arrays["alpha"]), np.int64)


def diagonals_of_small_numbers(header, arrays):
    arrays["diagonal_values"] = arrays["diagonal_values"].astype(np.float32)


def growth_larger(header, arrays):
    arrays["growth_values"] *= 50.0


def growth_of_everything(header, arrays):
    arrays["growth_values"] = np.full_like(arrays["growth_values"], 1e300)


def growth_smaller(header, arrays):
    arrays["growth_values"] *= 1e-30


def one_growth_larger(header, arrays):
    arrays["growth_values"][3] *= 50.0


def growth_of_nothing(header, arrays):
    arrays["growth_values"][0] = 0.0


def growth_below_zero(header, arrays):
    arrays["growth_values"][0] *= -1.0


def growth_not_finite(header, arrays):
    arrays["growth_values"][0] = np.nan


def growth_at_the_end_of_the_domain(header, arrays):
    arrays["growth_alpha"] = np.where(arrays["growth_alpha"] > 0.5, 1.0, 0.0)


def growth_outside_the_domain(header, arrays):
    arrays["growth_alpha"] += 2.0


def growth_on_a_slope(header, arrays):
    arrays["growth_alpha"] *= np.linspace(0.8, 1.0, header["n"])


def growth_on_a_steep_slope(header, arrays):
    arrays["growth_alpha"] = np.full(header["n"], 0.5)


def growth_of_another_point(header, arrays):
    arrays["growth_alpha"] = arrays["growth_alpha"][::-1].copy()


def growth_at_no_point(header, arrays):
    arrays["growth_alpha"][2] = np.inf


def growth_of_fewer_columns(header, arrays):
    arrays["growth_columns"], arrays["growth_values"] = arrays["growth_columns"][1:], arrays["growth_values"][1:]


def growth_of_fewer_rows(header, arrays):
    arrays["growth_alpha"] = arrays["growth_alpha"][:-1]


def growth_of_no_columns(header, arrays):
    arrays["growth_columns"], arrays["growth_values"] = arrays["growth_columns"][:0], arrays["growth_values"][:0]


def growth_of_a_column_twice(header, arrays):
    arrays["growth_columns"][1] = arrays["growth_columns"][0]


def growth_of_columns_that_fall(header, arrays):
    arrays["growth_columns"] = arrays["growth_columns"][::-1].copy()


def growth_of_no_feature(header, arrays):
    arrays["growth_columns"][-1] = header["p"]


def growth_without_values(header, arrays):
    del arrays["growth_values"]


def no_growth(header, arrays):
    for name in ("growth_alpha", "growth_columns", "growth_values"):
        del arrays[name]


def growth_in_small_numbers(header, arrays):
    arrays["growth_alpha"] = arrays["growth_alpha"].astype(np.float32)


def growth_of_another_loss(header, arrays):
    arrays["growth_alpha"] = np.full(header["n"], 0.5)
    arrays["growth_columns"], arrays["growth_values"] = np.arange(header["p"]), np.full(header["p"], 1e-9)


GROWTH, SLOPE = "the loss is not proved to grow as the certificate says", "the slope of its dual point is too steep"
TOO_MUCH, DIAGONALS, MODELS = "takes more curvature from the loss", "the diagonals are malformed", "the models are malformed"
FOREIGN = "the model of a dual point uses a column that diagonal"


def prices_lower(header, arrays):
    arrays["price"] *= 0.5


def prices_lower_and_consistent(header, arrays):
    spent = arrays["price"][arrays["support"]].sum()
    arrays["price"] *= 0.5
    header["objective"] -= 0.5 * header["lambda_0"] * spent


def prices_of_others_lower(header, arrays):
    others = np.setdiff1d(np.arange(header["p"]), arrays["support"])
    arrays["price"][others] *= 0.05


def price_negative(header, arrays):
    arrays["price"][0] = -1.0


def price_not_finite(header, arrays):
    arrays["price"][0] = np.inf


def price_of_nothing(header, arrays):
    arrays["price"][0] = 0.0


def price_of_an_unpenalized_feature(header, arrays):
    arrays["price"][5] = 1.0


def price_beyond_all_others(header, arrays):
    arrays["price"][0] = 1e200


def price_next_to_nothing(header, arrays):
    arrays["price"][0] = 5e-324


def fewer_prices(header, arrays):
    arrays["price"] = arrays["price"][:-1]


def no_prices(header, arrays):
    del arrays["price"]


def prices_in_a_version_without_them(header, arrays):
    header["version"] = 4
    del header["budget"]


def budget_in_a_version_without_it(header, arrays):
    header["version"] = 4
    del arrays["price"]


def budget_lower(header, arrays):
    header["budget"] = float(arrays["price"][arrays["support"]].sum()) - 0.25


def budget_higher(header, arrays):
    header["budget"] += 3.0


def no_budget(header, arrays):
    header["budget"] = None


def budget_negative(header, arrays):
    header["budget"] = -1.0


def budget_of_text(header, arrays):
    header["budget"] = "6"


def budget_missing(header, arrays):
    del header["budget"]


def budget_and_k(header, arrays):
    header["k"] = 4


def budget_over_swaps(header, arrays):
    header["swap_size"] = 1


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
    ("priced", prices_lower, VALUE),
    ("priced", prices_lower_and_consistent, PROVES),
    ("priced", prices_of_others_lower, PROVES),
    ("priced", price_negative, "price contains negative numbers"),
    ("priced", price_not_finite, "price contains numbers that are not finite"),
    ("priced", price_of_nothing, "price is not zero for the unpenalized features alone"),
    ("priced", price_of_an_unpenalized_feature, "price is not zero for the unpenalized features alone"),
    ("priced", price_beyond_all_others, "price contains numbers that are too small or too large"),
    ("priced", price_next_to_nothing, "price contains numbers that are too small or too large"),
    ("priced", fewer_prices, "price has the wrong shape"),
    ("priced", no_prices, "arrays are missing: price"),
    ("priced", prices_in_a_version_without_them, "an array has no use in this certificate: 'price'"),
    ("priced", budget_in_a_version_without_it, "an entry that is not part of the format: 'budget'"),
    ("priced", budget_lower, "the solution's features cost"),
    ("priced", budget_higher, PROVES),
    ("priced", no_budget, PROVES),
    ("priced", budget_negative, "budget is no usable number"),
    ("priced", budget_of_text, "budget is no usable number"),
    ("priced", budget_missing, "the header lacks budget"),
    ("priced", budget_and_k, "k and budget cannot both be given"),
    ("priced", budget_over_swaps, "budget and swap_size cannot both be given"),
    ("priced", scaled_points, PROVES),
    ("priced", leaves_opened, PROVES),
    ("priced", no_tree, PROVES),
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
    ("weighted box", lambda_0_lower, VALUE),
    ("weighted box", lambda_0_lower_and_consistent, PROVES),
    ("weighted box", lambda_1_higher, VALUE),
    ("weighted box", lambda_2_lower, VALUE),
    ("weighted box", lambda_2_lower_and_consistent, PROVES),
    ("weighted box", k_lower, r"the solution uses 4 features, k allows 3"),
    ("weighted box", k_higher, PROVES),
    ("weighted box", no_k, PROVES),
    ("weighted box", lower_bound_raised, PROVES),
    ("weighted box", objective_lowered, VALUE),
    ("weighted box", coefficients_changed, VALUE),
    ("weighted box", coefficients_outside, "the solution violates lower, upper"),
    ("weighted box", intercept_changed, VALUE),
    ("weighted box", feature_dropped, VALUE),
    ("weighted box", feature_twice, "support lists a feature twice"),
    ("weighted box", weights_changed, VALUE),
    ("weighted box", weights_not_normalised, "weights are negative or do not sum to one"),
    ("weighted box", no_weights, VALUE),
    ("weighted box", box_widened, PROVES),
    ("weighted box", box_narrowed, "the solution violates lower, upper"),
    ("weighted box", box_of_no_point, "lower and upper are not in order"),
    ("weighted box", no_intercept, "the solution has an intercept"),
    ("weighted box", other_loss, VALUE),
    ("weighted box", classes_exchanged, "y is not the target"),
    ("standardized", spread_changed, "spread is not that of the data"),
    ("standardized", not_standardized, VALUE),
    ("standardized", unpenalized_removed, "the solution uses 5 features, k allows 4"),
    ("standardized", unpenalized_added, "the tree splits what cannot be split"),
    ("conditional", assumption_hidden, PROVES),
    ("conditional", assumption_weakened, PROVES),
    ("conditional", assumption_sharpened, "or the assumed bound"),
    ("truncated", called_optimal, "the status is 'optimal' but the proved gap"),
    ("truncated", called_optimal_and_tight, PROVES),
    ("weighted box", other_version, "version 99"),
    ("weighted box", first_version, "version 1 of certificates is not read here, only versions 4, 5, 6 and 7"),
    ("weighted box", prover_missing, "the header lacks prover"),
    ("weighted box", prover_of_two_lines, "prover is no short text"),
    ("truncated", bound_by_scip, "rests on SCIP 9.2 (method mip); this file itself proves"),
    ("truncated", prover_removed, PROVES),
    ("weighted box", other_format, "this is not an ellzero certificate"),
    ("weighted box", no_lambda_0, "the header lacks lambda_0"),
    ("weighted box", negative_lambda_2, "lambda_2 is no usable number"),
    ("weighted box", wrong_type, "parent has the wrong shape"),
    ("best subset", diagonals_larger, TOO_MUCH),
    ("best subset", diagonals_far_larger, TOO_MUCH),
    ("best subset", diagonals_of_nothing, PROVES),
    ("best subset", one_entry_larger, TOO_MUCH),
    ("best subset", diagonals_below_zero, "diagonal_values contains negative numbers"),
    ("best subset", diagonals_not_finite, "diagonal_values contains numbers that are not finite"),
    ("best subset", diagonal_of_fewer_columns, PROVES),
    ("best subset", diagonal_of_fewer_columns_than_models, FOREIGN),
    ("best subset", diagonals_of_other_columns, "a diagonal is malformed"),
    ("best subset", diagonal_with_a_column_twice, "a diagonal is malformed"),
    ("best subset", diagonal_of_no_feature, "diagonal_members contains numbers out of range"),
    ("best subset", diagonal_without_end, DIAGONALS),
    ("best subset", diagonal_that_ends_before_it_begins, DIAGONALS),
    ("best subset", diagonal_without_columns, "a diagonal is malformed"),
    ("best subset", diagonal_that_is_not_there, "point_diagonal contains numbers out of range"),
    ("best subset", diagonal_below_none, "point_diagonal contains numbers out of range"),
    ("best subset", points_without_diagonals, PROVES),
    ("best subset", fewer_diagonals_of_points, "point_diagonal has the wrong shape"),
    ("best subset", models_larger, PROVES),
    ("best subset", models_of_other_columns, FOREIGN),
    ("best subset", models_not_finite, "model_values contains numbers that are not finite"),
    ("best subset", models_beyond_float64, PROVES),
    ("best subset", model_of_no_feature, "model_columns contains numbers out of range"),
    ("best subset", model_with_a_feature_twice, "a model lists a feature twice"),
    ("best subset", model_without_end, MODELS),
    ("best subset", model_that_ends_before_it_begins, MODELS),
    ("best subset", models_moved, FOREIGN),
    ("best subset", no_models, "arrays are missing: model_values"),
    ("best subset", no_diagonals, PROVES),
    ("weighted box", diagonals_of_another_loss, "an array has no use in this certificate: 'diagonal_ends'"),
    ("best subset", diagonals_of_small_numbers, "diagonal_values has the wrong shape"),
    ("no penalty", growth_larger, GROWTH),
    ("no penalty", growth_of_everything, GROWTH),
    ("no penalty", growth_smaller, SLOPE),
    ("no penalty", one_growth_larger, GROWTH),
    ("no penalty", growth_of_nothing, "growth_values contains numbers that are not positive"),
    ("no penalty", growth_below_zero, "growth_values contains numbers that are not positive"),
    ("no penalty", growth_not_finite, "growth_values contains numbers that are not finite"),
    ("no penalty", growth_at_the_end_of_the_domain, GROWTH),
    ("no penalty", growth_outside_the_domain, GROWTH),
    ("no penalty", growth_on_a_slope, SLOPE),
    ("no penalty", growth_on_a_steep_slope, SLOPE),
    ("no penalty", growth_of_another_point, SLOPE),
    ("no penalty", growth_at_no_point, "growth_alpha contains numbers that are not finite"),
    ("no penalty", growth_of_fewer_columns, "leaves out a column that nothing else holds"),
    ("no penalty", growth_of_fewer_rows, "growth_alpha has the wrong shape"),
    ("no penalty", growth_of_no_columns, "the growth of the loss is malformed"),
    ("no penalty", growth_of_a_column_twice, "the growth of the loss is malformed"),
    ("no penalty", growth_of_columns_that_fall, "the growth of the loss is malformed"),
    ("no penalty", growth_of_no_feature, "growth_columns contains numbers out of range"),
    ("no penalty", growth_without_values, "arrays are missing: growth_values"),
    ("no penalty", no_growth, PROVES),
    ("no penalty", growth_in_small_numbers, "growth_alpha has the wrong shape"),
    ("best subset", growth_of_another_loss, "an array has no use in this certificate: 'growth_alpha'"),
]
