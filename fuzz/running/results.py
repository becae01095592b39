"""The results file: one line of JSON for each case, so that a run can be stopped, continued and read by other programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fuzz.records import Record

__all__ = ["ResultsFile"]


class ResultsFile:
    """The records of earlier and present runs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.records = list(self._read()) if path.exists() else []

    def _read(self) -> Iterator[Record]:
        """Yield the records of a file; the last line may have been cut off when a run was stopped."""
        whole = self.path.read_bytes()
        cut = whole.rfind(b"\n") + 1
        if cut < len(whole):
            with open(self.path, "r+b") as stream:
                stream.truncate(cut)
        for line in whole[:cut].decode("utf-8").splitlines():
            yield Record.from_line(line)

    def done(self) -> set[int]:
        """Return the seeds that have a record."""
        return {record.seed for record in self.records}

    def add(self, record: Record) -> None:
        """Write one more record."""
        self.records.append(record)
        with open(self.path, "a", encoding="utf-8") as stream:
            stream.write(record.line() + "\n")
