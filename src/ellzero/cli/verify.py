"""``ellzero verify``: check a certificate against the data."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ellzero
from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import shown
from ellzero.base.validation import known
from ellzero.cli.data import Data, load_data
from ellzero.cli.exit_codes import ANOTHER_PROBLEM
from ellzero.cli.output import print_result
from ellzero.cli.solver_settings import feature_costs, feature_groups, feature_rules
from ellzero.exact.verifier import fingerprint_vector
from ellzero.exact.verifier.claims import read_claims
from ellzero.exact.verifier.data import Refused
from ellzero.exact.verifier.score_check import FORMAT as SCORE
from ellzero.exact.verifier.score_check import read_score
from ellzero.problem.losses import LOSSES

CLAIMS = (
    "loss",
    "huber_delta",
    "k",
    "budget",
    "lambda_0",
    "lambda_1",
    "lambda_2",
    "standardize",
    "fit_intercept",
    "status",
    "gap_asked",
)
EXIT_CODES = {"valid": 0, "not valid": 1, "about another problem": ANOTHER_PROBLEM}


def run(args: argparse.Namespace) -> int:
    """Check the certificate and print the verdict; the exit code says it, too."""
    header, arrays = claims_of(args.certificate)
    args.questions = header.get("format") == SCORE
    loss = LOSSES.get(str(header.get("loss")))
    if args.regression and loss is not None and loss.is_classification:
        raise InvalidInputError(f"--regression was given, but {args.certificate} is about the loss {header['loss']}.")
    data = load_data(args, keep_labels=args.questions)
    report = ellzero.verify(
        args.certificate,
        data.X,
        data.y if loss is None or loss.is_classification else as_certified(header, data.y),
        arithmetic="exact" if args.exact else "float64",
        expect=expected(args, data),
        progress=not args.quiet,
    )
    names = data.preparation.features
    used = [names[int(j)] for j in arrays["support"]] if report.valid else []
    result = {
        "command": "verify",
        **asdict(report),
        "claims": {name: header.get(name) for name in CLAIMS},
        "support": used,
    }
    lines = [str(report)]
    if report.valid and report.models is None:
        lines.append(f"  features     {', '.join(map(shown, used)) or 'none'}")
    print_result(args, result, "\n".join(lines))
    return EXIT_CODES[report.verdict]


def claims_of(name: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the claims of a certificate; nothing if it cannot be read, which the verdict will say."""
    try:
        return read_score(name) or read_claims(name)
    except Refused:
        return {}, {}


def as_certified(header: dict[str, Any], y: NDArray[Any]) -> NDArray[Any]:
    """Return the target as certify saw it, with a loss of numbers: two labels are -1 and +1."""
    classes = np.unique(y)
    signs = np.where(y == classes[-1], 1.0, -1.0)
    if y.dtype.kind not in "iuf" or (len(classes) == 2 and fingerprint_vector(signs) == header.get("fingerprint_y")):
        return signs
    return y.astype(np.float64)


def expected(args: argparse.Namespace, data: Data) -> dict[str, Any]:
    """Return the settings that --expect states, with weights, costs and groups; without it, those of them that are given."""
    settings: dict[str, Any] = {"sample_weight": data.weight, "feature_cost": feature_costs(args, data)}
    if args.rules is not None:
        settings |= {"rules": feature_rules(args, data), "groups": feature_groups(args, data)}
    if args.expect is None:
        return known(settings)
    settings["groups"] = feature_groups(args, data)
    for statement in args.expect:
        name, found, value = statement.partition("=")
        if not found:
            raise InvalidInputError(f"--expect must be NAME=VALUE, such as k=5, got {statement!r:.60}.")
        settings[name.strip().replace("-", "_")] = value_of(value.strip())
    return settings


def value_of(text: str) -> Any:
    """Return a value as JSON has it, or the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return {"None": None, "True": True, "False": False}.get(text, text)
