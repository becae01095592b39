"""A solution with a proof."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ellzero.exact.certificate import Certificate
from ellzero.model import Model

__all__ = ["ExactSolution", "relative_gap"]

Array = NDArray[np.float64]


def relative_gap(objective: float, lower_bound: float) -> float:
    """(UB - LB) / |UB|, or UB - LB where UB is nearly zero."""
    return (objective - lower_bound) / (abs(objective) if abs(objective) >= 1e-9 else 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class ExactSolution:
    """The best solution found, how far from the best possible it can be, and the proof.

    Attributes
    ----------
    coef, intercept, support : the solution, on the scale of X
    objective : recomputed from the raw data
    lower_bound : no solution is better (under ``bound``, if one was assumed)
    gap : (objective - lower_bound) / |objective|
    status : "optimal" (the proved gap is at most what was asked for), "time_limit", "node_limit", "interrupted", or "precision"
        (nothing is left to search, but rounding keeps the proved gap above a very small one that was asked for)
    nodes, seconds : of the search, and of the whole call
    bound : the assumed bound on |beta_j|, None if nothing was assumed
    model : the solution as a model that predicts
    certificate : the proof, for :func:`ellzero.verify`

    """

    certificate: Certificate
    nodes: int
    seconds: float

    @property
    def model(self) -> Model:
        """The solution as a model that predicts."""
        return self.certificate.model

    @property
    def lower_bound(self) -> float:
        """No solution is better."""
        return self.certificate.claim.lower_bound

    @property
    def status(self) -> str:
        """How the search ended."""
        return self.certificate.claim.status

    @property
    def coef(self) -> Array:
        """All coefficients, dense, of shape (p,)."""
        return self.model.coef

    @property
    def intercept(self) -> float:
        """The intercept."""
        return self.model.intercept

    @property
    def support(self) -> NDArray[np.int32]:
        """Indices of the nonzero coefficients."""
        return self.model.support

    @property
    def objective(self) -> float:
        """What was minimised, recomputed from the raw data."""
        return self.certificate.claim.objective

    @property
    def gap(self) -> float:
        """The proved relative gap."""
        return relative_gap(self.objective, self.lower_bound)

    @property
    def bound(self) -> float | None:
        """The assumed bound on |beta_j| (on the penalised scale)."""
        return self.certificate.claim.bound

    def __repr__(self) -> str:
        paper = (self.objective - self.lower_bound) / self.lower_bound if self.lower_bound > 0.0 else np.inf
        assumed = "" if not self.certificate.conditional else ", assuming bounded coefficients"
        return "\n".join(
            [
                f"{self.status}{assumed}: objective {self.objective:.10g}, lower bound {self.lower_bound:.10g}",
                f"gap {self.gap:.2e} of the objective ((UB - LB) / LB = {paper:.2e}), {self.nodes} nodes, {self.seconds:.2f} s",
                repr(self.model),
            ]
        )
