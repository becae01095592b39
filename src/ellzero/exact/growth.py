"""The growth of the loss of labels: where it is proved, no good model has large coefficients, whatever the penalties."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.base.quoting import quoted
from ellzero.exact.certificate import Certificate, Claim, listed_models, no_points
from ellzero.exact.incumbent import TOLERANCE, null_model
from ellzero.exact.verifier.data import Refused
from ellzero.exact.verifier.replay import replay
from ellzero.problem.problem import Problem
from ellzero.solvers.paths import core_problem

Array = NDArray[np.float64]
Index = NDArray[np.int32]
MOST_COLUMNS = 2000
# The boxes of more columns, or of more numbers, are not narrowed one by one: that adds about 25 dual points for each column.
MOST_NARROWED, MOST_NUMBERS = 150, 200_000


class NotProved(Exception):
    """The growth of the loss could not be proved; the argument says why, as a part of a sentence."""


@dataclass(frozen=True, eq=False)
class Growth:
    """A proof that the loss grows, and the boxes of all coefficients, on the penalised scale, that follow from it."""

    alpha: Array
    columns: Index
    values: Array
    low: Array
    high: Array

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the proof as a certificate holds it."""
        return {"growth_alpha": self.alpha, "growth_columns": self.columns.astype(np.int64), "growth_values": self.values}


def find_growth(problem: Problem, threads: int, most: float | None = None) -> Growth:
    """Prove that the loss grows with the coefficients of all columns or, if need be, of those without bounds of their own.

    The boxes that follow hold all solutions that are not worse than the null model or, if it is given, than `most`.
    """
    if problem.outputs > 1:
        raise NotProved("y has several outputs")
    penalty = problem.penalty
    fixed = (penalty.lower == 0.0) & (penalty.upper == 0.0)
    bounded = np.isfinite(penalty.lower) & np.isfinite(penalty.upper)
    everything, needed = (np.flatnonzero((problem.square > 0.0) & ~left) for left in (fixed, bounded))
    try:
        return prove_growth(problem, everything.astype(np.int32), threads, most)
    except NotProved:
        if len(needed) == len(everything):
            raise
    return prove_growth(problem, needed.astype(np.int32), threads, most)


def prove_growth(problem: Problem, columns: Index, threads: int, most: float | None) -> Growth:
    """Prove that the loss grows with the coefficients of some columns; the verifier has the last word."""
    rows = int(np.count_nonzero(problem.w))
    if not len(columns):
        raise NotProved("all columns are constant")
    if len(columns) > MOST_COLUMNS:
        raise NotProved(f"X has more than {MOST_COLUMNS:,} columns")
    if len(columns) + problem.fit_intercept >= rows:
        raise NotProved("X has no more rows than columns")
    alpha, entries, combination = _core.find_growth(core_problem(problem, TOLERANCE), columns.tolist(), threads, None)
    if combination >= 0:
        names = problem.design.names
        name = combination if names is None else quoted(names[combination])
        raise NotProved(f"column {name} is a combination of others")
    separable = NotProved("the columns separate the classes, or nearly do")
    if not len(alpha):
        raise separable
    found = Growth(alpha, columns, entries * problem.units.column**2, *np.zeros((2, 0)))
    model, root = null_model(problem, 0.0), {name: np.full(1, -1) for name in ("parent", "branch", "row")}
    empty = np.zeros(0, dtype=np.int64)
    root |= {"side": np.zeros(1, np.int64), "block_members": empty, "block_ends": empty, **no_points(problem)}
    claim = Claim(
        lambda_0=0.0,
        k=None,
        bound=None,
        free_bound=None,
        objective=model.objective,
        lower_bound=0.0,
        status="interrupted",
        gap_asked=0.0,
        threshold=most,
    )
    certificate = Certificate(
        problem, claim, model, {**root, **found.arrays(), **({} if most is None else listed_models([], {}, 1))}
    )
    try:
        with np.errstate(all="ignore"):  # numbers that overflow prove nothing
            _, leaves, _ = replay(certificate, problem.design.stored(), problem.labels)
            (leaf,) = leaves
    except (Refused, OverflowError):
        raise separable from None
    assert leaf.state is not None  # the null model is in it
    low, high = np.empty((2, problem.design.shape[1]))
    low[leaf.state.columns], high[leaf.state.columns] = leaf.state.low, leaf.state.high
    return replace(found, low=low, high=high)


def worth_narrowing(problem: Problem) -> bool:
    """Return whether the wide boxes of a growth are worth narrowing before a search; the hinge's dual points are too rough."""
    n, p = problem.design.shape
    return not problem.loss.has_kink and p <= MOST_NARROWED and n * p <= MOST_NUMBERS
