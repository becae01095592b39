"""An X that is not in memory: the same results, few passes, bounded memory, and clear errors when files are damaged."""

import contextlib
import json
import os
import pickle
import shutil
import subprocess
import sys
import textwrap
import threading
import time
import zlib

import numpy as np
import pytest
from interruption import interrupt
from problems import LOSSES, on_disk, target
from scipy import sparse

import ellzero as ez
from ellzero.design import as_design, sliced, stored
from ellzero.design.store import Moments, Products
from ellzero.design.stored import Passes, Question, StoredDesign

SEED = 11
SETTINGS = {"lambda_2": 1e-3, "max_support": 12, "n_lambda": 25}


@pytest.fixture(scope="module")
def data():
    """Large enough that X is not read as a whole at every look, and that not all columns have room at hand."""
    rng = np.random.default_rng(SEED)
    X = np.asfortranarray(rng.standard_normal((150, 1500)).astype(np.float32))
    response = X[:, [3, 700, 1400]] @ [1.5, -1.0, 1.0] + 0.5 * rng.standard_normal(150)
    return X, response


def as_type(X, dtype):
    return np.asfortranarray(np.clip(np.round(40 * X), -127, 127).astype(dtype) if dtype == "int8" else X.astype(dtype))


def same(a, b):
    """The same path, bit for bit."""
    np.testing.assert_array_equal(a.lambda_0, b.lambda_0, err_msg=f"seed {SEED}")
    np.testing.assert_array_equal(a.objective, b.objective, err_msg=f"seed {SEED}")
    assert (a.coef != b.coef).nnz == 0, SEED
    np.testing.assert_array_equal(a.intercept, b.intercept, err_msg=f"seed {SEED}")


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8"])
@pytest.mark.parametrize("loss", LOSSES)
def test_paths_are_those_of_memory_bit_for_bit(loss, dtype, data, monkeypatch):
    monkeypatch.setattr(stored, "RESIDENT_BYTES", 1)  # the least: columns come and go
    X, y = as_type(data[0], dtype), target(data[1], loss)
    store = on_disk(X)
    for algorithm in ("cd", "local_search"):
        settings = {**SETTINGS, "loss": loss, "algorithm": algorithm, "standardize": dtype != "float32"}
        same(ez.fit_path(X, y, **settings), ez.fit_path(store, y, **settings))


@pytest.mark.parametrize(
    "settings",
    [
        {"algorithm": "iht", "lambda_0": [0.05, 0.02, 0.01]},
        {"algorithm": "local_search", "swaps": "exhaustive", "lambda_0": [0.05, 0.02]},
        {"lower": -0.5, "upper": 0.75, "unpenalized": [0, 5], "lambda_1": 1e-3},
        {"fit_intercept": False, "lambda_0": [0.05, 0.02, 0.01]},
    ],
)
def test_other_algorithms_and_penalties(settings, data):
    X, y = data[0], target(data[1], "logistic")
    settings = {**SETTINGS, **settings}
    same(ez.fit_path(X, y, **settings), ez.fit_path(on_disk(X), y, **settings))


def test_sizes_grids_and_improvements(data):
    X, y = data[0], target(data[1], "logistic")
    store = on_disk(X)
    a, b = (ez.fit_sizes(x, y, [1, 2, 3, 5], lambda_2=1e-3) for x in (X, store))
    np.testing.assert_array_equal(a.objective, b.objective)
    a, b = (ez.fit_grid(x, y, lambda_2=[1e-2, 1e-3], max_support=5) for x in (X, store))
    for one, other in zip(a, b, strict=True):
        same(one, other)
    assert ez.objective(store, y, a[0].coef[-1], a[0].intercept[-1], lambda_2=1e-2) == pytest.approx(
        ez.objective(X, y, a[0].coef[-1], a[0].intercept[-1], lambda_2=1e-2), rel=1e-14
    )
    report = ez.check_stationarity(store, y, a[0].coef[-1], a[0].intercept[-1], lambda_0=a[0].lambda_0[-1], lambda_2=1e-2)
    assert report.satisfied


