"""Tables of text as column stores: the numbers and labels that were written, or an error in one sentence."""

import bz2
import gzip
import lzma

import numpy as np
import pandas as pd
import pytest
from support.conversions import FEATURES, FRAME, MEMORY, converted, refused

import ellzero as ez


def zst(data):
    import pyarrow

    stream = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(stream, "zstd") as out:
        out.write(data)
    return stream.getvalue().to_pybytes()


@pytest.mark.usefixtures("both_csv_readers")
@pytest.mark.parametrize("memory", MEMORY)
def test_csv(tmp_path, memory):
    FRAME.to_csv(tmp_path / "data.csv", index=False)
    X, y, names, about = converted(tmp_path / "data.csv", target="label", memory=memory)
    np.testing.assert_array_equal(X, FRAME[FEATURES])
    assert y.tolist() == FRAME.label.tolist()
    assert names == FEATURES
    assert (about["target"], about["dtype"], about["storage"]) == ("label", "float64", "dense")


@pytest.mark.parametrize(
    ("ending", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress), ("zst", zst)]
)
def test_compressed_csv(tmp_path, ending, pack):
    text = FRAME.to_csv(index=False).encode()
    (tmp_path / f"data.csv.{ending}").write_bytes(pack(text))
    X, *_ = converted(tmp_path / f"data.csv.{ending}", target="label", memory=5000)
    np.testing.assert_array_equal(X, FRAME[FEATURES])
    if ending != "bz2":
        (tmp_path / f"data.csv.{ending}").write_bytes(pack(text)[:-100])
        with pytest.raises((ez.InvalidInputError, OSError)):
            ez.convert(tmp_path / f"data.csv.{ending}", tmp_path / "x", target="label")
        assert not (tmp_path / "x").exists()


@pytest.mark.usefixtures("both_csv_readers")
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
    np.testing.assert_array_equal(X, FRAME[FEATURES])
    assert y.tolist() == FRAME.label.tolist()
    assert names == ["größe", *"bcdef"]


@pytest.mark.usefixtures("both_csv_readers")
def test_columns_that_are_no_features(tmp_path):
    FRAME.assign(id=[f"p{i}" for i in range(len(FRAME))]).to_csv(tmp_path / "data.csv")  # with row numbers
    with pytest.warns(UserWarning, match="has no name and counts the rows; it is left out"):
        X, y, names, _ = converted(tmp_path / "data.csv", target="label", drop="id", memory=2000)
    np.testing.assert_array_equal(X, FRAME[FEATURES])
    assert names == FEATURES
    FRAME.iloc[::-1].to_csv(tmp_path / "data.csv")  # a first column that does not count is data
    assert converted(tmp_path / "data.csv", target="label")[2] == ["Unnamed: 0", *FEATURES]
    X, y, _, about = converted(tmp_path / "data.csv", drop=["label"])  # nothing to predict
    assert (y, about["target"]) == (None, None)


@pytest.mark.usefixtures("both_csv_readers")
def test_names_that_look_like_something_else(tmp_path):
    (tmp_path / "data.csv").write_text('\nNA,null,"a ""b"", c",,1.5, x\n1,2,3,4,5,6\n\n6,5,4,3,2,1\n')
    for memory in (1, "64M"):
        X, _, names, _ = converted(tmp_path / "data.csv", memory=memory)
        assert X.tolist() == [[1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]]
        assert names == ["NA", "null", 'a "b", c', "Unnamed: 3", "1.5", "x"]


@pytest.mark.usefixtures("both_csv_readers")
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
    assert "must hold numbers" in refused(tmp_path / "data.csv", target="label", regression=True, decimal=";")


