"""The summary of a run: cases, statuses, refusals, findings by kind, each with the seeds that show it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from fuzz.records import SEVERITIES, Finding, Record

__all__ = ["summary"]

SHOWN = 6  # seeds of each kind of finding


def summary(records: Sequence[Record]) -> str:
    """Return the summary as lines of text."""
    lines = [f"{len(records)} cases", ""]
    lines += [f"{'subject':<18}{'cases':>8}{'findings':>10}{'ms a case':>11}"]
    for subject in sorted({record.subject for record in records}):
        own = [record for record in records if record.subject == subject]
        found = sum(len(record.findings) > 0 for record in own)
        lines.append(f"{subject:<18}{len(own):8d}{found:10d}{1e3 * sum(r.seconds for r in own) / len(own):11.1f}")
    counts: Counter[str] = Counter()
    for record in records:
        counts.update(record.counts)
    if counts:
        lines += ["", "counted"]
        lines += [f"{count:8d}  {name}" for name, count in counts.most_common()]
    return "\n".join([*lines, "", *findings_table(records)])


def findings_table(records: Sequence[Record]) -> list[str]:
    """Return the kinds of findings, worst first, with examples."""
    found: dict[tuple[str, str, str], list[tuple[Record, Finding]]] = defaultdict(list)
    for record in records:
        for finding in record.findings:
            found[finding.severity, finding.kind, record.subject].append((record, finding))
    if not found:
        return ["no findings"]
    lines = [f"{sum(map(len, found.values()))} findings"]
    for (severity, kind, subject), all_of_them in sorted(
        found.items(), key=lambda item: (SEVERITIES.index(item[0][0]), item[0])
    ):
        seeds = ", ".join(str(record.seed) for record, _ in all_of_them[:SHOWN])
        more = ", ..." if len(all_of_them) > SHOWN else ""
        lines.append(f"{severity:<9}{len(all_of_them):6d}  {subject}: {kind} (seeds {seeds}{more})")
        lines.append(f"{'':17}{first_line(all_of_them[0][1].words)}")
    return lines


def first_line(words: str) -> str:
    """Return the beginning of a text, on one line."""
    text = " / ".join(words.splitlines())
    return text if len(text) <= 220 else text[:217] + "..."
