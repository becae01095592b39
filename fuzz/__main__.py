"""Draw problems, call the package, judge the results: `python -m fuzz --cases 20000 --jobs 2`.

Seeds are numbers from `--seed` on; each stands for one case, and `--seed S --cases 1` runs it again. Results go to a file
with one line for each case. Without `--seed` a run goes on after the last seed of that file; with it, cases that the file has
are left out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from fuzz.running.command import add_arguments, run_and_report

RESULTS = Path("build/fuzz/results.jsonl")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    out = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    out.add_argument("--cases", type=int, default=20000, help="number of cases (default 20000)")
    out.add_argument("--only", metavar="NAME", help="one subject instead of all")
    add_arguments(out, RESULTS)
    return out


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 1 if there are findings."""
    chosen = parser().parse_args(arguments)
    return run_and_report("fuzz.subjects.all:run", chosen, chosen.cases, chosen.only or "")


if __name__ == "__main__":
    sys.exit(main())
