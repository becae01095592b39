"""Paths over a second penalty."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ellzero import _core
from ellzero.base.errors import InvalidInputError
from ellzero.base.notebook import html_table
from ellzero.base.signatures import arguments_of, passes_on
from ellzero.base.validation import as_grid
from ellzero.paths.options import SolverSettings, path_options
from ellzero.paths.path import Path, make_path
from ellzero.plots import plot_grid
from ellzero.problem.making import DataSettings, make_problem
from ellzero.problem.problem import Problem
from ellzero.solvers.paths import PathOptions, solve_path
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from typing_extensions import Unpack

Array = NDArray[np.float64]
SHRINKAGE_POINTS = 10
SHRINKAGE_RATIO = 1e-4
RIDGE_OVER_CURVATURE = 10.0  # the largest lambda_2 outweighs the loss by this factor; noisy data needs that much


class GridSettings(DataSettings, SolverSettings, total=False):
    """The arguments of :func:`ellzero.fit_path` that a grid passes on unchanged."""


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
        """Return all points of all paths, as a pandas data frame."""
        pandas = need("pandas", "frame")

        frames = [path.to_frame().assign(**{self.name: value}) for value, path in zip(self.values, self.paths, strict=True)]
        return pandas.concat(frames, ignore_index=True)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the loss and shrinkage of all models against their sizes, a line for each path (needs matplotlib).

        `ax`: the axes to draw into; by default a new figure.
        """
        sizes, costs = [path.support_size for path in self.paths], [path.cost for path in self.paths]
        return plot_grid(self.name, self.values, sizes, costs, ax)

    def __repr__(self) -> str:
        lines = [f"grid of {len(self)} paths over {self.name}", f"{self.name:>12} {'points':>7} {'features':>9}"]
        for value, path in zip(self.values, self.paths, strict=True):
            lines.append(f"{value:12.6g} {len(path):7d} {path.support_size.max(initial=0):9d}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        paths = zip(self.values, self.paths, strict=True)
        rows = [[f"{value:.6g}", str(len(path)), str(path.support_size.max(initial=0))] for value, path in paths]
        return html_table(f"grid of {len(self)} paths over {self.name}", [self.name, "points", "features"], rows)


@passes_on(GridSettings, make_problem, path_options)
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
    **settings: Unpack[GridSettings],
) -> PathGrid:
    """Fit paths over a second penalty: exactly one of ``lambda_1`` and ``lambda_2`` is a decreasing grid or ``"auto"``.

    Neighbouring paths warm-start each other in both directions: down the grid, each path starts from the models of the one
    above; then back up, each is improved by the models of the one below.

    Parameters
    ----------
    lambda_1, lambda_2 : number, decreasing grid, or "auto"
        "auto" takes ten values, log-spaced over four decades: lambda_1 from where all coefficients vanish, lambda_2 from ten
        times the largest curvature of a column.
    lambda_0, n_lambda, lambda_min_ratio, max_support, algorithm, effort, swaps, q, improvement :
        The paths, as in :func:`fit_path`.
    X, y, loss, huber_delta, fit_intercept, standardize, sample_weight, lower, upper, unpenalized, feature_cost, groups,
    feature_names, rules, tol, n_jobs, progress :
        The problem and the work, as in :func:`fit_path`.

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
    options = path_options(
        lambda_0=lambda_0,
        n_lambda=n_lambda,
        lambda_min_ratio=lambda_min_ratio,
        max_support=max_support,
        algorithm=algorithm,
        **arguments_of(path_options, settings),
    )
    penalties: dict[str, Any] = {"lambda_1": lambda_1, "lambda_2": lambda_2}
    names = [name for name, value in penalties.items() if isinstance(value, str) or np.ndim(value) > 0]
    if len(names) != 1:
        raise InvalidInputError("lambda_1 or lambda_2 must be a grid or 'auto', and the other one a number.")
    name = names[0]
    problem = make_problem(X, y, **penalties | {name: 0.0}, **arguments_of(make_problem, settings))
    values = grid_values(problem, name, penalties[name], options)
    problems = [replace(problem, penalty=problem.penalty.with_shrinkage(name, float(value))) for value in values]
    found = solve_neighbours(problems, options)
    options.report(1.0)
    return PathGrid(name, values, [make_path(at, options, core) for at, core in zip(problems, found, strict=True)])


def grid_values(problem: Problem, name: str, chosen: ArrayLike | str, options: PathOptions) -> Array:
    """Return the values of the second penalty, checked, or chosen here for "auto"."""
    if not isinstance(chosen, str):
        return as_grid(name, chosen)
    if chosen != "auto":
        raise InvalidInputError(f"{name} must be a number, a grid or 'auto', got {chosen!r}.")
    return automatic_grid(problem, name, options)


def solve_neighbours(problems: list[Problem], options: PathOptions) -> list[_core.PathResult]:
    """Compute the paths of neighbouring problems, each from the models of the one before, and then back the other way."""
    count = len(problems)
    found: list[_core.PathResult] = []
    for k, at in enumerate(problems):
        part = options.for_part(k / count, 0.99 / count)
        found.append(solve_path(at, part, seeds=found[-1].by_size if found else ()))
    for k in range(count - 2, -1, -1):
        if len(found[k].lambda_0) == 0 or options.algorithm == "iht":
            continue
        again = replace(options, lambda_0=found[k].lambda_0, progress=None)
        seeds = [*found[k].by_size, *found[k + 1].by_size]
        polished = solve_path(problems[k], again, seeds=seeds, sweep=False)
        polished.reads += found[k].reads
        found[k] = polished
    return found


def largest_curvature(problem: Problem) -> float:
    """Return the largest bound on the second derivative of the loss along a coordinate, as if the hinge's were 1."""
    bound = problem.loss.curvature_bound if np.isfinite(problem.loss.curvature_bound) else 1.0
    return bound * float(problem.square.max(initial=0.0)) * problem.units.column**2


def automatic_grid(problem: Problem, name: str, options: PathOptions, count: int = SHRINKAGE_POINTS) -> Array:
    """Return values over four decades, downwards from where the second penalty dominates all else."""
    if name == "lambda_2":
        first = RIDGE_OVER_CURVATURE * largest_curvature(problem)
    else:
        null_only = replace(options, algorithm="cd", swaps="ranked", lambda_0=np.zeros(0), n_lambda=1, progress=None)
        found = solve_path(problem, null_only)
        null = [*found.models, *found.by_size][0]  # a path is empty if even its first model has too many features
        first = float(np.abs(problem.loss_slopes(problem.units.coefficients(null))).max(initial=0.0))
    if first * SHRINKAGE_RATIO <= 0.0:  # so little is only rounding
        raise InvalidInputError("X has no column that improves on the intercept, so there is no grid.")
    return np.geomspace(first, first * SHRINKAGE_RATIO, count)
