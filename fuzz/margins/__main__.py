"""Compare the verifier's float64 bounds with exact arithmetic: `python -m fuzz.margins --cases 2200 --jobs 2`.

Problems are drawn from seeds over all scales and solved; their certificates are verified in both arithmetics. Results go to a
file with one line for each case, and a run that was stopped goes on. `python -m fuzz.table` says by which factor the margins
exceed the errors, at least.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from fuzz.running.command import add_arguments, run_and_report

RESULTS = Path("build/fuzz/margins.jsonl")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 1 if there are findings."""
    parser = argparse.ArgumentParser(
        prog="python -m fuzz.margins", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=2200, help="number of problems (default 2200)")
    add_arguments(parser, RESULTS)
    chosen = parser.parse_args(arguments)
    return run_and_report("fuzz.margins.comparing:run", chosen, chosen.cases)


if __name__ == "__main__":
    sys.exit(main())
