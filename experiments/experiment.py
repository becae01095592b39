"""The interface of an experiment: tasks, records and reports."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

__all__ = ["Experiment", "Record", "Scale", "Task", "describe"]

UNUSUAL = re.compile(r"[^A-Za-z0-9.=+_-]+")  # characters that are not used in names of files

Task = dict[str, Any]
"""The description of one piece of work in JSON's scalars (setting, repetition, method), from which the seeds follow."""

Record = dict[str, Any]
"""The result of a task: the entries of the task, the measures, and the "seconds" that it took."""


@dataclass(frozen=True)
class Scale:
    """The extent of a run: the paper's, or a quick one, with the number of repetitions."""

    quick: bool = False
    repetitions: int | None = None  # None: as many as in the paper, or as a quick run has

    def repeats(self, usual: int, quick: int) -> int:
        """Return the number of repetitions where the paper has `usual` and a quick run `quick`."""
        return self.repetitions or (quick if self.quick else usual)

    def label(self, name: str) -> str:
        """Return the stem of the names of an experiment's files; quick runs have their own files."""
        return f"{name}-quick" if self.quick else name


class Experiment(Protocol):
    """A table or figure of the paper."""

    @property
    def name(self) -> str:
        """Return the name on the command line."""

    @property
    def title(self) -> str:
        """Return a title of one line."""

    @property
    def serial(self) -> bool:
        """Return whether tasks run one at a time, since they are timed."""

    def tasks(self, scale: Scale) -> list[Task]:
        """Return all tasks, the most valuable first; methods that are not installed are left out."""

    def run(self, task: Task) -> Record:
        """Run one task, on one thread."""

    def report(self, records: list[Record], folder: Path, scale: Scale) -> str:
        """Return Markdown on the records so far, with the paper's numbers; pictures go into the folder."""


def describe(task: Task) -> str:
    """Return a task in one line, which is also the name of its file."""
    return UNUSUAL.sub("_", ",".join(f"{key}={value}" for key, value in task.items()))
