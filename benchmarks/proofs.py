"""Certificates: their sizes, and the seconds of the search, of saving and of verifying; writes a Markdown table.

python -m benchmarks.proofs [--quick] [--only SECTION] [--out FILE]

ELLZERO_DATA names the folder with the real data.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ellzero as ez
from benchmarks.exact_data import load, missing
from benchmarks.sections import Report, Section, arguments_of
from experiments.measurement.markdown import table, three_digits

Array = NDArray[np.float64]
Case = tuple[str, Any, Array, dict[str, Any]]
INTRODUCTION = """# Certificates: sizes and times

A dual point is kept as a model of a few columns; only the hinge keeps a number for every row, of two bytes. "n numbers"
is what the same dual points would take with four bytes for each row and output. Every certificate is read from its file
and verified.
"""
TEXT = """At most {seconds:g} s for each search, one thread. The size is that of the file."""
HEADER = [
    "problem",
    "n x p",
    "status",
    "gap",
    "nodes",
    "points",
    "search",
    "save",
    "verify",
    "verify / search",
    "MB",
    "n numbers, MB",
]


def drawn(n: int, p: int, seed: int = 0) -> tuple[Any, Any]:
    """Correlated columns, and labels that depend on ten of them."""
    X, y, _ = ez.datasets.make_classification(n, p, 10, s=1.0, correlation="exponential", rho=0.7, random_state=seed)
    return X, y


def levels(n: int, attributes: int, size: int) -> tuple[Array, Array]:
    """Attributes of so many levels, a column each, and numbers that depend on some of them."""
    rng = np.random.default_rng(0)
    codes = rng.integers(size, size=(n, attributes))
    X = np.concatenate([codes == level for level in range(size)], axis=1).astype(np.float64)
    return np.asfortranarray(X), X[:, ::9] @ rng.standard_normal(X[:, ::9].shape[1]) + rng.standard_normal(n)


def cases(quick: bool) -> Iterator[Case]:
    """Yield the problems and their settings."""
    part = 4 if quick else 1
    yield "correlated, logistic", *drawn(1000 // part, 1000 // part), {"loss": "logistic", "k": 8, "lambda_2": 0.01}
    for name, settings in (("colon", {"k": 5}), ("FICO", {"k": 5})):
        if not missing(name) and not quick:
            yield name, *load({"kind": name}), {"loss": "logistic", "lambda_2": 0.001, **settings}
    X, y = levels(8000 // part, 14, 9)
    yield "one-hot, logistic", X, np.where(y > 0.0, 1.0, -1.0), {"loss": "logistic", "k": 8, "lambda_2": 0.001}
    yield "hinge", *drawn(500, 10_000 // part), {"loss": "hinge", "k": 6, "lambda_2": 0.01}
    X, _ = drawn(1000 // part, 100)
    classes = np.argmax(X[:, :3] + np.random.default_rng(0).standard_normal((len(X), 3)), axis=1)
    yield "multinomial", X, classes, {"loss": "multinomial", "k": 6, "lambda_2": 0.01}
    yield "alternatives", *drawn(1000 // part, 200), {"loss": "logistic", "k": 5, "lambda_2": 0.01, "within": 0.01}


def row_of(case: Case, seconds: float, section: Section) -> list[str]:
    """Search, save and verify."""
    name, X, y, settings = case
    begun = time.perf_counter()
    found = (ez.alternatives if "within" in settings else ez.solve)(X, y, time_limit=seconds, n_jobs=1, **settings)
    times = [time.perf_counter() - begun]
    proof = found.certificate
    assert proof is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "proof.npz"
        begun = time.perf_counter()
        proof.save(path)
        times.append(time.perf_counter() - begun)
        size = os.path.getsize(path) / 1e6
        begun = time.perf_counter()
        report = ez.verify(path, X, y)
        times.append(time.perf_counter() - begun)
    if not report.valid:
        section.checks.append(f"{name}: {report.reasons}")
    arrays, header = proof.arrays, proof.header
    points = len(arrays["alpha"] if "alpha" in arrays else arrays["model_ends"])
    before = 4e-6 * points * X.shape[0] * header["outputs"]
    cells = [header["status"], f"{report.gap:.1e}", f"{len(arrays['parent']):,}", f"{points:,}"]
    ratio = f"{times[2] / times[0]:.2f}"
    return [name, f"{X.shape[0]:,} x {X.shape[1]:,}", *cells, *map(three_digits, times), ratio, f"{size:.2f}", f"{before:.1f}"]


def sizes(quick: bool) -> Section:
    """Return the section."""
    section, rows, seconds = Section("Sizes and times"), [], 5.0 if quick else 30.0
    for case in cases(quick):
        rows.append(row_of(case, seconds, section))
        print(" | ".join(rows[-1]), flush=True)
    section.text = "\n\n".join([TEXT.format(seconds=seconds), table(HEADER, rows)])
    return section


def main() -> None:
    """Run the section and write the report."""
    arguments = arguments_of(__doc__).parse_args()
    Report("proofs", arguments).write(INTRODUCTION, {"sizes": lambda: sizes(bool(arguments.quick))})


if __name__ == "__main__":
    main()
