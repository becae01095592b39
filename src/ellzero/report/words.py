"""The sentences of the page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ellzero.base.quoting import shown
from ellzero.estimators.choice import count_features
from ellzero.problem.losses import LOSSES

LONGEST_NAME = 120
BARE_LABELS = {"yes", "no", "y", "n", "true", "false", "t", "f", "positive", "negative", "pos", "neg", "case", "control"}
NUMBER = re.compile(r"[+-]?\d+([.,]\d*)?")
FEWEST_IMAGINED = 5  # of a class: of a rarer one, more rows than a hundred are imagined
SHOWN_GAPS = 20  # columns with missing values; of more, the total is shown


@dataclass(frozen=True, kw_only=True)
class Words:
    """Names that the user gives things, and remarks on how the data was made.

    Attributes
    ----------
    target : the name of y
    subject : what a row is, such as "patient"
    title : the page's heading
    source : the data file that commands name
    arguments : what commands need to read it, beside the target
    notes : sentences about the data, shown with its summary
    missing : column, number of rows and filling of values that were missing before X was made; None if that is not known
    categories : columns of text that became features: by column its values, and of each the feature that is one for it
    date : shown at the end of the page, as it is

    """

    target: str = "y"
    subject: str = "row"
    title: str | None = None
    source: str = "data.csv"
    arguments: Sequence[str] = ()
    notes: Sequence[str] = ()
    missing: Sequence[tuple[str, int, float | str | None]] | None = ()
    categories: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    date: str = ""


def named(value: Any) -> str:
    """Return a name or a label as the page shows it."""
    return shown(value, LONGEST_NAME)


def plural(word: str) -> str:
    """Return several of something.

    >>> [plural(word) for word in ("patient", "biopsy", "day", "box", "person")]
    ['patients', 'biopsies', 'days', 'boxes', 'people']
    """
    if word == "person" or word.endswith(" person"):
        return f"{word[:-6]}people"
    if re.search(r"[^aeiou]y$", word):
        return f"{word[:-1]}ies"
    return f"{word}es" if re.search(r"(s|x|z|ch|sh)$", word) else f"{word}s"


def case_words(target: str, label: str) -> str:
    """Return what a row of a class is called: its label, with the target's name where the label alone says nothing.

    >>> case_words("diagnosis", "malignant"), case_words("stroke", "yes"), case_words("relapse", "1")
    ('malignant', 'stroke = yes', 'relapse = 1')
    """
    return f"{target} = {label}" if label.lower() in BARE_LABELS or NUMBER.fullmatch(label) else label


def plain_headline(summary: dict[str, Any]) -> str:
    """Return how well the chosen model does, in numbers that everybody can imagine; all are of held-out rows."""
    model, subjects = summary["models"][summary["selection"]["chosen"]], summary["subjects"]
    held_out = f"(Counted on held-out {subjects}: those that a model had not seen.)"
    if summary["kind"] == "regression":
        half, most = model["half_within"], model["most_within"]
        usual_half, usual_most = summary["usual_error"]
        return (
            f"For half of {subjects} like these, the prediction of {summary['target']} is off by {half:.3g} at most, for nine "
            f"in ten by {most:.3g}. If the mean were predicted for all of them, these would be {usual_half:.3g} and "
            f"{usual_most:.3g}. {held_out}"
        )
    table, label = model["confusion"], summary["positive"][-1]
    total = sum(map(sum, table))
    if summary["kind"] == "multiclass":
        largest = max(range(len(table)), key=lambda c: sum(table[c]))
        right = in_hundred(100, sum(row[c] for c, row in enumerate(table)) / total)
        return (
            f"Of 100 {subjects} like these, the model names the right {summary['target']} of {right}. Always to name the most "
            f"frequent one, {summary['classes'][largest]}, would be right for {in_hundred(100, sum(table[largest]) / total)}. "
            f"{held_out}"
        )
    positives = sum(table[1])
    base = next((n for n in (100, 1000, 10_000) if n * positives >= FEWEST_IMAGINED * total), 100_000)
    there = round(base * positives / total)
    found = in_hundred(there, table[1][1] / positives if positives else 0.0)
    alarms = in_hundred(base - there, table[0][1] / (total - positives) if total > positives else 0.0)
    return (
        f"In {there:,} of {base:,} {subjects} like these, {summary['target']} is {label}. The model finds {found} of them, "
        f"and takes {alarms} of the other {base - there:,} for such. {held_out}"
    )


def in_hundred(number: int, share: float) -> str:
    """Return a share of a number in words, which does not say all, or none, unless that is so."""
    count = round(number * share)
    if 0.0 < share < 1.0 and count in (0, number):
        return "hardly any" if count == 0 else "nearly all"
    return "none" if count == 0 else f"all {count:,}" if count == number else f"{count:,}"


def missing_words(missing: Sequence[tuple[str, int, float | str | None]] | None, rows: int) -> dict[str, Any]:
    """Return what the page says of missing values: a sentence, and a line for each column that had some."""
    if missing is None:
        return {"summary": "not known: the data was stored with its gaps filled, or without any", "columns": []}
    if not missing:
        return {"summary": "none", "columns": []}
    total = sum(count for _, count, _ in missing)
    most = sorted(missing, key=lambda gap: -gap[1])[:SHOWN_GAPS]
    which = f"of the {SHOWN_GAPS} columns with the most of them " if len(missing) > SHOWN_GAPS else ""
    where = f"{total:,} value{'s' * (total > 1)} in {len(missing):,} column{'s' * (len(missing) > 1)}"
    return {
        "summary": f"{where}, filled before the fit from all rows, the held-out ones too; {which}the table says how",
        "columns": [
            {"name": named(column), "rows": count, "share": count / rows, "filled": filling_words(filling)}
            for column, count, filling in most
        ],
    }


def filling_words(filling: float | str | None) -> str:
    """Return what a missing value was filled with, in words."""
    if filling is None:
        return "filled"
    return f"category {named(filling)}" if isinstance(filling, str) else f"median {filling:.6g}"


def selection_notes(folds: int, why: str, at_limit: bool) -> dict[str, str]:
    """Return the notes on how and why the size was chosen, and on how to read the chart of the folds' features."""
    limit = " It is the largest that was looked at: larger ones might do better (max_support)." if at_limit else ""
    return {
        "note": (
            f"Each point is the mean over {folds} folds, on rows that the models have not seen; bars are one standard error. "
            f"Green is the chosen size. {why}{limit} Click a point, or move the slider, to look at another model."
        ),
        "stability_note": (
            f"The stronger the colour of a cell, the more of the {folds} folds use the feature in their model of that size; a "
            "dot marks the features of the model that is fitted on all rows. Most reliable are those that all folds use at "
            "small sizes."
        ),
    }


