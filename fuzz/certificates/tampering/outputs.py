"""Ways to tamper with certificates of several outputs."""

from typing import Any

import numpy as np

from fuzz.certificates.sealed import Arrays, Header
from fuzz.certificates.tampering.changes import PROVES, VALUE, Change, array, both, entry, less, put, scaled
from fuzz.certificates.tampering.problem import k_changed
from fuzz.certificates.tampering.tree import leaves_opened

__all__ = ["CATALOGUE"]

FOREIGN, SHAPE, USELESS = "y is not the target", "has the wrong shape", "an array has no use in this certificate"
RANGE, FINITE = "contains numbers out of range", "contains numbers that are not finite"
COST, INTERCEPT = "the solution's features cost", "the solution has an intercept, the problem has none"


def outputs_fewer(header: Header, arrays: Arrays) -> None:
    header["outputs"] -= 1


def outputs_fewer_and_consistent(header: Header, arrays: Arrays) -> None:
    header["outputs"] -= 1
    arrays["coef"], arrays["intercept"] = arrays["coef"][:, :-1], arrays["intercept"][:-1]
    arrays["classes"] = arrays["classes"][:-1]
    arrays["model_intercept"] = arrays["model_intercept"][:, :-1]
    arrays["model_columns"], arrays["model_values"] = arrays["model_columns"][:0], arrays["model_values"][:0]
    arrays["model_ends"] = np.zeros_like(arrays["model_ends"])


def points_of_exchanged_outputs(header: Header, arrays: Arrays) -> None:
    columns, last = arrays["model_columns"], header["outputs"] - 1
    arrays["model_columns"] = columns + last - 2 * (columns % header["outputs"])
    arrays["model_intercept"] = arrays["model_intercept"][:, ::-1].copy()


def one_coefficient_changed(header: Header, arrays: Arrays) -> None:
    arrays["coef"][0, -1] += 1e-3


def lower_bound_above_the_objective(header: Header, arrays: Arrays) -> None:
    header["lower_bound"] = header["objective"] * (1.0 + 1e-8)


def prices_of_outputs(header: Header, arrays: Arrays) -> None:
    arrays["price"] = np.repeat(arrays["price"], header["outputs"])


def block_of_an_output(header: Header, arrays: Arrays) -> None:
    arrays["block_members"] = arrays["block_members"] * header["outputs"] + 1


def bounds_of_outputs(header: Header, arrays: Arrays) -> None:
    arrays["lower"] = np.full(header["p"] * header["outputs"], -1.0)


def diagonals_of_outputs(header: Header, arrays: Arrays) -> None:
    arrays["point_diagonal"] = np.full(len(arrays["model_ends"]), -1)
    arrays |= {"diagonal_ends": np.array([1]), "diagonal_members": np.array([0]), "diagonal_values": np.array([1e-9])}


def growth_of_outputs(header: Header, arrays: Arrays) -> None:
    arrays |= {"growth_alpha": np.full(header["n"], 0.5), "growth_columns": np.array([0]), "growth_values": np.array([1e-9])}


def reverse(old: Any) -> Any:
    """Return an array's last axis the other way round."""
    return old[..., ::-1].copy()


def replaced(name: str, values: list[Any]) -> Change:
    """Return the change that puts other values in an array's place."""
    return array(name, lambda old: np.array(values))


