"""Writers of column stores: a store is there completely or not at all."""

import errno
import os
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy import sparse
from support.stores import read_store

import ellzero as ez
from ellzero.base import systems
from ellzero.base.quoting import in_bytes
from ellzero.base.systems import FolderLock
from ellzero.conversion import store_files
from ellzero.conversion.folder import NewFolder

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 20))


def write(path, blocks, writer=ez.ColumnWriter, shape=(30, 20), **options):
    with writer(path, *shape, **options) as store:
        for block in blocks:
            store.append(block)


def splits(matrix, width):
    return [matrix[:, start : start + width] for start in range(0, matrix.shape[1], width)]


@pytest.mark.parametrize("block_bytes", [1, 1000, 2500, 1 << 24])
@pytest.mark.parametrize("width", [1, 3, 20])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8"])
def test_dense_blocks(tmp_path, monkeypatch, dtype, width, block_bytes):
    monkeypatch.setattr(store_files, "BLOCK_BYTES", block_bytes)
    matrix = np.round(10 * X)
    write(tmp_path / "x", splits(matrix, width), dtype=dtype)
    stored, y, names, about = read_store(tmp_path / "x")
    np.testing.assert_array_equal(stored, matrix)
    assert (y, names, about["target"], about["dtype"]) == (None, None, None, dtype)
    assert len(about["crc32"]) == -(-20 // about["block_columns"])
    assert about["block_columns"] == max(1, block_bytes // (30 * np.dtype(dtype).itemsize))


@pytest.mark.parametrize("block_bytes", [1, 700, 1 << 24])
@pytest.mark.parametrize("width", [1, 7, 20])
@pytest.mark.parametrize("kind", [sparse.csc_matrix, sparse.csr_array, sparse.coo_matrix])
def test_sparse_blocks(tmp_path, monkeypatch, kind, width, block_bytes):
    monkeypatch.setattr(store_files, "BLOCK_BYTES", block_bytes)
    matrix = sparse.random(30, 20, 0.2, random_state=1, format="csc")
    matrix.data[::5] = 0.0  # explicit zeros are no entries
    write(tmp_path / "x", [kind(part) for part in splits(matrix, width)], ez.SparseColumnWriter, dtype="float64")
    stored, _, _, about = read_store(tmp_path / "x")
    assert (stored != matrix).nnz == 0
    assert about["storage"] == "sparse"


def test_sparse_entries_that_are_there_twice_are_added(tmp_path):
    block = sparse.coo_matrix(([1.0, 2.0, 5.0], ([2, 2, 0], [0, 0, 0])), shape=(3, 1))
    write(tmp_path / "x", [block], ez.SparseColumnWriter, (3, 1))
    assert read_store(tmp_path / "x")[0].toarray().ravel().tolist() == [5.0, 0.0, 3.0]


def test_target_and_names(tmp_path):
    for y in (np.arange(30), np.array(["no", "yes"] * 15), np.array(["a", "b"] * 15, dtype=object), X[:, 0].astype(">f8")):
        write(tmp_path / "x", [X], y=y, target="größe", names=[f"gene {j}" for j in range(20)], overwrite=True)
        _, stored, names, about = read_store(tmp_path / "x")
        assert stored.tolist() == y.tolist()
        assert names == [f"gene {j}" for j in range(20)]
        assert about["target"] == "größe"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "int16"}, "dtype must be one of"),
        ({"dtype": "nonsense"}, "dtype must be one of"),
        ({"names": ["a"] * 20}, "names must be different, 'a' appears twice."),
        ({"names": ["a"]}, "names must be 20 strings"),
        ({"y": np.zeros(3)}, r"y must have shape \(30,\), got \(3,\)."),
        ({"y": np.full(30, np.nan)}, "y contains NaN or infinity."),
        ({"y": [None] * 30}, "y must hold numbers or strings"),
        ({"target": 3}, "target must be a string"),
    ],
)
def test_bad_arguments(tmp_path, options, message):
    with pytest.raises(ez.InvalidInputError, match=message):
        ez.ColumnWriter(tmp_path / "x", 30, 20, **options)
    with pytest.raises(ez.InvalidInputError, match="p must be an integer of at least 1, got 0"):
        ez.ColumnWriter(tmp_path / "x", 30, 0)


def with_value(value):
    block = X.copy()
    block[4, 7] = value
    return block


