"""Changes of a certificate's header, arrays, tree and data; each returns what it did in words."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzz.certificates.sealed import Draft

__all__ = ["mutate"]

Generator = np.random.Generator
Change = Callable[[Generator, Draft], str]
FACTORS = (2.0, 0.5, 1.0 + 1e-9, 1.0 - 1e-9, 1.1, 0.9, 10.0, 0.1, 1e6, 1e-6, 1e100, 1e-100, -1.0)
ODD_NUMBERS = (0.0, -0.0, 1.0, -1.0, math.nan, math.inf, -math.inf, 5e-324, 1e-310, 1e-160, 1e160, 1.7e308, 2**31, 2**63, -5)
ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    "",
    "x",
    "1",
    [],
    [1.0],
    {},
    "optimal",
    "logistic",
    "nan",
    10**400,
    "A" * 3000,
)
WORDS = {
    "loss": ("logistic", "squared_hinge", "hinge", "squared_error"),
    "status": ("optimal", "time_limit", "node_limit", "interrupted", "precision", "failed", "improved"),
    "storage": ("dense", "sparse"),
}
TYPES = ("f2", "f4", "f8", "g", "i1", "i2", "i4", "i8", "u1", "u4", "u8", ">f8", ">i8", "c16", "?", "U8", "O")
TREE = ("parent", "branch", "side", "row")


def mutate(rng: Generator, draft: Draft) -> tuple[Draft, list[str]]:
    """Return a changed copy of a certificate, and the changes in words."""
    changed, words = draft.copy(), []
    structured = draft.header["outputs"] > 1 or {"group", "price"} & draft.arrays.keys()
    weights = np.append(WEIGHTS, WEIGHT_OF_STRUCTURE) if structured else WEIGHTS
    for _ in range(int(rng.choice([1, 2, 3], p=[0.6, 0.25, 0.15]))):
        change = CHANGES[int(rng.choice(len(weights), p=weights / weights.sum()))]
        try:
            with np.errstate(all="ignore"):
                words.append(change(rng, changed))
        except (TypeError, ValueError, IndexError, KeyError, OverflowError):  # earlier changes left nothing to change
            words.append(f"{change.__name__}: nothing")
    if rng.random() < 0.5:
        words.append(claim_more(rng, changed))
    return changed, words


def number_of_header(rng: Generator, draft: Draft) -> str:
    """Scale a number, replace it by an odd one, or give it another field's value."""
    names = [name for name, value in draft.header.items() if isinstance(value, (int, float)) and not isinstance(value, bool)]
    name = str(rng.choice(names))
    old, way = draft.header[name], rng.random()
    if way < 0.5:
        draft.header[name] = type(old)(old * FACTORS[rng.integers(len(FACTORS))])
    elif way < 0.8:
        draft.header[name] = ODD_NUMBERS[rng.integers(len(ODD_NUMBERS))]
    elif way < 0.9:
        draft.header[name] = draft.header[str(rng.choice(names))]
    else:
        draft.header[name] = old + int(rng.integers(-2, 3))
    return f"{name}: {old!r} -> {draft.header[name]!r:.40}"


def word_of_header(rng: Generator, draft: Draft) -> str:
    """Replace a word by another known one."""
    name = str(rng.choice(list(WORDS)))
    draft.header[name] = str(rng.choice(WORDS[name]))
    if rng.random() < 0.5:
        draft.fingerprint()
    return f"{name} -> {draft.header[name]}"


def flag_of_header(rng: Generator, draft: Draft) -> str:
    """Flip a flag."""
    name = str(rng.choice(["fit_intercept", "standardize"]))
    draft.header[name] = not draft.header[name]
    return f"{name} -> {draft.header[name]}"


def any_of_header(rng: Generator, draft: Draft) -> str:
    """Replace any field by a value of any type, remove it, or add an unknown one."""
    name, way = str(rng.choice(list(draft.header))), rng.random()
    if way < 0.6:
        draft.header[name] = ODD_VALUES[rng.integers(len(ODD_VALUES))]
    elif way < 0.8:
        draft.header.pop(name)
    else:
        draft.header[str(rng.choice(["unknown", "bounds", "lambda_3", ""]))] = ODD_VALUES[rng.integers(len(ODD_VALUES))]
    return f"{name} -> {draft.header.get(name)!r:.40}"


