"""Information criteria against their formulas, with scikit-learn's maximum-likelihood fits."""

from math import comb, log

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from support.problems import LOSSES, random_problem, target

import ellzero as ez
from ellzero.estimators.model_choice import CRITERIA, information_criterion
from ellzero.problem.making import make_problem

X, Y, W = random_problem(31, n=120, p=10)
LABELS = target(Y, "logistic")


def penalty(criterion, n, p, size, coefficients):
    """What is added to the deviance."""
    if criterion == "aic":
        return 2.0 * coefficients
    if criterion == "gic":
        return log(log(n)) * log(p) * coefficients
    return log(n) * coefficients + (2.0 * log(comb(p, size)) if criterion == "ebic" else 0.0)


def likelihood_fit(loss, support, weight):
    """Minus twice the log-likelihood (n log of the residual variance for a regression) of the fit on some columns."""
    Z = X[:, support]
    if loss == "squared_error":
        Z = np.c_[Z, np.zeros(120)]  # scikit-learn asks for at least one column
        residual = Y - LinearRegression().fit(Z, Y, sample_weight=weight).predict(Z)
        return weight.sum() * log(np.average(residual**2, weights=weight))
    if len(support):
        proba = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(Z, LABELS, sample_weight=weight).predict_proba(Z)
    else:
        rate = np.average(LABELS > 0, weights=weight)
        proba = np.tile([1.0 - rate, rate], (len(LABELS), 1))
    return -2.0 * weight @ np.log(proba[np.arange(len(LABELS)), (LABELS > 0).astype(int)])


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("loss", ["logistic", "squared_error"])
@pytest.mark.parametrize("weighted", [False, True])
def test_formulas(criterion, loss, weighted):
    """On the models that an estimator looked at, unpenalised but for their number of features."""
    y = target(Y, loss)
    weight = np.random.default_rng(0).integers(1, 4, 120).astype(float) if weighted else np.ones(120)
    make = ez.L0Regressor if loss == "squared_error" else ez.L0Classifier
    model = make(criterion=criterion, lambda_2=0.0).fit(X, y, sample_weight=weight)
    n = weight.sum()
    by_hand = {
        size: likelihood_fit(loss, found.support, weight) + penalty(criterion, n, 10, size, size + 1)
        for size, found in model.path_.sized.items()
    }
    assert len(by_hand) > 5
    assert model.criterion_ == pytest.approx(min(by_hand.values()), rel=1e-5)
    assert len(model.support_) == min(by_hand, key=by_hand.get)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("loss", LOSSES)
def test_all_losses_settings_and_sizes(criterion, loss):
    """Without an intercept, with free features, for models that are no optima at all."""
    y = target(Y, loss)
    problem = make_problem(X, y, loss=loss, fit_intercept=False, unpenalized=[0, 1], lambda_2=0.1, sample_weight=W)
    model = ez.fit_sizes(X, y, 3, loss=loss, fit_intercept=False, unpenalized=[0, 1], lambda_2=0.1, sample_weight=W).models[0]
    assert len(model.support) == 5
    eta, w = X @ model.coef, W / W.sum()
    margin = y * eta
    losses = {
        "logistic": np.log1p(np.exp(-margin)),
        "hinge": np.maximum(0.0, 1.0 - margin),
        "squared_hinge": np.maximum(0.0, 1.0 - margin) ** 2,
    }
    deviance = 250.0 * log(w @ (y - eta) ** 2) if loss == "squared_error" else 500.0 * w @ losses[loss]
    expected = deviance + penalty(criterion, 250.0, 8, 3, 5)  # 8 features could pay, 3 do, 5 have coefficients
    assert information_criterion(criterion, problem, model, 250.0) == pytest.approx(expected, rel=1e-9)


def test_larger_criteria_ask_for_smaller_models():
    for make, y in ((ez.L0Classifier, LABELS), (ez.L0Regressor, Y)):
        sizes = [len(make(criterion=criterion).fit(X, y).support_) for criterion in CRITERIA]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[-1] > 0


