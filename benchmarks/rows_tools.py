"""Tools that fit tables with many rows: each runs in a separate process, on the files of a folder.

`measure` fits once, with the time and the growth of memory, and lets the referee judge the models afterwards.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold

import ellzero as ez
from benchmarks.rows_data import load_table
from benchmarks.tools import resident

__all__ = ["LAMBDA_2", "SIZES", "TOOLS", "measure"]

Array = NDArray[np.float64]
LAMBDA_2 = 1e-4
SIZES = range(1, 11)
STRENGTH = 200.0  # of the one l1 model, which then has about ten features on the drawn tables: C = 200 / n
SECONDS_TO_SOLVE = 60.0
REPEATS, SECONDS_FOR_REPEATS = 5, 3.0  # no repeat begins after that many seconds
CSV = "table.csv"
# fastsparsegams' own protocol for COMPAS: its penalties multiply sums over rows.
PROTOCOL_LAMBDA_0, PROTOCOL_LAMBDA_2, PROTOCOL_FOLDS = np.linspace(7.0, 0.8, 8), (1e-5, 1e-3), 5


@dataclass(frozen=True)
class Table:
    """X, labels of -1 and +1, and numbers."""

    X: Any
    y: Array
    z: Array
    folder: Path

    @property
    def labels(self) -> NDArray[np.int64]:
        return (self.y > 0.0).astype(np.int64)


@dataclass
class Found:
    """The last model that a tool found, and what else there is to tell."""

    coef: Array | None = None
    intercept: float = 0.0
    loss: str = "logistic"
    told: dict[str, Any] = field(default_factory=dict)


Tool = Callable[[Table, int], Found]


def last_of(models: Any, loss: str = "logistic") -> Found:
    last = [*models][-1]
    return Found(last.coef, float(last.intercept), loss)


def of_scikit_learn(model: Any, loss: str = "logistic") -> Found:
    return Found(np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]), loss)


# Ours.


def sizes(table: Table, threads: int, loss: str, **options: Any) -> Found:
    y = table.z if loss == "squared_error" else table.y
    return last_of(ez.fit_sizes(table.X, y, SIZES, loss=loss, lambda_2=LAMBDA_2, n_jobs=threads, **options), loss)


def classifier(table: Table, threads: int) -> Found:
    return of_scikit_learn(ez.L0Classifier(k=10, lambda_2=LAMBDA_2, n_jobs=threads).fit(table.X, table.labels))


def cross_validated(table: Table, threads: int) -> Found:
    model = ez.L0ClassifierCV(n_jobs=threads).fit(table.X, table.labels)
    return of_scikit_learn(model)


def solved(table: Table, threads: int, loss: str) -> Found:
    y = table.z if loss == "squared_error" else table.y
    options: dict[str, Any] = {"lambda_2": LAMBDA_2, "time_limit": SECONDS_TO_SOLVE, "n_jobs": threads}
    solution = ez.solve(table.X, y, k=10, loss=loss, **options)
    told = {"status": solution.status, "gap": solution.gap, "nodes": solution.nodes}
    return Found(solution.model.coef, float(solution.model.intercept), loss, told)


def path_of(table: Table, threads: int, stored: bool) -> Found:
    X = ez.open_columns(table.folder / "X.columns") if stored else table.X
    path = ez.fit_path(X, table.y, lambda_2=LAMBDA_2, max_support=table.X.shape[1], n_jobs=threads)
    return last_of(path)


def command(table: Table, threads: int, name: str) -> Found:
    """Run a command of ours on the table as a CSV file."""
    words = [sys.executable, "-m", "ellzero", name, str(table.folder / CSV), "--target", "y", "--n-jobs", str(threads)]
    subprocess.run([*words, "--quiet", "--out", str(table.folder / f"out-{name}")], check=True, capture_output=True)
    return Found(told={"growth": 1024.0 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / table.X.nbytes})


def read_csv(table: Table, threads: int) -> Found:
    from pyarrow import csv

    csv.read_csv(table.folder / CSV, read_options=csv.ReadOptions(use_threads=threads > 1))
    return Found()


def protocol(table: Table, threads: int, fit: Callable[..., list[tuple[Array, float]]]) -> Found:
    """Fit a grid of penalties on the training rows of each fold; tell the mean objective and the held-out loss."""
    fits, total = [], 0.0
    for train, test in KFold(PROTOCOL_FOLDS, shuffle=True, random_state=0).split(table.X):
        X, y = np.asfortranarray(table.X[train]), table.y[train].copy()
        for lambda_2 in PROTOCOL_LAMBDA_2:
            start = time.process_time()
            models = fit(X, y, lambda_2, threads)
            total += time.process_time() - start
            fits.append((train, test, lambda_2 / len(y), models))
    objectives, held_out = [], []
    for train, test, lambda_2, models in fits:
        for (coef, intercept), lambda_0 in zip(models, PROTOCOL_LAMBDA_0 / len(train), strict=True):
            own = {"lambda_0": lambda_0, "lambda_2": lambda_2}
            objectives.append(ez.objective(table.X[train], table.y[train], coef, intercept, **own))
            held_out.append(ez.objective(table.X[test], table.y[test], coef, intercept))
    told = {"objective": float(np.mean(objectives)), "held_out": float(np.mean(held_out)), "seconds": total}
    return Found(told=told)


def our_protocol(X: Array, y: Array, lambda_2: float, threads: int, algorithm: str) -> list[tuple[Array, float]]:
    n = len(y)
    settings: dict[str, Any] = {"lambda_0": PROTOCOL_LAMBDA_0 / n, "lambda_2": lambda_2 / n, "n_jobs": threads}
    return [(m.coef, float(m.intercept)) for m in ez.fit_path(X, y, algorithm=algorithm, **settings)]


# Peers.


def product(table: Table, threads: int) -> Found:
    return Found(told={"sum": float((table.X.T @ table.X).sum())})


def abess(table: Table, threads: int, loss: str) -> Found:
    """All sizes up to ten; it returns one of its models, here the one of the lowest loss."""
    from abess.linear import LinearRegression
    from abess.linear import LogisticRegression as Logistic

    settings: dict[str, Any] = {"support_size": range(SIZES.stop), "ic_type": "loss", "thread": threads, "alpha": LAMBDA_2}
    if loss == "squared_error":
        return of_scikit_learn(LinearRegression(**settings).fit(table.X, table.z), loss)
    return of_scikit_learn(Logistic(**settings).fit(table.X, table.labels))


def fast(X: Array, y: Array, lambda_2: float, threads: int, algorithm: str, **more: Any) -> Any:
    import fastsparsegams

    settings = {"loss": "Logistic", "penalty": "L0L2", "algorithm": algorithm, "num_gamma": 1} | more
    return fastsparsegams.fit(np.array(X, order="F"), y, gamma_min=lambda_2, gamma_max=lambda_2, **settings)


def fast_swaps(table: Table, threads: int) -> Found:
    """Its path with swaps, up to ten features: the last model of at most ten."""
    found = fast(table.X, table.y, LAMBDA_2 * len(table.y), threads, "CDPSI", max_support_size=SIZES[-1] + 1)
    coefs = sparse.csc_matrix(found.coeffs[0])[-table.X.shape[1] :]
    point = int(np.flatnonzero(np.diff(coefs.indptr) <= SIZES[-1])[-1])
    return Found(np.ravel(coefs[:, [point]].toarray()), float(np.ravel(found.intercepts[0])[point]))


def fast_protocol(X: Array, y: Array, lambda_2: float, threads: int, algorithm: str) -> list[tuple[Array, float]]:
    grid = {"num_gamma": None, "num_lambda": None, "lambda_grid": [PROTOCOL_LAMBDA_0.tolist()]}
    found = fast(X, y, lambda_2, threads, algorithm, max_support_size=X.shape[1], **grid)
    coefs = sparse.csc_matrix(found.coeffs[0])[-X.shape[1] :]
    return [(np.ravel(coefs[:, [i]].toarray()), float(b)) for i, b in enumerate(np.ravel(found.intercepts[0]))]


def liblinear(table: Table, threads: int) -> Found:
    model = LogisticRegression(penalty="l1", solver="liblinear", C=STRENGTH / len(table.y), random_state=0)
    return of_scikit_learn(model.fit(np.ascontiguousarray(table.X), table.labels))


def lbfgs(table: Table, threads: int) -> Found:
    model = LogisticRegression(C=1.0 / (2.0 * LAMBDA_2 * len(table.y)))
    return of_scikit_learn(model.fit(np.ascontiguousarray(table.X), table.labels))


def liblinear_cv(table: Table, threads: int) -> Found:
    settings: dict[str, Any] = {"penalty": "l1", "solver": "liblinear", "random_state": 0, "n_jobs": threads}
    model = LogisticRegressionCV(Cs=10, cv=5, scoring="roc_auc", **settings)
    return of_scikit_learn(model.fit(np.ascontiguousarray(table.X), table.labels))


TOOLS: dict[str, Tool] = {
    "sizes: ellzero": partial(sizes, loss="logistic"),
    "sizes: ellzero, quick": partial(sizes, loss="logistic", effort="quick"),
    "sizes: abess": partial(abess, loss="logistic"),
    "sizes: fastsparsegams with swaps": fast_swaps,
    "squared error: ellzero": partial(sizes, loss="squared_error"),
    "squared error: abess": partial(abess, loss="squared_error"),
    "squared error: NumPy's X.T @ X": product,
    "ten features: ellzero": classifier,
    "ten features: liblinear l1": liblinear,
    "ten features: lbfgs": lbfgs,
    "cv: ellzero": cross_validated,
    "cv: LogisticRegressionCV l1": liblinear_cv,
    "solve: logistic": partial(solved, loss="logistic"),
    "solve: squared error": partial(solved, loss="squared_error"),
    "protocol: ellzero": partial(protocol, fit=partial(our_protocol, algorithm="cd")),
    "protocol: ellzero with swaps": partial(protocol, fit=partial(our_protocol, algorithm="local_search")),
    "protocol: fastsparsegams": partial(protocol, fit=partial(fast_protocol, algorithm="CD")),
    "protocol: fastsparsegams with swaps": partial(protocol, fit=partial(fast_protocol, algorithm="CDPSI")),
    "path: memory": partial(path_of, stored=False),
    "path: column store": partial(path_of, stored=True),
    "command: ellzero cv": partial(command, name="cv"),
    "command: ellzero report": partial(command, name="report"),
    "command: pyarrow.csv.read_csv": read_csv,
}


def measure(argument: dict[str, Any]) -> dict[str, Any]:
    """Fit by a tool with that many threads; return seconds, growth of memory as a share of X, and the referee's findings."""
    warnings.simplefilter("ignore")  # deprecations of scikit-learn and convergence of liblinear
    folder, tool, threads = Path(argument["folder"]), TOOLS[argument["tool"]], int(argument["threads"])
    table = Table(*load_table(folder), folder)
    if argument["tool"].startswith("command") and not (folder / CSV).exists():
        write_csv(table)
    warm_up(tool, table, threads)
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    found, times = timed(lambda: tool(table, threads), threads)
    growth = (resident("VmHWM") - before) / table.X.nbytes
    return times | {"growth": growth} | judged(table, found) | found.told


