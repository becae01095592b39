"""`ellzero risk-score`: from a raw table to card, model and proof, and back."""

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def raw(tmp_path):
    """A file with numbers, text, missing values and labels."""
    rng = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame({"age": rng.integers(20, 90, n).astype(float), "smokes": rng.choice(["no", "yes"], n)})
    frame["dose"] = rng.normal(size=n).round(2)
    eta = 2.0 * (frame["age"] >= 60) + 1.5 * (frame["smokes"] == "yes") - 2.0
    frame["died"] = np.where(rng.random(n) < 1 / (1 + np.exp(-eta)), "yes", "no")
    frame.loc[::10, "age"] = np.nan
    frame.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def test_round_trip(run, raw, tmp_path):
    card, model, proof = (tmp_path / name for name in ("card.html", "model.json", "proof.npz"))
    options = ("--target", "died", "--cuts", "age=45,60,75", "--monotone", "age=increasing")
    result = run.json("risk-score", raw, *options, "--k", "3", "--card", card, "--out", model, "--proof", proof)
    assert result["status"] == "optimal"
    points = {each["name"]: each["points"] for each in result["points"]}
    assert points["age >= 60"] > 0
    assert points["smokes = yes"] > 0
    assert "age &gt;= 60" in card.read_text(encoding="utf-8")
    assert run.json("verify", proof, raw, *options)["valid"]
    code, out, _ = run("verify", proof, raw, "--target", "died")
    assert code == 1
    assert "X has shape" in out or "X is not the matrix" in out
    pd.read_csv(raw).drop(columns="died").head(20).to_csv(tmp_path / "new.csv", index=False)
    predicted = run.json("predict", model, tmp_path / "new.csv", "--proba")
    new = pd.read_csv(tmp_path / "new.csv", keep_default_na=True)
    score = np.zeros(20)
    for name, value in points.items():
        if name.endswith(" missing"):
            answers = new[name.removesuffix(" missing")].isna()
        elif " >= " in name:
            answers = new[name.partition(" >= ")[0]] >= float(name.partition(" >= ")[2])
        else:
            answers = new[name.partition(" = ")[0]] == name.partition(" = ")[2]
        score += value * answers.to_numpy()
    risk = 1 / (1 + np.exp(-(result["scale"] * score + result["intercept"])))
    assert np.array(predicted["probabilities"])[:, 1] == pytest.approx(risk)


def test_rules(run, raw, tmp_path):
    rules, proof = tmp_path / "rules.json", tmp_path / "proof.npz"
    options = ("--target", "died", "--cuts", "age=45,60,75")
    rules.write_text('[{"at_most": 1, "of": ["age"]}, {"requires": ["dose >= 0.63"], "of": "smokes = yes"}]')
    free = run.json("risk-score", raw, *options, "--k", "3")
    assert sum("age" in each["name"] for each in free["points"]) > 1, "the rules change nothing"
    rules.write_text('[{"at_most": 1, "of": ["age"]}]')
    bound = run.json("risk-score", raw, *options, "--k", "3", "--rules", rules, "--proof", proof)
    assert sum("age" in each["name"] for each in bound["points"]) == 1
    assert bound["loss"] > free["loss"]
    assert run.json("verify", proof, raw, *options, "--rules", rules)["valid"]
    rules.write_text('[{"at_most": 1, "of": ["dose"]}]')
    code, out, _ = run("verify", proof, raw, *options, "--rules", rules)
    assert code == 3
    assert "rules is another in the certificate" in out


def test_text_and_options(run, raw, tmp_path):
    out = run.ok("risk-score", raw, "--target", "died", "--k", "cv", "--points", "0", "4", "--one-per-variable", "--quiet")
    assert "risk of yes, 300 rows" in out
    assert "proved" in out
    other = run.json("risk-score", raw, "--target", "died", "--positive", "no", "--k", "2", "--out", tmp_path / "m.json")
    assert all(each["points"] < 0 for each in other["points"] if each["name"].startswith(("age >=", "smokes")))
    predicted = run.json("predict", tmp_path / "m.json", raw, "--proba")
    assert predicted["classes"] == ["yes", "no"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--k", "many"), "--k must be a whole number or cv"),
        (("--cuts", "age"), "--cuts must be COLUMN=VALUE"),
        (("--cuts", "age=a"), "--cuts must give numbers between commas"),
        (("--cuts", "weight=3"), "cuts names 'weight', which is not a column of X"),
        (("--monotone", "age=up"), "monotone must say"),
        (("--points", "1", "5"), "points must have zero in its range"),
        (("--drop", "age,smokes,dose"), "no columns to use besides the target"),
    ],
)
def test_mistakes(run, raw, options, message):
    code, _, err = run("risk-score", raw, "--target", "died", *options)
    assert code != 0
    assert message.removeprefix("--") in err.replace("--", "")


def test_damaged_questions_are_refused(run, raw, tmp_path):
    run.ok("risk-score", raw, "--target", "died", "--k", "2", "--out", tmp_path / "m.json", "--quiet")
    content = json.loads((tmp_path / "m.json").read_text())
    for change in ({"cut": "60"}, {"value": 3}, {"column": "nowhere"}, {"name": None}):
        broken = json.loads(json.dumps(content))
        broken["preparation"]["questions"][0] |= change
        (tmp_path / "broken.json").write_text(json.dumps(broken))
        code, _, err = run("predict", tmp_path / "broken.json", raw)
        assert code != 0
        assert "cannot be read" in err
