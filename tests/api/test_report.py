"""What the report says: its figures against scikit-learn's, all kinds of problems, and nothing of the user's taken for HTML."""

import copy
import json
import re
import shlex
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, brier_score_loss, confusion_matrix, r2_score, roc_auc_score, roc_curve

import ellzero as ez
from ellzero.base.errors import InvalidInputError
from ellzero.cli import main
from ellzero.report.beside import describe_ridge, ridge_of_all
from ellzero.report.models import (
    ROC_POINTS,
    SCATTER_POINTS,
    THRESHOLDS,
    calibration,
    confusion,
    error_quantiles,
    evenly_spread,
    rates_above,
    recalibration,
    roc,
)
from ellzero.report.page import default_algorithm, render_report, write_report
from ellzero.report.proof import Proof, compare, describe_others, describe_proofs, percent_above, prove
from ellzero.report.sampling import SAMPLED, sampled_splits
from ellzero.report.summary import Beside, summarise
from ellzero.report.words import Words, named, percent_of

pytestmark = pytest.mark.filterwarnings("ignore:the chosen model has max_support")

FAST = {"max_support": 5, "shrinkage": [1e-2], "cv": 3}


def classification(seed, n=90, p=12, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * rng.uniform(0.5, 20.0, p)
    Z = X / X.std(axis=0)
    scores = np.column_stack([2.0 * Z[:, c] - Z[:, c + 1] for c in range(classes)]) + rng.standard_normal((n, classes))
    return X, np.array(["cat", "dog", "emu", "fox"])[np.argmax(scores, axis=1)]


def regression(seed, n=80, p=10):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, 3.0 * X[:, 2] - 2.0 * X[:, 5] + 7.0 + 0.5 * rng.standard_normal(n)


def fitted(X, y, kind=ez.L0ClassifierCV, sample_weight=None, **settings):
    estimator = kind(**{**FAST, "select": "size", "keep_predictions": True, **settings})
    return estimator.fit(X, y, sample_weight=sample_weight)


def data_of(page):
    """The data as a browser would read it."""
    return json.loads(re.search(r'<script type="application/json" id="report-data">(.*?)</script>', page, re.DOTALL)[1])


@pytest.mark.parametrize("weighted", [False, True])
def test_binary_figures_are_those_of_scikit_learn(weighted):
    X, y = classification(0)
    weight = np.random.default_rng(1).uniform(0.0, 2.0, len(y)) if weighted else None
    estimator = fitted(X, y, sample_weight=weight)
    summary = summarise(estimator, X, y, sample_weight=weight)
    column = estimator.cv_results_.chosen
    assert summary["kind"] == "binary"
    assert summary["positive"] == ["dog"]
    for point, model in enumerate(summary["models"]):
        decision = column.decision[:, point, 0]
        predicted = np.where(decision > 0.0, "dog", "cat")
        table = confusion_matrix(y, predicted, sample_weight=weight)
        np.testing.assert_allclose(model["confusion"], table, atol=1e-4)
        assert model["accuracy"] == pytest.approx(accuracy_score(y, predicted, sample_weight=weight))
        brier = brier_score_loss(y == "dog", expit(decision), sample_weight=weight)
        assert model["calibration"][0]["brier"] == pytest.approx(brier)
        assert model["score"] == pytest.approx(column.scores[point].mean(), rel=1e-6)
        assert model["error"] == pytest.approx(column.scores[point].std(ddof=1) / np.sqrt(3), rel=1e-6)
        if point:
            assert model["roc"][0]["auc"] == pytest.approx(roc_auc_score(y == "dog", decision, sample_weight=weight))
    if weighted:
        sides = [weight[y == label] for label in ("dog", "cat")]
        assert summary["tested_rows"] == pytest.approx([side.sum() ** 2 / (side**2).sum() for side in sides], rel=1e-5)
    else:
        decision = column.decision[:, 3, 0]
        share, mean = calibration_curve(y == "dog", expit(decision), n_bins=10, strategy="quantile")
        bins = np.array(summary["models"][3]["calibration"][0]["bins"])
        np.testing.assert_allclose(bins[:, 0], mean, atol=1e-4)
        np.testing.assert_allclose(bins[:, 1], share, atol=1e-4)
        assert bins[:, 2].sum() == len(y)


@pytest.mark.parametrize("multi_class", ["multinomial", "ovr_shared", "ovr"])
def test_multiclass_figures_are_those_of_scikit_learn(multi_class):
    X, y = classification(2, n=150, classes=3)
    estimator = fitted(X, y, partial(ez.L0ClassifierCV, multi_class=multi_class))
    summary = summarise(estimator, X, y)
    assert summary["kind"] == "multiclass"
    assert summary["classes"] == ["cat", "dog", "emu"]
    for point, model in enumerate(summary["models"]):
        decision = estimator.cv_results_.chosen.decision[:, point]
        predicted = estimator.classes_[decision.argmax(axis=1)]
        np.testing.assert_allclose(model["confusion"], confusion_matrix(y, predicted))
        shares = np.exp(decision) if multi_class == "multinomial" else expit(decision)
        shares /= shares.sum(axis=1, keepdims=True)
        for c, label in enumerate(estimator.classes_):
            assert model["calibration"][c]["brier"] == pytest.approx(brier_score_loss(y == label, shares[:, c]))
            if point:
                assert model["roc"][c]["auc"] == pytest.approx(roc_auc_score(y == label, decision[:, c]))


def test_regression_figures_are_those_of_scikit_learn():
    X, y = regression(3)
    estimator = fitted(X, y, ez.L0RegressorCV)
    summary = summarise(estimator, X, y)
    assert summary["kind"] == "regression"
    for point, model in enumerate(summary["models"]):
        predicted = estimator.cv_results_.chosen.decision[:, point, 0]
        assert model["r2"] == pytest.approx(r2_score(y, predicted))
        assert model["rmse"] == pytest.approx(np.sqrt(np.mean((y - predicted) ** 2)))
        np.testing.assert_allclose(model["predicted"], predicted, rtol=1e-6)
    np.testing.assert_allclose(summary["truth"], y, rtol=1e-6)
    assert summary["data"]["response"]["mean"] == pytest.approx(y.mean())
    assert sum(summary["data"]["response"]["histogram"]["counts"]) == len(y)


def test_models_are_those_of_the_estimator():
    X, y = classification(4)
    X[:, 7] = 3.5  # constant
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])
    estimator = fitted(frame, y)
    summary = summarise(estimator, frame, y)
    chosen = summary["models"][summary["selection"]["chosen"]]
    names = [entry["name"] for entry in summary["features"]]
    coef = dict.fromkeys(frame.columns, 0.0) | {names[f]: value for f, value in chosen["coef"][0]}
    np.testing.assert_allclose(list(coef.values()), estimator.coef_[0], rtol=1e-4)
    np.testing.assert_allclose(chosen["intercept"], estimator.intercept_, rtol=1e-4)
    np.testing.assert_allclose([entry["spread"] for entry in summary["features"]], frame[names].std(ddof=0), rtol=1e-6)
    assert summary["data"]["constant_names"] == ["column 7"]
    assert summary["selection"]["lambda_2"] == 1e-2
    for point, model in enumerate(summary["models"]):
        assert model["k"] == point
        folds = [fold[point].indices for fold in estimator.cv_results_.chosen.fold_supports]
        counts = {names[f]: share * 3 for f, share in model["use"]}
        for name, times in counts.items():
            assert times == pytest.approx(sum(frame.columns.get_loc(name) in fold for fold in folds), abs=1e-3)
        assert len(counts) == len(set(np.concatenate(folds).tolist()))


