"""Certificates of an X that is not in memory: the same as in memory, made and checked in blocks."""

import hashlib
import json
import subprocess
import sys
import zlib

import numpy as np
import pytest
from scipy import sparse
from support.stores import KINDS, matrix_of, write_store

import ellzero as ez
from ellzero.exact.mip import formulation
from ellzero.exact.verifier import bounds, data, fingerprint_matrix
from ellzero.paths.fitting import fit_path

SETTINGS = {"lambda_0": 0.02, "lambda_2": 0.01, "gap": 1e-5, "n_jobs": 1}


class Elsewhere:
    """A matrix with all that the verifier may ask for: its shape and some of its columns."""

    def __init__(self, X):
        self.X = X
        self.shape = X.shape
        self.storage = "sparse" if sparse.issparse(X) else "dense"
        self.largest = self.read = 0

    def __getitem__(self, key):
        rows, columns = key
        assert rows == slice(None)
        if not isinstance(columns, slice):
            assert (np.diff(columns) > 0).all()
        part = self.X[:, columns]
        self.largest = max(self.largest, part.shape[1])
        self.read += part.shape[1]
        return part


def target_of(X, seed=1):
    dense = X.toarray() if sparse.issparse(X) else X.astype(np.float64)
    score = dense[:, 3] - 2.0 * dense[:, 8] + dense[:, 20]
    return (score - score.mean() + np.random.default_rng(seed).normal(size=len(dense)) > 0.0).astype(int)


@pytest.fixture
def small_blocks(monkeypatch):
    """Make blocks so small that every matrix here has many of them."""
    monkeypatch.setattr(data, "CHUNK_BYTES", 8 * 120 * 5)
    monkeypatch.setattr(data, "SPARSE_SHARE", 2)


