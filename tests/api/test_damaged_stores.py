"""Column stores that are damaged, or change while they are used: the error says what is wrong, in one sentence."""

import json
import os
import zlib

import numpy as np
import pytest
from scipy import sparse
from support.stored_problems import SEED

import ellzero as ez
from ellzero.design import as_design


def folder_of(X, tmp_path, name="X.columns"):
    path = tmp_path / name
    with ez.ColumnWriter(path, *X.shape, dtype=X.dtype.name, y=np.arange(len(X)), target="t") as writer:
        writer.append(X)
    return path


def edited(path, **changes):
    about = json.loads((path / "about.json").read_text())
    (path / "about.json").write_text(json.dumps({**about, **changes}))


def flip(file, offset):
    with open(file, "r+b") as stream:
        stream.seek(offset)
        byte = stream.read(1)
        stream.seek(offset)
        stream.write(bytes([byte[0] ^ 1]))


def cut(file, size):
    os.truncate(file, os.path.getsize(file) - size)


DAMAGES = {
    "flipped": (lambda p: flip(p / "X.npy", 20_000), "is damaged: columns 0 to 99 do not have the checksum"),
    "truncated": (lambda p: cut(p / "X.npy", 8), r"is damaged: X.npy has 48120 bytes, 48128 were written"),
    "missing": (lambda p: (p / "X.npy").unlink(), "is damaged: X.npy is missing"),
    "y": (lambda p: cut(p / "y.npy", 8), "is damaged: y.npy has"),
    "no about": (lambda p: (p / "about.json").unlink(), "is not a column store: it has no about.json"),
    "no json": (lambda p: (p / "about.json").write_text("{"), "is damaged: in about.json, it is no JSON"),
    "other json": (lambda p: (p / "about.json").write_text("{}"), "is not a column store: its about.json does not say so"),
    "version": (
        lambda p: edited(p, version=7, made_by="ellzero 9.0"),
        r"has format version 7 \(by 'ellzero 9.0'\); this ellzero reads",
    ),
    "shape": (lambda p: edited(p, p=99), "is damaged: X.npy has shape"),
    "checksums": (lambda p: edited(p, crc32=[1, 2]), "is damaged: it has 2 checksums for 1 blocks"),
    "target": (lambda p: edited(p, target=[1]), "is damaged: about.json does not name the target"),
    "negative": (lambda p: edited(p, n=-1), "is damaged: about.json lacks what describes X"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_folders(damage, tmp_path):
    X = np.asfortranarray(np.random.default_rng(SEED).standard_normal((60, 100)))
    path = folder_of(X, tmp_path)
    do, sentence = DAMAGES[damage]
    do(path)
    with pytest.raises(ez.InvalidInputError, match=sentence):
        ez.fit_path(ez.open_columns(path), np.sign(X[:, 0]))


def small_files_of(path):
    """Return the files beside the numbers of a store."""
    store = ez.open_columns(path)
    return store.y, store.names


@pytest.mark.parametrize("name", ["y.npy", "names.json", "indptr.npy"])
def test_changed_files_beside_the_numbers(name, tmp_path):
    """The sizes of these files are right: only the checksum finds another label, name or place."""
    path = tmp_path / "S.columns"
    with ez.SparseColumnWriter(path, 30, 40, y=np.arange(30.0), names=[f"name {j}" for j in range(40)]) as writer:
        writer.append(sparse.random(30, 40, 0.5, format="csc", random_state=SEED))
    for offset in (140, 30, 0):
        flip(path / name, offset)
        with pytest.raises(ez.InvalidInputError, match=rf"S\.columns is damaged: {name} does not have the checksum"):
            small_files_of(path)
    edited(path, checks={})  # nothing to hold it against: what cannot be read is told all the same
    (path / name).write_bytes(b"\xff" * (path / name).stat().st_size)
    with pytest.raises(ez.InvalidInputError, match=rf"S\.columns is damaged: {name} cannot be read"):
        small_files_of(path)


def test_a_folder_that_took_the_name_of_another(tmp_path):
    X = np.asfortranarray(np.random.default_rng(SEED).standard_normal((60, 100)))
    path = folder_of(X, tmp_path)
    store = ez.open_columns(path)
    with ez.ColumnWriter(path, 60, 100, dtype="float64", y=np.ones(60), overwrite=True) as writer:
        writer.append(-X)
    np.testing.assert_array_equal(store.take(np.arange(100)), X)  # the files that were opened
    with pytest.raises(ez.InvalidInputError, match=r"X\.columns has been moved or replaced since it was opened"):
        store.y  # noqa: B018


def test_taken_columns_are_held_against_their_checksum(tmp_path):
    """A prediction takes columns without a pass over the file."""
    X = np.asfortranarray(np.random.default_rng(SEED).standard_normal((60, 100)))
    path = folder_of(X, tmp_path)
    model = ez.fit_path(X, np.sign(X[:, 3]), max_support=1).at_support(1)
    flip(path / "X.npy", 128 + 60 * 8 * 3 + 5)
    with pytest.raises(ez.InvalidInputError, match="do not have the checksum"):
        model.predict(ez.open_columns(path))


def test_checks_can_be_left_out(tmp_path):
    X = np.asfortranarray(np.random.default_rng(SEED).standard_normal((60, 100)))
    path = folder_of(X, tmp_path)
    edited(path, crc32=[1])
    ez.fit_path(ez.open_columns(path, check=False), np.sign(X[:, 0]))


def test_two_passes_may_check_the_same_block(tmp_path, monkeypatch):
    store = ez.open_columns(folder_of(np.ones((60, 100)), tmp_path))
    crc32 = zlib.crc32

    def slow(*args):
        store.checksums.clear()  # as another thread does that is as far
        return crc32(*args)

    monkeypatch.setattr(zlib, "crc32", slow)
    np.testing.assert_array_equal(as_design(store).rmatvec(np.ones(60)), 60.0)


def test_files_that_change_or_shrink_during_the_work(tmp_path):
    X = np.asfortranarray(np.random.default_rng(SEED).standard_normal((60, 100)))
    file = tmp_path / "X.npy"
    np.save(file, X)
    store = ez.open_columns(file)
    design = as_design(store)
    design.rmatvec(np.ones(60))
    flip(file, 5000)
    os.utime(file, ns=(1, 1))
    with pytest.raises(ez.InvalidInputError, match=r"X\.npy has changed since it was opened"):
        design.rmatvec(np.ones(60))
    np.save(file, X)
    design = as_design(ez.open_columns(file))
    cut(file, 800)
    with pytest.raises(ez.InvalidInputError, match=r"X\.npy is truncated: it has 47328 bytes, its header promises 48128"):
        design.rmatvec(np.ones(60))
    with pytest.raises(ez.InvalidInputError, match=r"X\.npy is truncated"):
        ez.open_columns(file)


def test_bad_rows_of_a_sparse_store(tmp_path):
    X = sparse.random(50, 40, 0.2, format="csc", random_state=SEED)
    path = tmp_path / "S.columns"
    with ez.SparseColumnWriter(path, 50, 40, dtype="float64") as writer:
        writer.append(X)
    np.save(path / "indices.npy", np.full(X.nnz, 50, dtype=np.int32))
    with pytest.raises(ez.InvalidInputError, match="have rows beyond 49"):
        as_design(ez.open_columns(path, check=False)).rmatvec(np.ones(50))
    np.save(path / "indptr.npy", np.arange(41)[::-1].copy())
    edited(path, files={})
    with pytest.raises(ez.InvalidInputError, match="its arrays do not fit together"):
        ez.open_columns(path)


def test_every_bit_of_a_header_may_be_wrong(tmp_path):
    """Whatever bit of the header of a .npy file is flipped, the file is refused in a sentence or is still one of numbers."""
    X = np.asfortranarray(np.random.default_rng(SEED).standard_normal((20, 4)))
    file = tmp_path / "X.npy"
    np.save(file, X)
    whole, refused = file.read_bytes(), []
    for place in range(128):
        for bit in range(8):
            changed = bytearray(whole)
            changed[place] ^= 1 << bit
            file.write_bytes(changed)
            try:
                store = ez.open_columns(file)
            except ez.InvalidInputError as error:
                refused.append(str(error))
            else:
                assert store.take(np.arange(store.shape[1])).shape == store.shape
    assert len(refused) > 900
    assert all(text.isprintable() and text.endswith(".") for text in refused)
