"""Where tasks on Dask collections run: on the workers of a cluster, again if a worker died with them, or in this process.

Which of the two follows from what is there: the client that X was persisted with, else the active client of
`dask.distributed`, else Dask's own scheduler in this process, which needs no `distributed`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import Any, NamedTuple, Protocol, TypeVar

from ellzero.base.errors import ClusterError, InvalidInputError

__all__ = ["Answer", "Cluster", "Engine", "LocalThreads", "answered", "engine_for"]

Key = TypeVar("Key")

PAUSES = (0.1, 1.0, 3.0)  # seconds before each further attempt; Dask itself has then moved a task three times
SHORTEST_NAP, LONGEST_NAP = 0.0005, 0.02  # seconds between two looks at what has come
LOOK_AROUND = 2.0  # seconds without an answer after which the workers are counted
PATIENCE = "60s"  # dask.config "ellzero.timeout": so long there may be no worker at all
KEPT_FREE = 0.4  # of a worker's memory: beyond the rest, Dask writes data to disk

# As text, since a function of ellzero could not even be read by a worker that lacks the package.
VERSION_HERE = "(__import__('ellzero._core'), __import__('importlib.metadata').metadata.version('ellzero'))[1]"


class Answer(NamedTuple):
    """What a task returns, and who answered: workers may join while a fit runs."""

    version: str
    worker: str
    value: Any


class Engine(Protocol):
    """Runs tasks on Dask collections."""

    def run(self, keys: Sequence[Key], make: Callable[[Sequence[Key]], list[Any]]) -> Iterator[tuple[Key, Any]]:
        """The value of each key's task, in any order; `make` builds the (delayed) tasks of some keys."""


def answered(value: Any) -> Answer:
    """A value, signed by who computed it."""
    try:
        from distributed import get_worker

        worker = str(get_worker().address)
    except (ImportError, ValueError):  # in this process
        worker = "this process"
    return Answer(version("ellzero"), worker, value)


def engine_for(X: Any) -> Engine:
    """What runs tasks on a Dask array."""
    import dask

    try:
        from distributed import futures_of, get_client
    except ImportError:
        return LocalThreads()
    held = futures_of(X)
    if held:
        if held[0].client is None:  # unpickled where there is no client
            raise ClusterError("X is kept by the workers of a Dask cluster that this process is not connected to.")
        return Cluster(held[0].client, held)
    if dask.config.get("scheduler", None) not in (None, "dask.distributed", "distributed"):
        return LocalThreads()  # the user's choice of a scheduler in this process
    try:
        client = get_client()
    except ValueError:  # there is none
        return LocalThreads()
    return Cluster(client)


class LocalThreads:
    """Dask's scheduler in this process: threads, unless the user set another one."""

    def run(self, keys: Sequence[Key], make: Callable[[Sequence[Key]], list[Any]]) -> Iterator[tuple[Key, Any]]:
        """The value of each key's task."""
        import dask

        for key, answer in zip(keys, dask.compute(*make(keys)), strict=True):
            yield key, answer.value


