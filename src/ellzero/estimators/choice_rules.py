"""The rules by which cross-validation chooses where the user sets nothing. All of them stand here.

What they were tuned on, and what they reach on other data, is in `benchmarks/results/choice.md`.

===============  =======================================================================================================
`penalty`        models that lambda_0 chooses, with lambda_1 or lambda_2; elastic nets without lambda_0; refits of their columns
`max_support`    with lambda_0 50 features; a third of the rows if that is more, but at most 150; without it two for each row
`n_lambda`       models of a path that are a fifth larger than the one before
`cv`             five folds, once
`rule`           the smallest model that is not clearly worse than the best one on the same rows
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

RIDGE_LADDER = (1.0, 0.1, 0.01, 1e-3, 3.2e-5)
"""Values of lambda_2 beside lambda_0, as multiples of the largest curvature of a column, with penalty="l0l2"."""
LASSO_LADDER = (0.56, 0.4, 0.2, 0.1, 0.03, 3e-3)
"""Values of lambda_1 beside lambda_0, as multiples of the least one at which all vanish, with penalty="l0l1"."""
BESIDE_OTHERS: dict[str, tuple[float, ...]] = {"l0l2": (3.2e-3, 3.2e-5), "l0l1": (0.2, 0.03)}
"""The values with penalty="auto". More of them cost time and gain nothing: with few rows and much shrinkage, the held-out
losses of models that lambda_0 chose vary so much that the best one is often a chance find."""
LASSO_GRID = 0.75 ** np.arange(25)
"""Values of lambda_1 without lambda_0, as such multiples: down to a thousandth."""
NETS = {"auto": (0.01, 0.1), "l0l1": (0.0,)}
"""Values of lambda_2 beside these, as multiples of the largest curvature of a column. Elastic nets share a coefficient among
correlated columns: on text they need a fifth more features than plain l1, and predict better."""
REFITS = (0.01,)
"""Values of lambda_2 of refits of the features of the first of these nets, as such multiples."""
MOST_OF_NETS = 2
"""An elastic net may have so many features for each row."""

FEWEST_FEATURES, MOST_FEATURES, ROWS_PER_FEATURE = 50, 150, 3
"""The largest model has a feature for every three rows, but at least 50 and at most 150. Text needs more than 50.
Where models of every size are fitted, for a criterion or select="size", it has 50."""

FEWEST_POINTS = 100
"""A path may have so many points, and two for each size up to the largest: enough for a model of each size."""
GROWTH = 0.2
"""Of a path's models, those are compared that are larger than the one before by this share. Neighbours predict alike, and what
is saved pays for more values of lambda_2."""

FOLDS = 5

RULES = {"auto": (0.025, 0.03), "sparse": (0.025, 0.12)}
"""A smaller model is taken if it is not worse than the best one at this level of significance (about two standard errors), and
loses at most this share of what the best one gains on the model without features. The level alone would trust noise: with few
rows, models that are much worse are not significantly worse."""


def shrinkage_values(
    problems: list[Problem], name: str, options: PathOptions, count: int = 0, multiples: Sequence[float] = ()
) -> Array:
    """Return the values of lambda_1 or lambda_2, decreasing; `count` asks for so many, log-spaced over four decades.

    Of all outputs' grids it is the largest. Zero alone is returned if no column improves on the intercept.
    """
    if not count:
        values = (
            ridge_values(problems, multiples) if name == "lambda_2" else largest_lasso(problems, options) * np.array(multiples)
        )
        return values if values[-1] > 0.0 else np.zeros(1)
    try:
        return max((automatic_grid(problem, name, options, count) for problem in problems), key=lambda grid: float(grid[0]))
    except InvalidInputError:
        return np.zeros(1)


def largest_lasso(problems: list[Problem], options: PathOptions) -> float:
    """Return the least lambda_1 at which the coefficients of all problems vanish; zero if no column helps."""
    try:
        return max(float(automatic_grid(problem, "lambda_1", options, 1)[0]) for problem in problems)
    except InvalidInputError:
        return 0.0


def ridge_values(problems: list[Problem], multiples: Sequence[float]) -> Array:
    """Return multiples of the largest curvature of a column."""
    return max(largest_curvature(problem) for problem in problems) * np.array(multiples)


def largest_by_rows(rows: int) -> int:
    """Return the size of the largest model that cross-validation looks at."""
    return int(np.clip(rows // ROWS_PER_FEATURE, FEWEST_FEATURES, MOST_FEATURES))


def thinned(sizes: NDArray[np.int64], last: int = -1) -> NDArray[np.int64]:
    """Return the numbers of the points to compare: each is larger than the one before, and than `last`, by a fifth."""
    kept = list[int]()
    for point, size in enumerate(sizes):
        if size > last and size >= (1.0 + GROWTH) * last:
            kept.append(point)
            last = int(size)
    return np.array(kept, dtype=np.int64)
