"""Categories of a table on the command line: all of a column come into a model together, unless they are asked apart."""

import json

import pytest
from support.command_line import Command, people


@pytest.fixture
def ellzero(capsys):
    return Command(capsys)


@pytest.fixture
def data(tmp_path):
    frame, y = people()
    frame.assign(late=y).to_csv(tmp_path / "people.csv", index=False)
    return [tmp_path / "people.csv", "--target", "late", "--quiet"]


def test_a_column_of_text_comes_whole(ellzero, data, tmp_path):
    code, out, _ = ellzero("fit", *data, "--k", 2, "--out", tmp_path / "model.json")
    assert code == 0
    assert "2 of 4 variables (size, eye_colour)" in out
    assert json.loads((tmp_path / "model.json").read_text())["groups"].count("town") == 5
    code, out, _ = ellzero("fit", *data, "--k", 2, "--json", "--separate-categories")
    result = json.loads(out)
    assert [code, result["size"], "columns" in result] == [0, 2, False]


def test_a_proof_is_about_columns(ellzero, data, tmp_path):
    proof = tmp_path / "proof.npz"
    code, out, _ = ellzero("certify", *data, "--k", 2, "--lambda-2", 0.01, "--out", proof)
    assert code == 0
    assert "2 of 4 variables" in out
    stated = ["--expect", "k=2", "--expect", "lambda_2=0.01", "--expect", "standardize=true"]
    code, out, _ = ellzero("verify", proof, *data, *stated)
    assert code == 0, out
    assert "at most 2 groups" in out
    code, out, _ = ellzero("verify", proof, *data, *stated, "--separate-categories")
    assert code == 3
    assert "other groups" in out


def test_alternatives_are_sets_of_columns(ellzero, data):
    code, out, _ = ellzero("alternatives", *data, "--k", 2, "--lambda-2", 0.01, "--within", 0.05)
    assert code == 0
    assert "indispensable (2): size, eye_colour" in out or "indispensable (2): eye_colour, size" in out
    assert "eye_colour, eye_colour" not in out