def problem_of_header(rng: Generator, draft: Draft) -> str:
    """Change the problem: a penalty, k, a bound."""
    name = str(rng.choice(["lambda_0", "lambda_1", "lambda_2", "k", "bound", "free_bound", "swap_size"]))
    old = draft.header.get(name)
    if name in ("k", "swap_size"):
        draft.header[name] = None if rng.random() < 0.3 else int(rng.integers(0, 8))
    else:
        draft.header[name] = float(10.0 ** rng.uniform(-320.0, 299.0)) if rng.random() < 0.5 else float(rng.choice([0.0, 0.1]))
    if name == "swap_size":
        count = draft.X.shape[1]
        draft.arrays["home"] = np.flatnonzero(rng.random(count) < 0.4).astype(np.int64)
    return f"{name}: {old!r} -> {draft.header[name]!r}"


def element_of_array(rng: Generator, draft: Draft) -> str:
    """Change one entry of an array, or a few."""
    name = some_array(rng, draft)
    array = draft.arrays[name]
    flat = array.reshape(-1)
    at = rng.integers(flat.size, size=int(rng.choice([1, 1, 2, 5])))
    if array.dtype.kind == "f":
        way = rng.random()
        if way < 0.4:
            flat[at] = flat[at] * FACTORS[rng.integers(len(FACTORS))]
        elif way < 0.7:
            flat[at] = ODD_NUMBERS[rng.integers(len(ODD_NUMBERS))]
        else:
            flat[at] = flat[rng.integers(flat.size)]
    elif array.dtype.kind == "i":
        flat[at] = flat[at] + rng.integers(-2, 3) if rng.random() < 0.7 else int(rng.choice([-1, 0, 2**31, 2**62, -(2**62)]))
    else:
        flat[at] = flat[::-1][at]
    draft.arrays[name] = flat.reshape(array.shape)
    return f"{name}: entries {at.tolist()}"


def whole_array(rng: Generator, draft: Draft) -> str:
    """Scale, shift, permute, reverse, zero or fill an array."""
    name = some_array(rng, draft)
    array, way = draft.arrays[name], int(rng.integers(6))
    if way == 0 and array.dtype.kind == "f":
        draft.arrays[name] = (array * FACTORS[rng.integers(len(FACTORS))]).astype(array.dtype)
    elif way == 1 and array.dtype.kind == "f":
        draft.arrays[name] = (array + rng.choice([1e-9, 1e-3, 1.0, -1.0])).astype(array.dtype)
    elif way == 2 and array.ndim:
        draft.arrays[name] = rng.permutation(array)
    elif way == 3 and array.ndim:
        draft.arrays[name] = array[::-1].copy()
    elif way == 4:
        draft.arrays[name] = np.zeros_like(array)
    else:
        draft.arrays[name] = np.full_like(array, array.reshape(-1)[0] if array.size else 0)
    return f"{name}: way {way}"


def shape_of_array(rng: Generator, draft: Draft) -> str:
    """Give an array another shape: fewer or more entries, another number of dimensions, none at all."""
    name = some_array(rng, draft)
    array, way = draft.arrays[name], int(rng.integers(6))
    if way == 0:
        draft.arrays[name] = array[:-1] if array.ndim else array.reshape(1)
    elif way == 1:
        draft.arrays[name] = np.concatenate([array, array[-1:]]) if array.ndim else array.reshape(1, 1)
    elif way == 2:
        draft.arrays[name] = array[None]
    elif way == 3:
        draft.arrays[name] = array.reshape(-1)
    elif way == 4:
        draft.arrays[name] = array[:0] if array.ndim else array
    else:
        draft.arrays[name] = np.ascontiguousarray(array.T)
    return f"{name}: shape {array.shape} -> {draft.arrays[name].shape}"


