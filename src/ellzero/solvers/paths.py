"""Paths of lambda_0 and models of given sizes, by any of the algorithms: thin calls into the core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.base.progress import ProgressCallback
from ellzero.problem.losses import HINGE_SMOOTHING
from ellzero.problem.problem import Problem, restricted
from ellzero.solvers.fields import core_object

__all__ = ["PathOptions", "core_problem", "solve_path"]

Array = NDArray[np.float64]
Q_SHARE = 0.05  # the paper's q of Algorithm 3, as a share of the columns


@dataclass(frozen=True, kw_only=True)
class PathOptions:
    """How a path is computed; `lambda_0` empty means a dynamic grid, `sizes` not empty means models of these sizes instead.

    A field that the core's options have too crosses the border by its name.
    """

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
    """Called about ten times a second; it raises to stop the work, and the result then holds what was found by then."""

    def for_sizes(self, sizes: tuple[int, ...], rows: int) -> PathOptions:
        """Options for models of these (increasing) sizes: the sweep ends at the largest, whatever lambda_0 is there."""
        return replace(self, sizes=sizes, max_support=sizes[-1], n_lambda=rows, lambda_min_ratio=1e-12)


def core_problem(problem: Problem, tol: float, smoothing: float = HINGE_SMOOTHING) -> _core.Problem:
    """The problem as the core takes it: bounds on the standardised scale, spreads as factors."""
    penalty, spread = problem.penalty, problem.spread

    def scaled(bound: Array | None) -> Array | None:
        return bound if bound is None or spread is None else np.ascontiguousarray(bound * spread)

    return core_object(
        _core.Problem,
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


def solve_path(
    problem: Problem, options: PathOptions, seeds: Sequence[_core.Model] = (), sweep: bool = True
) -> _core.PathResult:
    """The path; `seeds` are models of neighbouring problems, without `sweep` only they are polished."""
    columns = usable_columns(problem)
    q = default_q(problem) if options.q is None else options.q
    inside = problem if columns is None else restricted(problem, columns)
    if columns is not None:
        seeds = [renumbered(seed, np.searchsorted(columns, seed.support)) for seed in seeds]
    known = {field.name: getattr(options, field.name) for field in fields(options) if hasattr(_core.PathOptions, field.name)}
    found = _core.fit_path(
        core_problem(inside, options.tol),
        core_object(_core.PathOptions, **known | {"q": q, "seeds": list(seeds), "sweep": sweep}),
        threads=options.threads,
        progress=options.progress,
        check=options.check,
    )
    if columns is not None:
        found.models = [renumbered(model, columns[model.support]) for model in found.models]
        found.by_size = [renumbered(model, columns[model.support]) for model in found.by_size]
    return found


def renumbered(model: _core.Model, support: NDArray[np.int64]) -> _core.Model:
    """The model with other numbers for its columns."""
    model.support = support.astype(np.int32)
    return model


def usable_columns(problem: Problem) -> NDArray[np.int64] | None:
    """The columns that a model can use, where a sparse X has many empty ones (as bags of words do); None for all."""
    filled, always = problem.design.filled, problem.penalty.unpenalized
    return filled if filled is None or always is None else np.union1d(filled, np.flatnonzero(always))


def default_q(problem: Problem) -> int:
    """The number of candidates of Algorithm 3 by default."""
    return max(1, round(Q_SHARE * problem.design.shape[1]))
