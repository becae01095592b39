"""Convex fits (lambda_0 = 0, all features in) against SciPy and scikit-learn: nobody may find a better model."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import linprog, minimize
from scipy.special import expit
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge

import ellzero as ez
from ellzero.problem.losses import HINGE_SMOOTHING
from fuzz.problems.problem import Array, Problem
from fuzz.problems.storages import draw_storage, fitting, stored
from fuzz.records import Case, Record
from fuzz.referee.best import Best, convex_fit
from fuzz.referee.objectives import LongProblem
from fuzz.subjects.judging import Referee, check_model

__all__ = ["CONVEX_CALLS", "draw_convex", "judge_convex", "others"]

CONVEX_CALLS = """
path = ez.fit_path(Z, y, lambda_0=[0.0], **settings)
print(path, path.coef.toarray(), path.intercept)
"""
FAR = 1e8  # columns whose scales differ by more are left to the other subjects: SciPy knows no scaling
UNCERTAIN = 1e-14, 1e-10  # the part of a column that others do not explain: more than rounding, less than float64 can work with
AGREEMENT = 1e-5  # relative to the objective or, where that is less, to a thousandth of the loss of zero coefficients


def draw_convex(rng: np.random.Generator, problem: Problem) -> tuple[Problem, dict[str, Any]]:
    """Return a problem whose scales other libraries can cope with, and a storage."""
    X = problem.X
    size = np.abs(X).max(0)
    X = np.where(size > 0.0, X / np.where(size > 0.0, size, 1.0), 0.0) * 10.0 ** rng.uniform(-2.0, 2.0, len(size))
    y = problem.y if problem.is_classification else problem.y / max(np.abs(problem.y).max(initial=0.0), 1e-300)
    weight = problem.sample_weight
    weight = None if weight is None or weight[weight > 0.0].min() < weight.max() / FAR else weight
    lambda_2 = float(10.0 ** rng.uniform(-4.0, 0.0)) if rng.random() < 0.8 else 0.0
    lambda_1 = float(10.0 ** rng.uniform(-4.0, -1.0)) if rng.random() < 0.4 else 0.0
    boxed = problem.lower is not None or problem.upper is not None
    lower, upper = (-rng.uniform(0.0, 1.0, len(size)), rng.uniform(0.0, 1.0, len(size))) if boxed else (None, None)
    problem = replace(problem, X=X, y=y, sample_weight=weight, lambda_1=lambda_1, lambda_2=lambda_2, lower=lower, upper=upper)
    problem = replace(problem, lambda_0=0.0, k=None, bound=None)
    problem, storage = fitting(problem, draw_storage(rng))
    return problem, {"storage": storage, "chunk": int(rng.integers(1, 5))}


def judge_convex(case: Case, record: Record) -> None:
    """Fit all features, and compare with the models of others."""
    problem, referee = case.problem, Referee(case.problem)
    with stored(problem.X, case.options["storage"], case.options["chunk"]) as X:
        path = ez.fit_path(X, problem.y, lambda_0=[0.0], **problem.settings())
    model = path[0]
    check_model(record, referee, "fit_path", model.coef, model.intercept, model.objective)
    record.count("converged" if path.converged[0] else "not converged")
    if nearly_dependent(problem):
        record.count("columns dependent to ten digits")
        return
    own = referee.long.value(model.coef, model.intercept)
    allowed = AGREEMENT * max(own, referee.zero_loss / 1000)
    if problem.loss == "hinge":  # its bend is smoothed, which may cost half the smoothing
        allowed += HINGE_SMOOTHING / 2
    at = ez.check_stationarity(problem.X, problem.y, model.coef, model.intercept, tol=1e-5, **problem.settings())
    severity = (
        "medium" if at else "high"
    )  # "converged" says no more than Theorem 1: along dependent columns the loss may fall on
    for name, other in others(problem, referee.long).items():
        record.count(f"compared with {name}")
        if path.converged[0] and other.value < own - allowed:
            words = f"{name} has {float(other.value)!r}, the package {float(own)!r}"
            record.find("not the convex minimum", severity, words, other.plain())


def nearly_dependent(problem: Problem) -> bool:
    """Return whether columns depend on each other to so many digits that nobody can tell whether they do."""
    columns = problem.X - problem.X.mean(0) if problem.fit_intercept else problem.X
    sizes = np.linalg.norm(columns, axis=0)
    own = np.linalg.svd(columns[:, sizes > 0.0] / sizes[sizes > 0.0], compute_uv=False)
    return bool(((own > UNCERTAIN[0]) & (own < UNCERTAIN[1])).any())


def others(problem: Problem, long: LongProblem) -> dict[str, Best]:
    """Return the models of those who can solve the problem, moved into the box and evaluated in long double."""
    found: dict[str, tuple[Array, float]] = {}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found |= by_scipy(problem, long)
        if problem.lower is None and problem.upper is None and problem.lambda_2 > 0.0 and not problem.standardize:
            found |= by_sklearn(problem, long)
        models = {"brute force": convex_fit(problem, np.arange(problem.X.shape[1]), long)}
        for name, (coef, intercept) in found.items():
            inside, intercepts = long.shaped(np.clip(coef, long.low, long.high), intercept)
            models[name] = Best(long.upper_value(inside, intercepts), inside, intercepts)
    return models


def by_scipy(problem: Problem, long: LongProblem) -> dict[str, tuple[Array, float]]:
    """Return SciPy's model: by L-BFGS-B for smooth problems, by HiGHS for the hinge without a ridge."""
    X, target, w = problem.X, long.target[0].astype(np.float64), long.w.astype(np.float64)
    spread, p = long.spread.astype(np.float64), X.shape[1]
    low, high = (np.append(side.astype(np.float64), end) for side, end in ((long.low, -np.inf), (long.high, np.inf)))
    design = np.column_stack([X, np.full(len(target), float(problem.fit_intercept))])
    if problem.loss == "hinge":
        return {} if problem.lambda_2 > 0.0 else linear_program(problem, design, target, w, spread, low, high)
    if problem.lambda_1 > 0.0:
        return {}

    def value_and_slope(x: Array) -> tuple[float, Array]:
        eta = design @ x
        if problem.loss == "squared_error":
            loss, slope = w @ np.square(eta - target) / 2.0, w * (eta - target)
        elif problem.loss == "logistic":
            loss, slope = w @ np.logaddexp(0.0, -target * eta), -w * target * expit(-target * eta)
        else:
            short = np.maximum(0.0, 1.0 - target * eta)
            loss, slope = w @ np.square(short), -2.0 * w * target * short
        beta = x[:p] * spread
        pull = slope @ design
        pull[:p] += 2.0 * problem.lambda_2 * beta * spread
        return float(loss + problem.lambda_2 * beta @ beta), pull

    start = np.clip(np.zeros(p + 1), low, high)
    x = minimize(value_and_slope, start, jac=True, method="L-BFGS-B", bounds=list(zip(low, high, strict=True))).x
    return {"SciPy": (x[:p], float(x[p]) if problem.fit_intercept else 0.0)}


