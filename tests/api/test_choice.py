"""What the cross-validated estimators choose with nothing set: means of models, their reasons, and what users say instead."""

import json
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from support.problems import on_disk

import ellzero as ez
from ellzero.cli import main
from ellzero.estimators.training import mean_model
from ellzero.problem.coefficients import Coefficients
from ellzero.problem.making import make_problem
from ellzero.problem.model import evaluate


def noisy(n=60, p=60, seed=29):
    """Weak signals in correlated columns: the mean of several models predicts better than each of them."""
    rng = np.random.default_rng(seed)
    common = rng.standard_normal((n, 5))
    X = common[:, rng.integers(0, 5, p)] + 1.5 * rng.standard_normal((n, p))
    return X, common[:, :2].sum(axis=1) + rng.standard_normal(n)


X, NUMBERS = noisy()
LABELS = np.where(NUMBERS > 0.0, "yes", "no")


@pytest.fixture(scope="module")
def mean():
    model = ez.L0ClassifierCV().fit(X, LABELS)
    assert len(model.choice_.models) > 1, "the tests of means need a mean"
    return model


# The mean of models.


@pytest.mark.parametrize("kind", ["classes", "numbers", "three classes"])
def test_the_estimator_is_the_mean_of_its_models(kind):
    y = {"classes": LABELS, "numbers": NUMBERS, "three classes": np.digitize(NUMBERS, [-0.5, 0.5])}[kind]
    model = (ez.L0RegressorCV if kind == "numbers" else ez.L0ClassifierCV)().fit(X, y)
    results, choice = model.cv_results_, model.choice_
    assert len(choice.models) == len(results.places) == len(set(results.places)) > 1
    coefs = [results.columns[number].coef[point].toarray() for number, point in results.places]
    np.testing.assert_allclose(np.atleast_2d(model.coef_), np.mean(coefs, axis=0), rtol=1e-2, atol=1e-3)
    union = np.flatnonzero(np.any([(coef != 0.0).any(axis=0) for coef in coefs], axis=0))
    np.testing.assert_array_equal(model.support_, union)
    assert model.k_ == choice.size == len(union) >= max(each.size for each in choice.models)
    assert choice.why.startswith(f"The mean of {len(choice.models)} models, of ")
    assert f"which has {len(union)} features" in choice.why
    best = choice.models[0]
    assert (model.lambda_0_, model.lambda_1_, model.lambda_2_) == (best.lambda_0, best.lambda_1, best.lambda_2)
    assert model.best_score_ == choice.score > results.columns[results.best[0]].mean[results.best[1]]
    assert results.to_frame().chosen.sum() == len(choice.models)


def test_a_feature_whose_coefficients_cancel_is_not_used():
    problem = make_problem(X, np.where(LABELS == "yes", 1.0, -1.0), loss="logistic", lambda_2=0.1)
    places = [np.array(support, dtype=np.int32) for support in ([0, 2], [2, 5])]
    first = evaluate(problem, Coefficients(places[0], np.array([[0.5], [0.25]]), np.ones(1)))
    second = evaluate(problem, Coefficients(places[1], np.array([[-0.25], [1.0]]), np.zeros(1)))
    both = mean_model(problem, [first, second])
    assert (both.support.tolist(), both.values.tolist(), both.intercept) == ([0, 5], [0.25, 0.5], 0.5)
    assert both.objective == pytest.approx(ez.objective(X, LABELS, both.coef, 0.5, loss="logistic", lambda_2=0.1))
    assert mean_model(problem, [first]) is first


def test_the_score_of_a_mean_by_hand():
    """The held-out loss of the mean of the folds' decision values."""
    model = ez.L0ClassifierCV(keep_predictions=True).fit(X, LABELS)
    results = model.cv_results_
    sign = np.where(LABELS == "yes", 1.0, -1.0)
    eta = np.mean([results.columns[number].decision[:, point, 0] for number, point in results.places], axis=0)
    losses = [np.logaddexp(0.0, -(sign * eta)[test]).mean() for _, test in results.splits]
    assert model.best_score_ == pytest.approx(-np.mean(losses))
    assert model.choice_.standard_error == pytest.approx(np.std(losses, ddof=1) / np.sqrt(5))
    assert ez.L0ClassifierCV().fit(X, LABELS).cv_results_.columns[0].decision is None  # not kept unless that is asked for


def test_a_mean_in_a_file_and_in_a_pickle(mean, tmp_path):
    mean.save(tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text())
    assert content["penalties"] == {"k": mean.k_, "lambda_0": None, "lambda_1": None, "lambda_2": None}
    for other in (ez.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(mean))):
        np.testing.assert_array_equal(other.predict(X), mean.predict(X))
        np.testing.assert_array_equal(other.predict_proba(X), mean.predict_proba(X))
        np.testing.assert_array_equal(other.support_, mean.support_)
    assert pickle.loads(pickle.dumps(mean)).choice_ == mean.choice_


