"""Reduce a failing case to a script: `python -m fuzz.minimising --seed 1124 --only solve`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from fuzz.minimising.minimise import minimise, worst
from fuzz.minimising.scripts import script_of
from fuzz.records import Case, Record
from fuzz.running.command import single_threaded
from fuzz.running.pool import Task, run_apart


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 1 if the case shows nothing."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.minimising", description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--only", metavar="NAME", help="the subject; without it, the one that the seed draws")
    parser.add_argument("--kind", help="the kind of finding, as the summary names it; without it, the worst")
    parser.add_argument("--count", help="keep what the summary counts under this name, such as 'status precision', instead")
    parser.add_argument("--seconds", type=float, default=120.0, help="that the search may take (default 120)")
    parser.add_argument("--out", type=Path, help="the script's file; without it, standard output")
    chosen = parser.parse_args(arguments)
    single_threaded()
    from fuzz.subjects.all import SUBJECTS, draw_case

    case = draw_case(chosen.seed, chosen.only)
    with run_apart("fuzz.subjects.all:run", seconds=15.0) as run:

        def judge(smaller: Case) -> Record:
            record = run(Task(smaller.subject, smaller.seed, smaller))
            if chosen.count is not None and record.counts[chosen.count]:
                record.find(chosen.count, "low", f"counted {record.counts[chosen.count]} times")
            return record

        record = judge(case)
        kind = chosen.kind or chosen.count
        if kind is not None:
            record.findings = [finding for finding in record.findings if finding.kind == kind]
        finding = worst(record)
        if finding is None:
            print(f"{case.name} shows nothing", file=sys.stderr)
            return 1
        case, finding = minimise(case, finding, judge, chosen.seconds)
    text = script_of(case, finding, SUBJECTS[case.subject].calls)
    if chosen.out is None:
        print(text)
    else:
        chosen.out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
