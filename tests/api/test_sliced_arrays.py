"""Arrays of other libraries that are read in slices: whole chunks, and not too much at once."""

import os

import numpy as np
import pytest
from support.problems import target
from support.stored_problems import COLUMNS, RESPONSE, SETTINGS, same

import ellzero as ez
from ellzero.design import sliced


def test_chunks_of_other_libraries(monkeypatch):
    """Chunks of rows hold all columns: not all of them may be read at once, whatever the number of rows."""
    monkeypatch.setattr(sliced, "LARGEST_BLOCK", 8 * 60 * 100)
    X, y = COLUMNS[:60, :400].astype(np.float64), target(RESPONSE[:60], "logistic")
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


def test_zarr(tmp_path):
    zarr = pytest.importorskip("zarr") if "CI" not in os.environ else __import__("zarr")
    X, y = COLUMNS, target(RESPONSE, "logistic")
    array = zarr.open(str(tmp_path / "X.zarr"), mode="w", shape=X.shape, chunks=(60, 128), dtype="f4")
    array[:, :] = X
    same(ez.fit_path(X, y, **SETTINGS), ez.fit_path(array, y, **SETTINGS))
    solution = ez.solve(array, y, k=2, lambda_2=0.05)
    assert ez.verify(solution.certificate, array, y).valid


def test_a_damaged_chunk_of_zarr_is_told_in_a_sentence(tmp_path):
    zarr = pytest.importorskip("zarr") if "CI" not in os.environ else __import__("zarr")
    array = zarr.open(str(tmp_path / "X.zarr"), mode="w", shape=COLUMNS.shape, chunks=(60, 128), dtype="f4")
    array[:, :] = COLUMNS
    chunks = [file for file in (tmp_path / "X.zarr").rglob("*") if file.is_file() and file.stat().st_size > 10_000]
    assert chunks
    for chunk in chunks:
        chunk.write_bytes(chunk.read_bytes()[:-100])
    with pytest.raises(ez.InvalidInputError, match=r"^X cannot be read: .+\.$") as caught:
        ez.fit_path(array, target(RESPONSE, "logistic"), **SETTINGS)
    assert str(caught.value).isprintable()
