"""Files of alternatives: JSON, so that reading one runs no code."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ellzero.base.errors import InvalidInputError
from ellzero.base.files import replacing
from ellzero.base.quoting import json_text, quoted
from ellzero.base.reading import Malformed, read_json
from ellzero.base.validation import as_path
from ellzero.exact.status import ENDINGS
from ellzero.problem.grouping import Grouping
from ellzero.problem.losses import ALL_LOSSES
from ellzero.problem.model import Model
from ellzero.problem.model_file import entry, finite, labels_from_json, labels_to_json

__all__ = ["Content", "read_alternatives", "write_alternatives"]

FORMAT, PLAIN, GROUPED, SEVERAL = "ellzero models", 1, 2, 3  # of groups of columns, and of several outputs, with groups or not


@dataclass(frozen=True, kw_only=True)
class Content:
    """Everything that a file holds: the models, the features, and what is known of the list."""

    models: list[Model]
    n_features: int
    names: list[str] | None
    unpenalized: tuple[int, ...]
    claims: dict[str, Any]  # threshold, complete_below, status, within, nodes, seconds
    grouping: Grouping | None = None


def write_alternatives(path: str | os.PathLike[str], content: Content) -> None:
    """Write models as JSON; the file appears as a whole or not at all."""
    first, grouping = content.models[0] if content.models else None, content.grouping
    groups = {} if grouping is None else {"groups": grouping.heads.tolist(), "group_names": list(grouping.names)}
    data = {
        "format": FORMAT,
        "version": SEVERAL if first is not None and first.outputs > 1 else PLAIN if grouping is None else GROUPED,
        **content.claims,
        "loss": None if first is None else first.loss,
        "lambda_0": None if first is None else first.lambda_0,
        "n_features": content.n_features,
        "feature_names": None if content.names is None else [str(name) for name in content.names],
        "classes": None if first is None or first.classes is None else labels_to_json(first.classes),
        "unpenalized": list(content.unpenalized),
        **groups,
        "models": [
            {
                "features": model.support.tolist(),
                "coefficients": model.values.tolist(),
                "intercept": np.asarray(model.intercept).tolist(),
                "cost": model.cost,
                "objective": model.objective,
            }
            for model in content.models
        ],
    }
    text = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False)
    with replacing(as_path("path", path)) as stream:
        stream.write(json_text(text).encode() + b"\n")


def read_alternatives(path: str | os.PathLike[str]) -> Content:
    """Read a file and check every entry of it."""
    path = as_path("path", path)
    try:
        data = read_json(path)
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise Malformed(f"its format is not {FORMAT!r}")
        if data.get("version") not in (PLAIN, GROUPED, SEVERAL):
            version = quoted(data.get("version"))
            raise Malformed(f"it has version {version}, this ellzero reads versions {PLAIN} to {SEVERAL}")
        return from_json(data)
    except Malformed as error:
        raise InvalidInputError(f"{path} is not a file of alternatives: {error}.") from None


def from_json(data: dict[str, Any]) -> Content:
    """Return the content of a file; raise `Malformed` for what no file can hold."""
    p = entry(data, "n_features", int)
    names, free = entry(data, "feature_names", list, type(None)), entry(data, "unpenalized", list)
    if names is not None and (len(names) != p or not all(isinstance(name, str) for name in names)):
        raise Malformed("feature_names must have one string for each feature")
    if p < 1 or not all(type(j) is int and 0 <= j < p for j in free):
        raise Malformed("unpenalized must hold indices of features")
    grouping = grouping_of(data, p)
    claims: dict[str, Any] = {
        name: finite(entry(data, name, int, float), name) for name in ("threshold", "complete_below", "seconds")
    }
    claims["nodes"], claims["status"] = entry(data, "nodes", int), entry(data, "status", str)
    within = entry(data, "within", int, float, type(None))
    claims["within"] = None if within is None else finite(within, "within")
    if claims["status"] not in ENDINGS:
        raise Malformed(f"status {quoted(claims['status'])} is not known")
    lists = entry(data, "models", list)
    if not lists:
        return Content(models=[], n_features=p, names=names, unpenalized=tuple(free), claims=claims, grouping=grouping)
    loss, lambda_0 = entry(data, "loss", str), entry(data, "lambda_0", int, float, type(None))
    classes = entry(data, "classes", dict, type(None))
    if loss not in ALL_LOSSES or (classes is None) != (loss == "squared_error"):
        raise Malformed("loss is not known, or does not fit to classes")
    if (loss == "multinomial") and data["version"] != SEVERAL:
        raise Malformed("loss is one of several outputs, which this version does not know")
    labels = None if classes is None else labels_from_json(classes)
    if labels is not None and (len(labels) < 2 or (len(labels) > 2 and loss != "multinomial")):
        raise Malformed("classes must have two labels, or those of a multinomial loss")
    common = {"n_features": p, "lambda_0": None if lambda_0 is None else finite(lambda_0, "lambda_0")}
    common |= {"loss": loss, "classes": labels, "names": names}
    outputs = outputs_of(lists[0], labels, loss) if data["version"] == SEVERAL else None
    models = [model_of(each, p, set(free), common, grouping, outputs) for each in lists]
    return Content(models=models, n_features=p, names=names, unpenalized=tuple(free), claims=claims, grouping=grouping)


def outputs_of(data: Any, labels: Any, loss: str) -> int:
    """Return the number of outputs, which the first model's intercept tells."""
    intercept = data.get("intercept") if isinstance(data, dict) else None
    if not isinstance(intercept, list) or len(intercept) < 2 or (loss == "multinomial" and len(intercept) != len(labels)):
        raise Malformed("intercept must have a number for each output")
    return len(intercept)


