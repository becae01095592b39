"""Targets that are read in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.conversion.plan import Plan
from ellzero.tables.target import column_labels, column_response

if TYPE_CHECKING:
    import pandas as pd


class Labels:
    """The target of some rows after others, and which rows have one.

    Text was made a number only if Python writes that number in the same way. So parts of different kinds can all go back to
    text, and the whole target is the same as if it had been read in one part.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.parts: list[NDArray[Any]] = []
        self.seen = 0

    def append(self, column: pd.Series) -> NDArray[np.bool_]:
        """Add the target of the next rows; return which of them have one."""
        plan, start = self.plan, self.seen
        self.seen += len(column)
        known: NDArray[np.bool_] = column.notna().to_numpy()
        if not known.all() and not plan.drop_unlabelled:
            row = start + int(np.argmin(known)) + 1
            raise InvalidInputError(
                f"target {str(column.name)!r} of {plan.shown} is missing in row {row}; "
                "leave such rows out, by drop_unlabelled for example."
            )
        if known.any():
            there = column[known]
            self.parts.append(
                column_response(there, plan.shown, plan.decimal or ".") if plan.regression else column_labels(there)
            )
        return known

    def joined(self) -> NDArray[Any]:
        """Return the target of all rows that have one."""
        if not self.parts:
            raise InvalidInputError(f"{self.plan.shown} has no rows{' with a target' if self.seen else ''}.")
        if len({part.dtype.kind for part in self.parts}) > 1:
            return np.concatenate([np.array([str(value) for value in part.tolist()]) for part in self.parts])
        return np.concatenate(self.parts)
