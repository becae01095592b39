"""p <= 12: every subset is fitted, so the best model of each size is known."""

from itertools import combinations

import numpy as np
import pytest
from support.problems import LOSSES, target

import ellzero as ez


def correlated_problem(seed, loss, n=60, p=8):
    X, label, beta = ez.datasets.make_classification(n, p, 3, s=2.0, correlation="exponential", rho=0.5, random_state=seed)
    noise = np.random.default_rng(seed + 1000).standard_normal(n)
    return X, label if loss != "squared_error" else target(X @ beta + noise, loss)


def best_by_size(X, y, settings):
    """G of the best model of each size, by fitting all subsets."""
    p = X.shape[1]
    best = {}
    for k in range(1, p + 1):
        for subset in combinations(range(p), k):
            columns = list(subset)
            fitted = ez.fit_path(X[:, columns], y, lambda_0=0.0, **settings)
            best[k] = min(best.get(k, np.inf), float(fitted.objective[0]))
    null = ez.fit_path(X, y, lambda_0=1e9, **settings)
    best[0] = float(null.objective[0])
    return best


@pytest.mark.parametrize("loss", LOSSES)
def test_path_finds_the_optimum_of_most_sizes(loss, record_property):
    settings = {"loss": loss, "lambda_2": 1e-3}
    hits = total = 0
    seeds = range(5)
    for seed in seeds:
        X, y = correlated_problem(seed, loss)
        truth = best_by_size(X, y, settings)
        path = ez.fit_path(X, y, lambda_min_ratio=1e-4, **settings)
        for k, model in path.sized.items():
            value = ez.objective(X, y, model.coef, model.intercept, **settings)
            assert value >= truth[k] * (1 - 1e-6), (seed, k)
            hits += value <= truth[k] * (1 + 1e-6)
            total += 1
        # No point of the path is better than the truth, most are equal to it.
        for k in range(len(path)):
            optimum = min(truth[size] + path.lambda_0[k] * size for size in truth)
            assert path.objective[k] >= optimum * (1 - 1e-6), (seed, k)
    record_property("figure", f"{loss}, p = 8, seeds 0-4: the best model of its size in {hits} of {total} cases")
    # The hinge's corners hide some exchanges from coordinate steps.
    assert hits >= (0.75 if loss == "hinge" else 0.9) * total


def test_twelve_features_penalised_optimum(record_property):
    """How often the penalised optimum over all 4,096 models is found, on least squares where enumeration is a formula."""
    hits = total = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, _, beta = ez.datasets.make_classification(60, 12, 4, correlation="exponential", rho=0.7, random_state=seed)
        y = X @ beta + rng.standard_normal(60)
        grid = np.geomspace(0.5, 0.005, 12)
        path = ez.fit_path(X, y, loss="squared_error", lambda_0=grid, fit_intercept=False)
        best = np.full(13, np.inf)
        for k in range(13):
            for subset in combinations(range(12), k):
                columns = list(subset)
                residual = y - X[:, columns] @ np.linalg.lstsq(X[:, columns], y, rcond=None)[0] if k else y
                best[k] = min(best[k], residual @ residual / 120)
        optimum = (best[None, :] + grid[:, None] * np.arange(13)).min(axis=1)
        assert (path.objective >= optimum * (1 - 1e-9)).all(), seed
        hits += int((path.objective <= optimum * (1 + 1e-7)).sum())
        total += len(grid)
    record_property("figure", f"squared_error, p = 12, seeds 0-19: the global optimum at {hits} of {total} lambda_0")
    assert hits >= 0.85 * total