def test_sparse_data_is_summarised_as_it_is():
    X, y = classification(5)
    X *= np.random.default_rng(0).random(X.shape) < 0.3
    summaries = [summarise(fitted(data, y), data, y) for data in (X, sparse.csr_matrix(X))]
    assert [summary["data"]["sparse"] for summary in summaries] == [False, True]
    assert summaries[0]["data"]["density"] == summaries[1]["data"]["density"] == pytest.approx(np.mean(X != 0.0))
    for dense, other in zip(summaries[0]["models"], summaries[1]["models"], strict=True):
        assert dense["confusion"] == other["confusion"]
    assert summaries[1]["features"][0]["name"] == f"x{summaries[1]['features'][0]['key']}"


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "squared_error"])
def test_losses_without_probabilities_have_no_calibration(loss):
    X, y = classification(6, n=60)
    summary = summarise(fitted(X, y, loss=loss, max_support=3), X, y)
    assert all("calibration" not in model for model in summary["models"])
    assert all(model["roc"][0]["auc"] >= 0.0 for model in summary["models"])
    assert summary["loss"] == loss


def test_a_model_without_features():
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((60, 6)), np.arange(60) % 3 == 0
    summary = write_and_read(X, y, max_support=2, shrinkage=[1e-3])[0]
    assert summary["selection"]["chosen"] == 0
    assert summary["certificate"]["rows"] == []
    assert "there is nothing to prove" in summary["certificate"]["sentence"]
    assert summary["models"][0]["coef"] == [[]]
    curve = summary["models"][0]["roc"][0]
    assert (curve["auc"], curve["points"]) == (0.5, [[0.0, 0.0], [1.0, 1.0]])
    assert "uses none" in summary["lead"]


def write_and_read(X, y, **settings):
    """What `write_report` returned and wrote."""
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "report.html"
        summary = write_report(path, X, y, **{**FAST, **settings})
        return summary, path.read_text("utf-8")


def test_the_page_holds_the_data_and_loads_nothing():
    X, y = classification(8)
    summary, page = write_and_read(X, y, target="animal", date="1 May", notes=["Read on a Monday."])
    assert data_of(page) == summary
    assert summary["date"] == "1 May"
    assert summary["data"]["notes"] == ["Read on a Monday."]
    links = re.findall(r"(?:src|href)=\"([^\"]*)", page.split("<script")[0])
    assert sorted(links) == ["#chooser", "data:,"]
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src 'none'" in page


def test_the_same_input_gives_the_same_page():
    X, y = classification(9)
    pages = [re.sub(r'"seconds":[0-9.]+', "", write_and_read(X, y, date="today")[1]) for _ in range(2)]
    assert pages[0] == pages[1]
    assert write_and_read(X, y, date="tomorrow")[1] != pages[0]


