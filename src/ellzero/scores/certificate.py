"""Certificates of score cards: the problem, the card, and the tree with its models and boxes of points.

The format is described in docs/score-certificate.md; `ellzero.exact.verifier` reads it without any of this code.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.exact.certificate import save_arrays
from ellzero.exact.verifier import digest, fingerprint_matrix, fingerprint_vector
from ellzero.exact.verifier.score_check import FORMAT
from ellzero.scores.problem import Card, ScoreProblem

if TYPE_CHECKING:
    from ellzero.scores.proving import Node


@dataclass(frozen=True, kw_only=True)
class ScoreClaim:
    """What a certificate of a card claims."""

    card: Card
    lower_bound: float
    gap_asked: float
    status: str
    threshold: float | None


@dataclass(frozen=True, eq=False, repr=False)
class ScoreCertificate:
    """A proof of a score card that anyone can check: :func:`ellzero.verify` needs it and the data, nothing else."""

    problem: ScoreProblem
    claim: ScoreClaim
    root: Node
    listed: list[tuple[list[int], _core.Boxes]]
    classes: NDArray[Any] | None = None

    @cached_property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The card, the limits and the proof."""
        problem, k = self.problem, self.problem.k
        tree, models = walked(self.root)
        supports, owner, low, high, points = boxes_of(self.listed, k)
        out = {
            "points_lower": problem.low,
            "points_upper": problem.high,
            "support": self.claim.card.support,
            "points": self.claim.card.points,
            "tree": np.array(tree, dtype=np.int64),
            "model_ends": np.cumsum([0, *(len(model[0]) for model in models)], dtype=np.int64),
            "model_columns": np.concatenate([np.zeros(0, np.int64), *(model[0] for model in models)]),
            "model_values": np.concatenate([np.zeros(0), *(model[1] for model in models)]),
            "model_intercepts": np.array([model[2] for model in models], dtype=np.float64),
            "listed": supports,
            "box_support": owner,
            "box_lower": low,
            "box_upper": high,
            "box_points": points,
            "exclusive_ends": np.cumsum([0, *map(len, problem.exclusive)], dtype=np.int64),
            "exclusive": np.concatenate([np.zeros(0, np.int64), *problem.exclusive]).astype(np.int64),
            "classes": np.array([-1, 1]) if self.classes is None else self.classes,
        }
        if out["classes"].dtype.kind not in "iufbU":
            out["classes"] = out["classes"].astype(str)
        return out if problem.weights is None else {**out, "weights": problem.weights}

    @cached_property
    def header(self) -> dict[str, Any]:
        """Settings and claims, with checksums of the data and of everything else."""
        problem, claim = self.problem, self.claim
        n, p = problem.X.shape
        header = {
            "format": FORMAT,
            "version": 1,
            "n": n,
            "p": p,
            "k": problem.k,
            "max_scale": problem.max_scale,
            "scale": claim.card.scale,
            "intercept": claim.card.intercept,
            "objective": claim.card.loss,
            "lower_bound": claim.lower_bound,
            "gap_asked": claim.gap_asked,
            "status": claim.status,
            "threshold": claim.threshold,
            "fingerprint_X": fingerprint_matrix(problem.X, "dense"),
            "fingerprint_y": fingerprint_vector(problem.y),
        }
        return {**header, "digest": digest(header, self.arrays)}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `path`, an npz file of NumPy, without pickled objects. An interrupted write leaves an older file as it was."""
        save_arrays(path, self.header, self.arrays)

    def __repr__(self) -> str:
        claim = self.claim
        size = sum(array.nbytes for array in self.arrays.values()) / 1e6
        return (
            f"ScoreCertificate(loss {claim.card.loss:.8g}, lower bound {claim.lower_bound:.8g}, {claim.status}, "
            f"{len(self.arrays['tree'])} nodes, {len(self.listed)} supports with boxes, {size:.1f} MB)"
        )


def walked(root: Node) -> tuple[list[int], list[Any]]:
    """Return a tree, "in" before "out", with -1 for leaves that are run through, -2 for those with models; and the models."""
    tree, models, stack = [], [], [root]
    while stack:
        node = stack.pop()
        if node.children:
            tree.append(node.split)
            stack += node.children[::-1]
        elif node.exhausted:
            tree.append(-1)
        else:
            tree.append(-2)
            models.append(node.model)
    return tree, models


def boxes_of(listed: list[tuple[list[int], _core.Boxes]], k: int) -> tuple[NDArray[Any], ...]:
    """Return listed supports, and their boxes with owner, limits and models, in tables that are k columns wide."""
    supports = np.full((len(listed), k), -1, dtype=np.int64)
    owners, lows, highs, points = (
        [np.zeros(0, np.int64)],
        [np.zeros((0, k), np.int64)],
        [np.zeros((0, k), np.int64)],
        [np.zeros((0, k + 1))],
    )
    for place, (support, boxes) in enumerate(listed):
        d = len(support)
        supports[place, :d] = support
        count = len(boxes.bounds)
        pad = ((0, 0), (0, k - d))
        models = boxes.models.reshape(count, d + 1)
        owners.append(np.full(count, place, dtype=np.int64))
        lows.append(np.pad(boxes.low.reshape(count, d).astype(np.int64), pad))
        highs.append(np.pad(boxes.high.reshape(count, d).astype(np.int64), pad))
        points.append(np.hstack([np.pad(models[:, :-1], pad), models[:, -1:]]))
    return supports, *(np.concatenate(each) for each in (owners, lows, highs, points))
