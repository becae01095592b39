"""The results of cross-validation: tables, words and pictures of the scores, and the choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ellzero.base.notebook import html_table
from ellzero.estimators.choice import Choice, Column, Place
from ellzero.estimators.resampling import Split
from ellzero.estimators.scoring import NEGATIVE_LOSS, is_loss, name_score
from ellzero.plots import FoldSupports, ScoreLine, plot_scores, plot_supports
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

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
    best : (column, point) of the chosen model
    choice : Choice: what was chosen, and why
    splits : list of (training rows, test rows)
    names : names of the features, or None
    separate : whether each of several classes has features of its own

    """

    select: str
    rule: str
    scoring: str
    columns: list[Column]
    best: Place
    choice: Choice
    splits: list[Split]
    names: list[str] | None = None
    separate: bool = False

    @property
    def chosen(self) -> Column:
        """The column of `best`."""
        return self.columns[self.best[0]]

    @property
    def held_out(self) -> str:
        """The held-out score of the choice in words; a loss is positive."""
        value, error = self.as_shown(self.choice.model.score), self.choice.model.standard_error
        return f"held-out {self.score_name} {value:.4g} +- {error:.2g}"

    @property
    def score_name(self) -> str:
        """The name of the score, or of the loss that it is the negative of."""
        return "loss" if self.scoring == NEGATIVE_LOSS else name_score(self.scoring, "").removeprefix("held-out ")

    def as_shown(self, score: float) -> float:
        """Return `score` as people read it: a loss is positive."""
        return -score if is_loss(self.scoring) else score

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each point of each column, as a pandas data frame."""
        pandas = need("pandas", "frame")

        frames = []
        for number, column in enumerate(self.columns):
            frame = {
                "lambda_0": column.lambda_0,
                "lambda_1": [column.penalties(point)[1] for point in range(len(column.size))],
                "lambda_2": column.lambda_2,
                "size": column.size,
                "mean_score": column.mean,
                "standard_error": column.standard_error,
                "chosen": [(number, point) == self.best for point in range(len(column.size))],
            }
            folds = {f"fold_{fold + 1}": column.scores[:, fold] for fold in range(column.scores.shape[1])}
            frames.append(pandas.DataFrame(frame | folds))
        return pandas.concat(frames, ignore_index=True)

    def plot(self, ax: Axes | None = None, *, against: str = "size") -> Axes:
        """Draw the score `against` "size" or "lambda_0", with error bars and the chosen point (needs matplotlib).

        It is drawn into the axes `ax`, or into a new figure.
        """
        lines = [
            ScoreLine(
                c.lambda_1,
                c.lambda_2,
                c.lambda_0,
                c.size,
                c.mean,
                c.standard_error,
                "" if c.lasso is None else "l1's, refitted" if c.refitted else "l1",
            )
            for c in self.columns
            if against == "size" or c.lasso is None
        ]
        return plot_scores(lines, self.best, ax, against=against, scoring=self.scoring, one_se=self.rule == "one_se")

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
                f"{self.held_out} ({'lower' if is_loss(self.scoring) else 'higher'} is better; {len(self.splits)} folds, "
                f"{models} models)",
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
            return [*([f"{of_class[point]}"] if own else []), f"{size}", f"{self.as_shown(mean):.6g}", f"{error:.2g}"]

        head = [*(["per class", "in all"] if own else ["features"]), "loss" if is_loss(self.scoring) else "score", "+-"]
        return head, [row(point) for point in sorted(best.values())], row(chosen)
