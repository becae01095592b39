"""Plant faults, one at a time, and see which test finds each: `python -m benchmarks.faults`.

Results are kept in build/faults/results.jsonl, and a run that was stopped goes on. What the tests of a fault do not find is
looked for by all tests with --rest. `--check` only says which faults the source has outgrown.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from benchmarks.faults.core_faults import CORE_FAULTS
from benchmarks.faults.fault import Fault, misplaced
from benchmarks.faults.python_faults import PYTHON_FAULTS
from benchmarks.faults.running import Outcome, checkout, find

FAULTS = [*PYTHON_FAULTS, *CORE_FAULTS]
FOLDER = Path("build/faults")
BEFORE = "00dd5df"  # the last commit whose suite was not thinned


def main() -> int:
    """Run the command; the exit status is 1 if a fault was not found."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.faults", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="WORD", help="only faults whose name or file has this word"
    )
    parser.add_argument("--check", action="store_true", help="plant nothing, but say which texts the source no longer has")
    parser.add_argument("--rest", action="store_true", help="run all tests where those of the fault find nothing")
    parser.add_argument("--again", action="store_true", help="also faults that have a result")
    parser.add_argument("--commit", default="HEAD", help="where to plant them (default HEAD)")
    parser.add_argument("--out", type=Path, help="write the table of all results to this file")
    chosen = parser.parse_args()
    faults = [fault for fault in FAULTS if all(word in f"{fault.name} {fault.file}" for word in chosen.only)]
    if chosen.check:
        wrong = misplaced(faults, Path())
        print("\n".join(wrong) or f"all {len(faults)} faults have their place")
        return int(bool(wrong))
    known = results()
    todo = [fault for fault in faults if chosen.again or fault.name not in known]
    if todo:
        tree = FOLDER / "tree"
        FOLDER.mkdir(parents=True, exist_ok=True)
        checkout(tree, chosen.commit)
        for fault in todo:
            known[fault.name] = outcome = find(fault, tree, chosen.rest)
            with (FOLDER / "results.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(outcome)) + "\n")
            print(f"{fault.name}: {outcome.test or 'NOT FOUND'} ({outcome.seconds} s)", flush=True)
    if chosen.out is not None:
        chosen.out.write_text(table(known), encoding="utf-8")
    return int(any(fault.name in known and not known[fault.name].test for fault in faults))


def results() -> dict[str, Outcome]:
    """Return what is known, by the names of faults."""
    path = FOLDER / "results.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {outcome.fault: outcome for outcome in (Outcome(**json.loads(line)) for line in lines)}


def table(known: dict[str, Outcome]) -> str:
    """Return the table of all faults that have a result."""
    rows = [row(fault, known[fault.name]) for fault in FAULTS if fault.name in known]
    found = sum(bool(known[fault.name].test) for fault in FAULTS if fault.name in known)
    head = [
        "# Planted faults",
        "",
        f"{len(rows)} of {len(FAULTS)} mistakes, planted one at a time, and the first test that fails; {found} are found.",
        "Where it says nothing without a star, only the tests of the fault were run; `--rest` runs all others, too.",
        f'"before" is the suite of commit {BEFORE}, which was not thinned yet: "same" where it has the same test.',
        '"in" is the commit in which the fault was planted last.',
        "`python -m benchmarks.faults --out benchmarks/results/faults.md` makes this table.",
        "",
        "| fault | file | what it breaks | found by | before | seconds | in |",
        "|---|---|---|---|---|---:|---|",
    ]
    return "\n".join([*head, *rows]) + "\n"


def row(fault: Fault, outcome: Outcome) -> str:
    """Return a line of the table."""
    test = outcome.test.split("[")[0]
    before = "" if not test else "same" if was_there(test) else "no such test"
    where = f"`{test}`" if test else "nothing *" if outcome.rest else "nothing"
    cells = [fault.name, f"`{fault.file}`", fault.breaks, where, before, f"{outcome.seconds:.0f}", outcome.commit]
    return f"| {' | '.join(cells)} |"


def was_there(test: str) -> bool:
    """Return whether the suite of before has a test: of this file, with this name."""
    file, _, name = test.partition("::")
    command = ["git", "show", f"{BEFORE}:{file.split()[0]}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    known = any(form in done.stdout for form in (f"def {name}(", f"TEST({name})"))
    return done.returncode == 0 and (known or not name)


if __name__ == "__main__":
    sys.exit(main())
