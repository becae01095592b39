"""The paper's synthetic experiments with a "fixed design": labels to fit, to choose and to measure are for the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.datasets import draw_labels, make_classification
from ellzero.metrics import support_scores
from experiments.experiment import Record
from experiments.peers.method import Fit, Method
from experiments.peers.selection import Rule, choose

__all__ = ["Data", "Setting", "measure"]


@dataclass(frozen=True)
class Setting:
    """Parameters of the synthetic data (the paper's "Experimental Setup")."""

    p: int
    k: int
    s: float
    correlation: str | None = None
    rho: float = 0.0
    new_rows: int = 0  # for the AUC on rows that no model has seen


@dataclass(frozen=True, eq=False)
class Data:
    """One draw: rows with three independent vectors of labels (to fit, to choose, to measure), and new rows with labels."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    y_choice: NDArray[np.int64]
    y_measure: NDArray[np.int64]
    X_new: NDArray[np.float64] | None
    y_new: NDArray[np.int64] | None
    coef: NDArray[np.float64]

    @staticmethod
    def draw(setting: Setting, n: int, seed: tuple[int, ...]) -> Data:
        """Draw the data; the seed does not depend on the method, so that all methods of a repetition see the same data."""
        shape: dict[str, Any] = {"k": setting.k, "s": setting.s, "correlation": setting.correlation, "rho": setting.rho}
        for_rows, for_choice, for_measure, for_new = (
            np.random.default_rng(part) for part in np.random.SeedSequence(seed).spawn(4)
        )
        X, y, coef = make_classification(n, setting.p, random_state=for_rows, **shape)
        y_choice, y_measure = (draw_labels(X, coef, s=setting.s, random_state=rng) for rng in (for_choice, for_measure))
        X_new = y_new = None
        if setting.new_rows:
            X_new, y_new, _ = make_classification(setting.new_rows, setting.p, random_state=for_new, **shape)
        return Data(X, y, y_choice, y_measure, X_new, y_new, coef)


def measure(method: Method, data: Data, loss: str, rules: Mapping[str, Rule]) -> Record:
    """Fit a method, choose a model by each rule, and compare it with the truth; return one entry for each rule."""
    chosen = choose(method.fits(data.X, data.y), data.X, data.y_choice, loss, rules)
    return {rule: compare(fit, data) for rule, fit in chosen.items()}


def compare(fit: Fit, data: Data) -> Record:
    """Return the measures of a model: AUC, and how its support compares with the true one."""
    from sklearn.metrics import roc_auc_score

    scores = support_scores(np.flatnonzero(data.coef), fit.support)
    out: Record = {
        "auc_same_rows": float(roc_auc_score(data.y_measure, fit.decision(data.X))),
        "f1": scores.f1,
        "support_size": len(fit.support),
        "true_positives": scores.true_positives,
        "false_positives": scores.false_positives,
        "settings": fit.settings,
    }
    if data.X_new is not None:
        out["auc"] = float(roc_auc_score(data.y_new, fit.decision(data.X_new)))
    return out
