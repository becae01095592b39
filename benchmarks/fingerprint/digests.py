"""Results as hashes: equal exactly when every number is equal to the last bit.

Only what users can see is read. Seconds and whatever else depends on the clock are left out, and NaN counts as None: both mean
that there is no value.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

import ellzero as ez

__all__ = ["as_bytes", "digest", "parts", "text_of"]

Part = tuple[str, Any]  # where a value is found in the result, and the value: None, a word, a number or an array of them

# The attributes of each type that are results; `parts` adds the models that a path has.
PUBLIC: dict[type, tuple[str, ...]] = {
    ez.Model: ("support", "values", "intercept", "n_features", "lambda_0", "objective", "loss", "classes", "names"),
    ez.Path: (
        "lambda_0",
        "coef",
        "intercept",
        "objective",
        "support_size",
        "converged",
        "lambda_1",
        "lambda_2",
        "reads",
    ),
    ez.PathGrid: ("name", "values", "paths"),
    ez.Sizes: ("sizes", "coef", "intercept", "objective", "support_size", "reached", "max_norm"),
    ez.Budgets: ("budgets", "coef", "intercept", "objective", "support_size", "spent"),
    ez.ExactSolution: (
        "model",
        "coef",
        "intercept",
        "support",
        "objective",
        "lower_bound",
        "gap",
        "status",
        "nodes",
        "bound",
        "swap_size",
        "prover",
        "message",
        "certificate",
    ),
    ez.CertifiedPath: ("lambda_0", "k", "objective", "lower_bound", "gap", "status", "solutions"),
    ez.VerificationReport: (
        "valid",
        "objective",
        "lower_bound",
        "gap",
        "claimed_lower_bound",
        "conditional",
        "swap_size",
        "nodes",
        "leaves",
        "open_leaves",
    ),
    ez.StationarityReport: ("decrease", "gradient", "smallest", "largest", "objective", "tolerance", "satisfied"),
    ez.Stability: ("frequency", "n_subsamples", "mean_size", "names"),
    ez.CrossValidation: ("select", "rule", "scoring", "places", "splits", "names"),
}
OF_A_CROSS_VALIDATION = (
    "lambda_1",
    "lambda_2",
    "lambda_0",
    "size",
    "coef",
    "intercept",
    "scores",
    "fold_size",
    "fold_supports",
    "decision",
    "mean",
    "standard_error",
)
# Of a fitted estimator: those of these that it has.
FITTED = (
    "classes_",
    "coef_",
    "intercept_",
    "support_",
    "objective_",
    "criterion_",
    "calibration_",
    "n_iter_",
    "n_features_in_",
    "feature_names_in_",
    "k_",
    "lambda_0_",
    "lambda_1_",
    "lambda_2_",
    "best_score_",
    "path_",
    "solution_",
    "cv_results_",
)
SECONDS = re.compile(r"\d+(\.\d+)? s\b")
NONE = b"none"
SIZES = 40  # models of more features are left out: there may be hundreds


def digest(result: Any) -> str:
    """The SHA-256 of all parts of a result."""
    out = hashlib.sha256()
    for place, value in parts("", result):
        held = as_bytes(value)
        out.update(f"{place}:{len(held)}:".encode() + held)
    return out.hexdigest()


def text_of(result: Any) -> str:
    """The result as it prints itself, without seconds; empty for what has no text of its own."""
    if isinstance(result, (list, tuple)):
        return "\n".join(filter(None, map(text_of, result)))
    return SECONDS.sub("", repr(result)) if type(result) in (*PUBLIC, ez.Certificate) else ""


def parts(place: str, value: Any) -> Iterator[Part]:
    """The numbers and words that a value consists of, each with its place."""
    if isinstance(value, (list, tuple)):
        yield f"{place}#", len(value)
        for number, item in enumerate(value):
            yield from parts(f"{place}[{number}]", item)
    elif isinstance(value, dict):
        for key in sorted(value):
            yield from parts(f"{place}.{key}", value[key])
    elif sparse.issparse(value):
        yield from attributes(place, value.tocsr(), ("shape", "data", "indices", "indptr"))
    elif isinstance(value, np.ndarray):
        yield from array_parts(place, value)
    elif isinstance(value, ez.Certificate):
        yield from certificate_parts(place, value)
    elif isinstance(value, BaseEstimator):
        yield from attributes(place, value, tuple(name for name in FITTED if hasattr(value, name)))
    elif type(value).__module__ == "ellzero.problem.losses":
        yield place, value.name
    elif type(value) in PUBLIC:
        yield from attributes(place, value, PUBLIC[type(value)])
        yield from more_parts(place, value)
    else:
        yield place, scalar(value)


def attributes(place: str, value: Any, names: tuple[str, ...]) -> Iterator[Part]:
    for name in names:
        yield from parts(f"{place}.{name}", getattr(value, name))


def array_parts(place: str, value: Any) -> Iterator[Part]:
    """The array itself; one without a single number counts as None."""
    if value.dtype.kind == "f":
        missing = np.isnan(value)
        value = None if value.size and missing.all() else np.where(missing, value.dtype.type(np.nan), value)  # one NaN for all
    yield place, value


def scalar(value: Any) -> bool | int | float | str | None:
    """A value as Python's own type."""
    if value is None or (isinstance(value, (float, np.floating)) and np.isnan(value)):
        return None
    if hasattr(value, "curvature_bound"):  # a loss, which has been a word
        return str(value.name)
    for ours, theirs in ((bool, np.bool_), (int, np.integer), (float, np.floating), (str, np.str_)):
        if isinstance(value, (ours, theirs)):
            return ours(value)
    raise TypeError(f"no rule for {type(value).__name__}: name its public attributes in PUBLIC.")


