"""Data files, read unchanged: tables (CSV, Parquet, Excel), matrices (svmlight, npz); column stores stay on the disk."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.base.progress import ProgressCallback
from ellzero.base.quoting import in_bytes, quoted
from ellzero.base.reading import Malformed, check_shape, most_bytes
from ellzero.design.column_store import ColumnStore, open_columns
from ellzero.tables.arrays import check_is_matrix, open_archive
from ellzero.tables.columns import is_number
from ellzero.tables.formats import FORMATS as TABLES
from ellzero.tables.formats import STANDARD_INPUT
from ellzero.tables.optional import need
from ellzero.tables.parquet import open_parquet
from ellzero.tables.source import DataFile, format_by_name
from ellzero.tables.sparse_archive import is_sparse, read_sparse
from ellzero.tables.streams import Stream, Watched, readable, undamaged
from ellzero.tables.svmlight import svmlight_batches, whole_numbers
from ellzero.tables.text import TextTable, refuse_twice

if TYPE_CHECKING:
    import pandas as pd

FORMATS = {**TABLES, "excel": (".xlsx",), "columns": (".columns", ".npy")}
TEXT_BYTES = 1 << 24  # of svmlight, parsed at a time
LARGE = 1 << 26  # bytes of a table of text that take seconds to read
WIDE = 2000  # columns of a table; beyond that, pandas' overhead for each column exceeds the time for the numbers


@dataclass(frozen=True, kw_only=True)
class Reading(DataFile):
    """A file, and options for reading it."""

    text: frozenset[str] = frozenset()  # columns that are read as text, even if they look like numbers
    first: int | None = None  # the first index of svmlight features, 0 or 1; None: as the file suggests
    n_features: int | None = None  # of a svmlight file; None: as many as there are
    progress: ProgressCallback | None = None  # of reading a large table of text


@dataclass(frozen=True)
class Table:
    """A data file with named columns."""

    source: str
    frame: pd.DataFrame
    decimal: str = "."
    notes: tuple[str, ...] = ()  # how it was read, where the file had to tell


@dataclass(frozen=True)
class Matrix:
    """A data file whose columns have no names, and the other arrays that it holds."""

    source: str
    X: Any  # a dense or sparse matrix
    arrays: Mapping[str, NDArray[Any]]  # by name; the labels of svmlight are its "y"
    first: int = 0  # index of the first feature in the file
    labelled: bool = False  # svmlight: its lines begin with the label


@dataclass(frozen=True)
class Columns:
    """A column store, which is not read into memory."""

    source: str
    X: ColumnStore


def read_data(how: Reading) -> Table | Matrix | Columns:
    """Read a data file ("-" is standard input), or open a column store."""
    if how.format == "columns":
        if how.source == STANDARD_INPUT:
            raise InvalidInputError("a column store cannot be read from standard input; name its folder.")
        return Columns(how.source, open_columns(how.source))
    with undamaged(how.shown), ExitStack() as stack:
        stream = Stream(how.source, stack, in_memory=True)
        found = READERS[how.format](how, stream, stack)
    if isinstance(found, Table) and not len(found.frame):
        raise InvalidInputError(f"{how.shown} has no rows.")
    return found


def format_to_read(name: str) -> str:
    """Return the format that a file's name suggests; standard input is CSV."""
    if os.path.isdir(name) and (
        os.path.exists(os.path.join(name, "about.json")) or name.lower().rstrip("/\\").endswith(FORMATS["columns"])
    ):
        return "columns"
    return format_by_name(name, FORMATS, "add --format")


def read_text(how: Reading, stream: Stream, stack: ExitStack) -> Table:
    """Read a CSV file, whose header must have different names."""
    content = stream.content
    if how.progress is not None and stream.size >= LARGE:
        content = Watched(stream, how.progress)
    text = TextTable(how, content)
    (frame,) = text.batches(None, how.text, stack)
    frame = frame.copy() if frame.shape[1] > WIDE else frame  # one array instead of one for each column, which all take time
    return Table(how.shown, frame, text.decimal, (*text.notes, *absent_words(how, text.sought.absent)))


def read_parquet(how: Reading, stream: Stream, stack: ExitStack) -> Table:
    """Read a Parquet file."""
    need("pandas")
    file = open_parquet(stream.raw, how.shown, stack)
    known = file.metadata
    with readable(how.shown, "Parquet"):
        if 8 * known.num_rows * known.num_columns > most_bytes(stream.size):
            raise Malformed(
                f"it claims {known.num_rows} rows of {known.num_columns} columns, too many for {in_bytes(stream.size)}; "
                "ellzero convert reads it with little memory"
            )
        frame = file.read().to_pandas().reset_index(drop=True)
    frame.columns = frame.columns.map(str)
    return without_words(how, frame)


