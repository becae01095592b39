"""Data files of all formats, by the command `path`, which needs nothing else."""

import gzip
import io
import time

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from support.command_line import table

import ellzero as ez

FRAME = table()
X, Y = FRAME[list("abcdef")].to_numpy(), FRAME.label.to_numpy(dtype=str)
SETTINGS = {"lambda_2": 1e-3, "standardize": True, "algorithm": "local_search", "max_support": 4}


def path_of(run, *argv):
    return run.json("path", *argv, "--max-support", 4)


def same_as(result, path, names):
    """The command's path is that of the library on the same numbers."""
    np.testing.assert_allclose([point["lambda_0"] for point in result["points"]], path.lambda_0, rtol=1e-12)
    np.testing.assert_allclose([point["objective"] for point in result["points"]], path.objective, rtol=1e-12)
    for k, point in enumerate(result["points"]):
        found = {feature["name"]: feature["coefficient"] for feature in point["features"]}
        assert found == pytest.approx({names[j]: path[k].coef[j] for j in path[k].support})


WRITERS = {
    "data.csv": lambda frame, file: frame.to_csv(file, index=False),
    "data.csv.gz": lambda frame, file: frame.to_csv(file, index=False),
    "data.tsv": lambda frame, file: frame.to_csv(file, index=False, sep="\t"),
    "data.parquet": lambda frame, file: frame.to_parquet(file),
    "bom.csv": lambda frame, file: frame.to_csv(file, index=False, encoding="utf-8-sig"),
    "counted.csv": lambda frame, file: frame.to_csv(file),
}


@pytest.mark.parametrize("name", WRITERS)
def test_tables(run, tmp_path, name):
    WRITERS[name](FRAME, tmp_path / name)
    result = path_of(run, tmp_path / name, "--target", "label")
    same_as(result, ez.fit_path(X, Y, **SETTINGS), list("abcdef"))
    assert result["classes"] == ["no", "yes"]
    assert result["target"] == "label"


@pytest.mark.parametrize(
    ("options", "writing"),
    [
        (["--separator", ";"], {"sep": ";"}),
        (["--separator", "tab"], {"sep": "\t"}),
        (["--separator", ";", "--decimal", ","], {"sep": ";", "decimal": ","}),
        (["--encoding", "latin-1"], {"encoding": "latin-1"}),
        (["--format", "tsv"], {"sep": "\t"}),
    ],
)
def test_dialects_of_csv(run, tmp_path, options, writing):
    frame = FRAME.rename(columns={"a": "größe, in m"})
    frame.to_csv(tmp_path / "data.csv", index=False, **writing)
    result = path_of(run, tmp_path / "data.csv", "--target", "label", *options)
    same_as(result, ez.fit_path(X, Y, **SETTINGS), ["größe, in m", *"bcdef"])


@pytest.mark.parametrize("zero_based", [True, False])
def test_svmlight_keeps_sparse_data_and_its_indices(run, tmp_path, zero_based):
    sparse_X = sparse.random(100, 30, 0.3, random_state=0, format="csr")
    y = np.where(sparse_X @ np.eye(30)[3] > sparse_X @ np.eye(30)[7], 1, -1)
    dump_svmlight_file(sparse_X, y, str(tmp_path / "data.svm"), zero_based=zero_based)
    result = path_of(run, tmp_path / "data.svm")
    same_as(result, ez.fit_path(sparse_X, y, **SETTINGS), [f"x{j + (not zero_based)}" for j in range(30)])
    assert result["classes"] == [-1, 1]
    sparse.save_npz(tmp_path / "data.npz", sparse_X)
    np.save(tmp_path / "y.npy", np.where(y > 0, "up", "down"))
    result = path_of(run, tmp_path / "data.npz", "--target", tmp_path / "y.npy")
    same_as(result, ez.fit_path(sparse_X, y, **SETTINGS), [f"x{j}" for j in range(30)])
    assert result["classes"] == ["down", "up"]


def test_npz(run, tmp_path):
    weight = np.linspace(0.5, 2.0, len(X))
    np.savez(tmp_path / "data.npz", X=X, y=Y == "yes", words=Y, weight=weight)
    names = [f"x{j}" for j in range(6)]
    result = path_of(run, tmp_path / "data.npz")
    same_as(result, ez.fit_path(X, Y, **SETTINGS), names)
    assert result["classes"] == [False, True]
    result = path_of(run, tmp_path / "data.npz", "--target", "words", "--weight", "weight")
    same_as(result, ez.fit_path(X, Y, sample_weight=weight, **SETTINGS), names)
    assert result["classes"] == ["no", "yes"]


