"""The report as one HTML file, which loads nothing from anywhere."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ellzero.base.errors import InvalidInputError
from ellzero.base.files import replacing
from ellzero.base.progress import time_in_words
from ellzero.base.quoting import json_text, safe_lines
from ellzero.base.signatures import arguments_of
from ellzero.base.validation import as_threads
from ellzero.design import as_design
from ellzero.estimators.choice_rules import FEWEST_FEATURES, FOLDS
from ellzero.estimators.cross_validated import L0ClassifierCV, L0RegressorCV
from ellzero.problem.rows import LEAST_ROWS
from ellzero.report.beside import ridge_of_all
from ellzero.report.proof import Proof, find_others, prove
from ellzero.report.sampling import SAMPLED, sampled_splits
from ellzero.report.score_card import find_card
from ellzero.report.summary import Beside, summarise
from ellzero.report.words import Words

TEMPLATE = Path(__file__).with_name("template")
STYLES = ("theme.css", "layout.css", "parts.css", "tools.css", "score_card.css", "devices.css")
QUICK, QUICK_ROWS = 10**8, 150_000
"""Entries of X, and rows, times features of the largest model: up to here, local search in all folds takes half a minute."""

SCRIPTS = ("draw.js", "charts.js", "tables.js", "thresholds.js", "calculator.js", "score_card.js", "page.js")

# Inside a script element only "</script" and "<!--" have a meaning; neither can appear if "<" is escaped.
HARMLESS = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def render_report(summary: Mapping[str, Any]) -> str:
    """Return the page that shows a summary of :func:`ellzero.report.summary.summarise`."""
    data = json_text(json.dumps(summary, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    for character, code in HARMLESS.items():
        data = data.replace(character, code)
    cautions = summary["models"][summary["selection"]["chosen"]].get("cautions", [])
    parts = {
        "title": escape(safe_lines(summary["title"])),
        "sentence": escape(
            safe_lines(" ".join([summary["plain"], summary["lead"], *cautions, summary["certificate"]["sentence"]]))
        ),
        "style": template_text(STYLES),
        "script": f'(() => {{\n"use strict";\n{template_text(SCRIPTS)}}})();',
        "data": data,
    }
    page = (TEMPLATE / "page.html").read_text("utf-8")
    # The page is split before anything is inserted: data that contains "{{" is never taken for a place of the template.
    first, *rest = page.split("{{")
    return first + "".join(parts[name] + text for name, text in (piece.split("}}", 1) for piece in rest))


def template_text(names: Sequence[str]) -> str:
    """Return files of the template, one after the other."""
    return "".join((TEMPLATE / name).read_text("utf-8") for name in names)


def write_report(
    path: str | os.PathLike[str],
    X: object,
    y: ArrayLike,
    *,
    regression: bool = False,
    time_limit: float | None = 30.0,
    sample_weight: ArrayLike | None = None,
    test: tuple[Any, ArrayLike] | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Choose a model by cross-validation, prove how good it is, and write a page about it.

    Parameters
    ----------
    path : where the HTML file goes; it is there as a whole or not at all
    X : (n, p) array, data frame, sparse matrix, column store or Dask array
    y : (n,) labels or, for a regression, numbers
    regression : numbers are predicted, by squared error; otherwise y holds labels, however they look
    time_limit : seconds for the proof; None for as long as it takes, 0 for no proof
    sample_weight : (n,), optional
    test : (X, y) of rows that play no part, such as those of another hospital: their figures stand beside the held-out ones
    progress : show progress on standard error; by default only on a terminal or in a notebook, after two seconds
    target : the name of y
    subject : what a row is, in the page's words, such as "patient"
    title : the page's heading
    source, arguments : the data file that the page's commands name, and what they need to read it, such as ``["--one-hot"]``
    notes : sentences about the data that the page shows with its summary
    missing : values that were missing before X was made: column, number of rows, and what they were filled with (a number, or
        the category that they became); None if that is not known
    categories : columns of text that became features, which the page's calculator shows as choices: for each column its values,
        and for each value the feature that is one for it (None: all of them are zero), such as
        ``{"sex": {"female": None, "male": "sex_male"}}``
    date : shown at the end of the page; the page depends on nothing else that changes but the seconds of the search
    settings :
        Of :class:`ellzero.L0ClassifierCV` or :class:`ellzero.L0RegressorCV`: ``loss``, ``max_support``, ``cv``, ``rule``,
        ``n_jobs`` and so on; ``algorithm`` is "local_search" unless it is given, or X is so large that "cd" is needed.

    Returns
    -------
    dict
        What the page shows, as plain data.

    Examples
    --------
    >>> import tempfile, ellzero as ez
    >>> from ellzero.report.page import write_report
    >>> X, y, truth = ez.datasets.make_classification(100, 20, 2, s=3.0, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     summary = write_report(f"{folder}/report.html", X, y, max_support=4, rule="one_se")
    >>> summary["models"][summary["selection"]["chosen"]]["size"], summary["certificate"]["proved"]
    (2, True)

    """
    if np.ndim(y) == 2 and np.shape(y)[1] > 1:
        raise InvalidInputError(f"a report is about one target, y has {np.shape(y)[1]} columns.")
    words = arguments_of(Words, settings)
    settings = {name: value for name, value in settings.items() if name not in words}
    settings = {"algorithm": default_algorithm(X, settings.get("max_support"), regression), **settings}
    drawn = sampled_splits(y, sample_weight, settings.get("cv", FOLDS), classes=not regression)
    if drawn is not None:
        settings["cv"] = drawn
        note = f"Cross-validation looked at {SAMPLED:,} of the {len(np.asarray(y)):,} rows, drawn at random; all models shown, "
        words["notes"] = [*words.get("notes", ()), f"{note}and the proof, are of all rows."]
    kind = L0RegressorCV if regression else L0ClassifierCV
    estimator = kind(**{**settings, "select": "size", "keep_predictions": True, "progress": progress})
    seconds = math.inf if time_limit is None else time_limit
    limit = "" if math.isinf(seconds) else f", for at most {time_in_words(seconds)}"
    then = f"; then the proof{limit}" if seconds else ""
    say_step(progress, f"step 1 of 3: how many features are enough, by cross-validation{then}")
    estimator.fit(X, y, sample_weight=sample_weight)
    proofs, others = list[Proof](), None
    if seconds > 0.0:
        say_step(progress, f"step 2 of 3: proof that no better model of that size is missed{limit}")
        proofs = prove(estimator, X, y, sample_weight=sample_weight, seconds=seconds, progress=progress)
        say_step(progress, "step 3 of 3: other models that are about as good, in the remaining time")
        others = find_others(proofs, seconds, as_threads(settings.get("n_jobs")), progress)
    card = None
    if not regression and estimator.rules is None:  # which a card would not obey
        classes, names, jobs = estimator._shown_classes(), estimator.cv_results_.names, as_threads(settings.get("n_jobs"))
        card = find_card(X, y, classes, sample_weight=sample_weight, names=names, seconds=seconds, jobs=jobs)
    ridge = ridge_of_all(estimator, X, y, sample_weight)
    beside = Beside(proofs=proofs, others=others, card=card, ridge=ridge, test=test)
    summary = summarise(estimator, X, y, sample_weight=sample_weight, beside=beside, words=Words(**words))
    with replacing(path) as stream:
        stream.write(render_report(summary).encode())
    return summary


def say_step(progress: bool | None, text: str) -> None:
    """Say on standard error what is done next, if progress is wanted."""
    if progress and sys.stderr is not None:
        sys.stderr.write(f"ellzero: {text}\n")
        sys.stderr.flush()


def default_algorithm(X: object, max_support: int | None, regression: bool) -> str:
    """Return local search, which finds better models where features are correlated, unless its folds would take minutes."""
    rows, columns = as_design(X).shape
    largest = min(columns, FEWEST_FEATURES if max_support is None else max_support)
    if regression and rows >= LEAST_ROWS:  # of the squared error many rows are as few
        rows = min(rows, columns + 1)
    return "local_search" if rows * columns * largest <= QUICK and rows * largest <= QUICK_ROWS else "cd"
