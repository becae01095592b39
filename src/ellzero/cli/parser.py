"""The arguments of all commands, with their help."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any, NoReturn

from ellzero.base.quoting import safe_line
from ellzero.cli.argument_groups import (
    COUNT,
    NAMES,
    NUMBER,
    NUMBERS,
    add_classifier,
    add_cross_validation,
    add_data,
    add_output,
    add_problem,
    add_questions,
    add_reading,
    add_rules,
    add_search,
    add_sizes,
)
from ellzero.cli.exit_codes import BAD_INPUT

DESCRIPTION = """Linear models with few features, chosen by L0 regularisation, and proofs of how good they are.

Data files are tables with named columns (CSV, Parquet, Excel), svmlight/libsvm files or npz files; '-' reads CSV from standard
input. Text becomes categories, missing numbers become medians, and each command says so."""

EXAMPLES = {
    "main": """
ellzero fit data.csv --target label --k 10 --out model.json
ellzero predict model.json new.csv > predictions.csv
ellzero certify data.csv --target label --k 5 --out proof.npz""",
    "fit": """
ellzero fit data.csv --target label --k 10 --out model.json
ellzero fit data.csv --target label --missing='?,-9' --drop ward,date --out model.json
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
    "alternatives": """
ellzero alternatives data.csv --target label --k 5 --within 0.01
ellzero alternatives data.csv --target label --k 5 --n-best 20 --plot models.svg --out models.json --proof proof.npz
ellzero alternatives data.csv --target label --k 5 --within 0.05 --cheapest costs.csv --without age""",
    "risk-score": """
ellzero risk-score data.csv --target died --k 5 --card card.html --out model.json --proof proof.npz
ellzero risk-score data.csv --target died --cuts age=45,60,75 --monotone age=increasing --one-per-variable --card card.html
ellzero risk-score data.csv --target died --k cv --points 0 5 --drop patient_id""",
    "verify": """
ellzero verify proof.npz data.csv --target label
ellzero verify proof.npz data.csv --target label --expect k=5 --expect lambda_2=0.01
ellzero verify proof.npz data.csv --target label --exact --json""",
    "report": """
ellzero report data.csv --target label --out report.html
ellzero report data.csv --target label --rule one_se --title "Who will pay?" --subject customer
ellzero report data.csv --target price --regression --time-limit 0 --out report.html""",
    "convert": """
ellzero convert data.csv --target label --out data.columns
ellzero convert genotypes.bed --impute mode --drop-unlabelled --out genotypes.columns
ellzero convert data.parquet --target price --regression --drop id --dtype float32 --memory 1G --out data.columns""",
}


