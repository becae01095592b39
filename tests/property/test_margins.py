"""The rounding margins of the verifier, against exact arithmetic: what float64 proves and removes, rational numbers do too."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from support.problems import LOSSES
from support.regions import Region

from ellzero.exact.verifier.arithmetic import Float64, Point
from ellzero.exact.verifier.bounds import Stated
from ellzero.exact.verifier.data import Refused
from ellzero.exact.verifier.diagonals import SLACK, Diagonals, PointModel
from ellzero.exact.verifier.exact_arithmetic import BITS, Exact, rational, rational_gram, root
from ellzero.exact.verifier.losses import KNOWN
from fuzz.margins.comparing import CERTIFICATES, run
from fuzz.running.pool import Task

TRIALS = 60
EXTREME = 150.0  # decimal exponents


def magnitude(rng, extreme):
    """A power of ten: often one, otherwise of any size, up to the ends of float64."""
    return 10.0 ** rng.choice([0.0, rng.uniform(-6.0, 6.0), rng.uniform(-extreme, extreme)])


def draw(rng, loss, extreme):
    """A problem for the verifier in float64, and a stack of dual points; sizes of all parts differ by many magnitudes."""
    n, p = int(rng.integers(2, 12)), int(rng.integers(1, 6))
    columns = np.array([magnitude(rng, extreme) for _ in range(p)]) if rng.random() < 0.5 else magnitude(rng, extreme)
    X = rng.standard_normal((n, p)) * columns
    X[:, rng.random(p) < 0.1] = 0.0
    y = rng.standard_normal(n) * magnitude(rng, extreme) + magnitude(rng, 12.0) * (rng.random() < 0.3)
    y = y if loss == "squared_error" else np.where(y > np.median(y), 1.0, -1.0)
    w = rng.choice([1.0, 1e-5, 1e-200, 5e-324, 0.0], size=n, p=[0.7, 0.1, 0.1, 0.05, 0.05]) * rng.uniform(0.5, 1.0, n)
    w[0] = 1.0
    w /= w.sum()
    lambda_1, lambda_2 = (magnitude(rng, extreme) * (rng.random() < 0.6) for _ in range(2))
    low, high = np.full(p, -np.inf), np.full(p, np.inf)
    if rng.random() < 0.5:
        low, high = (sign * rng.uniform(0.0, 1.0, p) * magnitude(rng, extreme) for sign in (-1.0, 1.0))
    counted = rng.random(p) < 0.8
    swaps = rng.random() < 0.3
    spread = np.ones(p) if rng.random() < 0.5 else np.array([magnitude(rng, extreme) for _ in range(p)])
    largest = np.abs(X).max(axis=0)
    unit = np.where(largest > 0.0, largest, 1.0)
    problem = Stated(
        loss=KNOWN[loss],
        lambda_0=magnitude(rng, extreme) * (rng.random() < 0.7),
        lambda_1=lambda_1,
        lambda_2=lambda_2,
        k=int(rng.integers(1, p + 1)),
        home=counted & (rng.random(p) < 0.5) if swaps else np.zeros(p, dtype=bool),
        fit_intercept=bool(rng.random() < 0.5),
        X=X,
        y=y,
        w=w,
        spread=spread,
        norm=largest * np.sqrt(w @ (X / unit) ** 2 + n * Float64().tiny) / spread,
        counted=counted,
        low=low,
        high=high,
    )
    if rng.random() < 0.5:
        price = rng.uniform(0.5, 1.0, p) * np.array([magnitude(rng, 100.0) for _ in range(p)] if rng.random() < 0.5 else 1.0)
        price = np.where(counted, np.clip(price, 1e-100, 1e100), 0.0)
        budget = None if swaps or rng.random() < 0.3 else float(price.sum() * rng.uniform(0.1, 1.0))
        problem = replace(problem, price=price, budget=budget, k=problem.k if budget is None else p)
    near = y if loss == "squared_error" else rng.choice([0.0, 0.5, 1.0, 2.0], size=n)
    alpha = np.array([near * rng.uniform(0.0, 2.0, n), rng.standard_normal(n) * magnitude(rng, 30.0)])
    return problem, np.clip(alpha, -1e38, 1e38)


def in_exact(problem):
    """The same problem with rational numbers."""
    exact = Exact()
    lambdas = {name: exact.number(getattr(problem, name)) for name in ("lambda_0", "lambda_1", "lambda_2")}
    numbers = {name: exact.numbers(getattr(problem, name)) for name in ("low", "high")}
    if problem.price is not None:
        numbers["price"] = exact.numbers(problem.price)
        lambdas["budget"] = None if problem.budget is None else exact.number(problem.budget)
    return replace(problem, **lambdas, **numbers, arithmetic=exact)


def assert_contains(wide, narrow):
    """A region of float64 contains the one of exact arithmetic."""
    if narrow is None:
        return
    assert wide is not None
    assert set(narrow.index) <= set(wide.index)
    assert wide.chosen <= narrow.chosen
    at = np.searchsorted(wide.index, narrow.index)
    assert (~wide.inside[at] | narrow.inside).all()
    assert (wide.low[at] <= narrow.low).all()
    assert (narrow.high <= wide.high[at]).all()


@pytest.mark.parametrize("extreme", [3.0, EXTREME])
@pytest.mark.parametrize("loss", LOSSES)
def test_float64_proves_no_more_than_exact_arithmetic(loss, extreme):
    proved = 0
    for trial in range(TRIALS):
        seed = [trial, LOSSES.index(loss), int(extreme)]
        rng = np.random.default_rng(seed)
        with np.errstate(all="ignore"):
            problem, alpha = draw(rng, loss, extreme)
            exact = in_exact(problem)
            coef = np.zeros(len(problem.counted))
            upper, below = problem.evaluate(coef, 0.0).upper, exact.evaluate(coef, 0.0).value
            assert upper >= below, seed
            # A smaller one makes the rules bite; both arithmetics get the same.
            upper = float(below) * rng.uniform(0.0, 1.0)
            if not np.isfinite(upper):
                continue
            for mine, theirs in zip(problem.points_at(alpha), exact.points_at(alpha), strict=True):
                inside = (mine.v_low <= theirs.v_low) & (theirs.v_high <= mine.v_high)
                assert (inside | ~np.isfinite(mine.v_high)).all(), seed
                state, truth = Region.root(problem), Region.root(exact)
                for _ in range(2):
                    state, truth = state.cap(upper), truth.cap(exact.arithmetic.number(upper))
                    assert_contains(state, truth)
                    if state is None or truth is None:
                        break
                    bound, state = state.narrow(mine, upper)
                    sound, truth = truth.narrow(theirs, exact.arithmetic.number(upper))
                    assert bound <= sound, seed
                    assert_contains(state, truth)
                    proved += np.isfinite(bound)
                    if state is None or truth is None or not len(truth.index):
                        break
                    block = rng.choice(truth.index, rng.integers(1, 4))
                    side = int(rng.integers(2))
                    if problem.counted[block].all():
                        state, truth = (part.decide(block, side) for part in (state, truth))
                        assert_contains(state, truth)
                    if state is None or truth is None:
                        break
    assert proved >= TRIALS / 3, "too few bounds were finite to tell anything"


def draw_diagonals(rng, problem):
    """Diagonals that leave a little of the curvature, and dual points at models, or near them."""
    n = len(problem.y)
    z = problem.X / problem.spread
    z = (z - problem.w @ z if problem.fit_intercept else z) * np.sqrt(problem.w)[:, None]
    columns = np.flatnonzero((z**2).sum(axis=0) > 0.0)
    units = np.sqrt((z[:, columns] ** 2).sum(axis=0))
    least = np.linalg.svd(z[:, columns] / units)[1].min(initial=1.0) ** 2 if len(columns) < n else 0.0
    values = (1.0 - SLACK) * rng.choice([0.0, 0.5, 1.0 - 1e-6]) * least * units**2
    alpha, models = [], []
    for off in (0.0, 1e-7, 1.0):
        used = rng.permutation(columns)[: rng.integers(len(columns) + 1)]
        coef = rng.standard_normal(len(used)) / np.where(units > 0.0, units, 1.0)[np.searchsorted(columns, used)]
        coef *= np.abs(problem.y).max() * rng.choice([0.0, 1.0, 1e3])
        slope = problem.y - problem.X[:, used] @ (coef / problem.spread[used])
        slope = slope - problem.w @ slope if problem.fit_intercept else slope
        alpha.append(slope * (1.0 + off * rng.standard_normal(n)))
        models.append(PointModel(0, used, coef))
    return Diagonals([columns], [values], models), np.clip(np.nan_to_num(alpha), -1e38, 1e38)


@pytest.mark.parametrize("extreme", [3.0, EXTREME])
def test_float64_moves_no_more_curvature_than_exact_arithmetic(extreme):
    proved = 0
    for trial in range(2 * TRIALS):
        seed = [trial, 19, int(extreme)]
        rng = np.random.default_rng(seed)
        with np.errstate(all="ignore"):
            problem, _ = draw(rng, "squared_error", extreme)
            problem = replace(problem, lambda_2=problem.lambda_2 * (rng.random() < 0.5))
            diagonals, alpha = draw_diagonals(rng, problem)
            columns, values = diagonals.columns[0], diagonals.values[0]
            if not len(columns) or not np.isfinite(values).all():
                continue
            exact = in_exact(problem)
            mine = replace(diagonals, definite={})
            try:
                points = list(problem.points_at(alpha, mine.models, mine))
            except Refused:
                continue
            for point, truth in zip(points, exact.points_at(alpha, mine.models, replace(diagonals, definite={})), strict=True):
                inside = (point.v_low <= truth.v_low) & (truth.v_high <= point.v_high)
                assert (inside | ~np.isfinite(point.v_high)).all(), seed
                assert not point.terms[-1] > truth.terms[-1], seed  # what the dual point is off, the last term
                pairs = ((problem, point), (exact, truth))
                ridges = [each._at_points(Region.root(each).states, [part])[0][2] for each, part in pairs]
                assert (ridges[0] <= ridges[1]).all(), seed
                upper = float(0.5 * problem.w @ problem.y**2) * rng.uniform(0.0, 1.0)
                state, true = Region.root(problem), Region.root(exact)
                bound, state = state.narrow(point, upper)
                sound, true = true.narrow(truth, exact.arithmetic.number(upper))
                assert bound <= sound, seed
                assert_contains(state, true)
                proved += np.isfinite(bound)
    assert proved >= TRIALS / 3, "too few bounds were finite to tell anything"


@pytest.mark.parametrize("loss", ["squared_hinge", "squared_error"])
def test_squares_of_dual_points_are_not_lost_to_underflow(loss):
    # A row of the least weight: the square of its theta is no float64 number, but the square over the weight is.
    theta, w = np.array([1.5e-162, 5e-324, 3e-200]), np.array([5e-324, 5e-324, 1e-300])
    terms, _ = KNOWN[loss].dual_terms(theta, np.ones(3), w)
    truth = [
        KNOWN[loss].exact_term(*each, Exact()) for each in zip(rational(theta), rational(np.ones(3)), rational(w), strict=True)
    ]
    assert terms == pytest.approx([float(each) for each in truth], rel=1e-12, abs=1e-322)
    assert terms[0] < 0.0


@pytest.mark.parametrize("seed", [3, 40, 138])  # an error of the last is so small that the ratio to it is no float64 number
def test_certificates_in_both_arithmetics(seed):
    record = run(Task("", seed))
    assert record.counts[CERTIFICATES] == 1
    assert not record.findings, record.findings
    assert all(1.0 < ratio < np.inf for ratio in record.ratios.values())


def test_curvature_of_the_smallest_numbers():
    # Half of an odd multiple of the least float64 number is rounded up by a third, and a large coefficient multiplies that.
    n, tiny = 9, 5e-324
    X, w = np.zeros((n, 1)), np.full(n, 1.0 / n)
    X[:, 0] = 1e-150
    coef, moved = np.array([1e150]), np.array([3.0 * tiny])
    for arithmetic in (Float64(), Exact()):
        numbers = arithmetic.numbers
        point = Point(numbers(np.zeros(n)), 0, numbers(np.zeros(1)), numbers(np.zeros(1)))
        y = X @ coef
        found = arithmetic.move(point, np.zeros(n), y, w, X, coef, np.ones(1), False, np.arange(1), moved)
        worth = Fraction(moved[0]) * Fraction(coef[0]) ** 2 / 2
        assert 0 <= Fraction(found.terms[n]) <= worth


def test_sums_of_integers_are_the_gram_matrix():
    rng = np.random.default_rng(4)
    z = rng.standard_normal((7, 3)) * 10.0 ** rng.uniform(-EXTREME, EXTREME, 3)
    w = np.array([0.2, 0.0, 5e-324, 0.3, 1e-200, 0.4, 0.1])
    assert (rational_gram(z, w) == (rational(z) * rational(w)[:, None]).T @ rational(z)).all()


def test_numbers_of_exact_arithmetic_keep_few_digits():
    # Rational numbers of thousands of digits, as sums over many weights have, and a margin far beyond the exponents of float64.
    rng = np.random.default_rng(3)
    for length in (1, 60, 5000, 20000):
        square = Fraction(int.from_bytes(rng.bytes(length)) + 1, int.from_bytes(rng.bytes(5000)) + 1)
        below, above = root(square)
        assert below**2 <= square <= above**2
        assert above - below <= below / 2**100
        for bound in (below, above):
            digits = bound.numerator // (bound.numerator & -bound.numerator)  # without zeros at the end
            assert digits.bit_length() <= BITS + 2
    assert root(Fraction(0)) == (0, 0)
    tiny = KNOWN["logistic"].exact_value(Fraction(10**9), Fraction(1), Exact())
    assert 0 < tiny < Fraction(5e-324)
    assert tiny.denominator.bit_length() < 2000
