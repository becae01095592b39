"""Algorithm 4 of the paper, integrality generation (IGA), with a MIP solver.

The relaxed problem (PMIO) has z integral for a small set of features, and the envelope of Lemma 2 for the others. With z of the
set fixed, the problem is convex. Every dual point theta gives a lower bound of it, for all z at once: with v = X' theta and s_j
as in the certificate,

    objective >= -sum_i w_i f*(-theta_i / w_i) - sum_{j outside} max(s_j - lambda_0, 0) + sum_{j in set} z_j (lambda_0 - s_j),

a linear cut in z, valid whatever theta is. So the MIP solver needs only z of the set: no rows of X, no features outside, no
big M. At each z that it proposes, the core solves the convex problem with all columns of X (generating those that it needs).
This is a Benders decomposition, and the MIP solver's program is its master. A cut at one z says little about others. So
decisions on single z are taken back as long as the value of the convex problem stays high enough, and the next z must differ
in one of those that are left. That is a clause, as in a covering problem.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.exact.mip.backends import MipResult
from ellzero.exact.mip.formulation import require_rules
from ellzero.exact.mip.mip_search import MipSearch
from ellzero.exact.mip.program import Builder
from ellzero.exact.search import next_features
from ellzero.exact.status import Status
from ellzero.problem.penalties import Penalty

Array = NDArray[np.float64]
Index = NDArray[np.int64]
# Masters and convex problems are solved to this part of the gap that is asked for.
INNER_GAP = 0.1
# Cuts are lowered by this part of the sizes of the numbers that they are summed from, which covers rounding errors.
ROUNDING = 1e-13
# A bound is good enough if it is within this part of the gap that is asked for.
CLOSE_ENOUGH = 0.999


@dataclass(frozen=True)
class Decisions:
    """Features of the set that are decided to be in or out; the others are relaxed."""

    inside: frozenset[int] = frozenset()
    outside: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class Dual:
    """A dual point and the multiplier of the limit on the number of features."""

    theta: Array
    mu: float


@dataclass(frozen=True, eq=False)
class Relaxed:
    """The solved convex problem under some decisions: its bound, dual point and shares.

    `dual` is None, and `bound` infinite, if no solution under these decisions can be better than the incumbent.
    """

    decisions: Decisions
    bound: float
    dual: Dual | None
    columns: Index
    shares: Array


class GenerationSearch(MipSearch):
    """The iterations of Algorithm 4, and their shared state: the set, the root's cut, and the values of tried decisions."""

    def call_solver(self) -> Status | None:
        """Solve the relaxation and grow the set until the bound is good enough."""
        self.begin()
        if self.root.dual is None:  # nothing is better than the incumbent
            self.raise_bound(self.objective)
        while not self.closed():
            self.iteration += 1
            found, best = self.solve_relaxation()
            self.note()
            if self.closed():
                break
            if found.status != "optimal" or best is None:
                return self.status_of(found)
            new = next_features(best.columns, best.shares, [*self.set, *self.duals.always], self.options.grow)
            if not new:  # integral: the best solution is known, up to tolerances
                break
            self.set_features({*self.set, *new})
        return None

    def begin(self) -> None:
        """Begin with the set of the incumbent's features and of those that have rules, and the dual point of the root."""
        home = [] if self.options.swaps is None else self.options.swaps.home.tolist()
        self.duals = Duals(self)
        self.root = self.duals.relax(Decisions(), self.target)
        self.values: dict[Decisions, float] = {}
        paying = self.boxed.penalty.paying(self.incumbent.support).tolist()
        ruled = self.boxed.penalty.paying(self.problem.rules.features.astype(np.int32)).tolist()
        self.set_features({*paying, *home, *ruled})

    def set_features(self, features: set[int]) -> None:
        """Let z be integral for these features."""
        self.set = sorted(features)
        self.set_size = len(self.set)
        self.cut = self.duals.cut(self.root, self.set)

    def closed(self) -> bool:
        """Return whether the gap is small enough."""
        return self.gap(self.objective, min(self.lower_bound, self.objective)) <= self.options.gap

    @property
    def target(self) -> float:
        """The bound that is good enough."""
        return self.objective - CLOSE_ENOUGH * self.options.gap * self.size

    @property
    def slack(self) -> float:
        """The difference between two bounds that does not matter."""
        return INNER_GAP * self.options.gap * self.size

    def solve_relaxation(self) -> tuple[MipResult, Relaxed | None]:
        """Solve (PMIO) for the present set: its value raises the bound, its solution shows how the set should grow."""
        best: Relaxed | None = None
        while True:
            level = self.target if best is None else min(self.target, best.bound)
            master = Master(self, level)
            found = master.solve()
            self.nodes += found.nodes
            solved = found.status == "infeasible"
            if solved and not self.values:  # without clauses, the incumbent's z is feasible, so the solver is wrong
                return replace(found, status="failed"), best
            # The clauses exclude only z whose value is at least `level`: if they exclude every z, `level` is a lower bound.
            self.raise_bound(level if solved else min(found.lower_bound, level))
            self.note()
            if solved and best is not None:
                found = replace(found, status="optimal")
            if solved or found.status != "optimal" or found.x is None or self.closed():
                return found, best
            relaxed, before = self.duals.relax(master.pattern(found.x), self.target), self.objective
            self.round(relaxed)
            if self.objective < before:  # a bound that was good enough for the old target may not be for the new one
                relaxed = self.duals.relax(relaxed.decisions, self.target)
            if best is None or relaxed.bound < best.bound:
                best = relaxed
            kept = self.weaken(relaxed, self.target if relaxed.bound >= self.target else best.bound)
            self.values[kept.decisions] = min(kept.bound, self.objective)

    def weaken(self, relaxed: Relaxed, enough: float) -> Relaxed:
        """Take decisions back while the value stays at least `enough`, until all that are left are needed.

        The dual point tells the worth of each decision. So many are taken back at once, and later one at a time.
        """
        needed: set[int] = set()
        while relaxed.dual is not None and relaxed.bound > enough + self.slack:
            now = relaxed.decisions
            decided = np.array(sorted((now.inside | now.outside) - needed), dtype=np.int64)
            slope = self.duals.slopes(relaxed.dual, decided)
            worth = np.maximum(np.where(np.isin(decided, list(now.inside)), slope, -slope), 0.0)
            order = np.argsort(worth, kind="stable")
            count = max(np.count_nonzero(np.cumsum(worth[order]) <= relaxed.bound - enough), 1)
            back = set(decided[order[:count]].tolist())
            if not back:
                break
            fewer = self.duals.relax(Decisions(now.inside - back, now.outside - back), enough)
            if fewer.bound >= enough:
                relaxed = fewer
            else:
                needed |= back
        return relaxed

    def round(self, relaxed: Relaxed) -> None:
        """Offer two solutions near a relaxed one: the set's features that are in, and all features with z >= 1/2."""
        always = set(self.duals.always)
        whole = set(relaxed.columns[relaxed.shares >= 0.5].tolist()) - always
        limit = self.most
        for chosen in (set(relaxed.decisions.inside), whole):
            if self.duals.weight[sorted(chosen)].sum() <= limit:
                self.offer(np.array(sorted(chosen | always), dtype=np.int32))


