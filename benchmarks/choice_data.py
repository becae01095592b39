"""The data sets of the benchmark of choices: those that the defaults were tuned on, and those that were looked at once.

The division of the real sets was written down before anything was measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
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

__all__ = ["CLASSES", "ONCE", "REGRESSION", "TUNED", "DataSet", "Split", "split_of"]

Array = NDArray[np.float64]
TRAINING_SHARE = 0.65
TEST_ROWS = 2000  # of drawn sets
MOST_TRAINING_ROWS = 2000  # of large sets: with more rows all rules choose alike
DRAWS, DRAWS_OF_MANY_ROWS = 4, 1


@dataclass(frozen=True, eq=False)
class Split:
    """Training rows and other rows of a set."""

    X: Any
    y: Array
    X_test: Any
    y_test: Array
    kind: str = "two"  # "numbers", or several "classes"


@dataclass(frozen=True)
class DataSet:
    """A set by name; `load` returns X and y or, of a drawn set, draws the split of a number."""

    name: str
    load: Callable[..., Any]
    splits: int
    drawn: bool = False
    kind: str = "two"

    def split(self, number: int) -> Split:
        """Return a split, with this number as its seed."""
        if self.drawn:
            out: Split = self.load(number)
            return out
        X, y = self.load()
        return replace(split_of(X, y, number, self.kind == "numbers"), kind=self.kind)


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


def effects(n: int, effect: str, number: int) -> Split:
    """Draw rows and effects: 6 strong or 60 weak ones of 600 columns, 20 of correlated ones, or 10 in groups of alike ones."""
    rng = np.random.default_rng(number)
    X, coef = rng.standard_normal((n + TEST_ROWS, 600)), np.zeros(600)
    if effect == "strong":
        coef[:6] = rng.choice([-1.0, 1.0], 6)
    elif effect == "weak":
        coef[:60] = 0.3 * rng.choice([-1.0, 1.0], 60)
    elif effect == "correlated":
        for j in range(1, 600):
            X[:, j] = 0.8 * X[:, j - 1] + 0.6 * X[:, j]
        coef[:200:10] = 0.5 * rng.choice([-1.0, 1.0], 20)
    else:
        X = np.repeat(X[:, :120], 5, axis=1) + 0.3 * X  # five noisy copies of each of 120 columns
        coef[:50:5] = 0.7 * rng.choice([-1.0, 1.0], 10)
    return as_split(X, X @ coef, n, rng)


def figure_2(number: int) -> Split:
    """Draw the setting of the paper's Figure 2 with 200 rows."""
    X, _, coef = ez.datasets.make_classification(
        200 + TEST_ROWS, 1000, 25, s=1.0, correlation="exponential", rho=0.5, random_state=number
    )
    return as_split(X, X @ coef, 200, np.random.default_rng(number))


def as_split(X: Array, eta: Array, n: int, rng: np.random.Generator) -> Split:
    y = np.where(rng.random(len(eta)) < 1.0 / (1.0 + np.exp(-eta)), 1.0, -1.0)
    return Split(np.asfortranarray(X[:n]), y[:n], np.asfortranarray(X[n:]), y[n:])


def effect_sets(rows: tuple[int, ...], kinds: tuple[str, ...], splits: int) -> list[DataSet]:
    return [DataSet(f"{kind}, {n} rows", partial(effects, n, kind), splits, drawn=True) for n in rows for kind in kinds]


TOX = "TOX_171_171x5748.npz"
TUNED = [
    DataSet("colon", partial(labelled, "colon_62x2000.npz"), 5),
    DataSet("TOX, classes 1 and 2", partial(labelled, TOX, ((1,), (2,))), 5),
    DataSet("arcene", partial(of_nips, "arcene"), 2),
    DataSet("dexter", partial(of_nips, "dexter"), 2),
    DataSet("FICO", partial(fico, "fico.csv"), 1),
    DataSet("breast cancer", partial(of_scikit_learn, datasets.load_breast_cancer, (0,), (1,)), 6),
    DataSet("digits 3 and 8", partial(of_scikit_learn, datasets.load_digits, (3,), (8,)), 5),
    *effect_sets((100, 240), ("strong", "weak", "correlated"), DRAWS),
    DataSet("madelon", partial(of_nips, "madelon"), 1),
]
ONCE = [
    DataSet("leukemia", partial(labelled, "ALLAML_72x7129.npz"), 5),
    DataSet("lymphoma", partial(labelled, "lymphoma_96x4026.npz", LYMPHOMA), 5),
    DataSet("TOX, classes 3 and 4", partial(labelled, TOX, ((3,), (4,))), 5),
    DataSet("dorothea", partial(of_nips, "dorothea"), 1),
    DataSet("COMPAS", compas, 2),
    DataSet("heart", partial(table, "heart.csv", 0), 6),
    DataSet("digits 4 and 9", partial(of_scikit_learn, datasets.load_digits, (4,), (9,)), 5),
    DataSet("wine", partial(of_scikit_learn, datasets.load_wine, (0, 2), (1,)), 6),
    *effect_sets((1000,), ("strong", "weak", "correlated"), DRAWS_OF_MANY_ROWS),
    *effect_sets((240,), ("grouped",), DRAWS),
    DataSet("Figure 2, 200 rows", figure_2, DRAWS, drawn=True),
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
    DataSet("riboflavin", riboflavin, 5, kind="numbers"),
    DataSet("diabetes", partial(diabetes, False), 5, kind="numbers"),
    DataSet("diabetes, products", partial(diabetes, True), 5, kind="numbers"),
    DataSet("drawn, weak signal", partial(drawn, 300, 1000, 10, 0.5, 1.0), 5, kind="numbers"),
    DataSet("drawn, strong signal", partial(drawn, 300, 1000, 10, 0.5, 10.0), 5, kind="numbers"),
]


# Several classes.


def some_digits() -> tuple[Array, Array]:
    X, y = datasets.load_digits(return_X_y=True)
    return X[:900], y[:900]


CLASSES = [
    DataSet("wine, 3 classes", partial(datasets.load_wine, return_X_y=True), 4, kind="classes"),
    DataSet("digits, 10 classes", some_digits, 1, kind="classes"),
    DataSet("iris, 3 classes", partial(datasets.load_iris, return_X_y=True), 4, kind="classes"),
]
