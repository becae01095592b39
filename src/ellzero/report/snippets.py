"""Python code and shell commands that use the model, to be copied from the page.

The page's slider chooses the number of features. So a snippet is a list of texts, between which the page writes that number.
"""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np

from ellzero.base.quoting import ANY_CODE
from ellzero.base.validation import known
from ellzero.problem.losses import LOSSES, Logistic, Loss, SquaredError, get_loss
from ellzero.report.words import Words

SETTINGS = ("loss", "algorithm", "fit_intercept", "standardize", "class_weight", "pos_label", "multi_class")
SHOWN = (*SETTINGS, "lower", "upper", "unpenalized", "feature_cost", "rules")
LONGEST = 60
"""Of a setting that is written in more characters, the code shows the name only."""

LONGEST_LABEL = 200


def code_blocks(estimator: Any, single_fit: type, summary: dict[str, Any], words: Words) -> dict[str, Any]:
    """Return blocks of code with their titles, and the labels as Python writes them, in the order of the page.

    `single_fit` is the estimator without cross-validation, which fits a model of a given size.
    """
    labels = estimator.classes_.tolist() if hasattr(estimator, "classes_") else []
    written = written_labels(labels)
    given = known(estimator.get_params())
    usual, multi_class = single_fit().get_params(), getattr(estimator, "multi_class_", None) or ""
    if summary["certificate"]["gained"] > 0.0 and not any(row["conditional"] for row in summary["certificate"]["rows"]):
        given["algorithm"] = "exact"  # which alone found the model on the page
    shrinkage = {name: summary["selection"][name] for name in ("lambda_1", "lambda_2")}
    blocks = [
        python_block(
            single_fit.__name__,
            changed_settings(given, usual, shrinkage),
            written,
            LOSSES[summary["loss"]].has_probabilities,
            words if words.numbers and (words.categories or words.missing) else None,
        ),
        *shell_blocks(given, shrinkage, summary, labels, multi_class, words),
    ]
    return {"labels": written[::-1] if estimator._reversed else written, "blocks": blocks}


def changed_settings(given: dict[str, Any], usual: dict[str, Any], shrinkage: dict[str, float]) -> str:
    """Return the settings that differ from the defaults, written as further arguments."""
    settings = [f", {name}={value:.12g}" for name, value in shrinkage.items() if value != usual[name]]
    if given.get("groups") is not None:
        settings.append(', groups="auto"')
    for name in SHOWN:
        if name in given and name in usual and repr(given[name]) != repr(usual[name]):
            text = repr(given[name])
            settings.append(f", {name}={text if len(text) <= LONGEST else name}")
    return "".join(settings)


def python_block(
    single_fit: str, settings: str, labels: list[str], probabilities: bool, raw: Words | None = None
) -> dict[str, Any]:
    """Return Python code that fits, predicts, saves and loads; a pipeline, if the file has gaps or categories."""
    start, end = ("model = ", "") if raw is None else (f"{pipeline_start(raw)}\nmodel = make_pipeline(prepare, ", ")")
    lines = [f"{settings}){end}.fit(X, y)", "model.predict(new_rows)"]
    if labels and probabilities:
        lines.append(f"model.predict_proba(new_rows)  # columns: {', '.join(labels)}")
    saved = ['model.save("model.json")', "", 'ez.load("model.json").predict(new_rows)  # later, elsewhere']
    if raw is not None:
        saved = ["", 'joblib.dump(model, "model.joblib")', 'joblib.load("model.joblib").predict(new_rows)  # later, elsewhere']
    return {
        "title": "Python",
        "parts": [f"import ellzero as ez\n{'' if raw else chr(10)}{start}ez.{single_fit}(k=", "\n".join([*lines, *saved])],
    }


def pipeline_start(raw: Words) -> str:
    """Return Python code that reads the file, and prepares its columns as the page's model has them."""
    numbers, categories = list(raw.numbers), list(raw.categories)
    steps = [f'    (SimpleImputer(strategy="median"), {numbers!r}),'] if numbers else []
    if categories:
        encoder = 'OneHotEncoder(drop="if_binary", handle_unknown="ignore", sparse_output=False)'
        steps.append(f"    ({encoder}, {categories!r}),")
    lines = [
        "import joblib",
        "import pandas as pd",
        "from sklearn.compose import make_column_transformer",
        "from sklearn.impute import SimpleImputer",
        "from sklearn.pipeline import make_pipeline",
        *(["from sklearn.preprocessing import OneHotEncoder"] if categories else []),
        "",
        f"rows = pd.read_csv({raw.source!r})",
        f"X, y = rows.drop(columns=[{raw.target!r}]), rows[{raw.target!r}]",
        "prepare = make_column_transformer(",
        *steps,
        "    verbose_feature_names_out=False,",
        ').set_output(transform="pandas")',
    ]
    return "\n".join(lines)


