"""Say in words which problem a certificate is about, and compare it with the problem that a reader expects."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.exact.verifier.bounds import BUDGET_SLACK
from ellzero.exact.verifier.losses import claimed_loss

Array = NDArray[np.float64]
Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]

LONGEST_LIST = 8  # features that are named one by one
LONGEST_LABEL = 40  # characters of a label that are shown
AGREEMENT = 1e-9  # relative; weights are divided by their sum, which rounds
DEFAULTS: dict[str, Any] = {  # those of ellzero.solve
    "loss": "logistic",
    "huber_delta": 1.35,
    "lambda_0": 0.0,
    "lambda_1": 0.0,
    "lambda_2": 0.0,
    "k": None,
    "budget": None,
    "swap_size": None,
    "fit_intercept": True,
    "standardize": False,
    "lower": None,
    "upper": None,
    "unpenalized": None,
    "feature_cost": None,
    "groups": None,
    "sample_weight": None,
}
COMPARED = ("loss", "k", "budget", "swap_size", "fit_intercept", "standardize", "lambda_0", "lambda_1", "lambda_2")
ASSUMPTIONS = ("bound", "free_bound")  # compared only if they are stated


def describe(header: Header, arrays: Arrays) -> list[str]:
    """Return the problem of a certificate in words, one line for each part; the text is safe to print."""
    n, p = header["n"], header["p"]
    of_outputs, each = outputs_in_words(header, arrays)
    with_intercept = f"with an intercept{each}" if header["fit_intercept"] else "without an intercept"
    one, columns = "feature", count(p, "feature")
    if "group" in arrays:
        sizes = np.bincount(arrays["group"])
        one, columns = "group", f"{count(p, 'column')} in {count(int((sizes > 0).sum()), 'group')} of at most {sizes.max()}"
    about = "".join(f" with {name} = {header[name]:.12g}" for name in claimed_loss(header).parameters)
    lines = [f"{header['loss'].replace('_', ' ')} loss{about}{of_outputs}, {with_intercept}; {n} rows, {columns}"]
    if "classes" in arrays:
        labels = [f"{label!r:.{LONGEST_LABEL}}" for label in arrays["classes"][:LONGEST_LIST].tolist()]
        more = len(arrays["classes"]) - len(labels)
        against = len(arrays["classes"]) == 2 and not claimed_loss(header).coupled
        lines[0] += f"; {' against '.join(labels)}" if against else f"; {', '.join(labels)}" + f" and {more} more" * (more > 0)
    limits = [] if header["k"] is None else [f"at most {count(header['k'], one)}"]
    if header.get("budget") is not None:
        limits.append(f"{one}s that cost at most {header['budget']:.12g} together")
    each_pays = f"for each {one}" if "price" not in arrays else f"times the cost of each {one}"
    prices = {"lambda_0": each_pays, "lambda_1": "times |beta|", "lambda_2": "times beta^2"}
    limits += [f"{name} = {header[name]:.12g} {each}" for name, each in prices.items() if header[name]]
    scale = ", beta on the scale of standardised features" if header["standardize"] else ""
    lines.append((", ".join(limits) or "no penalty, no limit") + scale)
    if "unpenalized" in arrays and len(arrays["unpenalized"]):
        lines.append(f"always allowed, without lambda_0: {some_of(arrays['unpenalized'])}")
    if "price" in arrays and (paid := arrays["price"][arrays["price"] > 0.0]).size:
        lines.append(f"features have costs, from {paid.min():.12g} to {paid.max():.12g}")
    lines += box_lines(header, arrays)
    if "weights" in arrays:
        w = arrays["weights"]
        zero = int((w == 0.0).sum())
        without = f"; {count(zero, 'row')} of {n} without any" if zero else ""
        lines.append(f"rows have weights, from {w.min():.6g} to {w.max():.6g}{without}")
    return lines


def outputs_in_words(header: Header, arrays: Arrays) -> tuple[str, str]:
    """Return how many outputs the loss is of, and what each of them is; nothing if there is one."""
    if "outputs" not in header:
        return "", ""
    if claimed_loss(header).coupled:
        return f" of {header['outputs']} classes", " for each class"
    if "classes" in arrays and len(arrays["classes"]) > 2:
        return f" of {header['outputs']} classes, each against the others", " for each class"
    return f" of {header['outputs']} targets", " for each target"


def box_lines(header: Header, arrays: Arrays) -> list[str]:
    """Return what lower and upper bounds do, if there are any."""
    low = arrays.get("lower", np.full(header["p"], -np.inf))
    high = arrays.get("upper", np.full(header["p"], np.inf))
    fixed, bounded = (low == high).nonzero()[0], (np.isfinite(low) | np.isfinite(high)) & (low != high)
    lines = []
    if bounded.any():
        lines.append(
            f"coefficients are bounded for {bounded.sum()} of {header['p']} features: "
            f"lower bounds {low[bounded].min():.6g} to {low[bounded].max():.6g}, "
            f"upper bounds {high[bounded].min():.6g} to {high[bounded].max():.6g}"
        )
    if len(fixed):
        zero = " at zero, that is not allowed in a model," if (low[fixed] == 0.0).all() else ""
        lines.append(f"coefficients are fixed{zero} for {len(fixed)} of {header['p']} features: {some_of(fixed)}")
    return lines


def some_of(features: NDArray[Any]) -> str:
    """Return the indices of some features, shortened if there are many."""
    shown = ", ".join(str(int(j)) for j in features[:LONGEST_LIST])
    more = len(features) - LONGEST_LIST
    return f"features {shown}" + (f" and {more} more" if more > 0 else "")


def count(number: int, what: str) -> str:
    """Return a number with its noun."""
    return f"{number} {what}{'s' * (number != 1)}"


def other_settings(header: Header, arrays: Arrays, expected: Mapping[str, Any], names: list[str]) -> list[str]:
    """Return in which parts a certificate is about another problem than expected, one sentence for each.

    Settings that are not stated have the defaults of `ellzero.solve`. `names` are those of X's columns, if it has any.
    """
    unknown = set(expected) - set(DEFAULTS) - set(ASSUMPTIONS)
    if unknown:
        known = ", ".join([*DEFAULTS, *ASSUMPTIONS])
        raise InvalidInputError(f"verify compares settings of the problem ({known}), got {min(map(str, unknown))!r:.40}.")
    wanted = {**DEFAULTS, **expected}
    if wanted["lambda_0"] is None:
        wanted["lambda_0"] = 0.0
    labels = labels_of_groups(wanted["groups"], header["p"], names)
    free, price = free_and_prices(wanted["unpenalized"], wanted["feature_cost"], header["p"], names, labels)
    if (
        price is None and wanted["k"] is None and isinstance(wanted["budget"], (int, float))
    ):  # without costs, a number of features
        wanted |= {"k": math.floor(wanted["budget"] * (1.0 + BUDGET_SLACK)), "budget": None}
    out = []
    for name in (*COMPARED, *claimed_loss(header).parameters, *ASSUMPTIONS):
        if name in wanted and not same_setting(header.get(name), wanted[name]):
            out.append(f"{name} is {as_said(header.get(name))} in the certificate, not {as_said(wanted[name])} as expected.")
    n, p = header["n"], header["p"]
    for name, default in (("lower", -np.inf), ("upper", np.inf)):
        if not np.array_equal(arrays.get(name, np.full(p, default)), spread_out(name, wanted[name], p, default)):
            out.append(f"{name} is not as expected: the certificate is about other bounds of the coefficients.")
    mask = np.zeros(p, dtype=bool)
    mask[arrays.get("unpenalized", [])] = True
    if not np.array_equal(mask, free):
        out.append("unpenalized is not as expected: the certificate exempts other features from lambda_0.")
    every = np.where(free, 0.0, 1.0)
    if not np.array_equal(np.where(free, 0.0, arrays.get("price", every)), every if price is None else price):
        out.append("feature_cost is not as expected: the certificate is about other costs of the features.")
    if not np.array_equal(arrays.get("group", np.arange(p)), heads_of(labels)):
        out.append("groups is not as expected: the certificate is about other groups of the columns.")
    given = spread_out("sample_weight", wanted["sample_weight"], n, 1.0)
    share = given / given.sum() if given.sum() else given
    if not np.allclose(arrays.get("weights", np.full(n, 1.0 / n)), share, rtol=AGREEMENT, atol=1e-300):
        out.append("sample_weight is not as expected: the certificate is about other weights of the rows.")
    return out


def column_names(X: Any) -> list[str]:
    """Return the names of the columns of a data frame or a store if all are text, else none.

    As in `ellzero.solve`, an integer means the place of a column, whatever the columns are called.
    """
    names = list(X.columns if hasattr(X, "columns") else getattr(X, "names", None) or ())
    return names if all(isinstance(name, str) for name in names) else []


def same_setting(claimed: Any, wanted: Any) -> bool:
    """Return whether two settings are the same; numbers may be of different types."""
    if claimed is None or wanted is None or isinstance(claimed, (str, bool)):
        return bool(claimed == wanted)
    try:
        return float(claimed) == float(wanted)
    except (TypeError, ValueError):
        return False


def as_said(value: Any) -> str:
    """Return a setting as text that is safe to print."""
    return f"{value!r:.40}"


def spread_out(name: str, value: Any, size: int, default: float) -> Array:
    """Return one number for each feature or row; None stands for the default."""
    try:
        return np.broadcast_to(np.asarray(default if value is None else value, dtype=np.float64), (size,))
    except (TypeError, ValueError):
        raise InvalidInputError(f"{name} must be a number or {size} numbers.") from None


def labels_of_groups(groups: Any, p: int, names: list[str]) -> list[Any]:
    """Return the label of each column's group, None for a column on its own; groups are labels, or columns by their name."""
    if groups is None:
        return [None] * p
    if isinstance(groups, str) or not hasattr(groups, "__iter__"):
        raise InvalidInputError(f"groups must be stated as labels of columns, or as columns by name, got {groups!r:.40}.")
    if not isinstance(groups, Mapping):
        labels = [None if label is None or label != label else label for label in groups]
        if len(labels) != p:
            raise InvalidInputError(f"groups must hold a label for each of the {p} columns of X, got {len(labels)}.")
        return labels
    labels, known = [None] * p, {name: j for j, name in enumerate(names)}
    for label, columns in groups.items():
        for each in [columns] if isinstance(columns, str) else columns:
            j = known.get(each, each)
            if not isinstance(j, (int, np.integer)) or not 0 <= j < p:
                raise InvalidInputError(f"groups names a column that X does not have: {each!r:.40}.")
            labels[j] = label
    return labels


