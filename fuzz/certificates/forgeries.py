"""Systematic forgeries: for every loss and form, a null model that claims to be optimal, helped by one trick at a time.

Some tricks are made of the problem itself; those that fit any certificate are in the catalogue of tampering.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, product
from typing import Any

import numpy as np

import ellzero as ez
from fuzz.certificates import structured
from fuzz.certificates.sealed import Draft, changed
from fuzz.certificates.tampering.shares import tampered
from fuzz.problems.problem import LOSSES, Problem
from fuzz.referee.best import convex_fit

__all__ = ["GROUPS", "forgeries"]

FORMS: dict[str, dict[str, Any]] = {
    "lambda_0": {"lambda_0": 0.02, "lambda_2": 0.01},
    "k": {"k": 2, "lambda_2": 0.01},
    "lambda_1": {"lambda_0": 0.01, "lambda_1": 0.01},
    "bounded": {"lambda_0": 0.01, "bound": 3.0},
}
DIAGONALS = ("diagonal_members", "diagonal_values", "diagonal_ends", "point_diagonal")
MODELS = ("model_ends", "model_columns", "model_values", "model_intercept")
GROWTH = ("growth_alpha", "growth_columns", "growth_values")
GROUPS = list(product(LOSSES, FORMS, (True, False)))  # one group of forgeries for each
GROUPS += product(LOSSES, structured.FORMS, (True, False))
GROUPS += product(("multinomial",), ("outputs", "outputs of groups"), (True, False))
OUTPUTS = 3  # where there are several
TREE = ("parent", "branch", "side", "block_members", "block_ends", "row", "alpha", "model_scale", *MODELS)
TINY, HUGE = (5e-324, 1e-310, 1e-200, 1e-155), (1e155, 1e200, 9e299)


def forgeries(group: int) -> Iterator[tuple[str, Draft, dict[str, Any], Draft]]:
    """Yield the forgeries of a group: a name, the forgery, the problem as a reader would state it, and the true certificate."""
    loss, form, fit_intercept = GROUPS[group]
    problem = base_problem(group, loss, form, fit_intercept)
    solution = ez.solve(problem.X, problem.y, **problem.settings(), **problem.form())
    stated = {**problem.settings(), "bound": None, "free_bound": None, **problem.form()}
    true = Draft(dict(solution.certificate.header), dict(solution.certificate.arrays), problem.X, problem.y)
    null = null_draft(problem, true)
    for name, forged in chain(tricks(problem, null, true), tampered(null, group)):
        yield f"{loss}, {form}, intercept {fit_intercept}: {name}", forged, stated, true


def base_problem(group: int, loss: str, form: str, fit_intercept: bool) -> Problem:
    """Return a problem in which a model with features is much better than the null model."""
    rng = np.random.default_rng([group, 77])
    X = rng.standard_normal((14, 4))
    signal = X[:, 0] - X[:, 1] + 0.2 * rng.standard_normal(14)
    if form.startswith("outputs"):
        signal = X[:, :2] @ np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]) + 0.2 * rng.standard_normal((14, OUTPUTS))
    y = signal if loss == "squared_error" else signal.argmax(1) if loss == "multinomial" else (signal > 0.0).astype(int)
    return Problem(X=X, y=y, loss=loss, fit_intercept=fit_intercept, **(FORMS | structured.FORMS)[form])


def null_draft(problem: Problem, true: Draft) -> Draft:
    """Return a certificate of the null model, with its own dual point, that claims to be optimal."""
    out, n = true.copy(), len(problem.y)
    null = convex_fit(problem, np.zeros(0, dtype=np.int64))
    intercepts = null.intercept.astype(np.float64)
    intercept = intercepts if problem.outputs > 1 else float(intercepts[0])
    out.arrays |= {
        "support": np.zeros(0, np.int64),
        "coef": out.arrays["coef"][:0],
        "intercept": np.array(intercept),
        "parent": np.array([-1]),
        "branch": np.array([-1]),
        "block_members": np.unique(problem.heads()[problem.counted()]),
        "side": np.array([0]),
        "row": np.array([0]),
    }
    out.arrays["block_ends"] = np.arange(1, len(out.arrays["block_members"]) + 1)  # a feature each
    for name in (*DIAGONALS, *GROWTH, *MODELS, "alpha", "model_scale"):
        out.arrays.pop(name, None)
    out.arrays |= null_points(problem, out.target().reshape(-1, n), intercepts)
    losses = ez.objective(problem.X, problem.y, np.zeros(problem.coef_shape), intercept, loss=problem.loss)
    out.header |= {"objective": losses, "lower_bound": losses, "status": "optimal", "gap_asked": 1e-4}
    return out


def null_points(problem: Problem, target: Any, intercepts: Any) -> dict[str, Any]:
    """Return the dual point of the null model, as it is in a file; `target` has a row for each output."""
    if problem.loss != "hinge":
        nothing = np.zeros(0, np.int64)
        several = intercepts[None] if problem.outputs > 1 else intercepts
        return {
            "model_ends": np.zeros(1, np.int64),
            "model_columns": nothing,
            "model_values": np.zeros(0),
            "model_intercept": several,
        }
    if not problem.fit_intercept:
        return {"alpha": np.ones((1, target.size))}
    alpha = []
    for each in target:
        up = each > 0.0
        few, many = sorted((up.sum(), (~up).sum()))
        alpha.append(np.where(up == (up.sum() == few), 1.0, few / many))
    return {"alpha": np.concatenate(alpha)[None]}


def no_points(null: Draft) -> dict[str, Any]:
    """Return the arrays of dual points, without any."""
    return {name: null.arrays[name][:0] for name in (*MODELS, "alpha") if name in null.arrays}


def tricks(problem: Problem, null: Draft, true: Draft) -> Iterator[tuple[str, Draft]]:
    """Yield forgeries by name."""
    yield "null model", null.copy()
    yield from tricks_with_scales(problem, null)
    yield from tricks_with_penalties(problem, null)
    yield from tricks_with_weights(null)
    yield from tricks_with_points(problem, null)
    if problem.outputs == 1:
        yield from tricks_with_diagonals(problem, null) if problem.loss == "squared_error" else tricks_with_growth(null)
    if problem.feature_cost is not None or problem.groups is not None or problem.outputs > 1:
        yield from structured.tricks_with_structure(problem, null)
    yield from tricks_with_trees(null, true)
    yield from tricks_with_claims(null, true)
    yield from tricks_with_data(problem, null)


def tricks_with_scales(problem: Problem, null: Draft) -> Iterator[tuple[str, Draft]]:
    """Yield forgeries with spreads that nothing asked for, or that are not the data's."""
    p = problem.X.shape[1]
    centre = problem.X.mean(0) if problem.fit_intercept else 0.0
    true = np.sqrt(np.square(problem.X - centre).mean(0))
    yield "spread without standardize", changed(null, {"spread": np.full(p, 1e100)})
    for factor in (1e100, 1.0 + 1e-4, 1.0 - 1e-4, 1e-100):
        yield f"spread times {factor:g}", changed(null, {"spread": true * factor}, standardize=True)
    yield "spread of a constant column", changed(null, {"spread": np.ones(p)}, standardize=True)
    yield "standardize without spread", changed(null, standardize=True)


