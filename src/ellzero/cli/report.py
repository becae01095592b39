"""``ellzero report``: write a page about the best sparse model of the data."""

from __future__ import annotations

import argparse
import datetime
from typing import Any

import numpy as np
from scipy import sparse

import ellzero
from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import LONGEST_PATH, quoted, shown
from ellzero.cli.data import Data, load_data, load_new_data
from ellzero.cli.files import check_output
from ellzero.cli.inspection import quoted_name
from ellzero.cli.output import exit_code, note, print_result
from ellzero.cli.parser import make_parser
from ellzero.cli.preparation import TablePreparation, category_name
from ellzero.cli.solver_settings import classifier_settings, cv_splits, settings_for
from ellzero.report.page import write_report
from ellzero.report.words import Words
from ellzero.tables.columns import check_presence
from ellzero.tables.optional import need
from ellzero.tables.target import NumbersAsLabels, column_labels, column_response

REPEATED = "Cross-validation was repeated {} times with other folds. It chose the size; counts are those of the last time."
FIRST_ROWS = 100  # show how pandas reads a file
READING = ("positive", "weight", "impute", "format", "separator", "decimal", "encoding")  # options that take a value


def run(args: argparse.Namespace) -> int:
    """Fit, prove and write."""
    check_output(args.out, inputs=(args.data,))
    for_classes = classifier_settings(args)  # before the data is read, which may take long
    try:
        data = load_data(args, keep_labels=True)
    except NumbersAsLabels:
        if args.data == "-" or any((args.loss, args.positive, args.class_weight, args.multi_class, args.probability)):
            raise
        args.regression = True
        note(args, f"target {quoted(args.target)} is a number: this is a regression; --classes if each value is a class.")
        data, for_classes = load_data(argparse.Namespace(**{**vars(args), "quiet": True})), classifier_settings(args)
    own: dict[str, Any] = {
        "target": data.target,
        "source": "data.csv" if args.data == "-" else args.data,
        "arguments": data_arguments(args),
        "notes": [*notes_on(data), *([] if args.repeats == 1 else [REPEATED.format(args.repeats)])],
        "cv": cv_splits(args),
        "categories": categories_of(data),
        "numbers": number_columns(args, data),
        "date": datetime.date.today().isoformat(),
        "feature_names": names_of(data),
        **for_classes,
    }
    kind = ellzero.L0RegressorCV if args.regression else ellzero.L0ClassifierCV
    settings = {
        name: value for each in (kind, write_report, Words) for name, value in settings_for(each, args, data, **own).items()
    }
    test = None if args.test is None else rows_to_test(args, data)
    summary = write_report(args.out, data.X, data.y, **{**settings, "missing": data.gaps, "test": test})
    chosen = summary["models"][summary["selection"]["chosen"]]
    result = {
        "command": "report",
        "out": args.out,
        "target": data.target,
        "size": chosen["size"],
        "plain": summary["plain"],
        "lead": summary["lead"],
        "certificate": summary["certificate"]["sentence"],
        "selection": summary["selection"],
    }
    written = f"written: {shown(args.out, LONGEST_PATH)}"
    print_result(args, result, f"{summary['plain']}\n{summary['lead']}\n{summary['certificate']['sentence']}\n{written}")
    interrupted = any(row["status"] == "interrupted" for row in summary["certificate"]["rows"])
    return exit_code("interrupted" if interrupted else None, written=True)


def rows_to_test(args: argparse.Namespace, data: Data) -> tuple[Any, Any]:
    """Return features and target of the table that --test names, prepared as those of the fit were."""
    if not isinstance(data.preparation, TablePreparation):
        raise InvalidInputError("--test is for tables: the columns of a matrix have no names.")
    given = argparse.Namespace(
        **{**vars(args), "data": args.test, "format": None, "keep": [] if args.regression else [data.target]}
    )
    X, frame = load_new_data(given, data.preparation, len(data.preparation.features), None)
    check_presence(frame, [data.target], args.test, "--target: ")
    if args.regression:
        return X, column_response(frame[data.target], args.test, args.decimal or ".")
    found, known = column_labels(frame[data.target]), {str(label): label for label in np.unique(data.y)}
    rest = f"not {data.positive}"  # what --positive makes of all other classes
    labels = [str(label) if str(label) in known else rest if rest in known else str(label) for label in found]
    if unknown := sorted({label for label in labels if label not in known}):
        raise InvalidInputError(
            f"--test: target {data.target!r} of {args.test} has the value {unknown[0]!r}, which the data lacks."
        )
    return X, np.array([known[label] for label in labels])


def data_arguments(args: argparse.Namespace) -> list[str]:
    """Return the arguments that other commands need to read the data in the same way; the page shows them."""
    lists = {
        "drop": map(quoted_name, args.drop),
        "categorical": map(quoted_name, args.categorical),
        "missing": map(quoted_name, args.missing),
    }
    words = [word for option, values in lists.items() for value in values for word in (f"--{option}", value)]
    usual = make_parser().parse_args(["report", "data.csv"])
    for option in READING:
        if getattr(args, option) != getattr(usual, option):
            words += [f"--{option}", getattr(args, option)]
    flags = ("one_hot", "separate_categories", "drop_unlabelled")
    return words + [f"--{flag.replace('_', '-')}" for flag in flags if getattr(args, flag)]


def notes_on(data: Data) -> list[str]:
    """Return sentences on how the features were made from the columns."""
    notes = []
    if data.unlabelled:
        one = data.unlabelled == 1
        notes.append(f"{data.unlabelled:,} row{'' if one else 's'} without a target {'is' if one else 'are'} left out.")
    for name in data.identifiers:
        notes.append(
            f"Column {shown(name)} holds a different whole number in every row, as an identifier does: is it a feature?"
        )
    return [*notes, *(text[0].upper() + text[1:] for text in data.notes)]


def categories_of(data: Data) -> dict[str, dict[str, str | None]]:
    """Return the columns of text: by column its values, and of each the feature that is one for it."""
    preparation = data.preparation
    out: dict[str, dict[str, str | None]] = {}
    for column, values in preparation.categories.items():
        labels = [category_name(value) for value in values]
        indicators: list[str | None] = [*preparation.features_of(column)]
        out[column] = dict(zip(labels, [None] * (len(labels) - len(indicators)) + indicators, strict=True))
    return out


def number_columns(args: argparse.Namespace, data: Data) -> tuple[str, ...]:
    """Return the columns of numbers of a table that pandas reads without further arguments; none of other data."""
    preparation = data.preparation
    if not isinstance(preparation, TablePreparation) or not args.data.endswith(".csv") or args.weight is not None:
        return ()
    if preparation.missing or data.positive is not None or data.unlabelled:
        return ()
    first = need("pandas", "frame").read_csv(args.data, nrows=FIRST_ROWS, encoding_errors="replace")
    read = {name for name in first if first[name].dtype.kind in "iufb"}
    return preparation.numbers if read.issuperset(preparation.numbers) and {*preparation.categories} <= {*first} else ()


def names_of(data: Data) -> list[str] | None:
    """Return the names of features of a table that became a sparse matrix, which has none of its own."""
    table = isinstance(data.preparation, TablePreparation) and sparse.issparse(data.X)
    return data.preparation.features if table else None
