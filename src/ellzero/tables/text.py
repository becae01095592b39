"""Tables of text (CSV): separators and encodings, checks of the header, and errors in one sentence."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import one_line, quoted
from ellzero.tables.optional import need
from ellzero.tables.source import DataFile
from ellzero.tables.streams import Replayed

if TYPE_CHECKING:
    import pandas as pd

SEPARATORS = {"tab": "\t", r"\t": "\t", "space": r"\s+", " ": r"\s+"}
UNUSABLE = '"\n\r\0'  # as separators: they have another meaning
LIKELY_SEPARATORS = ";\t|,"
LOST_INTERRUPT = "Calling read(nbytes) on source failed"
"""The text of the error into which pandas turns Ctrl-C while it reads: its parser loses exceptions that have no value."""


def reading_options(kind: str, separator: str | None, encoding: str, decimal: str = ".") -> dict[str, Any]:
    """Return the arguments of pandas' `read_csv` for a file of this kind, "csv" or "tsv"."""
    given = separator if separator is not None else "\t" if kind == "tsv" else ","
    mark = SEPARATORS.get(given, given)
    if (len(mark) != 1 and mark != r"\s+") or mark in UNUSABLE:
        raise InvalidInputError(f"separator must be one character, 'tab' or 'space', got {given!r}.")
    if len(decimal) != 1 or not decimal.isascii() or decimal.isalnum() or decimal in f"{UNUSABLE}+-":
        raise InvalidInputError(f"decimal must be one character, such as ',', got {decimal!r}.")
    if decimal == mark:
        raise InvalidInputError(f"decimal and separator must be different, both are {decimal!r}; name the other separator.")
    known = "utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding  # spreadsheets write a byte order mark first
    return {"sep": mark, "encoding": known, "skipinitialspace": True, **exact_numbers()}


def exact_numbers() -> dict[str, str]:
    """Return the arguments by which pandas reads the nearest number: since 3.1 it always does, and knows no others."""
    major, minor = need("pandas").__version__.split(".")[:2]
    return {} if (int(major), int(minor)) >= (3, 1) else {"float_precision": "round_trip"}


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
    except csv.Error as error:
        raise InvalidInputError(f"{source} cannot be read as a table: {one_line(error)}.") from None
    except errors.ParserError as error:
        if LOST_INTERRUPT in str(error):
            raise KeyboardInterrupt from None
        reason = one_line(error).removeprefix("Error tokenizing data. C error: ")
        raise InvalidInputError(f"{source} cannot be read as a table: {reason}.") from None


class TextTable:
    """A table of text whose header has been read, and whose rows come in batches."""

    def __init__(self, source: DataFile, content: Any) -> None:
        self.source = source
        self.options = reading_options(source.format, source.separator, source.encoding, source.decimal)
        self.text = Replayed(content)
        header = first_row(source.shown, self.text, self.options, source.encoding)
        check_column_names(source.shown, header, self.options["sep"])
        self.text.rewind()
        self.header = [name or f"Unnamed: {j}" for j, name in enumerate(header)]

    def batches(self, rows: int | None, text: Iterable[str], stack: ExitStack) -> Iterator[pd.DataFrame]:
        """Yield data frames of `rows` rows (None: one with all of them); the columns `text` keep their spelling."""
        source = self.source
        with explained(source.shown, source.encoding):
            reader = stack.enter_context(
                need("pandas").read_csv(
                    self.text,
                    iterator=True,
                    decimal=source.decimal,
                    na_values=list(source.missing),
                    dtype=dict.fromkeys(text, str),
                    low_memory=False,
                    **self.options,
                )
            )
        seen = 0
        while True:
            with explained(source.shown, source.encoding):
                try:
                    frame = reader.get_chunk(rows)
                except StopIteration:
                    return
            if type(frame.index).__name__ != "RangeIndex" or (len(frame) and frame.index[0] != seen):
                raise InvalidInputError(f"{source.shown} has rows with more fields than its header has names.")
            seen += len(frame)
            yield frame


def first_row(source: str, text: Any, options: dict[str, Any], encoding: str) -> list[str]:
    """Read the header unchanged: pandas would rename columns of the same name, and take "NA" for a missing one."""
    with explained(source, encoding):
        codecs.lookup(options["encoding"])
        lines = io.TextIOWrapper(io.BufferedReader(text), encoding=options["encoding"], newline="")
        try:
            rows: Iterator[list[str]] = map(str.split, lines)
            if len(options["sep"]) == 1:
                rows = csv.reader(lines, delimiter=options["sep"], skipinitialspace=True)
            row = next(filter(None, rows), None)
        finally:
            lines.detach().detach()  # or the end of the wrappers would close the stream, which may be read again
    if row is None:
        raise InvalidInputError(f"{source} is empty.")
    return row


def check_column_names(source: str, header: list[str], separator: str) -> None:
    """Raise an error if the header looks like one column by mistake, or if two columns have the same name."""
    names = [name for name in header if name]
    if len(names) == 1:
        other = next((mark for mark in LIKELY_SEPARATORS if mark in names[0] and mark != separator), None)
        if other is not None:
            word = "tab" if other == "\t" else f"'{other}'"
            raise InvalidInputError(f"{source} has a single column, {quoted(names[0])}; add --separator {word}.")
    refuse_twice(source, names)


def refuse_twice(source: str, names: list[str]) -> None:
    """Raise an error if two columns have the same name: columns are found by name."""
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise InvalidInputError(f"{source} has more than one column named {quoted(twice)}; give them different names.")
