"""Ways to tamper with the home of swaps and their size."""

import numpy as np

from fuzz.certificates.sealed import Arrays, Header
from fuzz.certificates.tampering.changes import PROVES, Change, array, both, entry, less

__all__ = ["CATALOGUE"]

NUMBER, ORDER = "swap_size is no usable number", "home is not in ascending order"


def home_with_one_more(header: Header, arrays: Arrays) -> None:
    arrays["home"] = np.union1d(arrays["home"], np.setdiff1d(np.arange(header["p"]), arrays["home"])[:1])


def home_unpenalized(header: Header, arrays: Arrays) -> None:
    arrays["home"] = np.append(arrays["home"], arrays["unpenalized"][-1])


def home_out_of_range(header: Header, arrays: Arrays) -> None:
    arrays["home"] = np.append(arrays["home"], header["p"])


SWAPS_HIDDEN = both(entry(swap_size=None), less("home"))
CHANGES: list[tuple[str, Change, str]] = [
    ("home with one more", home_with_one_more, PROVES),
    ("home with one less", array("home", lambda old: old[1:]), PROVES),
    ("no home", less("home"), "arrays are missing: home"),
    ("home the other way round", array("home", lambda old: old[::-1]), ORDER),
    ("home twice", array("home", lambda old: np.repeat(old, 2)), ORDER),
    ("home out of range", home_out_of_range, "home contains numbers out of range"),
    ("home unpenalized", home_unpenalized, "home lists unpenalized features"),
    ("home of floats", array("home", lambda old: old.astype(float)), "home has the wrong shape"),
    ("size of swaps raised", entry(swap_size=2), PROVES),
    ("size of swaps beyond all", entry(swap_size=10**200), PROVES),
    ("size of swaps zero", entry(swap_size=0), NUMBER),
    ("size of swaps true", entry(swap_size=True), NUMBER),
    ("size of swaps missing", less("swap_size"), "the header lacks swap_size"),
    ("size of swaps hidden", entry(swap_size=None), "an array has no use in this certificate: 'home'"),
    ("swaps hidden", SWAPS_HIDDEN, PROVES),
    ("swaps and k", entry(k=6), "k and swap_size cannot both be given"),
    (
        "optimal over swaps, optimal for all",
        both(SWAPS_HIDDEN, entry(status="optimal", lower_bound=0.0)),
        "the status is 'optimal' but the proved gap",
    ),
]
CATALOGUE: list[tuple[str, str, Change, str]] = [("swaps", *change) for change in CHANGES]
