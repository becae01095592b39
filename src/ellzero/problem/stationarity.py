"""Theorem 1's conditions, checked from the raw data in plain NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ellzero._core import curvature_safety
from ellzero.base.errors import InvalidInputError
from ellzero.base.signatures import passes_on
from ellzero.base.validation import as_nonnegative
from ellzero.problem.losses import of_rows
from ellzero.problem.making import ProblemSettings, make_problem
from ellzero.problem.model import Model, as_intercept, fitted_parts
from ellzero.problem.penalties import Penalty
from ellzero.problem.problem import Problem

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = NDArray[np.float64]
SMALL = 1e-3  # an objective that is a smaller part of the null model's is judged as if it were this part


@dataclass(frozen=True)
class StationarityReport:
    """The distance of a solution from the fixed points of coordinate descent (Theorem 1, L_hat_j = gamma L_j).

    Attributes
    ----------
    decrease : float
        The largest amount by which one coordinate step (or the intercept's) lowers its surrogate of the objective. It is
        zero exactly when all conditions of the theorem hold, with or without bounds.
    gradient : float
        The largest distance from stationarity on the support, scaled to columns of norm one (at a bound, only an inward pull
        counts).
    smallest : float
        min over the support of |beta_j| / sqrt(2 lambda_0 c_j / (L_hat_j + 2 lambda_2)), where c_j is the price of feature j
        (one, unless `feature_cost` gives another); the theorem asks for at least 1. Of a group of columns, it is the root of
        the sum of the squares.
        Features that a bound or lambda_0 = 0 exempts are left out; infinite if none is left.
    largest : float
        max outside the support of (|gradient_j| - lambda_1) / sqrt(2 lambda_0 c_j (L_hat_j + 2 lambda_2)); the theorem asks for
        at most 1. Of a group, the root of the sum of the squares.
    objective : float
        P; with the smoothed loss, for the hinge.
    null : float
        The loss of the best constant.
    tolerance : float
        The relative tolerance at which `satisfied` judges.

    """

    decrease: float
    gradient: float
    smallest: float
    largest: float
    objective: float
    null: float
    tolerance: float

    @property
    def satisfied(self) -> bool:
        """Whether the conditions hold up to the tolerance."""
        scale = max(self.objective, SMALL * self.null)
        small_steps = self.decrease <= self.tolerance * scale
        return bool(small_steps and self.gradient <= np.sqrt(self.tolerance * scale))

    def __bool__(self) -> bool:
        return self.satisfied


@passes_on(ProblemSettings, make_problem)
def check_stationarity(
    X: object,
    y: ArrayLike,
    coef: ArrayLike | sparse.spmatrix | Model | Any,
    intercept: ArrayLike = 0.0,
    *,
    lambda_0: float | None = None,
    tol: float = 1e-6,
    **settings: Unpack[ProblemSettings],
) -> StationarityReport:
    """Check that no coordinate step can improve a solution.

    The hinge is checked at its final smoothing, ``ellzero.problem.losses.HINGE_SMOOTHING``.

    Parameters
    ----------
    X, y, loss, huber_delta, lambda_1, lambda_2, fit_intercept, standardize, sample_weight, lower, upper, unpenalized,
    feature_cost, groups, feature_names, rules :
        The problem, as in :func:`fit_path`.
    coef : (p,) array on the scale of X; or a Model, an ExactSolution or a fitted estimator
        These bring their intercept and their loss, and a path's model its ``lambda_0``, unless these are given.
    intercept : float
        Of an array.
    lambda_0 : float
        What each feature pays.
    tol : float
        The tolerance of the fit: how far from its best value a coefficient may be.

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y, _ = ez.datasets.make_classification(100, 20, 3, random_state=0)
    >>> path = ez.fit_path(X, y, lambda_0=0.02)
    >>> bool(ez.check_stationarity(X, y, path.coef[0], path.intercept[0], lambda_0=0.02))
    True
    >>> bool(ez.check_stationarity(X, y, path[0]))
    True

    """
    own_price = coef.lambda_0 if isinstance(coef, Model) else None
    coef, intercept, own_loss = fitted_parts(coef, intercept)
    if own_loss is not None:
        settings = {"loss": own_loss, **settings}
    price = lambda_0 if lambda_0 is not None else own_price or 0.0
    problem = make_problem(X, y, **settings)
    if problem.rules:
        raise InvalidInputError("rules forbid single steps, which stationarity is about: leave them out.")
    support, values = problem.split(coef)
    return stationarity(problem, support, values, as_intercept(problem, intercept), as_nonnegative("lambda_0", price), tol)


def reaches(values: Array, bound: Array) -> NDArray[np.bool_]:
    """Return whether each value is at its upper bound, up to rounding; the bound may be infinite."""
    margin = np.where(np.isfinite(bound), 1e-12 * np.abs(bound), 0.0)
    return values >= bound - margin


@dataclass(frozen=True, eq=False)
class Coordinates:
    """A model on the solvers' scale, with the quantities in Theorem 1's conditions; arrays have one entry for each column."""

    penalty: Penalty
    beta: Array
    slope: Array  # the derivative of the loss in beta_j
    square: Array  # sum_i w_i z_ij^2, in the solvers' units like all that follows
    curvature: Array  # L_hat_j

    @cached_property
    def alive(self) -> NDArray[np.bool_]:
        """Whether a column is not zero after centring: no condition concerns those that are."""
        return self.curvature > 0.0

    @cached_property
    def unpenalized(self) -> NDArray[np.bool_]:
        """The features that do not pay lambda_0."""
        return self.penalty.unpenalized

    @cached_property
    def inside(self) -> NDArray[np.bool_]:
        """The support, with unpenalized features always in it."""
        return self.alive & ((self.beta != 0.0) | self.unpenalized)

    @cached_property
    def at_low(self) -> NDArray[np.bool_]:
        """Whether a coefficient is at its lower bound."""
        return reaches(-self.beta, -self.penalty.lower)

    @cached_property
    def at_high(self) -> NDArray[np.bool_]:
        """Whether a coefficient is at its upper bound."""
        return reaches(self.beta, self.penalty.upper)

    def decrease(self) -> float:
        """Return the largest amount by which a coordinate step lowers its surrogate of the objective."""
        safe = np.where(self.alive, self.curvature, 1.0)
        c = np.where(self.alive, self.beta - self.slope / safe, self.beta)
        best = self.penalty.threshold(c, safe)
        drop = self.penalty.surrogate(self.beta, c, safe) - self.penalty.surrogate(best, c, safe)
        return float(np.where(self.alive, drop, 0.0).max(initial=0.0))

    def gradient(self) -> float:
        """Return the largest distance from stationarity on the support, scaled to columns of norm one."""
        penalty, beta, g = self.penalty, self.beta, self.slope
        pull = g + 2.0 * penalty.lambda_2 * beta + penalty.lambda_1 * np.sign(beta)
        pull = np.where(beta == 0.0, np.sign(g) * np.maximum(np.abs(g) - penalty.lambda_1, 0.0), pull)
        pull = np.where(self.at_low, np.minimum(pull, 0.0), pull)
        pull = np.where(self.at_high, np.maximum(pull, 0.0), pull)
        norm = np.sqrt(np.where(self.alive, self.square, 1.0))
        return float(np.abs(pull[self.inside] / norm[self.inside]).max(initial=0.0))

    def extremes(self) -> tuple[float, float]:
        """Return `smallest` and `largest` of the report; infinity and zero if lambda_0 is zero."""
        lambda_0 = self.penalty.lambda_0
        if lambda_0 <= 0.0:
            return np.inf, 0.0
        price = lambda_0 * self.penalty.price
        steep = np.where(self.alive, self.curvature + 2.0 * self.penalty.lambda_2, np.inf)
        counted = ~self.unpenalized
        by_group = self.penalty.by_group
        used = by_group((self.beta != 0.0).astype(np.float64)) > 0.0
        bounded = by_group((self.inside & (self.at_low | self.at_high)).astype(np.float64)) > 0.0
        judged = self.alive & used & counted & ~bounded
        outside = self.alive & ~used & counted & (self.penalty.lower < 0.0) & (self.penalty.upper > 0.0)
        with np.errstate(invalid="ignore"):  # dead columns are steep without end, and have no part
            moved = by_group(np.where(self.alive, steep * self.beta**2, 0.0))
            excess = np.maximum(np.abs(self.slope) - self.penalty.lambda_1, 0.0)
            pull = by_group(np.where(outside, excess**2 / steep, 0.0))
        smallest = np.sqrt(moved[judged] / (2.0 * price[judged])).min(initial=np.inf)
        largest = np.sqrt(pull[outside] / (2.0 * price[outside])).max(initial=0.0)
        return float(smallest), float(largest)


def stationarity(
    problem: Problem, support: NDArray[np.int32], coef: Array, intercept: Any, lambda_0: float, tol: float
) -> StationarityReport:
    """Check Theorem 1's conditions of one model of a validated problem; its coefficients are on the scale of X.

    Numbers beyond float64 become infinite or NaN, and a report with these is not satisfied.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return _stationarity(problem, support, coef, intercept, lambda_0, tol)


def _stationarity(
    problem: Problem, support: NDArray[np.int32], coef: Array, intercept: Any, lambda_0: float, tol: float
) -> StationarityReport:
    loss, units = problem.units.loss.smoothed(), problem.units
    penalty, unit, cost = units.core_penalty(lambda_0), units.response, units.cost
    outputs, p = problem.outputs, problem.design.shape[1]
    beta = np.zeros((p, outputs))
    beta[support] = problem.penalised(support, coef) / units.coefficient
    eta, y = (side / unit for side in problem.fitted(support, coef, intercept))
    r = problem.w[:, None] * loss.gradient(eta, y)
    curvature = curvature_safety * loss.curvature_bound * problem.square * problem.coupling
    # Of several outputs, the conditions are those of atoms, of which each column has one for each output.
    square, curvature = np.repeat(problem.square, outputs), np.repeat(curvature, outputs)
    slope = problem.slopes(r).ravel() / units.column
    at = Coordinates(penalty.of_atoms(outputs), beta.ravel(), slope, square, curvature)
    decrease, gradient = at.decrease(), at.gradient()
    if problem.fit_intercept:
        total = np.abs(r.sum(axis=0)).max()
        gradient = max(gradient, float(total))
        decrease = max(decrease, float(np.square(total)) / (2.0 * curvature_safety * loss.curvature_bound))
    smallest, largest = at.extremes()
    value = float(problem.w @ of_rows(loss.value(eta, y))) + penalty.value(support, beta[support])
    return StationarityReport(decrease * cost, gradient * unit, smallest, largest, value * cost, problem.null, tol)
