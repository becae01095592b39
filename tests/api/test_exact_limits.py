"""How ez.solve ends early, by limits and Ctrl-C, and what it tells meanwhile."""

import re
import sys
import time
from itertools import pairwise

import pytest
from support.exact_problems import EASY, ENDLESS_SETTINGS, LONG_SETTINGS, X, Y, endless_problem, long_problem
from support.interruption import PROMPT, interrupt

import ellzero as ez


def check_truncated(sol, X, y, status):
    assert sol.status == status
    assert 0.0 <= sol.lower_bound <= sol.objective
    assert sol.gap > 1e-4
    report = ez.verify(sol.certificate, X, y)
    assert report.valid, report.reasons
    assert report.open_leaves > 0
    assert sol.lower_bound <= report.lower_bound + 1e-9 * sol.objective
    assert report.objective == pytest.approx(sol.objective, rel=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("seconds", [0.0, 1e-6, 0.05, 0.5])
def test_time_limit(seconds, n_jobs):
    data, labels = endless_problem()
    start = time.process_time()
    sol = ez.solve(data, labels, time_limit=seconds, n_jobs=n_jobs, **ENDLESS_SETTINGS)
    assert time.process_time() - start < seconds + PROMPT
    check_truncated(sol, data, labels, "time_limit")


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("nodes", [0, 1, 10])
def test_node_limit(nodes, n_jobs):
    data, labels = long_problem()
    sol = ez.solve(data, labels, node_limit=nodes, **{**LONG_SETTINGS, "n_jobs": n_jobs})
    check_truncated(sol, data, labels, "node_limit")
    assert sol.nodes <= nodes + n_jobs - 1
    if nodes:
        assert sol.lower_bound > 0.0


def test_more_nodes_prove_more():
    data, labels = long_problem()
    bounds = [ez.solve(data, labels, node_limit=nodes, **LONG_SETTINGS).lower_bound for nodes in (0, 1, 5, 30, 200)]
    assert bounds == sorted(bounds)
    assert bounds[-1] > bounds[1]


@pytest.mark.parametrize("limit", [{"time_limit": 60.0}, {"node_limit": 10**6}])
def test_limits_that_are_not_reached(limit):
    sol, free = ez.solve(X, Y, n_jobs=1, **limit, **EASY), ez.solve(X, Y, n_jobs=1, **EASY)
    assert sol.status == "optimal"
    assert (sol.objective, sol.lower_bound, sol.nodes) == (free.objective, free.lower_bound, free.nodes)


INTERRUPTED = """
    import signal
    import ellzero as ez
    from support.exact_problems import endless_problem
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts with Ctrl-C ignored
    X, y = endless_problem()
    settings = dict(loss={loss!r}, lambda_0=0.003, lambda_2=0.001, n_jobs={n_jobs})
    ez.solve(X, y, time_limit=0.0, **settings)  # so that all modules are there: on a busy machine, importing them takes seconds
    print("solving", flush=True)
    sol = ez.solve(X, y, **settings)
    print(sol.status, flush=True)
    report = ez.verify(sol.certificate, X, y)
    print(report.valid, 0.0 <= sol.lower_bound <= sol.objective, report.open_leaves > 0, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(("loss", "n_jobs", "seconds"), [("squared_hinge", 1, 1.0), ("logistic", 2, 1.5), ("hinge", 1, 0.2)])
def test_ctrl_c_returns_what_is_known(loss, n_jobs, seconds):
    interrupt(INTERRUPTED.format(loss=loss, n_jobs=n_jobs), seconds, "True True True")


def test_progress_lines(capsys, monkeypatch):
    monkeypatch.setattr("ellzero.base.progress.SECONDS_IN_SILENCE", -1.0)
    data, labels = endless_problem()
    ez.solve(data, labels, time_limit=1.5, progress=True, **ENDLESS_SETTINGS)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 1
    for line in lines:
        assert re.match(
            r"ellzero: exact search: gap at most \S+ % \(found [\d.e+-]+, none below \S+\), \d+ nodes? done, \d+ to do", line
        ), line
    ez.solve(data, labels, time_limit=0.1, **ENDLESS_SETTINGS)
    assert capsys.readouterr().err == ""
    ez.solve(X, Y, progress=True, **EASY)
    assert " 0 to do" in capsys.readouterr().err.splitlines()[-1]


def test_progress_callback():
    data, labels = endless_problem()
    seen = []
    sol = ez.solve(data, labels, time_limit=1.0, progress=seen.append, n_jobs=1, **ENDLESS_SETTINGS)
    assert len(seen) >= 3
    for before, after in pairwise(seen):
        assert after.objective <= before.objective
        assert after.lower_bound >= before.lower_bound
        assert after.nodes >= before.nodes
        assert after.seconds >= before.seconds
    assert seen[-1].nodes == sol.nodes
    assert seen[-1].lower_bound <= sol.objective

    def fail(_):
        raise RuntimeError("stop here")

    with pytest.raises(RuntimeError, match="stop here"):
        ez.solve(data, labels, time_limit=5.0, progress=fail, **ENDLESS_SETTINGS)
