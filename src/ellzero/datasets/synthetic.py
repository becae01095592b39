"""Synthetic data of the paper's experiments."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import expit

from ellzero.base.errors import InvalidInputError
from ellzero.base.validation import as_count, as_generator, as_nonnegative, as_vector


def make_classification(
    n: int,
    p: int,
    k: int,
    s: float | None = None,
    correlation: str | None = None,
    rho: float = 0.0,
    random_state: int | np.random.Generator = 0,
    dtype: type[np.float64] | type[np.float32] = np.float64,
    snr: float | None = None,
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.float64]]:
    """Draw Gaussian features and labels with P(y = 1) = 1 / (1 + exp(-s x.b)), where b has k equally spaced ones.

    With ``snr`` the labels are y = sign(x.b + e) instead, e normal, as in the paper's experiment on certification times.
    :func:`datasets.draw_labels` draws more labels for the same rows, for example to choose a model.

    Parameters
    ----------
    n, p, k : rows, features, nonzero coefficients
    s : signal strength, 1 unless given; the data becomes separable as s grows
    correlation : None (independent), "exponential" (rho^|i - j|) or "constant" (rho)
    rho : correlation of neighbouring (or all) features, in [0, 1)
    random_state : seed or generator
    dtype : float64 or float32
    snr : instead of s, the variance of x.b (of the distribution, not of this sample) divided by that of e

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
    chosen = np.arange(k) * p // max(k, 1)
    noise_variance = None
    if snr is not None:
        if s is not None:
            raise InvalidInputError(f"s and snr exclude each other, got s={s!r} and snr={snr!r}.")
        if as_nonnegative("snr", snr) == 0.0 or k == 0:
            raise InvalidInputError(f"snr must be positive, with k of at least 1, got snr={snr!r} and k={k}.")
        noise_variance = signal_variance(chosen, correlation, rho) / snr
    rng = as_generator("random_state", random_state)
    # Generated as rows of the transpose, so that columns of X are contiguous without a copy.
    columns = rng.standard_normal((p, n), dtype=dtype)
    if correlation == "exponential" and rho > 0.0:
        for j in range(1, p):
            columns[j] = rho * columns[j - 1] + np.sqrt(1.0 - rho**2) * columns[j]
    elif correlation == "constant" and rho > 0.0:
        columns *= np.sqrt(1.0 - rho)
        columns += np.sqrt(rho) * rng.standard_normal(n, dtype=dtype)
    coef = np.zeros(p)
    coef[chosen] = 1.0
    return columns.T, draw_labels(columns.T, coef, s, noise_variance, rng), coef


def draw_labels(
    X: Any,
    coef: ArrayLike,
    s: float | None = None,
    noise_variance: float | None = None,
    random_state: int | np.random.Generator = 0,
) -> NDArray[np.int64]:
    """Draw labels for given rows: from the logistic model, or as the sign of x.b plus noise.

    New labels for the training rows are the paper's validation data ("fixed design").

    Parameters
    ----------
    X : (n, p) array or sparse matrix
    coef : (p,) the coefficients b
    s : signal strength of P(y = 1) = 1 / (1 + exp(-s x.b)), 1 unless given
    noise_variance : instead of s, the variance of the normal e in y = sign(x.b + e)
    random_state : seed or generator; use another seed than for X, or the labels depend on X in other ways than through b

    Returns
    -------
    y : (n,) of -1 and +1

    Examples
    --------
    >>> X, y, coef = make_classification(1000, 10, 2, s=2.0, random_state=0)
    >>> y_valid = draw_labels(X, coef, s=2.0, random_state=1)
    >>> float((y == y_valid).mean())
    0.754

    """
    X = X if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise InvalidInputError(f"X must have two dimensions, got {X.ndim}.")
    if s is not None and noise_variance is not None:
        raise InvalidInputError(f"s and noise_variance exclude each other, got s={s!r} and noise_variance={noise_variance!r}.")
    coef = as_vector("coef", coef, X.shape[1])
    rng = as_generator("random_state", random_state)
    chosen = coef.nonzero()[0]
    eta = X[:, chosen] @ coef[chosen]  # in float64 whatever X is, without a copy of X
    if noise_variance is None:
        positive = rng.random(len(eta)) < expit((1.0 if s is None else as_nonnegative("s", s)) * eta)
    else:
        positive = eta + np.sqrt(as_nonnegative("noise_variance", noise_variance)) * rng.standard_normal(len(eta)) > 0.0
    return np.where(positive, 1, -1)


def signal_variance(chosen: NDArray[np.int64], correlation: str | None, rho: float) -> float:
    """Return Var(x.b), the sum of the entries of Sigma in the chosen rows and columns, where b is one."""
    k = len(chosen)
    if correlation == "constant":
        return k + k * (k - 1) * rho
    if correlation is None:
        return float(k)
    below = total = 0.0  # below: the sum of rho^(j - i) over the chosen i < j
    for before, j in pairwise(chosen.tolist()):
        below = (1.0 + below) * rho ** (j - before)
        total += below
    return k + 2.0 * total
