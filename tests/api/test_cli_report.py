"""`ellzero report`, whose page tells commands that work, and the picture of a cross-validation."""

import json
import re
import shlex

import numpy as np
import pytest
from support.command_line import table

from ellzero.cli import main
from ellzero.cli.parser import make_parser
from ellzero.cli.report import data_arguments


def messy():
    frame = table()
    frame["city, now"] = np.where(frame.a > 0.3, "Rome", np.where(frame.b > 0, "Paris", "Oslo"))
    frame["id"] = range(len(frame))
    frame.loc[3, "a"] = np.nan
    return frame


def content(page):
    """The data of a page."""
    return json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page.read_text(), re.DOTALL)[1])


def test_report(run, tmp_path):
    messy().to_csv(tmp_path / "data.csv", index=False, sep=";")
    argv = [tmp_path / "data.csv", "--target", "label"]
    out = tmp_path / "page.html"
    result = run.json("report", *argv, "--out", out, "--title", "Who <will> pay?", "--rule", "one_se")
    assert result["out"] == str(out)
    page = out.read_text()
    assert "Who &lt;will&gt; pay?" in page
    assert "1 value in 1 column, filled" in page
    assert "Text as categories: " in page
    text = run.ok("report", *argv, "--out", out, "--time-limit", "0")
    assert text.endswith(f"written: {out}\n")
    assert result["size"] >= 1


def test_arguments_of_the_data_survive():
    words = ["--drop", "id", "--drop", '"x, ""y"""', "--missing", '?,"a, b"', "--separator", ";", "--weight", "w", "--one-hot"]
    words += ["--impute", "median", "--categorical", "month", "--decimal", ",", "--format", "csv"]
    args = make_parser().parse_args(["report", "data.csv", "--target", "label", *words])
    again = make_parser().parse_args(["report", "data.csv", "--target", "label", *data_arguments(args)])
    assert vars(again) == vars(args)
    assert args.drop == ["id", 'x, "y"']


