"""The report in a browser: the slider moves, tables and charts follow, nothing is loaded, and it fits a phone.

The browser is Chromium: ELLZERO_CHROMIUM names its executable, otherwise the first on the path is taken.
"""

from itertools import chain

import numpy as np
import pandas as pd
import pytest
from support.browser import EVIL, Shown, luminance, parsed

from ellzero.report.page import write_report

pytestmark = pytest.mark.filterwarnings("ignore:the chosen model has max_support")

KINDS = ("binary", "multiclass", "regression")


def make_data(kind):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((120, 12)) * np.arange(1, 13), columns=[f"column {j}" for j in range(12)])
    X = X.rename(columns={"column 0": EVIL, "column 1": "a name that is " + "very " * 20 + "long"})
    Z = X.to_numpy() / np.arange(1, 13)
    if kind == "regression":
        return X, 5.0 * Z[:, 0] - 3.0 * Z[:, 1] + Z[:, 4] + rng.standard_normal(120)
    signal = np.column_stack([2.0 * Z[:, 0] - Z[:, 4], 2.0 * Z[:, 1], Z[:, 2] - Z[:, 3]]) + rng.standard_normal((120, 3))
    return X, np.array(["ash", f"birch {EVIL}", "cedar"])[signal[:, : 2 + (kind == "multiclass")].argmax(axis=1)]


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Of each kind of problem the address of its page and what the page should show."""
    out = {}
    for kind in KINDS:
        path = tmp_path_factory.mktemp(kind) / "report.html"
        X, y = make_data(kind)
        settings = {"max_support": 8, "shrinkage": [1e-2], "rule": "one_se", "target": f"tree {EVIL}", "date": "May"}
        out[kind] = path.as_uri(), write_report(path, X, y, regression=kind == "regression", **settings)
    return out


@pytest.fixture
def show(browser, reports):
    opened = []

    def open_report(kind, **options):
        address, summary = reports[kind]
        opened.append(Shown(browser, address, **options))
        return opened[-1], summary

    yield open_report
    for shown in opened:
        shown.close()


def check_coefficients(shown, summary, model, c=0):
    """The table of the model is the data's, the largest effect first."""
    *rows, intercept = shown.rows("#coef")
    features = summary["features"]
    wanted = sorted(model["coef"][c], key=lambda pair: -abs(pair[1] * features[pair[0]]["spread"]))
    assert [row[0] for row in rows] == [features[f]["name"].strip() for f, _ in wanted]
    assert [parsed(row[1]) for row in rows] == pytest.approx([value for _, value in wanted], rel=1e-3)
    effects = [value * features[f]["spread"] for f, value in wanted]
    assert [parsed(row[2]) for row in rows] == pytest.approx(effects, rel=1e-2)
    if summary["loss"] == "logistic":
        assert [parsed(row[3]) for row in rows] == pytest.approx(np.exp(effects), rel=1e-2)
    folds = dict(model["use"])
    assert [row[-1] for row in rows] == [f"{round(5 * folds.get(f, 0.0))}/5" for f, _ in wanted]
    assert parsed(intercept[1]) == pytest.approx(model["intercept"][c], rel=1e-3, abs=1e-9)


def check_fit(shown, summary, model, c=0):
    """Confusion matrix and area under the curve, or R^2, are the data's."""
    if summary["kind"] == "regression":
        assert parsed(shown.text("#r2").removeprefix("R² ")) == pytest.approx(model["r2"], abs=6e-4)
        assert shown.page.locator("#scatter circle").count() == len(summary["truth"])
        return
    table = [[parsed(cell.split("\n")[0]) for cell in row[1:]] for row in shown.rows("#confusion")]
    assert table == model["confusion"]
    assert parsed(shown.text("#auc").removeprefix("AUC ")) == pytest.approx(model["roc"][c]["auc"], abs=6e-4)
    assert f"{100 * model['accuracy']:.1f} %" in shown.text("#rates")
    assert parsed(shown.text("#calibration-note b").removeprefix("Brier score ")) == pytest.approx(
        model["calibration"][c]["brier"], abs=6e-4
    )


