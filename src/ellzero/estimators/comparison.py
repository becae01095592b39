"""Cross-validation: models of all rows and of each fold along the same grid, rated on the rows that the fold leaves out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.design import is_stored
from ellzero.estimators.choice import Column, choose_point, explain
from ellzero.estimators.choice_rules import thinned
from ellzero.estimators.cross_validation import CrossValidation
from ellzero.estimators.resampling import Split, fits_at_once, run_tasks
from ellzero.estimators.scoring import HeldOutScore, Parts, joined
from ellzero.estimators.training import FittedPoints, Training, fit_lambda_grid, fit_lasso, fit_size_grid
from ellzero.problem.model import Model
from ellzero.solvers.paths import PathOptions

Array = NDArray[np.float64]
BLOCK = 6  # values of lambda_1 between looks at whether the scores have turned
USUAL_BLOCKS = 3  # if there are fewer, the end comes early


@dataclass(frozen=True, kw_only=True)
class ComparisonPlan:
    """The models that are compared, and the rule that chooses among them."""

    shrinkage: list[tuple[float, float]]  # (lambda_1, lambda_2) of each column of models that lambda_0 chooses
    lambda_0: Array  # the user's grid; an empty one is made from the full data
    largest: int  # size of the largest of these models
    lasso: Array  # decreasing lambda_1 of models without lambda_0; none for no such column
    nets: tuple[float, ...]  # lambda_2 beside lambda_1, each for a column
    refits: tuple[float, ...]  # lambda_2 of refits of the features that the models of the first such column have
    most: int  # size of the largest model without lambda_0
    select: str
    rule: str
    scoring: str
    keep: bool  # whether held-out decision values are kept
    thin: bool  # whether some of a path's models are left out


@dataclass(frozen=True, eq=False)
class RatedFold:
    """Scores and features of the models of one column and one fold."""

    parts: Parts
    size: NDArray[np.int64]
    supports: sparse.csr_matrix
    decision: Array  # of the test rows; without any point if nobody needs it
    last: list[Model]


def followed(blocks: Sequence[Sequence[RatedFold]]) -> list[RatedFold]:
    """Return the models of each fold, from blocks of a column's points."""
    return [
        RatedFold(
            replace(parts[0].parts, scores=np.vstack([part.parts.scores for part in parts])),
            np.concatenate([part.size for part in parts]),
            sparse.vstack([part.supports for part in parts], format="csr"),
            np.concatenate([part.decision for part in parts], axis=1),
            parts[-1].last,
        )
        for parts in zip(*blocks, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class FittedColumn:
    """A column with its models of all rows."""

    column: Column
    fits: FittedPoints


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
        """Fit and rate all columns: first those of lambda_0, then those without it."""
        each = len(self.splits) + 1
        self.steps.expected = each * (len(self.plan.shrinkage) + USUAL_BLOCKS * len(self.plan.nets))
        fitted = self.fit()
        for number, ridge in enumerate(self.plan.nets):
            fitted += self.fit_lasso(ridge, () if number else self.plan.refits)
        if self.steps.progress and self.steps.done < self.steps.expected:
            self.steps.progress(1.0, 0.0, 0)
        return fitted

    def fit(self) -> list[FittedColumn]:
        """Fit and rate the models that lambda_0, or a size, chooses at each value of the second penalty."""
        pairs = self.plan.shrinkage
        whole = [(self.training.with_penalties(*pair), self.plan, self.plan.lambda_0, self.options) for pair in pairs]
        full = run_tasks(fit_points, whole, self.n_jobs, self.steps)
        if self.plan.thin:
            full = [fits.at(thinned(fits.size)) for fits in full]
        tasks = [
            (fold.with_penalties(*pair), number, self.plan, fits.lambda_0, self.options, test, self.score)
            for pair, fits in zip(pairs, full, strict=True)
            for number, (fold, (_, test)) in enumerate(zip(self.folds, self.splits, strict=True))
        ]
        rated = run_tasks(rate_column, tasks, self.n_jobs, self.steps)
        count = len(self.splits)
        return [self.gather(fits, rated[count * number : count * (number + 1)]) for number, fits in enumerate(full)]

    def fit_lasso(self, ridge: float, refits: Sequence[float]) -> list[FittedColumn]:
        """Fit and rate models without lambda_0, and refits of their features, until the scores of all columns have turned.

        Each block of values goes on from the models of the block before.
        """
        plan, largest = self.plan, -1
        training, *folds = (each.with_penalties(0.0, ridge) for each in (self.training, *self.folds))
        starts: list[list[Model]] = [[] for _ in range(1 + len(self.splits))]
        wholes, rated = list[list[FittedPoints]](), list[list[list[RatedFold]]]()
        for values in (plan.lasso[at : at + BLOCK] for at in range(0, len(plan.lasso), BLOCK)):
            self.steps.expected = max(self.steps.expected, self.steps.done + len(starts) + 1)  # so that it never ends early
            first = (training, values, refits, self.options, starts[0], plan.most)
            (whole,) = run_tasks(fit_lasso, [first], self.n_jobs, self.steps)
            starts[0] = whole[0].models[-1]
            size = np.max([fits.size for fits in whole], axis=0)
            kept = [point for point in thinned(whole[0].size, largest) if size[point] <= plan.most]
            if not kept:
                break
            largest = int(whole[0].size[kept[-1]])
            wholes.append([fits.at(np.array(kept)) for fits in whole])
            tasks = [
                (fold, number, plan.keep, values[kept], refits, self.options, test, self.score, start)
                for number, (fold, (_, test), start) in enumerate(zip(folds, self.splits, starts[1:], strict=True))
            ]
            each = run_tasks(rate_lasso, tasks, self.n_jobs, self.steps)
            starts[1:] = [columns[0].last for columns in each]
            rated.append([list(column) for column in zip(*each, strict=True)])
            if self.turned(rated):
                break
        columns = zip(zip(*wholes, strict=True), zip(*rated, strict=True), strict=True)
        return [self.gather(fits[0].followed_by(fits[1:]), followed(blocks)) for fits, blocks in columns]

    def turned(self, blocks: list[list[list[RatedFold]]]) -> bool:
        """Return whether no column has its best model in the last of these blocks of its points."""
        best = [[np.mean([fold.parts.mean for fold in column], axis=0).max() for column in block] for block in blocks]
        return not (np.argmax(best, axis=0) == len(blocks) - 1).any()

    def gather(self, fits: FittedPoints, folds: list[RatedFold]) -> FittedColumn:
        """Put the results of all folds of one column together."""
        scores = np.column_stack([fold.parts.mean for fold in folds])
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
            parts=joined([fold.parts for fold in folds]),
            fold_size=np.column_stack([fold.size for fold in folds]),
            fold_supports=[fold.supports for fold in folds],
            held_out=held_out,
            n_rows=len(self.training.problem.y),
            lasso=fits.lasso,
            refitted=fits.refitted,
        )
        return FittedColumn(column, fits)

    def choose(self, fitted: list[FittedColumn]) -> CrossValidation:
        """Choose one of the models, and return all scores."""
        plan, columns, problem = self.plan, [each.column for each in fitted], self.training.problem
        best = choose_point(columns, plan.rule)
        choice = explain(columns, best, rule=plan.rule, scoring=plan.scoring, loss=problem.loss.name)
        names, separate = problem.design.names, len(self.training.targets) > 1
        return CrossValidation(plan.select, plan.rule, plan.scoring, columns, best, choice, self.splits, names, separate)


def fit_points(training: Training, plan: ComparisonPlan, grid: Array, options: PathOptions) -> FittedPoints:
    """Fit models at all points of one column."""
    if plan.select == "size":
        return fit_size_grid(training, np.arange(plan.largest + 1), options)
    return fit_lambda_grid(training, grid, options, plan.largest)


def rate_column(
    fold: Training,
    number: int,
    plan: ComparisonPlan,
    grid: Array,
    options: PathOptions,
    test: NDArray[np.int64],
    score: HeldOutScore,
) -> RatedFold:
    """Fit models on a fold's training rows, and rate them on its test rows."""
    return rate_fold(fold, fit_points(fold, plan, grid, options), number, plan.keep, test, score)


def rate_lasso(
    fold: Training,
    number: int,
    keep: bool,
    values: Array,
    refits: Sequence[float],
    options: PathOptions,
    test: NDArray[np.int64],
    score: HeldOutScore,
    start: list[Model],
) -> list[RatedFold]:
    """Fit models without lambda_0, and refits, on a fold's training rows, and rate them on its test rows."""
    columns = fit_lasso(fold, values, refits, options, start)
    return [rate_fold(fold, fits, number, keep, test, score) for fits in columns]


def rate_fold(
    fold: Training, fits: FittedPoints, number: int, keep: bool, test: NDArray[np.int64], score: HeldOutScore
) -> RatedFold:
    """Rate the models of a fold on its test rows."""
    supports = [fits.support(point) for point in range(len(fits.models))]
    starts = np.cumsum([0] + [len(support) for support in supports])
    used = np.ones(starts[-1], dtype=bool)
    matrix = sparse.csr_matrix((used, np.concatenate(supports), starts), shape=(len(supports), fold.problem.design.shape[1]))
    if not (keep or score.scorer):
        parts = score.in_parts(fold.decisions(fits.models, test), test, number)
        return RatedFold(parts, fits.size, matrix, np.zeros((len(test), 0, 0)), fits.models[-1])
    decision = fold.decision(fits.models, test)
    parts = score.in_parts([(slice(None), decision)], test, number)
    return RatedFold(parts, fits.size, matrix, decision if keep else decision[:, :0], fits.models[-1])
