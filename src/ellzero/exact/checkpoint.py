"""Checkpoints: a search is written to a file from time to time, so that a later process can continue it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ellzero import _core
from ellzero.base.errors import InvalidInputError
from ellzero.base.reading import Malformed, read_archive
from ellzero.exact.certificate import save_arrays
from ellzero.exact.snapshot_file import FORMS, from_arrays, to_arrays

if TYPE_CHECKING:
    from ellzero.exact.search import Search

KEPT = ("bound", "free_bound", "searched", "integral", "iteration")
"""The attributes of a search that are kept beside its tree."""

FIRST_SECONDS = 1.0
# Writing may take this part of the running time.
WRITING_SHARE = 0.05


class Checkpoint:
    """The file of a search on an X of this shape, and when to write it next.

    `signature` tells which problem and options it belongs to.
    """

    def __init__(self, path: str | os.PathLike[str], signature: dict[str, Any], shape: tuple[int, int]) -> None:
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise InvalidInputError(f"checkpoint must be a file in an existing folder, got {str(path)!r}.")
        self.signature = signature
        self.shape = shape
        self.next_write = time.monotonic() + FIRST_SECONDS

    def load(self) -> tuple[dict[str, Any], _core.Snapshot] | None:
        """Return what was kept beside the tree, and the snapshot of the search; None if there is no file yet."""
        if not self.path.exists():
            return None
        with self.explained():
            header, arrays = read_archive(self.path, FORMS)
            if header.keys() != {"signature", "kept"} or not isinstance(header["kept"], dict):
                raise Malformed("it has no header")
        if header["signature"] != json.loads(json.dumps(self.signature)):
            raise InvalidInputError(
                f"checkpoint {str(self.path)!r} belongs to another problem; remove it or name another file."
            )
        with self.explained():
            return header["kept"], from_arrays(arrays, *self.shape)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Replace `Malformed` inside a `with` block by a sentence about the file."""
        try:
            yield
        except Malformed as error:
            why = f"it is damaged, or another version of ellzero wrote it ({error})"
            raise InvalidInputError(f"checkpoint {str(self.path)!r} cannot be read: {why}.") from None

    def write(self, search: Search) -> None:
        """Write the search, and choose the time of the next write."""
        start = time.monotonic()
        kept = {name: getattr(search, name) for name in KEPT}
        save_arrays(self.path, {"signature": self.signature, "kept": kept}, to_arrays(search.tree.snapshot()))
        spent = time.monotonic() - start
        self.next_write = start + max(FIRST_SECONDS, spent / WRITING_SHARE)

    def write_if_due(self, search: Search) -> None:
        """Write the search if the file is old enough."""
        if time.monotonic() >= self.next_write:
            self.write(search)

    def end(self, search: Search, done: bool) -> None:
        """Write the search as it ends, or remove the file if nothing is left to search."""
        if done:
            self.path.unlink(missing_ok=True)
        else:
            self.write(search)
