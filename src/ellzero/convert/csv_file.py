"""CSV and TSV: rows of text, in tiles."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.convert.content import DenseContent, Report, refuse_missing
from ellzero.convert.labels import Labels
from ellzero.convert.plan import UNLABELLED, Plan
from ellzero.convert.streams import Replayed, Stream
from ellzero.convert.transposing import DenseTiles
from ellzero.convert.writing import Contents, fitting
from ellzero.errors import InvalidInputError
from ellzero.tables.columns import check_presence, is_plain, kind_of, number_matrix
from ellzero.tables.optional import need
from ellzero.tables.target import column_labels, column_response
from ellzero.tables.text import check_header, explained, reading_options

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_csv"]

CELL_BYTES = 64
"""What a field takes while it is read: its text, its place in the text, its number and two copies of that."""


def read_csv(plan: Plan, folder: Path, stack: ExitStack, report: Report) -> DenseContent:
    """Read all rows into tiles; columns come from there."""
    frames = chunks(plan, stack, report)
    first = next(frames)
    if not len(first):
        raise InvalidInputError(f"{plan.shown} has no rows.")
    rows = Rows(plan, first, folder, stack)
    rows.append(first)
    del first
    for frame in frames:
        rows.append(frame)
    return rows.content()


def chunks(plan: Plan, stack: ExitStack, report: Report) -> Iterator[pd.DataFrame]:
    """The table, so many rows at a time that reading them stays within memory."""
    pandas = need("pandas")
    options = reading_options(plan.format, plan.separator, plan.encoding)
    stream = Stream(plan.source, stack)
    text = Replayed(stream.content)
    with explained(plan.shown, plan.encoding):
        header = pandas.read_csv(text, header=None, nrows=1, dtype=str, **options)
        check_header(plan.shown, header.iloc[0].tolist(), options["sep"])
        text.rewind()
        reader = stack.enter_context(
            pandas.read_csv(
                text,
                chunksize=max(1, plan.memory // (CELL_BYTES * header.shape[1])),
                decimal=plan.decimal,
                na_values=list(plan.missing),
                dtype={} if plan.target is None else {plan.target: str},
                low_memory=False,
                **options,
            )
        )
    seen = 0
    while True:
        with explained(plan.shown, plan.encoding):
            frame = next(reader, None)
        if frame is None:
            return
        if type(frame.index).__name__ != "RangeIndex" or (len(frame) and frame.index[0] != seen):
            raise InvalidInputError(f"{plan.shown} has rows with more fields than its header has names.")
        seen += len(frame)
        report(stream.fraction)
        yield frame
        del frame


class Rows:
    """Rows of a table as numbers, with what must hold for all of them."""

    def __init__(self, plan: Plan, frame: pd.DataFrame, folder: Path, stack: ExitStack) -> None:
        self.plan = plan
        asked = [] if plan.target is None else [plan.target]
        check_presence(frame, asked, plan.shown, "target: ")
        check_presence(frame, list(plan.drop), plan.shown, "drop: ")
        self.left_out = {*asked, *plan.drop}
        self.names = [str(name) for name in frame.columns if name not in self.left_out]
        if not self.names:
            raise InvalidInputError(f"{plan.shown} has no columns beside the target.")
        self.truth = np.zeros(len(self.names), dtype=bool)  # columns that have held truth values
        self.number = np.zeros(len(self.names), dtype=bool)  # columns that have held numbers
        self.bases = {0, 1} if self.names[0].startswith("Unnamed: ") else set()  # from which the first column may count rows
        self.labels = Labels()
        self.seen = 0  # rows of the file
        # Missing values are filled when a whole column is at hand; only then are its numbers held against the stored type.
        self.contents = Contents(0, len(self.names), np.dtype(plan.dtype or "float64"), self.names)
        self.tiles = DenseTiles(
            folder / "rows", len(self.names), self.contents.dtype if plan.impute is None else np.dtype(np.float64), stack
        )

    def append(self, frame: pd.DataFrame) -> None:
        """The next rows of the file."""
        plan = self.plan
        self.check_counting(frame)
        start = self.seen
        self.seen += len(frame)
        if plan.target is not None:
            frame = self.labelled(frame, start)
        if not len(frame):
            return
        for name, dtype in zip(frame.columns, frame.dtypes, strict=True):
            if not is_plain(dtype) and name not in self.left_out and kind_of(frame[name]) != "number":
                refuse_text(frame[name], plan, start)
        values: NDArray[Any] = number_matrix(frame, self.names, plan.shown)
        self.check_kinds(values, frame)
        if plan.impute is None:
            for j in np.flatnonzero(np.isnan(values).any(axis=0))[:1]:
                refuse_missing(plan.shown, self.contents.label(int(j)), np.isnan(values[:, j]), start)
            values = fitting(values, self.contents, row=start)
        self.tiles.append(values)

    def labelled(self, frame: pd.DataFrame, start: int) -> pd.DataFrame:
        """The rows that have a target, which is kept."""
        plan = self.plan
        absent = frame[plan.target].isna().to_numpy()
        if absent.any():
            if not plan.drop_unlabelled:
                row = start + int(np.argmax(absent)) + 1
                raise InvalidInputError(f"target {plan.target!r} of {plan.shown} is missing in row {row}; {UNLABELLED}")
            frame = frame[~absent]
        if len(frame):
            column = frame[plan.target]
            response = plan.regression
            self.labels.append(column_response(column, plan.shown, plan.decimal) if response else column_labels(column))
        return frame

    def check_kinds(self, values: NDArray[np.float64], frame: pd.DataFrame) -> None:
        """Refuse columns that are truth values here and numbers there: they are text, as a whole."""
        kinds = {name: dtype.kind for name, dtype in zip(frame.columns, frame.dtypes, strict=True)}
        truth = np.array([kinds[name] in "bO" for name in self.names])
        valued = ~np.isnan(values).all(axis=0)
        self.truth |= valued & truth
        self.number |= valued & ~truth
        if (self.truth & self.number).any():
            name = self.names[int(np.argmax(self.truth & self.number))]
            raise InvalidInputError(f"column {name!r} of {self.plan.shown} holds numbers and truth values; drop it.")

    def check_counting(self, frame: pd.DataFrame) -> None:
        """Whether a first column without a name still counts the rows."""
        if self.bases:
            column = frame[self.names[0]]
            rows = np.arange(self.seen, self.seen + len(frame))
            whole = column.dtype.kind in "iu"
            self.bases = {base for base in self.bases if whole and bool((column.to_numpy() == rows + base).all())}

    def content(self) -> DenseContent:
        """All columns; one that only counts the rows is no feature."""
        plan, tiles = self.plan, self.tiles
        if not tiles.n:
            raise InvalidInputError(f"{plan.shown} has no rows with a target.")
        skip = int(bool(self.bases))
        if skip:
            warnings.warn(f"the first column of {plan.shown} has no name and counts the rows; it is left out.", stacklevel=4)
        return DenseContent(
            source=plan.shown,
            n=tiles.n,
            p=tiles.p - skip,
            names=self.names[skip:],
            y=None if plan.target is None else self.labels.joined(),
            target=plan.target,
            dtype=np.dtype(np.float64),
            pieces=lambda first, last: tiles.pieces(first + skip, last + skip),
        )


def refuse_text(column: pd.Series, plan: Plan, start: int) -> None:
    """Name a column of text, and what is no number in it."""
    numbers = need("pandas").to_numeric(column, errors="coerce")
    odd = np.flatnonzero((numbers.isna() & column.notna()).to_numpy())
    i = int(odd[0]) if len(odd) else 0
    raise InvalidInputError(
        f"column {column.name!r} of {plan.shown} must hold numbers, got {column.iloc[i]!r} in row {start + i + 1}; drop it, or "
        "say that the word means a missing value."
    )
