"""X times the coefficients of several models, with one read of X, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.design import Design
from ellzero.design.base import slices_of
from ellzero.problem.coefficients import Coefficients
from ellzero.problem.rows import LEAST_ROWS, ROWS_AT_A_TIME

Array = NDArray[np.float64]
Rows = Any  # a slice, or numbers


def products(
    design: Design, models: Sequence[Coefficients], rows: NDArray[np.int64] | None = None
) -> Iterator[tuple[Rows, Array]]:
    """Yield places in `rows` (None: all rows of X), and X coef there, of shape (places, models, outputs), without intercepts.

    Few rows, and those of an X that is not read by rows, come in one piece.
    """
    n, p = design.shape
    read = design.reader() if n >= LEAST_ROWS else None
    if read is None:
        whole = np.stack([product(design, at) for at in models], axis=1)
        yield slice(None), whole if rows is None else whole[rows]
        return
    columns = np.unique(np.concatenate([at.support for at in models]))
    listed = columns if 2 * len(columns) < p else None  # all columns of an array in memory are read without a copy
    columns = np.arange(p) if listed is None else columns
    table = np.zeros((len(columns), len(models), models[0].values.shape[1]))
    for number, at in enumerate(models):
        table[np.searchsorted(columns, at.support), number] = at.values
    flat, shape = table.reshape(len(columns), -1), (-1, *table.shape[1:])
    order = None if rows is None else np.argsort(rows, kind="stable")
    for part in slices_of(n, ROWS_AT_A_TIME):
        if order is None or rows is None:
            yield part, (read(part, listed).astype(np.float64, copy=False) @ flat).reshape(shape)
            continue
        first, last = np.searchsorted(rows, (part.start, part.stop), sorter=order)
        if first < last:
            places = order[first:last]
            block = read(part, listed)[rows[places] - part.start]
            yield places, (block.astype(np.float64, copy=False) @ flat).reshape(shape)


def product(design: Design, at: Coefficients) -> Array:
    """Return X coef of one model, with a column for each output."""
    return np.column_stack([design.matvec(at.support, np.ascontiguousarray(column)) for column in at.values.T])
