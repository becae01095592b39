"""One build of ellzero at the service of `benchmarks.turns`: makes problems and times them when it is asked to.

python -m benchmarks.timed_build

reads requests from the standard input, one a line: {"make": name} makes a problem, which is kept until the next one, and
{"measure": repeats} times it. Each answer is a line, too. Only the public face of ellzero is used, so that any build will do.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import ellzero as ez
from benchmarks.cases import dense_case, gaussian

Work = Callable[[], Any]


# The problems: each function makes one and returns the call that is timed.


def path_work(p: int, algorithm: str) -> Work:
    """The protocol of benchmarks/path.py."""
    case = dense_case(p)
    settings: dict[str, Any] = {"lambda_0": case.grid, "lambda_2": case.lambda_2, "algorithm": algorithm, "tol": 1e-6}
    return partial(ez.fit_path, case.X, case.y, n_jobs=1, **settings)


def exact_work(dtype: str = "float64", **options: Any) -> Work:
    """A problem of benchmarks/exact.py at p = 10,000."""
    X, y = gaussian(10_000, dtype)
    settings: dict[str, Any] = {"lambda_2": 0.01, "gap": 1e-4, "n_jobs": 1}
    return partial(ez.solve, X, y, **settings | options)


def problems() -> dict[str, Callable[[], Work]]:
    """All problems by name."""
    found: dict[str, Callable[[], Work]] = {f"path, p = {p:,}": partial(path_work, p, "cd") for p in (2_000, 10_000, 50_000)}
    for p in (2_000, 10_000):
        found[f"path by local search, p = {p:,}"] = partial(path_work, p, "local_search")
    # 0.000889 is half of the fifth largest gain of a feature, as benchmarks/exact.py computes it.
    for lambda_0, lambda_2 in ((0.07, 0.01), (0.11, 0.01), (8.89e-4, 10.0)):
        for bound in ("heuristic", None):
            name = f"exact, hinge, lambda_0 = {lambda_0:g}, bound {bound or 'none'}"
            found[name] = partial(exact_work, loss="hinge", lambda_0=lambda_0, lambda_2=lambda_2, bound=bound)
    for lambda_0 in (0.03, 0.05, 0.07):
        name = f"exact, logistic, lambda_0 = {lambda_0:g}"
        found[name] = partial(exact_work, loss="logistic", lambda_0=lambda_0, fit_intercept=False)
    # The whole search takes 40 s and 140 s; its first nodes are as fast as the others.
    for lambda_0 in (0.07, 0.11):
        name = f"exact, squared_hinge, lambda_0 = {lambda_0:g}, 60 nodes"
        found[name] = partial(exact_work, loss="squared_hinge", lambda_0=lambda_0, fit_intercept=False, node_limit=60)
    found["exact, logistic, k = 5, float32"] = partial(exact_work, "float32", k=5)
    return found


def result_hash(result: Any) -> str:
    """A hash of the coefficients and of what is known of them."""
    if isinstance(result, ez.Path):
        numbers = [result.coef.indices, result.coef.data, result.intercept, result.objective]
    else:
        numbers = [result.support, result.model.values, np.array([result.objective, result.lower_bound, result.nodes])]
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in numbers)).hexdigest()


def measured(work: Work, repeats: int) -> dict[str, float]:
    """The best wall time and the best processor time of some calls."""
    wall, cpu = [], []
    for _ in range(repeats):
        start, began = time.perf_counter(), time.process_time()
        work()
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - began)
    return {"wall": min(wall), "cpu": min(cpu)}


def serve() -> None:
    """Answer requests, one a line, until there are no more."""
    known, work = problems(), None
    print(json.dumps({"package": str(Path(ez.__file__).resolve().parent), "problems": list(known)}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if "make" in request:
            work = None  # the last problem's memory is free before the next one is made
            work = known[request["make"]]()
            answer: dict[str, Any] = {"hash": result_hash(work())}
        else:
            assert work is not None
            answer = measured(work, request["measure"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve()
