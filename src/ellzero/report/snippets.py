"""How to use the model: Python and shell commands that can be copied.

The number of features is left open, since the page's slider chooses it: a snippet is the list of texts between its numbers.
"""

from __future__ import annotations

import shlex
from typing import Any

__all__ = ["code_blocks"]

SHOWN = ("loss", "fit_intercept", "standardize", "class_weight", "shared_support", "lower", "upper", "unpenalized")
LONGEST = 60
"""Settings that are written in more characters are named instead."""


def code_blocks(estimator: Any, direct: type, summary: dict[str, Any], labels: list[Any], source: str) -> dict[str, Any]:
    """Blocks of code with their titles, and the labels as Python writes them.

    `direct` is the estimator without cross-validation, which fits a model of a given size.
    """
    given, usual = estimator.get_params(), direct().get_params()
    shrinkage = {name: summary["selection"][name] for name in ("lambda_1", "lambda_2")}
    blocks = [
        python_block(direct.__name__, changed_settings(given, usual, shrinkage), labels, summary["loss"] == "logistic"),
        *shell_blocks(given, shrinkage, summary, source),
    ]
    return {"labels": [repr(label) for label in labels], "blocks": blocks}


def changed_settings(given: dict[str, Any], usual: dict[str, Any], shrinkage: dict[str, float]) -> str:
    """The settings that differ from the defaults, as further arguments."""
    settings = [f", {name}={value:.12g}" for name, value in shrinkage.items() if value != usual[name]]
    for name in SHOWN:
        if name in given and name in usual and repr(given[name]) != repr(usual[name]):
            text = repr(given[name])
            settings.append(f", {name}={text if len(text) <= LONGEST else name}")
    return "".join(settings)


def python_block(direct: str, settings: str, labels: list[Any], probabilities: bool) -> dict[str, Any]:
    """Fit, predict, save and load."""
    lines = [f"{settings}).fit(X, y)", "model.predict(new_rows)"]
    if labels and probabilities:
        lines.append(f"model.predict_proba(new_rows)  # columns: {', '.join(map(repr, labels))}")
    lines += ['model.save("model.json")', "", 'ez.load("model.json").predict(new_rows)  # later, elsewhere']
    return {"title": "Python", "parts": [f"import ellzero as ez\n\nmodel = ez.{direct}(k=", "\n".join(lines)]}


def shell_blocks(
    given: dict[str, Any], shrinkage: dict[str, float], summary: dict[str, Any], source: str
) -> list[dict[str, Any]]:
    """The same on the command line, and the proof."""
    data = f"{shlex.quote(source)} --target {shlex.quote(summary['target'])}"
    options = "".join(f" --{name.replace('_', '-')} {value:.12g}" for name, value in shrinkage.items())
    if summary["kind"] == "regression":
        options += " --regression"
    elif summary["loss"] != "logistic":
        options += f" --loss {summary['loss']}"
    fit = [f"ellzero fit {data} --k ", f"{options} --out model.json\nellzero predict model.json new.csv"]
    certify = [f"ellzero certify {data} --k ", f"{options} --out proof.npz\nellzero verify proof.npz {data}"]
    blocks = [{"title": "Command line", "parts": fit}]
    if summary["certificate"]["rows"] and summary["kind"] != "multiclass":
        blocks.append({"title": "Prove it, and check the proof", "parts": certify})
    return blocks
