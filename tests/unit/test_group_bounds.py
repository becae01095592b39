"""The calculus of the dual bound with groups of columns: nothing that is better is cut off, and no bound is above the truth."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from support.oracle import Model
from support.problems import LOSSES
from support.regions import ANY, nodes_of
from support.tiny_problems import draw_points, spent, tiny

from ellzero.exact.verifier.regions import Blocks, States

KINDS = [(False, False), (True, False), (False, True), (True, True)]  # swaps, and prices
CASES = [(seed, loss, *kind) for kind in KINDS for loss in LOSSES for seed in range(8)]


@pytest.fixture(autouse=True)
def quiet():
    """As `verify` does: what overflows proves nothing."""
    with np.errstate(all="ignore"):
        yield


def grouped(seed, loss, swaps, priced):
    """A tiny problem with twice as many columns, in groups, and the oracle's fit of every set of groups that it allows."""
    rng, problem, _ = tiny(seed, loss, swaps, priced)
    few = len(problem.counted)
    group = np.concatenate([np.arange(few), rng.integers(few, size=few)])
    order = rng.permutation(2 * few)
    group = group[order]
    group = np.array([np.flatnonzero(group == label)[0] for label in group])  # heads
    X = rng.standard_normal((len(problem.y), 2 * few)) + rng.standard_normal(2 * few) * rng.choice([0.0, 2.0])
    low, high = -rng.uniform(0.0, 1.5, 2 * few), rng.uniform(0.0, 1.5, 2 * few)
    if problem.lambda_1 + problem.lambda_2 > 0.0:
        low, high = np.where(rng.random(2 * few) < 0.5, -np.inf, low), np.where(rng.random(2 * few) < 0.5, np.inf, high)
    counted, price = (rng.random(2 * few) < 0.85)[group], None
    home = np.zeros(2 * few, dtype=bool)
    heads = np.unique(group)
    home[heads] = swaps & counted[heads] & (rng.random(len(heads)) < 0.6)
    if priced:
        price = np.where(counted, (rng.integers(1, 4, 2 * few) * rng.choice([1.0, np.exp(0.3)]))[group], 0.0)
    norm = np.sqrt(problem.w @ X**2)
    parts = {"X": X, "norm": norm, "spread": np.ones(2 * few), "low": low, "high": high, "home": home}
    problem = replace(problem, **parts, counted=counted, price=price, group=group, k=min(problem.k, few))
    weights, free = problem.w, np.flatnonzero(~counted).tolist()
    penalties = problem.lambda_1, problem.lambda_2
    oracle = Model(X, problem.y, loss, *penalties, problem.fit_intercept, weights, low, high, free)
    features, at_home = heads[counted[heads]].tolist(), frozenset(np.flatnonzero(home).tolist())
    most, fits = np.inf if problem.budget is None else problem.budget * (1.0 + 1e-12), {}
    for size in range(len(features) + 1):
        for chosen in map(frozenset, combinations(features, size)):
            allowed = max(len(chosen - at_home), len(at_home - chosen)) <= problem.k or problem.budget is not None
            if allowed and spent(problem, chosen) <= most:
                fits[chosen] = oracle.fit(frozenset(np.flatnonzero(np.isin(group, list(chosen))).tolist()))
    return rng, problem, fits


@pytest.mark.parametrize(("seed", "loss", "swaps", "priced"), CASES)
def test_no_dual_point_proves_more_than_the_truth(seed, loss, swaps, priced):
    rng, problem, fits = grouped(seed, loss, swaps, priced)
    alpha = draw_points(rng, problem, fits)
    points = list(problem.points_at(alpha.astype(float)))
    for state, values, sides in nodes_of(rng, problem, fits):
        truth = min(values.values())
        for upper in (ANY, float(np.median(list(values.values()))), truth * (1.0 + 1e-7) + 1e-12):
            narrowed = state
            for number, point in enumerate(points):
                where = (seed, loss, number, sides, upper)
                assert state.narrow(point, ANY)[0] <= truth * (1.0 + 1e-8) + 1e-12, where
                bound, narrowed = narrowed.narrow(point, upper)
                assert bound <= truth * (1.0 + 1e-6) + 1e-11, where
                narrowed = None if narrowed is None else narrowed.cap(upper)
                assert narrowed is not None, where
                ends = zip(narrowed.low, narrowed.high, strict=True)
                left = dict(zip(narrowed.states.columns.tolist(), ends, strict=True))
                assert set(left) == set(np.flatnonzero(np.isin(problem.group, narrowed.index)).tolist()), where
                forced = set(narrowed.index[narrowed.inside & problem.counted[narrowed.index]].tolist())
                for S in (S for S, value in values.items() if value <= upper * (1.0 - 1e-9)):
                    assert forced <= S <= set(narrowed.index.tolist()), where
                    assert all(S & clause for clause in narrowed.clauses), where
                    used = np.flatnonzero(np.isin(problem.group, list(S)))
                    assert all(left[j][0] <= fits[S].coef[j] <= left[j][1] for j in used), where


def test_groups_are_fixed_and_boxes_cut():
    """Else the test above would prove little."""
    out = into = cut = 0
    for seed, loss in ((seed, loss) for seed in range(8) for loss in LOSSES):
        rng, problem, fits = grouped(seed, loss, False, False)
        points = list(problem.points_at(draw_points(rng, problem, fits)[:9].astype(float)))
        for state, values, _ in nodes_of(rng, problem, fits):
            narrowed = state
            for point in points:
                narrowed = narrowed.narrow(point, min(values.values()) * (1.0 + 1e-7) + 1e-12)[1]
            out += len(state.index) - len(narrowed.index)
            into += np.count_nonzero(narrowed.inside) - np.count_nonzero(state.inside)
            before = dict(zip(state.states.columns.tolist(), state.high, strict=True))
            cut += sum(high < before[j] for j, high in zip(narrowed.states.columns.tolist(), narrowed.high, strict=True))
    assert min(out, into, cut) > 50, (out, into, cut)


def test_regions_together_are_regions_apart():
    """Groups of several sizes stand one after the other: nothing of one region may end up in another."""
    rng, problem, fits = grouped(3, "logistic", False, False)
    points = list(problem.points_at(draw_points(rng, problem, fits)[:9].astype(float)))
    regions = [state for state, _, _ in nodes_of(rng, problem, fits) if not state.clauses]
    parts = [part for region in regions for _, part in region.states.split()]
    upper = min(fit.value for fit in fits.values()) * 1.2
    used = [points[k % len(points)] for k in range(len(parts))]
    bounds, states = problem.narrow(States.join(np.arange(len(parts)), parts), used, upper)
    after = dict(states.split())
    for k, (region, point) in enumerate(zip(regions, used, strict=True)):
        bound, alone = region.narrow(point, upper)
        assert bound == bounds[k]
        assert (alone is None) == (k not in after)
        if alone is not None:
            for name in ("index", "inside", "low", "high"):
                np.testing.assert_array_equal(getattr(after[k], name), getattr(alone, name))
    assert len(after) > 2


def test_members_of_groups():
    members = Blocks.of_groups(np.array([0, 1, 0, 3, 1]))
    columns, entry = members.listed(np.array([0, 1, 3]))
    assert columns.tolist() == [0, 2, 1, 4, 3]
    assert entry.tolist() == [0, 0, 1, 1, 2]
