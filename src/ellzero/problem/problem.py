"""The problem of one fit, and its objective:

    P(b, beta) = sum_i w_i f(eta_i, y_i) + lambda_0 sum_G c_G [beta_G != 0] + lambda_1 ||beta||_1 + lambda_2 ||beta||_2^2

with eta = X beta + b. `w` are the sample weights divided by their sum. Where y has several outputs, beta has a column for each
of them, b a number, and f is the sum of their losses, or the multinomial loss; a feature is in or out for all of them, and pays
once. A feature G is a column, or a group of columns that come
in together. c_G is its price: one, unless `feature_cost` gives another, and zero for unpenalized features. With
`standardize`, beta refers to the standardised columns (x_j - mean_j) / spread_j, where the columns of a group have one spread;
the coefficients that users see refer to X itself: coef_j = beta_j / spread_j.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NoReturn, TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import MOST_NAMED, listed_columns
from ellzero.base.validation import as_vector
from ellzero.design import Design
from ellzero.design.faults import column_label
from ellzero.problem.coefficients import Coefficients, squeezed
from ellzero.problem.grouping import Grouping
from ellzero.problem.losses import Loss, of_rows, weighted_mean
from ellzero.problem.penalties import Penalty
from ellzero.problem.predictions import comes_in_blocks, product, products
from ellzero.problem.rows import FewRows, Rows
from ellzero.problem.rules import Rules
from ellzero.problem.sizes import column_unit
from ellzero.problem.units import Units

Array = NDArray[np.float64]
AT_A_TIME = 1 << 15  # columns
CONSTANT = 1e-24  # a column whose variance is at most this part of its mean square is constant
SMALLEST_SQUARE, SMALLEST_SIZE = 1e-300, 1e-135  # smaller squares have few digits; they are those of small columns
TINY = float(np.finfo(np.float64).tiny)
RAISED = 2.0**600  # times weights that have few digits in products


class ColumnStatistics(TypedDict):
    """The fields of a problem that follow from the columns and the weights."""

    mean: Array
    spread: Array
    column_unit: float
    square: Array
    constant: NDArray[np.bool_]
    coupling: Array


@dataclass(frozen=True)
class Problem:
    """The validated data, loss and penalty (without lambda_0) of one fit."""

    design: Design
    y: Array  # a column for each output: -1 / +1, or the response of a regression; one-hot if multinomial
    w: Array  # sums to one
    loss: Loss
    penalty: Penalty  # on the user's scale: bounds apply to coef
    fit_intercept: bool
    standardize: bool
    classes: NDArray[Any] | None  # the user's two labels, in the order -1, +1; if multinomial, those of the columns of y
    mean: Array  # of each column, zero without an intercept: columns are centred if there is one
    spread: Array  # of each column, one if columns are not scaled
    column_unit: float  # a power of two: the solvers see z_ij / column_unit
    square: Array  # sum_i w_i (z_ij / column_unit)^2, where z are the centred and scaled columns
    constant: NDArray[np.bool_]  # columns of one number other than zero, where there is an intercept
    coupling: Array  # of each column's group: the diagonal times this bounds the group's part of Z'WZ
    rules: Rules  # which features may, or must, be in together
    grouping: Grouping | None = None  # the groups by name, as the caller gave them
    rows: Rows | None = None  # what problems of the same rows share

    def __post_init__(self) -> None:
        if self.rows is None or not self.rows.belong_to(self):
            object.__setattr__(self, "rows", Rows(self))

    @property
    def outputs(self) -> int:
        """The number of outputs that share the features: classes of the multinomial loss, or targets."""
        return self.y.shape[1]

    @cached_property
    def units(self) -> Units:
        """The units in which the core works, and the way to them and back."""
        return Units.of(self)

    @cached_property
    def null(self) -> float:
        """The loss of the best constant: where an objective is nothing beside it, it is nothing but rounding."""
        return self.loss.null_value(self.y, self.w, self.fit_intercept)

    @property
    def labels(self) -> NDArray[Any]:
        """The target as the user gave it, up to the names of labels that have no weight."""
        if self.classes is None:
            return squeezed(self.y)
        if not self.is_multinomial:
            return self.classes[(squeezed(self.y) > 0.0).astype(np.intp)]
        labels = self.classes[self.y.argmax(axis=1)]
        without = ~self.y.any(axis=1)  # rows of other labels, which have no weight: theirs must be none of the classes
        other = "-" * (1 + max(len(str(label)) for label in self.classes))
        return np.where(without, other, labels.astype(object)) if without.any() else labels

    @property
    def is_multinomial(self) -> bool:
        """Whether the outputs are classes, of which each row has one."""
        return self.loss.couples_outputs

    def few_rows(self, threads: int, *, thorough: bool) -> FewRows | None:
        """Return the few rows that the core may take in the place of all, None if it had better take all.

        What is `thorough`, such as local search, reads X so often that many columns are worth it.
        """
        assert self.rows is not None
        return self.rows.few(self, threads, thorough)

    def split(self, coef: Any, name: str = "coef") -> tuple[NDArray[np.int32], Array]:
        """Return the indices of the nonzero coefficients of one model, and their values with a column for each output."""
        p, table = self.design.shape[1], coef.toarray() if sparse.issparse(coef) else np.asarray(coef)
        if self.outputs > 1:
            shape = (self.outputs, p)
            if table.shape != shape:
                raise InvalidInputError(f"{name} must have shape {shape}, one row for each output, got {table.shape}.")
        elif sparse.issparse(coef) and table.shape not in ((1, p), (p, 1)):
            raise InvalidInputError(f"{name} must hold {p} coefficients, got shape {table.shape}.")
        values = as_vector(name, table.ravel(), self.outputs * p).reshape(self.outputs, p)
        support = np.flatnonzero(values.any(axis=0)).astype(np.int32)
        return support, np.ascontiguousarray(values[:, support].T)

    def column_spread(self, columns: NDArray[np.int32]) -> Array:
        """Return the standard deviations of some columns (without an intercept, the roots of their mean squares)."""
        return np.sqrt(self.square[columns]) * self.column_unit * self.spread[columns]

    def eta(self, support: NDArray[np.int32], coef: Array, intercept: Any) -> Array:
        """Return eta = X coef + intercept, with a column for each output."""
        return product(self.design, Coefficients(support, coef, intercept)) + intercept

    def fitted(self, support: NDArray[np.int32], coef: Array, intercept: Any) -> tuple[Array, Array]:
        """Return eta and y for the loss; of a regression, both less the intercept, so that its size costs no digits."""
        if self.loss.is_classification:
            return self.eta(support, coef, intercept), self.y
        return self.eta(support, coef, 0.0), self.y - intercept

    def slopes(self, r: Array) -> Array:
        """Return z_j . r for all columns z_j, centred and scaled, and each column of r."""
        columns = [np.ascontiguousarray(column) for column in r.T]
        return np.column_stack([self.as_seen(self.design.rmatvec(column), column) for column in columns])

    def loss_slopes(self, at: tuple[NDArray[np.int32], Array, Any]) -> Array:
        """Return the derivatives of the mean loss in the penalised coefficients of all columns, at support, coef, intercept."""
        return self.slopes(self.w[:, None] * self.loss.gradient(*self.fitted(*at)))

    def as_seen(self, products: Array, r: Array) -> Array:
        """Return z_j . r from x_j . r: turn products with columns of X into products with centred and scaled ones."""
        return (products - self.mean * r.sum()) / self.spread

    def penalised(self, support: NDArray[np.int32], coef: Array) -> Array:
        """Return the coefficients that the penalty applies to: those on the standardised scale, if there is one."""
        return coef * self.spread[support, None]

    def objective(self, support: NDArray[np.int32], coef: Array, intercept: Any, lambda_0: float) -> float:
        """Return P at the user's coefficients, from the raw data: the referee of every reported objective."""
        return self.mean_loss(support, coef, intercept) + self.penalty_value(support, coef, lambda_0)

    def mean_loss(self, support: NDArray[np.int32], coef: Array, intercept: Any) -> float:
        """Return sum_i w_i f(eta_i, y_i)."""
        with np.errstate(over="ignore"):  # a loss beyond float64 is infinite
            losses = of_rows(self.loss.value(*self.fitted(support, coef, intercept)))
        # Rows without weight count nowhere, whatever they hold.
        return float(self.w @ (losses if self.w.all() else np.where(self.w > 0.0, losses, 0.0)))

    def mean_losses(self, models: Sequence[Coefficients]) -> list[float]:
        """Return the mean losses of some models; those of many rows are computed with one read of the columns in use."""
        if not comes_in_blocks(self.design) or len(models) < 2:
            return [self.mean_loss(*at) for at in models]
        intercept, total = np.array([at.intercept for at in models]), np.zeros(len(models))
        for rows, eta in products(self.design, models):
            y = self.y[rows]
            with np.errstate(over="ignore"):
                if self.loss.is_classification:
                    values = self.loss.value(eta + intercept, y[:, None, :])
                else:  # in the order of memory of eta
                    values = self.loss.value(eta, (y.T - intercept[:, :, None]).transpose(2, 0, 1))
            total += self.w[rows] @ (values if values.ndim == 2 else values.sum(axis=2))
        return total.tolist()

    def penalty_value(self, support: NDArray[np.int32], coef: Array, lambda_0: float) -> float:
        """Return lambda_0 sum_G c_G [beta_G != 0] + lambda_1 ||beta||_1 + lambda_2 ||beta||_2^2 of the user's coefficients."""
        with np.errstate(over="ignore", under="ignore"):
            beta = self.penalised(support, coef)
            beta = np.where((beta == 0.0) & (coef != 0.0), TINY, beta)  # it counts, however small it is
            return replace(self.penalty, lambda_0=lambda_0).value(support, beta)

    def obeys(self, support: NDArray[np.int32]) -> bool:
        """Return whether a model that uses these columns obeys the rules."""
        return not self.rules or not self.rules.broken(self.rules.inside(self.penalty, support))

    def least_support(self, weight: Array | None = None) -> NDArray[np.int32]:
        """Return the columns of a least model that obeys the rules: by its size, or by the sum of the weights of features."""
        if not self.rules:
            return np.zeros(0, dtype=np.int32)
        least = self.rules.least(~self.penalty.unpenalized if weight is None else weight)
        assert least is not None  # see as_rules
        return np.flatnonzero(least[self.penalty.heads]).astype(np.int32)

    def least_size(self) -> int:
        """Return the number of features of a least model that obeys the rules."""
        return self.penalty.counted(self.least_support())

    def require_room(self, name: str, most: int) -> None:
        """Refuse a limit on the number of features, called `name`, within which no model obeys the rules."""
        if self.rules:
            self.rules.require_within(name, (~self.penalty.unpenalized).astype(np.float64), most)

    def held_away_from_zero(self) -> bool:
        """Return whether some bounds exclude zero."""
        return bool(((self.penalty.lower > 0.0) | (self.penalty.upper < 0.0)).any())


