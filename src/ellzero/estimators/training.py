"""Training sets of estimators, and the models that are fitted on them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.estimators.shared_support import joint_objective, shared_sizes
from ellzero.paths.fitting import compute_path, log_spaced
from ellzero.paths.path import Path
from ellzero.paths.sizes import Sizes, compute_sizes
from ellzero.problem.model import Model, coefficient_rows
from ellzero.problem.problem import Problem, reweighted
from ellzero.solvers.paths import PathOptions

__all__ = ["MOST_FEATURES", "FittedPoints", "Training", "fit_lambda_grid", "fit_size_grid", "largest_size", "warn_at_limit"]

Array = NDArray[np.float64]
MOST_FEATURES = 50  # unless the user says otherwise
ABOVE_THE_FIRST = 2.0  # the empty model is the best at every lambda_0 above a path's first, so also at this multiple of it


def largest_size(max_support: int | None, problem: Problem) -> int:
    """Return the size of the largest model that is looked at."""
    return min(MOST_FEATURES if max_support is None else max_support, problem.countable())


def warn_at_limit(models: list[Model], largest: int, problem: Problem) -> None:
    """Warn if the chosen model is as large as models may be: larger ones, which were not looked at, may be better."""
    if max(problem.counted(model.support) for model in models) == largest < problem.countable():
        # Level 5 is the user's code that calls `fit`.
        warnings.warn(f"the chosen model has max_support = {largest} features: larger ones may be better.", stacklevel=5)


@dataclass(frozen=True, eq=False)
class Training:
    """A training set: one problem per output (several for more than two classes), all with the same X and weights."""

    problem: Problem  # of the first output
    targets: list[Array]  # y of each output: -1 / +1, or numbers
    classes: NDArray[Any] | None  # the user's labels, None for numbers
    shared: bool = False  # all outputs use the same features

    @property
    def problems(self) -> list[Problem]:
        """The problem of each output."""
        # With several outputs, the labels of each say whether a row is of the output's class.
        pair = np.array([False, True]) if len(self.targets) > 1 else self.classes
        return [replace(self.problem, y=y, classes=pair) for y in self.targets]

    def with_penalties(self, lambda_1: float, lambda_2: float) -> Training:
        """Return the training set with other penalties."""
        penalty = replace(self.problem.penalty, lambda_1=lambda_1, lambda_2=lambda_2)
        return replace(self, problem=replace(self.problem, penalty=penalty))

    def on_rows(self, rows: NDArray[np.int64], name: str) -> Training:
        """Return the training set of some of the rows: the others get no weight, and X is not copied.

        `name` is what errors call this part of the rows.
        """
        w = self.problem.w * np.bincount(rows, minlength=len(self.problem.w))
        if w.sum() <= 0.0:
            raise InvalidInputError(f"{name} has no training row of positive weight.")
        if self.classes is not None:
            signs = [y > 0.0 for y in self.targets] if len(self.targets) > 1 else [self.targets[0] < 0.0, self.targets[0] > 0.0]
            for label, members in zip(self.classes, signs, strict=True):
                if not (w[members] > 0.0).any():
                    raise InvalidInputError(
                        f"{name} has no training row of class {label!s}: use fewer folds, or a splitter that stratifies."
                    )
        return replace(self, problem=reweighted(self.problem, w / w.sum()))


@dataclass(frozen=True, eq=False)
class FittedPoints:
    """Models of one training set at several values of lambda_0, or of several sizes."""

    lambda_0: Array  # (m,), nan where models are chosen by their size
    models: list[list[Model]]  # m points, one model for each output
    searched: list[Path | Sizes]  # of each output: the path, or the sizes, that the models are from

    def __len__(self) -> int:
        return len(self.models)

    @property
    def intercept(self) -> Array:
        """The intercepts, of shape (m, outputs)."""
        return np.array([[model.intercept for model in models] for models in self.models])

    def coef(self, point: int) -> sparse.csr_matrix:
        """Return the coefficients at a point, of shape (outputs, p)."""
        models = self.models[point]
        return coefficient_rows([model.coefficients for model in models], models[0].n_features)

    def support(self, point: int) -> NDArray[np.int32]:
        """Return the features that any output uses."""
        return np.unique(np.concatenate([model.support for model in self.models[point]]))

    def sizes(self, problem: Problem) -> NDArray[np.int64]:
        """Return the number of features at each point, not counting unpenalized ones."""
        return np.array([problem.counted(self.support(point)) for point in range(len(self))], dtype=np.int64)

    def decision(self, problem: Problem, rows: NDArray[np.int64]) -> Array:
        """Return X coef + intercept on some rows, of shape (rows, m, outputs)."""
        out = np.empty((len(rows), len(self), len(self.searched)))
        for point, models in enumerate(self.models):
            for output, model in enumerate(models):
                if point and model is self.models[point - 1][output]:
                    out[:, point, output] = out[:, point - 1, output]
                else:
                    out[:, point, output] = problem.eta(model.support, model.values, model.intercept)[rows]
        return out


def fit_lambda_grid(training: Training, grid: Array | None, options: PathOptions, largest: int) -> FittedPoints:
    """Fit models along a grid of lambda_0.

    If it is None, the path of a single output makes its own grid, and several outputs share a log-spaced one.
    """
    problems = training.problems
    options = replace(options, max_support=largest)
    if training.shared:
        price = 0.0 if grid is None else float(grid[-1])
        return choose_shared_sizes(shared_sizes(problems, largest, options, price), grid, options)
    if grid is None and len(problems) > 1:
        first = [compute_path(problem, replace(options, n_lambda=1, progress=None)).lambda_0[0] for problem in problems]
        grid = grid_below(float(max(first)), options)
    if grid is not None:
        options = replace(options, lambda_0=grid)
    paths = [compute_path(problem, options) for problem in problems]
    points = inner_points(paths[0]) if grid is None else grid
    along = [models_at_points(path, points, largest) for path in paths]
    return FittedPoints(points, [list(models) for models in zip(*along, strict=True)], list(paths))


def inner_points(path: Path) -> Array:
    """Return for each model of a dynamic path a lambda_0 inside the interval over which it is the best.

    The path's own values are the upper ends of these intervals. On other rows the ends lie a little lower or higher; where
    they lie lower, the best model at the path's own value is the one before.
    """
    ends = path.lambda_0
    if len(ends) < 2 or ends[-1] <= 0.0:
        return ends
    points = np.sqrt(ends * np.append(ends[1:], ends[-1] ** 2 / ends[-2]))
    if path.support_size[0] == 0:
        points[0] = ABOVE_THE_FIRST * ends[0]
    return points


def grid_below(first: float, options: PathOptions) -> Array:
    """Return a log-spaced grid, or a single zero if no feature helps at all."""
    return log_spaced(first, options.lambda_min_ratio, options.n_lambda) if first > 0.0 else np.zeros(1)


def models_at_points(path: Path, points: Array, largest: int) -> list[Model]:
    """Return the path's model at each point.

    A path ends before a model of more than `largest` features; at points beyond its end, the best model that is not larger.
    """
    if len(path) >= len(points):
        return list(path)
    small = {size: model for size, model in path.sized.items() if size <= largest}
    rest = [min(small, key=lambda size: small[size].objective + at * size) for at in points[len(path) :]]
    return [*path, *(small[size] for size in rest)]


def choose_shared_sizes(by_size: list[Sizes], grid: Array | None, options: PathOptions) -> FittedPoints:
    """Choose at each lambda_0 the size with the least mean objective, including lambda_0 for each feature."""
    value, size = joint_objective(by_size)
    if grid is None:
        used = size > 0
        first = float(((value[0] - value[used]) / size[used]).max()) if used.any() else 0.0
        grid = grid_below(first, options)
    chosen = [int(np.argmin(value + lambda_0 * size)) for lambda_0 in grid]
    return FittedPoints(grid, [[sizes.models[at] for sizes in by_size] for at in chosen], list(by_size))


def fit_size_grid(training: Training, sizes: NDArray[np.int64], options: PathOptions) -> FittedPoints:
    """Fit models of at most so many features, for each of the sizes, which increase."""
    if training.shared:
        by_size = shared_sizes(training.problems, int(sizes[-1]), options)
        models = [[output.models[size] for output in by_size] for size in sizes]
    else:
        by_size = [compute_sizes(problem, sizes, options) for problem in training.problems]
        models = [list(at) for at in zip(*by_size, strict=True)]
    return FittedPoints(np.full(len(sizes), np.nan), models, list(by_size))
