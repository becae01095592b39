"""A search on disk: written now and then, so that a run that was killed goes on where it was."""

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
# Writing may take this share of the time.
WRITING_SHARE = 0.05


class Checkpoint:
    """The file and when to write it next. `signature` says which problem it belongs to."""

    def __init__(self, path: str | os.PathLike[str], signature: dict[str, Any]) -> None:
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise InvalidInputError(f"checkpoint must be a file in an existing folder, got {str(path)!r}.")
        self.signature = signature
        self.next_write = time.monotonic() + FIRST_SECONDS

    def load(self) -> tuple[dict[str, Any], _core.Snapshot] | None:
        """Read what was kept beside the search, and the search itself; None if there is no file yet."""
        if not self.path.exists():
            return None
        try:
            with open(self.path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            header = json.loads(arrays.pop("header").tobytes().decode())
            signature, kept = header["signature"], header["kept"]
        except Exception as error:  # whatever a damaged or foreign file makes of itself
            raise InvalidInputError(f"checkpoint {str(self.path)!r} cannot be read: {error}") from None
        if signature != json.loads(json.dumps(self.signature)):
            raise InvalidInputError(
                f"checkpoint {str(self.path)!r} belongs to another problem; remove it or name another file."
            )
        return kept, from_arrays(arrays)

    def write(self, search: _core.Search, kept: dict[str, Any]) -> None:
        """Write now."""
        start = time.monotonic()
        save_arrays(self.path, {"signature": self.signature, "kept": kept}, to_arrays(search.snapshot()))
        spent = time.monotonic() - start
        self.next_write = start + max(FIRST_SECONDS, spent / WRITING_SHARE)

    def write_if_due(self, search: _core.Search, kept: dict[str, Any]) -> None:
        """Write if the last one is old enough."""
        if time.monotonic() >= self.next_write:
            self.write(search, kept)

    def remove(self) -> None:
        """The search is finished."""
        self.path.unlink(missing_ok=True)
