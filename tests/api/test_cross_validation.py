"""Cross-validation: scores that can be recomputed by hand, splits of every kind, and the choice among the models."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import load_wine
from sklearn.metrics import accuracy_score, get_scorer, log_loss, make_scorer, mean_squared_error, roc_auc_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    check_cv,
)
from support.problems import LOSSES, random_problem, target

import ellzero as ez

X, Y, W = random_problem(21, n=100, p=12)
LABELS = target(Y, "logistic")
THREE = np.digitize(Y, np.quantile(Y, [0.33, 0.67]))
SMALL = {"n_shrinkage": 2, "cv": 3}


def cross_validated(loss, **settings):
    settings = SMALL | settings
    return ez.L0RegressorCV(**settings) if loss == "squared_error" else ez.L0ClassifierCV(loss, **settings)


def fold_path(column, train, y, loss, **settings):
    """The models of some rows alone, at the column's penalties."""
    penalties = {"lambda_0": column.lambda_0, "lambda_1": column.lambda_1, "lambda_2": column.lambda_2}
    return ez.fit_path(X[train], y[train], loss=loss, standardize=True, **penalties | settings)


def loss_of(loss, eta, y, w):
    if loss == "squared_error":
        return np.average(0.5 * (y - eta) ** 2, weights=w)
    sign = np.where(y == y.max(), 1.0, -1.0)
    margin = sign * eta
    each = {"logistic": np.log1p(np.exp(-margin)), "hinge": np.maximum(0.0, 1.0 - margin)}
    return np.average(each.get(loss, np.maximum(0.0, 1.0 - margin) ** 2), weights=w)


