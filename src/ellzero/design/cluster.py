"""Engines that run tasks on Dask collections: the workers of a cluster, or Dask's scheduler in this process.

`engine_for` takes the client that X was persisted with, else the active client of `dask.distributed`, else Dask's own scheduler
in this process, which needs no `distributed`. Tasks that were lost with a worker run again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import Any, NamedTuple, Protocol, TypeVar

from ellzero.base.errors import ClusterError, InvalidInputError
from ellzero.base.imports import import_whole

Key = TypeVar("Key")

PAUSES = (0.1, 1.0, 3.0)  # seconds before each further attempt; Dask itself tries a task on three workers in each attempt
SHORTEST_NAP, LONGEST_NAP = 0.0005, 0.02  # seconds between two looks for answers
LOOK_AROUND = 2.0  # seconds without an answer after which the workers are counted
PATIENCE = "60s"  # how long a cluster may have no worker at all; the default of "ellzero.timeout" in Dask's configuration
KEPT_FREE = 0.4  # the share of a worker's memory that is left free: Dask writes data to disk above 60 %

# Sent as text: a worker without ellzero could not unpickle a function of ellzero.
VERSION_HERE = "(__import__('ellzero._core'), __import__('importlib.metadata').metadata.version('ellzero'))[1]"


class Answer(NamedTuple):
    """Value of a task, with the worker that computed it and its version of ellzero: workers may join while a fit runs."""

    version: str
    worker: str
    value: Any


class Engine(Protocol):
    """Runs tasks on Dask collections."""

    def run(self, keys: Sequence[Key], make: Callable[[Sequence[Key]], list[Any]]) -> Iterator[tuple[Key, Any]]:
        """Yield the value of each key's task, in any order; `make` builds the (delayed) tasks of some keys."""


def answered(value: Any) -> Answer:
    """Return a value together with the worker that computed it."""
    try:
        worker = str(import_whole("distributed").get_worker().address)
    except (ImportError, ValueError):  # in this process
        worker = "this process"
    return Answer(version("ellzero"), worker, value)


def engine_for(X: Any) -> Engine:
    """Return the engine for tasks on a Dask array."""
    try:
        distributed = import_whole("distributed")
    except ImportError:
        return LocalThreads()
    held = distributed.futures_of(X)
    if held:
        if held[0].client is None:  # unpickled where there is no client
            raise ClusterError("X is kept by the workers of a Dask cluster that this process is not connected to.")
        return Cluster(held[0].client, held)
    if import_whole("dask").config.get("scheduler", None) not in (None, "dask.distributed", "distributed"):
        return LocalThreads()  # the user's choice of a scheduler in this process
    try:
        client = distributed.get_client()
    except ValueError:  # there is none
        return LocalThreads()
    return Cluster(client)


class LocalThreads:
    """Dask's scheduler in this process: threads, unless the user set another one."""

    def run(self, keys: Sequence[Key], make: Callable[[Sequence[Key]], list[Any]]) -> Iterator[tuple[Key, Any]]:
        """Yield the value of each key's task."""
        for key, answer in zip(keys, import_whole("dask").compute(*make(keys)), strict=True):
            yield key, answer.value


