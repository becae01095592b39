"""Cases, and what came of them: findings and counts, as plain values that a line of JSON can hold."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from fuzz.problems.problem import Problem

__all__ = ["SEVERITIES", "Case", "Finding", "Record", "skeleton"]

SEVERITIES = ("critical", "high", "medium", "low")


@dataclass(frozen=True, eq=False)
class Case:
    """One call, or a few, of a part of the public face: a problem, and the options of that part."""

    subject: str
    seed: int
    problem: Problem
    options: dict[str, Any]

    @property
    def name(self) -> str:
        """The subject and the seed, from which the case can be drawn again."""
        return f"{self.subject} {self.seed}"


@dataclass(frozen=True)
class Finding:
    """Something that must not be: its kind, how bad it is, and what was seen."""

    kind: str
    severity: str
    words: str
    model: tuple[Any, Any] | None = None  # coefficients and intercept of a model that proves it, as plain values


@dataclass
class Record:
    """The findings, counts and ratios of one case."""

    subject: str
    seed: int
    findings: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    ratios: dict[str, float] = field(default_factory=dict)  # finite ones, of which the least is of interest
    seconds: float = 0.0

    def find(self, kind: str, severity: str, words: str, model: tuple[Any, Any] | None = None) -> None:
        """Add a finding."""
        if severity not in SEVERITIES:
            raise ValueError(f"no severity is called {severity!r}.")
        self.findings.append(Finding(kind, severity, words, model))

    def count(self, name: str) -> None:
        """Count something that is no finding but worth a line of the summary."""
        self.counts[name] += 1

    def line(self) -> str:
        """Return the record as a line of JSON."""
        findings = [asdict(finding) for finding in self.findings]
        return json.dumps({**vars(self), "findings": findings, "counts": dict(self.counts)}, default=plain)

    @classmethod
    def from_line(cls, line: str) -> Record:
        """Return the record that a line of JSON holds."""
        values = json.loads(line)
        findings = [Finding(**finding) for finding in values.pop("findings")]
        return cls(findings=findings, counts=Counter(values.pop("counts")), **values)


def plain(value: Any) -> Any:
    """Return a number of NumPy as one of Python."""
    number = float(value) if isinstance(value, np.floating) else int(value)
    return number if math.isfinite(number) else repr(number)


def skeleton(message: str) -> str:
    """Return a message without its numbers and quoted parts, so that messages of one kind are counted together."""
    message = re.sub(r"'[^']*'|\"[^\"]*\"", "'...'", message.splitlines()[0] if message else "")
    return re.sub(r"[-+]?\d[\d.e+-]*|nan|inf", "#", message)[:90]