EVIL = "</script><script>alert(1)</script><!--{{data}} & \u2028 'x' \"y\""


def test_names_and_labels_are_never_markup():
    X, y = classification(10)
    frame = pd.DataFrame(X, columns=[f"{EVIL} {j}" for j in range(X.shape[1])])
    labels = np.where(y == "dog", EVIL, "cat")
    summary, page = write_and_read(frame, labels, target=EVIL, title=EVIL, source=EVIL, notes=[EVIL])
    assert page.count("<script") == 2  # the data and the code
    assert page.count("</script>") == 2
    assert "alert(1)" not in page.split("<body>")[0].replace("&lt;script&gt;alert(1)&lt;/script&gt;", "")
    assert data_of(page) == summary
    assert named(EVIL) in summary["classes"]
    assert summary["features"][0]["name"].startswith(named(EVIL))
    assert summary["title"] == named(EVIL)
    assert summary["features"][0]["key"] == repr(f"{EVIL} {summary['features'][0]['name'].split()[-1]}")


def test_a_failed_report_leaves_the_old_one(tmp_path, monkeypatch):
    X, y = classification(11)
    path = tmp_path / "report.html"
    path.write_text("old")
    monkeypatch.setattr("ellzero.report.page.render_report", lambda summary: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(path, X, y, **FAST)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


def test_the_page_stays_small_with_many_features():
    rng = np.random.default_rng(12)
    rare = sparse.random(200, 99_999, density=0.01, random_state=0, format="csc", data_rvs=rng.standard_normal)
    X = sparse.hstack([rng.standard_normal((200, 1)), rare], format="csc")
    y = X[:, 0].toarray().ravel() + 0.5 * rng.standard_normal(200) > 0.0
    summary, page = write_and_read(X, y, algorithm="cd", rule="best", time_limit=0)
    assert summary["data"]["features"] == 100_000
    assert len(summary["features"]) < 100
    assert len(page) < 200_000
    assert summary["certificate"]["sentence"] == "No proof was requested."


def test_the_page_stays_small_with_many_rows():
    X, y = regression(13, n=5000, p=6)
    summary = write_and_read(X, y, regression=True)[0]
    assert len(summary["truth"]) == len(summary["models"][2]["predicted"]) == SCATTER_POINTS
    assert summary["tested"] == 5000
    assert min(summary["truth"]) == pytest.approx(y.min())
    assert max(summary["truth"]) == pytest.approx(y.max())


@pytest.mark.parametrize("seed", range(3))
def test_thinned_roc_follows_the_whole_curve(seed):
    rng = np.random.default_rng(seed)
    positive = rng.random(4000) < 0.3
    decision = positive + rng.standard_normal(4000)
    thin = roc(positive, decision, np.ones(4000))
    assert len(thin["points"]) <= ROC_POINTS
    x, y = np.array(thin["points"]).T
    whole_x, whole_y, _ = roc_curve(positive, decision, drop_intermediate=False)
    assert np.abs(np.interp(whole_x, x, y) - whole_y).max() < 0.03
    assert thin["auc"] == pytest.approx(roc_auc_score(positive, decision))
    assert thin["points"][0] == [0.0, 0.0]
    assert thin["points"][-1] == [1.0, 1.0]


def test_parts_of_held_out_figures():
    ones = np.ones(4)
    assert roc(np.ones(4, bool), np.arange(4.0), ones) is None
    assert evenly_spread(np.arange(10.0), 4).tolist() == [0, 3, 6, 9]
    assert confusion(np.array([0, 1, 1, 0]), np.array([[-1.0], [0.0], [2.0], [3.0]]), ones) == [[1.0, 1.0], [1.0, 1.0]]
    same = calibration(np.array([True, False, False, False]), np.full(4, 0.25), ones)
    assert same["bins"] == [[0.25, 0.25, 4.0]]
    unequal = calibration(np.array([True, False]), np.full(2, 0.5), np.array([3000.0, 1000.0]))
    assert unequal["bins"] == [[0.5, 0.75, 1.6]]  # the scale of the weights does not matter


@pytest.mark.parametrize("weighted", [False, True])
def test_rates_above_thresholds(weighted):
    rng = np.random.default_rng(30)
    positive, probability = rng.random(80) < 0.3, np.round(rng.random(80), 2)  # many lie on a threshold
    weight = rng.uniform(0.1, 3.0, 80) if weighted else np.ones(80)
    rates = rates_above(positive, probability, weight)
    for threshold, (found, alarms) in zip(THRESHOLDS, rates, strict=True):
        table = confusion_matrix(positive, probability > threshold, sample_weight=weight)
        assert found == pytest.approx(table[1, 1] / table[1].sum(), abs=1e-5)
        assert alarms == pytest.approx(table[0, 1] / table[0].sum(), abs=1e-5)
    assert rates_above(np.ones(80, bool), probability, weight) is None
    assert sorted(set(THRESHOLDS)) == THRESHOLDS
    assert 0.5 in THRESHOLDS


def test_errors_that_most_rows_stay_below():
    assert error_quantiles(np.arange(1.0, 11.0), np.ones(10)) == (5.0, 9.0)
    assert error_quantiles(np.array([3.0, 1.0]), np.array([1.0, 9.0])) == (1.0, 1.0)
    assert error_quantiles(np.array([2.0]), np.ones(1)) == (2.0, 2.0)


def test_shares_never_round_to_all_or_none():
    assert percent_of(4999, 5000) == "over 99.9 %"
    assert percent_of(37, 37) == "100.0 %"
    assert percent_of(1, 5000) == "under 0.1 %"
    assert percent_of(0, 37) == percent_of(0, 0) == "0.0 %"
    assert percent_of(1, 2) == "50.0 %"


def test_the_headline_counts_held_out_rows():
    X, _ = classification(31, n=300)
    rare = np.where(np.arange(300) % 60 == 0, "ill", "well")
    X[rare == "ill", 0] += 3 * X[:, 0].std()
    summary = summarise(fitted(X, rare), X, rare, words=Words(target="state", subject="person"))
    assert summary["positive"] == ["well"]
    summary = summarise(fitted(X, rare, pos_label="ill"), X, rare, words=Words(target="state", subject="person"))
    [[cleared, alarms], [missed, found]] = summary["models"][summary["selection"]["chosen"]]["confusion"]
    assert summary["plain"].startswith(
        f"For 5 of 300 people, state is ill. The model finds {found:.0f} of them and wrongly flags {alarms:.0f} of the other 29"
    )
    assert found + missed == 5
    assert cleared + alarms == 295
    weight = np.where(rare == "ill", 2.0, 1.0)
    summary = summarise(
        fitted(X, rare, sample_weight=weight, pos_label="ill"), X, rare, sample_weight=weight, words=Words(target="state")
    )
    assert summary["plain"].startswith("For 3.3 % of the rows, state is ill. The model finds ")


def test_the_area_has_delongs_interval():
    """Against the variance as DeLong wrote it: of the shares of pairs that each row is ranked correctly in."""
    rng = np.random.default_rng(41)
    positive = rng.random(200) < 0.4
    decision = np.round(positive + rng.standard_normal(200), 1)  # many are tied
    pairs = (decision[positive][:, None] > decision[~positive]) + 0.5 * (decision[positive][:, None] == decision[~positive])
    found = roc(positive, decision, np.ones(200))
    assert found["auc"] == pytest.approx(pairs.mean())
    error = np.sqrt(pairs.mean(axis=1).var() / positive.sum() + pairs.mean(axis=0).var() / (~positive).sum())
    low, high = (np.log(end / (1 - end)) for end in found["interval"])
    assert (high - low) / (2 * 1.959964) == pytest.approx(error / (found["auc"] * (1 - found["auc"])))
    assert roc(positive, decision, np.full(200, 7.0))["interval"] == pytest.approx(found["interval"])
    low, high = roc(positive, positive + 0.0, np.ones(200))["interval"]
    assert 0.9 < low < 1.0 == pytest.approx(high)  # all pairs are ranked correctly, which is no proof of perfection


def test_slope_and_intercept_of_the_calibration():
    rng = np.random.default_rng(42)
    decision = 2.0 * rng.standard_normal(20_000)
    positive = rng.random(20_000) < expit(0.5 * decision + 0.7)
    found = recalibration(positive, decision, np.ones(20_000))
    slope, low, high = found["slope"]
    assert low < 0.5 < high
    assert low < slope < high < low + 0.1
    middle, low, high = found["intercept"]  # with a slope of one
    assert expit(decision + middle).mean() == pytest.approx(positive.mean(), abs=1e-6)
    assert recalibration(positive, decision, np.full(20_000, 3.0))["slope"] == pytest.approx(found["slope"])
    assert recalibration(decision > 0.0, decision, np.ones(20_000)) is None  # no finite estimate
    X, y = classification(3)
    models = summarise(fitted(X, y), X, y)["models"]
    assert [model["calibration"][0]["line"] is None for model in models] == [True] + [False] * 5


def test_headline_and_panel_have_the_same_counts():
    X, y = classification(33)
    summary = summarise(fitted(X, y), X, y)
    model = summary["models"][summary["selection"]["chosen"]]
    counts = [
        round(share * rows) for share, rows in zip(model["above"][THRESHOLDS.index(0.5)], summary["tested_rows"], strict=True)
    ]
    assert counts == [model["confusion"][1][1], model["confusion"][0][1]]  # the panel has the headline's counts


def test_categories_are_choices_of_the_calculator():
    rng = np.random.default_rng(32)
    town = rng.choice(["Rome", "Oslo", "Bonn"], 120, p=[0.2, 0.5, 0.3])
    frame = pd.DataFrame({"age": rng.normal(50, 9, 120).round(), "town_Rome": town == "Rome", "town_Oslo": town == "Oslo"})
    y = np.where(frame["age"] / 9 + 3 * (town == "Rome") - 2 * (town == "Oslo") + rng.standard_normal(120) > 5.5, "a", "b")
    X = frame.astype(float)
    categories = {"town": {"Bonn": None, "Oslo": "town_Oslo", "Rome": "town_Rome"}, "unused": {"x": "no_feature"}}
    summary = summarise(fitted(X, y, max_support=3), X, y, words=Words(categories=categories))
    by_name = {variable["name"]: variable for variable in summary["variables"]}
    assert sorted(by_name) == ["age", "town"]
    place = {feature["name"]: f for f, feature in enumerate(summary["features"])}
    assert by_name["town"]["options"] == [
        {"label": "Bonn", "sets": []},
        {"label": "Oslo", "sets": [[place["town_Oslo"], 1.0]]},
        {"label": "Rome", "sets": [[place["town_Rome"], 1.0]]},
    ]
    assert by_name["town"]["typical"] == 1
    assert by_name["age"]["low"] == X["age"].min()
    assert by_name["age"]["whole"]
    alone = summarise(fitted(X, y, max_support=3), X, y)["variables"]
    assert [variable["kind"] for variable in alone] == ["number", "flag", "flag"]


def test_rows_without_weight_do_not_count():
    X, y = classification(14)
    weight = np.ones(len(y))
    weight[:10] = 0.0
    y[:5] = "gnu"  # a class that only such rows have
    summary = summarise(fitted(X, y, sample_weight=weight), X, y, sample_weight=weight)
    assert summary["classes"] == ["cat", "dog"]
    assert sum(entry["rows"] for entry in summary["data"]["classes"]) == len(y) - 10
    assert np.sum(summary["models"][2]["confusion"]) == len(y) - 10


@pytest.mark.parametrize("kind", ["binary", "regression"])
def test_the_certificate_is_that_of_solve(kind):
    X, y = classification(15) if kind == "binary" else regression(15)
    summary = write_and_read(X, y, regression=kind == "regression")[0]
    chosen, certificate = summary["models"][summary["selection"]["chosen"]], summary["certificate"]
    loss = "logistic" if kind == "binary" else "squared_error"
    solution = ez.solve(X, y, loss=loss, k=chosen["k"], lambda_2=1e-2, standardize=True)
    row = certificate["rows"][0]
    assert row["status"] == "optimal"
    assert row["lower_bound"] <= solution.objective
    assert row["objective"] >= solution.lower_bound
    assert row["gap"] == pytest.approx((row["objective"] - row["lower_bound"]) / row["objective"])
    assert row["gap"] <= 1e-4
    assert certificate["proved"]
    assert certificate["sentence"].startswith(f"Proved: no model with at most {chosen['k']} features fits these rows better by")
    assert float(certificate["short"].removesuffix(" %")) / 100.0 >= row["gap"]


def test_other_models_that_are_as_good():
    X, y = classification(15)
    twice = np.c_[X, X[:, 0], X[:, 1]]
    summary = write_and_read(twice, y)[0]
    others, k = summary["others"], summary["models"][summary["selection"]["chosen"]]["k"]
    found = ez.alternatives(twice, y, k=k, lambda_2=1e-2, standardize=True, within=0.01)
    assert others["models"] == len(found) > 1
    assert others["sentence"] == f"{len(found)} models are within 1 % of the best objective. Proved: there are no others."
    assert [feature["share"] for feature in others["features"]] == [use.share for use in found.features]
    marks = np.array([feature["signs"] for feature in others["features"]])
    assert sorted(marks.T.tolist()) == sorted(np.sign(found.coefficients[:15, :20]).tolist())  # equals are in any order
    assert any("stand in for others" in words for words in others["words"])
    alone = ez.alternatives(twice, y, k=0, lambda_2=1e-2, standardize=True, within=0.01)
    assert describe_others(alone)["words"] == []  # which of one model's features all use is no news
    assert write_and_read(twice, y, time_limit=0)[0]["others"] is None


def test_each_class_has_a_certificate():
    X, y = classification(16, n=150, classes=3)
    summary = write_and_read(X, y, multi_class="ovr")[0]
    k = summary["selection"]["chosen"]
    rows = summary["certificate"]["rows"]
    assert [row["label"] for row in rows] == summary["classes"]
    sentence = summary["certificate"]["sentence"]
    assert f"for each class against the rest: no model with at most {k} features" in sentence
    for row, label in zip(rows, summary["classes"], strict=True):
        solution = ez.solve(X, y == label, k=k, lambda_2=1e-2, standardize=True)
        assert row["lower_bound"] <= solution.objective <= row["objective"] * (1.0 + 1e-9)
    for multi_class, target, loss in (
        ("multinomial", y, "multinomial"),
        ("ovr_shared", y[:, None] == np.unique(y), "logistic"),
    ):
        shared = write_and_read(X, y, multi_class=multi_class)[0]
        k = shared["selection"]["chosen"]
        solution = ez.solve(X, target, k=k, loss=loss, lambda_2=1e-2, standardize=True)
        row = shared["certificate"]["rows"][0]
        assert len(shared["certificate"]["rows"]) == 1
        assert row["lower_bound"] <= solution.objective <= row["objective"] * (1.0 + 1e-9)
        assert f"no model with at most {k} features" in shared["certificate"]["sentence"]


def test_a_proof_that_was_cut_short_says_so():
    X, y, _ = ez.datasets.make_classification(100, 500, 10, s=0.3, random_state=0)
    solution = ez.solve(X, y, k=6, lambda_2=1e-4, standardize=True, node_limit=1)
    assert solution.status == "node_limit"
    certificate = describe_proofs([Proof(solution, solution.objective)], "6 features", ["y"])
    assert not certificate["proved"]
    assert certificate["sentence"].startswith("Proved so far, in ")
    assert certificate["short"] in certificate["sentence"]
    nothing = Proof(solution, solution.objective + 1e9)
    assert describe_proofs([nothing], "6 features", ["y"])["sentence"].startswith("Nothing is proved so far")


def test_a_proof_under_an_assumption_says_so():
    X, y = classification(17)
    summary = write_and_read(X, y, penalty="l0", shrinkage=None)[0]
    assert "conditional: it assumes that no coefficient" in summary["certificate"]["sentence"]
    assert summary["certificate"]["rows"][0]["conditional"]


def test_a_better_model_that_the_proof_found_is_taken():
    X, y = classification(18)
    solution = ez.solve(X, y, k=2, lambda_2=1e-2, standardize=True)
    same = compare(solution, solution.objective * 1.25, solution.support)  # by its tolerance, not by its features
    assert (same.gained, describe_proofs([same], "2 features", ["dog"])["short"]) == (0.0, "21 %")  # 1 - 1 / 1.25, rounded up
    taken = compare(solution, solution.objective * 1.25, np.array([10, 11]))
    assert (taken.objective, taken.gained) == (solution.objective, pytest.approx(0.2))
    certificate = describe_proofs([taken], "2 features", ["dog"])
    assert certificate["proved"]
    assert "The exact search found the model on this page. The faster search" in certificate["sentence"]
    assert "worse by up to 20 %" in certificate["sentence"]


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.0, "0 %"),
        (1e-12, "0.000001 %"),
        (9.41e-5, "0.0095 %"),
        (1e-4, "0.010 %"),
        (0.1234, "13 %"),
        (0.5, "50 %"),
        (1.5, "150 %"),
    ],
)
def test_percentages_are_rounded_up(share, words):
    assert percent_above(share) == words


