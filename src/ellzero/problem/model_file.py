"""Reading and writing of model files: JSON, so that reading one runs no code. docs/model-file.md describes the format."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.base.files import replacing
from ellzero.base.quoting import json_text, one_line, quoted
from ellzero.base.reading import Malformed, read_json, text_array
from ellzero.base.validation import as_count, as_feature_costs, as_nonnegative, as_path
from ellzero.problem.losses import Loss, Multinomial, get_loss

__all__ = ["FitSettings", "ModelContent", "read_model_file", "write_model_file"]

Array = NDArray[np.float64]
FORMAT = "ellzero model"
VERSION = 2
"""Version 2 knows the multinomial loss and several targets; a file that needs neither is one of version 1."""
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

    def known(self) -> dict[str, Any]:
        """Return the settings that are known, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


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
    text = json.dumps(to_json(model), indent=1, ensure_ascii=False, allow_nan=False)
    if HALF_CHARACTER.search(text):
        raise InvalidInputError("names and labels must be whole characters to be saved; one holds half a character.")
    with replacing(as_path("path", path)) as stream:
        stream.write(json_text(text).encode() + b"\n")


def to_json(model: ModelContent) -> dict[str, Any]:
    """Return the content as a JSON object, with its entries in the order of the format's description."""
    coef = model.coef.copy()
    coef.eliminate_zeros()
    coef.sort_indices()
    settings = model.settings
    several_targets = model.classes is None and coef.shape[0] > 1
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION if several_targets or model.loss.couples_outputs else 1,
        "estimator": "L0Regressor" if model.classes is None else "L0Classifier",
        **model.loss.settings,
        "penalties": {
            "k": None if settings.k is None else int(settings.k),
            **{name: as_float(getattr(settings, name)) for name in PENALTIES[1:]},
        },
        **{name: as_flag(getattr(settings, name)) for name in FLAGS},
        "n_features": int(coef.shape[1]),
        "feature_names": None if model.names is None else [str(name) for name in model.names],
        "classes": None if model.classes is None else labels_to_json(model.classes),
        "outputs": [
            {
                "intercept": float(intercept),
                "features": coef.indices[start:stop].tolist(),
                "coefficients": coef.data[start:stop].tolist(),
            }
            for intercept, start, stop in zip(model.intercept, coef.indptr[:-1], coef.indptr[1:], strict=True)
        ],
        "calibration": None if model.calibration is None else model.calibration.tolist(),
    }
    if model.multi_class is not None:
        content["multi_class"] = model.multi_class
    if model.pos_label is not None:
        content["pos_label"] = int(np.flatnonzero(model.classes == model.pos_label)[0])
    if settings.budget is not None:
        content["penalties"]["budget"] = float(settings.budget)
    if settings.feature_cost is not None:
        content["feature_cost"] = [float(cost) for cost in settings.feature_cost]
    if settings.groups is not None:
        content["groups"] = [str(name) for name in settings.groups]
    if model.names_given:
        content["names_given"] = True
    if model.preparation is not None:
        content["preparation"] = model.preparation
    return content


def as_float(value: Any) -> float | None:
    """Return a number as a plain float; None stays None."""
    return None if value is None else float(value)


def as_flag(value: Any) -> bool | None:
    """Return a truth value as a plain bool; None stays None."""
    return None if value is None else bool(value)


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
    path = as_path("path", path)
    try:
        content = read_json(path)
    except Malformed as error:
        raise InvalidInputError(f"{path} is not a model file: {error}.") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidInputError(f"{path} is not a model file: its format is not {FORMAT!r}.")
    version = content.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise InvalidInputError(f"{path} has version {quoted(version)}; this ellzero reads versions 1 to {VERSION}.")
    try:
        return from_json(content)
    except Malformed as error:
        raise InvalidInputError(f"{path} is malformed: {error}.") from None


def entry(content: dict[str, Any], name: str, *types: type) -> Any:
    """Return an entry; raise `Malformed` if it is missing or has none of these types."""
    if name not in content:
        raise Malformed(f"{name} is missing")
    value = content[name]
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise Malformed(f"{name} has the wrong type")
    return value


def from_json(content: dict[str, Any]) -> ModelContent:
    """Check that the entries of a file are valid and consistent, and return its content."""
    kind = entry(content, "estimator", str)
    if kind not in ("L0Classifier", "L0Regressor"):
        raise Malformed(f"estimator {quoted(kind)} is not known")
    loss: Loss = as_valid(get_loss, entry(content, "loss", str), content.get("huber_delta", math.nan))
    for_classes = any(content.get(name) is not None for name in ("classes", "calibration"))
    if kind == "L0Regressor" and (loss.is_classification or for_classes):
        raise Malformed("a regression has a loss of numbers, no classes and no calibration")
    p = as_valid(as_count, "n_features", entry(content, "n_features", int), 1)
    settings = settings_from_json(content)
    names = entry(content, "feature_names", list, type(None))
    if names is not None and (len(names) != p or not all(isinstance(name, str) for name in names)):
        raise Malformed("feature_names must have one string for each feature")
    outputs = [output_from_json(output, p) for output in entry(content, "outputs", list)]
    classes = labels_from_json(entry(content, "classes", dict)) if kind == "L0Classifier" else None
    if classes is None:
        expected = max(len(outputs), 1) if content["version"] > 1 else 1
    else:
        expected = 1 if len(classes) == 2 else len(classes)
    if len(outputs) != expected:
        raise Malformed(f"outputs must have {expected} entries, has {len(outputs)}")
    return ModelContent(
        loss=loss,
        coef=sparse.vstack([coef for coef, _ in outputs], format="csr"),
        intercept=np.array([intercept for _, intercept in outputs]),
        classes=classes,
        names=names,
        settings=settings,
        calibration=calibration_from_json(content, loss, expected),
        multi_class=multi_class_from_json(content, loss, classes),
        pos_label=pos_label_from_json(content, classes),
        preparation=entry({"preparation": None} | content, "preparation", dict, type(None)),
        names_given=entry({"names_given": False} | content, "names_given", bool),
    )