def tricks_with_penalties(problem: Problem, null: Draft) -> Iterator[tuple[str, Draft]]:
    """Yield forgeries with penalties, boxes and assumed bounds at the ends of float64."""
    p = problem.X.shape[1]
    bare: dict[str, Any] = {"lambda_1": 0.0, "lambda_2": 0.0, "bound": None}
    for value in TINY:
        yield f"lambda_2 = {value:g}", changed(null, **{**bare, "lambda_2": value})
        yield f"lambda_1 = {value:g}", changed(null, **{**bare, "lambda_1": value})
    for value in (*HUGE, 1.7e308):
        box = {"lower": np.full(p, -value), "upper": np.full(p, value)}
        yield f"a box of {value:g}", changed(null, box, **bare)
    for value in HUGE:
        yield f"an assumed bound of {value:g}", changed(null, **{**bare, "bound": value})
        yield f"lambda_2 = {value:g}", changed(null, **{**bare, "lambda_2": value})
    yield "no penalty, no bound", changed(null, **bare)
    yield "a box of zero", changed(null, {"lower": np.zeros(p), "upper": np.zeros(p)})
    yield "an assumed bound of zero", changed(null, bound=0.0)
    yield "an assumed bound of 5e-324", changed(null, bound=5e-324)
    yield "all features unpenalized", changed(null, {"unpenalized": np.arange(p)})
    yield "all unpenalized, with a tiny bound", changed(null, {"unpenalized": np.arange(p)}, free_bound=1e-300)
    yield "a bound of unpenalized features, of which there are none", changed(null, free_bound=1e-300)
    for k in (0, 1, 2**31, 2**62):
        yield f"k = {k}", changed(null, k=k)
    for size, home in ((1, []), (1, [0]), (2, [0, 1]), (1, list(range(p))), (2**40, [])):
        yield f"swaps of {size} from {home}", changed(null, {"home": np.array(home, dtype=np.int64)}, k=None, swap_size=size)
    yield "swaps without home", changed(null, k=None, swap_size=1)
    yield "home without swaps", changed(null, {"home": np.zeros(0, np.int64)})


