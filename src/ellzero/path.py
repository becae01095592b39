"""Regularisation paths and grids of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ellzero.errors import InvalidInputError
from ellzero.model import Model
from ellzero.problem import Problem, make_problem
from ellzero.progress import ProgressCallback, as_progress
from ellzero.solvers.coordinate_descent import CorePath, PathOptions, solve_path
from ellzero.validation import as_count, as_grid, as_nonnegative, as_threads

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Path", "PathGrid", "fit_grid", "fit_path", "lambda_grid"]

Array = NDArray[np.float64]
ALGORITHMS = ("cd",)
SHRINKAGE_POINTS = 10
SHRINKAGE_RATIO = 1e-4


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
    converged : (m,) bool
    lambda_1, lambda_2 : the other penalties
    reads : how often X was read, in units of the whole of X
    problem : the data and settings; it keeps a reference to X and y

    """

    lambda_0: Array
    coef: sparse.csr_matrix
    intercept: Array
    objective: Array
    support_size: NDArray[np.int64]
    converged: NDArray[np.bool_]
    reads: float
    problem: Problem
    sized: dict[int, Model]

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
        """The best model with exactly k features (not counting unpenalized ones) that the sweeps met.

        Sizes between those of ``support_size`` are there too: the backward sweep passes through every size.
        """
        k = as_count("k", k, 0)
        if k not in self.sized:
            raise InvalidInputError(
                f"k = {k} was not reached; the path has models of {min(self.sized)} to {max(self.sized)} features "
                "(a smaller lambda_0 or lambda_min_ratio, or a larger max_support, reaches more)."
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
        from ellzero.report.plots import plot_path

        return plot_path(self, ax)

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


def make_model(
    problem: Problem,
    support: NDArray[np.int32],
    values: Array,
    intercept: float,
    lambda_0: float,
    objective: float,
) -> Model:
    """A model that knows its labels and names."""
    names, classes, p = problem.design.names, problem.classes, problem.design.shape[1]
    return Model(support, values, intercept, p, lambda_0, objective, problem.loss.name, classes, names)


def to_user_scale(problem: Problem, models: dict[str, Any]) -> list[tuple[NDArray[np.int32], Array, float]]:
    """Support, coefficients and intercept of each of the core's models, without explicit zeros."""
    out = []
    for k, b in enumerate(models["intercept"]):
        part = slice(models["starts"][k], models["starts"][k + 1])
        support, values = models["columns"][part], models["values"][part]
        if problem.spread is not None:
            values = problem.clip(support, values / problem.spread[support])
        if problem.mean is not None:
            b = b - problem.mean[support] @ values
        kept = values != 0.0
        out.append((support[kept], values[kept], float(b)))
    return out


def make_path(problem: Problem, found: CorePath) -> Path:
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
    sized = {}
    for support, beta, b in to_user_scale(problem, found.by_size):
        sized[problem.counted(support)] = make_model(
            problem, support, beta, b, np.nan, problem.objective(support, beta, b, 0.0)
        )
    return Path(
        lambda_0=found.lambda_0,
        coef=coef,
        intercept=np.array([b for _, _, b in rows]),
        objective=objective,
        support_size=np.array([problem.counted(support) for support, _, _ in rows], dtype=np.int64),
        converged=found.models["converged"].astype(bool),
        reads=found.reads,
        problem=problem,
        sized=sized,
    )


def path_options(
    lambda_0: ArrayLike | None,
    n_lambda: int,
    lambda_min_ratio: float,
    max_support: int | None,
    algorithm: str,
    tol: float,
    n_jobs: int | None,
    progress: bool | ProgressCallback,
) -> PathOptions:
    """Validated options of a path."""
    if algorithm not in ALGORITHMS:
        raise InvalidInputError(f"algorithm must be one of {', '.join(map(repr, ALGORITHMS))}, got {algorithm!r}.")
    ratio = as_nonnegative("lambda_min_ratio", lambda_min_ratio)
    if not 0.0 < ratio <= 1.0:
        raise InvalidInputError(f"lambda_min_ratio must be above 0 and at most 1, got {lambda_min_ratio!r}.")
    tolerance = as_nonnegative("tol", tol)
    if not 0.0 < tolerance < 1.0:
        raise InvalidInputError(f"tol must be between 0 and 1, got {tol!r}.")
    return PathOptions(
        lambda_0=np.zeros(0) if lambda_0 is None else as_grid("lambda_0", lambda_0),
        n_lambda=as_count("n_lambda", n_lambda, 1),
        lambda_min_ratio=ratio,
        max_support=None if max_support is None else as_count("max_support", max_support, 0),
        tol=tolerance,
        threads=as_threads(n_jobs),
        progress=as_progress(progress),
    )


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
    """Models for a decreasing sequence of lambda_0, each a fixed point of coordinate descent (Algorithm 1).

    Minimises ``sum_i w_i f(eta_i, y_i) + lambda_0 ||beta||_0 + lambda_1 ||beta||_1 + lambda_2 ||beta||_2^2`` with
    ``eta = X beta + b`` and weights that sum to one. A forward sweep adds features, a backward sweep takes them out again
    by their true cost, and every lambda_0 gets the better of both, descended until no coordinate step improves it.

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (n, p)
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
    algorithm : {"cd"}
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
    options = path_options(lambda_0, n_lambda, lambda_min_ratio, max_support, algorithm, tol, n_jobs, progress)
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
    found = solve_path(problem, options)
    if options.progress is not None:
        last = len(found.lambda_0) - 1
        size = int(np.diff(found.models["starts"])[last]) if last >= 0 else 0
        options.progress(1.0, float(found.lambda_0[last]) if last >= 0 else 0.0, size)
    return make_path(problem, found)


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
    if first <= 0.0:
        raise InvalidInputError("X has no column that improves on the intercept, so there is no grid.")
    return np.geomspace(first, first * lambda_min_ratio, n_lambda) if n_lambda > 1 else np.array([first])


@dataclass(frozen=True, eq=False, repr=False)
class PathGrid:
    """Paths for several values of lambda_1 or lambda_2, from the largest down."""

    name: str  # "lambda_1" or "lambda_2"
    values: Array
    paths: list[Path]

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Path:
        return self.paths[index]

    def __iter__(self) -> Iterator[Path]:
        return iter(self.paths)

    def to_frame(self) -> pd.DataFrame:
        """All points of all paths, as a pandas data frame."""
        import pandas as pd

        frames = [path.to_frame().assign(**{self.name: value}) for value, path in zip(self.values, self.paths, strict=True)]
        return pd.concat(frames, ignore_index=True)

    def __repr__(self) -> str:
        lines = [f"grid of {len(self)} paths over {self.name}", f"{self.name:>12} {'points':>7} {'features':>9}"]
        for value, path in zip(self.values, self.paths, strict=True):
            lines.append(f"{value:12.6g} {len(path):7d} {path.support_size.max(initial=0):9d}")
        return "\n".join(lines)


def fit_grid(
    X: object,
    y: ArrayLike,
    *,
    lambda_1: ArrayLike | str = 0.0,
    lambda_2: ArrayLike | str = 0.0,
    lambda_0: ArrayLike | None = None,
    n_lambda: int = 100,
    lambda_min_ratio: float = 1e-3,
    max_support: int | None = None,
    algorithm: str = "cd",
    tol: float = 1e-6,
    n_jobs: int | None = None,
    progress: bool | ProgressCallback = False,
    **settings: Any,
) -> PathGrid:
    """Paths over a second penalty: exactly one of ``lambda_1`` and ``lambda_2`` is a decreasing grid or ``"auto"``.

    Neighbouring paths warm-start each other in both directions: down the grid, each path starts from the models of the one
    above; then back up, each is improved by the models of the one below.

    Parameters
    ----------
    lambda_1, lambda_2 : number, decreasing grid, or "auto"
        "auto" takes ten values, log-spaced over four decades: lambda_1 from where all coefficients vanish, lambda_2 from the
        largest curvature of a column.
    settings :
        The other arguments of :func:`fit_path`.

    Returns
    -------
    PathGrid

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y, _ = ez.datasets.make_classification(100, 30, 3, random_state=0)
    >>> grid = ez.fit_grid(X, y, lambda_2=[0.1, 0.01, 0.001], max_support=5)
    >>> [len(path) > 0 for path in grid]
    [True, True, True]

    """
    options = path_options(lambda_0, n_lambda, lambda_min_ratio, max_support, algorithm, tol, n_jobs, progress)
    names = [
        name for name, value in (("lambda_1", lambda_1), ("lambda_2", lambda_2)) if isinstance(value, str) or np.ndim(value) > 0
    ]
    if len(names) != 1:
        raise InvalidInputError("lambda_1 or lambda_2 must be a grid or 'auto', and the other one a number.")
    name = names[0]
    scalars: dict[str, Any] = {"lambda_1": lambda_1, "lambda_2": lambda_2} | {name: 0.0}
    problem = make_problem(X, y, n_jobs=n_jobs, **scalars, **settings)
    chosen = lambda_1 if name == "lambda_1" else lambda_2
    if isinstance(chosen, str):
        if chosen != "auto":
            raise InvalidInputError(f"{name} must be a number, a grid or 'auto', got {chosen!r}.")
        values = automatic_grid(problem, name, options)
    else:
        values = as_grid(name, chosen)

    problems = [replace(problem, penalty=problem.penalty.with_shrinkage(name, float(value))) for value in values]
    count = len(problems)
    found: list[CorePath] = []
    for k, at in enumerate(problems):
        part = replace(options, progress=partial_progress(options.progress, k, count))
        found.append(solve_path(at, part, seeds=found[-1].by_size if found else None))
    for k in range(count - 2, -1, -1):
        if len(found[k].lambda_0) == 0:
            continue
        again = replace(options, lambda_0=found[k].lambda_0, progress=None)
        seeds = join_models(found[k].by_size, found[k + 1].by_size)
        polished = solve_path(problems[k], again, seeds=seeds, sweep=False)
        found[k] = replace(polished, reads=polished.reads + found[k].reads)
    if options.progress is not None:
        options.progress(1.0, 0.0, 0)
    return PathGrid(name, values, [make_path(at, core) for at, core in zip(problems, found, strict=True)])


def partial_progress(progress: ProgressCallback | None, part: int, parts: int) -> ProgressCallback | None:
    """Progress of one of several equal parts."""
    if progress is None:
        return None
    whole = progress
    return lambda fraction, lambda_0, support: whole((part + 0.99 * fraction) / parts, lambda_0, support)


def join_models(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    """Two lists of the core's models as one."""
    out = {key: np.concatenate([a[key], b[key]]) for key in a if key != "starts"}
    out["starts"] = np.concatenate([a["starts"], a["starts"][-1] + b["starts"][1:]])
    return out


def automatic_grid(problem: Problem, name: str, options: PathOptions) -> Array:
    """Ten values over four decades below the point where the second penalty decides alone."""
    if name == "lambda_2":
        first = problem.loss.curvature_bound if np.isfinite(problem.loss.curvature_bound) else 1.0
        first *= float(problem.square.max(initial=0.0))
    else:
        null = solve_path(problem, replace(options, lambda_0=np.zeros(0), n_lambda=1, progress=None)).models
        support, values, b = to_user_scale(problem, null)[0]
        r = problem.w * problem.loss.gradient(problem.eta(support, values, b), problem.y)
        slope = problem.design.rmatvec(r) - (0.0 if problem.mean is None else problem.mean * r.sum())
        first = float(np.abs(slope if problem.spread is None else slope / problem.spread).max(initial=0.0))
    if first <= 0.0:
        raise InvalidInputError("X has no column that improves on the intercept, so there is no grid.")
    return np.geomspace(first, first * SHRINKAGE_RATIO, SHRINKAGE_POINTS)
