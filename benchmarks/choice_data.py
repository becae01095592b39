"""The data sets of the benchmark of choices: those that the defaults were tuned on, and those that were looked at once.

The division was written down before anything was measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import datasets
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.preprocessing import PolynomialFeatures

import ellzero as ez
from benchmarks.exact_data import LYMPHOMA, fico, file_of, labelled

__all__ = ["ONCE", "REGRESSION", "TUNED", "DataSet", "Split", "split_of"]

Array = NDArray[np.float64]
TRAINING_SHARE = 0.65
MOST_TRAINING_ROWS = 2000  # of large sets: with more rows all rules choose alike
FEW_ROWS = 1000


@dataclass(frozen=True)
class DataSet:
    """A set by name; `load` returns X and y."""

    name: str
    load: Callable[[], tuple[Any, Array]]
    splits: int


@dataclass(frozen=True, eq=False)
class Split:
    """Training rows and other rows of a set."""

    X: Any
    y: Array
    X_test: Any
    y_test: Array


def split_of(X: Any, y: Array, number: int, regression: bool = False) -> Split:
    """Return a random split, stratified by class; the number is its seed."""
    rows = min(round(TRAINING_SHARE * len(y)), MOST_TRAINING_ROWS)
    kind = ShuffleSplit if regression else StratifiedShuffleSplit
    train, test = next(kind(1, train_size=rows, random_state=number).split(np.zeros((len(y), 1)), y))
    if sparse.issparse(X):
        return Split(X[train].tocsc(), y[train], X[test].tocsc(), y[test])
    return Split(np.asfortranarray(X[train]), y[train], np.asfortranarray(X[test]), y[test])


# Classes.


def of_nips(name: str) -> tuple[Any, Array]:
    X, y = ez.datasets.load(name)
    return X.astype(np.float64), y.astype(np.float64)


def table(name: str, target: int) -> tuple[Array, Array]:
    """Columns of a file of numbers with a heading; lines may end in CR alone."""
    lines = file_of(name).read_text().replace("\r\n", "\n").replace("\r", "\n").split("\n")
    values = np.array([[float(word) for word in line.split(",")] for line in lines[1:] if line.strip()])
    return np.delete(values, target, axis=1), np.where(values[:, target] > 0.0, 1.0, -1.0)


def compas() -> tuple[Array, Array]:
    """The seven attributes, their squares and their products."""
    X, y = table("compas.csv", -1)
    return PolynomialFeatures(2, include_bias=False).fit_transform(X), y


def of_scikit_learn(load: Callable[..., Any], negative: tuple[int, ...], positive: tuple[int, ...]) -> tuple[Array, Array]:
    X, y = load(return_X_y=True)
    used = np.isin(y, negative + positive)
    return X[used].astype(np.float64), np.where(np.isin(y, positive), 1.0, -1.0)[used]


TOX = "TOX_171_171x5748.npz"
TUNED = [
    DataSet("colon", partial(labelled, "colon_62x2000.npz"), 20),
    DataSet("TOX, classes 1 and 2", partial(labelled, TOX, ((1,), (2,))), 20),
    DataSet("arcene", partial(of_nips, "arcene"), 20),
    DataSet("dexter", partial(of_nips, "dexter"), 20),
    DataSet("madelon", partial(of_nips, "madelon"), 3),
    DataSet("FICO", partial(fico, "fico.csv"), 4),
    DataSet("breast cancer", partial(of_scikit_learn, datasets.load_breast_cancer, (0,), (1,)), 20),
    DataSet("digits 3 and 8", partial(of_scikit_learn, datasets.load_digits, (3,), (8,)), 20),
]
ONCE = [
    DataSet("leukemia", partial(labelled, "ALLAML_72x7129.npz"), 20),
    DataSet("lymphoma", partial(labelled, "lymphoma_96x4026.npz", LYMPHOMA), 20),
    DataSet("TOX, classes 3 and 4", partial(labelled, TOX, ((3,), (4,))), 20),
    DataSet("dorothea", partial(of_nips, "dorothea"), 3),
    DataSet("COMPAS", compas, 5),
    DataSet("heart", partial(table, "heart.csv", 0), 20),
    DataSet("digits 4 and 9", partial(of_scikit_learn, datasets.load_digits, (4,), (9,)), 20),
    DataSet("wine", partial(of_scikit_learn, datasets.load_wine, (0, 2), (1,)), 20),
]


# Numbers.


def riboflavin() -> tuple[Array, Array]:
    with np.load(file_of("riboflavin_71x4088.npz")) as file:
        return file["X"].astype(np.float64), file["y"].astype(np.float64)


def diabetes(products: bool) -> tuple[Array, Array]:
    """Ten attributes or, with their squares and products, 65 columns."""
    X, y = datasets.load_diabetes(return_X_y=True)
    return (PolynomialFeatures(2, include_bias=False).fit_transform(X) if products else X), y


def drawn(n: int, p: int, k: int, rho: float, signal: float) -> tuple[Array, Array]:
    """Gaussian columns of exponential correlation, k coefficients of 1, noise of 1 / `signal` of the response's variance."""
    X, _, coef = ez.datasets.make_classification(n, p, k, correlation="exponential", rho=rho, random_state=0)
    eta = X @ coef
    return X, eta + np.random.default_rng(1).standard_normal(n) * np.sqrt(eta.var() / signal)


REGRESSION = [
    DataSet("riboflavin", riboflavin, 20),
    DataSet("diabetes", partial(diabetes, False), 20),
    DataSet("diabetes, products", partial(diabetes, True), 20),
    DataSet("drawn, weak signal", partial(drawn, 300, 1000, 10, 0.5, 1.0), 20),
    DataSet("drawn, strong signal", partial(drawn, 300, 1000, 10, 0.5, 10.0), 20),
]
