"""The check of a certificate of a score card: its claims read, its tree walked, its boxes of points bounded.

A score gives whole points w_j, l_j <= w_j <= u_j, to at most k columns of zeros and ones (or small whole numbers); the risk is
1 / (1 + exp(-(a score + c))) with a scale a in [B, A] and any intercept c, or one of a whole number of points. Its objective is
the mean logistic loss and a price of each column. The proof is a tree over columns ("in" or "out"). A
leaf holds a model, whose dual point bounds all supports of the leaf, or is exhausted: then all of its supports are run through
here. Each must be closed by its entropy, by a dual point found here, or be listed with boxes of points that cover it, each with
a model.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.devices import at_hand
from ellzero.base.imports import whole_imports
from ellzero.base.reading import Form, Malformed, check_forms, read_archive
from ellzero.exact.verifier.data import (
    Refused,
    as_matrix,
    check_entries,
    dense,
    fingerprint_matrix,
    fingerprint_vector,
    require,
)
from ellzero.exact.verifier.rules import IN, OPEN, OUT, claimed_statements, describe_rules, read_rules, stated_rules
from ellzero.exact.verifier.score_bounds import EPS, Counts, DistinctRows, Limits
from ellzero.exact.verifier.statement import LONGEST_LIST, column_names

FORMAT = "ellzero score"
MOST_POINTS, MOST_COLUMNS, MOST_CELLS = 1000, 63, 12
"""Points of a column either way, columns of a card, and columns of supports that are run through."""
STATUSES = ("optimal", "complete", "time_limit", "interrupted", "too_many", "too_large")
LARGEST_ENTRY = 255
NUMBERS = ("min_scale", "max_scale", "lambda_0", "scale", "intercept", "objective", "lower_bound", "gap_asked")
FIELDS = {"format", "version", "n", "p", "k", "whole_intercept", "status", "threshold", "fingerprint_X", "fingerprint_y"}
FIELDS |= {"digest", *NUMBERS}
TOLERANCE = 1e-9  # relative to the objective; claims agree with what is computed here to this precision
FORMS = {
    "points_lower": Form("i", ("columns",), low=-MOST_POINTS, high=1),
    "points_upper": Form("i", ("columns",), low=0, high=MOST_POINTS + 1),
    "support": Form("i", ("used",), low=0, high="columns", ascending=True),
    "points": Form("i", ("used",)),
    "tree": Form("i", ("nodes",), low=-2, high="columns"),
    "model_ends": Form("i", ("models + 1",), starts_of="model_columns"),
    "model_columns": Form("i", ("entries",), low=0, high="columns"),
    "model_values": Form("f", ("entries",), finite=True),
    "model_intercepts": Form("f", ("models",), finite=True),
    "listed": Form("i", ("listed", "size"), low=-1, high="columns"),
    "box_support": Form("i", ("boxes",), low=0, high="listed"),
    "box_lower": Form("i", ("boxes", "size")),
    "box_upper": Form("i", ("boxes", "size")),
    "box_points": Form("f", ("boxes", "size + 1"), finite=True),
}
OPTIONAL = {
    "weights": Form("f", ("n",), low=0.0, finite=True),
    "classes": Form("iufbU", ("two",)),
    "rule_feature": Form("i", ("rules",), low=-1, high="p"),
    "rule_low": Form("i", ("rules",), low=0),
    "rule_high": Form("i", ("rules",), low=0),
    "rule_ends": Form("i", ("rules",), low=0),
    "rule_members": Form("i", ("rule members",), low=0, high="p"),
}
LARGEST = 1e300


def read_score(certificate: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
    """Return header and arrays if this is a certificate of a score card, or the file of one; nothing otherwise."""
    if not isinstance(certificate, (str, os.PathLike)):
        header = getattr(certificate, "header", None)
        if not isinstance(header, Mapping) or header.get("format") != FORMAT:
            return None
        return dict(header), {name: np.asarray(array) for name, array in certificate.arrays.items()}
    try:
        header, arrays = read_archive(certificate, FORMS | OPTIONAL)
    except (Malformed, OSError):
        return None  # the other reader says what is wrong
    return (header, arrays) if header.get("format") == FORMAT else None


def check_claims(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Refuse claims that are not of the right type, shape and range."""
    require(type(header.get("version")) is int and header["version"] == 1, "only version 1 of score certificates is read here.")
    check_entries(header, arrays, FIELDS)
    for name in ("n", "p", "k"):
        value = header[name]
        require(type(value) is int and 1 <= value < 2**31, f"{name} is no usable number: {value!r:.40}.")
    require(header["k"] <= MOST_COLUMNS, f"k is above {MOST_COLUMNS}.")
    for name in NUMBERS + ("threshold",) * (header["threshold"] is not None):
        value = header[name]
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        require(number and -LARGEST < value < LARGEST, f"{name} is no usable number: {value!r:.40}.")
    require(0.0 <= header["min_scale"] <= header["max_scale"] <= 1e3, "min_scale or max_scale is out of range.")
    require(header["max_scale"] > 0.0, "max_scale is zero.")
    require(header["gap_asked"] >= 0.0 and header["lambda_0"] >= 0.0, "gap_asked or lambda_0 is negative.")
    ones = header["whole_intercept"]
    require(type(ones) is bool, f"whole_intercept is neither true nor false: {ones!r:.40}.")
    require(not ones or header["intercept"] == 0.0, "an intercept of points stands in points, not in intercept.")
    require(header["status"] in STATUSES, f"status is unknown: {header['status']!r:.40}.")
    sizes = {"n": header["n"], "p": header["p"], "columns": header["p"] + ones, "two": 2}
    sizes |= {"size": header["k"] + ones, "size + 1": header["k"] + ones + 1}
    extra = {name: form for name, form in OPTIONAL.items() if name in arrays and (name != "classes")}
    unknown = arrays.keys() - FORMS.keys() - OPTIONAL.keys()
    require(not unknown, f"an array has no use in this certificate: {min(unknown, key=str, default='')!r:.40}.")
    try:
        sizes = check_forms({name: arrays[name] for name in arrays if name != "classes"}, FORMS | extra, sizes)
        require("classes" in arrays, "classes is missing.")
        OPTIONAL["classes"].check_header("classes", arrays["classes"].dtype, arrays["classes"].shape, sizes)
    except Malformed as error:
        raise Refused(f"{error}.") from None
    same = len(arrays["model_ends"]) == len(arrays["model_intercepts"]) + 1
    require(same, "model_ends does not have an end for each model.")
    require(len(np.unique(arrays["classes"])) == 2, "classes lists a label twice.")


