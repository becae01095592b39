"""The formats of data files, by the endings of their names."""

from __future__ import annotations

import os

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


def inner_suffix(name: str) -> str:
    """Return the ending of a file's name in lower case, without that of a compression: ".csv" for "A.CSV.gz"."""
    stem, suffix = os.path.splitext(name.lower())
    return os.path.splitext(stem)[1] if suffix in COMPRESSIONS else suffix
