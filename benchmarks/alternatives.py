"""All models that are nearly as good: how many there are on real data, and how long it takes; writes Markdown tables.

python -m benchmarks.alternatives [--quick] [--only SECTION] [--out FILE]

ELLZERO_DATA names the folder with the real data. Sections that a call leaves out are kept from the last one
(build/bench-alternatives.json).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer

import ellzero as ez
from benchmarks.cases import N
from benchmarks.exact_data import file_of, load, missing
from benchmarks.sections import Report, Section, arguments_of
from experiments.measurement.markdown import table, three_digits

Array = NDArray[np.float64]
SHARES = (0.001, 0.01, 0.05)
SECONDS = 60.0
THREADS = 2
INTRODUCTION = """# All models that are nearly as good

`ez.alternatives` finds every support whose objective is at most a share above the best one. Every certificate is
verified: the list is complete, from the data alone. Where a limit came first, "at least" says how many models were
found, and up to which share above the best objective none is missing (less than zero: even the best model is not
proved). "Always / sometimes / never" counts features that are in all models, in some, in none.
"""
TABLES_TEXT = """Logistic loss with an intercept, at most {seconds:g} s and 10,000 models each, `n_jobs={threads}`.
Breast cancer: 569 x 30, columns standardised. Heart: 303 x {heart} columns of zeros and ones, some of which are
others turned round ("male", "female"). COMPAS: {compas:,} x 7, columns standardised. "Any" number of features competes
at the price of the BIC, lambda_0 = log(n) / (2 n)."""
GENES_TEXT = """Logistic loss with an intercept, columns standardised, at most {seconds:g} s and 10,000 models each,
`n_jobs={threads}`. Colon: 62 x 2,000; leukemia: 72 x 7,129."""
CREDIT_TEXT = """FICO's HELOC data: {n:,} x {p} columns of zeros and ones, one for each tenth of an attribute and each
code of a missing value, unchanged. Logistic loss with an intercept, at most {seconds:g} s, `n_jobs={threads}`.
`ez.solve` itself does not prove the best model of five in that time with lambda_2 = 1 / n ([table](exact.md))."""
SCALE_TEXT = """The paper's synthetic data: n = {n:,}, p independent features of which five matter, signal-to-noise
ratio 10; k = 5, lambda_2 = 0.01. Seconds of `ez.solve` (gap 1e-4) and of `ez.alternatives`, one after the other, one
thread; processor seconds, the least of three runs."""
HEADER = ["data", "k", "lambda_2", "within", "models", "always / sometimes / never", "seconds", "nodes", "seconds of `verify`"]


def table_of(name: str) -> tuple[Array, Array]:
    """Return a table of numbers without its target, and the target as -1 and +1."""
    lines = file_of(name).read_text().replace("\r", "\n").split("\n")
    names = lines[0].replace('"', "").split(",")
    values = np.array([line.split(",") for line in lines[1:] if line], dtype=np.float64)
    target = next(names.index(each) for each in ("Disease", "two_year_recid") if each in names)
    return np.delete(values, target, axis=1), np.where(values[:, target] > 0.0, 1.0, -1.0)


def breast_cancer() -> tuple[Array, Array]:
    data = load_breast_cancer()
    return data.data, np.where(data.target > 0, 1.0, -1.0)


Problem = tuple[str, Array, Array, dict[str, Any], str]  # name, data, settings, and lambda_2 in words


def tables(quick: bool) -> Iterator[Problem]:
    """Yield problems with few columns: breast cancer with five features, the others with any number."""
    X, y = breast_cancer()
    yield "breast cancer", X, y, {"k": 3 if quick else 5, "lambda_2": 1.0 / len(y), "standardize": True}, "1/n"
    for name, file in (("heart", "heart.csv"), ("COMPAS", "compas.csv")):
        X, y = table_of(file)
        for k in range(1, min(X.shape[1], 3 if quick else 10) + 1):
            yield name, X, y, {"k": k, "lambda_2": 1.0 / len(y), "standardize": name == "COMPAS"}, "1/n"
        price = np.log(len(y)) / (2.0 * len(y))  # that of the BIC
        yield name, X, y, {"lambda_0": price, "lambda_2": 1.0 / len(y), "standardize": name == "COMPAS"}, "1/n"


def genes(quick: bool) -> Iterator[Problem]:
    """Yield problems with many more columns than rows."""
    for name in ("colon", "leukemia"):
        X, y = load({"kind": name})
        for k in (2,) if quick else (2, 3):
            for times in (1.0, 10.0):
                yield name, X, y, {"k": k, "lambda_2": times / len(y), "standardize": True}, f"{times:g}/n"


def credit(quick: bool) -> Iterator[Problem]:
    """Yield problems with many rows, and columns that exclude each other."""
    X, y = load({"kind": "FICO"})
    for times in (100.0,) if quick else (1.0, 10.0, 100.0):
        yield "FICO", X, y, {"k": 2 if quick else 5, "lambda_2": times / len(y)}, f"{times:g}/n"


def row_of(section: Section, name: str, X: Array, y: Array, settings: dict[str, Any], ridge: str, within: float) -> list[str]:
    """Return the row of one problem, and note what looks wrong."""
    start = time.perf_counter()
    found = ez.alternatives(X, y, within=within, time_limit=SECONDS, n_jobs=THREADS, **settings)
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    report = ez.verify(found.certificate, X, y)
    verified = time.perf_counter() - start
    if not report.valid or (found.complete and report.models != len(found)):
        section.checks.append(f"{name}, {settings}, within {within:g}: {report.reasons}")
    count, size = f"{len(found):,}", str(settings["k"]) if "k" in settings else "any"
    if not found.complete:
        best = found[0].objective if len(found) else report.objective
        count = f"at least {count}, all up to {100.0 * (found.complete_below / best - 1.0):.2g} % ({found.status})"
    features = f"{len(found.indispensable)} / {len(found.exchangeable)} / {len(found.unused)}"
    section.raw.append({"name": name, "k": size, "lambda_2": ridge, "within": within, "models": len(found)})
    section.raw[-1] |= {"status": found.status, "seconds": seconds, "nodes": found.nodes}
    cells = [f"{100.0 * within:g} %", count, features, three_digits(seconds), f"{found.nodes:,}", three_digits(verified)]
    row = [name, size, ridge, *cells]
    print(" | ".join(row), flush=True)
    return row


def real(title: str, problems: Iterator[Problem], text: Callable[[], str]) -> Section:
    """Return the numbers of models on real data."""
    section = Section(title)
    if reason := missing("FICO"):
        section.text = reason
        return section
    rows = [row_of(section, *problem, within) for problem in problems for within in SHARES]
    parts = [text(), table(HEADER, rows)]
    if whole := [each for each in section.raw if each["status"] == "complete"]:
        largest = max(whole, key=lambda each: each["models"])
        words = f"{largest['name']}, k = {largest['k']}, within {100.0 * largest['within']:g} %"
        parts.append(
            f"The largest complete list: {largest['models']:,} models ({words}) in {three_digits(largest['seconds'])} s."
        )
    section.text = "\n\n".join(parts)
    return section


def text_of_tables() -> str:
    heart, compas = table_of("heart.csv")[0].shape[1], len(table_of("compas.csv")[1])
    return TABLES_TEXT.format(seconds=SECONDS, threads=THREADS, heart=heart, compas=compas)


def text_of_credit() -> str:
    n, p = load({"kind": "FICO"})[0].shape
    return CREDIT_TEXT.format(seconds=SECONDS, threads=THREADS, n=n, p=p)


def least(work: Callable[..., Any], *data: Any, repeats: int = 3, **settings: Any) -> tuple[float, Any]:
    """Return the least processor seconds of some runs, and the last result."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        result = work(*data, **settings)
        times.append(time.process_time() - start)
    return min(times), result