# Scores.


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("penalty", ["l0", "l0l1", "l0l2"])
@pytest.mark.parametrize("loss", LOSSES)
def test_scores_by_hand(loss, penalty, weighted):
    """A point of a column in a fold: a path of the training rows alone, its loss on the test rows."""
    y, w = target(Y, loss), W if weighted else np.ones(100)
    settings = {} if penalty == "l0" else {"n_shrinkage": 2}
    model = cross_validated(loss, penalty=penalty, keep_predictions=True, **settings).fit(X, y, sample_weight=w)
    results = model.cv_results_
    assert len(results.columns) == (1 if penalty == "l0" else 2)
    for column in results.columns:
        assert (column.lambda_1 > 0.0) == (penalty == "l0l1")
        assert (column.lambda_2 > 0.0) == (penalty == "l0l2")
        for fold, (train, test) in enumerate(results.splits):
            path = fold_path(column, train, y, loss, sample_weight=w[train])
            for point in (0, len(path) // 2, len(path) - 1):
                eta = path[point].decision_function(X[test])
                np.testing.assert_allclose(column.decision[test, point, 0], eta, rtol=1e-3, atol=1e-3)
                assert column.scores[point, fold] == pytest.approx(-loss_of(loss, eta, y[test], w[test]), rel=1e-3)
                assert column.fold_size[point, fold] == len(path[point].support)
                assert column.fold_supports[fold][point].indices.tolist() == path[point].support.tolist()
        np.testing.assert_allclose(column.mean, column.scores.mean(axis=1))
        np.testing.assert_allclose(column.standard_error, column.scores.std(axis=1, ddof=1) / np.sqrt(3))


def test_folds_do_not_know_their_test_rows():
    """Other labels and other numbers in the test rows of a fold: the same models there, though not the same grid by itself."""
    folds = [(np.arange(40, 100), np.arange(40)), (np.arange(60), np.arange(60, 100))]
    settings = {"lambda_0": [0.1, 0.03, 0.01], "shrinkage": [0.01], "cv": folds, "keep_predictions": True}
    honest = ez.L0ClassifierCV(**settings).fit(X, LABELS).cv_results_.columns[0]
    labels, data = LABELS.copy(), X.copy()
    labels[:40] *= -1
    data[:20] *= 3.0
    other = ez.L0ClassifierCV(**settings).fit(data, labels).cv_results_.columns[0]
    np.testing.assert_allclose(honest.decision[20:40], other.decision[20:40], rtol=1e-9, atol=1e-9)  # sums are rounded
    assert (honest.fold_supports[0] != other.fold_supports[0]).nnz == 0
    assert np.abs(honest.scores[:, 0] - other.scores[:, 0]).min() > 0.0


@pytest.mark.parametrize("scoring", ["roc_auc", "accuracy", "balanced_accuracy", "neg_log_loss", "f1", "average_precision"])
def test_scorers_by_name(scoring):
    model = ez.L0ClassifierCV(scoring=scoring, **SMALL).fit(X, LABELS)
    check_scorer(model, LABELS, get_scorer(scoring))
    assert model.cv_results_.scoring == scoring


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_squared_error", "neg_median_absolute_error"])
def test_scorers_of_regressions(scoring):
    check_scorer(ez.L0RegressorCV(scoring=scoring, **SMALL).fit(X, Y), Y, get_scorer(scoring))


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc_ovr", "neg_log_loss"])
def test_scorers_of_several_classes(scoring):
    model = ez.L0ClassifierCV(scoring=scoring, multi_class="ovr", **SMALL).fit(X, THREE)
    check_scorer(model, THREE, get_scorer(scoring))


def check_scorer(model, y, scorer):
    """Against models of the fold's rows at the same penalties, by the scorer itself."""
    train, test = model.cv_results_.splits[1]
    if isinstance(model, ez.L0RegressorCV):
        alone, outputs, loss = ez.L0Regressor(k=0), [y], "squared_error"
    else:
        alone, loss = ez.L0Classifier(k=0, multi_class="ovr"), "logistic"
        outputs = [y] if y is LABELS else [y == c for c in range(3)]
    alone.fit(X[train], y[train])
    for column in model.cv_results_.columns:
        paths = [fold_path(column, train, output, loss) for output in outputs]
        for point in range(0, min(map(len, paths)), 5):
            models = [path[point] for path in paths]
            alone.coef_ = np.array([m.coef for m in models]).reshape(alone.coef_.shape)
            alone.intercept_ = np.array([m.intercept for m in models]).reshape(np.shape(alone.intercept_))
            assert column.scores[point, 1] == pytest.approx(scorer(alone, X[test], y[test]), rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("scoring", "function"), [("roc_auc", roc_auc_score), ("accuracy", accuracy_score)])
def test_fast_scores_are_scikit_learns(scoring, function, seed):
    """With ties and values at zero, too."""
    from ellzero.estimators.scoring import FAST_SCORES

    rng = np.random.default_rng(seed)
    decision = np.round(rng.standard_normal((50, 7)), seed % 3)
    positive = rng.random(50) < 0.4
    shown = decision if scoring == "roc_auc" else decision > 0.0
    expected = [function(positive, shown[:, m]) for m in range(7)]
    np.testing.assert_allclose(FAST_SCORES[scoring](decision, positive), expected)


def test_a_function_as_scorer():
    seen = []

    def share_of_right(model, X, y):
        seen.append((X.shape, model.classes_.tolist()))
        assert model.predict_proba(X).shape == (len(y), 2)
        return float((model.predict(X) == y).mean())

    labels = np.where(LABELS > 0, "yes", "no")
    own = ez.L0ClassifierCV(scoring=share_of_right, **SMALL).fit(X, labels)
    named = ez.L0ClassifierCV(scoring="accuracy", **SMALL).fit(X, labels)
    np.testing.assert_allclose(own.cv_results_.columns[0].scores, named.cv_results_.columns[0].scores)
    assert own.cv_results_.scoring == "share_of_right"
    assert seen[0][1] == ["no", "yes"]
    squared = make_scorer(mean_squared_error, greater_is_better=False)
    by_function = ez.L0RegressorCV(scoring=squared, **SMALL).fit(X, Y)
    plain = ez.L0RegressorCV(**SMALL).fit(X, Y)
    np.testing.assert_allclose(by_function.cv_results_.columns[0].mean, 2.0 * plain.cv_results_.columns[0].mean)


def test_weights_in_scores():
    """Scikit-learn's scorers get the weights; a function that takes none is not given any."""
    weighted = ez.L0ClassifierCV(scoring="accuracy", keep_predictions=True, **SMALL).fit(X, LABELS, sample_weight=W)
    plain = ez.L0ClassifierCV(scoring=lambda model, X, y: np.mean(model.predict(X) == y), keep_predictions=True, **SMALL)
    plain.fit(X, LABELS, sample_weight=W)
    column, (_, test) = weighted.cv_results_.columns[0], weighted.cv_results_.splits[0]
    right = (column.decision[test, :, 0] > 0.0) == (LABELS[test] > 0)[:, None]
    np.testing.assert_allclose(column.scores[:, 0], np.average(right, axis=0, weights=W[test]))
    np.testing.assert_allclose(plain.cv_results_.columns[0].scores[:, 0], right.mean(axis=0))


def test_scores_that_cannot_be():
    with pytest.raises(ez.InvalidInputError, match="scoring needs probabilities, which held-out models of loss='hinge'"):
        ez.L0ClassifierCV("hinge", scoring="neg_log_loss", probability=True, **SMALL).fit(X, LABELS)
    with pytest.raises(ez.InvalidInputError, match="scoring must rate the model on all the rows"):
        ez.L0ClassifierCV(scoring=lambda model, X, y: np.mean(model.predict(X[:5]) == y[:5]), **SMALL).fit(X, LABELS)
    one_class = [(np.arange(90), np.flatnonzero(LABELS > 0)[:5])]
    with pytest.raises(ez.InvalidInputError, match="scoring is undefined on the test rows of fold 1 of cv"):
        ez.L0ClassifierCV(scoring="roc_auc", cv=one_class).fit(X, LABELS)
    with pytest.raises(KeyError, match="own error"):
        ez.L0ClassifierCV(scoring=lambda model, X, y: {}["own error"], **SMALL).fit(X, LABELS)


# Splits.

GROUPS = np.arange(100) % 7
MASKS = [(np.arange(100) % 4 != r, np.arange(100) % 4 == r) for r in range(4)]
SPLITTERS = {
    "KFold": (KFold(4), 4),
    "RepeatedKFold": (RepeatedKFold(n_splits=3, n_repeats=2, random_state=1), 6),
    "ShuffleSplit": (ShuffleSplit(5, test_size=0.3, random_state=1), 5),
    "PredefinedSplit": (PredefinedSplit(np.arange(100) % 5 - 1), 4),
    "GroupKFold": (GroupKFold(3), 3),
    "list": ([(train.tolist(), test.tolist()) for train, test in KFold(3).split(X)], 3),
    "masks": (MASKS, 4),
    "LeaveOneOut": (LeaveOneOut(), 100),
    "number": (6, 6),
    "None": (None, 5),
}


@pytest.mark.parametrize("kind", SPLITTERS)
@pytest.mark.parametrize("y", [LABELS, Y], ids=["classes", "numbers"])
def test_splitters(kind, y):
    splitter, folds = SPLITTERS[kind]
    make = ez.L0RegressorCV if y is Y else ez.L0ClassifierCV
    model = make(cv=splitter, lambda_0=[0.2, 0.05, 0.01], shrinkage=[0.01], keep_predictions=True)
    groups = {"groups": GROUPS} if kind == "GroupKFold" else {}
    model.fit(X, y, **groups)
    results, column = model.cv_results_, model.cv_results_.columns[0]
    assert len(results.splits) == folds
    assert column.scores.shape == column.fold_size.shape == (3, folds)
    if kind not in ("number", "None"):
        for (train, test), (mine, tested) in zip(check_cv(splitter).split(X, y, **groups), results.splits, strict=True):
            np.testing.assert_array_equal(np.arange(100)[train], mine)
            np.testing.assert_array_equal(np.arange(100)[test], tested)
    tested = np.unique(np.concatenate([test for _, test in results.splits]))
    untested = np.setdiff1d(np.arange(100), tested)
    assert column.decision.shape == (100, 3, 1)
    assert np.isfinite(column.decision[tested]).all()
    assert np.isnan(column.decision[untested]).all()
    assert (len(untested) > 0) == (kind in ("PredefinedSplit", "ShuffleSplit"))


def test_repeated_stratified_folds():
    splitter = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=1)
    model = ez.L0ClassifierCV(cv=splitter, n_shrinkage=2, keep_predictions=True).fit(X, THREE)
    assert model.cv_results_.columns[0].scores.shape[1] == 6
    _, test = model.cv_results_.splits[4]  # the later repetition's values are kept
    assert np.isfinite(model.cv_results_.columns[0].decision[test]).all()


