"""The feature-selection sets of NIPS 2003 in the UCI repository: description, download, reading and checks."""

from __future__ import annotations

import hashlib
import http.client
import io
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import DatasetError
from ellzero.base.imports import whole_imports

HOME = "https://archive.ics.uci.edu/ml/machine-learning-databases"
RETRIES = 2
RETRY_SECONDS = 1
PARTS = ("train", "valid")

Arrays = dict[str, Any]
"""X_train, y_train, X_valid, y_valid as stored: small integers, CSR where the set is sparse."""


@dataclass(frozen=True)
class Source:
    """Description of a set; counts are those of the official description, the training part first.

    The digest is that of the parsed numbers (see :func:`digest`), not of the text files, so it holds for a cache too, in
    whatever format its arrays are stored.
    """

    name: str
    entries: str  # how a line of the data file is written: "values", "index:value" or "index" (1-based)
    columns: int
    rows: tuple[int, int]
    positives: tuple[int, int]
    digest: str

    @property
    def is_sparse(self) -> bool:
        """Return whether the matrices are sparse."""
        return self.entries != "values"

    @property
    def dtype(self) -> type[np.signedinteger[Any]]:
        """Return the stored type of the entries, which are 0 to 999, or 0 and 1."""
        return np.int8 if self.entries == "index" else np.int16

    def address(self, part: str, kind: str) -> str:
        """Return the address of a file below `HOME`; the labels of the validation rows lie one level higher than the rest."""
        folder = self.name if (part, kind) == ("valid", "labels") else f"{self.name}/{self.name.upper()}"
        return f"{folder}/{self.name}_{part}.{kind}"


SOURCES = {
    source.name: source
    for source in (
        Source(
            "arcene",
            "values",
            10_000,
            (100, 100),
            (44, 44),
            "2c64403fc6b5649373d9e3a6af7bf8c9b41334e60d0e46f91e981e6bf8bd13d3",
        ),
        Source(
            "dexter",
            "index:value",
            20_000,
            (300, 300),
            (150, 150),
            "1cc7328c67bc74543fb8eb095bbd9261d072b9d6eb639b07e4deaea461fcc16e",
        ),
        Source(
            "dorothea",
            "index",
            100_000,
            (800, 350),
            (78, 34),
            "480e8ced565a5744c65b66257142c732c5a337f7cdb50a4abdc9f33728ddb5c7",
        ),
        Source(
            "madelon",
            "values",
            500,
            (2000, 600),
            (1000, 300),
            "f106f04196b826fccbdd598285afb270aa783b894dad041ca5f58ea4e287b2c0",
        ),
    )
}


def download(source: Source, home: str) -> Arrays:
    """Download and parse the four text files of a set; the files are not kept."""
    out: Arrays = {}
    with tempfile.TemporaryDirectory(prefix="ellzero-") as folder:
        for part in PARTS:
            for kind, key in (("data", f"X_{part}"), ("labels", f"y_{part}")):
                url = f"{home}/{source.address(part, kind)}"
                text = fetch(url, folder)
                try:
                    out[key] = parse_labels(text) if kind == "labels" else parse_matrix(source, text)
                except ValueError as error:
                    raise DatasetError(f"{url} is not the {source.name} file that it should be ({error}).") from None
    return out


def fetch(url: str, folder: str) -> bytes:
    """Download a file by scikit-learn's fetcher, or raise an error that says what went wrong."""
    with whole_imports():
        from sklearn.datasets import fetch_file  # not at the top: it imports all of scikit-learn's own sets

    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Retry downloading")
            file: Path = fetch_file(url, folder=folder, n_retries=RETRIES, delay=RETRY_SECONDS)
        return file.read_bytes()
    except (OSError, http.client.HTTPException) as error:  # a URLError, a timeout and a refused connection are OSErrors
        reason = str(getattr(error, "reason", None) or error)
        raise DatasetError(f"{url} could not be downloaded ({reason.removeprefix('<').removesuffix('>')}).") from error


def parse_labels(text: bytes) -> NDArray[np.int8]:
    """Parse a file with one label, -1 or +1, in each line."""
    labels = np.loadtxt(io.BytesIO(text), dtype=np.int64, ndmin=1)
    if not np.isin(labels, (-1, 1)).all():
        raise ValueError("a label is neither -1 nor 1")
    return labels.astype(np.int8)


def parse_matrix(source: Source, text: bytes) -> NDArray[Any] | sparse.csr_matrix:
    """Parse the matrix of a data file."""
    if source.is_sparse:
        return parse_pairs(source, text)
    return np.loadtxt(io.BytesIO(text), dtype=np.int64, ndmin=2).astype(source.dtype)


def parse_pairs(source: Source, text: bytes) -> sparse.csr_matrix:
    """Parse a sparse matrix, one row in a line: pairs index:value, or the indices of the ones; a line may be empty."""
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
    """Raise an error if this is not the official set: shapes and class counts say what is wrong, the digest misses nothing."""
    for problem in faults_of_set(source, arrays):
        raise DatasetError(f"{origin} does not hold the {source.name} data: {problem}.")


def faults_of_set(source: Source, arrays: Arrays) -> Iterator[str]:
    """Yield what differs from the official set."""
    for part, rows, positives in zip(PARTS, source.rows, source.positives, strict=True):
        X, y = arrays[f"X_{part}"], arrays[f"y_{part}"]
        if sparse.issparse(X) != source.is_sparse:
            yield f"X_{part} is {'sparse' if sparse.issparse(X) else 'dense'}"
        if X.shape != (rows, source.columns):
            yield f"X_{part} has shape {X.shape}, expected {(rows, source.columns)}"
        if y.shape != (rows,):
            yield f"y_{part} has shape {y.shape}, expected {(rows,)}"
        for name, array in ((f"X_{part}", X), (f"y_{part}", y)):
            if array.dtype.kind != "i":
                yield f"{name} holds {array.dtype}, expected integers"
        found = (int((y == 1).sum()), int((y == -1).sum()))
        if found != (positives, rows - positives):
            yield f"y_{part} has {found[0]} labels +1 and {found[1]} labels -1, expected {positives} and {rows - positives}"
    if (found_digest := digest_of_set(arrays)) != source.digest:
        yield f"the SHA-256 digest of its numbers is {found_digest}, expected {source.digest}"


def digest_of_set(arrays: Arrays) -> str:
    """Return the SHA-256 of the numbers of a set, independent of integer type, order and sparse format.

    That of each text file would say the same, but was not known when this was written: the digests in ``SOURCES`` are of
    copies whose shapes, class counts and sums agree with the official description.
    """
    out = hashlib.sha256()
    for part in PARTS:
        for numbers in (*hashed_arrays(arrays[f"X_{part}"]), arrays[f"y_{part}"]):
            values = np.ascontiguousarray(numbers, dtype="<i8")
            out.update(f"{values.shape}".encode())
            out.update(values.data)
    return out.hexdigest()


def hashed_arrays(X: Any) -> tuple[NDArray[Any], ...]:
    """Return the arrays to hash: a dense matrix itself; of a sparse one shape, row pointers, columns and values by rows."""
    if not sparse.issparse(X):
        return (X,)
    rows = sparse.csr_matrix(X, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return np.array(rows.shape), rows.indptr, rows.indices, rows.data
