"""What a doctor uses of the report, in a browser: odds in words, the calculator, the threshold, the decision curve.

Expected figures are computed here from predictions, not from the page's tables.
"""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.metrics import confusion_matrix
from support.browser import EVIL, Shown, luminance, parsed

import ellzero as ez
from ellzero.cli import main
from ellzero.report.page import write_report

pytestmark = pytest.mark.filterwarnings("ignore:the chosen model has max_support")

ROWS = 300


def patients(seed=0):
    """A table as doctors have it: numbers, yes and no, text of two and of more values, a name that is HTML."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 90, ROWS),
            "sex": rng.choice(["female", "male"], ROWS),
            "smoker": rng.choice(["never", "former", f"now {EVIL}"], ROWS),
            EVIL: rng.normal(10.0, 2.0, ROWS).round(2),
            "diabetes": (rng.random(ROWS) < 0.3).astype(int),
        }
    )
    score = 0.06 * (frame["age"] - 60) + 1.5 * (frame["sex"] == "male") + 2.0 * frame["smoker"].str.startswith("now")
    score += 0.7 * (frame[EVIL] - 10.0) + 1.2 * frame["diabetes"] - 1.5
    return frame.assign(stroke=np.where(rng.random(ROWS) < expit(1.5 * score), "yes", "no"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The address of a page that the command line made, and the table."""
    folder = tmp_path_factory.mktemp("patients")
    frame = patients()
    frame.to_csv(folder / "data.csv", index=False)
    page = folder / "page.html"
    words = [
        "--one-hot",
        "--separate-categories",
        "--subject",
        "patient",
        "--shrinkage",
        "1e-3",
        "--max-support",
        "7",
        "--time-limit",
        "0",
        "--quiet",
    ]
    assert main(["report", str(folder / "data.csv"), "--target", "stroke", *words, "--rule", "best", "--out", str(page)]) == 0
    return page.as_uri(), frame


@pytest.fixture
def shown(browser, made):
    page = Shown(browser, made[0])
    yield page
    page.close()


def report_of(shown):
    return shown.page.evaluate("JSON.parse(document.getElementById('report-data').textContent)")


def chosen_of(report):
    return report["models"][report["selection"]["chosen"]]


def test_the_headline_counts_patients(shown, made):
    _, frame = made
    report = report_of(shown)
    [[_, alarms], [missed, found]] = chosen_of(report)["confusion"]
    there = (frame["stroke"] == "yes").sum()
    assert found + missed == there
    assert shown.text("#plain").startswith(
        f"For {there} of {ROWS} patients, stroke is yes. The model finds {found} of them and wrongly flags {alarms} of the "
        f"other {ROWS - there}."
    )
    assert shown.text("#threshold-words") == (
        f"Of {ROWS} patients, {there} are stroke = yes: {found} are found, {missed} missed. {found + alarms} are flagged, "
        f"{alarms} of them wrongly."
    )
    assert "loss" not in shown.text("header")
    assert "No proof was requested." in shown.text("#certificate-sentence")


