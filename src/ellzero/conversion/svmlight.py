"""Reader of svmlight/libsvm: sparse rows of text become tiles on the disk."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import numpy as np

from ellzero.base.errors import InvalidInputError
from ellzero.base.imports import whole_imports
from ellzero.base.quoting import in_bytes, one_line
from ellzero.base.reading import MOST_TIMES
from ellzero.conversion.content import Report, SparseContent
from ellzero.conversion.labels import whole_numbers
from ellzero.conversion.plan import Plan
from ellzero.conversion.streams import Stream
from ellzero.conversion.transposing import SparseTiles

__all__ = ["read_svmlight"]

COLUMN_BYTES = 256
"""Memory of a column, with or without entries: its name in several lists, and the places of its entries."""
TEXT_SHARE = 24
"""Memory of an entry, as a multiple of its text of at least 4 characters: the text, and its numbers by rows and by columns."""


def read_svmlight(plan: Plan, folder: Path, stack: ExitStack, report: Report) -> SparseContent:
    """Read all rows into tiles; indices begin at 1 unless an entry has the index 0."""
    plan.refuse("target_file", "drop", "impute", "separator", "missing", "drop_unlabelled")
    if plan.target not in (None, "y"):
        raise InvalidInputError(f"target is not for svmlight files: the lines of {plan.shown} begin with their labels.")
    stream = Stream(plan.source, stack)
    tiles = SparseTiles(folder / "rows", stack)
    labels = []
    line = size = 0
    zero = False  # whether an entry has the index 0
    for text in line_blocks(stream.content, max(1, plan.memory // TEXT_SHARE)):
        X, y = parsed(text, plan, line)
        line += text.count(b"\n")
        size += len(text)
        needed = COLUMN_BYTES * X.shape[1]
        if needed > max(plan.memory, MOST_TIMES * max(size, stream.size)):
            raise InvalidInputError(
                f"{plan.shown} has the index {X.shape[1] - 1}: so many columns need {in_bytes(needed)} of memory, "
                "much for a file of this size; allow it by memory if the index is right."
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


def line_blocks(stream: IO[bytes], size: int) -> Iterator[bytes]:
    """Yield whole lines, about `size` bytes of them at a time."""
    rest: list[bytes] = []
    while block := stream.read(size):
        cut = block.rfind(b"\n") + 1
        if not cut:  # the line is longer than the block
            rest.append(block)
            continue
        yield b"".join([*rest, block[:cut]])
        rest = [block[cut:]]
    if any(rest):
        yield b"".join(rest)


def parsed(text: bytes, plan: Plan, line: int) -> tuple[Any, Any]:
    """Parse some lines; `line` is the number of lines before them, for errors."""
    with whole_imports():
        from sklearn.datasets import load_svmlight_file

    try:
        return load_svmlight_file(io.BytesIO(text), zero_based=True)
    except (ValueError, OverflowError) as error:
        where, reason = "", one_line(error)  # lines may be bad only together
        for number, content in enumerate(io.BytesIO(text), line + 1):
            try:
                load_svmlight_file(io.BytesIO(content), zero_based=True)
            except (ValueError, OverflowError) as first:
                where, reason = f" in line {number}", one_line(first)
                break
        raise InvalidInputError(
            f"{plan.shown} cannot be read as svmlight (lines of 'label index:value ...'){where}: {reason}."
        ) from None
