"""Data files, read as they are: tables (CSV, Parquet, Excel), matrices (svmlight, npz); column stores stay on the disk."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.base.imports import whole_imports
from ellzero.base.quoting import in_bytes, one_line
from ellzero.base.reading import Archive, Malformed, check_shape, most_bytes, open_file, read_array
from ellzero.cli.files import open_input, text_stream
from ellzero.conversion.plan import by_content
from ellzero.conversion.streams import whole
from ellzero.design.column_store import ColumnStore, open_columns
from ellzero.tables.formats import FORMATS as TABLES
from ellzero.tables.formats import STANDARD_INPUT, format_by_name
from ellzero.tables.optional import need
from ellzero.tables.sparse_archive import is_sparse, read_sparse
from ellzero.tables.text import check_column_names, explained, first_row, reading_options, refuse_twice

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FORMATS", "Columns", "Matrix", "Reading", "Table", "load_array", "read_data"]

FORMATS = {**TABLES, "excel": (".xlsx",), "columns": (".columns", ".npy")}
WIDE = 2000  # columns of a table; beyond that, pandas' overhead for each column exceeds the time for the numbers


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Options for reading a file."""

    format: str | None = None  # None: by the file's name
    separator: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"
    missing: tuple[str, ...] = ()  # words for a missing value beside the usual ones
    text: frozenset[str] = frozenset()  # columns that are read as text, even if they look like numbers
    first: int | None = None  # the first index of svmlight features, 0 or 1; None: as the file suggests
    n_features: int | None = None  # of a svmlight file; None: as many as there are


@dataclass(frozen=True)
class Table:
    """A data file with named columns."""

    source: str
    frame: pd.DataFrame
    decimal: str = "."


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


def read_data(name: str, how: Reading) -> Table | Matrix | Columns:
    """Read a data file ("-" is standard input), or open a column store."""
    kind = format_of(name, how.format)
    if kind == "columns":
        if name == STANDARD_INPUT:
            raise InvalidInputError("a column store cannot be read from standard input; name its folder.")
        return Columns(name, open_columns(name))
    content = open_input(name)
    source = "standard input" if name == STANDARD_INPUT else name
    if kind == "svmlight":
        return read_svmlight(source, content, how)
    if kind == "npz":
        return read_npz(source, content)
    if kind == "excel":
        frame = read_excel(source, content, how)
    else:
        frame = read_parquet(source, content) if kind == "parquet" else read_csv(source, content, kind, how)
    if not len(frame):
        raise InvalidInputError(f"{source} has no rows.")
    return Table(source, frame, how.decimal)


def format_of(name: str, given: str | None) -> str:
    """Return the format that was given, or that the file's name suggests; standard input is CSV."""
    if given is not None:
        return given
    if os.path.isdir(name) and (os.path.exists(os.path.join(name, "about.json")) or has_ending(name, "columns")):
        return "columns"
    return by_content(name, format_by_name(name, FORMATS, "add --format"))


def has_ending(name: str, kind: str) -> bool:
    """Return whether a name ends as files or folders of this format do; a slash at its end is ignored."""
    return name.lower().rstrip("/\\").endswith(FORMATS[kind])


def read_csv(source: str, content: str | io.BytesIO, kind: str, how: Reading) -> pd.DataFrame:
    """Read a CSV file, whose header must have different names."""
    pandas = need("pandas")
    common = reading_options(kind, how.separator, how.encoding, how.decimal)
    with whole(source), explained(source, how.encoding), ExitStack() as stack:
        header = first_row(source, text_stream(source, content, stack), common, how.encoding)
        check_column_names(source, header, common["sep"])
        frame = pandas.read_csv(
            text_stream(source, content, stack),
            decimal=how.decimal,
            na_values=list(how.missing),
            dtype=dict.fromkeys(how.text, str),
            low_memory=False,
            **common,
        )
    if not (type(frame.index).__name__ == "RangeIndex" and frame.index.start == 0 and frame.index.step == 1):
        raise InvalidInputError(f"{source} has rows with more fields than its header has names.")
    return frame.copy() if frame.shape[1] > WIDE else frame  # one array in place of one for each column, which all take time


def read_parquet(source: str, content: str | io.BytesIO) -> pd.DataFrame:
    """Read a Parquet file."""
    pandas = need("pandas")
    need("pyarrow")
    parquet = need("pyarrow.parquet")
    try:
        known = parquet.read_metadata(content)
        size = content.getbuffer().nbytes if isinstance(content, io.BytesIO) else os.path.getsize(content)
        if 8 * known.num_rows * known.num_columns > most_bytes(size):
            raise Malformed(
                f"it claims {known.num_rows} rows of {known.num_columns} columns, too many for {in_bytes(size)}; "
                "ellzero convert reads it with little memory"
            )
        frame = pandas.read_parquet(content)
    except (FileNotFoundError, MemoryError):
        raise
    except Exception as error:  # pyarrow and pandas fail in many ways
        raise InvalidInputError(f"{source} cannot be read as Parquet: {one_line(error)}.") from None
    frame.columns = [str(name) for name in frame.columns]
    refuse_twice(source, list(frame.columns))
    return frame.reset_index(drop=True)


