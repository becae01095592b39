"""The boxes that the growth of a loss proves: they hold every model that is good enough, and only true growth is accepted."""

from dataclasses import replace

import numpy as np
import pytest

from ellzero.exact.verifier.arithmetic import Float64
from ellzero.exact.verifier.bounds import Stated
from ellzero.exact.verifier.data import Refused
from ellzero.exact.verifier.exact_arithmetic import Exact
from ellzero.exact.verifier.growth import GrowthProof
from ellzero.exact.verifier.losses import KNOWN

LOSSES = ["logistic", "hinge", "squared_hinge"]
SEEDS = range(360)
FAR = 1e9  # a model may go as far as that along a direction in which the loss does not grow


@pytest.fixture(autouse=True)
def quiet():
    """As `verify` does: what overflows proves nothing."""
    with np.errstate(all="ignore"):
        yield


def draw(rng):
    """A few rows and columns, of any sizes, and a dual point that often is nearly level."""
    n, p = int(rng.integers(2, 6)), int(rng.choice([1, 1, 2]))
    X = rng.standard_normal((n, p)) * 10.0 ** rng.uniform(-6.0, 6.0, p)
    X += rng.choice([0.0, 1.0]) * X.std(0)
    y = rng.choice([-1.0, 1.0], n)
    w = rng.uniform(0.2, 1.0, n) * (rng.random(n) < 0.9)
    w[0] += 1e-3
    w /= w.sum()
    spread = 10.0 ** rng.uniform(-3.0, 3.0, p) if rng.random() < 0.5 else np.ones(p)
    fit_intercept = bool(rng.random() < 0.5)
    low, high = np.full(p, -np.inf), np.full(p, np.inf)
    if p > 1 and rng.random() < 0.5:  # the growth may leave this one out
        high[-1] = rng.uniform(0.1, 3.0) / X[:, -1].std() * spread[-1]
        low[-1] = -high[-1]
    norm = np.sqrt(w @ X**2) / spread
    problem = Stated(
        loss=KNOWN[rng.choice(LOSSES)],
        lambda_0=0.0,
        lambda_1=0.0,
        lambda_2=0.0,
        k=p,
        home=np.zeros(p, dtype=bool),
        fit_intercept=fit_intercept,
        X=X,
        y=y,
        w=w,
        spread=spread,
        norm=norm,
        counted=np.ones(p, dtype=bool),
        low=low,
        high=high,
    )
    alpha = rng.uniform(0.0, 1.0, n) if rng.random() < 0.7 else np.full(n, 0.5)
    if rng.random() < 0.8:  # move it along the columns until it is level
        A = np.column_stack([X / np.abs(X).max(0), np.ones((n, int(fit_intercept)))]) * (y * w)[:, None]
        alpha = np.clip(alpha - np.linalg.pinv(A.T) @ (A.T @ alpha) * rng.uniform(0.5, 1.0), 0.0, 1.0)
    columns = np.arange(p) if not np.isfinite(high[-1]) or rng.random() < 0.5 else np.arange(p - 1)
    return problem, alpha, columns


def largest_growth(problem, alpha, columns, upper):
    """The growth with the largest entries that is accepted, and the problem with its boxes; None if there is none."""
    room = problem.w * np.minimum(alpha, 1.0 - alpha)
    sizes = (room**2) @ (problem.X[:, columns] / problem.spread[columns]) ** 2
    for factor in 2.0 ** np.arange(0.0, -15.0, -0.25):
        growth = GrowthProof(alpha, columns, factor * sizes)
        try:
            return growth, growth.held(problem, upper)
        except Refused as refusal:
            if "too steep" in str(refusal):  # and steeper still beside smaller entries
                return None
    return None


def farthest(problem, direction, intercept, upper):
    """The farthest point along a direction from zero, inside the boxes, whose loss is at most `upper`."""

    def good(t):
        beta = t * direction
        if (beta < problem.low).any() or (beta > problem.high).any():
            return False
        return problem.w @ problem.loss.values(problem.X @ (beta / problem.spread) + t * intercept, problem.y) <= upper

    inside, outside = 0.0, FAR
    if good(FAR):
        return FAR * direction
    for _ in range(50):
        middle = np.sqrt(inside * outside) if inside > 0.0 else outside / 1e3
        inside, outside = (middle, outside) if good(middle) else (inside, middle)
    return inside * direction


def test_boxes_hold_all_good_models():
    accepted = tight = 0
    for seed in SEEDS:
        rng = np.random.default_rng([seed, 43])
        problem, alpha, columns = draw(rng)
        p, null = len(problem.low), problem.evaluate(np.zeros(len(problem.low)), 0.0).upper
        upper = null * rng.choice([1.0, 1e3, 1e6])  # far out, the losses are nearly linear, or grow faster
        found = largest_growth(problem, alpha, columns, upper)
        if found is None:
            continue
        accepted += 1
        held = found[1]
        assert np.isfinite(held.low).all()
        assert np.isfinite(held.high).all()
        unit = problem.spread / np.abs(problem.X).max(0)
        share = 0.0
        for _ in range(40):
            direction, intercept = rng.standard_normal(p) * unit, rng.standard_normal() * problem.fit_intercept
            beta = farthest(problem, direction * 10.0 ** rng.uniform(-1.0, 1.0, p), intercept, upper)
            assert (held.low <= beta).all(), seed
            assert (beta <= held.high).all(), seed
            share = max(share, np.max(np.abs(beta[columns]) / held.high[columns]))
        tight += share > 0.4
    assert accepted >= len(SEEDS) / 8, accepted
    assert tight >= 6, "the boxes are too wide to tell anything"


