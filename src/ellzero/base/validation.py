"""Checks of scalar and vector arguments; each error is one sentence that names the argument."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ellzero.base.devices import at_hand
from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import quoted

Array = NDArray[np.float64]
Result = TypeVar("Result")
LARGEST_COUNT = 2**31 - 1
LEAST_COST = 1e-6  # of a feature, as a share of the largest: ratios of gains to costs would lose their meaning
LARGEST_COST = 1e100


def if_given(check: Callable[..., Result], name: str, value: Any, *more: Any) -> Result | None:
    """Return what a check of an argument returns; None stands for an argument that is not given."""
    return None if value is None else check(name, value, *more)


def if_known(function: Callable[[Any], Result], value: Any) -> Result | None:
    """Return what a function makes of a value; None, for no value, stays None."""
    return None if value is None else function(value)


def known(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries that have a value; None stands for none."""
    return {name: value for name, value in values.items() if value is not None}


def as_nonnegative(name: str, value: Any) -> float:
    """Return the value as a finite number of at least zero."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InvalidInputError(f"{name} must be a number, got {value!r}.") from None
    if not np.isfinite(number) or number < 0.0:
        raise InvalidInputError(f"{name} must be finite and not negative, got {value!r}.")
    return number


def as_count(name: str, value: Any, least: int) -> int:
    """Return the value as an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InvalidInputError(f"{name} must be an integer of at least {least}, got {value!r}.")
    if value > LARGEST_COUNT:
        raise InvalidInputError(f"{name} must be at most {LARGEST_COUNT}, got {value!r}.")
    return int(value)


def as_flag(name: str, value: Any) -> bool:
    """Return the value if it is a truth value, also as 0 or 1."""
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, (int, np.integer)) and value in (0, 1)):
        return bool(value)
    raise InvalidInputError(f"{name} must be True or False, got {quoted(value)}.")


def as_path(name: str, value: Any) -> str:
    """Return the name of a file or folder as text."""
    try:
        return os.fsdecode(value)
    except TypeError:
        raise InvalidInputError(f"{name} must be the path of a file or folder, got {quoted(value)}.") from None


def as_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return the value if it is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise InvalidInputError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")
    return value


def as_generator(name: str, seed: Any) -> np.random.Generator:
    """Return the random generator of a seed, or the given one."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise InvalidInputError(f"{name} must be an integer of at least 0 or a NumPy generator, got {quoted(seed)}.") from None


def as_threads(n_jobs: int | None) -> int:
    """Return the number of threads: None is one, -1 all cores (-2 all but one, ...); never more than there are cores."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise InvalidInputError(f"n_jobs must be None or a nonzero integer, got {n_jobs!r}.")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(int(n_jobs), cores) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def refuse_masked(name: str, values: Any) -> None:
    """Raise an error if entries of an array are masked: what they stand for is not known."""
    if np.ma.isMaskedArray(values) and np.ma.is_masked(values):
        raise InvalidInputError(f"{name} has masked entries; fill or drop them first.")


def as_floats(name: str, values: Any) -> Array:
    """Return the values as an array of float64, none of them masked."""
    refuse_masked(name, values)
    try:
        return np.asarray(at_hand(values), dtype=np.float64)
    except (TypeError, ValueError):  # also rows of different lengths
        raise InvalidInputError(f"{name} must hold real numbers.") from None


def as_response(y: Any, n: int) -> NDArray[np.float64]:
    """Return the numbers of a response: one for each row, or a column for each of several outputs."""
    found = as_floats("y", y)
    if found.ndim != 2 or found.shape[1] == 1:
        return as_vector("y", found, n)
    if found.shape[0] != n or found.shape[1] == 0:
        raise InvalidInputError(f"y must have {n} rows like X, and a column for each output, got shape {found.shape}.")
    if not np.isfinite(found).all():
        raise InvalidInputError("y contains NaN or infinity.")
    return found


def as_vector(name: str, values: ArrayLike, length: int) -> Array:
    """Return the values as a finite float64 vector of the given length."""
    vector = as_floats(name, values)
    if vector.ndim == 2 and vector.shape[1] == 1:
        vector = vector[:, 0]
    if vector.shape != (length,):
        raise InvalidInputError(f"{name} must have shape ({length},), got {vector.shape}.")
    if not np.isfinite(vector).all():
        raise InvalidInputError(f"{name} contains NaN or infinity.")
    return np.ascontiguousarray(vector)


def weight_of_rows(sample_weight: Any, n: int) -> Array:
    """Return the weights as they are given, or ones."""
    return np.ones(n) if sample_weight is None else as_vector("sample_weight", sample_weight, n)


def as_weights(sample_weight: ArrayLike | None, n: int) -> Array:
    """Return weights that sum to one; without weights all rows count the same, and rows of weight zero not at all."""
    if sample_weight is None:
        return np.full(n, 1.0 / n)
    weight = as_vector("sample_weight", sample_weight, n)
    if (weight < 0.0).any():
        raise InvalidInputError(f"sample_weight must not be negative, got {weight.min():g}.")
    largest = weight.max()
    if largest == 0.0:
        raise InvalidInputError("sample_weight must not be zero everywhere.")
    weight = weight / largest  # so that the sum cannot overflow
    return weight / weight.sum()


