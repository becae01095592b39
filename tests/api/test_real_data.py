"""The loader of real sets, against small sets of the same layout behind a local server; no test leaves the machine."""

import http.server
import os
import threading
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import ellzero as ez
from ellzero.datasets import uci

DENSE = {
    "X_train": np.array([[3, 0, 999], [0, 0, 1], [7, 2, 0]], dtype=np.int16),
    "y_train": np.array([1, -1, -1], dtype=np.int8),
    "X_valid": np.array([[1, 1, 1], [0, 5, 0]], dtype=np.int16),
    "y_valid": np.array([-1, 1], dtype=np.int8),
}


def expected(name):
    return {key: np.minimum(array, 1) if name == "dorothea" and key[0] == "X" else array for key, array in DENSE.items()}


def small(name, entries):
    """Return the description of a small set of that layout; the digest of a sparse set is taken of sparse matrices."""
    arrays = {key: sparse.csr_matrix(a) if entries != "values" and key[0] == "X" else a for key, a in expected(name).items()}
    return uci.Source(name, entries, 3, (3, 2), (1, 1), uci.digest_of_set(arrays))


# Every kind of file; the entries of a binary set are ones.
SMALL = {
    name: small(name, entries) for name, entries in (("arcene", "values"), ("dexter", "index:value"), ("dorothea", "index"))
}


def text_of(source, key):
    """Return the lines that the repository has for one array."""
    array = expected(source.name)[key]
    if key[0] == "y":
        return "".join(f"{label}\n" for label in array)
    write = {
        "values": lambda row: " ".join(map(str, row)),
        "index:value": lambda row: " ".join(f"{j + 1}:{row[j]}" for j in np.flatnonzero(row)),
        "index": lambda row: " ".join(str(j + 1) for j in np.flatnonzero(row)),
    }[source.entries]
    return "".join(write(row) + " \n" for row in array)


class Pages(dict):
    """Texts by address, the addresses that were asked for, and those that answer with an error once."""

    def __init__(self, texts):
        super().__init__(texts)
        self.asked, self.failures = [], []


@pytest.fixture
def pages(monkeypatch):
    """Serve the small sets from a local server; the dictionary of its pages may be changed."""
    pages = Pages(
        (f"/{source.address(part, kind)}", text_of(source, key))
        for source in SMALL.values()
        for part in ("train", "valid")
        for kind, key in (("data", f"X_{part}"), ("labels", f"y_{part}"))
    )

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            pages.asked.append(self.path)
            if self.path in pages.failures:
                pages.failures.remove(self.path)
                self.send_error(503)
                return
            if self.path not in pages:
                self.send_error(404)
                return
            body = pages[self.path].encode()
            self.send_response(200)
            # A page that ends in an ellipsis is cut short: more was promised.
            self.send_header("Content-Length", str(len(body) + 100 * body.endswith(b"...")))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setattr(uci, "HOME", f"http://127.0.0.1:{server.server_address[1]}")
    monkeypatch.setattr(uci, "RETRY_SECONDS", 0)
    monkeypatch.setattr("ellzero.datasets.real.SOURCES", SMALL)
    yield pages
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ELLZERO_DATA", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_addresses_are_those_of_the_repository():
    assert uci.HOME == "https://archive.ics.uci.edu/ml/machine-learning-databases"
    assert uci.SOURCES["arcene"].address("train", "data") == "arcene/ARCENE/arcene_train.data"
    assert uci.SOURCES["arcene"].address("valid", "data") == "arcene/ARCENE/arcene_valid.data"
    assert uci.SOURCES["dexter"].address("train", "labels") == "dexter/DEXTER/dexter_train.labels"
    assert uci.SOURCES["madelon"].address("valid", "labels") == "madelon/madelon_valid.labels"


@pytest.mark.parametrize("name", SMALL)
def test_sets_are_fetched_once_and_kept(name, pages, folder):
    first = ez.datasets.load(name)
    pages.clear()  # from here on only the cache can answer
    for data in (first, ez.datasets.load(name)):
        for key, array in expected(name).items():
            found = getattr(data, key)
            assert sparse.issparse(found) == (name != "arcene" and key[0] == "X")
            np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, array)
            assert found.dtype == (np.float64 if key[0] == "X" else np.int64)
    if name == "arcene":
        assert sorted(file.name for file in folder.iterdir()) == ["arcene.npz"]
        assert first.X_train.flags.f_contiguous
        with np.load(folder / "arcene.npz") as archive:
            assert {key: (archive[key].dtype, archive[key].shape) for key in archive} == {
                key: (array.dtype, array.shape) for key, array in DENSE.items()
            }
    else:
        assert sorted(file.name for file in folder.iterdir()) == [
            f"{name}_{part}_{rest}" for part in ("train", "valid") for rest in ("X.npz", "y.npy")
        ]


