"""Groups of columns along paths and at given sizes, against all sets of groups: each fitted by Clarabel."""

from itertools import combinations

import numpy as np
import pytest
from support.oracle import Model
from support.problems import GROUPED, GROUPS, LOSSES, random_problem, target

import ellzero as ez
from ellzero import _core
from ellzero.problem.making import make_problem
from ellzero.solvers.paths import core_problem

SEEDS = range(5)
COUNT = 6  # groups


def drawn(loss, seed):
    """A small problem of interleaved groups; the seed chooses among boxes, weights, l1, free groups and prices."""
    rng = np.random.default_rng([71, seed, LOSSES.index(loss)])
    n, labels = 40, np.repeat(np.arange(COUNT), rng.integers(1, 4, COUNT))
    rng.shuffle(labels)
    p = len(labels)
    X = rng.normal(size=(n, p)) + (rng.normal(size=(n, 1)) if seed % 2 else 0.0)
    if seed % 3 == 2:
        X[:, labels == 0] = rng.normal(size=(n, 1))  # copies of one column
    signal = X @ (rng.normal(size=p) * np.isin(labels, [1, 2, 4])) + rng.normal(size=n)
    y = signal if loss == "squared_error" else np.where(signal > np.median(signal), 1.0, -1.0)
    settings = {"loss": loss, "lambda_2": float(10.0 ** rng.uniform(-2.5, -1.0))}
    if seed % 2:
        settings["lambda_1"] = 0.02
    if seed % 3 == 1:
        settings |= {"lower": -0.4, "upper": 0.7}
    weight = rng.integers(1, 4, n).astype(float) if seed % 4 == 1 else None
    cost = np.ones(COUNT) if seed % 2 else np.exp(rng.normal(size=COUNT))
    if seed == 3:
        cost[5] = 0.0
    return X, y, labels, cost, settings, weight


def all_sets(X, y, labels, cost, settings, weight):
    """G of every set of groups that cost anything."""
    free = np.flatnonzero(cost[labels] == 0.0).tolist()
    model = Model(X, y, weights=weight, unpenalized=free, **settings)
    paid = np.flatnonzero(cost > 0.0).tolist()
    sets = [frozenset(each) for size in range(len(paid) + 1) for each in combinations(paid, size)]
    return {chosen: model.fit(frozenset(np.flatnonzero(np.isin(labels, list(chosen))).tolist())).value for chosen in sets}


def referee(X, y, model, lambda_0, stated):
    known = {name: value for name, value in stated.items() if name not in ("lower", "upper")}
    return ez.objective(X, y, model, lambda_0=lambda_0, **known)


@pytest.mark.parametrize("loss", LOSSES)
def test_local_search_finds_the_best_groups(loss):
    """Of each size, and at each lambda_0: nowhere better than the best of all, and nearly everywhere as good."""
    found, best = 0, 0
    for seed in SEEDS:
        X, y, labels, cost, settings, weight = drawn(loss, seed)
        known = all_sets(X, y, labels, cost, settings, weight)
        stated = {"groups": labels, "feature_cost": cost[labels], "sample_weight": weight, **settings}
        sizes = ez.fit_sizes(X, y, range(1, 4), **stated)
        for model in sizes:
            least = min(value for chosen, value in known.items() if len(chosen) <= model.size)
            assert model.cost >= least - 1e-7 * abs(least), (loss, seed, model.size)
            assert model.size == len({g for g in labels[model.support] if cost[g] > 0.0})
            found, best = found + 1, best + (model.cost <= least + 1e-5 * abs(least) + 1e-9)
        for lambda_0 in (0.1, 0.03, 0.01):
            model = ez.fit_path(X, y, lambda_0=lambda_0, algorithm="local_search", **stated)[0]
            least = min(value + lambda_0 * cost[list(chosen)].sum() for chosen, value in known.items())
            assert model.objective >= least - 1e-7 * abs(least), (loss, seed, lambda_0)
            assert model.objective == pytest.approx(referee(X, y, model, lambda_0, stated), rel=1e-12)
            found, best = found + 1, best + (model.objective <= least + 1e-5 * abs(least) + 1e-9)
    print(f"{loss}: the best groups in {best} of {found} cases")
    assert best >= 0.95 * found


