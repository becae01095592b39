"""The models that cross-validation compares, with their scores, the choice among them, and the reason for it in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.estimators.choice_rules import CLOSE, WORTH_AVERAGING
from ellzero.estimators.scoring import is_loss, name_score

Array = NDArray[np.float64]
Place = tuple[int, int]  # a column, and a point of it


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
    held_out : list of F pairs of a fold's test rows and the decision values there, of shape (test rows, m, C); or None
    n_rows : n

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
    held_out: list[tuple[NDArray[np.int64], Array]] | None = None
    n_rows: int = 0

    @property
    def decision(self) -> Array | None:
        """(n, m, C) held-out decision values (nan for rows that no fold tests), or None."""
        if self.held_out is None:
            return None
        out = np.full((self.n_rows, *self.held_out[0][1].shape[1:]), np.nan)
        for test, values in self.held_out:
            out[test] = values
        return out

    def reversed(self) -> Column:
        """Return the column with coefficients and decision values that speak for the first of two classes."""
        held_out = None if self.held_out is None else [(test, -values) for test, values in self.held_out]
        return replace(self, coef=[-rows for rows in self.coef], intercept=-self.intercept, held_out=held_out)

    @property
    def mean(self) -> Array:
        """(m,) mean score over folds."""
        return np.asarray(self.scores.mean(axis=1))

    @property
    def standard_error(self) -> Array:
        """(m,) standard error of the mean; zero if there is one fold only."""
        return standard_error(self.scores)


def standard_error(scores: Array) -> Array:
    """Return the standard error of the mean over the last axis, the folds; zero if there is one fold only."""
    folds = scores.shape[-1]
    return np.asarray(scores.std(axis=-1, ddof=1) / np.sqrt(folds)) if folds > 1 else np.zeros(scores.shape[:-1])


@dataclass(frozen=True)
class ChosenModel:
    """The model that was chosen, or one of those whose mean was.

    Attributes
    ----------
    lambda_0 : None for a model chosen by its size
    lambda_1, lambda_2 : the second penalty
    size : number of features that pay lambda_0

    """

    lambda_0: float | None
    lambda_1: float
    lambda_2: float
    size: int

    def __str__(self) -> str:
        values = {"lambda_0": self.lambda_0, "lambda_1": self.lambda_1, "lambda_2": self.lambda_2}
        penalties = ", ".join(f"{name} = {value:.3g}" for name, value in values.items() if value)
        return count_features(self.size) + (f" ({penalties})" if penalties else "")


@dataclass(frozen=True)
class Choice:
    """What cross-validation chose, and why: ``choice_`` of the estimators.

    Attributes
    ----------
    models : the chosen model or, if the estimator is the mean of several, all of them, the best one first
    size : number of features that pay lambda_0, of all these models together
    score, standard_error : held-out score over the folds; that of the mean, if there are several models
    why : the reason, in a sentence or two

    """

    models: tuple[ChosenModel, ...]
    size: int
    score: float
    standard_error: float
    why: str

    def __str__(self) -> str:
        return self.why


def choose_point(columns: Sequence[Column], rule: str, scoring: str) -> Place:
    """Return column and point of the best mean score or, unless the rule is "best", of the smallest model close to it.

    With "one_se" that is within one standard error; with "auto" within 1 %, if the score is a loss: what a hundredth of other
    scores is worth, nobody knows.
    """
    places = [(number, point) for number, column in enumerate(columns) for point in range(len(column.size))]
    means = np.concatenate([column.mean for column in columns])
    sizes = np.concatenate([column.size for column in columns])
    best = int(np.lexsort((sizes, -means))[0])  # the last key counts first
    if rule == "best" or (rule == "auto" and not is_loss(scoring)):
        return places[best]
    column, point = places[best]
    close = columns[column].standard_error[point] if rule == "one_se" else CLOSE * abs(means[best])
    good = np.flatnonzero(means >= means[best] - close)
    return places[good[np.lexsort((-means[good], sizes[good]))[0]]]


def choose_mean(
    columns: Sequence[Column], best: Place, rate: Callable[[list[Place], int], Array], most: int
) -> tuple[list[Place], Array]:
    """Return the models whose mean is chosen, the best one first, and the score of their mean in each fold.

    To the best model others are added, one at a time, as long as that raises the score by 0.3 % of its value.
    ``rate(places, column)`` returns the scores, of shape (points, folds), of the mean of some models with each of a column.
    """
    places, scores = [best], columns[best[0]].scores[best[1]]
    while len(places) < most:
        trials = [rate(places, column) for column in range(len(columns))]
        for column, point in places:
            trials[column][point] = -np.inf
        column = int(np.argmax([trial.mean(axis=1).max() for trial in trials]))
        point = int(trials[column].mean(axis=1).argmax())
        found = trials[column][point]
        if found.mean() <= scores.mean() + WORTH_AVERAGING * abs(scores.mean()):
            break
        places.append((column, point))
        scores = found
    return places, scores


def explain(
    columns: Sequence[Column], places: Sequence[Place], scores: Array, size: int, *, rule: str, scoring: str, loss: str
) -> Choice:
    """Say what was chosen and why; `size` is that of the models at all places together, `scores` are those of their mean."""
    models = tuple(model_at(columns[column], point) for column, point in places)
    score, error = float(scores.mean()), float(standard_error(scores))
    name, sign = name_score(scoring, loss), -1.0 if is_loss(scoring) else 1.0
    first = choose_point(columns, "best", scoring)
    best = float(columns[first[0]].mean[first[1]])
    extreme, compared = "lowest" if sign < 0.0 else "highest", sum(len(column.size) for column in columns)
    among = f"of {compared} models" if compared > 1 else "of one model"
    value = f"{sign * score:.4g} +- {error:.2g}"
    if len(models) > 1:
        better = f"{100.0 * abs(score - best) / abs(best):.2g} % better than" if best else "better than"
        *others, last = map(str, models)
        what = f"the mean of {len(models)} models, of {', '.join(others)} and {last}, which has {count_features(size)}"
        why = f"{what}: its {name}, {value}, is {better} {sign * best:.4g}, the {extreme} {among}"
    elif places[0] != first:
        limit = float(columns[first[0]].standard_error[first[1]])
        close = f"one standard error ({limit:.2g})" if rule == "one_se" else f"{100.0 * CLOSE:g} %"
        of_best = f"of the {extreme}, {sign * best:.4g} with {count_features(int(columns[first[0]].size[first[1]]))}"
        why = f"{models[0]}: the smallest {among} whose {name}, {value}, is within {close} {of_best}"
    else:
        why = f"{models[0]}: its {name}, {value}, is the {extreme} {among}"
    smaller = choose_point(columns, "one_se", scoring)
    fewer = int(columns[smaller[0]].size[smaller[1]])
    if rule != "one_se" and fewer < size:
        why += f'; {count_features(fewer)} would be within one standard error of that (rule="one_se")'
    return Choice(models, size, score, error, why[0].upper() + why[1:] + ".")


def model_at(column: Column, point: int) -> ChosenModel:
    """Return the penalties and the size of a model."""
    lambda_0 = None if np.isnan(column.lambda_0[point]) else float(column.lambda_0[point])
    return ChosenModel(lambda_0, column.lambda_1, column.lambda_2, int(column.size[point]))


def count_features(number: int) -> str:
    """Return a number of features in words."""
    return f"{number:,} feature{'' if number == 1 else 's'}"
