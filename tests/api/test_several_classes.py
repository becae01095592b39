"""More than two classes: softmax, one against the rest, on shared features or not; and several targets of a regression."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.preprocessing import StandardScaler

import ellzero as ez
from ellzero.report.page import write_report

pytestmark = pytest.mark.filterwarnings("ignore::ellzero.FragileModelWarning")
SHARED = ("multinomial", "ovr_shared")
WAYS = (*SHARED, "ovr")


def problem(seed, n=150, p=12, classes=3):
    """Correlated columns of unequal scales, classes with names."""
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((n, p)) + 0.6 * rng.standard_normal((n, 1))) * rng.uniform(0.5, 5.0, p)
    coef = rng.standard_normal((p, classes)) * (np.arange(p)[:, None] % 4 == 0)
    scores = 2.0 * X / X.std(axis=0) @ coef + rng.gumbel(size=(n, classes))
    return X, np.array(["ash", "birch", "cedar", "date", "elm"])[scores.argmax(axis=1)]


def targets(seed, n=120, p=15):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 0.5 * rng.standard_normal((n, 1))
    coef = rng.standard_normal((p, 3)) * (np.arange(p)[:, None] % 5 == 1)
    return X, X @ coef + 0.3 * rng.standard_normal((n, 3)) + np.array([5.0, 0.0, -100.0])


# One model of all classes.


@pytest.mark.parametrize("classes", [3, 5])
def test_a_multinomial_model_is_that_of_scikit_learn_on_its_features(classes):
    X, y = problem(classes, classes=classes)
    model = ez.L0Classifier(k=3, lambda_2=0.01, multi_class="multinomial").fit(X, y)
    assert model.multi_class_ == "multinomial"
    assert model.coef_.shape == (classes, X.shape[1])
    assert model.intercept_.shape == (classes,)
    assert len(model.support_) == 3
    assert (model.coef_[:, model.support_] != 0.0).all()
    Z = StandardScaler().fit_transform(X[:, model.support_])
    peer = LogisticRegression(C=1.0 / (2.0 * 0.01 * len(y)), tol=1e-10, max_iter=10_000).fit(Z, y)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(Z), atol=1e-5)
    scores = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), softmax(scores, axis=1), atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-6)


@pytest.mark.parametrize("multi_class", SHARED)
def test_estimators_solve_the_problem_of_the_functions(multi_class):
    X, y = problem(7)
    model = ez.L0Classifier(k=3, lambda_2=0.01, multi_class=multi_class).fit(X, y)
    target, loss = (y, "multinomial") if multi_class == "multinomial" else (y[:, None] == model.classes_, "logistic")
    settings = {"loss": loss, "lambda_2": 0.01, "standardize": True}
    found = ez.fit_sizes(X, target, range(4), **settings)
    assert model.support_.tolist() == found[3].support.tolist()
    assert model.objective_ == pytest.approx(found.objective[-1], rel=1e-6)
    assert ez.objective(X, target, model, lambda_2=0.01, standardize=True, loss=loss) == pytest.approx(model.objective_)
    priced = ez.L0Classifier(lambda_0=0.02, lambda_2=0.01, multi_class=multi_class).fit(X, y)
    assert ez.check_stationarity(X, target, priced, lambda_0=0.02, **settings)
    assert isinstance(model.path_, ez.Sizes)
    if multi_class == "ovr_shared":
        share = expit(model.decision_function(X))
        np.testing.assert_allclose(model.predict_proba(X), share / share.sum(axis=1, keepdims=True))


def test_two_classes_of_softmax_are_logistic_with_half_the_ridge():
    X, y = problem(3, classes=2)
    settings = {"lambda_0": 0.02, "standardize": True}
    pair = ez.fit_path(X, y, loss="multinomial", lambda_2=0.02, **settings)
    one = ez.fit_path(X, y, loss="logistic", lambda_2=0.01, **settings)
    np.testing.assert_allclose(pair[0].coef[1] - pair[0].coef[0], one[0].coef, rtol=1e-4, atol=1e-8)
    assert pair[0].intercept[1] - pair[0].intercept[0] == pytest.approx(one[0].intercept, rel=1e-4, abs=1e-8)
    assert pair.objective[0] == pytest.approx(one.objective[0], rel=1e-7)
    np.testing.assert_allclose(pair[0].predict_proba(X), one[0].predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("classes", [3, 4])
@pytest.mark.parametrize("settings", [{}, {"lower": -0.7, "upper": 0.9}, {"lambda_2": 1e-9}], ids=["alone", "bounds", "ridge"])
def test_lasso_without_a_ridge_converges(settings, classes):
    """All classes of a column may be raised alike: only lambda_1 has a say in that, and it is the softmax loss that is flat."""
    rng = np.random.default_rng(1)
    X, y = rng.random((20, 6)), rng.integers(0, classes, 20)
    always = list(range(6))
    for lambda_1 in (0.02, 0.005, 1e-3, 1e-4):
        problem = {"loss": "multinomial", "lambda_1": lambda_1, "standardize": True, "unpenalized": always, **settings}
        path = ez.fit_path(X, y, lambda_0=0.0, tol=1e-10, **problem)
        assert path.converged[0]
        assert ez.check_stationarity(X, y, path[0], lambda_0=0.0, **problem).decrease <= 1e-8 * path.objective[0]
        if not settings and classes == 3:
            assert np.median(path[0].coef, axis=0) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("multi_class", [*WAYS, "auto"])
@pytest.mark.parametrize("kind", [ez.L0Classifier, ez.L0ClassifierCV])
def test_two_classes_are_as_they_were(kind, multi_class):
    X, y = problem(4, classes=2)
    plain, chosen = kind().fit(X, y), kind(multi_class=multi_class).fit(X, y)
    np.testing.assert_array_equal(plain.coef_, chosen.coef_)
    assert chosen.multi_class_ is None
    assert chosen.coef_.shape == (1, X.shape[1])


@pytest.mark.parametrize("multi_class", WAYS)
def test_permuted_classes_and_columns_give_the_permuted_model(multi_class):
    X, y = problem(5, classes=4)
    rng = np.random.default_rng(0)
    columns, names = rng.permutation(X.shape[1]), rng.permutation(np.unique(y))
    other = names[np.searchsorted(np.unique(y), y)]
    model = ez.L0Classifier(k=3, lambda_2=0.01, multi_class=multi_class).fit(X, y)
    moved = ez.L0Classifier(k=3, lambda_2=0.01, multi_class=multi_class).fit(X[:, columns], other)
    rows = np.searchsorted(moved.classes_, names)  # the place of each of the classes
    np.testing.assert_allclose(moved.coef_[rows], model.coef_[:, columns], rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(moved.intercept_[rows], model.intercept_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("multi_class", WAYS)
def test_weights_are_repeated_rows(multi_class):
    X, y = problem(6)
    times = np.random.default_rng(6).integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    for settings in ({"k": 3}, {"criterion": "bic"}):
        weighted = ez.L0Classifier(multi_class=multi_class, **settings).fit(X, y, sample_weight=times)
        repeated = ez.L0Classifier(multi_class=multi_class, **settings).fit(X[rows], y[rows])
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("multi_class", WAYS)
def test_balanced_classes(multi_class):
    X, y = problem(8)
    labels, rows = np.unique(y, return_counts=True)
    weight = (len(y) / (3 * rows))[np.searchsorted(labels, y)]
    balanced = ez.L0Classifier(k=3, multi_class=multi_class, class_weight="balanced").fit(X, y)
    weighted = ez.L0Classifier(k=3, multi_class=multi_class).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(balanced.coef_, weighted.coef_, rtol=1e-4, atol=1e-7)
    if multi_class == "multinomial":  # the intercepts see to it: each class has a third of the probability
        shares = (balanced.predict_proba(X) * weight[:, None]).sum(axis=0) / weight.sum()
        np.testing.assert_allclose(shares, 1.0 / 3.0, atol=1e-6)


@pytest.mark.parametrize("multi_class", SHARED)
def test_constraints_and_prices(multi_class):
    X, y = problem(9)
    p = X.shape[1]
    bounded = ez.L0Classifier(k=4, multi_class=multi_class, lower=-0.2, upper=0.3).fit(X, y)
    assert bounded.coef_.min() >= -0.2
    assert bounded.coef_.max() <= 0.3
    assert bounded.coef_.any()
    always = ez.L0Classifier(k=2, multi_class=multi_class, unpenalized=[7]).fit(X, y)
    assert 7 in always.support_
    assert len(always.support_) == 3
    groups = np.arange(p) // 3
    grouped = ez.L0Classifier(k=2, multi_class=multi_class, groups=groups).fit(X, y)
    assert len(np.unique(groups[grouped.support_])) == 2
    assert len(grouped.support_) == 6
    cost = np.random.default_rng(9).uniform(0.5, 2.0, p)
    dear = ez.L0Classifier(budget=3.0, multi_class=multi_class, feature_cost=cost).fit(X, y)
    assert dear.spent_ == pytest.approx(cost[dear.support_].sum())
    assert 0.0 < dear.spent_ <= 3.0
    for settings in ({"standardize": False}, {"fit_intercept": False}, {"lambda_1": 0.01}):
        model = ez.L0Classifier(lambda_0=0.02, multi_class=multi_class, **settings).fit(X, y)
        assert model.score(X, y) > 0.6
        assert settings.get("fit_intercept", True) or not model.intercept_.any()


@pytest.mark.parametrize("multi_class", SHARED)
def test_proved_models(multi_class):
    X, y = problem(12, p=8)
    model = ez.L0Classifier(k=2, lambda_2=0.05, multi_class=multi_class, algorithm="exact").fit(X, y)
    assert model.solution_.status == "optimal"
    assert model.solution_.lower_bound <= model.objective_ * (1.0 + 1e-9)
    found = ez.L0Classifier(k=2, lambda_2=0.05, multi_class=multi_class).fit(X, y)
    assert model.objective_ <= found.objective_ * (1.0 + 1e-7)
    np.testing.assert_allclose(model.solution_.coef, model.coef_)


def test_losses_without_probabilities():
    X, y = problem(13)
    for loss in ("squared_hinge", "squared_error"):
        assert ez.L0Classifier(loss, k=3).fit(X, y).multi_class_ == "ovr_shared"  # what "auto" means for them
        for multi_class in ("ovr_shared", "ovr"):
            model = ez.L0Classifier(loss, k=3, multi_class=multi_class, probability=True).fit(X, y)
            assert model.calibration_.shape == (3, 2)
            share = model.predict_proba(X)
            np.testing.assert_allclose(share.sum(axis=1), 1.0)
            assert log_loss(y, share) < 0.8
        assert not hasattr(ez.L0Classifier(loss, k=3).fit(X, y), "predict_proba")


def test_settings_that_contradict_each_other():
    X, y = problem(14)
    for kind in (ez.L0Classifier, ez.L0ClassifierCV):
        with pytest.raises(ez.InvalidInputError, match="multi_class='multinomial' is for loss='logistic', got loss='hinge'"):
            kind("hinge", multi_class="multinomial").fit(X, y)
        with pytest.raises(ez.InvalidInputError, match="multi_class must be one of 'auto', 'multinomial', 'ovr', 'ovr_shared'"):
            kind(multi_class="softmax").fit(X, y)
        sentence = "loss='multinomial' is loss='logistic' with multi_class='multinomial' in an estimator"
        with pytest.raises(ez.InvalidInputError, match=sentence):
            kind("multinomial").fit(X, y)
        with pytest.raises(ez.InvalidInputError, match="y must have at least two classes, got 1 class"):
            kind().fit(X, np.full(len(y), "ash"))
        with pytest.raises(ez.InvalidInputError, match="pos_label is for two classes, y has 3"):
            kind(pos_label="ash").fit(X, y)


def test_a_class_with_one_row():
    X, y = problem(16)
    y = np.where(np.arange(len(y)) == 5, "zelkova", y)
    for multi_class in WAYS:
        model = ez.L0Classifier(k=3, lambda_2=0.01, multi_class=multi_class).fit(X, y)
        assert model.predict_proba(X).shape == (len(y), 4)
        assert np.isfinite(model.coef_).all()
        with pytest.raises(ez.InvalidInputError, match="cv needs at least two rows of each class, y has one of class zelkova"):
            ez.L0ClassifierCV(multi_class=multi_class).fit(X, y)


# Folds.


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "squared_error"])
@pytest.mark.parametrize("multi_class", WAYS)
def test_a_fold_that_lacks_a_class(multi_class, loss):
    """Its probability is zero there; rows of it are not counted by the loss, whatever model is compared."""
    if loss != "logistic" and multi_class == "multinomial":
        pytest.skip("for the logistic loss")
    X, y = problem(17, n=160, classes=4)
    lacking = y == "cedar"
    first = np.flatnonzero(~lacking)[:80]
    rest = np.setdiff1d(np.arange(len(y)), first)
    splits = [(first, rest), (rest, first)]
    settings = {"cv": splits, "shrinkage": [1e-2], "lambda_0": [0.1, 0.05, 0.02], "keep_predictions": True}
    model = ez.L0ClassifierCV(loss, multi_class=multi_class, **settings).fit(X, y)
    column = model.cv_results_.columns[0]
    place = model.classes_.tolist().index("cedar")
    assert np.isneginf(column.decision[rest][:, :, place]).all()
    assert np.isfinite(np.delete(column.decision, place, axis=2)).all()
    assert np.isfinite(column.decision[first]).all()
    assert np.isfinite(column.scores).all()
    if loss == "logistic":
        known = np.setdiff1d(rest, np.flatnonzero(lacking))
        decision = column.decision[known, 1]
        if multi_class == "multinomial":
            expected = -log_loss(y[known], softmax(decision, axis=1), labels=model.classes_)
        else:
            signs = np.where(y[known, None] == model.classes_, 1.0, -1.0)
            expected = -np.delete(np.logaddexp(0.0, -signs * decision), place, axis=1).mean()
        assert column.scores[1, 0] == pytest.approx(expected)
        scored = ez.L0ClassifierCV(loss, multi_class=multi_class, scoring="accuracy", **settings).fit(X, y)
        predicted = scored.classes_[scored.cv_results_.columns[0].decision[rest, 1].argmax(axis=1)]
        assert scored.cv_results_.columns[0].scores[1, 0] == pytest.approx((predicted == y[rest]).mean())
        assert "cedar" not in predicted


@pytest.mark.parametrize("multi_class", WAYS)
def test_groups_of_rows_as_folds(multi_class):
    """A splitter that knows nothing of classes."""
    X, y = problem(18)
    group = np.where(y == "ash", 0, np.arange(len(y)) % 4)
    model = ez.L0ClassifierCV(cv=GroupKFold(4), shrinkage=[1e-2], max_support=4, multi_class=multi_class)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(X, y, groups=group)
    assert np.isfinite(model.best_score_)


@pytest.mark.parametrize("select", ["lambda_0", "size"])
@pytest.mark.parametrize("multi_class", SHARED)
def test_cross_validation_counts_shared_features_once(multi_class, select):
    X, y = problem(19)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = ez.L0ClassifierCV(multi_class=multi_class, select=select, max_support=5, shrinkage=[1e-2, 1e-3], cv=3).fit(X, y)
    assert model.k_ == len(model.support_) == model.choice_.model.size
    column = model.cv_results_.chosen
    for coef, size in zip(column.coef, column.size, strict=True):
        assert coef.shape == (3, X.shape[1])
        assert len(np.unique(coef.indices)) == size
    assert column.intercept.shape == (len(column.size), 3)
    name = "multinomial" if multi_class == "multinomial" else "logistic"
    assert f"its held-out {name} loss" in model.choice_.why
    assert "per class" not in str(model.cv_results_)
    assert model.cv_results_.to_frame().shape[0] == sum(len(one.size) for one in model.cv_results_.columns)


# What else knows them.


@pytest.mark.parametrize("multi_class", WAYS)
def test_copies(multi_class):
    X, y = problem(20)
    model = ez.L0Classifier(k=3, multi_class=multi_class).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert clone(model).multi_class == multi_class
    two = model.fit(X, y == "ash")  # with two classes nothing is left of the others
    assert two.multi_class_ is None
    assert two.coef_.shape == (1, X.shape[1])


@pytest.mark.parametrize("multi_class", SHARED)
def test_shared_features_are_one_table(multi_class, tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = ez.L0Classifier(k=2, multi_class=multi_class).fit(X, names)
    lines = str(model).splitlines()
    assert lines[1].split() == ["setosa", "versicolor", "virginica"]
    assert len(lines) == 5
    assert [float(cell) for cell in lines[-1].split()[1:]] == pytest.approx(model.intercept_, rel=1e-5)
    assert model._repr_html_inner().count("<table") >= 1
    frame = model.to_frame()
    assert frame["class"].drop_duplicates().tolist() == ["setosa", "versicolor", "virginica"]
    assert len(frame) == 9
    words = str(model.summary())
    assert ("against the rest" in words) == (multi_class == "ovr_shared")
    assert ("the odds of one class against another" in words) == (multi_class == "multinomial")
    model.save(tmp_path / "model.json")
    assert str(ez.load(tmp_path / "model.json")) == str(model)


def test_models_of_paths_are_saved_as_estimators(tmp_path):
    X, y = problem(21)
    model = ez.fit_path(X, y, loss="multinomial", lambda_2=0.01, max_support=3)[-1]
    model.save(tmp_path / "three.json")
    loaded = ez.load(tmp_path / "three.json")
    np.testing.assert_allclose(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.multi_class_ == "multinomial"
    two = ez.fit_path(X, y == "ash", loss="multinomial", lambda_2=0.01, max_support=3)[-1]
    two.save(tmp_path / "two.json")
    loaded = ez.load(tmp_path / "two.json")
    assert loaded.loss == "logistic"
    np.testing.assert_allclose(loaded.predict_proba(X), two.predict_proba(X), atol=1e-12)
    labels = ez.fit_path(X, y[:, None] == np.unique(y), lambda_2=0.01, max_support=3)[-1]
    with pytest.raises(ez.InvalidInputError, match="several targets with classes cannot be saved: save the estimator"):
        labels.save(tmp_path / "labels.json")


def test_selection_of_features():
    X, y = problem(22)
    for loss, way in (("logistic", "multinomial"), ("squared_hinge", "ovr_shared")):
        selector = ez.L0Selector(k=3, loss=loss).fit(X, y)
        assert selector.estimator_.multi_class_ == way
        assert selector.transform(X).shape == (len(y), 3)
    found = ez.stability_selection(X, y, k=3, loss="multinomial", n_subsamples=10)
    assert (found.frequency > 0.5).sum() >= 2
    with pytest.raises(ez.InvalidInputError, match="inference measures one output: y has 3 classes"):
        ez.inference(X, y)
    with pytest.raises(ez.InvalidInputError, match="inference measures one output: take a column of y, which has 2"):
        ez.inference(X, X[:, :2], loss="squared_error")


def test_pictures_of_several_outputs():
    pytest.importorskip("matplotlib").use("Agg")
    X, y = problem(23)
    path = ez.fit_path(X, y, loss="multinomial", lambda_2=0.01, max_support=4)
    ax = path.plot()
    used = np.unique(path.coef.indices)
    heights = np.concatenate([line.get_ydata() for line in ax.get_lines()])
    assert len(ax.get_lines()) == len(used) + 1  # and the axis
    assert heights.max() == pytest.approx(np.abs(path.coef.toarray() * X.std(axis=0)).max())
    model = ez.L0Classifier(k=2, multi_class="multinomial", groups=np.arange(12) // 3).fit(X, y)
    figure = ez.plot_groups(model)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["ash", "birch", "cedar"]
    bars = [patch.get_height() for ax in figure.axes for patch in ax.patches]
    assert sorted(bars) == pytest.approx(sorted(model.coef_[:, model.support_].ravel()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        validated = ez.L0ClassifierCV(multi_class="multinomial", max_support=3, cv=3, shrinkage=[1e-2]).fit(X, y)
    validated.cv_results_.plot()
    validated.cv_results_.plot_supports()


def test_tables_of_several_outputs():
    X, y = problem(24)
    for found in (
        ez.fit_path(X, y, loss="multinomial", lambda_2=0.01, max_support=4),
        ez.fit_sizes(X, y, range(3), loss="multinomial", lambda_2=0.01),
        ez.fit_budgets(X, y, [1.0, 2.0], loss="multinomial", lambda_2=0.01, feature_cost=np.linspace(0.5, 1.0, 12)),
    ):
        frame = found.to_frame()
        names = ["intercept_ash", "intercept_birch", "intercept_cedar"]
        np.testing.assert_array_equal(frame[names].to_numpy(), found.intercept)
    grid = ez.fit_grid(X, y, loss="multinomial", lambda_1="auto", max_support=4)
    assert grid[0].support_size.max() <= 1  # from where all coefficients vanish


# Several targets.


@pytest.mark.parametrize("kind", [ez.L0Regressor, ez.L0RegressorCV])
def test_several_targets_share_their_features(kind):
    X, Y = targets(30)
    settings = {"k": 3, "lambda_2": 1e-3} if kind is ez.L0Regressor else {}
    model = kind(**settings).fit(X, Y)
    assert model.coef_.shape == (3, 15)
    assert model.intercept_.shape == (3,)
    assert {1, 6, 11} <= set(model.support_.tolist())
    assert model.predict(X).shape == Y.shape
    np.testing.assert_allclose(model.predict(X), X @ model.coef_.T + model.intercept_, rtol=1e-9)
    assert model.score(X, Y) == pytest.approx(r2_score(Y, model.predict(X)))
    assert model.score(X, Y) > 0.8
    assert cross_val_score(kind(**settings), X, Y, cv=3).min() > 0.6
    if kind is ez.L0Regressor:
        Z = StandardScaler().fit_transform(X[:, model.support_])
        peer = Ridge(alpha=2.0 * 1e-3 * len(Y)).fit(Z, Y)
        np.testing.assert_allclose(model.predict(X), peer.predict(Z), rtol=1e-6, atol=1e-6)
        assert "target 2" in str(model)
        assert model.to_frame()["target"].drop_duplicates().tolist() == [0, 1, 2]
        assert "target 1" in str(model.summary())
    else:
        assert model.k_ == len(model.support_)


def test_one_target_is_as_it_was():
    X, Y = targets(31)
    plain = ez.L0Regressor(k=3).fit(X, Y[:, 0])
    with pytest.warns(DataConversionWarning, match="column-vector"):
        column = ez.L0Regressor(k=3).fit(X, Y[:, :1])
    np.testing.assert_array_equal(plain.coef_, column.coef_)
    assert column.coef_.shape == (15,)
    assert isinstance(column.intercept_, float)
    twice = ez.L0Regressor(k=3).fit(X, Y[:, [0, 0]])
    np.testing.assert_allclose(twice.coef_, [plain.coef_, plain.coef_], rtol=1e-6, atol=1e-9)
    assert twice.objective_ == pytest.approx(2.0 * plain.objective_)


def test_targets_elsewhere():
    X, Y = targets(32)
    proved = ez.L0Regressor(k=2, algorithm="exact").fit(X, Y)
    assert proved.solution_.status == "optimal"
    assert ez.L0Selector(k=3, regression=True).fit(X, Y).transform(X).shape == (120, 3)
    with pytest.raises(ez.InvalidInputError, match="a report is about one target, y has 3 columns"):
        write_report("unused.html", X, Y, regression=True)


@pytest.mark.parametrize(
    ("Y", "sentence"),
    [
        (np.full((120, 2), np.nan), "NaN"),
        (np.zeros((120, 0)), "y"),
        (np.zeros((60, 2)), "inconsistent numbers of samples"),
    ],
    ids=["nan", "no column", "too short"],
)
def test_targets_that_cannot_be(Y, sentence):
    with pytest.raises(ValueError, match=sentence):
        ez.L0Regressor(k=2).fit(targets(33)[0], Y)
