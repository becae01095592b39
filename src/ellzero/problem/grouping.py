"""Groups of columns, as callers give them: columns that come into a model, or stay out of it, together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import quoted
from ellzero.design.base import all_names

AUTO = "auto"
GroupLabels = ArrayLike | Sequence[Hashable] | Mapping[Any, Sequence[Any]]
"""A label for each column of X, None for a column on its own; by the name of a group, its columns; or "auto"."""
Columns = Callable[[NDArray[np.int32]], NDArray[np.float64]]
SEPARATORS = ("=", "_")


@dataclass(frozen=True)
class Grouping:
    """The groups of the columns of X: the head (first column) and the name of each column's group."""

    heads: NDArray[np.int32]
    names: tuple[str, ...]

    def columns(self, name: object) -> NDArray[np.intp]:
        """Return the columns of the group of this name; none if no group is called so."""
        return np.array(self._places.get(str(name), []), dtype=np.intp)

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """The columns of each group by its name: costs are looked up for as many names as there are columns."""
        places: dict[str, list[int]] = {}
        for j, name in enumerate(self.names):
            places.setdefault(name, []).append(j)
        return places

    def check_equal(self, argument: str, values: NDArray[Any]) -> None:
        """Refuse values that differ inside a group."""
        odd = np.flatnonzero(values != values[self.heads])
        if len(odd):
            raise InvalidInputError(
                f"{argument} must be the same for all columns of a group, and is not for {quoted(self.names[odd[0]])}."
            )


def as_groups(groups: GroupLabels | None, p: int, names: list[str] | None, columns: Columns | None = None) -> Grouping | None:
    """Return the groups of p columns with these names, None if every column is its own group.

    `columns` returns some columns, one a row: "auto" looks at them.

    >>> as_groups(["a", "b", "a"], 3, None).heads
    array([0, 1, 0], dtype=int32)
    >>> as_groups({"colour": ["red", "green"]}, 3, ["size", "red", "green"]).names
    ('size', 'colour', 'colour')
    """
    if groups is None:
        return None
    if isinstance(groups, Mapping):
        labels = labels_by_name(groups, p, names)
    elif isinstance(groups, str) and groups == AUTO:
        if names is None or columns is None:
            raise InvalidInputError("groups='auto' needs the names of columns: give X as a data frame, or feature_names.")
        labels = indicator_labels(names, columns)
    else:
        labels = labels_of_columns(groups, p)
    first: dict[Hashable, int] = {}
    heads = np.arange(p, dtype=np.int32)
    for j, label in enumerate(labels):
        if label is not None:
            heads[j] = first.setdefault(label, j)
    if (heads == np.arange(p)).all():
        return None
    single = all_names(names, p)
    return Grouping(heads, tuple(single[j] if label is None else str(label) for j, label in enumerate(labels)))


def labels_of_columns(groups: Any, p: int) -> list[Hashable | None]:
    """Return one label for each column, None for columns on their own."""
    if isinstance(groups, str):
        raise InvalidInputError(
            f"groups must be 'auto' or hold a label for each of the {p} columns of X, got {quoted(groups)}."
        )
    try:
        labels = list(groups)
    except TypeError:
        raise InvalidInputError(
            f"groups must hold a label for each of the {p} columns of X, got {type(groups).__name__}."
        ) from None
    if len(labels) != p:
        raise InvalidInputError(f"groups must hold a label for each of the {p} columns of X, got {len(labels)}.")
    out: list[Hashable | None] = []
    for label in labels:
        plain = label.item() if isinstance(label, np.generic) else label
        if not isinstance(plain, Hashable):
            raise InvalidInputError(f"groups must hold labels such as words or numbers, got {type(plain).__name__}.")
        out.append(None if plain != plain else plain)  # NaN, as in a column of a table: no group
    return out


def labels_by_name(groups: Mapping[Any, Sequence[Any]], p: int, names: list[str] | None) -> list[Hashable | None]:
    """Return one label for each column from the columns of each group, named or numbered."""
    places: dict[Any, int] = {} if names is None else {name: j for j, name in enumerate(names)}
    out: list[Hashable | None] = [None] * p
    for label, columns in groups.items():
        listed = list(columns) if not isinstance(columns, str) else [columns]
        if not listed:
            raise InvalidInputError(f"groups[{quoted(label)}] has no columns.")
        for column in listed:
            whole = int(column) if isinstance(column, (int, np.integer)) and not isinstance(column, bool) else -1
            j = places.get(column, whole)
            if not 0 <= j < p:
                raise InvalidInputError(f"groups[{quoted(label)}] names {quoted(column)}, which is not a column of X.")
            if out[j] is not None:
                raise InvalidInputError(
                    f"groups must not overlap: {quoted(column)} is in {quoted(out[j])} and in {quoted(label)}."
                )
            out[j] = label
    return out


def indicator_labels(names: list[str], columns: Columns) -> list[Hashable | None]:
    """Return the variables of one-hot columns, by names such as "colour=red" and "colour_red"; None for other columns.

    Neighbouring columns belong together if their names begin alike up to a separator, they hold only 0 and 1, and no row
    has 1 in two of them: so a name alone groups nothing.
    """
    out: list[Hashable | None] = [None] * len(names)
    for separator in SEPARATORS:
        begin = 0
        for stem, run in groupby(names, key=lambda name: stem_of(name, separator)):
            end = begin + len(list(run))
            if stem is not None and out[begin] is None:
                mark_indicators(out, names, range(begin, end), separator, columns)
            begin = end
    return out


def stem_of(name: str, separator: str) -> str | None:
    """Return what comes before the first separator, behind a transformer's prefix ("onehot__"); None without one."""
    prefix, rest = name.split("__", 1) if "__" in name and not name.startswith("__") else ("", name)
    head, found, _ = rest.partition(separator)
    return f"{prefix}__{head}" if found and head else None


def mark_indicators(out: list[Hashable | None], names: list[str], run: range, separator: str, columns: Columns) -> None:
    """Give the columns of a run their variables' names: as long as rows have at most one 1, they are of one variable."""
    begin = run.start
    while begin < run.stop:
        taken = np.zeros(0)
        end = begin
        while end < run.stop:
            values = columns(np.array([end], dtype=np.int32))[0]
            if not np.isin(values, (0.0, 1.0)).all() or (len(taken) and (taken + values > 1.0).any()):
                break
            taken = values if not len(taken) else taken + values
            end += 1
        if end - begin > 1 and (variable := common_stem(names[begin:end], separator)):
            out[begin:end] = [variable] * (end - begin)
        begin = max(end, begin + 1)


def common_stem(names: Sequence[str], separator: str) -> str:
    """Return what the names have in common, up to the last separator in it.

    >>> common_stem(["cat__eye_colour_dark_blue", "cat__eye_colour_dark_grey", "cat__eye_colour_red"], "_")
    'cat__eye_colour'
    """
    first, last = min(names), max(names)
    same = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:same].rpartition(separator)[0]
