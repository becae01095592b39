"""Read the claims of a certificate, and check every type, shape and range."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.devices import at_hand
from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import one_line
from ellzero.base.reading import Form, read_archive
from ellzero.exact.verifier.arithmetic import Float64, Objective
from ellzero.exact.verifier.bounds import BUDGET_SLACK, Stated
from ellzero.exact.verifier.data import (
    Refused,
    as_matrix,
    check_entries,
    column_sizes,
    fingerprint_matrix,
    fingerprint_vector,
    require,
    require_all,
    require_real,
)
from ellzero.exact.verifier.diagonals import MOST_COLUMNS, Diagonals, PointModel
from ellzero.exact.verifier.families import Families, FamilyForm, GramPoint
from ellzero.exact.verifier.growth import GrowthProof
from ellzero.exact.verifier.losses import KNOWN, claimed_loss
from ellzero.exact.verifier.models import Models
from ellzero.exact.verifier.regions import Blocks
from ellzero.exact.verifier.rules import NAMES as RULES
from ellzero.exact.verifier.rules import read_rules
from ellzero.exact.verifier.tree import Tree

Array = NDArray[np.float64]
Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]

FORMAT, VERSION = "ellzero certificate", 1
STATUSES = ("optimal", "time_limit", "node_limit", "interrupted", "precision", "failed", "improved")
STATUSES_OF_LISTS = ("complete", "time_limit", "node_limit", "too_many", "interrupted", "precision")
SMALLEST_SPREAD = 1e-145  # squares of smaller ones lose their digits: such a column counts as constant
TOLERANCE = 1e-9  # relative; claims must agree with what is computed here to this precision

WHOLE, SIGNED = ("version", "n", "p", "k", "swap_size", "outputs"), ("objective", "lower_bound")
NULLABLE = ("k", "budget", "swap_size", "bound", "free_bound", "threshold", "within")
LEAST = {"n": 1, "p": 1, "swap_size": 1, "outputs": 1}
NUMBERS = ("n", "p", "outputs", "lambda_0", "lambda_1", "lambda_2", "gap_asked", *NULLABLE, *SIGNED)
FLAGS, WORDS = ("fit_intercept", "standardize"), {"loss": tuple(KNOWN), "storage": ("dense", "sparse")}
TEXTS = ("format", "version", "fingerprint_X", "fingerprint_y", "prover", "digest")
FIELDS = {*NUMBERS, *FLAGS, *WORDS, *TEXTS, "status"}
LARGEST = float(np.finfo(np.float64).max)
LONGEST_LABEL = 1000  # characters
MOST_NODES = 2**22
LARGEST_PRICE = 1e100  # and the inverse of the least: ratios of gains to prices stay numbers

FLOATS, SHARES, INTEGERS = ("float64",), ("float64", "uint16"), ("int8", "int16", "int32", "int64")
KINDS: dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[str, ...]] = {  # (types, names of the sizes): arrays
    (INTEGERS, ("nodes",)): ("parent", "branch", "side", "row"),
    (INTEGERS, ("members",)): ("block_members",),
    (INTEGERS, ("blocks",)): ("block_ends",),
    (SHARES, ("points", "rows")): ("alpha",),
    (INTEGERS, ("points",)): ("model_ends", "point_diagonal", "point_form"),
    (FLOATS, ("points",)): ("model_intercept", "model_scale"),
    (INTEGERS, ("model entries",)): ("model_columns",),
    (FLOATS, ("model entries",)): ("model_values",),
    (INTEGERS, ("diagonals",)): ("diagonal_ends",),
    (INTEGERS, ("diagonal entries",)): ("diagonal_members",),
    (FLOATS, ("diagonal entries",)): ("diagonal_values",),
    (INTEGERS, ("forms",)): ("form_ends", "rest_ends"),
    (INTEGERS, ("form entries",)): ("form_members", "form_family"),
    (FLOATS, ("form entries",)): ("form_masses", "form_along", "form_ridges"),
    (FLOATS, ("families",)): ("form_rest",),
    (INTEGERS, ("enumerated",)): ("enumerated",),
    (FLOATS, ("n",)): ("weights", "growth_alpha"),
    (INTEGERS, ("growth entries",)): ("growth_columns",),
    (FLOATS, ("growth entries",)): ("growth_values",),
    (INTEGERS, ("nonzeros",)): ("support",),
    (FLOATS, ("nonzeros",)): ("coef",),
    (FLOATS, ()): ("intercept",),
    (FLOATS, ("p",)): ("lower", "upper", "spread", "price"),
    (INTEGERS, ("p",)): ("group",),
    (INTEGERS, ("others",)): ("unpenalized",),
    (INTEGERS, ("at home",)): ("home",),
    (INTEGERS, ("rules",)): ("rule_feature", "rule_low", "rule_high", "rule_ends"),
    (INTEGERS, ("rule members",)): ("rule_members",),
    (INTEGERS, ("models",)): ("listed_node", "listed_ends"),
    (FLOATS, ("models",)): ("listed_intercept",),
    (INTEGERS, ("listed entries",)): ("listed_columns",),
    (FLOATS, ("listed entries",)): ("listed_coef",),
    (INTEGERS, ("redundant",)): ("redundant_node", "redundant_to"),
}
ARRAYS = {name: form for form, names in KINDS.items() for name in names}
# With several outputs, these have a number for each.
OF_OUTPUTS = ("coef", "intercept", "model_intercept", "listed_coef", "listed_intercept")
# The arrays of a file: type and dimensions are known before an array is read, but for those that depend on the outputs.
FORMS = {
    name: Form("".join(sorted({each[0] for each in types})), None if name in OF_OUTPUTS else shape)
    for name, (types, shape) in ARRAYS.items()
}
FORMS |= {"classes": Form("iufbU", ("labels",))}
NEEDED = {"parent", "branch", "side", "row", "block_members", "block_ends", "support", "coef", "intercept"}
MODELS = {"model_ends", "model_columns", "model_values", "model_intercept"}
OPTIONAL = {"model_scale", "weights", "lower", "upper", "unpenalized", "price", "group"}
# Either all of these or none are there.
DIAGONALS = {"point_diagonal", "diagonal_ends", "diagonal_members", "diagonal_values"}
FAMILIES = {"form_ends", "rest_ends", "form_members", "form_family", "form_masses", "form_along", "form_ridges", "form_rest"}
FAMILIES |= {"point_form", "enumerated"}
GROWTH = {"growth_alpha", "growth_columns", "growth_values"}
LISTED = {"listed_node", "listed_ends", "listed_intercept", "listed_columns", "listed_coef", "redundant_node", "redundant_to"}
RANGES: dict[str, tuple[int, str]] = {
    "parent": (-1, "nodes"),
    "branch": (-1, "blocks"),
    "row": (-1, "points"),
    "side": (0, "two"),
    "point_diagonal": (-1, "diagonals"),
    "rule_feature": (-1, "p"),
}
RANGES |= dict.fromkeys(("support", "unpenalized", "home", "block_members", "group", "rule_members"), (0, "p"))
RANGES |= dict.fromkeys(("diagonal_members", "growth_columns", "listed_columns"), (0, "p"))
RANGES |= {"form_members": (0, "p"), "model_columns": (0, "columns"), "point_form": (-1, "forms"), "enumerated": (0, "nodes")}
RANGES |= {"listed_node": (0, "nodes"), "redundant_node": (0, "nodes"), "redundant_to": (0, "models")}


def read_claims(certificate: Any) -> tuple[Header, Arrays]:
    """Return header and arrays of a certificate, or of the file that holds one."""
    is_path = isinstance(certificate, (str, os.PathLike))
    if not is_path and not (hasattr(certificate, "header") and hasattr(certificate, "arrays")):
        raise InvalidInputError(f"certificate must be a path or a certificate, got {type(certificate).__name__}.")
    try:
        if not is_path:
            return dict(certificate.header), {name: np.asarray(array) for name, array in certificate.arrays.items()}
        return read_archive(certificate, FORMS)
    except FileNotFoundError:
        raise
    except Exception as error:  # of an object that is no certificate, many
        if is_path and is_model_file(certificate):
            raise InvalidInputError(
                f"certificate must be a file of proofs, but {os.fspath(certificate)} is a model file: it has coefficients and "
                "no proof; 'ellzero certify --out' and solution.certificate.save write proofs."
            ) from None
        raise Refused(f"this cannot be read as a certificate: {one_line(error)}.") from None


def lists_models(header: Header) -> bool:
    """Return whether a certificate lists all models up to a threshold."""
    return header["threshold"] is not None


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins as the model files of this package do."""
    if not os.path.isfile(path):  # a pipe cannot be read twice
        return False
    with open(path, "rb") as stream:
        return b'"format": "ellzero model"' in stream.read(40)


