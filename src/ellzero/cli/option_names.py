"""Arguments of functions as the options of commands: errors name what the user has typed, or could type."""

from __future__ import annotations

import argparse
import re

__all__ = ["with_options"]

POSITIONAL = {"command", "data", "model", "certificate", "name"}
RENAMED = {
    "random_state": "--seed",
    "sample_weight": "--weight",
    "fit_intercept": "--no-intercept",
    "standardize": "--no-standardize",
    "unpenalized": "--always",
    "feature_cost": "--costs",
    "pos_label": "--positive",
}
ARGUMENT = re.compile(r"(?<![\w'\"./-])([a-z]\w*)(?=[ =,;:)]|\.$)")


def with_options(message: str, args: argparse.Namespace) -> str:
    """Return a message with options in the place of arguments: lambda_2=0.1 is --lambda-2=0.1.

    A word without an underscore is an argument only before an equals sign, or where the message begins with what it must be.
    """
    options = {name: f"--{name.replace('_', '-')}" for name in vars(args) if name not in POSITIONAL} | RENAMED

    def as_option(match: re.Match[str]) -> str:
        rest = message[match.end() :]
        meant = "_" in match[1] or rest.startswith("=") or (match.start() == 0 and rest.startswith(" must "))
        return options.get(match[1], match[1]) if meant else match[1]

    return ARGUMENT.sub(as_option, message)
