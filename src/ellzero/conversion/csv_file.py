"""Reader of CSV and TSV: rows of text become numbers in tiles on the disk."""

from __future__ import annotations

import warnings
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import LONGEST_PATH, shown
from ellzero.conversion.checking import Contents, in_stored_type
from ellzero.conversion.content import DenseContent, Report, refuse_gap
from ellzero.conversion.csv_parts import Part, narrow_parts, wide_parts
from ellzero.conversion.labels import Labels
from ellzero.conversion.plan import Plan
from ellzero.conversion.transposing import DenseTiles
from ellzero.tables.streams import Stream
from ellzero.tables.text import TextTable

__all__ = ["rows_of_csv"]

WIDE = 2000
"""Beyond this many columns, pandas' overhead for each column of a part exceeds the time for the numbers themselves."""


def rows_of_csv(plan: Plan, folder: Path, stack: ExitStack, report: Report) -> DenseContent:
    """Read all rows into tiles, from which the columns are then read."""
    plan.refuse("target_file")
    stream = Stream(plan.source, stack)
    table = TextTable(plan, stream.content)
    rows = Rows(plan, table.header, folder, stack)
    wide = len(table.header) > WIDE and len(table.options["sep"]) == 1
    for part in (wide_parts if wide else narrow_parts)(plan, table, rows.names, stack):
        rows.append(part)
        report(stream.fraction)
    return rows.content()


class Rows:
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
            raise InvalidInputError(f"column {name!r} of {self.plan.shown} holds numbers and truth values; drop it.")

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
            dtype=np.dtype(np.float64),
            pieces=lambda first, last: tiles.pieces(first + skip, last + skip),
        )