def tricks_with_weights(null: Draft) -> Iterator[tuple[str, Draft]]:
    """Yield forgeries with weights that hide rows, vanish, or do not quite sum to one."""
    n = len(null.X)
    equal = np.full(n, 1.0 / n)
    for tiny in (0.0, 5e-324, 1e-300, 1e-160):
        few = np.full(n, tiny)
        few[[0, -1]] = 0.5
        yield f"weights of {tiny:g} but for two rows", changed(null, {"weights": few})
    for total in (1.0 + 9e-10, 1.0 - 9e-10, 1.0 + 1e-6, 0.5, 1e-300):
        yield f"weights that sum to {total:.12g}", changed(null, {"weights": equal * total})
    negative = equal.copy()
    negative[0], negative[1] = -equal[0], 3.0 * equal[0]
    yield "a negative weight", changed(null, {"weights": negative})
    yield "weights that are no numbers", changed(null, {"weights": np.full(n, np.nan)})


def tricks_with_points(problem: Problem, null: Draft) -> Iterator[tuple[str, Draft]]:
    """Yield forgeries with dual points that overflow, underflow, cancel or are not there."""
    p, outputs = problem.X.shape[1], problem.outputs
    name = "alpha" if "alpha" in null.arrays else "model_intercept"
    old = null.arrays[name]
    yield "no dual point", changed(null, {**no_points(null), "row": np.array([-1])})
    for value in (0.0, 1.0, -1.0, 5e-324, 1e-300, 40.0, 750.0, 3e38, -3e38, 1e300, -1e300, 1.7e308, -1.7e308, np.nan, np.inf):
        yield f"points of {value:g}", changed(null, {name: np.full_like(old, value)})
        yield f"a scale of {value:g}", changed(null, {"model_scale": np.array([value])})
    yield "digits in long double", changed(null, {name: old.astype(np.longdouble)})
    yield "digits in float32", changed(null, {name: old.astype(np.float32)})
    yield "points in integers", changed(null, {name: old.astype(np.int64)})
    if name == "alpha":
        for value in (0, 1, 2**15, 2**15 + 1, 2**16 - 1):
            yield f"shares of {value}", changed(null, {name: np.full(old.shape, value, dtype=np.uint16)})
        one = np.zeros_like(old)
        one[0, 0] = 1.0
        yield "a dual point of one row", changed(null, {name: one})
        yield "alpha beside a model", changed(null, {**dict.fromkeys(MODELS[1:3], np.zeros(0)), "model_ends": np.zeros(1, int)})
        return
    for value in (1.0, -1.0, 1e-300, 20.0, 1e3, 1e155, -1e160, 1e300, 1.7e308, np.nan, np.inf):
        for at in (range(1), range(outputs), range(p * outputs), [0] * 3, [p * outputs], [-1], [2**40]):
            model = {"model_ends": np.array([len(at)]), "model_columns": np.array(at), "model_values": np.full(len(at), value)}
            yield f"a model of {value:g} at {at}", changed(null, model)
    cancelling = np.resize([1e300, -1e300], p * outputs)
    model = {"model_ends": np.array([p * outputs]), "model_columns": np.arange(p * outputs), "model_values": cancelling}
    yield "a model that cancels", changed(null, model)
    for ends in ([0, 0], [-1], [3], []):
        yield f"models that end at {ends}", changed(null, {"model_ends": np.array(ends, dtype=np.int64)})
    yield "models of float32", changed(null, {"model_values": np.zeros(0, np.float32)})
    yield "alpha beside models", changed(null, {"alpha": np.ones((1, len(problem.y) * outputs))})


