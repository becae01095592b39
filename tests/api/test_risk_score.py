"""Score cards as people use them: fit, predict, list, print, save; and what is refused, in a sentence."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import ellzero as ez


def table(n=400, seed=0):
    """Questions with names, and labels in text."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 90, n)
    X = pd.DataFrame({"age >= 40": age >= 40, "age >= 60": age >= 60, "age >= 75": age >= 75}, dtype=int)
    X["smokes"] = rng.integers(0, 2, n)
    X["pain = much"] = (rng.random(n) < 0.2).astype(int)
    X["noise"] = rng.integers(0, 2, n)
    eta = 1.0 * X["age >= 60"] + 1.0 * X["age >= 75"] + 2.0 * X["smokes"] - 1.5 * X["pain = much"] - 1.5
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-eta)), "yes", "no")


@pytest.fixture(scope="module")
def fitted():
    X, y = table()
    return X, y, ez.RiskScore(k=3).fit(X, y)


def test_attributes_agree(fitted):
    X, y, card = fitted
    assert card.points_.dtype == np.int64
    assert card.support_.tolist() == np.flatnonzero(card.points_).tolist()
    assert len(card.support_) == 3
    assert card.status_ == "optimal"
    assert card.gap_ <= 1e-6 * (1 + 1e-9)
    score = card.predict_score(X)
    assert score.tolist() == (X.to_numpy() @ card.points_).tolist()
    risk = 1 / (1 + np.exp(-(card.scale_ * score + card.intercept_)))
    assert card.predict_proba(X)[:, 1] == pytest.approx(risk)
    assert card.predict(X).tolist() == np.where(risk > 0.5, "yes", "no").tolist()
    objective = ez.objective(X.to_numpy(float), y, card.scale_ * card.points_, card.intercept_)
    assert card.loss_ == pytest.approx(objective, rel=1e-12)
    assert ez.verify(card.certificate_, X, y, k=3, max_scale=2.0, points_lower=-5, points_upper=5).valid


def test_risks_are_observed_on_held_out_rows(fitted):
    _, y, card = fitted
    assert sum(row.rows for row in card.risk_table_) == len(y)
    assert [row.risk for row in card.risk_table_] == sorted(row.risk for row in card.risk_table_)
    mean = sum(row.rows * row.observed for row in card.risk_table_) / len(y)
    assert mean == pytest.approx(np.mean(y == "yes"))


def test_limits_are_kept():
    X, y = table()
    card = ez.RiskScore(k=4, points=(-2, 3), points_of={"smokes": (0, 1)}, one_per_variable=True).fit(X, y)
    assert card.points_.min() >= -2
    assert card.points_.max() <= 3
    assert 0 <= card.points_[3] <= 1
    assert np.count_nonzero(card.points_[:3]) <= 1
    apart = ez.RiskScore(k=4, exclusive=[["smokes", "pain = much"]]).fit(X, y)
    assert not (apart.points_[3] and apart.points_[4])
    bounded = ez.RiskScore(k=4, upper=[0, 0, 0, 9, 9, 9]).fit(X, y)
    assert (bounded.points_[:3] <= 0).all()
    assert bounded.loss_ >= ez.RiskScore(k=4).fit(X, y).loss_


def test_weights_are_repeated_rows():
    X, y = table(120)
    w = np.random.default_rng(1).integers(0, 3, len(y))
    weighted = ez.RiskScore(k=3).fit(X, y, sample_weight=w)
    repeated = ez.RiskScore(k=3).fit(X.loc[X.index.repeat(w)], np.repeat(y, w))
    assert weighted.loss_ == pytest.approx(repeated.loss_, rel=1e-9)
    assert ez.verify(weighted.certificate_, X, y).valid
    balanced = ez.RiskScore(k=2, class_weight="balanced").fit(X, y)
    assert balanced.predict_proba(X)[:, 1].mean() == pytest.approx(0.5, abs=0.1)
    assert ez.verify(balanced.certificate_, X, y).valid


def test_lists_of_cards(fitted):
    X, y, card = fitted
    found = card.alternatives(within=0.01)
    assert found.complete
    assert found.cards[0].loss == pytest.approx(card.loss_)
    assert max(each.loss for each in found.cards) <= 1.01 * card.loss_
    assert len(found.to_frame()) == len(found)
    assert ez.verify(found.certificate, X, y).valid


def test_sizes_are_chosen_by_cross_validation():
    X, y = table()
    card = ez.RiskScore(k="cv").fit(X, y)
    assert card.k_ in card.cv_losses_
    assert card.cv_losses_[card.k_] <= 1.01 * min(card.cv_losses_.values())


