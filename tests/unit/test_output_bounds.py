"""The calculus of the dual bound with several outputs: exact sums, no bound above the truth, and nothing better is cut off."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import softmax
from support.oracle import Model
from support.outputs import drawn
from support.regions import ANY, Region, nodes_of

from ellzero.exact.verifier.arithmetic import Float64
from ellzero.exact.verifier.balancing import balance, circulation, class_point
from ellzero.exact.verifier.bounds import Stated
from ellzero.exact.verifier.losses import KNOWN

CLASSES = [2, 3, 4, 12]
KINDS = [("multinomial", False), ("squared_error", False), ("logistic", False), ("squared_hinge", True), ("hinge", False)]
LARGEST = float(np.finfo(np.float32).max)


@pytest.fixture(autouse=True)
def quiet():
    """As `verify` does: what overflows proves nothing."""
    with np.errstate(all="ignore"):
        yield


def one_hot(label, classes):
    return (label == np.arange(classes)[:, None]) + 0.0


def draw_classes(rng, classes):
    """Labels, of which one class has one row, and weights, which some rows and maybe a whole class lack."""
    n = int(rng.integers(classes + 2, 4 * classes + 10))
    label = rng.integers(1, classes, n)
    label[0] = 0
    w = rng.uniform(0.0, 1.0, n) * (rng.random(n) < 0.8) * 10.0 ** rng.choice([0.0, -5.0, -200.0], n, p=[0.8, 0.15, 0.05])
    w *= label != rng.integers(1, classes) if classes > 2 and rng.random() < 0.3 else 1.0
    w[0] = rng.choice([1.0, 1e-9, 1e-300])
    w[-1] = 1.0
    return one_hot(label, classes), w / w.sum(), label


def draw_alpha(rng, shape):
    """Shares of any kind, as float32 has them: sensible, extreme, or none at all."""
    kind = rng.integers(6)
    if kind == 0:
        return softmax(3.0 * rng.standard_normal(shape), axis=0)
    if kind == 1:
        return rng.choice([0.0, 1.0, 0.5, 1e-45, 1e-38, -1.0, LARGEST, -LARGEST], shape)
    if kind == 2:
        return 10.0 ** rng.uniform(-45.0, 1.0, shape)
    if kind == 3:
        return np.full(shape, rng.choice([0.0, 1.0, 1e-45, LARGEST]))
    if kind == 4:
        return rng.random(shape) * (rng.random(shape) < 0.2)
    return rng.random(shape)


@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("balanced", [True, False])
def test_points_of_classes_are_in_the_domain_and_sum_to_zero_exactly(classes, balanced):
    rng, kept = np.random.default_rng([classes, balanced]), 0
    for trial in range(150):
        y, w, label = draw_classes(rng, classes)
        alpha = draw_alpha(rng, y.shape).astype(np.float32).astype(np.float64)
        theta = class_point(alpha, y, w, balanced)
        numbers = [[Fraction(each) for each in row] for row in theta.tolist()]
        assert all(sum(column) == 0 for column in zip(*numbers, strict=True)), trial
        assert all(sum(row) == 0 for row in numbers) or not balanced, trial
        for i, (own, weight) in enumerate(zip(label.tolist(), w.tolist(), strict=True)):
            assert all(numbers[other][i] <= 0 for other in range(classes) if other != own), trial
            assert 0 <= numbers[own][i] <= Fraction(weight), trial
        kept += theta.any()
        total = (w * np.where(y > 0.0, 0.0, np.clip(alpha, 0.0, 1.0))).sum()
        assert theta.any() or balanced or total < 1e-200, trial
    assert kept > 40  # where a class weighs next to nothing, nothing else is balanced


def test_rows_that_move_as_a_whole():
    """Shares that sum to more than one cost a row next to nothing, nor do those that weigh more than the row by rounding."""
    rng, grid, over = np.random.default_rng(0), 2.0**-50, 0
    y = one_hot(np.array([0, 1]), 3)
    for _ in range(200):
        whole = int(rng.integers(2**49, 2**50))
        part = int(rng.integers(1, whole))
        w = np.array([whole * grid - 2.0**-53, 0.0])
        alpha = np.zeros((3, 2))
        alpha[1:, 0] = part * grid / w[0], (whole - part) * grid / w[0]
        over += (w[0] * alpha[:, 0] >= np.array([0, part, whole - part]) * grid).all() and alpha[:, 0].sum() <= 1.0
        for shares in (alpha, 1.5 * alpha + 0.5):
            own = class_point(shares, y, w, False)[0, 0]
            assert w[0] - 4.0 * grid <= own <= w[0]
    assert over > 20


def test_the_largest_moves_are_lowered_first():
    w, y = np.full(5, 0.25), one_hot(np.array([0, 0, 0, 1, 2]), 3)
    alpha = np.where(y > 0.0, 1.0, 0.0)  # of the own classes, which are not read
    alpha[1, :3] = 0.25, 0.5, 0.5
    alpha[0, 3], alpha[2, 3], alpha[0, 4] = 0.5, 0.25, 0.25
    # Class 0 sends 5 to class 1, in units of 1/16, which sends it 2 back, and 1 to class 2, which sends it 1: 2 too much each.
    theta = class_point(alpha, y, w, True) * 16.0
    np.testing.assert_array_equal(
        theta, [[1.0, 0.0, 2.0, -2.0, -1.0], [-1.0, -0.0, -2.0, 3.0, 0.0], [0.0, 0.0, 0.0, -1.0, 1.0]]
    )


@pytest.mark.parametrize("seed", range(40))
def test_two_classes_are_balanced_as_ever(seed):
    rng = np.random.default_rng(seed)
    y, w, label = draw_classes(rng, 2)
    label = rng.integers(2, size=len(label))
    y, w = one_hot(label, 2), rng.uniform(0.1, 1.0, len(label)) / len(label)
    alpha = np.where(rng.random(len(label)) < 0.2, rng.choice([0.0, 1.0, 2.0]), rng.random(len(label)))
    theta = class_point(np.where(y > 0.0, rng.random(), alpha), y, w, True)
    sign = np.where(label == 1, 1.0, -1.0)
    np.testing.assert_array_equal(theta[1], balance(sign * (w * np.clip(alpha, 0.0, 1.0))))


def test_a_point_that_is_nearly_balanced_loses_nearly_nothing():
    for classes in CLASSES:
        S = drawn(3, "multinomial", classes, fit_intercept=True, lambda_2=0.1, k=1, lambda_1=0.0, price=None, budget=None)
        q = S.fits[S.best].alpha.reshape(classes, -1)
        ideal = S.w * (S.target - q)
        theta = class_point(q.astype(np.float32).astype(float), S.target, S.w, True)
        assert np.abs(theta - ideal).sum() < 1e-6 * np.abs(ideal).sum()


def test_flows_are_lowered_along_paths():
    """There is no edge from 0, which sends too much, to 2, which receives too much: the path leads over 1."""
    flow = np.array([[0.0, 5.0, 0.0], [2.0, 0.0, 4.0], [1.0, 0.0, 0.0]])
    np.testing.assert_array_equal(circulation(flow), [[0.0, 3.0, 0.0], [2.0, 0.0, 1.0], [1.0, 0.0, 0.0]])


def test_of_several_paths_the_shortest_and_the_heaviest_are_taken():
    # Class 0 sends 3 too much, 3 sends 1; 1 and 2 receive 2 too much. From 0, the edge to 2 is heavier, and 1 is left to 3.
    flow = np.array([[0.0, 2.0, 5.0, 0.0], [1.0, 0.0, 0.0, 0.0], [3.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]])
    left = [[0.0, 1.0, 3.0, 0.0], [1.0, 0.0, 0.0, 0.0], [3.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]
    np.testing.assert_array_equal(circulation(flow), left)
    # Class 0 sends 1 too much, 2 receives it: the direct edge is taken, though those by way of 1 are heavier.
    flow = np.array([[0.0, 5.0, 1.0], [1.0, 0.0, 4.0], [4.0, 0.0, 0.0]])
    np.testing.assert_array_equal(circulation(flow), [[0.0, 5.0, 0.0], [1.0, 0.0, 4.0], [4.0, 0.0, 0.0]])


@pytest.mark.parametrize("classes", CLASSES)
def test_any_flow_is_lowered_to_one_without_paths(classes):
    rng = np.random.default_rng(classes)
    for _ in range(60):
        flow = rng.integers(0, 50, (classes, classes)) * (rng.random((classes, classes)) < rng.choice([0.2, 0.5, 1.0])) + 0.0
        np.fill_diagonal(flow, 0.0)
        left = circulation(flow)
        assert (left >= 0.0).all()
        assert (left <= flow).all()
        np.testing.assert_array_equal(left.sum(axis=0), left.sum(axis=1))
        symmetric = np.minimum(flow, flow.T)  # a circulation, which stays as it is
        np.testing.assert_array_equal(circulation(symmetric), symmetric)


def objective_of(problem, coef, intercept):
    """The objective of a model, in plain NumPy."""
    K, w = problem.outputs, problem.w[: len(problem.X)]
    eta, y = problem.X @ coef.reshape(-1, K) + intercept, problem.y.reshape(K, -1).T
    if problem.loss.coupled:
        values = np.logaddexp.reduce(eta, axis=1) - (eta * y).sum(axis=1)
    else:
        values = problem.loss.values(eta, y).sum(axis=1)
    used = np.unique(problem.group[np.flatnonzero(coef)])
    price = problem.counted[used] * (1.0 if problem.price is None else problem.price[used])
    penalties = problem.lambda_1 * np.abs(coef).sum() + problem.lambda_2 * coef @ coef
    return float(w @ values + problem.lambda_0 * price.sum() + penalties)


@pytest.mark.parametrize(("loss", "one_vs_rest"), KINDS)
@pytest.mark.parametrize("outputs", CLASSES)
def test_weak_duality(loss, one_vs_rest, outputs):
    """No dual point, sensible or not, says more than the objective of any model, good or bad."""
    if one_vs_rest and outputs == 2:
        pytest.skip("two classes are one target")
    for seed in range(3):
        S = drawn(seed, loss, outputs, one_vs_rest, k=1, budget=None)
        problem, rng = S.problem(), np.random.default_rng([seed, outputs])
        best, near = sorted(S.best), S.fits[S.best]
        alpha = [draw_alpha(rng, (outputs, S.n)).ravel() for _ in range(30)]
        alpha += [near.alpha + scale * rng.standard_normal(len(near.alpha)) for scale in (0.0, 1e-3, 0.1)]
        points = list(problem.points_at(np.array(alpha)))
        root = decided = Region.root(problem)
        for feature in S.features:
            decided = decided.decide(np.array([feature * outputs]), int(feature in best))
        everywhere, there = (max(state.narrow(point, ANY)[0] for point in points) for state in (root, decided))
        values = []
        for trial in range(250):
            fit = S.fits[rng.choice(list(S.fits))] if rng.random() < 0.5 else near
            scale = rng.choice([0.0, 1e-4, 0.1, 1.0, 30.0])
            coef = fit.coef + scale * rng.standard_normal(fit.coef.shape) * fit.coef.any(axis=1)[:, None]
            coef = np.clip(coef, S.low[:, None], S.high[:, None])
            intercept = fit.intercept + scale * rng.standard_normal(outputs) * S.fit_intercept
            value = objective_of(problem, coef.ravel(), intercept)
            assert problem.evaluate(coef.ravel(), intercept).value == pytest.approx(value, rel=1e-12), (seed, trial)
            assert everywhere <= value * (1.0 + 1e-12), (seed, trial)
            assert there <= value * (1.0 + 1e-12) or fit is not near, (seed, trial)
            values.append(value)
        assert there > min(values) * (1.0 - 1e-6)  # else this would prove little


@pytest.mark.parametrize(("loss", "one_vs_rest"), KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_no_dual_point_cuts_off_anything_better(loss, one_vs_rest, seed):
    S = drawn(seed, loss, 3, one_vs_rest)
    problem, rng = S.problem(), np.random.default_rng(seed)
    K = S.outputs
    fits = {frozenset(j * K for j in chosen): fit for chosen, fit in S.fits.items()}
    alpha = np.array([S.fits[chosen].alpha for chosen in list(S.fits)[:6]])
    alpha = np.r_[alpha, alpha + 0.03 * rng.standard_normal(alpha.shape), rng.random((3, K * S.n))].astype(np.float32)
    points = list(problem.points_at(alpha.astype(float)))
    for state, values, sides in nodes_of(rng, problem, fits):
        truth = min(values.values())
        for upper in (ANY, float(np.median(list(values.values()))), truth * (1.0 + 1e-7)):
            narrowed = state
            for number, point in enumerate(points):
                where = (seed, loss, number, sides, upper)
                bound, narrowed = narrowed.narrow(point, upper)
                assert bound <= truth * (1.0 + 1e-6), where
                assert narrowed is not None, where
                ends = zip(narrowed.low, narrowed.high, strict=True)
                left = dict(zip(narrowed.states.columns.tolist(), ends, strict=True))
                forced = set(narrowed.index[narrowed.inside & problem.counted[narrowed.index]].tolist())
                for chosen in (chosen for chosen, value in values.items() if value <= upper * (1.0 - 1e-8)):
                    assert forced <= chosen <= set(narrowed.index.tolist()), where
                    coef = fits[chosen].coef.ravel()
                    assert all(left[a][0] - 1e-7 <= coef[a] <= left[a][1] + 1e-7 for a in np.flatnonzero(coef)), where


def test_features_are_fixed_and_boxes_cut():
    """Else the test above would prove little."""
    out = into = cut = 0
    for seed in range(8):
        S = drawn(seed, "multinomial", 3)
        problem, upper = S.problem(), S.total(S.best) * (1.0 + 1e-7)
        state = Region.root(problem).cap(upper)
        before = dict(zip(state.states.columns.tolist(), state.high, strict=True))
        narrowed = state
        for point in problem.points_at(np.array([fit.alpha for fit in S.fits.values()])):
            narrowed = narrowed.narrow(point, upper)[1]
        out += len(state.index) - len(narrowed.index)
        into += np.count_nonzero(narrowed.inside) - np.count_nonzero(state.inside)
        cut += sum(high < before[a] for a, high in zip(narrowed.states.columns.tolist(), narrowed.high, strict=True))
    assert out >= 5
    assert into >= 5
    assert cut >= 30


@pytest.mark.parametrize("loss", ["squared_error", "logistic", "squared_hinge", "hinge"])
def test_outputs_are_a_larger_matrix(loss):
    """Without an intercept, the problem is that of one output with the larger matrix, which is made here."""
    S = drawn(1, loss, 4, fit_intercept=False, lambda_1=0.01, budget=None, price=None, k=2)
    problem = S.problem()
    large = np.zeros((S.outputs, S.n, S.p, S.outputs))
    for output in range(S.outputs):
        large[output, :, :, output] = S.X
    alone = replace(problem, X=large.reshape(S.outputs * S.n, -1), outputs=1)
    alpha = np.array([fit.alpha for fit in S.fits.values()]).astype(np.float32)
    points, others = (list(each.points_at(alpha.astype(float))) for each in (problem, alone))
    for point, other in zip(points, others, strict=True):
        np.testing.assert_array_equal(point.terms, other.terms)
        np.testing.assert_allclose(point.v_low + point.v_high, other.v_low + other.v_high, rtol=1e-11, atol=1e-14)
        bound, states = Region.root(problem).narrow(point, S.total(S.best) * 1.01)
        expected, alike = Region.root(alone).narrow(other, S.total(S.best) * 1.01)
        assert bound == pytest.approx(expected, rel=1e-12)
        np.testing.assert_array_equal(states.index, alike.index)
        np.testing.assert_allclose(states.high, alike.high, rtol=1e-9)
    fit = S.fits[S.best]
    assert problem.evaluate(fit.coef.ravel(), np.zeros(4)).value == pytest.approx(
        alone.evaluate(fit.coef.ravel(), 0.0).value, rel=1e-13
    )


def test_errors_of_an_output_are_its_own():
    """The products of one output do not lose digits to another that is far larger."""
    S = drawn(0, "squared_error", 2, fit_intercept=False, budget=None, price=None, k=2)
    problem, alpha = S.problem(), np.ones((2, S.n))
    alpha[1] = 1e10
    (point,) = problem.points_at(alpha.reshape(1, -1))
    width = (point.v_high - point.v_low).reshape(-1, 2)
    assert (width[:, 0] < 1e-12).all()
    assert (width[:, 0] < 1e-9 * width[:, 1]).all()


@pytest.mark.parametrize("seed", range(6))
def test_two_classes_are_the_logistic_loss_with_half_the_ridge(seed):
    settings = {"lambda_1": 0.0, "fit_intercept": seed % 2 == 0, "lower": None, "upper": None, "price": None, "budget": None}
    S = drawn(seed, "multinomial", 2, **settings, group=None, unpenalized=[], k=2, lambda_0=0.01)
    problem, p = S.problem(), S.p
    rest = {name: np.zeros(p, dtype=bool) if name == "home" else getattr(problem, name)[::2] for name in ("home", "counted")}
    rest |= {name: getattr(problem, name)[::2] for name in ("spread", "norm", "low", "high")}
    sign, w = np.where(S.target[1] > 0.0, 1.0, -1.0), problem.w[: S.n]
    half = {"lambda_2": problem.lambda_2 / 2.0, "outputs": 1, "group": None}
    logistic = replace(problem, loss=KNOWN["logistic"], y=sign, w=w, **half, **rest)
    oracle = Model(S.X, sign, "logistic", 0.0, S.lambda_2 / 2.0, S.fit_intercept, w)
    for chosen, fit in S.fits.items():
        assert fit.value == pytest.approx(oracle.fit(chosen).value, rel=1e-7)
        alpha = fit.alpha.reshape(2, -1)
        other = np.where(S.target[0] > 0.0, alpha[1], alpha[0])
        (point,) = problem.points_at(fit.alpha[None])
        (twin,) = logistic.points_at(other[None])
        np.testing.assert_allclose(point.terms.reshape(2, -1).sum(axis=0), twin.terms, rtol=1e-12)
        np.testing.assert_allclose(point.v_high[1::2], twin.v_high, rtol=1e-13, atol=1e-13)
        bounds = [Region.root(each).narrow(at, ANY)[0] for each, at in ((problem, point), (logistic, twin))]
        assert bounds[0] == pytest.approx(bounds[1], rel=1e-13)
        coef = oracle.fit(chosen).coef
        both = np.stack([-coef / 2.0, coef / 2.0], axis=1)
        intercepts = np.array([-0.5, 0.5]) * oracle.fit(chosen).intercept
        assert problem.evaluate(both.ravel(), intercepts).value == pytest.approx(
            logistic.evaluate(coef, oracle.fit(chosen).intercept).value, rel=1e-13
        )


def test_entropy_of_extreme_shares():
    """Of shares near zero and near one, all digits count."""
    w, tiny = np.full(3, 0.25), 2.0**-60
    y = one_hot(np.zeros(1, dtype=int), 3).ravel()
    for moved in ([0.0, 0.0], [tiny, 0.0], [0.25 - 2.0**-50, 0.0], [0.125, 0.125], [0.1, 2.0**-40], [0.25, 0.0]):
        theta = np.array([sum(moved), -moved[0], -moved[1]])
        terms, parts = KNOWN["multinomial"].dual_terms(theta[None], y, w)
        shares = [Fraction(each) / Fraction(0.25) for each in moved]
        shares = [1 - sum(shares), *shares]
        expected = [
            -0.25 * float(q) * np.log1p(-float(1 - q)) if q > 0.5 else -0.25 * float(q) * np.log(max(float(q), 1e-300))
            for q in shares
        ]
        np.testing.assert_allclose(terms[0], expected, rtol=1e-14, atol=1e-300)
        assert (parts >= terms).all()


def test_the_loss_of_classes_where_exponentials_end():
    y = one_hot(np.array([0, 0, 0, 2, 1]), 3)
    eta = np.array([[0.0, 0.0, 800.0], [800.0, 0.0, 0.0], [-50.0, -90.0, -90.0], [1.0, 2.0, 3.0], [-1e4, 1e4, 0.0]]).T
    values = KNOWN["multinomial"].values(eta.ravel(), y.ravel(), 3).reshape(3, -1)
    assert (values[y == 0.0] == 0.0).all()
    expected = [800.0, 0.0, np.log1p(2.0 * np.exp(-40.0)), np.log1p(np.exp(-1.0) + np.exp(-2.0)), 0.0]
    np.testing.assert_allclose(values.sum(axis=0), expected, rtol=1e-15, atol=1e-300)


def test_null_losses():
    for loss, one_vs_rest in KINDS:
        for fit_intercept in (True, False):
            S = drawn(2, loss, 3, one_vs_rest, fit_intercept=fit_intercept, unpenalized=[], price=None, budget=None)
            found = KNOWN[loss].least(S.target.ravel(), np.tile(S.w, 3), fit_intercept, 3)
            assert found == pytest.approx(S.fits[frozenset()].value, rel=1e-8), (loss, fit_intercept)


def test_margins_against_exact_arithmetic():
    exact_arithmetic = pytest.importorskip("ellzero.exact.verifier.exact_arithmetic")
    exact = exact_arithmetic.Exact()
    rng = np.random.default_rng(0)
    for trial, (loss, one_vs_rest) in enumerate(KINDS * 4):
        scale = 10.0 ** float(rng.choice([0.0, rng.uniform(-5.0, 5.0), rng.uniform(-60.0, 60.0)]))
        S = drawn(trial, loss, int(rng.choice([3, 4])), one_vs_rest)
        problem = replace(S.problem(), X=S.X * scale, norm=S.problem().norm * scale)
        numbers = {name: exact.number(getattr(problem, name)) for name in ("lambda_0", "lambda_1", "lambda_2")}
        numbers |= {name: exact.numbers(getattr(problem, name)) for name in ("low", "high")}
        numbers |= {} if problem.price is None else {"price": exact.numbers(problem.price)}
        numbers |= {} if problem.budget is None else {"budget": exact.number(problem.budget)}
        twin: Stated = replace(problem, arithmetic=exact, **numbers)
        alpha = [S.fits[S.best].alpha, draw_alpha(rng, (S.outputs, S.n)).ravel(), draw_alpha(rng, (S.outputs, S.n)).ravel()]
        alpha = np.clip(alpha, -1e38, 1e38).astype(np.float32)
        finite = 0
        for point, true in zip(problem.points_at(alpha.astype(float)), twin.points_at(alpha.astype(float)), strict=True):
            assert (point.v_low <= true.v_low).all(), trial
            assert (point.v_high >= true.v_high).all(), trial
            bound, truth = (
                Region.root(each).narrow(at, each.arithmetic.number(ANY))[0] for each, at in ((problem, point), (twin, true))
            )
            assert bound <= truth, trial
            finite += np.isfinite(bound)
            if abs(bound) < 1e3 and scale == 1.0:
                assert bound == pytest.approx(float(truth), rel=1e-10, abs=1e-10), trial
        assert finite, trial
        coef = S.fits[S.best].coef.ravel() * 10.0 ** float(rng.uniform(-3.0, 3.0)) / scale
        intercept = S.fit_intercept * rng.standard_normal(S.outputs) * 10.0 ** rng.uniform(-2.0, 3.0)
        found, truth = problem.evaluate(coef, intercept), twin.evaluate(coef, intercept).value
        assert found.upper >= truth, trial
        assert found.value == pytest.approx(float(truth), rel=1e-9), trial


def test_the_objective_of_classes_is_rounded_up_where_columns_cancel():
    """Both the loss's slopes count: with the class of the row and with the others, up to two in all."""
    exact_arithmetic = pytest.importorskip("ellzero.exact.verifier.exact_arithmetic")
    rng = np.random.default_rng(1)
    for _ in range(200):
        n, K = 4, 3
        columns = rng.standard_normal((n, 2)) * 1e8
        columns[:, 1] = -columns[:, 0] * (1.0 + 1e-9 * rng.standard_normal(n))
        coef, intercept = rng.standard_normal((1, K)) * np.ones((2, 1)), rng.standard_normal(K) * 5.0
        y, w = one_hot(rng.integers(K, size=n), K).ravel(), np.full(n * K, 1.0 / n)
        arguments = columns, coef, intercept, y, w
        found = Float64().objective(KNOWN["multinomial"], *arguments, np.zeros(0))
        truth = exact_arithmetic.Exact().objective(KNOWN["multinomial"], *arguments, np.zeros(0, dtype=object)).value
        assert found.upper >= truth
        assert found.upper - float(truth) < 1e-4


