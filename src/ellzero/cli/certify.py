"""``ellzero certify``: find the best model there is, and write a proof."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import Any

import numpy as np

import ellzero
from ellzero.base.quoting import shown
from ellzero.cli.data import Data, load_data
from ellzero.cli.files import check_output, given, written_lines
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
from ellzero.cli.solver_settings import (
    check_limits,
    check_loss,
    encoded_target,
    loss_for,
    most_classes,
    settings_for,
    where_priced,
)
from ellzero.estimators.cautions import warn_of_cautions
from ellzero.exact.binding import words_on_rules
from ellzero.problem.losses import LOSSES, Logistic
from ellzero.problem.model_file import FitSettings, ModelContent, write_model_file

ENDINGS = {
    "optimal": "proved: no model fits these rows better by more than the gap",
    "time_limit": "the time limit came first: the best model found, and what is proved of it",
    "node_limit": "the node limit came first: the best model found, and what is proved of it",
    "interrupted": "interrupted: the best model found, and what is proved of it",
    "precision": "all is searched, but rounding keeps the proved gap above the requested one",
    "failed": "the solver gave up: the best model found, and what is proved of it",
}


def run(args: argparse.Namespace) -> int:
    """Search, write and print; Ctrl-C ends the search, and the best model so far is written."""
    check_output(args.out, args.model, inputs=(args.data,))
    check_loss(args)
    check_limits(args)
    data = load_data(args, classes=most_classes(args))
    settings = settings_for(ellzero.solve, args, data, loss=loss_for(args, data.y))
    solution = ellzero.solve(data.X, encoded_target(args, data.y), **settings)
    if solution.status not in ("optimal", "precision") and sys.stderr.isatty() and not args.quiet:
        sys.stderr.write("\n")  # the progress line of a search that was stopped has no end of its own
    for name in given(args.out):
        solution.certificate.save(name)
    if not args.out:
        note(args, "the proof is not kept; --out proof.npz writes it.")
    for name in given(args.model):
        write_model_file(name, certified_content(args, solution, data))
    if not args.regression:
        labels = np.unique(data.y) if args.positive is None else np.array(["the rest", args.positive])
        warn_of_cautions([solution.certificate.problem], [solution.model], labels, 2)
    result = certified_json(args, solution, data)
    print_result(args, result, "\n".join(certified_lines(args, solution, result)))
    return exit_code(solution.status, written=bool(args.out or args.model))


def certified_content(args: argparse.Namespace, solution: ellzero.ExactSolution, data: Data) -> ModelContent:
    """Return what the file of the solution's model holds."""
    problem = solution.certificate.problem
    settings = FitSettings(
        **attributes(args, "k", "budget", "lambda_0", "lambda_1", "lambda_2", "standardize", "fit_intercept"),
        feature_cost=problem.penalty.price.tolist() if problem.penalty.priced else None,
    )
    if problem.rules:
        settings = replace(settings, rules=list(problem.rules.given))
    content = solution.model.file_content(settings)
    # The solver saw the labels of a least-squares classifier as -1 and +1: the file holds the user's.
    classes = None if args.regression else np.unique(data.y)
    return replace(content, classes=classes, preparation=data.preparation.to_json())


def certified_json(args: argparse.Namespace, solution: ellzero.ExactSolution, data: Data) -> dict[str, Any]:
    """Return the result for --json."""
    model = solution.model
    return {
        "command": "certify",
        **attributes(solution, "status", "objective", "lower_bound", "gap"),
        "conditional": solution.certificate.conditional,
        **attributes(solution, "bound", "prover", "message", "nodes", "seconds"),
        **model.loss.settings,
        **attributes(args, "k", "lambda_0", "lambda_1", "lambda_2"),
        "target": data.target,
        "classes": None if args.regression else np.unique(data.y),
        "positive": args.positive,
        "size": len(model.support),
        **columns_used(model.groups, model.support.tolist()),
        **where_priced(args, budget=args.budget, total_cost=model.spent),
        "intercept": model.intercept,
        "features": coefficients(data.preparation.features, model.support.tolist(), model.values.tolist()),
        **({} if args.rules is None else {"rules": rules_held(solution)}),
        "certificate": args.out,
        "model": args.model,
    }


def rules_held(solution: ellzero.ExactSolution) -> list[str]:
    """Return the rules that the solution obeys, and those that it pays for."""
    rules = solution.certificate.problem.rules
    return words_on_rules(rules.given, solution.binding_rules())


def certified_lines(args: argparse.Namespace, solution: ellzero.ExactSolution, result: dict[str, Any]) -> list[str]:
    """Return the result as lines of text."""
    n, p = solution.certificate.problem.design.shape
    assumed = f", assuming |coefficients| <= {solution.bound:.4g} (penalised scale)" if solution.bound is not None else ""
    cost = f" that cost {result['total_cost']:.6g} together" if "total_cost" in result else ""
    size = f"{size_in_words(result, p)}{cost}"
    lines = [
        f"{solution.status}{assumed} ({ENDINGS[solution.status]})",
        f"objective {solution.objective:.10g}, lower bound {solution.lower_bound:.10g}, gap {100.0 * solution.gap:.4g} %, "
        f"{solution.nodes} nodes, {solution.seconds:.2f} s",
        *([f"the bound is that of {solution.prover}"] if solution.prover is not None else []),
        f"{size}, {n} rows, {solution.model.loss} loss{positive_class(result)}:",
        *coefficient_lines(result["features"], result["intercept"], several_classes(result)),
        *result.get("rules", []),
    ]
    return [*lines, *written_lines(args.out, args.model)]


def several_classes(result: dict[str, Any]) -> Any:
    """Return the labels, if there are more than two, each with a column of coefficients; nothing otherwise."""
    return result["classes"] if LOSSES[result.get("loss", Logistic.name)].couples_outputs else ()


def positive_class(result: dict[str, Any]) -> str:
    """Return the words that say which class positive coefficients speak for."""
    if result["classes"] is None or len(several_classes(result)):
        return ""
    label = result["positive"] if result["positive"] is not None else result["classes"][1]
    return f", positive coefficients make {shown(label)} likelier"