@pytest.mark.parametrize("kind", KINDS)
def test_checksums_do_not_depend_on_the_container(kind, small_blocks):
    X = matrix_of(kind)
    dense = np.array(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    dense[5, 7] = -0.0
    forms = [dense, np.asfortranarray(dense), sparse.csc_matrix(dense), sparse.csr_matrix(dense)]
    forms += [Elsewhere(dense), Elsewhere(sparse.csc_matrix(dense))]
    zeros, other = sparse.csc_matrix(dense), dense.copy()
    zeros.data[0], other[0, 39] = 0.0, 7.0
    for storage in ("dense", "sparse"):
        assert len({fingerprint_matrix(form, storage) for form in forms}) == 1
        assert fingerprint_matrix(zeros, storage) == fingerprint_matrix(Elsewhere(zeros), storage)
        assert fingerprint_matrix(zeros, storage) != fingerprint_matrix(dense, storage)
        assert fingerprint_matrix(Elsewhere(other), storage) != fingerprint_matrix(dense, storage)


def test_sparse_checksums_are_of_whole_arrays():
    X = matrix_of("sparse")
    parts = [repr(X.shape).encode(), X.indptr.astype(np.int64).tobytes()]
    parts += [X.indices.astype(np.int64).tobytes(), X.data.tobytes()]
    assert fingerprint_matrix(Elsewhere(X), "sparse") == hashlib.sha256(b"".join(parts)).hexdigest()


@pytest.mark.parametrize("kind", ["float64", "sparse"])
def test_few_passes_in_small_blocks(kind, small_blocks, monkeypatch):
    X = matrix_of(kind)
    y = target_of(X)
    solution = ez.solve(X, y, standardize=True, **SETTINGS | {"lambda_0": 0.005, "gap": 1e-3})
    points = len(solution.certificate.arrays["model_ends"])
    assert points > 4
    for batch, passes in ((points, 1), (2, -(-points // 2))):
        monkeypatch.setattr(bounds, "LARGEST_BATCH", batch)
        elsewhere = Elsewhere(X)
        report = ez.verify(solution.certificate, elsewhere, y)
        assert report.valid
        assert report.lower_bound == pytest.approx(ez.verify(solution.certificate, X, y).lower_bound, rel=1e-12)
        assert elsewhere.largest <= max(10, len(solution.support))
        once = 40 * (passes + (2 if kind == "float64" else 4)) + len(solution.support)
        assert once < elsewhere.read <= once + 40 * passes  # the columns of the models


def test_chunks_are_read_as_a_whole():
    chunked = Elsewhere(matrix_of("float64"))
    chunked.chunks = (50, 16)
    assert [part for part, _ in data.blocks(chunked)] == [slice(0, 40)]
    chunked.chunks = ((60, 60), (16, 16, 8))
    assert data.chunk_width(chunked) == 16


@pytest.mark.parametrize("kind", KINDS)
def test_same_certificate_as_in_memory(kind, tmp_path):
    X = matrix_of(kind)
    y = target_of(X)
    store = ez.open_columns(write_store(tmp_path / "X.columns", X))
    here, there = (ez.solve(form, y, standardize=kind == "int8", **SETTINGS) for form in (X, store))
    assert here.status == there.status == "optimal"
    np.testing.assert_array_equal(there.support, here.support)
    assert there.objective == pytest.approx(here.objective, rel=1e-12)
    assert there.certificate.header["fingerprint_X"] == here.certificate.header["fingerprint_X"]
    there.certificate.save(tmp_path / "proof.npz")
    for certificate in (here.certificate, there.certificate, tmp_path / "proof.npz"):
        for form in (X, store):
            report = ez.verify(certificate, form, y)
            assert report.valid, report
    assert "X is not" in ez.verify(tmp_path / "proof.npz", -X, y).reasons[0]
    other = ez.open_columns(write_store(tmp_path / "other.columns", -X))
    assert "X is not" in ez.verify(here.certificate, other, y).reasons[0]


def test_swaps_and_paths_read_the_file_once_for_checksums(tmp_path, monkeypatch):
    X = matrix_of("float64")
    y = target_of(X)
    store = ez.open_columns(write_store(tmp_path / "X.columns", X))
    taken = []
    fingerprint = ez.exact.certificate.fingerprint_matrix
    monkeypatch.setattr(ez.exact.certificate, "fingerprint_matrix", lambda *args: taken.append(args) or fingerprint(*args))
    path = fit_path(store, y, lambda_0=[0.05, 0.02], lambda_2=0.01)
    solutions = ez.certify_path(path)
    assert all(ez.verify(solution.certificate, X, y).valid for solution in solutions)
    assert len(taken) == 1


def test_checkpoints_of_stores(tmp_path):
    X = matrix_of("int8")
    y = target_of(X)
    store = ez.open_columns(write_store(tmp_path / "X.columns", X))
    settings = {**SETTINGS, "lambda_0": 0.01, "gap": 1e-3, "checkpoint": tmp_path / "run.ckpt"}
    first = ez.solve(store, y, node_limit=3, **settings)
    assert first.status == "node_limit"
    assert (tmp_path / "run.ckpt").exists()
    rest = ez.solve(X, y, **settings)  # in memory: the same numbers
    assert rest.status == "optimal"
    assert rest.nodes > first.nodes
    assert ez.verify(rest.certificate, store, y).valid


@pytest.mark.parametrize("kind", ["float32", "sparse"])
def test_mip_solvers(kind, tmp_path, monkeypatch):
    X = matrix_of(kind, n=40, p=22)
    y = target_of(X)
    store = ez.open_columns(write_store(tmp_path / "X.columns", X))
    settings = {"loss": "hinge", "k": 2, "lambda_2": 0.05, "gap": 1e-2, "backend": "highs"}
    for method in ("mip", "iga"):
        here, there = (ez.solve(form, y, method=method, **settings) for form in (X, store))
        assert there.status == "optimal"
        assert there.objective == pytest.approx(here.objective, rel=1e-6)
    monkeypatch.setattr(formulation, "LARGEST_STORED_BYTES", 1000)
    with pytest.raises(ez.InvalidInputError, match="method='mip' holds X in memory"):
        ez.solve(store, y, method="mip", **settings)
    ez.solve(X, y, method="mip", **settings | {"time_limit": 0.0})  # what is in memory anyway may be large


MEMORY = """
import sys
import numpy as np
import ellzero as ez
from ellzero.design import stored
from ellzero.exact.verifier import bounds

def peak():
    # Not ru_maxrss, which a process inherits from the one that started it: a small peak would hide behind that of the tests.
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1]) // 1024

folder, what = sys.argv[1:]
# The usual 256 MB of each are bounds, too, but no less than the file of this test.
bounds.PRODUCT_BYTES, stored.RESIDENT_BYTES = 2**25, 2**24
store = ez.open_columns(folder)
y, before = store.y, peak()
if what == "load":
    np.load(folder + "/X.npy")
elif what == "solve":
    ez.solve(store, y, k=2, lambda_2=0.1, gap=1e-3).certificate.save(folder + ".npz")
else:
    assert ez.verify(folder + ".npz", store, y).valid
print(peak() - before)
"""


def write_large(folder, n, p, columns=1000):
    """Write a store of float32 that is never in memory as a whole; the first column matters."""
    rng = np.random.default_rng(0)
    first = rng.normal(size=(columns, n)).astype(np.float32)
    folder.mkdir()
    X = np.lib.format.open_memmap(folder / "X.npy", mode="w+", dtype=np.float32, shape=(n, p), fortran_order=True)
    sums = []
    for start in range(0, p, columns):
        block = first if start == 0 else np.ascontiguousarray(first[:, rng.permutation(n)])
        X[:, start : start + columns] = block.T
        sums.append(zlib.crc32(block.tobytes()))
    X.flush()
    del X
    y = (2.0 * first[0] + 0.3 * rng.normal(size=n) > 0.0).astype(int)
    np.save(folder / "y.npy", y)
    about = {"format": "ellzero columns", "version": 1, "storage": "dense", "n": n, "p": p, "dtype": "float32"}
    about |= {"block_columns": columns, "crc32": sums, "target": "y", "made_by": "test"}
    about["files"] = {file.name: file.stat().st_size for file in folder.iterdir()}
    (folder / "about.json").write_text(json.dumps(about))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peaks are read from /proc")
def test_proof_and_check_in_bounded_memory(tmp_path):
    folder = tmp_path / "X.columns"
    write_large(folder, 1000, 64_000)
    size = (folder / "X.npy").stat().st_size / 2**20
    assert size > 240

    def peak(what):
        done = subprocess.run([sys.executable, "-c", MEMORY, folder, what], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    assert peak("load") > 0.9 * size  # what is measured would see a copy of X
    assert peak("solve") < 0.6 * size  # eight threads at work, in no fixed order
    assert peak("verify") < 0.5 * size
