"""Logistic regression with the L1 penalty, by glmnet, or by skglm where R is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from experiments.peers.method import Fit
from experiments.peers.r_or_skglm import RPackageMethod
from experiments.peers.rscript import models_from_r
from experiments.peers.skglm_path import EarlyEnd, skglm_path

__all__ = ["L1"]

# glmnet's rule: a path ends once 99.9 % of the deviance is explained, or once a step adds less than 1e-5 of the explained part.
GLMNET_END = EarlyEnd(explained=0.999, progress=1e-5, largest=np.iinfo(np.int64).max)


@dataclass(frozen=True, eq=False)
class L1(RPackageMethod):
    """glmnet's default path: standardised columns, lambda from where all coefficients vanish to 1e-4 of that (1e-2 if n < p).

    `backend` is "glmnet" (through Rscript, the paper's tool), "skglm" (the same grid and rules for when to end), or "auto", the
    first of these that is installed. celer has no intercept, and scikit-learn's L1 solvers either penalise the intercept
    (liblinear) or are slow (saga), so they are not used.
    """

    name: ClassVar[str] = "L1"
    package: ClassVar[str] = "glmnet"
    n_lambda: int = 100
    backend: Literal["auto", "glmnet", "skglm"] = "auto"

    def fits(self, X: Any, y: NDArray[np.int64]) -> Iterator[Fit]:
        """Yield the models of the path, from none to many features."""
        if self.tool == "glmnet":
            yield from models_from_r("glmnet.R", X, y, [self.n_lambda], ["lambda"])
            return
        from skglm.penalties import L1 as Penalty
        from skglm.solvers import ProxNewton

        n, p = X.shape
        yield from skglm_path(
            X,
            y,
            solver=ProxNewton(tol=1e-5, warm_start=True),
            penalty=Penalty,
            n_lambda=self.n_lambda,
            smallest=1e-2 if n < p else 1e-4,
            end=GLMNET_END,
        )
