"""Fitted estimators: the models of the functions, labels and weights of every kind, proofs, probabilities, shared supports."""

from itertools import chain, combinations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.metrics import log_loss
from sklearn.utils.class_weight import compute_sample_weight
from support.problems import LOSSES, random_problem, target

import ellzero as ez

X, Y, W = random_problem(11, n=100, p=15)
LABELS = target(Y, "logistic")
THREE = np.digitize(Y, np.quantile(Y, [0.33, 0.67]))
SETTINGS = {"lambda_2": 1e-3, "standardize": True}


def estimator(loss, **settings):
    return ez.L0Regressor(**settings) if loss == "squared_error" else ez.L0Classifier(loss, **settings)


def value(model, X, y, loss, **settings):
    """The referee's word on a fitted estimator."""
    return ez.objective(X, y, np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]), loss=loss, **SETTINGS | settings)


# The models are those of the functions.


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("algorithm", ["cd", "local_search", "iht"])
def test_lambda_0_gives_the_model_of_a_path(loss, algorithm):
    y = target(Y, loss)
    model = estimator(loss, lambda_0=0.02, algorithm=algorithm).fit(X, y)
    path = ez.fit_path(X, y, loss=loss, lambda_0=0.02, algorithm=algorithm, **SETTINGS)
    np.testing.assert_array_equal(model.support_, path[0].support)
    np.testing.assert_allclose(np.ravel(model.coef_), path[0].coef, rtol=1e-3, atol=1e-5)
    assert model.objective_ <= path.objective[0] + 1e-12
    assert model.objective_ == pytest.approx(path.objective[0], rel=1e-5)
    assert model.objective_ == pytest.approx(value(model, X, y, loss, lambda_0=0.02), rel=1e-12)
    assert isinstance(model.path_, ez.Path)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("k", [0, 1, 4, 15, 40])
def test_k_gives_the_model_of_its_size(loss, k):
    y = target(Y, loss)
    model = estimator(loss, k=k).fit(X, y, sample_weight=W)
    sizes = ez.fit_sizes(X, y, range(min(k, 15) + 1), loss=loss, sample_weight=W, **SETTINGS)
    np.testing.assert_array_equal(model.support_, sizes.models[-1].support)
    np.testing.assert_allclose(np.ravel(model.coef_), sizes.models[-1].coef, rtol=1e-3, atol=1e-5)
    assert len(model.support_) <= k
    assert model.objective_ == pytest.approx(value(model, X, y, loss, sample_weight=W), rel=1e-12)
    assert model.objective_ <= sizes.objective[-1] + 1e-12
    assert isinstance(model.path_, ez.Sizes)


@pytest.mark.parametrize("loss", LOSSES)
def test_exact_gives_the_solution_of_solve(loss):
    y = target(Y, loss)
    for how in ({"k": 3}, {"lambda_0": 0.05}, {"k": 2, "lambda_0": 0.01}):
        model = estimator(loss, algorithm="exact", **how).fit(X, y)
        solution = ez.solve(X, y, loss=loss, **how, **SETTINGS)
        np.testing.assert_array_equal(model.support_, solution.support)
        assert model.objective_ == pytest.approx(solution.objective, rel=1e-4)
        assert model.solution_.status == "optimal"
        assert ez.verify(model.certificate_, X, y).valid


