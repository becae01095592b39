"""Files of all formats as column stores: the same numbers as other readers find, with little memory, or nothing at all."""

import bz2
import errno
import gzip
import io
import lzma
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from command_line import table
from interruption import listening
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from stores import read_store

import ellzero as ez
from ellzero.conversion import csv_file
from ellzero.conversion.dense_files import DenseFiles
from ellzero.conversion.transposing import DenseTiles

FRAME = table()
FEATURES = list("abcdef")
MEMORY = (1, 2000, 20_000, "64M")  # one row or column at a time, several, all


def converted(source, **options):
    """What a conversion writes; nothing else is left beside it."""
    folder = source.parent
    before = set(os.listdir(folder))
    out = ez.convert(source, folder / "out.columns", **options)
    assert out == folder / "out.columns"
    assert set(os.listdir(folder)) == before | {"out.columns"}
    found = read_store(out)
    os.rename(out, folder / f"used-{len(before)}")
    return found


def refused(source, **options):
    """The sentence of a conversion that must not work, and must leave nothing behind."""
    before = set(os.listdir(source.parent))
    with pytest.raises(ez.InvalidInputError) as caught:
        ez.convert(source, source.parent / "out.columns", **options)
    assert set(os.listdir(source.parent)) == before
    return str(caught.value).replace(f"{source.parent}/", "")


def zst(data):
    import pyarrow

    stream = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(stream, "zstd") as out:
        out.write(data)
    return stream.getvalue().to_pybytes()


@pytest.fixture(params=["narrow", "wide"])
def way(request, monkeypatch):
    """Both ways to read CSV; the one for wide tables is taken for any."""
    if request.param == "wide":
        monkeypatch.setattr(csv_file, "WIDE", 0)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("memory", MEMORY)
def test_csv(tmp_path, memory):
    FRAME.to_csv(tmp_path / "data.csv", index=False)
    X, y, names, about = converted(tmp_path / "data.csv", target="label", memory=memory)
    read = pd.read_csv(tmp_path / "data.csv")
    np.testing.assert_array_equal(X, read[FEATURES])
    assert y.tolist() == read.label.tolist()
    assert names == FEATURES
    assert (about["target"], about["dtype"], about["storage"]) == ("label", "float64", "dense")


@pytest.mark.parametrize(
    ("ending", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress), ("zst", zst)]
)
def test_compressed_csv(tmp_path, ending, pack):
    text = FRAME.to_csv(index=False).encode()
    (tmp_path / f"data.csv.{ending}").write_bytes(pack(text))
    X, *_ = converted(tmp_path / f"data.csv.{ending}", target="label", memory=5000)
    np.testing.assert_array_equal(X, pd.read_csv(io.BytesIO(text))[FEATURES])
    if ending != "bz2":
        (tmp_path / f"data.csv.{ending}").write_bytes(pack(text)[:-100])
        with pytest.raises((ez.InvalidInputError, OSError)):
            ez.convert(tmp_path / f"data.csv.{ending}", tmp_path / "x", target="label")
        assert not (tmp_path / "x").exists()


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(
    ("options", "writing"),
    [
        ({"separator": ";", "decimal": ","}, {"sep": ";", "decimal": ","}),
        ({"separator": "tab"}, {"sep": "\t"}),
        ({"format": "tsv"}, {"sep": "\t"}),
        ({"separator": "space"}, {"sep": " "}),
        ({"encoding": "latin-1"}, {"encoding": "latin-1"}),
        ({}, {"encoding": "utf-8-sig"}),
    ],
)
def test_dialects_of_csv(tmp_path, options, writing):
    frame = FRAME.rename(columns={"a": "größe"})
    frame.to_csv(tmp_path / "data.csv", index=False, **writing)
    X, y, names, _ = converted(tmp_path / "data.csv", target="label", memory=3000, **options)
    read = pd.read_csv(tmp_path / "data.csv", **writing)
    np.testing.assert_array_equal(X, read.drop(columns="label"))
    assert y.tolist() == FRAME.label.tolist()
    assert names == ["größe", *"bcdef"]


