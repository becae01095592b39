"""The arguments of all commands, with their help."""

from __future__ import annotations

import argparse
import csv
import math
import sys
from importlib.metadata import version
from typing import Any, NoReturn

__all__ = ["make_parser"]

LOSSES = ("logistic", "squared_hinge", "hinge", "squared_error")

DESCRIPTION = """Linear models with few features, chosen by L0 regularisation, and proofs of how good they are.

Data files are tables with named columns (CSV, Parquet), svmlight/libsvm files or npz files; '-' reads CSV from standard
input. Columns of text and missing values need --one-hot and --impute median."""

EXAMPLES = {
    "main": """
ellzero fit data.csv --target label --k 10 --out model.json
ellzero predict model.json new.csv > predictions.csv
ellzero certify data.csv --target label --k 5 --out proof.npz""",
    "fit": """
ellzero fit data.csv --target label --k 10 --out model.json
ellzero fit data.csv --target label --one-hot --impute median --drop id,date --out model.json
zcat data.csv.gz | ellzero fit - --target price --regression --json""",
    "predict": """
ellzero predict model.json new.csv
ellzero predict model.json new.csv --proba --keep id --out predictions.csv""",
    "path": """
ellzero path data.csv --target label --plot path.svg
ellzero path data.csv --target label --max-support 20 --out coefficients.csv
ellzero path data.svm --loss squared_hinge --algorithm cd""",
    "cv": """
ellzero cv data.csv --target label --out model.json
ellzero cv data.csv --target label --cv 10 --scoring roc_auc --rule one_se
ellzero cv data.csv --target price --regression --select size --max-support 15 --plot cv.svg""",
    "certify": """
ellzero certify data.csv --target label --k 5 --out proof.npz
ellzero certify data.csv --target label --k 5 --time-limit 600 --checkpoint run.ckpt --out proof.npz --model model.json
ellzero certify iris.csv --target species --positive virginica --k 2 --out proof.npz""",
    "verify": """
ellzero verify proof.npz data.csv --target label
ellzero verify proof.npz data.csv --target label --json""",
}


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, like everything else here."""

    def error(self, message: str) -> NoReturn:
        """One sentence and the exit code of bad usage."""
        sys.stderr.write(f"ellzero: error: {message} ('{self.prog} --help' says more)\n")
        raise SystemExit(2)


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = Parser(
        prog="ellzero",
        description=DESCRIPTION,
        epilog=f"examples:{indented(EXAMPLES['main'])}\n\n'ellzero COMMAND --help' explains a command.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"ellzero {version('ellzero')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    add_fit(command(commands, "fit", "fit", "fit a model and write it to a file"))
    add_predict(command(commands, "predict", "predict", "predict new data with a model file"))
    add_path(command(commands, "path", "path", "fit models of all sizes"))
    add_cv(command(commands, "cv", "cv", "choose a model by cross-validation"))
    add_certify(command(commands, "certify", "certify", "find the best model there is, and write a proof"))
    add_verify(command(commands, "verify", "verify", "check a proof against the data"))
    return parser


def command(commands: Any, name: str, module: str, summary: str) -> argparse.ArgumentParser:
    """The parser of one command, without its arguments."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=f"examples:{indented(EXAMPLES[name])}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(module=module)
    return parser


def add_fit(parser: argparse.ArgumentParser) -> None:
    """Arguments of fit."""
    add_data(parser)
    add_problem(parser)
    group = parser.add_argument_group("how many features (neither --k nor --lambda-0: as --criterion says)")
    group.add_argument("--k", type=int, metavar="N", help="at most N features")
    group.add_argument("--lambda-0", type=float, metavar="V", help="price of a feature")
    group.add_argument(
        "--criterion", choices=("aic", "bic", "ebic"), default="ebic", help="what chooses the size (default: ebic)"
    )
    group.add_argument("--max-support", type=int, metavar="N", help="the largest size that the criterion looks at")
    add_estimator(parser)
    add_search(parser, "default: local_search; exact: with a proof")
    add_output(parser, "model file to write (JSON)")


def add_predict(parser: argparse.ArgumentParser) -> None:
    """Arguments of predict."""
    parser.add_argument("model", help="model file, as fit writes it")
    parser.add_argument("data", help="data file; columns are found by name, others are ignored ('-': CSV on standard input)")
    add_reading(parser)
    parser.add_argument("--proba", action="store_true", help="also the probability of each class")
    parser.add_argument("--decision", action="store_true", help="also the value of the linear function")
    parser.add_argument("--keep", type=names, action="extend", default=[], metavar="A,B", help="columns of the data to copy")
    add_output(parser, "CSV file to write (default: standard output)")


