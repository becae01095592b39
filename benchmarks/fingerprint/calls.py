"""Every call on a problem, with every setting of the problem and every storage of X."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import ellzero as ez
from benchmarks.fingerprint.problems import FOR_EXACT, LOSSES, ONE, PRICE, Case, problem
from benchmarks.fingerprint.storages import SLOW, distant, storages

Call = Callable[[Any, Any, dict[str, Any]], Any]  # of X, y and the settings of the problem


def problem_settings(n: int, p: int) -> dict[str, dict[str, Any]]:
    rng = np.random.default_rng(7)
    weight = rng.uniform(0.5, 2.0, n)
    weight[::9] = 0.0
    low = np.full(p, -0.4)
    low[::3] = 0.0
    held = np.full(p, -np.inf)
    held[2] = 0.2
    return {
        "plain": {},
        "weights": {"sample_weight": weight},
        "standardize": {"standardize": True},
        "no intercept": {"fit_intercept": False},
        "scaled only": {"fit_intercept": False, "standardize": True},
        "box": {"lower": low, "upper": 0.4},
        "not negative": {"lower": 0.0},
        "unpenalized": {"unpenalized": [1, 4]},
        "held": {"unpenalized": [2], "lower": held},
        "lambda_1": {"lambda_1": 0.005},
        "all": {
            "sample_weight": weight,
            "standardize": True,
            "lower": low,
            "upper": 0.4,
            "unpenalized": [1, 4],
            "lambda_1": 0.005,
        },
    }


def setting_cases() -> Iterator[Case]:
    for loss in LOSSES:
        X, y = problem(loss, p=30, k=4)
        for name, chosen in problem_settings(*X.shape).items():
            settings: dict[str, Any] = {"loss": loss, **chosen}
            for call, function in CALLS.items():
                yield f"setting/{name}/{call}/{loss}", partial(function, X, y, settings)


def searched_path(X: Any, y: Any, settings: dict[str, Any]) -> Any:
    return ez.fit_path(X, y, algorithm="local_search", lambda_2=1e-3, n_lambda=25, lambda_min_ratio=0.02, **settings, **ONE)


def descended_path(X: Any, y: Any, settings: dict[str, Any]) -> Any:
    return ez.fit_path(X, y, lambda_2=1e-3, n_lambda=25, **settings, **ONE)


def ridge_grid(X: Any, y: Any, settings: dict[str, Any]) -> Any:
    return ez.fit_grid(X, y, lambda_2=[0.1, 0.01, 0.001], n_lambda=15, lambda_min_ratio=0.02, **settings, **ONE)


def some_sizes(X: Any, y: Any, settings: dict[str, Any]) -> Any:
    return ez.fit_sizes(X, y, [0, 1, 2, 3, 5, 8], lambda_2=1e-3, **settings, **ONE)


def sizes_of_bounded_norm(X: Any, y: Any, settings: dict[str, Any]) -> Any:
    return ez.fit_sizes(X, y, [1, 3, 5], lambda_2=1e-3, max_norm=0.6, algorithm="cd", **settings, **ONE)


def price_solve(X: Any, y: Any, settings: dict[str, Any]) -> Any:
    solution = ez.solve(X, y, lambda_0=PRICE[settings["loss"]], **settings, **FOR_EXACT)
    return solution, ez.verify(solution.certificate, X, y)


def size_solve(X: Any, y: Any, settings: dict[str, Any]) -> Any:
    solution = ez.solve(X, y, k=3, **settings, **FOR_EXACT)
    return solution, ez.verify(solution.certificate, X, y)


def integrality_solve(X: Any, y: Any, settings: dict[str, Any]) -> Any:
    return ez.solve(X, y, lambda_0=PRICE[settings["loss"]] / 2, method="iga", grow=1, **settings, **FOR_EXACT)


def heuristic_solve(X: Any, y: Any, settings: dict[str, Any]) -> Any:
    return ez.solve(X, y, lambda_0=PRICE[settings["loss"]], bound="heuristic", **settings, **FOR_EXACT)


def bounded_solve(X: Any, y: Any, settings: dict[str, Any]) -> Any:
    """Without lambda_2: only the bound holds the coefficients, and one is assumed of free features."""
    solution = ez.solve(X, y, lambda_0=PRICE[settings["loss"]], bound=0.5, gap=1e-3, **settings, **ONE)
    return solution, ez.verify(solution.certificate, X, y)


def stationarity(X: Any, y: Any, settings: dict[str, Any]) -> Any:
    """The check, and the objective, at a fixed point and near it."""
    lambda_0 = PRICE[settings["loss"]]
    path = ez.fit_path(X, y, lambda_0=lambda_0, lambda_2=1e-3, **settings, **ONE)
    beside = path[0].coef * 1.01
    at: dict[str, Any] = {"lambda_0": lambda_0, "lambda_2": 1e-3}
    of_objective = {name: value for name, value in settings.items() if name not in ("lower", "upper")}
    return [
        found
        for coef in (path.coef[0], beside)
        for found in (
            ez.check_stationarity(X, y, coef, path.intercept[0], **at, **settings),
            ez.objective(X, y, coef, path.intercept[0], **at, **of_objective),
        )
    ]


def log_grid(X: Any, y: Any, settings: dict[str, Any]) -> Any:
    return ez.lambda_grid(X, y, n_lambda=20, lambda_2=1e-3, **settings)


CALLS: dict[str, Call] = {
    "path": descended_path,
    "local search": searched_path,
    "grid": ridge_grid,
    "sizes": some_sizes,
    "sizes of bounded norm": sizes_of_bounded_norm,
    "solve": price_solve,
    "solve k": size_solve,
    "iga": integrality_solve,
    "solve, heuristic bound": heuristic_solve,
    "solve, bound": bounded_solve,
    "stationarity": stationarity,
    "lambda_grid": log_grid,
}


def storage_cases() -> Iterator[Case]:
    for loss in LOSSES:
        for name, (X, y) in storages(loss == "squared_error").items():
            calls = DISTANT_CALLS if distant(name) else HELD_CALLS
            if name in SLOW:
                calls = {call: calls[call] for call in ("path", "root") if loss in ("logistic", "squared_error")}
            for call, function in calls.items():
                yield f"storage/{name}/{call}/{loss}", partial(function, X, y, {"loss": loss})


def standardized_solve(X: Any, y: Any, settings: dict[str, Any]) -> Any:
    return price_solve(X, y, {**settings, "standardize": True})


def root_solve(X: Any, y: Any, settings: dict[str, Any]) -> Any:
    solution = ez.solve(X, y, lambda_0=PRICE[settings["loss"]], node_limit=1, **settings, **FOR_EXACT)
    return solution, ez.verify(solution.certificate, X, y)


def outline(solve: Call, X: Any, y: Any, settings: dict[str, Any]) -> Any:
    """The part of a solution that does not depend on the order in which nodes were searched."""
    solution, report = solve(X, y, settings)
    return solution.status, solution.support, f"{solution.objective:.5f}", report.valid, report.gap <= 1e-4


HELD_CALLS: dict[str, Call] = {name: CALLS[name] for name in ("path", "local search", "sizes", "solve", "solve k")}
HELD_CALLS["standardized solve"] = standardized_solve
# Where X is read in passes, several nodes share a pass, also on one thread: only the root is the same each time.
DISTANT_CALLS: dict[str, Call] = HELD_CALLS | {
    "root": root_solve,
    **{name: partial(outline, HELD_CALLS[name]) for name in ("solve", "solve k", "standardized solve")},
}
