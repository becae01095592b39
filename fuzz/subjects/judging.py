"""Judgements that several subjects share: of models, of lower bounds and of certificates."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

import ellzero as ez
from fuzz.problems.problem import Problem
from fuzz.records import Record
from fuzz.referee.best import LARGEST_P, Best, Neighbourhood, best_model
from fuzz.referee.objectives import LongProblem

__all__ = ["LARGEST_VALUE", "Referee", "check_bound", "check_model", "check_report"]

LARGEST_VALUE = 1e290  # an objective above this may be infinite in float64
BUDGET_SLACK = 1.1e-12  # relative: the package allows for costs that are decimal numbers
FALSE_BY = 1e-9  # a bound is false if it exceeds a model's objective by this share; certificates claim no more than that


@dataclass
class Referee:
    """The referee of one problem: its objective in long double, and the best model known, also of those it was shown."""

    problem: Problem
    near: Neighbourhood | None = None  # if given, only supports near this one matter
    shown: list[Best] = field(default_factory=list)

    @cached_property
    def long(self) -> LongProblem:
        """The problem in long double."""
        return LongProblem(self.problem)

    @cached_property
    def brute(self) -> Best | None:
        """The best model by brute force, None if there are too many features."""
        return best_model(self.problem, self.long, self.near) if len(self.long.members) <= LARGEST_P else None

    @cached_property
    def zero_loss(self) -> Any:
        """The loss of the model that predicts zero: what is tiny compared with it is rounding."""
        return self.long.value(np.zeros(self.problem.coef_shape), 0.0)

    def show(self, coef: Any, intercept: Any) -> None:
        """Consider one more model, moved into its box and only if its features are allowed."""
        with np.errstate(all="ignore"):
            table, intercepts = self.long.shaped(coef, intercept)
            inside = np.clip(table, self.long.low, self.long.high)
            used = self.long.used(inside)
            if self.long.allowed(used) and (self.near is None or self.near.has(used, self.long.members)):
                value = self.long.upper_value(inside, intercepts)
                if np.isfinite(value):
                    self.shown.append(Best(value, inside, intercepts))

    def is_beaten(self) -> bool:
        """Return whether a model that was shown is clearly better than what brute force found: a weak spot of the referee."""
        if self.brute is None or not self.shown:
            return False
        return bool(min(model.value for model in self.shown) < self.brute.value * (1 - 1e-6) - 1e-9 * self.zero_loss)

    def best(self) -> Best | None:
        """Return the best model known."""
        known = [*self.shown, *([] if self.brute is None else [self.brute])]
        return min(known, key=lambda model: model.value) if known else None


def check_model(record: Record, referee: Referee, what: str, coef: Any, intercept: Any, objective: float | None) -> None:
    """Check one model: finite numbers, the box, `k`, the budget, the intercept and its objective, recomputed in long double."""
    long, problem = referee.long, referee.problem
    coef, intercept = np.asarray(coef, dtype=np.float64), np.asarray(intercept, dtype=np.float64)
    shapes = (problem.coef_shape, problem.coef_shape[:-1])
    if (coef.shape, intercept.shape) != shapes:
        record.find("shape of a model", "high", f"{what}: {coef.shape} and {intercept.shape} instead of {shapes}")
        return
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        record.find("model not finite", "high", f"{what}: coefficients {coef.tolist()}, intercept {intercept!r}")
        return
    if not problem.fit_intercept and intercept.any():
        record.find("intercept", "high", f"{what}: intercept {intercept!r} where the problem has none")
    if long.outside(coef):
        record.find("box violated", "high", f"{what}: {coef.tolist()} outside {long.low} {long.high}")
    used = long.used(long.shaped(coef, intercept)[0])
    if not long.allowed(used, BUDGET_SLACK):
        words = f"{what}: {used.sum()} features that cost {long.spent(used)!r}, k = {problem.k}, budget = {problem.budget!r}"
        record.find("k or budget exceeded", "high", words)
    if objective is None:
        return
    with np.errstate(all="ignore"):
        value = long.value(coef, intercept)
        rounding = long.upper_value(coef, intercept, 2.0**-52) - value
    if not np.isfinite(objective) and value >= LARGEST_VALUE:
        record.count("objective beyond float64")
    elif not np.isfinite(objective):
        record.find("objective not finite", "high", f"{what}: {objective!r}, in long double {value!r}")
    elif abs(objective - value) > 4 * rounding + 1e-9 * abs(value) + 1e-300:
        record.find(
            "objective wrong", "high", f"{what}: {objective!r}, in long double {value!r}, rounding {float(rounding):.2g}"
        )


def check_bound(record: Record, referee: Referee, what: str, lower_bound: float) -> None:
    """Check that no model known has an objective below a claimed lower bound."""
    best = referee.best()
    if best is None or lower_bound == -np.inf:
        return
    excess = np.longdouble(lower_bound) - best.value
    if excess > FALSE_BY * abs(best.value) + 1e-320 or np.isnan(lower_bound):
        share = float(excess / abs(best.value)) if best.value else np.inf
        severity = "critical" if not share < 1e-6 else "high"
        words = f"{what}: {lower_bound!r}, but a model has {float(best.value)!r} (excess {share:.2g} of it)"
        record.find("false bound", severity, words, best.plain())


def check_report(record: Record, referee: Referee, what: str, report: ez.VerificationReport, must_hold: bool = True) -> None:
    """Check what the verifier says of the package's own certificate: valid, and a bound that holds."""
    if must_hold and not report.valid:
        record.find("own certificate refused", "high", f"{what}: {report.reasons}")
    check_bound(record, referee, f"{what}, lower bound proved by verify", report.lower_bound)
