"""Tools that fit paths, each in a separate process and on files, since some of them crash.

    python -m benchmarks.tools TOOL THREADS FOLDER

reads X, y and the grid from the folder and writes the fitted path and its time there.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.cases import Case
from benchmarks.processes import THREAD_VARIABLES
from experiments.measurement.timing import best_time
from experiments.peers.rscript import SCRIPTS, write_problem

Array = NDArray[np.float64]
SECONDS_FOR_REPEATS = 20.0
REPEATS = 5
ATTEMPTS = 3  # how often a tool that crashes is tried
R_SCRIPTS = {"glmnet": ("glmnet.R",), "L0Learn": ("l0learn.R", "CD"), "L0Learn with swaps": ("l0learn.R", "CDPSI")}
# fastsparsegams often crashes with its default of 3; these are tried in turn.
ACTIVE_SET_NUMS = (3, 2, 4)


@dataclass(frozen=True)
class Run:
    """The path that a tool returned: one row of coefficients for each point."""

    seconds: float
    lambda_0: Array
    coef: sparse.csr_matrix
    intercept: Array
    reads: float
    memory_growth: float  # peak resident memory during the fit above that before it, as a share of X


def save_case(case: Case, folder: Path) -> None:
    """Write a problem where the tools find it."""
    np.save(folder / "y.npy", case.y)
    np.save(folder / "grid.npy", case.grid)
    np.save(folder / "lambda_2.npy", case.lambda_2)
    if sparse.issparse(case.X):
        sparse.save_npz(folder / "X.npz", case.X, compressed=False)
    else:
        np.save(folder / "X.npy", case.X)


def save_for_r(case: Case, folder: Path) -> None:
    """Write a problem as binary files, which R reads fast; the grid is for penalties that multiply a sum over rows."""
    write_problem(case.X, case.y.astype(np.int64), folder)
    (case.grid * len(case.y)).tofile(folder / "grid.bin")


def load_x(folder: Path) -> Any:
    return sparse.load_npz(folder / "X.npz") if (folder / "X.npz").exists() else np.load(folder / "X.npy")


def resident(field: str) -> float:
    """Return VmRSS or VmHWM of this process in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return 1024.0 * float(line.split()[1])
    return np.nan


Result = tuple[Array, sparse.csr_matrix, Array, float]


def fit_ellzero(X: Any, y: Array, grid: Array, lambda_2: float, threads: int, algorithm: str = "cd") -> Result:
    import ellzero as ez

    path = ez.fit_path(X, y, lambda_0=grid, lambda_2=lambda_2, algorithm=algorithm, tol=1e-6, n_jobs=threads)
    return path.lambda_0, path.coef, path.intercept, path.reads


def fit_fastsparsegams(X: Any, y: Array, grid: Array, lambda_2: float, threads: int, algorithm: str = "CD") -> Result:
    import fastsparsegams

    n = len(y)
    model = fastsparsegams.fit(
        X if sparse.issparse(X) else np.array(X, order="F"),  # it wants arrays that own their memory
        np.array(y),
        loss="Logistic",
        penalty="L0L2",
        num_gamma=None,
        num_lambda=None,
        gamma_min=lambda_2 * n,
        gamma_max=lambda_2 * n,
        lambda_grid=[(grid * n).tolist()],
        algorithm=algorithm,
        max_support_size=1000,
        active_set_num=ACTIVE_SET_NUMS[int(os.environ.get("BENCH_ATTEMPT", "0"))],
        rtol=1e-6,
        atol=1e-9,
    )
    coef = sparse.csr_matrix(model.coeffs[0].T)
    return np.array(model.lambda_0[0]) / n, coef[:, -X.shape[1] :], np.ravel(model.intercepts[0]), np.nan


def fit_abess(X: Any, y: Array, grid: Array, lambda_2: float, threads: int) -> Result:
    """Fit models of size 0 to 60, which is abess' kind of path; it returns the one that its criterion chooses."""
    from abess import LogisticRegression

    model = LogisticRegression(support_size=range(min(60, X.shape[1]) + 1), thread=threads).fit(X, (y > 0).astype(int))
    return np.array([np.nan]), sparse.csr_matrix(model.coef_.reshape(1, -1)), np.atleast_1d(model.intercept_), np.nan


Fit = Callable[[Any, Array, Array, float, int], Result]
FITS: dict[str, Fit] = {
    "ellzero": fit_ellzero,
    "ellzero, local search": partial(fit_ellzero, algorithm="local_search"),
    "fastsparsegams": fit_fastsparsegams,
    "fastsparsegams with swaps": partial(fit_fastsparsegams, algorithm="CDPSI"),
    "abess": fit_abess,
}


