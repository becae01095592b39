"""``ellzero report``: write a page about the best sparse model of the data."""

from __future__ import annotations

import argparse
import datetime
from typing import Any

from scipy import sparse

import ellzero
from ellzero.base.quoting import LONGEST_PATH, shown
from ellzero.cli.data import Data, load_data
from ellzero.cli.files import check_output
from ellzero.cli.inspection import quoted_name
from ellzero.cli.output import exit_code, print_result
from ellzero.cli.parser import make_parser
from ellzero.cli.preparation import TablePreparation, category_name
from ellzero.cli.solver_settings import classifier_settings, settings_for
from ellzero.report.page import write_report
from ellzero.report.words import Words

READING = ("positive", "weight", "impute", "format", "separator", "decimal", "encoding")  # options that take a value


def run(args: argparse.Namespace) -> int:
    """Fit, prove and write."""
    check_output(args.out, inputs=(args.data,))
    for_classes = classifier_settings(args)  # before the data is read, which may take long
    data = load_data(args, keep_labels=True)
    own: dict[str, Any] = {
        "target": data.target,
        "source": "data.csv" if args.data == "-" else args.data,
        "arguments": data_arguments(args),
        "notes": notes_on(data),
        "categories": categories_of(data),
        "date": datetime.date.today().isoformat(),
        "feature_names": names_of(data),
        **for_classes,
    }
    kind = ellzero.L0RegressorCV if args.regression else ellzero.L0ClassifierCV
    settings = {
        name: value for each in (kind, write_report, Words) for name, value in settings_for(each, args, data, **own).items()
    }
    summary = write_report(args.out, data.X, data.y, **{**settings, "missing": data.gaps})
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


def names_of(data: Data) -> list[str] | None:
    """Return the names of features of a table that became a sparse matrix, which has none of its own."""
    table = isinstance(data.preparation, TablePreparation) and sparse.issparse(data.X)
    return data.preparation.features if table else None
