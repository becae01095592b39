"""The formats: for each, a way to write a small good file and a way to read it as users do."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import ellzero as ez
from ellzero.cli import main
from fuzz.problems.problem import Problem
from fuzz.subjects.commands import SPEAKING
from fuzz.subjects.tables import write_table

__all__ = ["FORMATS", "Format"]

Generator = np.random.Generator


@dataclass(frozen=True)
class Format:
    """A format: its good file, and its reading, which may raise only a sentence."""

    write: Callable[[Path, Generator], None]
    read: Callable[[Path], str]
    ending: str


def small_problem(rng: Generator) -> Problem:
    """Return ordinary data, so that whatever goes wrong is the file's fault."""
    X = rng.standard_normal((12, 4)) * (rng.random((12, 4)) < 0.8)
    y = (X[:, 0] + 0.5 * rng.standard_normal(12) > 0.0).astype(int)
    y[:2] = [0, 1]
    return Problem(X=X, y=y, loss="logistic", k=2, lambda_2=0.01)


FIXED = small_problem(np.random.default_rng(5))  # that certificates and checkpoints are about
SHARED = np.random.default_rng(6).standard_normal((40, 1))
LARGER = np.random.default_rng(7).standard_normal((40, 24)) + 1.5 * SHARED  # a search of hundreds of nodes
LABELS = (LARGER[:, :6].sum(1) - 6.0 * SHARED[:, 0] + np.random.default_rng(8).standard_normal(40) > 0.0).astype(int)


def write_certificate(path: Path, rng: Generator) -> None:
    """Write a certificate."""
    weight = rng.uniform(0.5, 1.5, len(FIXED.y)) if rng.random() < 0.5 else None
    ez.solve(FIXED.X, FIXED.y, k=2, lambda_2=0.01, sample_weight=weight, standardize=bool(rng.random() < 0.5)).certificate.save(
        path
    )


def read_certificate(path: Path) -> str:
    """Verify a certificate."""
    report = ez.verify(path, FIXED.X, FIXED.y)
    repr(report)
    return "valid" if report.valid else "not valid"


def write_checkpoint(path: Path, rng: Generator) -> None:
    """Write the checkpoint of a search that was stopped."""
    ez.solve(LARGER, LABELS, k=6, lambda_2=1e-3, gap=1e-7, node_limit=int(rng.integers(3, 30)), checkpoint=path)


def read_checkpoint(path: Path) -> str:
    """Let a search go on from its checkpoint; what it then claims must be true."""
    solution = ez.solve(LARGER, LABELS, k=6, lambda_2=1e-3, gap=1e-7, node_limit=40, time_limit=5.0, checkpoint=path)
    report = ez.verify(solution.certificate, LARGER, LABELS)
    if not report.valid:
        raise AssertionError(
            f"a search that went on from a changed checkpoint claims what its proof does not: {report.reasons}"
        )
    return solution.status


def write_model(path: Path, rng: Generator) -> None:
    """Write a model file."""
    problem = small_problem(rng)
    if rng.random() < 0.3:
        ez.L0Regressor(k=2).fit(problem.X, problem.X[:, 0] + 1.0).save(path)
    elif rng.random() < 0.5:
        ez.L0Classifier(k=1, loss="hinge", probability=True).fit(np.tile(problem.X, (2, 1)), np.tile(problem.y, 2)).save(path)
    else:
        ez.L0Classifier(k=2).fit(problem.X, np.where(problem.y, "yes", "no")).save(path)


def read_model(path: Path) -> str:
    """Load a model and predict with it."""
    model: Any = ez.load(path)
    if model.n_features_in_ == FIXED.X.shape[1]:
        model.predict(FIXED.X)
    return "loaded"


def write_store(path: Path, rng: Generator) -> None:
    """Write a column store, dense or sparse."""
    problem = small_problem(rng)
    names = [f"x{j}" for j in range(problem.X.shape[1])] if rng.random() < 0.5 else None
    writer = ez.SparseColumnWriter if rng.random() < 0.5 else ez.ColumnWriter
    with writer(path, *problem.X.shape, names=names, y=problem.y, target="label") as columns:
        columns.append(sparse.csc_matrix(problem.X) if writer is ez.SparseColumnWriter else problem.X)


def read_store(path: Path) -> str:
    """Open a column store and fit a path on it."""
    store = ez.open_columns(path)
    y = FIXED.y if store.y is None else np.asarray(store.y)
    ez.fit_path(store, y, n_lambda=3, lambda_2=0.01)
    return "read"


PACKED: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def table_writer(kind: str) -> Callable[[Path, Generator], None]:
    """Return a function that writes a table; its last ending may name a compression."""

    def write(path: Path, rng: Generator) -> None:
        problem = small_problem(rng)
        plain = path.with_name("plain")
        write_table(plain, problem, [f"x{j}" for j in range(problem.X.shape[1])], kind)
        if kind == "npz":
            plain = plain.with_name("plain.npz")
        data = plain.read_bytes()
        plain.unlink()
        path.write_bytes(PACKED[path.suffix](data) if path.suffix in PACKED else data)

    return write


def table_reader(kind: str) -> Callable[[Path], str]:
    """Return a function that converts a table into a column store."""

    def read(path: Path) -> str:
        out = path.with_name("out.columns")
        ez.convert(path, out, format=kind, target="target" if kind == "csv" else None, overwrite=True)
        return "converted"

    return read


def read_command_line(path: Path) -> str:
    """Fit on a table as the command line does; it answers with an exit code."""
    said = io.StringIO()
    with SPEAKING, contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        code = main(["fit", str(path), "--k", "2", "--target", "target", "--quiet"])
    if code not in (0, 1, 2) or "Traceback" in said.getvalue():
        raise AssertionError(f"exit code {code}: {said.getvalue()}")
    return f"exit code {code}"


FORMATS: dict[str, Format] = {
    "certificate": Format(write_certificate, read_certificate, "proof.npz"),
    "checkpoint": Format(write_checkpoint, read_checkpoint, "search.npz"),
    "model": Format(write_model, read_model, "model.json"),
    "store": Format(write_store, read_store, "data.columns"),
    "csv": Format(table_writer("csv"), table_reader("csv"), "data.csv"),
    "npz": Format(table_writer("npz"), table_reader("npz"), "data.npz"),
    "svmlight": Format(table_writer("svmlight"), table_reader("svmlight"), "data.svm"),
    "csv gz": Format(table_writer("csv"), table_reader("csv"), "data.csv.gz"),
    "csv bz2": Format(table_writer("csv"), table_reader("csv"), "data.csv.bz2"),
    "csv xz": Format(table_writer("csv"), table_reader("csv"), "data.csv.xz"),
    "csv, command line": Format(table_writer("csv"), read_command_line, "data.csv"),
    "npz, command line": Format(table_writer("npz"), read_command_line, "data.npz"),
    "svmlight, command line": Format(table_writer("svmlight"), read_command_line, "data.svm"),
    "csv gz, command line": Format(table_writer("csv"), read_command_line, "data.csv.gz"),
}
