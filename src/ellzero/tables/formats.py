"""The formats of data files, and how a file's name tells its own."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ellzero.base.errors import InvalidInputError

__all__ = ["COMPRESSIONS", "FORMATS", "GZIP_MAGIC", "STANDARD_INPUT", "format_by_name", "inner_suffix"]

FORMATS = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "svmlight": (".svm", ".svmlight", ".libsvm", ".txt"),
    "npz": (".npz",),
}
COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
STANDARD_INPUT = "-"
GZIP_MAGIC = b"\x1f\x8b"


def format_by_name(name: str, formats: Mapping[str, tuple[str, ...]], hint: str) -> str:
    """The format that the file's name suggests; pipes are CSV. `hint` says how to give it where the name does not."""
    if name == STANDARD_INPUT or (os.path.exists(name) and not os.path.isfile(name)):
        return "csv"
    suffix = inner_suffix(name)
    for kind, suffixes in formats.items():
        if suffix in suffixes:
            return kind
    raise InvalidInputError(f"{name} has no ending that tells its format; {hint}, one of {', '.join(formats)}.")


def inner_suffix(name: str) -> str:
    """The ending of a file's name in small letters, that of a compression left out."""
    stem, suffix = os.path.splitext(name.lower())
    return os.path.splitext(stem)[1] if suffix in COMPRESSIONS else suffix
