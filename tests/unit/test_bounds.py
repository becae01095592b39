"""The calculus of the dual bound: no dual point proves more than the truth, and nothing that is better is ever cut off."""

from dataclasses import replace

import numpy as np
import pytest
from support.problems import LOSSES
from support.regions import ANY, Region, nodes_of
from support.tiny_problems import draw_points, residual, spent, tiny

from ellzero.exact.verifier.arithmetic import exact_sum
from ellzero.exact.verifier.balancing import balance
from ellzero.exact.verifier.bounds import Stated
from ellzero.exact.verifier.losses import KNOWN


@pytest.fixture(autouse=True)
def quiet():
    """As `verify` does: what overflows proves nothing."""
    with np.errstate(all="ignore"):
        yield


def formula(problem, state, theta, models):
    """The least value of the Lagrangian, model by model, in plain loops."""
    total = 0.0
    for i in range(len(theta)):
        if problem.w[i] == 0.0:
            continue
        t = theta[i] / problem.w[i]
        a = abs(t)
        terms = {
            "hinge": a,
            "squared_hinge": a - a * a / 4.0,
            "logistic": -sum(u * np.log(u) for u in (a, 1.0 - a) if u > 0.0),
            "squared_error": t * problem.y[i] - t * t / 2.0,
        }
        total += problem.w[i] * terms[problem.loss.name]
    gains = {}
    for place, j in enumerate(state.index):
        v = float(problem.X[:, j] @ theta)
        corners = [state.low[place], state.high[place], 0.0]
        if problem.lambda_2 > 0.0:
            corners += [(v - problem.lambda_1) / (2.0 * problem.lambda_2), (v + problem.lambda_1) / (2.0 * problem.lambda_2)]
        corners = np.array([b for b in corners if np.isfinite(b) and state.low[place] <= b <= state.high[place]])
        s = float((v * corners - problem.lambda_1 * np.abs(corners) - problem.lambda_2 * corners**2).max())
        ends = (state.high[place], v) if v > 0.0 else (state.low[place], -v)
        if problem.lambda_2 == 0.0 and np.isinf(ends[0]) and ends[1] > problem.lambda_1:
            s = np.inf
        price = float(problem.counted[j]) if problem.price is None else problem.price[j]
        gains[j] = s - problem.lambda_0 * price
    always = [gain for j, gain in gains.items() if not problem.counted[j]]
    return total - sum(always) - max(sum(gains[j] for j in model) for model in models)


KINDS = [(False, False), (True, False), (False, True), (True, True)]  # swaps, and prices
CASES = [(seed, loss, *kind) for kind in KINDS for loss in LOSSES for seed in range(4 if kind[1] else 8)]


@pytest.mark.parametrize(("seed", "loss", "swaps", "priced"), CASES)
def test_no_dual_point_proves_more_than_the_truth(seed, loss, swaps, priced):
    rng, problem, fits = tiny(seed, loss, swaps, priced)
    alpha = draw_points(rng, problem, fits)
    points = list(problem.points_at(alpha.astype(float)))
    for state, values, sides in nodes_of(rng, problem, fits):
        support = min(values, key=values.get)
        truth, coef = values[support], fits[support].coef
        for upper in (ANY, float(np.median(list(values.values()))), truth * (1.0 + 1e-7) + 1e-12):
            narrowed = state
            for number, point in enumerate(points):
                where = (seed, loss, number, sides, upper)
                assert narrowed is not None, where
                free = state.narrow(point, ANY)[0]
                assert free <= truth * (1.0 + 1e-8) + 1e-12, where
                bound, narrowed = narrowed.narrow(point, upper)
                assert bound <= truth * (1.0 + 1e-6) + 1e-11, where
                # The best solution is still there: its features, its sizes, and no other feature forced in.
                assert narrowed is not None, where
                narrowed = narrowed.cap(upper)
                assert narrowed is not None, where
                left = dict(zip(narrowed.index.tolist(), zip(narrowed.low, narrowed.high, strict=True), strict=True))
                for j in np.flatnonzero(np.abs(coef) > 1e-6).tolist():
                    assert j in left, where
                    assert left[j][0] - 1e-4 <= coef[j] <= left[j][1] + 1e-4, where
                forced = set(narrowed.index[narrowed.inside & problem.counted[narrowed.index]].tolist())
                rivals = [S for S, value in values.items() if value <= truth * (1.0 + 1e-8)]
                assert any(forced <= S for S in rivals), where
                # So is all that is better than `upper`, as it is: also what has coefficients near zero.
                for S in (S for S, value in values.items() if value <= upper * (1.0 - 1e-9)):
                    assert forced <= S <= left.keys(), where
                    assert all(S & clause for clause in narrowed.clauses), where
                    assert all(left[j][0] <= fits[S].coef[j] <= left[j][1] for j in S), where


