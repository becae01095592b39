"""Missing values and columns of text: learnt in a fit, kept in the model file, applied to new data."""

import csv
import io
import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder
from support.command_line import table

import ellzero as ez

NUMBERS = list("abcdef")


def messy(n=120, seed=0):
    rng = np.random.default_rng(seed)
    frame = table(n, seed)
    frame["city"] = rng.choice(["Rome", "Oslo", "Bonn"], n)
    frame["sex"] = rng.choice(["m", "w"], n)
    frame["month"] = rng.integers(1, 5, n)
    frame["label"] = np.where(frame.a + 2.0 * (frame.city == "Rome") > 0.5, "yes", "no")
    frame.loc[[1, 5, 9], "a"] = np.nan
    frame.loc[[2, 5], "city"] = None
    return frame


@pytest.fixture
def fitted(run, tmp_path):
    """A model of messy data, its file and its result."""
    messy().to_csv(tmp_path / "data.csv", index=False)
    argv = ["--target", "label", "--impute", "median", "--one-hot", "--categorical", "month", "--lambda-0", "0.0001"]
    result = run.json("fit", tmp_path / "data.csv", *argv, "--out", tmp_path / "model.json")
    return tmp_path / "model.json", result


def decisions(run, model, frame, folder):
    frame.to_csv(folder / "new.csv", index=False)
    return np.array(run.json("predict", model, folder / "new.csv", "--decision")["decisions"])


def test_the_usual_thing(run, tmp_path, fitted):
    """The features are those of scikit-learn's imputer and encoder, and the model is that of the library on them."""
    model, result = fitted
    frame = messy()
    frame["month"] = frame.month.astype(str)
    frame = frame.astype(object).where(frame.notna(), None)
    prepared = ColumnTransformer(
        [
            ("numbers", SimpleImputer(strategy="median"), NUMBERS),
            ("text", OneHotEncoder(drop="if_binary", sparse_output=False), ["city", "sex", "month"]),
        ]
    ).fit_transform(frame.fillna(dict.fromkeys(NUMBERS, np.nan)))
    names = [*NUMBERS, "city=Bonn", "city=Oslo", "city=Rome", "city=(missing)", "sex=w", *(f"month={k}" for k in range(1, 5))]
    assert prepared.shape[1] == len(names) == result["n_features"]
    columns = [name.split("=")[0] for name in names]  # the categories of a column come in together
    expected = ez.L0Classifier(lambda_0=0.0001, groups=columns).fit(prepared.astype(float), frame.label.to_numpy(dtype=str))
    assert {f["name"]: f["coefficient"] for f in result["features"]} == pytest.approx(
        {names[j]: expected.coef_[0, j] for j in expected.support_}
    )
    np.testing.assert_allclose(
        decisions(run, model, messy(), tmp_path), expected.decision_function(prepared.astype(float)), rtol=1e-9
    )


def test_model_file_is_plain(fitted):
    kept = json.loads(fitted[0].read_text())["preparation"]
    assert kept["kind"] == "table"
    assert kept["numbers"] == NUMBERS
    assert kept["medians"] == pytest.approx(messy()[NUMBERS].median().tolist())
    assert {entry["column"]: entry["values"] for entry in kept["categories"]} == {
        "city": ["Bonn", "Oslo", "Rome", None],
        "sex": ["m", "w"],
        "month": ["1", "2", "3", "4"],
    }


def test_new_values(run, tmp_path, fitted):
    """A missing number is the fit's median, not that of the new data; an unknown category is none of the known ones."""
    model, result = fitted
    coefficient = {f["name"]: f["coefficient"] for f in result["features"]}
    known = messy().city.map(lambda city: f"city={city}" in coefficient)
    assert "a" in coefficient
    assert known.any()
    row = messy()[known].iloc[[0] * 4].reset_index(drop=True)
    row.loc[1, "a"] = np.nan
    row.loc[2, "city"] = "Paris"
    row.loc[3, "city"] = None
    values = decisions(run, model, row, tmp_path)
    median = messy().a.median()
    assert values[1] - values[0] == pytest.approx(coefficient["a"] * (median - row.a[0]))
    own = coefficient[f"city={row.city[0]}"]
    assert values[2] - values[0] == pytest.approx(-own)
    assert values[3] - values[0] == pytest.approx(coefficient.get("city=(missing)", 0.0) - own)
    _, _, err = run("predict", model, tmp_path / "new.csv")
    assert (
        err
        == "ellzero: note: column 'city' has values that the fit did not see ('Paris'); they count as none of the known ones.\n"
    )


def test_a_new_value_beside_two(run, tmp_path, fitted):
    """A column of two categories has one indicator, so a third value counts as the first category, and is told to."""
    model, _ = fitted
    row = messy().iloc[[0] * 2].reset_index(drop=True).assign(sex=["m", "x"])
    values = decisions(run, model, row, tmp_path)
    assert values[0] == values[1]
    _, _, err = run("predict", model, tmp_path / "new.csv")
    assert "column 'sex' has values that the fit did not see ('x'); they count as 'm'." in err