def type_of_array(rng: Generator, draft: Draft) -> str:
    """Give an array another type."""
    name = some_array(rng, draft)
    draft.arrays[name] = draft.arrays[name].astype(str(rng.choice(TYPES)))
    return f"{name}: type {draft.arrays[name].dtype}"


def points_of(draft: Draft) -> int:
    """Return the number of dual points."""
    return len(draft.arrays["alpha" if "alpha" in draft.arrays else "model_ends"])


def array_of_problem(rng: Generator, draft: Draft) -> str:
    """Add, replace or remove an array of the problem: weights, boxes, spreads, unpenalized features."""
    n, p = draft.X.shape
    name = str(rng.choice(["weights", "lower", "upper", "spread", "unpenalized", "home", "classes", "model_scale"]))
    if rng.random() < 0.25:
        draft.arrays.pop(name, None)
        return f"without {name}"
    drawn: dict[str, Callable[[], NDArray[Any]]] = {
        "weights": lambda: draw_weights(rng, n),
        "lower": lambda: -draw_sizes(rng, p),
        "upper": lambda: draw_sizes(rng, p),
        "spread": lambda: draw_sizes(rng, p),
        "unpenalized": lambda: np.flatnonzero(rng.random(p) < 0.5).astype(np.int64),
        "home": lambda: np.flatnonzero(rng.random(p) < 0.5).astype(np.int64),
        "classes": lambda: draft.arrays["classes"][::-1].copy(),
        "model_scale": lambda: rng.choice([0.0, 0.5, 1.0, 1.1, -1.0, 1e300], points_of(draft)),
    }
    draft.arrays[name] = drawn[name]()
    if name == "classes" and rng.random() < 0.7:
        draft.fingerprint()
    return f"another {name}"


def draw_weights(rng: Generator, n: int) -> NDArray[np.float64]:
    """Return weights that sum to one, or nearly."""
    w = rng.random(n) ** rng.choice([1.0, 5.0, 50.0]) * (rng.random(n) < rng.choice([1.0, 0.5]))
    w[rng.random(n) < 0.2] = rng.choice([0.0, 5e-324, 1e-200])
    w = w / w.sum() if w.sum() > 0.0 else np.full(n, 1.0 / n)
    return w * rng.choice([1.0, 1.0, 1.0 + 9e-10, 1.0 - 9e-10, 2.0])


def draw_sizes(rng: Generator, p: int) -> NDArray[np.float64]:
    """Return positive numbers of any size, some zero, some infinite."""
    sizes = 10.0 ** rng.uniform(-2.0, 2.0, p) if rng.random() < 0.5 else 10.0 ** rng.uniform(-320.0, 308.0, p)
    sizes[rng.random(p) < 0.2] = rng.choice([0.0, np.inf, 1.0])
    return sizes


def surgery(rng: Generator, draft: Draft) -> str:
    """Cut off, move or exchange parts of the tree."""
    parent, branch, side, row = (draft.arrays[name] for name in TREE)
    nodes, way = len(parent), int(rng.integers(10))
    at = int(rng.integers(nodes))
    if way == 0:  # the tree ends before this node
        for name in TREE:
            draft.arrays[name] = draft.arrays[name][: max(at, 1)]
    elif way == 1:  # without one node; later parents move up
        keep = np.arange(nodes) != at
        for name in TREE:
            draft.arrays[name] = draft.arrays[name][keep]
        moved = draft.arrays["parent"]
        moved[moved > at] -= 1
    elif way == 2:
        parent[at] = rng.integers(-1, nodes)
    elif way == 3:
        branch[at] = rng.integers(-1, len(draft.arrays["block_ends"]) + 1)
    elif way == 4:
        side[at] = 1 - side[at]
    elif way == 5:  # a dual point elsewhere
        row[at] = rng.integers(-1, points_of(draft))
    elif way == 6:  # only the root, with one of the dual points
        for name in TREE:
            draft.arrays[name] = draft.arrays[name][:1]
        draft.arrays["row"][0] = rng.integers(-1, points_of(draft))
    elif way == 7 and len(draft.arrays["block_members"]):  # another member of a block
        members = draft.arrays["block_members"]
        members[rng.integers(len(members))] = rng.integers(-1, draft.X.shape[1] + 1)
    elif way == 8 and len(draft.arrays["block_ends"]):  # blocks that end elsewhere
        ends = draft.arrays["block_ends"]
        ends[rng.integers(len(ends))] += rng.integers(-2, 3)
    else:  # one more node below
        last = {
            "parent": at,
            "branch": int(rng.integers(-1, len(draft.arrays["block_ends"]) + 1)),
            "side": int(rng.integers(2)),
            "row": -1,
        }
        for name, value in last.items():
            draft.arrays[name] = np.append(draft.arrays[name], np.array(value, dtype=draft.arrays[name].dtype))
    return f"tree: way {way} at {at}"