def test_a_mean_is_printed_and_drawn(mean):
    printed = str(mean.cv_results_)
    assert mean.choice_.why in printed
    assert str(mean.choice_) == mean.choice_.why
    marks = [line for line in mean.cv_results_.plot().lines if str(line.get_label()).startswith("chosen: the mean of")]
    assert len(marks[0].get_xdata()) == len(mean.choice_.models)
    mean.cv_results_.plot_supports()
    assert mean.path_.lambda_2 == mean.lambda_2_


def test_a_mean_has_calibrated_probabilities():
    model = ez.L0ClassifierCV("squared_hinge", probability=True, average=3).fit(X, LABELS)
    assert len(model.choice_.models) > 1
    assert model.predict_proba(X).shape == (60, 2)
    assert ((model.predict_proba(X)[:, 1] - 0.5) * model.decision_function(X) > 0.0).mean() > 0.8


def test_a_mean_stays_within_bounds():
    model = ez.L0ClassifierCV(lower=0.0, upper=0.1).fit(X, LABELS)
    assert model.coef_.min() >= 0.0
    assert model.coef_.max() <= 0.1
    kept = ez.L0ClassifierCV(unpenalized=[0, 1]).fit(X, LABELS)
    assert {0, 1} <= set(kept.support_.tolist())
    assert kept.k_ == kept.choice_.size == len(kept.support_) - 2


