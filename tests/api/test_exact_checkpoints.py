"""Searches that go on where they were stopped or killed, and checkpoints that are of no use."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from support.exact_problems import LONG_SETTINGS, RESPONSE, WEIGHT, X, Y, long_problem
from support.problems import LOSSES, target

import ellzero as ez

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


@pytest.mark.parametrize("missing", ["node.bound", "node.state", "state.beta.starts", "tree.alpha", "incumbent.cost"])
def test_a_checkpoint_of_another_version(tmp_path, missing):
    path = tmp_path / "search.npz"
    ez.solve(X, Y, lambda_0=0.005, lambda_2=0.003, node_limit=1, checkpoint=path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    del arrays[missing]
    np.savez(path, **arrays)
    with pytest.raises(ez.InvalidInputError, match=r"checkpoint .* cannot be read: it is damaged, or another version"):
        ez.solve(X, Y, lambda_0=0.005, lambda_2=0.003, checkpoint=path)


def test_checkpoint_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sol = ez.solve(X, Y, lambda_0=0.005, lambda_2=0.003, node_limit=1, checkpoint="here.npz")
    assert os.listdir(tmp_path) == ["here.npz"]
    assert sol.status == "node_limit"
    ez.solve(X, Y, lambda_0=0.005, lambda_2=0.003, checkpoint="here.npz")
    assert os.listdir(tmp_path) == []
