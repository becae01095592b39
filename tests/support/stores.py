"""Column stores, written and read with NumPy and json alone from the description of their format."""

import json
import zlib

import numpy as np
from scipy import sparse

KINDS = ("float64", "float32", "int8", "sparse")


def matrix_of(kind, n=120, p=40, seed=0):
    """Numbers that a kind of store holds exactly; in memory an array or a sparse matrix."""
    rng = np.random.default_rng(seed)
    if kind == "int8":
        return rng.integers(0, 3, size=(n, p)).astype(np.int8)
    X = rng.normal(size=(n, p)).astype(np.float32 if kind == "float32" else np.float64)
    return X if kind != "sparse" else sparse.csc_matrix(X * (rng.random((n, p)) < 0.3))


def write_store(folder, X, y=None, *, names=None, target=None, block_columns=7):
    """The folder of a column store; `X` is an array or a CSC matrix."""
    folder.mkdir()
    n, p = X.shape
    parts = [slice(start, min(start + block_columns, p)) for start in range(0, p, block_columns)]
    if sparse.issparse(X):
        csc = X.tocsc()
        arrays = {"data": csc.data, "indices": csc.indices.astype(np.int32), "indptr": csc.indptr.astype(np.int64)}
        sums = []
        for part in parts:
            entries = slice(csc.indptr[part.start], csc.indptr[part.stop])
            sums.append(zlib.crc32(arrays["indices"][entries].tobytes(), zlib.crc32(arrays["data"][entries].tobytes())))
    else:
        arrays = {"X": np.asfortranarray(X)}
        sums = [zlib.crc32(X[:, part].tobytes(order="F")) for part in parts]
    if y is not None:
        arrays["y"] = np.asarray(y)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    if names is not None:
        (folder / "names.json").write_text(json.dumps(names))
    about = {
        "format": "ellzero columns",
        "version": 1,
        "storage": "sparse" if sparse.issparse(X) else "dense",
        "n": n,
        "p": p,
        "dtype": X.dtype.name,
        "block_columns": block_columns,
        "crc32": sums,
        "target": target,
        "files": {file.name: file.stat().st_size for file in folder.iterdir()},
        "made_by": "test",
    }
    (folder / "about.json").write_text(json.dumps(about))
    return folder


def read_store(path):
    """X (an array or a sparse matrix), the target, the names and about.json."""
    about = json.loads((path / "about.json").read_text())
    assert about["format"] == "ellzero columns"
    assert about["version"] == 1
    assert {file.name: file.stat().st_size for file in path.iterdir() if file.name != "about.json"} == about["files"]
    X = read_dense(path, about) if about["storage"] == "dense" else read_sparse(path, about)
    assert X.shape == (about["n"], about["p"])
    y = np.load(path / "y.npy") if "y.npy" in about["files"] else None
    names = json.loads((path / "names.json").read_text()) if "names.json" in about["files"] else None
    assert names is None or len(names) == about["p"]
    return X, y, names, about


def starts(about):
    return range(0, about["p"], about["block_columns"])


def read_dense(path, about):
    X = np.load(path / "X.npy")
    assert X.dtype == about["dtype"]
    assert X.flags.f_contiguous
    blocks = [X[:, start : start + about["block_columns"]] for start in starts(about)]
    assert [zlib.crc32(block.tobytes(order="F")) for block in blocks] == about["crc32"]
    return X


def read_sparse(path, about):
    data, indices, indptr = (np.load(path / f"{name}.npy") for name in ("data", "indices", "indptr"))
    assert data.dtype == about["dtype"]
    assert indices.dtype == np.int32
    assert indptr.dtype == np.int64
    ends = [(indptr[start], indptr[min(start + about["block_columns"], about["p"])]) for start in starts(about)]
    assert [zlib.crc32(indices[a:b].tobytes(), zlib.crc32(data[a:b].tobytes())) for a, b in ends] == about["crc32"]
    X = sparse.csc_matrix((data, indices, indptr), shape=(about["n"], about["p"]))
    assert X.has_canonical_format
    assert (data != 0).all()
    return X
