"""Parts of a table of text: some rows at a time, read by pandas as they stand or, for very many columns, as one long column.

Both ways parse numbers as the command line does, by pandas.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import quoted
from ellzero.conversion.plan import Plan
from ellzero.tables.columns import is_plain, kind_of, number_matrix, refuse_infinite
from ellzero.tables.optional import need
from ellzero.tables.text import TextTable, exact_numbers, explained

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Part", "narrow_parts", "wide_parts"]

NARROW_BYTES = 64
"""Bytes of a field while pandas reads it: its text, its place in the text, its number and two copies of that."""
WIDE_BYTES = 192
"""Bytes of a field of a wide table, where it is a string of its own in between."""
TRUTH = {**dict.fromkeys(("True", "TRUE", "true"), "1"), **dict.fromkeys(("False", "FALSE", "false"), "0")}
NO_SEPARATOR = "\x1f"


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
            decimal=plan.decimal,
            na_values=list(plan.missing),
            dtype=dtype,
            low_memory=False,
            **exact_numbers(),
        )["field"]
    if len(column) != len(fields):
        raise InvalidInputError(f"{plan.shown} has a field that goes over more than one line.")
    return column
