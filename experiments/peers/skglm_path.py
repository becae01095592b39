"""Paths of penalised logistic regression by skglm, with the R packages' conventions: standardised columns, grid, early ends."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from experiments.peers.method import Fit

__all__ = ["EarlyEnd", "has_skglm", "skglm_path"]

Array = NDArray[np.float64]


def has_skglm() -> bool:
    """Return whether skglm is installed, without importing it, which takes seconds."""
    return find_spec("skglm") is not None


@dataclass(frozen=True)
class EarlyEnd:
    """The rule by which a path ends before its last lambda."""

    explained: float  # the share of the null deviance above which the path ends
    progress: float  # the relative growth of that share, from one point to the next, below which it ends (after the fifth)
    largest: int  # the most features of a model


def standardised(X: Any) -> tuple[Any, Array, Array]:
    """Return columns of unit variance, with their means and scales.

    A sparse X is not centred and stays sparse: the intercept is not penalised, so the models are the same.
    """
    n = X.shape[0]
    if sparse.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        scale = np.sqrt(np.maximum(square - mean**2, 0.0))
        scale[scale <= 1e-7 * np.sqrt(square)] = np.inf  # a constant column becomes zero
        return sparse.csc_matrix(X @ sparse.diags(1.0 / scale)), np.zeros_like(mean), scale
    dense = np.array(X, dtype=np.float64, order="F")
    mean = dense.mean(axis=0)
    dense -= mean
    scale = np.sqrt(np.einsum("ij,ij->j", dense, dense) / n)
    scale[scale <= 1e-7 * np.abs(mean)] = np.inf
    scale[scale == 0.0] = np.inf
    dense /= scale
    return dense, mean, scale


def skglm_path(
    X: Any,
    y: NDArray[np.int64],
    *,
    solver: Any,
    penalty: Callable[[float], Any],
    n_lambda: int,
    smallest: float,
    end: EarlyEnd,
) -> Iterator[Fit]:
    """Yield models at n_lambda values, from where all coefficients vanish to `smallest` times that, with warm starts."""
    from skglm.datafits import Logistic
    from sklearn.exceptions import ConvergenceWarning

    columns, mean, scale = standardised(X)
    n, p = columns.shape
    labels = np.asarray(y, dtype=np.float64)
    share = float(np.mean(labels > 0))
    largest = float(np.max(np.abs(columns.T @ ((labels > 0) - share)))) / n
    w = np.append(np.zeros(p), np.log(share / (1.0 - share)))
    margin = np.full(n, w[-1])
    null = float(np.mean(np.logaddexp(0.0, -labels * margin)))
    explained = 0.0
    for k, value in enumerate(largest * np.geomspace(1.0, smallest, n_lambda)):
        if k:  # at the first value all coefficients are zero
            with warnings.catch_warnings(), np.errstate(over="ignore"):
                warnings.simplefilter("ignore", ConvergenceWarning)
                solver.solve(columns, labels, Logistic(), penalty(value), w, margin)  # changes w and margin
        support = np.flatnonzero(w[:-1])
        if len(support) > end.largest:
            return
        values = w[support] / scale[support]
        yield Fit(support, values, float(w[-1] - mean[support] @ values), {"lambda": float(value)})
        before, explained = explained, 1.0 - float(np.mean(np.logaddexp(0.0, -labels * margin))) / null
        if explained > end.explained or (k >= 5 and explained - before < end.progress * explained):
            return
