"""The data in a few numbers, and the inputs of the page's calculator: what a reader knows of a row, and the features it sets.

A variable is what was measured. It may be one feature (a number, a yes or no) or several: a column of text that became an
indicator for each of its values is one choice. Sparse data stays sparse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.design import Design, is_stored
from ellzero.problem.model import feature_name
from ellzero.report.words import named

Array = NDArray[np.float64]

NAMED_CONSTANTS = 10
"""At most this many constant columns are named, the others are only counted."""

HISTOGRAM_BINS = 20
BLOCK_BYTES = 1 << 26
"""An X that is not in memory is read in blocks of at most this size (as float64)."""

ROUNDING = 1e-26
"""A column whose variance is this share of its mean square, or less, is constant but for rounding."""


Categories = Mapping[str, Mapping[str, str | None]]
"""By column the values, and of each the feature that is one for it; None: all features of the column are zero."""

MOST_OPTIONS = 300
"""Of a column with more values, those without a feature in any model are one choice."""

DIGITS = 6


def describe_features(design: Design, names: list[str] | None, weight: Array) -> tuple[dict[str, Any], Array]:
    """Return size, density and constant columns of X, and the standard deviation of each column."""
    mean, variance = design.core.moments(weight / weight.sum())
    constant = np.flatnonzero(variance <= ROUNDING * (variance + mean**2))
    n, p = design.shape
    thin = design.stored().storage == "sparse" if is_stored(design) else sparse.issparse(design.stored())
    summary = {
        "rows": n,
        "features": p,
        "named": bool(names),
        "sparse": bool(thin),
        "density": count_filled(design) / (n * p),
        "constant": len(constant),
        "constant_names": [named(feature_name(names, int(j))) for j in constant[:NAMED_CONSTANTS]],
    }
    return summary, np.where(variance > 0.0, np.sqrt(np.maximum(variance, 0.0)), 0.0)


def count_filled(design: Design) -> int:
    """Count the entries that are not zero (of a sparse matrix: are stored); an X that is not in memory is read in blocks."""
    X, (n, p) = design.stored(), design.shape
    step = max(1, BLOCK_BYTES // (8 * n)) if is_stored(design) else p
    blocks = (X[:, start : min(start + step, p)] for start in range(0, p, step))
    return sum(int(block.nnz if sparse.issparse(block) else np.count_nonzero(block)) for block in blocks)


def describe_classes(codes: NDArray[np.int64], labels: list[str], weight: Array) -> list[dict[str, Any]]:
    """Return the number of rows of each class, and their share of the weight."""
    mass = np.bincount(codes, weight, len(labels))
    rows = np.bincount(codes, minlength=len(labels))
    return [
        {"label": label, "rows": int(count), "share": float(part)}
        for label, count, part in zip(labels, rows, mass / mass.sum(), strict=True)
    ]


def describe_response(y: Array) -> dict[str, Any]:
    """Return range, middle and a histogram of a numeric response."""
    counts, edges = np.histogram(y, bins=HISTOGRAM_BINS)
    return {
        "mean": float(y.mean()),
        "sd": float(y.std()),
        "min": float(y.min()),
        "median": float(np.median(y)),
        "max": float(y.max()),
        "histogram": {"counts": counts.tolist(), "edges": [float(f"{edge:.6g}") for edge in edges]},
    }


def describe_variables(
    design: Design,
    names: Sequence[str] | None,
    used: Sequence[int],
    models: Sequence[Mapping[str, Any]],
    weight: Array,
    categories: Categories,
) -> list[dict[str, Any]]:
    """Return the variables that models of any size use, with the values that they had.

    A feature is named by its place in `used`, as in the models' coefficients. An option says which features it sets, to what.
    """
    place = sorted({f for model in models for coef in model["coef"] for f, _ in coef})
    facts = column_facts(design, [used[f] for f in place], weight)
    own_names: dict[str | None, int] = {names[used[f]]: f for f in place} if names else {}
    known = dict(zip(place, facts, strict=True))
    found: list[tuple[int, dict[str, Any]]] = []
    for column, options in categories.items():
        own = {name: own_names[name] for name in options.values() if name in own_names}
        if own:
            found.append((min(own.values()), as_choices(column, options, own, {f: known.pop(f).mean for f in own.values()})))
    found += [(f, single(feature_name(names, used[f]), f, fact)) for f, fact in known.items()]
    return [variable for _, variable in sorted(found, key=lambda pair: pair[0])]


class Facts(NamedTuple):
    """The values of a feature, in the rows that have a weight."""

    low: float
    middle: float
    high: float
    mean: float
    flag: bool  # all are one or zero
    whole: bool


def column_facts(design: Design, columns: Sequence[int], weight: Array) -> list[Facts]:
    """Return what is known of some columns (ascending), which are read a few at a time."""
    counted = np.flatnonzero(weight > 0.0)
    share = weight[counted] / weight[counted].sum()
    step = max(1, BLOCK_BYTES // (8 * len(weight)))
    out = []
    for start in range(0, len(columns), step):
        block = design.take(np.array(columns[start : start + step]))
        for at in range(block.shape[1]):
            values = block.matvec(np.array([at], dtype=np.int32), np.ones(1))[counted]
            low, middle, high = np.quantile(values, [0.0, 0.5, 1.0], method="closest_observation").tolist()
            flag, whole = bool(np.isin(values, (0.0, 1.0)).all()), bool((values == np.round(values)).all())
            out.append(Facts(low, middle, high, float(share @ values), flag, whole))
    return out


def as_choices(
    column: str, options: Mapping[str, str | None], place: Mapping[str | None, int], means: Mapping[int, float]
) -> dict[str, Any]:
    """Return a column of text as a choice among its values; the most frequent one is what the page begins with."""
    sets = [(label, [place[feature]] if feature in place else []) for label, feature in options.items()]
    if len(sets) > MOST_OPTIONS:
        sets = [*(pair for pair in sets if pair[1]), ("(another value)", [])]
    rest = (1.0 - sum(means.values())) / max(1, sum(not own for _, own in sets))
    frequency = [means[own[0]] if own else rest for _, own in sets]
    return {
        "name": named(column),
        "kind": "choice",
        "features": sorted(place.values()),
        "options": [{"label": named(label), "sets": [[f, 1.0] for f in own]} for label, own in sets],
        "typical": int(np.argmax(frequency)),
    }


def single(name: str, f: int, facts: Facts) -> dict[str, Any]:
    """Return a single feature: a yes or no if it only ever is one or zero, else a number between those that were seen."""
    if facts.flag:
        options = [{"label": "no (0)", "sets": []}, {"label": "yes (1)", "sets": [[f, 1.0]]}]
        return {"name": named(name), "kind": "flag", "features": [f], "options": options, "typical": int(facts.middle)}
    return {
        "name": named(name),
        "kind": "number",
        "features": [f],
        "low": rounded(facts.low),
        "typical": rounded(facts.middle),
        "high": rounded(facts.high),
        "whole": facts.whole,
    }


def rounded(value: float) -> float:
    """Return a number with as many digits as a person would type."""
    return float(f"{value:.{DIGITS}g}")