@pytest.mark.parametrize(
    ("dtype", "value", "message"),
    [
        ("float64", np.nan, "column 'c7' has a missing value (NaN) in row 5."),
        ("float32", np.inf, "column 'c7' has an infinite value in row 5."),
        ("float32", 1e300, "column 'c7' has the value 1e+300 in row 5, which float32 cannot hold; use dtype float64."),
        ("int8", 128, "column 'c7' has the value 128 in row 5, which int8 cannot hold; use dtype float32 or float64."),
        ("int8", 0.5, "column 'c7' has the value 0.5 in row 5, which int8 cannot hold; use dtype float32 or float64."),
        ("int8", np.nan, "column 'c7' has a missing value (NaN) in row 5."),
    ],
)
def test_values_that_cannot_be_stored(tmp_path, dtype, value, message):
    block = np.round(with_value(value)) if dtype == "int8" and value != 0.5 else with_value(value)
    if dtype == "int8":
        block = np.where(np.arange(20) == 7, block, 0.0)
        block[:, 7] = np.where(np.arange(30) == 4, block[:, 7], 0.0)
    names = [f"c{j}" for j in range(20)]
    with pytest.raises(ez.InvalidInputError) as caught:
        write(tmp_path / "x", splits(block, 6), dtype=dtype, names=names)
    assert str(caught.value) == message
    assert not os.listdir(tmp_path)
    if dtype != "int8":
        with pytest.raises(ez.InvalidInputError) as caught:
            write(tmp_path / "x", map(sparse.csc_matrix, splits(block, 6)), ez.SparseColumnWriter, dtype=dtype, names=names)
        assert str(caught.value) == message
        assert not os.listdir(tmp_path)


def test_integers_that_int8_cannot_hold(tmp_path):
    for block in (np.array([[200]], dtype=np.uint8), np.array([[256]]), np.array([[-129]])):
        with pytest.raises(ez.InvalidInputError, match="which int8 cannot hold"):
            write(tmp_path / "x", [block], shape=(1, 1), dtype="int8")


def then(error, block, folder):
    """Yield a block, then raise an error in place of the next."""
    yield block
    assert os.listdir(folder) != []
    raise error


def test_unfinished_work_leaves_nothing(tmp_path):
    for blocks, message in (
        ([X[:, :19]], "only 19 of 20 columns were appended."),
        ([X, X[:, :1]], "block goes beyond the 20 columns of the store: 20 are there already."),
        ([X[:10]], r"block must have shape \(30, columns\), got \(10, 20\)."),
        ([X.astype(str)], "columns must hold real numbers"),
        ([np.ma.masked_less(X, 0.0)], "block has masked entries"),
    ):
        with pytest.raises(ez.InvalidInputError, match=message):
            write(tmp_path / "x", blocks)
        assert not os.listdir(tmp_path)
    for error in (KeyboardInterrupt, ValueError):
        with pytest.raises(error):
            write(tmp_path / "x", then(error, X[:, :5], tmp_path))
        assert not os.listdir(tmp_path)
    with pytest.raises(ez.InvalidInputError, match="append works only inside 'with ColumnWriter"):
        ez.ColumnWriter(tmp_path / "x", 30, 20).append(X)


def test_destinations(tmp_path):
    write(tmp_path / "x", [X])
    with pytest.raises(ez.InvalidInputError, match=r"x exists; name another folder, or say that it may be overwritten\."):
        ez.ColumnWriter(tmp_path / "x", 30, 20)
    write(tmp_path / "x", [2 * X], overwrite=True, dtype="float64")
    np.testing.assert_array_equal(read_store(tmp_path / "x")[0], 2 * X)
    (tmp_path / "mine").mkdir()
    (tmp_path / "file").write_text("mine")
    os.symlink(tmp_path / "x", tmp_path / "link")
    for name in ("mine", "file", "link"):  # whatever is no store is never replaced
        with pytest.raises(ez.InvalidInputError, match="exists and is not a column store"):
            ez.ColumnWriter(tmp_path / name, 30, 20, overwrite=True)
    with pytest.raises(ez.InvalidInputError, match="there is no folder"):
        ez.ColumnWriter(tmp_path / "absent" / "x", 30, 20)
    with pytest.raises(ez.InvalidInputError, match="must name a new folder"):
        ez.ColumnWriter("/", 30, 20)
    assert sorted(os.listdir(tmp_path)) == ["file", "link", "mine", "x"]


def test_failure_keeps_the_store_that_was_to_be_replaced(tmp_path):
    write(tmp_path / "x", [X], dtype="float64")
    with pytest.raises(ez.InvalidInputError):
        write(tmp_path / "x", [X[:, :3]], overwrite=True)
    np.testing.assert_array_equal(read_store(tmp_path / "x")[0], X)
    assert os.listdir(tmp_path) == ["x"]


