"""Best subsets of ordinary least squares: nothing but the loss limits the coefficients, and the proof assumes nothing."""

from functools import partial
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

import ellzero as ez
from ellzero.exact.options import SearchOptions


def draw(seed):
    """A regression with correlated columns of several sizes, and settings."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(2, 8))
    n = int(rng.integers(p + 3, 40))
    X = rng.standard_normal((n, p)) @ (np.eye(p) + 0.7 * rng.standard_normal((p, p)))
    X = X * 10.0 ** rng.uniform(-3.0, 3.0, p) + rng.choice([0.0, 5.0]) * rng.standard_normal(p)
    y = X[:, 0] / X[:, 0].std() + rng.standard_normal(n) + rng.choice([0.0, 100.0])
    settings = {"fit_intercept": bool(rng.random() < 0.6), "standardize": bool(rng.random() < 0.4)}
    form = rng.integers(3)
    if form != 0:
        settings["k"] = int(rng.integers(1, p + 1))
    if form != 1:
        settings["lambda_0"] = float(10.0 ** rng.uniform(-3.0, 0.0)) * float(np.var(y))
    if rng.random() < 0.4:
        settings["sample_weight"] = rng.uniform(0.1, 2.0, n) * (rng.random(n) < 0.9)
    if rng.random() < 0.3:
        settings["unpenalized"] = [int(rng.integers(p))]
    if rng.random() < 0.3:
        settings["lower"] = 0.0
    return X, y, settings


def best_by_enumeration(X, y, settings):
    """The least objective over all supports: least squares, with non-negative coefficients where they are asked for."""
    n, p = X.shape
    w = settings.get("sample_weight", np.ones(n))
    w = w / w.sum()
    free = settings.get("unpenalized", [])
    others = [j for j in range(p) if j not in free]
    least = np.inf
    for size in range(min(settings.get("k", p), len(others)) + 1):
        for chosen in combinations(others, size):
            columns = X[:, [*free, *chosen]]
            if settings["fit_intercept"]:
                columns, target = columns - w @ columns, y - w @ y
            else:
                target = y
            if "lower" in settings:
                value = nonnegative(columns * np.sqrt(w)[:, None], target * np.sqrt(w))
            else:
                coef = np.linalg.lstsq(columns * np.sqrt(w)[:, None], target * np.sqrt(w), rcond=None)[0]
                value = 0.5 * w @ (target - columns @ coef) ** 2
            least = min(least, value + settings.get("lambda_0", 0.0) * size)
    return least


def nonnegative(columns, target):
    """Half the least squared residual with non-negative coefficients, over all sets of positive ones."""
    best = 0.5 * target @ target
    for size in range(1, columns.shape[1] + 1):
        for chosen in combinations(range(columns.shape[1]), size):
            coef = np.linalg.lstsq(columns[:, chosen], target, rcond=None)[0]
            if (coef >= 0.0).all():
                best = min(best, 0.5 * np.sum((target - columns[:, chosen] @ coef) ** 2))
    return best


@pytest.mark.parametrize("storage", ["dense", "sparse", "one thread less"])
@pytest.mark.parametrize("first", range(0, 60, 20))
def test_nothing_is_assumed(first, storage):
    used = 0
    for seed in range(first, first + 20):
        X, y, settings = draw(seed)
        data = sparse.csc_matrix(X) if storage == "sparse" else X
        sol = ez.solve(data, y, loss="squared_error", gap=1e-6, n_jobs=1 if storage == "one thread less" else 2, **settings)
        truth = best_by_enumeration(X, y, settings)
        where = f"seed {seed}, {settings}: {sol}, enumeration {truth!r}"
        assert sol.status == "optimal", where
        assert sol.objective == pytest.approx(truth, rel=1e-6), where
        assert sol.lower_bound <= truth * (1.0 + 1e-9), where
        report = ez.verify(sol.certificate, data, y)
        assert report.valid, (where, report.reasons)
        assert not report.conditional, where
        used += "diagonal_values" in sol.certificate.tree
    assert used > 10, "without diagonals this would prove little"


def test_exact_arithmetic_agrees():
    pytest.importorskip("flint")
    for seed in range(100, 108):
        X, y, settings = draw(seed)
        sol = ez.solve(X, y, loss="squared_error", gap=1e-6, n_jobs=1, **settings)
        report, exact = (ez.verify(sol.certificate, X, y, arithmetic=arithmetic) for arithmetic in ("float64", "exact"))
        assert report.valid, (seed, report.reasons)
        assert exact.valid, (seed, exact.reasons)
        assert exact.lower_bound >= report.lower_bound, seed


def correlated(seed, n, p):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = 0.8 * X[:, j - 1] + 0.6 * X[:, j]
    return X, X[:, :: p // 5].sum(axis=1) + 2.0 * rng.standard_normal(n)


def test_it_works_where_trees_are_not_trivial():
    """Without a ridge, with and without a model that is nearly as good as the best; stored data; two threads."""
    X, y = correlated(1, 120, 40)
    sol = ez.solve(X, y, loss="squared_error", k=5, n_jobs=2)
    assert sol.status == "optimal", sol
    assert sol.nodes > 10, "a tree of a few nodes would show little"
    alone = ez.solve(X, y, loss="squared_error", k=5, n_jobs=1)
    assert alone.objective == pytest.approx(sol.objective, rel=1e-4)
    assert ez.verify(sol.certificate, X, y).valid


def test_a_ridge_that_is_moved_changes_no_optimum_and_saves_nodes(monkeypatch):
    X, y = correlated(2, 150, 50)
    found = {}
    for diagonals in (True, False):
        monkeypatch.setattr("ellzero.exact.options.SearchOptions", partial(SearchOptions, diagonals=diagonals))
        found[diagonals] = ez.solve(X, y, loss="squared_error", k=5, lambda_2=1e-3, n_jobs=1)
        assert found[diagonals].status == "optimal"
        assert ez.verify(found[diagonals].certificate, X, y).valid
    assert found[True].objective == pytest.approx(found[False].objective, rel=1e-4)
    assert found[True].nodes < found[False].nodes


def test_a_search_without_penalties_resumes(tmp_path):
    X, y = correlated(3, 120, 40)
    path = tmp_path / "search.npz"
    whole = ez.solve(X, y, loss="squared_error", k=5, n_jobs=1)
    part = ez.solve(X, y, loss="squared_error", k=5, n_jobs=1, node_limit=10, checkpoint=path)
    assert part.status == "node_limit"
    rest = ez.solve(X, y, loss="squared_error", k=5, n_jobs=1, checkpoint=path)
    assert rest.status == "optimal"
    assert rest.nodes > 10
    assert rest.objective == pytest.approx(whole.objective, rel=1e-4)
    report = ez.verify(rest.certificate, X, y)
    assert report.valid, report.reasons
    assert not report.conditional


@pytest.mark.parametrize("case", ["few rows", "repeated column", "iga"])
def test_where_the_loss_holds_nothing_a_sentence_says_what_to_add(case):
    X, y = correlated(4, 60, 12)
    settings = {"loss": "squared_error", "k": 2}
    if case == "few rows":
        X, y = X[:12], y[:12]
    elif case == "repeated column":
        X[:, 5] = X[:, 6] - X[:, 7]
    else:
        settings["method"] = "iga"
    with pytest.raises(ez.InvalidInputError, match="lambda_2 must be positive"):
        ez.solve(X, y, **settings)


def test_a_constant_column_does_no_harm():
    X, y = correlated(5, 60, 10)
    X[:, 3] = 7.0
    for fit_intercept in (True, False):
        sol = ez.solve(X, y, loss="squared_error", k=3, fit_intercept=fit_intercept)
        assert sol.status == "optimal", sol
        report = ez.verify(sol.certificate, X, y)
        assert report.valid, report.reasons
    X[:, 3] = 0.0
    sol = ez.solve(X, y, loss="squared_error", k=3, fit_intercept=False)
    assert sol.status == "optimal", sol
    assert ez.verify(sol.certificate, X, y).valid