def test_snippets_quote_what_needs_it():
    X, y = classification(19)
    labels = np.where(y == "dog", "it's", "cat")
    estimator = fitted(X, labels, class_weight="balanced")
    words = Words(target="my target; rm", source="my data.csv")
    summary = summarise(estimator, X, labels, words=words)
    python, shell = summary["code"]["blocks"]
    assert "--target 'my target; rm'" in "5".join(shell["parts"])
    assert "'my data.csv'" in "5".join(shell["parts"])
    assert "class_weight='balanced'" in python["parts"][1]
    scope = {"X": X, "y": labels, "new_rows": X}
    code = "3".join(python["parts"]).replace('model.save("model.json")', "").split("\n\nez.load")[0]
    exec(code, scope)
    assert np.count_nonzero(scope["model"].coef_) == 3
    assert np.array_equal(np.unique(scope["model"].predict(X)), np.unique(labels))
    model = summary["models"][3]
    np.testing.assert_allclose(scope["model"].intercept_, model["intercept"], rtol=1e-2)


def test_commands_say_what_the_page_shows():
    X, y = classification(23, n=150, classes=3)
    settings = {"fit_intercept": False, "lower": -3.0, "arguments": ["--weight", "my weight"], "loss": "squared_hinge"}
    blocks = write_and_read(X, y, target="animal", multi_class="ovr", **settings)[0]["code"]["blocks"]
    fit, certify = ("2".join(block["parts"]) for block in blocks[1:])
    problem = "--loss squared_hinge --lambda-1 0 --lambda-2 0.01 --no-intercept --lower -3 --multi-class ovr"
    data = "data.csv --target animal --weight 'my weight'"
    assert fit == f"ellzero fit {data} --k 2 {problem} --out model.json\nellzero predict model.json new.csv"
    problem = problem.removesuffix(" --multi-class ovr")
    assert certify == (
        f"ellzero certify {data} --k 2 {problem} --positive cat --out proof.npz\nellzero verify proof.npz {data} --positive cat"
    )
    X, y = regression(23)
    blocks = write_and_read(X, y, regression=True, penalty="l0", shrinkage=None)[0]["code"]["blocks"]
    fit, certify = ("2".join(block["parts"]) for block in blocks[1:])
    assert "--regression --lambda-1 0 --lambda-2 0 --out model.json" in fit
    assert "--bound heuristic" in certify
    assert certify.endswith("ellzero verify proof.npz data.csv --target y --regression")
    assert len(write_and_read(X, y, regression=True, unpenalized=[0])[0]["code"]["blocks"]) == 1
    python, fit, _ = write_and_read(X, y, regression=True, algorithm="cd")[0]["code"]["blocks"]
    assert "algorithm='cd'" in python["parts"][1]
    assert "--algorithm cd" in fit["parts"][1]


