"""What stands in the columns of a table: words among numbers, codes for missing values, columns that cannot be features."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import numpy as np

from ellzero.base.quoting import quoted
from ellzero.tables.columns import as_text, is_plain, kinds_of
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd

FEW = 20  # a column of text with more values than this, and nearly as many as rows, is an identifier or a date
FIRST_ROWS = 1000
FEWEST_ROWS = 20  # of fewer, a measurement is often different in every one
MOST_LISTED = 5  # columns, categories or words in a note
SIGNS = re.compile(r"[\s%$€£¥<>≤≥~']")  # with which people decorate numbers
THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
DATE = re.compile(r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})([ T]\d{1,2}:\d{2}.*)?")
IDENTIFIER = re.compile(r"(.*[\W_])?(?i:id|uuid|guid|index|nr)|.*[a-z]I[dD]")
CODES = (-9, -99, -999, -9999, 99, 999, 9999, 99999)  # numbers that often mean a missing value


def useless_columns(frame: pd.DataFrame, categorical: set[str]) -> dict[str, list[str]]:
    """Return the columns that cannot be features, by the reason."""
    kinds = {name: kind for name, kind in kinds_of(frame).items() if name not in categorical}
    empty = frame.columns[frame.isna().all().to_numpy()].tolist()
    text = [name for name, kind in kinds.items() if kind == "text" and name not in empty]
    dates = [name for name, kind in kinds.items() if kind == "date" or (name in text and holds_dates(frame[name]))]
    other = [name for name in text if name not in dates and not oddity(frame[name]) and too_many(*distinct_text(frame[name]))]
    names = [name for name, kind in kinds.items() if kind == "number" and IDENTIFIER.fullmatch(name)]
    counted = row_names(frame, names)
    found = {
        "no values": empty,
        "a different number in every row": counted,
        "dates": [name for name in dates if name not in empty],
        "a different text in most rows": other,
    }
    return {reason: names for reason, names in found.items() if names}


def row_names(frame: pd.DataFrame, names: list[str]) -> list[str]:
    """Return the columns that hold a different whole number or text in every row."""
    if len(frame) < FEWEST_ROWS:
        return []
    types = dict(zip(frame.columns, frame.dtypes, strict=True))
    whole = [name for name in names if is_plain(types[name]) and types[name].kind in "iu"]
    first = np.sort(frame[whole].head(FIRST_ROWS).to_numpy(), axis=0)
    repeated = (np.diff(first, axis=0) == 0).any(axis=0).tolist()  # rules out nearly all of them
    likely = {name for name, again in zip(whole, repeated, strict=True) if not again}
    likely |= {name for name in names if not is_plain(types[name]) and all_differ(frame[name].head(FIRST_ROWS))}
    return [name for name in names if name in likely and all_differ(frame[name])]


def all_differ(column: pd.Series) -> bool:
    """Return whether no value is missing or there twice."""
    return not column.isna().any() and len({*(column if is_plain(column.dtype) else as_text(column))}) == len(column)


def holds_dates(column: pd.Series) -> bool:
    """Return whether all values of a column of text look like dates."""
    return all(DATE.fullmatch(value.strip()) for value in distinct_text(column)[0])


def odd_numbers(frame: pd.DataFrame, text: list[str]) -> dict[str, list[str]]:
    """Return the columns of text that are mostly numbers, by what is to be said about them."""
    groups: dict[str, list[str]] = {}
    for name in text:
        if said := oddity(frame[name]):
            groups.setdefault(said, []).append(name)
    return groups


def oddity(column: pd.Series) -> str:
    """Return what is to be said about a column of text that is mostly numbers; nothing about others."""
    pandas = need("pandas")
    values = column.dropna().astype(str).value_counts()
    words, counts = values.index.to_series(), values.to_numpy()
    numeric = pandas.to_numeric(words, errors="coerce").notna().to_numpy()
    if numeric.all():
        said = "numbers with a decimal point, as text (such as {}); write one decimal mark in the whole file, or store numbers."
        return said.format(quoted(words.iloc[0])) if len(words) else ""
    odd = words[~numeric].tolist()
    if counts[numeric].sum() > 0.5 * counts.sum():
        several, flag = len(odd) > 1, shlex.quote(",".join(map(quoted_name, odd)))
        return (
            f"numbers and, in {counts[~numeric].sum()} of {counts.sum()} rows, {few(list(map(quoted, odd)))}; "
            f"if {'these mean' if several else 'that means'} a missing value, add "
            f"--missing{f'={flag}' if len(odd) <= MOST_LISTED else ''}; if all are categories, name the column in "
            "--categorical."
        )
    commas = pandas.to_numeric(words.str.replace(",", ".", n=1, regex=False), errors="coerce").notna().to_numpy()
    if counts[commas].sum() > 0.5 * counts.sum():
        return f"numbers with a comma (such as {quoted(odd[0])}); write the other columns' decimal mark, or add --decimal ','."
    plain = words.str.replace(SIGNS, "", regex=True).str.replace(THOUSANDS, "", regex=True)
    if len(words) > FEW and counts[pandas.to_numeric(plain, errors="coerce").notna().to_numpy()].sum() > 0.5 * counts.sum():
        return (
            f"numbers with other signs (such as {quoted(odd[0])}); write them as plain numbers, or name the column in "
            "--categorical."
        )
    return ""


def suspected_codes(frame: pd.DataFrame, names: list[str]) -> dict[int, list[str]]:
    """Return columns in which a number seems to mean a missing value, by number.

    It is there more than once, far from all others: below zero where they are not, or above them by more than their range.
    """
    found: dict[int, list[str]] = {}
    lows, highs = frame.min(numeric_only=True), frame.max(numeric_only=True)
    for name in names:
        code = next((code for code in CODES if code == (lows if code < 0 else highs).get(name)), None)
        if code is None:
            continue
        values = frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
        others = values[(values != code) & ~np.isnan(values)]
        if (values == code).sum() < 2 or not len(others):
            continue
        least, most = others.min(), others.max()
        if (least >= 0.0) if code < 0 else (code - most > most - min(least, 0.0) and most > least):
            found.setdefault(code, []).append(name)
    return found


def distinct_text(column: pd.Series) -> tuple[list[str], int]:
    """Return the different values of a column of text in order, without a missing one, and the number of rows."""
    values = as_text(column)
    return sorted({*values} - {None}), len(values)


def too_many(known: list[str], rows: int) -> bool:
    """Return whether there are too many values for categories."""
    return len(known) > FEW and 2 * len(known) > rows


def few(words: list[str]) -> str:
    """Return the first few words, and how many others there are."""
    return ", ".join(words[:MOST_LISTED]) + (f" and {len(words) - MOST_LISTED} more" if len(words) > MOST_LISTED else "")


def quoted_name(name: str) -> str:
    """Return a name as it is written in a list of names."""
    return '"' + name.replace('"', '""') + '"' if "," in name or '"' in name else name