def as_bytes(value: Any) -> bytes:
    """A part's value, to the last bit; of an array also its type and shape."""
    if isinstance(value, np.ndarray):
        held = json.dumps(value.tolist()).encode() if value.dtype.kind == "O" else np.ascontiguousarray(value).tobytes()
        return f"{value.dtype.str}{value.shape}".encode() + held
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, float):
        return struct.pack("<d", value)
    return NONE if value is None else str(value).encode()


def certificate_parts(place: str, certificate: ez.Certificate) -> Iterator[Part]:
    """The saved file: its header and its arrays by their names."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "certificate.npz"
        certificate.save(file)
        with np.load(file, allow_pickle=False) as saved:
            arrays = {name: saved[name] for name in saved.files}
    header = json.loads(arrays.pop("header").tobytes())
    yield from parts(f"{place}.header", header)
    yield from parts(f"{place}.arrays", arrays)
    yield from parts(f"{place}.conditional", certificate.conditional)


def more_parts(place: str, value: Any) -> Iterator[Part]:
    """Results that are not attributes: models of a path, steps of a search, columns of a cross-validation."""
    if isinstance(value, ez.Path):
        yield from parts(f"{place}.models", list(value))
        yield from parts(f"{place}.at_support", models_by_size(value))
    elif isinstance(value, (ez.Sizes, ez.Budgets)):
        yield from parts(f"{place}.models", list(value))
    elif isinstance(value, ez.ExactSolution):
        # How often a search reports depends on the clock; where an iteration of IGA ends does not.
        last = {step.iteration: (step.objective, step.lower_bound, step.integral) for step in value.history if step.integral}
        yield from parts(f"{place}.iterations", list(last.items()))
    elif isinstance(value, ez.CrossValidation):
        for number, column in enumerate(value.columns):
            yield from attributes(f"{place}.columns[{number}]", column, OF_A_CROSS_VALIDATION)


def models_by_size(path: ez.Path) -> list[ez.Model | str]:
    """The path's models of all sizes up to its largest, and of one more, which is fitted for the question."""
    largest = int(path.support_size.max(initial=0))
    return [model_of_size(path, size) for size in range(min(largest + 2, SIZES))]


def model_of_size(path: ez.Path, size: int) -> ez.Model | str:
    try:
        return path.at_support(size)
    except ez.InvalidInputError:
        return "not reached"
