"""The penalty lambda_0 sum_G c_G [b_G != 0] + lambda_1 ||b||_1 + lambda_2 ||b||^2 with bounds.

The sum is over groups of columns, c_G is the price of group G. Unless groups are given, every column is its own group.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.problem.sizes import unit_of

Array = NDArray[np.float64]
PER_COLUMN = ("lower", "upper", "price", "heads")


@dataclass(frozen=True, kw_only=True)
class Penalty:
    """The parameters of the penalty; `lower` to `heads` have one entry for each column."""

    lambda_0: float = 0.0
    lambda_1: float = 0.0
    lambda_2: float = 0.0
    lower: Array
    upper: Array
    price: Array  # one, unless features have prices of their own; zero for unpenalized features
    heads: NDArray[np.int32]  # the first column of each column's group, whose columns have one price, which is paid once

    @classmethod
    def of(
        cls,
        p: int,
        *,
        lower: Array | None = None,
        upper: Array | None = None,
        price: Array | None = None,
        heads: NDArray[np.int32] | None = None,
        **lambdas: float,
    ) -> Penalty:
        """Return the penalty of p columns: without bounds, of price one, each on its own, where nothing else is given."""
        return cls(
            lower=np.full(p, -np.inf) if lower is None else lower,
            upper=np.full(p, np.inf) if upper is None else upper,
            price=np.ones(p) if price is None else price,
            heads=np.arange(p, dtype=np.int32) if heads is None else heads,
            **lambdas,
        )

    @cached_property
    def grouped(self) -> bool:
        """Whether some columns come in together."""
        return bool((self.heads != np.arange(self.heads.size)).any())

    @cached_property
    def priced(self) -> bool:
        """Whether some features have a price other than one, and are not free."""
        return bool(((self.price != 1.0) & (self.price != 0.0)).any())

    @cached_property
    def unpenalized(self) -> NDArray[np.bool_]:
        """The columns of features that do not pay lambda_0."""
        return np.asarray(self.price == 0.0)

    def with_shrinkage(self, name: str, value: float) -> Penalty:
        """Return a copy with another `lambda_1` or `lambda_2`; `name` says which."""
        return replace(self, lambda_1=value) if name == "lambda_1" else replace(self, lambda_2=value)

    def with_equal_prices(self) -> Penalty:
        """Return a copy in which all features that pay cost one."""
        return replace(self, price=(self.price > 0.0).astype(np.float64))

    def paying(self, columns: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the features (the heads of groups) of these columns that pay lambda_0, each once."""
        features = np.unique(self.heads[columns]) if self.grouped else columns
        return features[self.price[features] > 0.0]

    def counted(self, columns: NDArray[np.int32]) -> int:
        """Return how many features of these columns pay lambda_0."""
        return len(self.paying(columns))

    def countable(self, most: int | None = None) -> int:
        """Return the largest possible size of a model: the number of features that are counted, or `most` if there are more."""
        every = self.counted(np.arange(self.heads.size, dtype=np.int32))
        return every if most is None else min(most, every)

    def spent(self, columns: NDArray[np.int32]) -> float:
        """Return the sum of the prices of the features of these columns, correctly rounded: their number, if all cost one."""
        return math.fsum(self.price[self.paying(columns)].tolist())

    def clip(self, columns: NDArray[np.int32], coef: Array) -> Array:
        """Move coefficients of some columns back inside their bounds, which rounding in a change of scale may violate."""
        return np.clip(coef, self.lower[columns, None], self.upper[columns, None])

    def value(self, columns: NDArray[np.int32], beta: Array) -> float:
        """Return the penalty of the coefficients of some columns, which have one for each output."""
        unit = unit_of(float(np.abs(beta).max(initial=0.0)))  # a power of two: in this unit squares are numbers
        ridge = self.lambda_2 * unit * unit * np.square(beta / unit).sum()
        used = columns[beta.any(axis=1)]
        return float(self.lambda_0 * self.spent(used) + self.lambda_1 * np.abs(beta).sum() + ridge)

    def on(self, columns: NDArray[Any]) -> Penalty:
        """Return the penalty of some columns (ascending) only."""
        fields: dict[str, Any] = {name: np.ascontiguousarray(getattr(self, name)[columns]) for name in PER_COLUMN}
        return replace(self, **fields | {"heads": heads_among(fields["heads"])})

    def of_atoms(self, outputs: int) -> Penalty:
        """Return the penalty of the atoms of several outputs: each column has `outputs`, column j from j * outputs on.

        The atoms of a feature are a group, which pays once.
        """
        fields: dict[str, Any] = {name: np.repeat(getattr(self, name), outputs) for name in PER_COLUMN}
        return replace(self, **fields | {"heads": fields["heads"] * np.int32(outputs)})

    def by_group(self, values: Array) -> Array:
        """Return the sum of the values of each column's group."""
        return np.asarray(np.bincount(self.heads, weights=values, minlength=values.size)[self.heads], dtype=np.float64)

    def conjugate(self, v: Array) -> Array:
        """Return the largest v_j b - lambda_1 |b| - lambda_2 b^2 over the box of each j; infinite if nothing limits it.

        >>> import numpy as np
        >>> Penalty.of(2, lambda_2=1.0, upper=np.array([1.0, 9.0])).conjugate(np.array([4.0, 4.0]))
        array([3., 4.])
        """
        pull = np.maximum(np.abs(v) - self.lambda_1, 0.0)
        size = pull / (2.0 * self.lambda_2) if self.lambda_2 > 0.0 else np.where(pull > 0.0, np.inf, 0.0)
        beta = np.clip(np.copysign(size, v), self.lower, self.upper)
        limited = np.isfinite(beta)
        beta = np.where(limited, beta, 0.0)
        return np.where(limited, v * beta - self.lambda_1 * np.abs(beta) - self.lambda_2 * beta * beta, np.inf)

    def surrogate(self, beta: Array, c: Array, curvature: Array) -> Array:
        """Return curvature / 2 (beta - c)^2 + penalty of each feature: the function that a coordinate step minimises.

        Of a group, it is the sum over its columns, with the price paid once, and stands at each of them.
        """
        used = self.by_group((beta != 0.0).astype(np.float64)) > 0.0
        cost = np.where(used, self.lambda_0 * self.price, 0.0)
        smooth = curvature / 2.0 * (beta - c) ** 2 + self.lambda_1 * np.abs(beta) + self.lambda_2 * beta**2
        return self.by_group(smooth) + cost

    def threshold(self, c: Array, curvature: Array) -> Array:
        """Return the minimiser of `surrogate` over the box of each feature: the paper's thresholding operator T.

        >>> import numpy as np
        >>> Penalty.of(2, lambda_0=0.5).threshold(np.array([0.9, -1.1]), np.ones(2))
        array([ 0. , -1.1])
        """
        pull = np.maximum(np.abs(c) * curvature - self.lambda_1, 0.0)
        steep = curvature + 2.0 * self.lambda_2
        a = np.sign(c) * np.divide(pull, steep, out=np.zeros_like(pull), where=steep > 0.0)
        a = np.clip(a, self.lower, self.upper)
        keep = self.unpenalized | (self.surrogate(a, c, curvature) <= self.surrogate(np.zeros_like(a), c, curvature))
        return np.where(keep, a, 0.0) + 0.0


def heads_among(heads: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the heads of columns that were taken from others, numbered again.

    >>> import numpy as np
    >>> heads_among(np.array([2, 5, 2, 7]))
    array([0, 1, 0, 3], dtype=int32)
    """
    _, first, inverse = np.unique(heads, return_index=True, return_inverse=True)
    return first[inverse].astype(np.int32)