def check_header(header: Header, arrays: Arrays) -> None:
    """Check the format, the digest, and the type and range of every entry."""
    require(header.get("format") == FORMAT, f"this is not an {FORMAT}.")
    version = header.get("version")
    read = type(version) is int and version == VERSION
    require(read, f"version {version!r:.40} of certificates is not read here, only version {VERSION}.")
    loss = KNOWN.get(str(header.get("loss")), KNOWN["logistic"])  # one that is unknown is refused below
    numbers = (*NUMBERS, *loss.parameters)
    check_entries(header, arrays, {*FIELDS, *numbers})
    for name in numbers:
        value = header[name]
        if value is None and name in NULLABLE:
            continue
        good = isinstance(value, int if name in WHOLE else (int, float)) and not isinstance(value, bool)
        least = -LARGEST if name in SIGNED else LEAST.get(name, 0)
        require(good and least <= value <= LARGEST, f"{name} is no usable number: {value!r:.40}.")
    for name in FLAGS:
        require(isinstance(header[name], bool), f"{name} is neither true nor false.")
    several, outputs = lists_models(header), header["outputs"]
    for name, words in (WORDS | {"status": STATUSES_OF_LISTS if several else STATUSES}).items():
        require(isinstance(header[name], str) and header[name] in words, f"{name} is unknown: {header[name]!r:.40}.")
    require(all(header[name] > 0 for name in loss.parameters), "a parameter of the loss is not positive.")
    require(outputs > 1 or not loss.coupled, f"the {header['loss']} loss has one output only.")
    prover = header["prover"]
    named = prover is None or (isinstance(prover, str) and 0 < len(prover) <= 100 and prover.isascii() and prover.isprintable())
    require(named, f"prover is no short text: {prover!r:.40}.")
    limits = [name for name in ("k", "budget", "swap_size") if header.get(name) is not None]
    require(len(limits) < 2, f"{' and '.join(limits)} cannot both be given.")
    alone = header["swap_size"] is None and prover is None and header["gap_asked"] == 0
    require(not several or alone, "a list of models is not over swaps, not by another solver, and allows no gap.")
    require(several or header["within"] is None, "within belongs to a list of models.")


