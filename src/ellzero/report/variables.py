"""The inputs of the page's calculator: what a reader knows of a row, and the features that it sets.

A variable is what was measured. It may be one feature (a number, a yes or no) or several: a column of text that became an
indicator for each of its values is one choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.design import Design
from ellzero.problem.model import feature_name
from ellzero.report.words import named

__all__ = ["Categories", "describe_variables"]

Array = NDArray[np.float64]

Categories = Mapping[str, Mapping[str, str | None]]
"""By column the values, and of each the feature that is one for it; None: all features of the column are zero."""

MOST_OPTIONS = 300
"""Of a column with more values, those without a feature in any model are one choice."""

DIGITS = 6


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
    if not place:
        return []
    columns = design.take(np.array([used[f] for f in place]))
    counted = np.flatnonzero(weight > 0.0)
    share = weight[counted] / weight[counted].sum()
    values = {f: columns.matvec(np.array([at], dtype=np.int32), np.ones(1))[counted] for at, f in enumerate(place)}
    found: list[tuple[int, dict[str, Any]]] = []
    own_names = {} if names is None else {names[used[f]]: f for f in place}
    taken: set[int] = set()
    for column, options in categories.items():
        own = {name: own_names[name] for name in options.values() if name is not None and name in own_names}
        if own:
            taken.update(own.values())
            found.append((min(own.values()), choice(column, options, own, {f: float(share @ values[f]) for f in own.values()})))
    found += [(f, single(feature_name(names, used[f]), f, values[f])) for f in place if f not in taken]
    return [variable for _, variable in sorted(found, key=lambda pair: pair[0])]


def choice(
    column: str, options: Mapping[str, str | None], place: Mapping[str, int], means: Mapping[int, float]
) -> dict[str, Any]:
    """Return a column of text as a choice among its values; the most frequent one is what the page begins with."""
    listed = [(label, None if feature is None else place.get(feature)) for label, feature in options.items()]
    if len(listed) > MOST_OPTIONS:
        listed = [pair for pair in listed if pair[1] is not None]
        listed.append(("(another value)", None))
    rest = 1.0 - sum(means.values())
    others = max(1, sum(f is None for _, f in listed))
    frequency = [means[f] if f is not None else rest / others for _, f in listed]
    return {
        "name": named(column),
        "kind": "choice",
        "features": sorted(place.values()),
        "options": [{"label": named(label), "sets": [] if f is None else [[f, 1.0]]} for label, f in listed],
        "typical": int(np.argmax(frequency)),
    }


def single(name: str, f: int, values: Array) -> dict[str, Any]:
    """Return a feature of its own: a yes or no if it only ever is one or zero, else a number between those that were seen."""
    low, middle, high = np.quantile(values, [0.0, 0.5, 1.0], method="closest_observation").tolist()
    if np.isin(values, (0.0, 1.0)).all():
        options = [{"label": "no (0)", "sets": []}, {"label": "yes (1)", "sets": [[f, 1.0]]}]
        return {"name": named(name), "kind": "flag", "features": [f], "options": options, "typical": int(middle)}
    return {
        "name": named(name),
        "kind": "number",
        "features": [f],
        "low": rounded(low),
        "typical": rounded(middle),
        "high": rounded(high),
        "whole": bool((values == np.round(values)).all()),
    }


def rounded(value: float) -> float:
    """Return a number with as many digits as a person would type."""
    return float(f"{value:.{DIGITS}g}")
