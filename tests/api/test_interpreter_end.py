"""The interpreter ends while daemon threads are somewhere in a fit: the process ends with it, and does not abort."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

PROGRAM = """
    import atexit, sys, threading, time
    import numpy as np
    import ellzero as ez
    from support.problems import store

    X, y, _ = ez.datasets.make_classification({rows}, {columns}, 20, s=1.0, random_state=0)
    X = store(X, {storage!r})

    def work():
        while True:
            {call}

    threading.Thread(target=work, daemon=True).start()
    time.sleep(float(sys.argv[1]))
    print("ends", flush=True)
"""
# Long fits, so that the end finds the thread in the core: at this time NumPy aborts in some of its own functions.
PATH = "ez.fit_path(X, y, lambda_2=1e-3, algorithm='local_search', n_jobs={jobs})"
CALLS = {
    "path": {"call": PATH.format(jobs=1), "rows": 400, "columns": 4000},
    "threads": {"call": PATH.format(jobs=2), "rows": 400, "columns": 4000},
    "callback": {"call": "ez.fit_path(X, y, lambda_2=1e-3, progress=lambda *_: time.sleep(0.001))"},
    "stored": {"call": PATH.format(jobs=1), "storage": "file"},
    "proof": {"call": "ez.solve(X, y, k=8, lambda_2=1e-4, n_jobs=2)"},
    "stored_proof": {"call": "ez.solve(X, y, k=8, lambda_2=1e-4)", "storage": "file_csc"},
}


def end_after(seconds, program, **what):
    """Run the program, and end it after so long; return its exit code and output."""
    filled = program.format(**{"rows": 200, "columns": 600, "storage": "f64"} | what)
    command = [sys.executable, "-c", textwrap.dedent(filled), str(seconds)]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1], timeout=60, check=False)
    return ended.returncode, ended.stdout


@pytest.mark.parametrize("name", CALLS)
def test_the_process_ends(name):
    """It says no more than Python itself, which reports what a thread met in modules that are gone."""
    for seconds in (0.1, 0.35):
        assert end_after(seconds, PROGRAM, **CALLS[name]) == (0, "ends\n"), seconds


def test_a_fit_at_the_very_end_still_works():
    """Functions that were registered before the package was imported run after its own."""
    late = "atexit.register(lambda: print(len(ez.fit_path(np.eye(6), [0, 1] * 3, lambda_0=[0.1]))))"
    program = PROGRAM.replace("    import ellzero", f"    {late}\n    import ellzero", 1)
    assert end_after(0.2, program, **CALLS["path"]) == (0, "ends\n1\n")
