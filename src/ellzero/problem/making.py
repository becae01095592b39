"""Make a validated problem from a caller's arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.validation import (
    as_bound,
    as_feature_costs,
    as_feature_mask,
    as_flag,
    as_nonnegative,
    as_threads,
    as_weights,
)
from ellzero.design import as_design
from ellzero.design.base import feature_names as feature_names_of
from ellzero.problem.grouping import Grouping, GroupLabels, as_groups
from ellzero.problem.losses import HUBER_DELTA, Loss, get_loss
from ellzero.problem.penalties import Penalty
from ellzero.problem.problem import Problem, column_statistics
from ellzero.problem.rules import Rule, as_rules

Array = NDArray[np.float64]
FeatureCost = ArrayLike | Mapping[Any, float]
"""One number for each column of X, or numbers by the names of columns; those that are not named cost one."""


class DataSettings(TypedDict, total=False):
    """The arguments, other than X and y, that choose the loss and the coefficients over which it is minimised."""

    loss: str | Loss
    huber_delta: float
    fit_intercept: bool
    standardize: bool
    sample_weight: ArrayLike | None
    lower: ArrayLike | None
    upper: ArrayLike | None
    unpenalized: ArrayLike | None
    feature_cost: FeatureCost | None
    groups: GroupLabels | None
    feature_names: Sequence[str] | None
    rules: Iterable[Rule] | None


class ProblemSettings(DataSettings, total=False):
    """The arguments that all fitting functions share; `make_problem` holds their defaults and checks them."""

    lambda_1: float
    lambda_2: float


def make_problem(
    X: object,
    y: ArrayLike,
    *,
    loss: str | Loss = "logistic",
    huber_delta: float = HUBER_DELTA,
    lambda_1: float = 0.0,
    lambda_2: float = 0.0,
    fit_intercept: bool = True,
    standardize: bool = False,
    sample_weight: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    unpenalized: ArrayLike | None = None,
    feature_cost: FeatureCost | None = None,
    groups: GroupLabels | None = None,
    feature_names: Sequence[str] | None = None,
    rules: Iterable[Rule] | None = None,
    n_jobs: int | None = None,
) -> Problem:
    """Check the arguments that all fitting functions share, and return the problem they describe."""
    the_loss = get_loss(loss, huber_delta)
    intercept, standard = as_flag("fit_intercept", fit_intercept), as_flag("standardize", standardize)
    design = as_design(X) if feature_names is None else as_design(X, as_names(feature_names, X))
    n, p = design.shape
    if n == 0:
        raise InvalidInputError("X has no rows.")
    if p == 0:
        raise InvalidInputError("X has no columns.")
    if p >= 2**31:
        raise InvalidInputError(f"X has {p} columns, at most 2^31 - 1 are supported.")
    w = as_weights(sample_weight, n)
    target, classes = the_loss.encode(y, n, w)
    grouping = as_groups(groups, p, design.names, design.core.columns)
    penalty = Penalty(
        lambda_1=as_nonnegative("lambda_1", lambda_1),
        lambda_2=as_nonnegative("lambda_2", lambda_2),
        lower=as_bound("lower", lower, p, -np.inf),
        upper=as_bound("upper", upper, p, np.inf),
        price=price_of_columns(unpenalized, feature_cost, p, design.names, grouping),
        heads=grouping.heads if grouping else np.arange(p, dtype=np.int32),
    )
    check_bounds(penalty)
    statistics = column_statistics(
        design, w, penalty, fit_intercept=intercept, standardize=standard, threads=as_threads(n_jobs)
    )
    return Problem(
        design=design,
        y=target.reshape(n, -1),
        w=w,
        loss=the_loss,
        penalty=penalty,
        fit_intercept=intercept,
        standardize=standard,
        classes=classes,
        grouping=grouping,
        rules=as_rules(rules, penalty, design.names, grouping),
        **statistics,
    )


def price_of_columns(
    unpenalized: ArrayLike | None, costs: FeatureCost | None, p: int, names: list[str] | None, grouping: Grouping | None
) -> Array:
    """Return the price of each column: zero for unpenalized ones, and one for those that are not said to cost anything else."""
    free = as_feature_mask("unpenalized", unpenalized, p, names)
    price = as_feature_costs("feature_cost", costs, p, names, grouping.columns if grouping else None)
    if grouping:
        grouping.check_equal("unpenalized", free)
        grouping.check_equal("feature_cost", price)
    return np.where(free, 0.0, price)


def as_names(feature_names: Sequence[str], X: Any) -> list[str]:
    """Return the names that the caller gives to the columns of an X without names, such as those of a CountVectorizer."""
    names = [str(name) for name in np.asarray(feature_names, dtype=object).ravel()]
    own = feature_names_of(X)
    if own is not None and own != names:
        raise InvalidInputError("feature_names is for an X without names; this one has its own.")
    shape = np.shape(X)
    if len(shape) == 2 and len(names) != shape[1]:
        raise InvalidInputError(f"feature_names must have one name for each of the {shape[1]} columns of X, got {len(names)}.")
    return names


def check_bounds(penalty: Penalty) -> None:
    """Check that lower <= upper and, for features that pay lambda_0, that zero lies between them."""
    if (penalty.lower > penalty.upper).any():
        raise InvalidInputError("lower must not exceed upper.")
    if ((penalty.lower > 0.0) & ~penalty.unpenalized).any():
        raise InvalidInputError("lower must be at most 0 for features that lambda_0 penalises.")
    if ((penalty.upper < 0.0) & ~penalty.unpenalized).any():
        raise InvalidInputError("upper must be at least 0 for features that lambda_0 penalises.")
