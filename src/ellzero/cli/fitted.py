"""Fitted estimators, written to a file and printed: the end of fit and cv."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from ellzero.base.quoting import shown
from ellzero.cli.data import Data
from ellzero.cli.files import given, written_lines
from ellzero.cli.output import (
    attributes,
    coefficient_lines,
    coefficients,
    columns_used,
    exit_code,
    note,
    print_result,
    size_in_words,
)
from ellzero.cli.solver_settings import where_priced
from ellzero.estimators.model_content import write_model
from ellzero.estimators.showing import linear_functions, rule_lines


def write_and_print(
    args: argparse.Namespace, estimator: Any, data: Data, chosen: dict[str, Any], lines: list[str], how: str = ""
) -> int:
    """Write the model, print it, and return the exit code.

    `chosen` holds how the model was chosen, for --json; `lines` are printed before the model; `how` is a remark on the choice.
    """
    for name in given(args.out):
        write_model(name, estimator, data.preparation.to_json())
    if not args.out:
        note(args, "the model is not kept; --out model.json writes it.")
    result = fitted_json(args, estimator, data, chosen)
    print_result(args, result, "\n".join([*lines, *fitted_lines(result, how), *written_lines(args.out)]))
    return exit_code(result["status"], written=bool(args.out))


def fitted_json(args: argparse.Namespace, estimator: Any, data: Data, chosen: dict[str, Any]) -> dict[str, Any]:
    """Return the result for --json; `chosen` says how the model was chosen."""
    names = data.preparation.features
    outputs = [
        {
            "label": function.label,
            "intercept": function.intercept,
            "features": coefficients(names, function.features.tolist(), function.coef.tolist()),
        }
        for function in linear_functions(estimator)
    ]
    coef = np.atleast_2d(estimator.coef_) * (-1.0 if estimator._reversed else 1.0)
    values = coef[0] if len(coef) == 1 else coef.T
    proofs = proof_figures(estimator)
    statuses = [proof["status"] for proof in proofs or []]
    score = float(estimator.score(data.X, data.y, sample_weight=data.weight))
    return {
        "command": args.command,
        "estimator": type(estimator).__name__,
        **estimator._loss.settings,
        "target": data.target,
        "rows": len(data.y),
        "n_features": estimator.n_features_in_,
        "classes": None if args.regression else estimator._shown_classes(),
        "multi_class": getattr(estimator, "multi_class_", None),
        **chosen,
        "objective": estimator.objective_,
        "size": len(estimator.support_),
        **columns_used(getattr(estimator, "groups_", None), estimator.support_),
        **where_priced(args, total_cost=estimator.spent_),
        "features": coefficients(names, estimator.support_.tolist(), values[estimator.support_].tolist()),
        "intercept": outputs[0]["intercept"] if len(outputs) == 1 else estimator.intercept_,
        "outputs": outputs,
        "training_score": {"name": "r2" if args.regression else "accuracy", "value": score},
        # Of several classes the worst: the first status that is not "optimal", the largest gap.
        "status": max(statuses, key=lambda word: word != "optimal", default=None),
        "gap": max((proof["gap"] for proof in proofs or []), default=None),
        "proofs": proofs,
        **({} if args.rules is None else {"rules": rule_lines(estimator)}),
        "model": args.out,
    }


def fitted_lines(result: dict[str, Any], how: str) -> list[str]:
    """Return the result as lines of text."""
    size = size_in_words(result, result["n_features"])
    heading = f"{result['loss']} model with {size}, {result['rows']} rows"
    if "total_cost" in result:
        heading += f", total cost {result['total_cost']:.6g}"
    lines = [heading + (f", {how}" if how else "") + ":"]
    if len(result["outputs"]) > 1 and result["multi_class"] != "ovr":
        lines += coefficient_lines(result["features"], result["intercept"], [output["label"] for output in result["outputs"]])
    for output in result["outputs"] if len(lines) == 1 else []:
        lines += (
            [f"class {shown(output['label'])} (positive coefficients make it likelier)"] if output["label"] is not None else []
        )
        lines += coefficient_lines(output["features"], output["intercept"])
    score = result["training_score"]
    lines += [f"{'R2' if score['name'] == 'r2' else score['name']} on these rows {score['value']:.4g}"]
    lines += result.get("rules", [])
    return lines + [f"{proof['status']}: proved gap {100.0 * proof['gap']:.4g} %" for proof in result["proofs"] or []]


def proof_figures(estimator: Any) -> list[dict[str, Any]] | None:
    """Return what an exact search proved of each output, None if there was no such search."""
    if not hasattr(estimator, "solution_"):
        return None
    return [
        {
            **attributes(solution, "status", "objective", "lower_bound", "gap"),
            "conditional": solution.certificate.conditional,
            **attributes(solution, "nodes", "seconds"),
        }
        for solution in (estimator.solution_ if isinstance(estimator.solution_, list) else [estimator.solution_])
    ]
