"""Ways to tamper with prices and budgets, and the reason that the verifier gives."""

import numpy as np

from support.certificates import PROVES, VALUE
from support.tampering.tree import leaves_opened, no_tree, scaled_points


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


TAMPERINGS = [
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
]
