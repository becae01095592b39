"""What cannot be used is refused in one sentence that names it and says what to do."""

import bz2
import gzip
import lzma

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from support.command_line import species, table

FRAME = table()


def text(frame, **how):
    return frame.to_csv(index=False, **how)


def with_value(column, value, rows=(3,)):
    frame = FRAME.astype({column: object})
    frame.loc[list(rows), column] = value
    return frame


DATES = [f"2024-01-{k % 28 + 1:02d} {k % 24}:00" for k in range(len(FRAME))]

TABLES = {
    "empty": ("", "data.csv is empty."),
    "blank": ("\n\n", "data.csv is empty."),
    "header only": ("a,label\n", "data.csv has no rows."),
    "mark": (
        text(with_value("b", "?")),
        "column 'b' holds numbers and, in 1 of 120 rows, '?'; if that means a missing value, add --missing='?'; if all are",
    ),
    "marks": (
        text(with_value("b", "?").assign(c=with_value("c", "n.d., lost", (1, 2)).c.where(FRAME.index != 5, "x"))),
        "column 'c' holds numbers and, in 3 of 120 rows, 'n.d., lost', 'x'; if these mean a missing value, add "
        "--missing='\"n.d., lost\",x'",
    ),
    "many marks": (
        text(FRAME.assign(b=[f"<{k}" if k % 3 == 0 else f"{k}" for k in range(len(FRAME))])),
        "column 'b' holds numbers and, in 40 of 120 rows, '<0', '<3', '<6', '<9', '<12' and 35 more; if these mean",
    ),
    "comma": (text(FRAME.assign(b="1,5")), "columns' decimal mark, or add --decimal ','"),
    "thousands": (
        text(FRAME.assign(b=[f"{k},{100 + k}" for k in range(len(FRAME))])),
        "column 'b' holds numbers with a comma (such as '0,100'); write the other columns' decimal mark",
    ),
    "per cent": (
        text(FRAME.assign(b=[f"{k % 50} %" for k in range(len(FRAME))])),
        "column 'b' holds numbers with other signs (such as '0 %'); write them as plain numbers",
    ),
    "infinite": (text(with_value("b", np.inf)), "data.csv holds infinite values"),
    "twice": (text(FRAME.rename(columns={"b": "a"})), "has more than one column named 'a'"),
    "ragged": ("a,label\n1,x\n1,2,y\n", "Expected 2 fields in line 3, saw 3"),
    "more fields": ("a,label\n1,2,x\n3,4,y\n", "has rows with more fields than its header has names"),
    "no target": (text(FRAME.rename(columns={"label": "labels"})), "has no column 'label'; did you mean 'labels'?"),
    "target missing": (text(with_value("label", None, (4, 9))), "target 'label' is missing in 2 of 120 rows (first in row 5)"),
    "one class": (text(FRAME.assign(label="yes")), "target 'label' has a single value (yes)"),
    "one row": (text(FRAME.head(1)), "target 'label' has a single value"),
    "numbers": (text(FRAME.assign(label=FRAME.a)), "120 different numbers in 120 rows (-2."),
    "names": (
        text(FRAME.assign(label=[f"n{k}" for k in range(120)])),
        "120 different values in 120 rows (n0, n1, n10, ...); is it the right",
    ),
    "only the target": (text(FRAME[["label"]]), "has no columns to use besides the target."),
    "nothing to use": (
        text(FRAME[["label"]].assign(c=np.nan, when=DATES, note=[f"n{k}" for k in range(len(FRAME))])),
        "besides the target (left out: 'c', no values; 'when', dates; 'note', a different text in most rows).",
    ),
}


@pytest.mark.parametrize("case", TABLES)
def test_tables(run, tmp_path, case):
    content, expected = TABLES[case]
    (tmp_path / "data.csv").write_text(content)
    for command in (["path"], ["certify", "--k", "2", "--one-hot"]):
        assert expected in run.error(*command, tmp_path / "data.csv", "--target", "label")


def test_losses_of_two_classes(run, tmp_path):
    """More than two classes need the multinomial loss, which is the default for them."""
    species().to_csv(tmp_path / "data.csv", index=False)
    sentence = (
        "target 'species' has 3 classes (ant, bee, cat), this command and its loss take two; --positive ant compares one of "
        "them with the rest"
    )
    for command in (["path"], ["certify", "--k", "2"], ["alternatives", "--k", "2"]):
        argv = [*command, tmp_path / "data.csv", "--target", "species"]
        assert sentence in run.error(*argv, "--loss", "hinge" if command[0] != "alternatives" else "logistic")
    message = run.error("alternatives", tmp_path / "data.csv", "--target", "species", "--k", "2", "--loss", "multinomial")
    assert message == "alternatives are found for two classes: --positive LABEL tells one class from the rest."
    message = run.error("fit", tmp_path / "data.csv", "--target", "species", "--loss", "multinomial", "--multi-class", "ovr")
    assert message == "--loss multinomial excludes --multi-class ovr."


