"""Results compared with those of another build: equal up to rounding, or how far apart."""

from __future__ import annotations

import gzip
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fingerprint.digests import parts, text_of

__all__ = ["ROUNDING", "Values", "differences", "read_values", "values_of", "write_values"]

ROUNDING = 1e-10  # of the largest number of an array, or of one: a gap is the difference of numbers of that size

Values = dict[str, Any]  # by their places


def values_of(result: object) -> Values:
    """Every value of a result, and its text."""
    return dict(parts("", result)) | {"text": text_of(result)}


def write_values(file: Path, name: str, values: Values) -> None:
    """Append the values of one case."""
    with gzip.open(file, "ab", compresslevel=3) as out:
        pickle.dump((name, values), out)


def read_values(file: Path) -> Iterator[tuple[str, Values]]:
    """The cases of a file that this program has written, in their order."""
    with gzip.open(file, "rb") as source:
        while source.peek(1):
            yield pickle.load(source)


def differences(before: Values, now: Values) -> list[str]:
    """A line for each value that is not the same to rounding."""
    return [
        f"{place}: {told}" for place in dict.fromkeys([*before, *now]) if (told := difference(place, before, now)) is not None
    ]


def difference(place: str, before: Values, now: Values) -> str | None:
    if place not in now:
        return "is missing"
    if place not in before:
        return "is new"
    old, new = before[place], now[place]
    if not (is_numeric(old) and is_numeric(new)):
        return None if type(old) is type(new) and np.array_equal(old, new) else "differs"
    a, b = (np.asarray(value, dtype=np.float64) for value in (old, new))
    if a.shape != b.shape:
        return f"shape {a.shape}, now {b.shape}"
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        far = np.where(same, 0.0, np.abs(a - b))
    finite = np.abs(a[np.isfinite(a)])
    worst = far.max(initial=0.0) / max(1.0, finite.max(initial=0.0))
    return None if worst <= ROUNDING else f"{worst:.1e} apart"


def is_numeric(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fiu"
    return isinstance(value, (int, float)) and not isinstance(value, bool)