@pytest.mark.parametrize("name", GROUPED)
@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss != "hinge"])
def test_plain_descent_over_groups_never_rises_and_ends_where_theorem_1_holds(loss, name):
    X, y, weight = random_problem(3)
    y, lambda_0 = target(y, loss), 0.02
    settings = {"loss": loss, "sample_weight": weight, **GROUPED[name]}
    problem = make_problem(X, y, **settings)
    core = core_problem(problem, 1e-9)
    cycles = _core.coordinate_descent(core, lambda_0=lambda_0 / problem.units.lambda_0, cycles=3000)
    assert len(cycles.objective) > 3
    assert (np.diff(cycles.objective) <= 1e-12 * cycles.objective[0]).all()
    heads = problem.penalty.heads
    assert set(cycles.column) <= set(heads.tolist())
    used = set(heads[cycles.model.support].tolist())
    assert set(cycles.model.support.tolist()) == {j for j in range(X.shape[1]) if heads[j] in used}, "groups come whole"


def sizes_of(X, y, groups, **settings):
    return [model.cost for model in ez.fit_sizes(X, y, range(1, 5), groups=groups, **settings)]


@pytest.mark.parametrize("loss", LOSSES)
def test_groups_of_one_column_are_columns(loss):
    X, y, weight = random_problem(4)
    y, settings = target(y, loss), {"loss": loss, "lambda_2": 0.01, "sample_weight": weight}
    for algorithm in ("cd", "local_search"):
        plain = ez.fit_path(X, y, algorithm=algorithm, max_support=8, **settings)
        single = ez.fit_path(X, y, algorithm=algorithm, max_support=8, groups=[f"g{j}" for j in range(30)], **settings)
        np.testing.assert_array_equal(plain.coef.toarray(), single.coef.toarray())
        np.testing.assert_array_equal(plain.lambda_0, single.lambda_0)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_column_of_no_entries_changes_nothing_in_a_group(loss):
    X, y, _ = random_problem(5)
    y, settings = target(y, loss), {"loss": loss, "lambda_2": 0.01}
    wider = np.column_stack([X, np.zeros((len(X), 2))])
    np.testing.assert_allclose(sizes_of(wider, y, [*GROUPS, 3, 14], **settings), sizes_of(X, y, GROUPS, **settings), rtol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_order_of_columns_does_not_matter(loss):
    X, y, _ = random_problem(6, density=1.0)
    y, settings = target(y, loss), {"loss": loss, "lambda_2": 0.01, "standardize": True}
    order = np.random.default_rng(0).permutation(30)
    mixed = sizes_of(X[:, order], y, np.array(GROUPS)[order], **settings)
    np.testing.assert_allclose(mixed, sizes_of(X, y, GROUPS, **settings), rtol=1e-5)


def test_a_column_twice_in_a_group_has_half_the_ridge():
    X, y, _ = random_problem(7, n=80, p=6, density=1.0)
    y = target(y, "logistic")
    twice = np.repeat(X, 2, axis=1)
    doubled = sizes_of(twice, y, np.repeat(np.arange(6), 2), lambda_2=0.02)
    single = [model.cost for model in ez.fit_sizes(X, y, range(1, 5), lambda_2=0.01)]
    np.testing.assert_allclose(doubled, single, rtol=1e-7)


def test_prices_times_t_are_lambda_0_times_t():
    X, y, _ = random_problem(8)
    y, cost = target(y, "logistic"), {g: 1.0 + g / 4.0 for g in range(17)}
    settings = {"groups": GROUPS, "lambda_2": 0.01}
    one = ez.fit_path(X, y, lambda_0=0.03, feature_cost=cost, **settings)[0]
    other = ez.fit_path(X, y, lambda_0=0.01, feature_cost={g: 3.0 * c for g, c in cost.items()}, **settings)[0]
    assert one.support.tolist() == other.support.tolist()
    assert one.objective == pytest.approx(other.objective, rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_two_threads_find_what_one_does(loss):
    X, y, _ = random_problem(9)
    X = np.tile(X, (40, 20)) + 0.1 * np.random.default_rng(0).standard_normal((2400, 600))
    y, groups = target(np.tile(y, 40), loss), np.repeat(np.arange(120), 5)
    settings = {"loss": loss, "lambda_2": 0.01, "groups": groups, "algorithm": "local_search", "effort": "quick"}
    one, two = (ez.fit_path(X, y, max_support=4, n_jobs=jobs, **settings) for jobs in (1, 2))
    np.testing.assert_array_equal(one.coef.toarray(), two.coef.toarray())
