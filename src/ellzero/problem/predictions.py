"""X times the coefficients of several models, with one read of X, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.blas import one_thread
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
    if not comes_in_blocks(design) or (read := design.reader()) is None:
        whole = np.stack([product(design, at) for at in models], axis=1)
        yield slice(None), whole if rows is None else whole[rows]
        return
    columns = np.unique(np.concatenate([at.support for at in models]))
    listed = columns if 2 * len(columns) < p else None  # all columns of an array in memory are read without a copy
    columns = np.arange(p) if listed is None else columns
    table = np.zeros((len(columns), len(models), models[0].values.shape[1]))
    for number, at in enumerate(models):
        table[np.searchsorted(columns, at.support), number] = at.values
    flat, shape = table.reshape(len(columns), -1), (*table.shape[1:], -1)
    order = None if rows is None else np.argsort(rows, kind="stable")
    for part in slices_of(n, ROWS_AT_A_TIME):
        places: Rows = part
        if order is not None and rows is not None:
            first, last = np.searchsorted(rows, (part.start, part.stop), sorter=order)
            if first == last:
                continue
            places = order[first:last]
        block = read(part, listed)
        if rows is not None:
            block = block[rows[places] - part.start]
        with one_thread:
            values = flat.T @ block.T.astype(np.float64, copy=False)
        yield places, values.reshape(shape).transpose(2, 0, 1)


def comes_in_blocks(design: Design) -> bool:
    """Return whether `products` come in blocks of rows: a sparse X has its columns multiplied in less time."""
    return design.shape[0] >= LEAST_ROWS and not sparse.issparse(design.stored()) and design.reader() is not None


def product(design: Design, at: Coefficients) -> Array:
    """Return X coef of one model, with a column for each output."""
    return np.column_stack([design.matvec(at.support, np.ascontiguousarray(column)) for column in at.values.T])