@pytest.mark.usefixtures("way")
def test_columns_that_are_no_features(tmp_path):
    FRAME.assign(id=[f"p{i}" for i in range(len(FRAME))]).to_csv(tmp_path / "data.csv")  # with row numbers
    with pytest.warns(UserWarning, match="has no name and counts the rows; it is left out"):
        X, y, names, _ = converted(tmp_path / "data.csv", target="label", drop="id", memory=2000)
    np.testing.assert_array_equal(X, pd.read_csv(tmp_path / "data.csv")[FEATURES])
    assert names == FEATURES
    FRAME.iloc[::-1].to_csv(tmp_path / "data.csv")  # a first column that does not count is data
    assert converted(tmp_path / "data.csv", target="label")[2] == ["Unnamed: 0", *FEATURES]
    X, y, _, about = converted(tmp_path / "data.csv", drop=["label"])  # nothing to predict
    assert (y, about["target"]) == (None, None)


@pytest.mark.usefixtures("way")
def test_names_that_look_like_something_else(tmp_path):
    (tmp_path / "data.csv").write_text('\nNA,null,"a ""b"", c",,1.5, x\n1,2,3,4,5,6\n\n6,5,4,3,2,1\n')
    for memory in (1, "64M"):
        X, _, names, _ = converted(tmp_path / "data.csv", memory=memory)
        assert X.tolist() == [[1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]]
        assert names == ["NA", "null", 'a "b", c', "Unnamed: 3", "1.5", "x"]


@pytest.mark.usefixtures("way")
def test_labels_stay_as_they_are_written(tmp_path):
    cases = {
        "i": (["1", "2"], [1, 2]),
        "f": (["0.5", "1.0"], [0.5, 1.0]),
        "b": (["True", "False"], [True, False]),
        "U": (["007", "7"], ["007", "7"]),
    }
    for kind, (written, expected) in cases.items():
        FRAME.assign(label=written * 60).to_csv(tmp_path / "data.csv", index=False)
        for memory in MEMORY:
            y = converted(tmp_path / "data.csv", target="label", memory=memory)[1]
            assert y.dtype.kind == kind
            assert y.tolist() == expected * 60
    words = ["1", "2"] * 30 + ["1.5", "True"] * 30  # parts of the file are of different kinds
    FRAME.assign(label=words).to_csv(tmp_path / "data.csv", index=False)
    for memory in MEMORY:
        assert converted(tmp_path / "data.csv", target="label", memory=memory)[1].tolist() == words
    FRAME.assign(label=["0.50", "1e3"] * 60).to_csv(tmp_path / "data.csv", index=False)
    assert converted(tmp_path / "data.csv", target="label", regression=True)[1].tolist() == [0.5, 1000.0] * 60
    assert "must hold numbers" in refused(tmp_path / "data.csv", target="label", regression=True, decimal="5")


@pytest.mark.usefixtures("way")
def test_truth_values(tmp_path):
    FRAME.assign(a=FRAME.a > 0).to_csv(tmp_path / "data.csv", index=False)
    for memory in MEMORY:
        np.testing.assert_array_equal(converted(tmp_path / "data.csv", target="label", memory=memory)[0][:, 0], FRAME.a > 0)
    mixed = [*(str(value) for value in FRAME.a[:-1] > 0), "0.5"]
    FRAME.assign(a=mixed).to_csv(tmp_path / "data.csv", index=False)
    assert "column 'a' of data.csv" in refused(tmp_path / "data.csv", target="label")
    message = refused(tmp_path / "data.csv", target="label", memory=1)
    assert message == "column 'a' of data.csv holds numbers and truth values; drop it."


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("impute", ["median", "mean", "mode"])
@pytest.mark.parametrize("memory", MEMORY)
def test_imputing(tmp_path, impute, memory):
    frame = FRAME.round(0).mask(np.random.default_rng(1).random(FRAME.shape) < 0.2)
    frame["label"] = FRAME.label
    frame["b"] = frame["b"].fillna(1.0)
    frame.to_csv(tmp_path / "data.csv", index=False)
    frame.to_parquet(tmp_path / "data.parquet", row_group_size=50)
    np.savez(tmp_path / "data.npz", X=frame[FEATURES], y=frame.label.to_numpy(str))
    middle = frame[FEATURES].mode().iloc[0] if impute == "mode" else frame[FEATURES].agg(impute)
    for name in ("data.csv", "data.parquet", "data.npz"):
        target = None if name == "data.npz" else "label"
        X, *_ = converted(tmp_path / name, target=target, impute=impute, memory=memory)
        np.testing.assert_allclose(X, frame[FEATURES].fillna(middle), rtol=1e-15)
        message = refused(tmp_path / name, target=target, memory=memory)
        absent = frame[FEATURES].isna()
        column, row = re.search(r"column '?(\w)'? (?:of data.\w* )?has .*missing value.* in row (\d+)", message).groups()
        assert absent[FEATURES[int(column)] if name == "data.npz" else column].idxmax() == int(row) - 1


