"""Forgeries about prices, budgets, groups of columns and several outputs: what versions 5, 6 and 7 of the format have more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from fuzz.certificates.sealed import Draft, changed
from fuzz.problems.problem import Problem

__all__ = ["FORMS", "tricks_with_structure"]

COSTS, PAIRS = np.array([1.0, 2.0, 0.5, 3.0]), (0, 1, 0, 1)
FORMS: dict[str, dict[str, Any]] = {
    "prices": {"lambda_0": 0.01, "lambda_2": 0.01, "feature_cost": COSTS},
    "budget": {"budget": 3.0, "lambda_2": 0.01, "feature_cost": COSTS},
    "groups": {"k": 1, "lambda_2": 0.01, "groups": PAIRS},
    "outputs": {"k": 2, "lambda_2": 0.01},
    "outputs of groups": {"budget": 2.0, "lambda_2": 0.01, "groups": PAIRS, "feature_cost": COSTS[[0, 1, 0, 1]]},
}


def tricks_with_structure(problem: Problem, null: Draft) -> Iterator[tuple[str, Draft]]:
    """Yield the forgeries of a problem that has prices, groups or several outputs."""
    for version in (3, 4, 5, 6, 7, 8):
        yield f"version {version}", changed(null, version=version)
    if problem.feature_cost is not None:
        yield from tricks_with_prices(null)
    if problem.groups is not None:
        yield from tricks_with_groups(null)
    if problem.outputs > 1:
        yield from tricks_with_outputs(problem, null)


def tricks_with_prices(null: Draft) -> Iterator[tuple[str, Draft]]:
    """Yield forgeries with prices and budgets at the ends of their range, and beyond."""
    price, p = null.arrays["price"], null.X.shape[1]
    for factor in (1e-99, 1e-101, 1e99, 1e101, 0.0, -1.0, np.nan, np.inf):
        yield f"prices times {factor:g}", changed(null, {"price": price * factor})
    for at in range(p):
        for value in (0.0, 1e-100, 1e100, 5e-324):
            yield f"a price of {value:g}", changed(null, {"price": np.where(np.arange(p) == at, value, price)})
    yield "prices of zero, all unpenalized", changed(null, {"price": 0.0 * price, "unpenalized": np.arange(p)})
    yield "a price of what is unpenalized", changed(null, {"unpenalized": np.arange(1)})
    for budget in (None, 0.0, 5e-324, 0.49, 0.5 * (1.0 - 1e-12), 0.5, 1e100, 9e299):
        yield f"a budget of {budget}", changed(null, budget=budget)
        yield f"a budget of {budget}, prices of 1e-100", changed(null, {"price": np.full(p, 1e-100)}, budget=budget)
        yield (
            f"a budget of {budget}, prices far apart",
            changed(null, {"price": 10.0 ** np.linspace(-100, 100, p)}, budget=budget),
        )
    yield "a budget and swaps", changed(null, {"home": np.zeros(0, np.int64)}, budget=1.0, swap_size=1)
    for lambda_0 in (5e-324, 1e-250, 1e250):
        yield f"lambda_0 = {lambda_0:g} with prices", changed(null, {"price": np.full(p, 1e100)}, lambda_0=lambda_0)


def tricks_with_groups(null: Draft) -> Iterator[tuple[str, Draft]]:
    """Yield forgeries with groups that overlap, that are not named by their first columns, or that are split."""
    p = null.X.shape[1]
    for group in ([0] * p, range(p), [0, 0, 1, 2], [1, 1, 3, 3], [3] * p, [0, 1, 2, 2], [-1, 1, 0, 1], [0, 1, 99, 1]):
        heads = np.array(group)
        yield f"groups {heads.tolist()}", changed(null, {"group": heads})
        inside = np.unique(heads)
        yield f"groups {heads.tolist()} in blocks", changed(null, {"group": heads} | blocks(inside))
    yield "blocks of columns that head no group", changed(null, blocks(np.arange(p)))
    yield "blocks of the columns behind their heads", changed(null, blocks(np.array([2, 3])))
    yield "a part of a group is unpenalized", changed(null, {"unpenalized": np.array([0])})
    yield "another part of a group is unpenalized", changed(null, {"unpenalized": np.array([2])})
    yield "swaps of what is no head", changed(null, {"home": np.array([2])}, k=None, swap_size=1)
    yield "swaps of a head", changed(null, {"home": np.array([0])}, k=None, swap_size=1)
    for size in (0.0, 1e-300, 1e300):
        box = {"lower": np.array([-size, -np.inf, -np.inf, -np.inf]), "upper": np.array([size, np.inf, np.inf, np.inf])}
        yield f"one column of a group within {size:g}", changed(null, box)
    spread = np.sqrt(np.square(null.X - null.X.mean(0)).mean(0))
    yield "spreads of columns, not of groups", changed(null, {"spread": spread}, standardize=True)
    own = null.arrays["group"]
    both = np.sqrt(np.bincount(own, weights=spread**2, minlength=p))[own]
    yield "spreads of groups", changed(null, {"spread": both}, standardize=True)
    yield "means of groups' spreads", changed(null, {"spread": both / np.sqrt(2.0)}, standardize=True)


def blocks(members: Any) -> dict[str, Any]:
    """Return blocks of one feature each."""
    return {"block_members": np.asarray(members, dtype=np.int64), "block_ends": np.arange(1, len(members) + 1)}


def tricks_with_outputs(problem: Problem, null: Draft) -> Iterator[tuple[str, Draft]]:
    """Yield forgeries with another number of outputs, and with dual points that no row of several outputs can have."""
    n, count = len(null.X), problem.outputs
    name = "alpha" if "alpha" in null.arrays else "model_intercept"
    coef, intercept, old = (null.arrays[each] for each in ("coef", "intercept", name))
    points = old.reshape(1, count, -1)

    def moved(values: Any) -> Draft:
        return changed(null, {name: np.asarray(values).reshape(old.shape)})

    for other in (0, 1, 2, count - 1, count + 1, 2**20, 2**40, 2**62):
        yield f"{other} outputs", changed(null, outputs=other)
    fewer = {name: points[:, 0] if name == "alpha" else points[:, 0, 0], "coef": coef[:, :1], "intercept": intercept[:1]}
    yield "one output alone", changed(null, fewer, outputs=1)
    yield "one output alone, of version 4", changed(null, {**fewer, "intercept": intercept[0], "coef": coef[:, 0]}, version=4)
    twice = {name: np.tile(old, 2), "coef": np.tile(coef, 2), "intercept": np.tile(intercept, 2)}
    yield "every output twice", changed(null, twice, outputs=2 * count)
    yield "outputs in another order", moved(points[:, ::-1])
    for value in (1.0, 0.5, 2.0, -1.0, 745.0, 1e10, -1e300, 1.7e308, 5e-324):
        yield f"points of {value:g}", moved(np.full_like(old, value))
        for at in range(count):
            one = points.copy()
            one[:, at] = value
            yield f"points of {value:g} of output {at}", moved(one)
        if name != "alpha":
            every = {"model_ends": np.array([count]), "model_columns": np.arange(count), "model_values": np.full(count, value)}
            yield f"a model of {value:g}", changed(null, every)
    entries = {"diagonal_members": np.arange(1), "diagonal_values": np.full(1, 0.1), "diagonal_ends": np.ones(1, np.int64)}
    yield "a diagonal of outputs", changed(null, {**entries, "point_diagonal": np.zeros(1, np.int64)})
    growth = {"growth_alpha": np.full(n, 0.5), "growth_columns": np.arange(1), "growth_values": np.full(1, 1e-3)}
    yield "a growth of outputs", changed(null, growth)
    if "classes" in null.arrays:
        yield from tricks_with_classes(null, count)


def tricks_with_classes(null: Draft, count: int) -> Iterator[tuple[str, Draft]]:
    """Yield forgeries with classes that y does not have, that have no weight, or that are two at once."""
    classes, n = null.arrays["classes"], len(null.X)
    for name, labels in {
        "one more class": np.append(classes, classes.max() + 1),
        "one class less": classes[:-1],
        "classes of y and others": np.append(classes[:-1], 77),
        "classes as fractions": classes + 0.5,
        "classes as words": classes.astype(str),
        "classes as flags": classes.astype(bool),
        "no classes": classes[:0],
        "as many classes as outputs": np.arange(count),
    }.items():
        yield name, changed(null, {"classes": labels})
        sealed = changed(null, {"classes": labels})
        with suppress(ValueError, IndexError):  # there may be no target by these classes
            sealed.fingerprint()
        yield f"{name}, sealed", sealed
        yield f"{name}, as many outputs", changed(sealed, outputs=len(labels))
    first = null.y.reshape(n, -1)[:, 0]
    weights = np.where(first == first[0], 0.0, 1.0)
    yield "a class without weight", changed(null, {"weights": weights / weights.sum()})
    for tiny in (5e-324, 1e-300, 1e-20):
        weights = np.where(first == first[0], tiny, 1.0)
        yield f"a class of weight {tiny:g}", changed(null, {"weights": weights / weights.sum()})
