"""Solve one problem with El0ps and print one line of JSON.

    python -m benchmarks.el0ps FOLDER LOSS LAMBDA_0 LAMBDA_2 GAP TIME_LIMIT

The folder holds X.npy and y.npy (labels -1 and +1, or a response). The problem, without intercept, is

    minimise (1/n) sum_i f(x_i . b, y_i) + lambda_0 ||b||_0 + lambda_2 ||b||_2^2

El0ps sums over the samples where we average, so its two weights are ours times n and its values ours times n. It runs in an
interpreter that need not have ellzero: nothing is imported from here.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from el0ps.datafit import Leastsquares, Logistic, Squaredhinge  # type: ignore[import-not-found, import-untyped, unused-ignore]
from el0ps.penalty import L2norm  # type: ignore[import-not-found, import-untyped, unused-ignore]
from el0ps.solver import BnbSolver, Result  # type: ignore[import-not-found, import-untyped, unused-ignore]
from numpy.typing import NDArray

Array = NDArray[np.float64]
DATAFITS = {"logistic": Logistic, "squared_hinge": Squaredhinge, "squared_error": Leastsquares}
REPEATS = 3
SECONDS_FOR_REPEATS = 5.0  # longer problems run once


class Solver(BnbSolver):  # type: ignore[misc, unused-ignore]
    """El0ps' branch and bound, which also keeps the lower bound that its result leaves out."""

    def package_results(self, problem: Any, results: Any) -> Result:
        self.bound = results.bound
        return super().package_results(problem, results)


def solve(X: Array, y: Array, *, loss: str, lambda_0: float, lambda_2: float, gap: float, time_limit: float) -> dict[str, Any]:
    n = len(y)
    solver = Solver(relative_gap=gap, time_limit=time_limit)
    start = time.perf_counter()
    result = solver.solve(DATAFITS[loss](y), L2norm(n * lambda_2), X, n * lambda_0)
    seconds = time.perf_counter() - start
    coef = np.asarray(result.x)
    support = np.flatnonzero(coef)
    return {
        "seconds": seconds,
        "nodes": int(result.iter_count),
        "status": str(result.status),
        "reported": float(result.objective_value) / n,
        "lower_bound": float(solver.bound) / n,
        "support": support.tolist(),
        "values": coef[support].tolist(),
    }


def main(folder: str, loss: str, lambda_0: str, lambda_2: str, gap: str, time_limit: str) -> None:
    X = np.asfortranarray(np.load(Path(folder) / "X.npy"), dtype=np.float64)
    y = np.ascontiguousarray(np.load(Path(folder) / "y.npy"), dtype=np.float64)
    options: dict[str, Any] = {"loss": loss, "lambda_0": float(lambda_0), "lambda_2": float(lambda_2), "gap": float(gap)}
    small = np.random.default_rng(0).standard_normal((20, 5))
    # Its code is compiled on its first use in a process: for the types, not for the sizes.
    solve(np.asfortranarray(small), np.sign(small[:, 0]), **options | {"lambda_0": 0.001}, time_limit=np.inf)
    runs = [solve(X, y, **options, time_limit=float(time_limit))]
    while len(runs) < REPEATS and runs[0]["seconds"] < SECONDS_FOR_REPEATS:
        runs.append(solve(X, y, **options, time_limit=float(time_limit)))
    print(json.dumps(min(runs, key=lambda run: run["seconds"])))


if __name__ == "__main__":
    main(*sys.argv[1:])