def tricks_with_diagonals(problem: Problem, null: Draft) -> Iterator[tuple[str, Draft]]:
    """Yield forgeries whose dual points count curvature that is not there, or at a model that does not fit."""
    p, weights = problem.X.shape[1], null.arrays.get("weights", np.full(len(null.X), 1.0 / len(null.X)))
    centred = problem.X - weights @ problem.X if problem.fit_intercept else problem.X
    gram = (centred * weights[:, None]).T @ centred
    least, shares = float(np.linalg.eigvalsh(gram)[0]), np.diag(gram)

    def curved(values: Any, columns: Any = range(p), at: Any = (), coef: Any = (), data: Draft = null, **header: Any) -> Draft:
        """Return the forgery with one diagonal, which its only point uses at this model."""
        arrays = {
            "model_intercept": np.array([weights @ data.target() if problem.fit_intercept else 0.0]),
            "diagonal_members": np.array(columns),
            "diagonal_values": np.broadcast_to(np.asarray(values, dtype=float), len(columns)).copy(),
            "diagonal_ends": np.array([len(columns)]),
            "point_diagonal": np.zeros(1, np.int64),
            "model_columns": np.array(at, dtype=np.int64),
            "model_values": np.array(coef, dtype=float),
            "model_ends": np.array([len(at)]),
        }
        return changed(data, arrays, **header)

    bare: dict[str, Any] = {"lambda_1": 0.0, "lambda_2": 0.0, "bound": None}
    for factor in (0.99, 1.0, 1.0 + 1e-9, 1.01, 10.0, 1e200):
        yield f"{factor:.10g} times the least curvature", curved(factor * least, **bare)
    yield "the curvature of each column alone", curved(shares, **bare)
    yield "more curvature than any column has", curved(1e6 * shares, **bare)
    yield "curvature of one column only", curved(0.99 * shares[:1], [0], **bare)
    for coef in (0.5, 1.0, -1.0, 1e3, 1e155, 1e300):
        yield f"a model of {coef:g}", curved(0.99 * least, at=[0], coef=[coef], **bare)
    # The second column repeats the first. All but the first, which pays nothing, are out, since lambda_0 exceeds any loss.
    twin = null.copy()
    twin.X = twin.X.copy()
    twin.X[:, 1] = twin.X[:, 0]
    twin.fingerprint()
    alone = {"unpenalized": np.array([0]), "block_members": np.arange(1, p), "block_ends": np.arange(1, p)}
    for coef in (0.2, 0.5, 0.9):
        forged = curved(0.99 * shares[:1], [0], [1], [coef], twin, **{**bare, "lambda_0": 1e3})
        yield f"a model of {coef:g} of a column that is out", changed(forged, alone)
    yield "curvature of twins", curved(0.1 * least, data=twin, **bare)
    for unit in (1e-160, 1e-150, 1e150, 1e160):
        other = null.copy()
        other.X = other.X * unit
        other.fingerprint()
        yield f"curvature of X in units of {unit:g}", curved(1.01 * least * unit * unit, data=other, **bare)
    far = null.copy()
    far.X = far.X + 1e9
    far.fingerprint()
    yield "curvature about a mean of 1e9", curved(1.01 * least, data=far, **bare)
    yield "curvature of another loss", curved(0.99 * least, loss="logistic")
    partial = curved(0.99 * least, **bare)
    for name in DIAGONALS:
        yield f"diagonals without {name}", without(partial, name)