def heads_of(labels: list[Any]) -> NDArray[np.int64]:
    """Return the first column of each column's group."""
    first: dict[Any, int] = {}
    return np.array([j if label is None else first.setdefault(label, j) for j, label in enumerate(labels)], dtype=np.int64)


def free_and_prices(
    unpenalized: Any, costs: Any, p: int, names: list[str], labels: list[Any]
) -> tuple[NDArray[np.bool_], Array | None]:
    """Return a mask of unpenalized features, those that cost nothing included, and prices; None if all others are one.

    Mappings name columns, or groups by their labels.
    """
    mask = as_mask(unpenalized, p, names)
    if costs is None:
        return mask, None
    price = np.ones(p)
    known = {name: j for j, name in enumerate(names)}
    groups: dict[str, list[int]] = {}
    for column, label in enumerate(labels):
        if label is not None:
            groups.setdefault(str(label), []).append(column)
    named = costs.to_dict() if hasattr(costs, "to_dict") and set(costs.index) & set(names) else costs
    if isinstance(named, Mapping):
        for name, value in named.items():
            if str(name) in groups:
                price[groups[str(name)]] = value
                continue
            j = known.get(name, name)
            if not isinstance(j, (int, np.integer)) or not 0 <= j < p:
                raise InvalidInputError(f"feature_cost names a feature that X does not have: {name!r:.40}.")
            price[j] = value
    else:
        price = np.array(spread_out("feature_cost", named, p, 1.0))
    mask |= price == 0.0
    return mask, None if (price[~mask] == 1.0).all() else np.where(mask, 0.0, price)


def as_mask(value: Any, p: int, names: list[str]) -> NDArray[np.bool_]:
    """Return features, given by index, mask or name, as a mask."""
    mask = np.zeros(p, dtype=bool)
    if value is None:
        return mask
    given = np.asarray(value)
    if given.dtype == bool and given.shape == (p,):
        return given.copy()
    known = {name: j for j, name in enumerate(names)}
    for each in np.atleast_1d(given).tolist():
        j = known.get(each, each)
        if not isinstance(j, int) or not -p <= j < p:
            raise InvalidInputError(f"unpenalized names a feature that X does not have: {each!r:.40}.")
        mask[j] = True
    return mask
