"""Datasets of HDF5 files (h5py), as they are."""

import joblib
import numpy as np
import pytest

import ellzero as ez
from ellzero.design import as_design

SEED = 41
h5py = pytest.importorskip("h5py")


@pytest.fixture
def data(tmp_path):
    print(f"seed {SEED}")
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((80, 300)).astype(np.float32)
    y = np.sign(X[:, 0] - X[:, 5] + 0.3 * rng.standard_normal(80))
    layouts = {
        "columns": {"data": X, "chunks": (80, 32)},
        "contiguous": {"data": X},
        "rows": {"data": X, "chunks": (8, 300), "compression": "gzip"},
        "genotypes": {"data": (X > 0.5).astype(np.int8), "chunks": (40, 64)},
        "flat": {"data": X[0]},
        "names": {"data": np.full((80, 2), b"a")},
    }
    with h5py.File(tmp_path / "data.h5", "w") as file:
        for name, layout in layouts.items():
            file.create_dataset(name, **layout)
    with h5py.File(tmp_path / "data.h5") as file:
        yield X, y, file


@pytest.mark.parametrize("layout", ["columns", "contiguous", "rows", "genotypes"])
def test_paths_and_certificates_are_those_of_memory(data, layout):
    _, y, file = data
    X = file[layout][:]
    inside, outside = (ez.fit_path(x, y, n_lambda=10) for x in (X, file[layout]))
    np.testing.assert_array_equal(inside.objective, outside.objective)
    np.testing.assert_array_equal(inside.coef.toarray(), outside.coef.toarray())
    solution = ez.solve(file[layout], y, k=2, lambda_2=0.01)
    assert ez.verify(solution.certificate, file[layout], y).valid
    assert ez.verify(solution.certificate, X, y).valid


def test_processes_open_the_file_themselves(data):
    X, y, file = data
    expected = ez.L0ClassifierCV(cv=3).fit(X, y)
    with joblib.parallel_backend("loky", n_jobs=2):
        found = ez.L0ClassifierCV(cv=3, n_jobs=2).fit(file["columns"], y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)


@pytest.mark.parametrize(("name", "message"), [("flat", "X must have two dimensions, got 1"), ("names", "X must")])
def test_what_is_no_matrix_of_numbers(data, name, message):
    with pytest.raises(ez.InvalidInputError, match=message):
        ez.fit_path(data[2][name], data[1])


def test_closed_file(data):
    _, y, file = data
    X = file["columns"]
    file.close()
    with pytest.raises(ez.InvalidInputError, match="X cannot be read; is its file closed"):
        ez.fit_path(X, y)


def test_a_dataset_that_shrinks_is_noticed(tmp_path):
    """Columns that are gone were taken for columns that do not matter."""
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((60, 40))
    with h5py.File(tmp_path / "shrinks.h5", "w") as file:
        dataset = file.create_dataset("X", data=X, chunks=(60, 5), maxshape=(60, 40))
        design = as_design(dataset)
        dataset.resize((60, 20))
        with pytest.raises(ez.InvalidInputError, match=r"X had the shape \(60, 40\) when it was given and has \(60, 20\) now"):
            ez.fit_path(design, np.sign(X[:, 30]), lambda_2=0.01, max_support=2)
