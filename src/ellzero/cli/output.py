"""What a command says: text for people or one JSON object for programs on standard output, notes on standard error."""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ellzero.base.files import replacing

__all__ = ["coefficient_lines", "coefficients", "emit", "ending", "note", "write_table"]

INTERRUPTED = 130  # the exit code of work that Ctrl-C ended


def note(args: argparse.Namespace, text: str) -> None:
    """Something to know that is no error."""
    if not args.quiet:
        print(f"ellzero: note: {text}", file=sys.stderr)


def ending(status: str | None, written: bool) -> int:
    """The exit code after a search; one that was interrupted says whether what it had is kept."""
    if status != "interrupted":
        return 0
    print(f"ellzero: interrupted{'; what was found is written' if written else ''}", file=sys.stderr)
    return INTERRUPTED


def emit(args: argparse.Namespace, result: dict[str, Any], text: str) -> None:
    """The result, once, in the form that was asked for."""
    print(json.dumps(plain(result), allow_nan=False, ensure_ascii=False) if args.json else text)
    sys.stdout.flush()


def plain(value: Any) -> Any:
    """Numbers, strings, lists and dicts; what is not finite is null, as JSON has no other word for it."""
    if isinstance(value, dict):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(part) for part in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def coefficients(names: Sequence[str], support: Sequence[int], values: Sequence[float]) -> list[dict[str, Any]]:
    """The features of a model with their coefficients, the largest first."""
    pairs = sorted(zip(support, values, strict=True), key=lambda pair: -abs(pair[1]))
    return [{"name": names[j], "index": int(j), "coefficient": float(value)} for j, value in pairs]


def coefficient_lines(features: list[dict[str, Any]], intercept: float) -> list[str]:
    """The same for people, with the intercept."""
    width = max([len(feature["name"]) for feature in features] + [len("(intercept)")])
    lines = [f"  {feature['name']:<{width}}  {feature['coefficient']: .6g}" for feature in features]
    return [*lines, f"  {'(intercept)':<{width}}  {intercept: .6g}"]


def write_table(name: str | None, header: list[str], rows: Iterable[Sequence[Any]]) -> None:
    """A CSV file, or standard output if there is no name."""
    if name is None:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
        return
    with replacing(name) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
        text.detach()
