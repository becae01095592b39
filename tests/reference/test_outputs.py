"""Several outputs on shared features: exact searches against all sets of features, each fitted by Clarabel."""

from itertools import combinations

import numpy as np
import pytest
from support.outputs_oracle import Softmax, Targets

import ellzero as ez

KINDS = ("multinomial", "squared_error", "logistic", "squared_hinge", "hinge")
SEEDS = range(6)
FEATURES = 6


def drawn(kind, seed):
    """A small problem; the seed chooses among groups, boxes, weights, l1, prices and unpenalized features."""
    rng = np.random.default_rng([seed, KINDS.index(kind), 11])
    K, n = int(rng.integers(3, 5)), int(rng.integers(22, 30))
    labels = np.arange(FEATURES) if seed % 2 else np.sort(np.r_[np.arange(FEATURES), rng.integers(0, FEATURES, 3)])
    p = len(labels)
    X = rng.normal(size=(n, p)) + (rng.normal(size=(n, 1)) if rng.random() < 0.4 else 0.0)
    scores = X @ (rng.normal(size=(p, K)) * (rng.random(FEATURES) < 0.6)[labels][:, None])
    classes = np.argmax(scores + rng.gumbel(size=(n, K)), axis=1)
    classes[:K], classes[K : 2 * K] = np.arange(K), np.arange(K)
    y = classes
    if kind == "squared_error":
        y = scores + 0.5 * rng.normal(size=(n, K))
    elif kind != "multinomial":
        y = np.where(classes[:, None] == np.arange(K), 1, -1)
    settings = {"lambda_2": float(10.0 ** rng.uniform(-2.5, -1.0)), "fit_intercept": bool(rng.random() < 0.7)}
    if rng.random() < 0.3:
        settings["lambda_1"] = 0.01
    if rng.random() < 0.4:
        settings |= {"lower": -rng.uniform(0.05, 1.0, p), "upper": rng.uniform(0.05, 1.0, p)}
    weight = None
    if seed % 3 == 1:
        weight = rng.integers(0, 4, n).astype(float)
        weight[: 2 * K] = 1.0
    cost = rng.integers(1, 6, FEATURES).astype(float) if seed % 3 == 2 else None
    free = labels == rng.integers(FEATURES) if rng.random() < 0.3 else np.zeros(p, dtype=bool)
    return X, y, labels, cost, free, settings, weight, rng


def all_sets(kind, X, y, labels, cost, free, settings, weight):
    """G of every set of features that pay, and what they cost."""
    if kind == "multinomial":
        model = Softmax(X, y, weights=weight, **settings)
    else:
        model = Targets(X, y, {"loss": kind, "weights": weight, **settings})
    price, always = np.ones(FEATURES) if cost is None else cost, frozenset(np.flatnonzero(free).tolist())
    paid = [feature for feature in range(FEATURES) if not free[labels == feature].any()]
    return {
        chosen: (
            model.fit(frozenset(np.flatnonzero(np.isin(labels, chosen)).tolist()) | always),
            float(price[list(chosen)].sum()),
        )
        for size in range(len(paid) + 1)
        for chosen in combinations(paid, size)
    }


def limits_of(rng, cost, paid):
    price = float(10.0 ** rng.uniform(-2.5, -1.3))
    limits = [{"lambda_0": price}, {"k": int(rng.integers(1, 4))}]
    return limits if cost is None else [limits[0], {"budget": float(cost[paid].min() + rng.uniform(0.1, 2.0) * cost.mean())}]


def names_of(kind, labels, cost, free, settings, weight):
    names = {"loss": kind, "sample_weight": weight, **settings}
    if len(labels) > FEATURES:
        names["groups"] = labels
    if cost is None:
        return names | {"unpenalized": np.flatnonzero(free).tolist() or None}
    return names | {"feature_cost": np.where(free, 0.0, cost[labels])}