CLASSES: list[tuple[str, Change, str]] = [
    ("fewer outputs", outputs_fewer, f"model_intercept {SHAPE}"),
    ("fewer outputs and consistent", outputs_fewer_and_consistent, FOREIGN),
    ("outputs missing", less("outputs"), "the header lacks outputs"),
    ("classes in another order", array("classes", reverse), FOREIGN),
    (
        "classes in another order with all else",
        both(*(array(name, reverse) for name in ("classes", "coef", "intercept"))),
        FOREIGN,
    ),
    ("class missing", array("classes", lambda old: old[:-1]), f"classes {SHAPE}"),
    ("class twice", array("classes", lambda old: np.append(old[0], np.delete(old, 1))), "classes lists a label twice"),
    ("class of no row", put("classes", 1, "nobody"), "classes lists a label that y does not have (at 1)"),
    ("no classes", less("classes"), "arrays are missing: classes"),
    ("each class against the others", entry(loss="logistic"), FOREIGN),
    ("points of classes scaled", scaled("model_values", 0.3), PROVES),
    ("points of exchanged classes", points_of_exchanged_outputs, PROVES),
    ("points of one class", array("model_intercept", lambda old: old[:, 0]), f"model_intercept {SHAPE}"),
    ("points in three dimensions", array("model_intercept", lambda old: old[..., None]), f"model_intercept {SHAPE}"),
    (
        "points of far columns",
        array("model_columns", lambda old: old.astype(np.int64) + 2**40),
        f"model_columns {RANGE}",
    ),
    ("no points at leaves of classes", leaves_opened, PROVES),
    (
        "point of a class not finite",
        put("model_intercept", (0, -1), np.nan),
        f"model_intercept {FINITE}",
    ),
    ("coefficients exchanged", array("coef", reverse), VALUE),
    ("coefficient not finite", put("coef", (0, 0), np.inf), "coef contains numbers that are not finite"),
    ("intercepts exchanged", array("intercept", reverse), VALUE),
    ("one intercept", array("intercept", lambda old: old[0]), f"intercept {SHAPE}"),
    ("no intercepts", entry(fit_intercept=False), INTERCEPT),
    ("classes, k higher", k_changed(2), PROVES),
    ("classes, lambda_2 lower", scaled("lambda_2", 0.5), VALUE),
    ("block of an output", block_of_an_output, "block_members contains numbers out of range"),
    ("bounds of outputs", bounds_of_outputs, f"lower {SHAPE}"),
    ("growth of classes", growth_of_outputs, USELESS),
]
TARGETS: list[tuple[str, Change, str]] = [
    ("targets as classes", entry(loss="multinomial"), "arrays are missing: classes"),
    ("points of exchanged targets", points_of_exchanged_outputs, PROVES),
    ("one coefficient changed", one_coefficient_changed, VALUE),
    ("coefficients of one output", array("coef", lambda old: old[:, 0]), f"coef {SHAPE}"),
    ("lower bound above the objective of targets", lower_bound_above_the_objective, PROVES),
    ("objective of targets lowered", scaled("objective", 1.0 - 1e-7), VALUE),
    ("diagonals of targets", diagonals_of_outputs, USELESS),
]
LABELS: list[tuple[str, Change, str]] = [
    ("labels exchanged", array("classes", reverse), FOREIGN),
    ("three labels", replaced("classes", ["no", "yes", "maybe"]), "y has shape (24, 3), the certificate is for 24 rows."),
    ("labels as classes", entry(loss="multinomial"), f"classes {SHAPE}"),
    ("growth of labels", growth_of_outputs, USELESS),
]
ONE_VERSUS_REST: list[tuple[str, Change, str]] = [
    ("others exchanged", array("classes", reverse), FOREIGN),
    (
        "one of the others missing",
        array("classes", lambda old: old[:-1]),
        "y has shape (24,), the certificate is for 24 rows and 3 targets.",
    ),
    ("others as classes", entry(loss="multinomial"), FOREIGN),
]
PRICED: list[tuple[str, Change, str]] = [
    ("groups of outputs merged", replaced("group", [0, 1, 0, 0, 1]), "price differs inside a group"),
    ("group of outputs split", replaced("group", [0, 1, 2, 3, 1]), COST),
    ("no groups of outputs", less("group"), COST),
    ("prices of outputs lower", scaled("price", 0.9), VALUE),
    ("a price for each output", prices_of_outputs, f"price {SHAPE}"),
    ("no prices of outputs", less("price"), "arrays are missing: price"),
    ("budget of outputs higher", entry(budget=4.5), PROVES),
    ("budget of outputs lower", entry(budget=0.5), COST),
]
CATALOGUE: list[tuple[str, str, Change, str]] = [
    *(("classes", *change) for change in CLASSES),
    *(("targets", *change) for change in TARGETS),
    *(("labels", *change) for change in LABELS),
    *(("one against the others", *change) for change in ONE_VERSUS_REST),
    *(("priced outputs", *change) for change in PRICED),
    ("outputs without intercept", "an intercept where there is none", replaced("intercept", [0.0, 0.0, 0.1]), INTERCEPT),
]