def test_float64_proves_no_narrower_boxes_than_exact_arithmetic():
    exact, compared = Exact(), 0
    for seed in SEEDS:
        problem, alpha, columns = draw(np.random.default_rng([seed, 43]))
        found = largest_growth(problem, alpha, columns, 1.0)
        if found is None:
            continue
        growth, held = found
        truth = replace(problem, low=exact.numbers(problem.low), high=exact.numbers(problem.high), arithmetic=exact)
        proved = growth.held(truth, exact.number(1.0))
        assert (held.low <= proved.low).all(), seed
        assert (proved.high <= held.high).all(), seed
        compared += 1
    assert compared >= len(SEEDS) / 8


def level(fit_intercept=True):
    """A problem in which the loss grows: each point has both labels. Its dual point, and half of the largest entries."""
    x = np.array([-1.0, 0.5, 2.0])
    X = np.repeat(np.column_stack([x, x**2]), 2, axis=0)
    w, ones = np.full(6, 1.0 / 6.0), np.ones(2)
    problem = Stated(
        loss=KNOWN["logistic"],
        lambda_0=0.0,
        lambda_1=0.0,
        lambda_2=0.0,
        k=2,
        home=np.zeros(2, dtype=bool),
        fit_intercept=fit_intercept,
        X=X,
        y=np.tile([-1.0, 1.0], 3),
        w=w,
        spread=ones,
        norm=np.sqrt(w @ X**2),
        counted=np.ones(2, dtype=bool),
        low=-np.inf * ones,
        high=np.inf * ones,
    )
    Z = X - X.mean(0) if fit_intercept else X
    return problem, np.full(6, 0.5), 0.5 * np.linalg.eigvalsh(Z.T @ Z / 144.0)[0] * ones


@pytest.mark.parametrize("arithmetic", [Float64(), Exact()])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_formula(arithmetic, fit_intercept):
    problem, alpha, values = level(fit_intercept)
    problem = replace(
        problem, low=arithmetic.numbers(problem.low), high=arithmetic.numbers(problem.high), arithmetic=arithmetic
    )
    held = GrowthProof(alpha, np.arange(2), values).held(problem, arithmetic.number(0.7))
    assert held.high.astype(float) == pytest.approx(2.0 * 0.7 / np.sqrt(values), rel=1e-9)
    assert held.low.astype(float) == pytest.approx(-2.0 * 0.7 / np.sqrt(values), rel=1e-9)
    assert (problem.high == np.inf).all()  # what was given stays as it is


@pytest.mark.parametrize("arithmetic", [Float64(), Exact()])
def test_bounds_of_columns_that_the_growth_leaves_out_count(arithmetic):
    problem, alpha, values = level()
    low, high = np.array([-np.inf, -0.1]), np.array([np.inf, 0.3])
    problem = replace(problem, low=arithmetic.numbers(low), high=arithmetic.numbers(high), arithmetic=arithmetic)
    held = GrowthProof(alpha, np.arange(1), values[:1]).held(problem, arithmetic.number(0.7))
    reach = 2.0 * (0.7 + 0.3 * problem.norm[1]) / np.sqrt(values[0])
    assert float(held.high[0]) == pytest.approx(reach, rel=1e-5)
    assert (float(held.low[1]), float(held.high[1])) == (-0.1, 0.3)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda alpha, values: (alpha, 3.0 * values), "not proved to grow as"),
        (lambda alpha, values: (alpha, 1e300 * values), "not proved to grow as"),
        (lambda alpha, values: (0.0 * alpha, values), "not proved to grow as"),
        (lambda alpha, values: (1.0 + alpha, values), "not proved to grow as"),
        (lambda alpha, values: (0.4 + alpha, values), "not proved to grow as"),  # a fifth of the room, at either end
        (lambda alpha, values: (alpha - 0.4, values), "not proved to grow as"),
        (lambda alpha, values: (alpha + 1e-9 * np.arange(6), np.full(2, 5e-324)), "too steep"),
        (lambda alpha, values: (np.r_[0.9, alpha[1:]], 0.1 * values), "too steep"),
    ],
)
@pytest.mark.parametrize("arithmetic", [Float64(), Exact()])
def test_what_is_not_proved_is_refused(arithmetic, change, reason):
    problem, alpha, values = level(fit_intercept=False)
    problem = replace(
        problem, low=arithmetic.numbers(problem.low), high=arithmetic.numbers(problem.high), arithmetic=arithmetic
    )
    alpha, values = change(alpha, values)
    with pytest.raises(Refused, match=reason):
        GrowthProof(alpha, np.arange(2), values).held(problem, arithmetic.number(0.7))


def test_a_column_that_nothing_holds_is_refused():
    problem, alpha, values = level()
    with pytest.raises(Refused, match="leaves out a column that nothing else holds"):
        GrowthProof(alpha, np.arange(1), values[:1]).held(problem, 0.7)


@pytest.mark.parametrize("arithmetic", [Float64(), Exact()])
def test_the_slope_may_be_half_of_the_growth_and_no_more(arithmetic):
    problem, alpha, values = level(fit_intercept=False)
    problem = replace(
        problem, low=arithmetic.numbers(problem.low), high=arithmetic.numbers(problem.high), arithmetic=arithmetic
    )
    tilt = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    v = problem.X.T @ (problem.y * problem.w * tilt)
    for share, good in ((0.23, True), (0.25, False)):
        growth = GrowthProof(alpha - tilt * np.sqrt(share / (v @ (v / values))), np.arange(2), values)
        if good:
            assert np.isfinite(growth.held(problem, arithmetic.number(0.7)).high.astype(float)).all()
        else:
            with pytest.raises(Refused, match="too steep"):
                growth.held(problem, arithmetic.number(0.7))
