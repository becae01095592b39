"""`fit_path`, `fit_sizes`, `fit_budgets`, `fit_grid`: models recomputed, limits kept, Theorem 1, the same for all storages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import ellzero as ez
from fuzz.problems.problem import Problem
from fuzz.problems.storages import draw_storage, fitting, stored
from fuzz.problems.structure import draw_budget
from fuzz.records import Case, Record
from fuzz.referee.best import LARGEST_P, convex_fit
from fuzz.referee.objectives import CURVATURE
from fuzz.referee.stationarity import certain_decrease
from fuzz.subjects.judging import LARGEST_VALUE, Referee, check_model

__all__ = [
    "BUDGETS_CALLS",
    "GRID_CALLS",
    "PATH_CALLS",
    "SIZES_CALLS",
    "draw_budgets",
    "draw_grid",
    "draw_path",
    "draw_sizes",
    "judge_budgets",
    "judge_grid",
    "judge_path",
    "judge_sizes",
]

Generator = np.random.Generator
SAME_BITS = {"rows", "columns", "strided", "frame", "memory map"}  # storages that the core sees as the same array
HOW = ("algorithm", "swaps", "q", "improvement", "swap_size", "tol", "n_jobs")
WHERE = ("lambda_0", "n_lambda", "lambda_min_ratio", "max_support")
CHOSEN = """
names = ("algorithm", "swaps", "q", "improvement", "swap_size", "tol", "n_jobs", "max_norm")
names += ("lambda_0", "n_lambda", "lambda_min_ratio", "max_support")
chosen = {name: options[name] for name in names if options.get(name) is not None}
"""
PATH_CALLS = f"""{CHOSEN}
path = ez.fit_path(Z, y, **settings, **chosen)
print(path)
for model, converged in zip(path, path.converged):
    report = ez.check_stationarity(Z, y, model.coef, model.intercept, lambda_0=model.lambda_0, **settings)
    print(model.objective, converged, report)
"""
SIZES_CALLS = f"""{CHOSEN}
print(ez.fit_sizes(Z, y, options["sizes"], **settings, **chosen))
"""
BUDGETS_CALLS = f"""{CHOSEN}
print(ez.fit_budgets(Z, y, options["budgets"], **settings, **chosen))
"""
GRID_CALLS = f"""{CHOSEN}
print(ez.fit_grid(Z, y, **{{**settings, **chosen, options["over"]: options["values"]}}))
"""


def draw_how(rng: Generator, problem: Problem) -> dict[str, Any]:
    """Return the algorithm and its options."""
    how: dict[str, Any] = {"algorithm": str(rng.choice(["cd", "local_search", "iht"], p=[0.5, 0.4, 0.1]))}
    if how["algorithm"] == "local_search":
        how["swaps"] = str(rng.choice(["ranked", "q_best", "exhaustive"]))
        if how["swaps"] == "q_best" and rng.random() < 0.5:
            how["q"] = int(rng.integers(1, 5))
        if how["swaps"] != "ranked" and rng.random() < 0.3:
            how["improvement"] = "first"
        if rng.random() < 0.15 and problem.X.shape[1] <= 8:
            how["swap_size"] = 2  # an exact search at every point
        if problem.groups is not None or problem.outputs > 1:  # there all swaps are ranked
            how = {name: value for name, value in how.items() if name not in ("swaps", "q", "improvement")}
    if rng.random() < 0.2:
        how["tol"] = float(10.0 ** rng.uniform(-9.0, -3.0))
    how["n_jobs"] = int(rng.choice([1, 2]))
    return how


def draw_where(rng: Generator, problem: Problem) -> dict[str, Any]:
    """Return the points of a path."""
    where: dict[str, Any] = {"n_lambda": int(rng.integers(1, 9)), "lambda_min_ratio": float(10.0 ** rng.uniform(-4.0, 0.0))}
    if rng.random() < 0.4 and problem.lambda_0:
        grid = (problem.lambda_0 * 10.0 ** -np.sort(rng.uniform(-2.0, 2.0, int(rng.integers(1, 5))))).tolist()
        grid = grid if rng.random() < 0.6 else [*grid, 0.0]
        where = {"lambda_0": [value for value in grid if np.isfinite(value)]}
    if rng.random() < 0.4:
        where["max_support"] = int(rng.integers(0, problem.X.shape[1] + 2))
    return where


def draw_path(rng: Generator, problem: Problem) -> tuple[Problem, dict[str, Any]]:
    """Return a problem and the options of `fit_path`."""
    problem, storage = fitting(problem, draw_storage(rng))
    options = {
        "storage": storage,
        "chunk": int(rng.integers(1, 5)),
        **draw_how(rng, problem),
        **draw_where(rng, problem),
    }
    options["threads"] = bool(rng.random() < 0.25)  # once more with another number of threads
    options["again"] = draw_storage(rng) if rng.random() < 0.2 else None
    options["size"] = int(rng.integers(0, problem.X.shape[1] + 1)) if rng.random() < 0.2 else None  # at_support of it
    return replace(problem, lambda_0=None, k=None, budget=None, bound=None), options


def chosen(options: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return those of the options that are given."""
    return {name: options[name] for name in names if options.get(name) is not None}


