"""Algorithm 4 of the paper (IGA) on a MIP solver.

The relaxed problem (PMIO) has z integral for a small set of features; for the others it has the envelope of Lemma 2. Given z of the
set, what is left is convex, and every dual point theta bounds it from below, for all z at once: with v = X' theta and s_j as in
the certificate,

    objective >= -sum_i w_i f*(-theta_i / w_i) - sum_{j outside} max(s_j - lambda_0, 0) + sum_{j in the set} z_j (lambda_0 - s_j),

a linear cut in z, valid whatever theta is. So the MIP solver sees z of the set and nothing else: no rows of X, no features outside,
no big M. Where it puts z, the core solves the convex problem that is left, with all columns of X (generating those that it needs),
and the dual point is the next cut: a Benders decomposition. Cuts at whole patterns of z say little about others; so each
pattern is first weakened to as few decisions as still keep its value up, and these exclude all patterns that agree with them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ellzero.exact.branch_and_bound import counted_support, growth
from ellzero.exact.mip.backends import MipResult
from ellzero.exact.mip.prepared import Prepared
from ellzero.exact.mip.program import Builder
from ellzero.exact.setting import SearchOptions
from ellzero.exact.solution import ExactSolution, relative_gap
from ellzero.model import Model
from ellzero.penalties import Penalty
from ellzero.problem import Problem

__all__ = ["generate_integrality"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]
# Of the gap that is asked for: what masters and convex problems may be off.
INNER_GAP = 0.1
# Cuts are lowered by this share of the numbers that they are summed from.
ROUNDING = 1e-13


@dataclass(frozen=True)
class Decisions:
    """Features of the set that are in and that are out; the others are relaxed."""

    inside: frozenset[int] = frozenset()
    outside: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class Cut:
    """What a dual point proves, for any set: the objective is at least constant + sum of slope_j z_j over the set."""

    theta: Array
    loss: float  # -sum_i w_i f*(-theta_i / w_i), less what unpenalized features gain
    mu: float  # multiplier of the limit on the number of features
    rewards: float  # sum of max(s_j - lambda_0 - mu, 0) over all features that this limit counts


@dataclass(frozen=True, eq=False)
class Relaxed:
    """The convex problem that some decisions leave: its value (a bound) and, unless nothing good is left at all, cut and solution."""

    decisions: Decisions
    bound: float
    cut: Cut | None
    columns: Index
    shares: Array


def generate_integrality(
    problem: Problem, options: SearchOptions, starts: Iterable[Model] = (), heuristic: bool = True
) -> ExactSolution:
    """The best solution and the bound after as many iterations as the gap needs or the time allows."""
    run = Prepared.make(problem, options, starts, heuristic)
    if run.setting.ended:
        return run.finish(run.setting.ended)
    try:
        return run.finish(*Generation(run).iterate())
    except KeyboardInterrupt:
        return run.finish("interrupted")


class Generation:
    """The iterations of Algorithm 4 and what they share: the set, the cuts and the values of what was tried."""

    def __init__(self, run: Prepared) -> None:
        self.run, self.options = run, run.setting.options
        home = [] if self.options.swaps is None else self.options.swaps.home.tolist()
        self.set = sorted({*counted_support(run.setting.boxed, run.setting.incumbent), *home})
        self.duals = Duals(run)
        self.cuts: list[Cut] = []
        self.values: dict[Decisions, float] = {}
        self.iteration = 0

    def iterate(self) -> tuple[str, str]:
        """Solve the relaxation, grow the set, until the bound is good enough; status and message."""
        self.relax(Decisions())
        while True:
            self.iteration += 1
            found, best = self.solve_relaxation()
            self.run.note(self.iteration, len(self.set))
            if found.status != "optimal":
                return self.run.status_of(found), found.message
            if self.closed() or best is None:
                return "finished", ""
            new = growth(best.columns, best.shares, [*self.set, *self.duals.always], self.options.grow)
            if not new:  # integral: the best solution is known, up to what the tolerances leave
                return "finished", ""
            self.set = sorted({*self.set, *new})

    def closed(self) -> bool:
        """Whether the gap is small enough."""
        return relative_gap(self.run.objective, min(self.run.lower_bound, self.run.objective)) <= self.options.gap

    @property
    def slack(self) -> float:
        """What does not matter in a bound."""
        return INNER_GAP * self.options.gap * abs(self.run.objective)

    def solve_relaxation(self) -> tuple[MipResult, Relaxed | None]:
        """(PMIO) for the present set: its value raises the bound, its solution says how the set grows."""
        best: Relaxed | None = None
        while True:
            master = Master(self)
            found = master.solve()
            self.run.nodes += found.nodes
            self.run.raise_bound(found.lower_bound)
            self.run.note(self.iteration, len(self.set))
            if found.status != "optimal" or found.x is None or self.closed():
                return found, best
            pattern = master.pattern(found.x)
            # The master knows the value of every pattern that was tried: one that comes back is the solution.
            if best is not None and (pattern == best.decisions or found.lower_bound >= best.bound - self.slack):
                return found, best
            relaxed = self.relax(pattern)
            if relaxed.cut is not None:
                self.round(relaxed)
            if best is None or relaxed.bound < best.bound:
                best = relaxed
            self.weaken(relaxed, min(best.bound, self.run.objective * (1.0 - self.options.gap)))

    def relax(self, decisions: Decisions) -> Relaxed:
        """Solve what decisions leave, and keep what it proves."""
        relaxed = self.duals.relax(decisions)
        if relaxed.cut is not None:
            self.cuts.append(relaxed.cut)
        self.values[decisions] = min(relaxed.bound, self.run.objective)
        return relaxed

    def weaken(self, relaxed: Relaxed, enough: float) -> None:
        """Take decisions back while the value stays at least `enough`.

        What a decision is worth at the dual point is known, so that many are taken back at once; then the problem is solved again.
        """
        while relaxed.cut is not None and relaxed.bound > enough + self.slack:
            decided = np.array(sorted(relaxed.decisions.inside | relaxed.decisions.outside), dtype=np.int64)
            inside = np.isin(decided, list(relaxed.decisions.inside))
            slope = self.duals.slopes(relaxed.cut, decided)
            worth = np.maximum(np.where(inside, slope, -slope), 0.0)
            order = np.argsort(worth, kind="stable")
            free = order[np.cumsum(worth[order]) <= relaxed.bound - enough]
            if not len(free):
                return
            back = set(decided[free].tolist())
            fewer = Decisions(relaxed.decisions.inside - back, relaxed.decisions.outside - back)
            relaxed = self.relax(fewer)

    def round(self, relaxed: Relaxed) -> None:
        """Solutions near a relaxed one: the set's features alone, and with the others that are nearly whole."""
        always = set(self.duals.always)
        whole = set(relaxed.columns[relaxed.shares >= 0.5].tolist()) - always
        limit = self.run.setting.most
        for chosen in (set(relaxed.decisions.inside), whole):
            if len(chosen) <= limit:
                self.run.offer(np.array(sorted(chosen | always), dtype=np.int32))


