"""Reader of CSV and TSV: rows of text become numbers in tiles on the disk.

pandas reads some rows at a time as they stand or, for very many columns, all fields of some rows as one long column. Both ways
parse numbers as the command line does.
"""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import LONGEST_PATH, quoted, shown
from ellzero.conversion.checking import Contents, in_stored_type
from ellzero.conversion.content import DenseContent, Report, refuse_gap
from ellzero.conversion.labels import Labels
from ellzero.conversion.plan import Plan
from ellzero.conversion.transposing import DenseTiles
from ellzero.tables.columns import is_plain, kind_of, number_matrix, refuse_infinite
from ellzero.tables.optional import need
from ellzero.tables.streams import Stream
from ellzero.tables.text import TextTable, exact_numbers, explained

if TYPE_CHECKING:
    import pandas as pd

WIDE = 2000
"""Beyond this many columns, pandas' overhead for each column of a part exceeds the time for the numbers themselves."""
NARROW_BYTES = 64
"""Bytes of a field while pandas reads it: its text, its place in the text, its number and two copies of that."""
WIDE_BYTES = 192
"""Bytes of a field of a wide table, where it is a separate string in between."""
TRUTH = {**dict.fromkeys(("True", "TRUE", "true"), "1"), **dict.fromkeys(("False", "FALSE", "false"), "0")}
NO_SEPARATOR = "\x1f"


def rows_of_csv(plan: Plan, folder: Path, stack: ExitStack, report: Report) -> DenseContent:
    """Read all rows into tiles, from which the columns are then read."""
    plan.refuse("target_file")
    stream = Stream(plan.source, stack)
    table = TextTable(plan, stream.content)
    plan = replace(plan, decimal=table.decimal)
    rows = TextRows(plan, table.header, folder, stack)
    wide = len(table.header) > WIDE and len(table.options["sep"]) == 1
    for part in (wide_parts if wide else narrow_parts)(plan, table, rows.names, stack):
        rows.append(part)
        report(stream.fraction)
    return rows.content()


class TextRows:
    """The rows of a table as numbers, with the checks that concern all rows."""

    def __init__(self, plan: Plan, header: list[str], folder: Path, stack: ExitStack) -> None:
        self.plan = plan
        self.names = plan.features_in(header)
        self.truth = np.zeros(len(self.names), dtype=bool)  # columns that have held truth values
        self.number = np.zeros(len(self.names), dtype=bool)  # columns that have held numbers
        # The numbers from which an unnamed first column may count the rows; a row that does not fit removes them.
        self.bases = {0, 1} if self.names[0].startswith("Unnamed: ") else set()
        self.labels = Labels(plan)
        self.seen = 0  # rows of the file so far
        # With `impute`, missing values are filled once the whole column is at hand; until then its numbers stay float64.
        self.contents = Contents(0, len(self.names), np.dtype(plan.dtype or "float64"), self.names)
        self.tiles = DenseTiles(
            folder / "rows", len(self.names), self.contents.dtype if plan.impute is None else np.dtype(np.float64), stack
        )

    def append(self, part: Part) -> None:
        """Check the next rows and write them to the tiles."""
        plan, values, start = self.plan, part.values, self.seen
        self.seen += len(values)
        self.check_kinds(part)
        rows = np.arange(start, self.seen)
        self.bases = {base for base in self.bases if (values[:, 0] == rows + base).all()}
        for target in part.targets:
            known = self.labels.append(target)
            values = values if known.all() else values[known]
            rows = rows[known]
        if not len(values):
            return
        if plan.impute is None:
            for j in np.flatnonzero(np.isnan(values).any(axis=0))[:1].tolist():
                first = int(rows[np.argmax(np.isnan(values[:, j]))])
                refuse_gap(plan.shown, self.contents.label(j), first)
            values = in_stored_type(values, self.contents, row=start)
        self.tiles.append(values)

    def check_kinds(self, part: Part) -> None:
        """Raise an error about a column that holds truth values in some rows and numbers in others."""
        self.truth |= part.truth
        self.number |= part.number
        if (self.truth & self.number).any():
            name = self.names[int(np.argmax(self.truth & self.number))]
            raise InvalidInputError(f"column {name!r} of {self.plan.shown} mixes numbers and booleans; drop it.")

    def content(self) -> DenseContent:
        """Return the columns; an unnamed first one that only counts the rows is left out."""
        plan, tiles = self.plan, self.tiles
        y = self.labels.joined() if plan.targets else None
        if not tiles.n:
            raise InvalidInputError(f"{plan.shown} has no rows.")
        skip = int(bool(self.bases) and len(self.names) > 1)
        if skip:
            source = shown(plan.shown, LONGEST_PATH)
            warnings.warn(f"the first column of {source} has no name and counts the rows; it is left out.", stacklevel=4)
        return DenseContent(
            source=plan.shown,
            n=tiles.n,
            p=tiles.p - skip,
            names=self.names[skip:],
            y=y,
            target=plan.target,
            scratch_bytes=tiles.size,
            pieces=lambda first, last: tiles.pieces(first + skip, last + skip),
        )


@dataclass(frozen=True)
class Part:
    """Some rows: numbers (NaN: missing), which columns hold truth values or numbers in them, and the target as text."""

    values: NDArray[np.float64]
    truth: NDArray[np.bool_]
    number: NDArray[np.bool_]
    targets: list[pd.Series]  # one, or none


