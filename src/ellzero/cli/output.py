"""Output of commands: text or one JSON object on standard output, notes on standard error."""

from __future__ import annotations

import argparse
import csv
import io
import itertools
import json
import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ellzero.base.files import replacing
from ellzero.base.quoting import json_text, safe_line, safe_lines, shown, spreadsheet_cell
from ellzero.cli.exit_codes import INTERRUPTED
from ellzero.estimators.showing import aligned_rows


def note(args: argparse.Namespace, text: str) -> None:
    """Print something worth knowing that is not an error, unless --quiet was given."""
    if not args.quiet:
        print(f"ellzero: note: {safe_line(text)}", file=sys.stderr)


def exit_code(status: str | None, written: bool) -> int:
    """Return the exit code after a search; if Ctrl-C ended it, print whether the best model so far was written."""
    if status != "interrupted":
        return 0
    print(f"ellzero: interrupted{'; what was found is written' if written else ''}", file=sys.stderr)
    return INTERRUPTED


def print_result(args: argparse.Namespace, result: dict[str, Any], text: str) -> None:
    """Print the result as JSON with --json, or else the text."""
    as_json = json.dumps(json_value(result), allow_nan=False, ensure_ascii=False) if args.json else ""
    write_out(json_text(as_json) if args.json else safe_lines(text), "\n")


def write_out(text: str, end: str = "") -> None:
    """Write to standard output: characters that its encoding does not have as codes, and errors with its name."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding) + end)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard output") from None


def json_value(value: Any) -> Any:
    """Return a value as numbers, strings, lists and dicts; NaN and infinity become null, since JSON does not have them."""
    if isinstance(value, dict):
        return {str(name): json_value(part) for name, part in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [json_value(part) for part in value]
    if isinstance(value, np.generic):
        return json_value(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def attributes(item: Any, *names: str) -> dict[str, Any]:
    """Return some attributes of a result or of the arguments by their names, for --json."""
    return {name: getattr(item, name) for name in names}


def coefficients(names: Sequence[str], support: Sequence[int], values: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the features of a model with their coefficients, the largest first; of several outputs, lists of them."""
    pairs = sorted(zip(support, values, strict=True), key=lambda pair: -float(np.abs(pair[1]).max()))
    return [{"name": names[j], "index": int(j), "coefficient": np.asarray(value).tolist()} for j, value in pairs]


def coefficient_lines(features: list[dict[str, Any]], intercept: Any, outputs: Sequence[Any] = ()) -> list[str]:
    """Return a line of text for each feature, and one for the intercept; several outputs are columns under their labels."""
    pairs = [*((feature["name"], feature["coefficient"]) for feature in features), ("(intercept)", intercept)]
    if not len(outputs):
        return aligned_rows([], [[shown(name), f" {value: .6g}"] for name, value in pairs])[1:]
    return aligned_rows(list(map(shown, outputs)), [[shown(name), *(f"{value:.6g}" for value in row)] for name, row in pairs])


def write_table(name: str | None, header: list[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a CSV file, or to standard output if there is no name; no cell of it is a formula or holds codes."""
    cells = ([spreadsheet_cell(value) for value in row] for row in itertools.chain([header], rows))
    if name is None:
        lines = io.StringIO(newline="")
        csv.writer(lines, lineterminator="\n").writerows(cells)
        write_out(lines.getvalue())
        return
    with replacing(name) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
        csv.writer(text, lineterminator="\n").writerows(cells)
        text.detach()


def columns_used(groups: Sequence[str] | None, support: Iterable[int]) -> dict[str, Any]:
    """Return the columns of the table that a model uses, and how many there are, if columns became several features."""
    if groups is None:
        return {}
    return {"columns": list(dict.fromkeys(groups[j] for j in support)), "n_columns": len({*groups})}


def size_in_words(result: dict[str, Any], p: int) -> str:
    """Return how large a model is: its features or, where columns became several, the columns that it uses."""
    if "columns" not in result:
        return f"{result['size']} of {p} features"
    names = ", ".join(map(shown, result["columns"]))
    return f"{len(result['columns'])} of {result['n_columns']} variables{names and f' ({names})'}"
