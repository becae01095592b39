"""The checked arguments of a conversion."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

from ellzero.base.errors import InvalidInputError
from ellzero.conversion.streams import text_format
from ellzero.tables.formats import FORMATS as TABLES
from ellzero.tables.formats import STANDARD_INPUT, format_by_name, inner_suffix

__all__ = ["FORMATS", "IMPUTE", "UNLABELLED", "Plan", "as_bytes", "by_content", "format_of"]

FORMATS = {**TABLES, "plink": (".bed",), "npy": (".npy",)}
UNLABELLED = "leave such rows out, by drop_unlabelled for example."
IMPUTE = ("median", "mean", "mode")
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The arguments of `convert`, checked."""

    source: str  # a file's name, "-" for standard input
    format: str
    target: str | None
    target_file: str | None
    drop: tuple[str, ...]
    drop_unlabelled: bool
    regression: bool
    impute: str | None
    dtype: str | None
    separator: str | None
    decimal: str
    encoding: str
    missing: tuple[str, ...]
    memory: int

    @property
    def shown(self) -> str:
        """Return the name of the source for an error message."""
        return "standard input" if self.source == STANDARD_INPUT else self.source

    def refuse(self, *names: str) -> None:
        """Raise an error about arguments that mean nothing for this format."""
        for name in names:
            if getattr(self, name):
                raise InvalidInputError(f"{name} is not for {self.format} files.")


def format_of(name: str, given: str | None) -> str:
    """Return the format that was given, or that the file's name suggests; pipes are CSV."""
    if given is not None:
        if given not in FORMATS:
            raise InvalidInputError(f"format must be one of {', '.join(FORMATS)}, got {given!r}.")
        return given
    if os.path.isdir(name):
        raise InvalidInputError(f"{name} is a folder, not a data file.")
    return by_content(name, format_by_name(name, FORMATS, "give the format"))


def by_content(name: str, format: str) -> str:
    """Return the format that a file's name suggests, but of a .txt file that of its first line: people call anything so."""
    return text_format(name) if inner_suffix(name) == ".txt" and os.path.isfile(name) else format


def as_bytes(name: str, value: Any) -> int:
    """Return a number of bytes, given as 500000, "256M" or "2G"."""
    if isinstance(value, str) and (found := re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", value.strip(), re.IGNORECASE)):
        value = int(float(found[1]) * UNITS[found[2].upper()])
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInputError(f"{name} must be a number of bytes, such as 500000000 or '256M', got {value!r}.")
    return value
