"""Cross-validation: models of each fold along the grid of the full data, and the choice among their scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.base.notebook import html_table
from ellzero.base.progress import ProgressCallback
from ellzero.base.quoting import shown
from ellzero.estimators.choice import Choice, Place, choose_mean, choose_point, explain
from ellzero.estimators.choice_rules import FIRST_STEPS, next_step, thinned
from ellzero.estimators.column import Column
from ellzero.estimators.resampling import Split, fold_trainings, run_tasks, task_progress
from ellzero.estimators.scoring import HeldOutScore
from ellzero.estimators.training import FittedPoints, Training, fit_lambda_grid, fit_size_grid
from ellzero.plots import FoldSupports, ScoreLine, plot_scores, plot_supports
from ellzero.problem.model import Model
from ellzero.solvers.paths import PathOptions
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["CrossValidation", "CrossValidationPlan", "cross_validate"]

Array = NDArray[np.float64]

WIDTHS = (9, 9, 12, 10)  # of the columns of the table: features of a class, features, score, standard error


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation:
    """Held-out scores of all models, and the chosen one: ``cv_results_`` of the estimators.

    Attributes
    ----------
    select : "lambda_0" or "size": what models of different folds have in common
    rule : "auto", "best" or "one_se"
    scoring : name of the score; greater is better
    columns : list of Column, one for each value of the second penalty
    places : (column, point) of the chosen model or, if the estimator is the mean of several, of all of them, the best one first
    choice : Choice: what was chosen, and why
    splits : list of (training rows, test rows)
    names : names of the features, or None
    separate : whether each of several classes has features of its own

    """

    select: str
    rule: str
    scoring: str
    columns: list[Column]
    places: list[Place]
    choice: Choice
    splits: list[Split]
    names: list[str] | None = None
    separate: bool = False

    @property
    def best(self) -> Place:
        """(column, point) of the chosen model, or of the best of those whose mean was chosen."""
        return self.places[0]

    @property
    def chosen(self) -> Column:
        """The column of `best`."""
        return self.columns[self.best[0]]

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each point of each column, as a pandas data frame."""
        pandas = need("pandas", "frame")

        frames = []
        for number, column in enumerate(self.columns):
            frame = {
                "lambda_0": column.lambda_0,
                "lambda_1": column.lambda_1,
                "lambda_2": column.lambda_2,
                "size": column.size,
                "mean_score": column.mean,
                "standard_error": column.standard_error,
                "chosen": [(number, point) in self.places for point in range(len(column.size))],
            }
            folds = {f"fold_{fold + 1}": column.scores[:, fold] for fold in range(column.scores.shape[1])}
            frames.append(pandas.DataFrame(frame | folds))
        return pandas.concat(frames, ignore_index=True)

    def plot(self, ax: Axes | None = None, *, against: str = "size") -> Axes:
        """Draw the score `against` "size" or "lambda_0", with error bars and the chosen point (needs matplotlib).

        It is drawn into the axes `ax`, or into a new figure.
        """
        lines = [ScoreLine(c.lambda_1, c.lambda_2, c.lambda_0, c.size, c.mean, c.standard_error) for c in self.columns]
        return plot_scores(
            lines, self.places, ax, size=self.choice.size, against=against, scoring=self.scoring, one_se=self.rule == "one_se"
        )

    def plot_supports(self, ax: Axes | None = None, *, top: int = 30, along: bool = False) -> Axes:
        """Draw the features that each fold uses at `best` or, with ``along``, along its column (needs matplotlib).

        At most `top` features are shown. It is drawn into the axes `ax`, or into a new figure.
        """
        column, point = self.chosen, self.best[1]
        final = np.unique(column.coef[point].tocoo().col)
        supports = FoldSupports(column.fold_supports, column.size, point, final, self.names)
        return plot_supports(supports, ax, top=top, along=along, points=self.select)

    def __repr__(self) -> str:
        models = sum(len(column.size) for column in self.columns)
        head, rows, chosen = self._table()
        return "\n".join(
            [
                f"cross-validation: {len(self.splits)} folds, {models} models, {shown(self.scoring)}",
                f"chosen ({self.rule}): {self.choice.why}",
                *(
                    " ".join(f"{text:>{width}}" for text, width in zip(line, WIDTHS[-len(head) :], strict=True)) + mark
                    for line, mark in zip([head, *rows], ["", *("  <" if row == chosen else "" for row in rows)], strict=True)
                ),
            ]
        )

    def _repr_html_(self) -> str:
        title, why, *_ = repr(self).splitlines()
        head, rows, chosen = self._table()
        marked = [[*row, "chosen" if row == chosen else ""] for row in rows]
        return html_table(title, [*head, ""], marked, [why])

    def _table(self) -> tuple[list[str], list[list[str]], list[str]]:
        """Return the heading, the rows and the chosen row of the chosen column's scores: one row a size.

        The size of a model is the number of features that it uses, those of all classes together. Where each class has features
        of its own, the row also says how many one class has at most. Of several points of a size, the row is that of the best.
        """
        column, chosen = self.chosen, self.best[1]
        of_class = [int(np.diff(coef.tocsr().indptr).max(initial=0)) for coef in column.coef]
        if self.select == "size":
            of_class = list(range(len(column.size)))  # points are numbers of features of each class
        own = self.separate and any(one != size for one, size in zip(of_class, column.size.tolist(), strict=True))
        best: dict[int, int] = {}
        for point, size in enumerate(of_class if self.select == "size" else column.size.tolist()):
            if size not in best or point == chosen or (best[size] != chosen and column.mean[point] > column.mean[best[size]]):
                best[size] = point

        def row(point: int) -> list[str]:
            size, mean, error = column.size[point], column.mean[point], column.standard_error[point]
            return [*([f"{of_class[point]}"] if own else []), f"{size}", f"{mean:.6g}", f"{error:.2g}"]

        head = [*(["per class", "in all"] if own else ["features"]), "score", "+-"]
        return head, [row(point) for point in sorted(best.values())], row(chosen)


