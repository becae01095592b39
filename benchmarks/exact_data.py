"""The problems of the exact benchmark by name: drawn ones, and real ones from the folder that ELLZERO_DATA names."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_diabetes

import ellzero as ez
from benchmarks.cases import correlated, gaussian

__all__ = ["REAL", "load", "missing"]

Array = NDArray[np.float64]
CODES = (-7.0, -8.0, -9.0)  # of values that FICO's table has not
BINS = 10  # of its other values
COPIES = 5
NOISE_OF_COPIES = 0.1


def file_of(name: str) -> Path:
    return Path(os.environ.get("ELLZERO_DATA", "")) / name


# Drawn problems.


def drawn(
    n: int,
    p: int,
    k: int,
    response: str,
    correlation: str | None = None,
    rho: float = 0.0,
    seed: int = 0,
    dtype: str = "float64",
) -> tuple[NDArray[Any], Array]:
    """Gaussian columns with k equi-spaced coefficients of 1; a "linear" response has noise of a fifth of its variance."""
    X, labels, coef = ez.datasets.make_classification(
        n, p, k, s=1.0, correlation=correlation, rho=rho, random_state=seed, dtype=np.dtype(dtype).type
    )
    if response == "logistic":
        return X, labels.astype(np.float64)
    eta = X[:, np.flatnonzero(coef)].sum(axis=1, dtype=np.float64)
    return X, eta + np.random.default_rng([seed, 1]).standard_normal(n) * np.sqrt(eta.var() / 5.0)


def copied(n: int, p: int, k: int, response: str, seed: int = 0) -> tuple[NDArray[Any], Array]:
    """Independent columns, each of them five times with a little noise; the response is that of the originals."""
    X, y = drawn(n, p // COPIES, k, response, seed=seed)
    noise = np.random.default_rng([seed, 2]).standard_normal((COPIES, p // COPIES, n))
    return np.concatenate(X.T + NOISE_OF_COPIES * noise).T, y


def one_hot(n: int, attributes: int, levels: int, response: str, seed: int = 0) -> tuple[NDArray[Any], Array]:
    """Correlated attributes of two levels to `levels`, a column for each level; half of the columns matter."""
    rng = np.random.default_rng([seed, n, attributes, levels])
    latent = rng.standard_normal((n, attributes)) @ (np.eye(attributes) + 0.35)
    X = np.hstack([tenths(values, int(rng.integers(2, levels + 1))) for values in latent.T])
    eta = X @ (rng.standard_normal(X.shape[1]) * (rng.random(X.shape[1]) < 0.5))
    eta = (eta - eta.mean()) / eta.std()
    if response == "logistic":
        return X, np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-eta)), 1.0, -1.0)
    return X, eta + 1.2 * rng.standard_normal(n)


def tenths(values: Array, count: int = BINS) -> Array:
    """Return a column for each of `count` intervals that hold about as many values."""
    edges = np.unique(np.quantile(values, np.linspace(0.0, 1.0, count + 1)[1:-1]))
    interval = np.searchsorted(edges, values, side="right")
    return (interval[:, None] == np.unique(interval)).astype(np.float64)


# Real problems.


def binned(values: Array) -> Array:
    """Return a column for each value of an attribute with few of them, and for each tenth of the others."""
    parts = [
        (column[:, None] == np.unique(column)).astype(np.float64) if len(np.unique(column)) <= 12 else tenths(column)
        for column in values.T
    ]
    return np.hstack(parts)


def labels_of_table(name: str, place: int) -> tuple[NDArray[Any], Array]:
    """A table of numbers whose column `place` is the label: all others one-hot."""
    text = file_of(name).read_text(encoding="utf-8").replace("\r", "\n")
    values = np.genfromtxt(text.splitlines(), delimiter=",", skip_header=1)
    values = values[~np.isnan(values).any(axis=1)]
    others = np.delete(values, place, axis=1)
    return binned(others), np.where(values[:, place] > 0.0, 1.0, -1.0)


def diabetes() -> tuple[NDArray[Any], Array]:
    """scikit-learn's diabetes: every attribute one-hot."""
    X, y = load_diabetes(return_X_y=True)
    return binned(X), (y - y.mean()) / y.std()


