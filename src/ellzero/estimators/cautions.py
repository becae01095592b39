"""Cautions on fitted classifiers: too few rows of a class for so many features, and classes that are told apart completely.

Neither is a fault of the optimisation, which may even be proved: both are about how far the data carries.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import FragileModelWarning
from ellzero.base.quoting import shown
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem

__all__ = ["cautions_on", "cautions_on_classes", "class_pairs", "warn_of_cautions"]

Array = NDArray[np.float64]

FEWEST_EVENTS = 5.0
"""Rows of the rarer class for each feature; with fewer, logistic models mislead (Vittinghoff and McCulloch, 2007)."""

USUAL_EVENTS = 10  # the common rule of thumb


def cautions_on(positive: NDArray[np.bool_], decision: Array, used: int, log_odds: bool, pair: tuple[str, str]) -> list[str]:
    """Return what to be careful about in one model: of rows that count, whether they are positive, and their decision values.

    `used` is the number of features, `pair` names the negative and the positive class; `log_odds` says whether decision values
    are logarithms of odds.
    """
    if not used:
        return []
    out = []
    rows = int(positive.sum())
    rare, of = (rows, pair[1]) if 2 * rows <= len(positive) else (len(positive) - rows, pair[0])
    if rare < FEWEST_EVENTS * used:
        out.append(few_rows(rare, used, of))
    # If a model tells all rows apart, larger coefficients of the same features always have a smaller logistic loss.
    if log_odds and (decision[positive] > 0.0).all() and (decision[~positive] < 0.0).all():
        out.append(
            f"the model tells {pair[1]} and {pair[0]} apart in every row it was fitted on: nothing but the shrinkage limits "
            "its coefficients then, and neither their sizes nor probabilities near 0 and 1 should be trusted."
        )
    return out


def cautions_on_classes(y: Array, decision: Array, used: int, classes: Sequence[object]) -> list[str]:
    """Return what to be careful about in a multinomial model; y has a column for each class, with ones in its rows."""
    if not used:
        return []
    out, rows = [], y.sum(axis=0)
    rare = int(rows.min())
    if rare < FEWEST_EVENTS * used:
        out.append(few_rows(rare, used, f"class {shown(classes[int(rows.argmin())])}"))
    own = (decision * y).sum(axis=1)
    if (np.where(y > 0.0, -np.inf, decision).max(axis=1) < own).all():
        out.append(
            "the model tells all classes apart in every row it was fitted on: nothing but the shrinkage limits its "
            "coefficients then, and neither their sizes nor probabilities near 0 and 1 should be trusted."
        )
    return out


def few_rows(rare: int, used: int, of: str) -> str:
    """Return the caution on a class with few rows for so many features."""
    return (
        f"there {'is' if rare == 1 else 'are'} only {rare} row{'s' * (rare != 1)} of {of} for {used} "
        f"feature{'s' * (used > 1)} ({rare / used:.1f} for each; {USUAL_EVENTS} are the usual rule of thumb): such a model "
        "may fit chance, and its scores may be luck."
    )


def class_pairs(classes: Sequence[object]) -> list[tuple[str, str]]:
    """Return the negative and the positive class of each output, in words."""
    names = [f"class {shown(label)}" for label in classes]
    return [(names[0], names[1])] if len(names) == 2 else [("the rest", name) for name in names]


def warn_of_cautions(problems: list[Problem], models: list[Model], classes: NDArray[np.generic], stacklevel: int) -> list[str]:
    """Warn of all cautions on the models of a classifier, one for each problem, and return them."""
    if not len(classes):
        return []
    found, pairs = list[str](), iter(class_pairs(classes.tolist()))
    for problem, model in zip(problems, models, strict=True):
        counted = problem.w > 0.0
        decision, y, used = problem.eta(*model.coefficients)[counted], problem.y[counted], len(model.support)
        if problem.is_multinomial:
            found += cautions_on_classes(y, decision, used, classes.tolist())
            continue
        for values, positive, pair in zip(decision.T, y.T > 0.0, pairs, strict=False):
            found += cautions_on(positive, values, used, problem.loss.has_probabilities, pair)
    for text in found:
        warnings.warn(text, FragileModelWarning, stacklevel=stacklevel)
    return found