def read_excel(how: Reading, stream: Stream, stack: ExitStack) -> Table:
    """Read the first sheet of an Excel file, whose first row holds the names of the columns."""
    pandas = need("pandas")
    need("openpyxl", "excel")
    with readable(how.shown, "Excel (.xlsx)"):
        with zipfile.ZipFile(stream.raw) as archive:
            if sum(member.file_size for member in archive.infolist()) > most_bytes(stream.size):
                raise Malformed(f"it claims more than {in_bytes(stream.size)} of Excel can hold")
        header = pandas.read_excel(stream.raw, header=None, nrows=1, engine="openpyxl", dtype=str, keep_default_na=False)
        frame = pandas.read_excel(stream.raw, engine="openpyxl", dtype=dict.fromkeys(how.text, str))
    if header.empty:
        raise InvalidInputError(f"{how.shown} is empty.")
    refuse_twice(how.shown, [name for name in header.iloc[0].tolist() if name])
    frame.columns = frame.columns.map(str)
    return without_words(how, frame)


def without_words(how: Reading, frame: pd.DataFrame) -> Table:
    """Return a table of cells that have types, in which words for a missing value are missing."""
    absent = []
    for word in how.missing:
        number = [float(word)] if is_number(word) else []
        there = frame.isin([word, *number])
        if there.to_numpy().any():
            frame = frame.mask(there).infer_objects()
        else:
            absent.append(word)
    return Table(how.shown, frame, notes=absent_words(how, absent))


def absent_words(how: Reading, absent: Iterable[str]) -> tuple[str, ...]:
    """Return a note on words for a missing value that a file does not have."""
    words = " or ".join(map(quoted, absent))
    return (f"--missing: no field of {how.shown} is {words}.",) if words else ()


def read_svmlight(how: Reading, stream: Stream, stack: ExitStack) -> Matrix:
    """Read sparse rows with their labels.

    Indices begin at `how.first`; if that is None, at 1 in files in which no feature has the index 0, at 0 in others.
    """
    parts: list[Any] = []
    labels: list[NDArray[Any]] = []
    known = 0 if how.n_features is None else how.n_features + (how.first or 0)
    width = known
    for X, y, _ in svmlight_batches(stream.content, how.shown, TEXT_BYTES):
        width = max(width, X.shape[1])
        if known and width > known:
            raise InvalidInputError(f"{how.shown} has features beyond the {how.n_features} that the model knows.")
        with readable(how.shown, "svmlight"):
            check_shape((sum(part.shape[0] for part in parts), width - known), stream.size)
        parts.append(X)
        labels.append(y)
    if not any(part.shape[0] for part in parts):
        raise InvalidInputError(f"{how.shown} has no rows.")
    for part in parts:
        part.resize((part.shape[0], width))
    rows, y = sparse.vstack(parts, format="csc"), np.concatenate(labels)
    empty = rows.indptr[1] == 0
    if how.first == 1 and not empty:
        raise InvalidInputError(f"{how.shown} has features with index 0, the model was fitted on indices that begin at 1.")
    first = how.first if how.first is not None else int(empty and width > 1)
    return Matrix(how.shown, rows[:, first:], {"y": whole_numbers(y)}, first, labelled=True)


def read_npz(how: Reading, stream: Stream, stack: ExitStack) -> Matrix:
    """Read arrays by name (X is the matrix), or a matrix of scipy.sparse.save_npz."""
    archive = open_archive(stream.raw, how.shown, stack)
    with readable(how.shown, "npz"):
        if is_sparse(archive):
            return Matrix(how.shown, sparse.csc_matrix(read_sparse(archive)), {})
        arrays = {name: archive.read(name) for name in archive.members}
    X = arrays.pop("X")
    check_is_matrix(X.shape, X.dtype, f"X in {how.shown}")
    return Matrix(how.shown, X, arrays)


READERS: dict[str, Callable[[Reading, Stream, ExitStack], Any]] = {
    "csv": read_text,
    "tsv": read_text,
    "parquet": read_parquet,
    "excel": read_excel,
    "svmlight": read_svmlight,
    "npz": read_npz,
}
