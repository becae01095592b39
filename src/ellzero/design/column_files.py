"""The files of a column store: its description (about.json), and arrays that are read in place."""

from __future__ import annotations

import io
import json
import os
import weakref
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError

__all__ = [
    "ABOUT",
    "FORMAT",
    "SMALL_FILES",
    "TYPES",
    "VERSION",
    "ArrayFile",
    "damaged",
    "file_stamp",
    "load_array",
    "read_about",
    "read_header",
]

FORMAT, VERSION, ABOUT = "ellzero columns", 1, "about.json"
TYPES = ("float64", "float32", "int8")
SMALL_FILES = ("indptr.npy", "y.npy", "names.json")
"""The small files beside the numbers, which are read as a whole."""


class ArrayFile:
    """A ``.npy`` file whose entries are read in place."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with open(path, "rb") as stream:
                self.shape, self.fortran, dtype = read_header(stream)
                self.offset = stream.tell()
        except FileNotFoundError:
            raise damaged(path.parent, f"{path.name} is missing") from None
        except ValueError as error:
            raise InvalidInputError(f"{path} is no NumPy array: {' '.join(str(error).split())}") from None
        self.dtype: np.dtype[Any] = dtype
        if dtype.hasobject or not dtype.isnative:
            raise InvalidInputError(f"{path} must hold numbers of this machine's byte order, got {dtype}.")
        self.nbytes = int(np.prod(self.shape, dtype=np.int64)) * dtype.itemsize
        self.descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
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
            count = os.preadv(self.descriptor, [target[done:]], begin + done)  # type: ignore[list-item]
            if count == 0:
                raise self._truncated(self._state()[0])
            done += count
        if self._state() != self.seen:
            raise InvalidInputError(f"{self.path} has changed since it was opened; open it again.")


def read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return the shape, whether the order is Fortran's, and the type of the array that follows in the stream."""
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return read(stream)


def read_about(folder: Path) -> dict[str, Any]:
    """Read and check the description of a store."""
    file = folder / ABOUT
    if not file.exists():
        raise InvalidInputError(f"{folder} is no column store: it has no {ABOUT}.")
    try:
        about = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        raise damaged(folder, f"{ABOUT} is no JSON") from None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise InvalidInputError(f"{folder} is no column store: its {ABOUT} does not say so.")
    if about.get("version") != VERSION:
        made = about.get("made_by", "another version")
        raise InvalidInputError(
            f"{folder} has format version {about.get('version')} (by {made}); this ellzero reads version {VERSION}."
        )
    counts = all(isinstance(about.get(key), int) and about[key] >= 0 for key in ("n", "p", "block_columns"))
    if not counts or not about["block_columns"] or about.get("storage") not in ("dense", "sparse"):
        raise damaged(folder, f"{ABOUT} lacks what describes X")
    if not isinstance(about.get("crc32"), list) or not isinstance(about.get("files"), dict):
        raise damaged(folder, f"{ABOUT} lacks checksums or sizes")
    about.setdefault("target", None)
    about.setdefault("checks", {})
    if not isinstance(about["target"], str | None) or not isinstance(about["checks"], dict):
        raise damaged(folder, f"{ABOUT} does not name the target, or checksums, as it should")
    for name, size in about["files"].items():
        path = folder / str(name)
        found = path.stat().st_size if path.exists() else None
        if found != size:
            problem = "is missing" if found is None else f"has {found} bytes, {size} were written"
            raise damaged(folder, f"{name} {problem}")
    return about


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


def load_array(content: bytes) -> NDArray[Any]:
    """Return the array of a ``.npy`` file."""
    if not content.startswith(b"\x93NUMPY"):
        raise ValueError("no NumPy array")
    loaded: NDArray[Any] = np.load(io.BytesIO(content), allow_pickle=False)
    return loaded