def without(draft: Draft, name: str) -> Draft:
    """Return a copy that lacks an array."""
    out = draft.copy()
    out.arrays.pop(name)
    return out


def tricks_with_growth(null: Draft) -> Iterator[tuple[str, Draft]]:
    """Yield forgeries whose boxes follow from a growth of the loss that is not there, or that is less."""
    p, n = null.X.shape[1], len(null.y)
    bare: dict[str, Any] = {"lambda_1": 0.0, "lambda_2": 0.0, "bound": None}
    overlapping = null.copy()  # no plane separates these classes
    overlapping.X = np.concatenate([null.X, null.X])
    overlapping.y = np.concatenate([null.y, null.y])
    overlapping.y[n + np.arange(0, n, 3)] = null.y[::-1][np.arange(0, n, 3)]
    if "alpha" in null.arrays:
        overlapping.arrays["alpha"] = np.tile(null.arrays["alpha"], 2)
    overlapping.arrays.pop("weights", None)
    overlapping.fingerprint()
    intercept = float(null.arrays["intercept"])
    losses = ez.objective(overlapping.X, overlapping.y, np.zeros(p), intercept, loss=null.header["loss"])
    overlapping.header |= {"objective": losses, "lower_bound": losses}

    def grown(factor: Any, columns: Any = range(p), data: Draft = overlapping, alpha: Any = None, more: Any = None) -> Draft:
        """Return the forgery with a multiple of the growth that these columns have."""
        chosen, target = np.array(columns), data.target()
        point = residual_shares(data, chosen) if alpha is None else np.broadcast_to(np.asarray(alpha, float), target.shape)
        room = np.minimum(point, 1.0 - point) / len(target)
        z = data.X[:, chosen]
        z = z - (room**2 @ z) / (room**2).sum() if data.header["fit_intercept"] else z
        gram = np.nan_to_num((z * room[:, None] ** 2).T @ z, posinf=1e300)
        fair = np.nan_to_num(1.0 / (len(chosen) * np.diag(np.linalg.pinv(gram))), nan=1.0, posinf=1.0)
        values = np.clip(np.abs(factor * fair), 5e-324, 1e300)
        return changed(
            data, {"growth_alpha": point.copy(), "growth_columns": chosen, "growth_values": values, **(more or {})}, **bare
        )

    with np.errstate(all="ignore"):
        for factor in (0.9, 1.1, 10.0, 1e10, 1e200, 1e-10, 1e-200):
            yield f"{factor:g} times the growth", grown(factor)
            yield f"{factor:g} times the growth of classes that are separable", grown(factor, data=null)
        for share in (0.0, 0.5, 1.0, 5e-324, 1e-160, 1.0 - 2.0**-53):
            for factor in (0.5, 1e6):
                yield f"{factor:g} times the growth at {share:g}", grown(factor, alpha=share)
                yield f"{factor:g} times the growth of separable classes at {share:g}", grown(factor, data=null, alpha=share)
        yield "growth at random", grown(0.5, alpha=np.random.default_rng(5).random(2 * n))
        yield "growth of some columns", grown(0.5, [0, 2])
        for reach in (0.1, 1e-300, 1e300):
            box = {"lower": np.full(p, -np.inf), "upper": np.full(p, np.inf)}
            box["lower"][[1, 3]], box["upper"][[1, 3]] = -reach, reach
            yield f"growth of some columns, others within {reach:g}", grown(0.5, [0, 2], more=box)
            yield f"too much growth of some columns, others within {reach:g}", grown(1e10, [0, 2], more=box)
        for unit in (1e-160, 1e-150, 1e-20, 1e20, 1e150, 1e160):
            other = overlapping.copy()
            other.X = other.X * np.array([unit, *np.ones(p - 1)])
            other.fingerprint()
            yield f"growth of a column in units of {unit:g}", grown(0.5, data=other)
            yield f"too much growth of a column in units of {unit:g}", grown(1e10, data=other)
        for name, column in (("twin", overlapping.X[:, 0]), ("constant", np.ones(2 * n)), ("empty", np.zeros(2 * n))):
            other = overlapping.copy()
            other.X = other.X.copy()
            other.X[:, 1] = column
            other.fingerprint()
            yield f"growth of a {name} column", grown(0.5, data=other)
            yield f"growth next to a {name} column", grown(0.5, [0, 2, 3], data=other)
            yield f"too much growth next to a {name} column", grown(1e10, [0, 2, 3], data=other)
        far = overlapping.copy()
        far.X = far.X + 1e9
        far.fingerprint()
        yield "growth about a mean of 1e9", grown(0.5, data=far)
        weights = np.full(2 * n, 5e-324)
        weights[[0, -1]] = 0.5
        yield "growth in two rows", grown(0.5, more={"weights": weights})
        yield "growth of another loss", changed(grown(0.5), loss="squared_error")