def test_the_calculator_is_the_model(shown, made):
    """Every kind of input: a number, a yes or no, a choice of two and of three values, one of which has a name that is HTML."""
    _, frame = made
    report = report_of(shown)
    model = chosen_of(report)
    coef = {report["features"][f]["name"]: value for f, value in model["coef"][0]}
    assert {variable["kind"] for variable in report["variables"]} == {"number", "flag", "choice"}
    boxes = dict(zip(shown.page.locator("#inputs label").all_inner_texts(), range(99), strict=False))
    assert set(boxes) == {"age", "sex", "smoker", EVIL, "diabetes"}
    first = parsed(shown.page.locator(f"#input-{boxes['age']}").input_value())
    assert abs(first - frame["age"].median()) <= 1.0
    assert first in set(frame["age"])  # a value that was seen, as a mean of two need not be
    for at in (0, 7, 42):
        row = frame.iloc[at]
        for name, place in boxes.items():
            box = shown.page.locator(f"#input-{place}")
            if name in ("sex", "smoker"):
                assert box.locator("option").all_inner_texts() == sorted(frame[name].unique())
                box.select_option(label=row[name])
            elif name == "diabetes":
                box.select_option(index=int(row[name]))
            else:
                box.fill(str(row[name]))
        score = model["intercept"][0]
        for name, value in coef.items():
            column, _, label = name.partition("=")
            score += value * (float(row[name]) if name in row else float(row[column] == label))
        wanted = 100.0 * expit(score)
        said = shown.text("#answer .big")
        if 0.1 <= wanted <= 99.9:
            assert parsed(said) == pytest.approx(wanted, abs=0.06)
        else:
            assert said == ("under 0.1 %" if wanted < 1 else "over 99.9 %")
        assert "Probability of stroke = yes" in shown.text("#answer")
        assert "held-out patients" in shown.text("#answer")
    shown.page.locator("#formula summary").click()
    cells = shown.rows("#terms")
    assert parsed(cells[-2][3]) == pytest.approx(score, rel=1e-3)
    assert sum(parsed(line[3]) for line in cells[:-2]) == pytest.approx(score, abs=1e-2)
    assert [line[0] for line in cells[1:-2]] == [report["features"][f]["name"] for f, _ in model["coef"][0]]


def test_the_calculator_says_what_it_has_not_seen(shown, made):
    _, frame = made
    place = shown.page.locator("#inputs label").all_inner_texts().index("age")
    box, hint = shown.page.locator(f"#input-{place}"), f"#input-{place}-hint"
    inside = f"{frame['age'].min()} to {frame['age'].max()}"
    assert shown.text(hint) == f"in the data: {inside}"
    usual = shown.text("#answer .big")
    box.fill("140")
    assert shown.text(hint) == f"outside the data: {inside}"
    assert shown.text("#answer").startswith(f"Outside the data: age ({inside} in the data).")  # before the number
    box.fill("")
    assert shown.text(hint).startswith("empty: the median, ")
    assert shown.text("#answer").startswith("Left empty, so the median is used: age.")
    assert shown.text("#answer .big") == usual
    # What was entered stays when the size changes, if the feature stays.
    box.fill("77")
    shown.page.click("#smaller")
    labels = shown.page.locator("#inputs label").all_inner_texts()
    if "age" in labels:
        assert shown.page.locator(f"#input-{labels.index('age')}").input_value() == "77"


def test_bars_say_what_moves_the_row(shown):
    report = report_of(shown)
    coef = {report["features"][f]["name"]: value for f, value in chosen_of(report)["coef"][0]}
    assert shown.page.locator("#moves table").count() == 0  # the usual row
    labels = shown.page.locator("#inputs label").all_inner_texts()
    boxes = {name: shown.page.locator(f"#input-{labels.index(name)}") for name in labels}
    before = float(boxes["age"].input_value())
    boxes["age"].fill("80")
    boxes["diabetes"].select_option(index=1)
    wanted = {"age": (80.0 - before) * coef["age"], "diabetes": coef["diabetes"]}
    rows = [(name, parsed(value)) for name, _, value in shown.rows("#moves table")]
    assert rows == [
        (name, pytest.approx(effect, rel=1e-2)) for name, effect in sorted(wanted.items(), key=lambda pair: -abs(pair[1]))
    ]


def held_out(frame):
    """Held-out probabilities of the page's chosen size, computed anew."""
    raw = frame.drop(columns="stroke")
    X = pd.DataFrame({name: raw[name].astype(float) for name in raw if raw[name].dtype.kind in "if"})
    X["sex=male"] = (raw["sex"] == "male").astype(float)
    for value in sorted(raw["smoker"].unique()):
        X[f"smoker={value}"] = (raw["smoker"] == value).astype(float)
    settings = {"max_support": 7, "shrinkage": [1e-3], "rule": "best", "select": "size", "keep_predictions": True}
    estimator = ez.L0ClassifierCV(**settings, algorithm="local_search").fit(X, frame["stroke"])
    return expit(estimator.cv_results_.chosen.decision[:, estimator.cv_results_.best[1], 0])