CORRUPTIONS = {
    "text": ("1,2,3,4,5,six,no", "column 'f' of data.csv must hold numbers, got 'six' in row 121; drop it, or say that"),
    "missing": ("1,2,3,4,,6,no", "column 'e' of data.csv has missing values, the first in row 121; fill them with impute"),
    "short": ("1,2,3,4,5,6", "target 'label' of data.csv is missing in row 121; leave such rows out"),
    "long": ("1,2,3,4,5,6,no,8", "data.csv cannot be read as a table: Expected 7 fields in line 122, saw 8"),
    "infinite": ("1,inf,3,4,5,6,no", "column 'b' in data.csv holds infinite values."),
    "large": ("1,2,1e39,4,5,6,no", "column 'c' has the value 1e+39 in row 121, which float32 cannot hold"),
}


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("memory", [1, "64M"])
@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_bad_last_line(tmp_path, kind, memory):
    line, message = CORRUPTIONS[kind]
    (tmp_path / "data.csv").write_text(FRAME.to_csv(index=False) + line + "\n")
    assert refused(tmp_path / "data.csv", target="label", memory=memory, dtype="float32").startswith(message)


def test_tables_that_cannot_be_used(tmp_path):
    file = tmp_path / "data.csv"
    for text, options, message in (
        ("", {}, "data.csv is empty."),
        ("a,b\n", {}, "data.csv has no rows."),
        ("a,a\n1,2\n", {}, "data.csv has more than one column named 'a'; give them different names."),
        ("a;b\n1;2\n", {}, "data.csv has a single column, 'a;b'; add --separator ';'."),
        ("a,b\n1,2\n", {"target": "c"}, "target: data.csv has no column 'c'; its columns are a, b."),
        ("a,b\n1,2\n", {"drop": ["a", "b"]}, "data.csv has no columns beside the target."),
        ("a,b\n1,\n2,\n", {"target": "b", "drop_unlabelled": True}, "data.csv has no rows with a target."),
        ("a,b\n1,\n2,\n", {"impute": "mean"}, "column 'b' of data.csv has no values at all; leave it out."),
        (
            "a,b\n1," + "x" * 5000,
            {},
            f"column 'b' of data.csv must hold numbers, got '{'x' * 60}...' in row 1; drop it, or say that the word "
            "means a missing value.",
        ),
        ("a,b\n1,2\n", {"separator": "::"}, "separator must be one character, 'tab' or 'space', got '::'."),
        ("a,b\n1,2\n", {"encoding": "klingon"}, "encoding 'klingon' is unknown."),
        ("a,b\n1,2\n", {"memory": "much"}, "memory must be a number of bytes, such as 500000000 or '256M', got 'much'."),
        ("a,b\n1,2\n", {"format": "xlsx"}, "format must be one of csv, tsv, parquet, svmlight, npz, plink, npy, got 'xlsx'."),
        ("a,b\n1,2\n", {"dtype": "int16"}, "dtype must be one of 'float64', 'float32', 'int8', got 'int16'."),
        ("a,b\n1,2\n", {"impute": "zero"}, "impute must be one of 'median', 'mean', 'mode', got 'zero'."),
    ):
        file.write_text(text)
        assert refused(file, **options) == message
    file.write_bytes("größe,b\n1,2\n".encode("latin-1"))
    assert refused(file) == "data.csv is not utf-8 text; name its encoding, for example --encoding latin-1."
    file.write_text("a,b,c\n1,2,3,4\n1,2,3,4\n")
    assert refused(file) == "data.csv has rows with more fields than its header has names."
    with pytest.raises(FileNotFoundError):
        ez.convert(tmp_path / "absent.csv", tmp_path / "x")
    with pytest.raises(ez.InvalidInputError, match="has no ending that tells its format"):
        ez.convert(tmp_path / "data.xyz", tmp_path / "x")
    with pytest.raises(ez.InvalidInputError, match="is a folder, not a data file"):
        ez.convert(tmp_path, tmp_path / "x")


