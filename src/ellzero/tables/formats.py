"""The formats of data files, by the endings of their names."""

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
    """Return the format that a file's name suggests, CSV for pipes; `hint` tells the user how to name the format otherwise."""
    if name == STANDARD_INPUT or (os.path.exists(name) and not os.path.isfile(name)):
        return "csv"
    suffix = inner_suffix(name)
    for kind, suffixes in formats.items():
        if suffix in suffixes:
            return kind
    raise InvalidInputError(f"{name or repr(name)} has no ending that tells its format; {hint}, one of {', '.join(formats)}.")


def inner_suffix(name: str) -> str:
    """Return the ending of a file's name in lower case, without that of a compression: ".csv" for "A.CSV.gz"."""
    stem, suffix = os.path.splitext(name.lower())
    return os.path.splitext(stem)[1] if suffix in COMPRESSIONS else suffix
