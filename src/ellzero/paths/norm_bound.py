"""Models of given sizes under a bound on the norm of their coefficients: the estimator of the paper's error bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ellzero.base.errors import InvalidInputError
from ellzero.paths.by_size import best_by_size
from ellzero.problem.coefficients import Coefficients
from ellzero.problem.model import Model, evaluate
from ellzero.problem.problem import Problem
from ellzero.problem.sizes import unit_of
from ellzero.solvers.paths import PathOptions, solve_path

MOST_ROUNDS = 10  # each searches for supports at one multiplier and then changes it
MULTIPLIER_STEPS = 100  # of the search for the multiplier of one support
SAME_MULTIPLIER = 1e-6  # relative; closer multipliers count as equal
CLOSE_MULTIPLIERS = 1e-2  # relative; between multipliers this close no search is worth its time
FIRST_MULTIPLIER = 1e-6  # as the next ones, in units of the columns' squares
CLOSE_NORM = 1e-9  # relative; a norm this close to the radius is on it
CLOSE_BRACKET = 1e-12  # relative; a bracket of multipliers this narrow is not narrowed further
ROUNDING_OF_COST = 1e-13  # relative
WORTH_A_CHANGE = 1e-9  # relative; a cost must be lower by this much to count as better
ALL_BUT_ZERO = 1e30  # a multiplier so large that every coefficient that may be zero is (nearly) zero
UNBOUNDED_SHARE = 0.3  # the part of the progress that the models without the bound take


def bound_norms(
    problem: Problem, options: PathOptions, found: dict[int, Model], wanted: tuple[int, ...], radius: float
) -> dict[int, Model]:
    """Return the best models of at most the wanted (increasing) sizes with ||beta||_2 <= radius, keyed by their true size.

    `found` holds the best models without the bound, by size.
    """
    search = NormBound(problem, options, radius)
    out: dict[int, Model] = {}
    smaller: list[Model] = []
    for count, size in enumerate(wanted):
        # The bound may make features worthwhile that are not so without it. Starting from a smaller model finds them.
        best = search.best_of_size(size, found[max(k for k in found if k <= size)], smaller[-1:])
        if best.size not in out or best.cost < out[best.size].cost:
            out[best.size] = best
        smaller.append(best)
        options.report(UNBOUNDED_SHARE + (1.0 - UNBOUNDED_SHARE) * (count + 1) / len(wanted), 0.0, size)
    return out


@dataclass(frozen=True)
class NormBound:
    """Minimise G subject to ||beta||_2 <= radius.

    On a support S, the constrained minimum is that of G + mu ||beta||^2 with the right multiplier mu: lambda_2 + mu takes the
    place of lambda_2. If S has multiplier mu, and is the best support at mu, no support has a lower constrained minimum (weak
    duality). The best support at the mu of S may need another mu, though. Then the search goes on between a multiplier at
    which the norm of the best model is above the radius and one at which it is not.
    """

    problem: Problem
    options: PathOptions
    radius: float

    def best_of_size(self, size: int, start: Model, smaller: list[Model]) -> Model:
        """Return the best model of at most `size` features, searched for from `start` and from smaller models."""
        best, multiplier = self.on_support(start)
        fits = {best.support.tobytes(): (best, multiplier)}
        # The norm of the best model is above the radius at `low` (at 0, or there is nothing to do), and not at `high`.
        low, high = 0.0, np.inf
        for _ in range(MOST_ROUNDS if multiplier > 0.0 else 0):
            candidate = self.best_at(multiplier, size, [best, start, *smaller])
            key = candidate.support.tobytes()
            if key not in fits:
                fits[key] = self.on_support(candidate)
            other, its_multiplier = fits[key]
            if other.cost < best.cost * (1.0 - WORTH_A_CHANGE):
                best = other
            if abs(its_multiplier - multiplier) <= SAME_MULTIPLIER * multiplier:
                break  # no support has a lower constrained minimum
            low, high = (multiplier, high) if its_multiplier > multiplier else (low, multiplier)
            if high <= low * (1.0 + CLOSE_MULTIPLIERS):
                break
            multiplier = its_multiplier if low < its_multiplier < high else geometric_mean(max(low, 0.1 * high), high)
        return best

    def best_at(self, multiplier: float, size: int, starts: list[Model]) -> Model:
        """Return the best model of at most `size` features at a given multiplier."""
        there = self.at_multiplier(multiplier)
        wanted = replace(self.options, sizes=(size,), progress=None)
        found = solve_path(there, wanted, seeds=self.problem.units.core_models(starts), sweep=False)
        sized = best_by_size(there, found.by_size)
        return min((sized[k] for k in sized if k <= size), key=lambda model: model.cost)

    @property
    def multiplier_unit(self) -> float:
        """The square of the columns' unit, or the least number that is not denormal where that square would be less."""
        return max(self.problem.units.column**2, float(np.finfo(np.float64).tiny))

    def at_multiplier(self, multiplier: float) -> Problem:
        """Return the problem with lambda_2 + multiplier instead of lambda_2."""
        penalty = self.problem.penalty
        return replace(self.problem, penalty=replace(penalty, lambda_2=penalty.lambda_2 + multiplier))

    def on_support(self, model: Model) -> tuple[Model, float]:
        """Return the constrained minimum on the model's support, and its multiplier."""
        refits = Refits(self, model)
        fit, norm = refits.at(0.0)
        if norm <= self.radius:
            return fit, 0.0
        least = fit.cost
        held = self.problem.held_away_from_zero()
        if self.radius == 0.0 and not held:
            return self.without_features(refits.options), 0.0
        # 1 / norm is nearly linear in the multiplier, so secant steps find it, inside a bracket whose upper end is feasible.
        unit = self.multiplier_unit
        low, low_norm, high = 0.0, norm, FIRST_MULTIPLIER * unit
        while True:
            fit, norm = refits.at(high)
            if norm <= self.radius:
                break
            low, low_norm, least = high, norm, fit.cost
            high *= 10.0
            if high > ALL_BUT_ZERO * unit and held:
                raise InvalidInputError(f"max_norm = {self.radius:g} leaves no model.")
            if high > ALL_BUT_ZERO * unit:
                return self.without_features(refits.options), 0.0
        for step in range(MULTIPLIER_STEPS):
            if norm >= self.radius * (1.0 - CLOSE_NORM) or high - low <= CLOSE_BRACKET * high:
                break
            # Inside a radius so small that coefficients within it gain nothing, all are zero.
            if norm == 0.0 and fit.cost <= least * (1.0 + ROUNDING_OF_COST):
                break
            # (1 / radius - 1 / low_norm) / (1 / norm - 1 / low_norm), also where a norm has no reciprocal
            share = norm / self.radius * ((low_norm - self.radius) / (low_norm - norm))
            # The step goes a little to the feasible side, and every third one halves the bracket, so that both ends move.
            middle = low + (high - low) * min(share * (1.0 + 1e-8) + 1e-12, 1.0 - 1e-3)
            if step % 3 == 2 or norm == 0.0:
                middle = halfway(low, high)
            trial, its_norm = refits.at(middle)
            if its_norm <= self.radius:
                fit, norm, high = trial, its_norm, middle
            else:
                low, low_norm, least = middle, its_norm, trial.cost
        return fit, high

    def without_features(self, options: PathOptions) -> Model:
        """Return the model whose coefficients are all zero: an intercept alone."""
        alone = replace(options, sizes=(0,), max_support=0)
        empty = solve_path(self.at_multiplier(ALL_BUT_ZERO * self.multiplier_unit), alone, sweep=False)
        intercept = best_by_size(self.problem, empty.by_size)[0].coefficients.intercept
        values = np.zeros((0, self.problem.outputs))
        return evaluate(self.problem, Coefficients(np.zeros(0, dtype=np.int32), values, intercept))


