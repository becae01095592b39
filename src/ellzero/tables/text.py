"""Tables of text (CSV): separators and encodings, checks of the header, and errors in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ellzero.base.errors import InvalidInputError
from ellzero.tables.optional import need

__all__ = ["check_header", "explained", "reading_options", "refuse_twice"]

SEPARATORS = {"tab": "\t", r"\t": "\t", "space": r"\s+", " ": r"\s+"}
LIKELY_SEPARATORS = ";\t|,"
LOST_INTERRUPT = "Calling read(nbytes) on source failed"
"""The text of the error into which pandas turns Ctrl-C while it reads: its parser loses exceptions that have no value."""


def reading_options(kind: str, separator: str | None, encoding: str) -> dict[str, Any]:
    """Return the arguments of pandas' `read_csv` for a file of this kind, "csv" or "tsv"."""
    given = separator if separator is not None else "\t" if kind == "tsv" else ","
    mark = SEPARATORS.get(given, given)
    if len(mark) != 1 and mark != r"\s+":
        raise InvalidInputError(f"separator must be one character, 'tab' or 'space', got {given!r}.")
    known = "utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding  # spreadsheets write a byte order mark first
    return {"sep": mark, "encoding": known, "skipinitialspace": True}


@contextmanager
def explained(source: str, encoding: str) -> Iterator[None]:
    """Replace the errors of pandas inside a `with` block by one sentence about the table."""
    errors = need("pandas").errors
    try:
        yield
    except errors.EmptyDataError:
        raise InvalidInputError(f"{source} is empty.") from None
    except UnicodeError:
        raise InvalidInputError(
            f"{source} is not {encoding} text; name its encoding, for example --encoding latin-1."
        ) from None
    except LookupError:
        raise InvalidInputError(f"encoding {encoding!r} is unknown.") from None
    except errors.ParserError as error:
        if LOST_INTERRUPT in str(error):
            raise KeyboardInterrupt from None
        reason = str(error).removeprefix("Error tokenizing data. C error: ").strip().rstrip(".")
        raise InvalidInputError(f"{source} cannot be read as a table: {reason}.") from None


def check_header(source: str, names: list[object], separator: str) -> None:
    """Raise an error if the header looks like one column by mistake, or if two columns have the same name."""
    if len(names) == 1:
        other = next((mark for mark in LIKELY_SEPARATORS if mark in str(names[0]) and mark != separator), None)
        if other is not None:
            word = "tab" if other == "\t" else f"'{other}'"
            raise InvalidInputError(f"{source} has a single column, {names[0]!r}; add --separator {word}.")
    refuse_twice(source, [name for name in names if isinstance(name, str)])  # pandas makes NaN of an empty name


def refuse_twice(source: str, names: list[str]) -> None:
    """Raise an error if two columns have the same name: columns are found by name."""
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise InvalidInputError(f"{source} has more than one column named {twice!r}; give them different names.")
