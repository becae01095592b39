"""The files of a column store: its description (about.json), and arrays that are read in place."""

from __future__ import annotations

import os
import weakref
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import quoted
from ellzero.base.reading import Malformed, open_file, read_header, read_json
from ellzero.base.systems import open_to_read, read_at

FORMAT, VERSION, ABOUT = "ellzero columns", 1, "about.json"
TYPES = ("float64", "float32", "int8")
SMALL_FILES = ("indptr.npy", "y.npy", "names.json")
"""The small files next to the numbers, which are read as a whole."""
FILES = ("X.npy", "data.npy", "indices.npy", *SMALL_FILES)


class ArrayFile:
    """A ``.npy`` file whose entries are read in place."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise damaged(path.parent, f"{path.name} is {'no file' if path.exists() else 'missing'}")
        try:
            with open_file(path) as stream:
                header = read_header(stream)
        except Malformed as error:
            raise InvalidInputError(f"{path} cannot be read: {error}.") from None
        self.shape, self.fortran, self.dtype = header.shape, header.fortran, header.dtype
        self.offset, self.nbytes = header.length, header.nbytes
        if not self.dtype.isnative:
            raise InvalidInputError(f"{path} must hold numbers of this machine's byte order, got {self.dtype}.")
        self.descriptor = open_to_read(path)
        weakref.finalize(self, os.close, self.descriptor)
        self.seen = self._state()
        if self.seen[0] < self.offset + self.nbytes:
            raise self._truncated(self.seen[0])

    def _state(self) -> tuple[int, int]:
        state = os.fstat(self.descriptor)
        return state.st_size, state.st_mtime_ns

    def _truncated(self, size: int) -> InvalidInputError:
        whole = self.offset + self.nbytes
        return InvalidInputError(f"{self.path} is truncated: it has {size} bytes, its header promises {whole}.")

    def read(self, first: int, target: NDArray[np.uint8]) -> None:
        """Read bytes from entry `first` on, as many as the target holds."""
        begin, done = self.offset + first * self.dtype.itemsize, 0
        while done < len(target):
            count = read_at(self.descriptor, begin + done, target[done:])
            if count == 0:
                raise self._truncated(self._state()[0])
            done += count
        if self._state() != self.seen:
            raise InvalidInputError(f"{self.path} has changed since it was opened; open it again.")


def read_about(folder: Path) -> dict[str, Any]:
    """Read and check the description of a store."""
    file = folder / ABOUT
    if not file.is_file():
        raise InvalidInputError(f"{folder} is not a column store: it has no {ABOUT}.")
    try:
        about = read_json(file)
    except Malformed as error:
        raise damaged(folder, f"in {ABOUT}, {error}") from None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise InvalidInputError(f"{folder} is not a column store: its {ABOUT} does not say so.")
    if about.get("version") != VERSION:
        made = about.get("made_by", "another version")
        raise InvalidInputError(
            f"{folder} has format version {quoted(about.get('version'))} (by {quoted(made)}); "
            f"this ellzero reads version {VERSION}."
        )
    if not all(is_count(about.get(key)) for key in ("n", "p", "block_columns")) or not about["block_columns"]:
        raise damaged(folder, f"{ABOUT} lacks what describes X")
    if about.get("storage") not in ("dense", "sparse"):
        raise damaged(folder, f"{ABOUT} lacks what describes X")
    about.setdefault("target", None)
    about.setdefault("checks", {})
    checksums, files, checks = about.get("crc32"), about.get("files"), about["checks"]
    if not isinstance(checksums, list) or not all(map(is_count, checksums)):
        raise damaged(folder, f"{ABOUT} lacks checksums")
    if not isinstance(files, dict) or not all(map(is_count, files.values())):
        raise damaged(folder, f"{ABOUT} lacks the sizes of the files")
    if not isinstance(checks, dict) or not all(map(is_count, checks.values())):
        raise damaged(folder, f"{ABOUT} does not have checksums as it should")
    if not isinstance(about["target"], str | None):
        raise damaged(folder, f"{ABOUT} does not name the target as it should")
    about["files"] = {name: files[name] for name in FILES if name in files}
    for name, size in about["files"].items():
        found = (folder / name).stat().st_size if (folder / name).is_file() else None
        if found != size:
            problem = "is missing" if found is None else f"has {found} bytes, {size} were written"
            raise damaged(folder, f"{name} {problem}")
    return about


def is_count(value: Any) -> bool:
    """Return whether a value of JSON is a whole number that is not negative."""
    return type(value) is int and value >= 0


def damaged(path: Path, how: str) -> InvalidInputError:
    """Return the error about a store that is not as it was written."""
    return InvalidInputError(f"{path} is damaged: {how}.")


def file_stamp(file: Path) -> tuple[int, int, int] | None:
    """Return numbers that differ if another file has taken this one's name; None if there is no file."""
    try:
        state = file.stat()
    except OSError:
        return None
    return state.st_dev, state.st_ino, state.st_mtime_ns
