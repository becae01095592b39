"""Ways to tamper with diagonals and the models of dual points."""

from typing import Any

import numpy as np

from fuzz.certificates.sealed import Arrays, Header
from fuzz.certificates.tampering.changes import PROVES, Change, array, entry, filled, less, put, scaled

__all__ = ["CATALOGUE"]

ARRAYS = (
    "diagonal_ends",
    "diagonal_members",
    "diagonal_values",
    "point_diagonal",
    "model_columns",
    "model_values",
    "model_ends",
)
TOO_MUCH = "takes more curvature from the loss"
DIAGONALS = "the diagonals are malformed"
DIAGONAL = "a diagonal is malformed"
MODELS = "the models are malformed"
FOREIGN = "the model of a dual point uses a column that diagonal"
MEMBERS = "diagonal_members contains numbers out of range"
COLUMNS = "model_columns contains numbers out of range"
POINTS = "point_diagonal contains numbers out of range"


def one_entry_larger(header: Header, arrays: Arrays) -> None:
    arrays["diagonal_values"][arrays["diagonal_ends"][0] - 1] *= 2.0


def first_diagonal_without(arrays: Arrays, column: int) -> None:
    """Take a column out of the first diagonal, and out of the models that use it."""
    place = int(np.flatnonzero(arrays["diagonal_members"] == column)[0])
    for name in ("diagonal_members", "diagonal_values"):
        arrays[name] = np.delete(arrays[name], place)
    arrays["diagonal_ends"] -= 1
    kept = arrays["model_columns"] != column
    arrays["model_ends"] = np.cumsum(kept)[arrays["model_ends"] - 1]
    for name in ("model_columns", "model_values"):
        arrays[name] = arrays[name][kept]


def diagonal_of_fewer_columns(header: Header, arrays: Arrays) -> None:
    first_diagonal_without(arrays, arrays["model_columns"][0])


def diagonal_of_fewer_columns_than_models(header: Header, arrays: Arrays) -> None:
    models = {name: arrays[name] for name in ("model_columns", "model_values", "model_ends")}
    first_diagonal_without(arrays, arrays["model_columns"][0])
    arrays.update(models)


def diagonal_of_no_feature(header: Header, arrays: Arrays) -> None:
    arrays["diagonal_members"][arrays["diagonal_ends"][0] - 1] = header["p"]


def diagonal_that_is_not_there(header: Header, arrays: Arrays) -> None:
    arrays["point_diagonal"][0] = len(arrays["diagonal_ends"])


def models_of_other_columns(header: Header, arrays: Arrays) -> None:
    arrays["model_columns"] = (arrays["model_columns"] + 1) % header["p"]


def model_with_a_feature_twice(header: Header, arrays: Arrays) -> None:
    first = int(np.flatnonzero(np.diff(arrays["model_ends"], prepend=0) > 1)[0])
    start = arrays["model_ends"][first] - 2
    arrays["model_columns"][start + 1] = arrays["model_columns"][start]


def models_moved(header: Header, arrays: Arrays) -> None:
    """Give each model to another point."""
    lengths = np.roll(np.diff(arrays["model_ends"], prepend=0), 1)
    parts = np.split(np.arange(len(arrays["model_columns"])), arrays["model_ends"][:-1])
    order = np.concatenate([parts[-1], *parts[:-1]])
    arrays["model_ends"] = np.cumsum(lengths)
    for name in ("model_columns", "model_values"):
        arrays[name] = arrays[name][order]


def no_diagonals(header: Header, arrays: Arrays) -> None:
    for name in [name for name in arrays if name.startswith(("diagonal", "point_"))]:
        del arrays[name]


def diagonals_of_another_loss(header: Header, arrays: Arrays) -> None:
    arrays |= {name: np.zeros(0, np.int64) for name in ("diagonal_ends", "diagonal_members")}
    arrays["diagonal_values"] = np.zeros(0)
    arrays["point_diagonal"] = np.full(len(arrays["model_ends"]), -1)


def last_more(old: Any) -> Any:
    """Return ends of which the last one is one more."""
    return np.append(old[:-1], old[-1] + 1)


