"""Cross-validation: models of each fold along the grid of the full data, and the choice among their scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.base.notebook import html_table
from ellzero.base.progress import ProgressCallback
from ellzero.base.quoting import shown
from ellzero.estimators.resampling import Split, fold_trainings, run_tasks, task_progress
from ellzero.estimators.scoring import HeldOutScore
from ellzero.estimators.training import FittedPoints, Training, fit_lambda_grid, fit_size_grid
from ellzero.plots import FoldSupports, ScoreLine, plot_scores, plot_supports
from ellzero.solvers.paths import PathOptions
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Column", "CrossValidation", "CrossValidationPlan", "cross_validate"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Column:
    """Models and scores at one value of the second penalty.

    There are m points (values of lambda_0, or sizes), F folds and C outputs.

    Attributes
    ----------
    lambda_1, lambda_2 : the second penalty
    lambda_0 : (m,), nan where points are sizes
    size : (m,) features of the model of all rows
    coef : list of m CSR matrices of shape (C, p), of the models of all rows
    intercept : (m, C)
    scores : (m, F) held-out scores, greater is better
    fold_size : (m, F) features of the fold's models
    fold_supports : list of F boolean CSR matrices of shape (m, p): the features that a fold's models use
    decision : (n, m, C) held-out decision values (nan for rows that no fold tests), or None

    """

    lambda_1: float
    lambda_2: float
    lambda_0: Array
    size: NDArray[np.int64]
    coef: list[sparse.csr_matrix]
    intercept: Array
    scores: Array
    fold_size: NDArray[np.int64]
    fold_supports: list[sparse.csr_matrix]
    decision: Array | None = None

    @property
    def mean(self) -> Array:
        """(m,) mean score over folds."""
        return np.asarray(self.scores.mean(axis=1))

    @property
    def standard_error(self) -> Array:
        """(m,) standard error of the mean; zero if there is one fold only."""
        folds = self.scores.shape[1]
        return np.asarray(self.scores.std(axis=1, ddof=1) / np.sqrt(folds)) if folds > 1 else np.zeros(len(self.scores))


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation:
    """Held-out scores of all models, and the chosen one: ``cv_results_`` of the estimators.

    Attributes
    ----------
    select : "lambda_0" or "size": what models of different folds have in common
    rule : "best" or "one_se"
    scoring : name of the score; greater is better
    columns : list of Column, one for each value of the second penalty
    best : (column, point), the chosen one
    splits : list of (training rows, test rows)
    names : names of the features, or None

    """

    select: str
    rule: str
    scoring: str
    columns: list[Column]
    best: tuple[int, int]
    splits: list[Split]
    names: list[str] | None = None

    @property
    def chosen(self) -> Column:
        """The column of the chosen point."""
        return self.columns[self.best[0]]

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each point of each column, as a pandas data frame."""
        pandas = need("pandas", "frame")

        frames = []
        for number, column in enumerate(self.columns):
            points = np.arange(len(column.size))
            frame = {
                "lambda_0": column.lambda_0,
                "lambda_1": column.lambda_1,
                "lambda_2": column.lambda_2,
                "size": column.size,
                "mean_score": column.mean,
                "standard_error": column.standard_error,
                "chosen": (points == self.best[1]) & (number == self.best[0]),
            }
            folds = {f"fold_{fold + 1}": column.scores[:, fold] for fold in range(column.scores.shape[1])}
            frames.append(pandas.DataFrame(frame | folds))
        return pandas.concat(frames, ignore_index=True)

    def plot(self, ax: Axes | None = None, *, against: str = "size") -> Axes:
        """Draw the score against "size" or "lambda_0", with error bars and the chosen point (needs matplotlib)."""
        lines = [ScoreLine(c.lambda_1, c.lambda_2, c.lambda_0, c.size, c.mean, c.standard_error) for c in self.columns]
        return plot_scores(lines, self.best, ax, against=against, scoring=self.scoring, one_se=self.rule == "one_se")

    def plot_supports(self, ax: Axes | None = None, *, top: int = 30, along: bool = False) -> Axes:
        """Draw the features that each fold uses at the chosen point or, with ``along``, at all points (needs matplotlib)."""
        column, point = self.chosen, self.best[1]
        final = np.unique(column.coef[point].tocoo().col)
        supports = FoldSupports(column.fold_supports, column.size, point, final, self.names)
        return plot_supports(supports, ax, top=top, along=along, points=self.select)

    def __repr__(self) -> str:
        column, point = self.chosen, self.best[1]
        at = f"lambda_0 = {column.lambda_0[point]:.4g}, " if self.select == "lambda_0" else ""
        models = sum(len(column.size) for column in self.columns)
        lines = [
            f"cross-validation: {len(self.splits)} folds, {models} models, {shown(self.scoring)}",
            f"chosen ({self.rule}): {column.size[point]} features, {at}lambda_1 = {column.lambda_1:.4g}, "
            f"lambda_2 = {column.lambda_2:.4g}, score {column.mean[point]:.5g} +- {column.standard_error[point]:.2g}",
            f"{'features':>9} {'score':>12} {'+-':>10}",
        ]
        for size, mean, error in zip(column.size, column.mean, column.standard_error, strict=True):
            lines.append(f"{size:9d} {mean:12.6g} {error:10.2g}")
        lines[3 + point] += "  <"
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        column, point = self.chosen, self.best[1]
        title, chosen, *_ = repr(self).splitlines()
        figures = zip(column.size, column.mean, column.standard_error, strict=True)
        rows = [[f"{size}", f"{mean:.6g}", f"{error:.2g}", ""] for size, mean, error in figures]
        rows[point][-1] = "chosen"
        return html_table(title, ["features", "score", "standard error", ""], rows, [chosen])


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
    columns = [training.with_penalties(*pair) for pair in plan.shrinkage]
    total = len(columns) * (len(splits) + 1)
    parts = fold_trainings(training, splits)
    whole = [(column, plan, plan.lambda_0, options) for column in columns]
    full = run_tasks(fit_points, whole, n_jobs, task_progress(progress, 0, total))
    tasks = [
        (part.with_penalties(*pair), training, plan, fits.lambda_0, options, test, score)
        for pair, fits in zip(plan.shrinkage, full, strict=True)
        for part, (_, test) in zip(parts, splits, strict=True)
    ]
    results = run_tasks(score_fold, tasks, n_jobs, task_progress(progress, len(columns), total))
    filled = [
        make_column(training, pair, fits, results[number * len(splits) : (number + 1) * len(splits)], splits)
        for number, (pair, fits) in enumerate(zip(plan.shrinkage, full, strict=True))
    ]
    best = choose_point(
        [column.mean for column in filled], [column.standard_error for column in filled], [c.size for c in filled], plan.rule
    )
    names = training.problem.design.names
    return CrossValidation(plan.select, plan.rule, plan.scoring, filled, best, splits, names), full


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
    decision = fits.decision(part.problem, test)
    supports = [fits.support(point) for point in range(len(fits))]
    starts = np.cumsum([0] + [len(support) for support in supports])
    used = np.ones(starts[-1], dtype=bool)
    matrix = sparse.csr_matrix((used, np.concatenate(supports), starts), shape=(len(fits), part.problem.design.shape[1]))
    scores = score(training, decision, test)
    return FoldResult(scores, fits.sizes(part.problem), matrix, decision if plan.keep else None)


