"""Conversions of any format: with little memory, completely or not at all."""

import errno
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from support.conversions import FEATURES, FRAME
from support.interruption import listening
from support.stores import read_store

import ellzero as ez
from ellzero.conversion.store_files import DenseFiles
from ellzero.conversion.transposing import DenseTiles


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
    np.testing.assert_array_equal(dense[:, :], FRAME[FEATURES])
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
    """The disk is full in either phase: while rows go to tiles, or while columns are written."""
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
        _, err = child.communicate(timeout=250)
    assert child.returncode == 130
    assert "interrupted" in err
    assert os.listdir(tmp_path) == ["data.csv"]


def test_memory_is_bounded(tmp_path):
    """A conversion of 48 MB, in any format, holds at most the 12 MB that are allowed (and the allocator's own)."""
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
