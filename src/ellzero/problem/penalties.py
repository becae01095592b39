"""The penalty lambda_0 sum_G c_G [b_G != 0] + lambda_1 ||b||_1 + lambda_2 ||b||^2 with bounds.

The sum is over groups of columns, c_G is the price of group G. Unless groups are given, every column is a group of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.problem.units import unit_of

__all__ = ["Penalty", "heads_among", "used_columns"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Penalty:
    """The parameters of the penalty; `lower` to `groups` have one entry for each column, or are None.

    Unpenalized features have the price zero; without `price`, that of all others is one. `groups` holds the first column of
    each column's group, its head; all columns of a group have its price, which is paid once.
    """

    lambda_0: float = 0.0
    lambda_1: float = 0.0
    lambda_2: float = 0.0
    lower: Array | None = None
    upper: Array | None = None
    unpenalized: NDArray[np.bool_] | None = None
    price: Array | None = None
    groups: NDArray[np.int32] | None = None

    def with_shrinkage(self, name: str, value: float) -> Penalty:
        """Return a copy with another `lambda_1` or `lambda_2`; `name` says which."""
        return replace(self, lambda_1=value) if name == "lambda_1" else replace(self, lambda_2=value)

    def counted(self, beta: Array) -> int:
        """Return the number of features with nonzero coefficients that pay lambda_0."""
        return len(self.paying(used_columns(beta)))

    def paying(self, columns: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the features (the heads of groups) of these columns that pay lambda_0, each once."""
        features = columns if self.groups is None else np.unique(self.groups[columns])
        return features if self.unpenalized is None else features[~self.unpenalized[features]]

    def value(self, beta: Array) -> float:
        """Return the penalty of a coefficient vector, or of coefficients with a column for each output."""
        unit = unit_of(float(np.abs(beta).max(initial=0.0)))  # a power of two: in this unit squares are numbers
        ridge = self.lambda_2 * unit * unit * np.square(beta / unit).sum()
        return float(self.lambda_0 * self.spent(beta) + self.lambda_1 * np.abs(beta).sum() + ridge)

    def spent(self, beta: Array) -> float:
        """Return the sum of the prices of the features with nonzero coefficients, correctly rounded."""
        if self.price is None:
            return float(self.counted(beta))
        return math.fsum(self.price[self.paying(used_columns(beta))].tolist())

    def on(self, columns: NDArray[Any]) -> Penalty:
        """Return the penalty of some columns (ascending) only."""

        def part(values: Any) -> Any:
            return None if values is None else np.ascontiguousarray(values[columns])

        fields = {name: part(getattr(self, name)) for name in ("lower", "upper", "unpenalized", "price")}
        return replace(self, **fields, groups=None if self.groups is None else heads_among(self.groups[columns]))

    def of_atoms(self, columns: int, outputs: int) -> Penalty:
        """Return the penalty of the atoms of several outputs: each of so many columns has `outputs`, from j * outputs on.

        The atoms of a feature are a group, which pays once.
        """
        if outputs == 1:
            return self

        def repeated(values: Any) -> Any:
            return None if values is None else np.repeat(values, outputs)

        fields = {name: repeated(getattr(self, name)) for name in ("lower", "upper", "unpenalized", "price")}
        heads = np.arange(columns, dtype=np.int32) if self.groups is None else self.groups
        return replace(self, **fields, groups=repeated(heads * np.int32(outputs)))

    def by_group(self, values: Array) -> Array:
        """Return the sum of the values of each column's group."""
        if self.groups is None:
            return values
        return np.asarray(np.bincount(self.groups, weights=values, minlength=values.size)[self.groups], dtype=np.float64)

    def prices(self, p: int) -> Array:
        """Return the price of each feature."""
        return self.pays_lambda_0(p).astype(np.float64) if self.price is None else self.price

    def pays_lambda_0(self, p: int) -> NDArray[np.bool_]:
        """Return a mask of the features that pay lambda_0."""
        return np.ones(p, dtype=bool) if self.unpenalized is None else ~self.unpenalized

    def conjugate(self, v: Array) -> Array:
        """Return the largest v_j b - lambda_1 |b| - lambda_2 b^2 over the box of each j; infinite if nothing limits it.

        >>> import numpy as np
        >>> Penalty(lambda_2=1.0, upper=np.array([1.0, 9.0])).conjugate(np.array([4.0, 4.0]))
        array([3., 4.])
        """
        pull = np.maximum(np.abs(v) - self.lambda_1, 0.0)
        size = pull / (2.0 * self.lambda_2) if self.lambda_2 > 0.0 else np.where(pull > 0.0, np.inf, 0.0)
        beta = np.copysign(size, v)
        beta = beta if self.lower is None else np.maximum(beta, self.lower)
        beta = beta if self.upper is None else np.minimum(beta, self.upper)
        limited = np.isfinite(beta)
        beta = np.where(limited, beta, 0.0)
        return np.where(limited, v * beta - self.lambda_1 * np.abs(beta) - self.lambda_2 * beta * beta, np.inf)

    def surrogate(self, beta: Array, c: Array, curvature: Array) -> Array:
        """Return curvature / 2 (beta - c)^2 + penalty of each feature: the function that a coordinate step minimises.

        Of a group, it is the sum over its columns, with the price paid once, and stands at each of them.
        """
        used = self.by_group((beta != 0.0).astype(np.float64)) > 0.0
        cost = np.where(used, self.lambda_0 * self.prices(beta.size), 0.0)
        smooth = curvature / 2.0 * (beta - c) ** 2 + self.lambda_1 * np.abs(beta) + self.lambda_2 * beta**2
        return self.by_group(smooth) + cost

    def threshold(self, c: Array, curvature: Array) -> Array:
        """Return the minimiser of `surrogate` over the box of each feature: the paper's thresholding operator T.

        >>> import numpy as np
        >>> Penalty(lambda_0=0.5).threshold(np.array([0.9, -1.1]), np.ones(2))
        array([ 0. , -1.1])
        """
        pull = np.maximum(np.abs(c) * curvature - self.lambda_1, 0.0)
        steep = curvature + 2.0 * self.lambda_2
        a = np.sign(c) * np.divide(pull, steep, out=np.zeros_like(pull), where=steep > 0.0)
        if self.lower is not None:
            a = np.maximum(a, self.lower)
        if self.upper is not None:
            a = np.minimum(a, self.upper)
        keep = ~self.pays_lambda_0(c.size)
        keep |= self.surrogate(a, c, curvature) <= self.surrogate(np.zeros_like(a), c, curvature)
        return np.where(keep, a, 0.0) + 0.0


def used_columns(beta: Array) -> NDArray[np.int32]:
    """Return the columns with a nonzero coefficient, for any output."""
    return np.flatnonzero(beta if beta.ndim == 1 else beta.any(axis=1)).astype(np.int32)


def heads_among(heads: NDArray[np.int32]) -> NDArray[np.int32] | None:
    """Return the heads of columns that were taken from others, numbered anew; None if every column is a group of its own.

    >>> import numpy as np
    >>> heads_among(np.array([2, 5, 2, 7]))
    array([0, 1, 0, 3], dtype=int32)
    """
    _, first, inverse = np.unique(heads, return_index=True, return_inverse=True)
    return None if len(first) == len(heads) else first[inverse].astype(np.int32)
