"""Preparation of raw columns: medians for missing numbers, indicators for categories, learnt once and applied to new data.

The model file keeps the preparation as plain JSON. Its meaning is that of scikit-learn's SimpleImputer and OneHotEncoder. A
column of two categories becomes one feature: a second would repeat the first.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.base.imports import whole_imports
from ellzero.base.quoting import one_line, quoted
from ellzero.base.validation import as_count
from ellzero.cli.inspection import distinct_text, few, odd_numbers, too_many
from ellzero.tables.columns import as_text, check_presence, kinds_of, number_matrix, worded
from ellzero.tables.text import refuse_twice

if TYPE_CHECKING:
    import pandas as pd

MISSING = "(missing)"
FINITE = "; leave out with --drop, or read them as missing with --missing inf"
UNKNOWN_MEDIANS = ", and the model knows no medians to fill them with."
DENSE_INDICATORS = 256  # with more indicator columns than this the matrix is a sparse one


class Gap(NamedTuple):
    """A column with missing values."""

    column: str
    rows: int
    filled: float | str | None  # the number that replaces them, or the category that they become; None: they are refused


class Preparation:
    """How columns of a file become features.

    Attributes
    ----------
    medians : of the columns of numbers; none: missing values are refused
    categories : of columns of text, by column, in the order of the features; None among them is a missing value
    identifiers : columns that tell the rows apart; predictions keep them
    missing : words for a missing value in addition to the usual ones

    """

    medians: tuple[float, ...]
    categories: dict[str, tuple[str | None, ...]]
    identifiers: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def groups(self) -> list[str] | None:
        """The column that each feature was made of; None if each is made of one of its own."""
        return None

    def features_of(self, column: str) -> list[str]:
        """Return the features that a column becomes."""
        return [column]

    def words(self) -> dict[str, list[str]]:
        """Return identifiers and words for a missing value, for the model file."""
        return {"identifiers": list(self.identifiers), "missing": list(self.missing)}

    def gap(self, column: str, j: int, rows: int) -> Gap:
        """Return what becomes of the missing values of a column of numbers."""
        return Gap(column, rows, self.medians[j] if self.medians else None)

    def fill(self, X: Any) -> Any:
        """Return a dense or sparse matrix of the columns of numbers with medians for the missing ones."""
        medians = np.array(self.medians)
        if sparse.issparse(X):
            matrix = X.tocsc(copy=True)
            entries = np.flatnonzero(np.isnan(matrix.data))
            matrix.data[entries] = medians[np.searchsorted(matrix.indptr, entries, side="right") - 1]
            return matrix
        return np.asfortranarray(np.where(np.isnan(X), medians, X))


@dataclass(frozen=True)
class TablePreparation(Preparation):
    """The preparation of a table: its columns of numbers come first, then an indicator for each category."""

    numbers: tuple[str, ...]
    medians: tuple[float, ...] = ()
    categories: dict[str, tuple[str | None, ...]] = field(default_factory=dict)
    identifiers: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """The columns of a table that are used."""
        return [*self.numbers, *self.categories]

    @property
    def features(self) -> list[str]:
        """The names of the features, in order."""
        return [*self.numbers, *(name for column in self.categories for name in self.indicators(column))]

    def indicators(self, column: str) -> list[str]:
        """Return the features that a column of text becomes."""
        values = self.categories[column]
        return [f"{column}={category_name(value)}" for value in (values[1:] if len(values) == 2 else values)]

    @property
    def groups(self) -> list[str] | None:
        """The column that each feature was made of; None if each is made of one of its own."""
        columns = [*self.numbers, *(name for name in self.categories for _ in self.indicators(name))]
        return columns if len(set(columns)) < len(columns) else None

    def features_of(self, column: str) -> list[str]:
        """Return the features that a column becomes."""
        return self.indicators(column) if column in self.categories else [column]

    def apply(self, frame: pd.DataFrame, source: str, used: set[str] | None = None) -> tuple[Any, list[str]]:
        """Return the matrix of a table, and notes on categories that are not known and on gaps in new data.

        Only columns with a feature in `used` need be there (all of them if it is None). The others are zero, which changes no
        prediction of a model that does not use them.
        """
        needed = {name for name in self.columns if used is None or not used.isdisjoint(self.features_of(name))}
        check_presence(frame, [name for name in self.columns if name in needed], source)
        present = [j for j, name in enumerate(self.numbers) if name in needed]
        numbers = number_matrix(frame, [self.numbers[j] for j in present], source)
        if len(present) < len(self.numbers):
            known, numbers = numbers, np.zeros((len(frame), len(self.numbers)), order="F")
            numbers[:, present] = known
        notes = [] if used is None else self.filled(frame, [self.numbers[j] for j in present])
        numbers = self.without_gaps(numbers, new=used is not None)
        if not self.categories:
            return numbers, notes
        text = np.full((len(frame), len(self.categories)), None, dtype=object)
        for j, name in enumerate(self.categories):
            if name in needed:
                text[:, j] = as_text(frame[name])
        indicators = self.encoded(text)
        notes += [note for j, name in enumerate(self.categories) if name in needed for note in self.unknown(name, text[:, j])]
        if indicators.shape[1] > DENSE_INDICATORS:
            return sparse.csc_matrix(sparse.hstack([sparse.csc_matrix(numbers), indicators])), notes
        return np.asfortranarray(np.hstack([numbers, indicators.toarray()])), notes

    def filled(self, frame: pd.DataFrame, names: list[str]) -> list[str]:
        """Return a note on missing numbers of new data, if there are any and medians for them."""
        gaps = [gap for gap in self.gaps(frame[names], names) if gap.filled is not None]
        return [f"missing values are filled with medians of the fit: {gaps_in_words(gaps)}."] if gaps else []

    def gaps(self, frame: pd.DataFrame, columns: list[str] | None = None) -> list[Gap]:
        """Return the columns of a table that have missing values, how many, and what becomes of them."""
        places = {name: j for j, name in enumerate(self.numbers)}
        found = []
        for name in self.columns if columns is None else columns:
            if rows := int(frame[name].isna().sum()):
                found.append(self.gap(name, places[name], rows) if name in places else Gap(name, rows, MISSING))
        return found

    def only(self, features: list[int]) -> TablePreparation:
        """Return the preparation of some features that are given as columns of numbers (a missing indicator is zero)."""
        names, medians = self.features, [*self.medians, *[0.0] * len(self.features)]
        return TablePreparation(tuple(names[j] for j in features), tuple(medians[j] for j in features if self.medians))

    def without_gaps(self, numbers: NDArray[np.float64], new: bool) -> NDArray[np.float64]:
        """Replace missing numbers by medians; refuse them if there are no medians."""
        absent = np.isnan(numbers).any(axis=0)
        if not absent.any():
            return numbers
        if not self.medians:
            refuse_gaps([self.numbers[j] for j in np.flatnonzero(absent)], new)
        return np.asarray(self.fill(numbers))

    def encoded(self, text: NDArray[Any]) -> Any:
        """Return the indicators as a sparse matrix; all are zero for a category that is not known."""
        with whole_imports():
            from sklearn.preprocessing import OneHotEncoder  # slow to import

        known = [np.array(values, dtype=object) for values in self.categories.values()]
        encoder = OneHotEncoder(categories=known, drop="if_binary", handle_unknown="ignore")
        encoder.fit(np.array([[values[0] for values in known]], dtype=object))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # unknown categories: `unknown` names them
            return encoder.transform(text)

    def unknown(self, column: str, values: NDArray[Any]) -> list[str]:
        """Return a note on categories that were not there when the model was fitted, if there are any."""
        known = self.categories[column]
        new = sorted({category_name(value) for value in set(values) - set(known)})
        if not new:
            return []
        shown = ", ".join(map(quoted, new[:3])) + (f" and {len(new) - 3} more" if len(new) > 3 else "")
        # A column of two categories has one indicator, of the second: a row without it counts as the first.
        meaning = "none of the known ones" if len(known) != 2 else repr(known[0])
        return [f"column {column!r} has values that the fit did not see ({shown}); they count as {meaning}."]

    def to_json(self) -> dict[str, Any]:
        """Return the preparation as plain lists and numbers, for the model file."""
        return {
            "kind": "table",
            "numbers": list(self.numbers),
            "medians": list(self.medians),
            "categories": [{"column": name, "values": list(values)} for name, values in self.categories.items()],
            **self.words(),
        }


@dataclass(frozen=True)
class MatrixPreparation(Preparation):
    """The preparation of a matrix, which is used unchanged, but for missing values."""

    n_features: int
    first: int  # index of the first feature in the file
    medians: tuple[float, ...] = ()
    categories: dict[str, tuple[str | None, ...]] = field(default_factory=dict, init=False)  # a matrix has no text

    @property
    def features(self) -> list[str]:
        """The names of the features: x and the index that the file uses."""
        return [f"x{j}" for j in range(self.first, self.first + self.n_features)]

    def apply(self, X: Any, source: str, new: bool = False) -> Any:
        """Replace missing numbers of a matrix by medians; refuse them if there are no medians."""
        if X.shape[1] != self.n_features:
            raise InvalidInputError(f"{source} has {X.shape[1]} features, the model was fitted on {self.n_features}.")
        infinite, missing = (np.flatnonzero(self.counts(X, test)) for test in (np.isinf, np.isnan))
        if len(infinite):
            raise InvalidInputError(f"{source} holds infinite values in {self.features[infinite[0]]}.")
        if not len(missing):
            return X
        if not self.medians:
            what = f"{source} has missing values (NaN), the first in {self.features[missing[0]]}"
            raise InvalidInputError(f"{what}{UNKNOWN_MEDIANS}" if new else f"{what}; leave out --impute none to fill them.")
        return self.fill(X)

    def gaps(self, X: Any) -> list[Gap]:
        """Return the columns of a matrix that have missing values, how many, and what becomes of them."""
        rows = self.counts(X, np.isnan)
        return [self.gap(self.features[j], int(j), int(rows[j])) for j in np.flatnonzero(rows)]

    def counts(self, X: Any, test: Callable[[Any], Any]) -> NDArray[np.intp]:
        """Return how many values of each feature pass the test, which no zero and no whole number does."""
        if X.dtype.kind != "f":
            return np.zeros(self.n_features, dtype=np.intp)
        if not sparse.issparse(X):
            return np.asarray(test(X).sum(axis=0))
        columns = X.tocsc()
        owner = np.repeat(np.arange(columns.shape[1]), np.diff(columns.indptr))
        return np.bincount(owner[test(columns.data)], minlength=columns.shape[1])

    def to_json(self) -> dict[str, Any]:
        """Return the preparation as plain lists and numbers, for the model file."""
        return {"kind": "matrix", "n_features": self.n_features, "first": self.first, "medians": list(self.medians)}


def category_name(value: str | None) -> str:
    """Return the name of a category; None is a missing value."""
    return MISSING if value is None else value


def learn_table(frame: pd.DataFrame, source: str, *, impute: bool, one_hot: bool, categorical: set[str]) -> TablePreparation:
    """Learn the preparation of a table; columns that need an option that was not given are refused by name."""
    kinds = {**kinds_of(frame), **dict.fromkeys(categorical, "text")}
    numbers, text = ([name for name, kind in kinds.items() if kind == wanted] for wanted in ("number", "text"))
    coded = text if one_hot else [name for name in text if name in categorical]
    odd = odd_numbers(frame, [name for name in text if name not in categorical])
    strange = {name for names in odd.values() for name in names}
    refuse_together(
        source,
        [
            *(partial(refuse, names, "holds", said) for said, names in odd.items()),
            lambda: refuse([name for name in text if name not in {*coded, *strange}], "holds", "text; leave out with --drop."),
            *(partial(learn_categories, frame[name]) for name in coded if name in categorical),
            lambda: number_matrix(frame, numbers, source, FINITE),
            lambda: None if impute else refuse_gaps([name for name in numbers if frame[name].isna().any()]),
        ],
    )
    categories = {name: learn_categories(frame[name]) for name in text}
    medians = learn_medians(number_matrix(frame, numbers, source)) if impute and numbers else ()
    preparation = TablePreparation(tuple(numbers), medians, categories)
    refuse_twice(source, preparation.features)  # a column may have the very name of an indicator of another
    return preparation


def table_notes(left_out: dict[str, list[str]], preparation: Preparation, gaps: list[Gap]) -> list[str]:
    """Return in a few sentences what became of the columns of a table."""
    notes = [f"{left_out_in_words(left_out).strip(' ()')}."] if left_out else []
    if preparation.categories:
        coded = [
            f"{quoted(name)}{f' ({len(values)})' * (values != (None,))}" for name, values in preparation.categories.items()
        ]
        notes.append(f"text as categories: {few(coded)}.")
    if gaps:
        notes.append(f"missing values: {gaps_in_words(gaps)}.")
    return notes


def left_out_in_words(left_out: dict[str, list[str]]) -> str:
    """Return which columns are left out and why, in brackets; nothing if none is."""
    parts = [f"{few([quoted(name) for name in names])}, {reason}" for reason, names in left_out.items()]
    return f" (left out: {'; '.join(parts)})" if parts else ""


def gaps_in_words(gaps: list[Gap]) -> str:
    """Return which columns have missing values, in how many rows, and what they become."""
    words = []
    for gap in gaps:
        fill = (
            f" (median {gap.filled:.6g})"
            if isinstance(gap.filled, float)
            else " (a separate category)" * (gap.filled is not None)
        )
        words.append(f"{quoted(gap.column)} in {gap.rows} row{'s' * (gap.rows != 1)}{fill}")
    return few(words)


def refuse_together(source: str, checks: list[Callable[[], object]]) -> None:
    """Run all checks, and raise what they complain of as one error, so that nobody meets bad columns one run at a time."""
    found = []
    for check in checks:
        try:
            check()
        except InvalidInputError as error:
            found.append(str(error).removesuffix("."))
    if len(found) == 1:
        raise InvalidInputError(f"{found[0]}.")
    if found:
        raise InvalidInputError(
            f"{source} has columns that need care: {'; '.join(f'({i + 1}) {t}' for i, t in enumerate(found))}."
        )


def refuse(names: list[str], verb: str, what: str) -> None:
    """Refuse columns, if there are any: the verb is that of a single one."""
    if names:
        several = {"has": "have", "holds": "hold"}[verb]
        raise InvalidInputError(f"{worded(names)} {verb if len(names) == 1 else several} {what}")


def refuse_gaps(names: list[str], new: bool = False) -> None:
    """Refuse columns with missing values, in the data of a fit or in new data, for which there are no medians."""
    remedy = UNKNOWN_MEDIANS if new else "; leave out --impute none to fill them, or leave out the columns with --drop."
    refuse(names, "has", f"missing values{remedy}")


def learn_medians(X: Any) -> tuple[float, ...]:
    """Return the median of each column."""
    with whole_imports():
        from sklearn.impute import SimpleImputer  # slow to import

    if not sparse.issparse(X) and not np.isnan(X).any():
        return tuple(float(np.median(column)) for column in X.T)  # without the imputer's copies and masks
    return tuple(map(float, SimpleImputer(strategy="median", keep_empty_features=True).fit(X).statistics_))


def learn_categories(column: pd.Series) -> tuple[str | None, ...]:
    """Return the values of a column of text in order, a missing one last; refuse a column in which nearly all values differ."""
    known, rows = distinct_text(column)
    if too_many(known, rows):
        raise InvalidInputError(
            f"column {quoted(column.name)} has {len(known)} different values in {rows} rows "
            f"(such as {quoted(known[0])}), too many for categories; leave it out with --drop."
        )
    return (*known, None) if column.isna().any() else tuple(known)


def restore(kept: Any) -> TablePreparation | MatrixPreparation:
    """Return the preparation that a model file holds."""
    try:
        medians = tuple(number_of(value) for value in kept["medians"])
        if kept["kind"] == "matrix":
            p, first = as_count("n_features", kept["n_features"], 1), as_count("first", kept["first"], 0)
            if len(medians) not in (0, p):
                raise ValueError("medians must be one for each feature")
            return MatrixPreparation(p, first, medians)
        categories = {entry["column"]: tuple(entry["values"]) for entry in kept["categories"]}
        numbers = tuple(kept["numbers"])
        texts = [*numbers, *categories, *(category_name(value) for values in categories.values() for value in values)]
        if not all(isinstance(text, str) for text in texts) or len(medians) not in (0, len(numbers)):
            raise ValueError("names and categories must be strings, medians one for each column of numbers")
        if len({*numbers, *categories}) < len(numbers) + len(kept["categories"]) or not all(categories.values()):
            raise ValueError("columns must be different, and categories must have values")
        return TablePreparation(numbers, medians, categories, *words_of(kept))
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInputError(f"the model file's preparation cannot be read: {one_line(error)}.") from None


def words_of(kept: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the identifiers of a model file, and its words for a missing value."""
    identifiers, missing = tuple(kept.get("identifiers", ())), tuple(kept.get("missing", ()))
    if not all(isinstance(word, str) for word in (*identifiers, *missing)):
        raise ValueError("identifiers and words for a missing value must be strings")
    return identifiers, missing


def number_of(value: Any) -> float:
    """Return a median of a model file."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("medians must be numbers")
    return float(value)