def check_arrays(header: Header, arrays: Arrays) -> Arrays:
    """Check types, shapes and ranges of the arrays; return them with 64 bits (but for alpha of the hinge).

    Arrays that the header does not ask for are refused: an unused array is a mistake or a trap.
    """
    needed, loss = set(NEEDED), claimed_loss(header)
    needed |= {"spread"} if header["standardize"] else set()
    needed |= {"classes"} if not loss.of_numbers else set()
    needed |= {"alpha"} if loss.has_kink else MODELS
    needed |= {"home"} if header["swap_size"] is not None else set()
    needed |= LISTED if lists_models(header) else set()
    needed |= {"price"} if header["budget"] is not None else set()
    outputs = header["outputs"]
    more = DIAGONALS if loss.constant_curvature else set() if loss.of_numbers else GROWTH
    needed |= more if more & arrays.keys() and outputs == 1 else set()
    needed |= set(RULES) if arrays.keys() & set(RULES) else set()
    needed |= FAMILIES if FAMILIES & arrays.keys() and loss.constant_curvature and outputs == 1 else set()
    missing, unknown = needed - arrays.keys(), arrays.keys() - needed - OPTIONAL
    require(not missing, f"arrays are missing: {', '.join(sorted(missing))}.")
    require(not unknown, f"an array has no use in this certificate: {min(unknown, key=str, default='')!r:.40}.")
    sizes, checked = {"n": header["n"], "p": header["p"], "rows": header["n"] * outputs, "outputs": outputs, "two": 2}, {}
    sizes["columns"] = header["p"] * outputs
    for name in (name for name in ARRAYS if name in arrays):
        scalar = name == "intercept" and outputs == 1 and arrays[name].shape == (1,)
        array = arrays[name].reshape(()) if scalar else arrays[name]
        types, shape = ARRAYS[name]
        shape += ("outputs",) if name in OF_OUTPUTS and outputs > 1 else ()
        fits = array.ndim == len(shape) and all(sizes.setdefault(s, d) == d for s, d in zip(shape, array.shape, strict=True))
        require(fits and array.dtype.name in types, f"{name} has the wrong shape {array.shape} or type {array.dtype!s:.40}.")
        if array.dtype.kind == "f":
            good = ~np.isnan(array) if name in ("lower", "upper") else np.isfinite(array)
            require_all(good, f"{name} contains numbers that are not finite")
        checked[name] = array.astype(np.int64) if array.dtype.kind == "i" else array
    for name, (low, high) in RANGES.items():
        values = checked.get(name, np.zeros(0, np.int64))
        require_all((values >= low) & (values < sizes.get(high, 0)), f"{name} contains numbers out of range")
    for name in ("support", "unpenalized"):
        values = checked.get(name, np.zeros(0, np.int64))
        require(len(np.unique(values)) == len(values), f"{name} lists a feature twice.")
    require((np.diff(checked.get("home", np.zeros(0))) > 0).all(), "home is not in ascending order.")
    if "classes" in needed:
        checked["classes"] = check_classes(arrays["classes"], header)
    return checked


