"""Commands on tables with more than two classes."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

import ellzero as ez

pytestmark = pytest.mark.filterwarnings("ignore::ellzero.FragileModelWarning")


@pytest.fixture
def table(tmp_path):
    """Three kinds of trees, five measurements, and the soil as text."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((150, 5)), columns=["height", "girth", "age", "leaf", "bark"])
    scores = np.column_stack([2.0 * frame.height, 2.0 * frame.leaf, -frame.height - frame.leaf])
    frame["soil"] = rng.choice(["clay", "loam", "sand"], 150)
    scores[:, 0] += 3.0 * (frame.soil == "sand")
    frame["kind"] = np.array(["ash", "birch", "cedar"])[(scores + rng.gumbel(size=(150, 3))).argmax(axis=1)]
    frame.to_csv(tmp_path / "trees.csv", index=False)
    return frame


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def numbers(frame):
    return frame.drop(columns=["kind", "soil"])


@pytest.mark.parametrize("loss", [[], ["--loss", "multinomial"]])
def test_paths(run, table, tmp_path, loss):
    argv = ["path", tmp_path / "trees.csv", "--target", "kind", "--drop", "soil", *loss]
    result = run.json(*argv, "--out", tmp_path / "path.csv", "--plot", tmp_path / "path.svg")
    path = ez.fit_path(numbers(table), table.kind.to_numpy(dtype=str), loss="multinomial", lambda_2=1e-3, standardize=True)
    assert result["loss"] == "multinomial"
    assert result["classes"] == ["ash", "birch", "cedar"]
    assert [point["size"] for point in result["points"]] == path.support_size.tolist()
    np.testing.assert_allclose([point["intercept"] for point in result["points"]], path.intercept, rtol=1e-6, atol=1e-9)
    last = {feature["name"]: feature["coefficient"] for feature in result["points"][-1]["features"]}
    np.testing.assert_allclose(last["height"], path[-1].coef[:, 0], rtol=1e-6)
    written = pd.read_csv(tmp_path / "path.csv")
    assert written["class"].tolist() == ["ash", "birch", "cedar"] * len(path)
    np.testing.assert_allclose(written["(intercept)"], path.intercept.ravel(), rtol=1e-6, atol=1e-9)
    assert (tmp_path / "path.svg").stat().st_size > 1000
    text = run.ok(*argv)
    assert text.startswith("multinomial path:")
    assert "+height" in text


def test_proofs(run, table, tmp_path):
    (tmp_path / "costs.csv").write_text("height,2\nleaf,1.5\nage,0.5\n")
    data = [tmp_path / "trees.csv", "--target", "kind"]
    shapes = ["--lambda-2", "0.02"]
    model = ["--out", tmp_path / "proof.npz", "--model", tmp_path / "model.json"]
    for limits in (["--k", "2"], ["--budget", "3.5", "--costs", tmp_path / "costs.csv"]):
        result = run.json("certify", *data, *shapes, *limits, *model)
        assert result["status"] == "optimal"
        assert result["loss"] == "multinomial"
        assert all(len(feature["coefficient"]) == 3 for feature in result["features"])
        assert run.json("verify", tmp_path / "proof.npz", *data, *limits[2:])["valid"]
        loaded = ez.load(tmp_path / "model.json")
        assert loaded.multi_class_ == "multinomial"
        np.testing.assert_allclose(loaded.intercept_, result["intercept"])
        rows = rows_of(run.ok("predict", tmp_path / "model.json", tmp_path / "trees.csv", "--proba"))
        shares = np.array([[float(row[f"probability_{label}"]) for label in loaded.classes_] for row in rows])
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-5)
        assert [row["prediction"] for row in rows] == loaded.classes_[shares.argmax(axis=1)].tolist()
    assert result["total_cost"] <= 3.5
    text = run.ok("certify", *data, *shapes, "--k", "2")
    assert "multinomial loss:" in text
    assert any(line.split() == ["ash", "birch", "cedar"] for line in text.splitlines())


def test_groups_of_categories(run, table, tmp_path):
    """Soil is one feature for all classes: all of its categories, or none."""
    argv = ["fit", tmp_path / "trees.csv", "--target", "kind", "--k", "3"]
    for multi_class in ("multinomial", "ovr-shared"):
        result = run.json(*argv, "--multi-class", multi_class)
        assert sorted(result["columns"]) == ["height", "leaf", "soil"]
        assert result["size"] == 5
    assert result["multi_class"] == "ovr_shared"


@pytest.mark.filterwarnings("ignore:the chosen model has max_support")
def test_cross_validation_and_the_page(run, table, tmp_path):
    data = [tmp_path / "trees.csv", "--target", "kind", "--drop", "soil", "--cv", "3", "--max-support", "3"]
    result = run.json("cv", *data, "--out", tmp_path / "model.json", "--plot", tmp_path / "scores.svg")
    assert result["multi_class"] == "multinomial"
    assert result["scoring"] == "negative loss"
    assert "held-out multinomial loss" in result["why"]
    for multi_class in ("multinomial", "ovr_shared", "ovr"):
        page = tmp_path / f"{multi_class}.html"
        said = run.json("report", *data, "--out", page, "--multi-class", multi_class, "--time-limit", "10")
        content = page.read_text(encoding="utf-8")
        summary = json.loads(content.split('id="report-data">')[1].split("</script>")[0])
        assert summary["shared"] == (multi_class != "ovr")
        assert len(summary["certificate"]["rows"]) == (3 if multi_class == "ovr" else 1)
        assert said["certificate"].startswith("Proved")
        commands = ["ellzero".join(block["parts"]) for block in summary["code"]["blocks"][1:]]
        assert ("--multi-class" in commands[0]) == (multi_class != "multinomial")


def test_several_targets_are_predicted(run, table, tmp_path):
    X = numbers(table)
    model = ez.L0Regressor(k=2).fit(X, np.column_stack([X.height + X.leaf, X.height]))
    model.save(tmp_path / "model.json")
    rows = rows_of(run.ok("predict", tmp_path / "model.json", tmp_path / "trees.csv"))
    found = [[float(row["prediction_0"]), float(row["prediction_1"])] for row in rows]
    np.testing.assert_allclose(found, model.predict(X), rtol=1e-5)
