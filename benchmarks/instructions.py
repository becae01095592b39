"""Count the instructions of two builds on the problems of `benchmarks.timed_build` by valgrind; print a Markdown table.

python -m benchmarks.instructions BEFORE_PYTHON AFTER_PYTHON [--only TEXT] [--out FILE]

The two interpreters are those of the environments of two checkouts. Counts have no noise: what else the machine does changes
nothing. Each problem is solved once and twice by separate processes; the difference is what one solution takes, without the
start of Python.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

from benchmarks.processes import one_thread
from benchmarks.timed_build import problems

ROOT = Path(__file__).parent.parent
CALLS = "from benchmarks.timed_build import problems; work = problems()[{name!r}](); [work() for _ in range({calls})]"


def instructions(python: Path, name: str, calls: int) -> int:
    """Return the instructions of a process that solves a problem that many times."""
    code = CALLS.format(name=name, calls=calls)
    with tempfile.TemporaryDirectory() as folder:
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/counts", str(python), "-c", code]
        environment = one_thread() | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
        done = subprocess.run(valgrind, env=environment, cwd=folder, capture_output=True, text=True, check=True)
    return int(re.findall(r"Collected : (\d+)", done.stderr)[-1])


def table(builds: list[Path], only: str) -> list[str]:
    """Return the lines of the table, which are printed as they come."""
    lines = ["| problem | before, millions | after | after / before |", "|---|---:|---:|---:|"]
    print("\n".join(lines), flush=True)
    for name in problems():
        if only not in name:
            continue
        before, after = (instructions(python, name, 2) - instructions(python, name, 1) for python in builds)
        lines.append(f"| {name} | {before / 1e6:,.1f} | {after / 1e6:,.1f} | {after / before:.4f} |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs=2, type=Path, metavar="PYTHON")
    parser.add_argument("--only", default="", help="only problems whose name contains this text")
    parser.add_argument("--out", type=Path, default=None, help="a file for the table")
    arguments = parser.parse_args()
    lines = table([python.absolute() for python in arguments.builds], arguments.only)
    if arguments.out is not None:
        arguments.out.write_text(
            "# Instructions before and after\n\nMade by `python -m benchmarks.instructions`.\n\n" + "\n".join(lines) + "\n"
        )


if __name__ == "__main__":
    main()