def check_classes(classes: NDArray[Any], header: Header) -> NDArray[Any]:
    """Check the labels: numbers of at most 64 bits, booleans or texts that are not too long.

    There are two, or one for each output, which is then a class; of the multinomial loss, all are.
    """
    kind, size = classes.dtype.kind, classes.dtype.itemsize
    usable = (kind in "iufb" and size <= 8) or (kind == "U" and size <= 4 * LONGEST_LABEL)
    counts = {2, header["outputs"]} - {1} if not claimed_loss(header).coupled else {header["outputs"]}
    fits = classes.ndim == 1 and len(classes) in counts and usable
    require(fits, f"classes has the wrong shape {classes.shape} or type {classes.dtype!s:.40}.")
    require(len(np.unique(classes)) == len(classes), "classes lists a label twice.")
    return classes


def outputs_are_classes(header: Header, arrays: Arrays) -> bool:
    """Return whether the outputs are the classes of one column of labels; otherwise each has a column of y."""
    return claimed_loss(header).coupled or ("classes" in arrays and len(arrays["classes"]) > 2)


def read_target(header: Header, arrays: Arrays, y: Any, w: Array) -> Array:
    """Return the target as -1 and +1, as 0 and 1 (multinomial), or as numbers, one output after the other.

    It is refused if it is not that of the certificate.
    """
    if claimed_loss(header).of_numbers or np.ma.is_masked(y):
        require_real("y", y)
    outputs, values, as_classes = header["outputs"], np.asarray(at_hand(y)), outputs_are_classes(header, arrays)
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    several = outputs > 1 and not as_classes
    shape = (len(w), outputs) if several else w.shape
    wanted = f"{len(w)} rows and {outputs} targets" if several else f"{len(w)} rows"
    require(values.shape == shape, f"y has shape {values.shape}, the certificate is for {wanted}.")
    loss = claimed_loss(header)
    if loss.of_numbers:
        target, known = values.astype(np.float64), True
    else:
        labels = values.astype(str) if arrays["classes"].dtype.kind == "U" else values
        found = []
        for place, label in enumerate(arrays["classes"]):
            found.append(np.broadcast_to(labels == label, shape))
            require(not as_classes or found[-1].any(), f"classes lists a label that y does not have (at {place}).")
        known = bool(np.logical_or.reduce(found)[w > 0.0].all())
        ones = np.stack(found, axis=1) if as_classes else found[1]
        target = np.where(ones, loss.signs[1], loss.signs[0])
    target = target.T.ravel()
    same = known and fingerprint_vector(target) == header.get("fingerprint_y")
    require(same and np.isfinite(target).all(), "y is not the target that the certificate was made for.")
    return target