class Cluster:
    """The workers of a `distributed.Client`.

    Dask itself repeats the tasks of a worker that dies, and computes the lost data again if it knows how. A task that still
    fails for a reason that may pass (all workers gone for a moment, several workers that died with the task, a broken
    connection) is submitted again here, a few times. Nothing waits for ever: without any worker for `ellzero.timeout` in
    Dask's configuration (60 s by default) there is an error.
    """

    def __init__(self, client: Any, held: Sequence[Any] = ()) -> None:
        config = import_whole("dask").config
        if client.asynchronous:
            raise InvalidInputError("X is a Dask array of an asynchronous client; ellzero needs Client(asynchronous=False).")
        self.client = client
        self.held = list(held)  # futures of what is kept on the workers
        try:
            self.timeout = float(import_whole("dask.utils").parse_timedelta(config.get("ellzero.timeout", PATIENCE)))
        except (KeyError, TypeError, ValueError):
            setting = config.get("ellzero.timeout")
            raise InvalidInputError(f"ellzero.timeout must be a time such as '60s', got {setting!r}.") from None
        leave_the_pool()
        self.wait_for_worker()
        self.check()

    def check(self) -> None:
        """Raise an error if a worker does not have this version of ellzero."""
        for address, found in self.on_workers(eval, VERSION_HERE).items():
            if isinstance(found, BaseException):
                here = version("ellzero")
                raise ClusterError(
                    f"The worker {address} cannot import ellzero {here}, which must be there ({described(found)})."
                )
            same_version(str(address), found)

    def ask_holders(self, function: Callable[..., Any], questions: dict[Key, tuple[Any, Any]]) -> dict[Key, Any]:
        """Ask the workers that hold some data directly, past the queue of tasks; return the answers that come.

        `questions` is {key: (future of the data, arguments of the function)}. A task takes several messages between client,
        scheduler and worker; short questions are answered faster like this.
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
        """Call the function on each worker that is alive; return its values and exceptions by address."""
        try:
            found = self.client.run(function, *arguments, workers=workers, on_error="return")
        except OSError:  # the connection broke
            self.require_client()
            return {}
        return {address: value for address, value in found.items() if not isinstance(value, OSError)}

    def wait_for_worker(self) -> None:
        """Wait until there is a worker, at most `timeout` seconds."""
        start = time.monotonic()
        while not self.workers():
            if time.monotonic() - start > self.timeout:
                raise self.nobody()
            time.sleep(0.1)

    def workers(self) -> int:
        """Return the present number of workers."""
        self.require_client()
        try:
            return len(self.client.nthreads())
        except (OSError, ValueError, AttributeError):  # the connection broke while asking
            self.require_client()
            return 0

    def require_client(self) -> None:
        """Raise an error if the client is closed: there is nothing to wait for then."""
        if self.client.status not in ("running", "connecting"):
            raise ClusterError(
                f"The Dask client of X is {self.client.status}, because the user closed it or its scheduler is gone."
            )

    def room(self) -> float:
        """Return how many bytes the workers can take before Dask begins to write its data to disk."""
        return sum(max(space, 0.0) for space in self.on_workers(spare_memory).values() if isinstance(space, float))

    def nobody(self) -> ClusterError:
        """Return the error about a cluster without workers."""
        return ClusterError(
            f"The Dask cluster has had no worker for {self.timeout:g} s (ellzero.timeout in Dask's configuration)."
        )

    def run(self, keys: Sequence[Key], make: Callable[[Sequence[Key]], list[Any]]) -> Iterator[tuple[Key, Any]]:
        """Yield the value of each key's task, as they come; tasks that were lost are tried again."""
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
        """Submit the tasks of some keys; yield each key with its answer, or with what Dask gives instead of one."""
        self.require_client()
        # Dask warns about large arguments of tasks; the residuals of many rows are large on purpose.
        with import_whole("dask").config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            futures = dict(zip(self.client.compute(make(keys)), keys, strict=True))
        as_completed = import_whole("distributed").as_completed
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
        """Wait for the next answers; raise an error if there has been no worker for `timeout` seconds."""
        start = looked = time.monotonic()
        alone: float | None = None
        while True:
            # Not the blocking iterator: it would hang if no worker comes back, and sometimes wakes up a tenth of a second late.
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
        """Return the reason for a missing answer if it may pass; raise it otherwise."""
        distributed = import_whole("distributed")
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
        self.check()  # the reason may be a worker that joined later and lacks ellzero, which fails in many ways
        raise error

    def recover(self, pause: float) -> None:
        """Wait for workers; raise an error if parts of X are lost for good."""
        time.sleep(pause)
        self.wait_for_worker()
        self.check()
        if any(future.status in ("cancelled", "lost") for future in self.held):
            raise ClusterError(
                "X was lost with the worker that held it and Dask cannot compute it again, because it was scattered or the "
                "cluster restarted: load and persist it again."
            )
        for future in self.held:
            if future.status == "error":
                with suppress(KeyError):  # it was released meanwhile
                    future.retry()


def leave_the_pool() -> None:
    """Give up the slot of this task, if this is one on a worker: it may wait for tasks that need a slot."""
    secede = import_whole("distributed").secede
    with suppress(AttributeError, KeyError, ValueError):  # in no task, or not for the first time
        secede()


def same_version(worker: str, found: str) -> None:
    """Raise an error if a worker has another version of ellzero."""
    here = version("ellzero")
    if found != here:
        raise ClusterError(f"The worker {worker} has ellzero {found}, this process {here}; all must have the same version.")


def described(error: BaseException | None) -> str:
    """Return an error in one line."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


def held_answers(function: Callable[..., Any], questions: dict[str, list[Any]], dask_worker: Any) -> Answer:
    """Return a worker's answers about the data that it holds."""
    mine = questions.get(dask_worker.address, ())
    found = {key: dask_worker.data[name] for key, name, _ in mine if name in dask_worker.data}
    return answered({key: function(found[key], *question) for key, _, question in mine if key in found})


def spare_memory(dask_worker: Any) -> float:
    """Return how many bytes this worker can take before Dask begins to write its data to disk."""
    limit = dask_worker.memory_manager.memory_limit
    return (1.0 - KEPT_FREE) * limit - import_whole("psutil").Process().memory_info().rss if limit else float("inf")