@dataclass(eq=False)
class ScoreProof:
    """A certificate with its data: what the parts of the proof are checked against."""

    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    rows: DistinctRows
    tell: Callable[[float], None] | None = None
    reasons: list[str] = field(default_factory=list)
    supports: int = 0  # run through
    leaves: int = 0
    unsolved: int = 0
    models: set[tuple[tuple[int, ...], tuple[int, ...]]] = field(default_factory=set)
    least: float = math.inf

    def __post_init__(self) -> None:
        arrays, p = self.arrays, self.header["p"]
        self.always = (p,) if self.header["whole_intercept"] else ()
        self.k = self.header["k"] + len(self.always)
        self.limits = Limits(float(self.header["min_scale"]), float(self.header["max_scale"]), self.k)
        self.level = float(self.header["lower_bound"])
        self.enough = -math.inf  # bounds below it leave the gap open
        self.low, self.high = (arrays[f"points_{side}"].astype(np.int64) for side in ("lower", "upper"))
        self.rules = read_rules(arrays, 1)
        # Then supports are those of the scores, each size by itself, and other boxes of points say nothing about one.
        self.by_size = self.rules is not None or self.rows.price > 0.0
        self.conflict: NDArray[np.bool_] | None = None
        pairs = [sorted(members) for feature, _, high, members in claimed_statements(arrays) if feature < 0 and high == 1]
        if pairs:
            self.conflict = np.zeros((p + 1, p + 1), dtype=bool)
            for members in pairs:
                self.conflict[np.ix_(members, members)] = True
            np.fill_diagonal(self.conflict, False)
        self.null_intercept = math.log(float(self.rows.P.sum()) / float(self.rows.N.sum()))
        self.listed = self.read_listed()

    def objective(self, support: NDArray[np.int64], points: NDArray[np.int64], scale: float, intercept: float) -> float:
        """Return the loss of a score."""
        eta = scale * (self.rows.X[:, support] @ points.astype(np.float64)) + intercept
        P, N = self.rows.P.astype(np.float64), self.rows.N.astype(np.float64)
        losses = np.append(P * np.logaddexp(0.0, -eta), N * np.logaddexp(0.0, eta))
        return float(self.rows.unit) * math.fsum(losses.tolist()) + self.rows.cost(len({*support.tolist(), *self.always}))

    def check_score(self) -> float:
        """Return the objective of the claimed score; refuse one that breaks a rule."""
        arrays, header = self.arrays, self.header
        support, points = arrays["support"].astype(np.int64), arrays["points"].astype(np.int64)
        used = len({*support.tolist(), *self.always})
        require(used <= self.k, f"the score uses {used - len(self.always)} columns, k allows {self.header['k']}.")
        inside = (points != 0) & (points >= self.low[support]) & (points <= self.high[support])
        require(inside.all(), "the score has points that are zero or out of their range.")
        require(self.limits.least <= header["scale"] <= self.limits.most, "the scale is not between min_scale and max_scale.")
        require(self.obeys(support), "the score breaks a rule.")
        return self.objective(support, points, float(header["scale"]), float(header["intercept"]))

    def obeys(self, support: Any) -> bool:
        """Return whether a support obeys the rules."""
        return self.rules is None or self.rules.hold(np.isin(np.arange(self.header["p"] + 1), support))

    def possible(self, inside: tuple[int, ...], maybe: tuple[int, ...]) -> bool:
        """Return whether the rules leave anything of a node."""
        if self.rules is None:
            return True
        states = np.where(np.isin(self.rules.known, inside), IN, np.where(np.isin(self.rules.known, maybe), OPEN, OUT))
        return bool(self.rules.settle(states[None, :].astype(np.int8))[0])

    def read_listed(self) -> dict[tuple[int, ...], int]:
        """Return the place of each listed support; each is in ascending order, after which there is -1."""
        out: dict[tuple[int, ...], int] = {}
        for place, row in enumerate(self.arrays["listed"].tolist()):
            support = tuple(j for j in row if j >= 0)
            ordered = list(support) == sorted(set(support)) and row == [*support] + [-1] * (self.k - len(support))
            require(ordered and support not in out, "a listed support is malformed.")
            out[support] = place
        return out

    def walk(self) -> None:
        """Go through the tree; set the least bound of its leaves."""
        tree, done = self.arrays["tree"].tolist(), 0.0
        stack: list[tuple[tuple[int, ...], tuple[int, ...], float]] = [(self.always, tuple(range(self.header["p"])), 1.0)]
        model = 0
        for split in tree:
            require(len(stack), "the tree goes on after its end.")
            inside, maybe, share = stack.pop()
            if split >= 0:
                require(split in maybe and len(inside) < self.k, "the tree splits a column that is in or out.")
                rest = tuple(j for j in maybe if j != split)
                stack += [(inside, rest, share / 2), ((*inside, split), rest, share / 2)]  # in comes first
                continue
            self.leaves += 1
            if split == -2:
                require(model < len(self.arrays["model_intercepts"]), "a leaf of the tree has no model.")
                bound = self.model_bound(model, inside, maybe)
                model += 1
                self.unsolved += bound < self.enough
            else:
                bound = self.exhaust(inside, maybe)
            self.least = min(self.least, bound)
            done += share
            if self.tell is not None:
                self.tell(done)
        require(not stack, "the tree ends too early.")

    def model_bound(self, model: int, inside: tuple[int, ...], maybe: tuple[int, ...]) -> float:
        """Return the bound that a model gives for all supports of a node."""
        start, end = self.arrays["model_ends"][model : model + 2].tolist()
        used, values = self.arrays["model_columns"][start:end], self.arrays["model_values"][start:end]
        point = used, values, float(self.arrays["model_intercepts"][model])
        if not self.possible(inside, maybe):
            return math.inf
        return self.rows.region_bound(point, list(inside), list(maybe), (self.low, self.high, self.limits))

    def exhaust(self, inside: tuple[int, ...], maybe: tuple[int, ...]) -> float:
        """Return the least bound of the supports of a node."""
        top, least = min(self.k, len(inside) + len(maybe)), math.inf
        require(self.header["k"] <= MOST_CELLS, f"supports of more than {MOST_CELLS} columns are not run through here.")
        if not self.possible(inside, maybe):
            return math.inf
        # Without rules and prices a larger support holds the scores of smaller ones, since no points are points.
        for size in range(len(inside) if self.by_size else top, top + 1):
            cost = self.rows.cost(size)
            level = self.level - cost + 4.0 * EPS * (self.level + cost)  # not below the exact difference
            for count, found in self.rows.open_supports(list(inside), list(maybe), size, level, self.conflict):
                self.supports += count
                if self.rules is not None:
                    found = found[[self.obeys(support) for support in found]]
                if len(found):
                    least = min(least, self.close(np.sort(found, axis=1)))
        return least

    def close(self, supports: NDArray[np.int64]) -> float:
        """Return the least bound of supports that entropy leaves open."""
        if supports.shape[1] == 0:
            return self.objective(supports[0], supports[0], 0.0, self.null_intercept)
        bounds = self.rows.free_bounds(supports, self.low, self.high, self.limits, self.level)
        for i in np.flatnonzero(~(bounds >= self.level)):
            place = self.listed.get(tuple(supports[i].tolist()))
            if place is not None:
                bounds[i] = max(bounds[i], self.listed_bound(place, supports[i]))
        return float(bounds.min())

    def listed_bound(self, place: int, support: NDArray[np.int64]) -> float:
        """Return the least bound of the boxes of a listed support; of a list of scores, without those that are listed."""
        which = np.flatnonzero(self.arrays["box_support"] == place)
        low, high = (self.arrays[f"box_{side}"][which].astype(np.int64) for side in ("lower", "upper"))
        size = len(support)
        padded = not (low[:, size:].any() or high[:, size:].any() or self.arrays["box_points"][which][:, size:-1].any())
        low, high = low[:, :size], high[:, :size]
        if not padded or not covers(low, high, self.low[support], self.high[support]):
            self.reasons.append(f"the boxes of support {support.tolist()} do not cover its points.")
            return -math.inf
        points = self.arrays["box_points"][which][:, [*range(size), self.k]]
        bounds = self.rows.boxes_bound(support, points, low, high, self.limits)
        if self.by_size:
            bounds[((low == 0) & (high == 0))[:, support != self.rows.ones].any(axis=1)] = math.inf
        if self.header["threshold"] is not None:
            single = (low == high).all(axis=1) & ~(bounds >= self.level)
            for row in low[single]:
                self.models.add((tuple(support[row != 0].tolist()), tuple(row[row != 0].tolist())))
            bounds = bounds[~single]
        return float(bounds.min(initial=math.inf))