def test_numbered_folds_are_stratified_and_seeded():
    y = np.r_[np.ones(20, int), np.zeros(80, int)]
    models = [ez.L0ClassifierCV(n_shrinkage=2, cv=4, random_state=seed).fit(X, y) for seed in (0, 0, 1)]
    for model in models:
        assert sorted(np.concatenate([test for _, test in model.cv_results_.splits]).tolist()) == list(range(100))
        for train, test in model.cv_results_.splits:
            assert y[test].sum() == 5
            assert not set(train) & set(test)
    first, again, other = ([test.tolist() for _, test in model.cv_results_.splits] for model in models)
    assert first == again
    assert first != other
    np.testing.assert_array_equal(models[0].cv_results_.columns[0].scores, models[1].cv_results_.columns[0].scores)
    # Rows that follow each other do not end up in the same fold.
    regression = ez.L0RegressorCV(n_shrinkage=2, cv=4).fit(X, Y).cv_results_.splits[0][1]
    assert np.abs(np.diff(regression)).max() > 1


def test_stratified_splitters_of_scikit_learn_agree():
    """A number of folds is scikit-learn's shuffled, stratified splitter with the seed."""
    numbered = ez.L0ClassifierCV(n_shrinkage=2, cv=4, random_state=9).fit(X, LABELS)
    named = ez.L0ClassifierCV(n_shrinkage=2, cv=StratifiedKFold(4, shuffle=True, random_state=9)).fit(X, LABELS)
    np.testing.assert_array_equal(numbered.cv_results_.columns[1].scores, named.cv_results_.columns[1].scores)


