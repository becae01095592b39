"""Paths of lambda_0 and models of given sizes, by any of the algorithms: thin calls into the core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.base.progress import ProgressCallback
from ellzero.problem.losses import HINGE_SMOOTHING
from ellzero.problem.problem import Problem, restricted

__all__ = ["CorePath", "PathOptions", "core_problem", "solve_path"]

Array = NDArray[np.float64]
NO_LIMIT = 2**31 - 1
Q_SHARE = 0.05  # the paper's q of Algorithm 3, as a share of the columns


@dataclass(frozen=True, kw_only=True)
class PathOptions:
    """How a path is computed; `lambda_0` empty means a dynamic grid, `sizes` not empty means models of these sizes instead."""

    lambda_0: Array
    sizes: tuple[int, ...] = ()
    n_lambda: int = 100
    lambda_min_ratio: float = 1e-3
    max_support: int | None = None
    algorithm: str = "cd"
    swaps: str = "ranked"
    q: int | None = None  # of swaps="q_best"; None is 5 % of the columns
    improvement: str = "best"
    swap_size: int = 1  # larger swaps are searched for when the path is there
    tol: float = 1e-6
    threads: int = 1
    progress: ProgressCallback | None = None
    check: Callable[[], None] | None = None
    """Called about ten times a second; it raises to stop the work, and what was found by then is returned."""

    def for_sizes(self, sizes: tuple[int, ...], rows: int) -> PathOptions:
        """The same, for models of these (increasing) sizes: the sweep ends at the largest, whatever lambda_0 is there."""
        return replace(self, sizes=sizes, max_support=sizes[-1], n_lambda=rows, lambda_min_ratio=1e-12)


@dataclass(frozen=True)
class CorePath:
    """What the core returns, in its own (standardised) scale; `models` and `by_size` are CSR-like dictionaries."""

    lambda_0: Array
    models: dict[str, Any]
    by_size: dict[str, Any]
    reads: float
    stopped: BaseException | None = None
    """With `check`: what ended the work early, also Ctrl-C and errors; `models` is empty then."""


def core_problem(problem: Problem, tol: float, smoothing: float = HINGE_SMOOTHING) -> _core.Problem:
    """The problem as the core takes it: bounds on the standardised scale, spreads as factors."""
    penalty, spread = problem.penalty, problem.spread

    def scaled(bound: Array | None) -> Array | None:
        return bound if bound is None or spread is None else np.ascontiguousarray(bound * spread)

    return _core.Problem(
        design=problem.design.core,
        y=problem.y,
        w=problem.w,
        square=problem.square,
        loss=problem.loss.name,
        smoothing=smoothing,
        mean=problem.mean,
        scale=None if spread is None else 1.0 / spread,
        lambda_1=penalty.lambda_1,
        lambda_2=penalty.lambda_2,
        lower=scaled(penalty.lower),
        upper=scaled(penalty.upper),
        unpenalized=None if penalty.unpenalized is None else penalty.unpenalized.astype(np.uint8),
        intercept=problem.fit_intercept,
        tolerance=tol,
    )


def solve_path(problem: Problem, options: PathOptions, seeds: dict[str, Any] | None = None, sweep: bool = True) -> CorePath:
    """The path; `seeds` are models of neighbouring problems, without `sweep` only they are polished."""
    columns = usable_columns(problem)
    if columns is None:
        return call_core(problem, options, seeds, sweep)
    inside = restricted(problem, columns)
    if seeds is not None:
        seeds = {**seeds, "columns": np.searchsorted(columns, seeds["columns"]).astype(np.int32)}
    q = options.q if options.q is not None else q_of(problem)
    found = call_core(inside, replace(options, q=q), seeds, sweep)
    outside = columns.astype(np.int32)
    for models in (found.models, found.by_size):
        models["columns"] = outside[models["columns"]]
    return found


def usable_columns(problem: Problem) -> NDArray[np.int64] | None:
    """The columns that a model can use, where a sparse X has many empty ones (as bags of words do); None for all."""
    filled, always = problem.design.filled, problem.penalty.unpenalized
    return filled if filled is None or always is None else np.union1d(filled, np.flatnonzero(always))


def q_of(problem: Problem) -> int:
    """The number of candidates of Algorithm 3 by default."""
    return max(1, round(Q_SHARE * problem.design.shape[1]))


def call_core(problem: Problem, options: PathOptions, seeds: dict[str, Any] | None, sweep: bool) -> CorePath:
    """The path of all columns."""
    out = _core.fit_path(
        core_problem(problem, options.tol),
        algorithm=options.algorithm,
        swaps=options.swaps,
        q=q_of(problem) if options.q is None else options.q,
        first_improvement=options.improvement == "first",
        lambda_0=options.lambda_0.tolist(),
        sizes=list(options.sizes),
        n_lambda=options.n_lambda,
        lambda_min_ratio=options.lambda_min_ratio,
        max_support=NO_LIMIT if options.max_support is None else options.max_support,
        seeds=seeds,
        sweep=sweep,
        threads=options.threads,
        progress=options.progress,
        check=options.check,
    )
    return CorePath(out["lambda_0"], out["models"], out["by_size"], out["reads"], out["stopped"])