def covers(low: Counts, high: Counts, least: Counts, most: Counts) -> bool:
    """Return whether boxes are inside of one, apart from each other, and hold as many points as it together."""
    if (low > high).any() or (low < least).any() or (high > most).any():
        return False
    sizes = sum(math.prod(each) for each in (high - low + 1).tolist())
    if sizes != math.prod((most - least + 1).tolist()):
        return False
    step = max(1, (1 << 22) // max(low.size, 1))
    for start in range(0, len(low), step):
        part = slice(start, start + step)
        meet = ((low[part, None] <= high) & (high[part, None] >= low)).all(axis=2)
        if meet.sum() != len(low[part]):  # each meets itself
            return False
    return True


def read_score_data(header: dict[str, Any], arrays: dict[str, NDArray[Any]], X: Any, y: Any, exactly: bool) -> DistinctRows:
    """Return the rows of the data; refuse data that the certificate was not made for."""
    n, p = header["n"], header["p"]
    try:
        matrix = as_matrix(X)
        require(tuple(matrix.shape) == (n, p), f"X has shape {tuple(matrix.shape)}, the certificate is for {(n, p)}.")
        same = fingerprint_matrix(matrix, "dense") == header["fingerprint_X"]
        require(same, "X is not the matrix that the certificate was made for.")
        values = dense(matrix[:, :])
        small = (values == np.floor(values)) & (values >= 0.0) & (values <= LARGEST_ENTRY)
        require(small.all(), f"X has entries that are not whole numbers from 0 to {LARGEST_ENTRY}.")
        labels = np.asarray(at_hand(y))
        require(labels.shape in ((n,), (n, 1)), f"y has shape {labels.shape}, the certificate is for {n} rows.")
        labels = labels.ravel()
        labels = labels.astype(str) if arrays["classes"].dtype.kind == "U" else labels
        signs = np.where(labels == arrays["classes"][1], 1.0, np.where(labels == arrays["classes"][0], -1.0, 0.0))
    except (TypeError, ValueError) as error:
        raise Refused(f"X or y cannot be read as numbers: {error}") from None
    weights = arrays.get("weights")
    if weights is not None:
        require(abs(weights.sum() - 1.0) <= TOLERANCE, "weights do not sum to one.")
        signs = np.where(weights > 0.0, signs, 0.0)
    same = (
        fingerprint_vector(signs) == header["fingerprint_y"] and (signs[... if weights is None else weights > 0.0] != 0.0).all()
    )
    require(same, "y is not the target that the certificate was made for.")
    columns = [values.astype(np.uint8)] + [np.ones((n, 1), np.uint8)] * header["whole_intercept"]
    data = np.hstack(columns), signs, weights, float(header["lambda_0"]), p if header["whole_intercept"] else -1
    require((signs > 0.0).any() and (signs < 0.0).any(), "y has one class only.")
    if not exactly:
        return DistinctRows.of(*data)
    with whole_imports():
        from ellzero.exact.verifier.score_exact import ExactRows
    return ExactRows.exactly(*data)


def expectations(
    header: dict[str, Any], arrays: dict[str, NDArray[Any]], expected: Mapping[str, Any], names: list[str]
) -> list[str]:
    """Return where a certificate differs from the settings that the reader states."""
    out = []
    for name, value in expected.items():
        if name in ("points_lower", "points_upper"):
            same = bool(np.all(arrays[name][: header["p"]] == np.asarray(value)))
            found: Any = "another"
        elif name in ("k", "min_scale", "max_scale", "lambda_0", "whole_intercept", "gap_asked", "threshold"):
            found, same = header[name], header[name] == value
        elif name == "rules":
            found, same = "another", claimed_statements(arrays) == stated_rules(value, np.arange(header["p"]), names, [])
            value = "; ".join(map(str, value))
        else:
            out.append(f"{name} is not a setting of a score card.")
            continue
        out += [] if same else [f"{name} is {found} in the certificate, not {value!r:.60} as expected."]
    return out


def describe_score(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> list[str]:
    """Return in words what the proof is about."""
    lower, upper = (arrays[f"points_{side}"][: header["p"]] for side in ("lower", "upper"))
    low, high = int(lower.min()), int(upper.max())
    same = bool((lower == low).all() and (upper == high).all())
    intercept = "free"
    if header["whole_intercept"]:
        intercept = f"whole points from {arrays['points_lower'][-1]} to {arrays['points_upper'][-1]}"
    lines = [
        f"risk score, logistic loss, {header['n']} rows and {header['p']} columns of whole numbers",
        f"points from {low} to {high}{'' if same else ' or narrower'}, for at most {header['k']} columns, scale from "
        f"{header['min_scale']:g} to {header['max_scale']:g}, intercept {intercept}",
    ]
    if header["lambda_0"]:
        lines.append(f"a price of {header['lambda_0']:g} for each column")
    lines += describe_rules(arrays, LONGEST_LIST)
    return lines + ["with weights of the rows"] * ("weights" in arrays)


def check_score(
    claims: tuple[dict[str, Any], dict[str, NDArray[Any]]],
    data: tuple[Any, Any],
    exactly: bool,
    expected: Mapping[str, Any] | None,
    tell: Callable[[float], None] | None,
) -> dict[str, Any]:
    """Check a certificate of a score card; return the entries of a report."""
    header, arrays = claims
    check_claims(header, arrays)
    proof = ScoreProof(header, arrays, read_score_data(header, arrays, *data, exactly), tell)
    objective = proof.check_score()
    claimed, threshold = float(header["lower_bound"]), header["threshold"]
    nothing = np.zeros(0, dtype=np.int64)
    null = proof.objective(nothing, nothing, 0.0, proof.null_intercept)
    scale = objective if objective > 1e-6 * null else null
    top = objective if threshold is None else float(threshold)
    proof.enough = top - header["gap_asked"] * scale - TOLERANCE * scale
    proof.walk()
    lower = min(max(proof.least, 0.0), claimed, top)  # no loss is below zero
    gap = max(0.0, top - lower) / scale
    reasons = proof.reasons
    other = [] if expected is None else expectations(header, arrays, expected, column_names(data[0]))
    if abs(header["objective"] - objective) > TOLERANCE * scale:
        reasons.append(f"the score's loss is {objective:.15g}, not {header['objective']:.15g} as claimed.")
    if claimed > lower + TOLERANCE * scale:
        reasons.append(f"the proof shows the lower bound {lower:.15g} only, not {claimed:.15g} as claimed.")
    if header["status"] in ("optimal", "complete") and gap > header["gap_asked"] * (1.0 + 1e-6) + 1e-12:
        reasons.append(f"the status is '{header['status']}' but the proved gap is {gap:.6g}, not {header['gap_asked']:.6g}.")
    if (header["status"] == "complete") != (threshold is not None) and header["status"] in ("optimal", "complete"):
        reasons.append("the status does not fit the threshold.")
    if threshold is not None and threshold < objective:
        reasons.append("the threshold is below the loss of the score.")
    verdict = "not valid" if reasons else "about another problem" if other else "valid"
    reasons = reasons + other
    if proof.unsolved:
        reasons.append(f"{proof.unsolved} of {proof.leaves} leaves are open: the search stopped early ({header['status']}).")
    return {
        "valid": verdict == "valid",
        "verdict": verdict,
        "differences": other,
        "objective": objective,
        "lower_bound": lower,
        "gap": gap,
        "claimed_lower_bound": claimed,
        "nodes": len(arrays["tree"]),
        "leaves": proof.leaves,
        "open_leaves": proof.unsolved,
        "reasons": reasons,
        "problem": describe_score(header, arrays),
        "models": None if threshold is None else len(proof.models),
        "threshold": threshold,
        "arithmetic": "exact" if exactly else "float64",
    }
