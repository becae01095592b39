"""Raw columns as yes-or-no questions: "age >= 60", "chest pain = asymptomatic", "glucose missing"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import (
    _check_feature_names,
    _check_feature_names_in,
    _check_n_features,
    check_array,
    check_is_fitted,
)

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import quoted
from ellzero.base.validation import as_count, if_given, refuse_masked
from ellzero.design.base import all_names
from ellzero.estimators.stored_input import quoting_safely
from ellzero.plots.steps import StepEffects, plot_steps

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
MUCH = 0.3  # share of the rows: that many at the least value have their own question, and the quantiles are those of the others
MONOTONE = ("increasing", "decreasing")


@dataclass(frozen=True)
class Question:
    """A question about a column; where its value is missing, the answer is no, but for the question after missing values.

    Attributes
    ----------
    column : the place of the column
    name : as people read it
    variable : the name of the column
    cut : "at least so much"; None: not of this kind
    value : "equal to this"; None: not of this kind either, the question is after missing values

    """

    column: int
    name: str
    variable: str
    cut: float | None = None
    value: Any = None

    def answers(self, values: NDArray[Any], missing: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the answers about the values of the column."""
        if self.cut is not None:
            return ~missing & (np.where(missing, -np.inf, values).astype(np.float64) >= self.cut)
        return missing if self.value is None else ~missing & np.asarray(values == self.value, dtype=bool)


