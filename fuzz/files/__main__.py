"""Read changed files: `python -m fuzz.files --files 20000 --jobs 2`.

Each seed stands for one good file of some format and 40 changes of it. Files that show something are kept in build/fuzz/files.
`--engine atheris` lets libFuzzer choose the changes, by what they reach in the package's readers (pip install atheris).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from fuzz.files.running import CHANGES
from fuzz.running.command import add_arguments, run_and_report

RESULTS = Path("build/fuzz/files.jsonl")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 1 if there are findings."""
    parser = argparse.ArgumentParser(
        prog="python -m fuzz.files", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--files", type=int, default=20_000, help="number of files (default 20000)")
    parser.add_argument("--only", metavar="FORMAT", help="one format instead of all")
    parser.add_argument("--engine", choices=("own", "atheris"), default="own")
    add_arguments(parser, RESULTS)
    chosen = parser.parse_args(arguments)
    if chosen.engine == "atheris":
        from fuzz.files.coverage_guided import run_atheris

        return run_atheris(chosen.only or "certificate", chosen.files)
    return run_and_report("fuzz.files.running:run", chosen, -(-chosen.files // CHANGES), chosen.only or "")


if __name__ == "__main__":
    sys.exit(main())
