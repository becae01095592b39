"""Both branches of what differs between operating systems, wherever the tests run."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import ellzero as ez
from ellzero.base import systems


@pytest.fixture(params=["as it is", "plain"])
def reading(request, monkeypatch):
    """Let files be read as this system does, and as one without reading in place does."""
    if request.param == "plain":
        monkeypatch.delattr(os, "preadv", raising=False)
        monkeypatch.setattr(systems, "AT_ONCE", 1000)


@pytest.mark.usefixtures("reading")
def test_threads_read_one_file(tmp_path):
    numbers = np.random.default_rng(0).integers(0, 256, 200_000).astype(np.uint8)
    numbers.tofile(tmp_path / "bytes")
    descriptor = systems.open_to_read(tmp_path / "bytes")

    def part(place):
        target, done = np.empty(5000, dtype=np.uint8), 0
        while done < len(target):
            done += systems.read_at(descriptor, place + done, target[done:])
        return np.array_equal(target, numbers[place : place + 5000])

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(part, range(0, 195_000, 137)))
    assert systems.read_at(descriptor, 199_990, np.empty(100, dtype=np.uint8)) == 10
    assert systems.read_at(descriptor, 200_000, np.empty(100, dtype=np.uint8)) == 0
    os.close(descriptor)


@pytest.mark.usefixtures("reading")
def test_a_store_gives_the_same_path(tmp_path):
    X, y, _ = ez.datasets.make_classification(60, 30, 3, random_state=0)
    with ez.ColumnWriter(tmp_path / "x", *X.shape, dtype="float64") as store:
        store.append(X)
    stored, held = ez.fit_path(ez.open_columns(tmp_path / "x"), y), ez.fit_path(X, y)
    np.testing.assert_array_equal(stored.coef.toarray(), held.coef.toarray())


def test_a_folder_is_locked_once(tmp_path):
    first, second = systems.FolderLock(tmp_path), systems.FolderLock(tmp_path)
    assert (first.taken, second.taken) == (True, False)
    first.close()
    assert second.take() is True
    second.close()


@pytest.mark.parametrize("missing", ["module", "file system"])
def test_without_locks_nobody_knows(tmp_path, monkeypatch, missing):
    if missing == "module":
        monkeypatch.setattr(systems, "fcntl", None)
    else:

        def refuse(*arguments):
            raise OSError("no locks here")

        monkeypatch.setattr(systems.fcntl, "flock", refuse)
    lock = systems.FolderLock(tmp_path)
    assert lock.taken is None
    assert lock.take() is None
    lock.close()
    systems.sync_folder(tmp_path)


@pytest.mark.parametrize("locks", [True, False])
def test_no_folder_no_lock(tmp_path, monkeypatch, locks):
    if not locks:
        monkeypatch.setattr(systems, "fcntl", None)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises((FileNotFoundError, NotADirectoryError)):
        systems.FolderLock(tmp_path / "file")
    with pytest.raises((FileNotFoundError, NotADirectoryError)):
        systems.FolderLock(tmp_path / "nothing")
