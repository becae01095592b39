"""One problem as plain values, so that it can be drawn, made smaller and written down as a script."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LOSSES", "Array", "Problem"]

Array = NDArray[np.float64]
LOSSES = ("logistic", "squared_hinge", "hinge", "squared_error")


@dataclass(frozen=True, eq=False)
class Problem:
    """The data and the settings of one fit, as the public functions take them."""

    X: Array
    y: NDArray[Any]
    loss: str
    lambda_0: float | None = None
    k: int | None = None
    lambda_1: float = 0.0
    lambda_2: float = 0.0
    fit_intercept: bool = True
    standardize: bool = False
    sample_weight: Array | None = None
    lower: Array | None = None
    upper: Array | None = None
    unpenalized: tuple[int, ...] = ()
    bound: float | None = None  # an assumed bound of the coefficients, for exact searches
    free_bound: float | None = None  # one of unpenalized features, which the package may assume by itself
    kind: str = ""  # of data, in words

    @property
    def is_classification(self) -> bool:
        """Whether y holds labels."""
        return self.loss != "squared_error"

    def but(self, **values: Any) -> Problem:
        """Return the problem with other values."""
        return replace(self, **values)

    def settings(self) -> dict[str, Any]:
        """Return the arguments that all fitting functions share; those with their default are left out."""
        chosen: dict[str, Any] = {"loss": self.loss}
        if self.lambda_1:
            chosen["lambda_1"] = self.lambda_1
        if self.lambda_2:
            chosen["lambda_2"] = self.lambda_2
        if not self.fit_intercept:
            chosen["fit_intercept"] = False
        if self.standardize:
            chosen["standardize"] = True
        for name in ("sample_weight", "lower", "upper"):
            if getattr(self, name) is not None:
                chosen[name] = getattr(self, name)
        if self.unpenalized:
            chosen["unpenalized"] = list(self.unpenalized)
        return chosen

    def form(self) -> dict[str, Any]:
        """Return `lambda_0`, `k` and `bound`, those that are given."""
        values = {"lambda_0": self.lambda_0, "k": self.k, "bound": self.bound}
        return {name: value for name, value in values.items() if value is not None}

    def counted(self) -> NDArray[np.bool_]:
        """Return a mask of the features that pay lambda_0."""
        mask = np.ones(self.X.shape[1], dtype=bool)
        mask[list(self.unpenalized)] = False
        return mask

    def rows(self, keep: NDArray[Any]) -> Problem:
        """Return the problem on some rows."""
        weight = None if self.sample_weight is None else self.sample_weight[keep]
        return replace(self, X=self.X[keep], y=self.y[keep], sample_weight=weight)

    def columns(self, keep: NDArray[np.int64]) -> Problem:
        """Return the problem on some columns, given by their indices."""
        place = {int(old): new for new, old in enumerate(keep)}
        return replace(
            self,
            X=self.X[:, keep],
            unpenalized=tuple(place[j] for j in self.unpenalized if j in place),
            lower=None if self.lower is None else self.lower[keep],
            upper=None if self.upper is None else self.upper[keep],
        )
