"""``ellzero predict``: predict new data with a model file."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from ellzero.base.errors import InvalidInputError
from ellzero.cli.data import load_new_data
from ellzero.cli.files import check_output
from ellzero.cli.output import print_result, write_table
from ellzero.cli.preparation import MatrixPreparation, TablePreparation, restore
from ellzero.cli.questions import restored_questions
from ellzero.estimators.model_file import read_model
from ellzero.tables.columns import as_text, check_presence


def run(args: argparse.Namespace) -> int:
    """Read the data, prepare it, predict and write."""
    check_output(args.out, inputs=(args.model, args.data))
    estimator, kept = read_model(args.model)
    preparation = preparation_of(estimator, kept)
    used = None
    if isinstance(preparation, TablePreparation):
        features = preparation.features
        used = {features[j] for j in estimator.support_}
    check_options(args, estimator)
    X, frame = load_new_data(args, preparation, estimator.n_features_in_, used)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # columns were found by their names above
        result = predictions(args, estimator, X)
    identifiers = preparation.identifiers if frame is not None and isinstance(preparation, TablePreparation) else ()
    kept_columns = copied_columns(args, frame, identifiers)
    if not args.json or args.out is not None:
        table = {**kept_columns, **table_columns(result)}
        write_table(args.out, list(table), zip(*table.values(), strict=True))
    if args.json:
        print_result(args, {"command": "predict", "rows": X.shape[0], **result, "kept": kept_columns, "out": args.out}, "")
    return 0


def preparation_of(estimator: Any, kept: dict[str, Any] | None) -> TablePreparation | MatrixPreparation | None:
    """Return how raw columns become features; of a model that Python fitted, only names are known, or nothing."""
    if kept is not None:
        preparation = restored_questions(kept) if kept.get("kind") == "questions" else restore(kept)
        if (prepared := len(preparation.features)) != estimator.n_features_in_:
            raise InvalidInputError(
                f"the model file contradicts itself: it has {estimator.n_features_in_} features and prepares {prepared}."
            )
        return preparation
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else TablePreparation(tuple(names))


def check_options(args: argparse.Namespace, estimator: Any) -> None:
    """Refuse probabilities that this model does not have."""
    if args.proba and not hasattr(estimator, "classes_"):
        raise InvalidInputError("--proba is for classifiers, the model is a regression.")
    if args.proba and not hasattr(estimator, "predict_proba"):
        raise InvalidInputError(
            f"the model has no probabilities (loss {estimator.loss}); fit it with --probability or --loss logistic."
        )


def predictions(args: argparse.Namespace, estimator: Any, X: Any) -> dict[str, Any]:
    """Return the predictions, and the probabilities and decision values that were requested, with an entry for each row."""
    classes, step = estimator._shown_classes(), -1 if estimator._reversed else 1
    result: dict[str, Any] = {"classes": classes or None, "predictions": estimator.predict(X).tolist()}
    if args.proba:
        result["probabilities"] = estimator.predict_proba(X)[:, ::step].tolist()
    if args.decision:
        result["decisions"] = (step * estimator.decision_function(X) if classes else estimator.predict(X)).tolist()
    return result


def table_columns(result: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the predictions as columns of a table, by name; numbers have six digits (--json has all of them)."""
    if result["classes"] is not None:
        columns = {"prediction": result["predictions"]}
    elif np.ndim(result["predictions"]) == 2:  # several targets
        columns = {f"prediction_{j}": six_digits(column) for j, column in enumerate(zip(*result["predictions"], strict=True))}
    else:
        columns = {"prediction": six_digits(result["predictions"])}
    for name, word in (("probabilities", "probability"), ("decisions", "decision")):
        values = np.array(result.get(name, []), dtype=np.float64)
        if name in result and values.ndim == 1:
            columns[word] = six_digits(values)
        elif name in result:
            labels = range(values.shape[1]) if result["classes"] is None else result["classes"]
            columns |= {f"{word}_{label}": six_digits(values[:, c]) for c, label in enumerate(labels)}
    return columns


def six_digits(values: Iterable[float]) -> list[str]:
    """Return numbers as people read them."""
    return [f"{value:.6g}" for value in values]


def copied_columns(args: argparse.Namespace, frame: Any, identifiers: tuple[str, ...]) -> dict[str, list[Any]]:
    """Return the columns of the data that --keep copies, by default those that told the rows of the fit apart."""
    if args.keep and frame is None:
        raise InvalidInputError(f"--keep is for tables: the columns of {args.data} have no names.")
    names = args.keep or [name for name in identifiers if name in frame.columns]
    if names:
        check_presence(frame, names, args.data, "--keep: ")
    return {name: as_text(frame[name]).tolist() for name in names}
