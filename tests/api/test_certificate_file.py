"""Certificates in files: saved and loaded, and files that are cut, damaged, harmful or something else."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from support.certificates import BASES, X, Y, base

import ellzero as ez


@pytest.mark.parametrize("name", BASES)
def test_saved_and_loaded(name, tmp_path):
    sol, _, arrays = base(name)
    path = tmp_path / "proof.npz"
    sol.certificate.save(path)
    direct = ez.verify(sol.certificate, X, Y)
    assert repr(ez.verify(path, X, Y)) == repr(direct)
    assert repr(ez.verify(str(path), X, Y)) == repr(direct)
    assert sorted(tmp_path.iterdir()) == [path]
    with np.load(path, allow_pickle=False) as file:
        for key, value in arrays.items():
            np.testing.assert_array_equal(file[key], value)


def saved(tmp_path):
    path = tmp_path / "proof.npz"
    base("weighted box")[0].certificate.save(path)
    return path


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file(tmp_path, share):
    path = saved(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    report = ez.verify(path, X, Y)
    assert not report.valid
    assert "cannot be read as a certificate" in report.reasons[0]


@pytest.mark.parametrize("seed", range(20))
def test_a_damaged_file(tmp_path, seed):
    """A flipped bit is found, or it was where nothing is stored."""
    path = saved(tmp_path)
    content, rng = bytearray(path.read_bytes()), np.random.default_rng(seed)
    for place in rng.integers(0, len(content), 50):
        content[place] ^= 1 << int(rng.integers(8))
    path.write_bytes(content)
    report = ez.verify(path, X, Y)
    assert not report.valid, seed
    assert len(report.reasons) == 1


class Bomb:
    """Whoever unpickles it writes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (Path(self.path),)


def test_pickled_objects_are_refused(tmp_path):
    path, trace = saved(tmp_path), tmp_path / "exploded"
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.array([Bomb(trace)], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    for name in ("model_values.npy", "extra.npy", "header.npy"):
        with zipfile.ZipFile(path, "w") as new:
            for key, value in {**members, name: stream.getvalue()}.items():
                new.writestr(key, value)
        report = ez.verify(path, X, Y)
        assert not report.valid, name
        assert not trace.exists(), name
    np.load(path, allow_pickle=True)["header"]  # the bomb is live
    assert trace.exists()


def test_files_that_are_none(tmp_path):
    with pytest.raises(FileNotFoundError):
        ez.verify(tmp_path / "nothing.npz", X, Y)
    with pytest.raises(ez.InvalidInputError, match="certificate must be a path or a certificate"):
        ez.verify(3, X, Y)
    other = tmp_path / "other.npz"
    np.savez(other, x=np.ones(3))
    assert "cannot be read as a certificate" in ez.verify(other, X, Y).reasons[0]
    np.savez(other, header=np.frombuffer(json.dumps({"a": 1}).encode(), dtype=np.uint8))
    assert "this is not an ellzero certificate" in ez.verify(other, X, Y).reasons[0]
