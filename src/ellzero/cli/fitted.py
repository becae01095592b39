"""What fit and cv do with a fitted estimator: write it, print it."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

from ellzero.cli.data import Data
from ellzero.cli.output import coefficient_lines, coefficients, emit, note
from ellzero.estimators.model_file import write_model

__all__ = ["finish"]

INTERRUPTED = 130


def finish(
    args: argparse.Namespace, estimator: Any, data: Data, result: dict[str, Any], lines: list[str], how: str = ""
) -> int:
    """Write the model, print what is to be known of it, and say how the command ends."""
    if args.out is not None:
        write_model(args.out, estimator, data.preparation.to_json())
    else:
        note(args, "the model is not kept; --out model.json writes it.")
    outputs = outputs_of(estimator, data.preparation.features)
    score = float(estimator.score(data.X, data.y, sample_weight=data.weight))
    proofs = proofs_of(estimator)
    result = {
        "command": args.command,
        "estimator": type(estimator).__name__,
        "loss": "squared_error" if args.regression else estimator.loss,
        "target": data.target,
        "rows": len(data.y),
        "n_features": estimator.n_features_in_,
        "classes": None if args.regression else estimator.classes_,
        **result,
        "objective": estimator.objective_,
        "size": len(estimator.support_),
        "features": features_of(estimator, data.preparation.features),
        "intercept": estimator.intercept_ if args.regression or len(outputs) > 1 else estimator.intercept_[0],
        "outputs": outputs,
        "training_score": {"name": "r2" if args.regression else "accuracy", "value": score},
        "status": None if proofs is None else max((proof["status"] for proof in proofs), key=lambda word: word != "optimal"),
        "gap": None if proofs is None else max(proof["gap"] for proof in proofs),
        "proofs": proofs,
        "model": args.out,
    }
    heading = f"{result['loss']} model with {result['size']} of {result['n_features']} features, {result['rows']} rows"
    text = [*lines, heading + (f", {how}" if how else "") + ":"]
    for output in outputs:
        text += [f"{output['label']} (positive coefficients speak for it)"] if output["label"] is not None else []
        text += coefficient_lines(output["features"], output["intercept"])
    text += [f"{'R2' if args.regression else 'accuracy'} on these rows {score:.4g}"]
    text += [f"{proof['status']}: proved gap {100.0 * proof['gap']:.4g} %" for proof in proofs or []]
    emit(args, result, "\n".join([*text, *([f"written: {args.out}"] if args.out is not None else [])]))
    if any(proof["status"] == "interrupted" for proof in proofs or []):
        print(f"ellzero: interrupted{'; what was found is written' if args.out else ''}", file=sys.stderr)
        return INTERRUPTED
    return 0


def features_of(estimator: Any, names: list[str]) -> list[dict[str, Any]]:
    """The features that are used, each with its coefficient, or with one for each of several classes."""
    coef = np.atleast_2d(estimator.coef_)
    return [
        {"name": names[j], "index": int(j), "coefficient": coef[0, j] if len(coef) == 1 else coef[:, j]}
        for j in sorted(estimator.support_, key=lambda j: -np.abs(coef[:, j]).max())
    ]


def outputs_of(estimator: Any, names: list[str]) -> list[dict[str, Any]]:
    """One linear function: that of a regression, that of the second of two classes, or one for each class."""
    coef, intercept = np.atleast_2d(estimator.coef_), np.atleast_1d(estimator.intercept_)
    classes = getattr(estimator, "classes_", None)
    labels = [None] if classes is None else classes[1:] if len(coef) == 1 else classes
    return [
        {
            "label": label,
            "intercept": float(b),
            "features": coefficients(names, np.flatnonzero(row).tolist(), row[np.flatnonzero(row)].tolist()),
        }
        for label, row, b in zip(labels, coef, intercept, strict=True)
    ]


def proofs_of(estimator: Any) -> list[dict[str, Any]] | None:
    """What an exact search proved of each output."""
    solutions = getattr(estimator, "solution_", None)
    if solutions is None:
        return None
    return [
        {
            "status": solution.status,
            "objective": solution.objective,
            "lower_bound": solution.lower_bound,
            "gap": solution.gap,
            "conditional": solution.certificate.conditional,
            "nodes": solution.nodes,
            "seconds": solution.seconds,
        }
        for solution in (solutions if isinstance(solutions, list) else [solutions])
    ]