def add_path(parser: argparse.ArgumentParser) -> None:
    """Arguments of path."""
    add_data(parser)
    add_problem(parser, positive=True)
    group = parser.add_argument_group("path")
    group.add_argument("--lambda-0", type=numbers, metavar="A,B", help="decreasing prices of a feature (default: chosen)")
    group.add_argument("--n-lambda", type=int, default=100, metavar="N", help="at most N points (default: 100)")
    group.add_argument(
        "--lambda-min-ratio", type=float, default=1e-3, metavar="V", help="last price by the first (default: 0.001)"
    )
    group.add_argument("--max-support", type=int, metavar="N", help="end before a model with more features")
    algorithms = ("cd", "local_search", "iht")
    group.add_argument("--algorithm", choices=algorithms, default="local_search", help="default: local_search; cd is faster")
    add_output(parser, "CSV file of all coefficients to write", plot="picture of the coefficients (.svg, .png, .pdf)")


def add_cv(parser: argparse.ArgumentParser) -> None:
    """Arguments of cv."""
    add_data(parser)
    add_problem(parser, shrinkage=False)
    group = parser.add_argument_group("cross-validation")
    group.add_argument("--cv", type=int, default=5, metavar="N", help="number of parts (default: 5)")
    group.add_argument("--scoring", metavar="NAME", help="a scorer of scikit-learn, such as roc_auc (default: held-out loss)")
    group.add_argument(
        "--select", choices=("lambda_0", "size"), default="lambda_0", help="compare prices or sizes (default: lambda_0)"
    )
    group.add_argument(
        "--rule", choices=("best", "one_se"), default="best", help="the best, or the smallest within one standard error"
    )
    group.add_argument("--penalty", choices=("l0", "l0l1", "l0l2"), default="l0l2", help="which penalty is tried beside L0")
    group.add_argument("--shrinkage", type=numbers, metavar="A,B", help="its values to try (default: chosen)")
    group.add_argument("--lambda-0", type=numbers, metavar="A,B", help="decreasing prices of a feature (default: chosen)")
    group.add_argument("--max-support", type=int, metavar="N", help="the largest size to try")
    add_estimator(parser)
    add_search(parser, "of all fits (default: local_search); exact: the chosen model with a proof")
    add_output(parser, "model file to write (JSON)", plot="picture of the scores (.svg, .png, .pdf)")


def add_certify(parser: argparse.ArgumentParser) -> None:
    """Arguments of certify."""
    add_data(parser)
    add_problem(parser, positive=True)
    group = parser.add_argument_group("how many features (one of both is needed)")
    group.add_argument("--k", type=int, metavar="N", help="at most N features")
    group.add_argument("--lambda-0", type=float, metavar="V", help="price of a feature")
    add_search(parser)
    group = parser.add_argument_group("more on the search")
    group.add_argument("--node-limit", type=int, metavar="N", help="stop after so many nodes")
    group.add_argument("--checkpoint", metavar="FILE", help="kept up to date, so that a run that was killed goes on")
    group.add_argument("--method", choices=("bnb", "iga", "mip"), default="bnb", help="default: bnb, branch and bound")
    backends = ("builtin", "highs", "scip", "gurobi")
    group.add_argument("--backend", choices=backends, default="builtin", help="solver of iga and mip (default: builtin)")
    group = add_output(parser, "certificate to write (npz), for 'ellzero verify'")
    group.add_argument("--model", metavar="FILE", help="model file to write, too (JSON)")


def add_verify(parser: argparse.ArgumentParser) -> None:
    """Arguments of verify."""
    parser.add_argument("certificate", help="certificate, as certify writes it")
    add_data(parser)
    parser.add_argument("--positive", metavar="LABEL", help="as it was given to certify")
    parser.add_argument("--regression", action="store_true", help="as it was given to certify")
    add_output(parser, None)


