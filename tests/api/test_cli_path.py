"""`ellzero path`: table, picture, coefficients."""

import numpy as np
import pandas as pd
import pytest
from support.command_line import species, table

import ellzero as ez

FRAME = table()
X, Y = FRAME[list("abcdef")], FRAME.label.to_numpy(dtype=str)


def test_table_says_what_enters_and_leaves(run, data):
    lines = run.ok("path", data, "--target", "label", "--max-support", "4").splitlines()
    assert lines[0] == f"logistic path: {len(lines) - 2} points, 120 rows, 6 features, lambda_1 = 0, lambda_2 = 0.001"
    assert lines[1].split() == ["lambda_0", "features", "objective", "changes"]
    path = ez.fit_path(X, Y, lambda_2=1e-3, standardize=True, algorithm="local_search", max_support=4)
    used: set[str] = set()
    for line, model in zip(lines[2:], path, strict=True):
        for word in line.split()[3:]:
            (used.add if word[0] == "+" else used.remove)(word[1:])
        assert used == {"abcdef"[j] for j in model.support}


def test_coefficients(run, data, tmp_path):
    run.ok("path", data, "--target", "label", "--max-support", "4", "--out", tmp_path / "path.csv")
    frame = pd.read_csv(tmp_path / "path.csv")
    path = ez.fit_path(X, Y, lambda_2=1e-3, standardize=True, algorithm="local_search", max_support=4)
    assert list(frame.columns[:4]) == ["lambda_0", "features", "objective", "(intercept)"]
    np.testing.assert_allclose(frame.lambda_0, path.lambda_0, rtol=1e-14)
    np.testing.assert_allclose(frame["(intercept)"], path.intercept, rtol=1e-14)
    coef = path.coef.toarray()
    assert set(frame.columns[4:]) == {"abcdef"[j] for j in np.flatnonzero(coef.any(axis=0))}
    for name in frame.columns[4:]:
        np.testing.assert_allclose(frame[name], coef[:, "abcdef".index(name)], rtol=1e-14)


@pytest.mark.parametrize(("name", "begin"), [("p.svg", b"<?xml"), ("p.png", b"\x89PNG"), ("p.PDF", b"%PDF")])
def test_pictures(run, data, tmp_path, name, begin):
    result = run.json("path", data, "--target", "label", "--plot", tmp_path / name)
    assert result["plot"] == str(tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(begin)
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(["data.csv", name])


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge", "squared_error"])
def test_losses_and_grids(run, data, loss):
    result = run.json("path", data, "--target", "label", "--loss", loss, "--lambda-0", "0.1,0.01", "--algorithm", "cd")
    y = Y if loss != "squared_error" else np.where(Y == "yes", 1.0, -1.0)
    path = ez.fit_path(X, y, loss=loss, lambda_0=[0.1, 0.01], lambda_2=1e-3, standardize=True)
    np.testing.assert_allclose([point["objective"] for point in result["points"]], path.objective)
    assert result["loss"] == loss


def test_one_class_against_the_rest(run, tmp_path):
    frame = species()
    frame.to_csv(tmp_path / "data.csv", index=False)
    result = run.json("path", tmp_path / "data.csv", "--target", "species", "--positive", "bee", "--max-support", "2")
    settings = {"lambda_2": 1e-3, "standardize": True, "algorithm": "local_search", "max_support": 2}
    path = ez.fit_path(frame.drop(columns="species"), frame.species == "bee", **settings)
    np.testing.assert_allclose([point["objective"] for point in result["points"]], path.objective)
    assert result["classes"] == [False, True]
    frame["species"] = frame.species.map({"ant": 1, "bee": 2, "cat": 3})
    frame.to_csv(tmp_path / "data.csv", index=False)
    again = run.json("path", tmp_path / "data.csv", "--target", "species", "--positive", "2.0", "--max-support", "2")
    assert again["points"] == result["points"]