def settings_from_json(content: dict[str, Any]) -> FitSettings:
    """Return the settings of the fit; those that the file does not know are None."""
    settings = {name: entry(content, name, bool, type(None)) for name in FLAGS}
    penalties = {"budget": None} | entry(content, "penalties", dict)
    costs = entry({"feature_cost": None} | content, "feature_cost", list, type(None))
    if costs is not None:
        numbers = np.array([finite(cost, "feature_cost") for cost in costs])
        settings["feature_cost"] = as_valid(as_feature_costs, "feature_cost", numbers, content["n_features"], None).tolist()
    groups = entry({"groups": None} | content, "groups", list, type(None))
    if groups is not None:
        if len(groups) != content["n_features"] or not all(isinstance(name, str) for name in groups):
            raise Malformed("groups must hold a name for each column")
        settings["groups"] = groups
    for name in (*PENALTIES, "budget"):
        value = entry(penalties, name, int, float, type(None))
        check = partial(as_count, least=0) if name == "k" else as_nonnegative
        settings[name] = None if value is None else as_valid(check, name, value)
    return FitSettings(**settings)


def multi_class_from_json(content: dict[str, Any], loss: Loss, classes: NDArray[Any] | None) -> str | None:
    """Return how three or more classes were learnt; files of version 1 need not say it, and their models predict alike."""
    several, multinomial = classes is not None and len(classes) > 2, loss.couples_outputs
    if multinomial and (content["version"] == 1 or not several):
        raise Malformed("the multinomial loss is for three or more classes, in version 2")
    value = entry({"multi_class": None} | content, "multi_class", str, type(None))
    if value is None:
        return (loss.name if multinomial else "ovr") if several else None
    if not several or value not in MULTI_CLASS or (value == Multinomial.name) != multinomial:
        raise Malformed(f"multi_class {quoted(value)} does not belong to the loss and the classes of the file")
    return str(value)


def pos_label_from_json(content: dict[str, Any], classes: NDArray[Any] | None) -> Any:
    """Return the label that the user called positive, None if the file names none by its place among the classes."""
    place = entry({"pos_label": None} | content, "pos_label", int, type(None))
    if place is None:
        return None
    if classes is None or len(classes) != 2 or place not in (0, 1):
        raise Malformed("pos_label must be 0 or 1, the place of one of two classes")
    return classes[place].item()


def calibration_from_json(content: dict[str, Any], loss: Loss, outputs: int) -> Array | None:
    """Return slope and intercept of the log-odds of each output, None if the file has none."""
    pairs = entry(content, "calibration", list, type(None))
    if pairs is None:
        return None
    if loss.has_probabilities:
        raise Malformed("calibration belongs to other losses than the logistic and the multinomial one")
    if len(pairs) != outputs or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise Malformed("calibration must have a slope and an intercept for each output")
    return np.array([[finite(value, "calibration") for value in pair] for pair in pairs])


def as_valid(check: Callable[..., Any], *arguments: Any) -> Any:
    """Call a check of arguments; an invalid value raises `Malformed`, since it is the file's fault, not the caller's."""
    try:
        return check(*arguments)
    except (InvalidInputError, OverflowError) as error:
        raise Malformed(one_line(error)) from None


def output_from_json(output: Any, p: int) -> tuple[sparse.csr_matrix, float]:
    """Return the coefficients of one output, of shape (1, p), and its intercept."""
    if not isinstance(output, dict):
        raise Malformed("outputs must hold objects")
    features, values = entry(output, "features", list), entry(output, "coefficients", list)
    if len(features) != len(values):
        raise Malformed("features and coefficients must have the same length")
    if not all(type(j) is int and 0 <= j < p for j in features) or len(set(features)) < len(features):
        raise Malformed(f"features must be different indices below {p}")
    numbers = np.array([finite(value, "coefficients") for value in values], dtype=np.float64)
    columns = np.array(features, dtype=np.int32)
    row = sparse.csr_matrix((numbers, columns, np.array([0, len(columns)])), shape=(1, p))
    return row, finite(output.get("intercept"), "intercept")


def finite(value: Any, name: str) -> float:
    """Return a number as a float; raise `Malformed` unless it is finite."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= sys.float_info.max:
        raise Malformed(f"{name} must hold finite numbers")
    return float(value)


def labels_from_json(content: dict[str, Any]) -> NDArray[Any]:
    """Return labels as an array of the type that the file names."""
    kind, values = entry(content, "type", str), entry(content, "values", list)
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
