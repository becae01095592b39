"""Runs of an experiment's tasks: in parallel, with one file for each result, so that a run that was killed can go on."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import ellzero
from ellzero.base.errors import EllzeroError, InvalidInputError
from ellzero.base.files import replacing
from ellzero.base.validation import as_threads
from experiments import find
from experiments.experiment import Experiment, Record, Scale, Task, describe
from experiments.progress import RunProgress, duration

__all__ = ["Outcome", "reproduce"]


@dataclass
class Outcome:
    """The results of a run, its report, and the tasks that failed."""

    experiment: Experiment
    scale: Scale
    page: Path
    text: str
    records: list[Record]
    asked: int
    failures: dict[str, str] = field(default_factory=dict)  # the reason by the description of the task

    @property
    def complete(self) -> bool:
        """Return whether all tasks have a result."""
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
    """Run the tasks of an experiment that have no result yet, and write its report.

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
        kept = [(task, read_result(folder, task)) for task in chosen]
        done = [record for _, record in kept if record is not None]
        left = [task for task, record in kept if record is None]
        jobs = 1 if experiment.serial else processes(n_jobs)
        progress = RunProgress(label, left, done, min(jobs, max(len(left), 1)), stream)
        for task, failure in run_all(name, folder, left, jobs):
            progress.advance(task, None if failure else read_result(folder, task))
            if failure:
                failures[describe(task)] = failure
        progress.close()
    records = [record for task in tasks if (record := read_result(folder, task)) is not None]
    text = report_page(experiment, records, out, scale, len(tasks)) if records else "No task has a result yet."
    written = out / f"{label}.md"
    with replacing(written) as file:
        file.write((text.rstrip() + "\n").encode())
    with replacing(out / f"{label}.jsonl") as file:
        file.write("".join(json.dumps(record) + "\n" for record in records).encode())
    return Outcome(experiment, scale, written, text, records, len(tasks), failures)


def report_page(experiment: Experiment, records: list[Record], out: Path, scale: Scale, asked: int) -> str:
    """Return the report under its heading, with the command that made it."""
    words = [experiment.name, *["--quick"] * scale.quick]
    words += [f"--reps {scale.repetitions}"] * (scale.repetitions is not None)
    seconds = sum(record["seconds"] for record in records)
    made = f"`python -m experiments {' '.join(words)}`, ellzero {ellzero.__version__}: {len(records):,} of {asked:,} tasks"
    return (
        f"## {experiment.title}\n\n{made}, which took {duration(seconds)} together.\n\n{experiment.report(records, out, scale)}"
    )


def processes(n_jobs: int | None) -> int:
    """Return the number of processes, which is at most that of the processors."""
    return as_threads(-1 if n_jobs is None else n_jobs)


def read_result(folder: Path, task: Task) -> Record | None:
    """Return the kept result of a task; None if there is none, or one of another task or version of ellzero."""
    try:
        kept = json.loads((folder / f"{describe(task)}.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    same = isinstance(kept, dict) and kept.get("task") == task and kept.get("ellzero") == ellzero.__version__
    return task | kept["record"] if same else None


def run_all(name: str, folder: Path, tasks: Sequence[Task], jobs: int) -> Iterator[tuple[Task, str | None]]:
    """Run the tasks in several processes; yield each task as it ends, with the reason if it failed."""
    if jobs == 1 or len(tasks) == 1:
        for task in tasks:
            yield task, run_one(name, folder, task)
        return
    from joblib import Parallel, delayed, parallel_config

    with parallel_config(backend="loky", n_jobs=jobs, inner_max_num_threads=1):
        calls = (delayed(run_numbered)(number, name, folder, task) for number, task in enumerate(tasks))
        # Batches of one task: processes that are done early take the next, and Ctrl-C loses only the tasks that are running.
        try:
            for number, failure in Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")(calls):
                yield tasks[number], failure
        except BrokenExecutor:
            raise EllzeroError(
                "a process was ended from outside, as happens when memory runs out; what is done is kept, "
                "and fewer --jobs need less."
            ) from None


def run_numbered(number: int, name: str, folder: Path, task: Task) -> tuple[int, str | None]:
    """Run a task and return its number with the outcome, since tasks end in any order."""
    return number, run_one(name, folder, task)


def run_one(name: str, folder: Path, task: Task) -> str | None:
    """Run a task and keep its result; return the reason if it failed, so that the others go on."""
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
    """Limit linear algebra to one thread inside a `with` block: tasks run at the same time, and times are of one core."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield
