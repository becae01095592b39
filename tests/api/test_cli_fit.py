"""`ellzero fit`, `predict` and `cv` against the estimators that they call."""

import csv
import io
import json
import re
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from support.command_line import species, table

import ellzero as ez

FRAME = table()
X, Y = FRAME[list("abcdef")], FRAME.label.to_numpy(dtype=str)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge", "squared_error"])
def test_fit_then_predict(run, data, tmp_path, loss):
    model = tmp_path / "model.json"
    result = run.json("fit", data, "--target", "label", "--loss", loss, "--k", "3", "--out", model)
    expected = ez.L0Classifier(loss, k=3).fit(X, Y)
    assert {f["name"]: f["coefficient"] for f in result["features"]} == pytest.approx(
        {"abcdef"[j]: expected.coef_[0, j] for j in expected.support_}
    )
    assert result["intercept"] == pytest.approx(expected.intercept_[0])
    assert result["objective"] == pytest.approx(expected.objective_)
    assert result["training_score"]["value"] == pytest.approx(expected.score(X, Y))
    assert result["classes"] == ["no", "yes"]
    assert result["model"] == str(model)
    rows = rows_of(run.ok("predict", model, data))
    assert [row["prediction"] for row in rows] == expected.predict(X).tolist()
    rows = run.json("predict", model, data, "--decision")
    np.testing.assert_allclose(rows["decisions"], expected.decision_function(X), rtol=1e-9)
    # The file is the estimators' own.
    assert (ez.load(model).predict(X) == expected.predict(X)).all()


def test_text(run, data, tmp_path, monkeypatch):
    monkeypatch.setattr("ellzero.base.progress.SECONDS_IN_SILENCE", -1.0)
    code, out, err = run("fit", data, "--target", "label", "--out", tmp_path / "model.json")
    assert code == 0
    assert "logistic model with 3 of 6 features, 120 rows, size chosen by ebic:" in out
    assert "yes (positive coefficients make it likelier)" in out
    assert out.splitlines()[-1] == f"written: {tmp_path / 'model.json'}"
    assert re.search(r"looking for models: done in [\d.]+ s, at \d+ features", err), err
    _, _, err = run("fit", data, "--target", "label", "--k", "1")
    assert "the model is not kept; --out model.json writes it" in err
    assert run("fit", data, "--target", "label", "--k", "1", "--quiet")[2] == ""


def test_columns_are_found_by_name(run, data, tmp_path):
    """In any order, among others, without the target, and without those that the model does not use."""
    model = tmp_path / "model.json"
    used = [f["name"] for f in run.json("fit", data, "--target", "label", "--k", "3", "--out", model)["features"]]
    assert sorted(used) == ["a", "c", "e"]
    labels = [row["prediction"] for row in rows_of(run.ok("predict", model, data))]
    FRAME[["label", *"fedcba"]].assign(more="text", b=np.nan).to_csv(tmp_path / "other.csv", index=False)
    assert [row["prediction"] for row in rows_of(run.ok("predict", model, tmp_path / "other.csv"))] == labels
    FRAME[["e", "a", "c"]].to_parquet(tmp_path / "few.parquet")
    assert [row["prediction"] for row in rows_of(run.ok("predict", model, tmp_path / "few.parquet"))] == labels
    FRAME.drop(columns="c").to_csv(tmp_path / "less.csv", index=False)
    assert "less.csv has no column 'c'; its columns are a, b, d, e, f, label." in run.error(
        "predict", model, tmp_path / "less.csv"
    )
    FRAME.rename(columns={"a": "A", "c": "C"}).to_csv(tmp_path / "less.csv", index=False)
    assert "has no column 'a' (and 1 other)" in run.error("predict", model, tmp_path / "less.csv")
    FRAME.assign(a="x").to_csv(tmp_path / "text.csv", index=False)
    assert "column 'a' in" in run.error("predict", model, tmp_path / "text.csv")
    FRAME.assign(a=FRAME.a.where(FRAME.a > 0)).to_csv(tmp_path / "holes.csv", index=False)
    assert "medians of the fit: 'a' in " in run("predict", model, tmp_path / "holes.csv")[2]
    run.ok("fit", data, "--target", "label", "--k", "3", "--impute", "none", "--out", tmp_path / "strict.json")
    message = run.error("predict", tmp_path / "strict.json", tmp_path / "holes.csv")
    assert message == "column 'a' has missing values, and the model knows no medians to fill them with."
    assert "is read by this command; name another file" in run.error("predict", model, data, "--out", data)