def check(kind, seed):
    X, y, labels, cost, free, settings, weight, rng = drawn(kind, seed)
    known = all_sets(kind, X, y, labels, cost, free, settings, weight)
    names = names_of(kind, labels, cost, free, settings, weight)
    paid = np.setdiff1d(labels, labels[free])
    for limit in limits_of(rng, cost, paid):
        where, price = (kind, seed, limit), limit.get("lambda_0", 0.0)
        best = min(
            value + price * spent
            for chosen, (value, spent) in known.items()
            if spent <= limit.get("budget", np.inf) * (1.0 + 1e-12) and len(chosen) <= limit.get("k", FEATURES)
        )
        found = ez.solve(X, y, gap=1e-7, **limit, **names)
        assert found.status in ("optimal", "precision"), where
        assert found.objective == pytest.approx(best, rel=2e-7, abs=1e-9), where
        assert found.lower_bound <= best * (1.0 + 1e-8) + 1e-10, where
        assert found.gap <= (1e-7 if found.status == "optimal" else 1e-5), where
        assert found.coef.shape == (y.shape[1] if y.ndim == 2 else y.max() + 1, X.shape[1])
        report = ez.verify(found.certificate, X, y, **limit, **names)
        assert report.valid, (*where, report.reasons)
        assert report.lower_bound == pytest.approx(found.lower_bound, rel=1e-8, abs=1e-12), where


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_exact_search_finds_the_best_of_all_sets(kind, seed):
    check(kind, seed)