def shell_blocks(
    given: dict[str, Any],
    shrinkage: dict[str, float],
    summary: dict[str, Any],
    labels: list[Any],
    multi_class: str,
    words: Words,
) -> list[dict[str, Any]]:
    """Return commands that fit, predict, prove and verify; none for settings that the command line does not have."""
    if (
        given.keys() & {"unpenalized", "feature_cost", "rules"}
        or np.ndim(given.get("lower", 0))
        or np.ndim(given.get("upper", 0))
    ):
        return []
    data = shell_words([words.source, "--target", words.target, *words.arguments])
    kind = ["--regression"] if summary["kind"] == "regression" else []
    problem = [*kind, *problem_options(given, shrinkage)]
    fit = list(problem)
    if given["algorithm"] != "local_search":
        fit += ["--algorithm", given["algorithm"]]
    if given.get("class_weight") == "balanced":
        fit += ["--class-weight", "balanced"]
    if multi_class and multi_class != LOSSES[given["loss"]].shared_classes:
        fit += ["--multi-class", multi_class]
    blocks = [
        command("Command line", f"ellzero fit {data}", [*fit, "--out", "model.json"], "ellzero predict model.json new.csv")
    ]
    certificate = summary["certificate"]
    if certificate["rows"] and "class_weight" not in given and multi_class != "ovr_shared":
        several = multi_class == "ovr"
        positive = ["--positive", str(labels[0])] if several else []
        assumed = ["--bound", "heuristic"] if certificate["rows"][0]["conditional"] else []
        title = (
            f"Prove it (here for {certificate['rows'][0]['label']}), and check" if several else "Prove it, and check the proof"
        )
        check = " ".join(["ellzero verify proof.npz", data, *map(shell_word, [*kind, *positive])])
        options = [*problem, *positive, *assumed, "--out", "proof.npz"]
        blocks.append(command(title, f"ellzero certify {data}", options, check))
    return blocks


def problem_options(given: dict[str, Any], shrinkage: dict[str, float]) -> list[str]:
    """Return the arguments of a command that define the problem."""
    loss = get_loss(given["loss"], given.get("huber_delta"))
    usual: Loss = Logistic() if loss.is_classification else SquaredError()
    out = list[str]()
    for name, value in ({} if loss == usual else loss.settings).items():
        out += [f"--{name.replace('_', '-')}", str(value)]
    for name, value in shrinkage.items():
        out += [f"--{name.replace('_', '-')}", f"{value:.12g}"]
    out += [
        f"--no-{word}" for word, name in (("standardize", "standardize"), ("intercept", "fit_intercept")) if not given[name]
    ]
    for name in ("lower", "upper"):
        if name in given:
            out += [f"--{name}", f"{given[name]:.12g}"]
    return out


def command(title: str, start: str, options: list[str], then: str) -> dict[str, Any]:
    """Return a command with a number of features in it, and the command that follows it."""
    return {"title": title, "parts": [f"{start} --k ", f" {shell_words(options)}\n{then}"]}


def written_labels(labels: list[Any]) -> list[str]:
    """Return the labels as Python code; a very long one is named by its place."""
    codes = [repr(label) for label in labels]
    return [code if len(code) <= LONGEST_LABEL else f"model.classes_[{place}]" for place, code in enumerate(codes)]


def shell_words(words: list[str]) -> str:
    """Return the words of a command."""
    return " ".join(map(shell_word, words))


def shell_word(word: str) -> str:
    """Return a word of a command; one with codes in it, which should not be pasted, is written as bash and zsh read it."""
    if ANY_CODE.search(word) is None:
        return shlex.quote(word)
    out = []
    for character in word:
        code = ord(character)
        if character in "'\\":
            out.append(f"\\{character}")
        elif 0xDC80 <= code <= 0xDCFF:  # a byte of a file's name that is no text
            out.append(f"\\x{code - 0xDC00:02x}")
        else:
            out.append(f"\\u{code:04x}" if ANY_CODE.match(character) else character)
    return f"$'{''.join(out)}'"