@pytest.mark.parametrize("name", SMALL)
def test_pooled_rows_and_splits(name, pages, folder):
    data = ez.datasets.load(name)
    X, y = data
    both = np.vstack([expected(name)["X_train"], expected(name)["X_valid"]])
    np.testing.assert_array_equal(X.toarray() if sparse.issparse(X) else X, both)
    assert y.tolist() == [1, -1, -1, -1, 1]
    for split, rows in (("train", slice(0, 3)), ("valid", slice(3, 5)), ("all", slice(0, 5))):
        part, labels = ez.datasets.load(name, split=split)
        np.testing.assert_array_equal(part.toarray() if sparse.issparse(part) else part, both[rows])
        assert labels.tolist() == y[rows].tolist()
    assert repr(data).startswith(f"{name}: 3 + 2 rows, 3 features")


def test_wrong_names(folder):
    with pytest.raises(ez.InvalidInputError, match=r"name must be one of 'arcene', .* got 'iris'"):
        ez.datasets.load("iris")
    with pytest.raises(ez.InvalidInputError, match="split must be one of 'train', 'valid', 'all', got 'test'"):
        ez.datasets.load("arcene", split="test")


def test_no_network(folder, monkeypatch):
    monkeypatch.setattr(uci, "HOME", "http://127.0.0.1:1")
    monkeypatch.setattr(uci, "RETRY_SECONDS", 0)
    with pytest.raises(ez.DatasetError, match=r"arcene_train\.data could not be downloaded \(.*refused"):
        ez.datasets.load("arcene")
    assert not folder.exists()


def test_a_server_that_fails_once_is_asked_again(pages, folder):
    pages.failures.append(DEXTER)
    assert ez.datasets.load("dexter").X_train.sum() == 1012
    assert pages.asked.count(DEXTER) == 2


ARCENE = "/arcene/ARCENE/arcene_train.data"
DEXTER = "/dexter/DEXTER/dexter_train.data"


@pytest.mark.parametrize(
    ("name", "page", "text", "reason"),
    [
        ("arcene", ARCENE, None, "could not be downloaded .*Not Found"),
        ("arcene", ARCENE, "3 0 ...", "could not be downloaded .*got only 7 out of 107 bytes"),
        ("arcene", ARCENE, "<html>moved</html>", "is not the arcene file"),
        ("arcene", ARCENE, "3 0 999\n0 0 1\n", r"X_train has shape \(2, 3\), expected \(3, 3\)"),
        ("arcene", ARCENE, "3 0 999\n0 0 1\n7 2 1\n", "SHA-256 digest of its numbers is [0-9a-f]{64}, expected [0-9a-f]{64}"),
        ("arcene", ARCENE, "3 0 999\n0 1 0\n7 2 0\n", "SHA-256"),  # the same sum
        ("dexter", DEXTER, "1:3 3:999\n2:1\n1:7 2:2\n", "SHA-256"),
        ("arcene", "/arcene/arcene_valid.labels", "1\n1\n", r"y_valid has 2 labels \+1 and 0 labels -1, expected 1 and 1"),
        ("arcene", "/arcene/arcene_valid.labels", "1\n0\n", "a label is neither -1 nor 1"),
        ("arcene", "/arcene/arcene_valid.labels", "1\n", r"y_valid has shape \(1,\), expected \(2,\)"),
        ("dexter", DEXTER, "1:3 4:2\n\n\n", r"an index is outside 1\.\.3"),
        ("dexter", DEXTER, "0:3\n\n\n", r"an index is outside 1\.\.3"),
        ("dexter", DEXTER, "1 2\n\n\n", "is not the dexter file"),
    ],
)
def test_what_is_not_the_official_set_is_refused_and_not_kept(name, page, text, reason, pages, folder):
    if text is None:
        del pages[page]
    else:
        pages[page] = text
    with pytest.raises(ez.DatasetError, match=reason):
        ez.datasets.load(name)
    assert not folder.exists()


