"""The rules by which cross-validation chooses where the user sets nothing. All of them stand here.

What they were tuned on, and what they reach on other data, is in `benchmarks/results/choice.md`.

===============  =======================================================================================================
`shrinkage`      the second penalty climbs a ladder of values, up or down from its middle, while the held-out loss falls
`max_support`    50 features; a third of the rows if that is more, but at most 150
`n_lambda`       models of a path that are a fifth larger than the one before
`cv`             five folds, once: to divide few rows several times gained nothing
`rule`           the smallest model whose held-out loss is within 1 % of the lowest
`average`        with up to 1,000 rows the mean of up to three models, while another one lowers the held-out loss by 0.3 %
===============  =======================================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.paths.grid import automatic_grid, largest_curvature
from ellzero.problem.problem import Problem
from ellzero.solvers.paths import PathOptions

Array = NDArray[np.float64]

LADDER = (10.0, 3.2, 1.0, 0.32, 0.1, 0.032, 3.2e-3, 3.2e-4, 3.2e-5)
"""Values of lambda_2, as multiples of the largest curvature of a column: 2.5 to 8e-6 for the logistic loss of standardised
columns. Above them all models are alike, below them nothing is shrunk but what the data does not determine."""
FIRST_STEPS = (3, 4)
"""The steps of the ladder that are tried first. While the best model is on the highest or the lowest one that was tried, the
next one is tried, too: strong noise wants much shrinkage, a clear signal next to none, and few data sets want both."""
LASSO_LADDER = (0.8, 0.56, 0.4, 0.28, 0.2, 0.1, 0.03, 3e-3, 3e-4)
"""Values of lambda_1, as multiples of the least one at which all coefficients vanish. Noise wants a fifth of it to a half: with
less, single features fit chance, and the empty model is the best."""

FEWEST_FEATURES, MOST_FEATURES, ROWS_PER_FEATURE = 50, 150, 3
"""The largest model has a feature for every three rows, but at least 50 and at most 150. Text needs more than 50.
Where models of every size are fitted, for a criterion or select="size", it has 50."""

FEWEST_POINTS = 100
"""A path may have so many points, and two for each size up to the largest: enough for a model of each size."""
GROWTH = 0.2
"""Of a path's models, those are compared that are larger than the one before by this share. Neighbours predict alike, and what
is saved pays for more values of lambda_2."""

FOLDS = 5

CLOSE = 0.01
"""A larger model must lower the held-out loss by this share."""

MOST_AVERAGED, WORTH_AVERAGING = 3, 0.003
"""Another model to average with must lower the held-out loss by this share."""
AVERAGED_ROWS = 1000
"""With more rows a single model is as good as a mean, which has more features and needs the predictions of all models."""


def shrinkage_values(problems: list[Problem], name: str, options: PathOptions, count: int = 0) -> Array:
    """Return the values of lambda_1 or lambda_2, decreasing; `count` asks for so many, log-spaced over four decades.

    Of all outputs' grids it is the largest. Zero alone is returned if no column improves on the intercept. Without `count`,
    they are those of the ladder: which of them are tried is up to `next_step`.
    """
    if not count and name == "lambda_2":
        values = max(largest_curvature(problem) for problem in problems) * np.array(LADDER)
        return values if values[-1] > 0.0 else np.zeros(1)
    try:
        grid = max(
            (automatic_grid(problem, name, options, count or 1) for problem in problems), key=lambda grid: float(grid[0])
        )
    except InvalidInputError:
        return np.zeros(1)
    return grid if count else grid[0] * np.array(LASSO_LADDER)


def next_step(tried: Sequence[int], best: int) -> int | None:
    """Return the step of the ladder to try next, None if there are enough; `best` is the one of the best model so far."""
    step = best - 1 if best == min(tried) else best + 1 if best == max(tried) else -1
    return step if 0 <= step < len(LADDER) else None


def largest_by_rows(rows: int) -> int:
    """Return the size of the largest model that cross-validation looks at."""
    return int(np.clip(rows // ROWS_PER_FEATURE, FEWEST_FEATURES, MOST_FEATURES))


def thinned(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of the points to compare: each has more features than the one before, and at least a tenth more."""
    kept, last = list[int](), -1
    for point, size in enumerate(sizes):
        if size > last and size >= (1.0 + GROWTH) * last:
            kept.append(point)
            last = int(size)
    return np.array(kept, dtype=np.int64)


def most_averaged(rows: int) -> int:
    """Return how many models the chosen one may be the mean of."""
    return MOST_AVERAGED if rows <= AVERAGED_ROWS else 1
