"""The paper's formulation (MIP) as a program: big-M switches, the loss by slacks, squares or softplus terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.exact.mip.program import Builder, Program
from ellzero.problem import Problem

__all__ = ["Formulation", "formulate"]

Array = NDArray[np.float64]


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
    eta_sign: Array  # slack = eta_offset + eta_sign * eta
    eta_offset: Array
    slack: slice  # one for each sample with a weight: hinge's xi, the residual, or softplus's u
    magnitude: slice  # |beta_j|, empty without lambda_1
    kept: NDArray[np.int64]  # samples with a weight

    def point(self, support: NDArray[np.int32], beta: Array, intercept: float) -> Array:
        """The program's point of a model, to start from."""
        x = np.zeros(self.program.size)
        dense = np.zeros(self.beta.stop - self.beta.start)
        dense[support] = beta
        coef = beta if self.problem.spread is None else beta / self.problem.spread[support]
        x[self.beta] = dense
        x[self.z] = np.isin(self.counted, support)
        x[self.intercept] = intercept
        eta = self.problem.eta(support, coef, intercept)[self.kept]
        slack = self.eta_offset + self.eta_sign * eta
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

    With `home`, a set of features, it is the paper's local search problem: at most `swap_size` of them leave and at most as many
    others enter. With `perspective`, lambda_2 beta_j^2 is written as beta_j^2 / z_j, which is the same for a switch that is on
    or off and tighter in between.
    """
    penalty, p = problem.penalty, problem.design.shape[1]
    counted = np.flatnonzero(penalty.pays_lambda_0(p)).astype(np.int32)
    switched = np.zeros(p, dtype=bool)
    switched[counted] = True
    builder = Builder()
    beta = builder.add(
        p, lower=np.where(switched, np.minimum(low, 0.0), low), upper=np.where(switched, np.maximum(high, 0.0), high)
    )
    z = builder.add(len(counted), cost=lambda_0, lower=0.0, upper=1.0, integer=True)
    intercept = builder.add(int(problem.fit_intercept))
    pick = sparse.identity(p, format="csr")[counted]
    if len(counted):
        builder.require([(beta, pick), (z, -high[counted])], upper=0.0)
        builder.require([(beta, pick), (z, -low[counted])], lower=0.0)
    if k is not None and k < len(counted):
        builder.require([(z, np.ones((1, len(counted))))], upper=k)
    if home is not None:
        at_home = np.isin(counted, home).astype(np.float64)
        builder.require([(z, at_home[None])], lower=at_home.sum() - swap_size)
        builder.require([(z, 1.0 - at_home[None])], upper=swap_size)
    magnitude = slice(builder.size, builder.size)
    if penalty.lambda_1 > 0.0:
        magnitude = builder.add(p, cost=penalty.lambda_1, lower=0.0)
        builder.require([(magnitude, np.ones(p)), (beta, np.ones(p))], lower=0.0)
        builder.require([(magnitude, np.ones(p)), (beta, -np.ones(p))], lower=0.0)
    squares: list[NDArray[np.int64]] = []
    if penalty.lambda_2 > 0.0:
        q = builder.add(p, cost=penalty.lambda_2, lower=0.0)
        switch = np.full(p, -1)
        if perspective:
            switch[counted] = np.arange(z.start, z.stop)
        squares.append(np.stack([indices(q), indices(beta), switch], axis=1))
    # The loss of sample i is a function of slack_i, bounded below by (or equal to) offset_i + sign_i eta_i.
    kept = np.flatnonzero(problem.w > 0.0)
    w, y = problem.w[kept], problem.y[kept]
    loss, n = problem.loss.name, len(kept)
    softplus: list[NDArray[np.int64]] = []
    offset = {"squared_error": y, "logistic": np.zeros(n)}.get(loss, np.ones(n))
    sign = -np.ones(n) if loss == "squared_error" else -y
    if loss in ("hinge", "squared_hinge"):
        slack = builder.add(n, cost=w if loss == "hinge" else 0.0, lower=0.0)
    else:
        slack = builder.add(n)
    if loss in ("squared_hinge", "squared_error"):
        head = builder.add(n, cost=w if loss == "squared_hinge" else w / 2.0, lower=0.0)
        squares.append(np.stack([indices(head), indices(slack), np.full(n, -1)], axis=1))
    elif loss == "logistic":
        softplus.append(np.stack([indices(builder.add(n, cost=w, lower=0.0)), indices(slack)], axis=1))
    parts = [(slack, np.ones(n)), (beta, scaled_rows(problem, kept, -sign))]
    if problem.fit_intercept:
        parts.append((intercept, -sign[:, None]))
    builder.require(parts, lower=offset, upper=np.inf if "hinge" in loss else offset)
    program = builder.build(squares, softplus)
    return Formulation(problem, program, counted, beta, z, intercept, sign, offset, slack, magnitude, kept)


def indices(block: slice) -> NDArray[np.int64]:
    """The variables of a block."""
    return np.arange(block.start, block.stop)


def scaled_rows(problem: Problem, kept: NDArray[np.int64], sign: Array) -> Any:
    """sign_i x_ij / spread_j for the samples that are kept, sparse and in double precision."""
    rows = sparse.csr_matrix(problem.design.stored()[kept], dtype=np.float64)
    rows.data *= np.repeat(sign, np.diff(rows.indptr))
    if problem.spread is not None:
        rows.data /= problem.spread[rows.indices]
    return rows
