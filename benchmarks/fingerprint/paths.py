"""Options of paths and of grids of paths."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import ellzero as ez
from benchmarks.fingerprint.problems import COST, LOSSES, ONE, RIDGE, Case, problem

PATH_OPTIONS: dict[str, dict[str, Any]] = {
    "cd": {},
    "ranked": {"algorithm": "local_search"},
    "q_best": {"algorithm": "local_search", "swaps": "q_best"},
    "q_best 3": {"algorithm": "local_search", "swaps": "q_best", "q": 3},
    "q_best first": {"algorithm": "local_search", "swaps": "q_best", "improvement": "first"},
    "exhaustive": {"algorithm": "local_search", "swaps": "exhaustive"},
    "exhaustive first": {"algorithm": "local_search", "swaps": "exhaustive", "improvement": "first"},
    "iht": {"algorithm": "iht", "n_lambda": 20, "lambda_min_ratio": 0.02},
    "grid": {"lambda_0": np.geomspace(0.2, 0.002, 15)},
    "one lambda_0": {"lambda_0": 0.02},
    "max_support": {"max_support": 4, "algorithm": "local_search"},
    "n_lambda": {"n_lambda": 7, "lambda_min_ratio": 0.1},
    "tol": {"tol": 1e-9},
    "costs": {"feature_cost": COST},
    "costs, ranked": {"feature_cost": COST, "algorithm": "local_search"},
    "costs, exhaustive": {"feature_cost": COST, "algorithm": "local_search", "swaps": "exhaustive"},
    "no lambda_2": {"lambda_2": 0.0, "n_lambda": 12, "lambda_min_ratio": 0.05},
}


def path_cases() -> Iterator[Case]:
    for loss in LOSSES:
        X, y = problem(loss)
        for name, options in PATH_OPTIONS.items():
            yield f"path/{name}/{loss}", partial(ez.fit_path, X, y, **{"loss": loss, "lambda_2": 1e-3, **ONE} | options)
        budgets = {"loss": loss, "lambda_2": 1e-3, "feature_cost": COST, **ONE}
        yield f"budgets/{loss}", partial(ez.fit_budgets, X, y, [1, 3, 6], **budgets)
        # Swaps of two are exact searches: the problem is small, so that none is cut short by the clock.
        X, y = problem(loss, n=40, p=10, k=2)
        few: dict[str, Any] = {"loss": loss, "lambda_2": RIDGE, "n_lambda": 6, "lambda_min_ratio": 0.1, **ONE}
        yield f"path/swap_size 2/{loss}", partial(ez.fit_path, X, y, algorithm="local_search", swap_size=2, **few)
        # The hierarchy of benchmarks/local_search.py.
        X, y = problem(loss, p=200, k=10, rho=0.9)
        grid = ez.lambda_grid(X, y, loss=loss, lambda_2=1e-3, n_lambda=20, lambda_min_ratio=0.02)
        for algorithm in ("cd", "local_search"):
            settings: dict[str, Any] = {"loss": loss, "lambda_2": 1e-3, "lambda_0": grid, "algorithm": algorithm, **ONE}
            yield f"path/hierarchy {algorithm}/{loss}", partial(ez.fit_path, X, y, **settings)
    X, y = problem("logistic", n=120)
    yield "grid/lambda_1", partial(ez.fit_grid, X, y, lambda_1="auto", n_lambda=12, algorithm="local_search", **ONE)
    yield "grid/lambda_2", partial(ez.fit_grid, X, y, lambda_2="auto", n_lambda=12, **ONE)