def test_damaged_cache_says_which_file(pages, folder):
    ez.datasets.load("arcene")
    file = folder / "arcene.npz"
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(ez.DatasetError, match=r"arcene\.npz cannot be read .*remove it to fetch arcene again"):
        ez.datasets.load("arcene")
    file.unlink()
    ez.datasets.load("arcene")
    ez.datasets.load("dexter")
    (folder / "dexter_valid_y.npy").write_bytes(b"")
    with pytest.raises(ez.DatasetError, match=r"dexter_valid_y\.npy cannot be read"):
        ez.datasets.load("dexter")


def test_altered_cache_is_refused(pages, folder):
    folder.mkdir()
    np.savez(folder / "arcene.npz", **{**DENSE, "X_train": DENSE["X_train"] + np.int16(1)})
    with pytest.raises(ez.DatasetError, match="does not hold the arcene data: the SHA-256 digest"):
        ez.datasets.load("arcene")


def test_cache_that_cannot_be_written(pages, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ELLZERO_DATA", str(tmp_path / "file"))
    with pytest.raises(ez.DatasetError, match="ELLZERO_DATA names another folder"):
        ez.datasets.load("arcene")


def test_a_failed_write_leaves_nothing(pages, folder, monkeypatch):
    def fail(stream, **arrays):
        stream.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(ez.DatasetError, match="No space left"):
        ez.datasets.load("arcene")
    assert list(folder.iterdir()) == []


def test_default_folder(monkeypatch, tmp_path):
    from ellzero.datasets.real import cache_folder

    monkeypatch.delenv("ELLZERO_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "ellzero"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # the standard says: ignore it
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / ".cache" / "ellzero"
    monkeypatch.setenv("ELLZERO_DATA", "~/data")
    assert cache_folder() == tmp_path / "home" / "data"


def test_digest_is_of_the_numbers():
    """The digest does not depend on types and formats, and no other numbers have it."""
    found = uci.digest_of_set(expected("arcene"))
    wide = {key: np.asfortranarray(array.astype(np.int64)) for key, array in DENSE.items()}
    assert uci.digest_of_set(wide) == found
    by_rows = {key: sparse.csr_matrix(a) if key[0] == "X" else a for key, a in DENSE.items()}
    by_columns = {key: sparse.csc_matrix(a) if key[0] == "X" else a for key, a in DENSE.items()}
    assert uci.digest_of_set(by_rows) == uci.digest_of_set(by_columns) == SMALL["dexter"].digest
    others = [found, SMALL["dexter"].digest]
    for key, array in DENSE.items():
        for place in np.ndindex(array.shape):
            changed = array.copy()
            changed[place] += 1
            others.append(uci.digest_of_set({**DENSE, key: changed}))
    others.append(uci.digest_of_set({**DENSE, "X_train": DENSE["X_train"][::-1]}))
    others.append(uci.digest_of_set({**DENSE, "X_train": DENSE["X_valid"], "X_valid": DENSE["X_train"]}))
    assert len(set(others)) == len(others)


def test_fractions_are_not_cut_off(folder):
    """A cast to integers would turn them into the official numbers."""
    source = replace(uci.SOURCES["arcene"], columns=3, rows=(3, 2), positives=(1, 1), digest=SMALL["arcene"].digest)
    uci.check(source, DENSE, "here")
    with pytest.raises(ez.DatasetError, match="here does not hold the arcene data: X_valid holds float64, expected integers"):
        uci.check(source, {**DENSE, "X_valid": DENSE["X_valid"] + 0.5}, "here")


@pytest.mark.skipif("ELLZERO_DATA" not in os.environ, reason="ELLZERO_DATA names no folder with the sets")
@pytest.mark.parametrize("name", uci.SOURCES)
def test_official_sets(name, monkeypatch):
    """The folder is used without a network, and its numbers have the digests that the package expects."""
    monkeypatch.setattr(uci, "download", None)
    data = ez.datasets.load(name)
    # The sums are those of the official description, and were compared with it before the digests were made.
    sums = {
        "arcene": (70_726_744, 71_410_108),
        "dexter": (2_816_528, 2_820_952),
        "dorothea": (727_760, 317_752),
        "madelon": (488_083_511, 146_395_833),
    }
    assert (data.X_train.sum(), data.X_valid.sum()) == sums[name]
