"""What the cross-validated estimators choose with nothing set: its rules, its reasons, and what users say instead."""

import json
import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold
from support.problems import on_disk

import ellzero as ez
from ellzero.cli import main
from ellzero.estimators.choice_rules import RULES
from ellzero.estimators.model_choice import ModelChoice, fit_chosen_models
from ellzero.estimators.training import Training
from ellzero.paths.options import path_options
from ellzero.problem.making import make_problem


def noisy(n=60, p=60, seed=29):
    """Weak signals in correlated columns."""
    rng = np.random.default_rng(seed)
    common = rng.standard_normal((n, 5))
    X = common[:, rng.integers(0, 5, p)] + 1.5 * rng.standard_normal((n, p))
    return X, common[:, :2].sum(axis=1) + rng.standard_normal(n)


X, NUMBERS = noisy()
LABELS = np.where(NUMBERS > 0.0, "yes", "no")


@pytest.fixture(scope="module")
def chosen():
    return ez.L0ClassifierCV().fit(X, LABELS)


def family(column):
    if column.lasso is None:
        return "l0l1" if column.lambda_1 else "l0l2"
    return "refit" if column.refitted else "net"


# What is compared.


@pytest.mark.parametrize("kind", ["classes", "numbers", "three classes", "ovr"])
def test_every_family_is_compared_and_every_model_is_what_it_says(kind):
    """Refits have the features of the first net; with lambda_2 they minimise the objective on these alone."""
    three = np.digitize(NUMBERS, [-0.5, 0.5])
    y = {"classes": LABELS, "numbers": NUMBERS}.get(kind, three)
    estimator = ez.L0RegressorCV() if kind == "numbers" else ez.L0ClassifierCV(multi_class="ovr" if kind == "ovr" else "auto")
    columns = estimator.fit(X, y).cv_results_.columns
    assert {family(column) for column in columns} == {"l0l2", "l0l1", "net", "refit"}
    net, refit = (next(column for column in columns if family(column) == name) for name in ("net", "refit"))
    assert (np.diff(net.size) > 0).all()
    assert net.size[0] == 0
    for first, second in zip(net.coef, refit.coef, strict=True):
        assert set(np.unique(second.indices)) <= set(np.unique(first.indices))
    assert refit.penalties(2) == (0.0, 0.0, refit.lambda_2)
    assert net.penalties(2) == (0.0, net.lasso[2], net.lambda_2)


@pytest.mark.parametrize("loss", ["logistic", "squared_error", "hinge"])
def test_an_l1_model_is_the_one_of_the_convex_problem(loss):
    y = NUMBERS if loss == "squared_error" else LABELS
    kind = ez.L0RegressorCV if loss == "squared_error" else ez.L0ClassifierCV
    model = kind(loss=loss, penalty="l0l1", scoring="r2" if loss == "squared_error" else "roc_auc").fit(X, y)
    column = next(column for column in model.cv_results_.columns if family(column) == "net")
    point = len(column.size) // 2
    _, lambda_1, lambda_2 = column.penalties(point)
    assert lambda_2 == 0.0
    settings = {"loss": loss, "lambda_1": lambda_1, "standardize": True}
    reached = ez.objective(X, y, column.coef[point].toarray()[0], column.intercept[point, 0], **settings)
    best = ez.fit_path(X, y, lambda_0=[0.0], tol=1e-10, **settings)[0].cost
    assert reached == pytest.approx(best, rel=1e-4)


def test_a_column_goes_on_until_its_loss_has_turned():
    """Many weak effects: the best l1 model is far down the grid, and the column does not end before it."""
    rng = np.random.default_rng(4)
    Z = rng.standard_normal((300, 40))
    model = ez.L0RegressorCV(penalty="l0l1").fit(Z, Z @ rng.standard_normal(40) + rng.standard_normal(300))
    column = next(column for column in model.cv_results_.columns if family(column) == "net")
    assert column.size[-1] >= 38
    assert model.k_ >= 30


def test_the_limit_holds_for_every_family():
    for limit in (0, 3, 7):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model = ez.L0ClassifierCV(max_support=limit).fit(X, LABELS)
        assert max(column.size.max() for column in model.cv_results_.columns) <= limit
        assert len(model.support_) <= limit


def test_groups_are_refitted_as_a_whole():
    groups = np.repeat(np.arange(30), 2)
    model = ez.L0ClassifierCV(groups=groups).fit(X, LABELS)
    net, refit = (next(c for c in model.cv_results_.columns if family(c) == name) for name in ("net", "refit"))
    assert refit.size.tolist() == net.size.tolist()
    assert refit.coef[-1].nnz == 2 * refit.size[-1]


# What is chosen.


