"""The problems of the timing protocols, for paths and for exact solutions: Gaussian features, five of which matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

import ellzero as ez

N = 1000  # rows
SUM_LAMBDA_2 = 1e-7  # the paper's lambda_2, which multiplies a sum over rows
POINTS = 100
SMALLEST = 1e-3


@dataclass(frozen=True)
class Case:
    """One problem; `lambda_2` and the grid are in ellzero's scaling, in which the weights of the rows sum to one."""

    name: str
    X: Any
    y: NDArray[np.float64]
    lambda_2: float
    grid: NDArray[np.float64]


def closed_form_maximum(X: Any, y: NDArray[np.float64]) -> float:
    """Return max_j grad_j^2 / (2 L_j) at the best intercept: the largest lambda_0 at which a coordinate step leaves zero."""
    n = len(y)
    share = (y > 0).mean()
    r = ((share - (y > 0)) / n).astype(X.dtype)
    gradient = np.asarray(X.T @ r, dtype=np.float64).ravel()
    if sparse.issparse(X):
        square = np.asarray(X.multiply(X).sum(axis=0)).ravel() / n
    else:
        square = np.array([np.dot(X[:, j], X[:, j]) for j in range(X.shape[1])], dtype=np.float64) / n
    return float(np.divide(gradient**2, 0.5 * square, out=np.zeros_like(gradient), where=square > 0).max())


def make_case(name: str, X: Any, y: NDArray[Any]) -> Case:
    largest = closed_form_maximum(X, y)
    return Case(name, X, y.astype(np.float64), SUM_LAMBDA_2 / len(y), np.geomspace(largest, SMALLEST * largest, POINTS))


def dense_case(p: int, n: int = N, dtype: type[np.float64] | type[np.float32] = np.float64, seed: int = 0) -> Case:
    X, y, _ = ez.datasets.make_classification(n, p, 5, s=1.0, random_state=seed, dtype=dtype)
    return make_case(f"dense {np.dtype(dtype).name}, n = {n:,}, p = {p:,}", X, y)


def sparse_case(n: int = 2000, p: int = 100_000, density: float = 1e-3, seed: int = 0) -> Case:
    rng = np.random.default_rng(seed)
    X = sparse.random(n, p, density, format="csc", random_state=rng, data_rvs=rng.standard_normal)
    coef = np.zeros(p)
    coef[rng.choice(p, 2000, replace=False)] = 3.0  # each column has two entries: a signal needs many
    y = np.where(rng.random(n) < expit(X @ coef), 1.0, -1.0)
    return make_case(f"sparse, n = {n:,}, p = {p:,}, density {100 * density:g} %", X, y)


def gaussian(p: int, dtype: str = "float64", n: int = N, seed: int = 0) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The paper's certification problem: five of p independent features, signal-to-noise ratio 10, columns of unit variance."""
    rng = np.random.default_rng(seed)
    columns = rng.standard_normal((p, n), dtype=np.dtype(dtype).type)
    signal = columns[np.arange(5) * p // 5].sum(axis=0, dtype=np.float64)
    y = np.sign(signal + rng.normal(0.0, np.sqrt(np.var(signal) / 10.0), n))
    for some in np.array_split(columns, max(1, p // 1000)):  # views: the standard deviation of all would copy all
        some /= some.std(axis=1, keepdims=True)
    return columns.T, y


def correlated(
    p: int, response: str, n: int | None = None, seed: int = 0, size: int = 10, neighbours: float = 0.9
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Columns that resemble their neighbours, corr(x_i, x_j) = 0.9^|i-j|, of which ten evenly spaced ones have coefficient 1.

    A response that is "linear" has noise of a fifth of its variance; "logistic" labels are drawn.
    """
    n = n or p
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((n, p))
    X = np.empty((n, p), order="F")
    X[:, 0] = noise[:, 0]
    for j in range(1, p):
        X[:, j] = neighbours * X[:, j - 1] + np.sqrt(1.0 - neighbours**2) * noise[:, j]
    eta = X[:, np.linspace(0, p - 1, size + 2).astype(int)[1:-1]].sum(axis=1)
    if response == "logistic":
        return X, np.where(rng.random(n) < expit(eta), 1.0, -1.0)
    return X, eta + rng.standard_normal(n) * np.sqrt(eta.var() / 5.0)