def test_rows_that_are_taken_twice_count_twice():
    """A bootstrap's training rows."""
    rows = np.random.default_rng(0).integers(0, 80, 80)
    model = ez.L0ClassifierCV(lambda_0=[0.1, 0.02], shrinkage=[0.01], cv=[(rows, np.arange(80, 100))]).fit(X, LABELS)
    path = fold_path(model.cv_results_.columns[0], rows, LABELS, "logistic")
    eta = path[1].decision_function(X[80:])
    expected = -log_loss(LABELS[80:], expit(eta))
    assert model.cv_results_.columns[0].scores[1, 0] == pytest.approx(expected, rel=1e-3)


def test_classes_that_a_fold_lacks():
    y = np.where(LABELS > 0, "yes", "no")
    without = [(np.arange(50), np.arange(50, 100)), (np.flatnonzero(y == "no"), np.flatnonzero(y == "yes"))]
    with pytest.raises(ez.InvalidInputError, match="fold 2 of cv has no training row of class yes: use fewer folds"):
        ez.L0ClassifierCV(cv=without).fit(X, y)
    three = np.array(["ash", "elm", "oak"])[THREE]
    for multi_class in ("multinomial", "ovr_shared", "ovr"):
        with pytest.raises(ez.InvalidInputError, match="scoring is undefined on the test rows of fold 1 of cv"):
            ez.L0ClassifierCV(
                cv=[(np.flatnonzero(three != "elm"), np.flatnonzero(three == "elm"))], multi_class=multi_class
            ).fit(X, three)
        with pytest.raises(ez.InvalidInputError, match="fold 1 of cv has no training row of class ash"):
            ez.L0ClassifierCV(
                cv=[(np.flatnonzero(three == "elm"), np.flatnonzero(three != "elm"))], multi_class=multi_class
            ).fit(X, three)
    with pytest.raises(ez.InvalidInputError, match="fold 1 of cv has no training row of positive weight"):
        ez.L0ClassifierCV(cv=[(np.arange(50), np.arange(50, 100))]).fit(X, y, sample_weight=np.arange(100) >= 50)


def test_rare_classes():
    y = np.where(np.arange(100) < 3, "rare", "common")
    with pytest.warns(UserWarning, match="cv = 3 folds instead of 5: class rare has only 3 rows"):
        model = ez.L0ClassifierCV(n_shrinkage=2).fit(X, y)
    assert len(model.cv_results_.splits) == 3
    y[1:3] = "common"
    with pytest.raises(ez.InvalidInputError, match="cv needs at least two rows of each class, y has one of class rare"):
        ez.L0ClassifierCV().fit(X, y)


# The choice.


def chosen_by_hand(columns, rule):
    """(column, point) of the best mean or, among those within its standard error, of the smallest."""
    table = [(c, m, column.mean[m], column.size[m]) for c, column in enumerate(columns) for m in range(len(column.size))]
    top = max(mean for _, _, mean, _ in table)
    best = min((row for row in table if row[2] == top), key=lambda row: row[3])
    if rule == "one_se":
        spread = columns[best[0]].scores[best[1]].std(ddof=1) / np.sqrt(columns[0].scores.shape[1])
        enough = [row for row in table if row[2] >= best[2] - spread]
        smallest = min(row[3] for row in enough)
        best = max((row for row in enough if row[3] == smallest), key=lambda row: row[2])
    return best[:2]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("select", ["lambda_0", "size"])