def test_sparse_files(data):
    X = sparse.csc_matrix(np.where(np.random.default_rng(SEED).random(data[0].shape) < 0.2, data[0], 0.0).astype(np.float32))
    y = target(data[1], "logistic")
    store = on_disk(X)
    for algorithm in ("cd", "local_search", "iht"):
        a, b = (ez.fit_path(x, y, algorithm=algorithm, **SETTINGS) for x in (X, store))
        np.testing.assert_allclose(a.objective, b.objective, rtol=1e-9, err_msg=f"seed {SEED}")
        assert [set(m.support) for m in a] == [set(m.support) for m in b], SEED
    assert store[:, 10:20].nnz == X[:, 10:20].nnz
    np.testing.assert_array_equal(store[:, [3, 700, 701]].toarray(), X[:, [3, 700, 701]].toarray())


def test_proofs(data):
    X, y = data[0], target(data[1], "logistic")
    store = on_disk(X)
    a, b = (ez.solve(x, y, k=3, lambda_2=0.02, n_jobs=1) for x in (X, store))
    assert (a.objective, a.lower_bound, a.nodes) == (b.objective, b.lower_bound, b.nodes)
    assert ez.verify(b.certificate, store, y).valid
    assert ez.verify(b.certificate, X, y).valid
    assert ez.verify(a.certificate, store, y).valid


