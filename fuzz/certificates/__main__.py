"""Forge and mutate certificates: `python -m fuzz.certificates --mutations 100000 --jobs 2`.

All forgeries come first; they have negative seeds. Each other seed stands for one true certificate and 50 mutations of it.
A finding is written down as a script in build/fuzz/certificates.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from fuzz.certificates.forgeries import GROUPS
from fuzz.certificates.running import MUTATIONS
from fuzz.running.command import add_arguments, run_and_report

RESULTS = Path("build/fuzz/certificates.jsonl")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 1 if there are findings."""
    parser = argparse.ArgumentParser(
        prog="python -m fuzz.certificates", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--mutations", type=int, default=100_000, help="number of mutations (default 100000)")
    add_arguments(parser, RESULTS)
    chosen = parser.parse_args(arguments)
    count = -(-chosen.mutations // MUTATIONS)
    return run_and_report("fuzz.certificates.running:run", chosen, len(GROUPS) + count, first_of_all=-len(GROUPS))


if __name__ == "__main__":
    sys.exit(main())
