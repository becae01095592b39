"""Cross-validation: models of all rows and of each fold along the same grid, rated on the rows that the fold leaves out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.design import is_stored
from ellzero.estimators.choice import Column, Place, choose_mean, choose_point, explain
from ellzero.estimators.choice_rules import FIRST_STEPS, next_step, thinned
from ellzero.estimators.cross_validation import CrossValidation
from ellzero.estimators.resampling import Split, fits_at_once, run_tasks
from ellzero.estimators.scoring import HeldOutScore
from ellzero.estimators.training import FittedPoints, Training, fit_lambda_grid, fit_size_grid
from ellzero.solvers.paths import PathOptions

Array = NDArray[np.float64]
USUAL_CLIMB = 3  # steps of a ladder beyond the first ones; if there are fewer, the end comes early


@dataclass(frozen=True, kw_only=True)
class ComparisonPlan:
    """The models that are compared, and the rule that chooses among them."""

    shrinkage: list[tuple[float, float]]  # (lambda_1, lambda_2) of each column
    lambda_0: Array  # the user's grid; an empty one is made from the full data
    largest: int  # size of the largest model that is looked at
    limit: int  # the user's: what is chosen has at most so many features
    select: str
    rule: str
    scoring: str
    keep: bool  # whether held-out decision values are kept
    thin: bool  # whether some of a path's models are left out
    climb: bool  # whether the values of the second penalty are a ladder, of which only some steps are tried
    average: int  # the chosen model may be the mean of so many


@dataclass(frozen=True, eq=False)
class RatedFold:
    """Scores and features of the models of one column and one fold."""

    scores: Array
    size: NDArray[np.int64]
    supports: sparse.csr_matrix
    decision: Array  # of the test rows; without any point if nobody needs it


@dataclass(frozen=True, eq=False)
class FittedColumn:
    """A column with its models of all rows, and with the held-out decision values of each fold, if means may be rated."""

    column: Column
    fits: FittedPoints
    decisions: list[Array]


@dataclass
class Steps:
    """Reports the share of tasks that are done. There may be more tasks than are expected so far."""

    progress: Callable[[float, float, int], None] | None
    done: int = 0
    expected: int = 0
    shown: float = 0.0  # never less than before, though further tasks may be found

    def __call__(self, _: int, result: object) -> None:
        """Note that one more is done."""
        self.done += 1
        if self.progress:
            self.shown = max(self.shown, self.done / self.expected)
            self.progress(self.shown, 0.0, 0)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Models at several values of the second penalty, fitted on all rows and on each fold.

    Each fold follows the grid of the full data, so that its scores are about the same penalties as those of other folds. It
    starts from its own rows alone: the full data's models know the rows that the fold is tested on.
    """

    training: Training
    plan: ComparisonPlan
    splits: list[Split]
    score: HeldOutScore
    options: PathOptions
    n_jobs: int | None
    steps: Steps

    @cached_property
    def folds(self) -> list[Training]:
        """The training rows of each split; an X that is not in memory is read for several of them at a time."""
        parts = [(train, f"fold {number + 1} of cv") for number, (train, _) in enumerate(self.splits)]
        if not is_stored(self.training.problem.design):
            return [self.training.on_rows(*part) for part in parts]
        with ThreadPoolExecutor(min(fits_at_once(self.training), len(parts))) as pool:
            return list(pool.map(self.training.on_rows, *zip(*parts, strict=True)))

    def run(self) -> list[FittedColumn]:
        """Fit and rate the columns, from the top down.

        Of a ladder, these are the steps in its middle, and further ones up or down as long as they are better.
        """
        first = FIRST_STEPS if self.plan.climb else range(len(self.plan.shrinkage))
        each = len(self.splits) + 1
        self.steps.expected = each * (len(first) + USUAL_CLIMB * self.plan.climb)
        tried = dict(zip(first, self.fit(first), strict=True))
        while self.plan.climb:
            scores = {step: float(fitted.column.mean.max()) for step, fitted in tried.items()}
            step = next_step(list(tried), max(scores, key=scores.__getitem__))
            if step is None:
                break
            self.steps.expected = max(self.steps.expected, self.steps.done + each + 1)  # so that it never ends early
            tried[step] = self.fit([step])[0]
        if self.steps.progress and self.steps.done < self.steps.expected:
            self.steps.progress(1.0, 0.0, 0)
        return [tried[step] for step in sorted(tried)]

    def fit(self, numbers: Sequence[int]) -> list[FittedColumn]:
        """Fit and rate the models at some values of the second penalty."""
        pairs = [self.plan.shrinkage[number] for number in numbers]
        whole = [(self.training.with_penalties(*pair), self.plan, self.plan.lambda_0, self.options) for pair in pairs]
        full = run_tasks(fit_points, whole, self.n_jobs, self.steps)
        if self.plan.thin:
            full = [fits.at(thinned(fits.size)) for fits in full]
        tasks = [
            (fold.with_penalties(*pair), self.plan, fits.lambda_0, self.options, test, self.score)
            for pair, fits in zip(pairs, full, strict=True)
            for fold, (_, test) in zip(self.folds, self.splits, strict=True)
        ]
        rated = run_tasks(rate_fold, tasks, self.n_jobs, self.steps)
        count = len(self.splits)
        return [self.gather(fits, rated[count * number : count * (number + 1)]) for number, fits in enumerate(full)]

    def gather(self, fits: FittedPoints, folds: list[RatedFold]) -> FittedColumn:
        """Put the results of all folds at one value of the second penalty together."""
        scores = np.column_stack([fold.scores for fold in folds])
        if np.isnan(scores).any():
            number = int(np.flatnonzero(np.isnan(scores).any(axis=0))[0])
            raise InvalidInputError(
                f"scoring is undefined on the test rows of fold {number + 1} of cv (they may lack a class, or have no weight)."
            )
        tests = (test for _, test in self.splits)
        held_out = [(test, fold.decision) for test, fold in zip(tests, folds, strict=True)] if self.plan.keep else None
        column = Column(
            lambda_1=fits.training.problem.penalty.lambda_1,
            lambda_2=fits.training.problem.penalty.lambda_2,
            lambda_0=fits.lambda_0,
            size=fits.size,
            coef=[fits.coef(point) for point in range(len(fits.models))],
            intercept=fits.intercept,
            scores=scores,
            fold_size=np.column_stack([fold.size for fold in folds]),
            fold_supports=[fold.supports for fold in folds],
            held_out=held_out,
            n_rows=len(self.training.problem.y),
        )
        return FittedColumn(column, fits, [fold.decision for fold in folds] if self.plan.average > 1 else [])

    def choose(self, fitted: list[FittedColumn]) -> CrossValidation:
        """Choose one of the models, or several for their mean, and return all scores."""
        plan, columns = self.plan, [each.column for each in fitted]
        best = choose_point(columns, plan.rule, plan.scoring)
        places, scores = choose_mean(columns, best, partial(self.rate_means, fitted), plan.average)
        used = np.unique(np.concatenate([fitted[column].fits.support(point) for column, point in places]))
        problem = self.training.problem
        size, loss = problem.penalty.counted(used.astype(np.int32)), problem.loss.name
        choice = explain(columns, places, scores, size, rule=plan.rule, scoring=plan.scoring, loss=loss)
        names, separate = problem.design.names, len(self.training.targets) > 1
        return CrossValidation(plan.select, plan.rule, plan.scoring, columns, places, choice, self.splits, names, separate)

    def rate_means(self, fitted: list[FittedColumn], places: list[Place], column: int) -> Array:
        """Return the scores, of shape (points, folds), of the mean of the models at these places with each of a column.

        Means of more features than the user allows have a score of minus infinity.
        """
        out = []
        for fold, (_, test) in enumerate(self.splits):
            known = [fitted[number].decisions[fold][:, point] for number, point in places]
            mean = (fitted[column].decisions[fold] + np.sum(known, axis=0)[:, None]) / (len(places) + 1)
            out.append(self.score(mean, test))
        scores = np.column_stack(out)
        with_them = [fitted[number].fits.models[point] for number, point in places]
        sizes = np.zeros(len(scores))  # of the problem with the most features
        for point, models in enumerate(fitted[column].fits.models):
            for own in zip(*with_them, models, strict=True):
                support = np.unique(np.concatenate([model.support for model in own])).astype(np.int32)
                sizes[point] = max(sizes[point], self.training.problem.penalty.counted(support))
        scores[sizes > self.plan.limit] = -np.inf
        return scores


def fit_points(training: Training, plan: ComparisonPlan, grid: Array, options: PathOptions) -> FittedPoints:
    """Fit models at all points of one column."""
    if plan.select == "size":
        return fit_size_grid(training, np.arange(plan.largest + 1), options)
    return fit_lambda_grid(training, grid, options, plan.largest)


def rate_fold(
    fold: Training, plan: ComparisonPlan, grid: Array, options: PathOptions, test: NDArray[np.int64], score: HeldOutScore
) -> RatedFold:
    """Fit models on a fold's training rows, and rate them on its test rows."""
    fits = fit_points(fold, plan, grid, options)
    supports = [fits.support(point) for point in range(len(fits.models))]
    starts = np.cumsum([0] + [len(support) for support in supports])
    used = np.ones(starts[-1], dtype=bool)
    matrix = sparse.csr_matrix((used, np.concatenate(supports), starts), shape=(len(supports), fold.problem.design.shape[1]))
    if not (plan.keep or plan.average > 1):
        return RatedFold(score.of_models(fold, fits.models, test), fits.size, matrix, np.zeros((len(test), 0, 0)))
    decision = fold.decision(fits.models, test)
    return RatedFold(score(decision, test), fits.size, matrix, decision)
