"""The report's section "As a score card": where there is one, and what its page adds up."""

import numpy as np
import pytest

from ellzero.report.page import write_report


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.where(X[:, 0] + X[:, 1] + rng.logistic(size=300) > 0.5, "ill", "well")
    path = tmp_path_factory.mktemp("report") / "report.html"
    return path, write_report(path, X, y, max_support=3, cv=3, target="state", subject="patient", time_limit=5)


def test_a_card_is_described(reported):
    card = reported[1]["score_card"]
    assert 1 <= len(card["lines"]) <= 5
    assert all(line["name"].startswith("x") and ">=" in line["name"] for line in card["lines"])
    assert len({line["name"].split(" >=")[0] for line in card["lines"]}) == len(card["lines"])  # one about each column
    assert sum(row["rows"] for row in card["risks"]) == 300
    assert 0.5 < card["auc"] < 1.0
    assert card["proof"].startswith("Proved: no card with at most 5 questions")


@pytest.mark.parametrize(
    ("n", "settings"), [(60, {}), (300, {"time_limit": 0}), (300, {"regression": True})], ids=["few rows", "no time", "numbers"]
)
def test_other_data_have_none(tmp_path, n, settings):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] + rng.normal(size=n)
    labels = y if settings.get("regression") else np.where(y > 0, "yes", "no")
    summary = write_report(tmp_path / "report.html", X, labels, **{"max_support": 2, "cv": 3, "time_limit": 1} | settings)
    assert summary["score_card"] is None


def test_points_add_up_on_the_page(reported, browser):
    path, summary = reported
    card = summary["score_card"]
    page = browser.new_page()
    page.goto(path.as_uri())
    assert page.is_visible("#card-section")
    for box in page.query_selector_all("#card-questions input"):
        box.check()
    total = sum(line["points"] for line in card["lines"])
    risk = 100 / (1 + np.exp(-(card["scale"] * total + card["intercept"])))
    assert page.inner_text(".card-sum td").replace("\N{MINUS SIGN}", "-") == str(total)
    words = page.inner_text("#card-answer").replace("\N{NO-BREAK SPACE}", " ")
    assert f"{risk:.1f} %" in words or not 0.1 <= risk <= 99.9
    page.set_viewport_size({"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.close()