def test_storages_pickles_and_tools(fitted, tmp_path):
    X, y, card = fitted
    same = ez.RiskScore(k=3).fit(sparse.csc_matrix(X.to_numpy()), y)
    assert same.points_.tolist() == card.points_.tolist()
    assert pickle.loads(pickle.dumps(card)).predict_score(X).tolist() == card.predict_score(X).tolist()
    card.save(tmp_path / "model.json")
    assert ez.load(tmp_path / "model.json").predict_proba(X) == pytest.approx(card.predict_proba(X))
    search = GridSearchCV(ez.RiskScore(), {"k": [1, 2]}, cv=2).fit(X, y)
    assert search.best_params_["k"] in (1, 2)


def test_separable_data_ends_at_the_largest_scale():
    X = np.array([[1, 0], [1, 1], [0, 1], [0, 0]] * 5)
    y = X[:, 0]
    card = ez.RiskScore(k=2).fit(X, y)
    assert card.scale_ * abs(card.points_[0]) == pytest.approx(10.0)
    assert "The scale is at its limit, max_scale=2" in str(card)
    assert card.status_ == "optimal"
    assert ez.verify(card.certificate_, X, y).valid


def test_risk_slims_problem():
    X, y = table()
    card = ez.RiskScore(k=4, scale=1, whole_intercept=True, lambda_0=0.01).fit(X, y)
    assert card.scale_ == 1.0
    assert card.intercept_ == round(card.intercept_)
    assert card.status_ == "optimal"
    assert card.objective_ == pytest.approx(card.loss_ + 0.01 * len(card.support_))
    assert card.loss_ == pytest.approx(ez.objective(X.to_numpy(float), y, card.points_.astype(float), card.intercept_))
    assert ez.verify(card.certificate_, X, y, min_scale=1.0, max_scale=1.0, whole_intercept=True, lambda_0=0.01).valid
    assert card.predict_proba(X)[:, 1] == pytest.approx(1 / (1 + np.exp(-card.predict_score(X) - card.intercept_)))
    dear = ez.RiskScore(k=4, scale=1, lambda_0=0.5).fit(X, y)
    assert not dear.support_.size
    assert dear.status_ == "optimal"


def test_small_numbers_are_multiplied():
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"visits": rng.integers(0, 6, 300), "smokes": rng.integers(0, 2, 300)})
    y = rng.random(300) < 1 / (1 + np.exp(3 - 1.0 * X["visits"] - X["smokes"]))
    card = ez.RiskScore(k=2).fit(X, y)
    assert card.predict_score(X).tolist() == (X.to_numpy() @ card.points_).tolist()
    assert card.risk_table_[-1].highest == 5 * card.points_[0] + card.points_[1]
    assert ez.verify(card.certificate_, X, y).valid
    found = card.alternatives(within=0.02)
    assert found.complete
    assert ez.verify(found.certificate, X, y).valid


def test_without_time_a_card_is_there_with_its_gap():
    X, y = table()
    card = ez.RiskScore(k=3, time_limit=0.0).fit(X, y)
    assert card.status_ == "time_limit"
    assert 0.0 < card.gap_ <= 1.0
    assert ez.verify(card.certificate_, X, y).valid


