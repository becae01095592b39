"""Files of alternatives: JSON, so that reading one runs no code."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ellzero.base.json_files import Entries, json_of, read_json_file, valid, write_json_file
from ellzero.base.quoting import quoted
from ellzero.base.reading import Malformed
from ellzero.base.validation import as_count
from ellzero.exact.status import ENDINGS
from ellzero.problem.grouping import Grouping
from ellzero.problem.model import Model
from ellzero.problem.model_file import labels_of, labels_to_json, loss_named

if TYPE_CHECKING:
    from ellzero.exact.alternative_models import Alternatives

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
    write_json_file(path, json_of(data))


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
    return read_json_file(path, "a file of alternatives", FORMAT, VERSION, arguments_from)


def arguments_from(entries: Entries) -> dict[str, Any]:
    """Return the arguments of `Alternatives`; raise `Malformed` for what no file can hold."""
    p: int = valid(as_count, "n_features", entries.take("n_features", int), 1)
    out: dict[str, Any] = {
        "n_features": p,
        "names": entries.texts("feature_names", p) if entries.has("feature_names") else None,
        "unpenalized": tuple(entries.indices("unpenalized", p)),
        "grouping": grouping_of(entries.part("groups"), p) if entries.has("groups") else None,
        **{name: entries.number(name) for name in ("threshold", "complete_below", "seconds")},
        "within": entries.number("within") if entries.has("within") else None,
        "nodes": entries.take("nodes", int),
        "status": entries.take("status", str),
    }
    if out["status"] not in ENDINGS:
        raise Malformed(f"status {quoted(out['status'])} is not known")
    models = entries.parts("models")
    return out | {"models": models_of(models, entries, out) if models else []}


def grouping_of(entries: Entries, p: int) -> Grouping:
    """Return the groups of the columns."""
    heads = entries.take("heads", list)
    if len(heads) != p or not all(type(j) is int and 0 <= j <= at and heads[j] == j for at, j in enumerate(heads)):
        raise Malformed("groups must have the first column of each column's group")
    return Grouping(np.array(heads, dtype=np.int32), tuple(entries.texts("names", p)))


def models_of(models: list[Entries], entries: Entries, about: dict[str, Any]) -> list[Model]:
    """Return the models; `about` are the entries of the file that were read before."""
    loss = loss_named(entries)
    if entries.has("classes") != loss.is_classification:
        raise Malformed("loss does not fit to classes")
    labels = labels_of(entries.part("classes")) if loss.is_classification else None
    outputs = len(models[0].take("intercept", list))
    if labels is not None and len(labels) != (outputs if loss.couples_outputs else 2):
        raise Malformed("classes must have two labels or, with a multinomial loss, one for each output")
    common = {
        "loss": loss,
        "classes": labels,
        "groups": None if about["grouping"] is None else about["grouping"].names,
        "lambda_0": entries.number("lambda_0") if entries.has("lambda_0") else None,
        **{name: about[name] for name in ("n_features", "names")},
    }
    return [model_of(each, outputs, about, common) for each in models]


def model_of(entries: Entries, outputs: int, about: dict[str, Any], common: dict[str, Any]) -> Model:
    """Return one model; `common` are the arguments that all of them share."""
    features = entries.indices("features", about["n_features"])
    values, intercept = entries.table("coefficients", len(features), outputs), entries.numbers("intercept", outputs)
    costs: dict[str, Any] = {name: entries.number(name) for name in ("cost", "objective", "spent")}
    columns = np.array(sorted(set(features) - set(about["unpenalized"])), dtype=np.int32)
    return Model(
        support=np.array(features, dtype=np.int32),
        values=values if outputs > 1 else values[:, 0],
        intercept=intercept if outputs > 1 else float(intercept[0]),
        size=len(columns if about["grouping"] is None else np.unique(about["grouping"].heads[columns])),
        spread=entries.numbers("spread", len(features)),
        centre=np.full(len(features), np.nan),  # a file does not have them
        **costs,
        **common,
    )