def dual_points(rng: Generator, draft: Draft) -> str:
    """Move the dual points: closer to their mean, larger, noisy, huge, of other columns."""
    arrays, way = draft.arrays, int(rng.integers(8))
    name = "alpha" if "alpha" in arrays else str(rng.choice(["model_values", "model_intercept"]))
    old = arrays[name].astype(np.float64)
    if way == 0:
        new = old * rng.uniform(0.5, 2.0)
    elif way == 1:
        new = old * (1.0 + 0.1 * rng.standard_normal(old.shape))
    elif way == 2:
        new = np.full_like(old, rng.choice([0.0, 0.5, -1.0, 1e10, 3e38, 1e300, -1.7e308]))
    elif way == 3:
        new = (old + old.mean()) / 2.0 if old.size else old
    elif way == 4:
        new = np.where(rng.random(old.shape) < 0.5, 1e25, -1e25)
    elif way == 5:
        new = rng.standard_normal(old.shape) * 10.0 ** rng.uniform(-300.0, 300.0, old.shape)
    elif way == 6 and name != "alpha":
        columns = draft.X.shape[1] * int(draft.header.get("outputs", 1))
        arrays["model_columns"] = rng.integers(columns, size=len(arrays["model_columns"]))
        new = old
    else:
        arrays["model_scale"] = rng.uniform(-2.0, 2.0, points_of(draft))
        new = old
    keeps = name == "alpha" and arrays[name].dtype.kind == "u" and rng.random() < 0.5
    arrays[name] = np.clip(np.nan_to_num(new), 0, 2**16 - 1).astype(np.uint16) if keeps else np.asarray(new)
    return f"points: way {way}"


def diagonals(rng: Generator, draft: Draft) -> str:
    """Take more curvature, use it for fewer columns, or move the models that dual points use it at."""
    way, arrays = int(rng.integers(8)), draft.arrays
    ends, point_ends = arrays["diagonal_ends"], arrays["model_ends"]
    number = int(rng.integers(len(ends)))
    mine = slice(int(ends[number - 1]) if number else 0, int(ends[number]))
    if way == 0:
        arrays["diagonal_values"][mine] *= rng.choice([1.0 + 1e-9, 1.001, 1.1, 10.0, 1e300])
    elif way == 1:  # a column less, whose models may stay
        for name in ("diagonal_members", "diagonal_values"):
            arrays[name] = np.delete(arrays[name], mine.start)
        ends[number:] -= 1
    elif way == 2:  # one column has it all
        arrays["diagonal_values"][mine] = np.where(
            np.arange(mine.stop - mine.start) == 0, arrays["diagonal_values"][mine].sum(), 0
        )
    elif way == 3:
        arrays["model_values"] = arrays["model_values"] * rng.choice([0.0, -1.0, 0.5, 1.001, 1e6, 1e160])
    elif way == 4:
        arrays["model_columns"] = rng.integers(draft.X.shape[1], size=len(arrays["model_columns"]))
    elif way == 5:
        point_ends[rng.integers(len(point_ends))] += rng.integers(-2, 3)
    elif way == 6:
        ends[number] += rng.integers(-2, 3)
    else:
        arrays["point_diagonal"] = rng.integers(-1, len(ends) + 1, size=len(arrays["point_diagonal"]))
    return f"diagonals: way {way} at {number}"