def residual_shares(data: Draft, columns: Any) -> Any:
    """Return the dual point of a logistic fit of some columns, nearly without a penalty."""
    target = data.target()
    A = np.column_stack([data.X[:, columns], np.ones((len(target), int(data.header["fit_intercept"])))])
    scale = np.abs(A).max(axis=0)
    A = A / np.where(scale > 0.0, scale, 1.0)
    b = np.zeros(A.shape[1])
    for _ in range(50):
        share = 1.0 / (1.0 + np.exp(np.clip(target * (A @ b), -50.0, 50.0)))
        curvature = (A * (share * (1.0 - share))[:, None]).T @ A + 1e-9 * np.eye(len(b))
        b = b + np.linalg.solve(curvature, A.T @ (target * share))
    return 1.0 / (1.0 + np.exp(np.clip(target * (A @ b), -50.0, 50.0)))


def tricks_with_trees(null: Draft, true: Draft) -> Iterator[tuple[str, Draft]]:
    """Yield forgeries with trees that leave out a part."""

    def tree(parent: list[int], branch: list[int], side: list[int], row: list[int]) -> dict[str, Any]:
        return {"parent": np.array(parent), "branch": np.array(branch), "side": np.array(side), "row": np.array(row)}

    yield "half of the root", changed(null, tree([-1, 0], [-1, 0], [0, 0], [-1, 0]))
    yield "the same half twice", changed(null, tree([-1, 0, 0], [-1, 0, 0], [0, 0, 0], [-1, 0, 0]))
    yield "halves of two features", changed(null, tree([-1, 0, 0], [-1, 0, 1], [0, 0, 1], [-1, 0, 0]))
    yield "a decision and its contrary", changed(null, tree([-1, 0, 0, 1, 1], [-1, 0, 0, 0, 0], [0, 0, 1, 0, 1], [-1] * 5))
    yield "a root with a decision", changed(null, tree([-1], [0], [0], [0]))
    yield "a cycle", changed(null, tree([-1, 2, 1], [-1, -1, -1], [0, 0, 0], [0, 0, 0]))
    yield "two roots", changed(null, tree([-1, -1], [-1, -1], [0, 0], [0, 0]))
    yield "a feature that is not there", changed(null, tree([-1, 0, 0], [-1, 99, 99], [0, 0, 1], [0, 0, 0]))
    halves = tree([-1, 0, 0, 2, 2], [-1, 0, 0, 1, 1], [0, 0, 1, 0, 1], [-1, -1, -1, 0, 0])
    for end in (1, 2):  # a clause, then a block that overlaps it: at least one of both, or none of the second
        overlapping = {
            "block_members": null.arrays["block_members"][[0, 1, end, 2][:4]]
            if len(null.arrays["block_members"]) > 2
            else null.arrays["block_members"][:0]
        }
        if len(overlapping["block_members"]):
            yield f"clauses that overlap ({end})", changed(null, {**halves, **overlapping, "block_ends": np.array([2, 4])})
    depth = 400
    yield "a long chain", changed(null, tree([*range(-1, depth)], [-1] * (depth + 1), [0] * (depth + 1), [0] * (depth + 1)))
    yield (
        "the true tree, the null model",
        changed(
            null,
            {name: true.arrays[name] for name in (*TREE, *DIAGONALS) if name in true.arrays},
        ),
    )
    first = {name: true.arrays[name][:1] for name in ("parent", "branch", "side", "row")}
    yield "the root of the true tree", changed(true, {**first}, lower_bound=true.header["objective"], status="optimal")
    turned: dict[str, Any] = {name: true.arrays[name][::-1].copy() for name in ("alpha", "model_values") if name in true.arrays}
    yield "the true tree, the wrong way round", changed(true, turned, status="optimal")


