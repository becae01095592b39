"""Write the table of fuzzing runs from their results files: `python -m fuzz.table --out benchmarks/results/fuzz.md`.

It counts cases, statuses, refused certificates of our own, findings, mutations and forgeries, and finds the least ratios of
margins to errors. Nothing is rerun.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from experiments.measurement.markdown import table
from fuzz.__main__ import RESULTS as PROBLEMS
from fuzz.certificates.__main__ import RESULTS as CERTIFICATES
from fuzz.certificates.running import MUTATIONS
from fuzz.files.__main__ import RESULTS as FILES
from fuzz.files.running import CHANGES
from fuzz.margins.__main__ import RESULTS as MARGINS
from fuzz.margins.comparing import BOUND, COMPARED, OBJECTIVE
from fuzz.margins.comparing import CERTIFICATES as VERIFIED
from fuzz.records import SEVERITIES, Record
from fuzz.running.results import ResultsFile

__all__ = ["main"]

OWN = "own certificate refused"
SEARCH, STRICT = "status ", ", gap asked below 1e-6"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 1 if there are no results."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.table", description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=Path, default=PROBLEMS, help=f"results of python -m fuzz (default {PROBLEMS})")
    parser.add_argument("--certificates", type=Path, default=CERTIFICATES, help=f"of fuzz.certificates ({CERTIFICATES})")
    parser.add_argument("--files", type=Path, default=FILES, help=f"of fuzz.files ({FILES})")
    parser.add_argument("--margins", type=Path, default=MARGINS, help=f"of fuzz.margins ({MARGINS})")
    parser.add_argument("--out", type=Path, help="Markdown file to write")
    chosen = parser.parse_args(arguments)
    paths = chosen.problems, chosen.certificates, chosen.files, chosen.margins
    runs = [ResultsFile(path).records if path.exists() else [] for path in paths]
    if not any(runs):
        parser.error("there are no results yet; run `make fuzz` first.")
    text = page(*runs)
    print(text)
    if chosen.out is not None:
        chosen.out.write_text(text, encoding="utf-8")
    return 0


def page(problems: Sequence[Record], certificates: Sequence[Record], files: Sequence[Record], margins: Sequence[Record]) -> str:
    """Return the page, with a section for each run that has results."""
    parts = ["# Fuzzing", "", "Written by `python -m fuzz.table --out benchmarks/results/fuzz.md` from the results of:", ""]
    parts += ["```console", *commands(problems, certificates, files, margins), "```", ""]
    if problems:
        parts += ["## Problems", "", by_subject(problems), "", searches(problems), ""]
    if certificates:
        parts += ["## Certificates", "", judged(certificates), ""]
    if files:
        count = sum(record.counts["files"] for record in files)
        parts += ["## Files", "", f"{count:,} changed files; a case is one good file and {CHANGES} changes of it.", ""]
        parts += [by_subject(files), ""]
    if margins:
        parts += ["## Margins", "", verified(margins), ""]
    return "\n".join([*parts, "## Findings", "", findings([*problems, *certificates, *files, *margins]), ""])


def commands(
    problems: Sequence[Record], certificates: Sequence[Record], files: Sequence[Record], margins: Sequence[Record]
) -> list[str]:
    """Return the commands that give these results, if no seed between the first and the last is missing."""
    mutated = sum(record.seed >= 0 for record in certificates)
    runs = [("fuzz --cases", problems, len(problems)), ("fuzz.certificates --mutations", certificates, MUTATIONS * mutated)]
    runs += [("fuzz.files --files", files, CHANGES * len(files)), ("fuzz.margins --cases", margins, len(margins))]
    return [
        f"$ python -m {name} {count} --seed {min(record.seed for record in records)}"
        for name, records, count in runs
        if records
    ]


def by_subject(records: Sequence[Record]) -> str:
    """Return cases, findings by severity and mean times of each subject."""
    rows = []
    for subject in [*sorted({record.subject for record in records}), None]:
        own = [record for record in records if subject in (record.subject, None)]
        found = Counter(finding.severity for record in own for finding in record.findings)
        seconds = sum(record.seconds for record in own) / len(own)
        counts = [str(found[severity]) for severity in SEVERITIES]
        rows.append(
            ["all" if subject is None else subject or "lost with its worker", f"{len(own):,}", *counts, f"{1e3 * seconds:.0f}"]
        )
    return table(["subject", "cases", *SEVERITIES, "ms a case"], rows)


def searches(records: Sequence[Record]) -> str:
    """Return the statuses of searches, for ordinary gaps and tiny ones, and how many of our own certificates were refused."""
    counts = sum((record.counts for record in records), Counter[str]())
    names = sorted({name.removeprefix(SEARCH).removesuffix(STRICT) for name in counts if name.startswith(SEARCH)})
    rows, totals = [], [sum(counts[f"{SEARCH}{name}{end}"] for name in names) for end in ("", STRICT)]
    for name in names:
        shares = [share(counts[f"{SEARCH}{name}{end}"], of) for end, of in zip(("", STRICT), totals, strict=True)]
        rows.append([name, *shares])
    refused = sum(finding.kind == OWN for record in records for finding in record.findings)
    head = ["status of a search", f"gap of at least 1e-6 ({totals[0]:,} searches)", f"smaller gap ({totals[1]:,} searches)"]
    return f"{table(head, rows)}\n\nRefused certificates of our own: {share(refused, sum(totals))}."


def judged(records: Sequence[Record]) -> str:
    """Return the numbers of forgeries and mutations, and what became of them."""
    rows = []
    for subject in ("forgeries", "mutations"):
        own = [record for record in records if record.subject == subject]
        counts = sum((record.counts for record in own), Counter[str]())
        originals = sum(record.counts["certificates"] > 0 for record in own) if subject == "mutations" else 0
        unsound = sum(finding.kind == "unsound" for record in own for finding in record.findings)
        verdicts = [f"{counts[name]:,}" for name in ("valid", "bound without validity", "refused")]
        rows.append([subject, f"{counts['certificates'] - originals:,}", f"{originals:,}", *verdicts, str(unsound)])
    head = [
        "kind",
        "number",
        "true certificates",
        "reports: valid (and true)",
        "not valid, with a true bound",
        "refused",
        "unsound",
    ]
    return table(head, rows)


def verified(records: Sequence[Record]) -> str:
    """Return how many certificates exact arithmetic has confirmed, and the least ratios of margins to errors."""
    rows = []
    for loss in [*sorted({record.subject for record in records if record.counts[VERIFIED]}), None]:
        own = [record for record in records if record.counts[VERIFIED] and loss in (record.subject, None)]
        counts = [sum(record.counts[name] for record in own) for name in (VERIFIED, COMPARED)]
        least = [min((record.ratios.get(name, math.inf) for record in own), default=math.inf) for name in (BOUND, OBJECTIVE)]
        failures, seconds = sum(bool(record.findings) for record in own), sum(record.seconds for record in own) / len(own)
        numbers = [f"{count:,}" for count in (*counts, failures)]
        rows.append([loss or "all", *numbers, *(f"{ratio:.3g}" for ratio in least), f"{1e3 * seconds:.0f}"])
    head = ["loss", VERIFIED, COMPARED, "failures", f"least {BOUND}", f"least {OBJECTIVE}", "ms a certificate"]
    without = Counter(
        "no answer in time" if record.findings else "refused" for record in records if not record.counts[VERIFIED]
    )
    words = f"`solve` refused {without['refused']:,} problems in a sentence; {without['no answer in time']:,} took too long."
    return f"Certificates verified in float64 and in exact arithmetic. {words}\n\n{table(head, rows)}"


def findings(records: Sequence[Record]) -> str:
    """Return the kinds of findings with their seeds, worst first."""
    found: dict[tuple[int, str, str], list[int]] = {}
    for record in records:
        for finding in record.findings:
            found.setdefault((SEVERITIES.index(finding.severity), record.subject, finding.kind), []).append(record.seed)
    if not found:
        return "None."
    rows = []
    for (severity, subject, kind), seeds in sorted(found.items()):
        some = ", ".join(map(str, seeds[:6])) + (", ..." if len(seeds) > 6 else "")
        rows.append([SEVERITIES[severity], subject, kind, str(len(seeds)), some])
    return table(["severity", "subject", "finding", "number", "seeds"], rows)


def share(count: int, total: int) -> str:
    """Return a count and its share."""
    return f"{count:,} ({count / total:.2%})" if total else f"{count:,}"


if __name__ == "__main__":
    raise SystemExit(main())
