"""Ctrl-C and progress of a long fit."""

import sys

import numpy as np
import pytest
from support.interruption import interrupt

import ellzero as ez

LONG_FIT = """
    import signal, sys, time
    import numpy as np
    import ellzero as ez
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts with Ctrl-C ignored
    X, y, _ = ez.datasets.make_classification(1500, 3000, 400, s=0.2, random_state=0)
    print("solving", flush=True)
    try:
        for _ in range(1000):
            ez.fit_path(X, y, loss={loss!r}, lambda_2=1e-4, lambda_min_ratio=1e-4, n_lambda=1000, n_jobs={n_jobs}, {how})
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    # The interpreter and the library go on working.
    print(ez.fit_path(X[:, :20], y, lambda_0=0.05).converged.all(), flush=True)
"""


def long_fit(loss="logistic", n_jobs=1, how=""):
    return LONG_FIT.format(loss=loss, n_jobs=n_jobs, how=how)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("loss", ["logistic", "squared_error", "hinge"])
def test_ctrl_c_stops_a_path(loss, n_jobs):
    interrupt(long_fit(loss, n_jobs), 1.0, "True")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("how", ["", "swaps='exhaustive'", "swaps='q_best'"])
@pytest.mark.parametrize("seconds", [1.0, 3.0])
def test_ctrl_c_stops_a_local_search(how, seconds):
    """At different times, that is in different stages: a short path and its long search."""
    interrupt(long_fit(how=f"max_support=20, algorithm='local_search', {how}"), seconds, "True")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_stops_hard_thresholding():
    interrupt(long_fit(how="algorithm='iht'"), 1.0, "True")


def test_progress_callback_and_its_errors():
    X, y, _ = ez.datasets.make_classification(100, 50, 3)
    seen = []
    ez.fit_path(X, y, progress=lambda *report: seen.append(report))
    fractions = [fraction for fraction, _, _ in seen]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert 0.0 < fractions[0] < 1.0

    def fail(*_):
        raise RuntimeError("stop here")

    with pytest.raises(RuntimeError, match="stop here"):
        ez.fit_path(X, y, progress=fail)
    for fit in (
        lambda report: ez.fit_path(X, y, algorithm="local_search", progress=report),
        lambda report: ez.fit_path(X, y, algorithm="iht", n_lambda=5, progress=report),
        lambda report: ez.fit_sizes(X, y, range(1, 6), progress=report),
    ):
        seen.clear()
        fit(lambda *report: seen.append(report))
        fractions = [fraction for fraction, _, _ in seen]
        assert fractions == sorted(fractions)
        assert fractions[-1] == 1.0
        assert 0.0 < fractions[0] < 1.0
    seen.clear()
    ez.fit_grid(X, y, lambda_2=[0.1, 0.01], n_lambda=5, progress=lambda *report: seen.append(report))
    fractions = [fraction for fraction, _, _ in seen]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


def test_progress_lines(capsys, monkeypatch):
    monkeypatch.setattr("ellzero.base.progress.SECONDS_IN_SILENCE", -1.0)
    X, y, _ = ez.datasets.make_classification(100, 50, 3)
    ez.fit_path(X, y, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("ellzero: looking for models: done in ")
    ez.fit_path(X, y)
    assert capsys.readouterr().err == ""


def test_models_survive_the_data():
    """What a path returns owns its memory."""
    X, y, _ = ez.datasets.make_classification(100, 50, 3)
    path = ez.fit_path(X, y)
    coef, lambda_0 = path.coef.copy(), path.lambda_0.copy()
    del X, y
    np.testing.assert_array_equal(path.coef.toarray(), coef.toarray())
    np.testing.assert_array_equal(path.lambda_0, lambda_0)
