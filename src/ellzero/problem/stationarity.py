"""Theorem 1's conditions, checked from the raw data in plain NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ellzero._core import curvature_safety
from ellzero.base.signatures import passes_on
from ellzero.base.validation import as_nonnegative
from ellzero.problem.losses import HINGE_SMOOTHING, Hinge
from ellzero.problem.making import ProblemSettings, make_problem
from ellzero.problem.penalties import Penalty
from ellzero.problem.problem import Problem

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["StationarityReport", "check_stationarity", "stationarity"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class StationarityReport:
    """How far a solution is from the fixed points of coordinate descent (Theorem 1, L_hat_j = gamma L_j).

    Attributes
    ----------
    decrease : float
        The largest amount by which one coordinate step (or the intercept's) lowers its surrogate of the objective. It is
        zero exactly when all conditions of the theorem hold, with or without bounds.
    gradient : float
        The largest distance from stationarity on the support, of a unit-norm column (at a bound only inward pulls count).
    smallest : float
        min over the support of |beta_j| / sqrt(2 lambda_0 / (L_hat_j + 2 lambda_2)); the theorem asks for at least 1.
        Features that a bound or lambda_0 = 0 exempts are left out; infinite if none is left.
    largest : float
        max outside of (|gradient_j| - lambda_1) / sqrt(2 lambda_0 (L_hat_j + 2 lambda_2)); the theorem asks for at most 1.
    objective : float
        P at the (for the hinge: smoothed) loss.
    tolerance : float

    """

    decrease: float
    gradient: float
    smallest: float
    largest: float
    objective: float
    tolerance: float

    @property
    def satisfied(self) -> bool:
        """Whether the conditions hold up to the tolerance."""
        scale = max(self.objective, 1e-3)
        small_steps = self.decrease <= self.tolerance * scale
        return bool(small_steps and self.gradient <= np.sqrt(self.tolerance * scale))

    def __bool__(self) -> bool:
        return self.satisfied


@passes_on(ProblemSettings, make_problem)
def check_stationarity(
    X: object,
    y: ArrayLike,
    coef: ArrayLike | sparse.spmatrix,
    intercept: float = 0.0,
    *,
    lambda_0: float = 0.0,
    tol: float = 1e-6,
    **settings: Unpack[ProblemSettings],
) -> StationarityReport:
    """Check that no coordinate step can improve a solution.

    The arguments are those of :func:`fit_path`; ``coef`` and ``intercept`` are on the scale of X. The hinge is checked at
    its final smoothing, ``ellzero.problem.losses.HINGE_SMOOTHING``.

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y, _ = ez.datasets.make_classification(100, 20, 3, random_state=0)
    >>> path = ez.fit_path(X, y, lambda_0=0.02)
    >>> bool(ez.check_stationarity(X, y, path.coef[0], path.intercept[0], lambda_0=0.02))
    True

    """
    problem = make_problem(X, y, **settings)
    support, values = problem.split(coef)
    return stationarity(problem, support, values, float(intercept), as_nonnegative("lambda_0", lambda_0), tol)


def reaches(values: Array, bound: Array) -> NDArray[np.bool_]:
    """Whether values are at their (possibly infinite) upper bound, up to rounding."""
    margin = np.where(np.isfinite(bound), 1e-12 * np.abs(bound), 0.0)
    return values >= bound - margin


def stationarity(
    problem: Problem, support: NDArray[np.int32], coef: Array, intercept: float, lambda_0: float, tol: float
) -> StationarityReport:
    """The same for a validated problem."""
    loss = Hinge(HINGE_SMOOTHING) if isinstance(problem.loss, Hinge) else problem.loss
    p = problem.design.shape[1]
    spread = np.ones(p) if problem.spread is None else problem.spread
    user = problem.penalty
    penalty = Penalty(
        lambda_0,
        user.lambda_1,
        user.lambda_2,
        None if user.lower is None else user.lower * spread,
        None if user.upper is None else user.upper * spread,
        user.unpenalized,
    )
    beta = np.zeros(p)
    beta[support] = coef * spread[support]
    eta = problem.eta(support, coef, intercept)
    r = problem.w * loss.gradient(eta, problem.y)
    g = problem.slopes(r)

    # One coordinate step: beta_j must minimise its boxed surrogate.
    curvature = curvature_safety * loss.curvature_bound * problem.square
    alive = curvature > 0.0
    safe = np.where(alive, curvature, 1.0)
    c = np.where(alive, beta - g / safe, beta)
    best = penalty.threshold(c, safe)
    drop = np.where(alive, penalty.surrogate(beta, c, safe) - penalty.surrogate(best, c, safe), 0.0)
    decrease = float(drop.max(initial=0.0))

    # Stationarity on the support, box and sign respected.
    low = np.full(p, -np.inf) if penalty.lower is None else penalty.lower
    high = np.full(p, np.inf) if penalty.upper is None else penalty.upper
    free = penalty.unpenalized if penalty.unpenalized is not None else np.zeros(p, dtype=bool)
    inside = alive & ((beta != 0.0) | free)
    pull = g + 2.0 * penalty.lambda_2 * beta + penalty.lambda_1 * np.sign(beta)
    pull = np.where(beta == 0.0, np.sign(g) * np.maximum(np.abs(g) - penalty.lambda_1, 0.0), pull)
    at_low, at_high = reaches(-beta, -low), reaches(beta, high)
    pull = np.where(at_low, np.minimum(pull, 0.0), pull)
    pull = np.where(at_high, np.maximum(pull, 0.0), pull)
    norm = np.sqrt(np.where(alive, problem.square, 1.0))
    gradient = float(np.abs(pull[inside] / norm[inside]).max(initial=0.0))
    if problem.fit_intercept:
        gradient = max(gradient, abs(float(r.sum())))
        decrease = max(decrease, float(r.sum()) ** 2 / (2.0 * curvature_safety * loss.curvature_bound))

    steep = np.where(alive, curvature + 2.0 * penalty.lambda_2, np.inf)
    judged = inside & ~free & ~at_low & ~at_high
    outside = alive & (beta == 0.0) & ~free & (low < 0.0) & (high > 0.0)
    smallest = np.inf
    largest = 0.0
    if lambda_0 > 0.0:
        smallest = float((np.abs(beta[judged]) / np.sqrt(2.0 * lambda_0 / steep[judged])).min(initial=np.inf))
        excess = np.abs(g[outside]) - penalty.lambda_1
        largest = float((excess / np.sqrt(2.0 * lambda_0 * steep[outside])).max(initial=0.0))
    value = float(problem.w @ loss.value(eta, problem.y)) + penalty.value(beta)
    return StationarityReport(decrease, gradient, smallest, largest, value, tol)
