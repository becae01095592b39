"""``ellzero fit``: fit a model, print it and write it to a file."""

from __future__ import annotations

import argparse
from typing import Any

import ellzero
from ellzero.base.validation import known
from ellzero.cli.data import load_data
from ellzero.cli.files import check_output
from ellzero.cli.fitted import write_and_print
from ellzero.cli.output import attributes
from ellzero.cli.solver_settings import classifier_settings, settings_for


def run(args: argparse.Namespace) -> int:
    """Fit, write and print."""
    check_output(args.out, inputs=(args.data,))
    for_classes = classifier_settings(args)  # before the data is read, which may take long
    data = load_data(args, keep_labels=True)
    kind: Any = ellzero.L0Regressor if args.regression else ellzero.L0Classifier
    estimator = kind(**settings_for(kind, args, data, **for_classes))
    estimator.fit(data.X, data.y, sample_weight=data.weight)
    by_criterion = args.k is None and args.budget is None and args.lambda_0 is None
    result = {
        "k": args.k,
        **known({"budget": args.budget}),
        **attributes(args, "lambda_0", "lambda_1", "lambda_2"),
        "criterion": {"name": args.criterion, "value": estimator.criterion_} if by_criterion else None,
    }
    how = f"size chosen by {args.criterion}" if by_criterion else ""
    return write_and_print(args, estimator, data, result, [], how)
