"""The small problems, and the settings that the cases share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ellzero as ez

Array = NDArray[np.float64]
Case = tuple[str, Callable[[], Any]]
LOSSES = ("logistic", "squared_hinge", "hinge", "squared_error")
ONE: dict[str, Any] = {"n_jobs": 1}
RIDGE = 0.01  # lambda_2 of exact solves
FOR_EXACT: dict[str, Any] = {"lambda_2": RIDGE, **ONE}
COST = {0: 3.0, 1: 0.5, 2: 0.0, 4: 2.0, 7: 1.5}  # of features; others cost 1
PRICE = {"logistic": 0.03, "squared_hinge": 0.05, "hinge": 0.05, "squared_error": 0.15}  # lambda_0 with a few features


def problem(loss: str, n: int = 100, p: int = 40, k: int = 5, rho: float = 0.6, seed: int = 0) -> tuple[Array, NDArray[Any]]:
    """Correlated features, k of which matter; labels, or numbers for a regression."""
    X, y, coef = ez.datasets.make_classification(n, p, k, s=1.0, correlation="exponential", rho=rho, random_state=seed)
    return X, response(X, coef, seed) if loss == "squared_error" else y


def response(X: Array, coef: Array, seed: int) -> Array:
    return np.asarray(X @ coef + np.random.default_rng(seed).standard_normal(len(X)))
