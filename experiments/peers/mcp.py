"""Logistic regression with the minimax concave penalty, by ncvreg, or by skglm where R is not installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from experiments.peers.method import Fit
from experiments.peers.r_or_skglm import RPackageMethod
from experiments.peers.rscript import models_from_r
from experiments.peers.skglm_path import EarlyEnd, skglm_path

__all__ = ["MCP"]

GAMMAS = tuple(float(value) for value in np.geomspace(1.5, 25.0, 10))
# ncvreg measures a coefficient by the curvature of its column ("adaptive rescaling"), at most 1/4 for a standardised column.
CURVATURE = 0.25


@dataclass(frozen=True, eq=False)
class MCP(RPackageMethod):
    """ncvreg's default path for each gamma: standardised columns, lambda down to 0.001 of its largest value (0.05 if n <= p).

    A path ends at n/2 features, or once 99 % of the deviance is explained (ncvreg's own rule), so separable data end it.

    `backend` is "ncvreg" (through Rscript, the paper's tool), "skglm", or "auto", the first of these that is installed. ncvreg
    is first because it was two to five times as fast (n = p = 1000, correlation 0.9, one gamma: 7 to 11 s against 24 to 49 s on
    a busy machine, skglm's compilation included). Both give nearly the same sizes along most of a path.

    gamma_skglm = gamma_ncvreg / v at v = 1/4: ncvreg measures gamma relative to the curvature v of a column, and allows any
    gamma > 1; skglm measures it relative to the coefficient, and it must exceed 1/v. 1/4 is the curvature's bound for the
    logistic loss, with which skglm's coordinate descent works. (Its Newton method works with the true curvatures, for which
    4 gamma may be too small.)
    """

    name: ClassVar[str] = "MCP"
    package: ClassVar[str] = "ncvreg"
    gammas: Iterable[float] = GAMMAS
    n_lambda: int = 100
    backend: Literal["auto", "ncvreg", "skglm"] = "auto"

    def fits(self, X: Any, y: NDArray[np.int64]) -> Iterator[Fit]:
        """Yield the models of one path for each gamma."""
        n, p = X.shape
        largest = max(1, min(n // 2, p))
        if self.tool == "ncvreg":
            yield from models_from_r("ncvreg.R", X, y, [self.n_lambda, largest, *self.gammas], ["gamma", "lambda"])
            return
        from skglm.penalties import MCPenalty
        from skglm.solvers import AndersonCD

        for gamma in self.gammas:
            for fit in skglm_path(
                X,
                y,
                solver=AndersonCD(tol=1e-4, warm_start=True),
                penalty=partial(MCPenalty, gamma=gamma / CURVATURE),
                n_lambda=self.n_lambda,
                smallest=0.001 if n > p else 0.05,
                end=EarlyEnd(explained=0.99, progress=-np.inf, largest=largest),
            ):
                yield Fit(fit.support, fit.values, fit.intercept, {"gamma": float(gamma)} | fit.settings)