def timed(work: Callable[[], Found], threads: int) -> tuple[Found, dict[str, float]]:
    """Return what the work finds, and its least seconds: of the processor for one thread, so that other processes hardly
    matter, and by the clock for more. What is short is done again."""
    clock, processors, found = list[float](), list[float](), Found()
    while len(clock) < REPEATS and sum(clock) < SECONDS_FOR_REPEATS:
        start, used = time.perf_counter(), processor_seconds()
        found = work()
        clock.append(time.perf_counter() - start)
        processors.append(processor_seconds() - used)
    return found, {"clock": min(clock), "seconds": min(processors if threads == 1 else clock)}


def processor_seconds() -> float:
    """Return the processor time of this process and of those that it waited for."""
    return sum(use.ru_utime + use.ru_stime for use in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def write_csv(table: Table) -> None:
    names = [*(f"x{j}" for j in range(table.X.shape[1])), "y"]
    pandas.DataFrame(np.column_stack([table.X.round(4), table.labels]), columns=names).to_csv(table.folder / CSV, index=False)


def warm_up(tool: Tool, table: Table, threads: int) -> None:
    """Fit few rows first, so that imports and first calls are not timed."""
    if tool is not read_csv and (not isinstance(tool, partial) or tool.func not in (path_of, command, protocol)):
        rows = slice(0, 500)
        tool(Table(np.asfortranarray(table.X[rows, :12]), table.y[rows], table.z[rows], table.folder), threads)


def judged(table: Table, found: Found) -> dict[str, Any]:
    """Return the number of features, the objective of the best model with these features, and the area on test rows."""
    if found.coef is None:
        return {}
    support = np.flatnonzero(found.coef)
    out: dict[str, Any] = {"features": len(support)}
    if len(support) <= SIZES[-1]:
        y = table.z if found.loss == "squared_error" else table.y
        columns = np.asfortranarray(table.X[:, support])
        out["objective"] = ez.fit_path(columns, y, loss=found.loss, lambda_0=0.0, lambda_2=LAMBDA_2, tol=1e-12)[0].cost
    if found.loss == "logistic" and (table.folder / "X_test.npy").exists():
        X, y, _ = load_table(table.folder, "_test")
        out["auc"] = float(roc_auc_score(y, X[:, support] @ found.coef[support]))
    return out