@pytest.mark.parametrize(
    "labels", [("1.0", "2.0"), ("7", "-1"), ("007", "7"), ("True", "False"), ("1e3", "x y"), ("n,o", 'y"s')]
)
def test_labels_come_back_as_they_were_written(run, data, tmp_path, labels):
    FRAME.assign(label=np.where(FRAME.label == "yes", *labels)).to_csv(data, index=False)
    run.ok("fit", data, "--target", "label", "--k", "3", "--out", tmp_path / "model.json")
    rows = rows_of(run.ok("predict", tmp_path / "model.json", data))
    assert {row["prediction"] for row in rows} == set(labels)
    assert (
        np.mean([row["prediction"] == other["label"] for row, other in zip(rows, rows_of(data.read_text()), strict=True)]) > 0.9
    )


def test_probabilities_and_columns_to_keep(run, tmp_path):
    frame = FRAME.assign(id=[f"{k:04d}" for k in range(len(FRAME))])
    frame.to_csv(tmp_path / "data.csv", index=False)
    model, out = tmp_path / "model.json", tmp_path / "out.csv"
    run.ok("fit", tmp_path / "data.csv", "--target", "label", "--drop", "id", "--k", "3", "--out", model)
    assert run.ok("predict", model, tmp_path / "data.csv", "--proba", "--decision", "--keep", "id,a", "--out", out) == ""
    rows = rows_of(out.read_text())
    assert list(rows[0]) == ["id", "a", "prediction", "probability_no", "probability_yes", "decision"]
    assert [row["id"] for row in rows] == frame.id.tolist()
    expected = ez.L0Classifier(k=3).fit(X, Y)
    np.testing.assert_allclose([float(row["probability_yes"]) for row in rows], expected.predict_proba(X)[:, 1], rtol=1e-5)
    np.testing.assert_allclose([float(row["decision"]) for row in rows], expected.decision_function(X), rtol=1e-5)
    result = run.json("predict", model, tmp_path / "data.csv", "--proba", "--keep", "id")
    np.testing.assert_allclose(result["probabilities"], expected.predict_proba(X), rtol=1e-9)
    assert result["kept"]["id"][3] == "0003"
    assert "--keep: " in run.error("predict", model, tmp_path / "data.csv", "--keep", "zz")


def test_models_without_probabilities(run, data, tmp_path):
    model = tmp_path / "model.json"
    run.ok("fit", data, "--target", "label", "--loss", "hinge", "--k", "2", "--out", model)
    assert "has no probabilities (loss hinge); fit it with --probability" in run.error("predict", model, data, "--proba")
    run.ok("fit", data, "--target", "label", "--loss", "hinge", "--k", "2", "--probability", "--out", model)
    assert len(run.json("predict", model, data, "--proba")["probabilities"][0]) == 2
    run.ok("fit", data, "--target", "f", "--drop", "label", "--regression", "--k", "2", "--out", model)
    assert "--proba is for classifiers" in run.error("predict", model, data, "--proba")


def test_regression(run, tmp_path):
    rng = np.random.default_rng(1)
    frame = X.assign(price=3.0 * X.b - X.d + 0.1 * rng.normal(size=len(X)))
    frame.to_csv(tmp_path / "data.csv", index=False)
    model = tmp_path / "model.json"
    result = run.json("fit", tmp_path / "data.csv", "--target", "price", "--regression", "--out", model)
    expected = ez.L0Regressor().fit(X, frame.price)
    assert [f["name"] for f in result["features"]] == ["b", "d"]
    assert result["criterion"]["value"] == pytest.approx(expected.criterion_)
    assert result["training_score"] == {"name": "r2", "value": pytest.approx(expected.score(X, frame.price))}
    rows = rows_of(run.ok("predict", model, tmp_path / "data.csv"))
    np.testing.assert_allclose([float(row["prediction"]) for row in rows], expected.predict(X), rtol=1e-5)
    result = run.json("cv", tmp_path / "data.csv", "--target", "price", "--regression", "--rule", "one_se", "--cv", "3")
    assert [f["name"] for f in result["features"]] == ["b", "d"]


