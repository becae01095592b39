"""What comparisons of chosen features share: timed work, and counts of the sizes at which one tool's features are better."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Chosen", "tally", "timed"]

WORSE = 1e-6  # relative
Chosen = dict[int, NDArray[np.int64]]
"""The features, or groups, of a model of each size."""


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds of some work, and its result."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = work()
    return time.process_time() - start, result


def tally(ours: Chosen, theirs: Chosen, cost: Callable[[NDArray[np.int64]], float]) -> str:
    """Return better, equal and worse over the sizes that both have."""
    counts = [0, 0, 0]
    for size in sorted(ours.keys() & theirs.keys() - {0}):
        one, other = cost(ours[size]), cost(theirs[size])
        counts[1 if abs(one - other) <= WORSE * other else 0 if one < other else 2] += 1
    return " / ".join(map(str, counts))
