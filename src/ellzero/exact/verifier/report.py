"""The check of a certificate as a whole, and the report on it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ellzero.base.errors import InvalidInputError
from ellzero.base.imports import whole_imports
from ellzero.base.progress import ProgressCallback, as_progress
from ellzero.exact.verifier.arithmetic import Float64, Objective
from ellzero.exact.verifier.claims import (
    TOLERANCE,
    Header,
    check_arrays,
    check_header,
    hold,
    level_of,
    lists_models,
    read_claims,
    read_problem,
    read_solution,
    read_tree,
)
from ellzero.exact.verifier.data import Refused
from ellzero.exact.verifier.listing import EQUAL, Listing
from ellzero.exact.verifier.score_check import check_score, read_score
from ellzero.exact.verifier.statement import column_names, describe, other_settings, with_terms
from ellzero.exact.verifier.tree import Report

UNDERFLOW = 2.0**-1070  # that each term of a claimed objective may be off by, where float64 has no digits left


Verdict = Literal["valid", "about another problem", "not valid"]


@dataclass(frozen=True, repr=False)
class VerificationReport:
    """The result of a check: whether a certificate is valid, and the lower bound that it proves.

    `verdict` is "valid", "about another problem" or "not valid". The second one is that of a proof that holds, but not of the
    problem that the reader stated: `differences` says where it differs. `valid` is true for the first one only.

    `lower_bound` is derived by the verifier and does not depend on the claims in the file. With `swap_size` it holds for the
    models that a swap of at most this many features leads to, otherwise for all models. `problem` says in words what the proof
    is about: loss, penalties, limits, bounds, weights and exempt features. `gap` is relative to the objective or, where that is
    mere rounding, to the objective of the null model.

    Of alternatives, `models` is how many are listed and `threshold` the objective up to which they are; none is missing below
    `lower_bound`, and `gap` is what that lacks of the threshold.
    """

    valid: bool
    verdict: Verdict = "not valid"
    objective: float = math.nan
    lower_bound: float = -math.inf
    gap: float = math.inf
    claimed_lower_bound: float = math.nan
    conditional: bool = False
    swap_size: int | None = None
    nodes: int = 0
    leaves: int = 0
    open_leaves: int = 0
    reasons: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    problem: list[str] = field(default_factory=list)
    arithmetic: str = "float64"
    models: int | None = None
    threshold: float | None = None

    def __repr__(self) -> str:
        above = (self.objective if self.threshold is None else self.threshold) - self.lower_bound
        of = "the objective" if above <= 2.0 * self.gap * self.objective else "the null model's loss"
        paper = above / self.lower_bound if self.lower_bound > 0.0 else math.inf
        verdict = {"valid": "valid", "not valid": "NOT VALID"}.get(self.verdict, "valid, but ABOUT ANOTHER PROBLEM")
        verdict += ", conditional" * (self.conditional and self.verdict != "not valid")
        verdict += ", in exact arithmetic" * (self.arithmetic == "exact")
        scope = "" if self.swap_size is None else f", over swaps of at most {self.swap_size}"
        if math.isnan(self.objective):  # refused before anything was computed
            return "\n".join([f"Certificate: {verdict}", *(f"  - {reason}" for reason in self.reasons)])
        bounds = [
            f"  lower bound  {self.lower_bound:.12g} (proved), {self.claimed_lower_bound:.12g} (claimed){scope}",
            f"  gap          {self.gap:.3e} of {of}; (UB - LB) / LB = {paper:.3e}",
        ]
        if self.threshold is not None:
            bounds = [
                f"  models       {self.models}, with objectives up to the threshold {self.threshold:.12g}",
                f"  none missing below {self.lower_bound:.12g} (proved), {self.claimed_lower_bound:.12g} (claimed)",
            ]
        lines = [
            f"Certificate: {verdict}",
            f"  objective    {self.objective:.12g}",
            *bounds,
            f"  tree         {self.nodes} nodes, {self.leaves} leaves, {self.open_leaves} open",
            *(f"  {'problem' if k == 0 else '':<12} {line}" for k, line in enumerate(self.problem)),
        ]
        return "\n".join(lines + [f"  - {reason}" for reason in self.reasons])

    __str__ = __repr__


def verify(
    certificate: Any,
    X: object,
    y: object,
    *,
    arithmetic: Literal["float64", "exact"] = "float64",
    expect: Mapping[str, Any] | None = None,
    progress: bool | ProgressCallback | None = None,
    **settings: Any,
) -> VerificationReport:
    """Check a certificate (or the file that holds it) against the data, trusting nothing that it claims.

    Parameters
    ----------
    certificate : path, or an object with `header` and `arrays`
    X : array, data frame or sparse matrix of shape (n, p), as given to the solver, or the same numbers in another form
        What is not in memory (a column store, an array of Dask, Zarr or HDF5) is read in blocks of columns.
    y : labels or numbers of shape (n,), or (n, outputs) for several targets, as given to the solver
    arithmetic : {"float64", "exact"}
        "float64" bounds its rounding errors. "exact" repeats the proof with rational numbers, and with balls around logarithms:
        much slower, without any margin (``pip install 'ellzero[exact]'``).
    loss, huber_delta, lambda_0, lambda_1, lambda_2, k, budget, swap_size, fit_intercept, standardize, lower, upper,
    unpenalized, feature_cost, groups, sample_weight : optional
        The problem that you mean, as you would state it to :func:`solve`. What you state is compared, and nothing else: read
        ``report.problem``, which says in words what the certificate is about. A proof of another problem is not valid for you,
        and the reasons say where it differs.
    bound, swap_size, gap, free_bound : optional
        What a proof may assume, be limited to or leave open. If you state a penalty, a limit or a loss, the first three have
        their defaults of :func:`solve`: a proof that assumes a ``bound`` or is about swaps only is about another problem. So is
        one that calls itself optimal with a gap above 1e-4.
    expect : mapping
        The same settings, in a mapping.
    progress : bool or function, optional
        As in :func:`ellzero.fit_path`; a function is called with the fraction of the tree that is done (and two zeros).

    Returns
    -------
    VerificationReport
        Not valid, with the reasons, if anything is wrong with the certificate or if it belongs to other data. Exceptions are
        raised only for a missing file and for arguments that are not a certificate.

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y, truth = ez.datasets.make_classification(100, 30, 2, s=3.0, random_state=0)
    >>> solution = ez.solve(X, y, lambda_0=0.05, lambda_2=0.01)
    >>> ez.verify(solution.certificate, X, y).valid
    True
    >>> ez.verify(solution.certificate, X, -y).reasons
    ['y is not the target that the certificate was made for.']
    >>> ez.verify(solution.certificate, X, y, lambda_0=0.05, lambda_2=0.02).reasons
    ['lambda_2 is 0.01 in the certificate, not 0.02 as expected.']
    >>> ez.verify(solution.certificate, X, y, lambda_0=0.05).verdict
    'valid'

    """
    numbers, claimed, watch = arithmetic_of(arithmetic), math.nan, watching(progress)
    expected = {**(expect or {}), **settings}
    try:
        if (card := read_score(certificate)) is not None:
            return VerificationReport(**check_score(card, (X, y), arithmetic == "exact", expected or None, watch))
        header, arrays = read_claims(certificate)
        check_header(header, arrays)
        claimed = float(header["lower_bound"])
        with np.errstate(all="ignore"):  # numbers that overflow become infinite or NaN, and prove nothing
            arrays = check_arrays(header, arrays)
            problem = read_problem(header, arrays, X, y, numbers)
            other = other_settings(header, arrays, expected, column_names(X))
            coef, intercept = read_solution(header, arrays, problem)
            found = problem.evaluate(coef, intercept)
            objective = float(found.value)
            at_home = bool((problem.home == problem.used(coef)).all())
            if expected and header["swap_size"] is not None and not at_home:
                other.append("the swaps of the certificate do not start from its solution, as expected.")
            scale = problem.scale(objective)
            level = level_of(header, found, numbers)
            several = lists_models(header)
            top = float(level) if several else objective
            asked = TOLERANCE if several else header["gap_asked"]
            enough = top - asked * scale
            problem = hold(arrays, problem, level)
            tree = read_tree(arrays, problem)
            if several:
                listing = Listing.of(arrays, problem, top, scale, TOLERANCE * scale)
                walk = listing.walk(tree, problem, level, enough, watch)
                least, leaves, unsolved = walk.least, walk.leaves, walk.unsolved
                faults = walk.faults + differing_threshold(header, found, scale)
                if min(listing.objectives, default=math.inf) < objective - TOLERANCE * scale:
                    faults.append("a model of the list is better than the solution.")
            else:
                least, leaves, unsolved = tree.walk(problem, level, enough, watch)
                faults = []
    except Refused as refusal:
        return VerificationReport(valid=False, claimed_lower_bound=claimed, reasons=list(refusal.args), arithmetic=arithmetic)
    except OverflowError:
        reason = "numbers of the certificate are too large to compute with."
        return VerificationReport(valid=False, claimed_lower_bound=claimed, reasons=[reason], arithmetic=arithmetic)
    lower = min(top, numbers.floor(least))
    gap = 0.0 if top <= lower else (top - lower) / scale if scale > 0.0 else math.inf
    faults += faults_of(header, found, lower, gap, scale, asked)
    if not several:
        other += wider_gap(header, expected, gap)
    return VerificationReport(
        valid=not faults and not other,
        verdict="not valid" if faults else "about another problem" if other else "valid",
        objective=objective,
        lower_bound=lower,
        gap=gap,
        claimed_lower_bound=claimed,
        conditional=header["bound"] is not None or header["free_bound"] is not None,
        swap_size=header["swap_size"],
        nodes=len(arrays["parent"]),
        leaves=leaves,
        open_leaves=unsolved,
        reasons=faults + other + remarks_on(header, leaves, unsolved, at_home),
        differences=other,
        problem=describe(header, arrays),
        arithmetic=arithmetic,
        models=len(listing.supports) if several else None,
        threshold=top if several else None,
    )


def wider_gap(header: Header, expected: Mapping[str, Any], gap: float) -> list[str]:
    """Return that the proved gap is not the one that the reader states, if so.

    One that he does not state is that of `solve` where the certificate calls itself optimal.
    """
    meant = with_terms(expected) if header["status"] == "optimal" else expected
    stated = meant.get("gap", math.inf)
    if not isinstance(stated, (int, float)) or stated != stated:
        raise InvalidInputError(f"gap must be a number, got {stated!r:.40}.")
    return [f"the proved gap is {gap:.6g}, not {stated:.6g} as expected."] if is_above(gap, stated) else []


def is_above(gap: float, asked: float) -> bool:
    """Return whether a gap is not the one that was requested, nor less."""
    return gap > asked * (1.0 + 1e-6) + 1e-12


def differing_threshold(header: Header, found: Objective, scale: float) -> list[str]:
    """Return that the threshold is not as far above the objective as was requested, if so."""
    within = header["within"]
    if within is None:
        return []
    missed = abs(header["threshold"] - float(found.value) - (within + EQUAL) * scale)
    if missed <= (1.0 + within) * (TOLERANCE * scale + found.rounding):
        return []
    return [f"the threshold {header['threshold']:.15g} is not a share of {within:.6g} above the solution's objective."]


def watching(progress: bool | ProgressCallback | None) -> Report | None:
    """Return a function that reports the fraction of the tree that is done."""
    report = as_progress(progress, "checking the proof")
    return None if report is None else lambda fraction: report(fraction, 0.0, 0)


def arithmetic_of(name: str) -> Float64:
    """Return the arithmetic of this name."""
    if name == "exact":
        with whole_imports():
            from ellzero.exact.verifier.exact_arithmetic import Exact

        return Exact()
    if name != "float64":
        raise InvalidInputError(f"arithmetic must be 'float64' or 'exact', got {name!r:.40}.")
    return Float64()


def faults_of(header: Header, found: Objective, lower: float, gap: float, scale: float, asked: float) -> list[str]:
    """Return the claims that the check does not confirm, one sentence for each."""
    tolerance, faults, objective = TOLERANCE * scale, [], float(found.value)
    # Where large columns or means cancel, two ways to compute the objective in float64 agree to this only.
    terms = (header["n"] + header["p"]) * header["outputs"]
    if abs(header["objective"] - objective) > tolerance + found.rounding + UNDERFLOW * terms:
        faults.append(f"the solution's objective is {objective:.15g}, not {header['objective']:.15g} as claimed.")
    if header["lower_bound"] > lower + tolerance and header["prover"] is not None:
        rests = f"the lower bound {header['lower_bound']:.15g} rests on {header['prover']}"
        faults.append(f"{rests}; this file itself proves {lower:.15g}.")
    elif header["lower_bound"] > lower + tolerance and lists_models(header):
        claimed = f"{header['lower_bound']:.15g} as claimed"
        faults.append(
            f"models may be missing from the list: none is known to be missing only below {lower:.15g}, not {claimed}."
        )
    elif header["lower_bound"] > lower + tolerance:
        faults.append(f"the tree proves the lower bound {lower:.15g} only, not {header['lower_bound']:.15g} as claimed.")
    if header["status"] == "complete" and is_above(gap, asked):
        faults.append(f"the status is 'complete', but models may be missing above {lower:.15g}.")
    if header["status"] == "optimal" and is_above(gap, asked):
        faults.append(f"the status is 'optimal' but the proved gap is {gap:.6g}, not {asked:.6g} as requested.")
    return faults


def remarks_on(header: Header, leaves: int, unsolved: int, at_home: bool) -> list[str]:
    """Return remarks on what the proof covers and assumes, for readers of a valid certificate."""
    remarks, size = [], header["swap_size"]
    if size is not None:
        remarks.append(f"the bound is over swaps of at most {size} feature{'s' * (size > 1)}, not over all models.")
        if not at_home:
            remarks.append("these swaps start from the features listed as home, which are not those of the solution.")
    for name, which in (("bound", "the features that lambda_0 counts"), ("free_bound", "unpenalized features")):
        if header[name] is not None:
            remarks.append(f"conditional on |beta_j| <= {header[name]:.6g} for {which} (on the penalised scale).")
    if unsolved:
        why = f"the search stopped early ({header['status']})" if header["prover"] is None else f"left to {header['prover']}"
        remarks.append(f"{unsolved} of {leaves} leaves are open: {why}.")
    return remarks