@pytest.mark.parametrize("multi_class", ["multinomial", "ovr_shared", "ovr"])
def test_several_classes(run, tmp_path, multi_class):
    frame = species()
    frame.to_csv(tmp_path / "data.csv", index=False)
    model = tmp_path / "model.json"
    options = ["--multi-class", multi_class.replace("_", "-")]
    result = run.json("fit", tmp_path / "data.csv", "--target", "species", "--k", "2", *options, "--out", model)
    numbers = frame.drop(columns="species")
    labels = frame.species.to_numpy(dtype=str)
    expected = ez.L0Classifier(k=2, multi_class=multi_class).fit(numbers, labels)
    assert result["multi_class"] == multi_class
    assert [output["label"] for output in result["outputs"]] == ["ant", "bee", "cat"]
    for output, coef in zip(result["outputs"], expected.coef_, strict=True):
        assert {f["name"]: f["coefficient"] for f in output["features"]} == pytest.approx(
            {numbers.columns[j]: coef[j] for j in np.flatnonzero(coef)}
        )
    assert len(result["intercept"]) == len(result["features"][0]["coefficient"]) == 3
    rows = rows_of(run.ok("predict", model, tmp_path / "data.csv", "--proba", "--decision"))
    assert [row["prediction"] for row in rows] == expected.predict(numbers).tolist()
    assert float(rows[0]["probability_cat"]) == pytest.approx(expected.predict_proba(numbers)[0, 2])
    assert float(rows[0]["decision_bee"]) == pytest.approx(expected.decision_function(numbers)[0, 1])
    text = run.ok("fit", tmp_path / "data.csv", "--target", "species", "--k", "2", *options)
    assert text.count("(positive coefficients make it likelier)") == (3 if multi_class == "ovr" else 0)
    assert any(line.split() == ["ant", "bee", "cat"] for line in text.splitlines()) == (multi_class != "ovr")


@pytest.mark.parametrize("zero_based", [True, False])
def test_sparse_files(run, tmp_path, zero_based):
    """New svmlight files may lack the last features, and the first: indices keep their meaning."""
    matrix = sparse.random(100, 30, 0.3, random_state=0, format="csr")
    y = np.where(matrix @ np.eye(30)[3] > matrix @ np.eye(30)[7], 1, -1)
    dump_svmlight_file(matrix, y, str(tmp_path / "data.svm"), zero_based=zero_based)
    model = tmp_path / "model.json"
    run.ok("fit", tmp_path / "data.svm", "--k", "2", "--out", model)
    expected = ez.L0Classifier(k=2).fit(matrix, y)
    few = matrix[:10].tolil()
    few[:, 10:] = 0.0
    few[:, :2] = 0.0
    dump_svmlight_file(sparse.csr_matrix(few), y[:10], str(tmp_path / "few.svm"), zero_based=zero_based)
    rows = rows_of(run.ok("predict", model, tmp_path / "few.svm"))
    assert [int(row["prediction"]) for row in rows] == expected.predict(sparse.csr_matrix(few)).tolist()
    sparse.save_npz(tmp_path / "few.npz", sparse.csr_matrix(few))
    assert rows_of(run.ok("predict", model, tmp_path / "few.npz")) == rows
    np.savez(tmp_path / "dense.npz", X=few.toarray())
    assert rows_of(run.ok("predict", model, tmp_path / "dense.npz")) == rows
    (tmp_path / "more.svm").write_text("1 5:1 40:2\n")
    assert "has features beyond the 30 that the model knows" in run.error("predict", model, tmp_path / "more.svm")
    np.savez(tmp_path / "less.npz", X=np.eye(4))
    assert "less.npz has 4 features, the model was fitted on 30" in run.error("predict", model, tmp_path / "less.npz")
    FRAME.to_csv(tmp_path / "data.csv", index=False)
    assert "fitted on a matrix without names" in run.error("predict", model, tmp_path / "data.csv")
    assert "--keep is for tables" in run.error("predict", model, tmp_path / "few.svm", "--keep", "a")
    if not zero_based:
        (tmp_path / "zero.svm").write_text("1 0:1 4:2\n")
        assert "has features with index 0" in run.error("predict", model, tmp_path / "zero.svm")


