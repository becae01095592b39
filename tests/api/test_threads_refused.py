"""Searches on a machine that does not start all the threads they ask for."""

import os
import resource
import subprocess
import sys

import pytest

GIB = 2**30
PROGRAM = """
import resource
import numpy as np
import ellzero as ez
rng = np.random.default_rng(0)
X = rng.standard_normal((60, 30))
y = X[:, 0] + rng.standard_normal(60) > 0.0
settings = {"lambda_0": 0.01, "lambda_2": 0.001}
alone = ez.solve(X, y, n_jobs=1, **settings)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, used + ROOM))
try:
    print(ez.solve(X, y, n_jobs=8, **settings).objective == alone.objective)
except RuntimeError as error:
    print(error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of address space are those of Linux")
@pytest.mark.parametrize(("threads", "answer"), [(1, "True"), (0, "The system starts no thread")])
def test_a_search_goes_on_with_the_threads_that_start(threads, answer):
    def stacks_of_a_gibibyte():
        resource.setrlimit(resource.RLIMIT_STACK, (GIB, resource.getrlimit(resource.RLIMIT_STACK)[1]))

    room = threads * GIB + GIB // 2  # for so many stacks, and for the rest
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("ROOM", str(room))],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        preexec_fn=stacks_of_a_gibibyte,  # a thread's stack has the size that its process started with
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(answer), done.stdout + done.stderr
