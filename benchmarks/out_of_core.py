"""An X that is larger than memory: passes, bytes and seconds against the speed of the disk, and the memory that a fit takes.

Run it with `make bench-out-of-core`; BENCH="--folder DIR" says where the files of 20 GB go (they are removed afterwards).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ellzero as ez
from benchmarks.exact_runs import ROOT
from benchmarks.sections import Report, Section, arguments_of
from experiments.measurement.markdown import table

GIGABYTE = 1e9
SPAN = 1 << 24  # bytes that are read at a time when the disk is measured
MOST_MEASURED = 1 << 32
INTRODUCTION = """# Larger than memory

X is a column store on disk, made in blocks with `ellzero.ColumnWriter`: independent columns, a few of which matter,
labels from a logistic model. Each fit runs in a separate process; "memory" is the most that was resident at any
time in it (`VmHWM`), interpreter and libraries included. A pass is one read of all of X, "read" are all bytes that
were read, those of single columns included. The first pass computes means and variances and holds every block against
its checksum. The given grid has 30 values of lambda_0; where none is given, a path has a point for each model that is
the best at some lambda_0, 30 at most. "Changes" counts the points of the path at which the support is another one
than before. "Disk" is how long reading as many bytes takes at the rate at which the same file was read from the
start, in pieces of 16 MB by two threads, after the system's cache of it had been dropped. The cache was dropped
before each fit, too; passes after the first may find parts of the file in it, as they would in practice.
"""


@dataclass(frozen=True)
class Data:
    """A random X that is made block by block, so that any block can be made again."""

    n: int
    p: int
    dtype: str
    features: int = 20  # the number of features that matter
    weakest: float = 0.15  # coefficient of the last of them; that of the first is one
    seed: int = 0

    @property
    def nbytes(self) -> int:
        return self.n * self.p * np.dtype(self.dtype).itemsize

    @property
    def width(self) -> int:
        return max(1, SPAN // (4 * self.n))

    @property
    def true(self) -> NDArray[np.int64]:
        return np.arange(self.features) * (self.p // self.features)

    def block(self, index: int) -> NDArray[Any]:
        """Return columns [index * width, (index + 1) * width): standard normal, or genotypes 0, 1, 2."""
        rng = np.random.default_rng([self.seed, index])
        shape = (min(self.width, self.p - index * self.width), self.n)
        if self.dtype == "int8":
            share = rng.uniform(0.1, 0.5, (shape[0], 1)).astype(np.float32)
            first, second = rng.random((2, *shape), dtype=np.float32) < share
            return (first.astype(np.int8) + second).T
        return rng.standard_normal(shape, dtype=np.float32).astype(self.dtype, copy=False).T

    def blocks(self) -> Iterator[NDArray[Any]]:
        """Yield all blocks in order; several are made at a time."""
        count, threads = -(-self.p // self.width), os.cpu_count() or 1
        with ThreadPoolExecutor(threads) as pool:
            for start in range(0, count, threads):
                yield from pool.map(self.block, range(start, min(start + threads, count)))

    def target(self) -> NDArray[np.int64]:
        """Return labels of a logistic model on the features that matter."""
        columns = np.array([self.block(j // self.width)[:, j % self.width] for j in self.true], dtype=np.float64)
        columns = (columns - columns.mean(axis=1, keepdims=True)) / columns.std(axis=1, keepdims=True)
        eta = np.geomspace(1.0, self.weakest, self.features) @ columns  # so that they enter one after another
        return np.where(np.random.default_rng([self.seed, self.p]).random(self.n) < 1.0 / (1.0 + np.exp(-eta)), 1, -1)

    def words(self) -> str:
        return f"n = {self.n:,}, p = {self.p:,}, {self.dtype}, {self.nbytes / GIGABYTE:.2f} GB"


@contextmanager
def stored(data: Data, folder: Path) -> Iterator[Path]:
    """Write the data as a column store, which is removed at the end of the `with` block."""
    path = folder / f"{data.dtype}-{data.n}-{data.p}.columns"
    try:
        with ez.ColumnWriter(path, data.n, data.p, dtype=data.dtype, y=data.target(), overwrite=True) as writer:
            for block in data.blocks():
                writer.append(block)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def drop_cache(path: Path) -> None:
    """Remove a store's files from the system's cache."""
    for file in path.glob("*.npy"):
        descriptor = os.open(file, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def read_rate(path: Path) -> float:
    """Return the bytes a second that two threads read from the disk."""
    drop_cache(path)
    descriptor = os.open(path / "X.npy", os.O_RDONLY)
    size = min(os.fstat(descriptor).st_size, MOST_MEASURED)
    start = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        total = sum(pool.map(lambda at: len(os.pread(descriptor, SPAN, at)), range(0, size, SPAN)))
    os.close(descriptor)
    return total / (time.perf_counter() - start)


def peak_memory() -> int:
    """Return the largest number of bytes that were resident in this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