@pytest.mark.parametrize("kind", ["binary", "multiclass", "regression"])
def test_commands_run_as_they_stand(kind, tmp_path, monkeypatch, capsys):
    X, y = regression(24) if kind == "regression" else classification(24, n=150, classes=2 + (kind == "multiclass"))
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])
    monkeypatch.chdir(tmp_path)
    frame.to_csv("new.csv", index=False)
    frame.assign(**{"the target": y}).to_csv("my data.csv", index=False)
    words = {"target": "the target", "source": "my data.csv"}
    summary = write_report("report.html", frame, y, regression=kind == "regression", **words, **FAST)
    chosen = summary["models"][summary["selection"]["chosen"]]
    for block in summary["code"]["blocks"][1:]:
        for line in str(chosen["k"]).join(block["parts"]).splitlines():
            assert main(shlex.split(line)[1:]) == 0, line
    assert "Certificate: valid" in capsys.readouterr().out
    coef = np.atleast_2d(ez.load("model.json").coef_)
    used = [sorted(summary["features"][f]["name"] for f, _ in row) for row in chosen["coef"]]
    assert [sorted(frame.columns[row != 0.0]) for row in coef] == used


SCORES = [("accuracy", "held-out accuracy", 1), ("neg_log_loss", "held-out log loss", -1)]


