"""`objective` and `check_stationarity` on any coefficients: the referee of the package against long double."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import ellzero as ez
from fuzz.problems.problem import Problem
from fuzz.problems.storages import draw_storage, fitting, stored
from fuzz.records import Case, Record
from fuzz.referee.objectives import LongProblem

__all__ = ["OBJECTIVE_CALLS", "draw_objective", "judge_objective"]

OBJECTIVE_CALLS = """
names = ("loss", "lambda_1", "lambda_2", "sample_weight", "unpenalized", "feature_cost", "groups", "standardize")
names += ("fit_intercept",)
stated = {name: settings[name] for name in names if name in settings}
print(ez.objective(Z, y, options["coef"], options["intercept"], lambda_0=form.get("lambda_0", 0.0), **stated))
print(ez.check_stationarity(Z, y, options["coef"], options["intercept"], lambda_0=form.get("lambda_0", 0.0), **settings))
"""
NAMES = (
    "loss",
    "lambda_1",
    "lambda_2",
    "sample_weight",
    "unpenalized",
    "feature_cost",
    "groups",
    "standardize",
    "fit_intercept",
)


def draw_objective(rng: np.random.Generator, problem: Problem) -> tuple[Problem, dict[str, Any]]:
    """Return a problem and a model that may be far from any solution."""
    problem, storage = fitting(problem, draw_storage(rng))
    largest = np.abs(problem.X).max(0)
    size = np.where(largest > 0.0, 1.0 / np.where(largest > 0.0, largest, 1.0), 1.0)
    coef = size * rng.standard_normal(problem.coef_shape) * (rng.random(len(size)) < 0.6) * 10.0 ** rng.uniform(-3.0, 3.0)
    coef = np.clip(coef, problem.lower, problem.upper)
    intercept = rng.standard_normal(problem.coef_shape[:-1]) if problem.fit_intercept else np.zeros(problem.coef_shape[:-1])
    options = {"storage": storage, "chunk": int(rng.integers(1, 5)), "coef": coef.tolist()}
    options["intercept"] = np.asarray(intercept).tolist()
    return replace(problem, k=None, bound=None, budget=None), options


def judge_objective(case: Case, record: Record) -> None:
    """Evaluate a model, and compare with long double."""
    problem, options = case.problem, case.options
    settings, lambda_0 = problem.settings(), problem.lambda_0 or 0.0
    stated = {name: settings[name] for name in NAMES if name in settings}
    coef = np.array(options["coef"])[..., : problem.X.shape[1]].reshape(problem.coef_shape)
    intercept = options["intercept"]
    with stored(problem.X, options["storage"], options["chunk"]) as X:
        found = ez.objective(X, problem.y, coef, intercept, lambda_0=lambda_0, **stated)
        report = ez.check_stationarity(X, problem.y, coef, intercept, lambda_0=lambda_0, **settings)
    long = LongProblem(problem)
    with np.errstate(all="ignore"):
        value = long.value(coef, intercept)
        rounding = long.upper_value(coef, intercept, 2.0**-52) - value
    if value < 1e290 and not abs(found - value) <= 4 * rounding + 1e-9 * abs(value) + 1e-300:
        record.find("objective wrong", "high", f"{found!r}, in long double {value!r}, rounding {float(rounding):.2g}")
    if value < 1e140 and np.isnan([report.decrease, report.gradient, report.objective]).any():
        record.find("stationarity is not a number", "low", f"{report}")
