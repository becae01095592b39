"""What an experiment is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

__all__ = ["Experiment", "Record", "Scale", "Task"]

Task = dict[str, Any]
"""Names one piece of work in JSON's scalars: a setting, a repetition, a method. All that is random is seeded by it."""

Record = dict[str, Any]
"""What a task came to: its own entries, the measures, and the "seconds" that it took."""


@dataclass(frozen=True)
class Scale:
    """How much of an experiment is done."""

    quick: bool = False
    repetitions: int | None = None  # None: as many as in the paper, or as a quick run has

    def repeats(self, usual: int, quick: int) -> int:
        """The number of repetitions where the paper has `usual` and a quick run `quick`."""
        return self.repetitions or (quick if self.quick else usual)

    def label(self, name: str) -> str:
        """What files about an experiment at this scale are called: quick ones are kept apart."""
        return f"{name}-quick" if self.quick else name


class Experiment(Protocol):
    """A table or figure of the paper."""

    @property
    def name(self) -> str:
        """What the command line calls it."""

    @property
    def title(self) -> str:
        """What it shows, in one line."""

    @property
    def serial(self) -> bool:
        """Whether tasks run one at a time, since they are timed."""

    def tasks(self, scale: Scale) -> list[Task]:
        """All work, in the order in which it is worth having; methods that are not installed are left out."""

    def run(self, task: Task) -> Record:
        """Do one task, on one thread."""

    def report(self, records: list[Record], folder: Path, scale: Scale) -> str:
        """Markdown on whatever records there are, beside the paper's numbers; pictures go into the folder."""