def judge_path(case: Case, record: Record) -> None:
    """Fit a path, and check every model of it."""
    problem, options = case.problem, case.options
    arguments = {**problem.settings(), **chosen(options, *HOW, *WHERE)}
    with stored(problem.X, options["storage"], options["chunk"]) as X:
        path = ez.fit_path(X, problem.y, **arguments)
        check_path(record, problem, "fit_path", path, options.get("max_support"))
        check_theorem(record, problem, X, path, options)
        if options["threads"]:
            other = ez.fit_path(X, problem.y, **{**arguments, "n_jobs": 3 - options["n_jobs"]})
            check_same(record, "threads differ", "high", path, other)
        if options["size"] is not None:
            model = path.at_support(options["size"])
            referee = Referee(replace(problem, k=options["size"]))
            check_model(record, referee, f"at_support({options['size']})", model.coef, model.intercept, model.cost)
    check_convex(record, problem, path, options)
    if options["again"] is not None:
        check_storage(record, problem, path, options, arguments)


def check_path(record: Record, problem: Problem, what: str, path: ez.Path, max_support: int | None) -> None:
    """Check the grid of a path, its sizes, and the models with their costs."""
    grid = path.lambda_0
    if not (np.isfinite(grid).all() and (np.diff(grid) < 0.0).all()):
        record.find("grid not decreasing", "medium", f"{what}: {grid.tolist()}")
    referee = Referee(replace(problem, k=max_support))
    for at, model in enumerate(path):
        check_model(record, referee, f"{what}, point {at}", model.coef, model.intercept, model.cost)
        used = referee.long.used(referee.long.shaped(model.coef, model.intercept)[0])
        if model.size != used.sum() or not np.isclose(model.spent, float(referee.long.spent(used)), rtol=1e-12, atol=0.0):
            record.find("size wrong", "high", f"{what}, point {at}: {model.size}, {model.spent!r}, {model.coef.tolist()}")
    record.count("models converged" if path.converged.all() else "models not converged")


def check_theorem(record: Record, problem: Problem, X: Any, path: ez.Path, options: dict[str, Any]) -> None:
    """Check Theorem 1 wherever a path says that it has converged."""
    tolerance = 10.0 * max(options.get("tol") or 1e-6, 1e-6)
    zero_loss = Referee(problem).zero_loss
    rounding = 1e-12 * float(zero_loss)
    for at, model in enumerate(path):
        if not path.converged[at]:
            continue
        report = ez.check_stationarity(
            X, problem.y, model.coef, model.intercept, lambda_0=model.lambda_0 or 0.0, tol=tolerance, **problem.settings()
        )
        if np.isnan([report.decrease, report.gradient, report.objective]).any():
            record.find("stationarity is not a number", "low", f"point {at}: {report}")
        elif not report and report.decrease > rounding:
            severity = "high" if report.decrease > 1e-2 * report.objective else "medium"
            record.find("converged, but not stationary", severity, f"point {at} ({options['algorithm']}): {report}")
        else:
            check_steps(record, replace(problem, lambda_0=model.lambda_0), model, f"point {at}", tolerance * zero_loss / 1000)


def check_steps(record: Record, problem: Problem, model: ez.Model, what: str, negligible: Any) -> None:
    """Check by long double that no step of one feature lowers the objective of a model that Theorem 1 is said to hold for."""
    if problem.loss not in CURVATURE:
        return
    with np.errstate(all="ignore"):
        referee = Referee(problem)
        value = referee.long.value(model.coef, model.intercept)
        rounding = referee.long.upper_value(model.coef, model.intercept, 2.0**-52) - value
        decrease = certain_decrease(referee.long, model.coef, model.intercept)
    if np.isfinite(decrease) and decrease > 4 * rounding + 1e-4 * value + 10 * negligible:
        severity = "high" if decrease > 1e-2 * value else "medium"
        words = f"{what}: a step lowers {float(value)!r} by {float(decrease):.3g}, {model.coef.tolist()}"
        record.find("converged, but a step helps", severity, words)


