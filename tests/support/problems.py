"""Small random problems and the ways to store them."""

from __future__ import annotations

import os
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import ellzero as ez

LOSSES = ("logistic", "squared_hinge", "hinge", "squared_error")
ALL_LOSSES = (*LOSSES, "huber")
STORAGES = ("f64", "f32", "csc64", "csc32", "csc_int64", "file", "file_csc", "device", "device32")

PENALTIES: dict[str, dict[str, Any]] = {
    "l0": {},
    "l0l1": {"lambda_1": 0.01},
    "l0l2": {"lambda_2": 0.01},
    "l0l1l2": {"lambda_1": 0.005, "lambda_2": 0.005},
    "nonnegative": {"lower": 0.0, "lambda_2": 1e-3},
    "box": {"lower": -0.3, "upper": 0.25},
    "unpenalized": {"unpenalized": [0, 3], "lambda_2": 1e-3},
    "no_intercept": {"fit_intercept": False, "lambda_2": 1e-3},
    "standardized": {"standardize": True, "lambda_2": 1e-3},
    "standardized_box": {"standardize": True, "upper": 0.4, "lambda_1": 0.002},
    "priced": {"feature_cost": {0: 3.0, 1: 0.5, 2: 0.0, 3: 1.5, 5: 0.25}, "lambda_2": 1e-3},
}

# Groups of one to four columns of thirty, some of them beside each other, some not.
GROUPS = [0, 0, 1, 1, 1, 2, 3, 4, 4, 3, 5, 5, 5, 5, 6, 7, 8, 9, 8, 9, 10, 11, 11, 12, 13, 13, 14, 15, 15, 16]
GROUPED: dict[str, dict[str, Any]] = {
    "grouped": {"groups": GROUPS, "lambda_2": 1e-3},
    "grouped_l1": {"groups": GROUPS, "lambda_1": 0.005, "lambda_2": 0.005, "fit_intercept": False},
    "grouped_box": {"groups": GROUPS, "lower": -0.3, "upper": 0.25, "standardize": True},
    "grouped_priced": {"groups": GROUPS, "feature_cost": {0: 3.0, 1: 0.5, 2: 0.0, 3: 1.5}, "lambda_2": 1e-3},
}


def every_pair(others: Any) -> list[tuple[str, str, Any]]:
    """Losses, storages and something else: arrays of float64 in full, and of other storages every pair of two of the three."""
    cases = [(loss, "f64", other) for loss in LOSSES for other in others]
    return cases + [
        (LOSSES[(row + column) % len(LOSSES)], storage, other)
        for row, storage in enumerate(STORAGES[1:])
        for column, other in enumerate(others)
    ]


def random_problem(seed: int, n: int = 60, p: int = 30, density: float = 0.4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X with zeros and unequal scales, numeric y, labels and weights."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < density) * rng.uniform(0.5, 2.0, p)
    X = X.astype(np.float32).astype(np.float64)  # the same numbers in every storage
    beta = np.zeros(p)
    beta[:4] = [2.0, -1.5, 1.0, 0.7]
    y = X @ beta + 0.5 + rng.standard_normal(n)
    weight = rng.uniform(0.2, 2.0, n)
    return X, y, weight


def target(y: np.ndarray, loss: str) -> np.ndarray:
    """y as the loss wants it."""
    return y if loss in ("squared_error", "huber") else np.where(y > np.median(y), 1, -1)


FOLDER = tempfile.TemporaryDirectory()
FILES = iter(range(1 << 62))


def on_disk(X: Any) -> ez.ColumnStore:
    """X as a column store, dense or sparse as it is."""
    path = Path(FOLDER.name) / f"{next(FILES)}.columns"
    writer = ez.SparseColumnWriter if sparse.issparse(X) else ez.ColumnWriter
    with writer(path, *X.shape, dtype=X.dtype.name) as columns:
        for start in range(0, X.shape[1], 7):
            columns.append(X[:, start : start + 7])
    return ez.open_columns(path)


# The library whose arrays stand for those on a device, and the device. The strict one has nothing but the standard's functions.
DEVICES = {"library": os.environ.get("ELLZERO_DEVICE_LIBRARY", "array_api_strict"), "device": os.environ.get("ELLZERO_DEVICE")}


def on_device(X: np.ndarray, by_column: bool = False) -> ez.DeviceStore:
    """X as an array of the library that stands for devices."""
    xp, where = import_module(DEVICES["library"]), {"device": DEVICES["device"]} if DEVICES["device"] else {}
    array = xp.asarray(np.ascontiguousarray(X.T if by_column else X), **where)
    return ez.DeviceStore(array.T if by_column else array)


def store(X: np.ndarray, storage: str) -> Any:
    """X in one of the storages."""
    if storage.startswith("device"):
        return on_device(X.astype(np.float32) if storage == "device32" else X, by_column=storage == "device32")
    if storage.startswith("file"):
        return on_disk(sparse.csc_matrix(X) if storage == "file_csc" else X)
    if storage == "f64":
        return np.asfortranarray(X)
    if storage == "f32":
        return np.asfortranarray(X.astype(np.float32))
    matrix = sparse.csc_matrix(X)
    if storage == "csc32":
        return matrix.astype(np.float32)
    if storage == "csc_int64":
        matrix.indices = matrix.indices.astype(np.int64)
        matrix.indptr = matrix.indptr.astype(np.int64)
    return matrix