# Each of these functions runs in a separate process; it takes the path of a store and returns numbers.


def opened(path: Path) -> tuple[ez.ColumnStore, NDArray[Any]]:
    store = ez.open_columns(path)
    return store, np.asarray(store.y)


def fit_path(path: Path, algorithm: str) -> dict[str, Any]:
    store, y = opened(path)
    settings: dict[str, Any] = {"lambda_2": 1e-3, "algorithm": algorithm.removeprefix("grid "), "max_support": 30}
    if algorithm.startswith("grid"):
        settings |= {"lambda_0": np.geomspace(0.06, 16.0 / len(y), 30), "max_support": None}  # down to where noise begins
    start = time.perf_counter()
    found = ez.fit_path(store, y, n_lambda=30, **settings)
    seconds = time.perf_counter() - start
    supports = [set(model.support.tolist()) for model in found]
    return {
        "seconds": seconds,
        "points": len(found),
        "changes": sum(a != b for a, b in pairwise(supports)),
        "passes": store.passes,
        "read": store.bytes_read,
        "supports": [sorted(support) for support in supports],
        "objective": found.objective.tolist(),
    }


def fit_in_memory(path: Path, algorithm: str) -> dict[str, Any]:
    y, X = np.load(path / "y.npy"), np.load(path / "X.npy")
    start = time.perf_counter()
    found = ez.fit_path(X, y, n_lambda=30, lambda_2=1e-3, max_support=30, algorithm=algorithm, n_jobs=-1)
    return {"seconds": time.perf_counter() - start, "points": len(found), "objective": found.objective.tolist()}


def certify(path: Path, proof: str) -> dict[str, Any]:
    store, y = opened(path)
    start = time.perf_counter()
    solution = ez.solve(store, y, k=5, lambda_2=0.05, time_limit=1200, n_jobs=-1)
    seconds = time.perf_counter() - start
    solution.certificate.save(proof)
    return {
        "seconds": seconds,
        "status": solution.status,
        "gap": solution.gap,
        "nodes": solution.nodes,
        "passes": store.passes,
        "read": store.bytes_read,
    }


def verify(path: Path, proof: str) -> dict[str, Any]:
    store, y = opened(path)
    start = time.perf_counter()
    report = ez.verify(proof, store, y)
    return {
        "seconds": time.perf_counter() - start,
        "valid": report.valid,
        "gap": report.gap,
        "passes": store.bytes_read / store.nbytes,
        "read": store.bytes_read,
    }


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "path": fit_path,
    "memory": fit_in_memory,
    "certify": certify,
    "verify": verify,
}


