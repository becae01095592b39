"""Other models that are as good as the best one: found in the time that the proof has left, and in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ellzero.exact.alternative_models import Alternatives
from ellzero.exact.alternatives import collect
from ellzero.exact.options import SearchOptions, Wanted
from ellzero.exact.search_log import as_search_log
from ellzero.report.proof import Proof
from ellzero.report.words import named

__all__ = ["describe_others", "find_others"]

WITHIN = 0.01  # of the best objective
MOST_MODELS = 1000
SHOWN_MODELS, SHOWN_FEATURES = 15, 20
NAMED = 6  # features that a sentence names


def find_others(proofs: Sequence[Proof], seconds: float, threads: int = 1, progress: bool = False) -> Alternatives | None:
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
        wanted=Wanted(within=WITHIN, most=MOST_MODELS),
    )
    return collect(solution.certificate.problem, options, [solution.model])


def describe_others(found: Alternatives | None, sign: float = 1.0) -> dict[str, Any] | None:
    """Return what the page says of them, as plain data; None if they were not looked for.

    `sign` is -1 if the page speaks for the other class than the models do.
    """
    if found is None or not len(found):
        return None
    signs = sign * found.coefficients[:SHOWN_MODELS, :SHOWN_FEATURES]
    return {
        "sentence": how_many(found),
        "words": exchanges(found),
        "features": [
            {"name": named(use.name), "share": use.share, "signs": [int((b > 0.0) - int(b < 0.0)) for b in signs[:, at]]}
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
        return f"None, and that is proved: every other set of as many features or fewer is worse by more than {share}."
    if found.complete:
        return f"{count} models are within {share} of the best objective. That no other is, is proved."
    return f"At least {count} models are within {share} of the best objective; the search ended before all were found."


def exchanges(found: Alternatives) -> list[str]:
    """Return which features can be exchanged, in sentences."""

    def names_of(features: Sequence[int]) -> list[str]:
        return [named(found.name_of(j)) for j in features]

    out = []
    if found.indispensable:
        out.append(f"All of them use {in_a_row(names_of(found.indispensable))}.")
    if found.exchangeable:
        ordered = [j for j in found.used if j in set(found.exchangeable)]
        out.append(f"Some do without {in_a_row(names_of(ordered))}.")
    if found.stand_ins:
        pairs = [f"{named(found.name_of(pair.feature))} for {named(found.name_of(pair.other))}" for pair in found.stand_ins]
        out.append(f"Features that stand in for others, and are never used together with them: {in_a_row(pairs)}.")
    return out


def in_a_row(names: Sequence[str]) -> str:
    """Return names in one line, shortened if there are many."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
