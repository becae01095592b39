"""What is wrong with the columns of an X that cannot be used: all of them in one sentence, with their names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import MOST_NAMED, listed_columns, quoted


def column_label(names: list[str] | None, j: int) -> str:
    """Return a column's name in quotes, or its number."""
    return str(j) if names is None else quoted(names[j])


def refuse_bad_columns(X: Any, names: list[str] | None) -> None:
    """Raise an error that names all columns of an array, a data frame or a sparse matrix that do not hold finite numbers."""
    odd: list[str] = []
    missing: list[str] = []
    infinite: list[str] = []
    for j, (numbers, entry) in enumerate(map(numbers_or_odd, columns_of(X))):
        label = column_label(names, j)
        if numbers is None:
            odd.append(f"{quoted(entry)} in column {label}")
        elif np.isnan(numbers).any():
            missing.append(label)
        elif np.isinf(numbers).any():
            infinite.append(label)
    faults, todo = [], list[str]()
    if odd:
        more = f" and text in {len(odd) - MOST_NAMED} more columns" if len(odd) > MOST_NAMED else ""
        faults.append(f"X must hold real numbers, got {', '.join(odd[:MOST_NAMED])}{more}")
        todo.append("code text (OneHotEncoder)")
    if missing and infinite:
        faults.append(f"X contains NaN in {listed_columns(missing)}, infinity in {listed_columns(infinite)}")
    elif missing or infinite:
        faults.append(f"X contains {'NaN' if missing else 'infinity'} ({listed_columns(missing or infinite)})")
    if missing or infinite:
        todo.append("fill gaps (SimpleImputer)" if missing else "replace infinity")
    if faults:
        raise InvalidInputError(f"{'; '.join(faults)}; {', '.join(todo)}, or drop these columns.")


def columns_of(X: Any) -> Any:
    """Return the columns, one after the other; of a sparse matrix the stored entries, of which alone some may be bad."""
    if sparse.issparse(X):
        matrix = X.tocsc()
        return (matrix.data[start:stop] for start, stop in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True))
    if hasattr(X, "iloc"):
        return (X.iloc[:, j] for j in range(X.shape[1]))
    return iter(np.asarray(X).T)


def numbers_or_odd(column: Any) -> tuple[NDArray[np.float64] | None, Any]:
    """Return a column as numbers, NaN where a value is missing; None and the first odd entry if it holds something else."""
    values = np.asarray(column, dtype=object) if hasattr(column, "dtypes") else np.asarray(column)
    if values.dtype.kind in "fiub":
        return values.astype(np.float64), None
    out = np.empty(len(values))
    for row, entry in enumerate(values.tolist()):
        try:
            out[row] = np.nan if entry is None or type(entry).__name__ in ("NAType", "NaTType") else float(entry)
        except (TypeError, ValueError):
            return None, entry
    return out, None