def check_spread(spread: Array, unit: Array, norm: Array, about_zero: Array) -> None:
    """Check that spreads are those of the data: unit times norm, or one for a constant column."""
    # A mean far from zero costs the deviations digits: there, less agreement can be required.
    allowed = np.minimum(TOLERANCE + 1e-14 * about_zero / norm, 1e-3)
    constant = (spread == 1.0) & ((norm <= 1e-12 * about_zero) | (unit * norm <= SMALLEST_SPREAD))
    right = (spread > 0.0) & (constant | (np.abs(spread - unit * norm) <= allowed * spread))
    require_all(right, "spread is not that of the data")


def read_problem(header: Header, arrays: Arrays, X: object, y: object, arithmetic: Float64) -> Stated:
    """Return the problem; refuse X and y if they are not those of the certificate."""
    n, p = header["n"], header["p"]
    try:
        matrix = as_matrix(X)
        require(tuple(matrix.shape) == (n, p), f"X has shape {tuple(matrix.shape)}, the certificate is for {(n, p)}.")
        same = fingerprint_matrix(matrix, header["storage"]) == header.get("fingerprint_X")
        require(same, "X is not the matrix that the certificate was made for.")
        w = arrays.get("weights", np.full(n, 1.0 / n))
        require((w >= 0.0).all() and abs(w.sum() - 1.0) <= TOLERANCE, "weights are negative or do not sum to one.")
        target = read_target(header, arrays, y, w)
    except (TypeError, ValueError) as error:
        raise Refused(f"X or y cannot be read as numbers: {error}") from None
    largest, deviation, about_zero, idle = column_sizes(matrix, w, header["fit_intercept"])
    counted = np.ones(p, dtype=bool)
    counted[arrays.get("unpenalized", [])] = False
    group = read_groups(arrays, counted)
    spread = arrays.get("spread", np.ones(p))
    if header["standardize"]:
        sizes = largest, deviation if header["fit_intercept"] else about_zero, about_zero
        check_spread(spread, *(sizes if group is None else of_groups(group, *sizes)))
    low, high = arrays.get("lower", np.full(p, -np.inf)), arrays.get("upper", np.full(p, np.inf))
    ordered = (low <= high).all() and (low < np.inf).all() and (high > -np.inf).all()
    require(ordered and (low <= 0.0)[counted].all() and (high >= 0.0)[counted].all(), "lower and upper are not in order.")
    bound, free_bound = (math.inf if header[name] is None else header[name] for name in ("bound", "free_bound"))
    limit = np.where(counted, bound, free_bound)
    low, high = np.maximum(low * spread, -limit), np.minimum(high * spread, limit)
    # On another scale, rounding must not cut off a solution.
    low = low - (arithmetic.slack * np.abs(low) + arithmetic.tiny)
    high = high + (arithmetic.slack * np.abs(high) + arithmetic.tiny)
    l0, l1, l2 = (arithmetic.number(float(header[name])) for name in ("lambda_0", "lambda_1", "lambda_2"))
    # Without a limit, k is p. Swaps use one limit twice: for features that come, and for features that leave home.
    k = min([p, *(header[name] for name in ("k", "swap_size") if header[name] is not None)])
    price = read_prices(arrays, counted)
    budget = None if header["budget"] is None else arithmetic.number(float(header["budget"]))
    home = np.zeros(p, dtype=bool)
    home[arrays.get("home", [])] = True
    require(not (home & ~counted).any(), "home lists unpenalized features.")
    require(group is None or (group[home] == np.flatnonzero(home)).all(), "home lists columns that do not head their groups.")
    norm = largest / spread * np.sqrt(about_zero**2 + n * arithmetic.tiny) + arithmetic.tiny  # never zero by underflow
    # Dual points are zero in rows without weight, and sum to zero exactly if there is an intercept: their products with an idle
    # column are zero.
    norm[idle] = 0.0
    outputs, rules, blocked = header["outputs"], read_rules(arrays, header["outputs"]), None
    if rules is not None:
        blocked = counted & (arrays.get("lower", np.full(p, -1.0)) == 0.0) & (arrays.get("upper", np.full(p, 1.0)) == 0.0)
        blocked = np.repeat(blocked if group is None else np.bincount(group, ~blocked, minlength=p) == 0, outputs)
    if outputs > 1:  # one column for each output in the place of each column
        group = np.repeat(outputs * (np.arange(p) if group is None else group), outputs)
        spread, norm, counted, low, high = (np.repeat(each, outputs) for each in (spread, norm, counted, low, high))
        price = None if price is None else np.repeat(price, outputs)
        home = np.repeat(home, outputs) & (group == np.arange(p * outputs))
    return Stated(
        loss=claimed_loss(header),
        lambda_0=l0,
        lambda_1=l1,
        lambda_2=l2,
        k=k,
        price=None if price is None else arithmetic.numbers(price),
        budget=budget,
        group=group,
        home=home,
        fit_intercept=header["fit_intercept"],
        X=matrix,
        y=target,
        w=np.tile(w, outputs),
        spread=spread,
        norm=norm,
        counted=counted,
        low=arithmetic.numbers(low),
        high=arithmetic.numbers(high),
        outputs=outputs,
        rules=rules,
        blocked=blocked,
        arithmetic=arithmetic,
    )


