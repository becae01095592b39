"""Exact solutions: methods, limits, proofs of paths, swaps, checkpoints."""

from __future__ import annotations

import importlib.util
import json
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import ellzero as ez
from benchmarks.cases import gaussian
from benchmarks.fingerprint.problems import COST, FOR_EXACT, LOSSES, ONE, PRICE, Case, problem


def exact_cases() -> Iterator[Case]:
    for loss in LOSSES:
        X, y = problem(loss, n=80, k=4, p=30, rho=0.8)
        price = PRICE[loss]
        settings: dict[str, Any] = {"loss": loss, **FOR_EXACT}
        solve = partial(ez.solve, X, y, **settings)
        yield f"exact/low price/{loss}", partial(solve, lambda_0=price / 3)
        yield f"exact/k and price/{loss}", partial(solve, lambda_0=price / 3, k=3)
        yield f"exact/gap/{loss}", partial(solve, lambda_0=price / 3, gap=0.01)
        yield f"exact/no gap/{loss}", partial(solve, lambda_0=price, gap=0.0)
        yield f"exact/node_limit/{loss}", partial(solve, lambda_0=price / 4, node_limit=3)
        yield f"exact/warm start/{loss}", partial(warm_started, X, y, settings, price)
        yield f"exact/iga, grow 10/{loss}", partial(solve, lambda_0=price / 3, method="iga")
        yield f"exact/iga, a share/{loss}", partial(solve, lambda_0=price / 3, method="iga", grow=0.5)
        yield f"exact/iga, k/{loss}", partial(solve, k=3, method="iga", grow=1)
        yield f"exact/costs/{loss}", partial(solve, lambda_0=price / 3, feature_cost=COST)
        yield f"exact/budget/{loss}", partial(solve, budget=4.0, feature_cost=COST)
        yield f"exact/certified path/{loss}", partial(certified_path, X, y, settings)
        yield f"exact/certified sizes/{loss}", partial(certified_sizes, X, y, settings)
        # Small: a search over swaps that takes more than 0.1 s ends with its first better model, whenever it finds one.
        X, y = problem(loss, n=40, p=10, k=2)
        changes: dict[str, dict[str, Any]] = {"plain": {}, "standardize": {"standardize": True}, "iga": {"method": "iga"}}
        for name, chosen in changes.items():
            more = settings | chosen
            yield f"exact/improve, {name}/{loss}", partial(ez.improve, X, y, lambda_0=price / 3, **more)
            yield f"exact/improve a model, {name}/{loss}", partial(improved, X, y, more, price / 3)
        for backend, module in {"highs": "highspy", "scip": "pyscipopt"}.items():
            if importlib.util.find_spec(module) and (backend == "highs" or loss == "hinge"):
                for method in ("iga", "mip"):
                    by_mip: dict[str, Any] = {**settings, "lambda_0": price, "method": method, "backend": backend}
                    yield f"exact/{method}, {backend}/{loss}", partial(ez.solve, X, y, **by_mip)
    for limit in (20, 50):
        yield f"exact/checkpoint after {limit} nodes", partial(resumed, limit)
    yield "exact/tampered certificate", tampered


def warm_started(X: Any, y: Any, settings: dict[str, Any], price: float) -> Any:
    model = ez.fit_sizes(X, y, 3, loss=settings["loss"], **FOR_EXACT)[3]
    starts: list[Any] = [model, model.coef]
    return [ez.solve(X, y, lambda_0=price, warm_start=start, **settings) for start in starts]


def certified_path(X: Any, y: Any, settings: dict[str, Any]) -> Any:
    return ez.certify_path(ez.fit_path(X, y, n_lambda=5, lambda_min_ratio=0.1, **settings), **ONE)


def certified_sizes(X: Any, y: Any, settings: dict[str, Any]) -> Any:
    proofs = ez.certify_path(ez.fit_sizes(X, y, [1, 2, 3], **settings), **ONE)
    return proofs, [ez.verify(solution.certificate, X, y) for solution in proofs.solutions]


def improved(X: Any, y: Any, settings: dict[str, Any], price: float) -> Any:
    """From a model of a path, and from one with the wrong features."""
    of_path = {name: value for name, value in settings.items() if name != "method"}
    wrong = np.zeros(X.shape[1])
    wrong[[3, 8]] = 0.2
    first = ez.improve(X, y, ez.fit_path(X, y, lambda_0=[price], **of_path)[0], swap_size=3, **settings)
    second = ez.improve(X, y, wrong, lambda_0=price, swap_size=1, **settings)
    return [(solution, ez.verify(solution.certificate, X, y)) for solution in (first, second)]


def resumed(limit: int) -> Any:
    """A search that stopped at a number of nodes, before and after it went on from its file."""
    X, y = gaussian(2_000)
    options: dict[str, Any] = {"loss": "squared_hinge", "lambda_0": 0.05, **FOR_EXACT}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "search.npz"
        first = ez.solve(X, y, node_limit=limit, checkpoint=file, **options)
        return first, ez.solve(X, y, checkpoint=file, **options)


def tampered() -> Any:
    """The verdicts on a certificate with other data, and on one that claims too much."""
    X, y = problem("logistic")
    certificate = ez.solve(X, y, lambda_0=0.03, **FOR_EXACT).certificate
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "certificate.npz"
        certificate.save(file)
        with np.load(file) as saved:
            arrays = {name: saved[name] for name in saved.files}
        header = json.loads(arrays.pop("header").tobytes())
        header["lower_bound"] = header["objective"]
        changed = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        np.savez(file, header=changed, **arrays)
        return [ez.verify(certificate, X, -y), ez.verify(certificate, X[:, ::-1], y), ez.verify(file, X, y)]
