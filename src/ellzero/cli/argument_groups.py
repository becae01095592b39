"""Groups of arguments that commands share, and the types of their values."""

from __future__ import annotations

import argparse
import csv
import math
from typing import Any

from ellzero.problem.losses import LOSSES

FORMATS = ("csv", "tsv", "parquet", "excel", "svmlight", "npz", "columns")
MULTI_CLASS = ("auto", "multinomial", "ovr_shared", "ovr")


def name_list(text: str) -> list[str]:
    """Return the names between commas; a name that contains a comma is quoted as in CSV."""
    found = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), []) if name.strip()]
    if not found:
        raise argparse.ArgumentTypeError("must have at least one name")
    return found


def number_list(text: str) -> list[float]:
    """Return the numbers between commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be numbers between commas, got {text!r}") from None


# The kinds of values that many options have.
NAMES: dict[str, Any] = {"type": name_list, "action": "extend", "default": [], "metavar": "A,B"}
NUMBERS: dict[str, Any] = {"type": number_list, "metavar": "A,B"}
NUMBER: dict[str, Any] = {"type": float, "metavar": "V"}
COUNT: dict[str, Any] = {"type": int, "metavar": "N"}


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add the data file and the roles of its columns."""
    parser.add_argument("data", help="data file or column store ('-': CSV on standard input)")
    group = parser.add_argument_group("data")
    group.add_argument(
        "--target",
        metavar="COLUMN",
        help="what to predict; in npz files an array's name (default y) or a .npy file; column stores have their own",
    )
    group.add_argument("--drop", "--ignore", **NAMES, help="columns to leave out (identifiers, dates)")
    group.add_argument("--drop-unlabelled", action="store_true", help="leave out rows without a target")
    group.add_argument("--weight", metavar="COLUMN", help="weights of the rows")
    group.add_argument("--impute", choices=("median", "none"), help="fill missing numbers (default: median; none: refuse them)")
    group.add_argument(
        "--one-hot",
        action=argparse.BooleanOptionalAction,
        help="turn columns of text into one 0/1 column for each category (default), or refuse them",
    )
    group.add_argument(
        "--separate-categories",
        action="store_true",
        help="select categories one by one (default: all categories of a column, or none)",
    )
    group.add_argument("--categorical", **NAMES, help="columns of numbers to treat as categories, too")
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser, formats: tuple[str, ...] = FORMATS) -> None:
    """Add the format of the data file."""
    group = parser.add_argument_group("file format")
    group.add_argument("--format", choices=formats, help="default: by the file's extension")
    group.add_argument("--separator", metavar="C", help="between the fields of a CSV file (default: found in the file)")
    group.add_argument("--decimal", metavar="C", help="decimal mark of a CSV file (default: found in the file)")
    group.add_argument("--encoding", default="utf-8", metavar="NAME", help="of a CSV file (default: utf-8)")
    group.add_argument("--missing", **NAMES, help="other words for a missing value, such as '?' or =-9,999")


def add_problem(parser: argparse.ArgumentParser, shrinkage: bool = True) -> None:
    """Add the loss, the penalties and the constraints: the problem that is solved."""
    group = parser.add_argument_group("model")
    kind = group.add_mutually_exclusive_group()
    kind.add_argument("--regression", action="store_true", help="the target is a number (squared error)")
    kind.add_argument("--classes", action="store_true", help="treat a numeric target as class labels")
    losses = f"{', '.join(LOSSES)} (default: logistic; multinomial for more than two classes)"
    group.add_argument("--loss", type=underscored, choices=tuple(LOSSES), metavar="NAME", help=losses)
    group.add_argument(
        "--huber-delta", type=float, metavar="V", help="larger residuals count linearly, not squared (default: 1.35)"
    )
    if shrinkage:
        group.add_argument("--lambda-1", default=0.0, **NUMBER, help="weight of the l1 norm (default: 0)")
        group.add_argument("--lambda-2", default=1e-3, **NUMBER, help="weight of the squared l2 norm (default: 0.001)")
    group.add_argument(
        "--no-standardize", dest="standardize", action="store_false", help="penalise coefficients on the scale of the data"
    )
    group.add_argument("--no-intercept", dest="fit_intercept", action="store_false", help="fit no intercept")
    group.add_argument("--lower", **NUMBER, help="lower bound of each coefficient (0: non-negative)")
    group.add_argument("--upper", **NUMBER, help="upper bound of each coefficient")
    group.add_argument("--always", **NAMES, help="columns that are always included, not penalised")
    group.add_argument(
        "--costs", metavar="FILE", help="CSV file with a column and its cost in each line (default: each feature costs 1)"
    )
    add_rules(group)
    group.add_argument("--n-jobs", **COUNT, help="threads (default: 1; -1: all cores)")
    group.add_argument(
        "--positive", metavar="LABEL", help="the class that a positive coefficient makes likelier; of several, against the rest"
    )


