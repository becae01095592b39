"""The overhead of a Dask cluster, and the cost of a worker's death: paths on two worker processes against memory.

python -m benchmarks.cluster [--quick] [--only TEXT] [--out FILE]
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait
from numpy.typing import NDArray
from scipy.special import expit

import ellzero as ez
from benchmarks.cases import Case, make_case
from benchmarks.sections import Report, Section, arguments_of
from ellzero.design.dask_array import DaskStore
from ellzero.design.store import Request
from ellzero.design.stored import StoredDesign
from experiments.measurement.markdown import table

ROWS, COLUMNS, QUICK_COLUMNS = 1_000, 200_000, 20_000
WORKERS = 2
REPEATS = 3
KILL_AT_PASS = 2  # the first pass finds the columns' means and norms

INTRODUCTION = f"""# Dask: overhead, and the death of a worker

X is a Dask array whose blocks are in the memory of {WORKERS} worker processes with one thread each, on one machine; scheduler
and client are a third process, which runs the path and never holds X. The data and the 100 values of lambda_0 are those of the
timing protocol (logistic loss, independent Gaussian features, n = {ROWS:,}). In memory means the same X in one process.
"""

OVERHEAD = """{n:,} x {p:,}, float64 ({size:.1f} GB); best of {repeats} fits. A pass is one look at all of X, by all workers;
columns are those that the client fetched: supports and candidates. Row-major blocks are converted when a fit begins, and the
copies kept for as long as it lasts; that is part of the seconds. "Same" is bit by bit: objectives, supports and coefficients.
Blocks that hold a part of the rows add up in another order: there, it is the largest relative difference of an objective."""

KILLED = """{n:,} x {p:,}, blocks of {block:,} columns, all rows. Workers are killed with SIGKILL when the first block of pass
{at} has answered, and started again by Dask's nanny. Their blocks are lost; Dask makes them again: here, from random numbers.
Seconds lost are those beyond the undisturbed fit of the same table."""


class Timed:
    """A store that counts its passes and columns, and their seconds."""

    names = None

    def __init__(self, store: DaskStore, in_the_middle: Callable[[int], None] | None = None) -> None:
        self.store, self.in_the_middle = store, in_the_middle  # called with a pass's number when its first block has answered
        self.shape, self.dtype, self.storage, self.nbytes = store.shape, store.dtype, store.storage, store.nbytes
        self.passes, self.pass_seconds = 0, 0.0
        self.columns, self.column_seconds = 0, 0.0

    def scan(self, requests: Sequence[Request]) -> Iterator[tuple[int, list[NDArray[np.float64]]]]:
        self.passes += 1
        start = time.perf_counter()
        for number, part in enumerate(self.store.scan(requests)):
            if number == 0 and self.in_the_middle is not None:
                self.in_the_middle(self.passes)
            yield part
        self.pass_seconds += time.perf_counter() - start

    def take(self, columns: NDArray[Any]) -> NDArray[Any]:
        start = time.perf_counter()
        taken = self.store.take(columns)
        self.columns += len(columns)
        self.column_seconds += time.perf_counter() - start
        return taken

    def __getitem__(self, key: Any) -> Any:
        return self.store[key]


@dataclass(frozen=True)
class Fit:
    path: ez.Path
    seconds: float
    asked: Timed | None = None


def columns_of(numbers: NDArray[np.int64], order: str = "F") -> NDArray[np.float64]:
    """Return the columns of these numbers; they do not depend on where they are made."""
    made = np.array([np.random.default_rng([0, int(number)]).standard_normal(ROWS) for number in np.ravel(numbers)])
    return made.T if order == "F" else np.ascontiguousarray(made.T)


def on_workers(p: int, block: int, rows: int = ROWS, order: str = "F") -> da.Array:
    """Return X, made and kept on the workers."""
    numbers = da.arange(p, chunks=block)[None, :]
    X = numbers.map_blocks(columns_of, order, chunks=((ROWS,), numbers.chunks[1]), dtype=np.float64, meta=np.empty((0, 0)))
    if rows < ROWS:
        X = X.rechunk((rows, block)).map_blocks(np.asfortranarray)
    X = X.persist()
    wait(X)
    return X


def in_memory(p: int) -> Case:
    X = np.empty((ROWS, p), order="F")
    for start in range(0, p, 10_000):
        X[:, start : start + 10_000] = columns_of(np.arange(start, min(start + 10_000, p)))
    matter = np.linspace(0, p - 1, 5).astype(int)
    y = np.where(np.random.default_rng(1).random(ROWS) < expit(X[:, matter].sum(axis=1)), 1.0, -1.0)
    return make_case(f"p = {p:,}", X, y)


def fit(case: Case, X: Any, threads: int = 1, in_the_middle: Callable[[int], None] | None = None) -> Fit:
    start = time.perf_counter()
    asked = None if isinstance(X, np.ndarray) else Timed(DaskStore(X), in_the_middle=in_the_middle)
    design: Any = X if asked is None else StoredDesign(asked)
    path = ez.fit_path(design, case.y, lambda_2=case.lambda_2, lambda_0=case.grid, n_jobs=threads)
    return Fit(path, time.perf_counter() - start, asked)


def best_fit(case: Case, X: Any, threads: int = 1) -> Fit:
    return min((fit(case, X, threads) for _ in range(REPEATS)), key=lambda found: found.seconds)


def compared(found: ez.Path, expected: ez.Path) -> str:
    """Return "yes" if two paths are the same bit by bit, or else by how much their objectives differ."""
    equal = np.array_equal(found.objective, expected.objective) and (found.coef != expected.coef).nnz == 0
    if equal:
        return "yes"
    if len(found.objective) != len(expected.objective):
        return "no: another number of models"
    return f"{np.abs(found.objective / expected.objective - 1.0).max():.1e}"


OVERHEAD_HEADER = [
    "X in",
    "seconds",
    f"/ memory, {WORKERS} threads",
    "passes",
    "s in passes",
    "columns fetched",
    "s fetching",
    "same path",
]


def layouts(p: int) -> dict[str, dict[str, Any]]:
    """Return the ways in which X is cut into blocks: arguments of `on_workers`, by their names in the table."""
    return {
        f"Dask, blocks of {p // 40:,} columns": {"block": p // 40},
        f"Dask, blocks of {p // 8:,} columns": {"block": p // 8},
        f"Dask, blocks of {p // 2:,} columns": {"block": p // 2},
        f"Dask, blocks of {p // 8:,} columns, row-major": {"block": p // 8, "order": "C"},
        f"Dask, blocks of {p // 8:,} columns and {ROWS // 2:,} rows": {"block": p // 8, "rows": ROWS // 2},
    }


def overhead_row(name: str, found: Fit, reference: float, same: str) -> list[str]:
    asked = ["-"] * 4
    if found.asked is not None:
        asked = [
            str(found.asked.passes),
            f"{found.asked.pass_seconds:.2f}",
            f"{found.asked.columns:,}",
            f"{found.asked.column_seconds:.2f}",
        ]
    return [name, f"{found.seconds:.2f}", f"{found.seconds / reference:.2f}", *asked, same]


def overhead(client: Client, case: Case) -> Section:
    p = case.X.shape[1]
    section = Section("Overhead")
    alone, both = best_fit(case, case.X, 1), best_fit(case, case.X, WORKERS)
    rows = [
        overhead_row(f"memory, {threads} thread{'s' * (threads > 1)}", found, both.seconds, compared(found.path, alone.path))
        for threads, found in ((1, alone), (WORKERS, both))
    ]
    for name, layout in layouts(p).items():
        X = on_workers(p, **layout)
        found = best_fit(case, X)
        del X
        assert found.asked is not None
        same = compared(found.path, alone.path)
        rows.append(overhead_row(name, found, both.seconds, same))
        if "rows" not in layout and same != "yes":
            section.checks.append(f"{name}: another path than in memory ({same}).")
        section.raw.append({"layout": name, "seconds": found.seconds, "passes": found.asked.passes, "same": same})
        print(" | ".join(rows[-1]), flush=True)
    text = OVERHEAD.format(n=ROWS, p=p, size=case.X.nbytes / 1e9, repeats=REPEATS)
    section.text = f"{text}\n\n{table(OVERHEAD_HEADER, rows)}"
    return section


def killed(client: Client, case: Case) -> Section:
    p = case.X.shape[1]
    block = p // 8
    section = Section("A worker dies")
    expected = fit(case, case.X, WORKERS)
    X = on_workers(p, block)
    fit(case, X)  # Dask learns how long tasks take
    calm = fit(case, X)
    rows = []
    for victims in range(WORKERS + 1):
        client.wait_for_workers(WORKERS)
        wait(X)

        def strike(number: int, victims: int = victims) -> None:
            if number == KILL_AT_PASS:
                for pid in list(client.run(os.getpid).values())[:victims]:
                    os.kill(pid, signal.SIGKILL)

        found = calm if victims == 0 else fit(case, X, in_the_middle=strike)
        same = compared(found.path, expected.path)
        lost = "-" if victims == 0 else f"{found.seconds - calm.seconds:.2f}"
        rows.append([f"{victims} of {WORKERS}", f"{found.seconds:.2f}", lost, same])
        section.raw.append({"victims": victims, "seconds": found.seconds, "same": same})
        if same != "yes":
            section.checks.append(f"{victims} workers killed: another path than in memory ({same}).")
        print(" | ".join(rows[-1]), flush=True)
    text = KILLED.format(n=ROWS, p=p, block=block, at=KILL_AT_PASS)
    section.text = f"{text}\n\n{table(['workers killed', 'seconds', 'seconds lost', 'same path'], rows)}"
    return section


def main() -> None:
    report = Report("cluster", arguments_of(__doc__).parse_args())
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with (
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        case = in_memory(QUICK_COLUMNS if report.quick else COLUMNS)
        report.write(INTRODUCTION, {"overhead": lambda: overhead(client, case), "killed": lambda: killed(client, case)})


if __name__ == "__main__":
    main()