@pytest.mark.parametrize("seed", range(3))
def test_extended_bic_finds_the_truth(seed):
    """Many useless features: BIC lets some of them in, extended BIC none."""
    Z, y, truth = ez.datasets.make_classification(400, 1000, 4, s=3.0, random_state=seed)
    assert ez.L0Classifier().fit(Z, y).support_.tolist() == np.flatnonzero(truth).tolist()
    assert len(ez.L0Classifier(criterion="bic").fit(Z, y).support_) >= 4
    rng = np.random.default_rng(seed)
    numbers = Z @ truth + rng.standard_normal(400)
    assert ez.L0Regressor().fit(Z, numbers).support_.tolist() == np.flatnonzero(truth).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_extended_bic_keeps_noise_out(seed):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((200, 500))
    assert ez.L0Classifier().fit(Z, rng.integers(0, 2, 200)).support_.size == 0
    assert ez.L0Regressor().fit(Z, rng.standard_normal(200)).support_.size == 0


def test_perfect_fits_are_finite():
    exact = ez.L0Regressor(lambda_2=0.0).fit(X, X[:, 2] - X[:, 5])
    assert exact.support_.tolist() == [2, 5]
    assert np.isfinite(exact.criterion_)
    constant = ez.L0Regressor().fit(X, np.zeros(120))
    assert constant.support_.size == 0
    assert np.isfinite(constant.criterion_)


def test_several_classes_add_up():
    three = np.digitize(Y, np.quantile(Y, [0.33, 0.67]))
    apart = ez.L0Classifier(multi_class="ovr").fit(X, three)
    assert apart.criterion_ == pytest.approx(sum(ez.L0Classifier().fit(X, three == c).criterion_ for c in range(3)))


@pytest.mark.parametrize("criterion", ["aic", "bic", "ebic"])
def test_coefficients_of_several_outputs(criterion):
    """A column has a coefficient for each output, one less if multinomial; the number of models is that of features."""
    three = np.digitize(Y, np.quantile(Y, [0.33, 0.67]))
    n, p = X.shape
    for multi_class, each in (("multinomial", 2), ("ovr_shared", 3)):
        model = ez.L0Classifier(criterion=criterion, multi_class=multi_class, lambda_2=0.01).fit(X, three)
        loss, y = ("multinomial", three) if each == 2 else ("logistic", three[:, None] == np.arange(3))
        deviance = 2.0 * n * ez.objective(X, y, model.coef_, model.intercept_, loss=loss)
        size = len(model.support_)
        expected = deviance + (2.0 if criterion == "aic" else np.log(n)) * each * (size + 1)
        if criterion == "ebic":
            expected += 2.0 * np.log(comb(p, size))
        assert model.criterion_ == pytest.approx(expected, rel=1e-6)
    targets = np.column_stack([Y, X[:, 3] - 2.0 * Y])
    model = ez.L0Regressor(criterion=criterion).fit(X, targets)
    variance = ((targets - model.predict(X)) ** 2).mean(axis=0)
    size = len(model.support_)
    expected = n * np.log(variance).sum() + (2.0 if criterion == "aic" else np.log(n)) * 2 * (size + 1)
    expected += 2.0 * np.log(comb(p, size)) if criterion == "ebic" else 0.0
    assert model.criterion_ == pytest.approx(expected, rel=1e-4)


def test_max_support_is_the_largest_size():
    with pytest.warns(UserWarning, match="max_support = 2"):
        small = ez.L0Classifier(criterion="aic", max_support=2).fit(X, LABELS)
    assert len(small.support_) == 2
    with pytest.warns(UserWarning, match="max_support = 0"):
        assert ez.L0Classifier(max_support=0, unpenalized=[3]).fit(X, LABELS).support_.tolist() == [3]


@pytest.mark.parametrize("criterion", ["ebic", "gic"])
def test_columns_that_were_screened_with_the_response_count(criterion):
    """Of 3,000 columns of noise the ten best look good; the criterion knows how many there were."""
    rng = np.random.default_rng(0)
    noise, y = rng.standard_normal((100, 3000)), rng.standard_normal(100)
    best = np.argsort(-abs(noise.T @ y))[:10]
    assert len(ez.L0Regressor(criterion=criterion).fit(noise[:, best], y).support_) > 0
    assert len(ez.L0Regressor(criterion=criterion, n_candidates=3000).fit(noise[:, best], y).support_) == 0
    with pytest.raises(ez.InvalidInputError, match="n_candidates must be an integer of at least 1"):
        ez.L0Regressor(n_candidates=0).fit(noise[:, best], y)
