"""NumPy's and scipy's own files as column stores."""

import numpy as np
import pytest
from scipy import sparse
from support.conversions import converted, refused


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize(
    ("dtype", "stored"),
    [("f8", "float64"), (">f4", "float32"), ("i8", "float64"), ("u1", "float32"), ("i1", "int8"), ("?", "int8")],
)
def test_arrays(tmp_path, dtype, stored, order):
    matrix = np.asarray(np.random.default_rng(0).integers(0, 2, (25, 11)), dtype=dtype, order=order)
    y = np.array(["a", "b", "c", "a", "b"] * 5)
    np.save(tmp_path / "X.npy", matrix)
    np.save(tmp_path / "y.npy", y)
    np.savez(tmp_path / "plain.npz", X=matrix, y=y)
    np.savez_compressed(tmp_path / "packed.npz", X=matrix, group=y)
    targets = {"X.npy": str(tmp_path / "y.npy"), "plain.npz": None, "packed.npz": "group"}
    for name, target in targets.items():
        for memory in (1, 300, "64M"):
            X, labels, names, about = converted(tmp_path / name, target=target, memory=memory)
            np.testing.assert_array_equal(X, matrix)
            assert labels.tolist() == y.tolist()
            assert names is None
            assert about["dtype"] == stored


def test_sparse_arrays(tmp_path):
    matrix = sparse.random(30, 20, 0.2, random_state=0, format="csr")
    np.save(tmp_path / "y.npy", np.arange(30))
    sparse.save_npz(tmp_path / "data.npz", matrix)
    for memory in (1, 2000, "64M"):
        X, y, *_ = converted(tmp_path / "data.npz", target=str(tmp_path / "y.npy"), memory=memory)
        assert (matrix != X).nnz == 0
        assert y.tolist() == list(range(30))


def test_arrays_that_cannot_be_used(tmp_path):
    file = tmp_path / "data.npz"
    np.savez(file, X=np.ones((4, 3)), y=np.zeros(3), objects=np.array([{}], dtype=object))
    assert refused(file) == "y must have shape (4,), got (3,)."
    assert refused(file, target="z").startswith("target: data.npz has no array 'z', it has 'X', 'y', 'objects'")
    assert refused(file, target="objects").startswith(
        "data.npz cannot be read as npz: array 'objects': it holds Python objects"
    )
    np.savez(file, Z=np.ones((4, 3)))
    assert refused(file) == "data.npz has no array X; it has 'Z'."
    file.write_bytes(b"nonsense")
    assert refused(file).startswith("data.npz cannot be read as npz: it is not an archive of arrays")
    file = tmp_path / "data.npy"
    np.save(file, np.ones((40, 30)))
    whole = file.read_bytes()
    file.write_bytes(whole[:-8])
    assert refused(file) == "data.npy cannot be read as an array: it has 9720 bytes, its header promises 9728."
    np.save(file, np.ones(3))
    assert refused(file).startswith("data.npy must hold a matrix of numbers, got shape (3,)")
    file.write_bytes(b"nonsense")
    assert refused(file).startswith("data.npy cannot be read as an array")
