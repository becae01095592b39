"""A target that comes in parts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Labels", "whole_numbers"]


class Labels:
    """Joins parts of a target, each of which is numbers, truth values or text.

    Text becomes a number only if it is that number's own spelling. So parts of different kinds can all go back to text, and the
    whole is what it would have been in one part.
    """

    def __init__(self) -> None:
        self.parts: list[NDArray[Any]] = []

    def append(self, part: NDArray[Any]) -> None:
        """The next rows."""
        self.parts.append(part)

    def joined(self) -> NDArray[Any]:
        """All rows."""
        if len({part.dtype.kind for part in self.parts}) > 1:
            return np.concatenate([np.array([str(value) for value in part.tolist()]) for part in self.parts])
        return np.concatenate(self.parts)


def whole_numbers(y: NDArray[np.float64]) -> NDArray[Any]:
    """As integers, if all are."""
    whole = np.isfinite(y).all() and (y == np.round(y)).all() and (np.abs(y) < 2**53).all()
    return y.astype(np.int64) if whole else y