def test_rows_without_a_target(tmp_path):
    frame = FRAME.assign(label=FRAME.label.mask(np.arange(120) % 7 == 3))
    frame.to_csv(tmp_path / "data.csv", index=False)
    frame.to_parquet(tmp_path / "data.parquet", row_group_size=40)
    kept = frame.dropna()
    for name in ("data.csv", "data.parquet"):
        assert refused(tmp_path / name, target="label").startswith(f"target 'label' of {name} is missing in row 4; leave")
        for memory in MEMORY:
            X, y, *_ = converted(tmp_path / name, target="label", drop_unlabelled=True, memory=memory)
            np.testing.assert_allclose(X, kept[FEATURES], rtol=1e-15)
            assert y.tolist() == kept.label.tolist()


PARQUET = {
    "float64": ("float64", "float64"),
    "float32": ("float32", "float32"),
    "int64": ("int64", "float64"),
    "int16": ("int16", "float32"),
    "int8": ("int8", "int8"),
    "bool": ("bool", "int8"),
    "Int32": ("Int32", "float64"),
    "decimal": (object, "float64"),
}


@pytest.mark.parametrize("memory", MEMORY)
@pytest.mark.parametrize("kind", PARQUET)
def test_parquet(tmp_path, kind, memory):
    dtype, stored = PARQUET[kind]
    frame = FRAME[FEATURES].astype("float64" if "float" in kind else "int8" if kind != "bool" else "bool")
    frame = frame.map(lambda value: Decimal(int(value)) / 4) if kind == "decimal" else frame.astype(dtype)
    frame["label"] = FRAME.label.astype("category")
    frame.index = [f"row {i}" for i in range(len(frame))]  # an index is no data
    frame.to_parquet(tmp_path / "data.parquet", row_group_size=50)
    X, y, names, about = converted(tmp_path / "data.parquet", target="label", memory=memory)
    np.testing.assert_array_equal(X, frame[FEATURES].astype(float))
    assert y.tolist() == FRAME.label.tolist()
    assert names == FEATURES
    assert about["dtype"] == stored


def test_parquet_that_cannot_be_used(tmp_path):
    file = tmp_path / "data.parquet"
    FRAME.assign(day=pd.Timestamp("2020-01-01")).to_parquet(file)
    assert refused(file, target="label").startswith("column 'day' of data.parquet must hold numbers, got timestamp")
    assert "column 'label' of data.parquet must hold numbers" in refused(file, drop="day")
    assert refused(file, target="lable").endswith("did you mean 'label'?")
    assert refused(file, target="label", missing="?") == "missing is not for parquet files."
    FRAME.assign(a=np.nan, b=None).to_parquet(file)
    assert refused(file, target="label") == "column 'b' of data.parquet hold no values at all; leave out with drop."
    assert "column 'a' of data.parquet has no values at all" in refused(file, target="label", drop="b", impute="mean")
    FRAME.iloc[:0].to_parquet(file)
    assert refused(file, target="label") == "data.parquet has no rows."
    FRAME.to_parquet(file)
    whole = file.read_bytes()
    file.write_bytes(whole[:-50])
    assert "data.parquet cannot be read as Parquet" in refused(file, target="label")