def read_groups(arrays: Arrays, counted: NDArray[np.bool_]) -> NDArray[np.int64] | None:
    """Return the first column of each column's group, None without groups; what is counted is counted as a whole."""
    if "group" not in arrays:
        return None
    group = arrays["group"]
    first = (group <= np.arange(len(group))) & (group[group] == group)
    require_all(first, "group does not name the first column of each column's group")
    require_all(counted[group] == counted, "unpenalized lists a part of a group")
    return group


def of_groups(group: NDArray[np.int64], unit: Array, norm: Array, about_zero: Array) -> tuple[Array, Array, Array]:
    """Return for each column the size of its group: a unit, and the roots of the sums of squares of both norms in it."""
    largest = np.zeros(len(group))
    np.maximum.at(largest, group, unit)
    largest = np.where(largest > 0.0, largest, 1.0)[group]

    def total(sizes: Array) -> Array:
        return np.sqrt(np.bincount(group, weights=(unit / largest * sizes) ** 2, minlength=len(group)))[group]

    return largest, total(norm), total(about_zero)


def read_prices(arrays: Arrays, counted: NDArray[np.bool_]) -> Array | None:
    """Return the price of each feature, None if all are one; those of counted features are positive, all others zero."""
    if "price" not in arrays:
        return None
    price = arrays["price"]
    require_all(price >= 0.0, "price contains negative numbers")
    require_all((price > 0.0) == counted, "price is not zero for the unpenalized features alone")
    usable = (price == 0.0) | (price >= 1.0 / LARGEST_PRICE) & (price <= LARGEST_PRICE)
    require_all(usable, "price contains numbers that are too small or too large")
    require_all(price == price[arrays.get("group", slice(None))], "price differs inside a group")
    return price