def test_two_classes_have_the_rounding_error_of_the_logistic_loss():
    rng = np.random.default_rng(2)
    columns = rng.standard_normal((30, 2)) * 1e8
    columns[:, 1] = -columns[:, 0]
    coef, sign, w = np.full(2, 0.7), np.where(rng.random(30) < 0.5, 1.0, -1.0), np.full(30, 1.0 / 30.0)
    arithmetic, penalties = Float64(), np.zeros(0)
    expected = arithmetic.objective(KNOWN["logistic"], columns, coef[:, None], np.zeros(1), sign, w, penalties)
    y, both = one_hot((sign > 0.0).astype(int), 2).ravel(), np.stack([-coef / 2.0, coef / 2.0], axis=1)
    found = arithmetic.objective(KNOWN["multinomial"], columns, both, np.zeros(2), y, np.tile(w, 2), penalties)
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    assert found.rounding == pytest.approx(expected.rounding, rel=1e-3)


def test_columns_of_a_problem_with_outputs():
    problem = drawn(0, "squared_error", 3, group=np.array([0, 1, 0, 3, 1]), unpenalized=[], price=None).problem()
    assert problem.columns(np.array([0, 3])).tolist() == [0, 1, 2, 9, 10, 11]
    assert problem.group[::3].tolist() == [0, 3, 0, 9, 3]
    assert problem.root().index.tolist() == [0, 3, 9]
    assert problem.root().columns.tolist() == [0, 1, 2, 6, 7, 8, 3, 4, 5, 12, 13, 14, 9, 10, 11]
