"""The exact search for the chosen model and for others that are as good, and the sentences on what it proves."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ellzero.base.errors import FragileModelWarning
from ellzero.estimators.choice import Column
from ellzero.estimators.cross_validation import CrossValidation
from ellzero.estimators.single_fit import L0Classifier, L0Regressor
from ellzero.exact.alternative_models import Alternatives
from ellzero.exact.alternatives import collect
from ellzero.exact.options import SearchOptions, Wanted
from ellzero.exact.search_log import as_search_log
from ellzero.exact.solution import ExactSolution, relative_gap
from ellzero.report.words import named

SAME = 1e-6
"""Objectives that differ by this share, or less, differ only by the tolerance of the fits."""

SMALLEST_PERCENT = 1e-6
USELESS = 0.99
"""A larger gap proves nothing useful: losses are not negative, so that a gap of 1 needs no search."""


WITHIN = 0.01  # of the best objective
MOST_MODELS = 1000
SHOWN_MODELS, SHOWN_FEATURES = 15, 20
NAMED = 6  # features that a sentence names
SEVERAL = 2  # in the place of a sign: a group of columns has none


@dataclass(frozen=True, eq=False)
class Proof:
    """The result of an exact search, beside the model that the page shows."""

    solution: ExactSolution
    objective: float  # of the model on the page
    gained: float = 0.0  # above zero, the search's model is on the page: it is better than the chosen one by this share

    @property
    def gap(self) -> float:
        """The largest relative distance of the model on the page from the best possible objective."""
        null = self.solution.certificate.problem.null
        return max(relative_gap(self.objective, self.solution.lower_bound, null), 0.0)

    @property
    def complete(self) -> bool:
        """Whether a longer search would prove no more than what was asked for."""
        return self.solution.status in ("optimal", "precision")


def prove(
    estimator: Any, X: object, y: ArrayLike, *, sample_weight: ArrayLike | None, seconds: float, progress: bool | None
) -> list[Proof]:
    """Search for better models than those that cross-validation chose, with proofs.

    There is a search for each class that has features of its own, and one for all that share their features. The list is empty
    for a model without features.
    """
    # Features of each class with its own; `k_` counts those of all classes together. Rules may ask for more than the point.
    k = max(int(estimator.cv_results_.best[1]), estimator._least)
    if k == 0:
        return []
    kind = L0Classifier if hasattr(estimator, "classes_") else L0Regressor
    given = estimator.get_params()
    settings = {name: given[name] for name in kind().get_params() if name in given}
    searches = len(np.atleast_1d(estimator.objective_))
    # Without shrinkage and without bounds nothing limits the coefficients, and the search needs a bound to assume.
    unlimited = estimator.lambda_1_ == estimator.lambda_2_ == 0.0 and not estimator._given() & {"lower", "upper", "bound"}
    settings.update(
        k=k,
        lambda_0=None,
        lambda_1=estimator.lambda_1_,
        lambda_2=estimator.lambda_2_,
        algorithm="exact",
        bound="heuristic" if unlimited else given["bound"],
        time_limit=None if math.isinf(seconds) else seconds / searches,
        progress=progress,
    )
    if "probability" in settings:
        settings["probability"] = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FragileModelWarning)  # cross-validation has said it of the same data
        exact = kind(**settings).fit(X, y, sample_weight=sample_weight)
    solutions = exact.solution_ if isinstance(exact.solution_, list) else [exact.solution_]
    objectives = np.atleast_1d(estimator.objective_).tolist()
    supports = [estimator.support_]
    if len(solutions) > 1:
        supports = [np.flatnonzero(row) for row in np.atleast_2d(estimator.coef_)]
    return [compare(*output) for output in zip(solutions, objectives, supports, strict=True)]


def compare(solution: ExactSolution, objective: float, support: NDArray[np.int64]) -> Proof:
    """Return what the search proves of the chosen model or of a better one that it found: the page shows the best known."""
    excess = relative_gap(objective, solution.objective, solution.certificate.problem.null)
    if excess > SAME and not np.array_equal(support, solution.support):
        return Proof(solution, solution.objective, excess)
    return Proof(solution, objective)


def shown_models(results: CrossValidation, proofs: Sequence[Proof]) -> Column:
    """Return the models that the page shows: those of the chosen column, with better ones of exact searches in their place.

    The held-out scores stay: they are of models that the faster search found in folds.
    """
    column, point = results.chosen, results.best[1]
    if not any(proof.gained for proof in proofs):
        return column
    rows, intercept = column.coef[point].tolil(copy=True), column.intercept.copy()
    for output, proof in enumerate(proofs):
        if proof.gained:
            model = proof.solution.model
            outputs = np.arange(model.outputs) if model.outputs > 1 else np.array([output])
            rows[outputs] = 0.0
            for own, values in zip(outputs, np.atleast_2d(model.values.T), strict=True):
                rows[own, model.support] = values
            intercept[point, outputs] = model.intercept
    coef, size = list(column.coef), column.size.copy()
    coef[point] = rows.tocsr()
    coef[point].eliminate_zeros()
    size[point] = proofs[0].solution.certificate.problem.penalty.counted(np.unique(coef[point].indices).astype(np.int32))
    return replace(column, coef=coef, intercept=intercept, size=size)


def percent_above(share: float) -> str:
    """Return a share as a percentage of two digits, rounded up, so that a statement about a gap stays true."""
    value = 100.0 * share
    if value <= SMALLEST_PERCENT:
        return "0 %" if value <= 0.0 else f"{SMALLEST_PERCENT:.6f} %"
    digits = 1 - math.floor(math.log10(value))
    unit = 10.0**-digits
    return f"{math.ceil(value / unit - 1e-9) * unit:.{max(digits, 0)}f} %"


def describe_proofs(proofs: Sequence[Proof], size: str, outputs: Sequence[str], subjects: str = "rows") -> dict[str, Any]:
    """Return the certificate's sentence and its figures, as plain data; `subjects` is what rows are called."""
    if not proofs:
        empty = "Only one model has no features, the intercept alone: there is nothing to prove."
        return {
            "sentence": empty if size.startswith("0 ") else "No proof was requested.",
            "short": None,
            "gained": 0.0,
            "proved": False,
            "rows": [],
            "note": "",
        }
    worst = max(proof.gap for proof in proofs)
    return {
        "sentence": " ".join([claim(proofs, size, worst, subjects), *assumption(proofs), *improvement(proofs, outputs)]),
        "gained": max(proof.gained for proof in proofs),
        "short": percent_above(worst),
        "proved": all(proof.complete for proof in proofs),
        "rows": [figures(proof, label) for proof, label in zip(proofs, outputs, strict=True)],
        "note": (
            "The objective is what the model minimises on these rows: its loss plus its shrinkage. No model of this size is "
            "below the lower bound. The gap is the distance from the model on this page to that bound, as a share of the "
            "objective. `ellzero verify`, which shares no code with the solver, can check the proof."
        ),
    }


