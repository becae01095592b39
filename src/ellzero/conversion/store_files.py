"""The files that dense and sparse stores have in common (`docs/column-store.md` describes the format)."""

from __future__ import annotations

import json
import os
import zlib
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

import numpy as np

from ellzero.base.errors import InvalidInputError
from ellzero.conversion.checking import Contents
from ellzero.design.column_files import ABOUT, FORMAT, SMALL_FILES, VERSION

__all__ = ["Files", "synced"]


class Files:
    """The files of a store in an existing folder, which becomes a store when `finish` has written about.json."""

    storage = ""

    def __init__(self, folder: Path, contents: Contents) -> None:
        self.folder = folder
        self.contents = contents
        self.done = 0  # columns that are written
        self.open = ExitStack()

    def create(self, name: str) -> IO[bytes]:
        """Open a file for writing, which `finish` or `close` closes."""
        return self.open.enter_context(open(self.folder / name, "wb+"))

    def close(self) -> None:
        """Close all files."""
        self.open.close()

    def advance(self, shape: tuple[int, ...]) -> None:
        """Check the shape of the next block and count its columns."""
        contents = self.contents
        if len(shape) != 2 or shape[0] != contents.n:
            raise InvalidInputError(f"block must have shape ({contents.n}, columns), got {shape}.")
        if self.done + shape[1] > contents.p:
            raise InvalidInputError(f"block goes beyond the {contents.p} columns of the store: {self.done} are there already.")
        self.done += shape[1]

    def finish(self) -> None:
        """Write the files beside the numbers, about.json last."""
        contents = self.contents
        if self.done < contents.p:
            raise InvalidInputError(f"only {self.done} of {contents.p} columns were appended.")
        block_columns, checksums = self.end()
        if contents.y is not None:
            with open(self.folder / "y.npy", "wb") as file:
                np.save(file, contents.y, allow_pickle=False)
                synced(file)
        if contents.names is not None:
            self.write_json("names.json", list(contents.names))
        sizes = {path.name: path.stat().st_size for path in sorted(self.folder.iterdir())}
        about = {
            "format": FORMAT,
            "version": VERSION,
            "storage": self.storage,
            "n": contents.n,
            "p": contents.p,
            "dtype": contents.dtype.name,
            "block_columns": block_columns,
            "crc32": checksums,
            "target": contents.target,
            "files": sizes,
            "checks": {name: zlib.crc32((self.folder / name).read_bytes()) for name in SMALL_FILES if name in sizes},
            "made_by": f"ellzero {version('ellzero')}",
        }
        self.write_json(ABOUT, about)

    def end(self) -> tuple[int, list[int]]:
        """Complete the files of the numbers; return the columns in a block and the checksum of each block."""
        raise NotImplementedError

    def write_json(self, name: str, value: Any) -> None:
        """Write a value as a JSON file."""
        with open(self.folder / name, "wb") as file:
            file.write(json.dumps(value, ensure_ascii=False).encode())
            synced(file)


def synced(file: IO[bytes]) -> None:
    """Make sure that all of a file is on the disk."""
    file.flush()
    os.fsync(file.fileno())
