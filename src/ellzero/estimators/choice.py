"""The models that cross-validation compares, with their scores, and the choice among them with its reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from ellzero.base.notebook import html_table
from ellzero.estimators.choice_rules import GROWTH, RULES
from ellzero.estimators.scoring import NEGATIVE_LOSS, Parts, is_loss, name_score
from ellzero.plots import plot_trade
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
Place = tuple[int, int]  # a column, and a point of it


@dataclass(frozen=True, eq=False)
class Column:
    """Models and scores at one value of the second penalty, or models without lambda_0.

    There are m points (values of lambda_0, sizes, or values of lambda_1), F folds and C outputs.

    Attributes
    ----------
    lambda_1, lambda_2 : the second penalty
    lambda_0 : (m,), nan where points are sizes, 0 for models without lambda_0
    lasso : (m,) lambda_1 of models without lambda_0, or of those whose features were refitted; None in other columns
    refitted : whether these features are refitted, with lambda_2 alone
    size : (m,) features of the model of all rows
    coef : list of m CSR matrices of shape (C, p), of the models of all rows
    intercept : (m, C)
    scores : (m, F) held-out scores, greater is better
    parts : the scores on the single rows or, unless they are losses, on the folds
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
    parts: Parts
    fold_size: NDArray[np.int64]
    fold_supports: list[sparse.csr_matrix]
    held_out: list[tuple[NDArray[np.int64], Array]] | None = None
    n_rows: int = 0
    lasso: Array | None = None
    refitted: bool = False

    def penalties(self, point: int) -> tuple[float | None, float, float]:
        """Return lambda_0 (None for a model chosen by its size), lambda_1 and lambda_2 at a point."""
        lambda_0 = None if np.isnan(self.lambda_0[point]) else float(self.lambda_0[point])
        lambda_1 = self.lambda_1 if self.lasso is None or self.refitted else float(self.lasso[point])
        return lambda_0, lambda_1, self.lambda_2

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
class Candidate:
    """A model of the trade between features and held-out score.

    Attributes
    ----------
    size : number of features that pay lambda_0
    score, standard_error : held-out score over the folds
    behind, error : how much lower the score is than the best one, on the same rows, and the standard error of this difference
    lambda_0 : None for a model chosen by its size
    lambda_1, lambda_2 : the other penalties
    lasso : lambda_1 of the l1 model whose features were refitted without it; None for any other model
    place : (column, point) in ``cv_results_``

    """

    size: int
    score: float
    standard_error: float
    behind: float
    error: float
    lambda_0: float | None
    lambda_1: float
    lambda_2: float
    lasso: float | None
    place: Place

    def __str__(self) -> str:
        values = {"lambda_0": self.lambda_0, "lambda_1": self.lambda_1, "lambda_2": self.lambda_2}
        penalties = [f"{name} = {value:.3g}" for name, value in values.items() if value]
        penalties += [f"features of lambda_1 = {self.lasso:.3g}, refitted"] if self.lasso else []
        return count_features(self.size) + (f" ({', '.join(penalties)})" if penalties else "")


