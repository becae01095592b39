"""Reading and writing of model files: JSON, so that reading one runs no code. docs/model-file.md describes the format."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.base.json_files import Entries, finite, json_of, read_json_file, valid, write_json_file
from ellzero.base.quoting import quoted
from ellzero.base.reading import Malformed, text_array
from ellzero.base.validation import as_count, as_feature_costs, as_nonnegative, if_known, known
from ellzero.problem.losses import Loss, Multinomial, get_loss
from ellzero.problem.rules import Rule, rules_of_json

Array = NDArray[np.float64]
FORMAT = "ellzero model"
VERSION = 1
HALF_CHARACTER = re.compile("[\ud800-\udfff]")
MULTI_CLASS = ("multinomial", "ovr_shared", "ovr")
FLAGS = ("fit_intercept", "standardize")
PENALTIES = ("k", "lambda_0", "lambda_1", "lambda_2")
LABEL_KINDS = {"U": "string", "b": "boolean", "i": "integer", "u": "integer", "f": "number"}
LABEL_TYPES: dict[str, Any] = {"string": np.str_, "boolean": bool, "integer": np.int64, "number": np.float64}
JSON_TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "boolean": (bool,), "integer": (int,), "number": (int, float)}


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """The settings that a model was fitted with; None where they are not known."""

    k: int | None = None
    budget: float | None = None
    lambda_0: float | None = None
    lambda_1: float | None = None
    lambda_2: float | None = None
    fit_intercept: bool | None = None
    standardize: bool | None = None
    feature_cost: list[float] | None = None  # one number for each column
    groups: list[str] | None = None  # the name of each column's group
    rules: list[Rule] | None = None

    def known(self) -> dict[str, Any]:
        """Return the settings that are known, by name."""
        return known(vars(self))


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelContent:
    """Everything that a model file holds.

    Attributes
    ----------
    loss : Loss
    coef : (outputs, p) sparse matrix, on the scale of X; one output for each of three or more classes, or for each target
    intercept : (outputs,)
    classes : the labels, in order; None for a regression
    multi_class : how three or more classes were learnt: "multinomial", "ovr_shared" or "ovr"; None for two classes
    pos_label : the label that the user calls positive, one of two; None if the user did not say
    names : names of the p features, if they have any
    settings : FitSettings
    calibration : (outputs, 2), slope and intercept of the log-odds, for losses that have no probabilities of their own
    preparation : how the command line made the columns of X from raw data, as plain JSON
    names_given : whether the user gave the names to columns that had none

    """

    loss: Loss
    coef: sparse.csr_matrix
    intercept: Array
    classes: NDArray[Any] | None
    names: list[str] | None
    settings: FitSettings
    calibration: Array | None = None
    preparation: dict[str, Any] | None = None
    names_given: bool = False  # the names are the user's, X had none: new data needs none either
    multi_class: str | None = None
    pos_label: Any = None


def write_model_file(path: str | os.PathLike[str], model: ModelContent) -> None:
    """Write a model as JSON; the file appears as a whole or not at all."""
    text = json_of(to_json(model))
    if HALF_CHARACTER.search(text):
        raise InvalidInputError("names and labels must be whole characters to be saved; one holds half a character.")
    write_json_file(path, text)


def to_json(model: ModelContent) -> dict[str, Any]:
    """Return the content as a JSON object, with its entries in the order of the format's description."""
    coef = model.coef.copy()
    coef.eliminate_zeros()
    coef.sort_indices()
    settings = model.settings
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "estimator": "L0Regressor" if model.classes is None else "L0Classifier",
        **model.loss.settings,
        "penalties": {
            "k": if_known(int, settings.k),
            **{name: if_known(float, getattr(settings, name)) for name in PENALTIES[1:]},
            **known({"budget": if_known(float, settings.budget)}),
        },
        **{name: if_known(bool, getattr(settings, name)) for name in FLAGS},
        "n_features": int(coef.shape[1]),
        "feature_names": if_known(texts, model.names),
        "classes": if_known(labels_to_json, model.classes),
        "outputs": [
            {
                "intercept": float(intercept),
                "features": coef.indices[start:stop].tolist(),
                "coefficients": coef.data[start:stop].tolist(),
            }
            for intercept, start, stop in zip(model.intercept, coef.indptr[:-1], coef.indptr[1:], strict=True)
        ],
        "calibration": if_known(np.ndarray.tolist, model.calibration),
    }
    rest = {
        "multi_class": model.multi_class,
        "pos_label": if_known(lambda label: int(np.flatnonzero(model.classes == label)[0]), model.pos_label),
        "feature_cost": if_known(lambda costs: [float(cost) for cost in costs], settings.feature_cost),
        "groups": if_known(texts, settings.groups),
        "rules": if_known(lambda rules: [rule.as_json() for rule in rules], settings.rules),
        "names_given": model.names_given or None,
        "preparation": model.preparation,
    }
    return content | known(rest)


def texts(names: Iterable[Any]) -> list[str]:
    """Return names as texts."""
    return [str(name) for name in names]


def labels_to_json(labels: NDArray[Any]) -> dict[str, Any]:
    """Return labels together with the name of their type, which JSON alone does not keep."""
    each = labels.tolist() if labels.dtype == object else labels[:1]
    kinds = {LABEL_KINDS.get(np.asarray(label).dtype.kind) for label in each}
    if len(kinds) != 1 or None in kinds:
        raise InvalidInputError("only labels that are strings, numbers or booleans can be saved.")
    kind = kinds.pop()
    if kind == "number":
        labels = labels.astype(np.float64)
    elif kind == "integer" and max(labels.tolist()) > np.iinfo(np.int64).max:
        raise InvalidInputError("only integers below 2^63 can be saved as labels.")
    return {"type": kind, "values": labels.tolist()}