def test_numbers_that_are_categories_stay_so(run, tmp_path, fitted):
    """New data whose column of categories happens to look like numbers, or has one value only."""
    model, _ = fitted
    whole = decisions(run, model, messy(), tmp_path)
    some = messy().month == 2
    np.testing.assert_allclose(decisions(run, model, messy()[some], tmp_path), whole[some])
    messy().astype({"month": str}).to_parquet(tmp_path / "new.parquet")
    result = run.json("predict", model, tmp_path / "new.parquet", "--decision")
    np.testing.assert_allclose(result["decisions"], whole)


def test_each_option_is_needed_for_what_it_does(run, tmp_path):
    messy().to_csv(tmp_path / "data.csv", index=False)
    argv = ["fit", tmp_path / "data.csv", "--target", "label", "--k", "2"]
    assert "columns 'city' and 'sex' hold text (such as 'Bonn'); code them as" in run.error(*argv)
    assert "columns 'city' and 'sex' hold text" in run.error(*argv, "--impute", "median")
    assert "column 'a' has missing values; fill them with --impute median" in run.error(*argv, "--one-hot")
    run.ok(*argv, "--one-hot", "--drop", "a")
    run.ok(*argv, "--impute", "median", "--drop", "city,sex")
    for name in ("zz", "label"):
        assert f"has no column {name!r}" in run.error(*argv, "--categorical", name)
    messy().rename(columns={"b": "sex=w"}).to_csv(tmp_path / "data.csv", index=False)
    message = run.error(*argv, "--one-hot", "--impute", "median")
    assert "has more than one column named 'sex=w'" in message


def test_missing_marks(run, tmp_path):
    frame = messy().fillna({"a": -999, "city": "?"})
    frame.to_csv(tmp_path / "data.csv", index=False)
    argv = ["--target", "label", "--impute", "median", "--one-hot", "--missing", "?", "--missing=-999"]
    run.ok("fit", tmp_path / "data.csv", *argv, "--lambda-0", "0.0001", "--out", tmp_path / "model.json")
    kept = json.loads((tmp_path / "model.json").read_text())["preparation"]
    assert kept["medians"][0] == pytest.approx(messy().a.median())
    assert kept["categories"][0]["values"] == ["Bonn", "Oslo", "Rome", None]
    marked = run.json("predict", tmp_path / "model.json", tmp_path / "data.csv", "--missing", "?", "--missing=-999")
    messy().to_csv(tmp_path / "data.csv", index=False)
    assert run.json("predict", tmp_path / "model.json", tmp_path / "data.csv")["predictions"] == marked["predictions"]


def test_many_categories_stay_sparse(run, tmp_path):
    """Hundreds of indicators do not fill the memory, and the way through files is the same."""
    rng = np.random.default_rng(0)
    frame = table(2000)
    frame["zip"] = [f"z{k}" for k in rng.integers(0, 400, len(frame))]
    frame.to_csv(tmp_path / "data.csv", index=False)
    argv = [tmp_path / "data.csv", "--target", "label", "--one-hot", "--k", "3"]
    result = run.json("fit", *argv, "--out", tmp_path / "model.json")
    assert result["n_features"] > 390
    assert sorted(f["name"] for f in result["features"]) == ["a", "c", "e"]
    labels = [row["prediction"] for row in csv.DictReader(io.StringIO(run.ok("predict", tmp_path / "model.json", argv[0])))]
    assert np.mean(np.array(labels) == frame.label) == pytest.approx(result["training_score"]["value"])
    assert run.json("certify", *argv, "--out", tmp_path / "proof.npz")["status"] == "optimal"
    assert run.json("verify", tmp_path / "proof.npz", *argv[:4])["valid"]


@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_matrices(run, tmp_path, storage):
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(100, 5)) * (rng.random((100, 5)) > 0.3)
    y = (matrix[:, 1] > matrix[:, 3]).astype(int)
    holes = matrix.copy()
    holes[[4, 6, 8], [1, 3, 1]] = np.nan
    np.save(tmp_path / "y.npy", y)
    if storage == "sparse":
        sparse.save_npz(tmp_path / "data.npz", sparse.csr_matrix(holes))
    else:
        np.savez(tmp_path / "data.npz", X=holes)
    argv = ["--target", tmp_path / "y.npy", "--impute", "median", "--k", "2", "--out", tmp_path / "model.json"]
    run.ok("fit", tmp_path / "data.npz", *argv)
    filled = SimpleImputer(strategy="median").fit_transform(holes)
    expected = ez.L0Classifier(k=2).fit(filled, y)
    found = run.json("predict", tmp_path / "model.json", tmp_path / "data.npz", "--decision")["decisions"]
    np.testing.assert_allclose(found, expected.decision_function(filled), rtol=1e-8, atol=1e-10)
    run.ok("fit", tmp_path / "data.npz", *argv, "--target", tmp_path / "y.npy")
