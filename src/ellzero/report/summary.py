"""The content of the page as plain data, which `json.dumps` can write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import quoted, safe_line
from ellzero.base.validation import as_feature_mask, weight_of_rows
from ellzero.design import Design, as_design
from ellzero.estimators.cautions import cautions_on, cautions_on_columns
from ellzero.estimators.choice import Column
from ellzero.estimators.cross_validation import CrossValidation
from ellzero.estimators.scoring import is_loss, name_score
from ellzero.estimators.showing import rule_lines
from ellzero.estimators.single_fit import L0Classifier, L0Regressor
from ellzero.exact.alternative_models import Alternatives
from ellzero.problem.grouping import as_groups
from ellzero.problem.losses import LOSSES
from ellzero.problem.model import feature_name
from ellzero.report.beside import describe_ridge, figures_alone, other_rows
from ellzero.report.data import describe_classes, describe_features, describe_response, describe_variables
from ellzero.report.models import (
    THRESHOLDS,
    HeldOut,
    brief,
    brief_list,
    describe_fit,
    describe_models,
    effective_rows,
    error_quantiles,
    shown_rows,
    tested_rows,
)
from ellzero.report.proof import Proof, describe_others, describe_proofs, shown_models
from ellzero.report.score_card import describe_card
from ellzero.report.snippets import code_blocks
from ellzero.report.words import (
    Words,
    case_words,
    count_of,
    headline,
    method_notes,
    missing_words,
    named,
    plain_headline,
    plural,
    selection_notes,
)
from ellzero.scores.risk_score import RiskScore

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Beside:
    """What the page shows beside the cross-validation; what is not there is left out.

    Attributes
    ----------
    proofs : results of exact searches, one for each output of the chosen model (see `prove`)
    others : models that are nearly as good as the best one (see `find_others`)
    card : the score card of the same data (see `find_card`)
    ridge : a model of all features on the same folds (see `ridge_of_all`)
    test : X and y of rows that played no part

    """

    proofs: Sequence[Proof] = ()
    others: Alternatives | None = None
    card: RiskScore | None = None
    ridge: Any = None
    test: tuple[Any, ArrayLike] | None = None


def summarise(
    estimator: Any,
    X: object,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    beside: Beside | None = None,
    words: Words | None = None,
) -> dict[str, Any]:
    """Return the content of the page about a fitted `L0ClassifierCV` or `L0RegressorCV`.

    Parameters
    ----------
    estimator : fitted with ``select="size", keep_predictions=True``
    X, y, sample_weight : what it was fitted on
    beside : what else the page shows
    words : names and remarks of the user

    Returns
    -------
    dict
        Of strings, numbers, lists and dicts.

    Examples
    --------
    >>> import ellzero as ez
    >>> from ellzero.report.summary import summarise
    >>> X, y, truth = ez.datasets.make_classification(100, 20, 2, s=3.0, random_state=0)
    >>> model = ez.L0ClassifierCV(select="size", max_support=4, keep_predictions=True).fit(X, y)
    >>> summary = summarise(model, X, y)
    >>> summary["kind"], [entry["k"] for entry in summary["models"]]
    ('binary', [0, 1, 2, 3, 4])

    """
    words, beside = words or Words(), beside or Beside()
    results: CrossValidation = estimator.cv_results_
    column = shown_models(results, beside.proofs)
    if results.select != "size" or column.held_out is None:
        raise InvalidInputError('estimator must be fitted with select="size" and keep_predictions=True.')
    column = column.reversed() if estimator._reversed else column
    design = as_design(X)
    weight = weight_of_rows(sample_weight, design.shape[0])
    summary = describe_setting(estimator, column, design, weight, words)
    summary["data"]["weighted"] = sample_weight is not None
    values = class_numbers(y, estimator._shown_classes())
    describe_rows(summary, estimator, column, design, values, weight)
    if beside.ridge is not None:
        every = count_of(summary["data"]["variables"], summary["unit"])
        summary["ridge"] = describe_ridge(beside.ridge, values, weight, summary["kind"], summary["loss"], every)
    describe_beside(summary, estimator, column, design, beside)
    mask = as_feature_mask("unpenalized", estimator.unpenalized, design.shape[1], results.names)
    summary["plain"] = plain_headline(summary)
    summary["lead"] = headline(summary)
    summary["method"] = method_notes(
        summary,
        standardize=estimator.standardize,
        fit_intercept=estimator.fit_intercept,
        always=int(mask.sum()),
        spent=None if estimator.feature_cost is None else estimator.spent_,
        rules=rule_lines(estimator),
    )
    summary["code"] = code_blocks(estimator, L0Classifier if summary["classes"] else L0Regressor, summary, words)
    return summary


def describe_setting(estimator: Any, column: Column, design: Design, weight: Array, words: Words) -> dict[str, Any]:
    """Return what is predicted, from what, and the models: all that needs no rows."""
    results: CrossValidation = estimator.cv_results_
    names, labels, loss = results.names, estimator._shown_classes(), estimator._loss.name
    kind = "regression" if not labels else "binary" if len(labels) == 2 else "multiclass"
    data, spread = describe_features(design, names, weight)
    grouping = as_groups(estimator.groups, design.shape[1], names)
    used, models = describe_models(column, range(len(column.size)))
    return {
        "kind": kind,
        "loss": loss,
        "target": named(words.target),
        "unit": "feature" if grouping is None else "variable",  # what sizes count
        "subject": named(words.subject),
        "subjects": plural(named(words.subject)),
        "title": safe_line(words.title or f"Predicting {named(words.target)}"),
        "classes": [named(label) for label in labels],
        "positive": [named(label) for label in (labels[1:] if kind == "binary" else labels)],
        "cases": [case_words(named(words.target), named(label)) for label in labels],
        "shared": getattr(estimator, "multi_class_", None) not in (None, "ovr"),
        "data": {
            **data,
            "variables": design.shape[1] if grouping is None else len(np.unique(grouping.heads)),
            "missing": missing_words(words.missing, design.shape[0]),
            "notes": [safe_line(note) for note in words.notes],
        },
        "selection": describe_selection(results, loss, design.shape[1]),
        "features": [
            # The key is that in a row of data, as code: the name, or the column's number.
            {"name": named(feature_name(names, j)), "key": repr(names[j] if names else j), "spread": brief(float(spread[j]))}
            for j in used
        ],
        "models": models,
        "variables": describe_variables(design, names, used, models, weight, words.categories),
        "balanced": "class_weight" in estimator._given(),
        "version": version("ellzero"),
        "date": words.date,
    }


def describe_rows(
    summary: dict[str, Any], estimator: Any, column: Column, design: Design, values: NDArray[Any], weight: Array
) -> None:
    """Add classes or response, and to each model its figures on held-out rows; `values` are those of `class_numbers`."""
    counted = weight > 0.0
    if summary["classes"]:
        summary["data"]["classes"] = describe_classes(values[counted], summary["classes"], weight[counted])
    else:
        summary["data"]["response"] = describe_response(values[counted])
    summary["counted"] = int(counted.sum())
    held_out = tested_rows(estimator.cv_results_.splits, column, values, weight)
    for point, model in enumerate(summary["models"]):
        model.update(describe_fit(held_out, point, summary["kind"], summary["loss"]))
        if summary["classes"]:
            model["cautions"] = model_cautions(column, point, design, values[counted], counted, summary)
    describe_tested(summary, held_out)


def describe_beside(summary: dict[str, Any], estimator: Any, column: Column, design: Design, beside: Beside) -> None:
    """Add what stands beside the cross-validation."""
    if beside.test is not None:
        summary["test"] = describe_test(summary, beside.test, estimator._shown_classes(), column, design)
    proved = summary["positive"] if summary["classes"] and not summary["shared"] else [summary["target"]]
    chosen = summary["models"][summary["selection"]["chosen"]]
    size = count_of(chosen["k"], summary["unit"])
    summary["certificate"] = describe_proofs(beside.proofs, size, proved, summary["subjects"])
    summary["others"] = describe_others(beside.others, -1.0 if estimator._reversed else 1.0)
    summary["score_card"] = describe_card(beside.card)


def model_cautions(
    column: Column, point: int, design: Design, classes: NDArray[np.int64], counted: NDArray[np.bool_], summary: dict[str, Any]
) -> list[str]:
    """Return what to be careful about in the models of one size, as sentences; `classes` are those of the rows that count."""
    rows, loss = column.coef[point].tocsr(), LOSSES[summary["loss"]]
    used = np.unique(rows.indices).astype(np.int32)
    sizes = [len(used)] if loss.couples_outputs else np.diff(rows.indptr).tolist()
    decision = np.column_stack([design.matvec(used, row) for row in rows[:, used].toarray()]) + column.intercept[point]
    positive = classes[:, None] == (1 if summary["kind"] == "binary" else np.arange(rows.shape[0]))
    found = cautions_on(loss, positive, decision[counted], sizes, summary["classes"])
    found += cautions_on_columns(design, used.tolist(), classes, counted, summary["classes"])
    return [text[0].upper() + text[1:] for text in found]


def class_numbers(y: ArrayLike, labels: list[Any]) -> NDArray[Any]:
    """Return the numbers of the classes (-1 for labels without any weight), or the response."""
    values = np.asarray(y).ravel()
    if not labels:
        return values.astype(np.float64)
    number = {label: place for place, label in enumerate(labels)}
    return np.array([number.get(value, -1) for value in values.tolist()], dtype=np.int64)


def describe_selection(results: CrossValidation, loss: str, n_features: int) -> dict[str, Any]:
    """Return the chosen point, its penalties, and the notes on how it was chosen."""
    column, chosen = results.chosen, int(results.best[1])
    folds, at_limit = len(results.splits), chosen == len(column.size) - 1 < n_features
    return {
        "chosen": chosen,
        "folds": folds,
        "rule": results.rule,
        "lambda_1": float(column.lambda_1),
        "lambda_2": float(column.lambda_2),
        "score_name": name_score(results.scoring, loss),
        "sign": -1 if is_loss(results.scoring) else 1,
        **selection_notes(folds, results.choice.why, at_limit),
    }


def describe_test(
    summary: dict[str, Any], test: tuple[Any, ArrayLike], labels: list[Any], column: Column, design: Design
) -> dict[str, str]:
    """Add to each model its figures on rows that played no part, and return what these are called."""
    values = class_numbers(test[1], labels)
    if labels and (values < 0).any():
        unknown = np.asarray(test[1]).ravel()[values < 0][0]
        raise InvalidInputError(f"test has the label {quoted(unknown)}, which y does not have.")
    rows = other_rows(test[0], values, column, design)
    for point, model in enumerate(summary["models"]):
        model["test"] = figures_alone(describe_fit(rows, point, summary["kind"], summary["loss"]))
    words = f"The model fitted on all {summary['subjects']}, on {len(values):,} others that played no part in it."
    return {"title": "test data", "words": f"Test data: {words[0].lower()}{words[1:]}"}


def describe_tested(summary: dict[str, Any], held_out: HeldOut) -> None:
    """Add the number of held-out rows, their responses, and what guessing without any feature would do.

    Of two classes with probabilities also the thresholds, and how common and how many the rows of the classes are.
    """
    summary["tested"] = len(held_out.y)
    if summary["kind"] == "regression":
        summary["truth"] = brief_list(held_out.y[shown_rows(held_out)])
        mean = np.average(held_out.y, weights=held_out.weight)
        summary["usual_error"] = list(error_quantiles(np.abs(held_out.y - mean), held_out.weight))
        return
    mass = np.bincount(held_out.y, held_out.weight)
    summary["baseline"] = float(mass.max() / mass.sum())
    if summary["models"][0].get("above"):
        summary["thresholds"] = THRESHOLDS
        summary["prevalence"] = float(mass[1] / mass.sum())
        summary["tested_rows"] = [effective_rows(held_out.weight[held_out.y == c]) for c in (1, 0)]
