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
    budget: float | None = None
    lambda_1: float = 0.0
    lambda_2: float = 0.0
    fit_intercept: bool = True
    standardize: bool = False
    sample_weight: Array | None = None
    lower: Array | None = None
    upper: Array | None = None
    unpenalized: tuple[int, ...] = ()
    feature_cost: Array | None = None
    groups: tuple[int, ...] | None = None  # a label for each column; those with the same one come in together
    bound: float | None = None  # an assumed bound of the coefficients, for exact searches
    free_bound: float | None = None  # one of unpenalized features, which the package may assume by itself
    kind: str = ""  # of data, in words

    @property
    def is_classification(self) -> bool:
        """Whether y holds labels."""
        return self.loss != "squared_error"

    @property
    def outputs(self) -> int:
        """The number of outputs: columns of y, or classes of the multinomial loss, of which every one has some weight."""
        if self.loss != "multinomial":
            return 1 if self.y.ndim == 1 else self.y.shape[1]
        return len(np.unique(self.y[self.weights() > 0.0]))

    @property
    def coef_shape(self) -> tuple[int, ...]:
        """The shape of coefficients, as the package takes and returns them."""
        p = self.X.shape[1]
        return (p,) if self.outputs == 1 else (self.outputs, p)

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
        for name in ("sample_weight", "lower", "upper", "feature_cost"):
            if getattr(self, name) is not None:
                chosen[name] = getattr(self, name)
        if self.unpenalized:
            chosen["unpenalized"] = list(self.unpenalized)
        if self.groups is not None:
            chosen["groups"] = list(self.groups)
        return chosen

    def form(self) -> dict[str, Any]:
        """Return `lambda_0`, `k`, `budget` and `bound`, those that are given."""
        values = {"lambda_0": self.lambda_0, "k": self.k, "budget": self.budget, "bound": self.bound}
        return {name: value for name, value in values.items() if value is not None}

    def weights(self) -> Array:
        """Return the weights divided by their sum, rounded to float64 as the package documents it."""
        if self.sample_weight is None:
            return np.full(len(self.y), 1.0 / len(self.y))
        relative = self.sample_weight / self.sample_weight.max()
        return np.asarray(relative / relative.sum())

    def counted(self) -> NDArray[np.bool_]:
        """Return a mask of the columns that pay lambda_0."""
        mask = np.ones(self.X.shape[1], dtype=bool) if self.feature_cost is None else self.feature_cost > 0.0
        mask[list(self.unpenalized)] = False
        return mask

    def heads(self) -> NDArray[np.int64]:
        """Return the first column of each column's group."""
        if self.groups is None:
            return np.arange(self.X.shape[1])
        return np.array([self.groups.index(label) for label in self.groups], dtype=np.int64)

    def members(self) -> NDArray[np.bool_]:
        """Return the features that pay lambda_0, one row for each, with a mask of its columns."""
        heads, counted = self.heads(), self.counted()
        return np.asarray(np.unique(heads[counted])[:, None] == heads)

    def prices(self) -> Array:
        """Return the prices of these features."""
        cost = np.ones(self.X.shape[1]) if self.feature_cost is None else self.feature_cost
        return cost[np.unique(self.heads()[self.counted()])]

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
            feature_cost=None if self.feature_cost is None else self.feature_cost[keep],
            groups=None if self.groups is None else tuple(self.groups[j] for j in keep),
        )