@dataclass(frozen=True, kw_only=True)
class CrossValidationPlan:
    """The models that are compared, and the rule that chooses among them."""

    shrinkage: list[tuple[float, float]]  # (lambda_1, lambda_2) of each column
    lambda_0: Array | None  # the user's grid; None makes one from the full data
    largest: int  # size of the largest model that is looked at
    select: str
    rule: str
    scoring: str
    keep: bool  # whether held-out decision values are kept
    thin: bool  # whether some of a path's models are left out
    climb: bool  # whether the values of the second penalty are a ladder, of which only some steps are tried
    average: int  # the chosen model may be the mean of so many
    limit: int | None  # the user's: what is chosen has at most so many features


@dataclass(frozen=True, eq=False)
class FoldResult:
    """Scores and features of the models of one column and one fold."""

    scores: Array
    size: NDArray[np.int64]
    supports: sparse.csr_matrix
    decision: Array | None


def cross_validate(
    training: Training,
    plan: CrossValidationPlan,
    splits: list[Split],
    score: HeldOutScore,
    options: PathOptions,
    n_jobs: int | None,
    progress: ProgressCallback | None,
) -> tuple[CrossValidation, list[FittedPoints]]:
    """Return the scores of all models, and the models of all rows.

    Each fold follows the grid of the full data, so that its scores are about the same penalties as those of other folds. It
    starts from its own rows alone: the full data's models know the rows that the fold is tested on.
    """
    parts = fold_trainings(training, splits)

    def fit(shrinkage: Sequence[tuple[float, float]], progress: ProgressCallback | None = None) -> list[FittedColumn]:
        return fit_columns(training, shrinkage, plan, parts, splits, score, options, n_jobs, progress)

    fitted = climb(plan.shrinkage, fit, progress) if plan.climb else fit(plan.shrinkage, progress)
    columns = [each.column for each in fitted]
    best = choose_point(columns, plan.rule, plan.scoring)
    places, scores = [best], columns[best[0]].scores[best[1]]
    if plan.average > 1:
        places, scores = choose_mean(columns, best, HeldOutMeans(training, fitted, splits, score, plan.limit), plan.average)
    used = np.unique(np.concatenate([fitted[column].fits.support(point) for column, point in places]))
    choice = explain(
        columns,
        places,
        scores,
        training.problem.counted(used.astype(np.int32)),
        rule=plan.rule,
        scoring=plan.scoring,
        loss=training.problem.loss.name,
    )
    names = training.problem.design.names
    separate = len(training.targets) > 1
    results = CrossValidation(plan.select, plan.rule, plan.scoring, columns, places, choice, splits, names, separate)
    return results, [each.fits for each in fitted]


@dataclass(frozen=True, eq=False)
class FittedColumn:
    """A column with its models of all rows, and with the results of the folds."""

    column: Column
    fits: FittedPoints
    folds: list[FoldResult]


def climb(
    ladder: list[tuple[float, float]], fit: Callable[..., list[FittedColumn]], progress: ProgressCallback | None
) -> list[FittedColumn]:
    """Fit the middle of the ladder, and further steps up or down as long as they are better; return all, from the top down."""
    first = len(FIRST_STEPS)
    tried = dict(zip(FIRST_STEPS, fit([ladder[step] for step in FIRST_STEPS], part_of(progress, 0, first)), strict=True))
    while True:
        step = next_step(list(tried), max(tried, key=lambda step: float(tried[step].column.mean.max())))
        if step is None:
            if progress is not None:
                progress(1.0, 0.0, 0)
            return [tried[step] for step in sorted(tried)]
        tried[step] = fit([ladder[step]], part_of(progress, len(tried), 1))[0]


def part_of(progress: ProgressCallback | None, before: int, steps: int) -> ProgressCallback | None:
    """Return the progress of some steps of a ladder after others; one more may follow, so that they never end the whole."""
    if progress is None:
        return None
    whole = progress
    return lambda fraction, lambda_0, support: whole((before + steps * fraction) / (before + steps + 1), lambda_0, support)


