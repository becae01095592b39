"""``ellzero reproduce``: redo an experiment of the paper."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import safe_line
from ellzero.cli.output import note, print_result
from ellzero.experiments import EXPERIMENTS, find
from ellzero.experiments.experiment import Scale
from ellzero.experiments.running import Outcome, reproduce
from ellzero.measurement.statistics import grouped
from ellzero.tables.optional import need

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Run the tasks that have no result yet and print the reports; return 1 if a task failed."""
    if args.list:
        rows = {name: find(name).title for name in EXPERIMENTS}
        print_result(
            args, {"command": "reproduce", "experiments": rows}, "\n".join(f"{name:8} {title}" for name, title in rows.items())
        )
        return 0
    if args.name is None:
        raise InvalidInputError(f"name must be one of {', '.join(EXPERIMENTS)} or all.")
    if args.reps is not None and args.reps < 1:
        raise InvalidInputError(f"--reps must be at least 1, got {args.reps}.")
    need("matplotlib", "experiments")
    out = Path(args.out)
    if out.exists() and not out.is_dir():
        raise InvalidInputError(f"{out} is a file; --out must name a folder.")
    scale = Scale(args.quick, args.reps)
    outcomes = []
    for name in EXPERIMENTS if args.name == "all" else [args.name]:
        stream = None if args.quiet else sys.stderr
        outcomes.append(reproduce(name, out, scale, only=args.only, run=not args.no_run, n_jobs=args.jobs, stream=stream))
        print_failures(args, outcomes[-1])
    results = [
        {
            "name": outcome.experiment.name,
            "report": str(outcome.page),
            "tasks": outcome.asked,
            "results": len(outcome.records),
            "failures": outcome.failures,
        }
        for outcome in outcomes
    ]
    text = "\n\n".join(f"{outcome.text.rstrip()}\n\nwritten: {outcome.page}" for outcome in outcomes)
    print_result(args, {"command": "reproduce", "experiments": results}, text)
    return 1 if any(outcome.failures for outcome in outcomes) else 0


def print_failures(args: argparse.Namespace, outcome: Outcome) -> None:
    """Print the tasks that failed, and how many are left."""
    for failure, tasks in grouped(outcome.failures, outcome.failures.__getitem__).items():
        others = f" and {len(tasks) - 1} other tasks" if len(tasks) > 1 else ""
        print(f"ellzero: failed: {safe_line(f'{tasks[0]}{others}: {failure}')}", file=sys.stderr)
    if not outcome.complete:
        note(
            args,
            f"{outcome.asked - len(outcome.records)} of {outcome.asked} tasks of {outcome.experiment.name} have no result yet.",
        )
