"""Tables of the benchmark of many rows: drawn ones, and real ones from the folder that ELLZERO_DATA names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

import ellzero as ez
from benchmarks.exact_data import file_of

__all__ = ["DRAWN", "REAL", "Shape", "load_table", "save_store", "save_table"]

Array = NDArray[np.float64]
RHO = 0.5  # correlation of neighbouring columns
TRUE = 10  # columns that matter
MOST_TEST_ROWS = 20_000
REAL_TEST_SHARE = 0.2
BLOCK = 1_000_000  # rows of a store that are drawn at a time
DRAWN = ("gaussian", "0/1", "mixed")
REAL = {"FICO": "fico.csv", "COMPAS": "compas.csv"}


@dataclass(frozen=True)
class Shape:
    """A table by its size and kind; a real one has the size of its file."""

    n: int
    p: int
    kind: str = "gaussian"

    @property
    def name(self) -> str:
        size = f"{self.n:,} x {self.p:,}"
        return f"{self.kind}, {size}" if self.kind in REAL else size + ("" if self.kind == "gaussian" else f", {self.kind}")

    @property
    def file_name(self) -> str:
        return self.name.replace(",", "").replace(" ", "-").replace("/", "-")

    def draw(self, rows: int, seed: int) -> tuple[Array, Array, Array]:
        """Return X, labels of -1 and +1, and numbers, both of which depend on ten columns."""
        rng = np.random.default_rng([seed, self.p])
        X = rng.standard_normal((self.p, rows)).T
        for j in range(1, self.p):
            X[:, j] *= np.sqrt(1.0 - RHO**2)
            X[:, j] += RHO * X[:, j - 1]
        if self.kind == "0/1":
            X = np.asfortranarray(X > 0.5, dtype=np.float64)
        if self.kind == "mixed":  # a third are unchanged, a third are 0 and 1, often rarely 1, a third have a heavy tail
            X[:, 1::3] = X[:, 1::3] > np.linspace(0.0, 2.0, len(range(1, self.p, 3)))
            X[:, 2::3] = np.expm1(X[:, 2::3])
        coef = np.zeros(self.p)
        true = np.arange(0, self.p, self.p // TRUE)[:TRUE]
        signs = np.random.default_rng(self.p)  # the same for all seeds
        coef[true] = signs.uniform(0.2, 1.0, TRUE) * signs.choice([-1.0, 1.0], TRUE)
        if self.kind == "mixed":
            coef[2::3] *= 0.3
        eta = X @ coef
        eta -= eta.mean()
        return X, np.where(rng.random(rows) < expit(eta), 1.0, -1.0), eta + 2.0 * rng.standard_normal(rows)


def thresholds(name: str) -> tuple[Array, Array]:
    """Every threshold of every column of a file: a column of 0 and 1 for each distinct value but the largest."""
    values = np.loadtxt(file_of(REAL[name]), delimiter=",", skiprows=1)
    columns = [v <= cut for v in values.T[:-1] for cut in np.unique(v)[:-1]]
    return np.array(columns, dtype=np.float64).T, np.where(values[:, -1] > 0.0, 1.0, -1.0)


def save_table(shape: Shape, folder: Path) -> None:
    """Write training and test rows where the tools find them."""
    if shape.kind in REAL:
        X, y = thresholds(shape.kind)
        test = np.random.default_rng(0).random(len(y)) < REAL_TEST_SHARE
        parts = {"": (X[~test], y[~test], y[~test]), "_test": (X[test], y[test], y[test])}
    else:
        parts = {"": shape.draw(shape.n, 0), "_test": shape.draw(min(shape.n, MOST_TEST_ROWS), 1)}
    for part, arrays in parts.items():
        for name, array in zip("Xyz", arrays, strict=True):
            np.save(folder / f"{name}{part}.npy", np.asfortranarray(array))


def load_table(folder: Path, part: str = "") -> tuple[Array, Array, Array]:
    """Return X, labels and numbers of the training rows, or of the "_test" rows."""
    X, y, z = (np.load(folder / f"{name}{part}.npy") for name in "Xyz")
    return X, y, z


def save_store(shape: Shape, folder: Path) -> None:
    """Write a float32 table as an array and as a column store; a block of rows is drawn at a time."""
    X, y = np.empty((shape.n, shape.p), np.float32, order="F"), np.empty(shape.n)
    for number, start in enumerate(range(0, shape.n, BLOCK)):
        rows = slice(start, min(start + BLOCK, shape.n))
        X[rows], y[rows], _ = shape.draw(rows.stop - start, number)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    with ez.ColumnWriter(folder / "X.columns", shape.n, shape.p, dtype="float32", y=y, overwrite=True) as writer:
        writer.append(X)
