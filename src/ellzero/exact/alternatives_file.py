"""Files of alternatives: JSON, so that reading one runs no code."""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.files import replacing
from ellzero.base.quoting import json_text, quoted
from ellzero.base.reading import Malformed, read_json
from ellzero.base.validation import as_count, as_path
from ellzero.exact.status import ENDINGS
from ellzero.problem.grouping import Grouping
from ellzero.problem.losses import get_loss
from ellzero.problem.model import Model
from ellzero.problem.model_file import as_valid, entry, finite, labels_from_json, labels_to_json

if TYPE_CHECKING:
    from ellzero.exact.alternative_models import Alternatives

__all__ = ["read_alternatives", "write_alternatives"]

FORMAT, VERSION = "ellzero models", 1
CLAIMS = ("threshold", "complete_below", "status", "within", "nodes", "seconds")


def write_alternatives(path: str | os.PathLike[str], found: Alternatives) -> None:
    """Write models as JSON; the file appears as a whole or not at all."""
    first, grouping = found.models[0] if found.models else None, found.grouping
    data = {
        "format": FORMAT,
        "version": VERSION,
        **{name: getattr(found, name) for name in CLAIMS},
        **({"loss": None} if first is None else first.loss.settings),
        "lambda_0": None if first is None else first.lambda_0,
        "n_features": found.n_features,
        "feature_names": None if found.names is None else [str(name) for name in found.names],
        "classes": None if first is None or first.classes is None else labels_to_json(first.classes),
        "unpenalized": list(found.unpenalized),
        "groups": None if grouping is None else {"heads": grouping.heads.tolist(), "names": list(grouping.names)},
        "models": [model_to_json(model) for model in found.models],
    }
    text = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False)
    with replacing(as_path("path", path)) as stream:
        stream.write(json_text(text).encode() + b"\n")


def model_to_json(model: Model) -> dict[str, Any]:
    """Return what the models of a list do not have in common; coefficients and intercept have a number for each output."""
    return {
        "features": model.support.tolist(),
        "coefficients": model.values.reshape(len(model.support), -1).tolist(),
        "intercept": np.atleast_1d(model.intercept).tolist(),
        "spread": np.asarray(model.spread).tolist(),
        **{name: getattr(model, name) for name in ("cost", "objective", "spent")},
    }


def read_alternatives(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a file and check every entry of it; return the arguments of `Alternatives`."""
    path = as_path("path", path)
    try:
        data = read_json(path)
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise Malformed(f"its format is not {FORMAT!r}")
        if data.get("version") != VERSION:
            raise Malformed(f"it has version {quoted(data.get('version'))}, this ellzero reads version {VERSION}")
        return from_json(data)
    except Malformed as error:
        raise InvalidInputError(f"{path} is not a file of alternatives: {error}.") from None


def from_json(data: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `Alternatives`; raise `Malformed` for what no file can hold."""
    p = as_valid(as_count, "n_features", entry(data, "n_features", int), 1)
    names, free = entry(data, "feature_names", list, type(None)), entry(data, "unpenalized", list)
    if names is not None and (len(names) != p or not all(isinstance(name, str) for name in names)):
        raise Malformed("feature_names must have one string for each feature")
    if not all(type(j) is int and 0 <= j < p for j in free):
        raise Malformed("unpenalized must hold indices of features")
    out: dict[str, Any] = {"n_features": p, "names": names, "unpenalized": tuple(free), "grouping": grouping_of(data, p)}
    out |= {name: finite(entry(data, name, int, float), name) for name in ("threshold", "complete_below", "seconds")}
    out |= {"nodes": entry(data, "nodes", int), "status": entry(data, "status", str)}
    out["within"] = finite_or_none(data, "within")
    if out["status"] not in ENDINGS:
        raise Malformed(f"status {quoted(out['status'])} is not known")
    models = entry(data, "models", list)
    return out | {"models": models_of(models, data, out) if models else []}


def grouping_of(data: dict[str, Any], p: int) -> Grouping | None:
    """Return the groups of the columns, None without any."""
    groups = entry(data, "groups", dict, type(None))
    if groups is None:
        return None
    heads, names = entry(groups, "heads", list), entry(groups, "names", list)
    first = len(heads) == p and all(type(j) is int and 0 <= j <= at and heads[j] == j for at, j in enumerate(heads))
    if not first or len(names) != p or not all(isinstance(name, str) for name in names):
        raise Malformed("groups must have the first column of each column's group, and its name")
    return Grouping(np.array(heads, dtype=np.int32), tuple(names))


def models_of(models: list[Any], data: dict[str, Any], about: dict[str, Any]) -> list[Model]:
    """Return the models; `about` are the entries of the file that were read before."""
    loss, classes = entry(data, "loss", str), entry(data, "classes", dict, type(None))
    known = as_valid(get_loss, loss, data.get("huber_delta", math.nan))
    if (classes is None) == known.is_classification:
        raise Malformed("loss does not fit to classes")
    labels = None if classes is None else labels_from_json(classes)
    outputs = len(entry(models[0], "intercept", list)) if isinstance(models[0], dict) else 1
    if labels is not None and len(labels) != (outputs if known.couples_outputs else 2):
        raise Malformed("classes must have two labels or, with a multinomial loss, one for each output")
    groups = None if about["grouping"] is None else about["grouping"].names
    common = {"loss": known, "classes": labels, "groups": groups, "lambda_0": finite_or_none(data, "lambda_0")}
    return [model_of(each, outputs, about, common) for each in models]


def model_of(data: Any, outputs: int, about: dict[str, Any], common: dict[str, Any]) -> Model:
    """Return one model; `common` are the arguments that all of them share."""
    if not isinstance(data, dict):
        raise Malformed("models must hold objects")
    p, features, rows = about["n_features"], entry(data, "features", list), entry(data, "coefficients", list)
    if not all(type(j) is int and 0 <= j < p for j in features) or len(set(features)) != len(rows):
        raise Malformed(f"features must be different indices below {p}, with coefficients each")
    values = np.array([numbers(row, "coefficients", outputs) for row in rows]).reshape(-1, outputs)
    intercept = numbers(data.get("intercept"), "intercept", outputs)
    costs: dict[str, Any] = {name: finite(data.get(name), name) for name in ("cost", "objective", "spent")}
    columns = np.array(sorted(set(features) - set(about["unpenalized"])), dtype=np.int32)
    return Model(
        support=np.array(features, dtype=np.int32),
        values=values if outputs > 1 else values[:, 0],
        intercept=intercept if outputs > 1 else float(intercept[0]),
        n_features=p,
        size=len(columns if about["grouping"] is None else np.unique(about["grouping"].heads[columns])),
        names=about["names"],
        spread=numbers(data.get("spread"), "spread", len(features)),
        **costs,
        **common,
    )


def finite_or_none(data: dict[str, Any], name: str) -> float | None:
    """Return an entry that is a finite number, or None."""
    value = entry(data, name, int, float, type(None))
    return None if value is None else finite(value, name)


def numbers(values: Any, name: str, count: int) -> NDArray[np.float64]:
    """Return so many finite numbers of a file."""
    if not isinstance(values, list) or len(values) != count:
        raise Malformed(f"{name} must have {count} numbers")
    return np.array([finite(each, name) for each in values], dtype=np.float64)