class Duals:
    """Convex problems with all columns of X, and the cuts from their dual points."""

    def __init__(self, search: MipSearch) -> None:
        problem, options = search.boxed, search.options
        p = problem.design.shape[1]
        self.search, self.problem = search, problem
        self.price = options.lambda_0 * problem.penalty.price
        # What each feature takes of the limit `most`: its cost under a budget, otherwise one if it is counted.
        free = problem.penalty.unpenalized
        self.weight = (~free).astype(np.float64) if options.budget is None else problem.penalty.price
        self.always: list[int] = np.flatnonzero(free).tolist()  # columns
        self.limited = np.zeros(p, dtype=bool)  # the features that the limit `most` counts
        self.limited[problem.penalty.paying(np.arange(p, dtype=np.int32))] = True
        self.limited[search.excluded] = False
        self.swaps = options.swaps
        if self.swaps is not None:
            self.limited[self.swaps.home] = False
        self.most = search.most if self.swaps is None else self.swaps.size
        self.mu_unit = problem.units.cost / (1.0 if options.budget is None else problem.units.price)

    def relax(self, decisions: Decisions, enough: float) -> Relaxed:
        """Solve the problem with some features in, some out, and the others relaxed; it may stop at a bound of `enough`."""
        unit, cost = self.problem.units.response, self.problem.units.cost
        inside, outside = sorted(decisions.inside), sorted(decisions.outside)
        found = self.search.convex.solve(inside=inside, outside=outside, enough=enough / cost)
        if not len(found.theta):
            return Relaxed(decisions, np.inf, None, np.zeros(0, dtype=np.int64), np.zeros(0))
        dual = Dual(found.theta * unit, found.mu * self.mu_unit)
        # All columns of a group have its share.
        features, first = np.unique(self.problem.penalty.heads[found.columns].astype(np.int64), return_index=True)
        return Relaxed(decisions, found.bound * cost, dual, features, found.shares[first])

    def cut(self, relaxed: Relaxed, chosen: list[int]) -> tuple[float, Array]:
        """Return constant and slopes of the cut in z of a set; without a dual point they are zero and cut nothing."""
        features = np.array(chosen, dtype=np.int64)
        if relaxed.dual is None:
            return 0.0, np.zeros(len(features))
        return self.constant(relaxed.dual, features), self.slopes(relaxed.dual, features)

    def constant(self, dual: Dual, features: Index) -> float:
        """Return a cut's value where all z of the set are zero: the terms of the loss and of all features outside the set."""
        w = self.problem.w
        u = np.divide(-dual.theta, w, out=np.zeros_like(w), where=w > 0.0)
        y = (self.problem.y - self.problem.units.centre)[:, 0]  # with an intercept, theta sums to zero
        losses = w * np.where(w > 0.0, self.problem.loss.conjugate(u, y), 0.0)
        s = self.gains(self.problem.design.rmatvec(dual.theta) / self.problem.spread, slice(None))
        outside = self.limited.copy()
        outside[features] = False
        rewards = np.maximum(self.problem.penalty.by_group(s) - self.price - dual.mu * self.weight, 0.0)[outside]
        terms = np.concatenate([losses, s[self.always], rewards, [dual.mu * self.most]])
        return -float(terms.sum()) - ROUNDING * float(np.abs(terms).sum())

    def gains(self, v: Array, columns: Index | slice) -> Array:
        """Return the gains s_j of some columns."""
        penalty = self.problem.penalty
        low, high = self.search.low[columns], self.search.high[columns]
        part = Penalty.of(len(low), lambda_1=penalty.lambda_1, lambda_2=penalty.lambda_2, lower=low, upper=high)
        return part.conjugate(v)

    def slopes(self, dual: Dual, features: Index) -> Array:
        """Return the slopes of a cut in z of some features, in increasing order: their price and share of mu less s_j."""
        if not len(features):
            return np.zeros(0)
        heads = self.problem.penalty.heads
        members = np.flatnonzero(np.isin(heads, features))
        X = self.problem.design.take(members).stored()
        columns = np.asarray(X.todense() if sparse.issparse(X) else X, dtype=np.float64)
        s = self.gains(dual.theta @ columns / self.problem.spread[members], members)
        place = np.searchsorted(features, heads[members])
        s = np.bincount(place, weights=s, minlength=len(features)).astype(np.float64)
        return self.price[features] + np.where(self.limited[features], dual.mu * self.weight[features], 0.0) - s


