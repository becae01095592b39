"""Checkpoints of proofs: a checkpoint is the certificate of what is proved so far, from whose tree a later call goes on.

Bounds of models are computed again; that an exhausted leaf holds nothing better than the card is taken from the file, as
`verify` would find it.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ellzero.base.errors import InvalidInputError
from ellzero.base.reading import Malformed, read_archive
from ellzero.exact.verifier.data import Refused
from ellzero.exact.verifier.rules import NAMES
from ellzero.exact.verifier.score_check import FORMS, OPTIONAL, check_claims
from ellzero.scores.certificate import Boxes, ScoreCertificate
from ellzero.scores.problem import FoundCard

if TYPE_CHECKING:
    from ellzero.scores.proving import Node, Proof

SAME = ("n", "p", "k", "min_scale", "max_scale", "lambda_0", "whole_intercept", "fingerprint_X", "fingerprint_y", "threshold")
SAME_ARRAYS = ("points_lower", "points_upper", "weights", *NAMES)
FIRST_SECONDS, WRITING_SHARE = 1.0, 0.05  # before the first write; of the running time


class Checkpoint:
    """The file of a proof, and when to write it next."""

    def __init__(self, path: Any) -> None:
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise InvalidInputError(f"checkpoint must be a file in an existing folder, got {str(path)!r}.")
        self.next_write = time.monotonic() + FIRST_SECONDS

    def write_if_due(self, proof: Proof) -> None:
        """Write the proof if the file is old enough."""
        start = time.monotonic()
        if start >= self.next_write:
            proof.certificate().save(self.path)
            self.next_write = start + max(FIRST_SECONDS, (time.monotonic() - start) / WRITING_SHARE)

    def end(self, proof: Proof) -> None:
        """Write the proof as it ends, or remove the file if nothing is left to prove."""
        if proof.status == "optimal":
            self.path.unlink(missing_ok=True)
        else:
            proof.certificate().save(self.path)

    def resume(self, proof: Proof) -> bool:
        """Give a proof the card and the tree of the file; return whether there is one."""
        if not self.path.exists():
            return False
        try:
            header, arrays = read_archive(self.path, FORMS | OPTIONAL)
            check_claims(header, arrays)
        except (Malformed, Refused, OSError) as error:
            raise InvalidInputError(f"checkpoint {str(self.path)!r} cannot be read: {error}") from None
        if not same_problem(proof.certificate(), header, arrays):
            raise InvalidInputError(
                f"checkpoint {str(self.path)!r} belongs to another problem; remove it or name another file."
            )
        take_card(proof, header, arrays)
        if (arrays["tree"] == -1).any():  # closed by a card that was as good as this one, or worse
            proof.least = proof.card.loss - 0.5 * float(header["gap_asked"]) * proof.scale
        grow(proof, arrays)
        proof.listed = [boxes_at(arrays, place) for place in range(len(arrays["listed"]))]
        return True


def same_problem(own: ScoreCertificate, header: dict[str, Any], arrays: dict[str, Any]) -> bool:
    """Return whether a file is about the same data and limits."""
    same = all(own.header[name] == header[name] for name in SAME)
    return same and all(
        (name in own.arrays) == (name in arrays) and np.array_equal(own.arrays.get(name, 0), arrays.get(name, 0))
        for name in SAME_ARRAYS
    )


def take_card(proof: Proof, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Take the card of the file, if it is better."""
    support, points = arrays["support"].tolist(), arrays["points"].tolist()
    for j in proof.problem.always:
        if j not in support:
            support, points = [*support, j], [*points, 0]
    low, high = proof.problem.low[support], proof.problem.high[support]
    if (low <= points).all() and (points <= high).all() and proof.problem.obeys(support):
        found = proof.problem.card(FoundCard(support, points, float(header["scale"]), float(header["intercept"])))
        proof.card = min(proof.card, found, key=lambda card: card.loss)


def grow(proof: Proof, arrays: dict[str, Any]) -> None:
    """Give a proof the tree of a file; its leaves are open unless the bounds of their models close them."""
    size, model, stack = proof.problem.size, 0, [proof.root]
    for split in arrays["tree"].tolist():
        if not stack or (split >= 0 and (split not in stack[-1].maybe or len(stack[-1].inside) >= size)):
            raise InvalidInputError("the tree of the checkpoint is malformed.")
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
        raise InvalidInputError("the tree of the checkpoint is malformed.")


def take_model(proof: Proof, node: Node, arrays: dict[str, Any], place: int) -> None:
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