class Slow:
    """A store that takes its time, and remembers how many requests each pass served."""

    def __init__(self, X, seconds=0.0, blocks=3):
        self.X, self.seconds, self.blocks = X, seconds, blocks
        self.shape, self.dtype, self.nbytes, self.storage, self.names = X.shape, X.dtype, X.nbytes, "dense", None
        self.served = []
        self.fails_at = None

    def scan(self, requests):
        self.served.append(len(requests))
        width = -(-self.shape[1] // self.blocks)
        for first in range(0, self.shape[1], width):
            time.sleep(self.seconds)
            if self.fails_at == len(self.served):
                raise OSError(5, "the disk is broken")
            design = as_design(self.X[:, first : first + width])
            yield first, [request(design.core, 1) for request in requests]

    def take(self, columns):
        return np.asfortranarray(self.X[:, columns])

    def __getitem__(self, key):
        return self.X[key]


def test_questions_of_several_threads_share_a_pass(data):
    X = data[0]
    design = StoredDesign(Slow(X, seconds=0.05))
    vectors = np.random.default_rng(SEED).standard_normal((6, len(X)))
    found = [None] * 6

    def ask(k):
        found[k] = design.rmatvec(vectors[k])

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(6):
        np.testing.assert_array_equal(found[k], as_design(X).core.products(vectors[k][None])[0])
    assert sum(design.store.served) == 6
    assert len(design.store.served) <= 3, design.store.served  # the first, and what came while it was under way


def test_threads_that_ask_again_and_again_do_not_take_turns(data):
    design = StoredDesign(Slow(data[0], seconds=0.02))
    r = np.ones(len(data[0]))
    threads = [threading.Thread(target=lambda: [design.rmatvec(r) for _ in range(10)]) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(design.store.served) == 20
    assert len(design.store.served) <= 14, design.store.served


@pytest.mark.parametrize("how", ["stops", "fails"])
def test_a_pass_that_ends_early_is_made_again_without_telling_anything_twice(how):
    """The screening subtracts what it is told of a column from a bound, which would not hold if it were told twice."""
    passes, vectors, told, led = Passes(Slow(np.ones((4, 6)), blocks=6)), np.ones((1, 4)), [], []
    passes.waiting.append(Question(Products(vectors), -1, lambda first, _: not told.append(first), 0))  # of another thread

    def take(first, _):
        led.append(first)
        if first == 3 and how == "fails":
            raise OSError(5, "the disk is broken")
        return first != 3

    with pytest.raises(OSError, match="broken") if how == "fails" else contextlib.nullcontext():
        passes.products(vectors, take)
    assert led == told == [0, 1, 2, 3]
    assert len(passes.waiting) == 1, "the question of the other thread waits for the next pass"
    assert (passes.leader, passes.count) == (None, 0)
    assert not passes.asked, "who was stopped will not ask again, and is not to be waited for"
    passes.products(vectors, lambda first, _: True)
    assert told == [0, 1, 2, 3, 4, 5]
    assert (passes.waiting, passes.leader, passes.count) == ([], None, 1)


def test_nodes_of_a_tree_share_passes(monkeypatch):
    monkeypatch.setattr(stored, "RESIDENT_BYTES", 1)  # there is room for 256 columns
    rng = np.random.default_rng(SEED)
    X = np.asfortranarray(rng.standard_normal((60, 1200)) + rng.standard_normal((60, 1)))
    y = np.where(X[:, :6].sum(axis=1) + 3.0 * rng.standard_normal(60) > 0, 1, -1)
    design = StoredDesign(Slow(X, seconds=5e-3, blocks=1))
    outside = ez.solve(design, y, lambda_0=0.03, lambda_2=0.01, node_limit=60)
    assert outside.status == "node_limit", "too easy to tell anything"
    report = ez.verify(outside.certificate, X, y)
    assert report.valid
    assert report.lower_bound == pytest.approx(outside.lower_bound, rel=1e-6)
    assert sum(design.store.served) - len(design.store.served) > 30, design.store.served


def test_a_failing_store_raises_its_own_error_and_can_be_asked_again(data):
    X, y = data[0], target(data[1], "logistic")
    design = StoredDesign(Slow(X))
    expected = ez.fit_path(X, y, **SETTINGS)
    for passes in (1, 2, 4):
        design.store.fails_at = len(design.store.served) + passes
        with pytest.raises(OSError, match="the disk is broken"):
            ez.fit_path(design, y, **SETTINGS)
    design.store.fails_at = len(design.store.served) + 3
    with pytest.raises(OSError, match="the disk is broken"):
        ez.solve(design, y, k=2, lambda_2=0.01)
    same(expected, ez.fit_path(design, y, **SETTINGS))


def test_ctrl_c_in_a_pass():
    code = """
    import sys
    sys.path.insert(0, "tests/api"), sys.path.insert(0, "tests")
    import signal; signal.signal(signal.SIGINT, signal.default_int_handler)
    import numpy as np, ellzero as ez
    from test_stored import Slow
    from ellzero.design.stored import Passes, Question, StoredDesign
    X = np.asfortranarray(np.random.default_rng(0).standard_normal((100, 5000)))
    design = StoredDesign(Slow(X, seconds=0.05, blocks=50))
    print("solving", flush=True)
    try:
        ez.fit_path(design, np.sign(X[:, 0] + X[:, 7]))
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    design.store.seconds = 0.0
    print(np.allclose(design.rmatvec(np.ones(100)), X.sum(axis=0)), flush=True)
    """
    interrupt(code, 1.0, "True")


def test_requests_on_parts_of_the_rows():
    rng = np.random.default_rng(SEED)
    X, w, r = np.asfortranarray(rng.standard_normal((90, 7))) + 5.0, rng.random(90), rng.standard_normal((3, 90))
    w[30:60] = 0.0
    w /= w.sum()
    for request in (Products(r), Moments(w)):
        whole = request(as_design(X).core, 1)
        parts = [slice(0, 30), slice(30, 60), slice(60, 90)]
        joined = request.join([request.on_rows(part)(as_design(X[part]).core, 1) for part in parts])
        np.testing.assert_allclose(joined, whole, rtol=1e-12, err_msg=f"seed {SEED}")


# Files that are not as they should be


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
    "no about": (lambda p: (p / "about.json").unlink(), "is no column store: it has no about.json"),
    "no json": (lambda p: (p / "about.json").write_text("{"), "is damaged: about.json is no JSON"),
    "other json": (lambda p: (p / "about.json").write_text("{}"), "is no column store: its about.json does not say so"),
    "version": (
        lambda p: edited(p, version=7, made_by="ellzero 9.0"),
        r"has format version 7 \(by ellzero 9.0\); this ellzero reads",
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
    """All that is beside the numbers of a store."""
    store = ez.open_columns(path)
    return store.y, store.names


@pytest.mark.parametrize("name", ["y.npy", "names.json", "indptr.npy"])
def test_changed_files_beside_the_numbers(name, tmp_path):
    """Sizes do not tell these apart: a label that is another one now, a name, the place of a column."""
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


def test_a_store_is_no_array(tmp_path):
    X = np.asfortranarray(np.random.default_rng(SEED).standard_normal((60, 100)))
    store = ez.open_columns(folder_of(X, tmp_path))
    with pytest.raises(ez.InvalidInputError, match=r"X\.columns is a column store, which is no array in memory"):
        np.asarray(store)
    for key in (3, (slice(None), 3), (np.arange(3), slice(None)), (np.arange(3), ...), (slice(None), [[1]])):
        with pytest.raises(ez.InvalidInputError, match="is read by columns"):
            store[key]
    with pytest.raises(ez.InvalidInputError, match=r"X must be an array or a store, got a path; ez\.open_columns\('a"):
        ez.fit_path("a.columns", X[:, 0])


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
    with pytest.raises(ez.InvalidInputError, match="is no NumPy array"):
        ez.open_columns(tmp_path / "X.npy")
    with pytest.raises(FileNotFoundError):
        ez.open_columns(tmp_path / "other.npy")


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


def test_nan_in_a_file_is_found(tmp_path):
    X = np.asfortranarray(np.random.default_rng(SEED).standard_normal((60, 100)))
    X[7, 42] = np.nan
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(ez.InvalidInputError, match=r"X contains NaN or infinity \(column 42\)"):
        ez.fit_path(ez.open_columns(tmp_path / "X.npy"), np.sign(X[:, 0]))


# Reading


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
    check_without_data(dumped, X, "is damaged: about.json is no JSON")


def check_without_data(dumped, X, sentence):
    """A path whose store is gone: its models still predict, what needs the data says why it cannot be had."""
    path = pickle.loads(dumped)
    assert path.at_support(1).names == ["a", "b", "ü"]
    assert path.at_support(1).predict(X)[:60].tolist() == np.where(X[:, 0] > 0, "no", "yes").tolist()
    with pytest.raises(ez.InvalidInputError, match=sentence):
        path.at_support(3)
    assert pickle.loads(pickle.dumps(path)).at_support(1).support.tolist() == [0]


def test_memory_stays_bounded_and_passes_are_few(tmp_path):
    """A file of 320 MB, fitted in a process that takes half as much at most; 3 passes and one for each change."""
    rng = np.random.default_rng(SEED)
    n, p = 2000, 40_000
    y = rng.integers(0, 2, n)
    with ez.ColumnWriter(tmp_path / "X", n, p, dtype="float32", y=y) as writer:
        for start in range(0, p, 1000):
            block = rng.standard_normal((n, 1000), dtype=np.float32)
            if start % 10_000 == 0:
                block[:, 0] += y
            writer.append(block)
    code = f"""
    import numpy as np, ellzero as ez
    peak = lambda: next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith("VmHWM"))
    store = ez.open_columns({str(tmp_path / "X")!r})
    before = peak()
    path = ez.fit_path(store, store.y, lambda_2=1e-3, n_lambda=30, max_support=8)
    supports = [set(m.support.tolist()) for m in path]
    changes = sum(a != b for a, b in zip(supports, supports[1:]))
    print(peak() - before, store.passes, changes, sorted(path.at_support(4).support.tolist()))
    """
    out = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    ).stdout.split(maxsplit=3)
    assert int(out[0]) < 160_000, f"{out[0]} kB"
    assert int(out[1]) <= 3 + int(out[2]), out
    assert out[3].strip() == "[0, 10000, 20000, 30000]", SEED


def test_chunks_of_other_libraries(data, monkeypatch):
    """Chunks of rows hold all columns: not all of them may be read at once, whatever the number of rows."""
    monkeypatch.setattr(sliced, "LARGEST_BLOCK", 8 * 60 * 100)
    X, y = data[0][:60, :400].astype(np.float64), target(data[1][:60], "logistic")
    expected = ez.fit_path(X, y, **SETTINGS)

    class Chunked:
        shape, dtype, most = X.shape, X.dtype, 0

        def __init__(self, chunks):
            self.chunks = chunks

        def __getitem__(self, key):
            self.most = max(self.most, X[key].shape[1])
            return X[key]

    for chunks in (None, (60, 0), (7, 3), (60, 64), (10, 400), (999, 999), ((30, 30), (399, 1))):
        array = Chunked(chunks)
        same(expected, ez.fit_path(array, y, **SETTINGS))
        if chunks and chunks[0] == 10:
            assert array.most == 100


def test_zarr(tmp_path, data):
    zarr = pytest.importorskip("zarr") if "CI" not in os.environ else __import__("zarr")
    X, y = data[0], target(data[1], "logistic")
    array = zarr.open(str(tmp_path / "X.zarr"), mode="w", shape=X.shape, chunks=(60, 128), dtype="f4")
    array[:, :] = X
    same(ez.fit_path(X, y, **SETTINGS), ez.fit_path(array, y, **SETTINGS))
    solution = ez.solve(array, y, k=2, lambda_2=0.05)
    assert ez.verify(solution.certificate, array, y).valid
