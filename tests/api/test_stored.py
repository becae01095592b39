"""An X that is not in memory: the same results, few passes, bounded memory."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy import sparse
from support.problems import LOSSES, on_disk, target
from support.stored_problems import COLUMNS, RESPONSE, SEED, SETTINGS, same

import ellzero as ez
from ellzero.design import stored


def as_type(X, dtype):
    return np.asfortranarray(np.clip(np.round(40 * X), -127, 127).astype(dtype) if dtype == "int8" else X.astype(dtype))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8"])
@pytest.mark.parametrize("loss", LOSSES)
def test_paths_are_those_of_memory_bit_for_bit(loss, dtype, monkeypatch):
    monkeypatch.setattr(stored, "RESIDENT_BYTES", 1)  # the least: columns come and go
    X, y = as_type(COLUMNS, dtype), target(RESPONSE, loss)
    store = on_disk(X)
    for algorithm in ("cd", "local_search"):
        settings = {**SETTINGS, "loss": loss, "algorithm": algorithm, "standardize": dtype != "float32"}
        same(ez.fit_path(X, y, **settings), ez.fit_path(store, y, **settings))


@pytest.mark.parametrize(
    "settings",
    [
        {"algorithm": "iht", "lambda_0": [0.05, 0.02, 0.01]},
        {"algorithm": "local_search", "swaps": "exhaustive", "lambda_0": [0.05, 0.02]},
        {"lower": -0.5, "upper": 0.75, "unpenalized": [0, 5], "lambda_1": 1e-3},
        {"fit_intercept": False, "lambda_0": [0.05, 0.02, 0.01]},
    ],
)
def test_other_algorithms_and_penalties(settings):
    X, y = COLUMNS, target(RESPONSE, "logistic")
    settings = {**SETTINGS, **settings}
    same(ez.fit_path(X, y, **settings), ez.fit_path(on_disk(X), y, **settings))


def test_sizes_grids_and_improvements():
    X, y = COLUMNS, target(RESPONSE, "logistic")
    store = on_disk(X)
    a, b = (ez.fit_sizes(x, y, [1, 2, 3, 5], lambda_2=1e-3) for x in (X, store))
    np.testing.assert_array_equal(a.objective, b.objective)
    a, b = (ez.fit_grid(x, y, lambda_2=[1e-2, 1e-3], max_support=5) for x in (X, store))
    for one, other in zip(a, b, strict=True):
        same(one, other)
    assert ez.objective(store, y, a[0].coef[-1], a[0].intercept[-1], lambda_2=1e-2) == pytest.approx(
        ez.objective(X, y, a[0].coef[-1], a[0].intercept[-1], lambda_2=1e-2), rel=1e-14
    )
    report = ez.check_stationarity(store, y, a[0].coef[-1], a[0].intercept[-1], lambda_0=a[0].lambda_0[-1], lambda_2=1e-2)
    assert report.satisfied


def test_sparse_files():
    X = sparse.csc_matrix(np.where(np.random.default_rng(SEED).random(COLUMNS.shape) < 0.2, COLUMNS, 0.0).astype(np.float32))
    y = target(RESPONSE, "logistic")
    store = on_disk(X)
    for algorithm in ("cd", "local_search", "iht"):
        a, b = (ez.fit_path(x, y, algorithm=algorithm, **SETTINGS) for x in (X, store))
        np.testing.assert_allclose(a.objective, b.objective, rtol=1e-9, err_msg=f"seed {SEED}")
        assert [set(m.support) for m in a] == [set(m.support) for m in b], SEED
    assert store[:, 10:20].nnz == X[:, 10:20].nnz
    np.testing.assert_array_equal(store[:, [3, 700, 701]].toarray(), X[:, [3, 700, 701]].toarray())


def test_proofs():
    X, y = COLUMNS, target(RESPONSE, "logistic")
    store = on_disk(X)
    a, b = (ez.solve(x, y, k=3, lambda_2=0.02, n_jobs=1) for x in (X, store))
    assert (a.objective, a.lower_bound, a.nodes) == (b.objective, b.lower_bound, b.nodes)
    assert ez.verify(b.certificate, store, y).valid
    assert ez.verify(b.certificate, X, y).valid
    assert ez.verify(a.certificate, store, y).valid


def test_memory_stays_bounded_and_passes_are_few(tmp_path):
    """A file of 320 MB is fitted by a process that takes at most half of that, in 3 passes and one for each change."""
    rng = np.random.default_rng(SEED)
    n, p = 2000, 40_000
    y = rng.integers(0, 2, n)
    with ez.ColumnWriter(tmp_path / "X", n, p, dtype="float32", y=y) as writer:
        for start in range(0, p, 1000):
            block = rng.standard_normal((n, 1000), dtype=np.float32)
            if start % 10_000 == 0:
                block[:, 0] += y
            writer.append(block)
    code = f"""
    import numpy as np, ellzero as ez
    peak = lambda: next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith("VmHWM"))
    store = ez.open_columns({str(tmp_path / "X")!r})
    before = peak()
    path = ez.fit_path(store, store.y, lambda_2=1e-3, n_lambda=30, max_support=8)
    supports = [set(m.support.tolist()) for m in path]
    changes = sum(a != b for a, b in zip(supports, supports[1:]))
    print(peak() - before, store.passes, changes, sorted(path.at_support(4).support.tolist()))
    """
    out = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    ).stdout.split(maxsplit=3)
    assert int(out[0]) < 160_000, f"{out[0]} kB"
    assert int(out[1]) <= 3 + int(out[2]), out
    assert out[3].strip() == "[0, 10000, 20000, 30000]", SEED
