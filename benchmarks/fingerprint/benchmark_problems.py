"""The problems of the benchmarks, by the settings of the benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import ellzero as ez
from benchmarks.cases import N, dense_case, gaussian, sparse_case
from benchmarks.fingerprint.problems import FOR_EXACT, LOSSES, ONE, Case, response


def benchmark_cases() -> Iterator[Case]:
    for p, algorithm in ((2_000, "cd"), (2_000, "local_search"), (10_000, "cd"), (50_000, "cd")):
        yield f"benchmark/path, p = {p:,}, {algorithm}", partial(timing_path, partial(dense_case, p), algorithm=algorithm)
    yield "benchmark/path, float32", partial(timing_path, partial(dense_case, 10_000, dtype=np.float32))
    yield "benchmark/path, sparse", partial(timing_path, sparse_case, max_support=100)
    for loss in LOSSES[1:]:
        yield f"benchmark/path, p = 2,000, {loss}", partial(timing_path, partial(dense_case, 2_000), loss=loss, max_support=40)
    yield "benchmark/path, p = 10,000, local search", partial(long_search, 10_000)
    for loss, price in (("logistic", 0.02), ("logistic", 0.07), ("squared_hinge", 0.05), ("hinge", 0.07), ("hinge", 0.11)):
        yield f"benchmark/exact, p = 2,000, {loss} {price:g}", partial(certification, loss=loss, lambda_0=price)
        bounded = partial(certification, loss=loss, lambda_0=price, bound="heuristic")
        yield f"benchmark/exact, p = 2,000, {loss} {price:g}, heuristic bound", bounded
    for loss in ("logistic", "hinge"):
        yield f"benchmark/iga, p = 2,000, {loss}", partial(certification, loss=loss, lambda_0=0.11, method="iga")
    yield "benchmark/exact, p = 2,000, float32, k = 5", partial(certification, dtype="float32", k=5, lambda_2=10.0 / N)
    yield "benchmark/exact, p = 10,000, hinge", partial(certification, p=10_000, loss="hinge", lambda_0=0.11)
    el0ps: dict[str, Any] = {"p": 10_000, "fit_intercept": False}
    yield "benchmark/exact, p = 10,000, logistic", partial(certification, loss="logistic", lambda_0=0.07, **el0ps)
    first = partial(certification, loss="squared_hinge", lambda_0=0.07, node_limit=40, **el0ps)
    yield "benchmark/exact, p = 10,000, squared_hinge, 40 nodes", first
    yield "benchmark/exact, p = 2,000, squared_error", regression


def timing_path(make: Callable[[], Any], **options: Any) -> Any:
    """The protocol of benchmarks/path.py; labels are the response of a regression, too."""
    case = make()
    return ez.fit_path(case.X, case.y, lambda_0=case.grid, lambda_2=case.lambda_2, **options, **ONE)


def long_search(p: int) -> Any:
    """Local search at the first 40 points of the protocol."""
    case = dense_case(p)
    settings: dict[str, Any] = {"lambda_0": case.grid[:40], "lambda_2": case.lambda_2, "algorithm": "local_search"}
    return ez.fit_path(case.X, case.y, **settings, **ONE)


def certification(p: int = 2_000, dtype: str = "float64", **options: Any) -> Any:
    X, y = gaussian(p, dtype)
    solution = ez.solve(X, y, **FOR_EXACT | options)
    return solution, ez.verify(solution.certificate, X, y)


def regression() -> Any:
    X, _ = gaussian(2_000)
    coef = np.zeros(2_000)
    coef[::400] = 1.0
    return ez.solve(X, response(X, coef, 1), loss="squared_error", lambda_0=0.05, **FOR_EXACT)
