"""Runs the tasks of an experiment: in parallel, one file a task, so that a run that was killed goes on where it was."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import ellzero
from ellzero.base.errors import EllzeroError, InvalidInputError
from ellzero.base.files import replacing
from ellzero.base.validation import as_threads
from ellzero.experiments import find
from ellzero.experiments.experiment import Experiment, Record, Scale, Task

__all__ = ["Outcome", "reproduce"]

UNUSUAL = re.compile(r"[^A-Za-z0-9.=+_-]+")
LINE_SECONDS = 10.0  # between two lines of progress where there is no terminal


@dataclass
class Outcome:
    """What a run came to."""

    experiment: Experiment
    scale: Scale
    page: Path
    text: str
    records: list[Record]
    asked: int
    failures: dict[str, str] = field(default_factory=dict)  # what went wrong, by the description of the task

    @property
    def complete(self) -> bool:
        """Whether all tasks have their result."""
        return len(self.records) == self.asked


def reproduce(
    name: str,
    out: Path,
    scale: Scale,
    *,
    only: str = "",
    run: bool = True,
    n_jobs: int | None = None,
    stream: TextIO | None = None,
) -> Outcome:
    """Do what is left of an experiment, and write its report.

    Parameters
    ----------
    name : one of ``EXPERIMENTS``
    out : folder of the reports; each task's result is a file in its subfolder NAME (NAME-quick for a quick run)
    scale : how much is done
    only : only tasks whose description (as in the files' names) contains this text; the report is on all that is there
    run : False: only report on what is there
    n_jobs : processes; None takes all processors. Experiments that are timed use one, whatever is said here
    stream : where progress is written; None: nowhere

    """
    experiment = find(name)
    label = scale.label(name)
    folder = out / label
    folder.mkdir(parents=True, exist_ok=True)
    tasks = experiment.tasks(scale)
    chosen = [task for task in tasks if only in describe(task)]
    if not chosen:
        raise InvalidInputError(
            f"only must be part of the description of a task (such as {describe(tasks[0])!r}), got {only!r}."
        )
    failures: dict[str, str] = {}
    if run:
        kept = [(task, read(folder, task)) for task in chosen]
        done = [record for _, record in kept if record is not None]
        left = [task for task, record in kept if record is None]
        jobs = 1 if experiment.serial else workers(n_jobs)
        watch = Watch(label, left, done, min(jobs, max(len(left), 1)), stream)
        for task, failure in run_all(name, folder, left, jobs):
            watch.advance(task, None if failure else read(folder, task))
            if failure:
                failures[describe(task)] = failure
        watch.close()
    records = [record for task in tasks if (record := read(folder, task)) is not None]
    text = page(experiment, records, out, scale, len(tasks)) if records else "No task has a result yet."
    written = out / f"{label}.md"
    with replacing(written) as file:
        file.write((text.rstrip() + "\n").encode())
    with replacing(out / f"{label}.jsonl") as file:
        file.write("".join(json.dumps(record) + "\n" for record in records).encode())
    return Outcome(experiment, scale, written, text, records, len(tasks), failures)


def page(experiment: Experiment, records: list[Record], out: Path, scale: Scale, asked: int) -> str:
    """The report under its heading, with what made it."""
    words = [experiment.name, *["--quick"] * scale.quick]
    words += [f"--reps {scale.repetitions}"] * (scale.repetitions is not None)
    seconds = sum(record["seconds"] for record in records)
    made = f"`ellzero reproduce {' '.join(words)}`, ellzero {ellzero.__version__}: {len(records):,} of {asked:,} tasks"
    return (
        f"## {experiment.title}\n\n{made}, which took {duration(seconds)} together.\n\n{experiment.report(records, out, scale)}"
    )


def workers(n_jobs: int | None) -> int:
    """How many processes that is; no more than there are processors."""
    return as_threads(-1 if n_jobs is None else n_jobs)


def describe(task: Task) -> str:
    """A task in one line, which is also its file's name."""
    return UNUSUAL.sub("_", ",".join(f"{key}={value}" for key, value in task.items()))


def read(folder: Path, task: Task) -> Record | None:
    """The result of a task, if it is there; a file of another task or another version of ellzero counts as none."""
    try:
        kept = json.loads((folder / f"{describe(task)}.json").read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    same = isinstance(kept, dict) and kept.get("task") == task and kept.get("ellzero") == ellzero.__version__
    return task | kept["record"] if same else None


def run_all(name: str, folder: Path, tasks: Sequence[Task], jobs: int) -> Iterator[tuple[Task, str | None]]:
    """Run the tasks, each in some process; tells of each, as it ends, whether it failed."""
    if jobs == 1 or len(tasks) == 1:
        for task in tasks:
            yield task, run_one(name, folder, task)
        return
    from joblib import Parallel, delayed, parallel_config

    with parallel_config(backend="loky", n_jobs=jobs, inner_max_num_threads=1):
        calls = (delayed(numbered)(number, name, folder, task) for number, task in enumerate(tasks))
        # One task at a time is sent: tasks that end early make room for others, and Ctrl-C loses no more than is at work.
        try:
            for number, failure in Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")(calls):
                yield tasks[number], failure
        except BrokenExecutor:
            raise EllzeroError(
                "a process was ended from outside, as happens when memory runs out; what is done is kept, "
                "and fewer --jobs need less."
            ) from None


def numbered(number: int, name: str, folder: Path, task: Task) -> tuple[int, str | None]:
    """The same with the task's number, since tasks end in any order."""
    return number, run_one(name, folder, task)


def run_one(name: str, folder: Path, task: Task) -> str | None:
    """Run a task and keep its result; or say why there is none, so that others go on."""
    start = time.perf_counter()
    try:
        with one_thread():
            record = find(name).run(task)
    except Exception as error:  # competitors raise whatever they like
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
    kept = {"task": task, "record": record | {"seconds": time.perf_counter() - start}, "ellzero": ellzero.__version__}
    with replacing(folder / f"{describe(task)}.json") as file:
        file.write(json.dumps(kept).encode())
    return None


@contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra on one thread: tasks run beside each other, and times are of one core."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


class Watch:
    """Progress with an estimate of the time that is left.

    Tasks that differ by their repetition only take about the same time: those left are expected to take the mean of their like,
    or, where none has ended yet, the mean of all.
    """

    def __init__(self, label: str, left: Sequence[Task], done: Sequence[Record], jobs: int, stream: TextIO | None) -> None:
        self.label, self.jobs, self.stream = label, jobs, stream
        self.left = {describe(task): kind(task) for task in left}
        self.total = len(left) + len(done)
        self.before = len(done)
        self.seconds: dict[str, list[float]] = {}
        for record in done:
            self.learn(record)
        self.start = self.written = time.monotonic()
        self.bar: Any = None
        if stream is not None and done:
            stream.write(f"ellzero: {label}: {len(done)} of {self.total} tasks have their result already\n")
        if stream is not None and left and stream.isatty():
            self.bar = bar_on(stream, label, self.total, len(done))

    def learn(self, record: Record) -> None:
        """Note how long a task took."""
        self.seconds.setdefault(kind(record), []).append(float(record["seconds"]))

    def advance(self, task: Task, record: Record | None) -> None:
        """One more task has ended."""
        del self.left[describe(task)]
        if record is not None:
            self.learn(record | {key: task[key] for key in task})
        if self.stream is None:
            return
        if self.bar is not None:
            self.bar.set_postfix_str(f"about {duration(self.remaining())} left", refresh=False)
            self.bar.update(1)
            return
        now = time.monotonic()
        if now - self.written >= LINE_SECONDS or not self.left:
            self.written = now
            ended = self.total - len(self.left)
            end = f"about {duration(self.remaining())} left" if self.left else "done"
            self.stream.write(
                f"ellzero: {self.label}: {ended} of {self.total} tasks, {duration(now - self.start)} so far, {end}\n"
            )
            self.stream.flush()

    def remaining(self) -> float:
        """Seconds until the end, as far as is known."""
        known = [second for seconds in self.seconds.values() for second in seconds]
        mean = sum(known) / len(known) if known else 0.0
        expected = [
            sum(self.seconds[key]) / len(self.seconds[key]) if key in self.seconds else mean for key in self.left.values()
        ]
        return max(sum(expected) / self.jobs, max(expected, default=0.0))

    def close(self) -> None:
        """No more will come."""
        if self.bar is not None:
            self.bar.close()


def kind(task: Task) -> str:
    """What tasks of about the same cost have in common: the words that name them, and the sizes of their problem."""
    return ",".join(
        f"{key}={task[key]}" for key in ("data", "setting", "reading", "n", "p", "k", "value", "method") if key in task
    )


def bar_on(stream: TextIO, label: str, total: int, done: int) -> Any:
    """A tqdm bar, or None where tqdm is not installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(
        total=total, initial=done, file=stream, desc=label, bar_format="{desc} {n}/{total} |{bar:30}| {elapsed} {postfix}"
    )


def duration(seconds: float) -> str:
    """A time in the unit that fits."""
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"
