"""Checks of an X that is not in memory: scikit-learn's own checks would read all of it, these read nothing.

NaN and infinity are refused when the columns are read: by the statistics of a fit, and by predictions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.utils.validation import validate_data

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import LONGEST_MESSAGE, one_line, safe_lines
from ellzero.design import Design, as_design
from ellzero.design.base import feature_names
from ellzero.design.faults import refuse_bad_columns

BLOCK_BYTES = 1 << 26


@contextmanager
def quoting_safely(X: Any = None) -> Iterator[None]:
    """Let errors of scikit-learn pass, unless they come from below it or quote text that cannot be shown unchanged.

    If X is given and has columns that cannot be used, the error names them, which those of scikit-learn do not.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        message = str(error)
        if "NA is ambiguous" in message:
            raise InvalidInputError("y must hold labels of one type, and no row may lack one.") from None
        if type(error).__name__ == "DTypePromotionError":
            refuse_bad_columns(X, feature_names(X))
            raise InvalidInputError("X must hold real numbers in every column, got dates or the like.") from None
        if isinstance(error, ValueError) and "Complex" not in message and len(getattr(X, "shape", ())) == 2:
            refuse_bad_columns(X, feature_names(X))
        if type(error) not in (TypeError, ValueError):  # of pandas or narwhals, which do not know that this is X
            raise InvalidInputError(f"X cannot be used: {one_line(error)}.") from None
        if safe_lines(message) == message and len(message) <= LONGEST_MESSAGE:
            raise
        raise InvalidInputError(message) from None


def check_training_data(estimator: Any, X: object, y: ArrayLike) -> tuple[Design, NDArray[Any]]:
    """Return the design and the checked target of a fit; set the estimator's number of features and their names."""
    design = as_design(X)
    numeric = is_regressor(estimator)
    with quoting_safely():
        values = np.asarray(validate_data(estimator, X="no_validation", y=y, y_numeric=numeric, multi_output=numeric))
    if len(values) != design.shape[0]:
        raise InvalidInputError(f"y must have shape ({design.shape[0]},) like the rows of X, got {values.shape}.")
    estimator.n_features_in_ = design.shape[1]
    if design.names is not None:
        estimator.feature_names_in_ = np.array(design.names, dtype=object)
    return design, values


def check_features(estimator: Any, design: Design) -> None:
    """Refuse data whose features are not those of the fit."""
    expected, names = estimator.n_features_in_, getattr(estimator, "feature_names_in_", None)
    if design.shape[1] != expected:
        raise InvalidInputError(
            f"X has {design.shape[1]} features, but {type(estimator).__name__} is expecting {expected} features as input."
        )
    if names is not None and design.names is not None and design.names != names.tolist():
        raise InvalidInputError("X must have the columns that the model was fitted on, in the same order.")


def read_columns(design: Design, columns: NDArray[Any]) -> Any:
    """Read some columns into memory."""
    if not len(columns):
        return np.zeros((design.shape[0], 0))
    part = design.take(columns).stored()
    values = part.data if sparse.issparse(part) else part
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InvalidInputError("X contains NaN or infinity in a column that the model uses.")
    return part


class StoredRows:
    """Some rows of an X that is not in memory, for a scorer; they are read only if it looks at them, which few scorers do."""

    ndim = 2

    def __init__(self, design: Design, rows: NDArray[np.int64]) -> None:
        self.design = design
        self.rows = rows
        self.shape = (len(rows), design.shape[1])

    def __len__(self) -> int:
        return len(self.rows)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the rows as an array; X is read in blocks of columns."""
        n, p = self.design.shape
        step = max(1, BLOCK_BYTES // (8 * n))
        parts = []
        for start in range(0, p, step):
            part = self.design.take(np.arange(start, min(start + step, p))).stored()
            parts.append((part.toarray() if sparse.issparse(part) else part)[self.rows])
        return np.concatenate(parts, axis=1).astype(dtype or parts[0].dtype, copy=False)
