"""``ellzero risk-score``: find the best score card, print it, and write a page and a proof."""

from __future__ import annotations

import argparse
from typing import Any

import ellzero
from ellzero.base.errors import InvalidInputError
from ellzero.cli.data import load_data
from ellzero.cli.files import check_output, given, written_lines
from ellzero.cli.output import attributes, exit_code, note, print_result
from ellzero.cli.questions import QuestionPreparation
from ellzero.cli.solver_settings import feature_rules


def run(args: argparse.Namespace) -> int:
    """Make questions of the columns, search, prove, write and print."""
    check_output(args.out, args.card, args.proof, inputs=(args.data,))
    k = args.k if args.k == "cv" else whole(args.k)
    data = load_data(args, classes=2, keep_labels=True)
    asked = isinstance(data.preparation, QuestionPreparation)
    bounds: dict[str, Any] = {}
    if isinstance(data.preparation, QuestionPreparation):
        bounds = {"lower": data.preparation.lower, "upper": data.preparation.upper}
    card = ellzero.RiskScore(
        k,
        points=tuple(args.points),
        max_scale=args.max_scale,
        scale=args.scale,
        whole_intercept=args.whole_intercept,
        lambda_0=args.lambda_0,
        one_per_variable=args.one_per_variable,
        rules=feature_rules(args, data),
        pos_label=data.positive,
        time_limit=args.time_limit,
        checkpoint=args.checkpoint,
        n_jobs=args.jobs,
        progress=not args.quiet,
        **bounds,
    ).fit(data.X, data.y, sample_weight=data.weight)
    for name in given(args.card):
        card.card(name, title=args.title, outcome=args.outcome)
    for name in given(args.proof):
        card.certificate_.save(name)
    for name in given(args.out):
        card.save(name, data.preparation.to_json())
    if not given(args.card, args.proof, args.out):
        note(args, "nothing is kept; --card card.html, --proof proof.npz and --out model.json write files.")
    result = {
        "command": "risk-score",
        "target": data.target,
        "rows": len(data.y),
        "n_features": card.n_features_in_,
        "questions": asked,
        **attributes(card, "k_", "status_", "loss_", "lower_bound_", "gap_", "scale_", "intercept_"),
        "points": [{"name": name, "index": j, "points": points} for j, name, points in card._lines()],
        "risk_table": [row._asdict() for row in card.risk_table_],
        **attributes(args, "card", "proof", "out"),
    }
    result = {name.rstrip("_"): value for name, value in result.items()}
    about = [f"risk of {card._outcome()}, {len(data.y)} rows, {card.n_features_in_} questions to choose from", ""]
    print_result(args, result, "\n".join([*about, str(card), *written_lines(args.card, args.proof, args.out)]))
    return exit_code(card.status_, written=bool(given(args.card, args.proof, args.out)))


def whole(text: str) -> int:
    """Return the number of --k."""
    try:
        return int(text)
    except ValueError:
        raise InvalidInputError(f"--k must be a whole number or cv, got {text!r:.40}.") from None
