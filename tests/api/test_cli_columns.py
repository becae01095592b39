"""Commands on column stores, which they do not read into memory."""

import json

import numpy as np
import pytest
from scipy import sparse
from support.command_line import table
from support.stores import write_store

import ellzero as ez

FRAME = table()
NAMES = list("abcdef")
X, Y = FRAME[NAMES].to_numpy(), FRAME.label.to_numpy(dtype=str)


@pytest.fixture
def csv(tmp_path):
    FRAME.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


@pytest.fixture
def store(tmp_path):
    return write_store(tmp_path / "data.columns", X, Y, names=NAMES, target="label")


@pytest.fixture
def bare(tmp_path):
    """A matrix and its target in files of NumPy."""
    np.save(tmp_path / "X.npy", np.asfortranarray(X))
    np.save(tmp_path / "y.npy", Y)
    return tmp_path / "X.npy"


def without(result, *names):
    return {name: value for name, value in result.items() if name not in {"model", "seconds", "proofs", *names}}


@pytest.mark.parametrize(
    "command",
    [
        ("fit", "--k", 3),
        ("fit", "--always", "b", "--criterion", "bic", "--max-support", 4),
        ("path", "--max-support", 4),
        ("cv", "--cv", 3, "--penalty", "l0", "--max-support", 4),
        ("certify", "--k", 2, "--lambda-2", "0.01"),
    ],
    ids=str,
)
def test_same_as_a_table(run, csv, store, command):
    name, *options = command
    here = run.json(name, csv, "--target", "label", *options)
    there = run.json(name, store, *options)
    assert json.dumps(without(there), sort_keys=True) == json.dumps(without(here), sort_keys=True)
    assert without(run.json(name, f"{store}/", "--target", "label", *options)) == without(there)


def test_proof(run, csv, store, tmp_path):
    proof = tmp_path / "proof.npz"
    run.ok("certify", store, "--k", 2, "--lambda-2", "0.01", "--out", proof, "--model", tmp_path / "model.json")
    report = run.json("verify", proof, store)
    assert report["valid"]
    assert report["support"] == ["a", "c"]
    assert run.json("verify", proof, csv, "--target", "label")["valid"]
    again = run.json("predict", tmp_path / "model.json", store)
    assert again["predictions"] == run.json("predict", tmp_path / "model.json", csv)["predictions"]
    other = write_store(tmp_path / "other.columns", X + 1.0, Y, names=NAMES, target="label")
    code, out, _ = run("verify", proof, other)
    assert code == 1
    assert "X is not the matrix" in out


@pytest.mark.parametrize(
    "kind", ["table", "store", "store with the columns in another order", "sparse store with more columns"]
)
def test_predictions(run, csv, store, tmp_path, kind):
    """A model of a table and one of a store predict tables and stores."""
    data = {"table": csv, "store": store}.get(kind)
    if "order" in kind:
        data = write_store(tmp_path / "new.columns", X[:, ::-1], names=NAMES[::-1])
    if "sparse" in kind:
        wide = sparse.csc_matrix(np.column_stack([np.ones((len(X), 3)), X]))
        data = write_store(tmp_path / "new.columns", wide, names=["one", "two", "three", *NAMES])
    for fitted in (csv, store):
        target = ("--target", "label") if fitted == csv else ()
        run.ok("fit", fitted, *target, "--k", 3, "--out", tmp_path / "model.json")
        result = run.json("predict", tmp_path / "model.json", data, "--proba")
        expected = ez.L0Classifier(k=3).fit(X, Y)
        assert result["predictions"] == expected.predict(X).tolist()
        np.testing.assert_allclose(result["probabilities"], expected.predict_proba(X), rtol=1e-9)
        _, _, err = run("predict", tmp_path / "model.json", data)
        assert err == ""


def test_predictions_by_number(run, bare, store, tmp_path):
    run.ok("fit", bare, "--target", tmp_path / "y.npy", "--k", 3, "--out", tmp_path / "model.json")
    expected = ez.L0Classifier(k=3).fit(X, Y).predict(X).tolist()
    for data in (bare, store):
        assert run.json("predict", tmp_path / "model.json", data)["predictions"] == expected
    narrow = write_store(tmp_path / "narrow.columns", X[:, :4])
    assert "has 4 features, the model was fitted on 6" in run.error("predict", tmp_path / "model.json", narrow)
    run.ok("fit", store, "--k", 3, "--out", tmp_path / "model.json")
    assert "X.npy has none" in run.error("predict", tmp_path / "model.json", bare)
    few = write_store(tmp_path / "few.columns", X[:, 1:], names=NAMES[1:])
    assert "has no column 'a', which the model uses" in run.error("predict", tmp_path / "model.json", few)
    assert "--keep is for tables" in run.error("predict", tmp_path / "model.json", store, "--keep", "a")


