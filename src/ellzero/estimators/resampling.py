"""Splits of the rows, and parallel tasks, one for each of them."""

from __future__ import annotations

import atexit
import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import check_random_state

from ellzero.base.errors import InvalidInputError
from ellzero.base.imports import whole_imports
from ellzero.base.quoting import quoted, shown
from ellzero.design import is_stored
from ellzero.design.dask_array import DaskStore
from ellzero.estimators.choice_rules import FOLDS
from ellzero.estimators.training import Training
from ellzero.solvers.paths import PathOptions

Split = tuple[NDArray[np.int64], NDArray[np.int64]]
Result = TypeVar("Result")
MOST_AT_ONCE = 16
"""At most this many tasks share the passes over an X that is not in memory; fewer where there are many columns."""
COLUMN_BYTES, MOST_BYTES = 400, 1 << 29
"""Memory of a fit for each column of such an X, and of all fits together."""


def make_splits(cv: Any, training: Training, y: NDArray[Any], seed: Any, **params: Any) -> list[Split]:
    """Return the training rows and test rows of each split.

    A number of folds means shuffled folds, stratified if there are classes.
    """
    rows = np.zeros((len(y), 1))
    try:
        check_random_state(seed)
    except ValueError:
        expected = "an integer from 0 to 2^32 - 1 or a numpy.random.RandomState"
        raise InvalidInputError(f"random_state must be {expected}, got {quoted(seed)}.") from None
    cv = FOLDS if cv is None else cv
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        if cv < 2:
            raise InvalidInputError(f"cv must be at least 2 folds, got {cv}.")
        splitter = KFold(int(cv), shuffle=True, random_state=seed)
        if len(training.classes):
            splitter = StratifiedKFold(folds_for(int(cv), y), shuffle=True, random_state=seed)
    else:
        try:
            splitter = check_cv(cv, y, classifier=len(training.classes) > 0)
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
    """Return numbers of rows, from numbers or a mask."""
    chosen = np.asarray(rows)
    if chosen.dtype == bool and chosen.shape == (n,):
        chosen = np.flatnonzero(chosen)
    if chosen.ndim != 1 or not chosen.size:
        raise InvalidInputError("cv must give each split at least one training row and one test row.")
    if chosen.dtype.kind not in "iu" or chosen.min() < 0 or chosen.max() >= n:
        raise InvalidInputError(f"cv must hold numbers of rows from 0 to {n - 1}, or masks of {n} rows.")
    return chosen.astype(np.int64)


def folds_for(cv: int, y: NDArray[Any]) -> int:
    """Return the number of folds: no more than the rarest class has rows, so that each fold has all classes."""
    labels, members = np.unique(y, return_counts=True)
    rarest = int(members.min())
    if rarest < 2:
        raise InvalidInputError(f"cv needs at least two rows of each class, y has one of class {labels[members.argmin()]!s}.")
    if rarest < cv:
        warnings.warn(
            f"cv = {rarest} folds instead of {cv}: class {shown(labels[members.argmin()])} has only {rarest} rows.",
            stacklevel=6,
        )
    return min(cv, rarest)


def run_tasks(
    function: Callable[..., Result],
    tasks: Sequence[Iterable[Any]],
    n_jobs: int | None,
    progress: Callable[[int, Result], object] = lambda done, result: None,
) -> list[Result]:
    """Call the function with each task's arguments, in parallel by joblib; return the results in the order of the tasks.

    The core releases the GIL, so tasks run in threads that share X, unless the user chose another backend (Dask, Ray,
    processes). Tasks that read an X that is not in memory at the same time share a pass over it; so several run at once unless
    the user says otherwise. If X is a Dask array, the tasks stay in this process: on the cluster they would occupy the
    workers that they wait for.
    """
    crew = Crew()
    calls = [delayed(run_with)(crew, function, task) for task in tasks]
    stored = [item for task in tasks for item in task if isinstance(item, Training) and is_stored(item.problem.design)]
    on_dask = type(get_active_backend(prefer="threads")[0]).__name__ == "DaskDistributedBackend"
    here = any(isinstance(item.problem.design.stored(), DaskStore) for item in stored)
    if n_jobs is None and stored and (here or effective_n_jobs(None) == 1):  # settings of joblib are the user's word, too
        n_jobs = min(len(tasks), fits_at_once(stored[0]))
    parallel = Parallel(n_jobs=n_jobs, prefer="threads", require="sharedmem" if here else None, return_as="generator")
    run = parallel
    if on_dask and not here:
        with whole_imports():
            from ellzero.estimators.cluster_tasks import run_on_cluster  # needs cloudpickle, which is optional

        run = partial(run_on_cluster, parallel)
    out, results = list[Result](), run(calls)
    try:
        for result in results:
            out.append(result)
            progress(len(out), result)
    except BaseException:  # Ctrl-C, or an error of one task
        crew.dismiss()
        with warnings.catch_warnings():  # joblib warns of tasks that it could not cancel: the crew ends them
            warnings.simplefilter("ignore")
            results.close()
        raise
    return out


def fits_at_once(training: Training) -> int:
    """Return how many fits may share the passes over an X that is not in memory."""
    return int(np.clip(MOST_BYTES // (COLUMN_BYTES * training.problem.design.shape[1]), 1, MOST_AT_ONCE))


def run_with(crew: Crew, function: Callable[..., Result], task: Iterable[Any]) -> Result:
    """Run a task in a thread of the crew; its searches report to the crew, and so end when it is dismissed."""
    with crew:
        return function(*(replace(item, progress=crew) if isinstance(item, PathOptions) else item for item in task))


class Dismissed(Exception):
    """Raised inside a task whose result nobody waits for, to end it."""


class Crew:
    """The threads of this process that work on tasks, and a way to end them.

    Joblib leaves its threads running after Ctrl-C or an error. Their work is for nothing, and Python aborts if it ends while
    they are in the core. So they are told to end, and the process waits for them before it ends itself.
    """

    def __init__(self) -> None:
        self.dismissed = False
        self.at_work = set[threading.Thread]()
        self.threads = set[threading.Thread]()
        self.changed = threading.Condition()

    def __reduce__(self) -> tuple[Any, ...]:
        return Crew, ()  # a copy in another process has no threads to end: joblib ends the process

    def __enter__(self) -> None:
        with self.changed:
            if self.dismissed:
                raise Dismissed
            self.at_work.add(threading.current_thread())
            self.threads.add(threading.current_thread())

    def __exit__(self, *_: object) -> None:
        with self.changed:
            self.at_work.discard(threading.current_thread())
            self.changed.notify_all()

    def __call__(self, fraction: float, lambda_0: float, support: int) -> None:
        """Take a search's report of progress; raise if the crew is dismissed, which ends the search."""
        if self.dismissed:
            raise Dismissed

    def dismiss(self) -> None:
        """Tell all threads to end; the process waits for them when it exits."""
        self.dismissed = True
        atexit.register(self.wait)

    def wait(self) -> None:
        """Wait until no other thread works on a task, and a moment more for their memory to be freed.

        The thread that waits does no work, though it may be counted: Ctrl-C can come just before it would no longer be.
        """
        here = {threading.current_thread()}
        with self.changed:
            self.changed.wait_for(lambda: self.at_work <= here)
        for thread in self.threads - here:
            thread.join(0.5)
