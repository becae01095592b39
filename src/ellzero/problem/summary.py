"""A model as a table for readers: coefficients, effects of one standard deviation, odds ratios, and what to make of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.notebook import html_table, text_table
from ellzero.base.quoting import shown
from ellzero.problem.fit_statistics import FitStatistics
from ellzero.problem.losses import Loss
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]
HONEST = "No standard errors or p-values: on the rows that chose the features, they would be far too small."
CHOOSES = "ez.inference(X, y, k={size}{loss}) chooses on half of the rows and measures on the other half."
SAME_ROWS = "Log-likelihood, AIC and BIC are of the rows that chose the features, which makes them too good."
ODDS = (
    "An odds ratio is the factor by which the odds of the class change when the feature grows by one unit (per sd: by one "
    "standard deviation) and the others stay unchanged."
)
SHARED_ODDS = (
    "When a feature grows by one unit (per sd: by one standard deviation) and the others stay unchanged, the odds of one class "
    "against another change by the ratio of their two odds ratios."
)


@dataclass(frozen=True, eq=False)
class Effects:
    """One linear function: the label, or the number of the target, that it speaks for, and features, coefficients and spreads.

    The label of a single target is None.
    """

    label: Any
    features: NDArray[Any]  # their indices
    names: list[str]
    coef: Array
    spread: Array  # standard deviations, nan where they are not known
    intercept: float


@dataclass(frozen=True, eq=False, repr=False)
class Summary:
    """Coefficients with their effects, as ``summary()`` of models and estimators returns them.

    Attributes
    ----------
    heading : the model in a line
    parts : list of Effects, one for each output
    loss : the logistic and the multinomial one have odds ratios
    kind : what several outputs are: "class" or "target"
    statistics : likelihood and criteria; None if they are not known, as of a model from a file

    """

    heading: str
    parts: list[Effects]
    loss: Loss
    kind: str = "class"
    statistics: FitStatistics | None = None

    @property
    def odds(self) -> bool:
        """Whether there are odds ratios."""
        return self.loss.has_probabilities

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each feature and the intercept of each output, as a pandas data frame."""
        pandas = need("pandas", "frame")
        frames = []
        for part in self.parts:
            per_sd = part.coef * part.spread
            frame = pandas.DataFrame(
                {
                    "name": [*part.names, "(intercept)"],
                    "coefficient": [*part.coef, part.intercept],
                    "per_sd": [*per_sd, np.nan],
                }
            )
            if self.odds:
                with np.errstate(over="ignore"):
                    frame["odds_ratio"] = [*np.exp(part.coef), np.nan]
                    frame["odds_ratio_per_sd"] = [*np.exp(per_sd), np.nan]
            if len(self.parts) > 1:
                frame.insert(0, self.kind, part.label)
            frames.append(frame)
        return pandas.concat(frames, ignore_index=True)

    def _header(self) -> list[str]:
        """Return the names of the columns."""
        odds = ["odds ratio", "odds ratio per sd"] if self.odds else []
        return ["feature", "coefficient", "per sd", *odds]

    def _rows(self, part: Effects) -> list[list[str]]:
        """Return the rows of one output."""
        per_sd = part.coef * part.spread
        columns = [part.coef, per_sd]
        if self.odds:
            with np.errstate(over="ignore"):
                columns += [np.exp(part.coef), np.exp(per_sd)]
        figures = np.column_stack(columns).tolist()
        rows = [[shown(name), *map(figure, row)] for name, row in zip(part.names, figures, strict=True)]
        return [*rows, ["(intercept)", figure(part.intercept), *[""] * (len(columns) - 1)]]

    def _notes(self) -> list[str]:
        """Return how to read the table, and what must not be read into it."""
        size = max((len(part.names) for part in self.parts), default=0)
        notes = [HONEST]
        if len(self.parts) == 1:
            loss = ', loss="squared_error"' if self.parts[0].label is None else ""
            notes = [f"{HONEST} {CHOOSES.format(size=size, loss=loss)}"]
        if self.odds:
            notes.insert(0, SHARED_ODDS if self.loss.couples_outputs else ODDS)
        if self.statistics is not None and self.statistics.likelihood:
            notes.append(SAME_ROWS)
        return notes

    def _facts(self) -> list[str]:
        """Return the line of figures of the fit, if they are known."""
        return [] if self.statistics is None else [str(self.statistics)]

    def _title(self, part: Effects) -> str:
        """Return what one of several outputs speaks for."""
        if self.kind == "target":
            return f"target {part.label}"
        return f"{shown(part.label)}" if self.loss.couples_outputs else f"{shown(part.label)} against the rest"

    def __repr__(self) -> str:
        lines = [self.heading, *self._facts()]
        for part in self.parts:
            if len(self.parts) > 1:
                lines.append(self._title(part))
            lines += text_table([self._header(), *self._rows(part)])
        return "\n".join([*lines, *self._notes()])

    def _repr_html_(self) -> str:
        heading = ". ".join([self.heading, *self._facts()])
        titles = [f"{heading}: {self._title(part)}" if len(self.parts) > 1 else heading for part in self.parts]
        tables = [html_table(title, self._header(), self._rows(part)) for title, part in zip(titles, self.parts, strict=True)]
        return "".join(tables) + html_table(self._notes()[0], [], [], self._notes()[1:])


def effect_sizes(coef: Array, spread: Array) -> Array:
    """Return the effect of one standard deviation of each feature, the largest of several outputs (rows of `coef`).

    Where standard deviations are not known, it is the size of the coefficient.
    """
    sizes = np.abs(np.atleast_2d(coef)).max(axis=0, initial=0.0)
    return np.asarray(sizes * spread if np.isfinite(spread).all() else sizes)


def figure(value: float) -> str:
    """Return a number of four digits, or nothing if it is not known."""
    return "" if np.isnan(value) else f"{value:.4g}"
