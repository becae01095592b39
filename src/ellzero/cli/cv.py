"""``ellzero cv``: choose a model by cross-validation."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

import ellzero
from ellzero.cli.data import load_data
from ellzero.cli.files import check_output, check_picture, save_picture
from ellzero.cli.fitted import write_and_print
from ellzero.cli.output import attributes
from ellzero.cli.solver_settings import classifier_settings, cv_splits, settings_for


def run(args: argparse.Namespace) -> int:
    """Fit, write and print."""
    check_output(args.out, args.plot, inputs=(args.data,))
    check_picture(args.plot)
    for_classes = classifier_settings(args)  # before the data is read, which may take long
    data = load_data(args, keep_labels=True)
    kind: Any = ellzero.L0RegressorCV if args.regression else ellzero.L0ClassifierCV
    estimator = kind(**settings_for(kind, args, data, cv=cv_splits(args), **for_classes))
    estimator.fit(data.X, data.y, sample_weight=data.weight)
    scores = estimator.cv_results_
    save_picture(args.plot, scores.plot)
    points = scores.to_frame().rename(columns={"mean_score": "mean"})
    folds = [points.pop(f"fold_{fold + 1}") for fold in range(len(scores.splits))]
    result = {
        **{name: getattr(estimator, f"{name}_") for name in ("k", "lambda_0", "lambda_1", "lambda_2")},
        **attributes(scores, "scoring", "select", "rule"),
        "folds": len(scores.splits),
        "best_score": estimator.best_score_,
        "why": scores.choice.why,
        "trade": [asdict(each) for each in scores.choice.trade],
        "points": points.assign(scores=list(zip(*folds, strict=True))).to_dict("records"),
        "plot": args.plot,
    }
    return write_and_print(args, estimator, data, result, [*cv_lines(scores), ""])


def cv_lines(scores: ellzero.CrossValidation) -> list[str]:
    """Return the held-out score and the points of the chosen value of the second penalty, then the best point of each value."""
    lines = str(scores).splitlines()
    if len(scores.columns) == 1:
        return lines
    name = "lambda_1" if any(column.lambda_1 for column in scores.columns) else "lambda_2"
    lines += ["", f"{name:>12} {'features':>9} {'best ' + scores.score_name:>20} {'+-':>10}"]
    for number, column in enumerate(scores.columns):
        at = int(column.mean.argmax())
        best = f"{column.size[at]:9d} {scores.as_shown(column.mean[at]):20.6g} {column.standard_error[at]:10.2g}"
        lines.append(f"{getattr(column, name):12.4g} {best}{'  <' if number == scores.best[0] else ''}")
    return lines