def linear_program(
    problem: Problem, design: Array, target: Array, w: Array, spread: Array, low: Array, high: Array
) -> dict[str, tuple[Array, float]]:
    """Return the hinge's model without a ridge, as a linear program in coefficients, their sizes and the shortfalls."""
    n, width = design.shape
    p = width - 1
    costs = np.concatenate([np.zeros(width), problem.lambda_1 * spread, w])
    margins = np.column_stack([-target[:, None] * design, np.zeros((n, p)), -np.eye(n)])
    sizes = [np.column_stack([side * np.eye(p, width), -np.eye(p), np.zeros((p, n))]) for side in (1.0, -1.0)]
    limits = [*zip(low, high, strict=True), *[(0.0, None)] * (p + n)]
    answer = linprog(costs, np.concatenate([margins, *sizes]), np.concatenate([-np.ones(n), np.zeros(2 * p)]), bounds=limits)
    if answer.x is None:
        return {}
    return {"SciPy's HiGHS": (answer.x[:p], float(answer.x[p]) if problem.fit_intercept else 0.0)}


def by_sklearn(problem: Problem, long: LongProblem) -> dict[str, tuple[Array, float]]:
    """Return scikit-learn's model of a problem without bounds: ridge, elastic net or logistic regression."""
    X, w, target = problem.X, long.w.astype(np.float64), long.target[0].astype(np.float64)
    model: Any
    if problem.loss == "squared_error" and problem.lambda_1 > 0.0:
        total = problem.lambda_1 + 2.0 * problem.lambda_2
        model = ElasticNet(
            alpha=total, l1_ratio=problem.lambda_1 / total, fit_intercept=problem.fit_intercept, tol=1e-10, max_iter=10_000
        )
    elif problem.loss == "squared_error":
        model = Ridge(alpha=2.0 * problem.lambda_2, fit_intercept=problem.fit_intercept)
    elif problem.loss == "logistic" and problem.lambda_1 == 0.0:
        model = LogisticRegression(
            C=1.0 / (2.0 * problem.lambda_2), fit_intercept=problem.fit_intercept, tol=1e-10, max_iter=10_000
        )
    else:
        return {}
    model.fit(X, target, sample_weight=w)
    return {"scikit-learn": (np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]))}