@pytest.mark.parametrize("kind", KINDS)
def test_tables_follow_the_slider_by_keyboard(show, kind):
    shown, summary = show(kind)
    chosen = summary["selection"]["chosen"]
    assert shown.value() == chosen
    check_coefficients(shown, summary, summary["models"][chosen])
    check_fit(shown, summary, summary["models"][chosen])
    shown.page.focus("#size")
    shown.page.keyboard.press("Home")
    seen = set()
    for at, model in enumerate(summary["models"]):
        assert shown.value() == at
        words = shown.page.locator("#size").get_attribute("aria-valuetext")
        assert words.startswith(f"{at} feature")
        assert shown.text("#now").startswith(words.split(" (")[0])
        check_coefficients(shown, summary, model)
        check_fit(shown, summary, model)
        seen.add(shown.text("#coef"))
        shown.page.keyboard.press("ArrowRight")
    assert shown.value() == len(summary["models"]) - 1  # the end of the slider
    assert len(seen) == len(summary["models"])


def test_the_slider_moves_by_mouse_and_back(show):
    shown, summary = show("binary")
    chosen, last = summary["selection"]["chosen"], len(summary["models"]) - 1
    back = shown.page.locator("#back")
    assert back.is_disabled()
    shown.page.locator("#size").scroll_into_view_if_needed()
    box = shown.page.locator("#size").bounding_box()
    shown.page.mouse.move(box["x"] + 8, box["y"] + box["height"] / 2)
    shown.page.mouse.down()
    assert shown.value() == 0
    assert "No features" in shown.text("#coef-note")
    shown.page.mouse.move(box["x"] + box["width"] - 8, box["y"] + box["height"] / 2, steps=5)
    shown.page.mouse.up()
    assert shown.value() == last
    check_coefficients(shown, summary, summary["models"][last])
    back.click()
    assert shown.value() == chosen
    check_coefficients(shown, summary, summary["models"][chosen])
    assert back.is_disabled()
    shown.page.click("#larger")
    assert shown.value() == chosen + 1
    shown.page.click("#smaller")
    assert shown.value() == chosen


def test_a_click_on_the_score_chooses_a_size(show):
    shown, summary = show("binary")
    dots = shown.page.locator("#score circle")
    dots.nth(1).click(force=True)
    assert shown.value() == 1
    check_fit(shown, summary, summary["models"][1])


def test_charts_explain_themselves(show):
    shown, summary = show("regression")
    tip = shown.page.locator("#tip")
    assert tip.is_hidden()
    shown.page.locator("#score circle").nth(2).hover(force=True)
    assert tip.is_visible()
    assert tip.inner_text().startswith("2 features\nheld-out squared error, halved: ")
    assert parsed(tip.inner_text().split(": ")[1].split(" ±")[0]) == pytest.approx(-summary["models"][2]["score"], rel=1e-3)
    shown.page.mouse.move(2, 2)
    assert tip.is_hidden()
    for chart in ("score", "along", "scatter", "stability"):
        assert shown.page.locator(f"#{chart} svg[role=img]").get_attribute("aria-label")