def test_missing_values(run, tmp_path):
    frame = FRAME.copy()
    frame.loc[3, "a"] = np.nan
    frame.to_csv(tmp_path / "data.csv", index=False)
    store = write_store(tmp_path / "data.columns", frame[NAMES].to_numpy(), Y, names=NAMES, target="label")
    assert "X contains NaN or infinity (column 'a')" in run.error("fit", store)
    run.ok("fit", tmp_path / "data.csv", "--target", "label", "--impute", "median", "--k", 3, "--out", tmp_path / "model.json")
    filled = run.json("predict", tmp_path / "model.json", tmp_path / "data.csv", "--decision")
    np.testing.assert_allclose(
        run.json("predict", tmp_path / "model.json", store, "--decision")["decisions"], filled["decisions"], rtol=1e-9
    )


def test_matrices_of_numpy(run, bare, tmp_path):
    path = run.json("path", bare, "--target", tmp_path / "y.npy", "--max-support", 3)
    assert path["classes"] == ["no", "yes"]
    assert {feature["name"] for point in path["points"] for feature in point["features"]} <= {f"x{j}" for j in range(6)}
    np.save(tmp_path / "weight.npy", np.ones(len(X)))
    weighted = run.json("path", bare, "--target", tmp_path / "y.npy", "--max-support", 3, "--weight", tmp_path / "weight.npy")
    assert weighted["points"] == path["points"]
    np.save(tmp_path / "rows.npy", np.ascontiguousarray(X))
    assert "Fortran order" in run.error("path", tmp_path / "rows.npy", "--target", tmp_path / "y.npy")


def test_report(run, store, tmp_path):
    run.ok("report", store, "--out", tmp_path / "page.html", "--time-limit", 0, "--max-support", 5, "--cv", 3)
    page = (tmp_path / "page.html").read_text()
    assert "data.columns --target label" in page


def test_regression(run, tmp_path):
    y = 2.0 * X[:, 0] - X[:, 4]
    store = write_store(tmp_path / "data.columns", X, y, target="price")
    result = run.json("fit", store, "--regression", "--k", 2)
    assert result["target"] == "price"
    assert {feature["name"] for feature in result["features"]} == {"x0", "x4"}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--target", "b"], "has the target 'label'; name it or a .npy file"),
        (["--drop", "a"], "--drop is for tables: the columns of"),
        (["--one-hot"], "--one-hot is for tables"),
        (["--impute", "median"], "--impute is for data that is read into memory"),
        (["--weight", "b"], "--weight: "),
        (["--always", "z"], "--always names 'z'"),
    ],
    ids=str,
)
def test_mistakes(run, store, options, sentence):
    assert sentence in run.error("fit", store, *options)


def test_what_is_no_store(run, store, tmp_path):
    (tmp_path / "folder").mkdir()
    assert "is a folder, not a data file" in run.error("fit", tmp_path / "folder")
    assert "it has no about.json" in run.error("fit", tmp_path / "folder", "--format", "columns")
    assert "cannot be read from standard input" in run.error("fit", "-", "--format", "columns")
    assert "there is no such file or folder" in run.error("fit", tmp_path / "nothing.columns")
    bare = write_store(tmp_path / "bare.columns", X)
    assert "has no target; name a .npy file" in run.error("fit", bare)
    moved = store.rename(tmp_path / "moved")
    assert run.json("path", moved, "--max-support", 2)["target"] == "label"
    (moved / "X.npy").write_bytes((moved / "X.npy").read_bytes()[:-8])
    assert "is damaged: X.npy has" in run.error("fit", moved)


def test_labels_without_features(run, tmp_path):
    """A file of svmlight whose rows name no feature, and a store of it: the model is the intercept."""
    labels, stored = tmp_path / "labels.svm", tmp_path / "labels.columns"
    labels.write_text("1\n-1\n1\n-1\n1\n")
    run.ok("convert", labels, "--out", stored)
    for file in (labels, stored):
        run.ok("fit", file, "--k", 1, "--out", tmp_path / "model.json")
        model = ez.load(tmp_path / "model.json")
        assert not len(model.support_)
        assert model.intercept_ == pytest.approx(np.log(3 / 2), abs=1e-6)
        run.ok("path", file, "--out", tmp_path / f"{file.suffix[1:]}.csv")