def test_encodings(run, tmp_path):
    frame = FRAME.assign(city=np.where(FRAME.a > 0, "Zürich", "Genève"))
    frame.to_csv(tmp_path / "data.csv", index=False, encoding="latin-1")
    argv = ["path", tmp_path / "data.csv", "--target", "label"]
    assert "is not utf-8 text; name its encoding, for example --encoding latin-1" in run.error(*argv)
    assert "encoding 'klingon' is unknown" in run.error(*argv, "--encoding", "klingon")
    run.ok(*argv, "--encoding", "latin-1")


def test_parquet_dates(run, tmp_path):
    days = pd.date_range("2024-01-01", periods=len(FRAME))
    for values in (days, days.date, days - days[0]):
        FRAME.assign(when=values).to_parquet(tmp_path / "data.parquet")
        _, _, err = run("path", tmp_path / "data.parquet", "--target", "label")
        assert "note: left out: 'when', dates." in err


def test_files(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text(FRAME)
    for name in ("bad.parquet", "bad.npz", "bad.svm", "what.xyz"):
        (tmp_path / name).write_text("hello world\n")
    (tmp_path / "bytes.csv").write_bytes(bytes(range(256)))
    np.savez("noX.npz", Z=np.zeros(3))
    np.savez("vector.npz", X=np.zeros(3), y=np.zeros(3))
    np.savez("objects.npz", X=np.eye(3), y=np.array(["a", 1, None]))
    np.savez("short.npz", X=np.eye(3), y=np.array([0, 1]))
    np.savez("nan.npz", X=np.array([[1.0, np.nan], [0.0, 1.0]]), y=np.array([0, 1]))
    np.savez("inf.npz", X=np.array([[np.inf, 0.0], [0.0, 1.0]]), y=np.array([0, 1]))
    np.save("square.npy", np.eye(3))
    sparse.save_npz("sparse.npz", sparse.csr_matrix(np.array([[1.0, np.nan], [0.0, 1.0]])))
    np.save("y.npy", np.array([0, 1]))
    (tmp_path / "good.svm").write_text("1 1:0.5 2:1\n-1 2:0.25\n")
    (tmp_path / "empty.svm").write_text("")
    (tmp_path / "loop.csv").symlink_to("pool.csv")
    (tmp_path / "pool.csv").symlink_to("loop.csv")
    for argv, expected in (
        (["none.csv"], "none.csv: No such file or directory."),
        (["none.npz"], "none.npz: No such file or directory."),
        (["none.svm"], "none.svm: No such file or directory."),
        (["none.parquet"], "none.parquet: No such file or directory."),
        ([str(tmp_path)], "is a folder, not a data file"),
        (
            ["loop.csv", "--target", "y", "--out", "out.csv"],
            "loop.csv cannot be read: it is a symbolic link",
        ),
        (["what.xyz"], "has no known file extension; add --format"),
        (["bad.parquet", "--target", "y"], "bad.parquet cannot be read as Parquet"),
        (["bad.npz"], "bad.npz cannot be read as npz: it is not an archive of arrays"),
        (["bad.svm"], "bad.svm cannot be read as svmlight (lines of 'label index:value ...')"),
        (["bytes.csv", "--target", "y"], "is not utf-8 text"),
        (["noX.npz"], "noX.npz has no array X; it has 'Z'."),
        (["vector.npz"], "X in vector.npz must hold a matrix of numbers, got shape (3,)"),
        (["objects.npz"], "holds Python objects; save numbers and strings"),
        (["short.npz"], "'y' has shape (2,), the matrix has 3 rows"),
        (["short.npz", "--target", "z"], "--target: short.npz has no array 'z', it has 'y'; name one, or a .npy file"),
        (["short.npz", "--target", "square.npy"], "'square.npy' must be a vector"),
        (["short.npz", "--target", "none.npy"], "none.npy: No such file or directory"),
        (["nan.npz", "--impute", "none"], "nan.npz has missing values (NaN), the first in x1; leave out --impute none to fill"),
        (["nan.npz", "--missing", "?"], "--missing is for tables: the columns of nan.npz have no names."),
        (["inf.npz"], "inf.npz holds infinite values in x0"),
        (["sparse.npz"], "--target: sparse.npz has no array 'y'; name one, or a .npy file"),
        (["sparse.npz", "--target", "y.npy", "--impute", "none"], "missing values (NaN), the first in x1"),
        (["nan.npz", "--drop", "a"], "--drop is for tables"),
        (["nan.npz", "--one-hot"], "--one-hot is for tables"),
        (["good.svm", "--target", "label"], "--target is not for svmlight"),
        (["empty.svm"], "empty.svm"),
    ):
        assert expected in run.error("path", *argv), argv


def test_usage(run, tmp_path):
    FRAME.to_csv(tmp_path / "data.csv", index=False)
    data, few = tmp_path / "data.csv", tmp_path / "few.csv"
    FRAME.head(6).to_csv(few, index=False)  # a plane separates the classes: nothing holds the coefficients
    for argv, expected in (
        (["dance"], "invalid choice: 'dance'"),
        (["path"], "the following arguments are required: data"),
        (["path", data], "--target must name the column of"),
        (["path", data, "--target", "label", "--loss", "hinges"], "argument --loss: invalid choice"),
        (["path", data, "--target", "label", "--n-lambda", "x"], "argument --n-lambda: invalid int value"),
        (["path", data, "--target", "label", "--lambda-0", "1,x"], "must be numbers between commas"),
        (["path", data, "--target", "label", "--lambda-0", "1,2"], "--lambda-0 must be strictly decreasing"),
        (["path", data, "--target", "label", "--lambda-2", "-1"], "--lambda-2 must be finite and not negative"),
        (
            ["path", data, "--target", "label", "--lambda_2", "1"],
            "unrecognized arguments: --lambda_2 1; did you mean --lambda-2?",
        ),
        (["path", data, "--target", "label", "--qqq"], "unrecognized arguments: --qqq ('ellzero path --help' says more)"),
        (["path", data, "--target", "LABEL"], "has no column 'LABEL'; did you mean 'label'?"),
        (["path", data, "--target", "label", "--max-support", "-1"], "--max-support must be an integer of at least 0, got -1."),
        (["fit", data, "--target", "label", "--seed", "-1"], "argument --seed: must be a whole number from 0 to 2^32 - 1"),
        (["cv", data, "--target", "label", "--scoring", "r3"], "--scoring must be None, the name of a scorer or a function"),
        (["certify", few, "--target", "label", "--k", "1", "--lambda-2", "0"], "(add, for example, --lambda-2=1e-3)"),
        (["path", "", "--target", "label"], "'' has no known file extension; add --format"),
        (["path", data, "--target", "label", "--drop", "zz"], "--drop: "),
        (["path", data, "--target", "label", "--drop", ","], "must have at least one name"),
        (["path", data, "--target", "label", "--always", "zz"], "--always names 'zz'"),
        (["path", data, "--target", "label", "--weight", "zz"], "--weight: "),
        (["path", data, "--target", "label", "--weight", "a"], "--weight must not be negative"),
        (["path", data, "--target", "label", "--separator", "::"], "--separator must be one character"),
        (["path", data, "--target", "label", "--positive", "maybe"], "--positive maybe is not a label of target 'label'; its"),
        (["path", data, "--target", "label", "--regression"], "must hold numbers with --regression, got '"),
        (["path", data, "--target", "a", "--drop", "label", "--regression", "--loss", "hinge"], "--regression has the loss"),
        (["path", data, "--target", "label", "--plot", "p.gif"], "--plot must end in .svg, .png or .pdf"),
        (["path", data, "--target", "label", "--out", tmp_path / "no" / "x.csv"], "there is no folder"),
        (["path", data, "--target", "label", "--out", tmp_path], "is a folder; name a file to write"),
        (["path", data, "--target", "label", "--out", "x.svg", "--plot", "x.svg"], "two outputs have the same file name"),
        (["path", data, "--target", "label", "--out", data], "is read by this command; name another file to write"),
        (["path", data, "--target", "label", "--out", "/dev/null"], "is no ordinary file"),
        (["certify", data, "--target", "label"], "--k, --budget or --lambda-0 must be given"),
        (["certify", data, "--target", "label", "--k", "2", "--bound", "much"], "must be a positive number or 'heuristic'"),
        (["verify", tmp_path / "none.npz", data, "--target", "label"], "none.npz: No such file or directory"),
    ):
        assert expected in run.error(*argv), argv


def test_missing_extras_are_named(run, tmp_path, monkeypatch):
    FRAME.to_csv(tmp_path / "data.csv", index=False)
    FRAME.to_parquet(tmp_path / "data.parquet")
    for module, argv, extra in (
        ("pandas", ["data.csv"], "cli"),
        ("pyarrow", ["data.parquet"], "cli"),
        ("matplotlib", ["data.csv", "--plot", "p.svg"], "plot"),
    ):
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path)
            patch.setitem(__import__("sys").modules, module, None)
            message = run.error("path", *argv, "--target", "label")
        assert message == f"{module} is needed for this and is not installed: pip install 'ellzero[{extra}]'"


def test_damaged_and_unusual_tables_end_in_a_sentence(run, data, tmp_path, monkeypatch):
    """None of these ends in a traceback; `test_hostile_files.py` has many more."""
    monkeypatch.chdir(tmp_path)
    table = data.read_bytes()
    for suffix, module in ((".gz", gzip), (".bz2", bz2), (".xz", lzma)):
        packed = module.compress(table)
        for content in (packed[: len(packed) // 2], packed[:40] + b"\0\xff" + packed[42:], table):
            (tmp_path / f"data.csv{suffix}").write_bytes(content)
            said = run.error("fit", f"data.csv{suffix}", "--target", "label", "--k", "1", "--out", "model.json")
            assert f"data.csv{suffix} is damaged or incomplete: " in said
    assert "decimal and separator must be different" in run.error("fit", data, "--target", "label", "--decimal", ",")
    (tmp_path / "long.csv").write_bytes(table.replace(b"a,b", b"a" * 1_000_000 + b",b", 1))
    said = run.error("convert", "long.csv", "--target", "label", "--out", "long.columns")
    assert "long.csv cannot be read as a table: field larger than" in said
    assert not (tmp_path / "long.columns").exists()
