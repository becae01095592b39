"""Classes that share their features: against the enumeration of all supports, and against simpler ways."""

from itertools import combinations

import numpy as np
import pytest
from support.problems import LOSSES

import ellzero as ez


def problem(seed, n=80, p=7):
    """Three classes, correlated features."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 0.7 * rng.standard_normal((n, 1))
    coef = rng.standard_normal((p, 3)) * (rng.random((p, 1)) < 0.6)
    return X, (X @ coef + rng.gumbel(size=(n, 3))).argmax(axis=1)


def refitted(X, y, support, loss="logistic", lambda_1=0.0, **settings):
    """The sum over classes of the convex fits on a support."""
    settings = {"lambda_1": lambda_1, "lambda_2": 1e-3, "standardize": True, "loss": loss} | settings
    support, always = list(support), range(len(support))
    if not support:
        return sum(ez.fit_sizes(X, np.where(y == c, 1, -1), 0, **settings).objective[0] for c in np.unique(y))
    paths = [
        ez.fit_path(X[:, support], np.where(y == c, 1, -1), lambda_0=0.0, unpenalized=always, tol=1e-12, **settings)
        for c in np.unique(y)
    ]
    return sum(path.objective[0] for path in paths)


def enumerated(X, y, k, **settings):
    return min(refitted(X, y, support, **settings) for support in combinations(range(X.shape[1]), k))


@pytest.mark.parametrize("loss", LOSSES)
def test_nearly_always_the_best_support(loss):
    """Twenty problems, three sizes."""
    missed = 0
    for seed in range(20 if loss == "logistic" else 6):
        X, y = problem(seed)
        for k in (2, 3, 4) if loss == "logistic" else (3,):
            model = ez.L0Classifier(loss, k=k, multi_class="ovr_shared").fit(X, y)
            best = enumerated(X, y, k, loss=loss)
            found = model.objective_
            assert found >= best * (1.0 - 1e-6)
            missed += found > best * (1.0 + 1e-6)
    assert missed <= 1


@pytest.mark.parametrize("seed", range(5))
def test_all_classes_use_the_same_features(seed):
    X, y = problem(seed, p=20)
    for settings in ({"k": 4}, {"lambda_0": 0.02}, {}, {"k": 6, "lambda_0": 0.01}, {"k": 3, "unpenalized": [7]}):
        model = ez.L0Classifier(multi_class="ovr_shared", **settings).fit(X, y)
        used = model.coef_ != 0.0
        assert (used == used[0]).all()
        np.testing.assert_array_equal(model.support_, np.flatnonzero(used[0]))
        assert len(set(model.support_) - {7}) <= settings.get("k", 20)
    assert 7 in model.support_


@pytest.mark.parametrize("seed", range(5))
def test_better_than_the_most_frequent_features(seed):
    X, y = problem(seed, n=150, p=25)
    k = 4
    shared = ez.L0Classifier(k=k, multi_class="ovr_shared").fit(X, y)
    apart = ez.L0Classifier(k=k, multi_class="ovr").fit(X, y)
    votes = (apart.coef_ != 0.0).sum(axis=0) + 1e-6 * np.abs(apart.coef_).sum(axis=0)
    frequent = np.sort(np.argsort(-votes)[:k])
    assert shared.objective_ <= refitted(X, y, frequent) * (1.0 + 1e-7)
    assert shared.objective_ >= sum(apart.objective_) * (1.0 - 1e-6)  # which has more freedom


@pytest.mark.parametrize("seed", range(4))
def test_a_price_for_each_feature_that_any_class_uses(seed):
    """Against the enumeration; with lambda_1, classes may leave out features that others use and all pay for."""
    X, y = problem(seed, p=6)
    for lambda_1 in (0.0, 0.05):
        by_size = [enumerated(X, y, k, lambda_1=lambda_1) for k in range(7)]
        for price in (0.15, 0.03, 0.006):
            best = min(value + price * k for k, value in enumerate(by_size))
            model = ez.L0Classifier(lambda_0=price, lambda_1=lambda_1, multi_class="ovr_shared").fit(X, y)
            alone = [
                ez.objective(X, y == c, model.coef_[c], model.intercept_[c], lambda_1=lambda_1, lambda_2=1e-3, standardize=True)
                for c in range(3)
            ]
            assert sum(alone) + price * len(model.support_) == pytest.approx(best, rel=1e-5)


def test_two_classes_and_bounds():
    X, y = problem(0)
    plain, shared, softmax = (
        ez.L0Classifier(k=3, multi_class=how).fit(X, y > 0) for how in ("ovr", "ovr_shared", "multinomial")
    )
    np.testing.assert_array_equal(plain.coef_, shared.coef_)
    np.testing.assert_array_equal(plain.coef_, softmax.coef_)
    assert softmax.multi_class_ is None
    bounded = ez.L0Classifier(k=3, multi_class="ovr_shared", lower=-0.1, upper=0.2).fit(X, y)
    assert np.abs(bounded.coef_).max() > 0.0
    assert (bounded.coef_ >= -0.1).all()
    assert (bounded.coef_ <= 0.2).all()


def test_weights_are_repeated_rows():
    X, y = problem(3)
    times = np.random.default_rng(3).integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    weighted = ez.L0Classifier(multi_class="ovr_shared").fit(X, y, sample_weight=times)
    np.testing.assert_allclose(weighted.coef_, ez.L0Classifier(multi_class="ovr_shared").fit(X[rows], y[rows]).coef_, atol=1e-6)


@pytest.mark.parametrize("select", ["lambda_0", "size"])
def test_shared_supports_in_cross_validation(select):
    X, y = problem(1, n=120, p=12)
    model = ez.L0ClassifierCV(multi_class="ovr_shared", select=select, n_shrinkage=2, cv=3, max_support=6).fit(X, y)
    assert ((model.coef_ != 0.0) == (model.coef_[0] != 0.0)).all()
    assert model.k_ == len(model.support_) > 0
    for column in model.cv_results_.columns:
        for coef in column.coef:
            assert ((coef.toarray() != 0.0) == (coef.toarray()[0] != 0.0)).all()