def make_column(
    training: Training, pair: tuple[float, float], fits: FittedPoints, results: list[FoldResult], splits: list[Split]
) -> Column:
    """Gather the results of all folds at one value of the second penalty."""
    scores = np.column_stack([result.scores for result in results])
    if np.isnan(scores).any():
        fold = int(np.flatnonzero(np.isnan(scores).any(axis=0))[0])
        raise InvalidInputError(
            f"scoring is undefined on the test rows of fold {fold + 1} of cv (they may lack a class, or have no weight)."
        )
    decision: Any = None
    if results[0].decision is not None:
        decision = np.full((len(training.problem.y), len(fits), len(training.targets)), np.nan)
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


def choose_point(means: list[Array], errors: list[Array], sizes: list[NDArray[np.int64]], rule: str) -> tuple[int, int]:
    """Return column and point of the best mean score or, with "one_se", of the smallest model within a standard error of it."""
    points = [(column, point) for column, mean in enumerate(means) for point in range(len(mean))]
    best = max(points, key=lambda at: (means[at[0]][at[1]], -sizes[at[0]][at[1]]))
    if rule == "best":
        return best
    enough = means[best[0]][best[1]] - errors[best[0]][best[1]]
    good = [at for at in points if means[at[0]][at[1]] >= enough]
    return min(good, key=lambda at: (sizes[at[0]][at[1]], -means[at[0]][at[1]]))
