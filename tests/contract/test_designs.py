"""Every storage answers like a dense float64 array."""

import numpy as np
import pytest
from scipy import sparse
from support.problems import STORAGES, random_problem, store

import ellzero as ez
from ellzero.design import as_design

FORMS = {
    "c_order": lambda X: np.ascontiguousarray(X),
    "strided": lambda X: np.asfortranarray(np.repeat(X, 2, axis=1))[:, ::2],
    "reversed": lambda X: np.asfortranarray(X[:, ::-1])[:, ::-1],
    "read_only": lambda X: read_only(np.asfortranarray(X)),
    "big_endian": lambda X: X.astype(">f8"),
    "csr": sparse.csr_matrix,
    "coo": sparse.coo_matrix,
    "csc_array": sparse.csc_array,
    "csr_array": sparse.csr_array,
    "bsr": sparse.bsr_matrix,
    "dia": sparse.dia_matrix,
    "unsorted": lambda X: unsorted(sparse.csc_matrix(X)),
    "duplicates": lambda X: duplicated(X),
}


def read_only(X):
    X.flags.writeable = False
    return X


def unsorted(matrix):
    for j in range(matrix.shape[1]):
        part = slice(matrix.indptr[j], matrix.indptr[j + 1])
        matrix.indices[part] = matrix.indices[part][::-1]
        matrix.data[part] = matrix.data[part][::-1]
    matrix.has_sorted_indices = False
    return matrix


def duplicated(X):
    coo = sparse.coo_matrix(X)
    rows, cols = np.tile(coo.row, 2), np.tile(coo.col, 2)
    order = np.argsort(cols, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(cols, minlength=X.shape[1]))])
    return sparse.csc_matrix((np.tile(coo.data / 2, 2)[order], rows[order], indptr), shape=X.shape)


@pytest.mark.parametrize("form", [*STORAGES, *FORMS])
def test_products_and_moments(form):
    X, y, w = random_problem(3)
    design = as_design(FORMS[form](X) if form in FORMS else store(X, form))
    columns = np.array([4, 0, 29], dtype=np.int32)
    np.testing.assert_allclose(design.matvec(columns, np.array([1.0, -2.0, 0.5])), X[:, columns] @ [1.0, -2.0, 0.5], atol=1e-12)
    np.testing.assert_allclose(design.rmatvec(y), X.T @ y, atol=1e-11)
    for threads in (1, 2):
        mean, variance = design.core.moments(w / w.sum(), threads=threads)
        np.testing.assert_allclose(mean, np.average(X, axis=0, weights=w), atol=1e-12)
        np.testing.assert_allclose(variance, np.average((X - mean) ** 2, axis=0, weights=w), atol=1e-12)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int32, np.int64, np.float16, object])
def test_other_types_are_converted_exactly(dtype):
    X = np.random.default_rng(0).integers(0, 2, (20, 5)).astype(dtype)
    design = as_design(X)
    np.testing.assert_array_equal(design.array, X.astype(float))
    assert design.array.dtype == (np.int8 if dtype in (bool, np.int8) else np.float32 if X.dtype.itemsize <= 2 else np.float64)


def test_column_major_is_not_copied_and_row_major_once():
    for dtype in (np.float64, np.float32):
        X = np.asfortranarray(np.ones((7, 3), dtype=dtype))
        assert as_design(X).array is X
        assert np.shares_memory(as_design(X[:, ::2]).array, X)
        assert as_design(np.ascontiguousarray(X)).array.flags.f_contiguous
    matrix = sparse.csc_matrix(np.eye(4))
    assert np.shares_memory(as_design(matrix).matrix.data, matrix.data)


@pytest.mark.parametrize("algorithm", ["cd", "local_search", "iht"])
@pytest.mark.parametrize("named", [False, True])
def test_empty_columns_of_a_sparse_matrix_change_nothing(algorithm, named):
    """Empty columns are left out before the core sees them; dense columns of zeros are not."""
    rng = np.random.default_rng(5)
    X = np.zeros((80, 200))
    X[:, rng.choice(200, 60, replace=False)] = rng.standard_normal((80, 60)) * (rng.random((80, 60)) < 0.2)
    y = X @ rng.standard_normal(200) + 0.1 * rng.standard_normal(80) > 0.0
    settings = {"algorithm": algorithm, "lambda_2": 1e-2, "standardize": True, "max_support": 15, "tol": 1e-8}
    always = [0, 7, 150] if named else None  # some of them empty
    dense = ez.fit_path(X, y, unpenalized=always, **settings)
    thin = ez.fit_path(sparse.csc_matrix(X), y, unpenalized=always, **settings)
    np.testing.assert_allclose(thin.objective, dense.objective, rtol=1e-9)
    assert (thin.coef != dense.coef).nnz == 0 or abs(thin.coef - dense.coef).max() < 1e-6
    assert thin.at_support(18).objective == pytest.approx(dense.at_support(18).objective, rel=1e-9)
