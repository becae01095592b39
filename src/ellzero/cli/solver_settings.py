"""Settings of solvers and estimators, from the arguments of a command and the files that they name."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.imports import whole_imports
from ellzero.base.quoting import quoted
from ellzero.base.reading import Malformed, read_json
from ellzero.base.signatures import arguments_of
from ellzero.base.validation import known
from ellzero.cli.data import Data
from ellzero.design.base import feature_names
from ellzero.problem.losses import LOSSES, Logistic, Multinomial, SquaredError
from ellzero.problem.rules import Rule, rules_of_json

LONGEST_FILE = 64 << 20  # bytes, of costs


def check_loss(args: argparse.Namespace) -> None:
    """Refuse --regression together with the loss of a classifier."""
    if args.regression and LOSSES[chosen_loss(args)].is_classification:
        raise InvalidInputError(f"--regression has the loss squared_error or huber, got --loss {args.loss}.")


def chosen_loss(args: argparse.Namespace) -> str:
    """Return the loss: squared error for a regression, else the one that is named, or logistic."""
    return args.loss or (SquaredError.name if args.regression else Logistic.name)


def most_classes(args: argparse.Namespace) -> int | None:
    """Return how many classes a problem may have: any number with the multinomial loss, which needs not be named."""
    return None if args.loss is None or LOSSES[args.loss].couples_outputs else 2


def loss_for(args: argparse.Namespace, y: NDArray[Any]) -> str:
    """Return the loss of a problem with this target: of two classes logistic, of more multinomial, unless another is named."""
    if args.regression or most_classes(args) is not None:
        return chosen_loss(args)
    return Multinomial.name if len(np.unique(y)) > 2 else Logistic.name


def check_limits(args: argparse.Namespace) -> None:
    """Refuse a search in which nothing limits the features of a model."""
    if args.k is None and args.budget is None and args.lambda_0 is None:
        raise InvalidInputError("--k, --budget or --lambda-0 must be given.")


def settings_for(function: Callable[..., Any], args: argparse.Namespace, data: Data, **own: Any) -> dict[str, Any]:
    """Return the arguments of a function: the options of the same names, what the data say, and those of its `own`.

    An option that was not given is left out, so that the default of the function holds.
    """
    settings = {
        **vars(args),
        "unpenalized": data.features_of(args.always) if args.always else None,
        "feature_cost": feature_costs(args, data),
        "groups": feature_groups(args, data),
        "rules": feature_rules(args, data),
        "sample_weight": data.weight,
        "pos_label": data.positive,
        "random_state": getattr(args, "seed", None),
        "progress": not args.quiet,
        **own,
    }
    return arguments_of(function, known(settings))


def cv_splits(args: argparse.Namespace) -> Any:
    """Return the number of folds or, with --repeats, a splitter that draws them several times."""
    if args.repeats == 1:
        return args.cv
    with whole_imports():
        from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold  # slow to import

    if args.repeats < 1:
        raise InvalidInputError(f"--repeats must be at least 1, got {args.repeats}.")
    kind = RepeatedKFold if args.regression else RepeatedStratifiedKFold
    return kind(n_splits=args.cv, n_repeats=args.repeats, random_state=args.seed)


def feature_groups(args: argparse.Namespace, data: Data) -> list[str] | None:
    """Return the columns of the table that features were made of: categories of one come in together, unless asked apart."""
    return None if args.separate_categories else data.preparation.groups


def classifier_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the loss of a classifier and how it takes several classes; refuse settings of classifiers for a regression."""
    check_loss(args)
    if args.regression:
        for option in ("class_weight", "multi_class", "probability"):
            if getattr(args, option):
                raise InvalidInputError(f"--{option.replace('_', '-')} is for classes, not for --regression.")
        return {}
    if args.loss is None or not LOSSES[args.loss].couples_outputs:
        return {"loss": args.loss}
    if args.multi_class not in (None, "auto", args.loss):
        raise InvalidInputError(f"--loss multinomial excludes --multi-class {args.multi_class}.")
    return {"loss": Logistic.name, "multi_class": args.loss}


def encoded_target(args: argparse.Namespace, y: NDArray[Any]) -> NDArray[Any]:
    """Return the target as `fit_path` and `solve` take it: with squared error they want numbers, so labels become -1 and +1."""
    if args.regression or LOSSES[chosen_loss(args)].is_classification:
        return y
    return np.where(y == np.unique(y)[1], 1.0, -1.0)


def where_priced(args: argparse.Namespace, **entries: Any) -> dict[str, Any]:
    """Return entries of a result that are about costs; none without --costs."""
    return entries if args.costs else {}


def feature_costs(args: argparse.Namespace, data: Data) -> NDArray[np.float64] | None:
    """Return one cost for each feature as --costs has it, None without a file."""
    return None if args.costs is None else costs_in(args.costs, data, "--costs")


def feature_rules(args: argparse.Namespace, data: Data) -> list[Rule] | None:
    """Return the rules of the file of --rules; None without a file.

    A column of text stands for its group or, with separate categories, for all its indicators. Features are called by the
    names of their groups or their own; an X without names has positions.
    """
    if args.rules is None:
        return None
    try:
        rules = rules_of_json(read_json(args.rules))
    except Malformed as error:
        raise InvalidInputError(f"--rules: {args.rules} is no rules file: {error}.") from None
    groups = feature_groups(args, data)

    own = data.preparation.features if feature_names(data.X) is not None else range(len(data.preparation.features))

    def places(column: Any) -> list[Any]:
        found = data.features_of([str(column)], "--rules").tolist()
        return list(dict.fromkeys((own if groups is None else groups)[j] for j in found))

    def placed(rule: Rule) -> Rule:
        features = tuple(j for column in rule.features for j in places(column))
        if rule.feature is None:
            return replace(rule, features=features)
        feature, *more = places(rule.feature)
        if more:
            raise InvalidInputError(f"--rules: {rule} is about {quoted(rule.feature)}, which is several features.")
        return replace(rule, features=features, feature=feature)

    return [placed(rule) for rule in rules]


def costs_in(path: str, data: Data, option: str) -> NDArray[np.float64]:
    """Return one cost for each feature, as the file of an option has it; columns that it does not name cost one.

    Indicators of a column of text have the cost of the column, each of them.
    """
    costs, seen = np.ones(len(data.preparation.features)), set[str]()
    for name, cost in read_costs(path, option):
        if name in seen:
            raise InvalidInputError(f"{option} names {quoted(name)} twice.")
        seen.add(name)
        costs[data.features_of([name], option)] = cost
    return costs


def read_costs(path: str, option: str) -> list[tuple[str, float]]:
    """Return the names and numbers of a file; a first line without a number is a heading."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as stream:
            text = stream.read(LONGEST_FILE + 1)
            if len(text) > LONGEST_FILE:
                raise InvalidInputError(f"{option} must be a small CSV file: a column and its cost in each line.")
        lines = [line for line in csv.reader(text.splitlines()) if line]
    except (UnicodeDecodeError, csv.Error):
        raise InvalidInputError(f"{option} must be a CSV file in UTF-8: a column and its cost in each line.") from None
    found = []
    for place, line in enumerate(lines):
        try:
            name, number = line
            found.append((name.strip(), float(number)))
        except ValueError:
            if place or len(line) != 2:
                got = quoted(",".join(line))
                raise InvalidInputError(f"{option} must have a column and its cost in each line, got {got}.") from None
    return found