@pytest.mark.parametrize("memory", [1, 3000, "64M"])
@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_svmlight(tmp_path, memory, zero_based, ending):
    matrix = sparse.random(80, 40, 0.1, random_state=0, format="lil")
    matrix[:, 11] = 0.0
    matrix[5, [0, 39]] = 1.5
    labels = np.where(np.arange(80) % 3, 1, -1)
    dump_svmlight_file(matrix, labels, str(tmp_path / "plain"), zero_based=zero_based, comment="by hand")
    pack = gzip.compress if ending else bytes
    (tmp_path / f"data.svm{ending}").write_bytes(pack((tmp_path / "plain").read_bytes() + b"1 3:0 4:2.5 # the last"))
    X, y, names, about = converted(tmp_path / f"data.svm{ending}", memory=memory)
    read, read_y = load_svmlight_file(str(tmp_path / f"data.svm{ending}"), zero_based=zero_based)
    assert (read != X).nnz == 0
    assert y.dtype == np.int64
    assert y.tolist() == read_y.tolist()
    assert names == (None if zero_based else [f"x{j}" for j in range(1, 41)])
    assert (about["storage"], about["dtype"]) == ("sparse", "float64")
    assert converted(tmp_path / f"data.svm{ending}", dtype="float32", memory=memory)[0].dtype == np.float32


def test_svmlight_that_cannot_be_used(tmp_path):
    file = tmp_path / "data.svm"
    file.write_text("1 1:2 3:4\n" * 50 + "1 2:x\n")
    for memory in (1, "64M"):
        message = refused(file, memory=memory)
        assert message.startswith("data.svm cannot be read as svmlight (lines of 'label index:value ...') in line 51: ")
    file.write_text("1 1:2 3:nan\n")
    assert refused(file) == "column 'x3' has a missing value (NaN) in row 1."
    file.write_text("")
    assert refused(file) == "data.svm has no rows."
    file.write_text("1 1:2 3:4\n")
    assert refused(file, target="z").startswith("target is not for svmlight files")
    assert refused(file, drop="x1") == "drop is not for svmlight files."
    assert refused(file, dtype="int8") == "dtype must be one of 'float64', 'float32', got 'int8'."


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize(
    ("dtype", "stored"),
    [("f8", "float64"), (">f4", "float32"), ("i8", "float64"), ("u1", "float32"), ("i1", "int8"), ("?", "int8")],
)
def test_arrays(tmp_path, dtype, stored, order):
    matrix = np.asarray(np.random.default_rng(0).integers(0, 2, (25, 11)), dtype=dtype, order=order)
    y = np.array(["a", "b", "c", "a", "b"] * 5)
    np.save(tmp_path / "X.npy", matrix)
    np.save(tmp_path / "y.npy", y)
    np.savez(tmp_path / "plain.npz", X=matrix, y=y)
    np.savez_compressed(tmp_path / "packed.npz", X=matrix, group=y)
    targets = {"X.npy": str(tmp_path / "y.npy"), "plain.npz": None, "packed.npz": "group"}
    for name, target in targets.items():
        for memory in (1, 300, "64M"):
            X, labels, names, about = converted(tmp_path / name, target=target, memory=memory)
            np.testing.assert_array_equal(X, matrix)
            assert labels.tolist() == y.tolist()
            assert names is None
            assert about["dtype"] == stored


def test_sparse_arrays(tmp_path):
    matrix = sparse.random(30, 20, 0.2, random_state=0, format="csr")
    np.save(tmp_path / "y.npy", np.arange(30))
    sparse.save_npz(tmp_path / "data.npz", matrix)
    for memory in (1, 2000, "64M"):
        X, y, *_ = converted(tmp_path / "data.npz", target=str(tmp_path / "y.npy"), memory=memory)
        assert (matrix != X).nnz == 0
        assert y.tolist() == list(range(30))


def test_arrays_that_cannot_be_used(tmp_path):
    file = tmp_path / "data.npz"
    np.savez(file, X=np.ones((4, 3)), y=np.zeros(3), objects=np.array([{}], dtype=object))
    assert refused(file) == "y must have shape (4,), got (3,)."
    assert refused(file, target="z").startswith("target: data.npz has no array 'z', it has X, y, objects")
    assert refused(file, target="objects") == "target: 'objects' of data.npz cannot be read; save numbers or strings."
    np.savez(file, Z=np.ones((4, 3)))
    assert refused(file) == "data.npz has no array X; it has Z."
    file.write_bytes(b"nonsense")
    assert refused(file) == "data.npz cannot be read as npz: it is no archive of arrays."
    file = tmp_path / "data.npy"
    np.save(file, np.ones((40, 30)))
    whole = file.read_bytes()
    file.write_bytes(whole[:-8])
    assert refused(file) == "data.npy ends before its last number."
    np.save(file, np.ones(3))
    assert refused(file).startswith("data.npy must hold a matrix of numbers, got shape (3,)")
    file.write_bytes(b"nonsense")
    assert refused(file).startswith("data.npy cannot be read as an array")


