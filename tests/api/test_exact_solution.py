"""What ez.solve returns, how it ends early, and how it goes on."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from interruption import PROMPT, interrupt
from problems import LOSSES, random_problem, target
from scipy import sparse

import ellzero as ez

X, RESPONSE, WEIGHT = random_problem(3, n=60, p=20)
Y = target(RESPONSE, "logistic")
EASY = {"lambda_0": 0.02, "lambda_2": 0.01}
# Some seconds with one thread.
LONG_SETTINGS = {"loss": "squared_hinge", "lambda_0": 0.03, "lambda_2": 0.05, "n_jobs": 1}
# Hours.
ENDLESS_SETTINGS = {"loss": "squared_hinge", "lambda_0": 0.003, "lambda_2": 0.001}


def long_problem():
    return ez.datasets.make_classification(150, 100, 6, s=1.0, random_state=0)[:2]


def endless_problem():
    return ez.datasets.make_classification(300, 200, 20, s=1.0, correlation="exponential", rho=0.7, random_state=0)[:2]


def check_truncated(sol, X, y, status):
    assert sol.status == status
    assert 0.0 <= sol.lower_bound <= sol.objective
    assert sol.gap > 1e-4
    report = ez.verify(sol.certificate, X, y)
    assert report.valid, report.reasons
    assert report.open_leaves > 0
    assert sol.lower_bound <= report.lower_bound + 1e-9 * sol.objective
    assert report.objective == pytest.approx(sol.objective, rel=1e-12)


# Attributes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_attributes(loss):
    y = target(RESPONSE, loss)
    sol = ez.solve(X, y, loss=loss, sample_weight=WEIGHT, **EASY)
    assert sol.coef.shape == (20,)
    assert isinstance(sol.intercept, float)
    np.testing.assert_array_equal(sol.support, np.flatnonzero(sol.coef))
    assert sol.status == "optimal"
    assert sol.gap == (sol.objective - sol.lower_bound) / sol.objective
    assert 0.0 <= sol.gap <= 1e-4
    assert sol.objective == ez.objective(X, y, sol.coef, sol.intercept, loss=loss, sample_weight=WEIGHT, **EASY)
    assert sol.nodes >= 1
    assert sol.seconds > 0.0
    assert sol.bound is None
    assert not sol.certificate.conditional
    assert isinstance(sol.model, ez.Model)
    np.testing.assert_array_equal(sol.model.coef, sol.coef)
    assert sol.model.objective == sol.objective
    np.testing.assert_allclose(sol.model.decision_function(X), X @ sol.coef + sol.intercept, rtol=0, atol=1e-12)
    text = repr(sol)
    assert "optimal" in text
    assert f"{sol.objective:.6g}"[:7] in text
    assert f"{sol.nodes} nodes" in text
    assert f"{len(sol.support)} of 20 features" in text
    assert "assuming" not in text
    assert "lower bound" in repr(sol.certificate)


def test_it_is_no_worse_than_local_search():
    path = ez.fit_path(X, Y, lambda_2=0.01, algorithm="local_search", n_lambda=10)
    for lambda_0, objective in list(zip(path.lambda_0, path.objective, strict=True))[2:8]:
        sol = ez.solve(X, Y, lambda_0=lambda_0, lambda_2=0.01)
        assert sol.objective <= objective * (1.0 + 1e-9), lambda_0
        assert sol.lower_bound <= objective, lambda_0


def test_bounds_are_assumed_and_told():
    sol = ez.solve(X, Y, lambda_0=0.02, bound=0.8)
    assert sol.bound == 0.8
    assert sol.certificate.conditional
    assert np.abs(sol.coef).max() <= 0.8
    assert "assuming bounded coefficients" in repr(sol)
    guessed = ez.solve(X, Y, lambda_0=0.02, bound="heuristic", lambda_2=0.001)
    assert guessed.certificate.conditional
    assert guessed.bound >= np.abs(guessed.coef).max() * (1.0 - 1e-12)
    assert guessed.bound <= 3.0 * np.abs(guessed.coef).max()
    assert guessed.certificate.header["bound"] == guessed.bound
    boxed = ez.solve(X, Y, lambda_0=0.02, lower=-0.8, upper=0.8)
    assert boxed.bound is None
    assert not boxed.certificate.conditional
    assert boxed.objective == pytest.approx(sol.objective, rel=1e-4)


def test_the_bound_is_on_the_penalised_scale():
    scaled = X * np.linspace(0.1, 10.0, 20)
    sol = ez.solve(scaled, Y, lambda_0=0.02, bound=0.5, standardize=True, gap=1e-7)
    same = ez.solve(X, Y, lambda_0=0.02, bound=0.5, standardize=True, gap=1e-7)
    assert sol.objective == pytest.approx(same.objective, rel=1e-6)
    assert np.abs(sol.coef * scaled.std(axis=0)).max() == pytest.approx(0.5)


def test_labels_come_back():
    words = np.where(Y > 0, "yes", "no")
    sol = ez.solve(X, words, **EASY)
    assert set(sol.model.predict(X)) == {"yes", "no"}
    assert np.mean(sol.model.predict(X) == words) > 0.65
    report = ez.verify(sol.certificate, X, words)
    assert report.valid, report.reasons
    assert not ez.verify(sol.certificate, X, words[::-1]).valid
    for labels in (words.astype(object), Y > 0, np.where(Y > 0, 2.5, -1.0)):
        other = ez.solve(X, labels, **EASY)
        assert other.objective == sol.objective
        report = ez.verify(other.certificate, X, labels)
        assert report.valid, report.reasons
        assert set(other.model.predict(X)) == set(labels)


def test_names_come_back():
    frame = pd.DataFrame(X, columns=[f"gene_{j}" for j in range(20)])
    sol = ez.solve(frame, Y, unpenalized=["gene_3"], **EASY)
    assert 3 in sol.support
    assert f"gene_{sol.support[0]}" in repr(sol)
    assert ez.verify(sol.certificate, frame, Y).valid
    np.testing.assert_array_equal(sol.model.predict(frame), sol.model.predict(X))


def test_the_caller_keeps_the_data_as_they_are():
    mine, labels, weight, lower = X.copy(), Y.copy(), WEIGHT.copy(), np.full(20, -0.5)
    ez.solve(mine, labels, sample_weight=weight, lower=lower, **EASY)
    np.testing.assert_array_equal(mine, X)
    np.testing.assert_array_equal(labels, Y)
    np.testing.assert_array_equal(weight, WEIGHT)
    np.testing.assert_array_equal(lower, np.full(20, -0.5))


# Bad input ------------------------------------------------------------------------------------------------------------

BAD = {
    "nothing to solve for": ({}, "lambda_0 or k must be given"),
    "negative lambda_0": ({"lambda_0": -1.0, "lambda_2": 0.1}, "lambda_0 must be finite and not negative"),
    "infinite lambda_0": ({"lambda_0": np.inf, "lambda_2": 0.1}, "lambda_0 must be finite"),
    "list of lambda_0": ({"lambda_0": [0.1, 0.2], "lambda_2": 0.1}, "lambda_0 must be"),
    "negative k": ({"k": -1, "lambda_2": 0.1}, "k must be an integer of at least 0"),
    "fractional k": ({"k": 2.5, "lambda_2": 0.1}, "k must be an integer"),
    "text k": ({"k": "2", "lambda_2": 0.1}, "k must be an integer"),
    "negative gap": ({**EASY, "gap": -1e-3}, "gap must be finite and not negative"),
    "nan gap": ({**EASY, "gap": np.nan}, "gap must be finite"),
    "text gap": ({**EASY, "gap": "small"}, "gap must be a number"),
    "negative time_limit": ({**EASY, "time_limit": -1.0}, "time_limit must be finite and not negative"),
    "negative node_limit": ({**EASY, "node_limit": -1}, "node_limit must be an integer of at least 0"),
    "fractional node_limit": ({**EASY, "node_limit": 1.5}, "node_limit must be an integer"),
    "no bound": ({"lambda_0": 0.1}, "bound must be a number or 'heuristic'"),
    "half a box": ({"lambda_0": 0.1, "lower": -1.0}, "bound must be a number or 'heuristic'"),
    "zero bound": ({"lambda_0": 0.1, "bound": 0.0}, "bound must be positive"),
    "negative bound": ({"lambda_0": 0.1, "bound": -1.0}, "bound must be finite and not negative"),
    "infinite bound": ({"lambda_0": 0.1, "bound": np.inf}, "bound must be finite"),
    "word bound": ({"lambda_0": 0.1, "bound": "guess"}, "bound must be one of"),
    "short warm_start": ({**EASY, "warm_start": np.zeros(19)}, "warm_start must"),
    "nan warm_start": ({**EASY, "warm_start": np.full(20, np.nan)}, "warm_start"),
    "text warm_start": ({**EASY, "warm_start": "best"}, "warm_start"),
    "warm_start of other data": (
        {**EASY, "warm_start": ez.fit_path(X[:, :5], Y)[0]},
        "warm_start must have 20 coefficients, got 5",
    ),
    "checkpoint nowhere": ({**EASY, "checkpoint": "/nowhere/at/all"}, "checkpoint must be a file in an existing folder"),
    "loss": ({**EASY, "loss": "huber"}, "loss must be one of"),
    "n_jobs": ({**EASY, "n_jobs": 0}, "n_jobs must be"),
    "X": ({**EASY, "X": np.full((60, 20), np.nan)}, "X contains NaN"),
    "y": ({**EASY, "y": np.ones(60)}, "y must have exactly two classes"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    settings, message = BAD[name]
    with pytest.raises(ez.InvalidInputError, match=re.escape(message)) as caught:
        ez.solve(**{"X": X, "y": Y, **settings})
    assert "\n" not in str(caught.value)
    assert str(caught.value).count(". ") == 0


# Starts ---------------------------------------------------------------------------------------------------------------


def test_warm_starts():
    cold = ez.solve(X, Y, **EASY)
    vector = np.zeros(20)
    vector[5] = 3.0
    outside = np.full(20, 50.0)
    for start in (cold.model, cold.coef, vector, outside, sparse.csr_matrix(vector), ez.fit_path(X, Y)[3]):
        warm = ez.solve(X, Y, warm_start=start, **EASY)
        assert warm.objective == pytest.approx(cold.objective, rel=1e-4)
        assert warm.lower_bound <= cold.objective
        assert ez.verify(warm.certificate, X, Y).valid
    large = ez.solve(X, Y, k=2, lambda_2=0.01, warm_start=outside)
    assert len(large.support) <= 2
    boxed = ez.solve(X, Y, lower=-0.1, upper=0.1, warm_start=outside, **EASY)
    assert np.abs(boxed.coef).max() <= 0.1


def test_a_warm_start_is_what_is_returned_without_time():
    best = ez.solve(X, Y, **EASY)
    sol = ez.solve(X, Y, node_limit=0, warm_start=best.model, **EASY)
    assert sol.objective <= best.objective * (1.0 + 1e-9)


# Limits ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("seconds", [0.0, 1e-6, 0.05, 0.5])
def test_time_limit(seconds, n_jobs):
    data, labels = endless_problem()
    start = time.monotonic()
    sol = ez.solve(data, labels, time_limit=seconds, n_jobs=n_jobs, **ENDLESS_SETTINGS)
    assert time.monotonic() - start < seconds + PROMPT
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


# Ctrl-C ---------------------------------------------------------------------------------------------------------------

INTERRUPTED = """
    import signal, sys, time
    import ellzero as ez
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts with Ctrl-C ignored
    X, y, _ = ez.datasets.make_classification(300, 200, 20, s=1.0, correlation="exponential", rho=0.7, random_state=0)
    print("solving", flush=True)
    sol = ez.solve(X, y, loss={loss!r}, lambda_0=0.003, lambda_2=0.001, n_jobs={n_jobs})
    print(sol.status, flush=True)
    report = ez.verify(sol.certificate, X, y)
    print(report.valid, 0.0 <= sol.lower_bound <= sol.objective, report.open_leaves > 0, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(("loss", "n_jobs", "seconds"), [("squared_hinge", 1, 1.0), ("logistic", 2, 1.5), ("hinge", 1, 0.2)])
def test_ctrl_c_returns_what_is_known(loss, n_jobs, seconds):
    interrupt(INTERRUPTED.format(loss=loss, n_jobs=n_jobs), seconds, "True True True")


# Progress -------------------------------------------------------------------------------------------------------------


def test_progress_lines(capsys):
    data, labels = endless_problem()
    ez.solve(data, labels, time_limit=1.5, progress=True, **ENDLESS_SETTINGS)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 1
    for line in lines:
        assert re.match(r"ellzero: incumbent [\d.e+-]+  bound \S+  gap \S+ %  nodes \d+  open \d+", line), line
    ez.solve(data, labels, time_limit=0.1, **ENDLESS_SETTINGS)
    assert capsys.readouterr().err == ""
    ez.solve(X, Y, progress=True, **EASY)
    assert "open 0" in capsys.readouterr().err.splitlines()[-1]


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


# Checkpoints ----------------------------------------------------------------------------------------------------------

KILLED = """
    import ellzero as ez
    X, y, _ = ez.datasets.make_classification(150, 100, 6, s=1.0, random_state=0)
    ez.solve(X, y, checkpoint={path!r}, **{settings!r})
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_killed_and_resumed(tmp_path, record_property):
    data, labels = long_problem()
    whole = ez.solve(data, labels, **LONG_SETTINGS)
    assert whole.status == "optimal"
    path = tmp_path / "search.npz"
    code = textwrap.dedent(KILLED).format(path=str(path), settings=LONG_SETTINGS)
    with subprocess.Popen([sys.executable, "-c", code]) as child:
        until = time.monotonic() + 60.0
        while not path.exists() and child.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
        assert child.wait(timeout=30) == -signal.SIGKILL, "the search was over before it could be killed"
    assert path.exists()
    resumed = ez.solve(data, labels, checkpoint=path, **LONG_SETTINGS)
    assert resumed.status == "optimal"
    assert resumed.objective == pytest.approx(whole.objective, rel=1e-12)
    assert resumed.lower_bound == pytest.approx(whole.lower_bound, rel=1e-12)
    assert resumed.nodes == whole.nodes
    report = ez.verify(resumed.certificate, data, labels)
    assert report.valid, report.reasons
    assert report.gap <= 1e-4
    assert not path.exists(), "a finished search removes its checkpoint"
    record_property("figure", f"resumed after SIGKILL: {resumed.nodes} nodes, {whole.nodes} without")


def test_a_limit_leaves_a_checkpoint_to_go_on_from(tmp_path):
    """In steps of some nodes: the same search as without steps."""
    path = tmp_path / "search.npz"
    whole = ez.solve(X, Y, lambda_0=0.005, lambda_2=0.003, gap=1e-5, n_jobs=1)
    assert whole.nodes > 25, "too easy to tell anything"
    for step in range(1, 1000):
        sol = ez.solve(X, Y, lambda_0=0.005, lambda_2=0.003, gap=1e-5, n_jobs=1, node_limit=10 * step, checkpoint=path)
        assert ez.verify(sol.certificate, X, Y).valid, step
        assert path.exists() == (sol.status == "node_limit"), step
        if sol.status != "node_limit":
            break
    assert step > 1
    assert sol.status == "optimal"
    assert sol.objective == pytest.approx(whole.objective, rel=1e-12)
    assert sol.lower_bound == pytest.approx(whole.lower_bound, rel=1e-12)
    assert sol.nodes == whole.nodes


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("how", ["plain", "k and bound", "standardized"])
def test_checkpoints_of_all_kinds(tmp_path, loss, how):
    y = target(RESPONSE, loss)
    settings = {
        "plain": {"lambda_0": 0.005, "lambda_2": 0.003},
        "k and bound": {"k": 4, "bound": 0.5, "unpenalized": [2], "sample_weight": WEIGHT},
        "standardized": {"lambda_0": 0.01, "lambda_1": 0.002, "standardize": True, "lower": -0.4},
    }[how]
    settings = {"loss": loss, "n_jobs": 1, **settings}
    path = tmp_path / "search.npz"
    whole = ez.solve(X, y, **settings)
    part = ez.solve(X, y, node_limit=1, checkpoint=path, **settings)
    resumed = ez.solve(X, y, checkpoint=path, **settings)
    assert resumed.status == whole.status
    assert resumed.objective == pytest.approx(whole.objective, rel=1e-9)
    assert resumed.lower_bound == pytest.approx(whole.lower_bound, rel=1e-6)
    assert part.lower_bound <= resumed.objective
    for sol in (part, resumed):
        report = ez.verify(sol.certificate, X, y)
        assert report.valid, report.reasons


@pytest.mark.parametrize(
    "other",
    [
        {"lambda_0": 0.006},
        {"k": 5},
        {"lambda_2": 0.004},
        {"loss": "hinge"},
        {"y": -Y},
        {"X": X[:, ::-1]},
        {"gap": 1e-3},
        {"sample_weight": WEIGHT},
        {"upper": 0.3},
        {"unpenalized": [1]},
        {"standardize": True},
        {"fit_intercept": False},
        {"bound": 1.0},
    ],
    ids=lambda other: next(iter(other)),
)
def test_a_checkpoint_of_another_problem(tmp_path, other):
    path = tmp_path / "search.npz"
    settings = {"X": X, "y": Y, "lambda_0": 0.005, "lambda_2": 0.003, "checkpoint": path}
    ez.solve(**settings, node_limit=1)
    before = path.read_bytes()
    with pytest.raises(ez.InvalidInputError, match=r"checkpoint .* belongs to another problem"):
        ez.solve(**{**settings, **other})
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and nothing more", None])
def test_a_damaged_checkpoint(tmp_path, content):
    path = tmp_path / "search.npz"
    ez.solve(X, Y, lambda_0=0.005, lambda_2=0.003, node_limit=1, checkpoint=path)
    path.write_bytes(path.read_bytes()[:-100] if content is None else content)
    with pytest.raises(ez.InvalidInputError, match=r"checkpoint .* cannot be read"):
        ez.solve(X, Y, lambda_0=0.005, lambda_2=0.003, checkpoint=path)


def test_checkpoint_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sol = ez.solve(X, Y, lambda_0=0.005, lambda_2=0.003, node_limit=1, checkpoint="here.npz")
    assert os.listdir(tmp_path) == ["here.npz"]
    assert sol.status == "node_limit"
    ez.solve(X, Y, lambda_0=0.005, lambda_2=0.003, checkpoint="here.npz")
    assert os.listdir(tmp_path) == []


# Paths ----------------------------------------------------------------------------------------------------------------


def check_certified(certified, problem, points):
    assert len(certified) == len(certified.solutions) == points
    for name in ("objective", "lower_bound", "gap"):
        values = [getattr(sol, name) for sol in certified.solutions]
        np.testing.assert_array_equal(getattr(certified, name), values)
    assert list(certified.status) == [sol.status for sol in certified.solutions]
    assert (certified.lower_bound <= certified.objective).all()
    for sol in certified.solutions:
        report = ez.verify(sol.certificate, *problem)
        assert report.valid, report.reasons
    assert len(certified.to_frame()) == points
    assert len(repr(certified).splitlines()) == points + 1


@pytest.mark.parametrize("loss", LOSSES)
def test_a_path_is_certified(loss):
    y = target(RESPONSE, loss)
    path = ez.fit_path(X, y, loss=loss, lambda_2=0.01, n_lambda=12, lambda_min_ratio=0.05)
    certified = ez.certify_path(path)
    check_certified(certified, (X, y), len(path))
    assert set(certified.status) == {"optimal"}
    assert (certified.gap <= 1e-4).all()
    np.testing.assert_array_equal(certified.lambda_0, path.lambda_0)
    assert (certified.objective <= path.objective * (1.0 + 1e-9)).all()
    middle = len(path) // 2
    alone = ez.solve(X, y, loss=loss, lambda_2=0.01, lambda_0=path.lambda_0[middle])
    assert certified[middle].objective == pytest.approx(alone.objective, rel=2e-4)
    assert certified[middle].lower_bound <= alone.objective
    assert alone.lower_bound <= certified[middle].objective


@pytest.mark.parametrize("loss", LOSSES)
def test_sizes_are_certified(loss):
    y = target(RESPONSE, loss)
    sizes = ez.fit_sizes(X, y, [0, 1, 2, 4], loss=loss, lambda_2=0.01, sample_weight=WEIGHT, standardize=True)
    certified = ez.certify_path(sizes, gap=1e-3)
    check_certified(certified, (X, y), 4)
    assert set(certified.status) == {"optimal"}
    np.testing.assert_array_equal(certified.k, [0, 1, 2, 4])
    assert (certified.objective <= sizes.objective * (1.0 + 1e-9)).all()
    assert (np.diff(certified.objective) <= 0.0).all()
    for k, sol in zip((0, 1, 2, 4), certified.solutions, strict=True):
        assert len(sol.support) <= k


def test_a_path_of_bad_models_is_improved():
    """Certifying finds the best models, whatever it starts from."""
    path = ez.fit_path(X, Y, lambda_2=0.01, algorithm="iht", n_lambda=5, lambda_min_ratio=0.1)
    certified = ez.certify_path(path)
    for lambda_0, value, bound in zip(path.lambda_0, certified.objective, certified.lower_bound, strict=True):
        alone = ez.solve(X, Y, lambda_0=lambda_0, lambda_2=0.01)
        assert value == pytest.approx(alone.objective, rel=2e-4), lambda_0
        assert bound <= alone.objective, lambda_0


def test_certifying_with_limits_and_bounds():
    data, labels = long_problem()
    path = ez.fit_path(data, labels, loss="squared_hinge", lambda_2=0.01, lambda_0=[0.05, 0.01, 0.005])
    certified = ez.certify_path(path, time_limit=0.2, n_jobs=2)
    check_certified(certified, (data, labels), 3)
    assert certified.status[-1] == "time_limit"
    limited = ez.certify_path(path, node_limit=2)
    check_certified(limited, (data, labels), 3)
    assert limited.status[-1] == "node_limit"
    plain = ez.fit_path(X, Y, lambda_0=[0.05, 0.02])
    with pytest.raises(ez.InvalidInputError, match="bound must be a number"):
        ez.certify_path(plain)
    check_certified(ez.certify_path(plain, bound="heuristic"), (X, Y), 2)
    for wrong in (3, None, X):
        with pytest.raises(ez.InvalidInputError, match="path must be what fit_path or fit_sizes returned"):
            ez.certify_path(wrong)
    with pytest.raises(ez.InvalidInputError, match="max_norm"):
        ez.certify_path(ez.fit_sizes(X, Y, [2], max_norm=1.0))
