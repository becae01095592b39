"""A planted fault: one text of the source that is replaced by another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["Fault", "misplaced"]


@dataclass(frozen=True)
class Fault:
    """A mistake in one file, and the tests that should find it; if these do not, all others are run."""

    name: str
    file: str
    old: str  # occurs once in the file
    new: str
    breaks: str
    tests: tuple[str, ...]

    @property
    def compiled(self) -> bool:
        """Whether the core must be built again."""
        return self.file.startswith("cpp/")

    def plant(self, tree: Path) -> None:
        """Replace the text."""
        path = tree / self.file
        text = path.read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(f"{self.name}: the text occurs {text.count(self.old)} times in {self.file}")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


def misplaced(faults: list[Fault], tree: Path) -> list[str]:
    """Return what is wrong with faults: texts that do not occur once, since the source has moved, and tests that are gone."""
    wrong = []
    for fault in faults:
        path = tree / fault.file
        found = path.read_text(encoding="utf-8").count(fault.old) if path.exists() else 0
        if found != 1:
            wrong.append(f"{fault.name}: its text occurs {found} times in {fault.file}")
        wrong += [f"{fault.name}: no {test}" for test in fault.tests if not (tree / test.split("::")[0]).exists()]
    return wrong