@pytest.fixture
def genotypes(tmp_path):
    """PLINK files of 24 samples and 15 variants, and the genotypes."""
    bed_reader = pytest.importorskip("bed_reader")
    G = np.random.default_rng(0).integers(0, 3, (24, 15)).astype(np.int8)
    properties = {
        "fid": [f"family {i // 2}".replace(" ", "") for i in range(24)],
        "iid": [f"person{i}" for i in range(24)],
        "pheno": ["1", "2", "2"] * 8,
        "sid": [".", ".", "rs7", "rs7", *(f"rs{j}" for j in range(10, 21))],
        "chromosome": ["1"] * 15,
        "bp_position": [100, 200, 300, 300, *range(400, 411)],
        "allele_1": ["A"] * 15,
        "allele_2": ["C"] * 15,
    }

    def write(G=G, **changes):
        bed_reader.to_bed(tmp_path / "g.bed", G, properties={**properties, **changes})
        return tmp_path / "g.bed"

    write.G = G
    return write


@pytest.mark.parametrize("memory", [1, 1500, "64M"])
def test_plink(genotypes, memory):
    X, y, names, about = converted(genotypes(), memory=memory)
    np.testing.assert_array_equal(X, genotypes.G)
    assert y.tolist() == [1, 2, 2] * 8
    assert names == ["1:100:A:C", "1:200:A:C", "1:300:A:C#3", "1:300:A:C#4", *(f"rs{j}" for j in range(10, 21))]
    assert (about["dtype"], about["target"], about["storage"]) == ("int8", "phenotype", "dense")
    X, y, *_ = converted(genotypes(), memory=memory, dtype="float32", regression=True)
    np.testing.assert_array_equal(X, genotypes.G.astype(np.float32))
    assert y.dtype == np.float64


@pytest.mark.parametrize("memory", [1, "64M"])
def test_plink_with_missing_genotypes(genotypes, memory):
    missing = genotypes.G.copy()
    missing[[3, 5], 11] = -127
    file = genotypes(missing)
    message = refused(file, memory=memory)
    assert message.startswith("column 'rs17' of g.bed has missing values, the first in row 4; fill them with impute")
    known = np.delete(genotypes.G[:, 11], [3, 5])
    for impute, value in (("mode", np.bincount(known).argmax()), ("mean", known.mean()), ("median", np.median(known))):
        X, *_ = converted(file, impute=impute, dtype="float64", memory=memory)
        np.testing.assert_array_equal(X[[3, 5], 11], value)
        np.testing.assert_array_equal(np.delete(X, 11, axis=1), np.delete(genotypes.G, 11, axis=1))
    X, *_ = converted(file, impute="mode", memory=memory)
    assert X.dtype == np.int8
    assert (X[[3, 5], 11] == np.bincount(known).argmax()).all()
    assert "which int8 cannot hold; fill with the mode" in refused(file, impute="mean", memory=memory)
    assert "has a missing value (NaN)" in refused(file, dtype="float32", memory=memory) or memory != 1


def test_plink_phenotypes(genotypes):
    file = genotypes(pheno=["1", "2", "-9", "0"] * 6)
    assert refused(file).startswith("12 of 24 samples of g.bed have no phenotype; leave such rows out")
    X, y, *_ = converted(file, drop_unlabelled=True, memory=1)
    np.testing.assert_array_equal(X, genotypes.G[np.arange(24) % 4 < 2])
    assert y.tolist() == [1, 2] * 6
    X, y, *_ = converted(genotypes(pheno=["0", "1.5", "-9", "2"] * 6), drop_unlabelled=True, regression=True)
    assert y.tolist() == [0.0, 1.5, 2.0] * 6
    assert converted(genotypes(pheno=["-9"] * 24))[1] is None


