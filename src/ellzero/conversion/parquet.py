"""Reader of Parquet, which is stored by columns: nothing is transposed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.conversion.content import DenseContent, Report, narrowest
from ellzero.conversion.labels import Labels
from ellzero.conversion.plan import Plan
from ellzero.tables.columns import worded
from ellzero.tables.optional import need
from ellzero.tables.parquet import open_parquet
from ellzero.tables.streams import readable


def columns_of_parquet(plan: Plan, folder: Path, stack: ExitStack, report: Report) -> DenseContent:
    """Read the columns of a file, row group by row group."""
    plan.refuse("target_file", "separator", "missing")
    file = open_parquet(plan.source, plan.shown, stack)
    fields = {field.name: field.type for field in file.schema_arrow}
    index = index_columns(file.schema_arrow)
    names = [name for name in plan.features_in(list(fields)) if name not in index]
    n = file.metadata.num_rows
    if not n:
        raise InvalidInputError(f"{plan.shown} has no rows.")
    refuse_other_kinds(plan, {name: fields[name] for name in names})
    labels, keep = Labels(plan), np.ones(n, dtype=bool)
    for name in plan.targets:
        need("pandas")
        keep = labels.append(file.read(columns=[name], use_threads=False).column(name).to_pandas().rename(name))
    dtype = narrowest([numpy_type(fields[name]) for name in names])
    return DenseContent(
        source=plan.shown,
        n=int(keep.sum()),
        p=len(names),
        names=names,
        y=labels.joined() if plan.targets else None,
        target=plan.target,
        dtype=dtype,
        pieces=lambda first, last: row_groups(plan, file, names[first:last], dtype, keep),
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
        raise InvalidInputError(f"{worded(empty)} of {plan.shown} hold no values at all; leave them out with drop.")
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    other = [name for name, kind in fields.items() if not any(test(kind) for test in tests)]
    if other:
        kind = fields[other[0]]
        raise InvalidInputError(f"{worded(other)} of {plan.shown} must hold numbers, got {kind}; leave them out with drop.")


def numpy_type(kind: Any) -> np.dtype[Any]:
    """Return the NumPy type that holds all values of a column."""
    return np.dtype(np.float64) if need("pyarrow").types.is_decimal(kind) else np.dtype(kind.to_pandas_dtype())


def row_groups(plan: Plan, file: Any, names: list[str], dtype: str, keep: NDArray[np.bool_]) -> Iterator[NDArray[Any]]:
    """Yield some columns, a row group at a time; NaN where a value is missing."""
    row = 0
    for group in range(file.num_row_groups):
        with readable(plan.shown, "Parquet"):
            table = file.read_row_group(group, columns=names, use_threads=False)
        block = np.empty((len(table), len(names)), dtype="float64" if dtype == "float64" else "float32", order="F")
        for j, name in enumerate(names):
            block[:, j] = column_numbers(table.column(name))
        kept = keep[row : row + len(table)]
        yield block if kept.all() else block[kept]
        row += len(table)


def column_numbers(column: Any) -> NDArray[Any]:
    """Return a column as numbers, NaN where one is missing."""
    pyarrow = need("pyarrow")
    if pyarrow.types.is_boolean(column.type):
        column = column.cast(pyarrow.int8())
    if pyarrow.types.is_decimal(column.type):
        column = column.cast(pyarrow.float64())
    return column.to_numpy()
