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
from ellzero.exact.verifier.rules import claimed_statements, describe_rules, stated_rules

Array = NDArray[np.float64]
Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]

LONGEST_LIST = 8  # features that are named one by one
LONGEST_LABEL = 40  # characters of a label that are shown
AGREEMENT = 1e-9  # relative; weights are divided by their sum, which rounds
SETTINGS = ("loss", "huber_delta", "lambda_0", "lambda_1", "lambda_2", "k", "budget", "fit_intercept", "standardize")
ARRAYS = ("lower", "upper", "unpenalized", "feature_cost", "groups", "sample_weight", "rules")
TERMS: dict[str, Any] = {"bound": None, "swap_size": None, "gap": 1e-4}
"""What a proof may assume, be limited to or leave open, with the defaults of `ellzero.solve`.

A reader who states a problem (one of SETTINGS) means these unless he states others. `free_bound`, which `solve` chooses, is
compared only if it is stated.
"""


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
    if header["budget"] is not None:
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
    lines += describe_rules(arrays, LONGEST_LIST)
    if "weights" in arrays:
        w = arrays["weights"]
        zero = int((w == 0.0).sum())
        without = f"; {count(zero, 'row')} of {n} without any" if zero else ""
        lines.append(f"rows have weights, from {w.min():.6g} to {w.max():.6g}{without}")
    return lines


def outputs_in_words(header: Header, arrays: Arrays) -> tuple[str, str]:
    """Return how many outputs the loss is of, and what each of them is; nothing if there is one."""
    if header["outputs"] == 1:
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

    Of the settings of the problem, only those that are stated are compared. `names` are those of X's columns, if it has any.
    """
    known = (*SETTINGS, *ARRAYS, *TERMS, "free_bound")
    if unknown := set(expected) - set(known):
        raise InvalidInputError(
            f"verify compares settings of the problem ({', '.join(known)}), got {min(map(str, unknown))!r:.40}."
        )
    wanted = with_terms(expected)
    if "lambda_0" in wanted and wanted["lambda_0"] is None:
        wanted["lambda_0"] = 0.0
    if "price" not in arrays and isinstance(wanted.get("budget"), (int, float)):  # without costs, a number of features
        wanted["k"] = math.floor(min(wanted.pop("budget") * (1.0 + BUDGET_SLACK), header["p"]))
    out = [
        f"{name} is {as_said(header.get(name))} in the certificate, not {as_said(wanted[name])} as expected."
        for name in (*SETTINGS, "bound", "swap_size", "free_bound")
        if name in wanted and not same_setting(header.get(name), wanted[name])
    ]
    return out + other_arrays(header, arrays, wanted, names)


def with_terms(expected: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a reader states, and what he means by that."""
    return {**(TERMS if expected.keys() & set(SETTINGS) else {}), **expected}


def other_arrays(header: Header, arrays: Arrays, wanted: Mapping[str, Any], names: list[str]) -> list[str]:
    """Return what `other_settings` does for the settings that have a number for each column or row."""
    out, n, p = [], header["n"], header["p"]
    for name, default in (("lower", -np.inf), ("upper", np.inf)):
        if name in wanted and not np.array_equal(
            arrays.get(name, np.full(p, default)), spread_out(name, wanted[name], p, default)
        ):
            out.append(f"{name} is not as expected: the certificate is about other bounds of the coefficients.")
    mask = np.zeros(p, dtype=bool)
    mask[arrays.get("unpenalized", [])] = True
    labels = labels_of_groups(wanted.get("groups"), p, names)
    price = prices_of(wanted.get("feature_cost"), p, names, labels)
    if "unpenalized" in wanted or (price == 0.0).any():
        stated = as_mask(wanted["unpenalized"], p, names) if "unpenalized" in wanted else mask & (price > 0.0)
        if not np.array_equal(mask, stated | (price == 0.0)):
            out.append("unpenalized is not as expected: the certificate exempts other features from lambda_0.")
    if "feature_cost" in wanted and not np.array_equal(arrays.get("price", np.ones(p))[~mask], price[~mask]):
        out.append("feature_cost is not as expected: the certificate is about other costs of the features.")
    if "groups" in wanted and not np.array_equal(arrays.get("group", np.arange(p)), heads_of(labels)):
        out.append("groups is not as expected: the certificate is about other groups of the columns.")
    if "rules" in wanted:
        heads = arrays.get("group", np.arange(p))
        if claimed_statements(arrays) != stated_rules(wanted["rules"] or (), heads, names, labels):
            out.append("rules is not as expected: the certificate is about other rules on the features.")
    if "sample_weight" in wanted:
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


def prices_of(costs: Any, p: int, names: list[str], labels: list[Any]) -> Array:
    """Return the price of each feature; mappings name columns, or groups by their labels."""
    price = np.ones(p)
    known = {name: j for j, name in enumerate(names)}
    groups: dict[str, list[int]] = {}
    for column, label in enumerate(labels):
        if label is not None:
            groups.setdefault(str(label), []).append(column)
    named = costs.to_dict() if hasattr(costs, "to_dict") and set(costs.index) & set(names) else costs
    if not isinstance(named, Mapping):
        return np.array(spread_out("feature_cost", named, p, 1.0))
    for name, value in named.items():
        if str(name) in groups:
            price[groups[str(name)]] = value
            continue
        j = known.get(name, name)
        if not isinstance(j, (int, np.integer)) or not 0 <= j < p:
            raise InvalidInputError(f"feature_cost names a feature that X does not have: {name!r:.40}.")
        price[j] = value
    return price


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