def test_a_command_says_why(tmp_path, capsys):
    table = np.column_stack([X[:, :40].round(4).astype(str), LABELS])
    names = [f"x{j}" for j in range(40)] + ["label"]
    (tmp_path / "data.csv").write_text("\n".join(map(",".join, [names, *table.tolist()])) + "\n")
    command = ["cv", str(tmp_path / "data.csv"), "--target", "label", "--quiet"]
    assert main([*command, "--out", str(tmp_path / "model.json")]) == 0
    assert ": its held-out logistic loss, " in capsys.readouterr().out
    assert main([*command, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["why"].endswith(".")
    assert len(result["models"]) == sum(point["chosen"] for point in result["points"]) >= 1
    assert set(result["models"][0]) == {"lambda_0", "lambda_1", "lambda_2", "size"}
    assert main(["predict", str(tmp_path / "model.json"), str(tmp_path / "data.csv"), "--quiet"]) == 0


# The user's word comes first.


def test_settings_of_the_user_win():
    own = {"lambda_0": [0.1, 0.03, 0.01], "shrinkage": [0.3, 0.02]}
    model = ez.L0ClassifierCV(**own).fit(X, LABELS)
    assert [column.lambda_2 for column in model.cv_results_.columns] == own["shrinkage"]
    assert all(column.lambda_0.tolist() == own["lambda_0"] for column in model.cv_results_.columns)
    assert len(model.choice_.models) == 1
    assert len(ez.L0ClassifierCV(n_shrinkage=4).fit(X, LABELS).cv_results_.columns) == 4
    whole = ez.L0ClassifierCV(n_lambda=100, shrinkage=[0.1]).fit(X, LABELS).cv_results_.columns[0]
    thin = ez.L0ClassifierCV(shrinkage=[0.1]).fit(X, LABELS).cv_results_.columns[0]
    assert set(thin.lambda_0) < set(whole.lambda_0)
    assert max(column.size.max() for column in ez.L0ClassifierCV(max_support=4).fit(X, LABELS).cv_results_.columns) <= 4
    for settings in (
        {"average": 1},
        {"rule": "best"},
        {"rule": "one_se"},
        {"select": "size", "max_support": 6},
        {"penalty": "l0"},
    ):
        assert len(ez.L0ClassifierCV(**settings).fit(X, LABELS).choice_.models) == 1
    assert len(ez.L0ClassifierCV(average=2).fit(X, LABELS).choice_.models) == 2
    assert len(ez.L0ClassifierCV(rule="best", average=2).fit(X, LABELS).choice_.models) == 2
    with pytest.warns(UserWarning, match="max_support = 0 features"):
        assert ez.L0ClassifierCV(max_support=0).fit(X, LABELS).k_ == 0
    assert ez.L0ClassifierCV(penalty="l0").fit(X, LABELS).lambda_2_ == 0.0


def test_the_values_of_lambda_1_reach_the_useful_ones():
    """With much noise, models of little lambda_1 are worse than none, and the ladder must not step over those between."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((480, 600))
    truth = np.zeros(600)
    truth[:10] = 0.6 * rng.choice([-1.0, 1.0], 10)
    y = rng.random(480) < 1.0 / (1.0 + np.exp(-Z @ truth))
    model = ez.L0ClassifierCV(penalty="l0l1").fit(Z[:240], y[:240])
    assert roc_auc_score(y[240:], model.decision_function(Z[240:])) > 0.75
    values = [column.lambda_1 for column in model.cv_results_.columns]
    assert 2 <= len(values) <= 9
    assert values == sorted(values, reverse=True)


@pytest.mark.filterwarnings("ignore:the chosen model has max_support")
@pytest.mark.parametrize(("seed", "limit"), [(3, 12), (5, 4), (9, 6)])
def test_a_mean_of_models_obeys_the_limit(seed, limit):
    Z, numbers = noisy(seed=seed)
    model = ez.L0ClassifierCV(max_support=limit, average=3).fit(Z, numbers > 0.0)
    assert len(model.choice_.models) > 1
    assert model.k_ <= limit


@pytest.mark.filterwarnings("ignore:the chosen model has max_support")
def test_a_mean_of_models_obeys_the_limit_of_groups_and_of_each_class():
    Z, numbers = noisy(seed=2)
    groups = np.repeat(np.arange(30), 2)
    grouped = ez.L0ClassifierCV(max_support=4, average=3, groups=groups).fit(Z, numbers > 0.0)
    assert len(grouped.choice_.models) > 1
    assert len(set(groups[grouped.support_])) <= 4
    three = ez.L0ClassifierCV(max_support=3, average=3, multi_class="ovr").fit(Z, np.digitize(numbers, [-0.7, 0.7]))
    assert len(three.choice_.models) > 1
    assert max((three.coef_ != 0.0).sum(axis=1)) <= 3


def test_the_rule_auto_takes_the_smaller_of_two_that_are_alike():
    auto, best = (ez.L0ClassifierCV(rule=rule, average=1).fit(X, LABELS) for rule in ("auto", "best"))
    assert auto.k_ <= best.k_
    assert best.best_score_ >= auto.best_score_ >= 1.01 * best.best_score_


# Data of every kind.


def same_choice(first, second):
    assert [(each.size, each.lambda_2) for each in first.choice_.models] == [
        (each.size, pytest.approx(each.lambda_2)) for each in second.choice_.models
    ]
    np.testing.assert_array_equal(first.support_, second.support_)
    np.testing.assert_allclose(first.coef_, second.coef_, rtol=1e-5, atol=1e-8)


def test_sparse_dense_and_stored_data_lead_to_the_same_choice(mean):
    holes = X * (np.abs(X) > 0.5)
    dense = ez.L0ClassifierCV().fit(holes, LABELS)
    same_choice(dense, ez.L0ClassifierCV().fit(sparse.csr_matrix(holes), LABELS))
    same_choice(mean, ez.L0ClassifierCV().fit(on_disk(X), LABELS))


def test_weights_count_as_rows_that_are_there_twice():
    """Splits are given, so that both copies of a row are in the same fold."""
    weight = np.where(np.arange(60) < 20, 2.0, 1.0)
    rows = np.r_[np.arange(60), np.arange(20)]
    fold = np.arange(60) % 4
    splits = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(4)]
    twice = [(np.flatnonzero(fold[rows] != f), np.flatnonzero(fold[rows] == f)) for f in range(4)]
    weighted = ez.L0ClassifierCV(cv=splits).fit(X, LABELS, sample_weight=weight)
    repeated = ez.L0ClassifierCV(cv=twice).fit(X[rows], LABELS[rows])
    same_choice(weighted, repeated)
    assert weighted.choice_.why == repeated.choice_.why


@pytest.mark.parametrize("n", [4, 6, 9])
def test_few_rows(n):
    rows = np.r_[np.flatnonzero(LABELS == "yes")[: n // 2], np.flatnonzero(LABELS == "no")[: n - n // 2]]
    with pytest.warns(UserWarning, match="folds instead of 5"):
        model = ez.L0ClassifierCV().fit(X[rows], LABELS[rows])
    assert model.choice_.why
    assert model.predict(X).shape == (60,)
    numbers = ez.L0RegressorCV(cv=2).fit(X[:4], NUMBERS[:4])
    assert numbers.choice_.size == numbers.k_ == len(numbers.support_)


def test_test_rows_of_one_class():
    """Sorted labels and folds in their order: each fold tests one class, and the loss is still defined."""
    order = np.argsort(LABELS, kind="stable")
    splits = [(np.setdiff1d(np.arange(60), test), test) for test in np.array_split(np.arange(60), 6)]
    model = ez.L0ClassifierCV(cv=splits).fit(X[order], LABELS[order])
    assert np.isfinite(model.best_score_)


def test_nothing_to_choose():
    """Columns that say nothing: the model without features, and a sentence about it."""
    for data in (np.ones((30, 3)), np.zeros((30, 3))):
        model = ez.L0ClassifierCV().fit(data, np.tile(["a", "b"], 15))
        assert (model.k_, model.choice_.size) == (0, 0)
        assert model.choice_.why.startswith("0 features: ")
    rng = np.random.default_rng(0)
    empty = ez.L0RegressorCV().fit(rng.standard_normal((40, 3)), np.ones(40))
    assert empty.k_ == 0


def test_a_clear_signal_climbs_down_to_next_to_no_shrinkage():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((80, 30))
    model = ez.L0RegressorCV().fit(Z, Z[:, 3] - 2.0 * Z[:, 7] + 1e-3 * rng.standard_normal(80))
    assert model.support_.tolist() == [3, 7]
    assert model.lambda_2_ < 1e-4
    np.testing.assert_allclose(model.coef_[[3, 7]], [1.0, -2.0], rtol=1e-2)


def test_the_same_data_lead_to_the_same_choice(mean):
    again = clone(mean).set_params(n_jobs=2).fit(X, LABELS)
    np.testing.assert_array_equal(again.coef_, mean.coef_)
    assert again.choice_ == mean.choice_
