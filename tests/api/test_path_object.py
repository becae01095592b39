"""Path, Model and PathGrid as users hold them."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from support.problems import random_problem, target

import ellzero as ez

X, Y, W = random_problem(0, n=80, p=20)
LABELS = target(Y, "logistic")


def test_attributes():
    path = ez.fit_path(X, LABELS, max_support=8)
    m = len(path)
    assert sparse.isspmatrix_csr(path.coef)
    assert path.coef.shape == (m, 20)
    assert path.intercept.shape == path.objective.shape == path.support_size.shape == path.converged.shape == (m,)
    np.testing.assert_array_equal(path.support_size, np.diff(path.coef.indptr))
    for k, model in enumerate(path):
        again = ez.objective(X, LABELS, model.coef, model.intercept, lambda_0=path.lambda_0[k])
        np.testing.assert_allclose(again, path.objective[k], rtol=1e-14)
        np.testing.assert_allclose(again, model.objective, rtol=1e-14)
    assert path[-1].lambda_0 == path.lambda_0[-1]
    with pytest.raises(IndexError, match="the path has"):
        path[m]


def test_dynamic_grid_changes_the_support_at_every_point():
    path = ez.fit_path(X, LABELS)
    supports = [model.support.tolist() for model in path]
    assert all(a != b for a, b in itertools.pairwise(supports))


def test_max_support():
    for limit in (0, 1, 5):
        path = ez.fit_path(X, LABELS, max_support=limit)
        assert path.support_size.max(initial=0) <= limit
        assert sorted(path.sized) == list(range(limit + 1))


def test_user_grid_is_kept():
    grid = ez.lambda_grid(X, LABELS, n_lambda=7, lambda_min_ratio=0.01, lambda_2=1e-3)
    path = ez.fit_path(X, LABELS, lambda_0=grid, lambda_2=1e-3)
    np.testing.assert_array_equal(path.lambda_0, grid)
    first = ez.fit_path(X, LABELS, lambda_0=grid[0] * 1.3, lambda_2=1e-3)
    assert first.support_size[0] <= path.support_size[1]


def test_lambda_0_max_of_squared_error_is_the_closed_form():
    Z, centred = X - X.mean(axis=0), Y - Y.mean()
    closed = (Z.T @ centred / 80) ** 2 / (2 * (Z**2).mean(axis=0))
    for j in range(3):  # one column: it enters exactly where its gain pays lambda_0
        alone = ez.fit_path(X[:, [j]], Y, loss="squared_error")
        np.testing.assert_allclose(alone.lambda_0[1] / 0.99, closed[j], rtol=1e-9)
        assert alone.support_size.tolist() == [0, 1]
        above, below = ez.fit_path(
            X[:, [j]], Y, loss="squared_error", lambda_0=[closed[j] * 1.01, closed[j] * 0.99]
        ).support_size
        assert (above, below) == (0, 1)
    # Several columns: the null model is left no later than for the best of them.
    assert ez.lambda_grid(X, Y, loss="squared_error")[0] >= closed.max()


def test_single_lambda_0_is_as_good_as_the_path():
    path = ez.fit_path(X, LABELS, lambda_2=1e-3)
    for k in (1, len(path) // 2):
        alone = ez.fit_path(X, LABELS, lambda_2=1e-3, lambda_0=path.lambda_0[k])
        assert alone.objective[0] <= path.objective[k] * 1.1


def test_result_objects_travel():
    import pickle

    for stored in (X, sparse.csc_matrix(X)):
        path = ez.fit_path(stored, LABELS, max_support=3)
        again = pickle.loads(pickle.dumps(path))
        np.testing.assert_array_equal(again.coef.toarray(), path.coef.toarray())
        np.testing.assert_array_equal(again[1].predict(stored), path[1].predict(stored))
    assert path[1] != path[0]
    assert len({path[0], path[1]}) == 2
    with pytest.raises(TypeError, match="index of a path must be an integer"):
        path[:2]


def test_frame_columns_must_match():
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(20)])
    model = ez.fit_path(frame, LABELS, lambda_0=0.02)[0]
    with pytest.raises(ez.InvalidInputError, match="in the same order"):
        model.predict(frame[frame.columns[::-1]])


def test_at_support_fills_the_sizes_between():
    path = ez.fit_path(X, LABELS, max_support=10)
    for k in range(path.support_size.max() + 1):
        model = path.at_support(k)
        assert len(model.support) == k
    costs = [path.at_support(k).objective for k in range(path.support_size.max() + 1)]
    assert (np.diff(costs) <= 1e-9).all()
    larger = path.at_support(11)
    assert len(larger.support) == 11
    assert larger.objective < costs[-1]
    with pytest.raises(ez.InvalidInputError, match="k must be at most the 20 features"):
        path.at_support(21)
    with pytest.raises(ez.InvalidInputError, match="k must be an integer"):
        path.at_support(-1)


def test_the_null_model_alone():
    for algorithm, swaps in (("cd", "ranked"), ("local_search", "ranked"), ("local_search", "exhaustive")):
        path = ez.fit_path(X, LABELS, max_support=0, algorithm=algorithm, swaps=swaps)
        assert path.support_size.tolist() == [0]


def test_unpenalized_features_are_in_and_not_counted():
    path = ez.fit_path(X, LABELS, unpenalized=[7, 9], lambda_2=1e-3, max_support=3)
    for k, model in enumerate(path):
        assert {7, 9} <= set(model.support.tolist())
        assert path.support_size[k] == len(model.support) - 2
        again = ez.objective(
            X, LABELS, path.coef[k], model.intercept, lambda_0=path.lambda_0[k], lambda_2=1e-3, unpenalized=[7, 9]
        )
        np.testing.assert_allclose(again, path.objective[k], rtol=1e-14)


def test_model_predictions():
    model = ez.fit_path(X, LABELS, lambda_0=0.01)[0]
    np.testing.assert_allclose(model.decision_function(sparse.csr_matrix(X)), X @ model.coef + model.intercept, atol=1e-12)
    with pytest.raises(ez.InvalidInputError, match="X must have 20 columns"):
        model.predict(X[:, :3])
    with pytest.raises(ez.InvalidInputError, match="predict_proba needs probabilities"):
        ez.fit_path(X, LABELS, loss="hinge", lambda_0=0.01)[0].predict_proba(X)
    regression = ez.fit_path(X, Y, loss="squared_error", lambda_0=0.01)[0]
    np.testing.assert_allclose(regression.predict(X), regression.decision_function(X))


def test_reprs_are_readable():
    path = ez.fit_path(X, LABELS, lambda_2=0.01)
    assert "logistic path" in repr(path)
    assert "features" in repr(path)
    assert repr(path[2]).startswith("logistic model of 1 against -1 with")
    assert "grid of 2 paths" in repr(ez.fit_grid(X, LABELS, lambda_2=[0.1, 0.01], n_lambda=5))


def test_frame():
    path = ez.fit_path(X, LABELS)
    frame = path.to_frame()
    assert list(frame.columns) == ["lambda_0", "support_size", "objective", "intercept", "converged"]
    assert len(frame) == len(path)
    grid = ez.fit_grid(X, LABELS, lambda_1=[0.02, 0.001], n_lambda=5)
    assert set(grid.to_frame()["lambda_1"]) == {0.02, 0.001}


def test_plot_draws():
    path = ez.fit_path(X, LABELS)
    ax = path.plot()
    assert len(ax.lines) > 3
    ax.figure.canvas.draw()
    plt.close(ax.figure)
    single = ez.fit_path(X, LABELS, lambda_0=0.05).plot()
    single.figure.canvas.draw()
    plt.close(single.figure)


@pytest.mark.parametrize("name", ["lambda_1", "lambda_2"])
@pytest.mark.parametrize("values", ["auto", [0.05, 0.01, 0.001]])
def test_grid_is_at_least_as_good_as_single_paths(name, values):
    how = {"algorithm": "local_search", "max_support": 8}  # coordinate descent alone depends on where it starts
    grid = ez.fit_grid(X, LABELS, **{name: values}, n_lambda=12, **how)
    assert len(grid) == len(grid.values) == (10 if values == "auto" else 3)
    for value, path in zip(grid.values, grid, strict=True):
        assert getattr(path, name) == value
        alone = ez.fit_path(X, LABELS, **{name: value}, lambda_0=path.lambda_0, **how)
        m = min(len(alone), len(path))
        assert (path.objective[:m] <= alone.objective[:m] * (1 + 1e-6)).all()
        for k in range(len(path)):
            assert ez.check_stationarity(X, LABELS, path.coef[k], path.intercept[k], lambda_0=path.lambda_0[k], **{name: value})


def test_grid_arguments():
    for bad in ({}, {"lambda_1": [0.1], "lambda_2": [0.1]}):
        with pytest.raises(ez.InvalidInputError, match="lambda_1 or lambda_2 must be a grid"):
            ez.fit_grid(X, LABELS, **bad)
    with pytest.raises(ez.InvalidInputError, match="lambda_2 must be strictly decreasing"):
        ez.fit_grid(X, LABELS, lambda_2=[0.1, 0.2])
    with pytest.raises(ez.InvalidInputError, match="or 'auto', got 'x'"):
        ez.fit_grid(X, LABELS, lambda_2="x")


def test_make_classification_is_the_papers_design():
    Z, y, coef = ez.datasets.make_classification(4000, 12, 3, s=2.0, correlation="exponential", rho=0.6, random_state=4)
    assert Z.flags.f_contiguous
    assert coef.nonzero()[0].tolist() == [0, 4, 8]
    correlation = np.corrcoef(Z.T)
    distance = np.abs(np.subtract.outer(range(12), range(12)))
    np.testing.assert_allclose(correlation, 0.6**distance, atol=0.08)
    probability = 1 / (1 + np.exp(-2.0 * Z @ coef))
    assert abs((y == 1).mean() - probability.mean()) < 0.02
    constant = ez.datasets.make_classification(4000, 5, 1, correlation="constant", rho=0.3, dtype=np.float32)[0]
    assert constant.dtype == np.float32
    np.testing.assert_allclose(np.corrcoef(constant.T)[~np.eye(5, dtype=bool)], 0.3, atol=0.08)
    for bad in ({"k": 6}, {"rho": 1.0}, {"correlation": "x"}, {"n": 0}):
        with pytest.raises(ez.InvalidInputError):
            ez.datasets.make_classification(**{"n": 5, "p": 5, "k": 1, **bad})


def test_a_model_asked_for_by_its_size_is_that_of_local_search():
    """Coordinate descent ends at a worse model of ten features of these."""
    data = load_breast_cancer()
    settings = {"lambda_2": 1e-3, "standardize": True}
    path = ez.fit_path(data.data, data.target, max_support=15, **settings)
    met = path.sized[10].cost
    best = ez.fit_sizes(data.data, data.target, [10], algorithm="local_search", **settings).objective[0]
    assert best < met * (1.0 - 1e-4)
    assert path.at_support(10).cost == pytest.approx(best, rel=1e-6)
    assert path.at_support(10) is path.at_support(10)