def test_each_class_has_its_tables(show):
    shown, summary = show("multiclass")
    model = summary["models"][summary["selection"]["chosen"]]
    for c in range(3):
        shown.page.select_option("#class", str(c))
        check_coefficients(shown, summary, model, c)
        check_fit(shown, summary, model, c)
    assert len(shown.rows("#certificate")) == 1  # all classes share their features
    table = {row[0]: row[1:] for row in shown.rows("#coef-classes table")}
    for c, pairs in enumerate(model["coef"]):
        for f, value in pairs:
            assert parsed(table[summary["features"][f]["name"]][c]) == pytest.approx(value, rel=1e-3)
        assert parsed(table["intercept"][c]) == pytest.approx(model["intercept"][c], rel=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_headline_data_and_certificate(show, kind):
    shown, summary = show(kind)
    assert shown.text("h1") == summary["title"]
    assert EVIL in shown.text("h1")
    assert shown.page.title() == summary["title"]
    assert shown.text("#certificate-sentence") == summary["certificate"]["sentence"]
    assert "Proved" not in shown.text("header")  # the proof is not about how well the model predicts
    rows = shown.rows("#certificate")
    assert len(rows) == len(summary["certificate"]["rows"])
    for row, wanted in zip(rows, summary["certificate"]["rows"], strict=True):
        shift = len(row) - 6
        assert parsed(row[shift]) == pytest.approx(wanted["objective"], rel=1e-6)
        assert parsed(row[shift + 1]) == pytest.approx(wanted["lower_bound"], rel=1e-6)
        assert row[-1] == wanted["status"]
    assert shown.text("#data").startswith("rows\n120\nfeatures\n12")
    for entry in summary["data"].get("classes", []):
        assert f"{entry['label']}\t{entry['rows']}\t{100 * entry['share']:.1f} %" in shown.text("#target")
    assert "May" in shown.text("#footer")
    others = summary["others"]
    assert (others is None) == (kind == "multiclass")
    sections = {"regression": 12, "multiclass": 13, "binary": 15 + (summary["score_card"] is not None)}
    assert shown.page.locator("section:visible").count() == sections[kind] + (others is not None)
    assert shown.text("#plain") == summary["plain"]
    if others is not None:
        assert shown.text("#others-sentence") == others["sentence"]
        signs = {1: "+", -1: "\u2212", 0: ""}
        wanted = [[feature["name"], *map(signs.get, feature["signs"])] for feature in others["features"]]
        assert [row[:-1] for row in shown.rows("#others")] == (wanted if others["models"] > 1 else [])
    # Everything of the user's is text.
    assert shown.page.locator("script").count() == 2
    assert shown.page.locator("img").count() == 0


@pytest.fixture(scope="module")
def fragile(tmp_path_factory):
    """A page about eight rows of a class, which a few features tell from the others, with values that were missing."""
    X, _ = make_data("binary")
    y = np.full(120, "well")
    y[np.argsort(-(X.iloc[:, 2] / 3.0 + X.iloc[:, 3] / 4.0).to_numpy())[:8]] = "ill"
    path = tmp_path_factory.mktemp("fragile") / "report.html"
    missing = [(EVIL, 5, 1.25), ("town", 2, "(missing)")]
    return path.as_uri(), write_report(path, X, y, max_support=6, shrinkage=[1e-3], cv=3, missing=missing)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_cautions_and_gaps_are_shown(browser, fragile, scheme):
    address, summary = fragile
    shown = Shown(browser, address, color_scheme=scheme, viewport={"width": 360, "height": 740})
    chosen = summary["models"][summary["selection"]["chosen"]]
    assert chosen["cautions"]
    for text in chosen["cautions"]:
        assert text in shown.text("#cautions")
    style = "node => [getComputedStyle(node).color, getComputedStyle(node).backgroundColor]"
    low, high = sorted(map(luminance, shown.page.locator("#cautions").evaluate(style)))
    assert (high + 0.05) / (low + 0.05) >= 4.5
    for at, model in enumerate(summary["models"]):
        shown.page.locator("#size").fill(str(at))
        assert shown.page.locator("#model-cautions").is_visible() == bool(model["cautions"])
        if model["cautions"]:
            assert shown.text("#model-cautions").endswith(model["cautions"][-1])
        assert shown.overflow() <= 0
    assert [bool(model["cautions"]) for model in summary["models"]][:2] == [False, False]
    assert "7 values in 2 columns, filled before the fit" in shown.text("#data")
    gaps = [[cell.replace("\u00a0", " ") for cell in row] for row in shown.rows("#gaps")]
    assert gaps == [[EVIL, "5 (4.2 %)", "median 1.25"], ["town", "2 (1.7 %)", "category (missing)"]]
    # The words of the proof say first what it is not about, and its box is not green.
    assert shown.text("#certificate-sentence").startswith("Proved: no model with")
    border, green = shown.page.evaluate(
        "() => [getComputedStyle(document.getElementById('certificate-sentence')).borderLeftColor,"
        " getComputedStyle(document.documentElement).getPropertyValue('--good')]"
    )
    assert border != "rgb({}, {}, {})".format(*(int(green.strip()[k : k + 2], 16) for k in (1, 3, 5)))
    shown.close()
    blind = Shown(browser, address, java_script_enabled=False)
    assert chosen["cautions"][0] in blind.text("noscript")
    blind.context.close()


def test_code_follows_the_slider(show):
    shown, summary = show("binary")
    shown.page.focus("#size")
    shown.page.keyboard.press("Home")
    for _ in range(2):
        shown.page.keyboard.press("ArrowRight")
    python, formula, shell, _ = shown.page.locator("#code pre").all_inner_texts()
    assert "ez.L0Classifier(k=2" in python
    assert " --k 2 " in shell
    X, y = make_data("binary")
    names = {"row": X.iloc[3].to_dict()}
    exec(formula, names)
    score = sum(value * X.iloc[3][summary["features"][f]["name"]] for f, value in summary["models"][2]["coef"][0])
    assert names["score"] == pytest.approx(score + summary["models"][2]["intercept"][0])
    assert names["label"] in y
    assert names["probability"] == pytest.approx(1.0 / (1.0 + np.exp(-names["score"])))
    copy = shown.page.locator(".copy").first
    copy.click()
    shown.page.wait_for_function("() => document.querySelector('.copy').textContent !== 'Copy'")


@pytest.mark.parametrize("kind", KINDS)
def test_it_fits_a_phone(show, kind):
    shown, summary = show(kind, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    for at in (0, len(summary["models"]) - 1):
        shown.page.locator("#size").fill(str(at))
        assert shown.overflow() <= 0
    for box in chain(shown.page.locator(".chart svg").all(), shown.page.locator("section").all()):
        edges = box.bounding_box()
        scrolls = box.evaluate("node => node.closest('.scroll') !== null")
        assert scrolls or edges["x"] + edges["width"] <= 360
    assert float(shown.page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)")) >= 16.0
    shown.page.locator("#larger").scroll_into_view_if_needed()
    shown.page.locator("#smaller").tap()
    assert shown.value() == len(summary["models"]) - 2


def test_charts_take_the_width_of_the_window(show):
    shown, _ = show("binary", viewport={"width": 1280, "height": 800})
    wide = shown.page.locator("#score svg").bounding_box()["width"]
    shown.page.set_viewport_size({"width": 500, "height": 800})
    shown.page.wait_for_function("() => document.querySelector('#score svg').getBoundingClientRect().width < 500")
    assert wide > 900
    assert shown.overflow() <= 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_colour_schemes_are_legible(show, scheme):
    shown, _ = show("binary", color_scheme=scheme)
    style = "node => [getComputedStyle(node).color, getComputedStyle(node.closest('section, body')).backgroundColor]"
    for selector in ("h1", "#coef-note", "#coef tbody th", "#coef thead th"):
        text, ground = shown.page.locator(selector).first.evaluate(style)
        low, high = sorted([luminance(text), luminance(ground)])
        assert (high + 0.05) / (low + 0.05) >= 4.5, selector
    dark = luminance(shown.page.evaluate("getComputedStyle(document.body).backgroundColor")) < 0.2
    assert dark == (scheme == "dark")


def test_paper_is_white_and_has_no_slider(show):
    shown, _ = show("binary", color_scheme="dark")
    shown.page.emulate_media(media="print")
    assert luminance(shown.page.evaluate("getComputedStyle(document.body).backgroundColor")) > 0.9
    assert luminance(shown.page.evaluate("getComputedStyle(document.body).color")) < 0.1
    assert shown.page.locator("#size").is_hidden()
    assert shown.page.locator("#now").is_visible()


def test_without_javascript_the_result_can_be_read(show):
    shown, summary = show("binary", java_script_enabled=False)
    assert summary["certificate"]["sentence"] in shown.text("noscript")
