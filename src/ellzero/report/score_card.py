"""The section "As a score card": the same question answered by adding up whole points, where the data suit it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ellzero.base.errors import InvalidInputError
from ellzero.design import as_design
from ellzero.report.words import named
from ellzero.scores.risk_score import RiskScore
from ellzero.scores.thresholds import Thresholds

SIZE, CUTS = 5, (4, 3, 2, 1)  # questions of the card, and cuts of each column of numbers: as many as leave time for a proof
FEWEST_ROWS, MOST_ROWS = 100, 100_000
MOST_QUESTIONS = 60
USELESS = 0.5  # gaps above it are not told
MOST_SECONDS, SHARE = 15.0, 0.3  # for the card, of the time for proofs


def find_card(
    X: object,
    y: ArrayLike,
    classes: list[Any],
    *,
    sample_weight: ArrayLike | None,
    names: list[str] | None,
    seconds: float,
    jobs: int,
) -> RiskScore | None:
    """Return a card for the second of two classes; None where the data do not suit one, or there is no time."""
    design = as_design(X)
    n, p = design.shape
    if len(classes) != 2 or not FEWEST_ROWS <= n <= MOST_ROWS or p > MOST_QUESTIONS or not seconds > 0.0:
        return None
    columns = np.arange(p, dtype=np.int32)
    table = np.column_stack([design.matvec(columns[j : j + 1], np.ones(1)) for j in columns])
    try:
        tried = (Thresholds(per=per).fit(table) for per in CUTS)
        questions = next((each for each in tried if len(each.questions_) <= MOST_QUESTIONS), None)
    except InvalidInputError:  # nothing to ask: every column is constant
        return None
    if questions is None:
        return None
    places = np.array([question.column for question in questions.questions_])
    card = RiskScore(
        SIZE,
        exclusive=[np.flatnonzero(places == j).tolist() for j in np.unique(places)],
        pos_label=classes[1],
        time_limit=min(MOST_SECONDS, SHARE * seconds),
        n_jobs=jobs,
    )
    card.fit(questions.transform(table), y, sample_weight=sample_weight)
    card.question_names_ = questions.get_feature_names_out(names)
    return card


def describe_card(card: RiskScore | None) -> dict[str, Any] | None:
    """Return the card as plain data; None if there is none, or it has no points."""
    if card is None or not len(card.support_):
        return None
    auc = card.held_out_auc()
    return {
        "lines": [{"name": named(card.question_names_[j]), "points": points} for j, _, points in card._lines()],
        "risks": [
            {
                "low": row.lowest,
                "high": row.highest,
                "risks": [float(card.card_.risk(score)) for score in (row.lowest, row.highest)],
                "observed": row.observed if row.rows else None,
                "rows": row.rows,
            }
            for row in card.risk_table_
        ],
        "scale": card.scale_,
        "intercept": card.intercept_,
        "auc": None if math.isnan(auc) else auc,
        "proof": proof_sentence(card),
    }


def proof_sentence(card: RiskScore) -> str:
    """Return what is proved of the card."""
    low, high = int(card.problem_.low.min()), int(card.problem_.high.max())
    limits = f"at most {card.k_} questions, one about each column, and points from {low} to {high}".replace(
        "-", "\N{MINUS SIGN}"
    )
    if card.status_ == "optimal":
        return f"Proved: no card with {limits} has a lower loss on these rows."
    if card.gap_ > USELESS:
        return f"The best card found with {limits}. It is not proved: time was up first."
    return (
        f"Among cards with {limits}, the loss of another could be lower by at most {100.0 * card.gap_:.2g} %: time was up "
        "before more was proved."
    )