def tricks_with_claims(null: Draft, true: Draft) -> Iterator[tuple[str, Draft]]:
    """Yield forgeries with other claims, solutions and labels."""
    yield "a lower objective", changed(null, objective=true.header["objective"], lower_bound=true.header["objective"])
    yield "any gap will do", changed(null, gap_asked=9e299)
    yield "another prover", changed(null, prover="a friend")
    yield "a status with escape codes", changed(null, status="\x1b[2Joptimal")
    yield "a bound of infinity", changed(null, lower_bound=float("inf"))
    for value in (1e200, 1e308, -1e308):
        solution = {"support": np.array([0]), "coef": np.full((1, *null.arrays["coef"].shape[1:]), value)}
        yield f"a coefficient of {value:g}", changed(null, solution)
    for value in (1e200, 1e308, float("nan"), float("inf")):
        yield f"an intercept of {value:g}", changed(null, {"intercept": np.full_like(null.arrays["intercept"], value)})
    twice = {"support": np.array([0, 0]), "coef": np.array([1.0, -1.0])}
    yield "a feature twice", changed(null, twice)
    yield "a coefficient of zero", changed(null, {"support": np.array([0]), "coef": np.array([0.0])})
    if "classes" in null.arrays:
        other = changed(null, {"classes": null.arrays["classes"][::-1].copy()})
        other.fingerprint()
        yield "labels exchanged", other
        same = changed(null, {"classes": null.arrays["classes"][[0, 0]]})
        same.fingerprint()
        yield "one label twice", same
        other = changed(null, {"classes": np.array(["\x1b[31mno", "yes"])})
        yield "labels with escape codes", other
    yield "another loss", changed(null, loss="hinge" if null.header["loss"] != "hinge" else "logistic")
    yield "another intercept", changed(null, fit_intercept=not null.header["fit_intercept"])


def tricks_with_data(problem: Problem, null: Draft) -> Iterator[tuple[str, Draft]]:
    """Yield forgeries about data in other units, sealed with its own checksums."""
    for unit in (1e-160, 1e-100, 1e-9, 1e9, 1e100, 1e150):
        other = null.copy()
        other.X = other.X * unit
        other.fingerprint()
        yield f"X in units of {unit:g}", other
    if problem.loss == "squared_error":
        for unit in (1e-160, 1e-100, 1e-7, 1e-4, 1e4, 1e100):
            other = null.copy()
            other.y = other.y * unit
            other.fingerprint()
            other.arrays["intercept"] = other.arrays["intercept"] * unit
            other.header["objective"] = other.header["lower_bound"] = null.header["objective"] * unit * unit
            yield f"y in units of {unit:g}", other
            yield (
                f"y in units of {unit:g}, no dual point",
                changed(other, {**no_points(null), "row": np.array([-1])}),
            )
    heavy = null.copy()
    heavy.X = heavy.X.copy()
    heavy.X[0, 0] = 1e300
    heavy.fingerprint()
    yield "an entry of 1e300", heavy
