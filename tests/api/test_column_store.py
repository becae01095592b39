"""Column stores: their attributes, their columns, and plain files in their place."""

import pickle
import shutil

import numpy as np
import pytest
from support.stored_problems import SEED
from support.stores import write_store

import ellzero as ez


def test_columns_are_read_as_they_are_needed(tmp_path):
    X = np.asfortranarray(np.random.default_rng(SEED).standard_normal((2000, 300)))  # 16,000 bytes a column
    np.save(tmp_path / "X.npy", X)
    store = ez.open_columns(tmp_path / "X.npy")
    listed = np.array([3, 4, 6, 100, 299])
    np.testing.assert_array_equal(store.take(listed), X[:, listed])
    assert store.bytes_read == 6 * 16_000  # 3 to 6 together: the gap is small
    np.testing.assert_array_equal(store[:, 290:400], X[:, 290:])
    np.testing.assert_array_equal(store[:, listed], X[:, listed])
    for bad in ([3, 3], [4, 3], [-1], [300]):
        with pytest.raises(ez.InvalidInputError, match="ascending indices"):
            store.take(np.array(bad))
    for bad in (3, (3, slice(None)), (listed, slice(None)), (slice(None), 3)):
        with pytest.raises(ez.InvalidInputError, match="is read by columns"):
            store[bad]


def test_what_a_store_knows(tmp_path):
    X = np.asfortranarray(np.random.default_rng(SEED).standard_normal((60, 3)))
    names = ["a", "b", "ü"]
    with ez.ColumnWriter(
        tmp_path / "X", 60, 3, dtype="float64", names=names, y=np.where(X[:, 0] > 0, "no", "yes"), target="t"
    ) as w:
        w.append(X)
    store = ez.open_columns(tmp_path / "X")
    assert (store.names, store.target, store.shape, store.dtype, store.storage) == (names, "t", (60, 3), np.float64, "dense")
    assert repr(store) == "ColumnStore(X: 60 x 3, float64, dense)"
    path = ez.fit_path(store, store.y, max_support=1)
    assert path.at_support(1).names == names
    copy = pickle.loads(pickle.dumps(store))
    np.testing.assert_array_equal(copy[:, :], X)
    dumped = pickle.dumps(path)
    assert len(dumped) < 20_000, "a path on a store holds X by reference"
    assert pickle.loads(dumped).at_support(1).support.tolist() == [0]
    shutil.rmtree(tmp_path / "X")
    check_without_data(dumped, X, "is not there")
    for other in (X[:, :2], -X):
        with ez.ColumnWriter(tmp_path / "X", *other.shape, dtype="float64", overwrite=True) as w:
            w.append(other)
        check_without_data(dumped, X, "holds other data now")
    (tmp_path / "X" / "about.json").write_text("{")
    check_without_data(dumped, X, "is damaged: in about.json, it is no JSON")


def check_without_data(dumped, X, sentence):
    """Check a path whose store is gone: its models still predict, and anything that needs the data says why it cannot."""
    path = pickle.loads(dumped)
    assert path.at_support(1).names == ["a", "b", "ü"]
    assert path.at_support(1).predict(X)[:60].tolist() == np.where(X[:, 0] > 0, "no", "yes").tolist()
    with pytest.raises(ez.InvalidInputError, match=sentence):
        path.at_support(3)
    assert pickle.loads(pickle.dumps(path)).at_support(1).support.tolist() == [0]


def test_a_store_is_no_array(tmp_path):
    X = np.asfortranarray(np.random.default_rng(SEED).standard_normal((60, 100)))
    store = ez.open_columns(write_store(tmp_path / "X.columns", X))
    with pytest.raises(ez.InvalidInputError, match=r"X\.columns is a column store, not an array in memory"):
        np.asarray(store)
    for key in (3, (slice(None), 3), (np.arange(3), slice(None)), (np.arange(3), ...), (slice(None), [[1]])):
        with pytest.raises(ez.InvalidInputError, match="is read by columns"):
            store[key]
    with pytest.raises(ez.InvalidInputError, match=r"X must be an array or a store, got a path; ez\.open_columns\('a"):
        ez.fit_path("a.columns", X[:, 0])


def test_plain_files(tmp_path):
    X = np.random.default_rng(SEED).standard_normal((60, 100))
    for array, sentence in (
        (X, "must be a matrix in Fortran order"),
        (X[0], "must hold a matrix, got an array of 1 dimensions"),
        (np.asfortranarray(X[None]), "must hold a matrix, got an array of 3 dimensions"),
        (np.asfortranarray(X).astype(">f8"), "must hold numbers of this machine's byte order"),
        (np.asfortranarray(X.astype(np.int32)), "holds int32; a store holds float64, float32, int8"),
    ):
        np.save(tmp_path / "X.npy", array)
        with pytest.raises(ez.InvalidInputError, match=sentence):
            ez.open_columns(tmp_path / "X.npy")
    (tmp_path / "X.npy").write_bytes(b"nothing")
    with pytest.raises(ez.InvalidInputError, match="is not a NumPy array"):
        ez.open_columns(tmp_path / "X.npy")
    with pytest.raises(FileNotFoundError):
        ez.open_columns(tmp_path / "other.npy")


def test_nan_in_a_file_is_found(tmp_path):
    X = np.asfortranarray(np.random.default_rng(SEED).standard_normal((60, 100)))
    X[7, 42] = np.nan
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(ez.InvalidInputError, match=r"X contains NaN or infinity \(column 42\)"):
        ez.fit_path(ez.open_columns(tmp_path / "X.npy"), np.sign(X[:, 0]))
