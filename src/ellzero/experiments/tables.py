"""Markdown for the results."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["grouped", "mean_error", "mean_with_error", "processor", "table"]

Item = TypeVar("Item")


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def processor() -> str:
    """How many of which processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else platform.machine()


def mean_with_error(values: ArrayLike) -> tuple[float, float]:
    """The mean and its standard error (0 for a single value, which shows no spread)."""
    array = np.asarray(values, dtype=np.float64)
    error = array.std(ddof=1) / np.sqrt(len(array)) if len(array) > 1 else 0.0
    return float(array.mean()), float(error)


def mean_error(values: ArrayLike, digits: int = 1) -> str:
    """The mean and its standard error in the paper's form."""
    mean, error = mean_with_error(values)
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def grouped(items: Iterable[Item], key: Callable[[Item], Any]) -> dict[Any, list[Item]]:
    """Items by key, keys in the order in which they first come."""
    out: dict[Any, list[Item]] = {}
    for item in items:
        out.setdefault(key(item), []).append(item)
    return out