def test_models_of_the_library(run, data, tmp_path):
    """A model that was fitted in Python predicts from files, too, if its columns have names."""
    ez.L0Classifier(k=3).fit(X, Y).save(tmp_path / "named.json")
    rows = rows_of(run.ok("predict", tmp_path / "named.json", data))
    assert [row["prediction"] for row in rows] == ez.L0Classifier(k=3).fit(X, Y).predict(X).tolist()
    np.savez(tmp_path / "data.npz", X=X.to_numpy())
    assert "fitted on a table with named columns" in run.error("predict", tmp_path / "named.json", tmp_path / "data.npz")
    ez.L0Classifier(k=3).fit(X.to_numpy(), Y).save(tmp_path / "bare.json")
    assert rows_of(run.ok("predict", tmp_path / "bare.json", tmp_path / "data.npz")) == rows
    assert "fitted on a matrix without names" in run.error("predict", tmp_path / "bare.json", data)


def test_settings_reach_the_estimator(run, tmp_path):
    frame = FRAME.assign(weight=np.linspace(1.0, 3.0, len(FRAME)))
    frame.to_csv(tmp_path / "data.csv", index=False)
    argv = [tmp_path / "data.csv", "--target", "label", "--weight", "weight", "--class-weight", "balanced", "--always", "f"]
    more = [
        "--lambda-1",
        "0.001",
        "--lambda-2",
        "0.01",
        "--no-standardize",
        "--no-intercept",
        "--lower",
        "0",
        "--lambda-0",
        "0.01",
    ]
    result = run.json("fit", *argv, *more, "--algorithm", "cd", "--n-jobs", "2")
    expected = ez.L0Classifier(
        lambda_0=0.01,
        lambda_1=0.001,
        lambda_2=0.01,
        algorithm="cd",
        class_weight="balanced",
        standardize=False,
        fit_intercept=False,
        lower=0.0,
        unpenalized=["f"],
    ).fit(X, Y, sample_weight=frame.weight)
    assert {f["name"]: f["coefficient"] for f in result["features"]} == pytest.approx(
        {"abcdef"[j]: expected.coef_[0, j] for j in expected.support_}
    )
    result = run.json("fit", *argv, "--criterion", "aic")
    weighted = ez.L0Classifier(criterion="aic", class_weight="balanced", unpenalized=["f"]).fit(
        X, Y, sample_weight=frame.weight
    )
    assert result["criterion"] == {"name": "aic", "value": pytest.approx(weighted.criterion_)}
    for option in ("--class-weight balanced", "--multi-class ovr", "--probability"):
        words = option.split()
        message = run.error("fit", tmp_path / "data.csv", "--target", "a", "--drop", "label", "--regression", *words)
        assert message == f"{words[0]} is for classes, not for --regression."


def test_a_warning_is_one_line(run, data):
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        _, _, err = run(
            "fit", data, "--target", "label", "--criterion", "aic", "--max-support", "2", "--out", data.parent / "m.json"
        )
    assert "ellzero: warning: the chosen model has max_support = 2 features: larger ones may be better.\n" in err


def test_exact_fit(run, data, tmp_path):
    result = run.json("fit", data, "--target", "label", "--k", "2", "--algorithm", "exact", "--gap", "1e-6")
    assert result["status"] == "optimal"
    assert result["gap"] <= 1e-6
    assert len(result["proofs"]) == 1
    assert "optimal: proved gap" in run.ok("fit", data, "--target", "label", "--k", "2", "--algorithm", "exact")