@pytest.mark.parametrize(("seed", "loss", "swaps", "priced"), CASES)
def test_any_blocks_lose_no_solution(seed, loss, swaps, priced):
    """Blocks that overlap, repeat or contradict each other: whatever is added, no model that they allow is cut off."""
    rng, problem, fits = tiny(seed, loss, swaps, priced)
    features = np.flatnonzero(problem.counted)
    for _ in range(40):
        state, models = Region.root(problem), list(fits)
        for _ in range(rng.integers(1, 6)):
            block, side = rng.choice(features, rng.integers(1, 4)), int(rng.random() < 0.7)
            models = [S for S in models if bool(S & set(block.tolist())) == side]
            state = None if state is None else state.decide(block, side)
            state = None if state is None else state.cap(ANY)
            assert state is not None or not models
            if state is None:
                break
            forced = set(state.index[state.inside & problem.counted[state.index]].tolist())
            for S in models:
                assert forced <= S <= set(state.index.tolist())
                assert all(S & clause for clause in state.clauses)


def test_blocks_make_clauses():
    """Else the tests above would prove little."""
    made = 0
    for seed in range(12):
        rng, problem, fits = tiny(seed, "squared_error")
        made += sum(len(state.clauses) > 0 for state, _, _ in nodes_of(rng, problem, fits))
    assert made > 10, made


@pytest.mark.parametrize(("swaps", "priced"), KINDS)
@pytest.mark.parametrize("loss", LOSSES)
def test_good_points_fix_features_and_shrink_boxes(loss, swaps, priced):
    """Else the test above would prove little."""
    out, inside, shrunk = np.zeros(2, dtype=int), np.zeros(2, dtype=int), 0  # outside and at home
    for seed in range(24 if swaps else 12):
        rng, problem, fits = tiny(seed, loss, swaps, priced)
        upper = min(fit.value + problem.lambda_0 * spent(problem, S) for S, fit in fits.items()) * (1.0 + 1e-7)
        state = root = Region.root(problem).cap(upper)
        alpha = draw_points(rng, problem, fits)
        for point in problem.points_at(alpha.astype(float)):
            state = state.narrow(point, upper)[1]
        kept = np.isin(root.index, state.index)
        out += np.bincount(problem.home[root.index[~kept]], minlength=2)
        inside += np.bincount(problem.home[state.index[state.inside & problem.counted[state.index]]], minlength=2)
        shrunk += int(((root.high - root.low)[kept] > 1.01 * (state.high - state.low)).sum())
    assert min(*out[: 1 + swaps], *inside[: 1 + swaps], shrunk) >= 3, (out, inside, shrunk)


@pytest.mark.parametrize(("seed", "loss", "swaps", "priced"), CASES)
def test_the_bound_is_the_formula(seed, loss, swaps, priced):
    rng, problem, fits = tiny(seed, loss, swaps, priced)
    alpha = draw_points(rng, problem, fits)
    points = list(problem.points_at(alpha.astype(float)))
    compared = 0
    for state, models, _ in nodes_of(rng, problem, fits):
        for number, (row, point) in enumerate(zip(alpha.astype(float), points, strict=True)):
            if loss == "squared_error":
                theta = problem.w * row
            else:
                theta = problem.y * problem.w * np.clip(row, 0.0, np.inf if loss == "squared_hinge" else 1.0)
            theta = balance(theta) if problem.fit_intercept else theta
            expected = formula(problem, state, theta, models)
            found = state.narrow(point, ANY)[0]
            if np.isfinite(expected) and problem.budget is None:
                assert found == pytest.approx(expected, rel=1e-9, abs=1e-9), (seed, loss, number)
            compared += np.isfinite(expected)  # with a budget, a feature may come in by a fraction
            assert found <= expected + 1e-9, (seed, loss, number)
    assert compared > 0


