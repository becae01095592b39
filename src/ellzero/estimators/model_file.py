"""Fitted models as JSON: read by anything, and reading them runs no code. docs/model-file.md describes the form."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ellzero.base.errors import InvalidInputError
from ellzero.base.files import replacing
from ellzero.base.validation import as_count, as_nonnegative
from ellzero.estimators.base import L0Estimator
from ellzero.estimators.single_fit import L0Classifier, L0Regressor
from ellzero.problem.losses import get_loss
from ellzero.problem.model import Model

__all__ = ["fitted", "load", "read_model", "write_model"]

FORMAT = "ellzero model"
VERSION = 1
FLAGS = ("fit_intercept", "standardize")
PENALTIES = ("k", "lambda_0", "lambda_1", "lambda_2")
LABEL_KINDS = {"U": "string", "b": "boolean", "i": "integer", "u": "integer", "f": "number"}
LABEL_TYPES: dict[str, Any] = {"string": str, "boolean": bool, "integer": np.int64, "number": np.float64}


def write_model(path: str | os.PathLike[str], estimator: L0Estimator, preparation: dict[str, Any] | None = None) -> None:
    """Write a fitted estimator; `preparation` says how its columns were made from raw data, for the command line."""
    check_is_fitted(estimator)
    coef = sparse.csr_matrix(estimator.coef_)
    coef.eliminate_zeros()
    names = getattr(estimator, "feature_names_in_", None)
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "estimator": "L0Classifier" if hasattr(estimator, "classes_") else "L0Regressor",
        "loss": estimator._loss_name(),
        "penalties": {name: penalty_of(estimator, name) for name in PENALTIES},
        **{name: flag_of(estimator, name) for name in FLAGS},
        "n_features": int(estimator.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
        "classes": labels_to_json(estimator.classes_) if hasattr(estimator, "classes_") else None,
        "outputs": [
            {
                "intercept": float(intercept),
                "features": coef.indices[start:stop].tolist(),
                "coefficients": coef.data[start:stop].tolist(),
            }
            for intercept, start, stop in zip(
                np.atleast_1d(estimator.intercept_), coef.indptr[:-1], coef.indptr[1:], strict=True
            )
        ],
        "calibration": estimator.calibration_.tolist() if hasattr(estimator, "calibration_") else None,
    }
    if preparation is not None:
        content["preparation"] = preparation
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    with replacing(path) as stream:
        stream.write(text.encode() + b"\n")


def penalty_of(estimator: L0Estimator, name: str) -> float | None:
    """A penalty as it was chosen, or as it was given."""
    value = getattr(estimator, f"{name}_", getattr(estimator, name, None))
    return None if value is None else int(value) if name == "k" else float(value)


def flag_of(estimator: L0Estimator, name: str) -> bool | None:
    """A setting, None if it is not known how the model was fitted."""
    value = getattr(estimator, name)
    return None if value is None else bool(value)


def fitted(model: Model, **settings: Any) -> L0Estimator:
    """An estimator that predicts what the model does; `settings` are what is known of the way it was fitted."""
    known: dict[str, Any] = dict.fromkeys((*PENALTIES, *FLAGS))
    known |= {"lambda_0": model.lambda_0} | settings
    estimator: Any
    if model.classes is None:
        estimator = L0Regressor(**known)
        estimator.coef_, estimator.intercept_ = model.coef, model.intercept
    else:
        estimator = L0Classifier(model.loss, **known)
        estimator.coef_, estimator.intercept_ = model.coef[np.newaxis], np.array([model.intercept])
        estimator.classes_ = model.classes
    estimator.support_, estimator.n_features_in_ = model.support, model.n_features
    if model.names is not None:
        estimator.feature_names_in_ = np.array(model.names, dtype=object)
    return estimator


def labels_to_json(labels: NDArray[Any]) -> dict[str, Any]:
    """Labels with their type, which must survive."""
    each = labels.tolist() if labels.dtype == object else labels[:1]
    kinds = {LABEL_KINDS.get(np.asarray(label).dtype.kind) for label in each}
    if len(kinds) != 1 or None in kinds:
        raise InvalidInputError("only labels that are strings, numbers or booleans can be saved.")
    return {"type": kinds.pop(), "values": labels.tolist()}


def load(path: str | os.PathLike[str]) -> L0Estimator:
    """A fitted estimator from a file that `save` wrote.

    Parameters
    ----------
    path : the JSON file

    Returns
    -------
    L0Classifier or L0Regressor

    Examples
    --------
    >>> import os, tempfile
    >>> import ellzero as ez
    >>> X, y, _ = ez.datasets.make_classification(100, 20, 2, s=3.0, random_state=0)
    >>> model = ez.L0Classifier(k=2).fit(X, y)
    >>> file = os.path.join(tempfile.mkdtemp(), "model.json")
    >>> model.save(file)
    >>> bool((ez.load(file).predict(X) == model.predict(X)).all())
    True

    """
    return read_model(path)[0]


def read_model(path: str | os.PathLike[str]) -> tuple[L0Estimator, dict[str, Any] | None]:
    """The estimator, and how its columns are made from raw data."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{path} is not a model file: {error}.") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidInputError(f"{path} is not a model file: its format is not {FORMAT!r}.")
    version = content.get("version")
    if type(version) is not int or version != VERSION:
        raise InvalidInputError(f"{path} has version {version!r}; this ellzero reads version {VERSION}.")
    try:
        return estimator_of(content), entry({"preparation": None} | content, "preparation", dict, type(None))
    except Malformed as error:
        raise InvalidInputError(f"{path} is malformed: {error}.") from None


