"""What lies between the columns and the penalty: several outputs, groups of columns, prices of features, budgets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzz.problems.problem import Array

__all__ = ["PARTS", "draw_budget", "draw_classes", "draw_costs", "draw_groups", "draw_outputs", "draw_parts", "whole_groups"]

Generator = np.random.Generator
PARTS = ("outputs", "groups", "prices")
MOST_OUTPUTS, MOST_ATOMS = 12, 24  # coefficients, of all outputs, that brute force can fit on many supports


def draw_parts(rng: Generator, parts: Sequence[str]) -> set[str]:
    """Return some of the parts, at least one; nothing is drawn if there are none to choose from."""
    if not parts:
        return set()
    chosen = {part for part in parts if rng.random() < 0.5}
    return chosen or {str(rng.choice(parts))}


def draw_outputs(rng: Generator, n: int, p: int, loss: str) -> tuple[int, int, str]:
    """Return the number of outputs, that of columns, which is less for many outputs, and the loss."""
    count = int(rng.integers(2, 5) if rng.random() < 0.7 else rng.integers(5, MOST_OUTPUTS + 1))
    several = rng.random() < 0.45
    count = min(count, n) if several else count
    return count, min(p, max(1, MOST_ATOMS // count)), "multinomial" if several else loss


def draw_classes(rng: Generator, signals: Array) -> NDArray[Any]:
    """Return labels of several classes of any type: some may have a single row, and they may be separable."""
    n, count = signals.shape
    codes = np.argmax(signals + rng.choice([0.0, 0.3, 3.0]) * rng.gumbel(size=signals.shape), axis=1)
    if rng.random() < 0.3:  # these classes have a single row
        codes = np.where(codes >= (count + 1) // 2, 0, codes)
    if rng.random() < 0.8 or len(np.unique(codes)) < 2:
        codes[rng.permutation(n)[:count]] = np.arange(count)
    names: list[Any] = [
        list(range(count)),
        [f"class {chr(97 + code)}" for code in range(count)],
        (np.arange(count) * 0.5 - 1.0).tolist(),
        list(range(10**6, 10**6 + count)),
    ][rng.integers(4)]
    return np.array(names)[rng.permutation(count)[codes]]


def draw_groups(rng: Generator, p: int) -> tuple[int, ...]:
    """Return a label for each column: groups of one to four columns, neighbours or interleaved, or one group of all."""
    if rng.random() < 0.05:
        return (0,) * p
    labels = np.repeat(np.arange(p), rng.choice([1, 2, 3, 4], p, p=[0.35, 0.3, 0.2, 0.15]))[:p]
    return tuple((labels if rng.random() < 0.4 else rng.permutation(labels)).tolist())


def whole_groups(columns: tuple[int, ...], groups: tuple[int, ...] | None) -> tuple[int, ...]:
    """Return the columns of all groups that these columns belong to."""
    if groups is None:
        return columns
    named = {groups[j] for j in columns}
    return tuple(j for j, label in enumerate(groups) if label in named)


def draw_costs(rng: Generator, p: int, groups: tuple[int, ...] | None) -> Array:
    """Return a price for each column, the same inside a group: whole numbers, decimals, of any size, equal, some zero."""
    kind = rng.choice(["whole", "decimal", "wide", "extreme", "equal", "apart"], p=[0.25, 0.25, 0.2, 0.15, 0.12, 0.03])
    each = rng.integers(1, 7, p).astype(np.float64)
    if kind == "decimal":
        each = np.round(rng.uniform(0.1, 2.0, p), 1)
    elif kind == "wide":
        each = 10.0 ** rng.uniform(-3.0, 3.0, p)
    elif kind == "extreme":
        each = 10.0 ** (rng.uniform(-95.0, 95.0) + rng.uniform(-2.9, 2.9, p))
    elif kind == "equal":
        each = np.full(p, rng.choice([1.0, 2.5, 1e-9]))
    elif kind == "apart":  # too far for the package, which says so
        each = 10.0 ** rng.uniform(-9.0, 9.0, p)
    if rng.random() < 0.25:
        each = np.where(rng.random(p) < 0.3, 0.0, each)
    return each if groups is None else each[[groups.index(label) for label in groups]]


def draw_budget(rng: Generator, prices: Array) -> float:
    """Return a budget for features of these prices: often the very sum of some of them, in any order, or next to it."""
    if rng.random() < 0.3:
        return float(rng.uniform(prices.min(), 1.2 * prices.sum()))
    some = rng.permutation(prices)[: int(rng.integers(1, len(prices) + 1))]
    return float(sum(some.tolist()) * rng.choice([1.0, 1.0, 1.0, 1.0 + 1e-13, 1.0 - 1e-13, 1.0 - 1e-9]))
