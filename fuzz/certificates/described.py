"""The problem that a certificate describes, read without the verifier's code, for the referee."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzz.certificates.sealed import Arrays, Draft
from fuzz.problems.problem import Problem
from fuzz.referee.best import LARGEST_P, Best, Neighbourhood, best_model
from fuzz.referee.objectives import LongProblem

__all__ = ["Described", "described", "key_of"]

PARTS = ["loss", "lambda_0", "lambda_1", "lambda_2", "k", "swap_size", "fit_intercept", "standardize", "bound", "free_bound"]
PARTS += ["budget", "outputs"]
ARRAYS = ("weights", "classes", "lower", "upper", "unpenalized", "spread", "home", "price", "group")


@dataclass(frozen=True, eq=False)
class Described:
    """The problem of a certificate in long double, and the models that its bound is about."""

    long: LongProblem
    near: Neighbourhood | None
    spread_error: float  # relative difference between the file's spreads and those of the data

    def best(self) -> Best | None:
        """Return the best model by brute force; None if there are too many features."""
        if len(self.long.members) > LARGEST_P:
            return None
        return best_model(self.long.problem, self.long, self.near)

    def null(self) -> float:
        """Return the loss of the best model without features."""
        problem = replace(self.long.problem, lambda_0=0.0, k=0, unpenalized=(), lower=None, upper=None, standardize=False)
        problem = replace(problem, budget=None, feature_cost=None, groups=None)
        long = LongProblem(problem, self.long.w.astype(np.float64), self.long.target.astype(np.float64))
        return float(best_model(problem, long).value)


def described(draft: Draft) -> Described:
    """Return the problem of a certificate; raises an error of some kind if it describes none."""
    header, arrays = draft.header, draft.arrays
    n, p = draft.X.shape
    unpenalized = tuple(int(j) for j in arrays.get("unpenalized", np.zeros(0, int)))
    problem = Problem(
        X=np.asarray(draft.X, dtype=np.float64),
        y=draft.y,
        loss=str(header["loss"]),
        lambda_0=float(header["lambda_0"]),
        k=None if header["k"] is None else int(header["k"]),
        lambda_1=float(header["lambda_1"]),
        lambda_2=float(header["lambda_2"]),
        fit_intercept=bool(header["fit_intercept"]),
        standardize=bool(header["standardize"]),
        lower=box(arrays, "lower", p),
        upper=box(arrays, "upper", p),
        unpenalized=unpenalized,
        feature_cost=prices(arrays, p),
        groups=tuple(arrays["group"].tolist()) if "group" in arrays else None,
        budget=None if header["budget"] is None else float(header["budget"]),
        bound=None if header["bound"] is None else float(header["bound"]),
        free_bound=None if header["free_bound"] is None else float(header["free_bound"]),
    )
    w = np.asarray(arrays["weights"], dtype=np.float64) if "weights" in arrays else np.full(n, 1.0 / n)
    if w.shape != (n,) or not (w >= 0.0).all():
        raise ValueError("weights")
    outputs, target = int(header["outputs"]), draft.target()
    if target.shape != (n * outputs,):
        raise ValueError("outputs")
    with np.errstate(all="ignore"):
        long = LongProblem(problem, w, target)
        error = 0.0
        if problem.standardize:
            stated = np.asarray(arrays["spread"], dtype=np.float64)
            error = float(np.abs(stated / long.spread - 1).max(initial=0.0))
            if error < 1e-2:  # near enough to be the data's
                long = LongProblem(problem, w, target, stated)
    near = None
    if header["swap_size"] is not None:
        home = np.zeros(p, dtype=bool)
        home[arrays["home"]] = True
        near = Neighbourhood(home, int(header["swap_size"]))
    return Described(long, near, error)


def box(arrays: Arrays, name: str, p: int) -> NDArray[np.float64] | None:
    """Return an array of bounds, if there is one."""
    if name not in arrays:
        return None
    values = np.asarray(arrays[name], dtype=np.float64)
    if values.shape != (p,) or np.isnan(values).any():
        raise ValueError(name)
    return values


def prices(arrays: Arrays, p: int) -> NDArray[np.float64] | None:
    """Return the prices of the columns, if there are any."""
    if "price" not in arrays:
        return None
    values = np.asarray(arrays["price"], dtype=np.float64)
    if values.shape != (p,) or not (values >= 0.0).all():
        raise ValueError("price")
    return values


def key_of(draft: Draft) -> Any:
    """Return what two certificates have in common if they describe the same problem."""
    parts = tuple(repr(draft.header.get(name)) for name in PARTS)
    arrays = tuple(
        (name, draft.arrays[name].dtype.str, draft.arrays[name].tobytes()) for name in ARRAYS if name in draft.arrays
    )
    return parts, arrays, draft.X.tobytes(), draft.y.tobytes()
