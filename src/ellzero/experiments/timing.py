"""Timed work: in a process of its own, since it should not depend on what ran before and may have to be ended.

python -m ellzero.experiments.timing MODULE:FUNCTION

calls the function with the task (JSON) on the standard input and prints what it came to.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from ellzero.experiments.experiment import Record, Task

__all__ = ["best_time", "call", "finish", "shown", "span"]

Result = TypeVar("Result")
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def call(function: str, task: Task, limit: float) -> Record | None:
    """What ``MODULE:FUNCTION`` makes of the task, or None if it is not done after so many seconds."""
    text = finish([sys.executable, "-m", __name__, function], limit, json.dumps(task))
    return None if text is None else json.loads(text.splitlines()[-1])


def finish(command: Sequence[str], limit: float, given: str = "") -> str | None:
    """What a program prints with linear algebra on one thread, or None if it had to be ended."""
    environment = dict(os.environ) | dict.fromkeys(THREAD_VARIABLES, "1")
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
    """The last result of so many runs (no further one begins after the seconds), the best time, and the number of runs."""
    times = list[float]()
    while True:
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
        if len(times) >= runs or sum(times) >= seconds:
            return result, min(times), len(times)


def shown(number: float) -> str:
    """Three digits."""
    return f"{number:.3g}" if number < 999.5 else f"{number:,.0f}"


def span(numbers: Sequence[float]) -> str:
    """The smallest and the largest."""
    low, high = shown(min(numbers)), shown(max(numbers))
    return low if low == high else f"{low} to {high}"


def main(name: str) -> None:
    """The inside of the process."""
    module, _, function = name.partition(":")
    print(json.dumps(getattr(importlib.import_module(module), function)(json.load(sys.stdin))))


if __name__ == "__main__":
    main(sys.argv[1])