def read_solution(header: Header, arrays: Arrays, problem: Stated) -> tuple[Array, Array]:
    """Return the coefficients of all columns and the intercepts; refuse them if they violate the constraints."""
    coef, intercept = np.zeros(len(problem.counted)), np.atleast_1d(arrays["intercept"])
    coef[problem.columns(arrays["support"])] = arrays["coef"].ravel()
    features = problem.used(coef)
    used, k = int(features.sum()), header["k"]
    require(k is None or used <= k, f"the solution uses {used} features, k allows {k}.")
    require(problem.obeys(coef), "the solution does not obey the rules.")
    if header["budget"] is not None:
        paying = np.flatnonzero(features) // problem.outputs
        spent, budget = math.fsum(arrays["price"][paying].tolist()), header["budget"]
        require(
            spent <= budget * (1.0 + BUDGET_SLACK), f"the solution's features cost {spent:.12g}, budget allows {budget:.12g}."
        )
    beta = problem.arithmetic.numbers(coef) * problem.arithmetic.numbers(problem.spread)
    inside = (beta >= problem.low) & (beta <= problem.high)
    require_all(inside, "the solution violates lower, upper or the assumed bound")
    require(problem.fit_intercept or not intercept.any(), "the solution has an intercept, the problem has none.")
    return coef, intercept


def level_of(header: Header, found: Objective, arithmetic: Float64) -> Any:
    """Return the objective above which solutions are of no interest: that of the solution, or the threshold of a list."""
    if not lists_models(header):
        return found.upper
    require(header["threshold"] >= found.value, "the threshold is below the objective of the solution.")
    return arithmetic.number(float(header["threshold"]))


def hold(arrays: Arrays, problem: Stated, upper: Any) -> Stated:
    """Return the problem with the boxes that the growth of the loss proves, for solutions not worse than `upper`."""
    if "growth_alpha" not in arrays:
        return problem
    columns, values = arrays["growth_columns"], arrays["growth_values"]
    ascending = (np.diff(columns) > 0).all() and 0 < len(columns) <= MOST_COLUMNS
    require(ascending, f"the growth of the loss is malformed: it must have 1 to {MOST_COLUMNS} columns in ascending order.")
    require_all(values > 0.0, "growth_values contains numbers that are not positive")
    return GrowthProof(arrays["growth_alpha"], columns, values).held(problem, upper)


def read_tree(arrays: Arrays, problem: Stated) -> Tree:
    """Return the tree; refuse it if it is malformed."""
    parent, branch = arrays["parent"], arrays["branch"]
    shaped = len(parent) and parent[0] == -1 and (parent[1:] >= 0).all() and (parent < np.arange(len(parent))).all()
    require(shaped, "the tree is malformed: the root must come first and every parent before its children.")
    require(len(parent) <= MOST_NODES, f"the tree has more than {MOST_NODES} nodes: nothing is checked that would take days.")
    row, models = arrays["row"], read_models(arrays, problem)
    require(len(np.unique(row[row >= 0])) == np.count_nonzero(row >= 0), "two nodes of the tree share a dual point.")
    families = read_families(arrays, problem, models)
    idle = (branch < 0) & (row < 0)
    idle[[0] if families is None else [0, *families.enumerated]] = False
    if families is not None:
        row = np.where(np.isin(np.arange(len(row)), list(families.points)), -1, row)
    twice = idle & np.append(False, idle[parent[1:]])
    require(not twice[parent[1:]].any(), "a node of the tree that says nothing has children.")
    members, ends = arrays["block_members"] * problem.outputs, arrays["block_ends"]
    starts = np.concatenate(([0], ends))[:-1]
    listed = (ends > starts).all() and (ends[-1] if len(ends) else 0) == len(members)
    require(listed, "the blocks of the tree are malformed: each must end after it begins, and the last with the members.")
    whole = problem.counted[members].all() and (problem.group is None or (problem.group[members] == members).all())
    require(branch[0] == -1 and whole, "the tree splits what cannot be split.")
    points = models, read_diagonals(arrays, models), families
    return Tree(parent, branch, arrays["side"], Blocks.of(members, ends - starts), row, *points)


