"""Numbers as bins: an indicator for each range of values, so that a linear model can follow any shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.validation import as_count
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]
MISSING = "missing"


def bins(X: Any, n_bins: int = 8, *, like: Any = None) -> pd.DataFrame:
    """Return a data frame with an indicator for each range of values of each column.

    The columns are named ``age=[30, 40)``, so that ``groups="auto"`` groups the bins of a column: a model is then a sum of a
    few step functions.

    Parameters
    ----------
    X : (n, p) data frame or array of numbers; a missing value (NaN) has its own bin
    n_bins : the largest number of bins of a column, with about equally many rows in each; fewer if values repeat
    like : X that defines the ranges, such as the training rows; by default X itself

    Returns
    -------
    pandas.DataFrame of 0 and 1

    Examples
    --------
    >>> import numpy as np
    >>> import ellzero as ez
    >>> ez.bins(np.array([[1.0], [2.0], [3.0], [np.nan]]), 2)
       x0=[-inf, 2)  x0=[2, inf)  x0=missing
    0           1.0          0.0         0.0
    1           0.0          1.0         0.0
    2           0.0          1.0         0.0
    3           0.0          0.0         1.0

    """
    pandas = need("pandas", "frame")
    most = as_count("n_bins", n_bins, 2)
    values, names, index = numeric_columns(X, "X")
    whole, known_names, _ = (values, names, index) if like is None else numeric_columns(like, "like")
    if known_names != names:
        raise InvalidInputError("like must have the columns of X, in the same order.")
    columns: dict[str, Array] = {}
    for j, name in enumerate(names):
        columns |= indicators(name, values[:, j], whole[:, j], most)
    return pandas.DataFrame(columns, index=index)


def numeric_columns(X: Any, argument: str) -> tuple[Array, list[str], Any]:
    """Return the numbers of a table, the names of its columns, and its index."""
    try:
        values = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError(f"{argument} must hold numbers only; code text with an encoder.") from None
    if values.ndim != 2:
        raise InvalidInputError(f"{argument} must have two dimensions, got {values.ndim}.")
    if np.isinf(values).any():
        raise InvalidInputError(f"{argument} must not hold infinite values.")
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else [f"x{j}" for j in range(values.shape[1])]
    if len(set(names)) < len(names):
        raise InvalidInputError(f"{argument} must not have two columns with the same name.")
    return values, names, getattr(X, "index", None)


def indicators(name: str, values: Array, like: Array, most: int) -> dict[str, Array]:
    """Return the indicators of one column, by name; the ranges are from the values `like`."""
    missing = np.isnan(values)
    known = like[~np.isnan(like)]
    shares = np.linspace(0.0, 1.0, most + 1)[1:-1]
    # The edges are values of the column: a range begins at one that occurs.
    edges = np.unique(np.quantile(known, shares, method="higher")) if len(known) else np.zeros(0)
    edges = edges[edges > known.min()] if len(known) else edges
    place = np.searchsorted(edges, values, side="right")
    ends = ["-inf", *(f"{edge:.6g}" for edge in edges), "inf"]
    if len(set(ends)) < len(ends):
        ends = ["-inf", *(repr(float(edge)) for edge in edges), "inf"]
    out = {f"{name}=[{ends[b]}, {ends[b + 1]})": ((place == b) & ~missing).astype(np.float64) for b in range(len(edges) + 1)}
    if missing.any() or np.isnan(like).any():
        out[f"{name}={MISSING}"] = missing.astype(np.float64)
    return out
