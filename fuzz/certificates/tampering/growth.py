"""Ways to tamper with the growth of the loss."""

import numpy as np

from fuzz.certificates.sealed import Arrays, Header
from fuzz.certificates.tampering.changes import PROVES, Change, array, entry, filled, less, put, scaled

__all__ = ["CATALOGUE"]

ARRAYS = ("growth_alpha", "growth_columns", "growth_values")
GROWTH = "the loss is not proved to grow as the certificate says"
SLOPE = "the slope of its dual point is too steep"
MALFORMED = "the growth of the loss is malformed"
POSITIVE = "growth_values contains numbers that are not positive"
COLUMNS = "growth_columns contains numbers out of range"
SHAPE = "growth_alpha has the wrong shape"


def growth_on_a_slope(header: Header, arrays: Arrays) -> None:
    arrays["growth_alpha"] *= np.linspace(0.8, 1.0, header["n"])


def growth_of_fewer_columns(header: Header, arrays: Arrays) -> None:
    arrays["growth_columns"], arrays["growth_values"] = arrays["growth_columns"][1:], arrays["growth_values"][1:]


def growth_of_no_columns(header: Header, arrays: Arrays) -> None:
    arrays["growth_columns"], arrays["growth_values"] = arrays["growth_columns"][:0], arrays["growth_values"][:0]


def growth_of_a_column_twice(header: Header, arrays: Arrays) -> None:
    arrays["growth_columns"][1] = arrays["growth_columns"][0]


def growth_of_no_feature(header: Header, arrays: Arrays) -> None:
    arrays["growth_columns"][-1] = header["p"]


def growth_of_another_loss(header: Header, arrays: Arrays) -> None:
    arrays["growth_alpha"] = np.full(header["n"], 0.5)
    arrays["growth_columns"], arrays["growth_values"] = np.arange(header["p"]), np.full(header["p"], 1e-9)


CHANGES: list[tuple[str, Change, str]] = [
    ("growth larger", scaled("growth_values", 50.0), GROWTH),
    ("growth of everything", filled("growth_values", 1e300), GROWTH),
    ("growth smaller", scaled("growth_values", 1e-30), SLOPE),
    ("growth next to nothing", filled("growth_values", 5e-324), SLOPE),
    ("one growth larger", array("growth_values", lambda old: np.where(np.arange(len(old)) == 3, 50.0 * old, old)), GROWTH),
    ("growth of nothing", put("growth_values", 0, 0.0), POSITIVE),
    ("growth below zero", scaled("growth_values", -1.0), POSITIVE),
    ("growth not finite", put("growth_values", 0, np.nan), "growth_values contains numbers that are not finite"),
    ("growth of another size", array("growth_values", lambda old: old[:-1]), "growth_values has the wrong shape"),
    ("growth at the end of the domain", array("growth_alpha", lambda old: np.where(old > 0.5, 1.0, 0.0)), GROWTH),
    ("growth outside the domain", array("growth_alpha", lambda old: old + 2.0), GROWTH),
    ("growth at a point far away", scaled("growth_alpha", 1e300), GROWTH),
    ("growth on a slope", growth_on_a_slope, SLOPE),
    ("growth on a steep slope", filled("growth_alpha", 0.5), SLOPE),
    ("growth of another point", array("growth_alpha", lambda old: old[::-1].copy()), SLOPE),
    ("growth at no point", put("growth_alpha", 2, np.inf), "growth_alpha contains numbers that are not finite"),
    ("growth of fewer columns", growth_of_fewer_columns, "leaves out a column that nothing else holds"),
    ("growth of fewer rows", array("growth_alpha", lambda old: old[:-1]), SHAPE),
    ("growth in small numbers", array("growth_alpha", lambda old: old.astype(np.float32)), SHAPE),
    ("growth at text", array("growth_alpha", lambda old: old.astype("U8")), SHAPE),
    ("growth at a table", array("growth_alpha", lambda old: old[None]), SHAPE),
    ("growth of no columns", growth_of_no_columns, MALFORMED),
    ("growth of a column twice", growth_of_a_column_twice, MALFORMED),
    ("growth of columns that fall", array("growth_columns", lambda old: old[::-1].copy()), MALFORMED),
    ("growth of no feature", growth_of_no_feature, COLUMNS),
    ("growth of columns far out of range", array("growth_columns", lambda old: old + 2**24), COLUMNS),
    ("growth of a column below zero", put("growth_columns", 0, -1), COLUMNS),
    ("no growth", less(*ARRAYS), PROVES),
    ("growth of numbers", entry(loss="squared_error"), "an array has no use in this certificate: 'classes'"),
]
CATALOGUE: list[tuple[str, str, Change, str]] = [
    *(("no penalty", *change) for change in CHANGES),
    *(("no penalty", f"no {name}", less(name), f"arrays are missing: {name}") for name in ARRAYS),
    (
        "best subset",
        "growth of another loss",
        growth_of_another_loss,
        "an array has no use in this certificate: 'growth_alpha'",
    ),
]
