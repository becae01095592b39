"""``ellzero path``: fit models of all sizes, and write them as a table and a picture."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import ellzero
from ellzero.base.quoting import shown
from ellzero.cli.data import load_data
from ellzero.cli.files import check_output, check_picture, given, save_picture
from ellzero.cli.output import attributes, coefficients, print_result, write_table
from ellzero.cli.solver_settings import check_loss, encoded_target, loss_for, most_classes, settings_for, where_priced

NAMED = 3  # features that are named where they enter or leave


def run(args: argparse.Namespace) -> int:
    """Fit, write and print."""
    check_output(args.out, args.plot, inputs=(args.data,))
    check_picture(args.plot)
    check_loss(args)
    data = load_data(args, classes=most_classes(args))
    settings = settings_for(ellzero.fit_path, args, data, loss=loss_for(args, data.y))
    path = ellzero.fit_path(data.X, encoded_target(args, data.y), **settings)
    names = data.preparation.features
    for name in given(args.out):
        write_coefficients(name, path, names)
    save_picture(args.plot, lambda: path.plot())
    print_result(args, path_json(args, path, names, data), "\n".join(path_lines(path, names)))
    return 0


def write_coefficients(name: str, path: ellzero.Path, names: list[str]) -> None:
    """Write a table with a row for each point and a column for each feature that any point uses.

    Of several classes, a point has a row for each of them, and the first column is the class.
    """
    coef, outputs = path.coef.tocsc(), path.problem.outputs
    used = np.flatnonzero(np.diff(coef.indptr))
    values = coef[:, used].toarray()
    header = ["lambda_0", "features", "objective", "(intercept)", *(names[j] for j in used)]
    first = [*(np.repeat(column, outputs) for column in (path.lambda_0, path.support_size, path.objective))]
    rows = list(zip(*(column.tolist() for column in (*first, path.intercept.ravel())), values.tolist(), strict=True))
    cells = [[*numbers, *coef] for *numbers, coef in rows]
    if path.problem.classes is not None and outputs > 1:
        labels = path.problem.classes.tolist()
        header, cells = ["class", *header], [[labels[k % outputs], *row] for k, row in enumerate(cells)]
    write_table(name, header, cells)


def path_json(args: argparse.Namespace, path: ellzero.Path, names: list[str], data: Any) -> dict[str, Any]:
    """Return the result for --json."""
    n, p = path.problem.design.shape
    return {
        "command": "path",
        **path.problem.loss.settings,
        "rows": n,
        "n_features": p,
        "target": data.target,
        "classes": None if args.regression else np.unique(data.y),
        **attributes(path, "lambda_1", "lambda_2"),
        "points": [
            {
                "lambda_0": path.lambda_0[k],
                "size": path.support_size[k],
                **where_priced(args, total_cost=path.spent[k]),
                "objective": path.objective[k],
                "converged": path.converged[k],
                "intercept": path.intercept[k],
                "features": coefficients(names, path[k].support.tolist(), path[k].values.tolist()),
            }
            for k in range(len(path))
        ],
        **attributes(args, "out", "plot"),
    }


def path_lines(path: ellzero.Path, names: list[str]) -> list[str]:
    """Return a line for each point, with the features that entered and left."""
    n, p = path.problem.design.shape
    priced = path.problem.penalty.priced
    lines = [
        f"{path.problem.loss.name} path: {len(path)} points, {n} rows, {p} features, lambda_1 = {path.lambda_1:g}, "
        f"lambda_2 = {path.lambda_2:g}",
        f"{'lambda_0':>12} {'features':>9} {'objective':>14}" + (f" {'total cost':>12}" if priced else "") + "  changes",
    ]
    before: set[int] = set()
    for k in range(len(path)):
        now = set(path[k].support.tolist())
        changes = [f"+{shown(names[j])}" for j in sorted(now - before)], [f"-{shown(names[j])}" for j in sorted(before - now)]
        words = " ".join(filter(None, map(first_few, changes)))
        mark = "" if path.converged[k] else "  (not converged)"
        cost = f" {path.spent[k]:12.6g}" if priced else ""
        numbers = f"{path.lambda_0[k]:12.6g} {path.support_size[k]:9d} {path.objective[k]:14.8g}{cost}"
        lines.append(f"{numbers}  {words}{mark}".rstrip())
        before = now
    return lines


def first_few(words: list[str]) -> str:
    """Return the first few words, and the number of the others."""
    rest = len(words) - NAMED
    return " ".join(words[:NAMED]) + (f" ({rest} more)" if rest > 0 else "")
