"""Timed runs, each in a separate process: it does not depend on what ran before, and can be ended.

    python -m experiments.measurement.timing MODULE:FUNCTION

calls the function with the JSON object on the standard input and prints its value as one line of JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

__all__ = ["THREAD_VARIABLES", "best_time", "call_in_process", "run_program"]

Result = TypeVar("Result")
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Environment variables that set the number of threads of the usual linear algebra libraries."""


def call_in_process(function: str, argument: dict[str, Any], limit: float, threads: int = 1) -> dict[str, Any] | None:
    """Return the value of ``MODULE:FUNCTION`` for the argument, or None if it takes longer than `limit` seconds."""
    text = run_program([sys.executable, "-m", __name__, function], limit, json.dumps(argument), threads)
    return None if text is None else json.loads(text.splitlines()[-1])


def run_program(command: Sequence[str], limit: float, given: str = "", threads: int = 1) -> str | None:
    """Return what a program prints, or None if it takes longer than `limit` seconds; `threads` are those of linear algebra."""
    environment = dict(os.environ) | dict.fromkeys(THREAD_VARIABLES, str(threads))
    try:
        done = subprocess.run(command, input=given, env=environment, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()[-1:] or ["nothing was said"]
        how = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
        raise RuntimeError(f"{os.path.basename(command[0])} ended with {how}: {said[0]}")
    return done.stdout


def best_time(work: Callable[[], Result], runs: int, seconds: float) -> tuple[Result, float, int]:
    """Run the work up to `runs` times; return the last result, the shortest time and the number of runs.

    No further run begins once the runs have taken `seconds` together.
    """
    times = list[float]()
    while True:
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
        if len(times) >= runs or sum(times) >= seconds:
            return result, min(times), len(times)


def main(name: str) -> None:
    """Call the named function inside the process that :func:`call_in_process` started."""
    module, _, function = name.partition(":")
    print(json.dumps(getattr(importlib.import_module(module), function)(json.load(sys.stdin))))


if __name__ == "__main__":
    main(sys.argv[1])