def scale(quick: bool) -> Section:
    """Return how much longer all models take than the best one, on the paper's data."""
    section, rows = Section("At scale"), []
    for p in (1_000,) if quick else (10_000,):
        X, y, _ = ez.datasets.make_classification(N, p, 5, s=10.0, random_state=0)
        for loss in ("logistic", "squared_hinge", "hinge"):
            settings: dict[str, Any] = {"loss": loss, "k": 5, "lambda_2": 0.01}
            one, best = least(ez.solve, X, y, **settings)
            for within in SHARES:
                seconds, found = least(ez.alternatives, X, y, within=within, **settings)
                if not ez.verify(found.certificate, X, y).valid or found[0].objective > best.objective * (1.0 + 1e-9):
                    section.checks.append(f"{loss}, p = {p}, within {within:g}: not verified, or worse than `solve`")
                cells = [three_digits(one), three_digits(seconds), f"{seconds / one:.2f}", f"{len(found)}", found.status]
                rows.append([f"{p:,}", loss, f"{100.0 * within:g} %", *cells, f"{best.nodes:,}", f"{found.nodes:,}"])
                print(" | ".join(rows[-1]), flush=True)
    header = ["p", "loss", "within", "`solve`", "`alternatives`", "ratio", "models", "status", "nodes of `solve`", "nodes"]
    section.text = "\n\n".join([SCALE_TEXT.format(n=N), table(header, rows)])
    return section


def main() -> None:
    """Run the chosen sections and write the report."""
    arguments = arguments_of(__doc__).parse_args()
    quick = bool(arguments.quick)
    text_of_genes = GENES_TEXT.format(seconds=SECONDS, threads=THREADS)
    sections = {
        "scale": lambda: scale(quick),
        "tables": lambda: real("Tables", tables(quick), text_of_tables),
        "genes": lambda: real("Genes", genes(quick), lambda: text_of_genes),
        "credit": lambda: real("Credit", credit(quick), text_of_credit),
    }
    Report("alternatives", arguments).write(INTRODUCTION, sections)


if __name__ == "__main__":
    main()