class Malformed(Exception):
    """What is wrong with a file."""


def refuse_constant(name: str) -> Any:
    """JSON has no NaN and no infinity."""
    raise ValueError(f"it contains {name}")


def entry(content: dict[str, Any], name: str, *types: type) -> Any:
    """An entry of one of these types."""
    if name not in content:
        raise Malformed(f"{name} is missing")
    value = content[name]
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise Malformed(f"{name} has the wrong type")
    return value


def estimator_of(content: dict[str, Any]) -> L0Estimator:
    """A fitted estimator from a file's content, every entry checked."""
    kind = entry(content, "estimator", str)
    if kind not in ("L0Classifier", "L0Regressor"):
        raise Malformed(f"estimator {kind!r} is not known")
    loss = entry(content, "loss", str)
    settings = settings_of(content)
    if kind == "L0Classifier":
        as_valid(get_loss, loss)
        estimator = L0Classifier(loss, **settings)
    elif loss != "squared_error" or any(content.get(name) is not None for name in ("classes", "calibration")):
        raise Malformed("a regression has squared errors, no classes and no calibration")
    else:
        estimator = L0Regressor(**settings)
    p = as_valid(as_count, "n_features", entry(content, "n_features", int), 1)
    names = entry(content, "feature_names", list, type(None))
    if names is not None:
        if len(names) != p or not all(isinstance(name, str) for name in names):
            raise Malformed("feature_names must have one string for each feature")
        estimator.feature_names_in_ = np.array(names, dtype=object)
    outputs = [output_of(output, p) for output in entry(content, "outputs", list)]
    if kind == "L0Classifier":
        estimator.classes_ = labels_of(entry(content, "classes", dict))
        expected = 1 if len(estimator.classes_) == 2 else len(estimator.classes_)
    else:
        expected = 1
    if len(outputs) != expected:
        raise Malformed(f"outputs must have {expected} entries, has {len(outputs)}")
    coef, intercept = np.array([values for values, _ in outputs]), np.array([b for _, b in outputs])
    estimator.coef_, estimator.intercept_ = (coef, intercept) if kind == "L0Classifier" else (coef[0], float(intercept[0]))
    estimator.support_ = np.flatnonzero((coef != 0.0).any(axis=0))
    estimator.n_features_in_ = p
    calibration = calibration_of(content, expected)
    if calibration is not None:
        estimator.set_params(probability=True)
        estimator.calibration_ = calibration
    return estimator


def settings_of(content: dict[str, Any]) -> dict[str, Any]:
    """How the model was fitted, as far as it is known."""
    settings = {name: entry(content, name, bool, type(None)) for name in FLAGS}
    penalties = entry(content, "penalties", dict)
    for name in PENALTIES:
        value = entry(penalties, name, int, float, type(None))
        check = partial(as_count, least=0) if name == "k" else as_nonnegative
        settings[name] = None if value is None else as_valid(check, name, value)
    return {name: value for name, value in settings.items() if value is not None}


def calibration_of(content: dict[str, Any], outputs: int) -> NDArray[np.float64] | None:
    """Slope and intercept of the log-odds of each output, for losses that have no probabilities of their own."""
    pairs = entry(content, "calibration", list, type(None))
    if pairs is None:
        return None
    if content["loss"] == "logistic":
        raise Malformed("calibration belongs to other losses than the logistic one")
    if len(pairs) != outputs or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise Malformed("calibration must have a slope and an intercept for each output")
    return np.array([[finite(value, "calibration") for value in pair] for pair in pairs])


def as_valid(check: Callable[..., Any], *arguments: Any) -> Any:
    """The checked value; what is wrong with it is wrong with the file."""
    try:
        return check(*arguments)
    except (InvalidInputError, OverflowError) as error:
        raise Malformed(str(error).rstrip(".")) from None


def output_of(output: Any, p: int) -> tuple[NDArray[np.float64], float]:
    """Coefficients and intercept of one output."""
    if not isinstance(output, dict):
        raise Malformed("outputs must hold objects")
    features, values = entry(output, "features", list), entry(output, "coefficients", list)
    if len(features) != len(values):
        raise Malformed("features and coefficients must have the same length")
    if not all(type(j) is int and 0 <= j < p for j in features) or len(set(features)) < len(features):
        raise Malformed(f"features must be different indices below {p}")
    coef = np.zeros(p)
    coef[features] = [finite(value, "coefficients") for value in values]
    return coef, finite(output.get("intercept"), "intercept")


def finite(value: Any, name: str) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= sys.float_info.max:
        raise Malformed(f"{name} must hold finite numbers")
    return float(value)


def labels_of(content: dict[str, Any]) -> NDArray[Any]:
    """Labels of their own type."""
    kind, values = entry(content, "type", str), entry(content, "values", list)
    if kind not in LABEL_TYPES:
        raise Malformed(f"classes of type {kind!r} are not known")
    expected = {"string": (str,), "boolean": (bool,), "integer": (int,), "number": (int, float)}[kind]
    if len(set(map(str, values))) < max(2, len(values)) or not all(type(value) in expected for value in values):
        raise Malformed(f"classes must have at least two different values of type {kind}")
    if kind == "number":
        values = [finite(value, "classes") for value in values]
    try:
        return np.array(values, dtype=LABEL_TYPES[kind])
    except OverflowError:
        raise Malformed("classes has an integer that is too large") from None
