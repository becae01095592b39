"""Reader of Parquet, which is stored by columns: nothing is transposed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import one_line
from ellzero.conversion.content import DenseContent, Report, narrowest
from ellzero.conversion.plan import UNLABELLED, Plan
from ellzero.tables.columns import check_names, worded
from ellzero.tables.optional import need
from ellzero.tables.target import column_labels, column_response
from ellzero.tables.text import refuse_twice

__all__ = ["read_parquet"]


def read_parquet(plan: Plan, folder: Path, stack: ExitStack, report: Report) -> DenseContent:
    """Read the columns of a file, row group by row group."""
    plan.refuse("target_file", "separator", "missing")
    pyarrow = need("pyarrow")
    try:
        file = stack.enter_context(need("pyarrow.parquet").ParquetFile(plan.source, pre_buffer=False))
    except (pyarrow.ArrowException, ValueError, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise InvalidInputError(f"{plan.shown} cannot be read as Parquet: {one_line(error)}.") from None
    fields = {field.name: field.type for field in file.schema_arrow}
    refuse_twice(plan.shown, file.schema_arrow.names)
    check_names(list(fields), [] if plan.target is None else [plan.target], plan.shown, "target: ")
    check_names(list(fields), list(plan.drop), plan.shown, "drop: ")
    n = file.metadata.num_rows
    if not n:
        raise InvalidInputError(f"{plan.shown} has no rows.")
    left_out = {*index_columns(file.schema_arrow), *plan.drop, *([] if plan.target is None else [plan.target])}
    names = [name for name in fields if name not in left_out]
    if not names:
        raise InvalidInputError(f"{plan.shown} has no columns beside the target.")
    refuse_other_kinds(plan, {name: fields[name] for name in names})
    y, keep = (None, None) if plan.target is None else read_target(plan, file)
    dtype = narrowest([numpy_type(fields[name]) for name in names])
    return DenseContent(
        source=plan.shown,
        n=n if keep is None else int(keep.sum()),
        p=len(names),
        names=names,
        y=y,
        target=plan.target,
        dtype=dtype,
        pieces=lambda first, last: pieces(plan, file, names[first:last], dtype, keep),
    )


def index_columns(schema: Any) -> list[str]:
    """Return the columns that hold the index of the data frame that was written; they are no features."""
    known = schema.pandas_metadata or {}
    return [name for name in known.get("index_columns", []) if isinstance(name, str)]


def refuse_other_kinds(plan: Plan, fields: dict[str, Any]) -> None:
    """Raise an error that names the columns that do not hold numbers or truth values."""
    types = need("pyarrow").types
    empty = [name for name, kind in fields.items() if types.is_null(kind)]
    if empty:
        raise InvalidInputError(f"{worded(empty)} of {plan.shown} hold no values at all; leave out with drop.")
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    other = [name for name, kind in fields.items() if not any(test(kind) for test in tests)]
    if other:
        kind = fields[other[0]]
        raise InvalidInputError(f"{worded(other)} of {plan.shown} must hold numbers, got {kind}; leave out with drop.")


def numpy_type(kind: Any) -> np.dtype[Any]:
    """Return the NumPy type that holds all values of a column."""
    return np.dtype(np.float64) if need("pyarrow").types.is_decimal(kind) else np.dtype(kind.to_pandas_dtype())


def read_target(plan: Plan, file: Any) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Read the target, and which rows have one (None: all)."""
    need("pandas")
    column = file.read(columns=[plan.target], use_threads=False).column(plan.target).to_pandas()
    column.name = plan.target
    absent = column.isna().to_numpy()
    if absent.all():
        raise InvalidInputError(f"target {plan.target!r} of {plan.shown} has no values at all.")
    keep = None
    if absent.any() and plan.drop_unlabelled:
        keep = ~absent
        column = column[keep]
    elif absent.any():
        raise InvalidInputError(
            f"target {plan.target!r} of {plan.shown} is missing in row {int(np.argmax(absent)) + 1}; {UNLABELLED}"
        )
    return column_response(column, plan.shown, plan.decimal) if plan.regression else column_labels(column), keep


def pieces(
    plan: Plan, file: Any, names: list[str], dtype: np.dtype[Any], keep: NDArray[np.bool_] | None
) -> Iterator[NDArray[Any]]:
    """Yield some columns, a row group at a time; NaN where a value is missing."""
    row = 0
    for group in range(file.num_row_groups):
        try:
            table = file.read_row_group(group, columns=names, use_threads=False)
        except (need("pyarrow").ArrowException, OSError) as error:
            raise InvalidInputError(f"{plan.shown} cannot be read as Parquet: {one_line(error)}.") from None
        block = np.empty((len(table), len(names)), dtype=np.float64 if dtype == np.float64 else np.float32, order="F")
        for j, name in enumerate(names):
            block[:, j] = numbers(table.column(name))
        yield block if keep is None else block[keep[row : row + len(table)]]
        row += len(table)


def numbers(column: Any) -> NDArray[Any]:
    """Return a column as numbers, NaN where one is missing."""
    pyarrow = need("pyarrow")
    if pyarrow.types.is_boolean(column.type):
        column = column.cast(pyarrow.int8())
    if pyarrow.types.is_decimal(column.type):
        column = column.cast(pyarrow.float64())
    return column.to_numpy()
