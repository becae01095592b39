"""Splits of the rows, and work that is done once for each of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from ellzero.errors import InvalidInputError
from ellzero.estimators.training import Training
from ellzero.progress import ProgressCallback

__all__ = ["Split", "make_splits", "run_tasks"]

Split = tuple[NDArray[np.int64], NDArray[np.int64]]
Result = TypeVar("Result")


def make_splits(cv: Any, training: Training, y: NDArray[Any], seed: Any, **params: Any) -> list[Split]:
    """Rows to train on and rows to test on; a number of folds means shuffled ones, stratified where there are classes."""
    rows = np.zeros((len(y), 1))
    cv = 5 if cv is None else cv
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        if cv < 2:
            raise InvalidInputError(f"cv must be at least 2 folds, got {cv}.")
        splitter = KFold(int(cv), shuffle=True, random_state=seed)
        if training.labels is not None:
            splitter = StratifiedKFold(folds_for(int(cv), y), shuffle=True, random_state=seed)
    else:
        try:
            splitter = check_cv(cv, y, classifier=training.labels is not None)
        except ValueError as error:
            raise InvalidInputError(f"cv must be a number of folds, a splitter or an iterable of splits: {error}") from None
    try:
        splits = list(splitter.split(rows, y, **params))
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"cv cannot split the rows: {error}") from error
    if not splits:
        raise InvalidInputError("cv has no splits.")
    return [(as_rows(train, len(y)), as_rows(test, len(y))) for train, test in splits]


def as_rows(rows: Any, n: int) -> NDArray[np.int64]:
    """Numbers of rows, from numbers or a mask."""
    chosen = np.asarray(rows)
    if chosen.dtype == bool and chosen.shape == (n,):
        chosen = np.flatnonzero(chosen)
    if chosen.ndim != 1 or not chosen.size:
        raise InvalidInputError("cv must give each split at least one training row and one test row.")
    if chosen.dtype.kind not in "iu" or chosen.min() < 0 or chosen.max() >= n:
        raise InvalidInputError(f"cv must hold numbers of rows from 0 to {n - 1}, or masks of {n} rows.")
    return chosen.astype(np.int64)


def folds_for(cv: int, y: NDArray[Any]) -> int:
    """So many folds that each has all classes: no more than the rarest class has rows."""
    labels, members = np.unique(y, return_counts=True)
    rarest = int(members.min())
    if rarest < 2:
        raise InvalidInputError(f"cv needs at least two rows of each class, y has one of class {labels[members.argmin()]!s}.")
    if rarest < cv:
        warnings.warn(
            f"cv = {rarest} folds instead of {cv}: class {labels[members.argmin()]!s} has no more rows.", stacklevel=4
        )
    return min(cv, rarest)


def run_tasks(
    function: Callable[..., Result],
    tasks: Sequence[Iterable[Any]],
    n_jobs: int | None,
    progress: Callable[[int, Result], None] | None = None,
) -> list[Result]:
    """The function's value for each task's arguments, in parallel by joblib.

    The core releases the GIL, so threads share X; a backend that the user chose (Dask, Ray, processes) takes precedence.
    """
    calls = [delayed(numbered)(number, function, tuple(task)) for number, task in enumerate(tasks)]
    out: dict[int, Result] = {}
    for number, result in Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator_unordered")(calls):
        out[number] = result
        if progress is not None:
            progress(len(out), result)
    return [out[number] for number in range(len(tasks))]


def numbered(number: int, function: Callable[..., Result], task: tuple[Any, ...]) -> tuple[int, Result]:
    """A result with the number of its task, since tasks end in any order."""
    return number, function(*task)


def counted(progress: ProgressCallback | None, done_before: int, total: int) -> Callable[[int, Any], None] | None:
    """Progress of one of several rounds of tasks."""
    if progress is None:
        return None
    whole = progress
    return lambda done, _: whole((done_before + done) / total, 0.0, 0)