@pytest.mark.parametrize("penalty", [{"lambda_1": 0.1, "lambda_2": 0.0}, {"lambda_1": 0.0, "lambda_2": 0.1}])
@pytest.mark.parametrize("lambda_0", [0.0, 0.5])
def test_the_cap_is_where_the_penalty_takes_all(penalty, lambda_0):
    """A perfect fit: nothing but the penalty is left of the objective, and the cap is the coefficient itself."""
    x, one = np.array([[1.0], [-1.0], [2.0], [-2.0]]), np.ones(1)
    common = {"loss": KNOWN["squared_error"], "k": 1, "fit_intercept": False, "X": x, "y": 3.0 * x[:, 0], "w": np.full(4, 0.25)}
    limits = {"home": one < 0.0, "spread": one, "norm": one, "counted": one > 0.0, "low": -np.inf * one, "high": np.inf * one}
    problem = Stated(lambda_0=lambda_0, **penalty, **common, **limits)
    value, upper, _ = problem.evaluate(np.array([3.0]), 0.0)
    assert value == pytest.approx(lambda_0 + penalty["lambda_1"] * 3.0 + penalty["lambda_2"] * 9.0)
    for state in (Region.root(problem), Region.root(problem).decide(np.array([0]), 1)):
        capped = state.cap(upper)
        assert 3.0 <= capped.high[0] <= 3.0 + 1e-9
        assert -3.0 - 1e-9 <= capped.low[0] <= -3.0
    assert Region.root(problem).decide(np.array([0]), 1).cap(0.9 * lambda_0 - 0.01) is None
    free = Region.root(problem).cap(0.9 * lambda_0)
    assert lambda_0 == 0.0 or len(free.index) == 0


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "squared_error"])
def test_strong_duality(loss):
    """At the residuals of the whole problem's solution, the bound is its value: what is proved is not only true but enough."""
    hits = 0
    for seed in range(30):
        _, problem, fits = tiny(seed, loss)
        problem = replace(problem, lambda_0=0.0, k=problem.X.shape[1])
        everything = max(fits, key=len)
        if len(everything) < problem.counted.sum():
            continue
        found = fits[everything]
        slope = residual(problem, found)
        state = Region.root(problem).cap(found.value * (1.0 + 1e-9))
        point = next(problem.points_at(slope[None]))
        bound = state.narrow(point, ANY)[0]
        assert bound <= found.value * (1.0 + 1e-9), seed
        assert bound >= found.value * (1.0 - 1e-4), seed
        hits += 1
    assert hits >= 3


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(5))
def test_conjugates(seed, loss):
    """-w f*(-theta / w) is the least value of w f(eta) + theta eta."""
    rng = np.random.default_rng(seed)
    eta = np.r_[np.linspace(-30.0, 30.0, 120_001), np.linspace(-2.0, 2.0, 40_001)]
    for _ in range(10):
        w = float(rng.uniform(0.01, 1.0))
        y = float(rng.standard_normal() if loss == "squared_error" else rng.choice([-1.0, 1.0]))
        wide = {"squared_error": 3.0 * rng.standard_normal(), "squared_hinge": 3.0 * rng.random()}
        alpha = float(wide.get(loss, rng.random()))
        theta = w * alpha if loss == "squared_error" else w * y * alpha
        term, size = KNOWN[loss].dual_terms(np.array([theta]), np.array([y]), np.array([w]))
        least = float((w * KNOWN[loss].values(eta, np.full_like(eta, y)) + theta * eta).min())
        assert term[0] == pytest.approx(least, abs=1e-6), (seed, w, y, alpha)
        assert term[0] <= least + 1e-12, (seed, w, y, alpha)
        assert size[0] >= abs(term[0]), (seed, w, y, alpha)


def test_conjugates_at_the_ends():
    one = np.ones(1)
    assert KNOWN["logistic"].dual_terms(np.array([0.0]), one, one)[0][0] == 0.0
    assert KNOWN["logistic"].dual_terms(np.array([1.0]), one, one)[0][0] == 0.0
    assert KNOWN["hinge"].dual_terms(np.array([1.0]), one, one)[0][0] == 1.0
    for loss in LOSSES:
        assert KNOWN[loss].dual_terms(np.array([0.0]), one, np.array([0.0]))[0][0] == 0.0  # a row without weight


@pytest.mark.parametrize("seed", range(40))
def test_balance(seed):
    rng = np.random.default_rng(seed)
    size, scale = int(rng.integers(1, 60)), np.exp(rng.normal(0.0, rng.choice([0.1, 5.0])))
    theta = scale * rng.standard_normal(size) + rng.choice([0.0, 0.5])
    balanced = balance(theta.copy())
    assert balanced.sum() == 0.0, seed
    assert exact_sum(balanced) == 0.0, seed
    assert (np.abs(balanced) <= np.abs(theta)).all(), seed
    assert (balanced * theta >= 0.0).all(), seed
    # No more is taken away than the sum, but for the grid.
    assert np.abs(balanced - theta).sum() <= abs(theta.sum()) + len(theta) * 1e-13 * np.abs(theta).sum(), seed


def test_balance_at_the_ends():
    for theta in ([0.0], [0.0, 0.0], [1e-310, 1e-310], [1.0], [-2.0, -3.0], [1e300, -1e300]):
        balanced = balance(np.array(theta))
        assert balanced.sum() == 0.0
        assert (np.abs(balanced) <= np.abs(theta)).all()