class Master:
    """The program that the MIP solver sees: min t over z of the set, with t at least the cut and the known values.

    Its costs are in the core's units: the tolerances of MIP solvers are absolute.
    """

    def __init__(self, generation: GenerationSearch, level: float) -> None:
        self.generation = generation
        self.cost = generation.problem.units.cost
        self.features = np.array(generation.set, dtype=np.int64)
        builder = Builder()
        self.t = builder.add(1, cost=1.0, lower=0.0)
        self.z = builder.add(len(self.features), lower=0.0, upper=1.0, integer=True)
        self.require_limits(builder)
        require_rules(builder, self.z, self.features, generation.problem.rules)
        self.require_cut(builder)
        self.require_values(builder, level)
        self.program = builder.build([], [])

    def require_limits(self, builder: Builder) -> None:
        """Require at most k features, where the set has more, or at most a swap's changes."""
        duals, limited = self.generation.duals, self.generation.duals.limited[self.features]
        weights = limited * duals.weight[self.features]
        if weights.sum() > duals.most:
            unit = duals.weight.max(initial=1.0)  # the tolerances of MIP solvers are absolute
            builder.require([(self.z, weights[None] / unit)], upper=duals.most / unit)
        if duals.swaps is not None:
            builder.require([(self.z, (~limited)[None].astype(float))], lower=len(duals.swaps.home) - duals.swaps.size)

    def require_cut(self, builder: Builder) -> None:
        """Require the cut of the root's dual point; dense rows of other dual points cost more time than they save."""
        constant, slopes = self.generation.cut
        builder.require([(self.t, np.ones((1, 1))), (self.z, -slopes[None] / self.cost)], lower=constant / self.cost)

    def require_values(self, builder: Builder, level: float) -> None:
        """Require t >= value where z agrees with decisions that were tried; forbid such z if value >= `level`."""
        for clauses in (True, False):
            known = [(one, value) for one, value in self.generation.values.items() if (value >= level) == clauses]
            if not known:
                continue
            # value * (1 - differences) is a bound for every z unless the value is negative.
            value = np.maximum([value for _, value in known], 0.0) / self.cost
            differ, fewest = self.differences([one for one, _ in known])
            if clauses:  # at least one z differs
                builder.require([(self.z, differ)], lower=fewest)
            else:
                rows = [(self.t, np.ones((len(known), 1))), (self.z, differ.multiply(value[:, None]))]
                builder.require(rows, lower=value * fewest)

    def differences(self, tried: list[Decisions]) -> tuple[sparse.csr_matrix, Array]:
        """Return rows d and numbers f such that d' z - f + 1 is the number of z that differ from the decisions."""
        place = {feature: k for k, feature in enumerate(self.features.tolist())}
        entries = [
            (row, place[j], sign)
            for row, one in enumerate(tried)
            for side, sign in ((one.outside, 1.0), (one.inside, -1.0))
            for j in side
        ]
        rows, columns, signs = zip(*entries, strict=True) if entries else ((), (), ())
        matrix = sparse.csr_matrix((signs, (rows, columns)), shape=(len(tried), len(self.features)))
        return matrix, np.array([1.0 - len(one.inside) for one in tried])

    def solve(self) -> MipResult:
        """Solve the program by the backend."""
        search, options = self.generation, self.generation.options
        gap = INNER_GAP * options.gap
        found = search.backend.solve(self.program, gap=gap, seconds=search.left(), threads=options.threads)
        return replace(found, lower_bound=found.lower_bound * self.cost)

    def pattern(self, x: Array) -> Decisions:
        """Return the decision on every feature of the set at a point of the program."""
        chosen = x[self.z] > 0.5
        return Decisions(frozenset(self.features[chosen].tolist()), frozenset(self.features[~chosen].tolist()))
