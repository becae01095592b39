"""The penalty lambda_0 sum_j c_j [b_j != 0] + lambda_1 ||b||_1 + lambda_2 ||b||^2 with bounds, where c_j is the price of j."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ellzero.problem.units import unit_of

__all__ = ["Penalty"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Penalty:
    """The parameters of the penalty; `lower`, `upper`, `unpenalized` and `price` have one entry for each feature, or are None.

    Unpenalized features have the price zero; without `price`, that of all others is one.
    """

    lambda_0: float = 0.0
    lambda_1: float = 0.0
    lambda_2: float = 0.0
    lower: Array | None = None
    upper: Array | None = None
    unpenalized: NDArray[np.bool_] | None = None
    price: Array | None = None

    def with_shrinkage(self, name: str, value: float) -> Penalty:
        """Return a copy with another `lambda_1` or `lambda_2`; `name` says which."""
        return replace(self, lambda_1=value) if name == "lambda_1" else replace(self, lambda_2=value)

    def counted(self, beta: Array) -> int:
        """Return the number of nonzero coefficients that pay lambda_0."""
        nonzero = beta != 0.0
        return int(np.count_nonzero(nonzero if self.unpenalized is None else nonzero & ~self.unpenalized))

    def value(self, beta: Array) -> float:
        """Return the penalty of a coefficient vector."""
        unit = unit_of(float(np.abs(beta).max(initial=0.0)))  # a power of two: in this unit squares are numbers
        ridge = self.lambda_2 * unit * unit * np.square(beta / unit).sum()
        return float(self.lambda_0 * self.spent(beta) + self.lambda_1 * np.abs(beta).sum() + ridge)

    def spent(self, beta: Array) -> float:
        """Return the sum of the prices of the nonzero coefficients, correctly rounded."""
        return float(self.counted(beta)) if self.price is None else math.fsum(self.price[beta != 0.0].tolist())

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
        """Return curvature / 2 (beta - c)^2 + penalty of each coordinate: the function that a coordinate step minimises."""
        cost = np.where(beta != 0.0, self.lambda_0 * self.prices(beta.size), 0.0)
        return curvature / 2.0 * (beta - c) ** 2 + cost + self.lambda_1 * np.abs(beta) + self.lambda_2 * beta**2

    def threshold(self, c: Array, curvature: Array) -> Array:
        """Return the minimiser of `surrogate` over the box of each coordinate: the paper's thresholding operator T.

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