@pytest.mark.parametrize("seed", range(8))
def test_size_and_price_together(seed):
    """The minimum over sizes of G plus the price, against the enumeration of all supports."""
    rng = np.random.default_rng(seed)
    loss, p, k = LOSSES[seed % 4], 7, 1 + seed % 3
    Z = rng.standard_normal((50, p)) + 0.5 * rng.standard_normal((50, 1))
    y = target(Z[:, :4] @ [2.0, -1.0, 1.0, 0.5] + rng.standard_normal(50), loss)
    sizes = ez.fit_sizes(Z, y, range(p + 1), loss=loss, swaps="exhaustive", **SETTINGS).objective
    # Prices at which 0, k - 1 (or so) and all k features pay.
    for price in (sizes[0], 0.999 * (sizes[k - 1] - sizes[k]), 1.001 * (sizes[k - 1] - sizes[k]), 0.0):
        best = min(
            ez.solve(Z, y, loss=loss, unpenalized=list(support), k=0, gap=1e-9, **SETTINGS).objective + price * len(support)
            for support in chain.from_iterable(combinations(range(p), size) for size in range(k + 1))
        )
        found = estimator(loss, k=k, lambda_0=price).fit(Z, y)
        assert len(found.support_) <= k
        assert found.objective_ == pytest.approx(best, rel=1e-6)
        assert found.objective_ == pytest.approx(value(found, Z, y, loss, lambda_0=price), rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_bounds(loss):
    y = target(Y, loss)
    lower, upper = np.full(15, -0.1), np.full(15, np.inf)
    upper[:2] = 0.2
    model = estimator(loss, k=5, lower=lower, upper=upper).fit(X, y)
    assert len(model.support_) > 0
    assert (np.ravel(model.coef_) >= lower).all()
    assert (np.ravel(model.coef_) <= upper).all()
    assert estimator(loss, k=5, lower=0.0).fit(X, y).coef_.min() == 0.0
    free = estimator(loss, k=5).fit(X, y)
    assert np.ravel(free.coef_).min() < -0.1
    assert free.objective_ < model.objective_


@pytest.mark.parametrize("loss", LOSSES)
def test_unpenalized_features_stay_and_do_not_count(loss):
    y = target(Y, loss)
    model = estimator(loss, k=0, unpenalized=[9, 12]).fit(X, y)
    assert model.support_.tolist() == [9, 12]
    priced = estimator(loss, lambda_0=100.0, unpenalized=[9, 12]).fit(X, y)
    np.testing.assert_allclose(priced.coef_, model.coef_, atol=1e-7)
    exact = estimator(loss, k=2, unpenalized=[9, 12], algorithm="exact").fit(X, y)
    assert len(exact.support_) == 4


def test_degenerate_columns():
    one = ez.L0Classifier(k=1).fit(X[:, :1], LABELS)
    assert one.support_.tolist() == [0]
    constant = np.c_[np.ones(100), X[:, :2], np.full(100, 1e6), np.zeros(100)]
    for settings in ({"k": 5}, {"lambda_0": 0.0}, {}, {"algorithm": "exact", "k": 4}):
        model = ez.L0Classifier(**settings).fit(constant, LABELS)
        assert set(model.support_) <= {1, 2}
        assert np.isfinite(model.decision_function(constant)).all()
    nothing = ez.L0Classifier().fit(np.ones((100, 3)), LABELS)
    np.testing.assert_allclose(nothing.predict_proba(np.ones((1, 3))), [[0.5, 0.5]], atol=1e-9)
    twice = ez.L0Regressor(k=3).fit(np.c_[X, X], Y)
    assert len({j % 15 for j in twice.support_}) == 3
    assert ez.L0Regressor().fit(X, np.full(100, 3.0)).predict(X[:2]).tolist() == [3.0, 3.0]


def test_separable_classes_have_finite_models():
    y = X[:, 0] > 0
    for loss in LOSSES:
        model = ez.L0Classifier(loss, lambda_2=0.0).fit(X, y)
        assert np.isfinite(model.coef_).all()
        assert 0 in model.support_


# Labels and weights.


@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes"],
        np.array(["no", "yes"], dtype=object),
        [False, True],
        [-1, 1],
        [0, 1],
        [3, 17],
        [-1.0, 1.0],
        [0.0, 2.0],
        ["b", "a"],
        [1, -1],
        ["x", "y", "z"],
        [2, 0, 1],
        [10.0, 0.0, -10.0],
    ],
    ids=str,
)
@pytest.mark.parametrize("loss", LOSSES)
def test_labels_of_every_kind(labels, loss):
    """The model of -1 and +1, whatever the labels are called; the greater one is the positive class."""
    labels = np.asarray(labels)
    code = THREE if len(labels) == 3 else (LABELS > 0).astype(int)
    y = labels[code]
    model = ez.L0Classifier(loss, k=3).fit(X, y)
    assert model.classes_.tolist() == sorted(labels.tolist())
    assert model.predict(X).dtype.kind == y.dtype.kind
    assert model.score(X, y) > 0.5
    order = np.argsort(labels)
    if len(labels) == 2:
        plain = ez.L0Classifier(loss, k=3).fit(X, np.where(code == order[1], 1, -1))
        np.testing.assert_array_equal(model.coef_, plain.coef_)
        assert model.decision_function(X).shape == (100,)
    else:
        plain = ez.L0Classifier(loss, k=3).fit(X, np.argsort(order)[code])
        np.testing.assert_array_equal(model.coef_, plain.coef_)
        assert model.decision_function(X).shape == (100, 3)
        np.testing.assert_array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])