def refuse_unsquarable(design: Design, bad: NDArray[np.int64]) -> NoReturn:
    """Raise an error that names the columns whose squares have no finite sum."""
    gaps, huge = list[str](), list[str]()
    for j in bad[:MOST_NAMED]:
        column = design.matvec(np.array([j], dtype=np.int32), np.ones(1))
        (huge if np.isfinite(column).all() else gaps).append(column_label(design.names, int(j)))
    (gaps if gaps else huge).extend(column_label(design.names, int(j)) for j in bad[MOST_NAMED:])  # are counted only
    kinds = (("NaN or infinity", gaps), ("values too large to square", huge))
    faults = [f"{kind} ({listed_columns(labels)})" for kind, labels in kinds if labels]
    raise InvalidInputError(f"X contains {' and '.join(faults)}.")


def column_statistics(
    design: Design, w: Array, penalty: Penalty, *, fit_intercept: bool, standardize: bool, threads: int
) -> ColumnStatistics:
    """Return means, spreads, unit, squares and couplings of the columns, with one read of X.

    The squares are those of the columns as the solvers see them. With an intercept, columns are always centred, on the fly.
    No penalty applies to the intercept, so this changes no objective. It lets a coordinate step move the intercept as well,
    and coordinate descent then ends in better fixed points.
    """
    mean, variance = design.core.moments(w, threads=threads)
    square, size, constant, small = in_parts(design, mean, variance, fit_intercept)
    for j in small:  # rounding of squares that underflow
        size[j] = column_size(design.matvec(np.array([j], dtype=np.int32), np.ones(1)), w, fit_intercept)
        constant[j] &= size[j] == 0.0
    unit = 1.0 if standardize else column_unit(size)
    if standardize:
        spread, seen = group_spread(size, penalty)
    else:
        spread, seen = np.ones_like(size), square / unit / unit
        seen[small] = (size[small] / unit) ** 2
    centre = mean if fit_intercept else None
    return ColumnStatistics(
        mean=mean if fit_intercept else np.zeros_like(mean),
        spread=spread,
        column_unit=unit,
        square=seen,
        constant=constant & fit_intercept,
        coupling=design.core.couplings(penalty.heads, centre, w, threads) if penalty.grouped else np.ones_like(size),
    )