def test_cross_validation(run, data, tmp_path):
    model = tmp_path / "model.json"
    argv = ["cv", data, "--target", "label", "--cv", "4", "--rule", "one_se", "--scoring", "roc_auc", "--max-support", "4"]
    result = run.json(*argv, "--seed", "3", "--out", model)
    expected = ez.L0ClassifierCV(cv=4, rule="one_se", scoring="roc_auc", max_support=4, random_state=3).fit(X, Y)
    assert result["best_score"] == pytest.approx(expected.best_score_)
    assert result["k"] == expected.k_
    assert (result["lambda_0"], result["lambda_2"]) == pytest.approx((expected.lambda_0_, expected.lambda_2_))
    assert result["scoring"] == "roc_auc"
    frame = expected.cv_results_.to_frame()
    assert len(result["points"]) == len(frame)
    np.testing.assert_allclose([point["mean"] for point in result["points"]], frame.mean_score)
    assert [point["chosen"] for point in result["points"]] == frame.chosen.tolist()
    assert len(result["points"][0]["scores"]) == 4
    assert [row["prediction"] for row in rows_of(run.ok("predict", model, data))] == expected.predict(X).tolist()
    out = run.ok(*argv)
    assert out.startswith("held-out roc auc ")
    assert "(higher is better; 4 folds, " in out
    assert "chosen (one_se)" in out
    result = run.json("cv", data, "--target", "label", "--select", "size", "--penalty", "l0", "--max-support", "3", "--cv", "3")
    assert [point["size"] for point in result["points"]] == [0, 1, 2, 3]
    assert {point["lambda_0"] for point in result["points"]} == {None}
    result = run.json("cv", data, "--target", "label", "--penalty", "l0l1", "--shrinkage", "0.1,0.01", "--lambda-0", "0.1,0.01")
    assert [(p["lambda_0"], p["lambda_1"]) for p in result["points"]] == [(0.1, 0.1), (0.01, 0.1), (0.1, 0.01), (0.01, 0.01)]
    for argv, expected_message in (
        (["--scoring", "beauty"], "scoring must be"),
        (["--cv", "1"], "cv must be at least 2"),
        (["--penalty", "l0", "--shrinkage", "1"], "shrinkage belongs to"),
    ):
        assert expected_message in run.error("cv", data, "--target", "label", *argv)


def test_model_files(run, data, tmp_path):
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "other.json").write_text("{}")
    assert "bad.json is not a model file" in run.error("predict", tmp_path / "bad.json", data)
    assert "other.json is not a model file" in run.error("predict", tmp_path / "other.json", data)
    assert "none.json: No such file or directory" in run.error("predict", tmp_path / "none.json", data)
    run.ok("fit", data, "--target", "label", "--k", "2", "--out", tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text())
    for change, message in (
        ({"numbers": ["a", "b"], "medians": []}, "contradicts itself: it has 6 features and prepares 2"),
        ({"numbers": None}, "preparation cannot be read"),
        ({"numbers": [1, 2, 3, 4, 5, 6]}, "names and categories must be strings"),
        ({"medians": [0.0]}, "medians one for each column of numbers"),
        ({"kind": "table", "medians": ["x"]}, "preparation cannot be read"),
    ):
        changed = {**content, "preparation": {**content["preparation"], **change}}
        (tmp_path / "changed.json").write_text(json.dumps(changed))
        assert message in run.error("predict", tmp_path / "changed.json", data)


def test_certified_models_predict(run, data, tmp_path):
    """certify --model writes what fit would: string labels, named columns."""
    for loss in ("logistic", "squared_error"):
        argv = ["--target", "label", "--k", "2", "--loss", loss, "--model", tmp_path / "model.json"]
        result = run.json("certify", data, *argv, "--out", tmp_path / "proof.npz")
        assert result["model"] == str(tmp_path / "model.json")
        assert result["classes"] == ["no", "yes"]
        expected = ez.L0Classifier(loss, k=2, algorithm="exact").fit(X, Y)
        rows = rows_of(run.ok("predict", tmp_path / "model.json", data, "--decision"))
        assert [row["prediction"] for row in rows] == expected.predict(X).tolist()
        np.testing.assert_allclose(
            [float(row["decision"]) for row in rows], expected.decision_function(X), rtol=1e-4, atol=1e-4
        )
        assert run.json("verify", tmp_path / "proof.npz", data, "--target", "label")["valid"]
    species().to_csv(tmp_path / "species.csv", index=False)
    argv = ["--target", "species", "--positive", "cat", "--k", "2", "--model", tmp_path / "cat.json"]
    run.ok("certify", tmp_path / "species.csv", *argv)
    answers = [row["prediction"] for row in rows_of(run.ok("predict", tmp_path / "cat.json", tmp_path / "species.csv"))]
    assert set(answers) == {"True", "False"}
    assert np.mean((np.array(answers) == "True") == (species().species == "cat")) > 0.9
    X.assign(y=X.a - X.b).to_csv(tmp_path / "numbers.csv", index=False)
    argv = ["--target", "y", "--regression", "--k", "2", "--lambda-2", "0.000001", "--model", tmp_path / "line.json"]
    run.ok("certify", tmp_path / "numbers.csv", *argv)
    rows = rows_of(run.ok("predict", tmp_path / "line.json", tmp_path / "numbers.csv"))
    np.testing.assert_allclose([float(row["prediction"]) for row in rows], X.a - X.b, atol=1e-3)
