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
    argv = ["--target", "label", "--categorical", "month", "--lambda-0", "0.0001"]
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
    assert err.splitlines() == [
        f"ellzero: note: missing values are filled with medians of the fit: 'a' in 1 row (median {median:.6g}).",
        "ellzero: note: column 'city' has values that the fit did not see ('Paris'); they count as none of the known ones.",
    ]


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


def test_text_and_gaps_can_be_refused(run, tmp_path):
    messy().to_csv(tmp_path / "data.csv", index=False)
    argv = ["fit", tmp_path / "data.csv", "--target", "label", "--k", "2"]
    assert "columns 'city' and 'sex' hold text; leave out" in run.error(*argv, "--no-one-hot")
    assert "column 'a' has missing values; leave out --impute none to fill them" in run.error(*argv, "--impute", "none")
    run.ok(*argv, "--impute", "none", "--drop", "a")
    run.ok(*argv, "--no-one-hot", "--drop", "city,sex")
    for name in ("zz", "label"):
        assert f"has no column {name!r}" in run.error(*argv, "--categorical", name)
    messy().rename(columns={"b": "sex=w"}).to_csv(tmp_path / "data.csv", index=False)
    assert "has more than one column named 'sex=w'" in run.error(*argv)


def test_a_raw_table_needs_no_options(run, tmp_path):
    """Semicolons, decimal commas, text, gaps, dates, an identifier: what was made of them is said; new rows need no options."""
    frame = messy().assign(patient_id=np.arange(120) + 5001, note=[f"seen by {k}" for k in range(120)], empty=None)
    frame["when"] = [f"{k % 28 + 1}.03.2024" for k in range(120)]
    frame.to_csv(tmp_path / "plain.csv", index=False)
    frame.to_csv(tmp_path / "raw.csv", index=False, sep=";", decimal=",")
    results = {}
    for name in ("plain", "raw"):
        code, out, err = run("fit", tmp_path / f"{name}.csv", "--target", "label", "--json", "--out", tmp_path / f"{name}.json")
        assert code == 0, err
        results[name] = json.loads(out)["features"]
        left = (
            "'empty', no values; 'patient_id', a different number in every row; 'when', dates; 'note', a different text in most"
        )
        assert f"note: left out: {left} rows." in err
        assert "note: text as categories: 'city' (4), 'sex' (2)." in err
        assert "note: missing values: 'a' in 3 rows (median " in err
        assert "'city' in 2 rows (a separate category)." in err
        assert ("raw.csv: fields are separated by ';', the decimal mark is ','." in err) == (name == "raw")
    assert results["raw"] == results["plain"]
    rows = list(csv.DictReader(io.StringIO(run.ok("predict", tmp_path / "plain.json", tmp_path / "raw.csv", "--proba"))))
    assert list(rows[0]) == ["patient_id", "note", "prediction", "probability_no", "probability_yes"]
    assert rows[3]["patient_id"] == "5004"
    assert all(len(row["probability_yes"].lstrip("0.")) <= 6 or "e" in row["probability_yes"] for row in rows)
    for command in (["cv"], ["risk-score", "--k", "2"], ["report", "--time-limit", "0", "--out", tmp_path / "page.html"]):
        code, _, err = run(command[0], tmp_path / "raw.csv", "--target", "label", *command[1:])
        assert code == 0, err


@pytest.mark.filterwarnings("always")
def test_numbers_that_may_mean_a_missing_value(run, tmp_path):
    frame = table().assign(age=np.arange(120) % 60 + 20, size=np.arange(120) % 7 + 1.5, change=np.arange(120) % 30 * 2 - 30)
    frame.loc[[3, 8], "age"], frame.loc[[3, 8, 9], "size"], frame.loc[[1, 2], "change"] = 999, -9, -99
    frame.to_csv(tmp_path / "data.csv", index=False)
    argv = ["fit", tmp_path / "data.csv", "--target", "label", "--k", "2"]
    _, _, err = run(*argv)
    assert (
        "column 'age' holds 999 in several rows and nothing else near it; if it means a missing value, add --missing=999."
        in err
    )
    assert "column 'size' holds -9 in several rows and nothing else below zero" in err
    assert "change" not in err  # other values are below zero, too
    age, size = frame.age[frame.age < 999].median(), frame["size"][frame["size"] > 0].median()
    filled = f"missing values: 'age' in 2 rows (median {age:g}), 'size' in 3 rows (median {size:g})."
    _, _, err = run(*argv, "--missing=-9,999", "--missing", "?,lost")
    assert "holds" not in err
    assert filled in err
    assert f"--missing: no field of {tmp_path / 'data.csv'} is '?' or 'lost'." in err
    for name, write in (("data.xlsx", frame.to_excel), ("data.parquet", frame.to_parquet)):
        write(tmp_path / name, index=False)
        _, _, err = run("fit", tmp_path / name, *argv[2:], "--missing=-9,999,?")
        assert filled in err
        assert "is '?'." in err


def test_missing_marks(run, tmp_path):
    frame = messy().fillna({"a": -999, "city": "?"})
    frame.to_csv(tmp_path / "data.csv", index=False)
    argv = ["--target", "label", "--missing=?,-999"]
    run.ok("fit", tmp_path / "data.csv", *argv, "--lambda-0", "0.0001", "--out", tmp_path / "model.json")
    kept = json.loads((tmp_path / "model.json").read_text())["preparation"]
    assert kept["medians"][0] == pytest.approx(messy().a.median())
    assert kept["categories"][0]["values"] == ["Bonn", "Oslo", "Rome", None]
    marked = run.json("predict", tmp_path / "model.json", tmp_path / "data.csv")
    messy().to_csv(tmp_path / "data.csv", index=False)
    assert run.json("predict", tmp_path / "model.json", tmp_path / "data.csv")["predictions"] == marked["predictions"]


def test_many_categories_stay_sparse(run, tmp_path):
    """Hundreds of indicators do not fill the memory, and the way through files is the same."""
    rng = np.random.default_rng(0)
    frame = table(2000)
    frame["zip"] = [f"z{k}" for k in rng.integers(0, 400, len(frame))]
    frame.to_csv(tmp_path / "data.csv", index=False)
    argv = [tmp_path / "data.csv", "--target", "label", "--k", "3"]
    result = run.json("fit", *argv, "--out", tmp_path / "model.json")
    assert result["n_features"] > 390
    assert sorted(f["name"] for f in result["features"]) == ["a", "c", "e"]
    labels = [row["prediction"] for row in csv.DictReader(io.StringIO(run.ok("predict", tmp_path / "model.json", argv[0])))]
    assert np.mean(np.array(labels) == frame.label) == pytest.approx(result["training_score"]["value"])
    assert run.json("certify", *argv, "--out", tmp_path / "proof.npz")["status"] == "optimal"
    assert run.json("verify", tmp_path / "proof.npz", *argv[:3])["valid"]


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
    argv = ["--target", tmp_path / "y.npy", "--k", "2", "--out", tmp_path / "model.json"]
    run.ok("fit", tmp_path / "data.npz", *argv)
    filled = SimpleImputer(strategy="median").fit_transform(holes)
    expected = ez.L0Classifier(k=2).fit(filled, y)
    found = run.json("predict", tmp_path / "model.json", tmp_path / "data.npz", "--decision")["decisions"]
    np.testing.assert_allclose(found, expected.decision_function(filled), rtol=1e-8, atol=1e-10)
    run.ok("fit", tmp_path / "data.npz", *argv, "--target", tmp_path / "y.npy")
