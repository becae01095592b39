"""Checkpoints of proofs: a checkpoint is the certificate of what is proved so far, from whose tree a later call goes on.

Bounds of models are computed again; that an exhausted leaf holds nothing better than the card is taken from the file, as
`verify` would find it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ellzero.base.reading import Malformed, read_archive
from ellzero.exact.verifier.rules import NAMES
from ellzero.exact.verifier.score_check import FORMS, OPTIONAL, check_claims
from ellzero.scores.certificate import Boxes, ScoreCertificate
from ellzero.scores.problem import FoundCard

if TYPE_CHECKING:
    from ellzero.scores.proving import CardProof, Node

SAME = ("n", "p", "k", "min_scale", "max_scale", "lambda_0", "whole_intercept", "fingerprint_X", "fingerprint_y", "threshold")
SAME_ARRAYS = ("points_lower", "points_upper", "weights", *NAMES)


def resume_proof(proof: CardProof) -> None:
    """Give a proof the card and the tree of its checkpoint."""
    file = proof.checkpoint
    with file.explained():
        header, arrays = read_archive(file.path, FORMS | OPTIONAL)
        check_claims(header, arrays)
    file.refuse_unless(same_problem(proof.certificate(), header, arrays))
    take_card(proof, header, arrays)
    if (arrays["tree"] == -1).any():  # closed by a card that was as good as this one, or worse
        proof.least = proof.card.loss - 0.5 * float(header["gap_asked"]) * proof.scale
    with file.explained():
        grow(proof, arrays)
    proof.listed = [boxes_at(arrays, place) for place in range(len(arrays["listed"]))]


def same_problem(own: ScoreCertificate, header: dict[str, Any], arrays: dict[str, Any]) -> bool:
    """Return whether a file is about the same data and limits."""
    same = all(own.header[name] == header[name] for name in SAME)
    return same and all(
        (name in own.arrays) == (name in arrays) and np.array_equal(own.arrays.get(name, 0), arrays.get(name, 0))
        for name in SAME_ARRAYS
    )


def take_card(proof: CardProof, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Take the card of the file, if it is better."""
    support, points = arrays["support"].tolist(), arrays["points"].tolist()
    for j in proof.problem.always:
        if j not in support:
            support, points = [*support, j], [*points, 0]
    low, high = proof.problem.low[support], proof.problem.high[support]
    if (low <= points).all() and (points <= high).all() and proof.problem.obeys(support):
        found = proof.problem.card(FoundCard(support, points, float(header["scale"]), float(header["intercept"])))
        proof.card = min(proof.card, found, key=lambda card: card.loss)


def grow(proof: CardProof, arrays: dict[str, Any]) -> None:
    """Give a proof the tree of a file; its leaves are open unless the bounds of their models close them."""
    size, model, stack = proof.problem.size, 0, [proof.root]
    for split in arrays["tree"].tolist():
        if not stack or (split >= 0 and (split not in stack[-1].maybe or len(stack[-1].inside) >= size)):
            raise Malformed("its tree is none")
        node = stack.pop()
        if split >= 0:
            proof.branch(node, split)
            stack += node.children[::-1]
        elif split == -1:
            node.exhausted = True
            proof.closed += node.supports(size)
        else:
            take_model(proof, node, arrays, model)
            model += 1
            proof.place(node)
    if stack:
        raise Malformed("its tree is none")


def take_model(proof: CardProof, node: Node, arrays: dict[str, Any], place: int) -> None:
    """Give a leaf its model, with the bound that it has here."""
    start, end = arrays["model_ends"][place : place + 2].tolist()
    node.model = arrays["model_columns"][start:end], arrays["model_values"][start:end], float(arrays["model_intercepts"][place])
    node.bound = proof.bound(node, node.model)


def boxes_at(arrays: dict[str, Any], place: int) -> Boxes:
    """Return the boxes of a listed support; their bounds are for lists of cards only."""
    support = [j for j in arrays["listed"][place].tolist() if j >= 0]
    which, d = np.flatnonzero(arrays["box_support"] == place), len(support)
    low, high = (arrays[f"box_{side}"][which, :d].astype(np.int64) for side in ("lower", "upper"))
    return Boxes(support, low, high, arrays["box_points"][which][:, [*range(d), -1]], np.full(len(which), np.nan))
