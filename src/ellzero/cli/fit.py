"""``ellzero fit``: fit a model, print it and write it to a file."""

from __future__ import annotations

import argparse
from typing import Any

import ellzero
from ellzero.cli.data import load_data
from ellzero.cli.files import check_output
from ellzero.cli.fitted import write_and_print
from ellzero.cli.solver_settings import check_loss, classifier_settings, problem_settings, search_settings, shrinkage_settings

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Fit, write and print."""
    check_output(args.out, inputs=(args.data,))
    check_loss(args)  # before the data is read, which may take long
    for_classes = classifier_settings(args)
    data = load_data(args, keep_labels=True)
    for_classes |= {} if args.regression else {"pos_label": data.positive}
    settings: dict[str, Any] = {
        "k": args.k,
        "budget": args.budget,
        "lambda_0": args.lambda_0,
        "criterion": args.criterion,
        "max_support": args.max_support,
        "algorithm": args.algorithm,
        **shrinkage_settings(args),
        **search_settings(args),
        **problem_settings(args, data),
    }
    if args.regression:
        estimator: Any = ellzero.L0Regressor(**settings)
    else:
        estimator = ellzero.L0Classifier(**settings, **for_classes, random_state=args.seed)
    estimator.fit(data.X, data.y, sample_weight=data.weight)
    by_criterion = args.k is None and args.budget is None and args.lambda_0 is None
    result = {
        "k": args.k,
        **({} if args.budget is None else {"budget": args.budget}),
        "lambda_0": args.lambda_0,
        **shrinkage_settings(args),
        "criterion": {"name": args.criterion, "value": estimator.criterion_} if by_criterion else None,
    }
    how = f"size chosen by {args.criterion}" if by_criterion else ""
    return write_and_print(args, estimator, data, result, [], how)
