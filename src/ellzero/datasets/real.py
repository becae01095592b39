"""Real benchmark sets, downloaded once and kept in a cache."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import DatasetError
from ellzero.base.files import replacing
from ellzero.base.reading import Archive, Malformed, parse_array
from ellzero.base.validation import as_choice
from ellzero.datasets import uci
from ellzero.datasets.uci import PARTS, SOURCES, Arrays, Source
from ellzero.tables.sparse_archive import read_sparse

Matrix: TypeAlias = Any  # column-major float64 array or CSR matrix
Labels = NDArray[np.int64]
Split = Literal["train", "valid", "all"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """The labelled rows of a benchmark set. ``X, y = dataset`` takes all of them, the training rows first.

    Attributes
    ----------
    name : str
    X_train, X_valid : (n, p) float64, column-major arrays or CSR matrices
    y_train, y_valid : (n,) of -1 and +1

    """

    name: str
    X_train: Matrix
    y_train: Labels
    X_valid: Matrix
    y_valid: Labels

    @property
    def X(self) -> Matrix:
        """The rows of both parts, the training rows first."""
        if sparse.issparse(self.X_train):
            return sparse.vstack([self.X_train, self.X_valid], format="csr")
        return np.asfortranarray(np.concatenate([self.X_train, self.X_valid]))

    @property
    def y(self) -> Labels:
        """The labels of both parts."""
        return np.concatenate([self.y_train, self.y_valid])

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))

    def __repr__(self) -> str:
        kind = "sparse" if sparse.issparse(self.X_train) else "dense"
        rows = " + ".join(str(len(y)) for y in (self.y_train, self.y_valid))
        return f"{self.name}: {rows} rows, {self.X_train.shape[1]} features, {kind}, {int((self.y == 1).sum())} labels +1"


@overload
def load(name: str, split: None = None) -> Dataset: ...


@overload
def load(name: str, split: Split) -> tuple[Matrix, Labels]: ...


def load(name: str, split: Split | None = None) -> Dataset | tuple[Matrix, Labels]:
    """Load a feature-selection set of NIPS 2003: "arcene", "dexter", "dorothea" or "madelon".

    The first call fetches the set from the UCI repository (1 to 10 MB) and keeps it; later ones need no network. The folder
    is ``ellzero`` in the user's cache directory, or the one that the environment variable ``ELLZERO_DATA`` names. Shapes,
    class counts and a checksum of all numbers are compared with those of the official set at every call.

    Parameters
    ----------
    name : {"arcene", "dexter", "dorothea", "madelon"}
        Cancer from mass spectra (200 rows, 10,000 features, dense), texts on corporate acquisitions (600, 20,000, sparse),
        molecules that bind to thrombin (1,150, 100,000, sparse and binary; 10 % positive), an artificial problem (2,600, 500,
        dense) that no linear model solves well.
    split : {None, "train", "valid", "all"}
        None returns a :class:`datasets.Dataset`; a name returns ``(X, y)`` of the training rows, the validation rows, or both.
        (The labels of the test rows were never published.)

    Returns
    -------
    Dataset or (X, y)
        Dense X is column-major float64 and is used without a copy; sparse X is CSR.

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y = ez.datasets.load("arcene")  # doctest: +SKIP
    >>> X_train, y_train = ez.datasets.load("arcene", split="train")  # doctest: +SKIP

    """
    source = SOURCES[as_choice("name", name, tuple(SOURCES))]
    if split is not None:
        as_choice("split", split, (*PARTS, "all"))
    folder = cache_folder()
    arrays = read(source, folder)
    if arrays is None:
        arrays = uci.download(source, uci.HOME)
        uci.check(source, arrays, uci.HOME)
        store(source, arrays, folder)
    dataset = Dataset(name, *(as_wide_numbers(arrays[f"{kind}_{part}"]) for part in PARTS for kind in "Xy"))
    if split is None:
        return dataset
    if split == "all":
        return dataset.X, dataset.y
    return getattr(dataset, f"X_{split}"), getattr(dataset, f"y_{split}")


def as_wide_numbers(stored: Any) -> Any:
    """Return stored small integers in the types that arithmetic needs: int16 would overflow in the first product."""
    if sparse.issparse(stored):
        return stored.astype(np.float64)
    return stored.astype(np.int64) if stored.ndim == 1 else np.asfortranarray(stored, dtype=np.float64)


def cache_folder() -> Path:
    """Return the folder that ELLZERO_DATA names, or the one in the user's cache directory."""
    if named := os.environ.get("ELLZERO_DATA"):
        return Path(named).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache") / "ellzero"


def cached_files(source: Source, folder: Path) -> dict[Path, list[str]]:
    """Return the files of a set and the arrays in each: one archive if it is dense, else one file for each array."""
    keys = [f"{kind}_{part}" for part in PARTS for kind in "Xy"]
    if not source.is_sparse:
        return {folder / f"{source.name}.npz": keys}
    return {folder / f"{source.name}_{key[2:]}_{key[0]}.{'npz' if key[0] == 'X' else 'npy'}": [key] for key in keys}


def read(source: Source, folder: Path) -> Arrays | None:
    """Read the set from its cache; None if it is not there."""
    files = cached_files(source, folder)
    if not all(file.exists() for file in files):
        return None
    arrays: Arrays = {}
    for file, keys in files.items():
        try:
            with file.open("rb") as stream:
                arrays |= read_arrays(stream, keys, source)
        except (OSError, Malformed) as error:
            raise DatasetError(f"{file} cannot be read ({error}); remove it to fetch {source.name} again.") from error
    uci.check(source, arrays, folder)
    return arrays


def read_arrays(stream: IO[bytes], keys: list[str], source: Source) -> Arrays:
    """Read the arrays of one file, without pickles, which could run code."""
    if source.is_sparse and keys[0][0] == "y":
        return {keys[0]: parse_array(stream.read())}
    with Archive(stream) as archive:
        if source.is_sparse:
            return {keys[0]: read_sparse(archive)}
        if missing := [key for key in keys if key not in archive.members]:
            raise Malformed(f"it has no array {missing[0]}")
        return {key: archive.read(key) for key in keys}


def write_arrays(stream: IO[bytes], arrays: Arrays) -> None:
    """Write the arrays of one file as `read_arrays` reads them."""
    if len(arrays) > 1:
        np.savez_compressed(stream, **arrays)
        return
    ((key, array),) = arrays.items()
    (sparse.save_npz if key[0] == "X" else np.save)(stream, array)


def store(source: Source, arrays: Arrays, folder: Path) -> None:
    """Write the set into the cache; other processes never see half a file."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, keys in cached_files(source, folder).items():
            with replacing(file) as stream:
                write_arrays(stream, {key: arrays[key] for key in keys})
    except OSError as error:
        raise DatasetError(
            f"{source.name} was fetched but cannot be saved in {folder} ({error.strerror or error}); "
            "the environment variable ELLZERO_DATA names another folder."
        ) from error