def headline(summary: dict[str, Any]) -> str:
    """Return the page in a sentence or two."""
    data, selection = summary["data"], summary["selection"]
    model = summary["models"][selection["chosen"]]
    chosen = "chosen" if selection["rule"] == "best" else "chosen, as the smallest that does about as well as the best,"
    start = f"Of {count_features(data['features'])} in {data['rows']:,} {summary['subjects']}, "
    names = used_names(summary)
    which = f" ({names})" if names else ""
    uses = f"the model of {summary['target']} uses {'none' if model['size'] == 0 else format(model['size'], ',')}{which}, "
    return f"{start}{uses}{chosen} by {selection['folds']}-fold cross-validation."


def used_names(summary: dict[str, Any], most: int = 6, longest: int = 90) -> str:
    """Return the names of what the chosen model uses, if there are names and the list is short.

    A column of text of which several values are in the model is named once.
    """
    model = summary["models"][summary["selection"]["chosen"]]
    used = sorted({f for coef in model["coef"] for f, _ in coef})
    names = []
    for variable in summary["variables"]:
        own = [summary["features"][f]["name"] for f in variable["features"] if f in used]
        names += [variable["name"]] if len(own) > 1 else own
    text = ", ".join(names)
    return text if summary["data"]["named"] and len(names) <= most and len(text) <= longest else ""


def class_words(summary: dict[str, Any]) -> str:
    """Return how several classes were learnt."""
    if LOSSES[summary["loss"]].couples_outputs:
        return (
            "All classes share their features, of which each is counted once, and each has a score. The largest one wins; "
            "probabilities are in proportion to exp(score). What matters are differences between the scores of classes."
        )
    if summary["shared"]:
        return (
            "All classes share their features, of which each is counted once. Each class has a score, which tells it from the "
            "rest; the largest score wins."
        )
    return "Each class has a model of its own, that class against the rest; the largest score wins."


def method_notes(
    summary: dict[str, Any], *, standardize: bool, fit_intercept: bool, always: int, spent: float | None = None
) -> list[str]:
    """Return the objective in words, the meaning of held-out, and the meaning of the certificate.

    `spent` is the sum of the costs of the chosen model's features, if features have costs.
    """
    selection = summary["selection"]
    sums = {"lambda_1": "the sum of the absolute coefficients", "lambda_2": "the sum of the squared coefficients"}
    penalties = [f"{selection[name]:.4g} times {what}" for name, what in sums.items() if selection[name] > 0.0]
    shrinkage = f", plus {' and '.join(penalties)}" if penalties else ""
    loss = LOSSES[summary["loss"]].mean_words
    remarks = [" The intercept is free." if fit_intercept else " There is no intercept."]
    if standardize:
        remarks.append(" Coefficients are penalised as those of standardised features, and shown on the scale of the data.")
    if always:
        remarks.append(f" {count_features(always)} {'is' if always == 1 else 'are'} always in the model, and not counted.")
    if spent is not None:
        remarks.append(
            f" The features of the chosen model cost {spent:.6g} together; the number of features was chosen without that."
        )
    notes = [
        f"The model. For each size k, it has the least value that was found of {loss}{shrinkage}, among all models with at "
        f"most k features.{''.join(remarks)}",
        f"Held out. The rows are split into {selection['folds']} folds. For every fold, models of all sizes learn from the "
        "other folds (choosing their features there, too) and predict the rows of this one. Tables and curves put all these "
        "predictions together. The size was chosen by the same scores, so that of the chosen size is a little optimistic.",
        "The certificate compares the model with all other models of as many features, on the objective and on these rows. "
        "It says that the search for features missed nothing; it says nothing about other rows, or about causes.",
    ]
    if summary["kind"] == "multiclass":
        notes.insert(1, f"Classes. {class_words(summary)}")
    return notes