def labelled(name: str, classes: tuple[tuple[int, ...], tuple[int, ...]] = ((-1,), (1,))) -> tuple[NDArray[Any], Array]:
    """Rows of two groups of classes, labelled -1 and +1."""
    with np.load(file_of(name)) as file:
        X, y = file["X"], file["y"]
    positive, used = np.isin(y, classes[1]), np.isin(y, classes[0] + classes[1])
    return np.asfortranarray(X[used], dtype=np.float64), np.where(positive, 1.0, -1.0)[used]


def riboflavin(name: str) -> tuple[NDArray[Any], Array]:
    """Columns and response, centred and of unit norm."""
    with np.load(file_of(name)) as file:
        X, y = file["X"].astype(np.float64), file["y"].astype(np.float64)
    X, y = X - X.mean(axis=0), y - y.mean()
    return np.asfortranarray(X / np.linalg.norm(X, axis=0)), y / np.linalg.norm(y)


def fico(name: str) -> tuple[NDArray[Any], Array]:
    """All attributes, one-hot: a column for each code of a missing value, and for each tenth of the other values."""
    values = np.loadtxt(file_of(name), delimiter=",", skiprows=1)
    columns: list[NDArray[np.bool_]] = []
    for v in values.T[:-1]:
        known = ~np.isin(v, CODES)
        edges = np.unique(np.quantile(v[known], np.linspace(0.0, 1.0, BINS + 1)[1:-1]))
        interval = np.searchsorted(edges, v, side="right")
        columns += [v == code for code in CODES] + [known & (interval == i) for i in range(len(edges) + 1)]
    X = np.array([column for column in columns if column.any()], dtype=np.float64)
    return X.T, np.where(values[:, -1] > 0.0, 1.0, -1.0)


def text(name: str) -> tuple[Any, Array]:
    """The training rows of a sparse set, without words that none of them has."""
    X = sparse.load_npz(file_of(name)).astype(np.float64).tocsc()
    return X[:, np.diff(X.indptr) > 0], np.load(file_of(name.replace("_X.npz", "_y.npy"))).astype(np.float64)


LYMPHOMA = ((1,), (2, 3, 4, 5, 6, 7, 8, 9))  # the largest class against all others
REAL: dict[str, tuple[Callable[..., tuple[Any, Array]], str]] = {
    "colon": (labelled, "colon_62x2000.npz"),
    "leukemia": (labelled, "ALLAML_72x7129.npz"),
    "lymphoma": (partial(labelled, classes=LYMPHOMA), "lymphoma_96x4026.npz"),
    "TOX, classes 1 and 2": (partial(labelled, classes=((1,), (2,))), "TOX_171_171x5748.npz"),
    "riboflavin": (riboflavin, "riboflavin_71x4088.npz"),
    "FICO": (fico, "fico.csv"),
    "COMPAS": (partial(labels_of_table, place=-1), "compas.csv"),
    "heart": (partial(labels_of_table, place=0), "heart.csv"),
    "dexter": (text, "dexter_train_X.npz"),
}
DRAWN: dict[str, Callable[..., tuple[Any, Array]]] = {
    "gaussian": gaussian,
    "correlated": correlated,
    "drawn": drawn,
    "copied": copied,
    "one-hot": one_hot,
    "diabetes": diabetes,
}


def load(data: dict[str, Any]) -> tuple[Any, Array]:
    """Make a problem; "kind" says which, and the rest are arguments."""
    arguments = {key: value for key, value in data.items() if key != "kind"}
    kind = data.get("kind", "gaussian")
    if kind in DRAWN:
        return DRAWN[kind](**arguments)
    make, name = REAL[kind]
    return make(name, **arguments)


def missing(kind: str) -> str:
    """Return a sentence if there is no file for this real problem, otherwise nothing."""
    name = REAL[kind][1]
    there = "ELLZERO_DATA" in os.environ and file_of(name).exists()
    return "" if there else f"No {kind}: `ELLZERO_DATA` must name a folder with {name}."
