"""The command `alternatives`."""

import json

import numpy as np
import pandas as pd
import pytest

import ellzero as ez

X, LABEL, _ = ez.datasets.make_classification(100, 20, 3, s=2.0, correlation="exponential", rho=0.9, random_state=1)


@pytest.fixture
def data(tmp_path):
    frame = pd.DataFrame(X, columns=[f"test {j}" for j in range(20)]).assign(label=np.where(LABEL > 0, "ill", "well"))
    frame.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


ARGV = ("--target", "label", "--k", "3", "--lambda-2", "0.01")


def test_models_proof_and_picture(run, data, tmp_path):
    files = ("--out", tmp_path / "models.json", "--proof", tmp_path / "proof.npz", "--plot", tmp_path / "models.svg")
    result = run.json("alternatives", data, *ARGV, "--within", "0.1", *files)
    expected = ez.alternatives(X, np.where(LABEL > 0, "ill", "well"), k=3, lambda_2=0.01, within=0.1, standardize=True)
    assert result["complete"]
    assert [model["objective"] for model in result["models"]] == pytest.approx([model.objective for model in expected.models])
    assert len(ez.Alternatives.load(tmp_path / "models.json")) == len(expected)
    assert (tmp_path / "models.svg").stat().st_size > 5000
    code, out, _ = run("verify", tmp_path / "proof.npz", data, "--target", "label")
    assert code == 0
    assert f"models       {len(expected)}" in out


def test_text(run, data):
    code, out, err = run("alternatives", data, *ARGV, "--n-best", "3")
    assert code == 0
    assert "3 models: none is missing" in out
    assert "+0 %" in out
    assert "the proof is not kept" in err


def test_choice(run, data, tmp_path):
    argv = ("alternatives", data, *ARGV, "--within", "0.15")
    models = run.json(*argv)["models"]
    names = {feature["name"] for model in models for feature in model["features"]}
    always = set.intersection(*({feature["name"] for feature in model["features"]} for model in models))
    avoided = min(names - always)
    chosen = run.json(*argv, "--without", avoided)["chosen"]
    assert avoided not in {feature["name"] for feature in chosen["features"]}
    lines = [f"{name},{5 if name == avoided else 0}\n" for name in sorted(names)]
    (tmp_path / "costs.csv").write_text("feature,cost\n" + "".join(lines))
    assert run.json(*argv, "--cheapest", tmp_path / "costs.csv")["chosen"] == chosen
    (tmp_path / "costs.csv").write_text("feature,cost\ntest 1,much\n")
    code, _, err = run(*argv, "--cheapest", tmp_path / "costs.csv")
    assert code == 2
    assert "--cheapest must have a column and its cost in each line, got 'test 1,much'" in err
    assert "chosen" in json.dumps(list(run.json(*argv)))


def test_size_is_needed(run, data):
    code, _, err = run("alternatives", data, "--target", "label")
    assert code == 2
    assert "--k, --budget or --lambda-0 must be given" in err
