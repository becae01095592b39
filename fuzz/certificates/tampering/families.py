"""Ways to tamper with families of columns and with nodes whose last features are enumerated."""

import numpy as np

from fuzz.certificates.sealed import Arrays, Header
from fuzz.certificates.tampering.changes import PROVES, Change, array, entry, filled, less, put, scaled

__all__ = ["CATALOGUE"]

LISTS = ("form_ends", "rest_ends", "form_members", "form_masses", "form_along", "form_ridges", "form_family", "form_rest")
ARRAYS = (*LISTS, "point_form", "enumerated")
TOO_MUCH = "takes more curvature from the loss"
FORM, FORMS = "a form is malformed", "the forms are malformed"
ORDER = "enumerated is not in ascending order"


def one_mass_larger(header: Header, arrays: Arrays) -> None:
    arrays["form_masses"][np.argmax(arrays["form_masses"])] *= 2.0


def no_families(header: Header, arrays: Arrays) -> None:
    for name in ARRAYS:
        del arrays[name]


def nothing_enumerated(header: Header, arrays: Arrays) -> None:
    """Leave the leaves as they are, but for what says why they are closed; none of them says nothing twice."""
    arrays["enumerated"] = arrays["enumerated"][:0]
    arrays["model_values"][:] = 0.0


CHANGES: list[tuple[str, Change, str]] = [
    ("masses larger", scaled("form_masses", 1.2), TOO_MUCH),
    ("masses far larger", filled("form_masses", 1e300), TOO_MUCH),
    ("one mass larger", one_mass_larger, TOO_MUCH),
    ("no masses", filled("form_masses", 0.0), PROVES),
    ("masses below zero", put("form_masses", 0, -1e-9), "form_masses contains negative numbers"),
    ("masses not finite", put("form_masses", 0, np.nan), "form_masses contains numbers that are not finite"),
    ("all of the ridge taken", lambda header, arrays: arrays["form_ridges"].fill(2.0 * header["lambda_2"]), TOO_MUCH),
    ("more than the ridge taken", filled("form_ridges", 1e9), TOO_MUCH),
    ("ridges below zero", put("form_ridges", 0, -1.0), "form_ridges contains negative numbers"),
    ("families that are not there", filled("form_family", 10**6), FORM),
    ("families below zero", filled("form_family", -1), FORM),
    ("form of a column twice", array("form_members", np.zeros_like), FORM),
    ("form of no feature", put("form_members", -1, 10**6), "form_members contains numbers out of range"),
    ("form without end", array("form_ends", lambda old: np.append(old[:-1], old[-1] + 1)), FORMS),
    ("rest without end", array("rest_ends", lambda old: np.append(old[:-1], old[-1] + 1)), FORMS),
    ("rest below zero", put("form_rest", 0, -1.0), "form_rest contains negative numbers"),
    ("a form that is not there", put("point_form", 0, 10**6), "point_form contains numbers out of range"),
    ("nodes in another order", array("row", lambda old: np.append(old, old[:1])), "has the wrong shape"),
    ("a node twice", array("enumerated", lambda old: np.append(old[:1], old)), ORDER),
    ("a node that is not there", put("enumerated", -1, 10**6), "enumerated contains numbers out of range"),
    ("coefficients larger", scaled("model_values", 3.0), PROVES),
    ("coefficients beyond float64", filled("model_values", 1e300), PROVES),
    ("coefficients not finite", put("model_values", 0, np.inf), "model_values contains numbers that are not finite"),
    ("coefficients of other columns", array("model_columns", lambda old: (old + 1) % (old.max() + 1)), PROVES),
    ("nothing enumerated", nothing_enumerated, ""),
    ("the root enumerated", array("enumerated", lambda old: np.zeros(1, np.int64)), ""),
    ("no families", no_families, ""),
    ("families of classes", entry(loss="logistic"), "arrays are missing: classes"),
]
CATALOGUE: list[tuple[str, str, Change, str]] = [
    *(("families", *change) for change in CHANGES),
    *(("families", f"no {name}", less(name), f"arrays are missing: {name}") for name in ARRAYS),
]