def run_here(tool: str, threads: int, folder: Path) -> None:
    """Run a tool inside its process."""
    X, y, grid = load_x(folder), np.load(folder / "y.npy"), np.load(folder / "grid.npy")
    lambda_2 = float(np.load(folder / "lambda_2.npy"))
    fit = FITS[tool]
    size = float(X.data.nbytes + X.indices.nbytes) if sparse.issparse(X) else float(X.nbytes)
    fit(X[:50, :40], y[:50], grid[:3], lambda_2, 1)  # imports and first-call costs are not timed
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    result, seconds, _ = best_time(lambda: fit(X, y, grid, lambda_2, threads), REPEATS, SECONDS_FOR_REPEATS)
    lambda_0, coef, intercept, reads = result
    growth = (resident("VmHWM") - before) / size
    sparse.save_npz(folder / "coef.npz", coef)
    np.savez(folder / "out.npz", seconds=seconds, lambda_0=lambda_0, intercept=intercept, reads=reads, memory_growth=growth)


def run(tool: str, threads: int, folder: Path, timeout: float, attempt: int = 0) -> Run | str:
    """Run a tool on the saved case; a string says why there is no result."""
    told = {"BENCH_ATTEMPT": str(attempt), "BENCH_EXCHANGE": str(SCRIPTS / "exchange.R")}
    environment = dict(os.environ) | {name: str(threads) for name in THREAD_VARIABLES} | told
    for name in ("out.npz", "coef.npz", "out.csv", "coef.csv"):
        (folder / name).unlink(missing_ok=True)
    if tool in R_SCRIPTS:
        script, *how = R_SCRIPTS[tool]
        command = ["Rscript", str(Path(__file__).parent / script), str(folder), str(SECONDS_FOR_REPEATS), str(REPEATS), *how]
    else:
        command = [sys.executable, "-m", "benchmarks.tools", tool, str(threads), str(folder)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout, check=False)
    except FileNotFoundError:
        return "not installed"
    except subprocess.TimeoutExpired:
        return f"over {timeout:.0f} s"
    if done.returncode < 0:
        return f"crashed (signal {-done.returncode})"
    if done.returncode:
        missing = "ModuleNotFoundError" in done.stderr or "there is no package called" in done.stderr
        last = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else ""
        return "not installed" if missing else f"failed: {last[:80]}"
    if tool in R_SCRIPTS:
        return read_r_output(folder)
    out = np.load(folder / "out.npz")
    coef = sparse.csr_matrix(sparse.load_npz(folder / "coef.npz"))
    return Run(float(out["seconds"]), out["lambda_0"], coef, out["intercept"], float(out["reads"]), float(out["memory_growth"]))


def run_patiently(case: Case, tool: str, threads: int, folder: Path, timeout: float) -> tuple[Run | str, str]:
    """Run a tool up to ATTEMPTS times if it crashes; the note says how often it crashed before its result."""
    result: Run | str = ""
    crashes = 0
    for attempt in range(ATTEMPTS):
        result = run(tool, threads, folder, timeout, attempt)
        if not (isinstance(result, str) and result.startswith("crashed")):
            break
        crashes += 1
    note = f" after {crashes} crash{'es' if crashes > 1 else ''}" if crashes and isinstance(result, Run) else ""
    shown = result if isinstance(result, str) else f"{result.seconds:.3f} s"
    print(f"{case.name}: {tool} x{threads}: {shown}{note}", flush=True)
    return result, note


def read_r_output(folder: Path) -> Run:
    """Read out.csv (seconds, then lambda_0 of the sum and intercept of each point) and coef.csv (point, feature, value)."""
    rows = np.loadtxt(folder / "out.csv", delimiter=",", ndmin=2)
    n, p = np.fromfile(folder / "shape.bin", dtype=np.int32)[:2]
    entries = np.loadtxt(folder / "coef.csv", delimiter=",", ndmin=2)
    points = rows[1:]
    shape = (len(points), int(p))
    if entries.size == 0:
        coef = sparse.csr_matrix(shape)
    else:
        index = (entries[:, 0].astype(int) - 1, entries[:, 1].astype(int) - 1)
        coef = sparse.csr_matrix((entries[:, 2], index), shape=shape)
    return Run(float(rows[0, 0]), points[:, 0] / int(n), coef, points[:, 1], np.nan, np.nan)


if __name__ == "__main__":
    run_here(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
