"""The greedy search for a small case with the same finding."""

from __future__ import annotations

import time
from collections.abc import Callable

from fuzz.minimising.reductions import reductions
from fuzz.records import SEVERITIES, Case, Finding, Record

__all__ = ["minimise", "worst"]


def worst(record: Record) -> Finding | None:
    """Return the worst finding of a record."""
    return min(record.findings, key=lambda finding: SEVERITIES.index(finding.severity), default=None)


def minimise(case: Case, wanted: Finding, run: Callable[[Case], Record], seconds: float) -> tuple[Case, Finding]:
    """Return a smaller case with a finding of the same kind, no less severe; the search ends after `seconds`."""
    until, found = time.monotonic() + seconds, wanted

    def shows(smaller: Case) -> Finding | None:
        for finding in run(smaller).findings:
            if finding.kind == wanted.kind and SEVERITIES.index(finding.severity) <= SEVERITIES.index(wanted.severity):
                return finding
        return None

    moved = True
    while moved:  # rounds over all steps, until none helps
        moved, at, steps = False, 0, list(reductions(case))
        while at < len(steps):
            if time.monotonic() >= until:
                return case, found
            again = shows(steps[at])
            if again is None:
                at += 1
            else:
                case, found, moved = steps[at], again, True
                steps = list(reductions(case))
    return case, found