def read_models(arrays: Arrays, problem: Stated) -> Models:
    """Return the models of dual points; refuse them if they are malformed."""
    none, scale = np.zeros(0, dtype=np.int64), arrays.get("model_scale")
    if "alpha" in arrays:
        return Models(none, none, np.zeros(0), np.zeros((0, 0)), scale, arrays["alpha"])
    ends, columns, values = (arrays[f"model_{name}"] for name in ("ends", "columns", "values"))
    sizes = np.diff(ends, prepend=0)
    whole = (sizes >= 0).all() and sizes.sum() == len(columns)
    require(whole, "the models are malformed: each must end where it begins or later, and the last with the entries.")
    require((Blocks.of(columns, sizes).sizes == sizes).all(), "a model lists a feature twice.")
    intercept = arrays["model_intercept"].reshape(len(ends), problem.outputs)
    require(problem.fit_intercept or not intercept.any(), "a model of a dual point has an intercept, the problem has none.")
    return Models(ends, columns, values, intercept, scale)


def read_diagonals(arrays: Arrays, models: Models) -> Diagonals | None:
    """Return the diagonals, and the models of the dual points that use one; refuse them if they are malformed."""
    if "diagonal_ends" not in arrays:
        return None
    ends, members, values = (arrays[f"diagonal_{name}"] for name in ("ends", "members", "values"))
    columns, entries = cut(ends, members, "diagonals"), cut(ends, values, "diagonals")
    ascending = all((np.diff(each) > 0).all() and 0 < len(each) <= MOST_COLUMNS for each in columns)
    require(ascending, f"a diagonal is malformed: it must have 1 to {MOST_COLUMNS} columns in ascending order.")
    require_all(values >= 0.0, "diagonal_values contains negative numbers")
    chosen = arrays["point_diagonal"].tolist()
    used = [PointModel(each, *models.model(point)) if each >= 0 else None for point, each in enumerate(chosen)]
    return Diagonals(columns, entries, used)


def read_families(arrays: Arrays, problem: Stated, models: Models) -> Families | None:
    """Return the forms of families, the bounds that use them and the nodes that are enumerated; refuse what is malformed."""
    if "form_ends" not in arrays:
        return None
    plain = problem.group is None and problem.price is None and problem.budget is None and not problem.home.any()
    require(plain, "families are for problems without groups, prices, budgets and swaps.")
    names = "members", "masses", "along", "ridges", "family"
    lists = [cut(arrays["form_ends"], arrays[f"form_{name}"], "forms") for name in names]
    rests = cut(arrays["rest_ends"], arrays["form_rest"], "forms")
    forms = [FamilyForm(*parts) for parts in zip(*lists, rests, strict=True)]
    ascending = all((np.diff(form.columns) > 0).all() and 0 < len(form.columns) <= MOST_COLUMNS for form in forms)
    require(ascending, f"a form is malformed: it must have 1 to {MOST_COLUMNS} columns in ascending order.")
    named = all(((form.family >= 0) & (form.family < len(form.rest))).all() for form in forms)
    require(named, "a form is malformed: it names a family that it does not have.")
    for name in ("form_masses", "form_ridges", "form_rest"):
        require_all(arrays[name] >= 0.0, f"{name} contains negative numbers")
    enumerated, row = arrays["enumerated"], arrays["row"]
    require((np.diff(enumerated) > 0).all(), "enumerated is not in ascending order.")
    form = np.append(arrays["point_form"], -1)  # the last one: of nodes without a point
    points = {node: GramPoint(form[row[node]], *models.model(row[node])) for node in np.flatnonzero(form[row] >= 0).tolist()}
    return Families(forms, points, frozenset(enumerated.tolist()))


def cut(ends: NDArray[Any], values: NDArray[Any], what: str) -> list[NDArray[Any]]:
    """Return lists that are kept one after the other; refuse ends that are not those of all values."""
    starts = np.concatenate(([0], ends))[:-1].astype(np.int64)
    good = (ends >= starts).all() and (ends[-1] if len(ends) else 0) == len(values)
    require(good, f"the {what} are malformed: each must end where it begins or later, and the last with the entries.")
    return [values[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