@pytest.mark.parametrize("scoring", [None, "roc_auc", "neg_log_loss", "accuracy"])
def test_the_rules_do_what_they_say(scoring):
    """Each rule by hand: from the scores of all models on the same rows, or on the same folds."""
    models = {
        rule: ez.L0ClassifierCV(rule=rule, scoring=scoring).fit(X, LABELS) for rule in ("best", "one_se", "auto", "sparse")
    }
    columns = models["auto"].cv_results_.columns
    mean, size = np.concatenate([c.mean for c in columns]), np.concatenate([c.size for c in columns])
    error, parts = np.concatenate([c.standard_error for c in columns]), np.vstack([c.parts.scores for c in columns])
    assert parts.shape[1] == (60 if scoring is None else 5)
    top = max(range(len(mean)), key=lambda i: (mean[i], -size[i]))
    assert (models["best"].best_score_, models["best"].k_) == (mean[top], size[top])
    assert models["one_se"].k_ == size[mean >= mean[top] - error[top]].min()
    lost = parts[top] - parts
    spread = lost.std(axis=1, ddof=1) / np.sqrt(parts.shape[1])
    for rule, (level, share) in RULES.items():
        close = lost.mean(axis=1) <= stats.t.isf(level, parts.shape[1] - 1) * spread + 1e-12
        close &= lost.mean(axis=1) <= share * lost[size == 0].mean(axis=1).min() + 1e-12
        close[top] = True
        assert models[rule].k_ == size[close].min()
        assert models[rule].k_ <= models["best"].k_


def test_scores_on_single_rows_agree_with_those_of_folds(chosen):
    for column in chosen.cv_results_.columns:
        test = [np.isin(np.arange(60), rows) for _, rows in chosen.cv_results_.splits]
        by_fold = [column.parts.scores[:, rows].mean(axis=1) for rows in test]
        np.testing.assert_allclose(np.column_stack(by_fold), column.scores, rtol=1e-10)


def test_repeated_folds_have_a_score_for_each_row():
    splits = RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=0)
    model = ez.L0ClassifierCV(cv=splits).fit(X, LABELS)
    column = model.cv_results_.chosen
    assert (column.scores.shape[1], column.parts.scores.shape[1]) == (12, 60)
    np.testing.assert_allclose(column.parts.scores.mean(axis=1), column.scores.mean(axis=1), rtol=1e-2)


def test_the_trade(chosen):
    choice = chosen.choice_
    sizes, scores = [each.size for each in choice.trade], [each.score for each in choice.trade]
    assert choice.model in choice.trade
    assert sizes == sorted(set(sizes))
    others = [each.score for each in choice.trade if each != choice.model]
    assert others == sorted(others)
    assert scores[-1] == max(column.mean.max() for column in chosen.cv_results_.columns)
    assert choice.trade[-1].behind == choice.trade[-1].error == 0.0
    frame = choice.to_frame()
    assert frame["size"].tolist() == sizes
    assert frame.chosen.sum() == 1
    assert frame[frame.chosen]["size"].item() == chosen.k_ == len(chosen.support_)
    assert choice.why in repr(choice)
    assert choice.why.split(";")[0] in choice._repr_html_()
    assert sum(line.endswith("  <") for line in repr(choice).splitlines()) == 1
    number, point = choice.model.place
    np.testing.assert_allclose(chosen.coef_, chosen.cv_results_.columns[number].coef[point].toarray(), rtol=1e-2, atol=1e-3)


def test_a_chosen_refit_in_a_file_and_in_a_pickle(tmp_path):
    rng = np.random.default_rng(2)
    Z = rng.standard_normal((80, 30))
    y = Z[:, 3] - 2.0 * Z[:, 7] + 0.5 * rng.standard_normal(80) > 0.0
    model = ez.L0ClassifierCV("squared_hinge", probability=True).fit(Z, y)
    model.save(tmp_path / "model.json")
    for other in (ez.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(Z), model.predict(Z))
        np.testing.assert_array_equal(other.predict_proba(Z), model.predict_proba(Z))
    assert pickle.loads(pickle.dumps(model)).choice_ == model.choice_


@pytest.mark.parametrize("refitted", [False, True])
def test_models_without_lambda_0_are_fitted_again_for_calibration(refitted):
    """Platt scaling needs held-out values of the same kind of model as the chosen one."""
    problem = make_problem(X, np.where(LABELS == "yes", 1.0, -1.0), loss="squared_hinge", standardize=True)
    training = Training.of(problem).with_penalties(0.0 if refitted else 0.1, 0.02)
    choice = ModelChoice(lasso=(0.1, 0.01 if refitted else 0.02))
    models, _ = fit_chosen_models(training, choice, path_options())
    net = ez.fit_path(
        X, LABELS, loss="squared_hinge", lambda_0=[0.0], lambda_1=0.1, lambda_2=choice.lasso[1], standardize=True, tol=1e-9
    )[0]
    assert models[0].support.tolist() == net.support.tolist()
    assert np.allclose(models[0].values, net.values, rtol=1e-2) != refitted