def example(kind, seed=3):
    """A problem of several outputs with look-alikes among its columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 12))
    X[:, 1] = X[:, 2] + 0.3 * rng.normal(size=60)
    scores = X @ np.where(np.isin(np.arange(12), [2, 5])[:, None], rng.normal(size=(12, 3)), 0.0)
    classes = np.argmax(scores + rng.gumbel(size=(60, 3)), axis=1)
    y = {"multinomial": classes, "squared_error": scores + rng.normal(size=(60, 3))}.get(kind)
    return X, (np.where(classes[:, None] == np.arange(3), 1, -1) if y is None else y), {"loss": kind, "lambda_2": 0.02}


@pytest.mark.parametrize("kind", KINDS)
def test_alternatives_are_all_models_up_to_their_threshold(kind):
    X, y, names = example(kind)
    found = ez.alternatives(X, y, k=2, within=0.1, **names)
    assert found.complete
    assert ez.verify(found.certificate, X, y).valid
    sets = [set(), *({j} for j in range(12)), *({i, j} for i, j in combinations(range(12), 2))]
    lower = np.full(12, -np.inf)
    expected = set()
    for inside in sets:
        outside = ~np.isin(np.arange(12), list(inside))
        boxes = {"lower": np.where(outside, 0.0, lower), "upper": np.where(outside, 0.0, -lower)}
        cost = ez.solve(X, y, k=len(inside), gap=1e-9, **names, **boxes).objective
        if cost <= found.threshold * (1.0 - 1e-7):
            expected.add(frozenset(inside))
    assert expected <= set(found.supports)
    assert len(found) - len(expected) <= 1


@pytest.mark.parametrize("kind", KINDS)
def test_searches_go_on_where_they_ended(kind, tmp_path):
    X, y, names = example(kind)
    file = tmp_path / "search.npz"
    settings = {"k": 4, "gap": 1e-7, **names}
    first = ez.solve(X, y, node_limit=6, checkpoint=file, **settings)
    assert first.status == "node_limit"
    second, whole = ez.solve(X, y, checkpoint=file, **settings), ez.solve(X, y, **settings)
    assert second.nodes > first.nodes
    assert second.objective == pytest.approx(whole.objective, rel=1e-9)
    assert ez.verify(second.certificate, X, y).valid


@pytest.mark.parametrize("kind", KINDS)
def test_swaps_generated_sets_and_paths_are_proved(kind):
    X, y, names = example(kind)
    start = ez.fit_path(X, y, lambda_0=[0.05], **names)[0]
    better = ez.improve(X, y, start, swap_size=2, **names)
    assert better.objective <= start.objective * (1.0 + 1e-9)
    assert ez.verify(better.certificate, X, y).valid
    grown, plain = ez.solve(X, y, k=3, method="iga", **names), ez.solve(X, y, k=3, **names)
    assert grown.objective == pytest.approx(plain.objective, rel=1e-4)
    assert ez.verify(grown.certificate, X, y).valid
    certified = ez.certify_path(ez.fit_sizes(X, y, [1, 2, 3], **names))
    assert all(ez.verify(solution.certificate, X, y).valid for solution in certified)


def test_two_classes_are_the_logistic_problem_with_half_the_ridge():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(90, 30))
    y = np.where(X[:, :3].sum(axis=1) + rng.logistic(size=90) > 0.0, "yes", "no")
    for algorithm in ("cd", "local_search"):
        several = ez.fit_sizes(X, y, range(6), loss="multinomial", lambda_2=0.02, algorithm=algorithm, tol=1e-9)
        one = ez.fit_sizes(X, y, range(6), loss="logistic", lambda_2=0.01, algorithm=algorithm, tol=1e-9)
        np.testing.assert_allclose(several.objective, one.objective, rtol=1e-8)
        for a, b in zip(several, one, strict=True):
            np.testing.assert_array_equal(a.support, b.support)
            np.testing.assert_allclose(a.values[:, 1] - a.values[:, 0], b.values, atol=1e-5)
    proved = ez.solve(X, y, k=3, loss="multinomial", lambda_2=0.02, gap=1e-7)
    assert proved.objective == pytest.approx(ez.solve(X, y, k=3, lambda_2=0.01, gap=1e-7).objective, rel=1e-6)


def test_equal_targets_are_one_target_with_a_lower_price():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 40))
    y = X[:, :4] @ rng.normal(size=4) + rng.normal(size=60)
    grid = np.array([0.2, 0.05, 0.02])
    several = ez.fit_path(X, np.column_stack([y, y, y]), loss="squared_error", lambda_0=3.0 * grid, lambda_2=0.01)
    one = ez.fit_path(X, y, loss="squared_error", lambda_0=grid, lambda_2=0.01)
    np.testing.assert_allclose(several.objective, 3.0 * one.objective, rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_permuted_outputs_and_columns_give_the_permuted_model(kind):
    X, y, names = example(kind)
    columns, outputs = np.random.default_rng(0).permutation(12), np.array([2, 0, 1])
    other = outputs[y] if kind == "multinomial" else y[:, outputs]
    first, second = ez.solve(X, y, k=2, gap=1e-7, **names), ez.solve(X[:, columns], other, k=2, gap=1e-7, **names)
    assert second.objective == pytest.approx(first.objective, rel=1e-6)
    want = np.zeros_like(first.coef)
    want[outputs if kind == "multinomial" else slice(None)] = (first.coef if kind == "multinomial" else first.coef[outputs])[
        :, columns
    ]
    np.testing.assert_allclose(second.coef, want, atol=2e-3 if kind == "hinge" else 1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_paths_satisfy_the_first_theorem(kind):
    X, y, names = example(kind)
    for standardize in (False, True):
        path = ez.fit_path(X, y, max_support=6, standardize=standardize, **names)
        assert len(path) > 3
        assert path.converged.all()
        for model in path:
            settings = {"lambda_0": model.lambda_0, "standardize": standardize, **names}
            assert model.objective == pytest.approx(ez.objective(X, y, model, **settings), rel=1e-12)
            assert ez.check_stationarity(X, y, model, **settings), (kind, model.size)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_what_a_trial_left_behind_does_not_keep_a_feature_out(loss):
    """The column separates the first target: where its trial ends, the loss is flat, and no model for the next trial."""
    X = np.array([[-0.3], [-0.3], [0.7], [0.7], [-0.2]])
    y = np.array([[1, 0], [1, 0], [0, 1], [0, 0], [1, 0]])
    path = ez.fit_path(X, y, loss=loss, lambda_0=[2e-4])
    assert path.support_size.tolist() == [1]
    assert path.cost[0] == pytest.approx(ez.fit_path(X, y, loss=loss, lambda_0=[0.0]).cost[0], rel=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_local_search_is_never_worse_and_often_the_best(kind):
    best = 0
    for seed in range(6):
        X, y, names = example(kind, seed)
        plain, search = (ez.fit_sizes(X, y, [3], algorithm=algorithm, **names)[3].cost for algorithm in ("cd", "local_search"))
        assert search <= plain * (1.0 + 1e-9)
        best += search <= ez.solve(X, y, k=3, gap=1e-6, **names).objective * (1.0 + 1e-5)
    assert best >= 5


@pytest.mark.parametrize(
    "names", [[0, 1, 2, 3], ["None", "a", "b", "-"], [10**18, 10**18 + 1, 10**18 + 2, 7], [0.5, 1.5, 2.5, 3.5]]
)
def test_classes_without_weight_are_none(names, tmp_path):
    """What is proved in unusual units, and after a stop, is judged with labels that the problem writes anew."""
    rng = np.random.default_rng(0)
    X, codes = 1e6 * rng.normal(size=(40, 6)), np.arange(40) % 4
    X[:, 0] += 1e6 * codes
    y, weight = np.array(names)[codes], np.where(codes == 3, 0.0, 1.0)
    settings = {"loss": "multinomial", "k": 3, "lambda_2": 1e10, "gap": 1e-6}
    found = ez.solve(X, y, sample_weight=weight, **settings)
    assert found.status == "optimal"
    assert ez.verify(found.certificate, X, y).valid
    alone = ez.solve(X[codes < 3], y[codes < 3], **settings)
    assert found.objective == pytest.approx(alone.objective, rel=1e-6)
    file = tmp_path / "search.npz"
    first = ez.solve(X, y, sample_weight=weight, node_limit=2, checkpoint=file, **settings)
    assert first.status == "node_limit"
    second = ez.solve(X, y, sample_weight=weight, checkpoint=file, **settings)
    assert second.status == "optimal"
    assert second.nodes > first.nodes


@pytest.mark.parametrize("kind", KINDS)
def test_proofs_know_what_means_far_from_zero_cost_in_digits(kind):
    X, y, names = example(kind)
    X = X + np.resize([1e6, -3e5, 2e6, 0.0, 1e4], X.shape[1])
    found = ez.solve(X, y, k=2, gap=1e-6, **names)
    report = ez.verify(found.certificate, X, y)
    assert report.valid, report.reasons
    assert found.gap < 1e-5


def test_an_assumed_bound_far_below_the_first_model():
    """Nothing holds the first model's coefficients: inside the bound, its intercept would be 5e10."""
    X, w = np.array([[0.0], [0.0], [3.0], [0.0]]), [0.72, 0.77, 0.88, 0.3]
    y = np.array([[1, 1], [1, 0], [0, 0], [1, 0]])
    found = ez.solve(X, y, loss="hinge", sample_weight=w, lambda_0=0.003, bound=0.3)
    boxed = ez.solve(X, y, loss="hinge", sample_weight=w, lambda_0=0.003, lower=-0.3, upper=0.3)
    assert found.status == boxed.status == "optimal"
    assert found.objective == pytest.approx(boxed.objective, rel=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_norms_can_be_bounded_to_nothing(kind):
    X, y, names = example(kind)
    found = ez.fit_sizes(X, y, [0, 2], max_norm=0.0, **names)
    np.testing.assert_allclose(found.objective, ez.fit_sizes(X, y, [0], **names).objective[0], rtol=1e-6)
    assert not found.coef.count_nonzero()


def test_mip_solvers_are_for_one_output():
    X, y, names = example("multinomial")
    with pytest.raises(ez.InvalidInputError, match="backend='builtin'"):
        ez.solve(X, y, k=2, method="mip", backend="highs", **names)
