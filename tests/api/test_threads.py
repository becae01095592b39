"""Python threads that share data and results compute what one thread computes, also where no GIL keeps them apart."""

import subprocess
import sys
import sysconfig
import textwrap
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from joblib import parallel_backend

import ellzero as ez

THREADS = 4
X, y, _ = ez.datasets.make_classification(120, 40, 4, s=1.5, random_state=0)


def together(work):
    """Return the results of threads that begin at the same time."""
    barrier = Barrier(THREADS)

    def one(k):
        barrier.wait()
        return work(k)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(one, range(THREADS)))


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a GIL")
def test_the_core_needs_no_gil():
    assert not sys._is_gil_enabled()


def test_paths_of_one_problem():
    want = ez.fit_path(X, y, algorithm="local_search").coef.toarray()
    for found in together(lambda k: ez.fit_path(X, y, algorithm="local_search", n_jobs=1 + k % 2)):
        np.testing.assert_array_equal(found.coef.toarray(), want)


def test_sizes_beyond_one_path():
    """All threads ask one path for a size that it lacks."""
    path = ez.fit_path(X, y, max_support=3)
    want = ez.fit_path(X, y, max_support=3).at_support(8).cost
    assert [model.cost for model in together(lambda k: path.at_support(8))] == [want] * THREADS


def test_proofs():
    solutions = together(lambda k: ez.solve(X, y, k=2 + k, lambda_2=0.05))
    for k, solution in enumerate(solutions):
        assert solution.status == "optimal"
        assert solution.objective == ez.solve(X, y, k=2 + k, lambda_2=0.05).objective
    one = solutions[0]
    assert all(report.valid for report in together(lambda k: ez.verify(one.certificate, X, y)))


def test_one_column_store(tmp_path):
    with ez.ColumnWriter(tmp_path / "x", *X.shape, dtype="float64") as store:
        store.append(X)
    columns, want = ez.open_columns(tmp_path / "x"), ez.fit_path(X, y).coef.toarray()
    for found in together(lambda k: ez.fit_path(columns, y)):
        np.testing.assert_array_equal(found.coef.toarray(), want)


def test_folds_in_threads():
    want = ez.L0ClassifierCV(cv=4, rule="one_se", random_state=0).fit(X, y)
    with parallel_backend("threading", n_jobs=THREADS):
        found = ez.L0ClassifierCV(cv=4, rule="one_se", random_state=0, n_jobs=THREADS).fit(X, y)
    np.testing.assert_array_equal(found.coef_, want.coef_)


def test_first_uses_of_public_names():
    """Threads that use a name for the first time at once get the same object."""
    code = """
        import ellzero as ez
        from concurrent.futures import ThreadPoolExecutor
        from threading import Barrier
        barrier = Barrier(8)
        def first(k):
            barrier.wait()
            return id(ez.fit_path if k % 2 else ez.solve)
        with ThreadPoolExecutor(8) as pool:
            assert len(set(pool.map(first, range(8)))) == 2
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)
