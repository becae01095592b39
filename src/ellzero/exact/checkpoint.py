"""Checkpoints: a search is written to a file from time to time, so that a later process can continue it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ellzero import _core
from ellzero.base.errors import InvalidInputError
from ellzero.base.reading import Malformed, read_archive
from ellzero.exact.certificate import fingerprint_design, save_arrays
from ellzero.exact.snapshot_file import FORMS, from_arrays, to_arrays
from ellzero.exact.verifier import fingerprint_vector
from ellzero.exact.verifier.data import Refused

if TYPE_CHECKING:
    from ellzero.exact.search import Search

KEPT = ("bound", "free_bound", "searched", "integral", "iteration")
"""The attributes of a search that are kept next to its tree."""

FIRST_SECONDS = 1.0
# Writing may take this part of the running time.
WRITING_SHARE = 0.05


Save = Callable[[Path], None]
"""Writes the work to a file."""


class CheckpointFile:
    """The file of some work, and when to write it next; without a path there is no file, and nothing is written."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.wanted = path is not None
        self.path = Path(path or "")
        if self.wanted and not self.path.parent.is_dir():
            raise InvalidInputError(f"checkpoint must be a file in an existing folder, got {str(path)!r}.")
        self.next_write = time.monotonic() + FIRST_SECONDS

    @property
    def exists(self) -> bool:
        """Whether there is a file to go on from."""
        return self.wanted and self.path.exists()

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Replace what readers raise inside a `with` block by a sentence about the file."""
        try:
            yield
        except (Malformed, Refused) as error:
            why = f"it is damaged, or another version of ellzero wrote it ({error})"
            raise InvalidInputError(f"checkpoint {str(self.path)!r} cannot be read: {why}.") from None

    def refuse_unless(self, same: bool) -> None:
        """Refuse the file of another problem."""
        if not same:
            raise InvalidInputError(
                f"checkpoint {str(self.path)!r} belongs to another problem; remove it or name another file."
            )

    def write_if_due(self, save: Save) -> None:
        """Write the work if the file is old enough, and choose the time of the next write."""
        start = time.monotonic()
        if self.wanted and start >= self.next_write:
            save(self.path)
            self.next_write = start + max(FIRST_SECONDS, (time.monotonic() - start) / WRITING_SHARE)

    def end(self, save: Save, done: bool) -> None:
        """Write the work as it ends, or remove the file if nothing is left to do."""
        if self.wanted and done:
            self.path.unlink(missing_ok=True)
        elif self.wanted:
            save(self.path)


class Checkpoint(CheckpointFile):
    """The file of a search: its tree, what is kept next to it, and which problem and options it belongs to."""

    def __init__(self, search: Search) -> None:
        super().__init__(search.options.checkpoint)
        self.signature = signature(search) if self.wanted else {}
        self.n, self.p = (side * search.problem.outputs for side in search.problem.design.shape)

    def write(self, path: Path, search: Search) -> None:
        """Write a search to a file."""
        kept = {name: getattr(search, name) for name in KEPT}
        save_arrays(path, {"signature": self.signature, "kept": kept}, to_arrays(search.tree.snapshot()))

    def load(self) -> tuple[dict[str, Any], _core.Snapshot]:
        """Return what was kept next to the tree, and the snapshot of the search."""
        with self.explained():
            header, arrays = read_archive(self.path, FORMS)
            if header.keys() != {"signature", "kept"} or not isinstance(header["kept"], dict):
                raise Malformed("it has no header")
        self.refuse_unless(header["signature"] == json.loads(json.dumps(self.signature)))
        with self.explained():
            return header["kept"], from_arrays(arrays, self.n, self.p)


def signature(search: Search) -> dict[str, Any]:
    """Return all that must agree between a checkpoint and the call that continues it."""
    problem, options, penalty = search.problem, search.options, search.problem.penalty
    vectors = {name: getattr(penalty, name) for name in ("lower", "upper", "price", "heads")}
    vectors |= {"spread": problem.spread, "w": problem.w, "y": problem.y.ravel(order="F")}
    return {
        "budget": options.budget,
        "lambda_0": options.lambda_0,
        "k": options.k,
        "swap_size": options.swap_size,
        "home": None if options.home is None else options.home.tolist(),
        "wanted": asdict(options.wanted),
        "method": options.method,
        "bound": options.bound,
        "gap": options.gap,
        **problem.loss.settings,
        "units": [problem.units.column, problem.units.centre.tolist(), problem.units.response],
        "lambda_1": penalty.lambda_1,
        "lambda_2": penalty.lambda_2,
        "fit_intercept": problem.fit_intercept,
        "X": fingerprint_design(problem)[1],
        "rules": [[*asdict(each).values()] for each in problem.rules.statements],
        **{name: fingerprint_vector(vector.astype(np.float64)) for name, vector in vectors.items()},
    }
