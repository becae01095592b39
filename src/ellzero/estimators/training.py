"""Training sets of estimators, and the models that are fitted on them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.paths.budgets import Budgets
from ellzero.paths.fitting import compute_path, log_spaced
from ellzero.paths.path import Path
from ellzero.paths.sizes import Sizes, compute_sizes
from ellzero.problem.coefficients import Coefficients, coefficient_rows
from ellzero.problem.model import Model, evaluate
from ellzero.problem.predictions import products
from ellzero.problem.problem import Problem, restricted, reweighted
from ellzero.solvers.paths import PathOptions, solve_path

Array = NDArray[np.float64]
ABOVE_THE_FIRST = 2.0  # the empty model is the best at every lambda_0 above a path's first, so also at this multiple of it


def warn_at_limit(models: list[Model], largest: int, problem: Problem) -> None:
    """Warn if the chosen model is as large as models may be: larger ones, which were not looked at, may be better."""
    if max(problem.penalty.counted(model.support) for model in models) == largest < problem.penalty.countable():
        # Level 5 is the user's code that calls `fit`.
        warnings.warn(f"the chosen model has max_support = {largest} features: larger ones may be better.", stacklevel=5)


@dataclass(frozen=True, eq=False)
class Training:
    """A training set: the problems that are solved one by one, all with the same X and weights.

    There is one problem, unless each of several classes has features of its own. Outputs that share their features belong to
    one problem.
    """

    problem: Problem  # the first one
    targets: list[Array]  # y of each problem, with a column for each of its outputs: -1 / +1, or numbers
    classes: NDArray[Any]  # the user's labels; none for numbers
    lost: tuple[int, ...] = ()  # the classes that a fold's rows lack, by their numbers

    @classmethod
    def of(cls, problem: Problem) -> Training:
        """Return the training set of a single problem."""
        return cls(problem, [problem.y], np.empty(0) if problem.classes is None else problem.classes)

    @property
    def problems(self) -> list[Problem]:
        """All problems."""
        if not len(self.classes):
            return [replace(self.problem, y=y) for y in self.targets]
        labels = np.delete(self.classes, self.lost)
        if len(self.classes) > 2 and not self.problem.is_multinomial:
            labels = np.array([False, True])  # each output says whether a row is of its class
        return [replace(self.problem, y=y, classes=labels) for y in self.targets]

    @property
    def outputs(self) -> int:
        """The number of outputs, of all problems together; those of classes that the rows do not have included."""
        return len(self.classes) if len(self.classes) > 2 else self.problem.outputs

    @property
    def output_targets(self) -> Array:
        """The targets of all outputs, of shape (n, outputs); of classes -1 and +1, or 0 and 1 if multinomial."""
        return np.column_stack(self.targets)

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
        part = replace(self, problem=reweighted(self.problem, w / w.sum()))
        if not len(self.classes):
            return part
        members = self.output_targets > 0.0
        members = members if len(self.classes) > 2 else np.column_stack([~members, members])
        weighs = (members & (w > 0.0)[:, None]).any(axis=0)
        if weighs.all():
            return part
        if np.count_nonzero(weighs) < 2 or len(self.classes) == 2:
            raise InvalidInputError(
                f"{name} has no training row of class {self.classes[~weighs][0]!s}: use fewer folds, or a splitter that "
                "stratifies."
            )
        return part.without(tuple(np.flatnonzero(~weighs).tolist()))

    def without(self, lost: tuple[int, ...]) -> Training:
        """Return the training set of the other of several classes: these have no output, and their probability is zero."""
        kept = np.delete(np.arange(len(self.classes)), lost)
        targets = [self.targets[c] for c in kept] if len(self.targets) > 1 else [np.ascontiguousarray(self.targets[0][:, kept])]
        return replace(self, problem=replace(self.problem, y=targets[0]), targets=targets, lost=lost)

    def decisions(self, points: Sequence[Sequence[Model]], rows: NDArray[np.int64]) -> Iterator[tuple[Any, Array]]:
        """Yield places in `rows`, and the decision values there of the models at some points.

        These have the shape (places, points, outputs), and are minus infinity for lost classes.
        """
        known, place = dict[tuple[bytes, ...], int](), list[int]()  # neighbouring points often have the same models
        listed = list[Coefficients]()
        for own in ([model.coefficients for model in models] for models in points):
            key = tuple(part.tobytes() for at in own for part in at)
            if key not in known:
                known[key] = len(known)
                listed += own
            place.append(known[key])
        intercept = np.array([at.intercept for at in listed])
        kept = np.delete(np.arange(self.outputs), self.lost)
        for places, eta in products(self.problem.design, listed, rows):
            found = (eta + intercept).reshape(len(eta), len(known), -1)[:, place]
            out = found
            if self.lost:
                out = np.full((*found.shape[:2], self.outputs), -np.inf)
                out[:, :, kept] = found
            yield places, out

    def decision(self, points: Sequence[Sequence[Model]], rows: NDArray[np.int64]) -> Array:
        """Return the decision values of the models at some points, of shape (rows, points, outputs)."""
        out = np.empty((len(rows), len(points), self.outputs))
        for places, part in self.decisions(points, rows):
            out[places] = part
        return out


@dataclass(frozen=True, eq=False)
class FittedPoints:
    """Models of one training set at several values of the penalties, or of several sizes."""

    training: Training
    lambda_0: Array  # (m,), nan where models are chosen by their size
    models: list[list[Model]]  # m points, one model for each problem
    searched: list[Path | Sizes | Budgets]  # of each problem: the path, or the sizes, that the models are from
    lasso: Array | None = None  # (m,) lambda_1 of the l1 models whose features these are; None where lambda_0 chose them
    refitted: bool = False  # whether the models are refits of these features, with the training's lambda_2

    def training_at(self, point: int) -> Training:
        """Return the training set with the penalties of a point."""
        if self.lasso is None or self.refitted:
            return self.training
        return self.training.with_penalties(float(self.lasso[point]), self.training.problem.penalty.lambda_2)

    @property
    def intercept(self) -> Array:
        """The intercepts, of shape (m, outputs)."""
        return np.array([np.hstack([model.intercept for model in models]) for models in self.models])

    def coef(self, point: int) -> sparse.csr_matrix:
        """Return the coefficients at a point, of shape (outputs, p)."""
        models = self.models[point]
        return coefficient_rows([model.coefficients for model in models], models[0].n_features)

    def support(self, point: int) -> NDArray[np.int32]:
        """Return the features that any output uses."""
        models = self.models[point]
        return models[0].support if len(models) == 1 else np.unique(np.concatenate([model.support for model in models]))

    def at(self, points: NDArray[np.int64]) -> FittedPoints:
        """Return some of the points."""
        lasso = None if self.lasso is None else self.lasso[points]
        return replace(self, lambda_0=self.lambda_0[points], models=[self.models[point] for point in points], lasso=lasso)

    def followed_by(self, others: Sequence[FittedPoints]) -> FittedPoints:
        """Return these points of a column without lambda_0 and, after them, further ones."""
        lines = [self, *others]
        lasso = np.concatenate([line.lasso for line in lines if line.lasso is not None])
        models = [each for line in lines for each in line.models]
        return replace(self, lambda_0=np.zeros(len(lasso)), models=models, lasso=lasso)

    @property
    def size(self) -> NDArray[np.int64]:
        """(m,) number of features at each point, not counting unpenalized ones."""
        problem = self.training.problem
        return np.array([problem.penalty.counted(self.support(point)) for point in range(len(self.models))], dtype=np.int64)


def parts(training: Training, options: PathOptions) -> list[tuple[Problem, PathOptions]]:
    """Return the problems, each with options that report its progress as that of a part of them all."""
    share = 1.0 / len(training.problems)
    return [(problem, options.for_part(share * number, share)) for number, problem in enumerate(training.problems)]


def fit_lambda_grid(training: Training, grid: Array, options: PathOptions, largest: int) -> FittedPoints:
    """Fit models along a grid of lambda_0.

    If it is empty, the path of a single problem makes its own grid, and several problems have a log-spaced one in common, or a
    single zero if no feature helps at all.
    """
    problems = training.problems
    options = replace(options, max_support=largest)
    if not len(grid) and len(problems) > 1:
        first = [compute_path(problem, replace(options, n_lambda=1, progress=None)).lambda_0[0] for problem in problems]
        grid = log_spaced(float(max(first)), options.lambda_min_ratio, options.n_lambda) if max(first) > 0.0 else np.zeros(1)
    paths = [compute_path(problem, replace(part, lambda_0=grid)) for problem, part in parts(training, options)]
    points = grid if len(grid) else inner_points(paths[0])
    along = [models_at_points(path, points, largest) for path in paths]
    return FittedPoints(training, points, [list(models) for models in zip(*along, strict=True)], list(paths))


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


def models_at_points(path: Path, points: Array, largest: int) -> list[Model]:
    """Return the path's model at each point.

    A path ends before a model of more than `largest` features; at points beyond its end, the best model that is not larger.
    """
    if len(path) >= len(points):
        return list(path)
    small = {size: model for size, model in path.sized.items() if size <= largest}
    rest = [min(small, key=lambda size: small[size].objective_at(at)) for at in points[len(path) :]]
    return [*path, *(small[size] for size in rest)]


def fit_size_grid(training: Training, sizes: NDArray[np.int64], options: PathOptions) -> FittedPoints:
    """Fit models of at most so many features, for each of the sizes, which increase.

    Where rules ask for more features than that, the smallest model that obeys them takes its place.
    """
    asked = np.maximum(sizes, training.problem.least_size())
    by_size = [compute_sizes(problem, np.unique(asked), part) for problem, part in parts(training, options)]
    models = [[found[size] for found in by_size] for size in asked.tolist()]
    return FittedPoints(training, np.full(len(sizes), np.nan), models, list(by_size))


def fit_lasso(
    training: Training,
    values: Array,
    refits: Sequence[float],
    options: PathOptions,
    starts: Sequence[Model] = (),
    most: float = np.inf,
) -> list[FittedPoints]:
    """Fit models without lambda_0 at decreasing values of lambda_1; then refit their features with each lambda_2 of `refits`.

    `starts` are neighbouring models to start from, one for each problem. A model of more than `most` features is the last.
    """
    lines: list[list[list[Model]]] = [[] for _ in range(1 + len(refits))]
    last, ridge = list(starts), training.problem.penalty.lambda_2
    for value in values:
        problems = training.with_penalties(float(value), ridge).problems
        last = [lasso_model(problem, options, start) for problem, start in zip_longest(problems, last)]
        lines[0].append(last)
        for line, other in zip(lines[1:], refits, strict=True):
            shrunk = training.with_penalties(0.0, other).problems
            line.append([refit_features(problem, model, options) for problem, model in zip(shrunk, last, strict=True)])
        if max(training.problem.penalty.counted(model.support) for model in last) > most:
            break
    values = values[: len(lines[0])]
    return [
        FittedPoints(training.with_penalties(0.0, lambda_2), np.zeros(len(values)), line, [], values, refitted=number > 0)
        for number, (line, lambda_2) in enumerate(zip(lines, (ridge, *refits), strict=True))
    ]


def lasso_model(problem: Problem, options: PathOptions, start: Model | None) -> Model:
    """Return the minimum over all columns without lambda_0; it starts from another model, if there is one."""
    convex = PathOptions(lambda_0=np.zeros(1), algorithm="cd", tol=options.tol, threads=options.threads)
    seeds = [] if start is None else [problem.units.core_model(start.coefficients)]
    found = solve_path(problem, convex, seeds, sweep=start is None).models[0]
    return evaluate(problem, problem.units.coefficients(found))


def refit_features(problem: Problem, model: Model, options: PathOptions) -> Model:
    """Return the model of the same features (whole groups of columns) at other penalties."""
    penalty = problem.penalty
    inside = penalty.unpenalized.copy()
    inside[np.isin(penalty.heads, penalty.heads[model.support]) if penalty.grouped else model.support] = True
    return refit(problem, np.flatnonzero(inside).astype(np.int32), options)


def refit(problem: Problem, columns: NDArray[np.int32], options: PathOptions) -> Model:
    """Minimise the objective, without lambda_0, over the coefficients of these columns."""
    convex = PathOptions(lambda_0=np.zeros(1), algorithm="cd", tol=options.tol, threads=options.threads)
    inside = restricted(problem, columns)
    inside = replace(inside, penalty=replace(inside.penalty, lambda_0=0.0, price=np.zeros(len(columns))))
    support, values, b = inside.units.coefficients(solve_path(inside, convex).models[0])
    return evaluate(problem, Coefficients(columns[support], values, b))
