"""Models of given sizes, with and without a bound on their norm."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint, linprog, minimize
from support.problems import LOSSES, PENALTIES, STORAGES, random_problem, store, target

import ellzero as ez

ALGORITHMS = ("iht", "cd", "local_search")


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_size_is_there_and_recomputed(loss, penalty):
    X, y, weight = random_problem(21)
    y = target(y, loss)
    settings = {"loss": loss, "sample_weight": weight, **PENALTIES[penalty]}
    values = {}
    for algorithm in ALGORITHMS:
        models = ez.fit_sizes(X, y, range(7), algorithm=algorithm, **settings)
        assert models.sizes.tolist() == list(range(7))
        assert (models.support_size <= models.sizes).all()
        assert (np.diff(models.objective) <= 1e-9).all()
        known = {k: v for k, v in settings.items() if k not in ("lower", "upper")}
        for k, model in zip(models.sizes, models, strict=True):
            again = ez.objective(X, y, model.coef, model.intercept, **known)
            np.testing.assert_allclose(models.objective[k], again, rtol=1e-12)
            assert model.coef.min() >= settings.get("lower", -np.inf)
            assert model.coef.max() <= settings.get("upper", np.inf)
            assert set(settings.get("unpenalized", [])) <= set(model.support.tolist())
        values[algorithm] = models.objective
    assert (values["local_search"] <= values["cd"] * (1 + 1e-7)).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_storages_agree(loss):
    X, y, weight = random_problem(22)
    y = target(y, loss)
    results = [
        ez.fit_sizes(store(X, storage), y, [2, 5], loss=loss, lambda_2=1e-3, sample_weight=weight).objective
        for storage in STORAGES
    ]
    for other in results[1:]:
        np.testing.assert_allclose(other, results[0], rtol=1e-7)


def test_sizes_that_cannot_be_reached_say_so():
    X, y, _ = random_problem(23, p=6)
    labels = target(y, "logistic")
    doubled = np.hstack([X[:, :3], X[:, :3]])  # three columns and their copies
    models = ez.fit_sizes(doubled, labels, range(9), lambda_1=1e-3)
    assert models.reached[:4].all()
    assert not models.reached[7:].any()
    assert models.support_size.max() <= 6
    assert "none of 8 was found that is better" in repr(models)
    path = ez.fit_path(doubled, labels, lambda_1=1e-3)
    with pytest.raises(ez.InvalidInputError, match="k must be at most the 6 features"):
        path.at_support(7)
    with pytest.raises(ez.InvalidInputError, match="k = 2 cannot be reached"):
        ez.fit_path(np.column_stack([X[:, 0], np.ones((60, 2))]), labels).at_support(2)
    nothing = ez.fit_sizes(np.ones((60, 2)), labels, [0, 1, 2])
    assert nothing.support_size.tolist() == [0, 0, 0]
    upper = ez.fit_sizes(X, labels, [3], lower=0.0, upper=0.0)
    assert upper.support_size.tolist() == [0]


def test_a_path_is_extended_by_larger_sizes():
    X, y, _ = random_problem(24)
    labels = target(y, "logistic")
    for algorithm in ("cd", "local_search"):
        for settings in ({}, {"standardize": True}, {"unpenalized": [2]}):
            path = ez.fit_path(X, labels, lambda_2=1e-3, max_support=4, algorithm=algorithm, **settings)
            model = path.at_support(9)
            assert path.problem.penalty.counted(model.support) == 9
            assert model.objective < path.at_support(4).objective
            assert path.at_support(9) is model


def enumerate_bounded(X, y, k, radius, loss, lambda_2):
    """The constrained minimum over all supports of size k, by a general-purpose solver."""
    best = np.inf
    for subset in combinations(range(X.shape[1]), k):
        Z = X[:, subset]

        def value(v, Z=Z):
            eta = Z @ v[:k] + v[k]
            if loss == "logistic":
                f = np.logaddexp(0, -y * eta)
            elif loss == "squared_hinge":
                f = np.maximum(0, 1 - y * eta) ** 2
            else:
                f = 0.5 * (y - eta) ** 2
            return f.mean() + lambda_2 * (v[:k] ** 2).sum()

        ball = NonlinearConstraint(lambda v: (v[:k] ** 2).sum(), 0.0, radius**2)
        found = minimize(value, np.zeros(k + 1), constraints=[ball], method="SLSQP", options={"ftol": 1e-12, "maxiter": 500})
        best = min(best, found.fun)
    return best


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "squared_error"])
def test_norm_bound_against_enumeration(loss):
    for seed in range(4):
        X, y, beta = ez.datasets.make_classification(50, 6, 3, s=2.0, correlation="exponential", rho=0.8, random_state=seed)
        if loss == "squared_error":
            y = X @ beta + np.random.default_rng(seed).standard_normal(50)
        free = ez.fit_sizes(X, y, [1, 2, 3], loss=loss, lambda_2=1e-3, tol=1e-8)
        radius = 0.5 * float(np.linalg.norm(free[2].values))
        bound = ez.fit_sizes(X, y, [1, 2, 3], loss=loss, lambda_2=1e-3, max_norm=radius)
        for k in (1, 2, 3):
            norm = np.linalg.norm(bound[k].values)
            assert norm <= radius * (1 + 1e-9)
            truth = enumerate_bounded(X, y, k, radius, loss, 1e-3)
            np.testing.assert_allclose(bound[k].objective, truth, rtol=1e-5, err_msg=f"seed {seed}, k {k}")
            assert bound[k].objective >= free[k].objective * (1 - 1e-9)
        loose = ez.fit_sizes(X, y, [1, 2, 3], loss=loss, lambda_2=1e-3, max_norm=1e3, tol=1e-8)
        np.testing.assert_allclose(loose.objective, free.objective, rtol=1e-9)


@pytest.mark.parametrize("radius", [1e-31, 1e-200, 1e-300])
def test_norm_bounds_next_to_nothing(radius):
    X, y, _ = ez.datasets.make_classification(40, 5, 2, random_state=0)
    for settings in ({}, {"lambda_1": 0.1}, {"standardize": True, "lambda_1": 0.1}):
        sizes = ez.fit_sizes(X, y, [1, 2], max_norm=radius, **settings)
        scale = X.std(axis=0) if "standardize" in settings else 1.0
        for size in (1, 2):
            assert np.linalg.norm(sizes[size].coef / radius * scale) <= 1 + 1e-9, settings


def test_norm_bound_of_columns_whose_squares_are_nothing():
    X = 1e-170 * np.random.default_rng(8).standard_normal((30, 3))  # 1e-340 is zero
    y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0.0, 1.0, -1.0)
    free = ez.fit_sizes(X, y, [2], loss="squared_hinge")[2]
    radius = 0.5 * float(np.linalg.norm(free.values / 1e160)) * 1e160
    model = ez.fit_sizes(X, y, [2], loss="squared_hinge", max_norm=radius)[2]
    assert float(np.linalg.norm(model.values / 1e160)) * 1e160 <= radius * (1.0 + 1e-9)


@pytest.mark.parametrize(("seed", "radius"), [(2, 2.0), (15, 4.0), (61, 3.0)])
def test_norm_bound_where_supports_disagree_on_the_multiplier(seed, radius):
    """Alone the first column is best, under its multiplier the third (which needs none), and the second under the bound."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(30)
    y = np.where(z + 0.3 * rng.standard_normal(30) > 0, 1, -1)
    noise = rng.standard_normal((3, 30))
    X = np.column_stack([0.1 * (z + 0.2 * noise[0]), 0.3 * (z + 0.6 * noise[1]), 3.0 * (z + 1.5 * noise[2])])
    alone = [ez.fit_sizes(X[:, [j]], y, [1], max_norm=radius, fit_intercept=False)[1].objective for j in range(3)]
    found = ez.fit_sizes(X, y, [1], max_norm=radius, fit_intercept=False)[1]
    assert ez.fit_sizes(X, y, [1], fit_intercept=False)[1].support.tolist() == [0]
    assert np.argmin(alone) == 1
    np.testing.assert_allclose(found.objective, alone[1], rtol=1e-6)