@dataclass(frozen=True, repr=False)
class Choice:
    """What cross-validation chose, and why: ``choice_`` of the estimators.

    Attributes
    ----------
    model : the chosen model
    trade : models of growing size, each with the best score so far: the chosen one, smaller ones, and the best one as the last
    why : the reason, and what more features would buy, in a sentence or two
    score_name : the score, or the loss that it is the negative of, in words
    is_loss : whether the scores are negatives of a loss

    """

    model: Candidate
    trade: tuple[Candidate, ...]
    why: str
    score_name: str
    is_loss: bool

    def to_frame(self) -> pd.DataFrame:
        """Return the trade as a pandas data frame, a row for each model."""
        frame = need("pandas", "frame").DataFrame([vars(each) | {"chosen": each == self.model} for each in self.trade])
        return frame.drop(columns="place")

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the held-out score against the number of features (needs matplotlib), into `ax` or a new figure."""
        sign, trade = -1.0 if self.is_loss else 1.0, self.trade
        return plot_trade(
            [each.size for each in trade],
            [sign * each.score for each in trade],
            [each.error for each in trade],
            trade.index(self.model),
            ax,
            label=self.score_name,
        )

    def __str__(self) -> str:
        return self.why

    def __repr__(self) -> str:
        head, *rows = self._table()
        mark = ["  <" if each == self.model else "" for each in self.trade]
        lines = [" ".join(f"{cell:>12}" for cell in row) for row in (head, *rows)]
        return "\n".join([self.why, lines[0], *(line + end for line, end in zip(lines[1:], mark, strict=True))])

    def _repr_html_(self) -> str:
        head, *rows = self._table()
        marked = [[*row, "chosen" if each == self.model else ""] for row, each in zip(rows, self.trade, strict=True)]
        return html_table(self.why, [*head, ""], marked)

    def _table(self) -> list[list[str]]:
        """Return the heading and the rows of the trade."""
        sign = -1.0 if self.is_loss else 1.0
        head = ["features", "loss" if sign < 0.0 else "score", "behind", "+-"]
        return [head] + [
            [f"{each.size:,}", f"{sign * each.score:.4g}", f"{each.behind:.2g}", f"{each.error:.2g}"] for each in self.trade
        ]


def places_of(columns: Sequence[Column]) -> list[Place]:
    """Return all places, column by column."""
    return [(number, point) for number, column in enumerate(columns) for point in range(len(column.size))]


def behind_best(columns: Sequence[Column]) -> tuple[int, Array, Array]:
    """Return the number of the best of all models, how far the others are behind on the same rows, and the standard errors."""
    means, sizes = np.concatenate([column.mean for column in columns]), np.concatenate([column.size for column in columns])
    best = int(np.lexsort((sizes, -means))[0])  # the last key counts first
    scores, parts = np.vstack([column.parts.scores for column in columns]), columns[0].parts
    lost, weight, count = scores[best] - scores, parts.weight / parts.weight.sum(), parts.count
    behind = lost @ weight
    spread = np.sqrt((lost - behind[:, None]) ** 2 @ (weight**2 / parts.repeats) * (count / max(count - 1.0, 1.0)))
    return best, behind, np.asarray(spread)


def choose_point(columns: Sequence[Column], rule: str) -> Place:
    """Return column and point of the model with the best mean score or, unless the rule is "best", of a smaller one.

    With "one_se" it is the smallest within one standard error of the best score. With "auto" and "sparse" it is the smallest
    that is not significantly worse than the best one on the same rows, and loses little of what that gains on no features.
    """
    places, (best, behind, error) = places_of(columns), behind_best(columns)
    means, sizes = np.concatenate([column.mean for column in columns]), np.concatenate([column.size for column in columns])
    if rule == "best":
        return places[best]
    if rule == "one_se":
        column, point = places[best]
        good = means >= means[best] - columns[column].standard_error[point]
    else:
        level, share = RULES[rule]
        good = behind <= stats.t.isf(level, max(columns[0].parts.count - 1.0, 1.0)) * error
        if not sizes.all():
            good &= behind <= share * behind[sizes == 0].min()
        good[best] = True
    good = np.flatnonzero(good)
    return places[good[np.lexsort((-means[good], sizes[good]))[0]]]


def explain(columns: Sequence[Column], chosen: Place, *, rule: str, scoring: str, loss: str) -> Choice:
    """Say what was chosen, why, and what other sizes give."""
    places, (best, behind, error) = places_of(columns), behind_best(columns)
    at = places.index(chosen)

    def candidate(number: int) -> Candidate:
        column, point = columns[places[number][0]], places[number][1]
        return Candidate(
            int(column.size[point]),
            float(column.mean[point]),
            float(column.standard_error[point]),
            float(behind[number]),
            float(error[number]),
            *column.penalties(point),
            float(column.lasso[point]) if column.lasso is not None and column.refitted else None,
            places[number],
        )

    model, first = candidate(at), candidate(best)
    name, sign = name_score(scoring, loss), -1.0 if is_loss(scoring) else 1.0
    extreme = "lowest" if sign < 0.0 else "highest"
    among = f"of {len(places)} models" if len(places) > 1 else "of one model"
    where = "on the same rows" if scoring == NEGATIVE_LOSS else "in the same folds"
    value = f"{sign * model.score:.4g} +- {model.standard_error:.2g}"
    if at == best:
        why = f"{model}: its {name}, {value}, is the {extreme} {among}"
        fewer = choose_point(columns, "sparse")
        size = int(columns[fewer[0]].size[fewer[1]])
        if size < model.size:
            lower = sign * float(columns[fewer[0]].mean[fewer[1]])
            why += f'; {count_features(size)} would have {lower:.4g} (rule="sparse")'
    else:
        of_best = f"the {extreme}, {sign * first.score:.4g} with {count_features(first.size)}"
        if rule == "one_se":
            close = f"is within one standard error ({first.standard_error:.2g}) of {of_best}"
        else:
            close = f"is not clearly worse than {of_best}: it is behind by {model.behind:.2g} +- {model.error:.2g} {where}"
        why = f"{model}: the smallest {among} whose {name}, {value}, {close}"
    return Choice(model, trade_of(columns, at, best, candidate), why + ".", name, sign < 0.0)


def trade_of(columns: Sequence[Column], chosen: int, best: int, candidate: Callable[[int], Candidate]) -> tuple[Candidate, ...]:
    """Return models of growing size, each with a better score than all smaller ones, not all of them, up to the best one."""
    means, sizes = np.concatenate([column.mean for column in columns]), np.concatenate([column.size for column in columns])
    kept, level, last = [chosen], -np.inf, -1.0
    for number in np.lexsort((-means, sizes)).tolist():
        if means[number] > level and sizes[number] != sizes[chosen]:
            level = means[number]
            beside = (1.0 + GROWTH) * max(last, float(sizes[chosen]) if sizes[number] > sizes[chosen] else last)
            if sizes[number] >= beside or number == best:
                kept.append(number)
                last = float(sizes[number])
        if number == best:
            break
    return tuple(candidate(number) for number in sorted(kept, key=lambda number: (sizes[number], means[number])))


def count_features(number: int) -> str:
    """Return a number of features in words."""
    return f"{number:,} feature{'' if number == 1 else 's'}"