def check_convex(record: Record, problem: Problem, path: ez.Path, options: dict[str, Any]) -> None:
    """Check the last model against a convex fit, if it has converged for lambda_0 = 0 with all features allowed."""
    p = problem.X.shape[1]
    if (
        not len(path)
        or path.lambda_0[-1] != 0.0
        or options.get("max_support", p) < p
        or not path.converged[-1]
        or p > LARGEST_P
    ):
        return
    best = convex_fit(replace(problem, lambda_0=0.0), np.arange(p))
    cost = np.longdouble(path.cost[-1])
    scale = max(best.value, Referee(problem).zero_loss / 1000)
    if best.value < LARGEST_VALUE and not cost <= best.value + 1e-3 * scale:
        words = f"cost {path.cost[-1]!r} for lambda_0 = 0, a convex fit has {float(best.value)!r}"
        record.find("not the convex minimum", "medium", words, best.plain())


def check_same(record: Record, kind: str, severity: str, one: ez.Path, other: ez.Path) -> None:
    """Check that two paths are the same, bit for bit."""
    same = len(one) == len(other) and np.array_equal(one.lambda_0, other.lambda_0)
    same = same and np.array_equal(one.coef.toarray(), other.coef.toarray()) and np.array_equal(one.intercept, other.intercept)
    if not same:
        words = (
            f"objectives {one.objective.tolist()} and {other.objective.tolist()}, sizes {one.support_size} {other.support_size}"
        )
        record.find(kind, severity, words)


def check_storage(record: Record, problem: Problem, path: ez.Path, options: dict[str, Any], arguments: dict[str, Any]) -> None:
    """Fit the path in another storage: the same bits where the core sees the same array, similar objectives elsewhere."""
    same, storage = fitting(problem, options["again"])
    if not np.array_equal(same.X, problem.X):
        return
    with stored(problem.X, storage, options["chunk"]) as X:
        other = ez.fit_path(X, problem.y, **arguments)
        check_path(record, problem, f"fit_path ({storage})", other, options.get("max_support"))
    if {storage, options["storage"]} <= SAME_BITS:
        check_same(record, f"storages differ: {options['storage']}, {storage}", "high", path, other)
    elif len(path) and len(other):
        ends = path.objective[-1], other.objective[-1]
        close = abs(ends[0] - ends[1]) <= 0.1 * max(*np.abs(ends)) + 1e-300
        record.count("storages agree" if close and len(path) == len(other) else "storages find other models")


def draw_sizes(rng: Generator, problem: Problem) -> tuple[Problem, dict[str, Any]]:
    """Return a problem and the options of `fit_sizes`."""
    problem, storage = fitting(problem, draw_storage(rng))
    p = problem.X.shape[1]
    options = {"storage": storage, "chunk": int(rng.integers(1, 5)), **draw_how(rng, problem)}
    options.pop("swap_size", None)
    options["sizes"] = sorted({int(size) for size in rng.integers(0, p + 2, int(rng.integers(1, 5)))})
    options["threads"] = bool(rng.random() < 0.25)
    if rng.random() < 0.2:
        options["max_norm"] = float(10.0 ** rng.uniform(-3.0, 2.0)) * (
            1.0 if rng.random() < 0.7 else float(10.0 ** rng.uniform(-60, 60))
        )
    return replace(problem, lambda_0=None, k=None, budget=None, bound=None), options


def judge_sizes(case: Case, record: Record) -> None:
    """Fit models of several sizes, and check each."""
    problem, options = case.problem, case.options
    arguments = {**problem.settings(), **chosen(options, *HOW, "max_norm")}
    with stored(problem.X, options["storage"], options["chunk"]) as X:
        sizes = ez.fit_sizes(X, problem.y, options["sizes"], **arguments)
        if options["threads"]:
            other = ez.fit_sizes(X, problem.y, options["sizes"], **{**arguments, "n_jobs": 3 - options["n_jobs"]})
            if not np.array_equal(sizes.coef.toarray(), other.coef.toarray()):
                record.find("threads differ", "high", f"objectives {sizes.objective.tolist()} and {other.objective.tolist()}")
    for size, model in zip(sizes.sizes, sizes, strict=True):
        referee = Referee(replace(problem, k=int(size)))
        check_model(record, referee, f"size {size}", model.coef, model.intercept, model.objective)
        norm = np.sqrt(np.square(model.coef * referee.long.spread).sum())
        limit = options.get("max_norm")
        if limit is not None and norm > limit * (1.0 + 1e-6):
            record.find("max_norm exceeded", "high", f"size {size}: {float(norm)!r} > {limit!r}")
        judge_size(record, referee, model, options)
    if (np.diff(sizes.objective) > 1e-9 * np.abs(sizes.objective[:-1])).any():
        record.find("larger, but worse", "medium", f"sizes {sizes.sizes.tolist()}: {sizes.objective.tolist()}")


