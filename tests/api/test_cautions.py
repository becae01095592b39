"""Warnings of models that the data hardly carries: few rows of a class for each feature, and classes told apart completely."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

import ellzero as ez
from ellzero.report.page import write_report


def rare(positives=6, n=363, p=15, seed=0):
    """Rows with few positive ones, those with the largest sums of three columns."""
    X = np.random.default_rng(seed).standard_normal((n, p))
    y = np.full(n, "well")
    y[np.argsort(-X[:, :3].sum(axis=1))[:positives]] = "ill"
    return X, y


@pytest.mark.parametrize("make", [lambda: ez.L0Classifier(k=3), lambda: ez.L0ClassifierCV(cv=3, max_support=4)])
def test_few_rows_of_a_class(make):
    X, y = rare()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model = make().fit(X, y)
    texts = [str(one.message) for one in seen if one.category is ez.FragileModelWarning]
    size = len(model.support_)
    assert texts == model.cautions_
    assert texts[0].startswith(f"there are only 6 rows of class ill for {size} features ({6 / size:.1f} for each; 10 are")
    assert {one.filename for one in seen if one.category is ez.FragileModelWarning} == {__file__}


def test_enough_rows_say_nothing():
    X, y = load_breast_cancer(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ez.L0Classifier(k=5).fit(X, y).cautions_ == []
        assert ez.L0Regressor(k=5).fit(X[:20], X[:20, 3]).cautions_ == []  # is about classes


def test_complete_separation():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    with pytest.warns(ez.FragileModelWarning, match="separates class setosa and the rest perfectly") as seen:
        model = ez.L0Classifier(k=2, multi_class="ovr").fit(X, names[y])
    assert len(seen) == 1  # the other two are not separated
    assert (model.decision_function(X)[y == 0, 0] > 0.0).all()
    with pytest.warns(ez.FragileModelWarning, match="alone separates"):
        found = ez.L0Classifier("hinge", k=2).fit(X, y == 0).cautions_  # whose coefficients have an end
    ending = "alone separates class False and class True in every row: is it known beforehand?"
    assert found == [f"column {name} {ending}" for name in ("x2", "x3")]
    weight = np.where(np.arange(150) == 0, 0.0, 1.0)
    flipped = (y == 0) ^ (np.arange(150) == 0)  # a row without weight does not count
    assert ez.L0Classifier(k=2).fit(X, flipped, sample_weight=weight).cautions_
    assert not ez.L0Classifier(k=2).fit(X, flipped).cautions_


@pytest.mark.filterwarnings("always")
def test_the_command_line_and_the_page_say_it_once(run, tmp_path):
    X, y = rare()
    pd.DataFrame(X, columns=[f"m{j}" for j in range(15)]).assign(state=y).to_csv(tmp_path / "data.csv", index=False)
    _, _, err = run("fit", tmp_path / "data.csv", "--target", "state", "--k", "3", "--quiet")
    assert err.startswith("ellzero: warning: there are only 6 rows of class ill for 3 features")
    argv = ["certify", tmp_path / "data.csv", "--target", "state", "--k", "3", "--lambda-2", "0.01", "--quiet"]
    assert "there are only 6 rows of class ill for 3 features" in run(*argv)[2]
    assert "only 6 rows of class ill for 3 features" in run(*argv, "--positive", "ill")[2]
    page = tmp_path / "page.html"
    code, out, err = run("report", tmp_path / "data.csv", "--target", "state", "--max-support", "4", "--quiet", "--out", page)
    assert code == 0
    assert err.count("there are only 6 rows of class ill") == 1  # the proof fits the same model again
    assert "This says nothing about new rows." in out
    assert "There are only 6 rows of class ill for" in page.read_text()


def test_cautions_of_all_sizes(tmp_path):
    X, y = rare(positives=12)
    summary = write_report(tmp_path / "page.html", X, y, time_limit=0, max_support=6, cv=3)
    sizes = {model["size"]: model["cautions"] for model in summary["models"]}
    assert sizes[0] == sizes[1] == sizes[2] == []
    assert sizes[3][0].startswith("There are only 12 rows of class ill for 3 features (4.0 for each")
    assert sizes[3][1].startswith("The model separates class well and class ill perfectly on the training data")
