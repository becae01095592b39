"""Ways to tamper with the solution, with what is claimed of it, and with the format."""

import numpy as np

from fuzz.certificates.sealed import Arrays, Header
from fuzz.certificates.tampering.changes import PROVES, VALUE, Change, array, both, entry, filled, less, scaled

__all__ = ["CATALOGUE", "bound_by_scip"]

UNKNOWN = "an entry that is not part of the format: 'more'"


def lower_bound_raised(header: Header, arrays: Arrays) -> None:
    header["lower_bound"] += 1e-7


def objective_lowered(header: Header, arrays: Arrays) -> None:
    header["objective"] -= 1e-7


def feature_dropped(header: Header, arrays: Arrays) -> None:
    arrays["support"], arrays["coef"] = arrays["support"][1:], arrays["coef"][1:]


def feature_twice(header: Header, arrays: Arrays) -> None:
    arrays["support"] = np.append(arrays["support"], arrays["support"][0])
    arrays["coef"] = np.append(arrays["coef"], 0.1)


def called_optimal_and_tight(header: Header, arrays: Arrays) -> None:
    header["status"], header["lower_bound"] = "optimal", header["objective"]


def bound_by_scip(header: Header, arrays: Arrays) -> None:
    """Claim a bound that another solver is said to have proved."""
    header["prover"], header["lower_bound"] = "SCIP 9.2 (method mip)", header["objective"]


CATALOGUE: list[tuple[str, str, Change, str]] = [
    ("weighted box", "lower bound raised", lower_bound_raised, PROVES),
    ("weighted box", "lower bound above the objective", entry(lower_bound=1e6), PROVES),
    ("weighted box", "objective lowered", objective_lowered, VALUE),
    ("weighted box", "objective of next to nothing", entry(objective=1e-9), VALUE),
    ("weighted box", "coefficients changed", scaled("coef", 0.999), VALUE),
    ("weighted box", "coefficients outside", scaled("coef", 10.0), "the solution violates lower, upper"),
    ("weighted box", "coefficients of nothing", filled("coef", np.nan), "coef contains numbers that are not finite"),
    ("weighted box", "coefficients too large", scaled("coef", 1e300), "the solution violates lower, upper"),
    ("weighted box", "intercept changed", array("intercept", lambda old: old + 1e-3), VALUE),
    ("weighted box", "intercept of many", array("intercept", lambda old: np.zeros(7)), "intercept has the wrong shape"),
    ("weighted box", "feature dropped", feature_dropped, VALUE),
    ("weighted box", "feature twice", feature_twice, "support lists a feature twice"),
    ("weighted box", "features that are one", filled("support", 1), "support lists a feature twice"),
    (
        "weighted box",
        "feature out of range",
        array("support", lambda old: old + 2**30),
        "support contains numbers out of range",
    ),
    ("truncated", "called optimal", entry(status="optimal"), "the status is 'optimal' but the proved gap"),
    ("truncated", "called optimal and tight", called_optimal_and_tight, PROVES),
    ("truncated", "bound by SCIP", bound_by_scip, "rests on SCIP 9.2 (method mip); this file itself proves"),
    ("truncated", "prover removed", both(bound_by_scip, entry(prover=None)), PROVES),
    ("weighted box", "status of codes", entry(status="none).\x1b[2J\nCertificate: valid"), "status is unknown"),
    ("weighted box", "prover missing", less("prover"), "the header lacks prover"),
    ("weighted box", "prover of two lines", entry(prover="SCIP\nCertificate: valid"), "prover is no short text"),
    ("weighted box", "prover of codes", entry(prover="\x1b]0;owned\x07"), "prover is no short text"),
    ("weighted box", "long prover", entry(prover="x" * 1_000_000), "prover is no short text"),
    ("weighted box", "other version", entry(version=99), "version 99"),
    ("weighted box", "version far too large", entry(version=10**30), "version 1000000"),
    ("weighted box", "other format", entry(format="another certificate"), "this is not an ellzero certificate"),
    ("weighted box", "format of a list", entry(format=["ellzero certificate"]), "this is not an ellzero certificate"),
    ("weighted box", "one more entry", entry(more=1), UNKNOWN),
]