def test_commands_of_the_page_work(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    messy().to_csv("data.csv", index=False)
    run.ok("report", "data.csv", "--target", "label", "--drop", "id")
    blocks = [block for block in content(tmp_path / "report.html")["code"]["blocks"] if block["title"] != "Python"]
    assert len(blocks) == 2
    (tmp_path / "new.csv").write_text((tmp_path / "data.csv").read_text())
    for block in blocks:
        for line in "2".join(block["parts"]).splitlines():
            program, *argv = shlex.split(line)
            assert program == "ellzero"
            run.ok(*argv)
    assert {"model.json", "proof.npz"} <= {file.name for file in tmp_path.iterdir()}


def test_other_kinds(run, tmp_path):
    frame = table().drop(columns="label")
    frame.assign(y=frame.a - frame.b).to_csv(tmp_path / "data.csv", index=False)
    argv = [tmp_path / "data.csv", "--target", "y", "--out", tmp_path / "page.html"]
    assert run.json("report", *argv, "--regression", "--cv", "3")["size"] >= 2
    assert content(argv[-1])["kind"] == "regression"
    assert "add --regression" in run.error("report", *argv, "--class-weight", "balanced")
    assert "--probability is for classes" in run.error("report", *argv, "--regression", "--probability")


@pytest.mark.parametrize("name", ["cv.svg", "cv.png"])
def test_picture_of_scores(run, tmp_path, name):
    table().to_csv(tmp_path / "data.csv", index=False)
    result = run.json("cv", tmp_path / "data.csv", "--target", "label", "--cv", "3", "--plot", tmp_path / name)
    assert result["plot"] == str(tmp_path / name)
    assert (tmp_path / name).stat().st_size > 5000


def test_missing_values_are_counted_by_column(run, tmp_path):
    frame = messy()
    frame.loc[5:9, "b"] = np.nan
    frame.loc[40:41, "city, now"] = np.nan
    frame.to_csv(tmp_path / "data.csv", index=False)
    argv = [tmp_path / "data.csv", "--target", "label", "--drop", "id", "--time-limit", "0"]
    run.ok("report", *argv, "--quiet", "--out", tmp_path / "page.html")
    missing = content(tmp_path / "page.html")["data"]["missing"]
    assert missing["summary"].startswith("8 values in 3 columns, filled")
    lines = {line["name"]: (line["rows"], line["filled"]) for line in missing["columns"]}
    assert lines == {
        "a": (1, f"median {frame.a.median():.6g}"),
        "b": (5, f"median {frame.b.median():.6g}"),
        "city, now": (2, "category (missing)"),
    }
    table().to_csv(tmp_path / "data.csv", index=False)
    run.ok(
        "report", tmp_path / "data.csv", "--target", "label", "--time-limit", "0", "--quiet", "--out", tmp_path / "page.html"
    )
    assert content(tmp_path / "page.html")["data"]["missing"] == {"summary": "none", "columns": []}


@pytest.mark.filterwarnings("ignore:the chosen model has max_support")
@pytest.mark.parametrize("kind", ["labels", "positive", "numbers"])
def test_rows_of_another_file_are_prepared_as_the_data_was(run, tmp_path, kind):
    frame = messy()
    frame["three"] = np.where(frame.a > 0.5, "low", np.where(frame.b > 0, "mid", "high"))
    first, second = frame.iloc[:80], frame.iloc[80:].iloc[:, ::-1]  # columns in another order
    first.to_csv(tmp_path / "data.csv", index=False)
    second.to_csv(tmp_path / "other.csv", index=False)
    target = {"labels": "label", "positive": "three", "numbers": "b"}[kind]
    words = {"labels": [], "positive": ["--positive", "mid"], "numbers": ["--regression"]}[kind]
    argv = [tmp_path / "data.csv", "--target", target, "--drop", "id", "--one-hot", "--impute", "median", *words]
    out = tmp_path / "page.html"
    run.ok("report", *argv, "--test", tmp_path / "other.csv", "--out", out, "--time-limit", "0", "--max-support", "3")
    page = content(out)
    assert f"on {len(second)} others" in page["test"]["words"]
    assert all("test" in model for model in page["models"])
    if kind == "labels":
        second.assign(label="odd").to_csv(tmp_path / "odd.csv", index=False)
        bad = run.error("report", *argv, "--test", tmp_path / "odd.csv", "--out", out)
        assert "has the value 'odd', which the data lacks" in bad


@pytest.mark.parametrize("separate", [False, True])
def test_the_python_code_of_the_page_gives_its_model(run, tmp_path, monkeypatch, separate):
    """From the file: gaps are filled, categories coded and grouped as on the command line."""
    monkeypatch.chdir(tmp_path)
    frame = messy().drop(columns="id")
    frame["sex"] = np.where(frame.d > 0, "male", "female")
    frame.to_csv("data.csv", index=False)
    words = ["--one-hot", "--impute", "median", *(["--separate-categories"] if separate else [])]
    run.ok("report", "data.csv", "--target", "label", *words, "--time-limit", "0", "--rule", "one_se")
    page = content(tmp_path / "report.html")
    scope = {"new_rows": frame}
    for k, model in enumerate(page["models"][:4]):
        exec(str(k).join(page["code"]["blocks"][0]["parts"]), scope)
        wanted = dict.fromkeys(scope["model"][:-1].get_feature_names_out(), 0.0)
        for f, value in model["coef"][0]:
            wanted[page["features"][f]["name"].replace("=", "_")] = value
        fitted = scope["model"][-1]
        assert dict(zip(wanted, fitted.coef_[0], strict=True)) == pytest.approx(wanted, rel=1e-3, abs=1e-6)
        assert fitted.intercept_[0] == pytest.approx(model["intercept"][0], rel=1e-3, abs=1e-6)
    assert (tmp_path / "model.joblib").exists()


def test_a_target_of_many_numbers_makes_a_regression(run, tmp_path, capsys):
    frame = table().drop(columns="label")
    frame.assign(y=frame.a - frame.b).to_csv(tmp_path / "data.csv", index=False)
    argv = ["report", str(tmp_path / "data.csv"), "--target", "y", "--time-limit", "0", "--out", str(tmp_path / "page.html")]
    assert main(argv) == 0
    assert "'y' is a number: this is a regression; --classes if each value is a class" in capsys.readouterr().err
    page = content(tmp_path / "page.html")
    assert (page["kind"], page["unit"]) == ("regression", "feature")


@pytest.mark.parametrize("separate", [False, True])
def test_the_page_counts_a_column_of_categories_once(run, tmp_path, separate):
    messy().drop(columns="id").to_csv(tmp_path / "data.csv", index=False)
    argv = ["report", tmp_path / "data.csv", "--target", "label", "--out", tmp_path / "page.html"]
    lead = run.json(*argv, *(["--separate-categories"] if separate else []))["lead"]
    page = content(tmp_path / "page.html")
    unit, count = ("feature", 9) if separate else ("variable", 7)  # six numbers, and a column of three cities
    assert page["data"]["features"] == 9
    assert (page["unit"], page["data"]["variables"]) == (unit, count)
    assert f" of {count} {unit}s" in lead
    assert re.search(rf"at most \d+ {unit}s? fits? these rows", page["certificate"]["sentence"])


def test_a_column_that_follows_from_the_target_is_named(run, tmp_path):
    frame = messy().drop(columns=["id", "city, now"]).fillna(0.0)
    frame["discharged"] = np.where(frame.label == "yes", 3.0, 1.0) + 0.1 * frame.b.rank(pct=True)
    frame.to_csv(tmp_path / "data.csv", index=False)
    out = tmp_path / "page.html"
    run.ok("report", tmp_path / "data.csv", "--target", "label", "--time-limit", "0", "--out", out)
    said = "Column discharged alone separates class no and class yes in every row: is it known beforehand?"
    assert said in content(out)["models"][1]["cautions"]


def test_repeated_cross_validation(run, tmp_path):
    table().to_csv(tmp_path / "data.csv", index=False)
    argv = [tmp_path / "data.csv", "--target", "label", "--cv", "3", "--repeats"]
    assert run.json("cv", *argv, "2")["folds"] == 6
    once = run.json("cv", *argv, "1")
    assert once == run.json("cv", *argv[:-1])
    run.ok("report", *argv, "2", "--time-limit", "0", "--out", tmp_path / "page.html")
    page = content(tmp_path / "page.html")
    assert page["selection"]["folds"] == 6
    assert page["tested"] == 120  # each row counts once
    assert any("repeated 2 times" in note for note in page["data"]["notes"])
    assert "--repeats must be at least 1, got 0" in run.error("cv", *argv, "0")
