"""Rules on features where users meet them: estimators, model files, reports and the command line."""

import json

import numpy as np
import pandas as pd
import pytest

import ellzero as ez
from ellzero.cli import main

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.standard_normal((200, 6)), columns=["mri", "ct", "age", "pulse", "crp", "sleep"])
X["ct"] += 0.4 * X["mri"]
Y = np.where(X["mri"] + X["ct"] + 0.5 * (X["age"] + X["sleep"]) + RNG.standard_normal(200) > 0.0, "ill", "well")
RULES = [ez.at_most(1, ["mri", "ct"]), ez.at_least(1, ["pulse", "crp"])]
FILE = [{"at_most": 1, "of": ["mri", "ct"]}, {"at_least": 1, "of": ["pulse", "crp"]}]


def obeys(support):
    used = set(X.columns[support])
    return len(used & {"mri", "ct"}) <= 1 and len(used & {"pulse", "crp"}) >= 1


SIZED = {"k": 3, "lambda_2": 0.01}
COMPARED = {"select": "size", "cv": 3, "rule": "one_se", "shrinkage": [0.01]}


@pytest.mark.parametrize(("kind", "settings"), [(ez.L0Classifier, SIZED), (ez.L0ClassifierCV, COMPARED)])
@pytest.mark.parametrize("algorithm", ["cd", "exact"])
def test_estimators_obey(kind, settings, algorithm):
    model = kind(rules=RULES, algorithm=algorithm, **settings).fit(X, Y)
    assert obeys(model.support_)
    assert "obeys at_most(1, ['mri', 'ct']), at_least(1, ['pulse', 'crp'])" in str(model)


def test_what_a_rule_costs_is_what_the_best_model_without_it_gains():
    settings = {"k": 3, "lambda_2": 0.01}
    solution = ez.solve(X, Y, rules=RULES, **settings)
    found = {rule.rule: rule for rule in solution.binding_rules()}
    for at, rule in enumerate(RULES):
        other = ez.solve(X, Y, rules=RULES[:at] + RULES[at + 1 :], **settings).objective
        assert other < solution.objective
        assert found[rule].objective == pytest.approx(other, rel=1e-6)
        assert found[rule].share == pytest.approx(1.0 - other / solution.objective, rel=1e-3)
    estimator = ez.L0Classifier(rules=RULES, standardize=False, **settings).fit(X, Y)
    assert [rule.rule for rule in estimator.binding_rules_] == list(found)
    assert f"without {next(iter(found))} the objective would be" in str(estimator)


def test_a_model_file_keeps_the_rules(tmp_path):
    ez.L0Classifier(k=3, rules=[*RULES, ez.requires("mri", np.array([2, 3]), how="any")]).fit(X, Y).save(
        tmp_path / "model.json"
    )
    assert [rule.as_json() for rule in ez.load(tmp_path / "model.json").rules] == [*FILE, {"requires": "mri", "any": [2, 3]}]


def test_limits_that_rules_exceed_are_named():
    rules = [ez.at_least(2, ["mri", "age", "crp"])]
    for settings in ({"k": 1}, {"k": 1, "algorithm": "exact"}, {"budget": 1.0}, {"max_support": 1}):
        name = next(name for name in ("k", "budget", "max_support") if name in settings)
        with pytest.raises(ez.InvalidInputError, match=rf"^{name} must be at least 2 for the rules, got 1: at_least"):
            ez.L0Classifier(rules=rules, **settings).fit(X, Y)


def test_commands_obey(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X.assign(colour=RNG.choice(["red", "blue", "green"], 200), y=Y).to_csv("data.csv", index=False)
    (tmp_path / "rules.json").write_text(json.dumps([*FILE, {"requires": "colour", "all": ["age"]}]))
    data = ["data.csv", "--target", "y", "--quiet", "--rules", "rules.json"]
    for command in (
        ["fit", "--k", "4"],
        ["cv", "--cv", "3", "--rule", "one_se"],
        ["certify", "--k", "4", "--out", "proof.npz"],
    ):
        assert main([command[0], *data, *command[1:], "--json"]) == 0
        result = json.loads(capsys.readouterr().out)
        columns = set(result["columns"])
        assert len(columns & {"mri", "ct"}) <= 1
        assert columns & {"pulse", "crp"}
        assert "colour" not in columns or "age" in columns
        assert "requires('colour', ['age'])" in result["rules"][0]
    assert main(["alternatives", *data, "--k", "3", "--within", "0.05"]) == 0
    assert main(["path", *data, "--max-support", "3"]) == 0
    assert main(["verify", "proof.npz", *data]) == 0
    (tmp_path / "rules.json").write_text(json.dumps(FILE))
    assert main(["verify", "proof.npz", *data]) == 3
    assert "other rules on the features" in capsys.readouterr().out
    for wrong, words in (
        ({"at_most": 1}, "a list"),
        ([{"most": 1}], "a rule in a file is"),
        ([{"together": ["b"]}], "names 'b'"),
    ):
        (tmp_path / "rules.json").write_text(json.dumps(wrong))
        assert main(["fit", *data, "--k", "3"]) == 2
        assert words in capsys.readouterr().err