def judge_size(record: Record, referee: Referee, model: ez.Model, options: dict[str, Any]) -> None:
    """Count how often a search for a size misses the best model."""
    if options.get("max_norm") is None and referee.brute is not None:
        value, best = np.longdouble(model.objective), referee.brute.value
        record.count("size missed by more than 1 %" if value > 1.01 * best + 1e-6 * abs(best) else "size found")


def draw_budgets(rng: Generator, problem: Problem) -> tuple[Problem, dict[str, Any]]:
    """Return a problem and the options of `fit_budgets`; features without a price cost one."""
    problem, storage = fitting(problem, draw_storage(rng))
    options = {"storage": storage, "chunk": int(rng.integers(1, 5)), **draw_how(rng, problem)}
    options = {name: value for name, value in options.items() if name not in ("swaps", "q", "improvement", "swap_size")}
    options["algorithm"] = str(rng.choice(["cd", "local_search"]))
    prices = problem.prices() if len(problem.prices()) else np.ones(1)
    options["budgets"] = sorted({draw_budget(rng, prices) for _ in range(int(rng.integers(1, 5)))})
    options["threads"] = bool(rng.random() < 0.25)
    return replace(problem, lambda_0=None, k=None, budget=None, bound=None), options


def judge_budgets(case: Case, record: Record) -> None:
    """Fit models within several budgets, and check each."""
    problem, options = case.problem, case.options
    arguments = {**problem.settings(), **chosen(options, *HOW)}
    with stored(problem.X, options["storage"], options["chunk"]) as X:
        budgets = ez.fit_budgets(X, problem.y, options["budgets"], **arguments)
        if options["threads"]:
            other = ez.fit_budgets(X, problem.y, options["budgets"], **{**arguments, "n_jobs": 3 - options["n_jobs"]})
            if any(not np.array_equal(one.coef, two.coef) for one, two in zip(budgets, other, strict=True)):
                record.find("threads differ", "high", f"objectives {budgets.objective.tolist()}, {other.objective.tolist()}")
    for budget, model in zip(budgets.budgets, budgets, strict=True):
        referee = Referee(replace(problem, budget=float(budget)))
        check_model(record, referee, f"budget {budget!r}", model.coef, model.intercept, model.objective)
        judge_size(record, referee, model, options)
    if (np.diff(budgets.objective) > 1e-9 * np.abs(budgets.objective[:-1])).any():
        record.find("dearer, but worse", "medium", f"{budgets.budgets.tolist()}: {budgets.objective.tolist()}")


def draw_grid(rng: Generator, problem: Problem) -> tuple[Problem, dict[str, Any]]:
    """Return a problem and the options of `fit_grid`."""
    problem, storage = fitting(problem, draw_storage(rng))
    options = {
        "storage": storage,
        "chunk": int(rng.integers(1, 5)),
        **draw_how(rng, problem),
        **draw_where(rng, problem),
    }
    options.pop("swap_size", None)
    over = str(rng.choice(["lambda_1", "lambda_2"]))
    value = getattr(problem, over) or 0.1
    options["over"] = over
    options["values"] = "auto" if rng.random() < 0.3 else [value * 10.0, value, value / 100.0]
    return problem.but(**{over: 0.0, "lambda_0": None, "k": None, "budget": None, "bound": None}), options


def judge_grid(case: Case, record: Record) -> None:
    """Fit a grid of paths, and check every model."""
    problem, options = case.problem, case.options
    arguments = {**problem.settings(), **chosen(options, *HOW, *WHERE), options["over"]: options["values"]}
    with stored(problem.X, options["storage"], options["chunk"]) as X:
        grid = ez.fit_grid(X, problem.y, **arguments)
    for value, path in zip(grid.values, grid, strict=True):
        at = problem.but(**{options["over"]: float(value)})
        check_path(record, at, f"{options['over']} = {value:g}", path, options.get("max_support"))