class Cluster:
    """The workers of a `distributed.Client`.

    Dask itself repeats the tasks of a worker that dies, and computes again what it held, as far as it knows how. What still
    fails for a reason that may pass (all workers gone for a moment, a task that was with several dying workers, a broken
    connection) is submitted again here, a few times. Nothing waits for ever: without any worker for `ellzero.timeout` in
    Dask's configuration (60 s by default) there is an error.
    """

    def __init__(self, client: Any, held: Sequence[Any] = ()) -> None:
        import dask
        from dask.utils import parse_timedelta

        if client.asynchronous:
            raise InvalidInputError("X is a Dask array of an asynchronous client; ellzero needs Client(asynchronous=False).")
        self.client = client
        self.held = list(held)  # futures of what is kept on the workers
        try:
            self.timeout = float(parse_timedelta(dask.config.get("ellzero.timeout", PATIENCE)))
        except (KeyError, TypeError, ValueError):
            setting = dask.config.get("ellzero.timeout")
            raise InvalidInputError(f"ellzero.timeout must be a time such as '60s', got {setting!r}.") from None
        leave_the_pool()
        self.wait_for_worker()
        self.check()

    def check(self) -> None:
        """All workers must have this version of ellzero."""
        for address, found in self.on_workers(eval, VERSION_HERE).items():
            if isinstance(found, BaseException):
                here = version("ellzero")
                raise ClusterError(
                    f"The worker {address} cannot import ellzero {here}, which must be there ({described(found)})."
                )
            same_version(str(address), found)

    def ask_holders(self, function: Callable[..., Any], questions: dict[Key, tuple[Any, Any]]) -> dict[Key, Any]:
        """Answers of the workers that hold some data, {key: (future, question)}, past the queue of tasks; those that come.

        A task takes several messages between client, scheduler and worker; short questions are answered faster like this.
        """
        holders = self.client.who_has([future for future, _ in questions.values()])
        by_worker: dict[str, list[Any]] = {}
        for key, (future, question) in questions.items():
            for worker in tuple(holders.get(future.key, ()))[:1]:
                by_worker.setdefault(worker, []).append((key, future.key, question))
        found: dict[Key, Any] = {}
        for answer in self.on_workers(held_answers, function, by_worker, workers=list(by_worker)).values():
            if isinstance(answer, Answer):
                same_version(answer.worker, answer.version)
                found |= answer.value
        return found

    def on_workers(self, function: Callable[..., Any], *arguments: Any, workers: Sequence[str] | None = None) -> dict[str, Any]:
        """The function's value, or its exception, on each worker that lives."""
        try:
            found = self.client.run(function, *arguments, workers=workers, on_error="return")
        except OSError:  # the connection broke
            self.require_client()
            return {}
        return {address: value for address, value in found.items() if not isinstance(value, OSError)}

    def wait_for_worker(self) -> None:
        """Return as soon as there is a worker."""
        start = time.monotonic()
        while not self.workers():
            if time.monotonic() - start > self.timeout:
                raise self.nobody()
            time.sleep(0.1)

    def workers(self) -> int:
        """How many workers there are now."""
        self.require_client()
        try:
            return len(self.client.nthreads())
        except (OSError, ValueError, AttributeError):  # the connection broke while asking
            self.require_client()
            return 0

    def require_client(self) -> None:
        """Without a client there is nothing to wait for."""
        if self.client.status not in ("running", "connecting"):
            raise ClusterError(f"The Dask client of X is {self.client.status}, by the user or since its scheduler is gone.")

    def room(self) -> float:
        """How many bytes the workers can take before Dask begins to write its data to disk."""
        return sum(max(space, 0.0) for space in self.on_workers(spare_memory).values() if isinstance(space, float))

    def nobody(self) -> ClusterError:
        """The error for an empty cluster."""
        return ClusterError(
            f"The Dask cluster has had no worker for {self.timeout:g} s (ellzero.timeout in Dask's configuration)."
        )

    def run(self, keys: Sequence[Key], make: Callable[[Sequence[Key]], list[Any]]) -> Iterator[tuple[Key, Any]]:
        """The value of each key's task, as they come."""
        missing = dict.fromkeys(keys)
        trouble: BaseException | None = None
        for pause in (0.0, *PAUSES):
            if trouble is not None:
                self.recover(pause)
                trouble = None
            for key, answer in self.attempt(list(missing), make):
                if isinstance(answer, Answer):
                    same_version(answer.worker, answer.version)
                    del missing[key]
                    yield key, answer.value
                else:
                    trouble = self.passing_trouble(answer)
            if trouble is None:
                return
        raise ClusterError(
            f"{len(missing)} of {len(keys)} tasks on the Dask cluster failed {1 + len(PAUSES)} times ({described(trouble)})."
        ) from trouble

    def attempt(self, keys: Sequence[Key], make: Callable[[Sequence[Key]], list[Any]]) -> Iterator[tuple[Key, Any]]:
        """Each key with its answer, or with what Dask gives instead of one."""
        import dask
        from distributed import as_completed

        self.require_client()
        # Residuals of many rows are large, and no mistake.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            futures = dict(zip(self.client.compute(make(keys)), keys, strict=True))
        done = as_completed(list(futures), loop=self.client.loop, with_results=True, raise_errors=False)
        try:
            while futures:
                for future, result in self.next_answers(done):
                    yield futures.pop(future), result
        finally:
            if futures:  # nobody waits for these any more
                done.clear()
                with suppress(Exception):
                    self.client.cancel(list(futures))

    def next_answers(self, done: Any) -> list[Any]:
        """Wait for some of what is to come, but not for ever."""
        start = looked = time.monotonic()
        alone: float | None = None
        while True:
            # The blocking iterator would hang if no worker comes back, and wakes up a tenth of a second late now and then.
            answers = done.next_batch(block=False)
            if answers:
                return list(answers)
            now = time.monotonic()
            if now - looked > min(LOOK_AROUND, self.timeout):
                looked = now
                alone = None if self.workers() else alone or now
                if alone is not None and now - alone > self.timeout:
                    raise self.nobody()
            time.sleep(min(LONGEST_NAP, max(SHORTEST_NAP, 0.05 * (now - start))))

    def passing_trouble(self, result: Any) -> BaseException:
        """The reason why an answer is missing, if it may pass; anything else is raised."""
        import distributed

        error: BaseException = result[1] if isinstance(result, tuple) else result
        passing = (
            distributed.KilledWorker,
            distributed.CancelledError,
            distributed.TimeoutError,
            distributed.comm.CommClosedError,
            asyncio.CancelledError,
            ConnectionError,
        )
        if isinstance(error, passing):
            return error
        self.check()  # a worker that joined later and lacks ellzero fails in many ways
        raise error

    def recover(self, pause: float) -> None:
        """Wait for workers, and give up if parts of X are gone for good."""
        time.sleep(pause)
        self.wait_for_worker()
        self.check()
        if any(future.status in ("cancelled", "lost") for future in self.held):
            raise ClusterError(
                "X was lost with the worker that held it and Dask cannot compute it again, since it was scattered or the "
                "cluster restarted: load and persist it anew."
            )
        for future in self.held:
            if future.status == "error":
                with suppress(KeyError):  # it was released meanwhile
                    future.retry()


def leave_the_pool() -> None:
    """Inside a task of a worker, leave its slot to other tasks: they may be those that are waited for."""
    from distributed import secede

    with suppress(AttributeError, KeyError, ValueError):  # in no task, or not for the first time
        secede()


def same_version(worker: str, found: str) -> None:
    """Answers of other versions are not used."""
    here = version("ellzero")
    if found != here:
        raise ClusterError(f"The worker {worker} has ellzero {found}, this process {here}; all must have the same version.")


def described(error: BaseException | None) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


def held_answers(function: Callable[..., Any], questions: dict[str, list[Any]], dask_worker: Any) -> Answer:
    """A worker's answers about the data that it holds."""
    mine = questions.get(dask_worker.address, ())
    found = {key: dask_worker.data[name] for key, name, _ in mine if name in dask_worker.data}
    return answered({key: function(found[key], *question) for key, _, question in mine if key in found})


def spare_memory(dask_worker: Any) -> float:
    """What a worker adds to the room."""
    import psutil

    limit = dask_worker.memory_manager.memory_limit
    return (1.0 - KEPT_FREE) * limit - psutil.Process().memory_info().rss if limit else float("inf")
