"""The checked arguments of a conversion."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

from ellzero.base.errors import InvalidInputError
from ellzero.tables.columns import check_names
from ellzero.tables.formats import FORMATS as TABLES
from ellzero.tables.source import DataFile, format_by_name

FORMATS = {**TABLES, "plink": (".bed",), "npy": (".npy",)}
IMPUTE = ("median", "mean", "mode")
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass(frozen=True, kw_only=True)
class Plan(DataFile):
    """The arguments of `convert`, checked."""

    target: str | None
    target_file: str | None
    drop: tuple[str, ...]
    drop_unlabelled: bool
    regression: bool
    impute: str | None
    dtype: str | None
    memory: int

    @property
    def targets(self) -> list[str]:
        """Return the name of the target, or nothing."""
        return [] if self.target is None else [self.target]

    def features_in(self, columns: list[str]) -> list[str]:
        """Return the columns that are neither the target nor dropped; both must be there."""
        check_names(columns, self.targets, self.shown, "target: ")
        check_names(columns, list(self.drop), self.shown, "drop: ")
        left_out = {*self.targets, *self.drop}
        names = [name for name in columns if name not in left_out]
        if not names:
            raise InvalidInputError(f"{self.shown} has no columns other than the target.")
        return names

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
    return format_by_name(name, FORMATS, "give the format")


def as_bytes(name: str, value: Any) -> int:
    """Return a number of bytes, given as 500000, "256M" or "2G"."""
    if isinstance(value, str) and (found := re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", value.strip(), re.IGNORECASE)):
        value = int(float(found[1]) * UNITS[found[2].upper()])
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInputError(f"{name} must be a number of bytes, such as 500000000 or '256M', got {value!r}.")
    return value
