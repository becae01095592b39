"""Platt scaling: probabilities from decision values that are not log-odds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ellzero.paths.fitting import fit_path

__all__ = ["platt_scaling"]

Array = NDArray[np.float64]


def platt_scaling(decision: Array, y: Array, w: Array, rows: float) -> tuple[float, float]:
    """Return slope and intercept of the log-odds as a linear function of held-out decision values.

    The targets are Platt's: a little inside 0 and 1, so that values that separate the classes do not give an infinite slope.
    """
    positive = w[y > 0.0].sum() / w.sum() * rows
    target = np.where(y > 0.0, (positive + 1.0) / (positive + 2.0), 1.0 / (rows - positive + 2.0))
    path = fit_path(
        np.concatenate([decision, decision])[:, None],
        np.repeat([1, 0], len(y)),
        sample_weight=np.concatenate([w * target, w * (1.0 - target)]),
        lambda_0=[0.0],
        unpenalized=[0],
        standardize=True,
    )
    return float(path.coef[0, 0]), float(path.intercept[0])