def growth(rng: Generator, draft: Draft) -> str:
    """Let the loss grow faster, at another dual point, or with fewer columns; or add a growth where there is none."""
    way, arrays, (n, p) = int(rng.integers(7)), draft.arrays, draft.X.shape
    if "growth_alpha" not in arrays or way == 0:
        arrays["growth_alpha"] = np.asarray(rng.uniform(0.0, 1.0, n)) if rng.random() < 0.5 else np.full(n, 0.5)
        arrays["growth_columns"] = np.arange(p)
        arrays["growth_values"] = np.power(10.0, rng.uniform(-12.0, 3.0, p))
    elif way == 1:
        arrays["growth_values"] *= rng.choice([1.0 + 1e-9, 1.1, 3.0, 100.0, 1e10, 1e-10, 1e300])
    elif way == 2:
        at = int(rng.integers(len(arrays["growth_values"])))
        arrays["growth_values"][at] *= rng.choice([1.1, 3.0, 100.0, 1e10, 1e300])
    elif way == 3:
        at = int(rng.integers(len(arrays["growth_values"])))
        for name in ("growth_columns", "growth_values"):
            arrays[name] = np.delete(arrays[name], at)
    elif way == 4:
        noise = 1.0 + float(rng.choice([1e-9, 1e-3, 0.3])) * rng.standard_normal(n)
        arrays["growth_alpha"] = np.asarray(arrays["growth_alpha"] * noise)
    elif way == 5:
        arrays["growth_alpha"] = rng.permutation(arrays["growth_alpha"])
    else:  # a box for a column, which the growth may leave out then
        at = int(rng.integers(p))
        for name, end in (("lower", -np.inf), ("upper", np.inf)):
            side = np.array(arrays.get(name, np.full(p, end)))
            side[at] = np.sign(end) * 10.0 ** rng.uniform(-300.0, 300.0)
            arrays[name] = side
        kept = arrays["growth_columns"] != at
        for name in ("growth_columns", "growth_values"):
            arrays[name] = arrays[name][kept]
    return f"growth: way {way}"


def another_solution(rng: Generator, draft: Draft) -> str:
    """Replace the solution by the null model, by one coefficient of any size, or move it."""
    way = int(rng.integers(4))
    if way == 0:
        draft.arrays["support"], draft.arrays["coef"] = np.zeros(0, np.int64), draft.arrays["coef"][:0]
    elif way == 1:
        draft.arrays["support"] = np.array([rng.integers(draft.X.shape[1])], dtype=np.int64)
        draft.arrays["coef"] = np.full((1, *draft.arrays["coef"].shape[1:]), float(10.0 ** rng.uniform(-300.0, 300.0)))
    elif way == 2:
        draft.arrays["coef"] = draft.arrays["coef"] * rng.choice([0.5, 2.0, 1e150, 1e-150])
    else:
        draft.arrays["intercept"] = np.full_like(draft.arrays["intercept"], float(rng.choice([0.0, 1.0, -1e150, 1e300])))
    return f"solution: way {way}"