def read_excel(source: str, content: str | io.BytesIO, how: Reading) -> pd.DataFrame:
    """Read the first sheet of an Excel file, whose first row holds the names of the columns."""
    pandas = need("pandas")
    need("openpyxl", "excel")
    try:
        size = content.getbuffer().nbytes if isinstance(content, io.BytesIO) else os.path.getsize(content)
        with zipfile.ZipFile(content) as archive:
            if sum(member.file_size for member in archive.infolist()) > most_bytes(size):
                raise Malformed(f"it claims more than {in_bytes(size)} of Excel can hold")
        header = pandas.read_excel(content, header=None, nrows=1, engine="openpyxl", dtype=str, keep_default_na=False)
        missing, text = list(how.missing), dict.fromkeys(how.text, str)
        frame = pandas.read_excel(content, engine="openpyxl", na_values=missing, dtype=text)
    except (FileNotFoundError, MemoryError):
        raise
    except Exception as error:  # openpyxl and pandas fail in many ways
        raise InvalidInputError(f"{source} cannot be read as Excel (.xlsx): {one_line(error)}.") from None
    if header.empty:
        raise InvalidInputError(f"{source} is empty.")
    refuse_twice(source, [name for name in header.iloc[0].tolist() if name])
    frame.columns = [str(name) for name in frame.columns]
    return frame


def read_svmlight(source: str, content: str | io.BytesIO, how: Reading) -> Matrix:
    """Read sparse rows with their labels.

    Indices begin at `how.first`; if that is None, at 1 in files in which no feature has the index 0, at 0 in others.
    """
    with whole_imports():
        from sklearn.datasets import load_svmlight_file  # slow to import

    wanted = None if how.n_features is None else how.n_features + (how.first or 0)
    try:
        with whole(source), ExitStack() as stack:
            X, y = load_svmlight_file(text_stream(source, content, stack), zero_based=True, n_features=wanted)
        size = content.getbuffer().nbytes if isinstance(content, io.BytesIO) else os.path.getsize(content)
        if wanted is None:
            check_shape(X.shape, size)
    except (OverflowError, Malformed) as error:
        raise InvalidInputError(f"{source} cannot be read as svmlight: {one_line(error)}.") from None
    except ValueError as error:
        if isinstance(error, InvalidInputError):
            raise
        if "n_features was set" in str(error):
            raise InvalidInputError(f"{source} has features beyond the {how.n_features} that the model knows.") from None
        raise InvalidInputError(
            f"{source} cannot be read as svmlight (lines of 'label index:value ...'): {one_line(error)}."
        ) from None
    if not X.shape[0]:
        raise InvalidInputError(f"{source} has no rows.")
    X = X.tocsc()
    empty = X.indptr[1] == 0
    if how.first == 1 and not empty:
        raise InvalidInputError(f"{source} has features with index 0, the model was fitted on indices that begin at 1.")
    first = how.first if how.first is not None else int(empty and X.shape[1] > 1)
    whole_labels = np.isfinite(y).all() and (y == np.round(y)).all() and (np.abs(y) < 2**53).all()
    return Matrix(source, X[:, first:], {"y": y.astype(np.int64) if whole_labels else y}, first, labelled=True)


def read_npz(source: str, content: str | io.BytesIO) -> Matrix:
    """Read arrays by name (X is the matrix), or a matrix of scipy.sparse.save_npz."""
    try:
        with ExitStack() as stack:
            stream = content if isinstance(content, io.BytesIO) else stack.enter_context(open_file(content))
            archive = stack.enter_context(Archive(stream))
            if is_sparse(archive):
                return Matrix(source, sparse.csc_matrix(read_sparse(archive)), {})
            if "X" not in archive.members:
                raise InvalidInputError(f"{source} has no array X; it has {archive.listed()}.")
            arrays = {name: archive.read(name) for name in archive.members}
    except Malformed as error:
        raise InvalidInputError(f"{source} cannot be read as npz: {error}.") from None
    X = arrays.pop("X")
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise InvalidInputError(f"X in {source} must be a matrix of numbers, got shape {X.shape} of type {X.dtype}.")
    if not len(X):
        raise InvalidInputError(f"{source} has no rows.")
    return Matrix(source, X, arrays)


def load_array(name: str) -> NDArray[Any]:
    """Read a vector from a .npy file."""
    try:
        array = read_array(name)
    except Malformed as error:
        raise InvalidInputError(f"{name} cannot be read as an array: {error}.") from None
    if array.ndim != 1:
        raise InvalidInputError(f"{name} must hold one vector.")
    return array
