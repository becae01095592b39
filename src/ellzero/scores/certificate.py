"""Certificates of score cards: the problem, the card, and the tree with its models and boxes of points.

The format is described in docs/score-certificate.md; `ellzero.exact.verifier` reads it without any of this code.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.exact.certificate import save_arrays, storable
from ellzero.exact.verifier import digest, fingerprint_matrix, fingerprint_vector
from ellzero.exact.verifier.score_check import FORMAT
from ellzero.scores.problem import Array, Card, Ints, ScoreProblem

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


@dataclass(frozen=True, eq=False)
class Boxes:
    """A partition of the points of a support into boxes, each with a model and the bound of its dual point."""

    support: list[int]
    low: Ints
    high: Ints
    models: Array
    bounds: Array

    @staticmethod
    def of(support: list[int], found: _core.Boxes) -> Boxes:
        """Return the boxes that the core found."""
        d = len(support)
        low, high = (each.reshape(-1, d).astype(np.int64) for each in (found.low, found.high))
        return Boxes(support, low, high, found.models.reshape(-1, d + 1), found.bounds)


@dataclass(frozen=True, eq=False, repr=False)
class ScoreCertificate:
    """A proof of a score card that anyone can check: :func:`ellzero.verify` needs it and the data, nothing else.

    Attributes
    ----------
    header : dict, settings and claims
    arrays : dict of arrays, the card, the limits and the proof

    """

    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `path`, an npz file of NumPy, without pickled objects. An interrupted write leaves an older file as it was."""
        save_arrays(path, self.header, self.arrays)

    def __repr__(self) -> str:
        said, size = self.header, sum(array.nbytes for array in self.arrays.values()) / 1e6
        return (
            f"ScoreCertificate(loss {said['objective']:.8g}, lower bound {said['lower_bound']:.8g}, {said['status']}, "
            f"{len(self.arrays['tree'])} nodes, {len(self.arrays['listed'])} supports with boxes, {size:.1f} MB)"
        )


def make_certificate(problem: ScoreProblem, claim: ScoreClaim, root: Node, listed: list[Boxes]) -> ScoreCertificate:
    """Return the certificate of a proof."""
    n, p = problem.X.shape[0], problem.X.shape[1] - len(problem.always)
    arrays = proof_arrays(problem, claim.card, root, listed)
    header = {
        "format": FORMAT,
        "version": 1,
        "n": n,
        "p": p,
        "k": problem.k,
        "min_scale": problem.min_scale,
        "max_scale": problem.max_scale,
        "lambda_0": problem.price,
        "whole_intercept": problem.whole_intercept,
        "scale": claim.card.scale,
        "intercept": 0.0 if problem.whole_intercept else claim.card.intercept,
        "objective": claim.card.loss,
        "lower_bound": claim.lower_bound,
        "gap_asked": claim.gap_asked,
        "status": claim.status,
        "threshold": claim.threshold,
        "fingerprint_X": fingerprint_matrix(problem.X[:, :p], "dense"),
        "fingerprint_y": fingerprint_vector(problem.y),
    }
    return ScoreCertificate({**header, "digest": digest(header, arrays)}, arrays)


def proof_arrays(problem: ScoreProblem, card: Card, root: Node, listed: list[Boxes]) -> dict[str, NDArray[Any]]:
    """Return the card, the limits and the proof as arrays."""
    tree, models = walked(root)
    k = problem.size
    offset = [round(card.intercept / card.scale)] if problem.whole_intercept else []
    support, whole = np.append(card.support, problem.always), np.append(card.points, offset)
    supports = np.full((len(listed), k), -1, dtype=np.int64)
    for row, boxes in zip(supports, listed, strict=True):
        row[: len(boxes.support)] = boxes.support
    pads = [((0, 0), (0, k - len(boxes.support))) for boxes in listed]
    sides = {
        side: [np.pad(getattr(boxes, side), pad) for boxes, pad in zip(listed, pads, strict=True)] for side in ("low", "high")
    }
    points = [
        np.hstack([np.pad(boxes.models[:, :-1], pad), boxes.models[:, -1:]]) for boxes, pad in zip(listed, pads, strict=True)
    ]
    nothing, wide = np.zeros(0, np.int64), np.zeros((0, k), np.int64)
    out = {
        "points_lower": problem.low,
        "points_upper": problem.high,
        "support": support[whole != 0].astype(np.int64),
        "points": whole[whole != 0].astype(np.int64),
        "tree": np.array(tree, dtype=np.int64),
        "model_ends": np.cumsum([0, *(len(columns) for columns, _, _ in models)], dtype=np.int64),
        "model_columns": np.concatenate([nothing, *(columns for columns, _, _ in models)]),
        "model_values": np.concatenate([np.zeros(0), *(values for _, values, _ in models)]),
        "model_intercepts": np.array([intercept for _, _, intercept in models], dtype=np.float64),
        "listed": supports,
        "box_support": np.repeat(np.arange(len(listed)), [len(boxes.bounds) for boxes in listed]),
        "box_lower": np.concatenate([wide, *sides["low"]]),
        "box_upper": np.concatenate([wide, *sides["high"]]),
        "box_points": np.concatenate([np.zeros((0, k + 1)), *points]),
        "classes": storable(problem.classes),
    }
    out |= {} if problem.rules is None else problem.rules.arrays()
    return out if problem.weights is None else {**out, "weights": problem.weights}


def walked(root: Node) -> tuple[list[int], list[tuple[Ints, Array, float]]]:
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