def read_model_file(path: str | os.PathLike[str]) -> ModelContent:
    """Read a model file and check every entry of it."""
    return read_json_file(path, "a model file", FORMAT, VERSION, content_of)


def content_of(entries: Entries) -> ModelContent:
    """Check that the entries of a file are valid and consistent, and return its content."""
    kind = entries.take("estimator", str)
    if kind not in ("L0Classifier", "L0Regressor"):
        raise Malformed(f"estimator {quoted(kind)} is not known")
    loss = loss_named(entries)
    for_classes = any(entries.has(name, optional=True) for name in ("classes", "calibration"))
    if kind == "L0Regressor" and (loss.is_classification or for_classes):
        raise Malformed("a regression has a loss of numbers, no classes and no calibration")
    p: int = valid(as_count, "n_features", entries.take("n_features", int), 1)
    names = entries.texts("feature_names", p) if entries.has("feature_names") else None
    outputs = [(sparse_row(part, p), part.number("intercept")) for part in entries.parts("outputs")]
    classes = labels_of(entries.part("classes")) if kind == "L0Classifier" else None
    expected = max(len(outputs), 1) if classes is None else 1 if len(classes) == 2 else len(classes)
    if len(outputs) != expected:
        raise Malformed(f"outputs must have {expected} entries, has {len(outputs)}")
    calibrated = entries.has("calibration")
    if calibrated and loss.has_probabilities:
        raise Malformed("calibration belongs to other losses than the logistic and the multinomial one")
    return ModelContent(
        loss=loss,
        coef=sparse.vstack([coef for coef, _ in outputs], format="csr"),
        intercept=np.array([intercept for _, intercept in outputs]),
        classes=classes,
        names=names,
        settings=settings_of(entries, p),
        calibration=entries.table("calibration", expected, 2) if calibrated else None,
        multi_class=multi_class_of(entries, loss, classes),
        pos_label=pos_label_of(entries, classes),
        preparation=entries.take("preparation", dict) if entries.has("preparation", optional=True) else None,
        names_given=entries.take("names_given", bool) if entries.has("names_given", optional=True) else False,
    )


def loss_named(entries: Entries) -> Loss:
    """Return the loss of a file, and its parameter."""
    delta = entries.number("huber_delta") if entries.has("huber_delta", optional=True) else math.nan
    loss: Loss = valid(get_loss, entries.take("loss", str), delta)
    return loss


def settings_of(entries: Entries, p: int) -> FitSettings:
    """Return the settings of the fit; those that the file does not know are None."""
    settings = {name: entries.take(name, bool) for name in FLAGS if entries.has(name)}
    if entries.has("feature_cost", optional=True):
        costs = entries.numbers("feature_cost", p)
        settings["feature_cost"] = valid(as_feature_costs, "feature_cost", costs, p, None).tolist()
    if entries.has("groups", optional=True):
        settings["groups"] = entries.texts("groups", p)
    if entries.has("rules", optional=True):
        settings["rules"] = valid(rules_of_json, entries.take("rules", list))
    penalties = entries.part("penalties")
    for name in (*PENALTIES, "budget"):
        if penalties.has(name, optional=name == "budget"):
            check = partial(as_count, least=0) if name == "k" else as_nonnegative
            settings[name] = valid(check, name, penalties.take(name, int, float))
    return FitSettings(**settings)


def multi_class_of(entries: Entries, loss: Loss, classes: NDArray[Any] | None) -> str | None:
    """Return how three or more classes were learnt, None of two classes."""
    several, multinomial = classes is not None and len(classes) > 2, loss.couples_outputs
    if multinomial and not several:
        raise Malformed("the multinomial loss is for three or more classes")
    if not several and not entries.has("multi_class", optional=True):
        return None
    value = entries.take("multi_class", str)
    if not several or value not in MULTI_CLASS or (value == Multinomial.name) != multinomial:
        raise Malformed(f"multi_class {quoted(value)} does not belong to the loss and the classes of the file")
    return str(value)


def pos_label_of(entries: Entries, classes: NDArray[Any] | None) -> Any:
    """Return the label that the user called positive, None if the file names none by its place among the classes."""
    if not entries.has("pos_label", optional=True):
        return None
    place = entries.take("pos_label", int)
    if classes is None or len(classes) != 2 or place not in (0, 1):
        raise Malformed("pos_label must be 0 or 1, the place of one of two classes")
    return classes[place].item()


def sparse_row(entries: Entries, p: int) -> sparse.csr_matrix:
    """Return the coefficients of one output, of shape (1, p)."""
    columns = np.array(entries.indices("features", p), dtype=np.int32)
    values = entries.numbers("coefficients", len(columns))
    return sparse.csr_matrix((values, columns, np.array([0, len(columns)])), shape=(1, p))


def labels_of(entries: Entries) -> NDArray[Any]:
    """Return labels as an array of the type that the file names."""
    kind, values = entries.take("type", str), entries.take("values", list)
    if kind not in LABEL_TYPES:
        raise Malformed(f"classes of type {quoted(kind)} are not known")
    if len(set(map(str, values))) < max(2, len(values)) or not all(type(value) in JSON_TYPES[kind] for value in values):
        raise Malformed(f"classes must have at least two different values of type {kind}")
    if kind == "string":
        return text_array(values)
    if kind == "number":
        values = [finite(value, "classes") for value in values]
    try:
        return np.array(values, dtype=LABEL_TYPES[kind])
    except OverflowError:
        raise Malformed("classes has an integer that is too large") from None
