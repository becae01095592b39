"""Dual points that sum to zero exactly, as intercepts without penalty require.

On a grid of 2^-50 of the total, all sums are exact in float64. Entries only move towards zero, and so stay inside the domain of
their loss. docs/certificate.md states both algorithms.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Index = NDArray[np.int64]


def grid_of(sizes: Array) -> float:
    """Return the grid for numbers with these absolute values; zero if their total is too small for one, or too large."""
    total = float(sizes.sum())
    exponent = math.frexp(total)[1]
    return 0.0 if exponent < -900 or not math.isfinite(total) else math.ldexp(1.0, exponent - 50)


def lowered(sizes: Array, amount: float) -> Array:
    """Return numbers that sum to so much less: it is taken from the largest ones first (the first of equal ones)."""
    order = np.argsort(-sizes, kind="stable")
    ranked = sizes[order]
    before = np.cumsum(ranked) - ranked
    out = np.empty_like(sizes)
    out[order] = ranked - np.clip(amount - before, 0.0, ranked)
    return out


def balance(theta: Array) -> Array:
    """Move a dual point towards zero until its sum is exactly zero.

    A point whose total is too small for the grid, or too large, becomes zero, which is a dual point too.
    """
    grid = grid_of(np.abs(theta))
    if not grid:
        return np.zeros_like(theta)
    theta = np.trunc(theta / grid) * grid
    excess = float(theta.sum())
    heavy = np.flatnonzero(np.sign(theta) == np.sign(excess))
    theta[heavy] = math.copysign(1.0, excess) * lowered(np.abs(theta[heavy]), abs(excess))
    return theta if theta.sum() == 0.0 else np.zeros_like(theta)


def class_point(alpha: Array, y: Array, w: Array, balanced: bool) -> Array:
    """Return a dual point of the multinomial loss, which sums to zero over the classes of every row.

    `alpha` are the shares of all classes but that of the row, where y is one; both have a row for each class. What the shares
    weigh moves from the row's class to the others. If the point is `balanced`, it sums to zero over the rows of every class.
    """
    shares = np.where(y > 0.0, 0.0, np.clip(alpha, 0.0, 1.0))
    shares /= np.maximum(sum(shares), 1.0)  # summed in the order of the classes
    moved = w * shares
    grid = grid_of(moved)
    if not grid:
        return np.zeros_like(moved)
    moved = np.trunc(moved / grid) * grid
    # Rounding may have made more of a row than it weighs.
    rows = np.flatnonzero(moved.sum(axis=0) > w)
    moved[moved[:, rows].argmax(axis=0), rows] -= np.ceil((moved[:, rows].sum(axis=0) - w[rows]) / grid) * grid
    if balanced:
        balance_classes(moved, np.argmax(y, axis=0))
    sent = moved.sum(axis=0)
    theta = np.where(y > 0.0, sent, -moved)
    inside = bool((moved >= 0.0).all() and (sent <= w).all())
    sums = [*theta.sum(axis=0), *(theta.sum(axis=1) if balanced else ())]
    return theta if inside and not any(sums) else np.zeros_like(theta)


def balance_classes(moved: Array, label: Index) -> None:
    """Lower what moves from the rows of each class to others, until every class receives what its own rows send."""
    classes = len(moved)
    flow = np.array([np.bincount(label, weights=each, minlength=classes) for each in moved]).T  # from its row to its column
    cut = flow - circulation(flow)
    for sender, receiver in zip(*np.nonzero(cut), strict=True):
        rows = np.flatnonzero(label == sender)
        moved[receiver, rows] = lowered(moved[receiver, rows], cut[sender, receiver])


def circulation(flow: Array) -> Array:
    """Return a flow between classes that is nowhere larger than this one, and of which every class sends what it receives.

    A flow is made of cycles and of paths from classes that send too much to classes that receive too much: it is the paths that
    go, the shortest first, from the class that sends most too much.
    """
    left = flow.copy()
    excess = left.sum(axis=1) - left.sum(axis=0)
    while (excess > 0.0).any():
        start = int(np.argmax(excess))
        path = shortest_path(left, start, excess < 0.0)
        if path is None:  # sums that are exact leave one
            return np.zeros_like(flow)
        edges, end = (path[:-1], path[1:]), path[-1]
        amount = min(excess[start], -excess[end], left[edges].min())
        left[edges] -= amount
        excess[start] -= amount
        excess[end] += amount
    return left


def shortest_path(flow: Array, start: int, wanted: NDArray[np.bool_]) -> list[int] | None:
    """Return the first path to a wanted class that a search finds: breadth first, the heaviest edge of a class first."""
    before, queue = np.full(len(flow), -1), [start]
    before[start] = start
    for node in queue:  # which grows meanwhile
        fresh = np.flatnonzero((flow[node] > 0.0) & (before < 0))
        fresh = fresh[np.argsort(-flow[node, fresh], kind="stable")]
        before[fresh] = node
        if wanted[fresh].any():
            path = [int(fresh[np.argmax(wanted[fresh])])]
            while path[-1] != start:
                path.append(int(before[path[-1]]))
            return path[::-1]
        queue += fresh.tolist()
    return None