def as_bound(name: str, bound: ArrayLike | None, p: int, default: float) -> Array:
    """Return one bound for each feature; the default, which is infinite, if no bound is given."""
    try:
        values = np.asarray(default if bound is None else bound, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError(f"{name} must be a number or one number per feature.") from None
    if values.ndim == 0:
        values = np.full(p, values)
    if values.shape != (p,):
        raise InvalidInputError(f"{name} must be a number or have shape ({p},), got {values.shape}.")
    if np.isnan(values).any():
        raise InvalidInputError(f"{name} contains NaN.")
    return np.ascontiguousarray(values)


def as_feature_costs(
    name: str,
    costs: Any,
    p: int,
    names: list[str] | None,
    group: Callable[[Any], NDArray[np.intp]] | None = None,
) -> Array:
    """Return one cost for each column, given as numbers or by the names of columns (of a mapping or a Series).

    Columns that a mapping does not name cost one. Those of a Series are all named, or none is. `group` returns the columns of
    a group by its name, none if no group is called so.
    """
    if costs is None:
        return np.ones(p)
    if isinstance(costs, Mapping):
        given = costs
    elif names is not None and hasattr(costs, "index") and hasattr(costs, "to_dict") and set(names) & set(costs.index):
        given = costs.to_dict()
        if len(given) < len(costs):
            raise InvalidInputError(f"{name} names a column twice.")
    else:
        vector = as_vector(name, costs, p)
        return check_costs(name, vector)
    places: dict[Any, int] = {} if names is None else {column: j for j, column in enumerate(names)}
    vector = np.ones(p)
    for key, value in given.items():
        whole = isinstance(key, (int, np.integer)) and not isinstance(key, bool)
        members = np.empty(0, dtype=np.intp) if group is None else group(key)
        if len(members):
            vector[members] = as_nonnegative(f"{name}[{quoted(key)}]", value)
            continue
        j = places.get(key, int(key) if whole and 0 <= key < p else None)
        if j is None:
            raise InvalidInputError(f"{name} names {quoted(key)}, which is not a column of X.")
        if names is not None and names.count(key) > 1:
            raise InvalidInputError(
                f"{name} names {quoted(key)}, which several columns of X are called; give one number a column."
            )
        vector[j] = as_nonnegative(f"{name}[{quoted(key)}]", value)
    return check_costs(name, vector)


def check_costs(name: str, costs: Array) -> Array:
    """Return the costs if none is negative, and none is negligible compared with the largest."""
    if (costs < 0.0).any():
        raise InvalidInputError(f"{name} must not be negative, got {costs.min():g}.")
    paid = costs[costs > 0.0]
    if len(paid) and (paid.min() < LEAST_COST * paid.max() or paid.max() > LARGEST_COST or paid.min() < 1.0 / LARGEST_COST):
        raise InvalidInputError(
            f"{name} must be zero or at least {LEAST_COST:g} of the largest cost, and between {1.0 / LARGEST_COST:g} and "
            f"{LARGEST_COST:g}, got {paid.min():g} and {paid.max():g}."
        )
    return costs


def as_feature_mask(name: str, features: ArrayLike | None, p: int, names: list[str] | None) -> NDArray[np.bool_]:
    """Return a mask of features, given as a mask, as indices or as names of columns."""
    chosen = np.asarray([] if features is None else [features] if isinstance(features, str) else features)
    mask = np.zeros(p, dtype=bool)
    if chosen.size == 0:
        return mask
    if chosen.dtype == bool:
        if chosen.shape != (p,):
            raise InvalidInputError(f"{name} as a mask must have shape ({p},), got {chosen.shape}.")
        mask = chosen.copy()
    elif chosen.ndim == 1 and chosen.dtype.kind in "iu":
        if chosen.min() < -p or chosen.max() >= p:
            raise InvalidInputError(f"{name} has indices outside 0..{p - 1}.")
        mask[chosen] = True
    elif chosen.ndim == 1 and names is not None and all(isinstance(item, str) for item in chosen.tolist()):
        missing = [item for item in chosen.tolist() if item not in names]
        if missing:
            raise InvalidInputError(f"{name} has a name that is not a column of X: {missing[0]!r}.")
        twice = [item for item in chosen.tolist() if names.count(item) > 1]
        if twice:
            raise InvalidInputError(f"{name} names {quoted(twice[0])}, which several columns of X are called; use indices.")
        mask[[names.index(item) for item in chosen.tolist()]] = True
    else:
        raise InvalidInputError(f"{name} must be a boolean mask or a list of feature indices (or names of X's columns).")
    return mask


def as_grid(name: str, values: ArrayLike) -> Array:
    """Return the values as a non-empty, strictly decreasing grid of numbers of at least zero."""
    grid = np.atleast_1d(as_floats(name, values))
    if grid.ndim != 1 or grid.size == 0:
        raise InvalidInputError(f"{name} must be a number or a non-empty one-dimensional grid.")
    if not np.isfinite(grid).all() or (grid < 0.0).any():
        raise InvalidInputError(f"{name} must be finite and not negative.")
    if (np.diff(grid) >= 0.0).any():
        raise InvalidInputError(f"{name} must be strictly decreasing.")
    return grid
