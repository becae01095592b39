"""What commands make of targets and of columns that are no features: nothing is guessed without being said."""

import json

import numpy as np
import pandas as pd
import pytest
from support.command_line import species, table

import ellzero as ez


@pytest.fixture
def scores(tmp_path):
    """Numbers as a target: 30 different ones in 120 rows."""
    frame = table().drop(columns="label")
    frame.assign(score=np.arange(120) % 30).to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path / "scores.csv"


@pytest.mark.filterwarnings("always")
def test_many_whole_numbers_are_not_taken_for_classes(run, scores):
    argv = ["fit", scores, "--target", "score", "--k", "1"]
    assert run.error(*argv) == (
        "target 'score' has 30 different whole numbers in 120 rows (0, 1, 2, ...); add --regression to predict a number, or "
        "--classes if each value is a class."
    )
    assert run.json(*argv, "--regression")["classes"] is None
    code, out, err = run(*argv, "--classes", "--json", "--quiet")
    assert code == 0
    assert "30 different numbers in 120 rows, and each becomes a class; L0Regressor predicts numbers." in err
    assert len(json.loads(out)["classes"]) == 30
    assert "not allowed with argument --classes" in run.error(*argv, "--classes", "--regression")


def test_estimators_say_what_predicts_numbers():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    with pytest.raises(ez.InvalidInputError, match="Unknown label type: y holds numbers with fractions.*L0Regressor"):
        ez.L0Classifier(k=1).fit(X, X[:, 0])
    with pytest.warns(UserWarning, match="y has 30 different numbers in 60 rows.*L0Regressor") as seen:
        ez.L0Classifier(k=1).fit(X, np.arange(60) % 30)
    assert seen[0].filename == __file__
    ez.L0Classifier(k=1).fit(X, np.array([f"n{j % 30:02d}" for j in range(60)]))  # text is never a number