def in_parts(
    design: Design, mean: Array, variance: Array, fit_intercept: bool
) -> tuple[Array, Array, NDArray[np.bool_], NDArray[np.int32]]:
    """Return squares and sizes of the columns, which ones are constant, and those whose squares may have underflown.

    So many columns at a time that what is computed on the way stays in the cache: there may be millions.
    """
    square, size, constant = np.empty_like(variance), np.empty_like(variance), np.empty(variance.size, dtype=np.bool_)
    unsound, small = [], []
    for start in range(0, variance.size, AT_A_TIME):
        part = slice(start, start + AT_A_TIME)
        first, second = mean[part], variance[part]
        with np.errstate(over="ignore", invalid="ignore"):
            own = second + first**2
        unsound.append(start + np.flatnonzero(~np.isfinite(own)))
        if fit_intercept:
            # Of a constant column, centring leaves only rounding errors, which scaling must not blow up.
            own = np.where(second <= CONSTANT * own, 0.0, second)
        entries = (first != 0.0) | (own > 0.0)
        small.append(start + np.flatnonzero((own < SMALLEST_SQUARE) & entries & (np.abs(first) < SMALLEST_SIZE)))
        square[part] = own
        with np.errstate(invalid="ignore"):
            np.sqrt(own, out=size[part])
        constant[part] = (second == 0.0) & (first != 0.0) & (own == 0.0)
    if (columns := np.concatenate(unsound)).size:
        refuse_unsquarable(design, columns)
    return square, size, constant, np.concatenate(small).astype(np.int32)


