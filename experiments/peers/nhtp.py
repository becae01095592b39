"""NHTP: Newton hard-thresholding pursuit (Zhou, Xiu and Qi, JMLR 2021), written from the paper's description."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.peers.sparse_logistic import (
    Array,
    Data,
    Indices,
    Iterate,
    Pursuit,
    WarmStart,
    factorised_hessian,
    largest,
    solve_factorised,
)

__all__ = ["NHTP"]

SUFFICIENT_DECREASE = 5e-5  # sigma of the Armijo rule, the authors' value
# The first eta, times the mean curvature of a column. With unit columns the authors' rule gives about 0.4. Of 0.5, 1, 2, 4 and
# 8, tried on figure 1's data, the models hardly improve from 2 on, while the iterations grow.
FIRST_STEP = 2.0


@dataclass(frozen=True, eq=False)
class NHTP(Pursuit):
    """Logistic regression with at most k features and a ridge, by Newton hard-thresholding pursuit.

    Each iteration takes T, the k largest entries of |beta - eta gradient|, and a Newton step on T that sets the rest to zero.
    A direction without sufficient descent is replaced by the negative gradient on T; the Armijo rule then gives the length of
    the step. A fit ends where the gradient on T and the coefficients off T vanish (`tol`): by the choice of T such a point is
    stationary. The intercept is always in T, without a penalty. eta changes every ten iterations as in the paper, is measured
    in inverse curvatures (so that it suits any lambda_2), and is halved where no step along the direction lowers the objective,
    so that every fit ends.

    `warm_start="size"`, the default, starts each size from the next smaller one at the same lambda_2. On two data sets of
    figures 1 and 2 this took about half the time of starts at zero and reached lower objectives: 0.4873 on average instead of
    0.4924 (n = 1000, correlation 0.9), 0.4418 instead of 0.4421 (n = 300, 0.5).
    """

    warm_start: WarmStart = "size"
    tol: float = 1e-7
    max_looks: int = 200
    first_step: float = FIRST_STEP

    @property
    def name(self) -> str:
        """Return the name in the paper's legends."""
        return "NHTP"

    def advance(self, data: Data, at: Iterate) -> bool:
        """Do one iteration; return whether the iterate is stationary or can no longer be improved."""
        assert at.slopes is not None
        ridge = 2.0 * at.lambda_2
        eta = at.memory.setdefault("eta", self.first_step / (0.25 * data.mean_square + ridge))
        stepped = -eta * at.slopes
        stepped[at.support] += (1.0 - eta * ridge) * at.values
        target = largest(stepped, at.size)
        values = data.spread(at.support, at.values, target)
        gradient = np.concatenate(([data.residual(at.margin).sum()], at.slopes[target] + ridge * values))

        leaving = np.isin(at.support, target, assume_unique=True, invert=True)
        left, left_values = at.support[leaving], at.values[leaving]
        error = max(float(np.max(np.abs(gradient))), float(np.max(np.abs(left_values), initial=0.0)))
        if error <= self.tol:
            return True
        looks = at.memory["looks"] = at.memory.get("looks", 0) + 1
        if looks % 10 == 0:
            at.memory["eta"] = eta / 1.05 if error > looks**-2 else eta * 1.05

        rows = _rows(data, at, target)
        lost = left_values @ data.rows(left)[1:] if len(left) else np.zeros(data.n)
        direction = _direction(data, at, rows, gradient, lost, float(left_values @ left_values), eta)
        slope = float(gradient @ direction) - float((at.slopes[left] + ridge * left_values) @ left_values)
        base, change = at.margin - lost, direction @ rows
        alpha = 1.0
        while alpha > (0.01 if len(left) else 1e-12):  # off the support there may be no descent at all with this eta
            trial, margin = values + alpha * direction[1:], base + alpha * change
            objective = data.loss(margin) + at.lambda_2 * float(trial @ trial)
            if objective < at.objective and objective <= at.objective + SUFFICIENT_DECREASE * alpha * slope:
                at.move(target, trial, at.intercept + alpha * float(direction[0]), margin, objective)
                return False
            alpha *= 0.5
        at.memory["eta"] = 0.5 * eta
        return np.array_equal(target, at.support)


def _rows(data: Data, at: Iterate, target: Indices) -> Array:
    """Return the columns of T, which are kept for as long as T does not change."""
    if "target" not in at.memory or not np.array_equal(at.memory["target"], target):
        at.memory |= {"target": target, "rows": data.rows(target)}
    rows: Array = at.memory["rows"]
    return rows


def _direction(data: Data, at: Iterate, rows: Array, gradient: Array, lost: Array, lost_square: float, eta: float) -> Array:
    """Return the Newton direction on T if it gives sufficient descent, else the negative gradient."""
    curvature = data.curvature(at.margin)
    right = rows @ (curvature * lost) - gradient if lost_square else -gradient
    direction = solve_factorised(factorised_hessian(rows, curvature, at.lambda_2), right)
    if direction is None:
        return -gradient
    gamma = 1e-4 if lost_square else 1e-10  # the authors' values
    needed = gamma * (float(direction @ direction) + lost_square) - lost_square / (4.0 * eta)
    return direction if -float(gradient @ direction) >= needed else -gradient
