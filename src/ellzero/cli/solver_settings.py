"""From arguments to the settings of solvers and estimators."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.cli.data import Data

__all__ = [
    "classifier_settings",
    "cross_validation_settings",
    "encoded_target",
    "loss_of",
    "penalties",
    "problem_settings",
    "search_settings",
]


def loss_of(args: argparse.Namespace) -> str:
    """The loss: squared error for a regression, else logistic if none is named."""
    if args.regression and args.loss not in (None, "squared_error"):
        raise InvalidInputError(f"--regression has the loss squared_error, got --loss {args.loss}.")
    return "squared_error" if args.regression else args.loss or "logistic"


def problem_settings(args: argparse.Namespace, data: Data) -> dict[str, Any]:
    """What functions and estimators call the problem."""
    return {
        "standardize": args.standardize,
        "fit_intercept": args.fit_intercept,
        "lower": args.lower,
        "upper": args.upper,
        "unpenalized": data.features_of(args.always) if args.always else None,
        "n_jobs": args.n_jobs,
        "progress": not args.quiet,
    }


def penalties(args: argparse.Namespace) -> dict[str, Any]:
    """The penalties beside L0."""
    return {"lambda_1": args.lambda_1, "lambda_2": args.lambda_2}


def cross_validation_settings(args: argparse.Namespace) -> dict[str, Any]:
    """How models are compared."""
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
    """When an exact search ends."""
    return {"gap": args.gap, "time_limit": args.time_limit, "bound": args.bound}


def classifier_settings(args: argparse.Namespace) -> dict[str, Any]:
    """What only classifiers have."""
    if args.regression:
        for option in ("class_weight", "shared_support", "probability"):
            if getattr(args, option):
                raise InvalidInputError(f"--{option.replace('_', '-')} is for classes, not for --regression.")
        return {}
    return {
        "loss": loss_of(args),
        "class_weight": args.class_weight,
        "shared_support": args.shared_support,
        "probability": args.probability,
    }


def encoded_target(args: argparse.Namespace, y: NDArray[Any]) -> NDArray[Any]:
    """The target as functions take it: with squared error they want numbers, so two labels become -1 and +1."""
    if args.regression or loss_of(args) != "squared_error":
        return y
    return np.where(y == np.unique(y)[1], 1.0, -1.0)
