"""One fitted model, on the user's scale and with the user's labels."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax

from ellzero.base.devices import at_hand
from ellzero.base.errors import InvalidInputError
from ellzero.base.notebook import html_table
from ellzero.base.quoting import quoted, shown
from ellzero.base.validation import as_response, as_vector, as_weights
from ellzero.design import Design, as_design
from ellzero.problem.coefficients import Coefficients, coefficient_rows, squeezed
from ellzero.problem.fit_statistics import FitStatistics
from ellzero.problem.losses import Logistic, Loss
from ellzero.problem.model_file import FitSettings, ModelContent, write_model_file
from ellzero.problem.problem import Problem
from ellzero.problem.summary import Effects, Summary, effect_sizes, figure
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]


def feature_name(names: Sequence[str] | None, j: int) -> str:
    """Return the name of feature `j`: its column's name, or x<j>."""
    return f"x{j}" if names is None else names[j]


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A linear model with few features, as ``path[i]`` and ``path.at_support(k)`` return it.

    Attributes
    ----------
    support : indices of the features with a nonzero coefficient
    values : their coefficients, on the scale of X; of several outputs, a column for each
    intercept : float, or one for each output
    n_features : the number of columns of X
    cost : G, the loss with the l1 and l2 terms but without lambda_0, recomputed from the raw data
    size : the number of features that pay lambda_0: columns, or groups of them
    spent : the sum of their costs (`feature_cost`): the size, if no feature has its own cost
    lambda_0 : the penalty it was chosen at; None for a model chosen by its size
    objective : P at lambda_0; the cost, for a model chosen by its size
    loss : the loss, which is equal to its name: ``model.loss == "logistic"``

    """

    support: NDArray[np.int32]
    values: Array
    intercept: Any
    n_features: int
    cost: float
    size: int
    lambda_0: float | None
    objective: float
    loss: Loss
    classes: NDArray[Any] | None
    names: list[str] | None
    spread: Array  # standard deviations of the features, in the data of the fit
    spent: float
    groups: tuple[str, ...] | None  # the name of each column's group; None without groups
    centre: Array  # means of the features, in the data of the fit
    statistics: FitStatistics | None = None

    @property
    def outputs(self) -> int:
        """The number of outputs: classes of the multinomial loss, targets, or one."""
        return 1 if self.values.ndim == 1 else self.values.shape[1]

    @property
    def used_groups(self) -> list[str] | None:
        """The groups with a nonzero coefficient, in the order of their columns; None without groups."""
        return None if self.groups is None else list(dict.fromkeys(self.groups[j] for j in self.support))

    @property
    def coefficients(self) -> Coefficients:
        """Support, values and intercept, with an axis for outputs even if there is one."""
        return Coefficients(self.support, self.values.reshape(len(self.support), self.outputs), np.atleast_1d(self.intercept))

    def objective_at(self, lambda_0: float) -> float:
        """Return P = cost + `lambda_0` * spent at any `lambda_0`, up to rounding."""
        return self.cost + lambda_0 * self.spent

    @property
    def coef(self) -> Array:
        """All coefficients, dense, of shape (p,); of several outputs, (outputs, p)."""
        out = np.zeros((self.n_features, *self.values.shape[1:]))
        out[self.support] = self.values
        return out.T

    def decision_function(self, X: object) -> Array:
        """Return `X` coef + intercept for the rows of `X`, which has the columns of the fit.

        Its shape is (n,), or (n, outputs) for several.
        """
        design = as_design(X)
        if design.shape[1] != self.n_features:
            raise InvalidInputError(f"X must have {self.n_features} columns, got {design.shape[1]}.")
        if self.names is not None and design.names is not None and design.names != self.names:
            raise InvalidInputError("X must have the columns that the model was fitted on, in the same order.")
        eta = np.column_stack([design.matvec(self.support, np.ascontiguousarray(column)) for column in self._columns()])
        eta = squeezed(eta) + self.intercept
        if not np.isfinite(eta).all():
            refuse_infinite_columns(self, design)
        return eta

    def predict(self, X: object) -> NDArray[Any]:
        """Return the predicted labels of the rows of `X`, as the user wrote them (numbers, for a regression)."""
        eta = self.decision_function(X)
        if self.classes is None:
            return eta
        return self.classes[eta.argmax(axis=1) if self.loss.couples_outputs else (eta > 0.0).astype(int)]

    def predict_proba(self, X: object) -> Array:
        """Return the probabilities of all classes, in the order of `classes`, for the rows of `X`.

        Only the logistic and the multinomial loss have any. Of several logistic targets, these are the probabilities of the
        second class, one column for each target.
        """
        if not self.loss.has_probabilities:
            raise InvalidInputError(
                f"predict_proba needs probabilities, which loss={self.loss.name!r} does not have: use loss='logistic', "
                "L0Classifier(probability=True), or rank rows by decision_function."
            )
        eta = self.decision_function(X)
        if self.loss.couples_outputs:
            return np.asarray(softmax(eta, axis=1))
        second = expit(eta)
        if self.outputs > 1:
            return np.asarray(second)
        return np.column_stack([1.0 - second, second])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to `path` as JSON; :func:`ellzero.load` reads it back as an estimator with the same predictions."""
        write_model_file(path, self.file_content(FitSettings(lambda_0=self.lambda_0)))

    def file_content(self, settings: FitSettings) -> ModelContent:
        """Return the content of the model's file; `settings` are the known settings of the fit.

        A multinomial model of two classes is a logistic one, whose coefficients are the differences of the two classes.
        """
        loss, at = self.loss, self.coefficients
        if self.outputs > 1 and self.classes is not None and not loss.couples_outputs:
            raise InvalidInputError("a model of several targets with classes cannot be saved: save the estimator.")
        if loss.couples_outputs and self.outputs == 2:
            loss, at = Logistic(), Coefficients(self.support, np.diff(self.values), np.diff(self.intercept))
        return ModelContent(
            loss=loss,
            coef=coefficient_rows([at], self.n_features),
            intercept=at.intercept,
            classes=self.classes,
            names=self.names,
            settings=settings,
            multi_class=loss.name if loss.couples_outputs else None,
        )

    def feature_name(self, j: int) -> str:
        """Return the name of feature `j`: its column's name, or x<j>."""
        return feature_name(self.names, j)

    def score(self, X: object, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on rows `X` with labels `y`; of a regression R squared, the share of the variance it explains.

        Of several targets it is the mean of these shares, and rows count as right only if all labels are.

        Rows count by their `sample_weight`, if it is given.

        Examples
        --------
        >>> import ellzero as ez
        >>> X, y, _ = ez.datasets.make_classification(200, 50, 2, s=3.0, random_state=0)
        >>> model = ez.fit_path(X, y, max_support=2).at_support(2)
        >>> bool(abs(model.score(X, y) - (model.predict(X) == y).mean()) < 1e-12)
        True

        """
        predicted = self.predict(X)
        n = len(predicted)
        w = as_weights(sample_weight, n)
        if self.classes is not None:
            labels = np.asarray(at_hand(y))
            labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
            if labels.shape != predicted.shape:
                raise InvalidInputError(f"y must have shape {predicted.shape} like the predictions, got {labels.shape}.")
            right = predicted == labels
            return float(w @ (right if right.ndim == 1 else right.all(axis=1)))
        truth = as_response(y, n)
        if truth.shape != predicted.shape:
            raise InvalidInputError(f"y must have shape {predicted.shape} like the predictions, got {truth.shape}.")
        total = np.atleast_1d(w @ (truth - w @ truth) ** 2)
        error = np.atleast_1d(w @ (truth - predicted) ** 2)
        explained = np.where(total > 0.0, 1.0 - error / np.where(total > 0.0, total, 1.0), error == 0.0)
        return float(explained.mean())

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each coefficient, the largest effect first, and the intercept, as a pandas data frame.

        Its columns are ``feature`` (the index, -1 for the intercept), ``name``, ``coefficient`` and ``per_sd``: the coefficient
        of the standardised feature, the effect of one standard deviation. With groups, ``group`` is the name of each column's.
        Of several outputs, ``output`` is the class, or the number of the target, that a row belongs to.
        """
        order = self._order()
        spread = self.spread[order]
        labels, columns = self.output_labels(), dict[str, list[Any]]()
        for label, values, intercept in zip(labels, self._columns(), self.coefficients.intercept, strict=True):
            part: dict[str, list[Any]] = {
                "feature": [*self.support[order].tolist(), -1],
                "name": [*(self.feature_name(int(j)) for j in self.support[order]), "(intercept)"],
                "coefficient": [*values[order], float(intercept)],
                "per_sd": [*(values[order] * spread), np.nan],
            }
            if self.groups is not None:
                part["group"] = [*(self.groups[j] for j in self.support[order]), None]
            if self.outputs > 1:
                part["output"] = [label] * (len(order) + 1)
            for name, cells in part.items():
                columns.setdefault(name, []).extend(cells)
        return need("pandas", "frame").DataFrame(columns)

    def _columns(self) -> Array:
        """Return the coefficients of each output, one in a row."""
        return self.coefficients.values.T

    def output_labels(self) -> list[Any]:
        """Return the class that each output speaks for, or the number of its target; None, if there is one and no class."""
        if self.loss.couples_outputs and self.classes is not None:
            return self.classes.tolist()
        if self.outputs > 1:
            return list(range(self.outputs))
        return [None if self.classes is None else self.classes[1]]

    def summary(self) -> Summary:
        """Return coefficients, effects of one standard deviation and odds ratios, with a word on what may be said of them.

        Examples
        --------
        >>> import ellzero as ez
        >>> X, y, _ = ez.datasets.make_classification(200, 50, 2, s=3.0, random_state=0)
        >>> frame = ez.fit_path(X, y, max_support=2).at_support(2).summary().to_frame()
        >>> frame.columns.tolist()
        ['name', 'coefficient', 'per_sd', 'odds_ratio', 'odds_ratio_per_sd']

        """
        order = self._order()
        spread = self.spread[order]
        names = [self.feature_name(int(j)) for j in self.support[order]]
        parts = [
            Effects(label, self.support[order], names, values[order], spread, float(intercept))
            for label, values, intercept in zip(
                self.output_labels(), self._columns(), np.atleast_1d(self.intercept), strict=True
            )
        ]
        kind = "class" if self.loss.couples_outputs or self.outputs == 1 else "target"
        return Summary(self._heading(), parts, self.loss, kind, self.statistics)

    def _sizes(self) -> Array:
        """Return the effect of one standard deviation of each feature: the largest one, of several outputs."""
        return effect_sizes(self._columns(), self.spread)

    def _heading(self) -> str:
        """Return the model in a line; the positive class is said, not left to be guessed."""
        about = ""
        if self.loss.couples_outputs:
            about = f" of {self.outputs} classes"
        elif self.outputs > 1:
            about = f" of {self.outputs} targets"
        elif self.classes is not None:
            about = f" of {shown(self.classes[1])} against {shown(self.classes[0])}"
        size = f"{len(self.support)} of {self.n_features} features"
        if (used := self.used_groups) is not None:
            count = len(used)
            size = f"{count} feature{'s' * (count != 1)} of {len(self.support)} columns"
        intercept = ", ".join(f"{number:.4g}" for number in np.atleast_1d(self.intercept))
        return f"{self.loss} model{about} with {size}, intercept {intercept}"

    def _order(self) -> NDArray[np.intp]:
        """Return the places of the coefficients, the largest effect first; a group stays together, in the order of columns."""
        if self.groups is None:
            return np.argsort(-self._sizes(), kind="stable")
        weight: dict[str, float] = {}
        own = [self.groups[j] for j in self.support]
        for group, effect in zip(own, self._sizes(), strict=True):
            weight[group] = max(weight.get(group, 0.0), float(effect))
        ranked = sorted(weight, key=lambda group: -weight[group])
        place = {group: rank for rank, group in enumerate(ranked)}
        return np.argsort([place[group] for group in own], kind="stable")

    def __repr__(self) -> str:
        order = self._order()
        lines = [self._heading()]
        names = [shown(self.feature_name(int(self.support[k]))) for k in order]
        width = max(map(len, names), default=0)
        for name, k in zip(names, order, strict=True):
            form = " .6g" if self.outputs == 1 else " 12.6g"
            lines.append(f"  {name:<{width}}  " + "  ".join(format(value, form) for value in np.atleast_1d(self.values[k])))
        if self.outputs > 1:
            heads = "  ".join(f"{shown(label)!s:>12.12}" for label in self.output_labels())
            lines.insert(1, f"  {'':<{width}}  {heads}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        order = self._order()
        rows = list[list[str]]()
        for k in order:
            values = np.atleast_1d(self.values[k])
            effects = [] if self.outputs > 1 else [figure(values[0] * self.spread[k])]
            rows.append([shown(self.feature_name(int(self.support[k]))), *(f"{value:.6g}" for value in values), *effects])
        heads = ["coefficient", "per standard deviation"]
        if self.outputs > 1:
            heads = [str(shown(label)) for label in self.output_labels()]
        return html_table(self._heading(), ["feature", *heads], rows)


def as_intercept(problem: Problem, intercept: Any) -> Array:
    """Return the intercept of each output, checked; a single number is that of all."""
    found = np.asarray(intercept, dtype=np.float64)
    found = np.full(problem.outputs, found) if found.size == 1 else found
    return as_vector("intercept", found, problem.outputs)


def fitted_parts(fitted: Any, intercept: Any = 0.0) -> tuple[Any, Any, Loss | None]:
    """Return coefficients, intercept and loss of what users have fitted: a model, an exact solution or an estimator.

    Coefficients alone come back with the given intercept, and no loss.
    """
    model = fitted if isinstance(fitted, Model) else getattr(fitted, "model", None)
    if isinstance(model, Model):
        return coefficient_rows([model.coefficients], model.n_features), model.intercept, model.loss
    if not hasattr(fitted, "coef_"):
        return fitted, intercept, None
    found = np.atleast_1d(fitted.intercept_)
    if len(found) > 1 and getattr(fitted, "multi_class_", None) == "ovr":
        raise InvalidInputError("coef must be one model, got an estimator of several classes; take a row of its coef_.")
    return fitted.coef_, found if len(found) > 1 else float(found[0]), getattr(fitted, "_loss", None)


def refuse_infinite_columns(model: Model, design: Design) -> None:
    """Raise an error if a column that the model uses holds NaN or infinity; huge numbers alone may lead to these, too."""
    for j in model.support:
        if not np.isfinite(design.matvec(np.array([j], dtype=np.int32), np.ones(1))).all():
            where = quoted(model.feature_name(int(j)))
            raise InvalidInputError(f"X contains NaN or infinity (column {where}); fill or drop them.")


def make_model(problem: Problem, at: Coefficients, *, cost: float, lambda_0: float | None, objective: float) -> Model:
    """Make a model from coefficients whose cost and objective are known."""
    n_features, names = problem.design.shape[1], problem.design.names
    loss, outputs = problem.loss, problem.outputs - problem.is_multinomial
    statistics = FitStatistics(
        rows=float(np.count_nonzero(problem.w)),
        loss=cost - problem.penalty_value(at.support, at.values, 0.0),
        null=problem.null,
        coefficients=outputs * (len(at.support) + problem.fit_intercept),
        likelihood=loss.likelihood if loss.is_classification or problem.outputs == 1 else "",
    )
    size, spent = problem.penalty.counted(at.support), problem.penalty.spent(at.support)
    groups = None if problem.grouping is None else problem.grouping.names
    return Model(
        at.support,
        squeezed(at.values),
        at.intercept if problem.outputs > 1 else float(at.intercept[0]),
        n_features,
        cost,
        size,
        lambda_0,
        objective,
        problem.loss,
        problem.classes,
        names,
        problem.column_spread(at.support),
        spent,
        groups,
        problem.mean[at.support],
        statistics,
    )


def evaluate(problem: Problem, at: Coefficients, lambda_0: float | None = None) -> Model:
    """Make a model from coefficients; its cost and objective are computed from the raw data."""
    return evaluated(problem, [at], lambda_0)[0]


def evaluated(problem: Problem, models: Iterable[Coefficients], lambda_0: float | None = None) -> list[Model]:
    """Make models from coefficients; their costs and objectives are computed from the raw data."""
    out, listed = list[Model](), list(models)
    for at, loss in zip(listed, problem.mean_losses(listed), strict=True):
        cost = loss + problem.penalty_value(at.support, at.values, 0.0)
        objective = cost if lambda_0 is None else loss + problem.penalty_value(at.support, at.values, lambda_0)
        out.append(make_model(problem, at, cost=cost, lambda_0=lambda_0, objective=objective))
    return out