def grouping_of(data: dict[str, Any], p: int) -> Grouping | None:
    """Return the groups of the columns, None without any."""
    if data["version"] == PLAIN or (data["version"] == SEVERAL and "groups" not in data):
        return None
    heads, names = entry(data, "groups", list), entry(data, "group_names", list)
    first = len(heads) == p and all(type(j) is int and 0 <= j <= at and heads[j] == j for at, j in enumerate(heads))
    if not first or len(names) != p or not all(isinstance(name, str) for name in names):
        raise Malformed("groups must have the first column of each column's group, and group_names a string for each column")
    return Grouping(np.array(heads, dtype=np.int32), tuple(names))


def model_of(
    data: Any, p: int, free: set[int], common: dict[str, Any], grouping: Grouping | None, outputs: int | None
) -> Model:
    """Return one model; `outputs` is None if it has one."""
    if not isinstance(data, dict):
        raise Malformed("models must hold objects")
    features, values = entry(data, "features", list), entry(data, "coefficients", list)
    if not all(type(j) is int and 0 <= j < p for j in features) or len(set(features)) != len(values):
        raise Malformed(f"features must be different indices below {p}, with a coefficient each")
    numbers: dict[str, Any] = {name: finite(data.get(name), name) for name in ("cost", "objective")}
    numbers["intercept"] = finite_numbers(data.get("intercept"), "intercept", outputs)
    table = np.array([finite_numbers(value, "coefficients", outputs) for value in values], dtype=np.float64)
    return Model(
        support=np.array(features, dtype=np.int32),
        values=table if outputs is None else table.reshape(-1, outputs),
        size=len({j if grouping is None else int(grouping.heads[j]) for j in set(features) - free}),
        groups=None if grouping is None else tuple(grouping.names[j] for j in features),
        **numbers,
        **common,
    )


def finite_numbers(value: Any, name: str, outputs: int | None) -> Any:
    """Return a number of a file, or one for each of several outputs, as an array."""
    if outputs is None:
        return finite(value, name)
    if not isinstance(value, list) or len(value) != outputs:
        raise Malformed(f"{name} must have a number for each output")
    return np.array([finite(each, name) for each in value])
