"""A data file, the format that its name suggests, and the way in which its text is written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from ellzero.base.errors import InvalidInputError
from ellzero.tables.formats import STANDARD_INPUT, inner_suffix
from ellzero.tables.streams import text_format


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """A data file and how it is written."""

    source: str  # a file's name, "-" for standard input
    format: str
    separator: str | None = None  # None: as the first lines suggest
    decimal: str | None = None  # the same
    encoding: str = "utf-8"
    missing: tuple[str, ...] = ()  # words for a missing value in addition to the usual ones

    @property
    def shown(self) -> str:
        """Return the name of the source for a message."""
        return "standard input" if self.source == STANDARD_INPUT else self.source


def format_by_name(name: str, formats: Mapping[str, tuple[str, ...]], hint: str) -> str:
    """Return the format that a file's name suggests, CSV for pipes; `hint` tells the user how to name the format otherwise.

    Of a .txt file it is that of its first line: people call anything so.
    """
    if name == STANDARD_INPUT or (os.path.exists(name) and not os.path.isfile(name)):
        return "csv"
    suffix = inner_suffix(name)
    if suffix == ".txt" and os.path.isfile(name):
        return text_format(name)
    for kind, suffixes in formats.items():
        if suffix in suffixes:
            return kind
    raise InvalidInputError(f"{name or repr(name)} has no known file extension; {hint}, one of {', '.join(formats)}.")