def measured(section: Section, task: str, path: Path, argument: str) -> dict[str, Any]:
    """Run a task in a separate process; return its numbers, with the memory of the process."""
    drop_cache(path)
    command = [sys.executable, "-m", "benchmarks.out_of_core", "--task", task, str(path), argument]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        raise SystemExit(f"{task}: {done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    section.raw.append({"task": task, "argument": Path(argument).name, "store": path.name, **result})
    return result


PATHS_HEADER = [
    "algorithm",
    "points",
    "changes",
    "passes",
    "allowed",
    "read",
    "seconds",
    "disk, s",
    "memory",
    "true features found",
]


def paths(data: Data, folder: Path, algorithms: tuple[str, ...] = ("grid cd", "cd")) -> Section:
    """Fit paths of 30 points, by coordinate descent on a given grid and on its own grid, and by other algorithms."""
    section, rows = Section(f"A path of 30 points: {data.words()}"), []
    with stored(data, folder) as path:
        rate = read_rate(path)
        for algorithm in algorithms:
            run = measured(section, "path", path, algorithm)
            rows.append(path_row(data, algorithm, run, rate))
            if algorithm != "local_search" and run["passes"] > 3 + run["changes"]:
                section.checks.append(f"{run['passes']} passes are more than 3 + {run['changes']}.")
            if run["memory"] >= 2**31:
                section.checks.append(f"{algorithm}: more than 2 GiB were resident.")
    section.text = f"The disk reads {rate / GIGABYTE:.2f} GB/s.\n\n" + table(PATHS_HEADER, rows)
    return section


def path_row(data: Data, algorithm: str, run: dict[str, Any], rate: float) -> list[str]:
    found = max(len(set(support) & set(data.true.tolist())) for support in run["supports"] if len(support) <= data.features)
    return [
        "cd, given grid" if algorithm == "grid cd" else algorithm,
        str(run["points"]),
        str(run["changes"]),
        str(run["passes"]),
        "" if algorithm == "local_search" else f"{3 + run['changes']}",
        f"{run['read'] / GIGABYTE:.1f} GB ({run['read'] / data.nbytes:.2f} X)",
        f"{run['seconds']:.1f}",
        f"{run['read'] / rate:.1f}",
        f"{run['memory'] / 2**20:.0f} MiB",
        f"{found} of {data.features}",
    ]


def against_memory(data: Data, folder: Path) -> Section:
    """Compare fits from the file with fits in memory."""
    section, rows = Section(f"Against memory: {data.words()}"), []
    with stored(data, folder) as path:
        for algorithm in ("cd", "local_search"):
            file, memory = (measured(section, task, path, algorithm) for task in ("path", "memory"))
            same = file["objective"] == memory["objective"]
            rows.append(
                [algorithm, f"{file['seconds']:.2f}", f"{memory['seconds']:.2f}", str(file["passes"]), "yes" if same else "NO"]
            )
            if not same:
                section.checks.append(f"{algorithm}: the paths differ.")
    header = ["algorithm", "file, s", "memory, s", "passes", "same objectives, bit for bit"]
    section.text = "Fits alone, without reading the file into memory.\n\n" + table(header, rows)
    return section


def proofs(data: Data, folder: Path) -> Section:
    """Prove the best five features, and verify the certificate against the file."""
    section, rows = Section(f"A certificate: {data.words()}"), []
    proof = str(folder / "proof.npz")
    with stored(data, folder) as path:
        found, checked = measured(section, "certify", path, proof), measured(section, "verify", path, proof)
        Path(proof).unlink()
    for name, run in (("solve, k = 5", found), ("verify", checked)):
        words = f"{run['status']}, {run['nodes']} nodes" if "status" in run else "valid" if run["valid"] else "NOT VALID"
        memory, read = f"{run['memory'] / 2**20:.0f} MiB", f"{run['read'] / GIGABYTE:.1f} GB"
        rows.append([name, words, f"{run['gap']:.1e}", f"{run['passes']:.1f}", read, f"{run['seconds']:.1f}", memory])
    if not checked["valid"] or checked["memory"] >= 2**31 or found["memory"] >= 2**31:
        section.checks.append("the certificate is not valid, or more than 2 GiB were resident.")
    section.text = table(["", "result", "gap", "passes", "read", "seconds", "memory"], rows)
    return section


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "build", help="where the stores are made (20 GB at a time)")
    parser.add_argument("--task", nargs=3, metavar=("NAME", "STORE", "ARGUMENT"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.task:
        name, store, argument = arguments.task
        result = TASKS[name](Path(store), argument)
        print(json.dumps({**result, "memory": peak_memory()}))
        return
    arguments.folder.mkdir(parents=True, exist_ok=True)
    part = 100 if arguments.quick else 1
    Report("out-of-core", arguments).write(
        INTRODUCTION,
        {
            "path-float32": partial(
                paths, Data(10_000, 500_000 // part, "float32"), arguments.folder, ("grid cd", "cd", "local_search")
            ),
            "path-int8": partial(paths, Data(10_000, 2_000_000 // part, "int8"), arguments.folder),
            "wide": partial(paths, Data(1_000, 5_000_000 // part, "float32"), arguments.folder),
            "memory": partial(against_memory, Data(1_000, 500_000 // part, "float32"), arguments.folder),
            "certificate": partial(proofs, Data(10_000, 500_000 // part, "float32", features=5, weakest=0.5), arguments.folder),
        },
    )


if __name__ == "__main__":
    main()
