"""The choice among the models of a method, by labels that were not used for fitting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.problem.losses import LOSSES
from experiments.peers.method import Fit

__all__ = ["Rule", "choose", "loss_within", "validation_errors", "validation_loss"]

Rank = tuple[float, ...]
Rule = Callable[[Fit, Any, NDArray[np.int64], str], Rank]
"""Ranks a model by validation labels y for the rows of X, under a loss; the lowest rank is the best."""


def validation_loss(fit: Fit, X: Any, y: NDArray[np.int64], loss: str) -> Rank:
    """Rank by the mean loss without penalties, then by size: the paper's rule."""
    return float(np.mean(LOSSES[loss].value(fit.decision(X), y.astype(np.float64)))), len(fit.support)


def validation_errors(fit: Fit, X: Any, y: NDArray[np.int64], loss: str) -> Rank:
    """Rank by the number of labels on the wrong side, then by size, then by loss.

    Where labels are free of noise, the loss falls for ever as coefficients and models grow; this rule ends at the smallest
    model that is right.
    """
    wrong = int(np.count_nonzero(fit.decision(X) * y <= 0.0))
    return wrong, len(fit.support), validation_loss(fit, X, y, loss)[0]


def loss_within(largest: int) -> Rule:
    """Return a rule that ranks by loss, but puts models with more than `largest` features behind all others."""

    def rank(fit: Fit, X: Any, y: NDArray[np.int64], loss: str) -> Rank:
        return float(len(fit.support) > largest), *validation_loss(fit, X, y, loss)

    return rank


def choose(fits: Iterable[Fit], X: Any, y: NDArray[np.int64], loss: str, rules: Mapping[str, Rule]) -> dict[str, Fit]:
    """Return the best model by each rule; `fits` is read once, so that a generator of many models needs little memory."""
    best: dict[str, tuple[Rank, Fit]] = {}
    for fit in fits:
        for name, rule in rules.items():
            rank = rule(fit, X, y, loss)
            if name not in best or rank < best[name][0]:
                best[name] = rank, fit
    if not best:
        raise ValueError("the method gave no model.")
    return {name: fit for name, (_, fit) in best.items()}
