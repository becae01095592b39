"""Reader of svmlight/libsvm: sparse rows of text become tiles on the disk."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import numpy as np

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import in_bytes
from ellzero.base.reading import MOST_TIMES
from ellzero.conversion.content import Report, SparseContent
from ellzero.conversion.plan import Plan
from ellzero.conversion.transposing import SparseTiles
from ellzero.tables.streams import Stream
from ellzero.tables.svmlight import svmlight_batches, whole_numbers

COLUMN_BYTES = 256
"""Memory of a column, with or without entries: its name in several lists, and the places of its entries."""
TEXT_SHARE = 24
"""Memory of an entry, as a multiple of its text of at least 4 characters: the text, and its numbers by rows and by columns."""


def sparse_rows(plan: Plan, folder: Path, stack: ExitStack, report: Report) -> SparseContent:
    """Read all rows into tiles; indices begin at 1 unless an entry has the index 0."""
    plan.refuse("target_file", "drop", "impute", "separator", "missing", "drop_unlabelled")
    if plan.target not in (None, "y"):
        raise InvalidInputError(f"target is not for svmlight files: the lines of {plan.shown} begin with their labels.")
    stream = Stream(plan.source, stack)
    tiles = SparseTiles(folder / "rows", stack)
    labels = []
    size = 0
    zero = False  # whether an entry has the index 0
    for X, y, length in svmlight_batches(stream.content, plan.shown, max(1, plan.memory // TEXT_SHARE)):
        size += length
        needed = COLUMN_BYTES * X.shape[1]
        if needed > max(plan.memory, MOST_TIMES * max(size, stream.size)):
            raise InvalidInputError(
                f"{plan.shown} has the index {X.shape[1] - 1}: that many columns need {in_bytes(needed)} of memory, "
                "a lot for a file of this size; raise memory if the index is right."
            )
        zero = zero or bool((X.indices == 0).any())
        labels.append(y)
        tiles.append(X)
        report(stream.fraction)
    if not tiles.n:
        raise InvalidInputError(f"{plan.shown} has no rows.")
    first = int(not zero and tiles.p > 1)
    y = np.concatenate(labels)
    return SparseContent(
        source=plan.shown,
        n=tiles.n,
        p=tiles.p - first,
        names=[f"x{j}" for j in range(1, tiles.p)] if first else None,  # the indices of the file
        y=y if plan.regression else whole_numbers(y),
        target=None,
        scratch_bytes=tiles.size,
        entries=tiles.entries,
        blocks=lambda most: tiles.blocks(first, most),
    )
