"""Ways to tamper with the problem that a certificate is about."""

import numpy as np

from fuzz.certificates.sealed import Arrays, Header
from fuzz.certificates.tampering.changes import PROVES, VALUE, Change, array, both, entry, filled, less, scaled

__all__ = ["CATALOGUE", "k_changed"]

SPREAD = "spread is not that of the data"


def lambda_0_lower_and_consistent(header: Header, arrays: Arrays) -> None:
    header["lambda_0"] *= 0.5
    header["objective"] -= header["lambda_0"] * len(arrays["support"])


def lambda_2_lower_and_consistent(header: Header, arrays: Arrays) -> None:
    header["lambda_2"] *= 0.5
    saved = header["lambda_2"] * float(np.sum(arrays["coef"] ** 2))
    header["objective"] -= saved
    header["lower_bound"] -= saved


def k_changed(by: int) -> Change:
    """Return the change of k by a number of features."""

    def change(header: Header, arrays: Arrays) -> None:
        header["k"] += by

    return change


def box_upside_down(header: Header, arrays: Arrays) -> None:
    arrays["lower"], arrays["upper"] = arrays["upper"], arrays["lower"]


def unpenalized_added(header: Header, arrays: Arrays) -> None:
    arrays["unpenalized"] = np.union1d(arrays["unpenalized"], arrays["block_members"])


def assumption_sharpened(header: Header, arrays: Arrays) -> None:
    header["bound"] = 0.5 * float(np.abs(arrays["coef"]).max())


def spread_unasked(header: Header, arrays: Arrays) -> None:
    arrays["spread"] = np.ones(header["p"])


CATALOGUE: list[tuple[str, str, Change, str]] = [
    ("weighted box", "lambda_0 lower", scaled("lambda_0", 0.5), VALUE),
    ("weighted box", "lambda_0 lower and consistent", lambda_0_lower_and_consistent, PROVES),
    ("weighted box", "lambda_0 missing", less("lambda_0"), "the header lacks lambda_0"),
    ("weighted box", "lambda_1 higher", entry(lambda_1=0.01), VALUE),
    ("weighted box", "lambda_2 lower", scaled("lambda_2", 0.5), VALUE),
    ("weighted box", "lambda_2 lower and consistent", lambda_2_lower_and_consistent, PROVES),
    ("weighted box", "lambda_2 below zero", entry(lambda_2=-1e-3), "lambda_2 is no usable number"),
    ("weighted box", "lambda_2 of truth", entry(lambda_2=True), "lambda_2 is no usable number"),
    ("weighted box", "k lower", k_changed(-1), r"the solution uses 4 features, k allows 3"),
    ("weighted box", "k higher", k_changed(3), PROVES),
    ("weighted box", "k below zero", entry(k=-1), "k is no usable number"),
    ("weighted box", "no k", entry(k=None), PROVES),
    ("weighted box", "k and swaps", entry(swap_size=1), "k and swap_size cannot both be given"),
    ("weighted box", "weights in another order", array("weights", lambda old: old[::-1]), VALUE),
    ("weighted box", "weights not normalised", scaled("weights", 1.01), "weights are negative or do not sum to one"),
    ("weighted box", "weights below zero", scaled("weights", -1.0), "weights are negative or do not sum to one"),
    ("weighted box", "weights of nothing", filled("weights", np.nan), "weights contains numbers that are not finite"),
    ("weighted box", "no weights", less("weights"), VALUE),
    ("weighted box", "box wider", both(scaled("lower", 3.0), scaled("upper", 3.0)), PROVES),
    ("weighted box", "box narrower", both(scaled("lower", 0.5), scaled("upper", 0.5)), "the solution violates lower, upper"),
    ("weighted box", "box upside down", box_upside_down, "lower and upper are not in order"),
    ("weighted box", "no intercept", entry(fit_intercept=False), "the solution has an intercept"),
    ("weighted box", "other loss", entry(loss="squared_hinge"), VALUE),
    ("weighted box", "no such loss", entry(loss="none"), "loss"),
    ("weighted box", "loss of numbers", entry(loss="squared_error"), "an array has no use in this certificate: 'classes'"),
    ("weighted box", "a unit", entry(unit=2.0), "the header has an entry that is not part of the format"),
    ("weighted box", "storage", entry(storage={"a": 1}), "storage"),
    ("weighted box", "n below zero", entry(n=-60), "n is no usable number"),
    ("weighted box", "n of text", entry(n="60"), "n is no usable number"),
    ("weighted box", "p far too large", entry(p=2**62), "lower has the wrong shape"),
    ("weighted box", "classes exchanged", array("classes", lambda old: old[::-1]), "y is not the target"),
    ("weighted box", "one class", array("classes", lambda old: old[:1]), "classes has the wrong shape"),
    ("weighted box", "a class twice", array("classes", lambda old: old[[0, 0]]), "classes lists a label twice"),
    ("weighted box", "long classes", array("classes", lambda old: np.array(["a" * 5000, "b"])), "classes has the wrong shape"),
    ("weighted box", "spread without standardize", spread_unasked, "an array has no use in this certificate: 'spread'"),
    ("standardized", "spread changed", scaled("spread", 1.001), SPREAD),
    ("standardized", "not standardized", both(entry(standardize=False), less("spread")), VALUE),
    ("standardized", "nothing unpenalized", less("unpenalized"), "the solution uses 5 features, k allows 4"),
    ("standardized", "more unpenalized", unpenalized_added, "the tree splits what cannot be split"),
    (
        "standardized",
        "unpenalized twice",
        array("unpenalized", lambda old: np.array([1, 1])),
        "unpenalized lists a feature twice",
    ),
    ("conditional", "assumption hidden", entry(bound=None), PROVES),
    ("conditional", "assumption weaker", scaled("bound", 2.0), PROVES),
    ("conditional", "assumption sharper", assumption_sharpened, "or the assumed bound"),
]
