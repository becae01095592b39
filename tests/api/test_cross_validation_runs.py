"""Results of cross-validation as tables and words, and the way to them: threads, processes, progress, Ctrl-C."""

import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from support.interruption import interrupt
from support.problems import random_problem, target

import ellzero as ez

X, Y, W = random_problem(21, n=100, p=12)
LABELS = target(Y, "logistic")
THREE = np.digitize(Y, np.quantile(Y, [0.33, 0.67]))
SMALL = {"n_shrinkage": 2, "cv": 3}


def test_results_as_a_table_and_in_words():
    model = ez.L0ClassifierCV(**SMALL).fit(pd.DataFrame(X, columns=list("abcdefghijkl")), LABELS)
    results = model.cv_results_
    table = results.to_frame()
    assert table.columns.tolist()[:7] == ["lambda_0", "lambda_1", "lambda_2", "size", "mean_score", "standard_error", "chosen"]
    assert table.columns.tolist()[7:] == ["fold_1", "fold_2", "fold_3"]
    assert len(table) == sum(len(column.size) for column in results.columns)
    chosen = table[table.chosen]
    assert len(chosen) == 1
    assert chosen.mean_score.item() == model.best_score_ == table.mean_score.max()
    np.testing.assert_allclose(table.mean_score, table[["fold_1", "fold_2", "fold_3"]].mean(axis=1))
    words = repr(results)
    assert words.startswith(f"held-out loss {-model.best_score_:.4g} +- ")
    assert "(lower is better; 3 folds, " in words
    assert f"{model.k_} features" in words
    assert sum(line.endswith("<") for line in words.splitlines()) == 1
    assert results.names == list("abcdefghijkl")
    assert results.plot().get_xlabel()
    assert results.plot_supports().get_figure() is not None


@pytest.mark.parametrize("y", [LABELS, THREE, Y], ids=["two classes", "three classes", "regression"])
@pytest.mark.parametrize("keep", [False, True])
def test_shapes(y, keep):
    outputs = 3 if y is THREE else 1
    make = ez.L0RegressorCV if y is Y else ez.L0ClassifierCV
    model = make(keep_predictions=keep, **SMALL).fit(X, y)
    for column in model.cv_results_.columns:
        m = len(column.size)
        assert column.lambda_0.shape == column.mean.shape == column.standard_error.shape == (m,)
        assert (np.diff(column.lambda_0) < 0.0).all()
        assert column.scores.shape == column.fold_size.shape == (m, 3)
        assert column.intercept.shape == (m, outputs)
        assert [coef.shape for coef in column.coef] == [(outputs, 12)] * m
        assert [np.unique(coef.indices).size for coef in column.coef] == column.size.tolist()
        assert [supports.shape for supports in column.fold_supports] == [(m, 12)] * 3
        assert all(supports.dtype == bool for supports in column.fold_supports)
        if keep:
            assert column.decision.shape == (100, m, outputs)
            assert np.isfinite(column.decision).all()
        else:
            assert column.decision is None


@pytest.mark.parametrize("y", [LABELS, THREE, Y], ids=["two classes", "three classes", "regression"])
def test_threads_and_processes_do_not_matter(y):
    make = ez.L0RegressorCV if y is Y else ez.L0ClassifierCV
    alone, threads = (make(n_jobs=n_jobs, **SMALL).fit(X, y) for n_jobs in (1, 2))
    with parallel_config(backend="loky", n_jobs=2):
        processes = make(**SMALL).fit(X, y)
    for other in (threads, processes):
        np.testing.assert_array_equal(alone.coef_, other.coef_)
        for column, twin in zip(alone.cv_results_.columns, other.cv_results_.columns, strict=True):
            np.testing.assert_array_equal(column.scores, twin.scores)
            np.testing.assert_array_equal(column.lambda_0, twin.lambda_0)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress(n_jobs):
    seen = []
    ez.L0ClassifierCV(n_jobs=n_jobs, progress=lambda *report: seen.append(report[0]), **SMALL).fit(X, LABELS)
    assert seen == sorted(seen)
    assert len(seen) == 8  # two columns, all rows and three folds each
    assert seen[-1] == 1.0

    def fail(*_):
        raise RuntimeError("stop here")

    with pytest.raises(RuntimeError, match="stop here"):
        ez.L0ClassifierCV(n_jobs=n_jobs, progress=fail, **SMALL).fit(X, LABELS)


LONG_FIT = """
    import signal
    import ellzero as ez
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts with Ctrl-C ignored
    X, y, _ = ez.datasets.make_classification(1500, 3000, 400, s=0.2, random_state=0)
    model = ez.L0ClassifierCV(max_support=300, lambda_min_ratio=1e-4, n_shrinkage=50, n_jobs={n_jobs}, {how})
    print("solving", flush=True)
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    print(model.set_params(max_support=2, n_shrinkage=1).fit(X[:, :10], y).coef_.shape, flush=True)
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("how", "seconds", "n_jobs"),
    [("", 2.0, 1), ("", 2.0, 2), ("select='size'", 1.0, 2), ("algorithm='local_search'", 1.0, 1)],
)
def test_ctrl_c_stops_all_folds(how, seconds, n_jobs):
    """The process goes on, and ends well, although threads were at work."""
    interrupt(LONG_FIT.format(n_jobs=n_jobs, how=how), seconds, "(1, 10)")


def test_an_error_in_one_thread_ends_the_others():
    """Folds that nobody waits for any more do not abort the process when it ends."""
    code = textwrap.dedent("""
        import ellzero as ez
        X, y, _ = ez.datasets.make_classification(1500, 300, 40, s=0.2, random_state=0)
        def fail(model, X, y):
            raise KeyError("own error")
        try:
            ez.L0ClassifierCV(n_jobs=2, scoring=fail).fit(X, y)
        except KeyError as error:
            print(error)
    """)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=250)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "'own error'", "")
