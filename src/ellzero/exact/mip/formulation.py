"""The paper's formulation (MIP) as a program: big-M switches, the loss by slacks, squares or softplus terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.base.errors import InvalidInputError
from ellzero.design import Design, is_stored
from ellzero.exact.mip.program import Builder, Program
from ellzero.problem.problem import Problem

__all__ = ["Formulation", "check_size", "formulate"]

Array = NDArray[np.float64]
NO_SWITCH = -1
LARGEST_STORED_BYTES = 2**30
"""Of an X that is not in memory and would have to be: the program holds it, and a MIP solver copies it more than once."""


@dataclass(frozen=True, eq=False)
class Margins:
    """What a loss is a function of: offset + sign * eta, for the samples that have a weight."""

    kept: NDArray[np.int64]
    offset: Array
    sign: Array

    @classmethod
    def of(cls, problem: Problem) -> Margins:
        """1 - y eta for the hinges, the residual y - eta, -y eta for softplus."""
        kept = np.flatnonzero(problem.w > 0.0)
        y, one = problem.y[kept], np.ones(len(kept))
        if problem.loss.name == "squared_error":
            return cls(kept, y, -one)
        return cls(kept, 0.0 * one if problem.loss.name == "logistic" else one, -y)


@dataclass(frozen=True, eq=False)
class Formulation:
    """A program, and which of its variables are what.

    Coefficients beta are on the scale that the penalty sees (`Problem.penalised`) but belong to columns that are not centred:
    the intercept is the user's.
    """

    problem: Problem
    program: Program
    counted: NDArray[np.int32]  # the features that have a switch, in the switches' order
    beta: slice
    z: slice
    intercept: slice
    margins: Margins
    slack: slice  # one for each sample with a weight: hinge's xi, the residual, or softplus's u
    magnitude: slice  # |beta_j|, empty without lambda_1

    def point(self, support: NDArray[np.int32], beta: Array, intercept: float) -> Array:
        """The program's point of a model, to start from."""
        x = np.zeros(self.program.size)
        dense = np.zeros(self.beta.stop - self.beta.start)
        dense[support] = beta
        coef = beta if self.problem.spread is None else beta / self.problem.spread[support]
        x[self.beta] = dense
        x[self.z] = np.isin(self.counted, support)
        x[self.intercept] = intercept
        slack = self.margins.offset + self.margins.sign * self.problem.eta(support, coef, intercept)[self.margins.kept]
        x[self.slack] = np.maximum(slack, self.program.lower[self.slack])
        if self.magnitude.stop > self.magnitude.start:
            x[self.magnitude] = np.abs(dense)
        return self.program.lifted(x)

    def solution(self, x: Array) -> tuple[NDArray[np.int32], Array, float]:
        """The features that are switched on or have no switch, their beta, and the intercept."""
        inside = np.ones(self.beta.stop - self.beta.start, dtype=bool)
        inside[self.counted] = x[self.z] > 0.5
        support = np.flatnonzero(inside).astype(np.int32)
        return support, x[self.beta][support], float(x[self.intercept].sum())


def formulate(
    problem: Problem,
    *,
    lambda_0: float,
    k: int | None = None,
    low: Array,
    high: Array,
    home: NDArray[Any] | None = None,
    swap_size: int = 0,
    perspective: bool = False,
) -> Formulation:
    """The formulation of a problem with low <= beta <= high (finite for the features that lambda_0 counts).

    With `home`, a set of features, it is the paper's local search problem: at most `swap_size` of them leave and at most as
    many others enter. With `perspective`, lambda_2 beta_j^2 is written as beta_j^2 / z_j, which is the same for a switch that
    is on or off and tighter in between.
    """
    pays = problem.penalty.pays_lambda_0(len(low))
    counted = np.flatnonzero(pays).astype(np.int32)
    builder = Builder()
    beta = builder.add(
        len(low), lower=np.where(pays, np.minimum(low, 0.0), low), upper=np.where(pays, np.maximum(high, 0.0), high)
    )
    z = builder.add(len(counted), cost=lambda_0, lower=0.0, upper=1.0, integer=True)
    pick = sparse.identity(len(low), format="csr")[counted]
    builder.require([(beta, pick), (z, -high[counted])], upper=0.0)
    builder.require([(beta, pick), (z, -low[counted])], lower=0.0)
    if k is not None and k < len(counted):
        builder.require([(z, np.ones((1, len(counted))))], upper=k)
    if home is not None:
        at_home = np.isin(counted, home).astype(np.float64)
        builder.require([(z, at_home[None])], lower=at_home.sum() - swap_size)
        builder.require([(z, 1.0 - at_home[None])], upper=swap_size)
    switch = np.full(len(low), NO_SWITCH)
    if perspective:
        switch[counted] = indices(z)
    magnitude, curved = add_shrinkage(builder, problem, beta, switch)
    intercept = builder.add(int(problem.fit_intercept))
    margins = Margins.of(problem)
    slack, squares, softplus = add_loss(builder, problem, margins, beta, intercept)
    program = builder.build([curved, squares], [softplus])
    return Formulation(problem, program, counted, beta, z, intercept, margins, slack, magnitude)


