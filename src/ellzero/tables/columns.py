"""The kinds of a table's columns, and their values as numbers or text."""

from __future__ import annotations

import difflib
import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import listed_columns, quoted
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd

MOST_COMPARED, LONGEST_COMPARED = 10_000, 60  # names of columns among which a misspelt one is looked for


def kinds_of(frame: pd.DataFrame) -> dict[str, str]:
    """Return the kind of each column: "number", "date" or "text"."""
    types = zip(frame.columns, frame.dtypes, strict=True)
    return {name: "number" if is_plain(dtype) else kind_of(frame[name]) for name, dtype in types}


def is_plain(dtype: Any) -> bool:
    """Return whether this is one of NumPy's own types of numbers and truth values, as nearly all columns are."""
    return isinstance(dtype, np.dtype) and dtype.kind in "biuf"


def kind_of(column: pd.Series) -> str:
    """Return the kind of a column: "number" (also true and false), "date" or "text"."""
    pandas = need("pandas")
    types = pandas.api.types
    if types.is_datetime64_any_dtype(column) or types.is_timedelta64_dtype(column):
        return "date"
    if isinstance(column.dtype, pandas.CategoricalDtype):
        return "text"
    if types.is_numeric_dtype(column) or types.is_bool_dtype(column):
        return "number"
    values = column.dropna()
    if len(values) and all(hasattr(value, "year") for value in values):
        return "date"
    # A column of type object may hold truth values with missing ones among them, or integers beyond 64 bits.
    return "number" if len(values) and all(isinstance(value, numbers.Number) for value in values) else "text"


def as_numbers(column: pd.Series, source: str) -> NDArray[np.float64]:
    """Return a column as numbers, NaN where a value is missing."""
    try:
        values: NDArray[np.float64] = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        odd = next((value for value in column.dropna() if not is_number(value)), column.dtype)
        raise InvalidInputError(f"column {quoted(column.name)} in {source} must hold numbers, got {quoted(odd)}.") from None
    except OverflowError:
        raise InvalidInputError(f"column {quoted(column.name)} in {source} holds numbers that are too large.") from None
    refuse_infinite(values, str(column.name), source)
    return values


def refuse_infinite(values: NDArray[np.float64], name: str, source: str) -> None:
    """Raise an error if a column holds infinite values, which are most likely the result of an overflow elsewhere."""
    if np.isinf(values).any():
        raise InvalidInputError(f"column {quoted(name)} in {source} holds infinite values.")


def number_matrix(frame: pd.DataFrame, names: Sequence[str], source: str, advice: str = "") -> NDArray[np.float64]:
    """Return some columns of numbers as a column-major array; infinite ones are refused, with advice on what to do."""
    types = dict(zip(frame.columns, frame.dtypes, strict=True))
    plain = [name for name in names if is_plain(types[name])]  # many short columns are converted together, which is faster
    place = {name: j for j, name in enumerate(names)}
    out = np.empty((len(frame), len(names)), order="F")
    if len(frame) < len(plain):
        out[:, [place[name] for name in plain]] = frame[plain].to_numpy(dtype=np.float64)
    else:
        for name in plain:
            out[:, place[name]] = frame[name].to_numpy()
    for name in [name for name in names if not is_plain(types[name])]:
        out[:, place[name]] = as_numbers(frame[name], source)
    with np.errstate(over="ignore", invalid="ignore"):
        total = out.sum(axis=0)  # finite only if the column is
    infinite = [names[int(j)] for j in np.flatnonzero(~np.isfinite(total)) if np.isinf(out[:, j]).any()]
    if infinite:
        hold = "holds" if len(infinite) == 1 else "hold"
        raise InvalidInputError(f"{worded(infinite)} in {source} {hold} infinite values{advice}.")
    return out


def is_number(value: Any) -> bool:
    """Return whether a value converts to a number."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def as_text(column: pd.Series) -> NDArray[Any]:
    """Return a column as text, None where a value is missing."""
    if isinstance(column.dtype, need("pandas").StringDtype):  # text repeats itself, and each value is made only once
        codes, values = column.factorize()  # a missing one has the number -1, that of the last word
        words = np.empty(len(values) + 1, dtype=object)
        words[:-1] = [str(value) for value in values]
        return words[codes]
    return np.array(
        [None if missing else str(value) for value, missing in zip(column, column.isna(), strict=True)], dtype=object
    )


def check_presence(frame: pd.DataFrame, names: list[str], source: str, option: str = "") -> None:
    """Raise an error if a name is not a column of the data frame; it suggests the column with the nearest name."""
    check_names(frame.columns.tolist(), names, source, option)


def check_names(columns: list[str], names: list[str], source: str, option: str = "") -> None:
    """Raise an error if a name is not among the columns; it suggests the column with the nearest name."""
    known = set(columns)
    absent = [name for name in names if name not in known]
    if not absent:
        return
    compared = [name for name in columns[:MOST_COMPARED] if len(name) <= LONGEST_COMPARED]
    near = [name for name in compared if name.strip().lower() == absent[0].strip().lower()]
    near = near or difflib.get_close_matches(absent[0], compared, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"its columns are {first_names(columns)}."
    more = f" (and {len(absent) - 1} other{'s' * (len(absent) > 2)})" if len(absent) > 1 else ""
    raise InvalidInputError(f"{option}{source} has no column {quoted(absent[0])}{more}; {hint}")


def first_names(columns: Sequence[object]) -> str:
    """Return the names of the first few columns, quoted unless they are short and plain."""
    names = [str(name) for name in columns[:10]]
    words = [name if name.isprintable() and len(name) <= LONGEST_COMPARED else quoted(name) for name in names]
    return ", ".join(words) + (", ..." if len(columns) > 10 else "")


def worded(names: Sequence[str]) -> str:
    """Return a few names in words: column 'a', columns 'a' and 'b', columns 'a', ..., 't' and 4 more."""
    return listed_columns([quoted(name) for name in names])
