"""Settings of solvers and estimators, from the arguments of a command."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.cli.costs import feature_costs
from ellzero.cli.data import Data
from ellzero.cli.output import note
from ellzero.cli.preparation import TablePreparation
from ellzero.problem.losses import LOSSES, Logistic, Multinomial, SquaredError

__all__ = [
    "check_loss",
    "chosen_loss",
    "classifier_settings",
    "cross_validation_settings",
    "encoded_target",
    "feature_groups",
    "limit_settings",
    "loss_for",
    "most_classes",
    "problem_settings",
    "search_settings",
    "shrinkage_settings",
]


def check_loss(args: argparse.Namespace) -> None:
    """Refuse --regression together with the loss of a classifier."""
    if args.regression and LOSSES[chosen_loss(args)].is_classification:
        raise InvalidInputError(f"--regression has the loss squared_error, got --loss {args.loss}.")


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


def limit_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return what limits the features of a model, of which at least one must be given."""
    if args.k is None and args.budget is None and args.lambda_0 is None:
        raise InvalidInputError("--k, --budget or --lambda-0 must be given.")
    return {"k": args.k, "budget": args.budget, "lambda_0": args.lambda_0}


def problem_settings(args: argparse.Namespace, data: Data) -> dict[str, Any]:
    """Return the settings of the problem, by the names that functions and estimators give them."""
    return {
        "standardize": args.standardize,
        "fit_intercept": args.fit_intercept,
        "lower": args.lower,
        "upper": args.upper,
        "unpenalized": data.features_of(args.always) if args.always else None,
        "feature_cost": feature_costs(args, data),
        "groups": feature_groups(args, data),
        "n_jobs": args.n_jobs,
        "progress": not args.quiet,
    }


def feature_groups(args: argparse.Namespace, data: Data) -> list[str] | None:
    """Return the columns of the table that features were made of: categories of one come in together, unless asked apart."""
    if args.separate_categories:
        return None
    return data.preparation.groups if isinstance(data.preparation, TablePreparation) else None


def shrinkage_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the penalties beside L0."""
    return {"lambda_1": args.lambda_1, "lambda_2": args.lambda_2}


def cross_validation_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of cross-validation."""
    return {
        "penalty": args.penalty,
        "shrinkage": args.shrinkage,
        "cv": args.cv,
        "scoring": args.scoring,
        "rule": args.rule,
        "max_support": args.max_support,
        "random_state": args.seed,
    }


def search_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the limits and the assumed bound of an exact search."""
    return {"gap": args.gap, "time_limit": args.time_limit, "bound": args.bound}


def classifier_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that only classifiers have; refuse them for a regression."""
    if args.regression:
        for option in ("class_weight", "multi_class", "shared_support", "probability"):
            if getattr(args, option):
                raise InvalidInputError(f"--{option.replace('_', '-')} is for classes, not for --regression.")
        return {}
    loss, multi_class = chosen_loss(args), args.multi_class
    if args.shared_support:
        note(args, "--shared-support will go: use --multi-class ovr_shared.")
        multi_class = multi_class or "ovr_shared"
    if LOSSES[loss].couples_outputs:
        if multi_class not in (None, "auto", loss):
            raise InvalidInputError(f"--loss multinomial excludes --multi-class {multi_class}.")
        loss, multi_class = Logistic.name, loss
    return {
        "loss": loss,
        "class_weight": args.class_weight,
        "multi_class": multi_class or "auto",
        "probability": args.probability,
    }


def encoded_target(args: argparse.Namespace, y: NDArray[Any]) -> NDArray[Any]:
    """Return the target as `fit_path` and `solve` take it: with squared error they want numbers, so labels become -1 and +1."""
    if args.regression or LOSSES[chosen_loss(args)].is_classification:
        return y
    return np.where(y == np.unique(y)[1], 1.0, -1.0)
