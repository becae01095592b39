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
    numbers : columns of the file that are features as they are; with them, the page's Python code begins at the file
    date : shown at the end of the page, unchanged

    """

    target: str = "y"
    subject: str = "row"
    title: str | None = None
    source: str = "data.csv"
    arguments: Sequence[str] = ()
    notes: Sequence[str] = ()
    missing: Sequence[tuple[str, int, float | str | None]] | None = ()
    categories: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    numbers: Sequence[str] = ()
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
    """Return how well the chosen model does, in counts of held-out rows, the same as in the page's tables and thresholds."""
    model, subjects, target = summary["models"][summary["selection"]["chosen"]], summary["subjects"], summary["target"]
    held_out = "Each was predicted by a model that had not seen it."
    if summary["tested"] < summary["counted"]:
        held_out += f" The final model was fitted on all {summary['counted']:,} {subjects}."
    if summary["kind"] == "regression":
        half, most = model["half_within"], model["most_within"]
        usual_half, usual_most = summary["usual_error"]
        return (
            f"Half of the predictions of {target} are off by at most {half:.3g}, nine in ten by at most {most:.3g}. Always "
            f"predicting the mean is off by {usual_half:.3g} and {usual_most:.3g}. Counted on {summary['tested']:,} "
            f"{subjects}. {held_out}"
        )
    table = model["confusion"]
    rows, total = [sum(row) for row in table], sum(map(sum, table))
    weighted = summary["data"]["weighted"]

    def part(count: float, whole: float) -> str:
        """Return a count or, where rows have weights, its share."""
        return percent_of(count, whole) if weighted else f"{count:,.0f}"

    everyone = f"the {subjects}" if weighted else f"{total:,.0f} {subjects}"
    if summary["kind"] == "multiclass":
        largest = max(range(len(table)), key=rows.__getitem__)
        right = part(sum(row[c] for c, row in enumerate(table)), total)
        return (
            f"The model names the correct {target} for {right} of {everyone}. Always guessing the most common, "
            f"{summary['classes'][largest]}, is right for {part(rows[largest], total)}. {held_out}"
        )
    label = summary["positive"][-1]
    others = "the others" if weighted else f"the other {rows[0]:,.0f}"
    return (
        f"For {part(rows[1], total)} of {everyone}, {target} is {label}. The model finds {part(table[1][1], rows[1])} of them "
        f"and wrongly flags {part(table[0][1], rows[0])} of {others}. {held_out}"
    )


def percent_of(count: float, whole: float) -> str:
    """Return a share as a percentage that says none, or all, only where that is so.

    >>> percent_of(1, 3), percent_of(1, 5000), percent_of(4999, 5000), percent_of(0, 3)
    ('33.3 %', 'under 0.1 %', 'over 99.9 %', '0.0 %')
    """
    share = count / whole if whole else 0.0
    if 0.0 < share < 0.001:
        return "under 0.1 %"
    return "over 99.9 %" if 0.999 < share < 1.0 else f"{100.0 * share:.1f} %"