def test_plink_with_a_table_of_samples(genotypes):
    file = genotypes()
    samples = pd.DataFrame({"#FID": [f"family{i // 2}" for i in range(24)], "IID": [f"person{i}" for i in range(24)]})
    samples["height"] = np.arange(24) + 0.25
    shuffled = samples.sample(frac=1.0, random_state=0)
    shuffled.to_csv(file.parent / "samples.csv", index=False)
    shuffled.to_csv(file.parent / "samples.pheno", index=False, sep=" ")
    for name in ("samples.csv", "samples.pheno"):
        options = {"target": "height", "target_file": file.parent / name}
        _, y, _, about = converted(file, regression=True, **options)
        assert y.tolist() == samples.height.tolist()
        assert about["target"] == "height"
    shuffled.iloc[:20].to_csv(file.parent / "samples.csv", index=False)
    options = {"target": "height", "target_file": file.parent / "samples.csv"}
    assert refused(file, **options).startswith("4 of 24 samples of g.bed have no height")
    X, y, *_ = converted(file, drop_unlabelled=True, **options)
    rows = sorted(shuffled.index[:20])
    np.testing.assert_array_equal(X, genotypes.G[rows])
    assert y.tolist() == samples.height[rows].tolist()
    assert refused(file, target_file=file.parent / "samples.csv").startswith("target must name the column of")
    assert "no column 'weight'" in refused(file, **{**options, "target": "weight"})
    pd.concat([shuffled, shuffled.iloc[:1]]).to_csv(file.parent / "samples.csv", index=False)
    assert "has more than one row for sample" in refused(file, **options)
    assert refused(file, target="height").startswith("target names a column of target_file")


def test_plink_that_cannot_be_used(genotypes, monkeypatch):
    file = genotypes()
    file.write_bytes(file.read_bytes()[:-4])
    assert refused(file).startswith("g.bed cannot be read as PLINK genotypes: ")
    file.write_bytes(b"nonsense")
    assert refused(file).startswith("g.bed cannot be read as PLINK genotypes: ")
    os.remove(file.with_suffix(".fam"))
    with pytest.raises((FileNotFoundError, ez.InvalidInputError)):
        ez.convert(file, file.parent / "x")
    monkeypatch.setitem(sys.modules, "bed_reader", None)
    assert refused(file) == "bed_reader is needed for this and is not installed: pip install 'ellzero[plink]'"


def test_existing_destination(tmp_path):
    FRAME.to_csv(tmp_path / "data.csv", index=False)
    ez.convert(tmp_path / "data.csv", tmp_path / "x", target="label")
    with pytest.raises(ez.InvalidInputError, match="exists; name another folder"):
        ez.convert(tmp_path / "data.csv", tmp_path / "x", target="label")
    ez.convert(tmp_path / "data.csv", tmp_path / "x", drop="label", overwrite=True)
    assert read_store(tmp_path / "x")[1] is None


def test_stores_can_be_opened(tmp_path):
    FRAME.to_csv(tmp_path / "data.csv", index=False)
    dense = ez.open_columns(ez.convert(tmp_path / "data.csv", tmp_path / "dense", target="label"))
    np.testing.assert_array_equal(dense[:, :], pd.read_csv(tmp_path / "data.csv")[FEATURES])
    assert (dense.names, dense.target, dense.y.tolist()) == (FEATURES, "label", FRAME.label.tolist())
    dump_svmlight_file(FRAME[FEATURES], np.arange(120) % 2, str(tmp_path / "data.svm"))
    sparsely = ez.open_columns(ez.convert(tmp_path / "data.svm", tmp_path / "sparse"))
    assert (sparsely[:, :] != load_svmlight_file(str(tmp_path / "data.svm"))[0]).nnz == 0
    for store in (dense, sparsely):
        list(store.scan([]))  # reads all blocks, and holds them against their checksums


