"""Ways to tamper with prices and budgets."""

import numpy as np

from fuzz.certificates.sealed import Arrays, Header
from fuzz.certificates.tampering.changes import PROVES, VALUE, Change, array, entry, less, put, scaled
from fuzz.certificates.tampering.tree import POINTS_SCALED, cut, leaves_opened

__all__ = ["CATALOGUE", "budget_higher"]

FREE = "price is not zero for the unpenalized features alone"
SIZES = "price contains numbers that are too small or too large"


def prices_lower_and_consistent(header: Header, arrays: Arrays) -> None:
    spent = arrays["price"][arrays["support"]].sum()
    arrays["price"] *= 0.5
    header["objective"] -= 0.5 * header["lambda_0"] * spent


def prices_of_others_lower(header: Header, arrays: Arrays) -> None:
    others = np.setdiff1d(np.arange(header["p"]), arrays["support"])
    arrays["price"][others] *= 0.05


def budget_lower(header: Header, arrays: Arrays) -> None:
    header["budget"] = float(arrays["price"][arrays["support"]].sum()) - 0.25


def budget_higher(header: Header, arrays: Arrays) -> None:
    """Allow more."""
    header["budget"] += 3.0


CHANGES: list[tuple[str, Change, str]] = [
    ("prices lower", scaled("price", 0.5), VALUE),
    ("prices lower and consistent", prices_lower_and_consistent, PROVES),
    ("prices of others lower", prices_of_others_lower, PROVES),
    ("price below zero", put("price", 0, -1.0), "price contains negative numbers"),
    ("price not finite", put("price", 0, np.inf), "price contains numbers that are not finite"),
    ("price of nothing", put("price", 0, 0.0), FREE),
    ("price of an unpenalized feature", put("price", 5, 1.0), FREE),
    ("price beyond all others", put("price", 0, 1e200), SIZES),
    ("price next to nothing", put("price", 0, 5e-324), SIZES),
    ("fewer prices", array("price", lambda old: old[:-1]), "price has the wrong shape"),
    ("no prices", less("price"), "arrays are missing: price"),
    ("budget lower", budget_lower, "the solution's features cost"),
    ("budget higher", budget_higher, PROVES),
    ("no budget", entry(budget=None), PROVES),
    ("budget below zero", entry(budget=-1.0), "budget is no usable number"),
    ("budget of text", entry(budget="6"), "budget is no usable number"),
    ("budget missing", less("budget"), "the header lacks budget"),
    ("budget and k", entry(k=4), "k and budget cannot both be given"),
    ("budget over swaps", entry(swap_size=1), "budget and swap_size cannot both be given"),
    ("priced, points scaled", POINTS_SCALED, PROVES),
    ("priced, leaves opened", leaves_opened, PROVES),
    ("priced, no tree", cut(1), PROVES),
]
CATALOGUE: list[tuple[str, str, Change, str]] = [("priced", *change) for change in CHANGES]