@pytest.mark.parametrize(("scoring", "name", "sign"), SCORES)
def test_scores_have_names(scoring, name, sign):
    X, y = classification(20)
    summary = summarise(fitted(X, y, scoring=scoring), X, y)
    assert summary["selection"]["score_name"] == name
    assert summary["selection"]["sign"] == sign


def test_an_estimator_without_predictions_is_refused():
    X, y = classification(21)
    with pytest.raises(InvalidInputError, match="estimator must be fitted with"):
        summarise(ez.L0ClassifierCV(**FAST, select="size").fit(X, y), X, y)


def test_the_page_is_made_of_the_template_alone():
    X, y = classification(22)
    page = render_report(summarise(fitted(X, y), X, y))
    assert "{{" not in page.split("report-data")[0]
    assert page.startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")


@pytest.mark.parametrize(("shrinkage", "pos_label"), [([1e-3], None), ([0.1, 1e-3], None), ([1e-3], 0)])
def test_the_page_shows_the_best_model_known(shrinkage, pos_label, tmp_path):
    """Coordinate descent ends at a worse model of seven features of these; the exact search finds a better one."""
    data = load_breast_cancer(as_frame=True)
    settings = {"max_support": 7, "shrinkage": shrinkage, "pos_label": pos_label, "random_state": 0, "rule": "best"}
    summary = write_report(tmp_path / "page.html", data.data, data.target, algorithm="cd", **settings)
    certificate, chosen = summary["certificate"], summary["models"][summary["selection"]["chosen"]]
    assert chosen["k"] == 7
    assert certificate["gained"] > 1e-3
    assert (
        "The exact search found the model on this page. The faster search, which all held-out figures are from"
        in (certificate["sentence"])
    )
    coef = np.zeros(30)
    for feature, value in chosen["coef"][0]:
        coef[data.data.columns.get_loc(summary["features"][feature]["name"])] = value
    positive = data.target == (1 if pos_label is None else pos_label)
    value = ez.objective(data.data, positive, coef, chosen["intercept"][0], lambda_2=1e-3, standardize=True)
    assert value == pytest.approx(certificate["rows"][0]["objective"], rel=1e-5)
    assert value <= ez.fit_sizes(data.data, data.target, [7], lambda_2=1e-3, standardize=True).objective[0] * (1 + 1e-5)
    assert "algorithm='exact'" in summary["code"]["blocks"][0]["parts"][1]
    local = write_report(tmp_path / "page.html", data.data, data.target, time_limit=0, **settings)
    assert "algorithm" not in local["code"]["blocks"][0]["parts"][1]  # local search is the default, of the page's code, too


