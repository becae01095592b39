"""Checkpoints: a search is written to a file from time to time, so that a later process can continue it."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from ellzero import _core
from ellzero.base.errors import InvalidInputError
from ellzero.exact.certificate import save_arrays
from ellzero.exact.snapshot_file import from_arrays, to_arrays

__all__ = ["Checkpoint"]

FIRST_SECONDS = 1.0
# Writing may take this part of the running time.
WRITING_SHARE = 0.05


class Checkpoint:
    """The file of a search, and when to write it next; `signature` tells which problem and options it belongs to."""

    def __init__(self, path: str | os.PathLike[str], signature: dict[str, Any]) -> None:
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise InvalidInputError(f"checkpoint must be a file in an existing folder, got {str(path)!r}.")
        self.signature = signature
        self.next_write = time.monotonic() + FIRST_SECONDS

    def load(self) -> tuple[dict[str, Any], _core.Snapshot] | None:
        """Return what was kept beside the tree, and the snapshot of the search; None if there is no file yet."""
        if not self.path.exists():
            return None
        try:
            with open(self.path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            header = json.loads(arrays.pop("header").tobytes().decode())
            signature, kept = header["signature"], header["kept"]
        except Exception as error:  # a damaged or foreign file fails in many ways
            raise InvalidInputError(f"checkpoint {str(self.path)!r} cannot be read: {error}") from None
        if signature != json.loads(json.dumps(self.signature)):
            raise InvalidInputError(
                f"checkpoint {str(self.path)!r} belongs to another problem; remove it or name another file."
            )
        try:
            return kept, from_arrays(arrays)
        except (KeyError, ValueError, TypeError, IndexError):
            raise InvalidInputError(
                f"checkpoint {str(self.path)!r} cannot be read: it is damaged, or another version of ellzero wrote it."
            ) from None

    def write(self, search: _core.Search, kept: dict[str, Any]) -> None:
        """Write the search, and choose the time of the next write."""
        start = time.monotonic()
        save_arrays(self.path, {"signature": self.signature, "kept": kept}, to_arrays(search.snapshot()))
        spent = time.monotonic() - start
        self.next_write = start + max(FIRST_SECONDS, spent / WRITING_SHARE)

    def write_if_due(self, search: _core.Search, kept: dict[str, Any]) -> None:
        """Write the search if the file is old enough."""
        if time.monotonic() >= self.next_write:
            self.write(search, kept)

    def remove(self) -> None:
        """Remove the file, since the search is finished."""
        self.path.unlink(missing_ok=True)
