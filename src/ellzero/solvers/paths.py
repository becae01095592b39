"""Paths of lambda_0 and models of given sizes, by any of the algorithms: thin calls into the core."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.losses import HINGE_SMOOTHING
from ellzero.problem import Problem
from ellzero.progress import ProgressCallback

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
    out = _core.fit_path(
        core_problem(problem, options.tol),
        algorithm=options.algorithm,
        swaps=options.swaps,
        q=max(1, round(Q_SHARE * problem.design.shape[1])) if options.q is None else options.q,
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
    )
    return CorePath(out["lambda_0"], out["models"], out["by_size"], out["reads"])
