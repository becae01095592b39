"""`ellzero report`, whose page tells commands that work, and the picture of a cross-validation."""

import json
import re
import shlex

import numpy as np
import pytest
from support.command_line import table

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
    assert "add --regression" in run.error("report", *argv)
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