class Thresholds(TransformerMixin, BaseEstimator):
    """Makes yes-or-no questions of raw columns, with names that read well: a transformer for score cards and additive models.

    Parameters
    ----------
    per : int or None
        Questions for each column of numbers, at most; their cuts are quantiles. None asks at every distinct value.
    cuts : mapping, optional
        Cuts for columns by name (or place), such as ``{"age": [45, 60, 75]}``.
    monotone : mapping, optional
        "increasing" or "decreasing" for columns by name: `lower_` and `upper_` then bound the coefficients of their questions,
        so that the effect of the column only rises, or only falls. Pass them on: ``L0Classifier(k=5, lower=cuts.lower_)``.

    Attributes
    ----------
    questions_ : list of Question, one for each column that it makes
    lower_, upper_ : bounds of coefficients, by `monotone`; infinite where there are none
    variables_ : the column that each question is about
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    Columns of zeros and ones stay unchanged. Text and categories get a question for each value, or one if there are two.
    Missing values get their own question where the fit has some; every other question about them is answered with no.
    Questions that all rows of the fit answer alike are left out. A data frame becomes a data frame, an array an array.

    Examples
    --------
    >>> import pandas as pd
    >>> import ellzero as ez
    >>> df = pd.DataFrame({"age": [30.0, 48.0, 62.0, None], "smokes": [0, 1, 1, 0], "pain": ["none", "some", "much", "none"]})
    >>> ez.Thresholds(cuts={"age": [45, 60]}).fit_transform(df).columns.tolist()
    ['age >= 45', 'age >= 60', 'age missing', 'smokes', 'pain = much', 'pain = none', 'pain = some']

    """

    def __init__(
        self,
        per: int | None = 4,
        *,
        cuts: Mapping[Any, Sequence[float]] | None = None,
        monotone: Mapping[Any, str] | None = None,
    ) -> None:
        self.per = per
        self.cuts = cuts
        self.monotone = monotone

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def fit(self, X: Any, y: ArrayLike | None = None) -> Thresholds:
        """Learn the questions.

        Parameters
        ----------
        X : (n, p) data frame or array; numbers, text or categories
        y : ignored

        Returns
        -------
        self

        """
        if_given(as_count, "per", self.per, 1)
        columns, names = self._columns(X, reset=True)
        cuts, monotone = (by_place(name, getattr(self, name), names) for name in ("cuts", "monotone"))
        for place, direction in monotone.items():
            if direction not in MONOTONE:
                raise InvalidInputError(f"monotone must say 'increasing' or 'decreasing', got {quoted(direction)}.")
            if not holds_numbers(columns[place]):
                raise InvalidInputError(f"monotone names {quoted(names[place])}, which is not a column of numbers.")
        self.questions_: list[Question] = []
        for j, (name, values) in enumerate(zip(names, columns, strict=True)):
            missing = missing_in(values)
            found = self._questions(j, name, values[~missing], cuts.get(j))
            if missing.any():
                found.append(Question(j, f"{name} missing", name))
            for question in found:
                answers = question.answers(values, missing)
                if answers.any() and not answers.all():
                    self.questions_.append(question)
        if not self.questions_:
            n = len(columns[0])
            rows = f"{n} sample{'s' * (n != 1)}"
            raise InvalidInputError(f"every column of X is constant in {rows}: there is nothing to ask.")
        written = [question.name for question in self.questions_]
        if len(set(written)) < len(written):
            twice = next(name for name in written if written.count(name) > 1)
            raise InvalidInputError(f"two questions would be called {quoted(twice)}; rename a column.")
        sides = [monotone.get(question.column) if question.cut is not None else None for question in self.questions_]
        self.lower_ = np.array([0.0 if side == "increasing" else -np.inf for side in sides])
        self.upper_ = np.array([0.0 if side == "decreasing" else np.inf for side in sides])
        self.variables_ = [question.variable for question in self.questions_]
        return self

    def transform(self, X: Any) -> Any:
        """Return the answers: a column of zeros and ones for each question.

        Parameters
        ----------
        X : (n, p) data frame or array, with the columns of the fit

        Returns
        -------
        (n, questions) data frame if X is one, else array

        """
        check_is_fitted(self)
        columns, _ = self._columns(X, reset=False)
        missing = [missing_in(values) for values in columns]
        out = np.empty((len(columns[0]), len(self.questions_)), dtype=np.uint8)
        for j, question in enumerate(self.questions_):
            out[:, j] = question.answers(columns[question.column], missing[question.column])
        if hasattr(X, "columns") and hasattr(X, "index"):
            return type(X)(out, columns=self.get_feature_names_out(), index=X.index)
        return out

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the questions, as people read them.

        Parameters
        ----------
        input_features : names of the columns of X, if the fit knew none

        Returns
        -------
        (questions,) array of texts

        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return np.array([str(names[each.column]) + each.name[len(each.variable) :] for each in self.questions_], dtype=object)

    def shapes(self, model: Any) -> list[StepEffects]:
        """Return the effect of each column of numbers in a model of these questions.

        Parameters
        ----------
        model : a fitted classifier or regressor of two classes or one target, or a score card, whose effects are in points

        Returns
        -------
        list of (name, cuts, effects, missing)
            The effect is zero below the first cut, and ``effects[i]`` from ``cuts[i]`` on; ``missing`` is that of no value.

        """
        check_is_fitted(self)
        check_is_fitted(model)
        coef = model.points_ if hasattr(model, "points_") else model.coef_
        coef = np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=np.float64)
        if coef.size != len(self.questions_):
            raise InvalidInputError(
                f"model must have a coefficient for each of {len(self.questions_)} questions, got {coef.shape}."
            )
        effects: dict[int, list[tuple[float, float]]] = {}
        missing: dict[int, float] = {}
        for question, value in zip(self.questions_, coef.ravel().tolist(), strict=True):
            if question.cut is not None:
                effects.setdefault(question.column, []).append((question.cut, value))
            elif question.value is None:
                missing[question.column] = value
        names = dict(zip((question.column for question in self.questions_), self.variables_, strict=True))
        return [
            StepEffects(
                names[j], np.array([cut for cut, _ in steps]), np.cumsum([value for _, value in steps]), missing.get(j, 0.0)
            )
            for j, steps in effects.items()
        ]

    def plot(self, model: Any, top: int = 9) -> Figure:
        """Draw the effect of each column of numbers in a model of these questions, as steps.

        Parameters
        ----------
        model : as for `shapes`
        top : the largest number of columns; those with the largest effects are shown

        Returns
        -------
        matplotlib Figure

        """
        unit = "points" if hasattr(model, "points_") else "log-odds" if hasattr(model, "classes_") else "effect"
        return plot_steps(self.shapes(model), top, unit)

    def _columns(self, X: Any, reset: bool) -> tuple[list[NDArray[Any]], list[str]]:
        """Return the columns of a table, numbers as float64 and text as objects, and their names."""
        refuse_masked("X", X)
        with quoting_safely():
            checked = validated(self, X, reset)
        names = [str(name) for name in getattr(self, "feature_names_in_", all_names(None, checked[1]))]
        columns = []
        for name, values in zip(names, checked[0], strict=True):
            try:
                column: NDArray[Any] = np.asarray(values, dtype=np.float64)
            except (TypeError, ValueError):
                column = np.asarray(values, dtype=object)
            if holds_numbers(column) and np.isinf(column).any():
                raise InvalidInputError(f"column {quoted(name)} of X holds infinite values.")
            columns.append(column)
        return columns, names

    def _questions(self, j: int, name: str, values: NDArray[Any], cuts: Sequence[float] | None) -> list[Question]:
        """Return the questions about the values of a column that are known."""
        if not holds_numbers(values):
            if cuts is not None:
                raise InvalidInputError(f"cuts names {quoted(name)}, which is not a column of numbers.")
            texts = sorted({str(value): value for value in values}.items())
            return [Question(j, f"{name} = {text}", name, value=value) for text, value in texts[len(texts) == 2 :]]
        distinct = np.unique(values)
        if cuts is None and np.isin(distinct, (0.0, 1.0)).all():
            return [Question(j, name, name, cut=1.0)]
        found = np.unique(np.asarray(quantile_cuts(values, distinct, self.per) if cuts is None else cuts, dtype=np.float64))
        if not np.isfinite(found).all():
            raise InvalidInputError(f"cuts of {quoted(name)} must be finite numbers.")
        shown = [f"{cut:.6g}" for cut in found]
        shown = shown if len(set(shown)) == len(shown) else [repr(float(cut)) for cut in found]
        return [Question(j, f"{name} >= {text}", name, cut=float(cut)) for text, cut in zip(shown, found, strict=True)]


