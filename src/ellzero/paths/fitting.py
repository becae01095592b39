"""Fit a regularisation path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ellzero import _core
from ellzero.base.errors import InvalidInputError
from ellzero.base.progress import ProgressCallback
from ellzero.base.signatures import arguments_of, passes_on
from ellzero.base.validation import as_count
from ellzero.exact.swaps import SwapPath
from ellzero.paths.options import PathSettings, path_options
from ellzero.paths.path import Path, make_path
from ellzero.problem.making import make_problem
from ellzero.problem.model import evaluated
from ellzero.problem.problem import Problem
from ellzero.solvers.paths import PathOptions, solve_path

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = NDArray[np.float64]


@passes_on(PathSettings, make_problem, path_options)
def fit_path(
    X: object,
    y: ArrayLike,
    *,
    lambda_0: ArrayLike | None = None,
    n_lambda: int = 100,
    lambda_min_ratio: float = 1e-3,
    max_support: int | None = None,
    algorithm: str = "cd",
    swap_size: int = 1,
    **settings: Unpack[PathSettings],
) -> Path:
    """Fit models for a decreasing sequence of lambda_0, by coordinate descent or local search.

    Minimises ``sum_i w_i f(eta_i, y_i) + lambda_0 ||beta||_0 + lambda_1 ||beta||_1 + lambda_2 ||beta||_2^2`` with
    ``eta = X beta + b`` and weights that sum to one. A forward sweep adds features, and a backward sweep removes them. Each
    lambda_0 gets the better of both models, and coordinate descent improves it until no coordinate step helps.

    Parameters
    ----------
    X : array, data frame, sparse matrix, column store or Dask array of shape (n, p)
        Column-major float64 or float32 arrays and CSC matrices are used without a copy; row-major arrays and other sparse
        formats are converted once. X is never written to.
    y : (n,), or (n, K)
        Two labels of any type; numbers for ``loss="squared_error"`` and ``"huber"``; two or more labels for
        ``loss="multinomial"``. With K columns, the targets share their features: a feature is in or out for all of them, and
        pays lambda_0 once.
    loss : {"logistic", "squared_hinge", "hinge", "squared_error", "huber", "multinomial"}
    huber_delta : float
        For ``loss="huber"``, in units of y: the loss is half the square of residuals up to ``huber_delta``, and linear beyond.
    lambda_0 : None, a number, or a decreasing grid
        None chooses the grid: it starts where the first feature enters, and each next value is just below the largest one at
        which the support can change. See :func:`lambda_grid` for a log-spaced grid.
    lambda_1, lambda_2 : float
        Weights of the l1 norm and of the squared l2 norm.
    n_lambda, lambda_min_ratio :
        The dynamic grid has at most ``n_lambda`` points and ends at ``lambda_min_ratio`` of its first.
    max_support : int, optional
        The path ends before a model with more features.
    algorithm : {"cd", "local_search", "iht"}
        "cd": coordinate descent (Algorithm 1). "local_search": then also exchange features while that improves the models
        (Algorithm 2); it takes several times as long and is never worse on the same grid. "iht": iterative hard thresholding,
        a slow classical baseline with a log-spaced grid.
    effort : {"thorough", "quick"}
        Of local search. "quick": start from the models of coordinate descent. "thorough": also start from new models, several
        of each size; and if no exchange improves a model of up to 32 features, bar a feature or force a column in, and
        continue from there. If X is large, also start from a convex fit.
    swaps : {"ranked", "q_best", "exhaustive"}
        Which swaps local search tries. "ranked": a quadratic model predicts the effect of each swap after a refit, and the
        most promising are tried. "q_best" also solves the one-dimensional problem of Algorithm 3 for each feature with its
        ``q`` steepest replacements, "exhaustive" with all columns: then no single removal, swap or addition (the new
        coefficient and the intercept optimised, the others fixed) improves any model of the path (Theorem 2).
    q : int, optional
        Candidates per feature of "q_best"; None takes 5 % of the columns.
    improvement : {"best", "first"}
        For "q_best" and "exhaustive": make the best of all swaps, or the first that improves.
    swap_size : int
        Also exchange up to this many features for as many others, by an exact search at every lambda_0. Then no such swap
        improves a returned model by more than 1e-4 of its objective, unless ``max_support`` forbids the better model. This may
        take long for large problems; :func:`improve` does it for one model, with a time limit and a certificate. If nothing
        else limits the coefficients, they are assumed to be at most 1.2 times the largest.
    fit_intercept : bool
        The intercept is never penalised.
    standardize : bool
        Centre and scale the columns on the fly (scale only, without an intercept); the penalties then apply to the
        standardised coefficients. Coefficients and bounds stay on the scale of X.
    sample_weight : (n,), optional
        Non-negative; zero drops a row.
    lower, upper : number or (p,), optional
        Bounds on the coefficients. They must allow zero for features that lambda_0 penalises.
    feature_names : p names, optional
        Names for an X without names, for example from a ``CountVectorizer``; models, tables and plots show them.
    unpenalized : mask, indices or column names, optional
        Features that are always included and do not pay lambda_0. Here, in ``feature_cost`` and in ``groups``, an integer is
        the position of a column and a string its name; names of a data frame that are not all strings are ignored.
    feature_cost : (p,) numbers, or a mapping or Series from columns to numbers, optional
        Feature j pays ``lambda_0 * feature_cost[j]`` instead of lambda_0. Columns that a mapping does not name cost 1; a cost
        of 0 makes a feature ``unpenalized``. Costs are 0, or at least 1e-6 of the largest. ``||beta||_0`` above becomes the
        sum of the costs of the features in the model.
    groups : p labels, a mapping from names to columns, or "auto", optional
        Columns with the same label enter the model together or stay out: indicators of a categorical variable, bins, lags. A
        group pays lambda_0 once, sizes count groups, and with ``standardize`` its columns share one scale. The label None is
        for a column on its own. "auto" finds the indicators of one-hot encoded variables by their names
        (``colour_red``, ``colour=red``) and values.
    rules : list of rules, optional
        What may, or must, be in a model together: :func:`at_most`, :func:`at_least`, :func:`exactly`, :func:`requires` and
        :func:`together` make rules, :func:`interactions` those of products of columns. Every model obeys all of them; there is
        none that does not.
    tol : float
        Relative tolerance on the objective.
    n_jobs : int, optional
        Threads; None is one, -1 all cores. The result does not depend on it.
    progress : bool or function, optional
        Work of more than two seconds shows its progress on standard error: by default in a terminal or a notebook, with True
        everywhere, with False never. A function is called with (fraction done, lambda_0, features).

    Returns
    -------
    Path

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y, truth = ez.datasets.make_classification(200, 50, 3, s=3.0, random_state=0)
    >>> path = ez.fit_path(X, y, max_support=5)
    >>> path.at_support(3).support.tolist() == truth.nonzero()[0].tolist()
    True

    Four classes on three shared features:

    >>> kinds = 2 * (X[:, 0] > 0.0) + (X[:, 1] + X[:, 2] > 0.0)
    >>> model = ez.fit_path(X, kinds, loss="multinomial", lambda_2=0.01).at_support(3)
    >>> model.support.tolist(), model.coef.shape
    ([0, 1, 2], (4, 50))

    """
    options = path_options(
        lambda_0=lambda_0,
        n_lambda=n_lambda,
        lambda_min_ratio=lambda_min_ratio,
        max_support=max_support,
        algorithm=algorithm,
        swap_size=swap_size,
        **arguments_of(path_options, settings),
    )
    problem = make_problem(X, y, **arguments_of(make_problem, settings))
    return compute_path(problem, options)


def compute_path(problem: Problem, options: PathOptions) -> Path:
    """Compute the path of a validated problem."""
    swapping = options.swap_size > 1
    descent = options.for_part(0.0, 0.5) if swapping else options
    found = solve_path(problem, descent)
    models = found.models
    descent.report(1.0, *((float(found.lambda_0[-1]), len(models[-1].support)) if models else ()))
    path = make_path(problem, options, found)
    return with_swaps(path, found, options.for_part(0.5, 0.5).progress) if swapping else path


def with_swaps(path: Path, found: _core.PathResult, progress: ProgressCallback | None) -> Path:
    """Improve the models of a path until no swap of the requested size improves one."""
    if not len(path):
        return path
    pool = evaluated(path.problem, [model.coefficients for model in (*path, *path.sized.values())])
    swaps = SwapPath(path.problem, path.options, path.lambda_0.tolist(), pool, progress)
    found.models = swaps.improve(found.models[0])
    found.lambda_0 = path.lambda_0[: len(found.models)]
    found.by_size = [*found.by_size, *found.models]
    return make_path(path.problem, path.options, found)


@passes_on(PathSettings, make_problem, path_options)
def lambda_grid(
    X: object, y: ArrayLike, *, n_lambda: int = 100, lambda_min_ratio: float = 1e-3, **settings: Unpack[PathSettings]
) -> Array:
    """Return a log-spaced grid from the largest lambda_0 at which a feature enters down to ``lambda_min_ratio`` of it.

    Parameters
    ----------
    X, y, loss, huber_delta, lambda_1, lambda_2, fit_intercept, standardize, sample_weight, lower, upper, unpenalized,
    feature_cost, groups, feature_names, rules :
        The problem, as in :func:`fit_path`.
    n_lambda : int
        How many values.
    lambda_min_ratio : float
        The last value, as a share of the first.
    n_jobs, effort, swaps, q, improvement, tol, progress :
        As in :func:`fit_path`; they do not change the grid.

    Returns
    -------
    (n_lambda,) array, decreasing

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y, _ = ez.datasets.make_classification(100, 20, 3, random_state=0)
    >>> grid = ez.lambda_grid(X, y, n_lambda=10)
    >>> len(grid), round(float(grid[-1] / grid[0]), 6)
    (10, 0.001)

    """
    n_lambda = as_count("n_lambda", n_lambda, 1)
    first = fit_path(X, y, n_lambda=1, lambda_min_ratio=lambda_min_ratio, **settings).lambda_0[0]
    return log_spaced(float(first), lambda_min_ratio, n_lambda)


def log_spaced(first: float, ratio: float, count: int) -> Array:
    """Return a log-spaced grid of `count` values from `first` down to `ratio * first`."""
    if first <= 0.0:
        raise InvalidInputError("X has no column that improves on the intercept, so there is no grid.")
    return np.geomspace(first, first * ratio, count) if count > 1 else np.array([first])