def test_the_threshold_and_the_prevalence(shown, made):
    """Sensitivity and specificity against scikit-learn's counts, predictive values by Bayes' rule."""
    _, frame = made
    probability, ill = held_out(frame), (frame["stroke"] == "yes").to_numpy()
    report = report_of(shown)
    shown.page.focus("#threshold")
    shown.page.keyboard.press("Home")
    moved = 0
    for at, threshold in enumerate(report["thresholds"]):
        if at % 13 == 0 or at == len(report["thresholds"]) - 1:
            for _ in range(at - moved):
                shown.page.keyboard.press("ArrowRight")
            moved = at
            spoken = shown.page.locator("#threshold").get_attribute("aria-valuetext").replace("\u00a0", " ")
            assert spoken == shown.text("#threshold-now")
            assert parsed(spoken) == pytest.approx(100 * threshold)
            [[cleared, alarms], [missed, found]] = confusion_matrix(ill, probability > threshold)
            rows = {line[0].split("\n")[0]: line[1].replace("\u00a0", " ") for line in shown.rows("#measures")}
            assert parsed(rows["sensitivity"]) == pytest.approx(100 * found / (found + missed), abs=0.06)
            assert parsed(rows["specificity"]) == pytest.approx(100 * cleared / (cleared + alarms), abs=0.06)
            if found + alarms:
                assert parsed(rows["positive predictive value"]) == pytest.approx(100 * found / (found + alarms), abs=0.06)
            assert shown.page.locator("#people circle").count() == ROWS
    shown.page.locator("#threshold").fill(str(report["thresholds"].index(0.3)))
    sensitivity, false = (probability[ill] > 0.3).mean(), (probability[~ill] > 0.3).mean()
    before = parsed(shown.text("#answer .big"))
    shown.page.fill("#prevalence", "2")
    rows = {line[0].split("\n")[0]: parsed(line[1]) for line in shown.rows("#measures")}
    right = 0.02 * sensitivity / (0.02 * sensitivity + 0.98 * false)
    assert rows["positive predictive value"] == pytest.approx(100 * right, abs=0.06)
    cleared = 0.98 * (1 - false) / (0.98 * (1 - false) + 0.02 * (1 - sensitivity))
    assert rows["negative predictive value"] == pytest.approx(100 * cleared, abs=0.06)
    assert rows["sensitivity"] == pytest.approx(100 * sensitivity, abs=0.06)
    text = shown.text("#threshold-words").replace(",", "")
    base = int(text.split()[1])
    assert text.startswith(f"Of {base} patients {base // 50} are stroke = yes")
    groups = [int(word) for word in text.replace(".", " ").replace(":", " ").split() if word.isdigit()][2:]
    assert 0 not in groups  # no group that is there rounds to none
    # The calculator's odds move with those of the class.
    odds = before / (100 - before) * (0.02 / 0.98) / (ill.mean() / (1 - ill.mean()))
    assert f"{100 * odds / (1 + odds):.1f} %" in shown.text("#answer")
    shown.page.click("#prevalence-back")
    assert parsed(shown.page.locator("#prevalence").input_value()) == pytest.approx(100 * ill.mean(), rel=1e-2)
    assert "see below" not in shown.text("#answer")
    for nonsense in ("", "0", "100", "-3"):
        shown.page.fill("#prevalence", nonsense)
        assert shown.text("#threshold-words").startswith("Of 300 patients")


def test_intervals_cover_the_share(shown):
    for line in shown.rows("#measures")[:2]:
        low, high = (float(part) for part in line[2].replace("\u00a0", " ").removesuffix(" %").split(" to "))
        assert low <= parsed(line[1]) <= high
        assert 1.0 < high - low < 40.0


