"""Targets that are read in parts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Labels", "whole_numbers"]


class Labels:
    """Parts of a target, each of which holds numbers, truth values or text.

    Text was made a number only if Python writes that number in the same way. So parts of different kinds can all go back to
    text, and the whole target is the same as if it had been read in one part.
    """

    def __init__(self) -> None:
        self.parts: list[NDArray[Any]] = []

    def append(self, part: NDArray[Any]) -> None:
        """Add the target of the next rows."""
        self.parts.append(part)

    def joined(self) -> NDArray[Any]:
        """Return the target of all rows."""
        if len({part.dtype.kind for part in self.parts}) > 1:
            return np.concatenate([np.array([str(value) for value in part.tolist()]) for part in self.parts])
        return np.concatenate(self.parts)


def whole_numbers(y: NDArray[np.float64]) -> NDArray[Any]:
    """Return the target as integers if all its numbers are whole."""
    whole = np.isfinite(y).all() and (y == np.round(y)).all() and (np.abs(y) < 2**53).all()
    return y.astype(np.int64) if whole else y
