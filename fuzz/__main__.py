"""Draw problems, call the package, judge the results: `python -m fuzz --cases 20000 --jobs 2`.

Seeds are numbers from `--seed` on; each stands for one case, and `--seed S --cases 1` runs it again. Results go to a file with one
line for each case. Without `--seed` a run goes on after the last seed of that file; with it, cases that the file has are left out.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from fuzz.records import Record
from fuzz.running.pool import Task, run_tasks
from fuzz.running.results import ResultsFile
from fuzz.running.summary import summary

RESULTS = Path("build/fuzz/results.jsonl")
SECONDS = 60.0  # that a case may take


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    out = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__.splitlines()[0])
    out.add_argument("--cases", type=int, default=20000, help="number of cases (default 20000)")
    out.add_argument("--seed", type=int, help="the first seed; without it, the one after the last of the results file")
    out.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="worker processes (default: one for each processor)")
    out.add_argument("--only", metavar="NAME", help="one subject instead of all")
    out.add_argument("--results", type=Path, default=RESULTS, help=f"the results file (default {RESULTS})")
    out.add_argument("--fresh", action="store_true", help="remove the results file first")
    out.add_argument("--seconds", type=float, default=SECONDS, help=f"that a case may take (default {SECONDS:g})")
    out.add_argument("--quiet", action="store_true", help="no line for each finding, only the summary")
    return out


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 1 if there are findings."""
    chosen = parser().parse_args(arguments)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # the workers are as many as the processors
    if chosen.fresh:
        chosen.results.unlink(missing_ok=True)
    results = ResultsFile(chosen.results)
    done = results.done()
    first = chosen.seed if chosen.seed is not None else max(done, default=-1) + 1
    seeds = [seed for seed in range(first, first + chosen.cases) if seed not in done]
    print(
        f"seeds {first} to {first + chosen.cases - 1}, {len(seeds)} to run, {chosen.jobs} workers, results in {chosen.results}"
    )
    begin, records = time.monotonic(), []
    try:
        for record in run_tasks(
            [Task(chosen.only or "", seed) for seed in seeds], "fuzz.subjects.all:run", chosen.jobs, chosen.seconds
        ):
            results.add(record)
            records.append(record)
            show(record, len(records), len(seeds), begin, chosen.quiet)
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here", file=sys.stderr)
    finally:
        results.close()
    wanted = set(range(first, first + chosen.cases))
    judged = [record for record in results.records if record.seed in wanted]
    print(f"\n{summary(judged)}\n{len(records)} cases in {time.monotonic() - begin:.0f} s")
    return int(any(record.findings for record in judged))


def show(record: Record, count: int, total: int, begin: float, quiet: bool) -> None:
    """Print what was found, and now and then how far the run is."""
    if not quiet:
        for finding in record.findings:
            if finding.severity in ("critical", "high"):
                words = finding.words.splitlines()[0] if finding.words else ""
                print(f"{finding.severity}: {record.subject} {record.seed}: {finding.kind}: {words[:200]}")
    if count % 1000 == 0:
        rate = count / (time.monotonic() - begin)
        print(f"{count} of {total} cases, {rate:.0f} a second", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
