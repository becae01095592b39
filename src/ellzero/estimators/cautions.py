"""Cautions on fitted classifiers: few rows of a class for many features, classes that are separated perfectly, and columns
that do so alone.

None is a fault of the optimisation, which may even be proved: all are about how far the data carries.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import FragileModelWarning
from ellzero.base.quoting import shown
from ellzero.design import Design
from ellzero.problem.losses import Loss
from ellzero.problem.model import Model, feature_name
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
    """Return the cautions on a function that tells classes with that many rows from each other, `apart` if it always does."""
    if not used:
        return []
    out, rare = [], min(rows)
    if rare < FEWEST_EVENTS * used:
        out.append(
            f"there {'is' if rare == 1 else 'are'} only {rare} row{'s' * (rare != 1)} of {names[rows.index(rare)]} for {used} "
            f"feature{'s' * (used > 1)} ({rare / used:.1f} for each; {USUAL_EVENTS} are the usual rule of thumb): such a model "
            "may fit noise, and its scores may be luck."
        )
    # If a model separates all rows, larger coefficients of the same features always have a smaller logistic loss.
    if apart:
        out.append(
            f"the model separates {whom} perfectly on the training data; only shrinkage limits its coefficients, so trust "
            "neither their sizes nor probabilities near 0 and 1."
        )
    return out


def cautions_on_columns(
    design: Design, columns: Sequence[int], codes: NDArray[np.int64], counted: NDArray[np.bool_], classes: Sequence[object]
) -> list[str]:
    """Return a caution for each of some columns that alone separates all classes: its values may follow from the target.

    `codes` are the numbers of the classes of the rows that count.
    """
    out, by_class = [], np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[by_class], prepend=-1))
    for j in columns:
        values = design.matvec(np.array([j], dtype=np.int32), np.ones(1))[counted][by_class]
        least, largest = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
        order = np.argsort(least)
        if (largest[order][:-1] < least[order][1:]).all():
            whom = f"{listed_classes(classes)} in every row"
            out.append(f"column {shown(feature_name(design.names, int(j)))} alone separates {whom}: is it known beforehand?")
    return out


def listed_classes(classes: Sequence[object]) -> str:
    """Return two classes by name, or how many there are."""
    names = [f"class {shown(label)}" for label in classes]
    return " and ".join(names) if len(names) == 2 else f"all {len(names)} classes"


def warn_of_cautions(problems: list[Problem], models: list[Model], classes: NDArray[np.generic], stacklevel: int) -> list[str]:
    """Warn of all cautions on the models of a classifier, one for each problem, and return them."""
    if not len(classes):
        return []
    pairs, counted = list(zip(problems, models, strict=True)), problems[0].w > 0.0
    positive = np.column_stack([problem.y[counted] > 0.0 for problem in problems])
    decision = np.column_stack([problem.eta(*model.coefficients)[counted] for problem, model in pairs])
    used = [len(model.support) for problem, model in pairs for _ in range(problem.outputs)]
    found = cautions_on(problems[0].loss, positive, decision, used, classes.tolist())
    codes = positive.argmax(axis=1) if positive.shape[1] > 1 else positive[:, 0].astype(np.int64)
    support = np.unique(np.concatenate([model.support for model in models])).tolist()
    found += cautions_on_columns(problems[0].design, support, codes, counted, classes.tolist())
    for text in found:
        warnings.warn(text, FragileModelWarning, stacklevel=stacklevel)
    return found