def missing_words(missing: Sequence[tuple[str, int, float | str | None]] | None, rows: int) -> dict[str, Any]:
    """Return what the page says of missing values: a sentence, and a line for each column that had some."""
    if missing is None:
        return {"summary": "unknown: gaps, if any, were filled when the data was stored", "columns": []}
    if not missing:
        return {"summary": "none", "columns": []}
    total = sum(count for _, count, _ in missing)
    most = sorted(missing, key=lambda gap: -gap[1])[:SHOWN_GAPS]
    which = f" the {SHOWN_GAPS} columns with the most gaps" if len(missing) > SHOWN_GAPS else " how"
    where = f"{total:,} value{'s' * (total > 1)} in {len(missing):,} column{'s' * (len(missing) > 1)}"
    return {
        "summary": f"{where}, filled before the fit from all rows, including the held-out ones. The table shows{which}.",
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
    limit = " It is the largest size tried: larger ones might do better (max_support)." if at_limit else ""
    return {
        "note": (
            f"Each point is the mean over {folds} folds, on rows that the models have not seen; bars are one standard error. "
            f"Green is the chosen size. {why}{limit}"
        ),
        "stability_note": (
            f"The stronger a cell's colour, the more of the {folds} folds use the feature in their model of that size. A dot "
            "marks the features of the model fitted on all rows. All folds use the most reliable features at small sizes."
        ),
    }


def count_of(number: int, unit: str) -> str:
    """Return a number of features or, where columns of text became several, of variables.

    >>> count_of(1, "feature"), count_of(1200, "variable")
    ('1 feature', '1,200 variables')
    """
    return f"{number:,} {unit}{'' if number == 1 else 's'}"


def headline(summary: dict[str, Any]) -> str:
    """Return the model in a sentence."""
    data, selection = summary["data"], summary["selection"]
    model = summary["models"][selection["chosen"]]
    chosen = "" if selection["rule"] == "best" else ", the smallest that does about as well as the best"
    names = used_names(summary)
    which = f": {names}" if names else ""
    uses = f"The model uses {model['size'] or 'none'} of {count_of(data['variables'], summary['unit'])}{which}."
    return f"{uses} Cross-validation chose {'it' if names else 'this size'}{chosen}."


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
            "All classes share their features; each feature counts once. Each class has a score, and the largest score wins. "
            "Probabilities are in proportion to exp(score). Only differences between the scores of classes matter."
        )
    if summary["shared"]:
        return (
            "All classes share their features; each feature counts once. Each class has a score against the rest; the largest "
            "score wins."
        )
    return "Each class has its own model, that class against the rest; the largest score wins."


def method_notes(
    summary: dict[str, Any], *, standardize: bool, fit_intercept: bool, always: int, spent: float | None, rules: list[str]
) -> list[str]:
    """Return the objective in words, the meaning of held-out, and the meaning of the certificate.

    `spent` is the sum of the costs of the chosen model's features, if features have costs; `rules` says which rules it obeys.
    """
    selection = summary["selection"]
    sums = {"lambda_1": "the sum of the absolute coefficients", "lambda_2": "the sum of the squared coefficients"}
    penalties = [f"{selection[name]:.4g} times {what}" for name, what in sums.items() if selection[name] > 0.0]
    shrinkage = f", plus {' and '.join(penalties)}" if penalties else ""
    loss = LOSSES[summary["loss"]].mean_words
    remarks = [" The intercept is not penalised." if fit_intercept else " There is no intercept."]
    if standardize:
        remarks.append(
            " Penalties apply to coefficients of standardised features; the page shows them on the scale of the data."
        )
    if always:
        remarks.append(f" {count_features(always)} {'is' if always == 1 else 'are'} always included, and not counted.")
    if spent is not None:
        remarks.append(f" The features of the chosen model cost {spent:.6g} together; their number was chosen without costs.")
    notes = [
        f"The model. For each size k, it is the best model found with at most k features. Best means the smallest value of "
        f"{loss}{shrinkage}.{''.join(remarks)}",
        f"Held out. The rows are split into {selection['folds']} folds. Models of all sizes learn from all folds but one, "
        "choosing their features again, and predict the rows of that one. Tables and curves put these predictions together. "
        "The size was chosen by the same scores, so the figures of the chosen size are slightly optimistic.",
        "The certificate. It compares the model with all other models of at most as many features, by the objective on these "
        "rows. It says that the search for features missed nothing. It says nothing about other rows, or about causes.",
    ]
    if rules:
        held, *binding = rules
        notes.insert(1, f"Rules. {'; '.join([f'Each model {held}', *binding])}.")
    if summary["kind"] == "multiclass":
        notes.insert(1, f"Classes. {class_words(summary)}")
    return notes
