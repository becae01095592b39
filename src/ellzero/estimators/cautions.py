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
from ellzero.problem.losses import Loss
from ellzero.problem.model import Model
from ellzero.problem.problem import Problem

Array = NDArray[np.float64]

FEWEST_EVENTS = 5.0
"""Rows of the rarer class for each feature; with fewer, logistic models mislead (Vittinghoff and McCulloch, 2007)."""

USUAL_EVENTS = 10  # the common rule of thumb


def cautions_on(
    loss: Loss, positive: NDArray[np.bool_], decision: Array, used: Sequence[int], classes: Sequence[object]
) -> list[str]:
    """Return what to be careful about in a model, as sentences; only rows that count are given.

    There is a column for each output: whether a row is of its class in `positive`, and the decision values. `used` holds the
    number of features of each output. Of two classes, there is one output, for the second.
    """
    names = [f"class {shown(label)}" for label in classes]
    if loss.couples_outputs:
        apart = np.where(positive, -np.inf, decision).max(axis=1) < decision[positive]
        return cautions_on_output(used[0], names, positive.sum(axis=0).tolist(), apart.all(), "all classes")
    found, pairs = list[str](), [names] if len(names) == 2 else [["the rest", name] for name in names]
    for features, (rest, name), own, values in zip(used, pairs, positive.T, decision.T, strict=True):
        apart = np.where(own, values, -values) > 0.0
        rows = [int(own.sum()), int((~own).sum())]
        found += cautions_on_output(features, [name, rest], rows, loss.has_probabilities and apart.all(), f"{name} and {rest}")
    return found


def cautions_on_output(used: int, names: Sequence[str], rows: list[int], apart: bool, whom: str) -> list[str]:
    """Return the cautions on a function that tells classes with so many rows from each other, `apart` if it always does."""
    if not used:
        return []
    out, rare = [], min(rows)
    if rare < FEWEST_EVENTS * used:
        out.append(
            f"there {'is' if rare == 1 else 'are'} only {rare} row{'s' * (rare != 1)} of {names[rows.index(rare)]} for {used} "
            f"feature{'s' * (used > 1)} ({rare / used:.1f} for each; {USUAL_EVENTS} are the usual rule of thumb): such a model "
            "may fit chance, and its scores may be luck."
        )
    # If a model tells all rows apart, larger coefficients of the same features always have a smaller logistic loss.
    if apart:
        out.append(
            f"the model tells {whom} apart in every row it was fitted on: nothing but the shrinkage limits its coefficients "
            "then, and neither their sizes nor probabilities near 0 and 1 should be trusted."
        )
    return out


def warn_of_cautions(problems: list[Problem], models: list[Model], classes: NDArray[np.generic], stacklevel: int) -> list[str]:
    """Warn of all cautions on the models of a classifier, one for each problem, and return them."""
    if not len(classes):
        return []
    pairs, counted = list(zip(problems, models, strict=True)), problems[0].w > 0.0
    positive = np.column_stack([problem.y[counted] > 0.0 for problem in problems])
    decision = np.column_stack([problem.eta(*model.coefficients)[counted] for problem, model in pairs])
    used = [len(model.support) for problem, model in pairs for _ in range(problem.outputs)]
    found = cautions_on(problems[0].loss, positive, decision, used, classes.tolist())
    for text in found:
        warnings.warn(text, FragileModelWarning, stacklevel=stacklevel)
    return found
