"""Regularisation paths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.base.progress import ProgressCallback
from ellzero.base.validation import as_count
from ellzero.paths.options import path_options
from ellzero.plots import plot_path
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem, make_problem
from ellzero.solvers.packing import join_models, make_model, to_core_scale, to_user_scale
from ellzero.solvers.paths import CorePath, PathOptions, solve_path

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Path", "fit_path", "lambda_grid"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """Models along a decreasing grid of lambda_0.

    Attributes
    ----------
    lambda_0 : (m,) decreasing
    coef : (m, p) scipy.sparse CSR matrix, on the scale of X
    intercept : (m,)
    objective : (m,) P recomputed from the raw data
    support_size : (m,) number of nonzero coefficients that pay lambda_0
    converged : (m,) bool, False where rounding kept a fit from its tolerance (rare; seen with the hinge under bounds)
    lambda_1, lambda_2 : the other penalties
    reads : how often X was read, in units of the whole of X
    problem : the data and settings; it keeps a reference to X and y
    options : how the path was computed
    by_size : the best model seen of each size, as the core holds them

    """

    lambda_0: Array
    coef: sparse.csr_matrix
    intercept: Array
    objective: Array
    support_size: NDArray[np.int64]
    converged: NDArray[np.bool_]
    reads: float
    problem: Problem
    options: PathOptions
    by_size: dict[str, Any]

    @cached_property
    def sized(self) -> dict[int, Model]:
        """The best model seen of each size, by size; `at_support` adds to it."""
        return sized_models(self.problem, self.by_size)

    @property
    def lambda_1(self) -> float:
        """Weight of the l1 norm."""
        return self.problem.penalty.lambda_1

    @property
    def lambda_2(self) -> float:
        """Weight of the squared l2 norm."""
        return self.problem.penalty.lambda_2

    def __len__(self) -> int:
        return len(self.lambda_0)

    def __getitem__(self, index: int) -> Model:
        """The model at one lambda_0."""
        m = len(self)
        if not isinstance(index, (int, np.integer)):
            raise TypeError(f"the index of a path must be an integer, got {index!r}.")
        if not -m <= index < m:
            raise IndexError(f"the path has {m} points, index {index} is outside.")
        index %= m
        start, stop = self.coef.indptr[index : index + 2]
        return make_model(
            self.problem,
            self.coef.indices[start:stop],
            self.coef.data[start:stop],
            float(self.intercept[index]),
            float(self.lambda_0[index]),
            float(self.objective[index]),
        )

    def __iter__(self) -> Iterator[Model]:
        return (self[index] for index in range(len(self)))

    def at_support(self, k: int) -> Model:
        """The best model with exactly k features (not counting unpenalized ones).

        Sizes between those of ``support_size`` are there too: the sweeps pass through them. Larger ones are fitted when
        asked for, from the path's models and by the path's algorithm; :func:`fit_sizes` does that for many sizes at once.
        """
        k = as_count("k", k, 0)
        columns = self.problem.countable()
        if k > columns:
            raise InvalidInputError(f"k must be at most the {columns} features that lambda_0 applies to, got {k}.")
        if k not in self.sized:
            seeds = to_core_scale(self.problem, self.sized.values())
            wanted = replace(self.options, sizes=(k,), lambda_0=np.zeros(0), max_support=None, progress=None)
            found = solve_path(self.problem, wanted, seeds=seeds, sweep=False)
            more = sized_models(self.problem, found.by_size)
            self.sized.update({size: model for size, model in more.items() if size >= k})
        if k not in self.sized:
            raise InvalidInputError(
                f"k = {k} cannot be reached: no further column improves the models of up to {max(self.sized)} features."
            )
        return self.sized[k]

    def to_frame(self) -> pd.DataFrame:
        """One row per lambda_0, as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(
            {
                "lambda_0": self.lambda_0,
                "support_size": self.support_size,
                "objective": self.objective,
                "intercept": self.intercept,
                "converged": self.converged,
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Coefficients against lambda_0, with the model size above (needs matplotlib)."""
        return plot_path(self.lambda_0, self.coef, self.support_size, self.problem.design.names, ax)

    def __repr__(self) -> str:
        shown = range(len(self)) if len(self) <= 12 else [*range(6), -1, *range(len(self) - 5, len(self))]
        lines = [
            f"{self.problem.loss.name} path: {len(self)} points, {self.problem.design.shape[0]} rows, "
            f"{self.problem.design.shape[1]} features, lambda_1 = {self.lambda_1:g}, lambda_2 = {self.lambda_2:g}",
            f"{'lambda_0':>12} {'features':>9} {'objective':>14}",
        ]
        for k in shown:
            lines.append(
                f"{'...':>12}"
                if k < 0
                else f"{self.lambda_0[k]:12.6g} {self.support_size[k]:9d} {self.objective[k]:14.8g}"
                + ("" if self.converged[k] else "  (not converged)")
            )
        return "\n".join(lines)


def make_path(problem: Problem, found: CorePath, options: PathOptions) -> Path:
    """The user's view of what the core found, with every objective recomputed."""
    rows = to_user_scale(problem, found.models)
    p = problem.design.shape[1]
    indptr = np.cumsum([0] + [len(support) for support, _, _ in rows])
    indices = np.concatenate([support for support, _, _ in rows] or [np.zeros(0, np.int32)])
    data = np.concatenate([values for _, values, _ in rows] or [np.zeros(0)])
    coef = sparse.csr_matrix((data, indices, indptr), shape=(len(rows), p))
    # Neighbouring points often share a model: its loss is computed once.
    values: dict[bytes, float] = {}
    objective = np.empty(len(rows))
    for k, (support, beta, b) in enumerate(rows):
        key = support.tobytes() + beta.tobytes() + np.float64(b).tobytes()
        if key not in values:
            values[key] = problem.objective(support, beta, b, 0.0)
        objective[k] = values[key] + found.lambda_0[k] * problem.counted(support)
    return Path(
        lambda_0=found.lambda_0,
        coef=coef,
        intercept=np.array([b for _, _, b in rows]),
        objective=objective,
        support_size=np.array([problem.counted(support) for support, _, _ in rows], dtype=np.int64),
        converged=found.models["converged"].astype(bool),
        reads=found.reads,
        problem=problem,
        options=replace(options, progress=None),
        by_size=found.by_size,
    )


def sized_models(problem: Problem, packed: dict[str, Any]) -> dict[int, Model]:
    """The best model of each size, of the core's models."""
    out: dict[int, Model] = {}
    for support, beta, b in to_user_scale(problem, packed):
        model = make_model(problem, support, beta, b, np.nan, problem.objective(support, beta, b, 0.0))
        size = problem.counted(support)
        if size not in out or model.objective < out[size].objective:
            out[size] = model
    return out


def fit_path(
    X: object,
    y: ArrayLike,
    *,
    loss: str = "logistic",
    lambda_0: ArrayLike | None = None,
    lambda_1: float = 0.0,
    lambda_2: float = 0.0,
    n_lambda: int = 100,
    lambda_min_ratio: float = 1e-3,
    max_support: int | None = None,
    algorithm: str = "cd",
    swaps: str = "ranked",
    q: int | None = None,
    improvement: str = "best",
    swap_size: int = 1,
    fit_intercept: bool = True,
    standardize: bool = False,
    sample_weight: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    unpenalized: ArrayLike | None = None,
    tol: float = 1e-6,
    n_jobs: int | None = None,
    progress: bool | ProgressCallback = False,
) -> Path:
    """Models for a decreasing sequence of lambda_0, each a fixed point of coordinate descent, or better.

    Minimises ``sum_i w_i f(eta_i, y_i) + lambda_0 ||beta||_0 + lambda_1 ||beta||_1 + lambda_2 ||beta||_2^2`` with
    ``eta = X beta + b`` and weights that sum to one. A forward sweep adds features, a backward sweep takes them out again
    by their true cost, and every lambda_0 gets the better of both, descended until no coordinate step improves it.

    Parameters
    ----------
    X : array, data frame, sparse matrix, column store or Dask array of shape (n, p)
        Column-major float64 or float32 arrays and CSC matrices are used without a copy; row-major arrays and other sparse
        formats are converted once. X is never written to.
    y : (n,)
        Two labels of any kind or, for ``loss="squared_error"``, numbers.
    loss : {"logistic", "squared_hinge", "hinge", "squared_error"}
    lambda_0 : None, a number, or a decreasing grid
        None chooses the grid dynamically: it starts where the first feature enters, and each next value is just below the
        largest one at which the support can change. See :func:`lambda_grid` for a log-spaced grid.
    lambda_1, lambda_2 : float
        Weights of the l1 norm and of the squared l2 norm.
    n_lambda, lambda_min_ratio :
        The dynamic grid has at most ``n_lambda`` points and ends at ``lambda_min_ratio`` of its first.
    max_support : int, optional
        The path ends before a model with more features.
    algorithm : {"cd", "local_search", "iht"}
        Coordinate descent (Algorithm 1); coordinate descent, then features exchanged for others while that improves the
        models (Algorithm 2), which takes several times as long and is nowhere worse on the same grid; or iterative hard
        thresholding, the classical method that both improve on (slow; its dynamic grid is log-spaced below its own largest
        lambda_0).
    swaps : {"ranked", "q_best", "exhaustive"}
        Where local search looks. "ranked": a quadratic model predicts, for all pairs of a feature and a column, what their
        exchange followed by a refit does, and the most promising are tried. "q_best" then also solves the one-dimensional
        problem of Algorithm 3 for each feature with the ``q`` steepest columns in its place, "exhaustive" with all columns: no
        single removal, swap or addition (the new coefficient and the intercept optimised, the others held) then improves any
        model of the path (Theorem 2).
    q : int, optional
        Candidates per feature of "q_best"; None takes 5 % of the columns.
    improvement : {"best", "first"}
        Of "q_best" and "exhaustive": make the best swap of all, or that of the first feature that has one.
    swap_size : int
        Local search then also looks for swaps of up to so many features for as many others, all coefficients fitted anew, by an
        exact search at every lambda_0: no such swap improves the models that are returned (by more than 1e-4 of their
        objective). It may take long for large problems; :func:`improve` does it for one model, with a time limit and a
        certificate. Where nothing else limits the coefficients, those of the models that are
        compared are limited to 1.2 times the largest.
    fit_intercept : bool
        The intercept is never penalised.
    standardize : bool
        Centre and scale the columns on the fly (scale only, without an intercept); the penalties then apply to the
        standardised coefficients. Coefficients and bounds stay on the scale of X.
    sample_weight : (n,), optional
        Non-negative; zero drops a row.
    lower, upper : number or (p,), optional
        Bounds on the coefficients; they must contain zero for features that lambda_0 penalises.
    unpenalized : mask, indices or column names, optional
        Features that are always in the model and do not pay lambda_0.
    tol : float
        Relative tolerance on the objective.
    n_jobs : int, optional
        Threads; None is one, -1 all cores. The result does not depend on it.
    progress : bool or function
        True reports to standard error; a function is called with (fraction done, lambda_0, features).

    Returns
    -------
    Path

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y, truth = ez.datasets.make_classification(200, 50, 3, s=3.0, random_state=0)
    >>> path = ez.fit_path(X, y, max_support=5)
    >>> path.at_support(3).support.tolist() == truth.nonzero()[0].tolist()
    True

    """
    options = path_options(
        lambda_0=lambda_0,
        n_lambda=n_lambda,
        lambda_min_ratio=lambda_min_ratio,
        max_support=max_support,
        algorithm=algorithm,
        swaps=swaps,
        q=q,
        improvement=improvement,
        swap_size=swap_size,
        tol=tol,
        n_jobs=n_jobs,
        progress=progress,
    )
    problem = make_problem(
        X,
        y,
        loss=loss,
        lambda_1=lambda_1,
        lambda_2=lambda_2,
        fit_intercept=fit_intercept,
        standardize=standardize,
        sample_weight=sample_weight,
        lower=lower,
        upper=upper,
        unpenalized=unpenalized,
        n_jobs=n_jobs,
    )
    return compute_path(problem, options)


def compute_path(problem: Problem, options: PathOptions) -> Path:
    """The path of a validated problem."""
    shown = options.progress
    if shown is not None and options.swap_size > 1:
        options = replace(options, progress=lambda done, at, size: shown(0.5 * done, at, size))
    found = solve_path(problem, options)
    if options.progress is not None:
        last = len(found.lambda_0) - 1
        size = int(np.diff(found.models["starts"])[last]) if last >= 0 else 0
        options.progress(1.0, float(found.lambda_0[last]) if last >= 0 else 0.0, size)
    path = make_path(problem, found, options)
    return path if options.swap_size == 1 else with_swaps(path, found, shown)


def with_swaps(path: Path, found: CorePath, progress: ProgressCallback | None) -> Path:
    """The path whose models no swap of the size asked for improves."""
    from ellzero.exact.swaps import improve_models  # the exact search is built on paths

    watch = None if progress is None else lambda done, at, size: progress(0.5 + 0.5 * done, at, size)
    models = improve_models(
        path.problem, path.lambda_0, [*path, *path.sized.values()], path.options.swap_size, path.options.threads, watch
    )
    packed = to_core_scale(path.problem, models)
    better = replace(found, models=packed, by_size=join_models(found.by_size, packed))
    return make_path(path.problem, better, path.options)


def lambda_grid(X: object, y: ArrayLike, *, n_lambda: int = 100, lambda_min_ratio: float = 1e-3, **settings: Any) -> Array:
    """A log-spaced grid from the largest lambda_0 at which a feature enters down to ``lambda_min_ratio`` of it.

    ``settings`` are those of :func:`fit_path` that define the problem (``loss``, ``lambda_1``, ``lambda_2``, ...).

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y, _ = ez.datasets.make_classification(100, 20, 3, random_state=0)
    >>> grid = ez.lambda_grid(X, y, n_lambda=10)
    >>> len(grid), round(float(grid[-1] / grid[0]), 6)
    (10, 0.001)

    """
    n_lambda = as_count("n_lambda", n_lambda, 1)
    first = fit_path(X, y, n_lambda=1, lambda_min_ratio=lambda_min_ratio, **settings).lambda_0[0]
    return log_spaced(float(first), lambda_min_ratio, n_lambda)


def log_spaced(first: float, ratio: float, count: int) -> Array:
    """A grid from the largest lambda_0 down to a share of it."""
    if first <= 0.0:
        raise InvalidInputError("X has no column that improves on the intercept, so there is no grid.")
    return np.geomspace(first, first * ratio, count) if count > 1 else np.array([first])
