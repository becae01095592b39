"""The one penalty: lambda_0 ||b||_0 + lambda_1 ||b||_1 + lambda_2 ||b||^2 with a box and features free of lambda_0."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

__all__ = ["Penalty"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Penalty:
    """Parameters of the penalty; bounds and the mask are per feature, or None where they do not apply."""

    lambda_0: float = 0.0
    lambda_1: float = 0.0
    lambda_2: float = 0.0
    lower: Array | None = None
    upper: Array | None = None
    unpenalized: NDArray[np.bool_] | None = None

    def with_shrinkage(self, name: str, value: float) -> Penalty:
        """The same penalty with another `lambda_1` or `lambda_2`."""
        return replace(self, lambda_1=value) if name == "lambda_1" else replace(self, lambda_2=value)

    def counted(self, beta: Array) -> int:
        """Number of nonzero coefficients that pay lambda_0."""
        nonzero = beta != 0.0
        return int(np.count_nonzero(nonzero if self.unpenalized is None else nonzero & ~self.unpenalized))

    def value(self, beta: Array) -> float:
        """The penalty of a coefficient vector."""
        return float(
            self.lambda_0 * self.counted(beta) + self.lambda_1 * np.abs(beta).sum() + self.lambda_2 * np.square(beta).sum()
        )

    def pays_lambda_0(self, p: int) -> NDArray[np.bool_]:
        """Mask of the features that lambda_0 applies to."""
        return np.ones(p, dtype=bool) if self.unpenalized is None else ~self.unpenalized

    def conjugate(self, v: Array) -> Array:
        """Per coordinate: the largest v beta - lambda_1 |beta| - lambda_2 beta^2 over its box; infinite if nothing limits it.

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
        return np.where(limited, v * beta - self.lambda_1 * np.abs(beta) - self.lambda_2 * beta**2, np.inf)

    def surrogate(self, beta: Array, c: Array, curvature: Array) -> Array:
        """Per coordinate: curvature / 2 (beta - c)^2 + psi(beta), the function that a coordinate step minimises."""
        cost = np.where((beta != 0.0) & self.pays_lambda_0(beta.size), self.lambda_0, 0.0)
        return curvature / 2.0 * (beta - c) ** 2 + cost + self.lambda_1 * np.abs(beta) + self.lambda_2 * beta**2

    def threshold(self, c: Array, curvature: Array) -> Array:
        """The thresholding operator T of the paper, with the box: the minimiser of `surrogate`, coordinate by coordinate.

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
