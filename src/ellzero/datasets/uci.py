"""The feature-selection sets of NIPS 2003 at their public home, the UCI repository: their description, fetching, reading."""

from __future__ import annotations

import http.client
import io
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.errors import DatasetError

__all__ = ["HOME", "PARTS", "SOURCES", "Arrays", "Source", "check", "download"]

HOME = "https://archive.ics.uci.edu/ml/machine-learning-databases"
TIMEOUT = 60.0  # seconds without an answer
PARTS = ("train", "valid")

Arrays = dict[str, Any]
"""X_train, y_train, X_valid, y_valid as they are stored: small integers, CSR where the set is sparse."""


@dataclass(frozen=True)
class Source:
    """What is known of a set; counts and sums are those of its official description, train first."""

    name: str
    entries: str  # how a line of the data file is written: "values", "index:value" or "index" (1-based)
    columns: int
    rows: tuple[int, int]
    positives: tuple[int, int]
    sums: tuple[int, int]

    @property
    def is_sparse(self) -> bool:
        """Whether the matrices are sparse."""
        return self.entries != "values"

    @property
    def dtype(self) -> type[np.signedinteger[Any]]:
        """The stored type of the entries: 0 to 999, or 0 and 1."""
        return np.int8 if self.entries == "index" else np.int16

    def address(self, part: str, kind: str) -> str:
        """Where a file is below the home; the labels of the validation rows came later and lie one level up."""
        folder = self.name if (part, kind) == ("valid", "labels") else f"{self.name}/{self.name.upper()}"
        return f"{folder}/{self.name}_{part}.{kind}"


SOURCES = {
    source.name: source
    for source in (
        Source("arcene", "values", 10_000, (100, 100), (44, 44), (70_726_744, 71_410_108)),
        Source("dexter", "index:value", 20_000, (300, 300), (150, 150), (2_816_528, 2_820_952)),
        Source("dorothea", "index", 100_000, (800, 350), (78, 34), (727_760, 317_752)),
        Source("madelon", "values", 500, (2000, 600), (1000, 300), (488_083_511, 146_395_833)),
    )
}


def download(source: Source, home: str) -> Arrays:
    """Fetch and read the four text files."""
    out: Arrays = {}
    for part in PARTS:
        for kind, key in (("data", f"X_{part}"), ("labels", f"y_{part}")):
            url = f"{home}/{source.address(part, kind)}"
            text = fetch(url)
            try:
                out[key] = read_labels(text) if kind == "labels" else read_entries(source, text)
            except ValueError as error:
                raise DatasetError(f"{url} is not the {source.name} file that it should be ({error}).") from None
    return out


def fetch(url: str) -> bytes:
    """The whole of a file, or an error that says what went wrong."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
            return answer.read()
    except (OSError, http.client.HTTPException) as error:  # a URLError, a timeout and a refused connection are OSErrors
        raise DatasetError(f"{url} could not be downloaded ({getattr(error, 'reason', None) or error}).") from error


def read_labels(text: bytes) -> NDArray[np.int8]:
    """One label, -1 or +1, a line."""
    labels = np.loadtxt(io.BytesIO(text), dtype=np.int64, ndmin=1)
    if not np.isin(labels, (-1, 1)).all():
        raise ValueError("a label is neither -1 nor 1")
    return labels.astype(np.int8)


def read_entries(source: Source, text: bytes) -> NDArray[Any] | sparse.csr_matrix:
    """The matrix in a data file."""
    if source.is_sparse:
        return read_sparse(source, text)
    return np.loadtxt(io.BytesIO(text), dtype=np.int64, ndmin=2).astype(source.dtype)


def read_sparse(source: Source, text: bytes) -> sparse.csr_matrix:
    """A row a line: pairs index:value, or the indices of the ones; a line may be empty."""
    lines = text.decode("ascii").splitlines()
    columns, values, starts = list[int](), list[int](), [0]
    for line in lines:
        for entry in line.split():
            column, _, value = entry.partition(":") if source.entries == "index:value" else (entry, "", "1")
            columns.append(int(column) - 1)
            values.append(int(value))
        starts.append(len(columns))
    if columns and not (min(columns) >= 0 and max(columns) < source.columns):
        raise ValueError(f"an index is outside 1..{source.columns}")
    matrix = sparse.csr_matrix(
        (np.array(values, dtype=source.dtype), np.array(columns, dtype=np.int32), np.array(starts, dtype=np.int32)),
        shape=(len(lines), source.columns),
    )
    matrix.sort_indices()
    return matrix


def check(source: Source, arrays: Arrays, origin: object) -> None:
    """Refuse anything that is not the official set: its shapes, its class counts and the sums of its entries."""
    for problem in differences(source, arrays):
        raise DatasetError(f"{origin} does not hold the {source.name} data: {problem}.")


def differences(source: Source, arrays: Arrays) -> Iterator[str]:
    for part, rows, positives, total in zip(PARTS, source.rows, source.positives, source.sums, strict=True):
        X, y = arrays[f"X_{part}"], arrays[f"y_{part}"]
        if sparse.issparse(X) != source.is_sparse:
            yield f"X_{part} is {'sparse' if sparse.issparse(X) else 'dense'}"
        if X.shape != (rows, source.columns):
            yield f"X_{part} has shape {X.shape}, expected {(rows, source.columns)}"
        if y.shape != (rows,):
            yield f"y_{part} has shape {y.shape}, expected {(rows,)}"
        found = (int((y == 1).sum()), int((y == -1).sum()))
        if found != (positives, rows - positives):
            yield f"y_{part} has {found[0]} labels +1 and {found[1]} labels -1, expected {positives} and {rows - positives}"
        if (found_sum := int(X.sum(dtype=np.int64))) != total:
            yield f"the entries of X_{part} sum to {found_sum}, expected {total}"
