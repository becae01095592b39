"""Smaller cases: each function yields cases that differ from the given one by a single step towards a simpler case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fuzz.problems.problem import Problem
from fuzz.records import Case

__all__ = ["reductions"]

PLAIN_SETTINGS: dict[str, Any] = {
    "sample_weight": None,
    "standardize": False,
    "unpenalized": (),
    "groups": None,
    "feature_cost": None,
    "bound": None,
    "lambda_1": 0.0,
    "lambda_2": 0.0,
    "fit_intercept": False,
}
ROUNDED = ("X", "y", "sample_weight", "lower", "upper", "feature_cost", "lambda_0", "lambda_1", "lambda_2", "bound", "budget")
PLAIN_OPTIONS: dict[str, Any] = {"storage": "columns", "n_jobs": 1, "gap": 1e-4, "chunk": 1}


def reductions(case: Case) -> Iterator[Case]:
    """Yield smaller cases, those with the largest steps first."""
    for problem in [*fewer_rows(case.problem), *fewer_columns(case.problem), *fewer_settings(case.problem)]:
        yield replace(case, problem=problem)
    for options in fewer_options(case.options):
        yield replace(case, options=options)
    for problem in [*moderate_scales(case.problem), *rounder(case.problem)]:
        yield replace(case, problem=problem)


def fewer_rows(problem: Problem) -> Iterator[Problem]:
    """Yield the problem without some of its rows."""
    n = len(problem.y)
    for size in (n // 2, n // 4, n // 8, 1):
        for start in range(0, n, size) if size else ():
            keep = np.ones(n, dtype=bool)
            keep[start : start + size] = False
            if keep.sum() >= 2:
                yield problem.rows(keep)


def fewer_columns(problem: Problem) -> Iterator[Problem]:
    """Yield the problem without one of its columns."""
    p = problem.X.shape[1]
    for j in range(p if p > 1 else 0):
        yield problem.columns(np.delete(np.arange(p), j))


def fewer_settings(problem: Problem) -> Iterator[Problem]:
    """Yield the problem with one of its settings at the default."""
    for name, plain in PLAIN_SETTINGS.items():
        value = getattr(problem, name)
        if value is not plain and (isinstance(value, np.ndarray) or value != plain):
            yield problem.but(**{name: plain})
    if problem.lower is not None or problem.upper is not None:
        yield replace(problem, lower=None, upper=None)
    if problem.lower is not None:
        yield replace(problem, lower=None)
    if problem.upper is not None:
        yield replace(problem, upper=None)
    limits = [name for name in ("lambda_0", "k", "budget") if getattr(problem, name) is not None]
    for name in limits if len(limits) > 1 else ():
        yield problem.but(**{name: None})
    if problem.budget is not None and problem.feature_cost is None:
        yield replace(problem, budget=None, k=int(problem.budget))
    if problem.is_classification and problem.y.dtype.kind not in "iu":
        yield replace(problem, y=np.unique(problem.y, return_inverse=True)[1].reshape(problem.y.shape))
    yield from fewer_outputs(problem)


def fewer_outputs(problem: Problem) -> Iterator[Problem]:
    """Yield the problem without one of its outputs; of classes, two are made one."""
    if problem.loss == "multinomial":
        classes = np.unique(problem.y)
        for gone in classes[1:] if len(classes) > 2 else ():
            yield replace(problem, y=np.where(problem.y == gone, classes[0], problem.y))
    elif problem.outputs > 1:
        for gone in range(problem.outputs):
            left = np.delete(problem.y, gone, axis=1)
            yield replace(problem, y=left if left.shape[1] > 1 else left[:, 0])


def fewer_options(options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the options of the call with one of them at its default, or gone."""
    for name, value in options.items():
        plain = PLAIN_OPTIONS.get(name, False if isinstance(value, bool) else None)
        if value != plain:
            yield {**options, name: plain}


def moderate_scales(problem: Problem) -> Iterator[Problem]:
    """Yield the problem with all of its numbers, or one column's, nearer to one; penalties and boxes move along."""
    size = np.abs(problem.X).max(0)
    exponent = np.where(size > 0.0, np.round(np.log10(np.where(size > 0.0, size, 1.0))), 0.0)
    for j in np.flatnonzero(exponent):
        X = problem.X.copy()
        X[:, j] = X[:, j] / 10.0 ** exponent[j]
        yield replace(problem, X=X)
    if not problem.is_classification and np.abs(problem.y).max(initial=0.0) > 0.0:
        unit = 10.0 ** np.round(np.log10(np.abs(problem.y).max()))
        if unit != 1.0:
            yield replace(problem, y=problem.y / unit)


def rounder(problem: Problem) -> Iterator[Problem]:
    """Yield the problem with fewer digits."""
    for digits in (1, 2, 3):
        for name in ROUNDED:
            value = getattr(problem, name)
            if value is None or (name == "y" and problem.is_classification):
                continue
            short = rounded(np.asarray(value, dtype=np.float64), digits)
            if not np.array_equal(short, value):
                yield problem.but(**{name: float(short) if short.ndim == 0 else short})
    for j in range(problem.X.shape[1]):
        X = problem.X.copy()
        X[:, j] = rounded(X[:, j], 1)
        if not np.array_equal(X, problem.X):
            yield replace(problem, X=X)


def rounded(values: np.ndarray[Any, Any], digits: int) -> np.ndarray[Any, Any]:
    """Return numbers with this many significant digits."""
    text = [float(f"{value:.{digits - 1}e}") for value in values.ravel()]
    return np.array(text).reshape(values.shape)
