"""The check of a certificate as a whole, and the report on it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ellzero.exact.verifier.claims import (
    TOLERANCE,
    Header,
    check_arrays,
    check_header,
    load,
    read_problem,
    read_solution,
    read_tree,
)
from ellzero.exact.verifier.data import Refused


@dataclass(frozen=True, repr=False)
class VerificationReport:
    """The result of a check: whether a certificate is valid, and the lower bound that it proves.

    `lower_bound` is derived by the verifier and does not depend on the claims in the file. With `swap_size` it holds for the
    models that a swap of at most so many features leads to, otherwise for all models.
    """

    valid: bool
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

    def __repr__(self) -> str:
        above = self.objective - self.lower_bound
        paper = above / self.lower_bound if self.lower_bound > 0.0 else math.inf
        verdict = "valid" + ", conditional" * self.conditional if self.valid else "NOT VALID"
        scope = "" if self.swap_size is None else f", over swaps of at most {self.swap_size}"
        lines = [
            f"Certificate: {verdict}",
            f"  objective    {self.objective:.12g}",
            f"  lower bound  {self.lower_bound:.12g} (proved), {self.claimed_lower_bound:.12g} (claimed){scope}",
            f"  gap          {self.gap:.3e} of the objective; (UB - LB) / LB = {paper:.3e}",
            f"  tree         {self.nodes} nodes, {self.leaves} leaves, {self.open_leaves} open",
        ]
        return "\n".join(lines + [f"  - {reason}" for reason in self.reasons])

    __str__ = __repr__


def verify(certificate: Any, X: object, y: object) -> VerificationReport:
    """Check a certificate (or the file that holds it) against the data, trusting nothing that it claims.

    Parameters
    ----------
    certificate : path, or an object with `header` and `arrays`
    X : array, data frame or sparse matrix of shape (n, p), as given to the solver, or the same numbers in another form
        What is not in memory (a column store, an array of Dask, Zarr or HDF5) is read in blocks of columns.
    y : labels or numbers of shape (n,), as given to the solver

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

    """
    claimed = math.nan
    try:
        header, arrays = load(certificate)
        check_header(header, arrays)
        claimed = float(header["lower_bound"])
        with np.errstate(all="ignore"):  # numbers that overflow become infinite or NaN, and prove nothing
            arrays = check_arrays(header, arrays)
            problem = read_problem(header, arrays, X, y)
            coef, intercept = read_solution(header, arrays, problem)
            objective, upper = problem.evaluate(coef, intercept)
            enough = objective - header["gap_asked"] * abs(objective)
            least, leaves, unsolved = read_tree(arrays, problem).walk(problem, upper, enough)
    except Refused as refusal:
        return VerificationReport(valid=False, claimed_lower_bound=claimed, reasons=list(refusal.args))
    lower = min(objective, least)
    gap = (objective - lower) / (abs(objective) if abs(objective) >= 1e-9 else 1.0)
    faults = faults_of(header, objective, lower, gap)
    return VerificationReport(
        valid=not faults,
        objective=objective,
        lower_bound=lower,
        gap=gap,
        claimed_lower_bound=claimed,
        conditional=header["bound"] is not None or header["free_bound"] is not None,
        swap_size=header["swap_size"],
        nodes=len(arrays["parent"]),
        leaves=leaves,
        open_leaves=unsolved,
        reasons=faults + remarks_on(header, leaves, unsolved, bool((problem.home == problem.counted & (coef != 0.0)).all())),
    )


def faults_of(header: Header, objective: float, lower: float, gap: float) -> list[str]:
    """Return the claims that the check does not confirm, one sentence for each."""
    tolerance, faults = max(TOLERANCE * abs(objective), 1e-12), []
    if abs(header["objective"] - objective) > tolerance:
        faults.append(f"the solution's objective is {objective:.15g}, not {header['objective']:.15g} as claimed.")
    if header["lower_bound"] > lower + tolerance and header["prover"] is not None:
        rests = f"the lower bound {header['lower_bound']:.15g} rests on {header['prover']}"
        faults.append(f"{rests}; this file itself proves {lower:.15g}.")
    elif header["lower_bound"] > lower + tolerance:
        faults.append(f"the tree proves the lower bound {lower:.15g} only, not {header['lower_bound']:.15g} as claimed.")
    if header["status"] == "optimal" and gap > header["gap_asked"] * (1.0 + 1e-6) + 1e-12:
        faults.append(f"the status is 'optimal' but the proved gap is {gap:.6g}, not {header['gap_asked']:.6g} as asked for.")
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