def validated(estimator: Thresholds, X: Any, reset: bool) -> tuple[list[Any], int]:
    """Return the columns of a table unchanged, after scikit-learn's checks of names, numbers of columns and shape."""
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        if not len(X):
            raise InvalidInputError("X must have at least one row.")
        columns = [X.iloc[:, j] for j in range(X.shape[1])]
        columns = [each.to_numpy(dtype=object, na_value=None) if each.dtype.kind not in "iufb" else each for each in columns]
        whole: Any = X
    else:
        whole = check_array(X, dtype=None, ensure_all_finite=False, estimator=estimator)
        columns = list(whole.T)
    _check_feature_names(estimator, X, reset=reset)
    _check_n_features(estimator, whole, reset=reset)
    return columns, whole.shape[1]


def by_place(argument: str, given: Mapping[Any, Any] | None, names: list[str]) -> dict[int, Any]:
    """Return what is given for columns by name, or by place."""
    out = {}
    for key, value in (given or {}).items():
        if key not in names and not (isinstance(key, (int, np.integer)) and 0 <= key < len(names)):
            raise InvalidInputError(f"{argument} names {quoted(key)}, which is not a column of X.")
        out[names.index(key) if key in names else int(key)] = value
    return out


def holds_numbers(values: NDArray[Any]) -> bool:
    """Return whether a column holds numbers."""
    return values.dtype.kind == "f"


def missing_in(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where a column has no value."""
    if holds_numbers(values):
        return np.isnan(values)
    return np.array([value is None or value != value for value in values], dtype=bool)


def quantile_cuts(values: Array, distinct: Array, per: int | None) -> Array:
    """Return cuts at values that occur: all above the least one if there are few, else quantiles."""
    if per is None or len(distinct) <= per + 1:
        return distinct[1:]
    shares = np.arange(1, per + 1) / (per + 1)
    above = values[values > distinct[0]]
    if len(above) < (1.0 - MUCH) * len(values):
        rest = np.quantile(above, np.arange(1, per) / per, method="higher") if per > 1 else np.zeros(0)
        return np.append(distinct[1], rest)
    found = np.quantile(values, shares, method="higher")
    return np.asarray(found[found > distinct[0]])