class Piped:
    """Standard input that holds these bytes."""

    def __init__(self, content):
        self.buffer = io.BytesIO(content)


def test_standard_input(run, tmp_path, monkeypatch):
    FRAME.to_parquet(tmp_path / "data.parquet")
    text = FRAME.to_csv(index=False).encode()
    for content, options in (
        (text, []),
        (gzip.compress(text), []),
        ((tmp_path / "data.parquet").read_bytes(), ["--format", "parquet"]),
    ):
        monkeypatch.setattr("sys.stdin", Piped(content))
        same_as(path_of(run, "-", "--target", "label", *options), ez.fit_path(X, Y, **SETTINGS), list("abcdef"))


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["1.0", "2.0"], [1.0, 2.0]),
        (["1", "-1"], [-1, 1]),
        (["007", "008"], ["007", "008"]),
        (["True", "False"], [False, True]),
        (["1e3", "2"], ["1e3", "2"]),
        (["1", "99999999999999999999999"], ["1", "99999999999999999999999"]),
        (["0.5", "7.25"], [0.5, 7.25]),
        (["ja", "nein"], ["ja", "nein"]),
    ],
)
def test_labels_are_those_of_the_file(run, tmp_path, labels, classes):
    FRAME.assign(label=np.where(FRAME.label == "yes", *labels)).to_csv(tmp_path / "data.csv", index=False)
    found = path_of(run, tmp_path / "data.csv", "--target", "label")["classes"]
    assert found == classes
    assert [type(label) for label in found] == [type(label) for label in classes]


def test_labels_of_parquet_keep_their_type(run, tmp_path):
    for values, classes in (
        (pd.Categorical(FRAME.label), ["no", "yes"]),
        (FRAME.label == "yes", [False, True]),
        ((FRAME.label == "yes").astype("Int64"), [0, 1]),
        ((FRAME.label == "yes").astype(float), [0.0, 1.0]),
    ):
        FRAME.assign(label=values).to_parquet(tmp_path / "data.parquet")
        assert path_of(run, tmp_path / "data.parquet", "--target", "label")["classes"] == classes


def test_columns_that_are_not_quite_numbers(run, tmp_path):
    """Truth values, whole numbers beyond 64 bits and constants are numbers; spaces after commas are nothing."""
    frame = FRAME.assign(flag=FRAME.a > 0, big=[10**21 * (k % 7) for k in range(len(FRAME))], one=1)
    text = frame.to_csv(index=False).replace(",", ", ")
    (tmp_path / "data.csv").write_text(text)
    result = path_of(run, tmp_path / "data.csv", "--target", "label")
    assert result["n_features"] == 9
    numbers = frame.drop(columns="label").astype(float)
    same_as(result, ez.fit_path(numbers, Y, **SETTINGS), list(numbers.columns))
    frame = FRAME.assign(flag=(FRAME.a > 0).astype(object))
    frame.loc[3, "flag"] = None
    frame.to_csv(tmp_path / "data.csv", index=False)
    assert "column 'flag' has missing values" in run.error(
        "path", tmp_path / "data.csv", "--target", "label", "--impute", "none"
    )
    result = path_of(run, tmp_path / "data.csv", "--target", "label")
    assert result["n_features"] == 7


def test_drop_weight_and_always(run, tmp_path):
    weight = np.linspace(0.5, 2.0, len(X))
    frame = FRAME.assign(id=[f"row {k}" for k in range(len(FRAME))], weight=weight, **{"x,y": 1.0})
    frame.to_csv(tmp_path / "data.csv", index=False)
    argv = [
        tmp_path / "data.csv",
        "--target",
        "label",
        "--drop",
        'id,"x,y"',
        "--drop",
        "f",
        "--weight",
        "weight",
        "--always",
        "b",
    ]
    result = path_of(run, *argv)
    expected = ez.fit_path(X[:, :5], Y, sample_weight=weight, unpenalized=[1], **SETTINGS)
    same_as(result, expected, list("abcde"))


