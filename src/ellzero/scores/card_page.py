"""A score card as one HTML page, for the screen and for paper; it loads nothing from anywhere."""

from __future__ import annotations

import json
import math
import os
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from ellzero.base.files import replacing
from ellzero.base.quoting import shown
from ellzero.base.validation import as_path

if TYPE_CHECKING:
    from ellzero.scores.risk_score import RiskRow, RiskScore

TEMPLATE = Path(__file__).with_name("template") / "card.html"
MINUS, TIMES, DASH = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}", "\N{EN DASH}"
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 300.0, 230.0, 38.0, 34.0, 8.0
PROVED = {
    "optimal": "No card within these limits has a lower loss on these rows: this is proved.",
    "time_limit": "The time limit came before the proof was complete: a better card may exist.",
    "interrupted": "The search was interrupted before the proof was complete: a better card may exist.",
    "too_large": "For a card of so many columns there is a bound only: a better card may exist.",
}


def write_card(path: str | os.PathLike[str], card: RiskScore, title: str | None, outcome: str | None) -> None:
    """Write the page; it is there as a whole or not at all."""
    with replacing(as_path("path", path)) as stream:
        stream.write(card_page(card, title, outcome).encode())


def card_page(card: RiskScore, title: str | None, outcome: str | None) -> str:
    """Return the page of a fitted card."""
    label = card._outcome() if outcome is None else outcome
    n = int((card.problem_.y != 0.0).sum())
    questions = [
        f'<tr><td><label><input type="checkbox" data-row="{row}" data-points="{points}">{escape(shown(name))}</label></td>'
        f'<td>{signed(points)}</td><td class="write" id="yours{row}">. . . .</td></tr>'
        for row, (_, name, points) in enumerate(card._lines())
    ]
    high, low = int(card.problem_.high.max()), int(card.problem_.low.min())
    sign = MINUS if card.intercept_ < 0.0 else "+"
    log_odds = f"{card.scale_:.4g} {TIMES} score {sign} {abs(card.intercept_):.4g}"
    parts = {
        "title": escape(f"Risk of {label}" if title is None else title),
        "lead": escape(f"{len(questions)} yes-or-no question{'s' * (len(questions) != 1)}; fitted to {n:,} rows."),
        "questions": "\n".join(questions),
        "risks": "\n".join(risk_line(row, card) for row in card.risk_table_),
        "observed": escape(
            f'"Observed" is how often it was {label} in rows that the fit did not see, from cross-validation: cards fitted to '
            "the other folds gave them about this risk."
        ),
        "plot": plot(card),
        "proof": "\n".join(
            f"<p>{escape(sentence)}</p>"
            for sentence in (
                PROVED[card.status_],
                *card.cautions(),
                f"Limits: at most {card.k_} questions, points from {signed(low)} to {signed(high)}, scale at most "
                f"{card.problem_.max_scale:g}. Risk = 1 / (1 + exp({MINUS}({log_odds}))).",
                f"Loss {card.loss_:.6g} (mean logistic loss); proved lower bound {card.lower_bound_:.6g}.",
                "Not proved: that the card is right for others than those in these rows, or that anything asked is a cause.",
            )
        ),
        "numbers": json.dumps({"scale": card.scale_, "intercept": card.intercept_}),
    }
    # The page is split before anything is inserted: names that contain "{{" are never taken for a place of the template.
    first, *rest = TEMPLATE.read_text("utf-8").split("{{")
    return first + "".join(parts[name] + text for name, text in (piece.split("}}", 1) for piece in rest))


def signed(points: int) -> str:
    """Return points as people write them."""
    return f"+{points}" if points > 0 else f"{MINUS}{-points}" if points < 0 else "0"


def risk_line(row: RiskRow, card: RiskScore) -> str:
    """Return a line of the risk table."""
    scores = (str(row.lowest) if row.lowest == row.highest else f"{row.lowest} to {row.highest}").replace("-", MINUS)
    seen = f"{100.0 * row.observed:.0f} %" if row.rows else DASH
    ends = dict.fromkeys(percent(float(card.card_.risk(score))) for score in (row.lowest, row.highest))
    return (
        f'<tr data-low="{row.lowest}" data-high="{row.highest}"><td>{scores}</td><td>{" to ".join(ends)}</td><td>{seen}</td>'
        f"<td>{row.rows:,.0f}</td></tr>"
    )


def percent(risk: float) -> str:
    """Return a risk with as many digits as it has a use for."""
    if not 0.001 <= risk <= 0.999:
        return "below 0.1 %" if risk < 0.5 else "above 99.9 %"
    return f"{100.0 * risk:.{0 if 0.1 <= risk <= 0.9 else 1}f} %"


def plot(card: RiskScore) -> str:
    """Return the picture: risk by score as a line, what was observed as dots whose area is the number of rows."""
    rows = card.risk_table_
    least, most = min(row.lowest for row in rows), max(row.highest for row in rows)
    most = max(most, least + 1)

    def x(score: float) -> float:
        return LEFT + (score - least) / (most - least) * (WIDTH - LEFT - 12.0)

    def y(risk: float) -> float:
        return TOP + (1.0 - risk) * (HEIGHT - TOP - BOTTOM)

    steps = [least + i * (most - least) / 60 for i in range(61)]
    line = " ".join(f"{x(s):.1f},{y(float(card.card_.risk(s))):.1f}" for s in steps)
    grid = "".join(
        f'<path d="M{LEFT} {y(share):.1f}H{WIDTH - 8}" stroke="#dde4ea"/><text x="{LEFT - 5}" y="{y(share) + 4:.1f}" '
        f'text-anchor="end">{100 * share:.0f} %</text>'
        for share in (0.0, 0.25, 0.5, 0.75, 1.0)
    )
    every = max(1, math.ceil((most - least) / 8))
    ticks = "".join(
        f'<text x="{x(s):.1f}" y="{HEIGHT - 18}" text-anchor="middle">{str(s).replace("-", MINUS)}</text>'
        for s in range(least, most + 1, every)
    )
    largest = max((row.rows for row in rows), default=1.0) or 1.0
    dots = "".join(
        f'<circle cx="{x((row.lowest + row.highest) / 2):.1f}" cy="{y(row.observed):.1f}" '
        f'r="{2.0 + 6.0 * math.sqrt(row.rows / largest):.1f}" fill="#1f5fa8" fill-opacity=".35" stroke="#1f5fa8"/>'
        for row in rows
        if row.rows
    )
    label = "Risk by score: the card as a line, observed shares as dots"
    return (
        f'<svg viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" role="img" aria-label="{label}">{grid}{ticks}'
        f'<polyline points="{line}" fill="none" stroke="#17212b" stroke-width="1.6"/>{dots}'
        f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 3}" text-anchor="middle">score (dots: observed shares)</text></svg>'
    )