def test_several_classes_are_each_against_the_rest():
    model = ez.L0Classifier(k=3, multi_class="ovr").fit(X, THREE)
    assert model.coef_.shape == (3, 15)
    assert len(model.path_) == len(model.objective_) == 3
    for c in range(3):
        binary = ez.L0Classifier(k=3).fit(X, np.equal(THREE, c))
        np.testing.assert_allclose(model.coef_[c], binary.coef_[0], rtol=1e-9, atol=1e-12)
        assert model.intercept_[c] == pytest.approx(binary.intercept_[0])
        assert model.objective_[c] == pytest.approx(binary.objective_)
    share = expit(X @ model.coef_.T + model.intercept_)
    np.testing.assert_allclose(model.predict_proba(X), share / share.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    assert model.support_.tolist() == np.flatnonzero(model.coef_.any(axis=0)).tolist()


def test_a_class_that_weighs_next_to_nothing_cannot_be_balanced():
    weight = np.where(np.arange(len(X)) % 2, 1.0, 1e-322)
    with pytest.raises(ez.InvalidInputError, match="it weighs next to nothing"):
        ez.L0Classifier(class_weight="balanced").fit(X, np.arange(len(X)) % 2, sample_weight=weight)


@pytest.mark.parametrize("y", [LABELS, THREE], ids=["two classes", "three classes"])
@pytest.mark.parametrize("make", [ez.L0Classifier, ez.L0ClassifierCV])
def test_balanced_classes_are_weights(y, make):
    rows = np.flatnonzero(np.arange(100) % 3 | (y == y.min()))  # unequal classes
    settings = {"n_shrinkage": 2} if make is ez.L0ClassifierCV else {}
    balanced = make(class_weight="balanced", **settings).fit(X[rows], y[rows])
    weights = compute_sample_weight("balanced", y[rows])
    np.testing.assert_allclose(balanced.coef_, make(**settings).fit(X[rows], y[rows], sample_weight=weights).coef_, atol=1e-9)
    given = make(class_weight=dict(zip(y[rows].tolist(), weights.tolist(), strict=True)), **settings).fit(X[rows], y[rows])
    np.testing.assert_allclose(given.coef_, balanced.coef_, atol=1e-9)
    assert np.abs(make(**settings).fit(X[rows], y[rows]).coef_ - balanced.coef_).max() > 1e-3


@pytest.mark.parametrize("criterion", ["aic", "bic", "ebic"])
@pytest.mark.parametrize("loss", LOSSES)
def test_weights_are_repeated_rows(loss, criterion):
    y = target(Y, loss)
    times = np.random.default_rng(5).integers(0, 4, 100)
    repeated = np.repeat(np.arange(100), times)
    weighted = estimator(loss, criterion=criterion).fit(X, y, sample_weight=times)
    plain = estimator(loss, criterion=criterion).fit(X[repeated], y[repeated])
    np.testing.assert_array_equal(weighted.support_, plain.support_)
    np.testing.assert_allclose(weighted.coef_, plain.coef_, rtol=1e-4, atol=1e-6)
    assert weighted.criterion_ == pytest.approx(plain.criterion_, rel=1e-5)


def test_a_class_without_weight_is_no_class():
    weight = np.where(THREE == 1, 0.0, 1.0)
    model = ez.L0Classifier(k=2).fit(X, THREE, sample_weight=weight)
    assert model.classes_.tolist() == [0, 2]
    two = THREE != 1
    np.testing.assert_allclose(model.coef_, ez.L0Classifier(k=2).fit(X[two], THREE[two]).coef_, atol=1e-9)
    with pytest.raises(ez.InvalidInputError, match="y must have at least two classes, got 1 class"):
        ez.L0Classifier().fit(X, LABELS, sample_weight=LABELS > 0)


@pytest.mark.parametrize("y", [LABELS, THREE, Y], ids=["two classes", "three classes", "regression"])
def test_sparsify_and_densify(y):
    model = (ez.L0Regressor if y is Y else ez.L0Classifier)(k=3).fit(X, y)
    coef, predictions = model.coef_.copy(), model.predict(X)
    assert model.sparsify() is model
    assert sparse.issparse(model.coef_)
    np.testing.assert_array_equal(model.predict(X), predictions)
    from_sparse = model.predict(sparse.csr_matrix(X))
    np.testing.assert_array_equal(model.sparsify().densify().coef_, coef)
    assert model.densify().coef_.shape == coef.shape
    np.testing.assert_allclose(from_sparse, predictions, rtol=1e-12)


def test_attributes_of_an_earlier_fit_are_gone():
    model = ez.L0Classifier("hinge", k=2, algorithm="exact", probability=True).fit(X, LABELS)
    assert {"certificate_", "solution_", "calibration_"} <= set(vars(model))
    model.set_params(algorithm="cd", probability=False).fit(X, LABELS)
    assert not {"certificate_", "solution_", "calibration_"} & set(vars(model))
    model.set_params(k=None).fit(X, LABELS)
    assert hasattr(model, "criterion_")
    assert not hasattr(model.set_params(k=1).fit(X, LABELS), "criterion_")


@pytest.mark.parametrize("y", [LABELS, THREE], ids=["two classes", "three classes"])
def test_progress_reaches_the_end(y):
    seen = []
    ez.L0Classifier(progress=lambda *report: seen.append(report[0])).fit(X, y)
    assert seen[-1] == 1.0


@pytest.mark.parametrize("make", [ez.L0Classifier(), ez.L0Classifier(k=4), ez.L0Regressor(), ez.L0Classifier("hinge", k=3)])
def test_threads_do_not_matter(make):
    y = Y if isinstance(make, ez.L0Regressor) else LABELS
    one, two = (make.set_params(n_jobs=n_jobs).fit(X, y).coef_.copy() for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_a_warning_where_the_limit_may_have_decided():
    with pytest.warns(UserWarning, match="max_support = 1 features: larger ones may be better"):
        ez.L0Classifier(max_support=1).fit(X, LABELS)


# Proofs.


def test_a_certificate_of_string_labels():
    y = np.where(LABELS > 0, "yes", "no")
    model = ez.L0Classifier(k=3, algorithm="exact").fit(X, y)
    report = ez.verify(model.certificate_, X, y)
    assert report.valid
    assert report.gap <= 1e-4
    assert not ez.verify(model.certificate_, X, np.roll(y, 1)).valid
    np.testing.assert_array_equal(model.solution_.coef, model.coef_[0])


def test_a_certificate_for_each_class():
    y = np.array(["ash", "elm", "oak"])[THREE]
    model = ez.L0Classifier("squared_hinge", k=2, algorithm="exact", multi_class="ovr").fit(X, y)
    for c, certificate in enumerate(model.certificate_):
        assert ez.verify(certificate, X, y == model.classes_[c]).valid
        assert not ez.verify(certificate, X, y == model.classes_[c - 1]).valid
        np.testing.assert_array_equal(model.solution_[c].coef, model.coef_[c])


def test_a_certificate_of_a_regression_with_weights():
    model = ez.L0Regressor(k=3, algorithm="exact", unpenalized=[9]).fit(X, Y, sample_weight=W)
    assert ez.verify(model.certificate_, X, Y).valid  # the weights are in it
    assert model.n_iter_ >= 1


def test_limits_of_the_search():
    rng = np.random.default_rng(0)
    Z, y = rng.standard_normal((200, 200)), rng.integers(0, 2, 200)
    model = ez.L0Classifier(k=20, algorithm="exact", time_limit=0.0).fit(Z, y)
    assert model.solution_.status == "time_limit"
    assert len(model.support_) <= 20
    assumed = ez.L0Classifier(k=2, algorithm="exact", bound="heuristic", lambda_2=0.0).fit(X, LABELS)
    assert assumed.certificate_.conditional


# Probabilities.


@pytest.mark.parametrize("loss", LOSSES)
def test_probabilities_are_there_when_asked_for(loss):
    plain, scaled = ez.L0Classifier(loss, k=3), ez.L0Classifier(loss, k=3, probability=True)
    assert hasattr(plain, "predict_proba") == hasattr(plain, "predict_log_proba") == (loss == "logistic")
    assert hasattr(scaled, "predict_proba")
    if loss != "logistic":
        with pytest.raises(AttributeError, match=r"predict_proba .* use loss='logistic', or probability=True"):
            plain.fit(X, LABELS).predict_proba(X)
    proba = scaled.fit(X, LABELS).predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    order = np.argsort(scaled.decision_function(X))
    assert (np.diff(proba[order, 1]) >= 0.0).all()
    np.testing.assert_array_equal(plain.fit(X, LABELS).coef_, scaled.coef_)
    several = ez.L0Classifier(loss, k=3, probability=True).fit(X, THREE).predict_proba(X)
    np.testing.assert_allclose(several.sum(axis=1), 1.0)
    assert (several >= 0.0).all()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "squared_error"])