def group_spread(size: Array, penalty: Penalty) -> tuple[Array, Array]:
    """Return the spread of each column's group, and the squares of the columns divided by it.

    A group has one spread, the root of the sum of its columns' squares: what a 0/1 column is worth beside the others of its
    variable does not depend on how rare its level is.
    """
    if not penalty.grouped:  # without the rounding of what follows, and in less time
        return np.where(size > 0.0, size, 1.0), (size > 0.0).astype(np.float64)
    largest = np.zeros_like(size)
    np.maximum.at(largest, penalty.heads, size)
    largest = np.where(largest > 0.0, largest, 1.0)[penalty.heads]
    total = penalty.by_group(np.square(size / largest))
    spread = np.where(total > 0.0, largest * np.sqrt(total), 1.0)
    return spread, np.square(size / spread)


def column_size(column: Array, w: Array, fit_intercept: bool) -> float:
    """Return sqrt(sum_i w_i z_i^2) of a column, centred if there is an intercept; its squares, or weights, may underflow."""
    unit = float(np.abs(column).max())
    z = column / unit
    square = float(RAISED * w @ z**2)
    variance = float(RAISED * w @ (z - weighted_mean(z, w)) ** 2)
    if fit_intercept:
        square = 0.0 if variance <= CONSTANT * square else variance
    return unit * float(np.sqrt(square) / np.sqrt(RAISED))


def reweighted(problem: Problem, w: Array, threads: int = 1) -> Problem:
    """Return the problem with other weights, which sum to one. Weights of zero select rows without a copy of X."""
    statistics = column_statistics(
        problem.design,
        w,
        problem.penalty,
        fit_intercept=problem.fit_intercept,
        standardize=problem.standardize,
        threads=threads,
    )
    return replace(problem, w=w, **statistics)


def restricted(problem: Problem, columns: NDArray[Any]) -> Problem:
    """Return the problem on some columns only."""
    parts = {name: getattr(problem, name)[columns] for name in ("mean", "spread", "square", "constant", "coupling")}
    design, penalty, rules = problem.design.take(columns), problem.penalty.on(columns), problem.rules.on(columns)
    out = replace(problem, design=design, penalty=penalty, rules=rules, **parts)
    assert problem.rows is not None
    return replace(out, rows=problem.rows.on(columns, out))
