"""Units in which the solvers work: powers of two, so that a change of units rounds nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.problem.coefficients import Coefficients
from ellzero.problem.losses import Loss
from ellzero.problem.penalties import Penalty
from ellzero.problem.sizes import heavy_class, unit_of

if TYPE_CHECKING:
    from ellzero.problem.model import Model
    from ellzero.problem.problem import Problem

Array = NDArray[np.float64]
# A penalty that is beyond these in the core's units is as good as infinite, or as zero.
LARGEST_PENALTY, SMALLEST_PENALTY = 1e300, 5e-324


@dataclass(frozen=True, eq=False)
class Units:
    """How the core sees a problem, and how its numbers become the user's again.

    It sees the columns (x_j - mean_j) / (spread_j u), the response (y - centre) / t and the prices c_j / v. The units u, t and
    v are powers of two that make data of any size look ordinary, and round nothing. A coefficient beta on the scale of the
    penalty is beta u / t in the core, and a cost c is c / t^2. Labels are left as they are.
    """

    penalty: Penalty  # the user's
    mean: Array
    spread: Array
    column: float  # u
    centre: Array  # of each output
    response: float  # t; all outputs have one: what they weigh beside each other is the user's choice
    price: float  # v, the least power of two that no price exceeds: in this unit prices are at most one
    cost: float  # t^2, the unit of losses, and so of all that is added to them
    lambda_0: float  # that of losses for features of the price one
    coefficient: float  # of coefficients on the scale of the penalty
    heavy: float  # the label of the class beside which the other one weighs next to nothing, 0.0 if none does
    loss: Loss  # in the unit of the response
    scale: Array  # of each column of X in the core: zero for constant ones, of which centring leaves nothing but rounding

    @classmethod
    def of(cls, problem: Problem) -> Units:
        """Return the units of a problem; where there is an intercept, the centre of a response is the best constant."""
        y, w, loss, outputs = problem.y, problem.w, problem.loss, problem.outputs
        centre, response, heavy = np.zeros(outputs), 1.0, 0.0
        if not loss.is_classification:
            response = unit_of(math.sqrt(2.0 * problem.null))
            centre = loss.best_constant(y, w) if problem.fit_intercept else centre
        elif problem.fit_intercept and outputs == 1:
            heavy = heavy_class(y[:, 0], w)
        mantissa, exponent = math.frexp(float(problem.penalty.price.max(initial=0.0)))
        price, cost = math.ldexp(1.0, exponent - (mantissa == 0.5)), response**2
        return cls(
            penalty=problem.penalty,
            mean=problem.mean,
            spread=problem.spread,
            column=problem.column_unit,
            centre=centre,
            response=response,
            price=price,
            cost=cost,
            lambda_0=cost / price,
            coefficient=response / problem.column_unit,
            heavy=heavy,
            loss=loss.in_unit(response),
            scale=np.where(problem.constant, 0.0, 1.0 / problem.spread / problem.column_unit),
        )

    def core_penalty(self, lambda_0: float = 0.0) -> Penalty:
        """Return the penalty as the core sees it, with bounds of the standardised coefficients.

        A lambda that is positive stays so, and finite, whatever its unit.
        """
        user, t, u = self.penalty, self.response, self.column
        with np.errstate(over="ignore"):
            lower, upper = user.lower * self.spread / self.coefficient, user.upper * self.spread / self.coefficient
        return replace(
            user,
            lambda_0=lambda_0 / self.lambda_0,
            lambda_1=in_range(user.lambda_1, user.lambda_1 / t / u),
            lambda_2=in_range(user.lambda_2, user.lambda_2 / u / u),
            lower=lower,
            upper=upper,
            price=user.price / self.price,
        )

    def core_response(self, y: Array) -> Array:
        """Return y as the core sees it: of several outputs, one after another."""
        return ((y - self.centre) / self.response).ravel(order="F")

    def core_models(self, models: Iterable[Model]) -> list[_core.Model]:
        """Return models in the core's form, so that it can start from them: the inverse of `coefficients`."""
        out = []
        for model in models:
            out.append(core := self.core_model(model.coefficients))
            core.cost = model.cost / self.cost
        return out

    def core_model(self, at: Coefficients) -> _core.Model:
        """Return coefficients in the core's form, without a cost."""
        core, (support, values, intercept) = _core.Model(), at
        core.support = atoms_of(support.astype(np.int32), len(self.centre))
        core.beta = (values * self.spread[support, None] / self.coefficient).ravel()
        core.intercept = (intercept - self.centre + self.mean[support] @ values) / self.response
        return core

    def coefficients(self, model: _core.Model) -> Coefficients:
        """Return the coefficients of a core model on the scale of X, inside their bounds, without features that are zero."""
        outputs = len(self.centre)
        support, values = from_atoms(model.support, model.beta, outputs)
        values = self.penalty.clip(support, values * self.coefficient / self.spread[support, None])
        intercept = model.intercept if len(model.intercept) else np.zeros(outputs)
        if self.loss.couples_outputs:  # nothing changes if all classes are raised alike
            intercept = intercept - intercept.mean()
        intercept = intercept * self.response - self.mean[support] @ values + self.centre
        kept = values.any(axis=1)
        return Coefficients(support[kept], values[kept], intercept)


def from_atoms(atoms: NDArray[np.int32], values: Array, outputs: int) -> tuple[NDArray[np.int32], Array]:
    """Return the columns of some atoms (ascending), and their coefficients with a column for each output.

    >>> from_atoms(np.array([2, 3, 7]), np.array([0.5, 1.0, 2.0]), 2)
    (array([1, 3]), array([[0.5, 1. ],
           [0. , 2. ]]))
    """
    columns, places = np.unique(atoms // outputs, return_inverse=True)
    table = np.zeros((len(columns), outputs))
    table[places, atoms % outputs] = values
    return columns.astype(atoms.dtype), table


def atoms_of(columns: NDArray[Any], outputs: int) -> NDArray[Any]:
    """Return the atoms of some columns, of which each has one for each output."""
    return (columns[:, None] * outputs + np.arange(outputs, dtype=columns.dtype)).ravel()


def in_range(given: float, scaled: float) -> float:
    """Return a penalty in other units, and the nearest positive number to it if it is out of range."""
    return min(max(scaled, SMALLEST_PENALTY), LARGEST_PENALTY) if given > 0.0 else 0.0
