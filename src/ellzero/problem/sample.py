"""A sample of the rows of a problem: what is searched for there is finished on all of them.

The rows come from strata of equal weight, in the order of X and for each class by itself; a seeded generator draws one row of
each stratum by its weight. Every class has as many of them, or all its rows if it has fewer, and keeps its weight in the sum.
Means over the sample are then those over all rows, but for what chance does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ellzero.problem.problem import Problem, column_statistics
from ellzero.problem.rows import FewRows

if TYPE_CHECKING:
    from ellzero.problem.losses import Array

LEAST_SAMPLE, PER_COLUMN = 4_000, 20
"""Rows of a sample: that many, and more where there are many columns to choose among."""
WORTH_SAMPLING = 3
"""A problem has that many times more rows with weight than its sample, or is searched on all of them."""
SEED = 20_040_101


def sample_of(problem: Problem, threads: int, few: FewRows | None = None) -> Problem | None:
    """Return the problem on a sample of its rows, in the same units of the columns; None where all rows serve as well.

    The `few` are the rows that the core takes for all, if it does.
    """
    weights = problem.w if few is None else few.w
    size = max(LEAST_SAMPLE, PER_COLUMN * problem.design.shape[1] * problem.outputs)
    if len(weights) < WORTH_SAMPLING * size or problem.loss.constant_curvature:
        return None
    if np.count_nonzero(weights) < WORTH_SAMPLING * size:
        return None
    rows, w = drawn(problem, size)
    design = problem.design.on_rows(rows)
    own = column_statistics(
        design,
        w,
        problem.penalty,
        fit_intercept=problem.fit_intercept,
        standardize=problem.standardize,
        threads=threads,
    )
    ratio = own["spread"] * (own["column_unit"] / problem.column_unit) / problem.spread
    out = replace(
        problem,
        design=design,
        y=problem.y[rows],
        w=w,
        mean=own["mean"],
        square=own["square"] * np.square(ratio),
        constant=own["constant"],
        coupling=own["coupling"],
    )
    units = problem.units  # residuals of the sample, too, are in the unit of all rows
    vars(out)["units"] = replace(units, mean=out.mean, scale=np.where(out.constant, 0.0, units.scale))
    return out


def drawn(problem: Problem, size: int) -> tuple[NDArray[np.int64], Array]:
    """Return the rows of a sample, ascending, and their weights."""
    rng, w = np.random.default_rng(SEED), np.zeros(len(problem.w))
    strata = [rows for rows in classes_of(problem) if problem.w[rows].any()]
    for left, rows in zip(range(len(strata), 0, -1), sorted(strata, key=len), strict=True):
        own, share = problem.w[rows], size // left
        if np.count_nonzero(own) <= share:
            w[rows] = own
        else:
            total = np.cumsum(own)
            at = (np.arange(share) + rng.random(share)) * (total[-1] / share)
            places = np.searchsorted(total, at, side="right")
            np.add.at(w, rows[np.minimum(places, np.flatnonzero(own)[-1])], total[-1] / share)
        size -= np.count_nonzero(w[rows])
    chosen = np.flatnonzero(w)
    return chosen, w[chosen] / w[chosen].sum()


def classes_of(problem: Problem) -> list[NDArray[np.int64]]:
    """Return the rows of each class, or all rows together where there are no classes, or several targets."""
    if problem.is_multinomial:
        labels = problem.y.argmax(axis=1)
    elif problem.loss.is_classification and problem.outputs == 1:
        labels = problem.y[:, 0] > 0.0
    else:
        return [np.arange(len(problem.y))]
    return [np.flatnonzero(labels == label) for label in np.unique(labels)]
