"""Tables with attributes: searches with normal equations find what enumeration finds, and their certificates prove it."""

from dataclasses import replace
from inspect import signature
from itertools import combinations

import numpy as np
import pytest
from support.tables import one_hot_problem

import ellzero as ez
from ellzero import _core
from ellzero.exact.incumbent import as_solution
from ellzero.exact.search import Search, asked_for


def objective(X, y, w, columns, lambda_2, intercept=True):
    """The least objective with these columns, by least squares."""
    root = np.sqrt(w)[:, None]
    design = np.hstack([X[:, columns], np.ones((len(y), 1))]) if intercept else X[:, columns]
    ridge = np.sqrt(2 * lambda_2) * np.eye(len(columns), design.shape[1])
    stacked, target = np.vstack((design * root, ridge)), np.append(y * root[:, 0], np.zeros(len(columns)))
    b = np.linalg.lstsq(stacked, target, rcond=None)[0]
    return float(np.square(target - stacked @ b).sum()) / 2


def solved(seed, **more):
    """A problem, its solution, and the best objective by enumeration."""
    rng = np.random.default_rng(seed)
    X, y = one_hot_problem(rng, rows=int(rng.integers(60, 200)), attributes=int(rng.integers(3, 6)), levels=(2, 6))
    n, p = X.shape
    k, lambda_2 = int(rng.integers(1, 6)), 10 ** rng.uniform(-4.0, -1.5)
    lambda_0 = float(rng.choice([0.0, 0.003]))
    w = np.full(n, 1 / n) if rng.random() < 0.6 else rng.random(n) + 0.1
    w /= w.sum()
    intercept = bool(rng.random() < 0.8)
    asked = {"loss": "squared_error", "k": k, "lambda_0": lambda_0, "lambda_2": lambda_2, "gap": 1e-5}
    asked |= {"fit_intercept": intercept, "sample_weight": w}
    sizes = range(k + 1) if lambda_0 else [min(k, p)]
    best = min(
        objective(X, y, w, list(each), lambda_2, intercept) + lambda_0 * size
        for size in sizes
        for each in combinations(range(p), size)
    )
    return X, y, asked, ez.solve(X, y, **asked, **more), best


@pytest.mark.parametrize("seed", range(40))
def test_against_enumeration(seed):
    X, y, _, solution, best = solved(seed)
    assert solution.status == "optimal"
    assert best * (1 - 1e-9) <= solution.objective <= best * (1 + 1.1e-5)
    assert solution.lower_bound <= best * (1 + 1e-9)
    assert "form_ends" in solution.certificate.arrays
    report = ez.verify(solution.certificate, X, y)
    assert report.valid, report.reasons


@pytest.mark.parametrize("seed", range(3))
def test_exact_arithmetic(seed):
    X, y, _, solution, best = solved(seed + 100)
    report = ez.verify(solution.certificate, X, y, arithmetic="exact")
    assert report.valid, report.reasons
    assert report.lower_bound <= best * (1 + 1e-12)


def test_larger_trees():
    """Trees of many nodes on several threads hold the best model that is known, and are proved."""
    nodes = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = one_hot_problem(rng, rows=400, attributes=10, levels=(3, 9), noise=3.0)
        asked = {"loss": "squared_error", "k": 6, "lambda_2": 0.1 / len(y)}
        first = ez.solve(X, y, **asked)
        problem, options, _ = asked_for(X, y, None, {**arguments(), **asked, "n_jobs": 2})
        search = Search(problem, options)
        search.find_first_model()
        search.open_tree()
        model = as_solution(search.boxed, first.model)
        search.tree.follow(model, first.objective / problem.units.cost * (1 + 1e-9))
        assert search.tree.run(seconds=60.0, node_limit=10**6, report=None) == _core.SearchStatus.finished
        nodes += search.tree.nodes
        assert ez.verify(first.certificate, X, y).valid
    assert nodes > 50


@pytest.mark.parametrize("copies", [1, 6])
def test_attributes_with_a_level_in_common(copies):
    """A level that several attributes have, once or each of them, does not keep curvature from moving."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = one_hot_problem(rng, rows=400, attributes=6, levels=(6, 9), noise=3.0)
        missing = rng.random(len(y)) < 0.1
        X = np.column_stack((X * ~missing[:, None], *[missing] * copies))
        asked = {"loss": "squared_error", "k": 5, "lambda_2": 0.1 / len(y), "node_limit": 1}
        solution = ez.solve(X, y, **asked)
        problem, options, _ = asked_for(X, y, None, {**arguments(), **asked})
        ridge_alone = Search(problem, replace(options, diagonals=False)).solve()
        assert 0.0 < solution.gap < 0.5 * ridge_alone.gap
        assert ez.verify(solution.certificate, X, y).valid


def arguments():
    """The defaults of `solve`."""
    return {name: each.default for name, each in signature(ez.solve).parameters.items() if each.default is not each.empty}
