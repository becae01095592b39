"""Progress of an experiment's tasks, with an estimate of the time that is left."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, TextIO

from experiments.experiment import Record, Task, describe

__all__ = ["RunProgress", "duration"]

LINE_SECONDS = 10.0  # between two lines of progress where there is no terminal


class RunProgress:
    """Progress as a bar or lines, with an estimate of the time that is left.

    Tasks that differ only by their repetition take about the same time: a task is expected to take the mean of those that have
    ended, or, where none has, the mean of all tasks.
    """

    def __init__(self, label: str, left: Sequence[Task], done: Sequence[Record], jobs: int, stream: TextIO | None) -> None:
        self.label, self.jobs, self.stream = label, jobs, stream
        self.left = {describe(task): cost_group(task) for task in left}
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
        self.seconds.setdefault(cost_group(record), []).append(float(record["seconds"]))

    def advance(self, task: Task, record: Record | None) -> None:
        """Count one more task that has ended."""
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
        """Return the expected seconds until the end."""
        known = [second for seconds in self.seconds.values() for second in seconds]
        mean = sum(known) / len(known) if known else 0.0
        expected = [
            sum(self.seconds[key]) / len(self.seconds[key]) if key in self.seconds else mean for key in self.left.values()
        ]
        return max(sum(expected) / self.jobs, max(expected, default=0.0))

    def close(self) -> None:
        """Close the bar."""
        if self.bar is not None:
            self.bar.close()


def cost_group(task: Task) -> str:
    """Return the entries of a task on which its cost depends, as text: method, setting and the sizes of its problem."""
    return ",".join(
        f"{key}={task[key]}" for key in ("data", "setting", "reading", "n", "p", "k", "value", "method") if key in task
    )


def bar_on(stream: TextIO, label: str, total: int, done: int) -> Any:
    """Return a tqdm bar, or None where tqdm is not installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(
        total=total, initial=done, file=stream, desc=label, bar_format="{desc} {n}/{total} |{bar:30}| {elapsed} {postfix}"
    )


def duration(seconds: float) -> str:
    """Return a time in the unit that fits: "5 s", "3 min", "2.0 h"."""
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"