def test_bounds_and_unpenalized_features_hold_for_every_model():
    model = ez.L0ClassifierCV(lower=0.0, upper=0.1).fit(X, LABELS)
    for column in model.cv_results_.columns:
        assert min(coef.data.min(initial=0.0) for coef in column.coef) >= 0.0
        assert max(coef.data.max(initial=0.0) for coef in column.coef) <= 0.1 + 1e-12
    kept = ez.L0ClassifierCV(unpenalized=[0, 1]).fit(X, LABELS)
    assert {0, 1} <= set(kept.support_.tolist())
    assert kept.k_ == kept.choice_.model.size == len(kept.support_) - 2


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
    assert sum(point["chosen"] for point in result["points"]) == 1
    assert [each["size"] for each in result["trade"]] == sorted({each["size"] for each in result["trade"]})
    assert main(["predict", str(tmp_path / "model.json"), str(tmp_path / "data.csv"), "--quiet"]) == 0


# The user's word comes first.


def test_settings_of_the_user_win():
    own = {"lambda_0": [0.1, 0.03, 0.01], "shrinkage": [0.3, 0.02]}
    columns = ez.L0ClassifierCV(**own).fit(X, LABELS).cv_results_.columns
    assert [column.lambda_2 for column in columns] == own["shrinkage"]
    assert all(column.lambda_0.tolist() == own["lambda_0"] for column in columns)
    assert len(ez.L0ClassifierCV(n_shrinkage=4).fit(X, LABELS).cv_results_.columns) == 4
    whole = ez.L0ClassifierCV(n_lambda=100, shrinkage=[0.1]).fit(X, LABELS).cv_results_.columns[0]
    thin = ez.L0ClassifierCV(shrinkage=[0.1]).fit(X, LABELS).cv_results_.columns[0]
    assert set(thin.lambda_0) < set(whole.lambda_0)
    for settings in (
        {"select": "size", "max_support": 6},
        {"penalty": "l0"},
        {"penalty": "l0l2"},
        {"feature_cost": [2.0] * 60},
    ):
        columns = ez.L0ClassifierCV(**settings).fit(X, LABELS).cv_results_.columns
        assert all(column.lasso is None for column in columns)
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


# Data of every kind.


def same_choice(first, second):
    one, other = first.choice_.model, second.choice_.model
    assert (one.size, one.place) == (other.size, other.place)
    np.testing.assert_array_equal(first.support_, second.support_)
    np.testing.assert_allclose(first.coef_, second.coef_, rtol=1e-4, atol=1e-6)


def test_sparse_dense_and_stored_data_lead_to_the_same_choice(chosen):
    holes = X * (np.abs(X) > 0.5)
    dense = ez.L0ClassifierCV().fit(holes, LABELS)
    same_choice(dense, ez.L0ClassifierCV().fit(sparse.csr_matrix(holes), LABELS))
    same_choice(chosen, ez.L0ClassifierCV().fit(on_disk(X), LABELS))


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


@pytest.mark.parametrize("n", [4, 6, 9])
def test_few_rows(n):
    rows = np.r_[np.flatnonzero(LABELS == "yes")[: n // 2], np.flatnonzero(LABELS == "no")[: n - n // 2]]
    with pytest.warns(UserWarning, match="folds instead of 5"):
        model = ez.L0ClassifierCV().fit(X[rows], LABELS[rows])
    assert model.choice_.why
    assert model.predict(X).shape == (60,)
    numbers = ez.L0RegressorCV(cv=2).fit(X[:4], NUMBERS[:4])
    assert numbers.choice_.model.size == numbers.k_ == len(numbers.support_)


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
        assert (model.k_, model.choice_.model.size) == (0, 0)
        assert model.choice_.why.startswith("0 features: ")
    rng = np.random.default_rng(0)
    empty = ez.L0RegressorCV().fit(rng.standard_normal((40, 3)), np.ones(40))
    assert empty.k_ == 0


def test_a_clear_signal_is_next_to_not_shrunk():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((80, 30))
    model = ez.L0RegressorCV().fit(Z, Z[:, 3] - 2.0 * Z[:, 7] + 1e-3 * rng.standard_normal(80))
    assert model.support_.tolist() == [3, 7]
    assert model.lambda_2_ < 1e-4
    np.testing.assert_allclose(model.coef_[[3, 7]], [1.0, -2.0], rtol=1e-2)


def test_the_same_data_lead_to_the_same_choice(chosen):
    again = clone(chosen).set_params(n_jobs=2).fit(X, LABELS)
    np.testing.assert_array_equal(again.coef_, chosen.coef_)
    assert again.choice_ == chosen.choice_