def test_norm_bound_lets_more_features_in():
    """Under lambda_1 the bound makes room for features that are not worth their l1 norm without it."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((40, 4))
    y = X @ np.array([1, 0.5, 0.3, 0.02]) + 0.5 * rng.standard_normal(40)
    model = ez.fit_sizes(X, y, [4], loss="squared_error", lambda_1=0.2, max_norm=0.1)[4]
    assert model.objective <= 0.582405
    assert np.linalg.norm(model.values) <= 0.1 * (1 + 1e-9)


def test_norm_bound_with_an_unpenalized_feature():
    for seed in range(6):
        X, y, w = random_problem(seed, p=6)
        labels = target(y, "squared_hinge")
        settings = {"loss": "squared_hinge", "lambda_1": 0.01, "unpenalized": [5], "sample_weight": w}
        loose = ez.fit_sizes(X, labels, [2], **settings)[2]
        radius = 0.6 * float(np.linalg.norm(loose.values))
        tight = ez.fit_sizes(X, labels, [2], max_norm=radius, **settings)[2]
        used = sorted({*tight.support.tolist(), 5})
        best = ez.fit_sizes(X[:, used], labels, [2], max_norm=radius, **{**settings, "unpenalized": [used.index(5)]})[2]
        np.testing.assert_allclose(tight.objective, best.objective, rtol=1e-6, err_msg=str(seed))


def test_norm_bound_of_the_hinge_against_linear_constraints():
    """With one feature the ball is an interval: the hinge under it is a linear program."""
    X, y, _ = ez.datasets.make_classification(60, 5, 1, s=3.0, random_state=1)
    radius = 0.4
    model = ez.fit_sizes(X, y, 1, loss="hinge", max_norm=radius)
    best = np.inf
    for j in range(5):
        A = np.column_stack([-y * X[:, j], -y, -np.eye(60)])
        bounds = [(-radius, radius), (None, None)] + [(0, None)] * 60
        found = linprog(np.r_[0, 0, np.full(60, 1 / 60)], A_ub=A, b_ub=-np.ones(60), bounds=bounds, method="highs")
        best = min(best, found.fun)
    np.testing.assert_allclose(model.objective[0], best, rtol=1e-4)


def test_separable_data_needs_the_norm_bound():
    X = np.random.default_rng(3).standard_normal((40, 30))
    y = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
    model = ez.fit_sizes(X, y, 2, max_norm=2.0)[2]
    assert model.support.tolist() == [0, 1]
    np.testing.assert_allclose(np.linalg.norm(model.values), 2.0, rtol=1e-5)
    scaled = ez.fit_sizes(5.0 * X, y, 2, max_norm=2.0, standardize=True)
    spread = (5.0 * X).std(axis=0)[scaled[2].support]
    np.testing.assert_allclose(np.linalg.norm(scaled[2].values * spread), 2.0, rtol=1e-5)


def test_object():
    X, y, _ = random_problem(25)
    models = ez.fit_sizes(X, target(y, "logistic"), [5, 1, 3, 3], lambda_2=1e-3)
    assert models.sizes.tolist() == [1, 3, 5]
    assert models.coef.shape == (3, 30)
    np.testing.assert_array_equal(np.diff(models.coef.indptr), [1, 3, 5])
    assert models.intercept.shape == (3,)
    assert list(models.to_frame().columns) == ["size", "support_size", "objective", "intercept", "reached"]
    assert len(list(models)) == len(models) == 3
    assert "models of 3 sizes" in repr(models)
    with pytest.raises(KeyError, match="size 2 was not requested"):
        models[2]


@pytest.mark.parametrize("radius", [1e-6, 1e-15, 1e-30, 1e-150, 1e-310, 5e-324, 0.0])
@pytest.mark.parametrize("settings", [{}, {"lambda_1": 0.1}, {"standardize": True}, {"unpenalized": [4]}], ids=str)
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_error"])
def test_norms_as_small_as_numbers_are(loss, settings, radius):
    """Models within any radius, down to nothing: none is worse than that without features."""
    X, y, _ = random_problem(3, 60, 8)
    y = target(y, loss)
    null = ez.fit_sizes(X, y, [0], loss=loss, max_norm=0.0, **settings)
    models = ez.fit_sizes(X, y, [2, 5], loss=loss, max_norm=radius, **settings)
    scale = X.std(axis=0) if "standardize" in settings else 1.0
    assert (np.linalg.norm(models.coef.toarray() * scale, axis=1) <= radius * (1.0 + 1e-12)).all()
    assert (models.objective <= null.objective[0] * (1.0 + 1e-12)).all()
    if radius < 1e-20:  # what so small coefficients gain is rounding
        assert (models.support_size == 0).all()
