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

    X, y, _ = ez.datasets.make_classification(400, 4000, 20, s=1.0, random_state=0)
    X = store(X, {storage!r})
    in_the_core = threading.Event()

    def progress(*_):
        in_the_core.set()
        time.sleep({pause})

    threading.Thread(target=lambda: {call}, daemon=True).start()
    in_the_core.wait()
    time.sleep(float(sys.argv[1]))
    print("ends", flush=True)
"""
# Each lasts seconds, so that the end finds the thread in the core: NumPy itself, in `unique` for one, aborts at this time.
PATH = "ez.fit_path(X, y, lambda_2=1e-3, algorithm='local_search', n_jobs={jobs}, progress=progress)"
PROOF = "ez.solve(X, y, k=8, lambda_2=1e-4, n_jobs={jobs}, progress=progress)"
CALLS = {
    "path": {"call": PATH.format(jobs=1)},
    "threads": {"call": PATH.format(jobs=2)},
    "callback": {"call": PATH.format(jobs=1), "pause": 0.05},
    "stored": {"call": PATH.format(jobs=1), "storage": "file"},
    "proof": {"call": PROOF.format(jobs=2)},
    "stored_proof": {"call": PROOF.format(jobs=1), "storage": "file_csc"},
}


def end_after(seconds, program, **what):
    """Run the program, and end it so long after its thread entered the core; return its exit code and output."""
    filled = program.format(**{"storage": "f64", "pause": 0} | what)
    command = [sys.executable, "-c", textwrap.dedent(filled), str(seconds)]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1], timeout=250, check=False)
    return ended.returncode, ended.stdout


@pytest.mark.parametrize("name", CALLS)
def test_the_process_ends(name):
    """It says no more than Python itself, which reports what a thread met in modules that are gone."""
    for seconds in (0, 0.1, 0.3):
        assert end_after(seconds, PROGRAM, **CALLS[name]) == (0, "ends\n"), seconds


def test_a_fit_at_the_very_end_still_works():
    """Functions that were registered before the package was imported run after its own."""
    late = "atexit.register(lambda: print(len(ez.fit_path(np.eye(6), [0, 1] * 3, lambda_0=[0.1]))))"
    program = PROGRAM.replace("    import ellzero", f"    {late}\n    import ellzero", 1)
    assert end_after(0.2, program, **CALLS["path"]) == (0, "ends\n1\n")
