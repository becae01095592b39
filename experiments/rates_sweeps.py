"""The problems of the experiment on error rates: sweeps over n, p and k."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ellzero.datasets import make_classification
from experiments.experiment import Task

__all__ = ["HINGE", "KNOWN", "L0", "L1", "PROOF", "QUICK_SWEEPS", "SWEEPS", "Setting", "Sweep"]

Array = NDArray[np.float64]
L0, HINGE, L1, KNOWN, PROOF = "L0", "L0 (hinge loss)", "L1", "L0 (support known)", "proof"
STREAM = 9  # the first number of this experiment's seeds, which no other experiment has


@dataclass(frozen=True)
class Setting:
    """Numbers of rows, features and features that matter, and the length of the generating coefficients."""

    n: int
    p: int
    k: int
    signal: float

    def draw(self, repetition: int) -> tuple[Array, NDArray[np.int64], Array]:
        """Draw X, y and the direction of the true coefficients; all methods see the same data."""
        entropy = [STREAM, self.n, self.p, self.k, round(1000 * self.signal), repetition]
        rng = np.random.default_rng(np.random.SeedSequence(entropy))
        X, y, coef = make_classification(self.n, self.p, self.k, s=self.signal / np.sqrt(self.k), random_state=rng)
        return X, y, coef / np.sqrt(self.k)

    def rate(self, radius: float) -> float:
        """Return the theorem's k log(Rp/k) / n, without its constant."""
        return self.k * float(np.log(radius * self.p / self.k)) / self.n


@dataclass(frozen=True)
class Sweep:
    """Settings in which one of n, p and k varies."""

    varies: str
    values: tuple[int, ...]
    fixed: Setting
    signals: tuple[float, ...] = (2.0,)
    hinge: tuple[int, ...] = ()  # values at which the hinge is fitted too
    proofs: tuple[int, ...] = ()  # values at which the estimates are proved optimal, for the strong signal

    def at(self, value: int, signal: float) -> Setting:
        """Return the setting at a point of the sweep."""
        return replace(self.fixed, signal=signal, **{self.varies: value})

    def tasks(self, repetition: int) -> Iterable[Task]:
        """Yield the tasks of all methods at all points, for one repetition."""
        for signal in self.signals:
            for value in self.values:
                strong = signal == max(self.signals)
                methods = [L0, L1] + [HINGE] * (value in self.hinge) + [PROOF] * (value in self.proofs and strong)
                for method in methods:
                    yield {"sweep": self.varies} | asdict(self.at(value, signal)) | {"repetition": repetition, "method": method}


STRONG = Setting(n=500, p=1000, k=5, signal=2.0)
SWEEPS = (
    Sweep("n", tuple(125 * 2**i for i in range(8)), STRONG, hinge=tuple(250 * 2**i for i in range(5))),
    Sweep("p", (20, 100, 500, 2500, 20_000), STRONG, signals=(2.0, 1.0), proofs=(20, 100)),
    Sweep("k", (1, 2, 4, 8, 16, 32), replace(STRONG, n=2000)),
)
QUICK_SWEEPS = (
    Sweep("n", (250, 500, 1000, 2000, 4000), replace(STRONG, p=50), hinge=(250, 500)),
    Sweep("p", (20, 100, 500), STRONG, signals=(2.0, 1.0), proofs=(20,)),
    Sweep("k", (1, 3, 9), replace(STRONG, p=100)),
)
