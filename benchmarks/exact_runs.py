"""One solve of the exact benchmark in a separate process, and checks for results that a correct solver would not give.

python -m benchmarks.exact_runs FOLDER

solves the job in the folder's job.json and writes out.json next to it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ellzero as ez
from benchmarks.exact_data import load
from benchmarks.processes import THREAD_VARIABLES
from benchmarks.tools import resident
from ellzero.base.signatures import arguments_of
from ellzero.exact.options import search_options
from ellzero.exact.search import search_for
from ellzero.problem.making import make_problem

ROOT = Path(__file__).parent.parent
GAP = 1e-4
REPEATS = 3
SECONDS_FOR_REPEATS = 5.0  # longer problems run once
SECONDS_TO_VERIFY = 600.0
NODES_VERIFIED = 200_000  # larger trees take the verifier, which is plain NumPy, minutes


@dataclass(frozen=True)
class Job:
    """A problem and how to solve it, for a separate process."""

    data: dict[str, Any]  # arguments of exact_data.load
    options: dict[str, Any]  # arguments of ez.solve
    verify: bool = False
    seconds_to_verify: float = SECONDS_TO_VERIFY
    repeats: int = REPEATS
    internal: dict[str, Any] = field(default_factory=dict)  # options of the search that ez.solve does not offer

    def name(self) -> str:
        data = ", ".join(value if key == "kind" else f"{key} = {value}" for key, value in self.data.items())
        told = {key: value for key, value in self.options.items() if key not in ("gap", "time_limit")} | self.internal
        return f"{data}: " + ", ".join(f"{key}={shown(value)}" for key, value in told.items())


@dataclass
class Outcome:
    """The result of one process; the fields of the verification stay empty without one."""

    seconds: float
    own_seconds: float
    nodes: int
    status: str
    size: int
    objective: float  # recomputed by the referee
    reported: float
    lower_bound: float  # reported by the solver
    reported_gap: float
    growth: float = float("nan")  # growth of the peak resident memory, in bytes
    valid: bool | None = None
    verified_bound: float | None = None
    verified_nodes: int | None = None
    verify_seconds: float | None = None
    certificate_bytes: int | None = None
    trouble: str = ""  # why there is no verification
    assumed: float | None = None  # the bound on |beta_j|
    message: str = ""  # words of a MIP solver
    steps: list[dict[str, float]] = field(default_factory=list)  # of IGA: where each iteration ended

    def bound(self) -> float:
        return self.lower_bound if self.verified_bound is None else self.verified_bound

    def gap(self) -> float:
        return relative(self.objective, self.bound())


def relative(objective: float, bound: float) -> float:
    return (objective - bound) / max(abs(objective), 1e-300)


# Inside the process of a job.


def warm_up(options: dict[str, Any], dtype: Any) -> None:
    """Solve a small problem first, so that imports and first-call costs are not timed."""
    X = np.random.default_rng(0).standard_normal((60, 8)).astype(dtype)
    ez.solve(np.asfortranarray(X), np.sign(X[:, 0] + 0.5 * X[:, 1] * X[:, 2]), **options | {"time_limit": 1.0})


def timed_solve(
    X: Any, y: NDArray[np.float64], options: dict[str, Any], internal: dict[str, Any] | None = None
) -> tuple[Any, float]:
    start = time.perf_counter()
    solution = solve_with(X, y, options, internal) if internal else ez.solve(X, y, **options)
    return solution, time.perf_counter() - start


def solve_with(X: Any, y: NDArray[np.float64], options: dict[str, Any], internal: dict[str, Any]) -> Any:
    """Solve as ez.solve does, with options of the search that only its own code and its tests set."""
    search = replace(search_options(**arguments_of(search_options, options)), **internal)
    return search_for(make_problem(X, y, **arguments_of(make_problem, options)), search).solve()


def outcome_of(solution: Any, seconds: float, X: Any, y: NDArray[np.float64], options: dict[str, Any]) -> Outcome:
    of_objective = ("loss", "lambda_0", "lambda_1", "lambda_2", "standardize", "fit_intercept")
    chosen: dict[str, Any] = {key: options[key] for key in of_objective if key in options}
    return Outcome(
        seconds=seconds,
        own_seconds=float(solution.seconds),
        nodes=int(solution.nodes),
        status=str(solution.status),
        size=len(solution.support),
        objective=float(ez.objective(X, y, solution.coef, solution.intercept, **chosen)),
        reported=float(solution.objective),
        lower_bound=float(solution.lower_bound),
        reported_gap=float(solution.gap),
        assumed=solution.bound,
        message=str(solution.message),
        steps=steps_of(solution),
    )


def steps_of(solution: Any) -> list[dict[str, float]]:
    """Return the last state of each iteration of IGA, with the size of its set."""
    last = {row.iteration: asdict(row) for row in solution.history if row.integral}
    return list(last.values())


def verify(solution: Any, X: Any, y: NDArray[np.float64], outcome: Outcome, folder: Path) -> None:
    """Verify the saved certificate, as a reader of the result would."""
    path = folder / "certificate.npz"
    solution.certificate.save(path)
    start = time.perf_counter()
    report = ez.verify(path, X, y)
    outcome.verify_seconds = time.perf_counter() - start
    outcome.valid = bool(report.valid)
    outcome.verified_bound = float(report.lower_bound)
    outcome.verified_nodes = int(report.nodes)
    outcome.certificate_bytes = path.stat().st_size


def work(folder: Path) -> None:
    """Run the job of job.json inside its process, and write out.json before the verification starts."""
    job = Job(**json.loads((folder / "job.json").read_text()))
    X, y = load(job.data)
    warm_up(job.options, X.dtype)
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    solution, seconds = timed_solve(X, y, job.options, job.internal)
    growth = resident("VmHWM") - before
    for _ in range(job.repeats - 1 if seconds < SECONDS_FOR_REPEATS else 0):
        again, took = timed_solve(X, y, job.options, job.internal)
        if took < seconds:
            solution, seconds = again, took
    outcome = outcome_of(solution, seconds, X, y, job.options)
    outcome.growth = growth
    (folder / "out.json").write_text(json.dumps(asdict(outcome)))
    if job.verify and solution.nodes <= NODES_VERIFIED:
        verify(solution, X, y, outcome, folder)
        (folder / "out.json").write_text(json.dumps(asdict(outcome)))


# Outside the process of a job.


def run_process(command: list[str], threads: int, timeout: float) -> tuple[str, str | None]:
    """Return the standard output of a process, and why it did not end well."""
    environment = dict(os.environ) | {name: str(threads) for name in (*THREAD_VARIABLES, "NUMBA_NUM_THREADS")}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout, check=False, cwd=ROOT)
    except subprocess.TimeoutExpired:
        return "", f"over {timeout:.0f} s"
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1][:120].replace("|", "/")
        how = f"crashed (signal {-done.returncode})" if done.returncode < 0 else "failed"
        return "", f"{how}: {last}"
    return done.stdout, None


def run(job: Job) -> Outcome | str:
    """Solve in a separate process; a string says why there is no result."""
    limit = float(job.options.get("time_limit") or 600.0)
    # Twice the limit: a solver that overruns it a little shall show by how much. The rest is for making the problem.
    timeout = 120.0 + 2.0 * limit + REPEATS * SECONDS_FOR_REPEATS + (job.seconds_to_verify if job.verify else 0.0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "job.json").write_text(json.dumps(asdict(job)))
        command = [sys.executable, "-m", "benchmarks.exact_runs", name]
        _, problem = run_process(command, int(job.options.get("n_jobs", 1)), timeout)
        out = folder / "out.json"
        result: Outcome | str = Outcome(**json.loads(out.read_text())) if out.exists() else problem or "no result"
    if isinstance(result, str):
        print(f"{job.name()}: {result}", flush=True)
        return result
    result.trouble = problem or ""
    told = f"{result.seconds:.3f} s, {result.nodes} nodes, gap {percent(result.gap())}, {result.status}"
    print(f"{job.name()}: {told}", flush=True)
    return result


def complaints(job: Job, result: Outcome | str) -> list[str]:
    """Return the claims of a result that a correct solver would not make."""
    if isinstance(result, str):
        return [f"{job.name()}: {result}"]
    found = [*wrong_numbers(result), *wrong_status(job, result), *(wrong_certificate(result) if job.verify else [])]
    return [f"{job.name()}: {what}" for what in found]


def wrong_numbers(result: Outcome) -> list[str]:
    small = 1e-9 * max(abs(result.objective), 1e-3)
    gap = relative(result.objective, result.lower_bound)
    found = {
        f"objective {result.reported!r}, the referee's is {result.objective!r}": result.reported - result.objective,
        f"lower bound {result.bound()!r} above {result.objective!r}": max(0.0, result.bound() - result.objective),
        f"gap {result.reported_gap!r}, but the two values say {gap!r}": 0.01 * (result.reported_gap - gap),
    }
    # `not ... <=` instead of `>`, which would be false for NaN.
    return [what for what, excess in found.items() if not abs(excess) <= small]


def wrong_status(job: Job, result: Outcome) -> list[str]:
    limit = float(job.options.get("time_limit") or np.inf)
    target = float(job.options.get("gap", GAP))
    optimal = result.status == "optimal"
    drift = abs(result.own_seconds - result.seconds)
    found = {
        f"{result.status} with a gap of {result.gap():.3e}": optimal != (result.gap() <= (1.0 + 1e-6) * target),
        f"time_limit after {result.seconds:.1f} s of {limit:g}": result.status == "time_limit" and result.seconds < 0.9 * limit,
        f"{result.seconds:.1f} s with a limit of {limit:g}": result.seconds > 1.1 * limit + 1.0,
        f"reports {result.own_seconds:.3f} s, took {result.seconds:.3f} s": drift > 0.05 + 0.05 * result.seconds,
    }
    return [what for what, wrong in found.items() if wrong]


def wrong_certificate(result: Outcome) -> list[str]:
    if result.verified_bound is None:
        return [] if result.nodes > NODES_VERIFIED else [f"no verification: {result.trouble}"]
    lost = (result.lower_bound - result.verified_bound) / max(abs(result.objective), 1e-3)
    found = {
        "the certificate is not valid": not result.valid,
        f"verified {result.verified_bound!r}, the solver says {result.lower_bound!r}": not lost <= 1e-7,
        # The certificate may have more: fixing a feature before a branch makes a node of the proof.
        f"{result.nodes} nodes, but {result.verified_nodes} in the certificate": (result.verified_nodes or 0) < result.nodes,
    }
    return [what for what, wrong in found.items() if wrong]


def contradictions(name: str, results: Sequence[tuple[str, Outcome]]) -> list[str]:
    """Return the lower bounds above an objective that somebody else reached on the same problem."""
    return [
        f"{name}: the bound {one.bound():.8f} of {who} is above {other.objective:.8f}, reached by {whose}"
        for who, one in results
        for whose, other in results
        if who != whose and one.bound() > other.objective * (1.0 + 1e-9)
    ]


def percent(value: float) -> str:
    return f"{100.0 * value:.2g} %"


def seconds_shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}" if value < 10.0 else f"{value:.1f}"


def shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def bound_shown(result: Outcome) -> str:
    return f"{result.bound():.6f}" + (" (solver's)" if result.verified_bound is None else "")


if __name__ == "__main__":
    work(Path(sys.argv[1]))
