"""The command: run the cases and print their hashes."""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import time
import warnings
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import ellzero as ez
from benchmarks.fingerprint import __doc__ as about
from benchmarks.fingerprint.benchmark_problems import benchmark_cases
from benchmarks.fingerprint.calls import setting_cases, storage_cases
from benchmarks.fingerprint.digests import as_bytes, digest, parts, text_of
from benchmarks.fingerprint.estimators import estimator_cases
from benchmarks.fingerprint.exact import exact_cases
from benchmarks.fingerprint.nearness import ROUNDING, Values, differences, read_values, values_of, write_values
from benchmarks.fingerprint.paths import path_cases
from benchmarks.processes import THREAD_VARIABLES, one_thread

SHOWN = 12  # digits of the hash of a single value
PLACES = 5  # values of one case that are named when they differ


CASES = (path_cases, setting_cases, storage_cases, exact_cases, estimator_cases, benchmark_cases)


def lines_of(name: str, result: object, details: bool) -> list[str]:
    """The lines of one case."""
    lines = [f"{name} {digest(result)}"]
    if text := text_of(result):
        lines.append(f"{name}, as text {hashlib.sha256(text.encode()).hexdigest()}")
    if details:
        lines += [f"  {place} {hashlib.sha256(as_bytes(value)).hexdigest()[:SHOWN]}" for place, value in parts("", result)]
        lines += [f"  | {line}" for line in text.splitlines()]
    return lines


def compare(lines: list[str], file: Path, only: str) -> bool:
    """Whether the lines are those of an earlier run, and which are not."""
    before, now = (dict(line.rsplit(" ", 1) for line in some) for some in (file.read_text().splitlines(), lines))
    before = {name: value for name, value in before.items() if only in name}
    other = sorted(name for name in before.keys() & now.keys() if before[name] != now[name])
    missing, new = sorted(before.keys() - now.keys()), sorted(now.keys() - before.keys())
    for word, names in (("different", other), ("missing", missing), ("new", new)):
        for name in names:
            print(f"{word}: {name}", file=sys.stderr)
    told = f"{len(other)} of {len(before)} lines differ, {len(missing)} are missing, {len(new)} are new"
    print(told, file=sys.stderr)
    return not (other or missing or new)


def compare_nearly(name: str, result: object, earlier: Iterator[tuple[str, Values]]) -> bool:
    """Whether a case has the values of an earlier run to rounding, and which it has not. Cases come in the same order."""
    before = next((values for other, values in earlier if other == name), None)
    if before is None:
        raise SystemExit(f"The earlier run has no {name}, or has it before another case.")
    found = differences(before, values_of(result))
    for told in found[:PLACES]:
        print(f"different by more than {ROUNDING:g}: {name}{told}", file=sys.stderr)
    if len(found) > PLACES:
        print(f"... and {len(found) - PLACES} other values of {name}", file=sys.stderr)
    return not found


def main() -> None:
    if any(os.environ.get(name) != "1" for name in THREAD_VARIABLES):
        # Libraries read these variables when they are loaded: begin again with them.
        os.execve(sys.executable, [sys.executable, "-m", "benchmarks.fingerprint", *sys.argv[1:]], one_thread())
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only cases whose name contains this text")
    parser.add_argument("--out", type=Path, default=None, help="a file for the lines")
    parser.add_argument("--details", action="store_true", help="also a line for each value")
    parser.add_argument("--against", type=Path, default=None, help="the lines of an earlier run")
    parser.add_argument("--values", type=Path, default=None, help="a file for all values")
    parser.add_argument("--near", type=Path, default=None, help="the values of an earlier run")
    parser.add_argument("--times", action="store_true", help="the seconds of each case, on standard error")
    arguments = parser.parse_args()
    print(f"ellzero in {Path(ez.__file__).parent}", file=sys.stderr)
    warnings.simplefilter("ignore")
    lines: list[str] = []
    if arguments.values is not None:
        arguments.values.unlink(missing_ok=True)
    earlier = read_values(arguments.near) if arguments.near is not None else iter(())
    equal = True
    for name, call in chain.from_iterable(cases() for cases in CASES):
        if arguments.only not in name:
            continue
        start = time.perf_counter()
        result = call()
        some = lines_of(name, result, arguments.details)
        print("\n".join(some), flush=True)
        if arguments.values is not None:
            write_values(arguments.values, name, values_of(result))
        if arguments.near is not None:
            equal &= compare_nearly(name, result, earlier)
        if arguments.times:
            print(f"{time.perf_counter() - start:8.3f} s  {name}", file=sys.stderr)
        lines += some
    if arguments.out is not None:
        arguments.out.write_text("\n".join(lines) + "\n")
    if arguments.against is not None:
        kept = [line for line in lines if not line.startswith("  ")]
        equal &= compare(kept, arguments.against, arguments.only)
    sys.exit(not equal)


if __name__ == "__main__":
    main()