def test_printing(fitted, tmp_path):
    _, _, card = fitted
    assert "+" in str(card)
    assert "proved" in str(card)
    assert card.to_frame()["points"].tolist() == sorted(card.points_[card.support_].tolist(), reverse=True)
    card.card(tmp_path / "card.html", title="<b>Risk</b>", outcome="{{yes}}")
    page = (tmp_path / "card.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;Risk" in page
    assert page.count('type="checkbox"') == 3
    assert "{{yes}}" in page
    assert "smokes" in page


def test_pages_add_up_points(fitted, tmp_path, browser):
    _, _, card = fitted
    card.card(tmp_path / "card.html")
    page = browser.new_page()
    page.goto((tmp_path / "card.html").as_uri())
    for box in page.query_selector_all("input"):
        box.check()
    assert page.inner_text("#score") == str(card.points_.sum())
    risk = 100 / (1 + np.exp(-(card.scale_ * card.points_.sum() + card.intercept_)))
    assert f"risk {risk:.1f} %" in page.inner_text("#result")
    page.set_viewport_size({"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) == 1
    page.close()


def test_interrupts_keep_the_best_card(monkeypatch):
    def stop(fraction, lambda_0, support):
        raise KeyboardInterrupt

    X, y = table()
    monkeypatch.setattr("ellzero.scores.proving.SUPPORTS_OF_A_FIT", 0.05)
    card = ez.RiskScore(k=3, progress=stop).fit(X, y)
    assert card.status_ == "interrupted"
    assert ez.verify(card.certificate_, X, y).valid


def test_interrupted_proofs_go_on(monkeypatch, tmp_path):
    calls = []

    def stop_at_times(fraction, lambda_0, support):
        calls.append(fraction)
        if len(calls) % 4 == 0:
            raise KeyboardInterrupt

    X, y = table()
    monkeypatch.setattr("ellzero.scores.proving.SUPPORTS_OF_A_FIT", 0.05)
    path, gaps, status = tmp_path / "checkpoint.npz", [], "interrupted"
    for _ in range(30):
        card = ez.RiskScore(k=3, progress=stop_at_times, checkpoint=path).fit(X, y)
        assert ez.verify(card.certificate_, X, y).valid
        gaps.append(card.gap_)
        status = card.status_
        if status == "optimal":
            break
        assert ez.verify(path, X, y).valid  # a checkpoint is a certificate
    assert status == "optimal"
    assert len(gaps) > 1
    assert gaps == sorted(gaps, reverse=True)
    assert not path.exists()
    assert card.loss_ == pytest.approx(ez.RiskScore(k=3).fit(X, y).loss_)


def test_checkpoints_of_others_are_refused(tmp_path):
    X, y = table()
    path = tmp_path / "checkpoint.npz"
    ez.RiskScore(k=3, time_limit=0.0, checkpoint=path).fit(X, y)
    with pytest.raises(ez.InvalidInputError, match="belongs to another problem"):
        ez.RiskScore(k=4, checkpoint=path).fit(X, y)
    path.write_bytes(b"nothing")
    with pytest.raises(ez.InvalidInputError, match="cannot be read"):
        ez.RiskScore(k=3, checkpoint=path).fit(X, y)
    with pytest.raises(ez.InvalidInputError, match="existing folder"):
        ez.RiskScore(k=3, checkpoint=tmp_path / "none" / "file.npz").fit(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k": 0}, "k must be an integer of at least 1"),
        ({"k": 64}, "k must be at most 63"),
        ({"points": (1, 5)}, "points must have zero in its range"),
        ({"points": (0, 0)}, "points must have zero in its range"),
        ({"points": 5}, "points must be a pair of whole numbers"),
        ({"points_of": {"sex": (0, 1)}}, "points_of names 'sex', which is not a column of X"),
        ({"points_of": {"smokes": (1, 2)}}, "points_of.*must have zero in its range"),
        ({"exclusive": [["smokes", "sex"]]}, "exclusive names 'sex'"),
        ({"max_scale": 0.0}, "max_scale must be above zero"),
        ({"scale": 0.0}, "scale must be above zero"),
        ({"whole_intercept": True}, "whole_intercept needs a scale"),
        ({"lambda_0": -1.0}, "lambda_0 must be finite and not negative"),
        ({"time_limit": -1.0}, "time_limit must be finite and not negative"),
        ({"lower": 1.0}, "lower and upper must leave zero points"),
        ({"cv": 1}, "cv must be an integer of at least 2"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    X, y = table(40)
    with pytest.raises(ez.InvalidInputError, match=message):
        ez.RiskScore(**settings).fit(X, y)


def test_one_class_and_many_are_refused():
    X, _ = table(40)
    for labels in (np.full(40, "yes"), np.arange(40) % 3):
        with pytest.raises(ez.InvalidInputError, match="two classes"):
            ez.RiskScore().fit(X, labels)


def test_raw_columns_are_refused_with_a_word_about_thresholds():
    X, y = table(40)
    for value in (1.5, -1, "much", None):
        with pytest.raises(ez.InvalidInputError, match="Thresholds makes yes-or-no columns"):
            ez.RiskScore().fit(X.assign(noise=value), y)


def test_cards_obey_rules():
    X, y = table()
    rules = [ez.requires("smokes", ["noise"]), ez.at_least(1, ["age >= 75", "age >= 40"])]
    card = ez.RiskScore(k=4, rules=rules).fit(X, y)
    assert not card.points_[3] or card.points_[5]
    assert card.points_[2] or card.points_[0]
    assert card.status_ == "optimal"
    assert card.loss_ > ez.RiskScore(k=4).fit(X, y).loss_
    assert ez.verify(card.certificate_, X, y, rules=rules).valid
    assert not ez.verify(card.certificate_, X, y, rules=rules[:1]).valid
    assert not ez.RiskScore(k=4, rules=rules, time_limit=0.0).fit(X, y).problem_.rules.broken(card.points_ != 0)
    with pytest.raises(ez.InvalidInputError, match="k must be at least 2 for the rules"):
        ez.RiskScore(k=1, rules=ez.exactly(2, ["smokes", "noise"])).fit(X, y)


def test_one_per_variable_needs_names():
    X, y = table(40)
    with pytest.raises(ez.InvalidInputError, match="columns with names such as 'age >= 60'"):
        ez.RiskScore(one_per_variable=True).fit(X.to_numpy(), y)


def test_pipelines_from_raw_columns():
    rng = np.random.default_rng(0)
    raw = pd.DataFrame({"age": rng.integers(20, 90, 300), "smokes": rng.choice(["no", "yes"], 300)})
    y = (raw["age"] > 60) & (rng.random(300) < 0.8)
    model = make_pipeline(ez.Thresholds(), ez.RiskScore(k=2)).fit(raw, y)
    assert model[-1].feature_names_in_[model[-1].support_[0]].startswith("age >= ")
    assert model.predict_proba(raw).shape == (300, 2)