def test_a_proof_changes_nothing_of_the_estimator():
    """The page shows the better model of the exact search; what cross-validation found stays."""
    X, y = load_breast_cancer(return_X_y=True)
    settings = {"select": "size", "max_support": 7, "shrinkage": [0.1, 1e-3], "keep_predictions": True}
    estimator = ez.L0ClassifierCV(algorithm="cd", **settings).fit(X, y)
    before = copy.deepcopy(estimator)
    proofs = prove(estimator, X, y, sample_weight=None, seconds=30.0, progress=False)
    assert proofs[0].gained > 1e-3
    shown = summarise(estimator, X, y, beside=Beside(proofs=proofs))["models"][7]["coef"][0]
    assert [value for _, value in shown] != pytest.approx(estimator.coef_[0][estimator.support_].tolist())
    np.testing.assert_array_equal(estimator.coef_, before.coef_)
    for mine, theirs in zip(estimator.cv_results_.columns, before.cv_results_.columns, strict=True):
        for name in ("size", "scores", "intercept", "decision"):
            np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name))
        assert all((one != other).nnz == 0 for one, other in zip(mine.coef, theirs.coef, strict=True))


def test_the_positive_label_turns_the_page_around():
    """A page about the first class says of it what a page about the second one says of a target with the labels exchanged."""
    X, y = classification(25)
    twice, exchanged = np.c_[X, X[:, 0]], np.where(y == "cat", "dog", "cat")
    page, other = write_and_read(twice, y, pos_label="cat")[0], write_and_read(twice, exchanged)[0]
    assert page["classes"] == other["classes"][::-1] == ["dog", "cat"]
    assert page["positive"] == ["cat"]
    assert page["code"]["labels"] == ["'dog'", "'cat'"]
    assert "# columns: 'cat', 'dog'" in page["code"]["blocks"][0]["parts"][1]  # as predict_proba has them
    assert page["others"]["features"] == other["others"]["features"]
    assert page["prevalence"] == other["prevalence"]
    for mine, theirs in zip(page["models"], other["models"], strict=True):
        assert mine["confusion"] == theirs["confusion"]
        np.testing.assert_allclose(mine["intercept"], theirs["intercept"], rtol=1e-5, atol=1e-9)
        np.testing.assert_allclose(mine["coef"][0], theirs["coef"][0], rtol=1e-5, atol=1e-9)
        np.testing.assert_allclose(mine["above"], theirs["above"], atol=1e-5)
        assert mine["roc"][0]["auc"] == pytest.approx(theirs["roc"][0]["auc"])