@pytest.mark.usefixtures("both_csv_readers")
def test_truth_values(tmp_path):
    FRAME.assign(a=FRAME.a > 0).to_csv(tmp_path / "data.csv", index=False)
    for memory in MEMORY:
        np.testing.assert_array_equal(converted(tmp_path / "data.csv", target="label", memory=memory)[0][:, 0], FRAME.a > 0)
    mixed = [*(str(value) for value in FRAME.a[:-1] > 0), "0.5"]
    FRAME.assign(a=mixed).to_csv(tmp_path / "data.csv", index=False)
    assert "column 'a' of data.csv" in refused(tmp_path / "data.csv", target="label")
    message = refused(tmp_path / "data.csv", target="label", memory=1)
    assert message == "column 'a' of data.csv mixes numbers and booleans; drop it."


CORRUPTIONS = {
    "text": ("1,2,3,4,5,six,no", "column 'f' of data.csv must hold numbers, got 'six' in row 121; drop it, or say that"),
    "missing": ("1,2,3,4,,6,no", "column 'e' of data.csv has missing values, the first in row 121; fill them with impute"),
    "short": ("1,2,3,4,5,6", "target 'label' of data.csv is missing in row 121; leave such rows out"),
    "long": ("1,2,3,4,5,6,no,8", "data.csv cannot be read as a table: Expected 7 fields in line 122, saw 8"),
    "infinite": ("1,inf,3,4,5,6,no", "column 'b' in data.csv holds infinite values."),
    "large": ("1,2,1e39,4,5,6,no", "column 'c' has the value 1e+39 in row 121, which float32 cannot hold"),
}


@pytest.mark.usefixtures("both_csv_readers")
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
        ("a;b\n1;2\n", {"separator": ","}, "data.csv has a single column, 'a;b'; add --separator ';'."),
        ("a,b\n1,2\n", {"target": "c"}, "target: data.csv has no column 'c'; its columns are a, b."),
        ("a,b\n1,2\n", {"drop": ["a", "b"]}, "data.csv has no columns other than the target."),
        ("a,b\n1,\n2,\n", {"target": "b", "drop_unlabelled": True}, "data.csv has no rows with a target."),
        ("a,b\n1,\n2,\n", {"impute": "mean"}, "column 'b' of data.csv has no values at all; leave it out."),
        (
            "a,b\n1," + "x" * 5000,
            {},
            f"column 'b' of data.csv must hold numbers, got '{'x' * 60}'... in row 1; drop it, or say that the word "
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
    with pytest.raises(ez.InvalidInputError, match="has no known file extension"):
        ez.convert(tmp_path / "data.xyz", tmp_path / "x")
    with pytest.raises(ez.InvalidInputError, match="is a folder, not a data file"):
        ez.convert(tmp_path, tmp_path / "x")


@pytest.mark.usefixtures("both_csv_readers")
@pytest.mark.parametrize("scale", [1e-300, 1e-120, 1.0, 1e300])
def test_numbers_keep_their_last_digit(tmp_path, scale):
    seed = 3
    values = np.random.default_rng(seed).standard_normal((50, 6)) * scale
    pd.DataFrame(values, columns=list("abcdef")).assign(y=values[:, 0]).to_csv(tmp_path / "data.csv", index=False)
    X, y, *_ = converted(tmp_path / "data.csv", target="y", regression=True, dtype="float64")
    np.testing.assert_array_equal(X, values, err_msg=f"seed {seed}")
    np.testing.assert_array_equal(y, values[:, 0], err_msg=f"seed {seed}")


@pytest.mark.usefixtures("both_csv_readers")
def test_pandas_before_3_1_is_told_to_keep_the_last_digit(tmp_path, monkeypatch):
    asked, read = [], pd.read_csv

    def listen(*arguments, float_precision=None, **options):
        asked.append(float_precision)
        return read(*arguments, **options)

    monkeypatch.setattr(pd, "__version__", "2.2.3")
    monkeypatch.setattr(pd, "read_csv", listen)
    FRAME.to_csv(tmp_path / "data.csv", index=False)
    converted(tmp_path / "data.csv", target="label")
    assert asked
    assert set(asked) == {"round_trip"}