def claim(proofs: Sequence[Proof], size: str, worst: float, subjects: str) -> str:
    """Return the sentence on what is proved."""
    each = "" if len(proofs) == 1 else " for each class against the rest"
    better = (
        f"no model with at most {size} fits these {subjects} better by more than {percent_above(worst)} (of the objective). "
        f"This says nothing about new {subjects}."
    )
    if all(proof.complete for proof in proofs):
        return f"Proved{each}: {better}"
    seconds = sum(proof.solution.seconds for proof in proofs)
    if worst > USELESS:
        return f"Nothing is proved so far: the search ended after {seconds:.0f} s, before it had a useful lower bound."
    return f"Proved so far{each}, in {seconds:.0f} s: {better} A longer search may prove more."


def assumption(proofs: Sequence[Proof]) -> list[str]:
    """Return the sentence on the assumption of a conditional proof, if it has one."""
    bounds = [proof.solution.bound for proof in proofs if proof.solution.certificate.conditional]
    if not bounds:
        return []
    known = [bound for bound in bounds if bound is not None]
    size = f" exceeds {max(known):.3g} in size" if known else " is very large"
    return [f"This is conditional: it assumes that no coefficient, as the penalty sees it,{size}."]


def improvement(proofs: Sequence[Proof], outputs: Sequence[str]) -> list[str]:
    """Return sentences on better models that the search found."""
    out = []
    for proof, label in zip(proofs, outputs, strict=True):
        whose = f" for {label}" if len(proofs) > 1 else ""
        if proof.gained > 0.0:
            by = percent_above(proof.gained)
            out.append(
                f"The exact search found the model{whose} on this page. The faster search, which all held-out figures are "
                f"from, found one that is worse by up to {by}."
            )
    return out