def test_progress(tmp_path):
    FRAME.to_csv(tmp_path / "data.csv", index=False)
    seen = []
    ez.convert(
        tmp_path / "data.csv", tmp_path / "x", target="label", memory=2000, progress=lambda *report: seen.append(report[0])
    )
    assert len(seen) > 10
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_full_disk_in_the_middle(tmp_path, monkeypatch):
    """In both phases: while rows are laid aside, and while columns are written."""
    FRAME.to_csv(tmp_path / "data.csv", index=False)
    for kind, method in ((DenseTiles, "append"), (DenseFiles, "write")):
        with monkeypatch.context() as patch:
            patch.setattr(kind, method, lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left on device")))
            with pytest.raises(OSError, match=r"there is no room for it: .* free") as caught:
                ez.convert(tmp_path / "data.csv", tmp_path / "x", target="label")
        assert caught.value.filename == str(tmp_path / "x")
        assert os.listdir(tmp_path) == ["data.csv"]


def test_interrupt_leaves_nothing(tmp_path):
    with open(tmp_path / "data.csv", "w") as file:
        file.write("a,b,label\n")
        file.writelines(f"{i},{i + 1},{i % 2}\n" for i in range(100_000))
    argv = listening(["convert", tmp_path / "data.csv", "--target", "label", "--out", tmp_path / "x", "--memory", "1"])
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as child:  # one row at a time takes long
        for _ in range(300):
            time.sleep(0.1)
            if len(os.listdir(tmp_path)) > 1:
                break
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=30)
    assert child.returncode == 130
    assert "interrupted" in err
    assert os.listdir(tmp_path) == ["data.csv"]


def test_memory_is_bounded(tmp_path):
    """Of 48 MB in every format, at most the 12 MB that are allowed (and the allocator's own) are ever in memory."""
    code = f"""
        import os, resource, numpy as np, pandas as pd, ellzero as ez
        os.chdir({str(tmp_path)!r})
        rng = np.random.default_rng(0)
        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        def write(name, X):
            np.save(f"{{name}}.npy", X)
            np.save(f"{{name}}-f.npy", np.asfortranarray(X))
            frame = pd.DataFrame(X, columns=[f"c{{j}}" for j in range(X.shape[1])])
            frame.to_parquet(f"{{name}}.parquet", row_group_size=5000)
            frame.iloc[: len(X) // 4].to_csv(f"{{name}}.csv", index=False)
        if os.fork() == 0:  # what is made here does not count there
            write("small", rng.normal(size=(40, 20)))
            write("large", rng.normal(size=(20_000, 300)).round(3))
            os._exit(0)
        os.wait()
        for kind in (".npy", "-f.npy", ".parquet", ".csv"):
            ez.convert(f"small{{kind}}", "out", overwrite=True)
            before = peak()
            ez.convert(f"large{{kind}}", "out", overwrite=True, memory="12M")
            print(kind, peak() - before)
    """
    out = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, capture_output=True, text=True).stdout
    extra = {line.split()[0]: float(line.split()[1]) for line in out.splitlines()}
    assert set(extra) == {".npy", "-f.npy", ".parquet", ".csv"}
    assert max(extra.values()) < 20.0, extra


def test_command(run, tmp_path, data, monkeypatch):
    result = run.json("convert", data, "--target", "label", "--out", tmp_path / "x", "--dtype", "float32", "--memory", "64M")
    assert result.pop("seconds") >= 0.0
    about = read_store(tmp_path / "x")[3]
    assert result == {
        "command": "convert",
        "out": str(tmp_path / "x"),
        "n": 120,
        "p": 6,
        "storage": "dense",
        "dtype": "float32",
        "target": "label",
        "labelled": True,
        "bytes": sum(about["files"].values()),
    }
    message = run.error("convert", data, "--target", "label", "--out", tmp_path / "x")
    assert message == f"{tmp_path / 'x'} exists; name another folder, or say that it may be overwritten."
    line = run.ok("convert", data, "--drop", "label", "--out", tmp_path / "x", "--overwrite", "--quiet")
    assert line.startswith(f"{tmp_path / 'x'}: 120 rows, 6 columns (dense, float64), no target, ")
    assert line.count("\n") == 1
    text = gzip.compress(data.read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text))))
    run.ok("convert", "-", "--target", "label", "--out", tmp_path / "y", "--quiet")
    np.testing.assert_array_equal(read_store(tmp_path / "y")[0], pd.read_csv(data)[FEATURES])
    assert (
        run.error("convert", "-", "--format", "npz", "--out", tmp_path / "z") == "npz files cannot be read from standard input."
    )
    message = run.error("convert", data, "--target", "label", "--out", tmp_path / "z", "--missing", "0.1", "--memory", "x")
    assert message.startswith("memory must be a number of bytes")
