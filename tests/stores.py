"""Column stores, written with NumPy and json alone from the description of their format."""

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