def figures(proof: Proof, label: str) -> dict[str, Any]:
    """Return one line of the certificate's table."""
    solution = proof.solution
    return {
        "label": label,
        "objective": proof.objective,
        "lower_bound": solution.lower_bound,
        "gap": proof.gap,
        "gap_words": percent_above(proof.gap),
        "nodes": solution.nodes,
        "seconds": round(solution.seconds, 3),
        "status": solution.status,
        "conditional": solution.certificate.conditional,
    }


def find_others(
    proofs: Sequence[Proof], seconds: float, threads: int = 1, progress: bool | None = False
) -> Alternatives | None:
    """Return the models that are nearly as good as the one that was proved to be the best, None if there is no time for that.

    Models with several outputs are left alone.
    """
    if len(proofs) != 1 or proofs[0].solution.status != "optimal" or proofs[0].solution.model.outputs > 1:
        return None
    solution = proofs[0].solution
    claim = solution.certificate.claim
    left = seconds - solution.seconds
    if left <= 0.0:
        return None
    options = SearchOptions(
        lambda_0=claim.lambda_0,
        k=claim.k,
        bound=claim.bound,
        gap=0.0,
        time_limit=left,
        progress=as_search_log(progress, left),
        threads=threads,
        wanted=Wanted(all=True, within=WITHIN, most=MOST_MODELS),
    )
    return collect(solution.certificate.problem, options, [solution.model])


def describe_others(found: Alternatives | None, sign: float = 1.0) -> dict[str, Any] | None:
    """Return what the page says of them, as plain data; None if they were not looked for.

    `sign` is -1 if the page speaks for the other class than the models do.
    """
    if found is None or not len(found):
        return None
    signs = sign * found.coefficients[:SHOWN_MODELS, :SHOWN_FEATURES]
    heads = np.arange(found.n_features) if found.grouping is None else found.grouping.heads
    columns = np.bincount(heads, minlength=found.n_features)
    several = [columns[use.feature] > 1 for use in found.features[:SHOWN_FEATURES]]
    marks = np.where(several, SEVERAL * (signs != 0.0), np.sign(signs)).astype(int)
    return {
        "sentence": how_many(found),
        "words": exchanges(found),
        "features": [
            {"name": named(use.name), "share": use.share, "signs": marks[:, at].tolist()}
            for at, use in enumerate(found.features[:SHOWN_FEATURES])
        ],
        "above": [float(share) for share in found.above_best[:SHOWN_MODELS]],
        "models": len(found),
        "more_features": max(len(found.used) - SHOWN_FEATURES, 0),
    }


def how_many(found: Alternatives) -> str:
    """Return how many models there are, and whether that is proved."""
    count, share = len(found), f"{100.0 * WITHIN:g} %"
    if found.complete and count == 1:
        return f"Proved: there are none. Every other set of at most as many features is worse by more than {share}."
    if found.complete:
        return f"{count} models are within {share} of the best objective. Proved: there are no others."
    return f"At least {count} models are within {share} of the best objective; the search ended before all were found."


def exchanges(found: Alternatives) -> list[str]:
    """Return which features can be exchanged, in sentences."""

    def names_of(features: Sequence[int]) -> list[str]:
        return [named(found.name_of(j)) for j in features]

    if len(found) == 1:
        return []
    out = []
    if found.indispensable:
        out.append(f"All of them use {in_a_row(names_of(found.indispensable))}.")
    if found.exchangeable:
        ordered = [j for j in found.used if j in set(found.exchangeable)]
        out.append(f"Not all of them use {in_a_row(names_of(ordered))}.")
    if found.stand_ins:
        pairs = [f"{named(found.name_of(pair.feature))} for {named(found.name_of(pair.other))}" for pair in found.stand_ins]
        out.append(f"Features that stand in for others (the two are never used together): {in_a_row(pairs)}.")
    return out


def in_a_row(names: Sequence[str]) -> str:
    """Return names in one line, shortened if there are many."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
