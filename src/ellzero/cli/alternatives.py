"""``ellzero alternatives``: find all models that are nearly as good as the best one."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ellzero
from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import shown
from ellzero.base.validation import if_known
from ellzero.cli.certify import positive_class
from ellzero.cli.data import Data, load_data
from ellzero.cli.files import check_output, check_picture, given, save_picture, written_lines
from ellzero.cli.output import attributes, coefficient_lines, coefficients, exit_code, note, print_result
from ellzero.cli.solver_settings import check_limits, check_loss, chosen_loss, costs_in, encoded_target, settings_for
from ellzero.problem.losses import LOSSES

SHOWN = 20  # models that are printed, unless --json is given


def run(args: argparse.Namespace) -> int:
    """Search, write and print; Ctrl-C ends the search, and what was found is written."""
    check_output(args.out, args.proof, args.plot, inputs=(args.data,))
    check_picture(args.plot)
    check_loss(args)
    loss = chosen_loss(args)
    check_limits(args)
    if LOSSES[loss].couples_outputs:
        raise InvalidInputError("alternatives are found for two classes: --positive LABEL tells one class from the rest.")
    data = load_data(args, classes=2)
    costs = None if args.cheapest is None else costs_in(args.cheapest, data, "--cheapest")
    settings = settings_for(ellzero.alternatives, args, data, loss=loss)
    found = ellzero.alternatives(data.X, encoded_target(args, data.y), **settings)
    found = replace(found, names=list(data.preparation.features))
    if not found.complete and sys.stderr.isatty() and not args.quiet:
        sys.stderr.write("\n")  # the progress line of a search that was stopped has no end of its own
    for name in given(args.out):
        found.save(name)
    for name in given(args.proof):
        assert found.certificate is not None
        found.certificate.save(name)
    if not args.proof:
        note(args, "the proof is not kept; --proof proof.npz writes it.")
    save_picture(args.plot, found.plot)
    chosen = chosen_model(args, found, costs)
    result = alternatives_json(args, found, chosen, data)
    print_result(args, result, "\n".join(alternatives_lines(args, found, result)))
    return exit_code(found.status, written=bool(args.out or args.proof))


def chosen_model(
    args: argparse.Namespace, found: ellzero.Alternatives, costs: NDArray[np.float64] | None
) -> ellzero.Model | None:
    """Return the model that --cheapest, --including and --without choose, None if none of them is given."""
    if costs is None and not args.including and not args.without:
        return None
    return found.best(costs=costs, including=args.including, without=args.without)


def alternatives_json(
    args: argparse.Namespace, found: ellzero.Alternatives, chosen: ellzero.Model | None, data: Data
) -> dict[str, Any]:
    """Return the result for --json."""

    def model_of(model: ellzero.Model) -> dict[str, Any]:
        features = coefficients(data.preparation.features, model.support.tolist(), model.values.tolist())
        return {**attributes(model, "objective", "size", "intercept"), "features": features}

    return {
        "command": "alternatives",
        **attributes(found, "status", "complete", "threshold", "complete_below", "nodes", "seconds"),
        "classes": None if args.regression else np.unique(data.y),
        "positive": args.positive,
        "roles": [attributes(use, "name", "role", "share", "sign") for use in found.features],
        "stand_ins": [[found.name_of(pair.feature), found.name_of(pair.other)] for pair in found.stand_ins],
        "models": [model_of(model) for model in found.models],
        "chosen": if_known(model_of, chosen),
        "proof": args.proof,
    }


def alternatives_lines(args: argparse.Namespace, found: ellzero.Alternatives, result: dict[str, Any]) -> list[str]:
    """Return the result as lines of text."""
    lines = [*found.summary(), f"{found.nodes} nodes, {found.seconds:.2f} s", ""]
    for at, (model, above) in enumerate(zip(found.models[:SHOWN], found.above_best, strict=False)):
        names = ", ".join(dict.fromkeys(shown(found.name_of(int(j))) for j in model.support))
        lines.append(f"{at + 1:>4}  {model.objective:.8g}  +{100.0 * above:.3g} %  {names}")
    if len(found) > SHOWN:
        lines.append(f"      and {len(found) - SHOWN} more (--out models.json, or --json)")
    if result["chosen"] is not None:
        lines += ["", f"chosen{positive_class(result)}:"]
        lines += coefficient_lines(result["chosen"]["features"], result["chosen"]["intercept"])
    return [*lines, *written_lines(args.out, args.proof, args.plot)]
