"""Groups of columns, as callers give them: columns that come into a model, or stay out of it, together."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import quoted

__all__ = ["GroupLabels", "Grouping", "as_groups"]

GroupLabels = ArrayLike | Sequence[Hashable] | Mapping[Any, Sequence[Any]]
"""A label for each column of X, None for a column on its own; or, by the name of a group, its columns."""


@dataclass(frozen=True)
class Grouping:
    """The groups of the columns of X: the head (first column) and the name of each column's group."""

    heads: NDArray[np.int32]
    names: tuple[str, ...]

    def columns(self, name: object) -> NDArray[np.intp]:
        """Return the columns of the group of this name; none if no group is called so."""
        return np.flatnonzero([own == str(name) for own in self.names])

    def check_equal(self, argument: str, values: NDArray[Any] | None) -> None:
        """Refuse values that differ inside a group."""
        if values is None:
            return
        odd = np.flatnonzero(values != values[self.heads])
        if len(odd):
            raise InvalidInputError(
                f"{argument} must be the same for all columns of a group, and is not for {quoted(self.names[odd[0]])}."
            )


def as_groups(groups: GroupLabels | None, p: int, names: list[str] | None) -> Grouping | None:
    """Return the groups of p columns with these names, None if every column is a group of its own.

    >>> as_groups(["a", "b", "a"], 3, None).heads
    array([0, 1, 0], dtype=int32)
    >>> as_groups({"colour": ["red", "green"]}, 3, ["size", "red", "green"]).names
    ('size', 'colour', 'colour')
    """
    if groups is None:
        return None
    labels = labels_by_name(groups, p, names) if isinstance(groups, Mapping) else labels_of_columns(groups, p)
    first: dict[Hashable, int] = {}
    heads = np.arange(p, dtype=np.int32)
    for j, label in enumerate(labels):
        if label is not None:
            heads[j] = first.setdefault(label, j)
    if (heads == np.arange(p)).all():
        return None
    single = [f"x{j}" for j in range(p)] if names is None else names
    return Grouping(heads, tuple(single[j] if label is None else str(label) for j, label in enumerate(labels)))


def labels_of_columns(groups: Any, p: int) -> list[Hashable | None]:
    """Return one label for each column, None for columns on their own."""
    if isinstance(groups, str):
        raise InvalidInputError(f"groups must hold a label for each of the {p} columns of X, got {quoted(groups)}.")
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
            whole = isinstance(column, (int, np.integer)) and not isinstance(column, bool)
            j = places.get(column, int(column) if whole and 0 <= column < p else None)
            if j is None:
                raise InvalidInputError(f"groups[{quoted(label)}] names {quoted(column)}, which is not a column of X.")
            if out[j] is not None:
                raise InvalidInputError(
                    f"groups must not overlap: {quoted(column)} is in {quoted(out[j])} and in {quoted(label)}."
                )
            out[j] = label
    return out