def narrow_parts(plan: Plan, table: TextTable, names: list[str], stack: ExitStack) -> Iterator[Part]:
    """Yield parts of a table with few columns, each of as many rows as memory allows."""
    seen = 0
    for frame in table.batches(max(1, plan.memory // (NARROW_BYTES * len(table.header))), plan.targets, stack):
        if len(frame):
            frame.columns = table.header
            yield narrow_part(frame, plan, names, seen)
        seen += len(frame)
        del frame


def narrow_part(frame: pd.DataFrame, plan: Plan, names: list[str], seen: int) -> Part:
    """Return the numbers of a data frame; a column of text is an error."""
    types = dict(zip(frame.columns, frame.dtypes, strict=True))
    for name in names:
        if not is_plain(types[name]) and kind_of(frame[name]) != "number":
            refuse_words(frame[name], name, plan, seen)
    values = number_matrix(frame, names, plan.shown)
    truth = np.array([types[name].kind in "bO" for name in names])
    valued = ~np.isnan(values).all(axis=0)
    return Part(values, valued & truth, valued & ~truth, [frame[name] for name in plan.targets])


def refuse_words(column: pd.Series, name: str, plan: Plan, seen: int) -> None:
    """Raise an error that names a column of text and the first entry that is no number."""
    numbers = need("pandas").to_numeric(column, errors="coerce")
    odd = np.flatnonzero((numbers.isna() & column.notna()).to_numpy())
    i = int(odd[0]) if len(odd) else 0
    where, found = f"column {quoted(name)} of {plan.shown}", quoted(column.iloc[i])
    raise InvalidInputError(
        f"{where} must hold numbers, got {found} in row {seen + i + 1}; drop it, or say that the word means a missing value."
    )


def wide_parts(plan: Plan, table: TextTable, names: list[str], stack: ExitStack) -> Iterator[Part]:
    """Yield parts of a table with very many columns: rows are split here, and pandas parses all fields as one column."""
    options, width, seen = table.options, len(table.header), 0
    lines = io.TextIOWrapper(io.BufferedReader(table.text), encoding=options["encoding"], newline="")
    place = {name: j for j, name in enumerate(table.header)}
    chosen = itemgetter(*(place[name] for name in names))  # returns a tuple, since there is more than one name
    most = max(1, plan.memory // (WIDE_BYTES * width))
    fields: list[str] = []
    targets: list[str] = []
    with explained(plan.shown, plan.encoding):
        rows = csv.reader(lines, delimiter=options["sep"], skipinitialspace=True)
        next(filter(None, rows))  # the header
    while True:
        with explained(plan.shown, plan.encoding):
            row = next(rows, None)
        if row is not None and len(row) > width:
            raise InvalidInputError(
                f"{plan.shown} cannot be read as a table: Expected {width} fields in line {rows.line_num}, saw {len(row)}."
            )
        if row:
            row += [""] * (width - len(row))
            fields += chosen(row)
            targets += [row[place[name]] for name in plan.targets]
        count = len(fields) // len(names)
        if count == most or (row is None and count):
            yield wide_part(fields, targets, plan, names, seen)
            seen += count
            fields, targets = [], []
        if row is None:
            return


def wide_part(fields: list[str], targets: list[str], plan: Plan, names: list[str], seen: int) -> Part:
    """Return the numbers of some rows of a wide table."""
    p = len(names)
    shape = (len(fields) // p, p)
    column = as_column(fields, plan)
    truth: NDArray[np.bool_] = np.zeros(shape, dtype=bool)
    if column.dtype.kind not in "iuf":  # there are words among the fields, perhaps truth values
        truth = np.array([field in TRUTH for field in fields]).reshape(shape)
        column = as_column([TRUTH.get(field, field) for field in fields], plan)
    if column.dtype.kind not in "iuf":
        numbers = need("pandas").to_numeric(column, errors="coerce")
        j = int(np.argmax((numbers.isna() & column.notna()).to_numpy())) % p
        refuse_words(column.iloc[j::p], names[j], plan, seen)
    values = np.asfortranarray(column.to_numpy(dtype=np.float64).reshape(shape))
    for j in np.flatnonzero(np.isinf(values).any(axis=0))[:1].tolist():
        refuse_infinite(values[:, j], names[j], plan.shown)
    number = (~np.isnan(values) & ~truth).any(axis=0)
    labels = [as_column(targets, plan, dtype=str).rename(name) for name in plan.targets]
    return Part(values, np.asarray(truth.any(axis=0)), number, labels)


def as_column(fields: list[str], plan: Plan, dtype: Any = None) -> pd.Series:
    """Parse the fields by pandas, one below the other."""
    with explained(plan.shown, plan.encoding):
        column = need("pandas").read_csv(
            io.StringIO("\n".join(fields) + "\n"),
            header=None,
            names=["field"],
            sep=NO_SEPARATOR,
            skip_blank_lines=False,
            quoting=csv.QUOTE_NONE,
            decimal=plan.decimal or ".",
            na_values=list(plan.missing),
            dtype=dtype,
            low_memory=False,
            **exact_numbers(),
        )["field"]
    if len(column) != len(fields):
        raise InvalidInputError(f"{plan.shown} has a field that goes over more than one line.")
    return column