class Duals:
    """Convex problems with all columns of X, and the cuts that their dual points give."""

    def __init__(self, run: Prepared) -> None:
        problem = run.setting.boxed
        p = problem.design.shape[1]
        self.run, self.problem, self.lambda_0 = run, problem, run.setting.options.lambda_0
        self.spread = np.ones(p) if problem.spread is None else problem.spread
        counted = problem.penalty.pays_lambda_0(p)
        self.always: list[int] = np.flatnonzero(~counted).tolist()
        self.limited = counted.copy()  # what the limit on the number of features counts
        if run.setting.options.swaps is not None:
            self.limited[run.setting.options.swaps.home] = False

    def relax(self, decisions: Decisions) -> Relaxed:
        """The problem with some features in, some out, and the others relaxed."""
        found = self.run.relaxations.solve(
            inside=sorted(decisions.inside),
            outside=sorted(decisions.outside),
            error=INNER_GAP * self.run.setting.options.gap,
        )
        if not np.isfinite(found["bound"]):
            return Relaxed(decisions, np.inf, None, np.zeros(0, dtype=np.int64), np.zeros(0))
        theta, mu, w = found["theta"], found["mu"], self.problem.w
        u = np.divide(-theta, w, out=np.zeros_like(theta), where=w > 0.0)
        losses = w * np.where(w > 0.0, self.problem.loss.conjugate(u, self.problem.y), 0.0)
        s = self.gains(self.problem.design.rmatvec(theta) / self.spread, slice(None))
        rewards = np.maximum(s - self.lambda_0 - mu, 0.0)[self.limited]
        held = s[self.always]
        margin = ROUNDING * float(np.abs(losses).sum() + rewards.sum() + np.abs(held).sum() + mu)
        cut = Cut(theta, -float(losses.sum()) - float(held.sum()) - margin, mu, float(rewards.sum()) + margin)
        return Relaxed(decisions, found["bound"], cut, found["columns"].astype(np.int64), found["shares"])

    def gains(self, v: Array, features: Index | slice) -> Array:
        """s of some features."""
        penalty = self.problem.penalty
        box = {"lower": self.run.low[features], "upper": self.run.high[features]}
        return Penalty(lambda_1=penalty.lambda_1, lambda_2=penalty.lambda_2, **box).conjugate(v)

    def slopes(self, cut: Cut, features: Index) -> Array:
        """What z of some features costs in a cut."""
        X = self.problem.design.stored()[:, features]
        columns = np.asarray(X.todense() if sparse.issparse(X) else X, dtype=np.float64)
        s = self.gains(cut.theta @ columns / self.spread[features], features)
        return self.lambda_0 + np.where(self.limited[features], cut.mu, 0.0) - s


