"""Turn numbers and models between two scales: that of the user's data, and the core's.

The core sees the columns (x_j - mean_j) / (spread_j u) and the response (y - centre) / t. The units u and t of the problem are
powers of two that make data of any size look ordinary, and round nothing. A coefficient beta on the scale of the penalty is
beta u / t in the core, and a cost c is c / t^2.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.problem.model import Coefficients, Model
from ellzero.problem.problem import Problem

__all__ = ["atoms_of", "core_response", "core_scale", "from_atoms", "to_core_scale", "to_user_scale"]

Array = NDArray[np.float64]


def core_response(problem: Problem) -> Array:
    """Return y as the core sees it: of several outputs, one after another."""
    centre, unit = problem.response.centre, problem.response.unit
    y = problem.y if np.all(centre == 0.0) and unit == 1.0 else (problem.y - centre) / unit
    return y if y.ndim == 1 else y.ravel(order="F")


def core_scale(problem: Problem) -> Array:
    """Return the factor of each column.

    Constant columns beside an intercept get the factor zero: of what centring leaves of them nothing but rounding is not zero.
    """
    return np.where(problem.constant, 0.0, 1.0 / problem.spread / problem.column_unit)


def to_user_scale(problem: Problem, model: _core.Model) -> Coefficients:
    """Return the coefficients of a core model on the scale of X, without features that are zero."""
    support, values, intercept, response = model.support, model.beta, model.intercept, problem.response
    if problem.outputs > 1:
        support, values = from_atoms(support, values, problem.outputs)
    values = problem.clip(support, (values.T * problem.coefficient_unit / problem.spread[support]).T)
    if not len(intercept):
        intercept = np.zeros(problem.outputs)
    if problem.is_multinomial:  # it does not change if all classes are raised alike
        intercept = intercept - intercept.mean()
    intercept = intercept * response.unit - problem.mean[support] @ values + response.centre
    kept = values != 0.0 if values.ndim == 1 else values.any(axis=1)
    return Coefficients(support[kept], values[kept], float(intercept[0]) if problem.outputs == 1 else intercept)


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
    return columns if outputs == 1 else (columns[:, None] * outputs + np.arange(outputs, dtype=columns.dtype)).ravel()


def to_core_scale(problem: Problem, models: Iterable[Model]) -> list[_core.Model]:
    """Return models in the core's form and scale, so that it can start from them: the inverse of `to_user_scale`."""
    out = []
    for model in models:
        core = _core.Model()
        core.support = atoms_of(model.support.astype(np.int32), problem.outputs)
        core.beta = (problem.penalised(model.support, model.values) / problem.coefficient_unit).ravel()
        shift = problem.mean[model.support] @ model.values
        core.intercept = np.atleast_1d((model.intercept - problem.response.centre + shift) / problem.response.unit)
        core.cost = model.cost / problem.response.cost
        out.append(core)
    return out
