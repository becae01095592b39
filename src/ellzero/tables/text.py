"""Tables of text (CSV): separators and encodings, checks of the header, and errors in one sentence."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import one_line, quoted
from ellzero.tables.optional import need
from ellzero.tables.source import DataFile
from ellzero.tables.streams import Replayed, Sought

if TYPE_CHECKING:
    import pandas as pd

SEPARATORS = {"tab": "\t", r"\t": "\t", "space": r"\s+", " ": r"\s+"}
UNUSABLE = '"\n\r\0'  # as separators: they have another meaning
LIKELY_SEPARATORS = "\t;|,"
SNIFFED = 1 << 16
"""Bytes from which separator and decimal mark are guessed."""
COMMA_NUMBER = re.compile(r"\s*[+-]?\d+,(\d+)(?:[eE][+-]?\d+)?\s*")
POINT_NUMBER = re.compile(r"\s*[+-]?\d*\.\d+(?:[eE][+-]?\d+)?\s*")
LOST_INTERRUPT = "Calling read(nbytes) on source failed"
"""The text of the error into which pandas turns Ctrl-C while it reads: its parser loses exceptions that have no value."""


def reading_options(kind: str, separator: str | None, encoding: str, decimal: str | None = None) -> dict[str, Any]:
    """Return the arguments of pandas' `read_csv` for a file of this kind, "csv" or "tsv"."""
    given = separator if separator is not None else "\t" if kind == "tsv" else ","
    mark = SEPARATORS.get(given, given)
    if (len(mark) != 1 and mark != r"\s+") or mark in UNUSABLE:
        raise InvalidInputError(f"separator must be one character, 'tab' or 'space', got {given!r}.")
    if decimal is not None and (len(decimal) != 1 or not decimal.isascii() or decimal.isalnum() or decimal in f"{UNUSABLE}+-"):
        raise InvalidInputError(f"decimal must be one character, such as ',', got {decimal!r}.")
    if decimal == mark:
        raise InvalidInputError(f"decimal and separator must be different, both are {decimal!r}; name the other separator.")
    return {"sep": mark, "encoding": python_encoding(encoding), "skipinitialspace": True, **exact_numbers()}


def python_encoding(name: str) -> str:
    """Return the name of an encoding for Python; spreadsheets write a byte order mark before UTF-8."""
    return "utf-8-sig" if name.lower() in ("utf-8", "utf8") else name


def likely_separator(lines: list[str]) -> str:
    """Return the separator by which all first lines have the same number of fields, or else that with most in the header."""
    header = dict.fromkeys(LIKELY_SEPARATORS, 1)
    for mark in LIKELY_SEPARATORS:
        widths = [len(row) for row in split_rows(lines, mark)]
        if len({*widths}) == 1 and widths[0] > 1:
            return mark
        header[mark] = max(widths[:1], default=1)
    most = max(LIKELY_SEPARATORS, key=lambda mark: header[mark])
    if header[most] > 1:
        return most
    words = {len(line.split()) for line in lines}
    return "space" if len(words) == 1 and words != {1} else ","


def likely_decimal(lines: list[str], mark: str) -> str:
    """Return a comma if there are numbers with decimal commas and none with a point; "1,234" might also be a thousand."""
    fields = [field for row in split_rows(lines[1:], mark) for field in row]
    places = [len(found[1]) for found in map(COMMA_NUMBER.fullmatch, fields) if found]
    return "," if {*places} - {3} and not any(map(POINT_NUMBER.fullmatch, fields)) else "."


def split_rows(lines: list[str], mark: str) -> list[list[str]]:
    """Return the fields of lines; of lines that are no table, nothing."""
    try:
        return list(csv.reader(lines, delimiter=mark, skipinitialspace=True)) if len(mark) == 1 else [*map(str.split, lines)]
    except csv.Error:
        return []


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
        self.sought = Sought(content, source.missing, source.encoding)
        self.text = Replayed(self.sought)
        separator, self.decimal = self.sniffed()
        self.options = reading_options(source.format, separator, source.encoding, source.decimal)
        if self.options["sep"] == r"\s+":
            self.sought.absent = {}  # where words end, it cannot tell
        header = first_row(source.shown, self.text, self.options, source.encoding)
        check_column_names(source.shown, header, self.options["sep"])
        self.text.rewind()
        self.header = [name or f"Unnamed: {j}" for j, name in enumerate(header)]

    def sniffed(self) -> tuple[str | None, str]:
        """Return separator and decimal mark as the user gave them, or else as the first lines suggest."""
        source, start = self.source, self.text.start(SNIFFED)
        with explained(source.shown, source.encoding):
            lines = start.decode(python_encoding(source.encoding), "ignore").splitlines()
        if len(start) == SNIFFED and len(lines) > 1:
            lines.pop()  # it is cut off
        lines = [line for line in lines if line.strip()]
        separator = source.separator
        if separator is None and source.format == "csv":
            separator = likely_separator(lines)
        known = reading_options(source.format, separator, source.encoding)["sep"]
        return separator, likely_decimal(lines, known) if source.decimal is None else source.decimal

    @property
    def notes(self) -> list[str]:
        """How the table was read, where that is a guess, and words for missing values that it does not have."""
        guessed = []
        if self.source.separator is None and self.source.format == "csv" and self.options["sep"] != ",":
            guessed.append(f"fields are separated by {self.separator_in_words()}")
        if self.source.decimal is None and self.decimal != ".":
            guessed.append(f"the decimal mark is '{self.decimal}'")
        return [f"{self.source.shown}: {', '.join(guessed)}."] if guessed else []

    def separator_in_words(self) -> str:
        """Return the separator as a message names it."""
        mark = self.options["sep"]
        return {"\t": "tabs", r"\s+": "spaces"}.get(mark, f"'{mark}'")

    def batches(self, rows: int | None, text: Iterable[str], stack: ExitStack) -> Iterator[pd.DataFrame]:
        """Yield data frames of `rows` rows (None: one with all of them); the columns `text` keep their spelling."""
        source = self.source
        with explained(source.shown, source.encoding):
            reader = stack.enter_context(
                need("pandas").read_csv(
                    self.text,
                    iterator=True,
                    decimal=self.decimal,
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
