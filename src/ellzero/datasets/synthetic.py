"""The synthetic data of the paper's experiments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.errors import InvalidInputError
from ellzero.validation import as_count

__all__ = ["make_classification"]


def make_classification(
    n: int,
    p: int,
    k: int,
    s: float = 1.0,
    correlation: str | None = None,
    rho: float = 0.0,
    random_state: int | np.random.Generator = 0,
    dtype: type[np.float64] | type[np.float32] = np.float64,
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.float64]]:
    """Gaussian features, k equi-spaced unit coefficients, labels from the logistic model P(y = 1) = 1 / (1 + exp(-s x.b)).

    Parameters
    ----------
    n, p, k : rows, features, nonzero coefficients
    s : signal strength; the data becomes separable as s grows
    correlation : None (independent), "exponential" (rho^|i - j|) or "constant" (rho)
    rho : correlation of neighbouring (or all) features, in [0, 1)
    random_state : seed or generator
    dtype : float64 or float32

    Returns
    -------
    X : (n, p), column-major
    y : (n,) of -1 and +1
    coef : (p,) the true coefficients

    Examples
    --------
    >>> X, y, coef = make_classification(50, 10, 2, random_state=1)
    >>> X.shape, sorted(set(y.tolist())), coef.nonzero()[0].tolist()
    ((50, 10), [-1, 1], [0, 5])

    """
    n, p, k = as_count("n", n, 1), as_count("p", p, 1), as_count("k", k, 0)
    if k > p:
        raise InvalidInputError(f"k must be at most p = {p}, got {k}.")
    if correlation not in (None, "exponential", "constant"):
        raise InvalidInputError(f"correlation must be None, 'exponential' or 'constant', got {correlation!r}.")
    if not 0.0 <= rho < 1.0:
        raise InvalidInputError(f"rho must be in [0, 1), got {rho!r}.")
    rng = np.random.default_rng(random_state)
    # Generated as rows of the transpose, so that columns of X are contiguous without a copy.
    columns = rng.standard_normal((p, n), dtype=dtype)
    if correlation == "exponential" and rho > 0.0:
        for j in range(1, p):
            columns[j] = rho * columns[j - 1] + np.sqrt(1.0 - rho**2) * columns[j]
    elif correlation == "constant" and rho > 0.0:
        columns *= np.sqrt(1.0 - rho)
        columns += np.sqrt(rho) * rng.standard_normal(n, dtype=dtype)
    coef = np.zeros(p)
    chosen = np.arange(k) * p // max(k, 1)
    coef[chosen] = 1.0
    eta = s * columns[chosen].sum(axis=0, dtype=np.float64)
    y = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-eta)), 1, -1)
    return columns.T, y, coef