STYLE: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence, like all errors of the package."""

    commands: Any  # of the whole command line: the parsers of all commands

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Return the arguments; an option that does not exist is refused with the name of the nearest that does."""
        known, unknown = self.parse_known_args(args, namespace)
        if unknown:
            options = [option for action in self.commands.choices[known.command]._actions for option in action.option_strings]
            word = next((word for word in unknown if word.startswith("-")), unknown[0])
            near = difflib.get_close_matches(word.split("=")[0].replace("_", "-"), options, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            self.commands.choices[known.command].error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return known

    def error(self, message: str) -> NoReturn:
        """Print the error in one sentence and end with the exit code of bad usage."""
        sys.stderr.write(f"ellzero: error: {safe_line(message)} ('{self.prog} --help' says more)\n")
        raise SystemExit(BAD_INPUT)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = Parser(
        prog="ellzero",
        description=DESCRIPTION,
        epilog=f"examples:{indented(EXAMPLES['main'])}\n\n'ellzero COMMAND --help' explains a command.",
        **STYLE,
    )
    parser.add_argument("--version", action="version", version=f"ellzero {version('ellzero')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    parser.commands = commands
    for name, (summary, add_arguments) in COMMANDS.items():
        about = summary[0].upper() + summary[1:] + "."
        epilog = f"examples:{indented(EXAMPLES[name])}"
        add_arguments(commands.add_parser(name, help=summary, description=about, epilog=epilog, **STYLE))
    return parser


def add_fit(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of fit."""
    add_data(parser)
    add_problem(parser)
    group = add_sizes(parser, "neither --k, --budget nor --lambda-0: as --criterion says")
    group.add_argument(
        "--criterion", choices=("aic", "bic", "ebic", "gic"), default="ebic", help="what chooses the size (default: ebic)"
    )
    group.add_argument("--max-support", **COUNT, help="the largest size that the criterion looks at")
    add_classifier(parser)
    add_search(parser, "default: local_search; exact: with a proof")
    add_output(parser, "model file to write (JSON)")


def add_predict(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of predict."""
    parser.add_argument("model", help="model file, as fit writes it")
    parser.add_argument("data", help="data file; columns are found by name, others are ignored ('-': CSV on standard input)")
    add_reading(parser)
    parser.add_argument("--proba", action="store_true", help="also the probability of each class")
    parser.add_argument("--decision", action="store_true", help="also the value of the linear function")
    parser.add_argument("--keep", **NAMES, help="columns of the data to copy")
    add_output(parser, "CSV file to write (default: standard output)")


def add_path(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of path."""
    add_data(parser)
    add_problem(parser)
    group = parser.add_argument_group("path")
    group.add_argument("--lambda-0", **NUMBERS, help="decreasing prices of a feature (default: chosen)")
    group.add_argument("--n-lambda", default=100, **COUNT, help="at most N points (default: 100)")
    group.add_argument(
        "--lambda-min-ratio", default=1e-3, **NUMBER, help="ratio of the last lambda_0 to the first (default: 0.001)"
    )
    group.add_argument("--max-support", **COUNT, help="stop at models with more features")
    algorithms = ("cd", "local_search", "iht")
    group.add_argument("--algorithm", choices=algorithms, default="local_search", help="default: local_search; cd is faster")
    add_output(parser, "CSV file of all coefficients to write", plot="picture of the coefficients (.svg, .png, .pdf)")


def add_cv(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of cv."""
    add_data(parser)
    add_problem(parser, shrinkage=False)
    group = add_cross_validation(parser)
    group.add_argument(
        "--select", choices=("lambda_0", "size"), default="lambda_0", help="compare prices or sizes (default: lambda_0)"
    )
    group.add_argument("--lambda-0", **NUMBERS, help="decreasing prices of a feature (default: chosen)")
    add_classifier(parser)
    add_search(parser, "of all fits (default: cd, the fastest); exact: the chosen model with a proof", default="cd")
    add_output(parser, "model file to write (JSON)", plot="picture of the scores (.svg, .png, .pdf)")


def add_certify(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of certify."""
    add_data(parser)
    add_problem(parser)
    add_sizes(parser, "one of these is needed")
    add_search(parser)
    group = add_limits(parser)
    group.add_argument("--method", choices=("bnb", "iga", "mip"), default="bnb", help="default: bnb, branch and bound")
    backends = ("builtin", "highs", "scip", "gurobi")
    group.add_argument("--backend", choices=backends, default="builtin", help="solver of iga and mip (default: builtin)")
    group = add_output(parser, "certificate to write (npz), for 'ellzero verify'")
    group.add_argument("--model", metavar="FILE", help="model file to write, too (JSON)")


def add_limits(parser: argparse.ArgumentParser) -> Any:
    """Add a limit of nodes and a checkpoint; return their group."""
    group = parser.add_argument_group("more on the search")
    group.add_argument("--node-limit", **COUNT, help="stop after this number of nodes")
    group.add_argument("--checkpoint", metavar="FILE", help="file from which an interrupted run resumes")
    return group


def add_alternatives(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of alternatives."""
    add_data(parser)
    add_problem(parser)
    add_sizes(parser, "one of these is needed")
    group = parser.add_argument_group("which models")
    group.add_argument("--within", **NUMBER, help="at most this share above the best objective (default: 0.01)")
    group.add_argument("--n-best", **COUNT, help="or the N best models")
    group.add_argument("--max-models", default=10_000, **COUNT, help="stop when there are more (default: 10000)")
    group = parser.add_argument_group("choose one of them")
    group.add_argument("--cheapest", metavar="FILE", help="the cheapest by a CSV file with a column and its cost in each line")
    group.add_argument("--including", **NAMES, help="with all of these features")
    group.add_argument("--without", **NAMES, help="without any of these features")
    add_search(parser, gap=False)
    add_limits(parser)
    group = add_output(parser, "file of the models to write (JSON)", plot="picture of the models (.svg, .png, .pdf)")
    group.add_argument("--proof", metavar="FILE", help="certificate to write (npz), for 'ellzero verify'")


def add_risk_score(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of risk-score."""
    add_data(parser)
    parser.add_argument(
        "--positive", metavar="LABEL", help="the class whose risk the card tells (default: the second in order)"
    )
    parser.set_defaults(questions=True, regression=False)
    add_questions(parser)
    group = parser.add_argument_group("card")
    group.add_argument("--k", default="5", metavar="N", help="at most N questions, or cv to choose (default: 5)")
    group.add_argument(
        "--points", type=int, nargs=2, default=(-5, 5), metavar=("LEAST", "MOST"), help="range of points (default: -5 5)"
    )
    group.add_argument("--max-scale", default=2.0, **NUMBER, help="largest log-odds of a point (default: 2)")
    group.add_argument("--scale", **NUMBER, help="fixed log-odds of a point, such as 1 (default: the best)")
    group.add_argument(
        "--whole-intercept", action="store_true", help="an intercept in points, with --scale (RiskSLIM's problem)"
    )
    group.add_argument("--lambda-0", default=0.0, **NUMBER, help="price of a question (default: 0)")
    group.add_argument("--one-per-variable", action="store_true", help="at most one question about each column")
    add_rules(group)
    group.add_argument(
        "--time-limit", type=float, default=60.0, metavar="S", help="seconds (default: 60); what is proved is kept"
    )
    group.add_argument("--checkpoint", metavar="FILE", help="file from which an interrupted proof resumes")
    group.add_argument("--jobs", type=int, metavar="N", help="threads (default: 1; -1: all)")
    group = add_output(parser, "model file to write (JSON), for 'ellzero predict'")
    group.add_argument("--card", metavar="FILE", help="page to print (HTML)")
    group.add_argument("--proof", metavar="FILE", help="certificate to write (npz), for 'ellzero verify'")
    group.add_argument("--title", help="heading of the page")
    group.add_argument("--test", metavar="FILE", help="another table with the same columns: how well the model predicts it")
    group.add_argument("--outcome", metavar="WORDS", help="what the risk is of, for the page, such as 'dying within a year'")


def add_verify(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of verify."""
    parser.add_argument("certificate", help="certificate, as certify writes it")
    add_data(parser)
    parser.add_argument("--positive", metavar="LABEL", help="as for certify")
    parser.add_argument("--regression", action="store_true", help="as for certify")
    parser.add_argument("--costs", metavar="FILE", help="costs of the features, as for certify")
    add_rules(parser)
    parser.add_argument("--classes", action="store_true", help="as for certify")
    parser.add_argument(
        "--expect",
        action="append",
        metavar="NAME=VALUE",
        help="a setting that the proof must be about, such as k=5 (repeat for more); others are not compared",
    )
    add_questions(parser)
    parser.add_argument("--exact", action="store_true", help="repeat the proof in exact arithmetic (slow; needs python-flint)")
    add_output(parser, None)


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of report."""
    add_data(parser)
    add_problem(parser, shrinkage=False)
    group = add_cross_validation(parser)
    group.add_argument(
        "--algorithm", choices=("cd", "local_search"), help="default: local_search; cd, which is faster, if the data is large"
    )
    add_classifier(parser)
    group = add_output(parser, "HTML file to write (default: report.html)")
    parser.set_defaults(out="report.html")
    group.add_argument("--title", help="heading of the page")
    group.add_argument("--test", metavar="FILE", help="another table with the same columns: how well the model predicts it")
    group.add_argument(
        "--subject", default="row", metavar="WORD", help="what a row is, in the page's words, such as patient (default: row)"
    )
    group.add_argument(
        "--time-limit", type=float, default=30.0, metavar="S", help="seconds for the proof (default: 30; 0: no proof)"
    )


def add_convert(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of convert."""
    parser.add_argument("data", help="CSV, Parquet, svmlight, PLINK (.bed), .npy or .npz file ('-': CSV on standard input)")
    group = parser.add_argument_group("data")
    group.add_argument("--target", metavar="COLUMN", help="what to predict; with .npy and .npz a .npy file or an array's name")
    group.add_argument("--target-file", metavar="FILE", help="PLINK: table with columns IID and --target (default: the .fam)")
    group.add_argument("--regression", action="store_true", help="the target is a number")
    group.add_argument("--drop", **NAMES, help="columns to leave out (ids, dates, text)")
    group.add_argument("--drop-unlabelled", action="store_true", help="leave out rows without a target")
    group.add_argument(
        "--impute", choices=("median", "mean", "mode"), help="fill missing numbers with this statistic of the column"
    )
    add_reading(parser, ("csv", "tsv", "parquet", "svmlight", "plink", "npy", "npz"))
    group = add_output(parser, "folder to make", required=True)
    group.add_argument(
        "--dtype",
        choices=("float64", "float32", "int8"),
        help="type of the stored numbers (default: the smallest that loses nothing)",
    )
    group.add_argument("--overwrite", action="store_true", help="replace a column store of this name")
    group.add_argument("--memory", default="256M", metavar="SIZE", help="memory to use, such as 64M or 2G (default: 256M)")


def indented(text: str) -> str:
    """Indent the examples under their heading."""
    return text.replace("\n", "\n  ")


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "fit": ("fit a model and write it to a file", add_fit),
    "predict": ("predict new data with a model file", add_predict),
    "path": ("fit models of all sizes", add_path),
    "cv": ("choose a model by cross-validation", add_cv),
    "certify": ("find the best model and write a proof", add_certify),
    "alternatives": ("find all models that are nearly as good as the best one", add_alternatives),
    "risk-score": ("find the best score card of whole points, with a proof and a page to print", add_risk_score),
    "verify": ("check a proof against the data", add_verify),
    "report": ("write a page about the best model (HTML)", add_report),
    "convert": ("store a data file by columns, for work larger than memory", add_convert),
}