def test_the_decision_curve(shown, made):
    _, frame = made
    probability, ill = held_out(frame), (frame["stroke"] == "yes").to_numpy()
    report = report_of(shown)
    for threshold in (0.1, 0.2, 0.6):
        shown.page.locator("#threshold").fill(str(report["thresholds"].index(threshold)))
        called = probability > threshold
        weight = threshold / (1 - threshold)
        own = np.mean(called & ill) - weight * np.mean(called & ~ill)
        everyone = ill.mean() - weight * (1 - ill.mean())
        text = shown.text("#benefit-words").replace("\u2212", "-")
        words = text.split("the model is then worth ")[1]
        assert float(words.split()[0]) == pytest.approx(100 * own, rel=0.06)
        assert float(words.split("flagging everyone ")[1].split(",")[0]) == pytest.approx(100 * everyone, rel=0.06)
        assert ("using the model is best" in text) == (own > max(everyone, 0.0))
        assert ("for each case found" in text) == (threshold <= 0.5)
    assert shown.page.locator("#benefit svg[role=img] path").count() == 3


def test_odds_are_in_words(shown, made):
    """A number by one standard deviation, a yes or no, and a text against its most frequent value."""
    _, frame = made
    report = report_of(shown)
    coef = {report["features"][f]["name"]: value for f, value in chosen_of(report)["coef"][0]}
    spread = {feature["name"]: feature["spread"] for feature in report["features"]}
    wanted = {}
    for column in ("age", EVIL):
        wanted[f"{column}: ", "one standard deviation"] = coef[column] * spread[column]
    wanted["diabetes: ", "yes instead of no"] = coef["diabetes"]
    for column in ("sex", "smoker"):
        usual = frame[column].mode()[0]
        for value in set(frame[column]) - {usual}:
            effect = coef.get(f"{column}={value}", 0.0) - coef.get(f"{column}={usual}", 0.0)
            if effect:
                wanted[f"{column}: {value}, instead of {usual} (the most common)", ""] = effect
    words = shown.page.locator("#odds-words li").all_inner_texts()
    assert len(words) == len(wanted)
    for (start, rest), effect in wanted.items():
        (line,) = [text for text in words if text.startswith(start) and rest in text]
        assert ("multiplies" in line) == (effect >= 0.0)
        assert parsed(line.split(" by ")[-1].removesuffix(".")) == pytest.approx(math.exp(abs(effect)), rel=1e-2)
        assert "odds of stroke = yes" in line
    assert "not causes" in shown.text("#odds-note")
    # In the table, too, a category is compared with the reference, and a number has a standard deviation.
    ratios = {row[0]: row[3].split("\n") for row in shown.rows("#coef")[:-1]}
    assert parsed(ratios["diabetes"][0]) == pytest.approx(math.exp(coef["diabetes"]), rel=1e-2)
    assert len(ratios["age"]) == 1
    usual = frame["smoker"].mode()[0]
    for name, cells in ratios.items():
        column, _, value = name.partition("=")
        if column == "smoker":
            effect = coef[name] - coef.get(f"smoker={usual}", 0.0)
            assert parsed(cells[0]) == pytest.approx(math.exp(effect), rel=1e-2)
            assert cells[1] == ("reference" if value == usual else f"against {usual}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_in_both_schemes(browser, made, scheme):
    shown = Shown(browser, made[0], viewport={"width": 390, "height": 800}, color_scheme=scheme, has_touch=True, is_mobile=True)
    assert shown.overflow() <= 0
    shown.page.locator("#formula summary").tap()
    shown.page.fill("#prevalence", "1")
    assert shown.overflow() <= 0
    for selector in ("#inputs input", "#inputs select", "#threshold", "#prevalence"):
        box = shown.page.locator(selector).first.bounding_box()
        assert box["x"] + box["width"] <= 390
        assert box["height"] >= 30  # a finger's
    style = "node => [getComputedStyle(node).color, getComputedStyle(node).backgroundColor]"
    for selector in ("#answer", "#inputs input", "#inputs select", "#prevalence"):
        low, high = sorted(map(luminance, shown.page.locator(selector).first.evaluate(style)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, selector
    shown.close()


def test_it_can_be_used_by_keyboard(shown):
    """The tab key reaches every control, each has a name, and focus can be seen."""
    wanted = ["size", *(f"input-{i}" for i in range(5)), "threshold", "prevalence"]
    reached = []
    for _ in range(40):
        shown.page.keyboard.press("Tab")
        reached.append(shown.page.evaluate("document.activeElement.id"))
        if reached[-1] == "threshold":
            outline = shown.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none"
    assert [name for name in reached if name in wanted][: len(wanted)] == wanted
    for name in wanted:
        assert shown.page.evaluate(f"document.getElementById('{name}').labels.length") == 1


def test_on_paper(shown):
    shown.page.emulate_media(media="print")
    assert shown.page.locator("#threshold").is_hidden()
    assert shown.text("#threshold-now") == "50 %"
    assert shown.page.locator("#calculator-section").is_hidden()  # paper cannot calculate, but has the formula
    report = report_of(shown)
    words = shown.text("#in-full")
    for f, value in chosen_of(report)["coef"][0]:
        assert f"{abs(value):.4g}".rstrip("0") in words
        assert report["features"][f]["name"] in words
    assert words.endswith("probability of stroke = yes = 1 / (1 + exp(\u2212score))")
    shown.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert shown.page.locator("#score svg").bounding_box()["width"] <= 700
    shown.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert shown.page.evaluate("document.body.style.width") == ""
    pages = shown.page.pdf(format="A4").count(b"/Type /Page\n")
    assert 1 <= pages <= 4


@pytest.mark.parametrize("kind", ["multiclass", "regression", "squared_hinge"])
def test_other_kinds_have_a_calculator_and_no_threshold(browser, tmp_path, kind):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.standard_normal((150, 5)), columns=list("abcde"))
    signal = 2.0 * X["a"] - X["b"] + 0.5 * rng.standard_normal(150)
    page = tmp_path / "page.html"
    settings = {"max_support": 3, "shrinkage": [1e-2], "cv": 3, "time_limit": 0, "subject": "biopsy", "rule": "best"}
    if kind == "regression":
        summary = write_report(page, X, signal, regression=True, target="weight", **settings)
        fitted = ez.L0Regressor(k=summary["selection"]["chosen"], lambda_2=1e-2).fit(X, signal)
    else:
        y = np.digitize(signal, [-1.0, 1.0] if kind == "multiclass" else [0.0])
        loss = "logistic" if kind == "multiclass" else kind
        summary = write_report(page, X, y, loss=loss, **settings)
        fitted = ez.L0Classifier(k=summary["selection"]["chosen"], lambda_2=1e-2, loss=loss).fit(X, y)
    shown = Shown(browser, page.as_uri())
    assert shown.page.locator("#threshold").count() == 0
    assert shown.text("#h-calculator") == "For one biopsy"
    assert "biopsies" in shown.text("#plain")
    row = pd.DataFrame([[0.7, -0.4, 0.2, 0.1, -0.3]], columns=list("abcde"))
    for place, name in enumerate(shown.page.locator("#inputs label").all_inner_texts()):
        shown.page.fill(f"#input-{place}", str(row[name][0]))
    if kind == "regression":
        assert parsed(shown.text("#answer .big")) == pytest.approx(fitted.predict(row)[0], rel=2e-2, abs=1e-2)
        assert "nine in ten" in shown.text("#answer")
        assert f"off by at most {summary['models'][summary['selection']['chosen']]['half_within']:.3g}" in shown.text("#plain")
    elif kind == "multiclass":
        said = {line[0]: parsed(line[1]) / 100 for line in shown.rows("#answer table")}
        assert [said[str(c)] for c in range(3)] == pytest.approx(fitted.predict_proba(row)[0], abs=0.02)
    else:
        assert shown.text("#answer .big") == str(fitted.predict(row)[0])
        assert shown.page.locator("#odds").is_hidden()
    shown.close()