@pytest.mark.parametrize("rule", ["best", "one_se"])
def test_rules(rule, select, seed):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((80, 10))
    y = Z[:, 0] - Z[:, 1] + 0.5 * Z[:, 2] + rng.standard_normal(80) > 0.0
    model = ez.L0ClassifierCV(rule=rule, select=select, random_state=seed, n_shrinkage=3).fit(Z, y)
    results = model.cv_results_
    column, point = chosen_by_hand(results.columns, rule)
    assert results.best == (column, point)
    assert results.chosen is results.columns[column]
    assert model.best_score_ == results.columns[column].mean[point]
    assert model.lambda_2_ == results.columns[column].lambda_2
    assert model.k_ == results.columns[column].size[point] == len(model.support_)
    assert model.lambda_0_ == (results.columns[column].lambda_0[point] if select == "lambda_0" else None)
    np.testing.assert_allclose(model.coef_, results.columns[column].coef[point].toarray(), rtol=1e-2, atol=1e-3)
    if select == "size":
        assert np.isnan(results.chosen.lambda_0).all()
        assert len(results.chosen.size) == 11
        assert (results.chosen.size <= np.arange(11)).all()


def test_the_smaller_model_within_one_standard_error():
    best, small = (ez.L0ClassifierCV(rule=rule, n_shrinkage=3).fit(X, LABELS) for rule in ("best", "one_se"))
    assert small.k_ <= best.k_
    assert small.best_score_ >= best.best_score_ - best.cv_results_.chosen.standard_error[best.cv_results_.best[1]]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("select", ["lambda_0", "size"])
@pytest.mark.parametrize("penalty", ["l0", "l0l1", "l0l2"])
def test_the_model_is_that_of_all_rows_at_the_chosen_penalties(loss, select, penalty):
    y = target(Y, loss)
    model = cross_validated(loss, select=select, penalty=penalty, algorithm="local_search").fit(X, y, sample_weight=W)
    how = {"k": model.k_} if select == "size" else {"lambda_0": model.lambda_0_}
    make = ez.L0Regressor() if loss == "squared_error" else ez.L0Classifier(loss)
    alone = make.set_params(lambda_1=model.lambda_1_, lambda_2=model.lambda_2_, **how).fit(X, y, sample_weight=W)
    np.testing.assert_array_equal(alone.support_, model.support_)
    np.testing.assert_allclose(alone.coef_, model.coef_, rtol=1e-4, atol=1e-6)
    assert alone.objective_ == pytest.approx(model.objective_, rel=1e-6)


def test_own_grids():
    grid, shrinkage = [0.2, 0.05, 0.0], [0.1, 0.001, 0.0]
    model = ez.L0ClassifierCV(lambda_0=grid, shrinkage=shrinkage, cv=3).fit(X, LABELS)
    assert [column.lambda_2 for column in model.cv_results_.columns] == shrinkage
    for column in model.cv_results_.columns:
        np.testing.assert_array_equal(column.lambda_0, grid)
        assert column.size[-1] == 12  # nothing is free of charge left out
    lasso = ez.L0RegressorCV(penalty="l0l1", lambda_0=0.0, shrinkage=[0.5], cv=3).fit(X, Y)
    assert (lasso.lambda_0_, lasso.lambda_1_, lasso.lambda_2_) == (0.0, 0.5, 0.0)
    alone = ez.fit_path(X, Y, loss="squared_error", lambda_0=0.0, lambda_1=0.5, standardize=True, tol=1e-10)
    np.testing.assert_allclose(lasso.coef_, alone[0].coef, atol=1e-6)


def test_max_support_holds_at_every_point():
    """A grid that begins below the first models that are small enough still has models, the best small ones."""
    with pytest.warns(UserWarning, match="max_support = 2 features"):
        model = ez.L0RegressorCV(lambda_0=[1e-4, 1e-5], shrinkage=[1e-3], max_support=2, cv=3).fit(X, Y)
    column = model.cv_results_.columns[0]
    assert column.size.tolist() == [2, 2]
    assert (column.fold_size == 2).all()
    best = ez.fit_sizes(X, Y, 2, loss="squared_error", lambda_2=1e-3, standardize=True)
    assert model.objective_ <= (best.objective[0] + 2e-4) * 1.1
    with pytest.warns(UserWarning, match="max_support = 2 features"):
        exact = ez.L0RegressorCV(lambda_0=[1e-4, 1e-5], shrinkage=[1e-3], max_support=2, cv=3, algorithm="exact").fit(X, Y)
    assert exact.k_ == len(exact.support_) == 2
    assert exact.solution_.status == "optimal"


