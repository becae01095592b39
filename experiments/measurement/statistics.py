"""Records in groups, and means with their standard errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["grouped", "mean_with_error"]

Item = TypeVar("Item")


def grouped(items: Iterable[Item], key: Callable[[Item], Any]) -> dict[Any, list[Item]]:
    """Return the items by key; the keys are in the order of their first items."""
    out: dict[Any, list[Item]] = {}
    for item in items:
        out.setdefault(key(item), []).append(item)
    return out


def mean_with_error(values: ArrayLike) -> tuple[float, float]:
    """Return the mean and its standard error (0 for a single value, which shows no spread)."""
    array = np.asarray(values, dtype=np.float64)
    error = array.std(ddof=1) / np.sqrt(len(array)) if len(array) > 1 else 0.0
    return float(array.mean()), float(error)
