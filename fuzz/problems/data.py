"""Kinds of data: each is a function of a generator and a shape that returns a matrix of moderate size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fuzz.problems.problem import Array

__all__ = ["KINDS", "Kind", "families"]

Generator = np.random.Generator
Kind = Callable[[Generator, int, int], Array]


def gaussian(rng: Generator, n: int, p: int) -> Array:
    """Independent normal numbers."""
    return rng.standard_normal((n, p))


def binary(rng: Generator, n: int, p: int) -> Array:
    """Zeros and ones."""
    return (rng.random((n, p)) < rng.uniform(0.1, 0.9, p)).astype(np.float64)


def correlated(rng: Generator, n: int, p: int) -> Array:
    """Columns that share a factor."""
    share = rng.uniform(0.5, 0.999)
    return np.sqrt(share) * rng.standard_normal((n, 1)) + np.sqrt(1.0 - share) * rng.standard_normal((n, p))


def duplicated(rng: Generator, n: int, p: int) -> Array:
    """Columns that repeat others, some with the sign or the size changed."""
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        if rng.random() < 0.5:
            X[:, j] = X[:, rng.integers(j)] * rng.choice([1.0, 1.0, -1.0, 2.0, 0.5])
    return X


def constant(rng: Generator, n: int, p: int) -> Array:
    """Constant and empty columns among others."""
    X = rng.standard_normal((n, p))
    for j in range(p):
        if rng.random() < 0.5:
            X[:, j] = rng.choice([0.0, 0.0, 1.0, -1.0, rng.uniform(-5.0, 5.0)])
    return X


def heavy(rng: Generator, n: int, p: int) -> Array:
    """Numbers with heavy tails."""
    return rng.standard_t(rng.choice([0.7, 1.0, 2.0]), (n, p))


def integers(rng: Generator, n: int, p: int) -> Array:
    """Small integers, many of them ties."""
    return rng.integers(-3, 4, (n, p)).astype(np.float64)


def collinear(rng: Generator, n: int, p: int) -> Array:
    """Columns that nearly are combinations of others."""
    X = rng.standard_normal((n, p))
    if p > 1:
        noise = 10.0 ** rng.uniform(-12.0, -2.0)
        j = int(rng.integers(p))
        others = np.delete(np.arange(p), j)
        X[:, j] = X[:, others] @ rng.standard_normal(p - 1) + noise * rng.standard_normal(n)
    return X


def sparse_entries(rng: Generator, n: int, p: int) -> Array:
    """Mostly zeros; whole columns or rows may be empty."""
    return rng.standard_normal((n, p)) * (rng.random((n, p)) < rng.choice([0.05, 0.15, 0.3]))


def offset(rng: Generator, n: int, p: int) -> Array:
    """Columns with a mean far from zero."""
    return rng.standard_normal((n, p)) + 10.0 ** rng.uniform(0.0, 7.0, p) * rng.choice([-1.0, 1.0], p)


def repeated_rows(rng: Generator, n: int, p: int) -> Array:
    """Few different rows."""
    few = rng.standard_normal((max(2, n // 4), p))
    return few[rng.integers(len(few), size=n)]


def outlier(rng: Generator, n: int, p: int) -> Array:
    """One row, or one entry, far from the others."""
    X = rng.standard_normal((n, p))
    X[rng.integers(n), :] *= 10.0 ** rng.uniform(1.0, 6.0)
    return X


def low_rank(rng: Generator, n: int, p: int) -> Array:
    """A product of two thin matrices."""
    rank = int(rng.integers(1, 3))
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, p))


def indicators(rng: Generator, n: int, p: int) -> Array:
    """Disjoint indicators that sum to one, as those of a category."""
    return (rng.integers(p, size=(n, 1)) == np.arange(p)).astype(np.float64)


def families(rng: Generator, n: int, p: int) -> Array:
    """Columns in families, each around its own factor: exact searches decide a family together."""
    family = rng.integers(max(1, p // 3), size=p)
    share = rng.uniform(0.8, 0.999, p)
    factors = rng.standard_normal((n, p))[:, family] * rng.choice([1.0, 1.0, -1.0], p)
    return np.sqrt(share) * factors + np.sqrt(1.0 - share) * rng.standard_normal((n, p))


KINDS: dict[str, Kind] = {
    kind.__name__: kind
    for kind in (
        gaussian,
        binary,
        correlated,
        duplicated,
        constant,
        heavy,
        integers,
        collinear,
        sparse_entries,
        offset,
        repeated_rows,
        outlier,
        low_rank,
        indicators,
    )
}
