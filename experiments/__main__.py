"""The paper's experiments, redone: `python -m experiments fig1 --quick`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ellzero import EllzeroError
from experiments import EXPERIMENTS, find
from experiments.experiment import Scale
from experiments.measurement.statistics import grouped
from experiments.running import Outcome, reproduce

INTERRUPTED = 130  # 128 + SIGINT


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments."""
    out = argparse.ArgumentParser(prog="python -m experiments", description="Redo a table or figure of the paper.")
    out.add_argument("name", nargs="?", choices=[*EXPERIMENTS, "all"], help="a table or figure")
    out.add_argument("--list", action="store_true", help="say what there is")
    out.add_argument("--quick", action="store_true", help="a small version that takes seconds to minutes")
    out.add_argument("--reps", type=int, metavar="N", help="repetitions (default: the paper's)")
    out.add_argument("--only", default="", metavar="TEXT", help="only tasks whose description contains this, such as method=L1")
    out.add_argument("--no-run", action="store_true", help="only report on the results that are there")
    out.add_argument("--jobs", type=int, metavar="N", help="processes (default: all processors; timings always use one)")
    out.add_argument("--quiet", action="store_true", help="no progress")
    out.add_argument(
        "--out",
        type=Path,
        default=Path("reproduction"),
        help="folder of the reports; results already in it are kept and used (default: reproduction)",
    )
    return out


def run(args: argparse.Namespace) -> int:
    """Run the tasks that have no result yet and print the reports; return 1 if a task failed."""
    scale, stream = Scale(args.quick, args.reps), None if args.quiet else sys.stderr
    failed = False
    for name in EXPERIMENTS if args.name == "all" else [args.name]:
        outcome = reproduce(name, args.out, scale, only=args.only, run=not args.no_run, n_jobs=args.jobs, stream=stream)
        print_failures(outcome)
        print(f"{outcome.text.rstrip()}\n\nwritten: {outcome.page}\n")
        failed = failed or bool(outcome.failures)
    return 1 if failed else 0


def print_failures(outcome: Outcome) -> None:
    """Print the tasks that failed, and how many are left."""
    for failure, tasks in grouped(outcome.failures, outcome.failures.__getitem__).items():
        others = f" and {len(tasks) - 1} other tasks" if len(tasks) > 1 else ""
        print(f"failed: {tasks[0]}{others}: {failure}", file=sys.stderr)
    if not outcome.complete:
        left = outcome.asked - len(outcome.records)
        print(f"{left} of {outcome.asked} tasks of {outcome.experiment.name} have no result yet.", file=sys.stderr)


def main(argv: Sequence[str] | None = None) -> int:
    """Parse the arguments, run what they name, and print errors in a sentence."""
    commands = parser()
    args = commands.parse_args(argv)
    if args.list:
        print("\n".join(f"{name:8} {find(name).title}" for name in EXPERIMENTS))
        return 0
    if args.name is None:
        commands.error("name a table or figure; --list says what there is")
    if args.reps is not None and args.reps < 1:
        commands.error(f"--reps must be at least 1, got {args.reps}")
    if args.out.exists() and not args.out.is_dir():
        commands.error(f"--out must name a folder, and {args.out} is a file")
    try:
        return run(args)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except (EllzeroError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
