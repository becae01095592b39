"""The referee: the objective of any coefficients, recomputed from the raw data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from numpy.typing import ArrayLike
from scipy import sparse

from ellzero.base.validation import as_nonnegative
from ellzero.problem.grouping import GroupLabels
from ellzero.problem.losses import HUBER_DELTA
from ellzero.problem.making import FeatureCost, make_problem
from ellzero.problem.model import Model, as_intercept, fitted_parts
from ellzero.problem.rules import Rule


def objective(
    X: object,
    y: ArrayLike,
    coef: ArrayLike | sparse.spmatrix | Model | Any,
    intercept: ArrayLike = 0.0,
    *,
    loss: str | None = None,
    huber_delta: float = HUBER_DELTA,
    lambda_0: float = 0.0,
    lambda_1: float = 0.0,
    lambda_2: float = 0.0,
    sample_weight: ArrayLike | None = None,
    unpenalized: ArrayLike | None = None,
    feature_cost: FeatureCost | None = None,
    groups: GroupLabels | None = None,
    rules: Iterable[Rule] | None = None,
    standardize: bool = False,
    fit_intercept: bool = True,
) -> float:
    """Return the objective of given coefficients, recomputed from the raw data: the referee of all solvers.

    Parameters
    ----------
    X : array, data frame, sparse matrix, column store or Dask array of shape (n, p)
    y : labels (two classes) or, for ``loss="squared_error"`` and "huber", numbers, of shape (n,)
        Several outputs share features, see :func:`fit_path`.
    coef : (p,) array or a sparse row of shape (1, p), on the scale of X; or a Model, an ExactSolution or a fitted estimator
        Of several outputs, (outputs, p).
    intercept : float, or one for each output
        Of an array; a model has its own.
    lambda_0, lambda_1, lambda_2 : float
        What each feature, the absolute and the squared coefficients pay; zero unless given.
    loss : str, optional
        By default the model's, "logistic" for an array.
    huber_delta : float
        Of ``loss="huber"``, if the loss is named.
    sample_weight : (n,), optional
        Not negative; scaled to sum to one.
    unpenalized : (p,) mask, indices or names, optional
        Features that pay nothing.
    feature_cost : (p,) array, or numbers by column, optional
        Feature j pays ``lambda_0 * feature_cost[j]``, see :func:`fit_path`.
    groups : p labels, a mapping from names to columns, or "auto", optional
        Columns with the same label pay lambda_0 once, see :func:`fit_path`.
    rules : list of rules, optional
        Coefficients that do not obey them have an infinite objective.
    standardize : bool
        Whether the penalties apply to the coefficients of standardised columns.
    fit_intercept : bool
        Only matters with ``standardize``: without an intercept, columns are scaled but not centred.

    Returns
    -------
    float

    Examples
    --------
    >>> import ellzero as ez
    >>> round(ez.objective([[1.0], [-1.0]], [1, 0], [2.0], loss="hinge", lambda_0=0.1), 6)
    0.1
    >>> X, y, _ = ez.datasets.make_classification(100, 20, 2, random_state=0)
    >>> model = ez.fit_path(X, y, loss="hinge", lambda_2=0.01, max_support=2)[-1]
    >>> bool(abs(ez.objective(X, y, model, lambda_0=model.lambda_0, lambda_2=0.01) - model.objective) < 1e-12)
    True

    """
    coef, intercept, own_loss = fitted_parts(coef, intercept)
    problem = make_problem(
        X,
        y,
        loss=loss or own_loss or "logistic",
        huber_delta=huber_delta,
        lambda_1=lambda_1,
        lambda_2=lambda_2,
        fit_intercept=fit_intercept,
        standardize=standardize,
        sample_weight=sample_weight,
        unpenalized=unpenalized,
        feature_cost=feature_cost,
        groups=groups,
        rules=rules,
    )
    support, values = problem.split(coef)
    if not problem.obeys(support):
        return math.inf
    return problem.objective(support, values, as_intercept(problem, intercept), as_nonnegative("lambda_0", lambda_0))