def structure(rng: Generator, draft: Draft) -> str:
    """Change prices, the budget, groups of columns, or the number and the order of outputs and classes."""
    way, arrays, header, (n, p) = int(rng.integers(10)), draft.arrays, draft.header, draft.X.shape
    group = arrays.get("group", np.arange(p))
    outputs = int(header.get("outputs", 1))
    if way == 0:
        each = draw_sizes(rng, p) if rng.random() < 0.5 else 10.0 ** rng.uniform(-100.0, 100.0, p)
        arrays["price"] = np.where(np.isin(np.arange(p), arrays.get("unpenalized", [])), 0.0, each)[group]
    elif way == 1:
        arrays["price"] = arrays["price"] * FACTORS[rng.integers(len(FACTORS))]
    elif way == 2:
        some = arrays.get("price", np.ones(p))[rng.random(p) < 0.5]
        header["budget"] = None if rng.random() < 0.2 else float(some.sum() * rng.choice([1.0, 1.0 - 1e-13, 1.0 + 1e-9, 0.5]))
        header["k"] = None
    elif way == 3:  # two groups become one, or one becomes two
        one, other = np.sort(rng.integers(p, size=2)).tolist()
        arrays["group"] = np.where(group == group[other], min(group[one], group[other]), group)
        if rng.random() < 0.5:
            arrays["group"] = np.where(np.arange(p) == other, other, group)
    elif way == 4:
        arrays["group"] = np.asarray(rng.integers(p, size=p))
    elif way == 5:
        header["version"] = int(rng.integers(3))
    elif way == 6:
        header["outputs"] = int(rng.choice([1, 2, outputs - 1, outputs + 1, 2**40]))
    elif way == 7:
        order = rng.permutation(outputs)
        if "alpha" in arrays:
            table = arrays["alpha"].reshape(-1, outputs, n)
            arrays["alpha"] = table[:, order].reshape(len(table), -1)
        else:
            columns = arrays["model_columns"]
            arrays["model_columns"] = columns // outputs * outputs + order[columns % outputs]
            arrays["model_intercept"] = arrays["model_intercept"].reshape(-1, outputs)[:, order]
    elif way == 8:
        arrays["classes"] = arrays["classes"][rng.permutation(len(arrays["classes"]))]
        draft.fingerprint()
    else:  # one output is far above the others
        name = "alpha" if "alpha" in arrays else "model_intercept"
        table = arrays[name].reshape(points_of(draft), outputs, -1).astype(np.float64)
        table[:, rng.integers(outputs)] = rng.choice([1.0, 0.5, 40.0, 1e30, -1e30])
        arrays[name] = table.reshape(arrays[name].shape)
    return f"structure: way {way}"


def other_data(rng: Generator, draft: Draft) -> str:
    """Change X or y, and the checksums with them."""
    way, X = int(rng.integers(6)), np.array(draft.X)
    if way == 0:
        X[rng.integers(len(X)), rng.integers(X.shape[1])] *= rng.choice([-1.0, 2.0, 1e10, 0.0])
    elif way == 1:
        X = X * 10.0 ** rng.uniform(-150.0, 150.0)
    elif way == 2:
        X[:, rng.integers(X.shape[1])] = 0.0
    elif way == 3:
        X = X[rng.permutation(len(X))]
    elif way == 4:
        X[:, rng.integers(X.shape[1])] *= 10.0 ** rng.uniform(-150.0, 150.0)
    elif draft.header["loss"] == "squared_error":
        draft.y = draft.y * 10.0 ** rng.uniform(-100.0, 100.0)
    draft.X = np.where(np.isfinite(X), X, 1.0)
    if rng.random() < 0.9:
        draft.fingerprint()
    return f"data: way {way}"


def claim_more(rng: Generator, draft: Draft) -> str:
    """Claim that the solution is optimal, or a bound near its objective."""
    objective = draft.header.get("objective")
    draft.header["lower_bound"] = objective if rng.random() < 0.7 else draft.header.get("lower_bound")
    draft.header["status"] = "optimal"
    draft.header["gap_asked"] = float(rng.choice([1e-4, 0.0, 1.0, 1e299]))
    return "claims to be optimal"


def some_array(rng: Generator, draft: Draft) -> str:
    """Return the name of an array that is not empty."""
    return str(rng.choice([name for name, array in draft.arrays.items() if array.size]))


CHANGES: list[Change] = [
    number_of_header,
    word_of_header,
    flag_of_header,
    any_of_header,
    problem_of_header,
    element_of_array,
    whole_array,
    shape_of_array,
    type_of_array,
    array_of_problem,
    surgery,
    dual_points,
    diagonals,
    growth,
    another_solution,
    other_data,
    structure,  # of groups, prices and outputs only
]
WEIGHTS = np.array([10.0, 2.0, 2.0, 4.0, 12.0, 14.0, 8.0, 4.0, 4.0, 12.0, 14.0, 12.0, 8.0, 8.0, 5.0, 8.0])
WEIGHT_OF_STRUCTURE = 40.0