@pytest.mark.filterwarnings("ignore:column 'Unnamed. 0' holds a different whole number")
def test_row_numbers_without_a_name_are_no_feature(run, tmp_path):
    FRAME.to_csv(tmp_path / "data.csv")
    _, _, err = run("path", tmp_path / "data.csv", "--target", "label", "--max-support", 4)
    assert "has no name and counts the rows; it is left out" in err
    FRAME.set_index(FRAME.index[::-1]).to_csv(tmp_path / "data.csv")
    assert path_of(run, tmp_path / "data.csv", "--target", "label")["n_features"] == 7


def test_a_table_of_many_columns_takes_seconds(run, tmp_path):
    """Six rows of 50,000 columns took three quarters of a minute: every column was converted on its own."""
    p = 50_000
    rows = np.random.default_rng(0).standard_normal((6, p)).round(3).tolist()
    lines = [",".join([*map(str, row), "ab"[i % 2]]) for i, row in enumerate(rows)]
    (tmp_path / "wide.csv").write_text("\n".join([",".join([*(f"x{j}" for j in range(p)), "label"]), *lines, ""]))
    begin = time.process_time()
    result = run.json("fit", tmp_path / "wide.csv", "--target", "label", "--k", "1", "--out", tmp_path / "model.json")
    assert len(result["features"]) == 1
    assert time.process_time() - begin < 25.0


@pytest.mark.parametrize("ending", ["\r", "\r\n"])
def test_line_ends_of_other_systems(run, tmp_path, ending):
    FRAME.to_csv(tmp_path / "data.csv", index=False, lineterminator="\n")
    (tmp_path / "other.csv").write_bytes((tmp_path / "data.csv").read_bytes().replace(b"\n", ending.encode()))
    assert path_of(run, tmp_path / "other.csv", "--target", "label") == path_of(run, tmp_path / "data.csv", "--target", "label")
    run.ok("convert", tmp_path / "other.csv", "--target", "label", "--out", tmp_path / "other.columns")
    assert path_of(run, tmp_path / "other.columns")["rows"] == len(FRAME)


@pytest.mark.parametrize(("kind", "separator"), [("csv", ","), ("tsv", "\t")])
def test_text_files_are_what_their_first_line_says(run, tmp_path, kind, separator):
    FRAME.to_csv(tmp_path / "data.csv", index=False)
    FRAME.to_csv(tmp_path / "data.txt", index=False, sep=separator)
    FRAME.to_csv(tmp_path / "data.txt.gz", index=False, sep=separator)
    expected = path_of(run, tmp_path / "data.csv", "--target", "label")
    assert path_of(run, tmp_path / "data.txt", "--target", "label") == expected
    assert path_of(run, tmp_path / "data.txt.gz", "--target", "label") == expected
    run.ok("convert", tmp_path / "data.txt", "--target", "label", "--out", tmp_path / "data.columns")
    (tmp_path / "sparse.txt").write_text("# by hand\n1 1:0.5 3:2\n0 2:1\n" * 30)
    assert path_of(run, tmp_path / "sparse.txt")["n_features"] == 3
    (tmp_path / "plain.txt").write_text("1\n0 2:1\n1 1:3\n" * 30)
    assert path_of(run, tmp_path / "plain.txt")["n_features"] == 2


def test_excel(run, tmp_path):
    pytest.importorskip("openpyxl")
    frame = FRAME.round(4).assign(code=np.arange(len(FRAME)) % 2)
    frame.loc[3, "a"] = np.nan
    frame.to_csv(tmp_path / "data.csv", index=False)
    frame.to_excel(tmp_path / "data.xlsx", index=False)
    argv = ["--target", "label", "--impute", "median"]
    assert path_of(run, tmp_path / "data.xlsx", *argv) == path_of(run, tmp_path / "data.csv", *argv)
    argv = ["--target", "code", "--impute", "median", "--drop", "label"]
    assert path_of(run, tmp_path / "data.xlsx", *argv) == path_of(run, tmp_path / "data.csv", *argv)
    frame.rename(columns={"b": "a"}).to_excel(tmp_path / "twice.xlsx", index=False)
    assert "has more than one column named 'a'" in run.error("path", tmp_path / "twice.xlsx", *argv)
    (tmp_path / "no.xlsx").write_text("no archive")
    assert "cannot be read as Excel (.xlsx): File is not a zip file" in run.error("path", tmp_path / "no.xlsx", *argv)