def test_a_destination_that_appears_meanwhile_is_kept(tmp_path):
    def blocks():
        yield X
        write(tmp_path / "x", [3 * X], dtype="float64")

    with pytest.raises(ez.InvalidInputError, match="exists"):
        write(tmp_path / "x", blocks())
    np.testing.assert_array_equal(read_store(tmp_path / "x")[0], 3 * X)
    assert os.listdir(tmp_path) == ["x"]


def test_permissions_are_those_of_other_files(tmp_path):
    write(tmp_path / "x", [X])
    (tmp_path / "other").mkdir()
    assert (tmp_path / "x").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_leftovers_of_a_killed_process_go(tmp_path):
    code = f"""
        import os, signal, numpy as np, ellzero as ez
        with ez.ColumnWriter({str(tmp_path / "x")!r}, 30, 20) as store:
            store.append(np.zeros((30, 10)))
            os.kill(os.getpid(), signal.SIGKILL)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False)
    (left,) = os.listdir(tmp_path)
    assert left.startswith(".x.ellzero-")
    with NewFolder(tmp_path / "x") as other:  # of a process that lives
        assert os.listdir(tmp_path) == [other.path.name]
        (tmp_path / ".x.ellzero-mine").mkdir()  # not of this kind
        write(tmp_path / "x", [X])
        assert sorted(os.listdir(tmp_path)) == sorted([".x.ellzero-mine", other.path.name, "x"])
        shutil.rmtree(tmp_path / "x")
        (other.path / "about.json").write_text("{}")
    assert sorted(os.listdir(tmp_path)) == [".x.ellzero-mine", "x"]


def test_a_store_that_was_just_being_replaced_comes_back(tmp_path):
    write(tmp_path / "x", [X], dtype="float64")
    (tmp_path / "x").rename(tmp_path / ".x.ellzero-abcdefgh.old")
    with pytest.raises(ez.InvalidInputError, match="x exists"):
        write(tmp_path / "x", [2 * X])
    np.testing.assert_array_equal(read_store(tmp_path / "x")[0], X)
    assert os.listdir(tmp_path) == ["x"]


def test_folders_are_locked(tmp_path):
    (tmp_path / "y").mkdir()
    with NewFolder(tmp_path / "x") as folder:
        lock = FolderLock(folder.path)
        assert lock.taken is False
        lock.close()
    lock = FolderLock(tmp_path / "y")
    assert lock.taken is True
    lock.close()


def test_stores_where_nothing_can_be_locked(tmp_path, monkeypatch):
    """As on Windows: whatever another process may be writing stays."""
    monkeypatch.setattr(systems, "fcntl", None)
    (tmp_path / ".x.ellzero-abcdefgh.part").mkdir()
    write(tmp_path / "x", [X], dtype="float64")
    write(tmp_path / "x", [2 * X], dtype="float64", overwrite=True)
    np.testing.assert_array_equal(read_store(tmp_path / "x")[0], 2 * X)
    assert sorted(os.listdir(tmp_path)) == [".x.ellzero-abcdefgh.part", "x"]


def test_no_room_is_said_beforehand(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**10, 10**10 - 10**6, 10**6))
    with pytest.raises(OSError, match="no room") as caught, ez.ColumnWriter(tmp_path / "x", 1000, 1000, dtype="float64"):
        pass
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(tmp_path / "x")
    assert caught.value.strerror == "there is no room for it: 8 MB are needed, 1 MB are free"
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("sparsely", [False, True])
def test_no_room_in_the_middle(tmp_path, sparsely):
    """A limit on the size of files, which the system enforces, stands for a full disk."""
    code = f"""
        import os, resource, numpy as np, ellzero as ez
        from scipy import sparse
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        kind, writer = (sparse.csc_matrix, ez.SparseColumnWriter) if {sparsely} else (np.array, ez.ColumnWriter)
        try:
            with writer({str(tmp_path / "x")!r}, 1000, 100) as store:
                for _ in range(100):
                    store.append(kind(np.ones((1000, 1))))
        except OSError as error:
            print(error.strerror, error.filename, sep="|")
    """
    out = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, capture_output=True, text=True).stdout
    reason, name = out.strip().split("|")
    assert reason.startswith("files of this size are not allowed here: ")
    assert ("400 kB are needed, " in reason) == (not sparsely)
    assert name == str(tmp_path / "x")
    assert not os.listdir(tmp_path)


def test_sizes_in_words():
    assert [in_bytes(size) for size in (0, 999, 1000, 123456, 20e9, 5e12)] == [
        "0 bytes",
        "999 bytes",
        "1 kB",
        "123 kB",
        "20 GB",
        "5,000 GB",
    ]
