"""The command line: one module for each command, and modules that commands share.

The commands are ``fit``, ``predict``, ``path``, ``cv``, ``certify``, ``alternatives``, ``risk-score``, ``verify``, ``report``
and ``convert``. The module of a command has a function ``run(args)`` that returns the exit code (`exit_codes` lists them); it
is imported when the command is called, so that ``ellzero --help`` answers at once.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from ellzero.base.errors import EllzeroError
from ellzero.base.imports import import_whole
from ellzero.base.quoting import safe_line
from ellzero.cli.exit_codes import BAD_INPUT, INTERRUPTED
from ellzero.cli.parser import make_parser

__all__ = ["main", "with_options"]

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


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    with open_streams():
        return run_command(argv)


def run_command(argv: Sequence[str] | None) -> int:
    """Parse the arguments, run the command they name, and print errors in a sentence."""
    parser = make_parser()
    if not (sys.argv[1:] if argv is None else argv):
        parser.print_help()
        return 0
    try:
        args = parser.parse_args(argv)
    except SystemExit as end:  # after --help, or after the parser's own sentence on a mistake
        return int(end.code or 0)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            code = import_whole(f"ellzero.cli.{args.command.replace('-', '_')}").run(args)
            sys.stdout.flush()
            return int(code)
    except BrokenPipeError:
        # The program that read the output (`head`, say) has ended. Python would flush the rest of it at its own end, and fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("\nellzero: interrupted", file=sys.stderr)
        return INTERRUPTED
    except (EllzeroError, OSError, ValueError, MemoryError) as error:
        text = error_line(error)
        print(f"ellzero: error: {with_options(text, args) if isinstance(error, EllzeroError) else text}", file=sys.stderr)
        return BAD_INPUT


@contextmanager
def open_streams() -> Iterator[None]:
    """Let streams that the caller has closed (``>&-``), which Python does not have then, be empty ones."""
    with ExitStack() as stack:
        for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
            if getattr(sys, name) is None:
                stack.callback(setattr, sys, name, None)
                setattr(sys, name, stack.enter_context(open(os.devnull, mode, encoding="utf-8")))
        yield


def error_line(error: BaseException) -> str:
    """Return the message of an error as one line."""
    if isinstance(error, OSError) and error.filename is not None:
        return safe_line(f"{error.filename}: {error.strerror}.")
    if isinstance(error, OSError) and error.strerror is not None:
        return safe_line(f"{error.strerror}.")
    if isinstance(error, MemoryError):
        return f"there is not enough memory for this ({error})." if str(error) else "there is not enough memory for this."
    return safe_line(str(error))


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as one line, without the place in the code that it comes from."""
    print(f"ellzero: warning: {safe_line(str(message))}", file=sys.stderr)


def with_options(message: str, args: argparse.Namespace) -> str:
    """Return a message with options instead of arguments: lambda_2=0.1 is --lambda-2=0.1.

    A word without an underscore is an argument only before an equals sign, or where the message begins with what it must be.
    """
    options = {name: f"--{name.replace('_', '-')}" for name in vars(args) if name not in POSITIONAL} | RENAMED

    def as_option(match: re.Match[str]) -> str:
        rest = message[match.end() :]
        meant = "_" in match[1] or rest.startswith("=") or (match.start() == 0 and rest.startswith(" must "))
        return options.get(match[1], match[1]) if meant else match[1]

    return ARGUMENT.sub(as_option, message)