CHANGES: list[tuple[str, Change, str]] = [
    ("diagonals larger", scaled("diagonal_values", 1.1), TOO_MUCH),
    ("diagonals far larger", filled("diagonal_values", 1e300), TOO_MUCH),
    ("diagonals of nothing", filled("diagonal_values", 0.0), PROVES),
    ("one entry of a diagonal larger", one_entry_larger, TOO_MUCH),
    ("diagonals below zero", put("diagonal_values", 0, -1e-9), "diagonal_values contains negative numbers"),
    ("diagonals not finite", put("diagonal_values", 0, np.inf), "diagonal_values contains numbers that are not finite"),
    ("diagonals of another size", array("diagonal_values", lambda old: old[:-1]), "diagonal_values has the wrong shape"),
    (
        "diagonals in small numbers",
        array("diagonal_values", lambda old: old.astype(np.float32)),
        "diagonal_values has the wrong shape",
    ),
    ("diagonal of fewer columns", diagonal_of_fewer_columns, PROVES),
    ("diagonal of fewer columns than models", diagonal_of_fewer_columns_than_models, FOREIGN),
    ("diagonals of other columns", array("diagonal_members", lambda old: old[::-1].copy()), DIAGONAL),
    ("diagonal with a column twice", array("diagonal_members", np.zeros_like), DIAGONAL),
    ("diagonal of no feature", diagonal_of_no_feature, MEMBERS),
    ("diagonal of columns far out of range", array("diagonal_members", lambda old: old + 2**24), MEMBERS),
    ("diagonal of a column below zero", put("diagonal_members", 0, -1), MEMBERS),
    ("diagonal without end", array("diagonal_ends", last_more), DIAGONALS),
    ("diagonal that never ends", put("diagonal_ends", -1, 10**15), DIAGONALS),
    ("diagonal that ends below zero", put("diagonal_ends", 0, -(10**15)), DIAGONALS),
    ("diagonal that ends before it begins", array("diagonal_ends", lambda old: np.append(old + 3, old[-1])), DIAGONALS),
    ("diagonal without columns", array("diagonal_ends", lambda old: np.append(0, old)), DIAGONAL),
    ("ends of diagonals in floats", array("diagonal_ends", lambda old: old.astype(float)), "diagonal_ends has the wrong shape"),
    ("diagonal that is not there", diagonal_that_is_not_there, POINTS),
    ("diagonal far out of range", put("point_diagonal", 0, 10**7), POINTS),
    ("diagonal below none", put("point_diagonal", 0, -2), POINTS),
    ("points without diagonals", filled("point_diagonal", -1), PROVES),
    ("diagonals of fewer points", array("point_diagonal", lambda old: old[:-1]), "point_diagonal has the wrong shape"),
    ("models larger", scaled("model_values", 1.5), PROVES),
    ("models of other columns", models_of_other_columns, FOREIGN),
    ("models not finite", put("model_values", 0, np.nan), "model_values contains numbers that are not finite"),
    ("models beyond float64", filled("model_values", 1e300), PROVES),
    ("model of no feature", put("model_columns", 0, -1), COLUMNS),
    ("models of columns far out of range", array("model_columns", lambda old: old + 2**24), COLUMNS),
    ("model with a feature twice", model_with_a_feature_twice, "a model lists a feature twice"),
    ("model without end", array("model_ends", last_more), MODELS),
    ("model that ends before it begins", array("model_ends", lambda old: np.append(old[-1] + 1, old[1:])), MODELS),
    ("models that end below zero", put("model_ends", 0, -7), MODELS),
    ("models of fewer points", array("model_ends", lambda old: old[:-1]), "point_diagonal has the wrong shape"),
    ("ends of models in text", array("model_ends", lambda old: old.astype("U8")), "model_ends has the wrong shape"),
    ("models moved", models_moved, FOREIGN),
    ("no diagonals", no_diagonals, PROVES),
    ("diagonals of classes", entry(loss="logistic"), "arrays are missing: classes"),
]
CATALOGUE: list[tuple[str, str, Change, str]] = [
    *(("best subset", *change) for change in CHANGES),
    *(("best subset", f"no {name}", less(name), f"arrays are missing: {name}") for name in ARRAYS),
    (
        "weighted box",
        "diagonals of another loss",
        diagonals_of_another_loss,
        "an array has no use in this certificate: 'diagonal_ends'",
    ),
]
