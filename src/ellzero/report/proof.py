"""The exact search for the chosen model, and the sentences on what it proves."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ellzero.base.errors import FragileModelWarning
from ellzero.estimators.choice import Column, count_features
from ellzero.estimators.cross_validation import CrossValidation
from ellzero.estimators.single_fit import L0Classifier, L0Regressor
from ellzero.exact.solution import ExactSolution, relative_gap

__all__ = ["Proof", "describe_proofs", "percent_above", "prove", "shown_models"]

SAME = 1e-6
"""Objectives that differ by this share, or less, differ only by the tolerance of the fits."""

SMALLEST_PERCENT = 1e-6
USELESS = 0.99
"""A larger gap proves nothing useful: losses are not negative, so that a gap of 1 needs no search."""


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
    estimator: Any, X: object, y: ArrayLike, *, sample_weight: ArrayLike | None, seconds: float, progress: bool
) -> list[Proof]:
    """Search for better models than those that cross-validation chose, with proofs.

    There is a search for each class that has features of its own, and one for all that share their features. The list is empty
    for a model without features.
    """
    k = int(estimator.cv_results_.best[1])  # features of each class with its own; `k_` counts those of all classes together
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
    size[point] = proofs[0].solution.certificate.problem.counted(np.unique(coef[point].indices).astype(np.int32))
    return replace(column, coef=coef, intercept=intercept, size=size)


def percent_above(share: float) -> str:
    """Return a share as a percentage of two digits, rounded up, so that a statement about a gap stays true."""
    value = 100.0 * share
    if value <= SMALLEST_PERCENT:
        return "0 %" if value <= 0.0 else f"{SMALLEST_PERCENT:.6f} %"
    digits = 1 - math.floor(math.log10(value))
    unit = 10.0**-digits
    return f"{math.ceil(value / unit - 1e-9) * unit:.{max(digits, 0)}f} %"


def describe_proofs(
    proofs: Sequence[Proof], k: int, outputs: Sequence[str], why_none: str, subjects: str = "rows"
) -> dict[str, Any]:
    """Return the certificate's sentence and its figures, as plain data; `subjects` is what rows are called."""
    if not proofs:
        none: dict[str, Any] = {"short": None, "gained": 0.0, "complete": False, "proved": False, "rows": [], "note": ""}
        return {"sentence": why_none, **none}
    worst = max(proof.gap for proof in proofs)
    return {
        "sentence": " ".join([claim(proofs, k, worst, subjects), *assumption(proofs), *improvement(proofs, outputs)]),
        "gained": max(proof.gained for proof in proofs),
        "short": percent_above(worst),
        "complete": all(proof.complete for proof in proofs),
        "proved": all(proof.complete for proof in proofs),
        "rows": [figures(proof, label) for proof, label in zip(proofs, outputs, strict=True)],
        "note": (
            "The objective is what the model minimises on these rows: its loss and its shrinkage. No model of this size lies "
            "below the lower bound; the gap is the room between the model on this page and that bound, as a share of the "
            "objective. The proof can be checked by code that shares nothing with the solver: see the commands below."
        ),
    }


def claim(proofs: Sequence[Proof], k: int, worst: float, subjects: str) -> str:
    """Return the sentence on what is proved."""
    each = "" if len(proofs) == 1 else " for each class against the rest"
    size, above = count_features(k), percent_above(worst)
    better = f"no model with at most {size} fits these {subjects} better by more than {above} (of the objective)."
    if all(proof.complete for proof in proofs):
        return f"Proved about the search{each}, not about new {subjects}: {better}"
    seconds = sum(proof.solution.seconds for proof in proofs)
    if worst > USELESS:
        return f"Nothing is proved so far: the search ended after {seconds:.0f} s, before it had a useful lower bound."
    ended = f"about the search, which ended after {seconds:.0f} s, and not about new {subjects}"
    return f"Proved so far{each} {ended}: {better} A longer search may prove more."


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
                f"The exact search found the model{whose} on this page; the faster one, which all held-out figures are of, had "
                f"ended at one that is worse by up to {by}."
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