def test_local_search_is_the_default_unless_the_data_is_large():
    assert default_algorithm(np.zeros((500, 30)), None, False) == "local_search"
    assert default_algorithm(sparse.csr_matrix((20_000, 10_000)), None, False) == "cd"
    assert default_algorithm(sparse.csr_matrix((20_000, 1000)), 2, False) == "local_search"
    assert default_algorithm(np.zeros((20_000, 40)), None, False) == "cd"
    assert default_algorithm(np.zeros((20_000, 40)), None, True) == "local_search"  # squared error is fast on many rows


def test_many_rows_are_sampled_for_cross_validation(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((SAMPLED + 3000, 6))
    y = np.where(X[:, 0] + rng.standard_normal(len(X)) > 1.5, "rare", "usual")
    weight = np.where(np.arange(len(X)) < 100, 0.0, 1.0)
    summary = write_report(tmp_path / "a.html", X, y, sample_weight=weight, **FAST, time_limit=0)
    assert summary["tested"] == SAMPLED
    assert summary["plain"].endswith(f"The final model was fitted on all {SAMPLED + 2900:,} rows.")
    assert any(f"{SAMPLED:,} of the {len(X):,} rows" in note for note in summary["data"]["notes"])
    splits = sampled_splits(y, weight, 5, classes=True)
    tests = np.concatenate([test for _, test in splits])
    assert len(np.unique(tests)) == SAMPLED
    assert tests.min() >= 100
    for train, test in splits:
        assert len(train) == 0.8 * SAMPLED
        assert not np.intersect1d(train, test).size
        assert np.mean(y[test] == "rare") == pytest.approx(np.mean(y[100:] == "rare"), abs=1e-3)
    assert sampled_splits(y, None, [(np.arange(10), np.arange(10, 20))], classes=True) is None
    assert sampled_splits(y[:SAMPLED], None, 5, classes=True) is None


@pytest.mark.parametrize("kind", ["binary", "multiclass", "regression"])
def test_a_model_of_all_features_and_other_rows_stand_beside(kind):
    X, y = regression(40) if kind == "regression" else classification(40, n=150, classes=2 + (kind == "multiclass"))
    other, truth = regression(41) if kind == "regression" else classification(41, n=90, classes=2 + (kind == "multiclass"))
    is_numbers = kind == "regression"
    summary = write_and_read(X, y, regression=is_numbers, test=(other, truth), time_limit=0)[0]
    k = summary["selection"]["chosen"]
    found = summary["models"][k]["test"]
    model = (ez.L0Regressor if is_numbers else ez.L0Classifier)(k=k, lambda_2=1e-2).fit(X, y)
    if is_numbers:
        assert found["r2"] == pytest.approx(r2_score(truth, model.predict(other)), rel=1e-4)
    else:
        assert found["accuracy"] == pytest.approx(accuracy_score(truth, model.predict(other)))
        scores = np.reshape(model.decision_function(other), (len(other), -1))
        for c, label in enumerate(summary["positive"]):
            assert found["roc"][c]["auc"] == pytest.approx(roc_auc_score(truth == label, scores[:, c]))
            assert set(found["roc"][c]) == {"auc", "interval"}  # no curves: the page stays small
    ridge = summary["ridge"]
    assert f"all {X.shape[1]} features" in ridge["words"]
    measure = "r2" if is_numbers else "accuracy"
    assert 0.3 < ridge[measure] <= 1.0
    assert "played no part" in summary["test"]["words"]
    with pytest.raises(InvalidInputError, match="test must have the"):
        write_and_read(X, y, regression=is_numbers, test=(other[:, 1:], truth), time_limit=0)
    if not is_numbers:
        with pytest.raises(InvalidInputError, match="test has the label 'yak', which y does not have"):
            write_and_read(X, y, test=(other, np.where(truth == "cat", "yak", truth)), time_limit=0)


def test_the_ridge_is_that_of_cross_validation():
    X, y = classification(43)
    estimator = fitted(X, y)
    ridge = ridge_of_all(estimator, X, y, None)
    assert np.count_nonzero(ridge.coef_) == X.shape[1]
    pairs = zip(ridge.cv_results_.splits, estimator.cv_results_.splits, strict=True)
    assert all((one[1] == other[1]).all() for one, other in pairs)
    found = describe_ridge(ridge, (y == "dog").astype(int), np.ones(len(y)), "binary", "logistic", "5 features")
    decision = ridge.cv_results_.chosen.decision[:, ridge.cv_results_.best[1], 0]
    assert found["roc"][0]["auc"] == pytest.approx(roc_auc_score(y == "dog", decision))
    assert ridge_of_all(estimator, sparse.csr_matrix((10, 5000)), y, None) is None  # it would take long
