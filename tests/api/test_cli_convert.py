"""ellzero convert: data files into column stores, also from standard input."""

import gzip
import io
import sys

import numpy as np
from support.conversions import FEATURES, FRAME
from support.stores import read_store


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
    np.testing.assert_array_equal(read_store(tmp_path / "y")[0], FRAME[FEATURES])
    assert (
        run.error("convert", "-", "--format", "npz", "--out", tmp_path / "z") == "npz files cannot be read from standard input."
    )
    message = run.error("convert", data, "--target", "label", "--out", tmp_path / "z", "--missing", "0.1", "--memory", "x")
    assert message.startswith("--memory must be a number of bytes")