def test_the_limit_is_of_each_class():
    """Three classes with a feature each: one is at a limit of one, three together are not at a limit of three."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((200, 6))
    y = (3.0 * Z[:, :3] + rng.gumbel(size=(200, 3))).argmax(axis=1)
    with pytest.warns(UserWarning, match="max_support = 1 features"):
        small = ez.L0ClassifierCV(max_support=1, multi_class="ovr", **SMALL).fit(Z, y)
    assert small.support_.tolist() == [0, 1, 2]
    large = ez.L0ClassifierCV(max_support=3, lambda_0=[0.12], shrinkage=[1e-3], cv=3, multi_class="ovr").fit(Z, y)  # no warning
    assert large.support_.tolist() == [0, 1, 2]
    assert (large.coef_ != 0.0).sum() == 3


def test_exact_solutions_of_the_chosen_problem():
    for select, y in (("lambda_0", LABELS), ("size", LABELS), ("lambda_0", THREE)):
        model = ez.L0ClassifierCV(algorithm="exact", select=select, rule="one_se", multi_class="ovr", **SMALL).fit(X, y)
        certificates = model.certificate_ if y is THREE else [model.certificate_]
        for c, certificate in enumerate(certificates):
            assert ez.verify(certificate, X, y == c if y is THREE else y).valid
    regression = ez.L0RegressorCV(algorithm="exact", **SMALL).fit(X, Y)
    assert ez.verify(regression.certificate_, X, Y).valid
    assert regression.solution_.gap <= 1e-4


def test_the_truth_is_found():
    Z, y, truth = ez.datasets.make_classification(400, 200, 4, s=3.0, correlation="exponential", rho=0.3, random_state=4)
    for select in ("lambda_0", "size"):
        model = ez.L0ClassifierCV(rule="one_se", select=select, n_jobs=2, max_support=15).fit(Z, y)
        np.testing.assert_array_equal(model.support_, np.flatnonzero(truth))


def printed_rows(results):
    """The numbers of the printed table, and the row that is marked."""
    lines = str(results).splitlines()[2:]
    rows = [[float(text) for text in line.removesuffix("  <").split()] for line in lines[1:]]
    return lines[0].split("  "), rows, [line.endswith("  <") for line in lines[1:]].index(True)


def test_the_table_has_a_row_a_size():
    """A grid of the user's has many points of a size: the row is that of the best, and of the chosen one at its size."""
    X, y, _ = ez.datasets.make_classification(120, 15, 3, s=1.0, random_state=3)
    model = ez.L0ClassifierCV(lambda_0=np.geomspace(0.3, 1e-3, 60), shrinkage=[1e-2], cv=4).fit(X, y)
    column, point = model.cv_results_.chosen, model.cv_results_.best[1]
    assert len(set(column.size.tolist())) < len(column.size)
    _, rows, chosen = printed_rows(model.cv_results_)
    assert [row[0] for row in rows] == sorted(set(column.size.tolist()))
    assert rows[chosen][:2] == pytest.approx([column.size[point], -column.mean[point]], rel=1e-5)
    for place, (size, score, _) in enumerate(rows):
        if place != chosen:
            assert score == pytest.approx(-column.mean[column.size == size].max(), rel=1e-5)


@pytest.mark.filterwarnings("ignore:the chosen model has max_support")
@pytest.mark.parametrize("select", ["size", "lambda_0"])
def test_the_table_of_several_classes(select):
    """Two numbers of features have two names: those of one class, and those of all classes, which is the size everywhere."""
    X, y = load_wine(return_X_y=True)
    model = ez.L0ClassifierCV(select=select, max_support=3, shrinkage=[1e-2], cv=3, multi_class="ovr").fit(X, y)
    head, rows, chosen = printed_rows(model.cv_results_)
    assert [word.strip() for word in head if word.strip()] == ["per class", "in all", "loss", "+-"]
    assert rows[chosen][1] == model.k_ == model.choice_.model.size == len(model.support_)
    assert rows[chosen][0] == np.count_nonzero(model.coef_, axis=1).max()
    column = [row[0 if select == "size" else 1] for row in rows]
    assert column == sorted(set(column))
    shared = ez.L0ClassifierCV(select=select, max_support=3, shrinkage=[1e-2], cv=3, multi_class="ovr_shared").fit(X, y)
    assert printed_rows(shared.cv_results_)[0][0].strip() == "features"
