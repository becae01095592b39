"""Costs of features from a file: a column's name and a number in each line of a CSV file."""

from __future__ import annotations

import argparse
import csv

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import quoted
from ellzero.cli.data import Data

__all__ = ["costs_in", "feature_costs"]

LONGEST_FILE = 64 << 20  # bytes


def feature_costs(args: argparse.Namespace, data: Data) -> NDArray[np.float64] | None:
    """Return one cost for each feature as --costs has it, None without a file."""
    return None if args.costs is None else costs_in(args.costs, data, "--costs")


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
