"""Worker processes, each with one case at a time: a crash, a hang or a loss of memory is a finding with its seed.

A worker gets seeds through a pipe and answers with lines of JSON. If it dies, or takes too long, the case in its hands gets the
finding, and another worker takes its place.
"""

from __future__ import annotations

import contextlib
import signal
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

from fuzz.records import Record
from fuzz.running.memory import limit_memory, peak_memory, reset_peak

__all__ = ["Task", "run_apart", "run_tasks"]

AT_ONCE = 4  # tasks that wait in a worker's pipe
MEMORY = 4_000_000_000  # bytes of address space, beyond what it has at the start, that a worker may take
GROWTH = 400e6  # bytes of resident memory by which one small case may raise the peak


@dataclass(frozen=True)
class Task:
    """A piece of work: a subject ("" to have it drawn) and a seed, and the case itself if it is not to be drawn."""

    subject: str
    seed: int
    case: Any = None


@dataclass
class Worker:
    """A process and the tasks in its hands, the first of which it works on."""

    process: Any
    pipe: Connection
    tasks: list[Task] = field(default_factory=list)
    since: float = 0.0


def run_tasks(tasks: Iterable[Task], work: str, jobs: int, seconds: float, replace_after: int = 2000) -> Iterator[Record]:
    """Yield the record of every task, in the order in which they end.

    `work` names the function ("module:name") that turns a task into a record. A case may take `seconds`; a worker is
    replaced after this many cases.
    """
    left, context = iter(tasks), get_context("forkserver")
    context.set_forkserver_preload([work.split(":")[0]])  # so that a new worker has its imports done
    workers = [begin(context, work) for _ in range(jobs)]
    served = dict.fromkeys(range(jobs), 0)
    try:
        while True:
            for worker in workers:
                feed(worker, left)
            if not any(worker.tasks for worker in workers):
                return
            ready = wait([worker.pipe for worker in workers], timeout=1.0)
            for at, worker in enumerate(workers):
                records, alive = take(worker, worker.pipe in ready, seconds)
                yield from records
                served[at] += len(records)
                if not alive or (served[at] >= replace_after and not worker.tasks):
                    waiting = worker.tasks
                    end(worker)
                    workers[at] = begin(context, work)
                    send(workers[at], waiting)
                    served[at] = 0
    finally:
        for worker in workers:
            end(worker)


@contextlib.contextmanager
def run_apart(work: str, seconds: float) -> Iterator[Callable[[Task], Record]]:
    """Yield a function that runs one task in a separate process, which is restarted whenever it was lost."""
    context = get_context("forkserver")
    context.set_forkserver_preload([work.split(":")[0]])
    worker = begin(context, work)

    def run(task: Task) -> Record:
        nonlocal worker
        send(worker, [task])
        while True:
            ready = wait([worker.pipe], timeout=0.5)
            records, alive = take(worker, bool(ready), seconds)
            if not alive:
                end(worker)
                worker = begin(context, work)
            if records:
                return records[0]

    try:
        yield run
    finally:
        end(worker)


def begin(context: Any, work: str) -> Worker:
    """Start a worker."""
    here, there = context.Pipe()
    process = context.Process(target=serve, args=(there, work), daemon=True)
    process.start()
    there.close()
    return Worker(process, here)


def feed(worker: Worker, left: Iterator[Task]) -> None:
    """Give a worker more tasks, so that it never waits."""
    while len(worker.tasks) < AT_ONCE:
        task = next(left, None)
        if task is None:
            return
        send(worker, [task])


def send(worker: Worker, tasks: list[Task]) -> None:
    """Put tasks into a worker's pipe. If it is dead, that is found out when its answer is awaited."""
    if tasks and not worker.tasks:
        worker.since = time.monotonic()
    worker.tasks = worker.tasks + tasks
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        for task in tasks:
            worker.pipe.send(task)


def take(worker: Worker, ready: bool, seconds: float) -> tuple[list[Record], bool]:
    """Return the records that a worker has finished, and whether it goes on."""
    records = []
    try:
        while ready and worker.pipe.poll():
            records.append(Record.from_line(worker.pipe.recv()))
            worker.tasks, worker.since = worker.tasks[1:], time.monotonic()
    except (EOFError, ConnectionResetError):
        worker.process.join(5.0)
        return [*records, *lost(worker, *death(worker.process.exitcode))], False
    if worker.tasks and time.monotonic() - worker.since > seconds:
        return [*records, *lost(worker, "hang", f"no answer within {seconds:g} s")], False
    return records, True


def lost(worker: Worker, kind: str, words: str) -> list[Record]:
    """Return the record of the case in the hands of a worker that is gone; there is none if it was idle."""
    if not worker.tasks:
        return []
    task, worker.tasks = worker.tasks[0], worker.tasks[1:]
    record = Record(task.subject, task.seed, seconds=time.monotonic() - worker.since)
    record.find(kind, "critical", words)
    return [record]


def death(code: int | None) -> tuple[str, str]:
    """Return the kind and the words of a worker's end."""
    if code is not None and code < 0:
        return "crash", f"killed by {signal.Signals(-code).name}"
    return "crash", f"the process ended with status {code}"


def end(worker: Worker) -> None:
    """Stop a worker."""
    worker.process.kill()
    worker.process.join()
    worker.pipe.close()


def serve(pipe: Connection, work: str) -> None:
    """Work on the tasks that come through a pipe, until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    module, name = work.split(":")
    function: Callable[[Task], Record] = getattr(import_module(module), name)
    limit_memory(MEMORY)
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            task = pipe.recv()
            reset_peak()
            before = peak_memory()
            try:
                record = function(task)
            except Exception:
                record = Record(task.subject, task.seed)
                record.find("the fuzzer itself failed", "critical", traceback.format_exc(limit=-4))
            if peak_memory() - before > GROWTH:
                record.find("memory", "high", f"the peak grew by {(peak_memory() - before) / 1e6:.0f} MB")
            pipe.send(record.line())