def add_rules(parser: Any) -> None:
    """Add the rules on features."""
    parser.add_argument(
        "--rules", metavar="FILE", help='JSON file with a list of rules on columns, such as {"at_most": 1, "of": ["a", "b"]}'
    )


def add_sizes(parser: argparse.ArgumentParser, condition: str) -> Any:
    """Add the limits and the price of features; return their group."""
    group = parser.add_argument_group(f"how many features ({condition})")
    group.add_argument("--k", **COUNT, help="at most N features")
    group.add_argument("--budget", **NUMBER, help="features that cost at most V together, see --costs")
    group.add_argument("--lambda-0", **NUMBER, help="price of a feature (times its cost, see --costs)")
    return group


def add_cross_validation(parser: argparse.ArgumentParser) -> Any:
    """Add the folds, the score and the rule that chooses among the models."""
    group = parser.add_argument_group("cross-validation")
    group.add_argument("--cv", default=5, **COUNT, help="number of parts (default: 5)")
    group.add_argument("--scoring", metavar="NAME", help="a scorer of scikit-learn, such as roc_auc (default: held-out loss)")
    group.add_argument(
        "--rule",
        choices=("auto", "best", "one_se", "sparse"),
        default="auto",
        help="the smallest model not clearly worse than the best (default), the best, the smallest within one standard error, "
        "or one with still fewer features",
    )
    group.add_argument(
        "--penalty", choices=("auto", "l0", "l0l1", "l0l2"), default="auto", help="what is tried beside L0 (default: all)"
    )
    group.add_argument("--shrinkage", **NUMBERS, help="values of the shrinkage to try (default: chosen)")
    group.add_argument("--max-support", **COUNT, help="the largest size to try")
    group.add_argument("--repeats", default=1, **COUNT, help="repeat with other folds (default: 1)")
    return group


def add_classifier(parser: argparse.ArgumentParser) -> None:
    """Add the settings that only classifiers have, and the seed."""
    group = parser.add_argument_group("classifier")
    group.add_argument("--class-weight", choices=("balanced",), help="rare classes count as much as frequent ones")
    group.add_argument(
        "--multi-class",
        type=underscored,
        choices=MULTI_CLASS,
        metavar="NAME",
        help="more than two classes: multinomial (on shared features; default), ovr_shared (each against the rest, on shared "
        "features; default of other losses), ovr (each with its own features)",
    )
    group.add_argument("--probability", action="store_true", help="hinge losses: learn probabilities, too")
    group.add_argument("--seed", type=seed, default=0, metavar="N", help="random seed (default: 0)")


def add_questions(parser: argparse.ArgumentParser) -> None:
    """Add how columns become the questions of a score card."""
    group = parser.add_argument_group("questions of a score card")
    group.add_argument("--per", default=4, **COUNT, help="questions for each column of numbers (default: 4; 0: every value)")
    group.add_argument("--cuts", action="append", default=[], metavar="COLUMN=A,B", help="cuts of a column, such as age=45,60")
    group.add_argument(
        "--monotone", action="append", default=[], metavar="COLUMN=WORD", help="its effect is increasing or decreasing"
    )


def add_search(
    parser: argparse.ArgumentParser, algorithm: str | None = None, default: str = "local_search", gap: bool = True
) -> None:
    """Add the algorithm, and the limits of an exact search."""
    group = parser.add_argument_group("search")
    if algorithm is not None:
        algorithms = ("cd", "local_search", "iht", "exact")
        group.add_argument("--algorithm", choices=algorithms, default=default, help=algorithm)
    if gap:
        proved = "exact: relative gap to prove (default: 0.0001)"
        group.add_argument("--gap", default=1e-4, **NUMBER, help=proved)
    group.add_argument("--time-limit", type=float, metavar="S", help="exact: seconds; what is found and proved is kept")
    group.add_argument(
        "--bound", type=bound_or_heuristic, metavar="M", help="exact: assume that no coefficient exceeds M, or 'heuristic'"
    )


def add_output(parser: argparse.ArgumentParser, out: str | None, plot: str | None = None, required: bool = False) -> Any:
    """Add the files to write and the form of what is printed."""
    group = parser.add_argument_group("running and output")
    if out is not None:
        group.add_argument("--out", metavar="FILE", required=required, help=out)
    if plot is not None:
        group.add_argument("--plot", metavar="FILE", help=plot)
    group.add_argument("--json", action="store_true", help="print one JSON object")
    group.add_argument("--quiet", action="store_true", help="no progress, no notes")
    return group


def seed(text: str) -> int:
    """Return a seed of random numbers."""
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to 2^32 - 1, got {text!r}")
    return int(text)


def underscored(text: str) -> str:
    """Return a name with underscores, however the user wrote it: squared-hinge means squared_hinge."""
    return text.replace("-", "_")


def bound_or_heuristic(text: str) -> float | str:
    """Return a positive number, or the word 'heuristic'."""
    if text == "heuristic":
        return text
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value > 0.0:
        raise argparse.ArgumentTypeError(f"must be a positive number or 'heuristic', got {text!r}")
    return value
