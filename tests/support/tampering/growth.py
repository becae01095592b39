"""Ways to tamper with the growth of the loss, and the reason that the verifier gives."""

import numpy as np

from support.certificates import PROVES

GROWTH = "the loss is not proved to grow as the certificate says"
SLOPE = "the slope of its dual point is too steep"


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


TAMPERINGS = [
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