class Master:
    """The program that the MIP solver sees: z of the set, and the objective t that the cuts and the known values hold up."""

    def __init__(self, generation: Generation) -> None:
        self.generation = generation
        self.features = np.array(generation.set, dtype=np.int64)
        builder = Builder()
        self.t = builder.add(1, cost=1.0, lower=0.0)
        self.z = builder.add(len(self.features), lower=0.0, upper=1.0, integer=True)
        self.require_limits(builder)
        self.require_cuts(builder)
        self.require_values(builder)
        self.program = builder.build([], [])

    def require_limits(self, builder: Builder) -> None:
        """At most k features, or a swap's."""
        options, limited = self.generation.options, self.generation.duals.limited[self.features]
        most = options.k if options.swaps is None else options.swaps.size
        if most is not None:
            builder.require([(self.z, limited[None].astype(float))], upper=most)
        if options.swaps is not None:
            builder.require([(self.z, (~limited)[None].astype(float))], lower=len(options.swaps.home) - options.swaps.size)

    def require_cuts(self, builder: Builder) -> None:
        """What the dual points prove. Features of the set are paid for by their z, not by their rewards."""
        generation, duals = self.generation, self.generation.duals
        most = generation.run.setting.most if generation.options.swaps is None else generation.options.swaps.size
        slopes = np.array([duals.slopes(cut, self.features) for cut in generation.cuts])
        rewards = np.maximum(-slopes, 0.0)[:, duals.limited[self.features]].sum(axis=1) * (1.0 - ROUNDING)
        constant = np.array([cut.loss - cut.rewards - cut.mu * most for cut in generation.cuts]) + rewards
        builder.require([(self.t, np.ones((len(slopes), 1))), (self.z, -slopes)], lower=constant)

    def require_values(self, builder: Builder) -> None:
        """With decisions that were tried the objective is at least their value; else this says nothing: no objective is negative."""
        for decisions, value in self.generation.values.items():
            differ = np.isin(self.features, list(decisions.outside)) - 1.0 * np.isin(self.features, list(decisions.inside))
            row = [(self.t, np.ones((1, 1))), (self.z, value * differ[None])]
            builder.require(row, lower=value * (1.0 - len(decisions.inside)))

    def solve(self) -> MipResult:
        """By the backend."""
        run, options = self.generation.run, self.generation.options
        return run.backend.solve(
            self.program, gap=INNER_GAP * options.gap, seconds=run.setting.left(), threads=options.threads
        )

    def pattern(self, x: Array) -> Decisions:
        """The decision on every feature of the set."""
        chosen = x[self.z] > 0.5
        return Decisions(frozenset(self.features[chosen].tolist()), frozenset(self.features[~chosen].tolist()))
