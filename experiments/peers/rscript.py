"""Calls of R: the problem goes to an R script, and the models come back, as plain binary files."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import EllzeroError
from experiments.measurement.timing import THREAD_VARIABLES
from experiments.peers.method import Fit

__all__ = ["has_r_package", "models_from_r", "write_problem"]

SCRIPTS = Path(__file__).parent / "r"


@lru_cache
def has_r_package(name: str) -> bool:
    """Return whether Rscript is installed and finds the package."""
    if shutil.which("Rscript") is None:
        return False
    question = f'quit(status = !nzchar(system.file(package = "{name}")))'
    return subprocess.run(["Rscript", "--vanilla", "-e", question], capture_output=True, check=False).returncode == 0


def write_problem(X: Any, y: NDArray[np.int64], folder: Path) -> None:
    """Write X and y as r/exchange.R reads them."""
    is_sparse = sparse.issparse(X)
    np.array([*X.shape, X.nnz if is_sparse else -1], dtype=np.int32).tofile(folder / "shape.bin")
    np.asarray(y, dtype=np.float64).tofile(folder / "y.bin")
    if is_sparse:
        columns = sparse.csc_matrix(X)
        columns.sort_indices()
        columns.data.astype(np.float64).tofile(folder / "values.bin")
        columns.indices.astype(np.int32).tofile(folder / "rows.bin")
        columns.indptr.astype(np.int32).tofile(folder / "starts.bin")
    else:
        np.asarray(X, dtype=np.float64).T.tofile(folder / "X.bin")


def models_from_r(script: str, X: Any, y: NDArray[np.int64], arguments: Sequence[float], names: Sequence[str]) -> Iterator[Fit]:
    """Run a script of this package on X and y, and yield its models; `names` are those of each model's settings."""
    with tempfile.TemporaryDirectory(prefix="ellzero-") as name:
        folder = Path(name)
        write_problem(X, y, folder)
        command = ["Rscript", "--vanilla", str(SCRIPTS / script), str(folder), *(repr(float(value)) for value in arguments)]
        one_thread = dict.fromkeys(THREAD_VARIABLES, "1")
        done = subprocess.run(command, env=dict(os.environ) | one_thread, capture_output=True, text=True, check=False)
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise EllzeroError(f"{script} failed in R (exit code {done.returncode}): {reason}")
        points = np.fromfile(folder / "points.bin").reshape(-1, len(names) + 1)
        counts = np.fromfile(folder / "counts.bin", dtype=np.int32)
        support = np.fromfile(folder / "support.bin", dtype=np.int32).astype(np.int64)
        values = np.fromfile(folder / "coefficients.bin")
    ends = np.cumsum(counts)
    for point, first, end in zip(points, ends - counts, ends, strict=True):
        settings = {name: float(value) for name, value in zip(names, point, strict=False)}
        yield Fit(support[first:end], values[first:end], float(point[-1]), settings)
