"""What moves the prediction of one row: the contribution of each feature, compared with a reference row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.devices import at_hand
from ellzero.base.errors import InvalidInputError
from ellzero.base.notebook import html_table, text_table
from ellzero.base.quoting import quoted, shown
from ellzero.estimators.showing import heading, linear_functions
from ellzero.plots import plot_contributions
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
BAR = 24  # characters of the longest bar


class Contributions(NamedTuple):
    """Those to one score: of a class, or a number."""

    label: Any  # the class that the score is for; None for a single target
    names: list[str]
    values: list[str]  # of the row, as people read them
    amounts: Array  # coefficient * (value - reference), summed over the columns of a group; the largest first
    base: float  # the score of the reference
    score: float


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """What moves the prediction of one row, as ``explain(row)`` of estimators returns it.

    Attributes
    ----------
    heading : the model in a line
    parts : one for each score, with its contributions; score = base + their sum
    probabilities : of the classes that the parts are about; None without probabilities

    """

    heading: str
    parts: list[Contributions]
    probabilities: list[float] | None

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each feature, the largest contribution first, as a pandas data frame."""
        frames = []
        for part in self.parts:
            columns = {"name": part.names, "value": part.values, "contribution": part.amounts}
            frame = need("pandas", "frame").DataFrame(columns)
            if len(self.parts) > 1:
                frame.insert(0, "score", part.label)
            frames.append(frame)
        return need("pandas", "frame").concat(frames, ignore_index=True)

    def plot(self, ax: Axes | None = None, *, output: int = 0) -> Axes:
        """Draw the contributions to one score as bars, into `ax` if it is given (needs matplotlib)."""
        part = self.parts[output]
        labels = [f"{name} = {value}" for name, value in zip(part.names, part.values, strict=True)]
        return plot_contributions(labels, part.amounts.tolist(), self._title(output), "contribution to the score", ax)

    def _title(self, output: int) -> str:
        """Return a score, and what it means."""
        part = self.parts[output]
        whose = "prediction" if part.label is None else f"score of {shown(part.label)}"
        share = ""
        if self.probabilities is not None:
            p = self.probabilities[output]
            share = f", probability {'over 0.999' if p > 0.999 else 'under 0.001' if p < 0.001 else f'{p:.3f}'}"
        return f"{whose} {part.score:.4g}{share}"

    def _rows(self, part: Contributions) -> list[list[str]]:
        """Return the lines of a table, with bars."""
        largest = np.abs(part.amounts).max(initial=0.0) or 1.0
        bars = ["█" * max(1, round(BAR * abs(amount) / largest)) for amount in part.amounts]
        lines = [
            [name, value, f"{amount:+.4g}", bar]
            for name, value, amount, bar in zip(part.names, part.values, part.amounts, bars, strict=True)
        ]
        return [*lines, ["(reference)", "", f"{part.base:+.4g}", ""]]

    def __repr__(self) -> str:
        lines = [self.heading]
        for output, part in enumerate(self.parts):
            lines.append(self._title(output))
            table = text_table([["feature", "value", "contribution"], *(row[:3] for row in self._rows(part))])
            bars = ["", *(row[3] for row in self._rows(part))]
            lines += [f"{line}  {bar}".rstrip() for line, bar in zip(table, bars, strict=True)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = ["feature", "value", "contribution", ""]
        return "".join(
            html_table(f"{self.heading}: {self._title(output)}", head, self._rows(part))
            for output, part in enumerate(self.parts)
        )


def explain_row(estimator: Any, row: Any, reference: Any) -> Explanation:
    """Return what moves the prediction of a row away from that of the reference: another row, or the means of the fit."""
    x, functions = one_row(estimator, row, "row"), linear_functions(estimator)
    centre = getattr(estimator, "_centre", None)
    if reference is None and centre is None:
        raise InvalidInputError("reference must be a row: a model from a file does not know the means of its features.")
    other = {} if reference is None else one_row(estimator, reference, "reference")
    groups = getattr(estimator, "groups_", None)
    parts = []
    for function in functions:
        amounts, shown_values, score = dict[str, float](), dict[str, list[str]](), function.intercept
        for j, name, coef in zip(function.features.tolist(), function.names, function.coef.tolist(), strict=True):
            base = (centre or {})[j] if reference is None else other[j]
            variable = name if groups is None else groups[j]
            score += coef * x[j]
            amounts[variable] = amounts.get(variable, 0.0) + coef * (x[j] - base)
            cells = shown_values.setdefault(variable, [])
            if variable == name:
                cells.append(f"{x[j]:.6g}")
            elif x[j]:
                cells.append(name if x[j] == 1.0 else f"{name} = {x[j]:.6g}")
        names = sorted(amounts, key=lambda name: -abs(amounts[name]))
        values = [", ".join(map(shown, shown_values[name])) or "-" for name in names]
        moved = np.array([amounts[name] for name in names])
        parts.append(Contributions(function.label, list(map(shown, names)), values, moved, score - float(moved.sum()), score))
    return Explanation(heading(estimator), parts, probabilities_of(estimator, parts))


def probabilities_of(estimator: Any, parts: list[Contributions]) -> list[float] | None:
    """Return the probability of the class of each score, if there are probabilities."""
    if not hasattr(estimator, "predict_proba"):
        return None
    scores = np.array([[part.score for part in parts]])
    sign = -1.0 if estimator._reversed else 1.0
    shares = estimator._shares(sign * scores)[0]
    return [float(shares[0 if estimator._reversed else 1])] if len(parts) == 1 else shares.tolist()


def one_row(estimator: Any, row: Any, what: str) -> dict[int, float]:
    """Return the values of the features that a model uses in a row: an array, a mapping, a series, or a table of one row."""
    names = estimator._feature_names()
    if hasattr(row, "iloc") and np.ndim(row) == 2:
        row = row.iloc[0] if len(row) == 1 else row.to_numpy()
    if (isinstance(row, Mapping) or hasattr(row, "index")) and hasattr(row, "keys") and names is not None:
        place = {str(key): key for key in row.keys()}  # noqa: SIM118 - a series yields its values
        missing = [names[j] for j in estimator.support_ if names[j] not in place]
        if missing:
            raise InvalidInputError(f"{what} lacks {quoted(missing[0])}, which the model uses.")
        found = {int(j): row[place[names[j]]] for j in estimator.support_}
    else:
        flat = np.ravel(row.toarray() if sparse.issparse(row) else np.asarray(at_hand(row)))
        if len(flat) != estimator.n_features_in_:
            raise InvalidInputError(f"{what} must be one row of {estimator.n_features_in_} values, got {len(flat)}.")
        found = {int(j): flat[j] for j in estimator.support_}
    try:
        out = {j: float(value) for j, value in found.items()}
    except (TypeError, ValueError):
        raise InvalidInputError(f"{what} must hold numbers.") from None
    if bad := [j for j, value in out.items() if not np.isfinite(value)]:
        name = f"column {bad[0]}" if names is None else quoted(names[bad[0]])
        raise InvalidInputError(f"{what} has no finite number for {name}, which the model uses.")
    return out
