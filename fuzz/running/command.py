"""The part that all commands share: arguments, seeds that are left, the run itself and its report."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from fuzz.records import Record
from fuzz.running.pool import Task, run_tasks
from fuzz.running.results import ResultsFile
from fuzz.running.summary import summary

__all__ = ["add_arguments", "run_and_report", "single_threaded"]

SECONDS = 60.0  # that a case may take


def add_arguments(parser: argparse.ArgumentParser, results: Path) -> None:
    """Add the arguments that all commands have."""
    parser.add_argument("--seed", type=int, help="the first seed; without it, the one after the last of the results file")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="worker processes (default: one for each processor)"
    )
    parser.add_argument("--results", type=Path, default=results, help=f"the results file (default {results})")
    parser.add_argument("--fresh", action="store_true", help="remove the results file first")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"that a case may take (default {SECONDS:g})")
    parser.add_argument("--quiet", action="store_true", help="no line for each finding, only the summary")


def single_threaded() -> None:
    """Keep the linear algebra of each worker to one thread: there are as many workers as processors."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def run_and_report(work: str, chosen: argparse.Namespace, cases: int, subject: str = "", first_of_all: int = 0) -> int:
    """Run this many seeds, or those that the results file lacks, print the summary, and return 1 if there are findings."""
    single_threaded()
    if chosen.fresh:
        chosen.results.unlink(missing_ok=True)
    results = ResultsFile(chosen.results)
    done = results.done()
    first = chosen.seed if chosen.seed is not None else max(done, default=first_of_all - 1) + 1
    wanted = range(first, first + cases)
    seeds = [seed for seed in wanted if seed not in done]
    print(f"seeds {first} to {first + cases - 1}, {len(seeds)} to run, {chosen.jobs} workers, results in {chosen.results}")
    begin, count = time.monotonic(), 0
    try:
        for record in run_tasks([Task(subject, seed) for seed in seeds], work, chosen.jobs, chosen.seconds):
            results.add(record)
            count += 1
            show(record, count, len(seeds), begin, chosen.quiet)
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here", file=sys.stderr)
    judged = [record for record in results.records if record.seed in wanted]
    print(f"\n{summary(judged)}\n{count} cases in {time.monotonic() - begin:.0f} s")
    return int(any(record.findings for record in judged))


def show(record: Record, count: int, total: int, begin: float, quiet: bool) -> None:
    """Print what was found, and now and then how far the run is."""
    for finding in [] if quiet else record.findings:
        if finding.severity in ("critical", "high"):
            words = finding.words.splitlines()[0] if finding.words else ""
            print(f"{finding.severity}: {record.subject} {record.seed}: {finding.kind}: {words[:200]}")
    if count % 1000 == 0:
        rate = count / (time.monotonic() - begin)
        print(f"{count} of {total} cases, {rate:.0f} a second", file=sys.stderr)