@dataclass(frozen=True, eq=False)
class HeldOutMeans:
    """Scores of means of models."""

    training: Training
    fitted: list[FittedColumn]
    splits: list[Split]
    score: HeldOutScore
    limit: int | None

    def __call__(self, places: list[Place], column: int) -> Array:
        """Return the scores, of shape (points, folds), of the mean of the models at these places with each of a column.

        Means of more features than the user allows have a score of minus infinity.
        """
        out = []
        for fold, (_, test) in enumerate(self.splits):
            known = [self.decision(number, fold)[:, point] for number, point in places]
            mean = (self.decision(column, fold) + np.sum(known, axis=0)[:, None]) / (len(places) + 1)
            out.append(self.score(self.training, mean, test))
        scores = np.column_stack(out)
        if self.limit is not None:
            own = self.fitted[column].fits.models
            scores[[self.largest_size(places, models) > self.limit for models in own]] = -np.inf
        return scores

    def largest_size(self, places: list[Place], models: list[Model]) -> int:
        """Return the number of features of the mean of the models at these places and these, of the problem with the most."""
        several = zip(*(self.fitted[number].fits.models[point] for number, point in places), models, strict=True)
        supports = [np.unique(np.concatenate([model.support for model in own])) for own in several]
        return max(self.training.problem.counted(support.astype(np.int32)) for support in supports)

    def decision(self, column: int, fold: int) -> Array:
        """Return the held-out decision values of a fold, of shape (test rows, points, outputs)."""
        known = self.fitted[column].folds[fold].decision
        assert known is not None
        return known


def fit_columns(
    training: Training,
    shrinkage: Sequence[tuple[float, float]],
    plan: CrossValidationPlan,
    parts: list[Training],
    splits: list[Split],
    score: HeldOutScore,
    options: PathOptions,
    n_jobs: int | None,
    progress: ProgressCallback | None,
) -> list[FittedColumn]:
    """Fit and rate the models at some values of the second penalty."""
    total = len(shrinkage) * (len(splits) + 1)
    whole = [(training.with_penalties(*pair), plan, plan.lambda_0, options) for pair in shrinkage]
    full = run_tasks(fit_points, whole, n_jobs, task_progress(progress, 0, total))
    if plan.thin:
        full = [fits.at(thinned(fits.sizes(training.problem))) for fits in full]
    tasks = [
        (part.with_penalties(*pair), training, plan, fits.lambda_0, options, test, score)
        for pair, fits in zip(shrinkage, full, strict=True)
        for part, (_, test) in zip(parts, splits, strict=True)
    ]
    results = run_tasks(score_fold, tasks, n_jobs, task_progress(progress, len(shrinkage), total))
    folds = [results[number * len(splits) : (number + 1) * len(splits)] for number in range(len(shrinkage))]
    return [
        FittedColumn(make_column(training, pair, fits, own, splits, plan.keep), fits, own)
        for pair, fits, own in zip(shrinkage, full, folds, strict=True)
    ]


def fit_points(training: Training, plan: CrossValidationPlan, grid: Array | None, options: PathOptions) -> FittedPoints:
    """Fit models at all points of one column."""
    if plan.select == "size":
        return fit_size_grid(training, np.arange(plan.largest + 1), options)
    return fit_lambda_grid(training, grid, options, plan.largest)


def score_fold(
    part: Training,
    training: Training,
    plan: CrossValidationPlan,
    grid: Array,
    options: PathOptions,
    test: NDArray[np.int64],
    score: HeldOutScore,
) -> FoldResult:
    """Fit models on a fold's training rows, and rate them on its test rows."""
    fits = fit_points(part, plan, grid, options)
    decision = fits.decision(part, test)
    supports = [fits.support(point) for point in range(len(fits))]
    starts = np.cumsum([0] + [len(support) for support in supports])
    used = np.ones(starts[-1], dtype=bool)
    matrix = sparse.csr_matrix((used, np.concatenate(supports), starts), shape=(len(fits), part.problem.design.shape[1]))
    scores = score(training, decision, test)
    return FoldResult(scores, fits.sizes(part.problem), matrix, decision if plan.keep or plan.average > 1 else None)


def make_column(
    training: Training,
    pair: tuple[float, float],
    fits: FittedPoints,
    results: list[FoldResult],
    splits: list[Split],
    keep: bool,
) -> Column:
    """Gather the results of all folds at one value of the second penalty."""
    scores = np.column_stack([result.scores for result in results])
    if np.isnan(scores).any():
        fold = int(np.flatnonzero(np.isnan(scores).any(axis=0))[0])
        raise InvalidInputError(
            f"scoring is undefined on the test rows of fold {fold + 1} of cv (they may lack a class, or have no weight)."
        )
    decision: Any = None
    if keep:
        decision = np.full((len(training.problem.y), len(fits), training.outputs), np.nan)
        for (_, test), result in zip(splits, results, strict=True):
            decision[test] = result.decision
    return Column(
        lambda_1=pair[0],
        lambda_2=pair[1],
        lambda_0=fits.lambda_0,
        size=fits.sizes(training.problem),
        coef=[fits.coef(point) for point in range(len(fits))],
        intercept=fits.intercept,
        scores=scores,
        fold_size=np.column_stack([result.size for result in results]),
        fold_supports=[result.supports for result in results],
        decision=decision,
    )