def test_probabilities_are_calibrated(loss, seed):
    """On new rows they beat the decision values taken as log-odds, and the rate of the classes."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((1200, 8))
    y = rng.random(1200) < expit(4.0 * Z[:, 0] - 2.0 * Z[:, 1] - 1.0)
    model = ez.L0Classifier(loss, k=2, probability=True, random_state=seed).fit(Z[:400], y[:400])
    naive = log_loss(y[400:], expit(model.decision_function(Z[400:])))
    rate = log_loss(y[400:], np.full(800, y[:400].mean()))
    assert log_loss(y[400:], model.predict_proba(Z[400:])) < min(naive, rate)


def test_probabilities_depend_on_the_seed_only():
    first, again, other = (
        ez.L0Classifier("hinge", k=3, probability=True, random_state=seed).fit(X, LABELS).calibration_ for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.0
    threads = ez.L0Classifier("hinge", k=3, probability=True, n_jobs=2).fit(X, LABELS)
    np.testing.assert_array_equal(first, threads.calibration_)


def test_probabilities_of_rare_classes():
    y = np.zeros(100, dtype=int)
    y[:3] = 1
    proba = ez.L0Classifier("hinge", k=1, probability=True).fit(X, y).predict_proba(X)
    assert 0.0 < proba[:, 1].mean() < 0.2
    y[:2] = 0
    with pytest.raises(ez.InvalidInputError, match="probability=True needs at least two rows of each class"):
        ez.L0Classifier("hinge", probability=True).fit(X, y)


def test_an_estimator_without_probabilities_says_what_to_use():
    X, y, _ = ez.datasets.make_classification(100, 10, 2, s=3.0, random_state=0)
    model = ez.L0Classifier("hinge", k=2).fit(X, y)
    assert not hasattr(model, "predict_proba")
    for method in ("predict_proba", "predict_log_proba"):
        with pytest.raises(AttributeError, match=f"{method} needs .* use loss='logistic', or probability=True"):
            getattr(model, method)
    assert hasattr(ez.L0Classifier("hinge", probability=True), "predict_proba")
    assert "Return the probabilities" in ez.L0Classifier.predict_proba.__doc__