def add_shrinkage(
    builder: Builder, problem: Problem, beta: slice, switch: NDArray[np.int64]
) -> tuple[slice, NDArray[np.int64]]:
    """The terms of lambda_1 and lambda_2: where |beta_j| is (nowhere without lambda_1), and the squares."""
    penalty, p = problem.penalty, len(switch)
    magnitude = builder.add(p if penalty.lambda_1 > 0.0 else 0, cost=penalty.lambda_1, lower=0.0)
    if penalty.lambda_1 > 0.0:
        for sign in (-1.0, 1.0):
            builder.require([(magnitude, np.ones(p)), (beta, np.full(p, sign))], lower=0.0)
    if penalty.lambda_2 == 0.0:
        return magnitude, np.zeros((0, 3), np.int64)
    heads = builder.add(p, cost=penalty.lambda_2, lower=0.0)
    return magnitude, np.stack([indices(heads), indices(beta), switch], axis=1)


def add_loss(
    builder: Builder, problem: Problem, margins: Margins, beta: slice, intercept: slice
) -> tuple[slice, NDArray[np.int64], NDArray[np.int64]]:
    """The samples' slacks, and the terms that make their losses of them."""
    loss, n, w = problem.loss.name, len(margins.kept), problem.w[margins.kept]
    hinged = "hinge" in loss  # only there may a slack exceed what eta makes of it
    slack = builder.add(n, cost=w if loss == "hinge" else 0.0, lower=0.0 if hinged else -np.inf)
    squares, softplus = np.zeros((0, 3), np.int64), np.zeros((0, 2), np.int64)
    if loss == "logistic":
        softplus = np.stack([indices(builder.add(n, cost=w, lower=0.0)), indices(slack)], axis=1)
    elif loss != "hinge":
        heads = builder.add(n, cost=w / 2.0 if loss == "squared_error" else w, lower=0.0)
        squares = np.stack([indices(heads), indices(slack), np.full(n, NO_SWITCH)], axis=1)
    parts = [(slack, np.ones(n)), (beta, scaled_rows(problem, margins)), (intercept, -margins.sign[:, None])]
    builder.require(
        parts if problem.fit_intercept else parts[:2], lower=margins.offset, upper=np.inf if hinged else margins.offset
    )
    return slack, squares, softplus


def indices(block: slice) -> NDArray[np.int64]:
    """The variables of a block."""
    return np.arange(block.start, block.stop)


def check_size(design: Design) -> None:
    """Refuse an X that is kept elsewhere for its size."""
    if not is_stored(design):
        return
    X = design.stored()
    size = X.nbytes if X.storage == "sparse" else 8 * design.shape[0] * design.shape[1]
    if size > LARGEST_STORED_BYTES:
        raise InvalidInputError(
            f"method='mip' holds X in memory, and this one is too large for that ({size / 2**30:.1f} GiB); use method='bnb'."
        )


def in_memory(design: Design) -> Design:
    """A design whose columns are all in memory."""
    return design.take(np.arange(design.shape[1])) if is_stored(design) else design


def scaled_rows(problem: Problem, margins: Margins) -> Any:
    """-sign_i x_ij / spread_j for the samples that are kept, sparse and in double precision."""
    rows = sparse.csr_matrix(in_memory(problem.design).stored()[margins.kept], dtype=np.float64)
    rows.data *= np.repeat(-margins.sign, np.diff(rows.indptr))
    if problem.spread is not None:
        rows.data /= problem.spread[rows.indices]
    return rows
