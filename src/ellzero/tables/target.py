"""Targets: labels, which predictions give back as they were written, or numbers of a regression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import LONGEST_NAME, quoted
from ellzero.base.reading import Malformed, text_array
from ellzero.tables.columns import as_numbers, as_text
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd

MANY = 10  # more than this many distinct numbers, some with fractions, are taken for a regression's target, not for labels
MANY_WHOLE = 20  # the same for whole numbers


class NumbersAsLabels(InvalidInputError):
    """Error about a target for labels whose values look like the numbers of a regression."""


def column_response(column: pd.Series, source: str, decimal: str) -> NDArray[np.float64]:
    """Return the numbers of a target column that was read as text (CSV) or with its own type (Parquet)."""
    if any(isinstance(value, str) for value in column.head(100)):
        column = column.str.replace(decimal, ".", regex=False) if decimal != "." else column
        numbers = need("pandas").to_numeric(column, errors="coerce")
        odd = column[numbers.isna() & column.notna()]
        if len(odd):
            raise InvalidInputError(f"target {column.name!r} must hold numbers with --regression, got {quoted(odd.iloc[0])}.")
        column = column.map(float, na_action="ignore").astype(np.float64)  # pandas' own is off by a digit before 3.1
    return finite_response(as_numbers(column, source), str(column.name))


def finite_response(values: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Return the target of a regression as finite numbers."""
    if values.dtype.kind not in "fiub":
        raise InvalidInputError(f"target {name!r} must hold numbers with --regression, got type {values.dtype}.")
    refuse_missing(np.isnan(values.astype(np.float64)), name)
    return values.astype(np.float64)


def column_labels(column: pd.Series) -> NDArray[Any]:
    """Return the labels of a target column that was read as text (CSV) or with its own type (Parquet).

    Text becomes whole numbers, numbers or truth values if it is written as Python would write them: "7" and "1.0" do, "007" and
    "1e3" stay text, so that predictions look like the labels of the file.
    """
    refuse_missing(column.isna().to_numpy(), str(column.name))
    if column.dtype.kind in "iufb":
        return np.asarray(column)
    try:
        text = text_array(as_text(column).tolist())
    except Malformed as error:
        raise InvalidInputError(f"target {quoted(column.name)} cannot be labels: {error}.") from None
    distinct, place = np.unique(text, return_inverse=True)
    if set(distinct.tolist()) <= {"True", "False"}:
        return np.asarray(text == "True")
    for convert in (int, float):
        if all(is_written_as(convert, word) for word in distinct.tolist()):
            return np.array([convert(word) for word in distinct])[place]
    return text


def is_written_as(convert: Any, word: str) -> bool:
    """Return whether Python writes the number in the same way, and NumPy can hold it."""
    try:
        number = convert(word)
        return repr(number) == word and abs(number) < 2**63
    except ValueError:
        return False


def as_labels(values: NDArray[Any], name: str, most: int | None = None, insist: bool = False) -> NDArray[Any]:
    """Return the labels if they have at least two classes and not so many that they are likely something else.

    With `insist` the user says that they are labels, however many there are: numbers that look like those of a regression
    become text.
    """
    if values.dtype.kind == "f":
        refuse_missing(np.isnan(values), name)
    classes = np.unique(values)
    if len(classes) == 1:
        raise InvalidInputError(
            f"target {name!r} has a single value ({few_labels(classes)}), so there are no classes to separate."
        )
    fractions = values.dtype.kind == "f" and bool((values != np.round(values)).any())
    number = values.dtype.kind in "iuf"
    too_many = number and len(classes) > (MANY if fractions else MANY_WHOLE)
    if insist and too_many:
        return values.astype(str)
    if not insist and len(classes) > 2 and (2 * len(classes) > len(values) or too_many):
        kind = "values" if not number else "numbers" if fractions else "whole numbers"
        seen = f"target {name!r} has {len(classes)} different {kind} in {len(values)} rows ({few_labels(classes[:3])}, ...)"
        if number:
            raise NumbersAsLabels(f"{seen}; add --regression to predict a number, or --classes if each value is a class.")
        raise InvalidInputError(f"{seen}; is it the right column? (--classes if each value is a class)")
    if most is not None and len(classes) > most:
        raise InvalidInputError(
            f"target {name!r} has {len(classes)} classes ({few_labels(classes)}), this command and its loss take two; "
            f"--positive {few_labels(classes[:1])} compares one of them with the rest."
        )
    return values


def is_label(values: NDArray[Any], positive: str, name: str) -> NDArray[np.bool_]:
    """Return a mask of the rows whose label is the positive one."""
    classes = np.unique(values)
    chosen = [label for label in classes.tolist() if str(label) == positive or same_number(label, positive)]
    if not chosen:
        raise InvalidInputError(
            f"--positive {positive} is not a label of target {name!r}; its labels are {few_labels(classes)}."
        )
    return np.asarray(values == chosen[0])


def few_labels(labels: NDArray[Any]) -> str:
    """Return the first few labels for a message, quoted unless they are short and plain."""
    few = [str(label) for label in labels[:MANY].tolist()]
    words = [text if text.isprintable() and len(text) <= LONGEST_NAME else quoted(text) for text in few]
    return ", ".join(words) + (", ..." if len(labels) > MANY else "")


def same_number(label: Any, text: str) -> bool:
    """Return whether a numeric label is the number that the text spells in another way."""
    try:
        return not isinstance(label, (str, bool)) and float(text) == float(label)
    except ValueError:
        return False


def refuse_missing(missing: NDArray[np.bool_], name: str) -> None:
    """Raise an error if a row has no target: such a row teaches nothing, and may be a mistake."""
    if missing.any():
        first = int(np.argmax(missing)) + 1
        raise InvalidInputError(
            f"target {name!r} is missing in {int(missing.sum())} of {len(missing)} rows (first in row {first}); "
            "leave them out with --drop-unlabelled."
        )