def add_data(parser: argparse.ArgumentParser) -> None:
    """The data file, and what its columns are."""
    parser.add_argument("data", help="data file ('-': CSV on standard input)")
    group = parser.add_argument_group("data")
    group.add_argument(
        "--target", metavar="COLUMN", help="what to predict; in npz files an array's name (default y) or a .npy file"
    )
    group.add_argument(
        "--drop", type=names, action="extend", default=[], metavar="A,B", help="columns to leave out (ids, dates)"
    )
    group.add_argument("--weight", metavar="COLUMN", help="weights of the rows")
    group.add_argument("--impute", choices=("median",), help="fill missing numbers")
    group.add_argument("--one-hot", action="store_true", help="code columns of text by an indicator for each category")
    group.add_argument(
        "--categorical", type=names, action="extend", default=[], metavar="A,B", help="numbers to code in this way, too"
    )
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How the file is written."""
    group = parser.add_argument_group("file format")
    group.add_argument("--format", choices=("csv", "tsv", "parquet", "svmlight", "npz"), help="default: by the file's ending")
    group.add_argument("--separator", metavar="C", help="between the fields of a CSV file (default: a comma)")
    group.add_argument("--decimal", default=".", metavar="C", help="decimal mark of a CSV file (default: a point)")
    group.add_argument("--encoding", default="utf-8", metavar="NAME", help="of a CSV file (default: utf-8)")
    group.add_argument(
        "--missing", action="append", default=[], metavar="WORD", help="another word for a missing value, such as '?'"
    )


def add_problem(parser: argparse.ArgumentParser, positive: bool = False, shrinkage: bool = True) -> None:
    """What is minimised."""
    group = parser.add_argument_group("model")
    group.add_argument("--regression", action="store_true", help="the target is a number (squared error)")
    group.add_argument(
        "--loss", type=underscored, choices=LOSSES, metavar="NAME", help=f"{', '.join(LOSSES)} (default: logistic)"
    )
    if shrinkage:
        group.add_argument("--lambda-1", type=float, default=0.0, metavar="V", help="weight of the l1 norm (default: 0)")
        group.add_argument(
            "--lambda-2", type=float, default=1e-3, metavar="V", help="weight of the squared l2 norm (default: 0.001)"
        )
    group.add_argument(
        "--no-standardize", dest="standardize", action="store_false", help="penalties apply to columns as they are"
    )
    group.add_argument("--no-intercept", dest="fit_intercept", action="store_false", help="the intercept is zero")
    group.add_argument("--lower", type=float, metavar="V", help="least coefficient (0: none is negative)")
    group.add_argument("--upper", type=float, metavar="V", help="largest coefficient")
    group.add_argument(
        "--always", type=names, action="extend", default=[], metavar="A,B", help="columns that are always in, free of charge"
    )
    group.add_argument("--n-jobs", type=int, metavar="N", help="threads (default: 1; -1: all cores)")
    if positive:
        group.add_argument("--positive", metavar="LABEL", help="tell this class from all others (needed with more than two)")


def add_estimator(parser: argparse.ArgumentParser) -> None:
    """What only estimators have."""
    group = parser.add_argument_group("classifier")
    group.add_argument("--class-weight", choices=("balanced",), help="rare classes count as much as frequent ones")
    group.add_argument("--shared-support", action="store_true", help="all of several classes use the same features")
    group.add_argument("--probability", action="store_true", help="hinge losses: learn probabilities, too")
    group.add_argument("--seed", type=int, default=0, metavar="N", help="of whatever is random (default: 0)")


def add_search(parser: argparse.ArgumentParser, algorithm: str | None = None) -> None:
    """How models are searched, and when an exact search ends."""
    group = parser.add_argument_group("search")
    if algorithm is not None:
        algorithms = ("cd", "local_search", "iht", "exact")
        group.add_argument("--algorithm", choices=algorithms, default="local_search", help=algorithm)
    group.add_argument("--gap", type=float, default=1e-4, metavar="V", help="exact: relative gap to prove (default: 0.0001)")
    group.add_argument("--time-limit", type=float, metavar="S", help="exact: seconds; what is found and proved is kept")
    group.add_argument("--bound", type=bound, metavar="M", help="exact: assume that no coefficient exceeds M, or 'heuristic'")


def add_output(parser: argparse.ArgumentParser, out: str | None, plot: str | None = None) -> Any:
    """Where results go."""
    group = parser.add_argument_group("running and output")
    if out is not None:
        group.add_argument("--out", metavar="FILE", help=out)
    if plot is not None:
        group.add_argument("--plot", metavar="FILE", help=plot)
    group.add_argument("--json", action="store_true", help="print one JSON object")
    group.add_argument("--quiet", action="store_true", help="no progress, no notes")
    return group


def names(text: str) -> list[str]:
    """Names between commas; one that has a comma itself is quoted as in CSV."""
    found = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), []) if name.strip()]
    if not found:
        raise argparse.ArgumentTypeError("names at least one column")
    return found


def numbers(text: str) -> list[float]:
    """Numbers between commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be numbers between commas, got {text!r}") from None


def underscored(text: str) -> str:
    """A name with underscores; hyphens are as good."""
    return text.replace("-", "_")


def bound(text: str) -> float | str:
    """A positive number or the word."""
    if text == "heuristic":
        return text
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value > 0.0:
        raise argparse.ArgumentTypeError(f"must be a positive number or 'heuristic', got {text!r}")
    return value


def indented(text: str) -> str:
    """Examples under their heading."""
    return text.replace("\n", "\n  ")
