"""Splits of the rows, and work that is done once for each of them."""

from __future__ import annotations

import atexit
import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from ellzero.base.errors import InvalidInputError
from ellzero.base.progress import ProgressCallback
from ellzero.design import is_stored
from ellzero.design.dask_array import DaskStore
from ellzero.estimators.training import Training
from ellzero.solvers.paths import PathOptions

__all__ = ["Split", "make_splits", "parts_of", "run_tasks"]

Split = tuple[NDArray[np.int64], NDArray[np.int64]]
Result = TypeVar("Result")
MOST_AT_ONCE = 16
"""Tasks that share the passes over an X that is not in memory; fewer where there are many columns."""
COLUMN_BYTES, MOST_BYTES = 400, 1 << 29
"""Memory that a fit takes for each column of such an X, and that all of them may take."""


def make_splits(cv: Any, training: Training, y: NDArray[Any], seed: Any, **params: Any) -> list[Split]:
    """Rows to train on and rows to test on; a number of folds means shuffled ones, stratified where there are classes."""
    rows = np.zeros((len(y), 1))
    cv = 5 if cv is None else cv
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        if cv < 2:
            raise InvalidInputError(f"cv must be at least 2 folds, got {cv}.")
        splitter = KFold(int(cv), shuffle=True, random_state=seed)
        if training.classes is not None:
            splitter = StratifiedKFold(folds_for(int(cv), y), shuffle=True, random_state=seed)
    else:
        try:
            splitter = check_cv(cv, y, classifier=training.classes is not None)
        except ValueError as error:
            reason = str(error).rstrip(".")
            raise InvalidInputError(f"cv must be a number of folds, a splitter or an iterable of splits: {reason}.") from None
    try:
        splits = list(splitter.split(rows, y, **params))
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"cv cannot split the rows: {str(error).rstrip('.')}.") from error
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

    The core releases the GIL, so threads share X; a backend that the user chose (Dask, Ray, processes) takes precedence. Tasks
    that ask something of an X that is not in memory at the same time share a pass over it: unless the user says otherwise,
    several run at once. Where X is a Dask array they stay in this process: on the cluster they would wait for workers that
    wait for them.
    """
    crew = Crew()
    calls = [delayed(numbered)(number, function, watched(task, crew), crew) for number, task in enumerate(tasks)]
    stored = [item for task in tasks for item in task if isinstance(item, Training) and is_stored(item.problem.design)]
    on_dask = type(get_active_backend(prefer="threads")[0]).__name__ == "DaskDistributedBackend"
    here = any(map(is_dask, stored))
    if n_jobs is None and stored and (here or effective_n_jobs(None) == 1):  # joblib's own settings are the user's, too
        n_jobs = min(len(tasks), at_once(stored[0]))
    parallel = Parallel(n_jobs=n_jobs, prefer="threads", require="sharedmem" if here else None, return_as="generator_unordered")
    run = parallel
    if on_dask and not here:
        from ellzero.estimators.cluster_tasks import by_parcel

        run = partial(by_parcel, parallel)
    out: dict[int, Result] = {}
    try:
        for number, result in run(calls):
            out[number] = result
            if progress is not None:
                progress(len(out), result)
    except BaseException:  # Ctrl-C, or an error of one task
        crew.dismiss()
        raise
    return [out[number] for number in range(len(tasks))]


def at_once(training: Training) -> int:
    """How many fits may share the passes over an X that is not in memory."""
    return int(np.clip(MOST_BYTES // (COLUMN_BYTES * training.problem.design.shape[1]), 1, MOST_AT_ONCE))


def is_dask(training: Training) -> bool:
    """Whether X is a Dask array."""
    return isinstance(training.problem.design.stored(), DaskStore)


def parts_of(training: Training, splits: list[Split]) -> list[Training]:
    """The training rows of each split; an X that is not in memory is read for several of them at a time."""

    def part(number: int) -> Training:
        return training.on_rows(splits[number][0], f"fold {number + 1} of cv")

    if not is_stored(training.problem.design):
        return [part(number) for number in range(len(splits))]
    with ThreadPoolExecutor(min(at_once(training), len(splits))) as pool:
        return list(pool.map(part, range(len(splits))))


def numbered(number: int, function: Callable[..., Result], task: tuple[Any, ...], crew: Crew) -> tuple[int, Result]:
    """A result with the number of its task, since tasks end in any order."""
    with crew:
        return number, function(*task)


def watched(task: Iterable[Any], crew: Crew) -> tuple[Any, ...]:
    """The task's arguments, its searches such that they end when the crew is dismissed."""
    return tuple(replace(item, progress=crew) if isinstance(item, PathOptions) else item for item in task)


class Dismissed(Exception):
    """Ends a task whose result nobody waits for."""


class Crew:
    """Threads of this process that work on tasks.

    Joblib leaves its threads behind when the work is broken off. They would go on for nothing, and a process that ends while
    they are in the core is aborted; so they are told to end, and the process waits for them before it does.
    """

    def __init__(self) -> None:
        self.dismissed = False
        self.at_work = 0
        self.threads = set[threading.Thread]()
        self.changed = threading.Condition()

    def __reduce__(self) -> tuple[Any, ...]:
        return Crew, ()  # other processes end by themselves

    def __enter__(self) -> None:
        with self.changed:
            if self.dismissed:
                raise Dismissed
            self.at_work += 1
            self.threads.add(threading.current_thread())

    def __exit__(self, *_: object) -> None:
        with self.changed:
            self.at_work -= 1
            self.changed.notify_all()

    def __call__(self, fraction: float, lambda_0: float, support: int) -> None:
        """What searches report to."""
        if self.dismissed:
            raise Dismissed

    def dismiss(self) -> None:
        """Nothing more is wanted."""
        self.dismissed = True
        atexit.register(self.wait)

    def wait(self) -> None:
        """Until all have left, and a moment more for what they still hold to be freed."""
        with self.changed:
            self.changed.wait_for(lambda: not self.at_work)
        for thread in self.threads - {threading.current_thread()}:
            thread.join(0.5)


def counted(progress: ProgressCallback | None, done_before: int, total: int) -> Callable[[int, Any], None] | None:
    """Progress of one of several rounds of tasks."""
    if progress is None:
        return None
    whole = progress
    return lambda done, _: whole((done_before + done) / total, 0.0, 0)