class Refits:
    """Minima on one support at changing multipliers; each starts from the last."""

    def __init__(self, bound: NormBound, model: Model) -> None:
        self.bound = bound
        self.last = model
        self.options = replace(
            bound.options, algorithm="cd", swaps="ranked", q=None, sizes=(model.size,), max_support=model.size, progress=None
        )
        self.allowed = {*model.support.tolist(), *np.flatnonzero(bound.problem.penalty.unpenalized).tolist()}

    def at(self, multiplier: float) -> tuple[Model, float]:
        """Return the minimum at a multiplier, and its norm; its cost is G, without the multiplier's term."""
        problem = self.bound.problem
        there = self.bound.at_multiplier(multiplier)
        found = solve_path(there, self.options, seeds=problem.units.core_models([self.last]), sweep=False)
        fits = best_by_size(there, found.by_size).values()
        self.last = min((fit for fit in fits if set(fit.support.tolist()) <= self.allowed), key=lambda fit: fit.cost)
        out = evaluate(problem, self.last.coefficients)
        unit = problem.units.coefficient  # a power of two: in this unit squares are numbers
        return out, float(np.linalg.norm(problem.penalised(out.support, out.coefficients.values) / unit)) * unit


def geometric_mean(low: float, high: float) -> float:
    """Return the geometric mean; without a unit, the product of two multipliers may be no number."""
    unit = unit_of(high)
    return float(np.sqrt((low / unit) * (high / unit))) * unit


def halfway(low: float, high: float) -> float:
    """Return a point well inside a bracket of multipliers, whose ends may be of different orders of magnitude."""
    if low > 0.1 * high:
        return geometric_mean(low, high)
    return 0.1 * high if low == 0.0 else 0.5 * (low + high)
