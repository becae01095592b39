"""Likelihood and information criteria of a fitted model, as statisticians print them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class FitStatistics:
    """How well a model fits the rows that it was fitted on.

    Attributes
    ----------
    rows : their number or, in estimators, the sum of their weights
    loss, null : mean loss of the model, and of the best constant
    coefficients : their number, intercepts included
    likelihood : "labels", if the loss is the negative logarithm of a likelihood, "numbers" for squared error, else ""

    """

    rows: float
    loss: float
    null: float
    coefficients: int
    likelihood: str

    @property
    def log_likelihood(self) -> float:
        """The logarithm of the likelihood; for squared error with normal errors, whose variance is estimated."""
        if self.likelihood == "labels":
            return -self.rows * self.loss
        with np.errstate(divide="ignore"):
            return float(-0.5 * self.rows * (np.log(4.0 * np.pi * self.loss) + 1.0))

    @property
    def explained(self) -> float:
        """McFadden's pseudo-R2 or, for squared error, R2."""
        return 1.0 - self.loss / self.null if self.null > 0.0 else 0.0

    @property
    def aic(self) -> float:
        """Akaike's criterion; smaller is better."""
        return 2.0 * self.coefficients - 2.0 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion; smaller is better."""
        return float(np.log(self.rows)) * self.coefficients - 2.0 * self.log_likelihood

    def __str__(self) -> str:
        rows = f"n = {self.rows:,.6g}"
        if not self.likelihood:
            return rows
        name = "R2" if self.likelihood == "numbers" else "pseudo-R2"
        return (
            f"{rows}, log-likelihood = {self.log_likelihood:.5g}, {name} = {self.explained:.4f}, AIC = {self.aic:.5g}, "
            f"BIC = {self.bic:.5g}"
        )
